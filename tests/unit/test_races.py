"""Races: which two accesses collide, how, and what is silent."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.concurrent_programs import Parallel, parallel


def pair(one: str, other: str, *, private: bool = True) -> Parallel:
    """A thread that runs `one` and another that runs `other`; or a caller from outside if not `private`."""
    second = "        threading.Thread(target=self._second).start()\n" if private else ""
    name = "_second" if private else "second"
    return parallel(
        "import threading\nfrom lib import compute, connect\nclass A:\n"
        "    def __init__(self):\n"
        "        self.lock = threading.Lock()\n        self.other_lock = threading.Lock()\n"
        "        self.rows = {}\n        self.items = []\n        self.n = 0\n        self.thing = None\n"
        "        self.busy = False\n"
        "    def start(self):\n        threading.Thread(target=self._first).start()\n"
        f"{second}"
        f"    def _first(self):\n{textwrap.indent(textwrap.dedent(one), '        ')}\n"
        f"    def {name}(self):\n{textwrap.indent(textwrap.dedent(other), '        ')}\n"
    )


# --- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("self.rows['a'] = 1", "for k in self.rows: print(k)", "resize-iterate rows"),
        ("self.rows.pop('a')", "return [v.x for v in self.rows.values()]", "resize-iterate rows"),
        ("self.rows.clear()", "for k, v in self.rows.items(): print(k)", "resize-iterate rows"),
        ("self.items.pop(0)", "for i in self.items: print(i)", "shift-iterate items"),
        ("self.n += 1", "self.n += 1", "step-step n"),
        ("self.n += size()", "self.n += 1", "count-count n"),
        ("self.n += 1", "self.n += 1\nif self.n == 9: print('yes')", "update-update n"),
        ("self.n += 1", "self.n += 1\nif self.n > 9: print('yes')", "step-step n"),
        ("self.n += size()", "self.n += 1\nif self.n > 9: print('yes')", "(update-update n)"),
        ("self.n += 1", "self.n += 1\ncompute(self.n)\nif self.n > 9: print('yes')", "update-update n"),
        ("self.rows['a'] += 1", "self.rows['a'] += 1", "count-count rows"),
        ("self.rows['a'] += 1", "self.rows['a'] += 1\nif 'a' in self.rows: print('yes')", "update-update rows"),
        ("self.n += 1", "self.n = compute()", "(update-store n)"),
        ("self.n += 1", "self.n = 0", "(update-reset n)"),
        ("self.rows = {'b': 2}", "self.rows['a'] = 1", "(replace-change rows)"),
        ("self.items = [2]", "self.items.append(1)", "(replace-change items)"),
        ("for i in self.items: print(i)\nself.items = []", "self.items.append(1)", "replace-change items"),
        ("self.n = compute()", "if self.n: print('yes')", "(store-test n)"),
        ("while True: self.n = compute()", "if self.n: print('yes')", "store-test n"),
        ("self.n = compute()", "self.n = compute()", "(store-store n)"),
        ("self.n = compute()", "self.n = compute()\nif self.n: print('yes')", "(store-store n)"),
        (
            "if 'a' in self.rows: del self.rows['a']",
            "if 'a' in self.rows: del self.rows['a']",
            "(check-act rows)",
        ),
        (
            "if self.items: self.items.pop()",
            "if self.items: self.items.pop()",
            "check-act items",
        ),
        (
            "if self.thing is None: self.thing = connect()",
            "if self.thing is None: self.thing = connect()",
            "check-act thing",
        ),
        ("if 'a' in self.rows: print(self.rows['a'])", "self.rows.pop('a')", "check-use rows"),
        ("if self.thing: self.thing.send()", "self.thing = None", "check-use thing"),
    ],
)
def test_shapes(one, other, expected):
    assert pair(one, other).shapes() == [expected]
    assert pair(other, one).shapes() == [expected]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("self.n = 1", "print(self.n)"),
        ("self.n = compute()", "print(self.n)"),
        ("self.busy = True", "if self.busy: print('yes')"),
        ("self.busy = True", "self.busy = False"),
        ("if not self.busy: self.busy = True", "self.busy = False"),
        ("self.rows['a'] = 1", "self.rows['b'] = 2"),
        ("self.rows['a'] = 1", "print(self.rows.get('a'))"),
        ("self.rows['a'] = 1", "print('a' in self.rows)"),
        ("self.rows['a'] = 1", "print(len(self.rows))"),
        ("self.rows['a'] = 1", "for k in list(self.rows): print(k)"),
        ("self.rows['a'] = 1", "for k in sorted(self.rows): print(k)"),
        ("self.rows['a'] = 1", "for k in self.rows.copy(): print(k)"),
        ("self.items.append(1)", "for i in self.items: print(i)"),
        ("self.items.append(1)", "self.items.pop()"),
        ("self.items.append(1)", "self.items.append(2)"),
        ("self.rows = compute()", "for k in self.rows: print(k)"),
        ("rows = {}\nrows['a'] = 1\nself.rows = rows", "for k in self.rows: print(k)"),
        ("if 'a' not in self.rows: self.rows['a'] = 1", "if 'a' not in self.rows: self.rows['a'] = 1"),
        ("print(self.n)", "print(self.n)"),
        ("self.n += 1", "print(self.n)"),
    ],
)
def test_what_is_harmless_in_python(one, other):
    assert pair(one, other).shapes() == []


def test_updates_are_more_than_counts_wherever_the_place_is_tested():
    found = parallel("""
        import threading
        class A:
            def __init__(self): self.n = 0
            def start(self):
                for _ in range(3): threading.Thread(target=self._add).start()
            def _add(self): self.n += len(self.name)
            def report(self):
                if self.n: print("yes")
    """)
    assert found.shapes() == ["update-update n"]


@pytest.mark.xfail(strict=True, reason="what is tested by way of a variable or a comparison's value counts as untested")
@pytest.mark.parametrize("test", ["n = self.n\nif n > 9: print('yes')", "return self.n > 9"])
def test_updates_of_what_is_tested_by_its_value_are_more_than_counts(test):
    assert pair("self.n += 1", f"self.n += 1\n{test}").shapes() == ["update-update n"]


def test_a_store_that_a_loop_repeats_on_the_way_decides_what_another_sees():
    found = parallel("""
        import threading
        from lib import compute
        class A:
            def start(self):
                threading.Thread(target=self._first).start()
                threading.Thread(target=self._second).start()
            def _first(self):
                for _ in range(3): self._put()
            def _put(self): self.n = compute()
            def _second(self):
                if self.n: print("yes")
    """)
    assert found.shapes() == ["store-test n"]


def test_callers_that_store_too_are_unlikely_to_matter():
    found = pair("self.n = compute()\nif self.n: print('yes')", "self.n = compute()", private=False)
    assert found.shapes() == ["(store-store n)"]


def test_the_worst_race_of_a_place_is_the_one_that_is_told():
    found = pair("self.rows['a'] = 1\nself.rows = {}", "for k in self.rows: print(k)\nself.rows['b'] += 1")
    assert [p.shape for p in found.pairs()] in (["resize-iterate"], ["replace-change"])
    assert len(found.pairs()) == 1


def test_an_unlocked_write_stands_first():
    found = pair("with self.lock: self.n += 1", "self.n += 1")
    (race,) = found.pairs()
    assert (race.first.function, race.second.function) == ("m:A._second", "m:A._first")


# --- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("with self.lock: self.n += 1", "with self.lock: self.n += 1", []),
        ("with self.lock: self.n += 1", "with self.other_lock: self.n += 1", ["count-count n"]),
        ("with self.lock: self.n += 1", "self.n += 1", ["count-count n"]),
        ("with self.lock, self.other_lock: self.n += 1", "with self.other_lock: self.n += 1", []),
        ("with self.lock: self.n += 1", "with compute().lock: self.n += 1", []),  # it may be the same
        (
            "if self.thing is None:\n    with self.lock: self.thing = connect()",
            "with self.lock: self.thing = None",
            ["check-act thing"],  # what is opened then is forgotten
        ),
        (
            "with self.lock: there = 'a' in self.rows\nif there: print(self.rows['a'])",
            "with self.lock: self.rows.pop('a')",
            ["check-use rows"],
        ),
    ],
)
def test_locks(one, other, expected):
    assert pair(one, other).shapes() == expected


# --- contexts ---------------------------------------------------------------------------------------------------------


def test_a_caller_races_with_a_thread_that_the_class_starts():
    found = pair("self.rows['a'] = 1", "for k in self.rows: print(k)", private=False)
    assert found.shapes() == ["resize-iterate rows"]
    assert [race.confidence for race in found.pairs()] == [3]


def test_two_threads_are_sure():
    assert [race.confidence for race in pair("self.n += 1", "self.n += 1").pairs()] == [3]


def test_callers_alone_do_not_race():
    found = parallel("""
        class A:
            def one(self): self.n += 1
            def other(self): self.n += 1
    """)
    assert found.shapes() == []


def test_one_thread_does_not_race_with_itself_but_many_do():
    text = """
        import threading
        class A:
            def start(self): {start}
            def _work(self): self.n += 1
    """
    once = "threading.Thread(target=self._work).start()"
    assert parallel(text.format(start=once)).shapes() == []
    assert parallel(text.format(start=f"[{once} for _ in range(3)]")).shapes() == ["step-step n"]


def test_threads_with_an_object_each_share_globals_only():
    found = parallel("""
        import threading
        N = 0
        class Worker(threading.Thread):
            shared = {}
            def __init__(self):
                super().__init__()
                self.n = 0
            def run(self):
                global N
                self.n += 1
                N += 1
                Worker.shared["a"] += 1
        def main():
            for _ in range(3): Worker().start()
    """)
    assert [race for race in found.shapes() if " n" in race] == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("asyncio.create_task(self._work())", []),
        ("asyncio.to_thread(self._load)", ["resize-iterate rows"]),
        ("multiprocessing.Process(target=self._load).start()", []),
        ("lib.register(self._load)", []),
        ("loop.call_soon(self._load)", []),
    ],
)
def test_kinds_of_contexts(kind, expected):
    found = parallel(f"""
        import asyncio, lib, multiprocessing
        class A:
            def __init__(self): self.rows = {{}}
            async def start(self, loop):
                asyncio.create_task(self._walk())
                {kind}
            async def _work(self): self._load()
            def _load(self): self.rows["a"] = 1
            async def _walk(self):
                for k in self.rows: print(k)
    """)
    assert found.shapes() == expected


def test_a_handler_meets_itself_on_globals_but_not_on_its_own_object():
    found = parallel("""
        import http.server
        HITS = {"n": 0}
        class H(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.n += 1
                HITS["n"] += 1
    """)
    assert found.shapes() == ["count-count HITS"]


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.rows['a'] = 1\nthread.start()", []),
        ("thread.start()\nself.rows['a'] = 1", ["resize-iterate rows"]),
        ("thread.start()\nthread.join()\nself.rows['a'] = 1", []),
        ("self._fill()\nthread.start()", []),
        ("thread.start()\nself._fill()", ["resize-iterate rows"]),
    ],
)
def test_before_the_start_and_after_the_join(body, expected):
    found = parallel(
        "import threading\nclass A:\n    def __init__(self): self.rows = {}\n"
        "    def go(self):\n        thread = threading.Thread(target=self._walk)\n"
        f"{textwrap.indent(body, '        ')}\n"
        "    def _fill(self): self.rows['b'] = 1\n"
        "    def _walk(self):\n        for k in self.rows: print(k)\n"
    )
    assert found.shapes() == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.part.start()\nself._fill()", []),
        ("self.thread.start()\nself._fill()", ["resize-iterate rows"]),
        ("self._fill()\nself.thread.start()", []),
        ("thread.start()\nself._fill()", ["resize-iterate rows"]),
        ("self.thread = thread\nself.thread.start()\nself._fill()", ["resize-iterate rows"]),
    ],
)
def test_what_has_no_type_starts_something_if_it_goes_by_the_name_of_a_thread(body, expected):
    found = parallel(
        "import threading\nfrom lib import make\nclass A:\n"
        "    def __init__(self): self.rows, self.thread, self.part = {}, make(), make()\n"
        f"    def go(self, thread):\n{textwrap.indent(body, '        ')}\n        self._walks()\n"
        "    def _walks(self): threading.Thread(target=self._walk).start()\n"
        "    def _fill(self): self.rows['b'] = 1\n"
        "    def _walk(self):\n        for k in self.rows: print(k)\n"
    )
    assert found.shapes() == expected


@pytest.mark.parametrize(
    "body",
    [
        "one, two = (threading.Thread(target=self._walk) for _ in range(2))\nself._fill()\none.start()",
        "some = [threading.Thread(target=self._walk)]\nself._fill()\nfor thread in some: thread.start()",
        "self.some = []\nself.some.append(threading.Thread(target=self._walk))\nself._fill()\n"
        "for thread in self.some: thread.start()",
        "self.some = {}\nself.some['a'] = threading.Thread(target=self._walk)\nself._fill()\n"
        "for thread in self.some.values(): thread.start()",
        "thread = threading.Thread(target=self._walk)\nself._fill()\nself._begin(thread)",
    ],
)
def test_the_time_before_threads_of_a_container_and_those_handed_on_are_started(body):
    found = parallel(
        "import threading\nclass A:\n    def __init__(self): self.rows = {}\n"
        f"    def go(self):\n{textwrap.indent(body, '        ')}\n"
        "    def _begin(self, thread): thread.start()\n"
        "    def _fill(self): self.rows['b'] = 1\n"
        "    def _walk(self):\n        for k in self.rows: print(k)\n"
    )
    assert found.shapes() == []


STARTS_ITSELF = """
    import threading
    class A:
        def __init__(self):
            self.rows = {{}}
            {lines}
        def _walk(self):
            for k in self.rows: print(k)
    def main():
        a = A()
"""
START = "threading.Thread(target=self._walk).start()"


def test_construction_does_not_count():
    assert parallel(STARTS_ITSELF.format(lines=f"self.rows['a'] = 1; {START}")).shapes() == []


def test_construction_counts_once_something_runs():
    assert parallel(STARTS_ITSELF.format(lines=f"{START}; self.rows['a'] = 1")).shapes() == ["resize-iterate rows"]


def test_places_of_unrelated_classes_with_a_common_base_are_apart():
    found = parallel("""
        import threading
        class Base:
            def __init__(self): self.rows = {}
        class Fills(Base):
            def start(self): threading.Thread(target=self._fill).start()
            def _fill(self): self.rows["a"] = 1
        class Walks(Base):
            def walk(self):
                for k in self.rows: print(k)
    """)
    assert found.shapes() == []


def test_captured_variables_are_shared_by_what_one_call_starts():
    found = parallel("""
        import threading
        def go(names):
            n = 0
            def add():
                nonlocal n
                n += 1
            for _ in names:
                threading.Thread(target=add).start()
    """)
    assert found.shapes() == ["step-step n"]


# --- confidence -------------------------------------------------------------------------------------------------------


def test_a_handler_that_deals_with_it_makes_it_mild():
    found = pair(
        """
        try:
            if 'a' in self.rows: print(self.rows['a'])
        except KeyError:
            pass
        """,
        "self.rows.pop('a')",
    )
    assert found.shapes() == ["(check-use rows)"]


def test_a_long_way_makes_it_unlikely():
    steps = "".join(f"    def _step{n}(self): self._step{n + 1}()\n" for n in range(8))
    found = parallel(
        "import threading\nclass A:\n    def __init__(self): self.n = 0\n"
        "    def start(self):\n"
        "        threading.Thread(target=self._step0).start()\n        threading.Thread(target=self._add).start()\n"
        f"{steps}    def _step8(self): self.n += 1\n    def _add(self): self.n += 1\n"
    )
    assert found.shapes() == ["(step-step n)"]


def test_a_class_that_was_guessed_by_its_field_is_less_sure():
    found = parallel("""
        import threading
        class Zone:
            def __init__(self): self.size = 0
        class A:
            def start(self, zone):
                self.zone = zone
                threading.Thread(target=self._one).start()
                threading.Thread(target=self._two).start()
            def _one(self): self.zone.size += 1
            def _two(self): self.zone.size += 1
    """)
    assert [race.confidence for race in found.pairs()] == [2]
