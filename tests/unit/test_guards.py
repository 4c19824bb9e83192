"""Guards: the lock that an author holds around a place, and who forgets it."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.concurrent_programs import Parallel, parallel

from racelint.analysis.guards import MOST_BREACHES


def table(*methods: str, doc: str = "") -> Parallel:
    """A class with a lock, a dict and a number, and public methods of these bodies."""
    bodies = "".join(
        f"    def method_{number}(self, key, value):\n{textwrap.indent(textwrap.dedent(body), '        ')}\n"
        for number, body in enumerate(methods)
    )
    described = f"    '''{doc}'''\n" if doc else ""
    return parallel(
        f"import threading\nfrom lib import connect\nclass A:\n{described}    def __init__(self):\n"
        "        self.lock = threading.Lock()\n        self.other_lock = threading.Lock()\n"
        "        self.rows = {}\n        self.n = 0\n        self.thing = None\n"
        f"{bodies}"
    )


ADD = "with self.lock: self.rows[key] = value"
DROP = "with self.lock: self.rows.pop(key)"
WALK = "with self.lock:\n    for k in self.rows: print(k)"
OPEN_WALK = "for k in self.rows: print(k)"


def test_a_guard_that_is_left_out_once():
    (breach,) = table(ADD, DROP, OPEN_WALK).breaches()
    assert (breach.guard, breach.shape, breach.evidence, breach.confidence) == (
        "m:A.lock", "resize-iterate", "guard", 2,
    )  # fmt: skip
    assert (breach.held, breach.total) == (2, 3)
    assert breach.first.function == "m:A.method_2"


@pytest.mark.parametrize(
    ("methods", "shapes"),
    [
        ((ADD, DROP, WALK), []),
        ((ADD, DROP, OPEN_WALK), ["resize-iterate"]),
        ((ADD, WALK, "self.rows[key] = value"), ["resize-iterate"]),
        ((ADD, DROP, "if key in self.rows: print(self.rows[key])"), ["check-use"]),
        ((ADD, DROP, "if key in self.rows: del self.rows[key]"), ["check-act"]),
        ((ADD, DROP, "if key not in self.rows: self.rows[key] = connect()"), ["check-act"]),
        ((ADD, DROP, "for k in list(self.rows): print(k)"), []),
        ((ADD, DROP, "return self.rows.get(key)"), []),
        ((ADD, DROP, "self.rows.setdefault(key, value)"), []),
        ((ADD, DROP, "with self.other_lock:\n    for k in self.rows: print(k)"), ["resize-iterate"]),
        ((ADD, DROP, "with value.lock:\n    for k in self.rows: print(k)"), []),  # it may be that lock
        (("with self.lock: self.n += 1", "with self.lock: self.n += 2", "self.n += 3"), ["count-count"]),
        (("with self.lock: self.n += 1", "with self.lock: self.n = 0", "self.n += 3"), ["count-count"]),
        (("with self.lock: self.n += 1", "with self.lock: self.n += 2", "return self.n"), []),
    ],
)
def test_what_breaks_a_guard(methods, shapes):
    assert [breach.shape for breach in table(*methods).breaches()] == shapes


def test_one_access_under_a_lock_is_no_guard():
    assert table(ADD, OPEN_WALK).breaches() == []
    assert table(f"{ADD}\n{DROP}", OPEN_WALK).breaches() == []  # nor two in one function


def test_reads_alone_make_no_guard():
    assert table(WALK, WALK, "self.rows[key] = value").breaches() == []


def test_a_lock_that_is_left_out_mostly_guards_nothing():
    unlocked = ["self.rows[key] = value"] * 2
    assert table(ADD, WALK, *unlocked).breaches() == []
    many = [ADD] * (2 * MOST_BREACHES + 2)
    assert len(table(*many, WALK, *["self.rows[key] = value"] * MOST_BREACHES).breaches()) == 1
    assert table(*many, *many, WALK, *["self.rows[key] = value"] * (MOST_BREACHES + 1)).breaches() == []


def test_construction_is_no_breach():
    found = parallel("""
        import threading
        class A:
            def __init__(self):
                self.lock = threading.Lock()
                self.rows = {}
                self.rows["a"] = 1
            def add(self):
                with self.lock: self.rows["b"] = 1
            def walk(self):
                with self.lock: return [k.x for k in self.rows]
    """)
    assert found.breaches() == []


# --- handed out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "shapes"),
    [
        ("with self.lock: return self.rows", ["hand-out"]),
        ("with self.lock: return self.rows.values()", ["hand-out"]),
        ("with self.lock: return dict(self.rows)", []),
        ("with self.lock: return list(self.rows.values())", []),
        ("with self.lock: return self.rows.get(key)", []),
    ],
)
def test_a_live_container_that_leaves_its_lock(body, shapes):
    assert [breach.shape for breach in table(ADD, DROP, body).breaches()] == shapes


def test_a_container_that_is_only_replaced_may_leave_its_lock():
    replace = "with self.lock: self.rows = dict(value)"
    assert table(replace, replace, "with self.lock: return self.rows").breaches() == []


# --- contracts --------------------------------------------------------------------------------------------------------

CONTRACT = """
    import threading
    class A:
        def __init__(self):
            self.lock = threading.Lock()
            self.rows = {{}}
        def add(self):
            with self.lock: self.rows["a"] = 1
        def drop(self):
            with self.lock: self.rows.pop("a")
        def go(self):
            {call}
        def {name}(self):
            '''{doc}'''
            for k in self.rows: print(k)
"""


@pytest.mark.parametrize(
    ("name", "doc"),
    [
        ("_walk_locked", ""),
        ("_walk_unlocked", ""),
        ("_walk", "The caller holds the lock."),
        ("_walk", "Must be called with self.lock held."),
        ("_walk", "Lock must be held."),
        ("_walk", "Not thread-safe."),
    ],
)
def test_a_contract_makes_the_body_clean(name, doc):
    held = f"with self.lock: self.{name}()"
    assert parallel(CONTRACT.format(name=name, doc=doc, call=held)).breaches() == []
    if not name.endswith("locked"):  # there the name says it to whoever calls
        assert parallel(CONTRACT.format(name=name, doc=doc, call=f"self.{name}()")).breaches() == []


def test_the_unlocked_call_of_a_locked_function_is_the_breach():
    found = parallel(CONTRACT.format(name="_walk_locked", doc="", call="self._walk_locked()"))
    (breach,) = found.breaches()
    assert breach.first.function == "m:A.go"
    assert found.line(breach.first.access.span) == "self._walk_locked()"


def test_without_a_contract_the_body_is_the_breach():
    found = parallel(CONTRACT.format(name="_walk", doc="Prints.", call="self._walk()"))
    assert [breach.first.function for breach in found.breaches()] == ["m:A._walk"]


def test_a_class_that_says_it_is_not_thread_safe():
    assert table(ADD, DROP, OPEN_WALK, doc="This class is not thread-safe.").breaches() == []


# --- whose objects ----------------------------------------------------------------------------------------------------


def test_a_lock_of_another_key_is_no_guard():
    keyed = "with self.rows[key].lock: self.n += 1"
    assert table(keyed, keyed, "self.n += 1").breaches() == []


def test_one_thread_alone_breaks_nothing():
    found = parallel("""
        import threading
        class A:
            def __init__(self):
                self.lock = threading.Lock()
                self.rows = {}
                threading.Thread(target=self._run).start()
            def _run(self):
                self._add()
                self._drop()
                for k in self.rows: print(k)
            def _add(self):
                with self.lock: self.rows["a"] = 1
            def _drop(self):
                with self.lock: self.rows.pop("a")
    """)
    assert found.breaches() == []


def test_a_handler_for_the_exception_makes_it_mild():
    walk = "try:\n    if key in self.rows: print(self.rows[key])\nexcept KeyError: pass"
    assert [breach.confidence for breach in table(ADD, DROP, walk).breaches()] == [1]
