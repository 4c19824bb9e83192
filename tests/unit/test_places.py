"""Places and locks: what two paths in two functions have in common."""

from __future__ import annotations

import pytest
from tests.unit.concurrent_programs import Parallel, parallel

from racelint.analysis.places import ANY_LOCK, Located, of_threads, overlap
from racelint.analysis.values import Captured, Element, Field, Global, Param, TypeValue, Value

CLASSES = """
    import queue
    import threading
    LOCK = threading.Lock()
    OVER = threading.Condition(LOCK)
    TABLE = {}
    class Zone:
        def __init__(self):
            self.size = 0
            self.lock = threading.Lock()
    class Base:
        shared = {}
        def __init__(self, zone, lock, maybe=None):
            self.rows = {}
            self.own = Zone()
            self.given = zone
            self.typed: Zone = zone
            self.lock = threading.Lock()
            self.changed = threading.Condition(self.lock)
            self.alone = threading.Condition()
            self.fresh = threading.Condition(threading.RLock())
            self.outside = threading.Condition(LOCK)
            self.foreign = lock
            self.maybe = maybe or threading.Lock()
            self.queue = queue.Queue()
            self.events = threading.Event()
            self.locks = {}
        def go(self, other: Zone, unknown):
            pass
        @classmethod
        def make(cls):
            cls.count = 0
    class Lower(Base):
        def also(self):
            self.extra = 1
    class Per(threading.local):
        def __init__(self):
            self.depth = 0
        def go(self):
            pass
"""
ME, OTHER, UNKNOWN = Param("m:Base.go", 0), Param("m:Base.go", 1), Param("m:Base.go", 2)
LOWER = Param("m:Lower.also", 0)


@pytest.fixture(scope="module")
def found() -> Parallel:
    return parallel(CLASSES)


def located(found: Parallel, path: Value) -> Located:
    result = found.places.locate(path)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Field(ME, "rows"), ("field", "m:Base", "rows", 0)),
        (Element(Field(ME, "rows"), UNKNOWN), ("field", "m:Base", "rows", 1)),
        (Element(Element(Field(ME, "rows"), UNKNOWN), UNKNOWN), ("field", "m:Base", "rows", 2)),
        (Field(LOWER, "rows"), ("field", "m:Base", "rows", 0)),  # a subclass shares the field
        (Field(LOWER, "extra"), ("field", "m:Lower", "extra", 0)),
        (Field(OTHER, "size"), ("field", "m:Zone", "size", 0)),
        (Field(Field(ME, "own"), "size"), ("field", "m:Zone", "size", 0)),
        (Field(TypeValue("m:Base"), "shared"), ("static", "m:Base", "shared", 0)),
        (Field(TypeValue("m:Lower"), "shared"), ("static", "m:Base", "shared", 0)),
        (Global("m", "TABLE"), ("global", "m", "TABLE", 0)),
        (Element(Global("m", "TABLE"), UNKNOWN), ("global", "m", "TABLE", 1)),
        (Captured("m:Base.go", "n"), ("captured", "m:Base.go", "n", 0)),
    ],
)
def test_places(found, path, expected):
    place = located(found, path).place
    assert (place.kind, place.owner, place.name, place.depth) == expected


@pytest.mark.parametrize(
    "path",
    [
        UNKNOWN,
        Field(ME, "queue"),  # it synchronises itself
        Field(ME, "events"),
        Field(ME, "lock"),
        Field(Param("m:Per.go", 0), "depth"),  # each thread's own
        Field(UNKNOWN, "nobody_has_this"),
    ],
)
def test_what_has_no_place(found, path):
    assert found.places.locate(path) is None


def test_the_only_class_with_a_field_of_that_name_is_taken_for_it(found):
    guess = located(found, Field(UNKNOWN, "size"))
    assert (guess.type, guess.certain) == ("m:Zone", False)
    assert located(found, Field(OTHER, "size")).certain


@pytest.mark.parametrize(
    ("path", "own", "constructed"),
    [
        (Field(ME, "rows"), True, True),
        (Field(OTHER, "size"), False, False),
        (Field(Field(ME, "own"), "size"), False, True),  # it makes the zone itself
        (Field(Field(ME, "typed"), "size"), False, False),  # it was given the zone
    ],
)
def test_whose_object_it_is(found, path, own, constructed):
    result = located(found, path)
    assert (result.own, result.constructed) == (own, constructed)


def test_what_a_class_makes_itself(found):
    made = {name for name in ("own", "given", "lock", "rows") if found.places.is_own_field("m:Base", name)}
    assert made == {"own", "lock"}


def test_a_parameter_stands_for_what_it_was_given_first():
    found = parallel(CLASSES)
    found.places.stands_for(OTHER, Field(ME, "rows"))
    found.places.stands_for(OTHER, Global("m", "TABLE"))
    assert located(found, Element(OTHER, UNKNOWN)).place == located(found, Element(Field(ME, "rows"), UNKNOWN)).place


def test_one_object_can_be_of_classes_in_one_line(found):
    related = found.places.related
    assert related("m:Base", "m:Base")
    assert related("m:Base", "m:Lower")
    assert related("m:Lower", "m:Base")
    assert not related("m:Base", "m:Zone")
    assert related("", "m:Zone")


# --- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Field(ME, "lock"), "m:Base.lock"),
        (Field(LOWER, "lock"), "m:Base.lock"),
        (Field(ME, "changed"), "m:Base.lock"),  # a condition over it
        (Field(ME, "alone"), "m:Base.alone"),
        (Field(ME, "fresh"), "m:Base.fresh"),
        (Field(ME, "outside"), "m:LOCK"),
        (Global("m", "LOCK"), "m:LOCK"),
        (Global("m", "OVER"), "m:LOCK"),
        (Field(Field(ME, "own"), "lock"), "m:Zone.lock"),
        (Field(OTHER, "lock"), "m:Zone.lock"),
        (Field(ME, "foreign"), ANY_LOCK),  # it was given one
        (Field(ME, "maybe"), "m:Base.maybe"),
        (Field(UNKNOWN, "lock"), "?.lock"),
        (Element(Field(ME, "locks"), UNKNOWN), "m:Base.locks[]"),
        (Captured("m:Base.go", "lock"), "m:Base.go.lock"),
        (UNKNOWN, ANY_LOCK),
    ],
)
def test_names_of_locks(found, path, expected):
    assert found.places.lock(path) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((), ("a",), False),
        (("a",), (), False),
        (("a",), ("a", "b"), True),
        (("a",), ("b",), False),
        ((ANY_LOCK,), ("b",), True),
        (("?.lock",), ("m:Base.lock",), True),  # perhaps that one
        (("m:Base.lock",), ("?.lock",), True),
        (("?.lock",), ("m:Base.gate",), False),
        (("~m:Base.gate",), ("~m:Base.gate",), True),
        (("m:Base.locks[]",), ("m:Base.locks[]",), True),
    ],
)
def test_locksets_that_may_share_a_lock(first, second, expected):
    assert overlap(frozenset(first), frozenset(second)) is expected


def test_locks_between_tasks_exclude_no_thread():
    assert of_threads(frozenset({"~m:A.gate", "m:A.lock"})) == {"m:A.lock"}


def test_locks_between_tasks_are_marked():
    found = parallel("""
        import asyncio, threading
        class A:
            def __init__(self):
                self.gate = asyncio.Lock()
                self.lock = threading.Lock()
            async def go(self):
                async with self.gate:
                    with self.lock:
                        self.n = 1
    """)
    (access,) = found.accesses("A.go", "self.n")
    assert found.places.locks(access.held) == {"~m:A.gate", "m:A.lock"}
