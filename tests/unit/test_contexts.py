"""Contexts: what runs beside what, and in which states each function is entered."""

from __future__ import annotations

import pytest
from tests.unit.concurrent_programs import Parallel, parallel

from racelint.analysis.edges import MOST_HANDED, MOST_KEPT
from racelint.analysis.objects import FRESH, MAYBE, OWN, SHARED

# --- roots ------------------------------------------------------------------------------------------------------------


def test_a_started_function_is_a_root_and_knows_its_start():
    found = parallel("""
        import threading
        class A:
            def start(self):
                threading.Thread(target=self._work).start()
            def _work(self): pass
    """)
    (context,) = found.roots("A._work")
    assert (context.kind, context.starter, context.many, context.receiver) == ("thread", "m:A.start", False, SHARED)
    assert found.line(context.span) == "threading.Thread(target=self._work).start()"


def test_two_starts_are_two_contexts():
    found = parallel("""
        import threading
        def work(): pass
        def go():
            threading.Thread(target=work).start()
            threading.Thread(target=work).start()
    """)
    assert [context.many for context in found.roots("work")] == [False, False]


def test_a_loop_starts_many_unless_each_has_an_object_of_its_own():
    found = parallel("""
        import threading
        class A:
            def one(self): pass
            def other(self): pass
        def go(a, rows):
            for row in rows:
                threading.Thread(target=a.one).start()
                threading.Thread(target=A().other).start()
    """)
    assert found.root_kinds("A.one") == ["external"]  # nobody knows what `a` is
    assert [(c.many, c.receiver) for c in found.roots("A.other")] == [(False, OWN)]


def test_many_of_one_object():
    found = parallel("""
        import threading
        class A:
            def start(self):
                for _ in range(3):
                    threading.Thread(target=self._work).start()
            def _work(self): pass
    """)
    assert [(c.many, c.receiver) for c in found.roots("A._work")] == [(True, SHARED)]


def test_threads_by_inheritance_own_their_object():
    found = parallel("""
        import threading
        class Base(threading.Thread):
            def run(self):
                self.step()
                self.hook()
            def step(self): self.n = 1
            def hook(self): raise NotImplementedError
        class Lower(Base):
            def step(self): self.n = 2
            def hook(self): self.n = 3
        def go():
            Lower().start()
    """)
    assert [(c.kind, c.starter, c.receiver) for c in found.roots("Base.run")] == [("thread", None, OWN)]
    assert found.entered("Base.step") == ["thread"]
    assert found.entered("Lower.step") == ["thread"]
    assert found.entered("Lower.hook") == ["thread"]
    assert found.entered("Base.hook") == ["external"]  # what only raises is no way to go
    assert found.contexts.started_under["m:go"]  # who starts the object starts the context


@pytest.mark.parametrize(
    ("name", "prefix", "expected"),
    [
        ("public", "", ["external"]),
        ("public", "async ", ["async external"]),
        ("_private", "", []),
        ("__call__", "", ["external"]),
        ("__init__", "", ["external"]),  # alone with the object until it starts something
        ("__repr__", "", []),
    ],
)
def test_callers_call_what_is_public(name, prefix, expected):
    found = parallel(f"class A:\n    {prefix}def {name}(self): self.n = 1\n")
    assert found.root_kinds(f"A.{name}") == expected


def test_what_the_project_calls_is_no_root():
    found = parallel("""
        class A:
            def outer(self): self.inner()
            def inner(self): self.n = 1
    """)
    assert found.root_kinds("A.inner") == []
    assert found.entered("A.inner") == ["external"]


def test_all_callers_are_one_context():
    found = parallel("""
        def one(): pass
        def other(): pass
    """)
    assert found.roots("one") == found.roots("other")


def test_what_is_handed_to_a_library_runs_nobody_knows_when():
    found = parallel("""
        import lib
        class A:
            def __init__(self): lib.register(self._work)
            def _work(self): self.n = 1
    """)
    assert found.root_kinds("A._work") == ["unknown"]


def test_a_started_method_may_be_a_subclass_s():
    found = parallel("""
        import threading
        class Base:
            def start(self): threading.Thread(target=self.work).start()
            def work(self): raise NotImplementedError
        class Lower(Base):
            def work(self): self.n = 1
    """)
    assert found.entered("Lower.work") == ["thread"]


# --- the project's own wrappers ---------------------------------------------------------------------------------------


def test_a_function_that_starts_its_parameter_acts_as_a_row():
    found = parallel("""
        import threading
        def run(work):
            threading.Thread(target=work).start()
        class A:
            def start(self):
                run(self._work)
                run(lambda: self._other())
            def _work(self): pass
            def _other(self): pass
    """)
    assert [c.starter for c in found.roots("A._work")] == ["m:A.start"]
    assert found.entered("A._other") == ["thread"]


def test_a_constructor_that_keeps_and_starts():
    found = parallel("""
        import threading
        class Periodic:
            def __init__(self, work):
                self._work = work
                threading.Thread(target=self._loop).start()
            def _loop(self):
                while True: self._work()
        class A:
            def __init__(self): self._periodic = Periodic(self._tick)
            def _tick(self): pass
    """)
    assert found.entered("A._tick") == ["thread"]


def test_what_a_started_function_is_given_stands_for_itself():
    found = parallel("""
        import threading
        class A:
            def __init__(self): self.rows = {}
            def start(self): threading.Thread(target=fill, args=(self.rows, self._tick)).start()
            def _tick(self): pass
        def fill(rows, tick):
            rows["a"] = 1
            tick()
    """)
    (insert,) = [a for a in found.accesses("fill") if a.kind == "insert"]
    located = found.places.locate(insert.path)
    assert located is not None
    assert (located.place.owner, located.place.name) == ("m:A", "rows")
    assert found.entered("A._tick") == ["thread"]


def kept(count: int) -> Parallel:
    names = [f"_work_{number}" for number in range(count)]
    sets = "".join(f"def set_{number}(a: A): a.hook = {name}\n" for number, name in enumerate(names))
    works = "".join(f"def {name}(): pass\n" for name in names)
    start = "    def start(self): threading.Thread(target=self._run).start()\n    def _run(self): self.hook()\n"
    return parallel(f"import threading\nclass A:\n{start}{works}{sets}")


def test_callables_kept_in_a_field_are_followed():
    found = kept(MOST_KEPT)
    assert {tuple(found.entered(f"_work_{number}")) for number in range(MOST_KEPT)} == {("thread",)}


def test_where_many_are_kept_none_is_followed():
    assert kept(MOST_KEPT + 1).entered("_work_0") == []


@pytest.mark.xfail(strict=True, reason="of the class's own methods that a field may hold the first four are followed")
def test_own_methods_kept_in_a_field_are_followed_like_others():
    sets = "".join(
        f"    def set_{n}(self): self.hook = self._work_{n}\n    def _work_{n}(self): pass\n" for n in range(5)
    )
    start = "    def start(self): threading.Thread(target=self._run).start()\n    def _run(self): self.hook()\n"
    found = parallel(f"import threading\nclass A:\n{start}{sets}")
    assert {tuple(found.entered(f"A._work_{n}")) for n in range(5)} == {("thread",)}


def handed(count: int) -> Parallel:
    works = "".join(f"def _work_{number}(): pass\n" for number in range(count))
    starts = "".join(f"    threading.Thread(target=_run, args=(_work_{number},)).start()\n" for number in range(count))
    return parallel(f"import threading\ndef _run(work): work()\n{works}def go():\n{starts}")


def test_callables_handed_to_what_is_started_are_followed_if_they_are_few():
    assert handed(MOST_HANDED).entered("_work_0") == ["thread"]
    assert handed(MOST_HANDED + 1).entered("_work_0") == []


# --- entry states -----------------------------------------------------------------------------------------------------


def locks(found: Parallel, name: str) -> list[set[str]]:
    return sorted((set(entry.locks) for entry in found.entries(name)), key=sorted)


def test_locks_of_the_caller_are_held_in_the_callee():
    found = parallel("""
        import threading
        class A:
            def __init__(self): self.lock = threading.Lock()
            def go(self):
                with self.lock: self._one()
            def also(self): self._one()
            def _one(self): self._two()
            def _two(self): pass
    """)
    assert locks(found, "A._two") == [set()]  # the weaker state covers the stronger


def test_states_of_different_contexts_are_told_apart():
    found = parallel("""
        import threading
        class A:
            def __init__(self):
                self.lock = threading.Lock()
                self.rows = {}
            def start(self): threading.Thread(target=self._loop).start()
            def _loop(self): self._one()
            def go(self):
                with self.lock: self._one()
            def _one(self): self.rows["a"] = 1
    """)
    states = {found.contexts.roots[e.context].kind: set(e.locks) for e in found.entries("A._one")}
    assert states == {"external": {"m:A.lock"}, "thread": set()}


def test_the_way_to_a_function():
    found = parallel("""
        def go(): one()
        def one(): two()
        def two(): pass
    """)
    (entry,) = found.entries("two")
    assert [(name, found.line(span)) for name, span in found.contexts.way("m:two", entry)] == [
        ("m:go", "def go(): one()"),
        ("m:one", "def one(): two()"),
    ]
    assert found.contexts.root("m:two", entry) == "m:go"


def test_recursion_ends():
    found = parallel("""
        def go(n): one(n)
        def one(n): two(n)
        def two(n): one(n - 1)
    """)
    assert found.entered("two") == ["external"]


def test_a_decorator_of_the_project_holds_its_lock():
    found = parallel("""
        import functools, threading
        LOCK = threading.Lock()
        def synchronized(method):
            @functools.wraps(method)
            def wrapper(self, *args):
                with self.lock:
                    return method(self, *args)
            return wrapper
        def under_global(function):
            def wrapper(*args):
                with LOCK:
                    return function(*args)
            return wrapper
        class A:
            def __init__(self): self.lock = threading.Lock()
            @synchronized
            def go(self): self._inner()
            def _inner(self): pass
        @under_global
        def work(): pass
    """)
    assert locks(found, "A._inner") == [{"m:A.lock"}]
    assert locks(found, "work") == [{"m:LOCK"}]


def test_a_decorator_that_holds_on_one_way_only_holds_nothing():
    found = parallel("""
        import threading
        LOCK = threading.Lock()
        def sometimes(function):
            def wrapper(*args):
                if args:
                    with LOCK:
                        return function(*args)
                return function(*args)
            return wrapper
        @sometimes
        def work(): pass
    """)
    assert locks(found, "work") == [set()]


def test_a_library_s_synchronized_is_a_lock():
    found = parallel("""
        from oslo_concurrency import lockutils
        @lockutils.synchronized("table")
        def work(): pass
    """)
    assert locks(found, "work") == [{"@oslo_concurrency.lockutils.synchronized('table')"}]


# --- receivers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("self.step()", SHARED),
        ("A().step()", FRESH),
        ("a = A()\n                a.step()", FRESH),
        ("GLOBAL.step()", SHARED),
        ("self.other.step()", SHARED),
        ("self.items[0].step()", SHARED),
        ("other.step()", MAYBE),
    ],
)
def test_receivers(call, expected):
    found = parallel(f"""
        class A:
            def __init__(self):
                self.other: A = None
                self.items: list[A] = []
            def go(self, other: "A"):
                {call}
            def step(self): self.n = 1
        GLOBAL = A()
    """)
    assert [entry.receiver for entry in found.entries("A.step")] == [expected]


def test_an_object_that_an_own_object_makes_is_as_much_its_own():
    found = parallel("""
        import threading
        class Part:
            def step(self): self.n = 1
        class Worker(threading.Thread):
            def __init__(self, part: Part):
                super().__init__()
                self.part = Part()
                self.given = part
            def run(self):
                self.part.step()
        class Sharing(threading.Thread):
            def __init__(self, piece: "Piece"):
                super().__init__()
                self.piece = piece
            def run(self):
                self.piece.step()
        class Piece:
            def step(self): self.n = 1
    """)
    assert [entry.receiver for entry in found.entries("Part.step")] == [OWN]
    assert [entry.receiver for entry in found.entries("Piece.step")] == [SHARED]


def test_a_fresh_object_with_a_thread_of_its_own_is_shared_with_it():
    found = parallel("""
        import threading
        class A:
            def start(self): threading.Thread(target=self._loop).start()
            def _loop(self): pass
            def stop(self): self.n = 1
            def setup(self): self.n = 0
        def main():
            a = A()
            a.setup()
            a.start()
            a.stop()
    """)
    assert [entry.receiver for entry in found.entries("A.setup")] == [FRESH]
    assert [entry.receiver for entry in found.entries("A.stop")] == [SHARED]


# --- order ------------------------------------------------------------------------------------------------------------


def test_what_is_called_before_the_first_start_is_early():
    found = parallel("""
        import threading
        class A:
            def start(self):
                self._before()
                threading.Thread(target=self._loop).start()
                self._after()
            def _loop(self): pass
            def _before(self): self._deep()
            def _deep(self): self.n = 1
            def _after(self): self.n = 2
    """)
    assert [entry.before for entry in found.entries("A._deep")] == ["m:A.start"]
    assert [entry.before for entry in found.entries("A._after")] == [""]


def test_what_is_called_after_a_join_is_left_out():
    found = parallel("""
        import threading
        class A:
            def run(self):
                thread = threading.Thread(target=self._loop)
                thread.start()
                thread.join()
                self._report()
            def _loop(self): pass
            def _report(self): pass
    """)
    assert found.entered("A._report") == []


def test_which_contexts_a_function_starts_by_its_calls():
    found = parallel("""
        import threading
        class A:
            def start(self): self._start()
            def _start(self): threading.Thread(target=self._loop).start()
            def _loop(self): pass
        def main():
            A().start()
    """)
    (index,) = found.contexts.started_under["m:main"]
    assert found.contexts.roots[index].function == "m:A._loop"
    assert found.contexts.started_under["m:main"] == found.contexts.started_under["m:A._start"]


def test_a_process_shares_nothing_and_goes_nowhere():
    found = parallel("""
        import multiprocessing
        def go(): multiprocessing.Process(target=_work).start()
        def _work(): _deep()
        def _deep(): pass
    """)
    assert found.root_kinds("_work") == ["process"]
    assert found.entered("_deep") == []


def test_where_objects_are_made():
    found = parallel("""
        import threading
        class Part:
            def __init__(self): self.n = 1
        class A:
            def start(self): threading.Thread(target=self._loop).start()
            def _loop(self): self.part = Part()
    """)
    (index,) = found.contexts.made_in["m:Part"]
    assert found.contexts.roots[index].kind == "thread"
