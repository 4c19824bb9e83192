"""Effects: what a function does to shared state, in its own terms."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.concurrent_programs import Parallel, parallel


def method(body: str, lead: str = "") -> Parallel:
    """A method `A.go(self, x, key)` of an object with two locks, two containers and a number."""
    return parallel(f"""
import asyncio
import threading
TABLE = {{}}
N = 0
{lead}
class A:
    def __init__(self):
        self.lock = threading.Lock()
        self.other_lock = threading.Lock()
        self.gate = asyncio.Lock()
        self.rows = {{}}
        self.queue = []
        self.n = 0
        self.thing = None
    def helper(self):
        return self.n
    async def wait(self):
        await asyncio.sleep(1)
    async def no_wait(self):
        return 1
    def go(self, x, key):
{textwrap.indent(textwrap.dedent(body), " " * 8)}
""")


def coroutine(body: str) -> Parallel:
    """A coroutine `B.go(self, key)` likewise."""
    return parallel(f"""
import asyncio
class B:
    def __init__(self, fetch):
        self.fetch = fetch
        self.gate = asyncio.Lock()
        self.rows = {{}}
        self.n = 0
        self.thing = None
        self.busy = False
    async def wait(self):
        await asyncio.sleep(1)
    async def no_wait(self):
        return 1
    async def go(self, key):
{textwrap.indent(textwrap.dedent(body), " " * 8)}
""")


# --- accesses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        ("self.n = 1", "self.n", ["store"]),
        ("return self.n", "self.n", ["read"]),
        ("self.n += 1", "self.n", ["read", "update"]),
        ("self.n = self.n + 1", "self.n", ["read", "store"]),
        ("del self.n", "self.n", ["delete"]),
        ("if self.n: pass", "self.n", ["read", "test"]),
        ("while not self.n: pass", "self.n", ["read", "test"]),
        ("self.rows[key] = x", "self.rows", ["read", "insert"]),
        ("self.rows[key] += x", "self.rows", ["read", "lookup", "update-item"]),
        ("return self.rows[key]", "self.rows", ["read", "lookup"]),
        ("return self.rows.get(key)", "self.rows", ["read", "peek"]),
        ("return key in self.rows", "self.rows", ["read"]),
        ("if key in self.rows: pass", "self.rows", ["read", "test", "peek"]),
        ("self.rows.pop(key)", "self.rows", ["read", "remove"]),
        ("self.rows.pop(key, None)", "self.rows", ["read", "discard"]),
        ("del self.rows[key]", "self.rows", ["read", "remove"]),
        ("self.rows.clear()", "self.rows", ["read", "clear"]),
        ("self.rows.setdefault(key, x)", "self.rows", ["read", "peek", "insert"]),
        ("self.rows.update(x)", "self.rows", ["read", "insert"]),
        ("self.queue.append(x)", "self.queue", ["read", "append"]),
        ("self.queue.sort()", "self.queue", ["read", "reorder"]),
        ("for k in self.rows: pass", "self.rows", ["read", "iterate"]),
        ("for k, v in self.rows.items(): pass", "self.rows", ["read", "iterate"]),
        ("return [k for k in self.rows]", "self.rows", ["read", "iterate"]),
        ("return list(self.rows)", "self.rows", ["read", "snapshot"]),
        ("return sorted(self.rows)", "self.rows", ["read", "snapshot"]),
        ("return self.rows.copy()", "self.rows", ["read", "snapshot"]),
        ("for k in list(self.rows): pass", "self.rows", ["read", "snapshot"]),
        ("x.size = 1", "x.size", ["store"]),
        ("TABLE[key] = x", "TABLE", ["read", "insert"]),
        ("global N\nN += 1", "N", ["read", "update"]),
        ("return N", "N", ["read"]),
    ],
)
def test_kinds_of_accesses(body, path, expected):
    found = method(body).kinds("A.go", path)
    assert [kind for kind in found if kind != "read"] == [kind for kind in expected if kind != "read"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.thing = None", "none"),
        ("self.thing = True", "constant"),
        ("self.thing = 5", "constant"),
        ("self.thing = {}", "empty"),
        ("self.thing = set()", "empty"),
        ("self.thing = {1: 2}", "fresh"),
        ("self.thing = set(rows)", "fresh"),
        ("rows = []\nrows.append(1)\nself.thing = rows", "fresh"),
        ("self.thing = threading.Thread()", "opened"),
        ("self.thing = x", "given"),
        ("self.thing = self.n + 1", "computed"),
        ("self.thing = len(self.rows)", "computed"),
    ],
)
def test_what_a_store_stores(body, expected):
    (access,) = [a for a in method(body).accesses("A.go", "self.thing") if a.kind == "store"]
    assert access.detail == expected


def test_fresh_objects_are_nobodys_business():
    assert method("thing = A()\nthing.n += 1\nn = thing.n").kinds("A.go") == []


def test_a_local_container_is_a_variable_that_may_be_handed_on():
    found = method("table = {}\ntable[key] = 1\nfor k in table: pass")
    assert found.kinds("A.go") == ["insert table", "iterate table"]
    assert found.shapes() == []


def test_a_captured_variable_is_shared():
    found = parallel("""
        def go():
            rows = {}
            def inner():
                rows["a"] = 1
            inner()
    """)
    assert "insert rows" in found.kinds("go.inner")


def test_an_alias_is_what_it_stands_for():
    found = method("rows = self.rows\nrows[key] = x")
    assert "insert self.rows" in found.kinds("A.go")


# --- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.thing = x", []),
        ("with self.lock: self.thing = x", ["self.lock"]),
        ("with self.lock, self.other_lock: self.thing = x", ["self.lock", "self.other_lock"]),
        ("with self.lock:\n    with self.other_lock: pass\n    self.thing = x", ["self.lock"]),
        ("with self.lock: pass\nself.thing = x", []),
        ("self.lock.acquire()\nself.thing = x\nself.lock.release()", ["self.lock"]),
        ("self.lock.acquire()\nself.lock.release()\nself.thing = x", []),
        ("self.lock.acquire()\ntry: self.thing = x\nfinally: self.lock.release()", ["self.lock"]),
        ("if key: self.lock.acquire()\nself.thing = x", ["self.lock?"]),
        ("if key: self.lock.acquire()\nelse: self.lock.acquire()\nself.thing = x", ["self.lock"]),
        ("self.lock.acquire()\nif key: self.lock.release()\nself.thing = x", []),
        ("if key: self.lock.acquire()\nself.lock.release()\nself.thing = x", []),
        ("if key: self.lock.acquire()\nself.lock.acquire()\nself.thing = x", ["self.lock"]),
        ("if key:\n    with self.lock: pass\nself.thing = x", []),
        ("if not self.lock.acquire(False): self.thing = x", []),
        ("if not self.lock.acquire(False): return\nself.thing = x", ["self.lock"]),
        ("if self.lock.acquire(False):\n    self.lock.release()\n    return\nself.thing = x", []),
        ("lock = self.lock\nwith lock: self.thing = x", ["self.lock"]),
        ("with x.lock: self.thing = x", ["x.lock"]),
        ("with open(x): self.thing = x", []),
        ("for _ in key:\n    with self.lock: self.thing = x", ["self.lock"]),
        ("with self.lock:\n    for _ in key: self.thing = x", ["self.lock"]),
    ],
)
def test_locks_that_are_certainly_held(body, expected):
    found = method(body)
    (access,) = [a for a in found.accesses("A.go", "self.thing") if a.kind == "store"]
    assert found.held(access.held) == expected


def test_a_lock_that_may_not_have_been_acquired_is_not_held():
    found = method("if self.lock.acquire(blocking=False):\n    self.thing = x\n    self.lock.release()")
    (access,) = [a for a in found.accesses("A.go", "self.thing") if a.kind == "store"]
    assert found.held(access.held) == ["self.lock"]


def test_what_a_helper_takes_and_leaves_held_is_held():
    found = parallel("""
        import threading
        class A:
            def __init__(self):
                self.lock = threading.Lock()
            def enter(self): self.lock.acquire()
            def leave(self): self.lock.release()
            def go(self):
                self.enter()
                self.a = 1
                self.leave()
                self.b = 1
    """)
    assert [found.held(a.held) for a in found.accesses("A.go") if a.kind == "store"] == [["self.lock"], []]


# --- acts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind", "by"),
    [
        ("if key not in self.rows: self.rows[key] = x", "insert", "condition"),
        ("if key in self.rows: del self.rows[key]", "remove", "condition"),
        ("if key in self.rows: return self.rows[key]", "lookup", "condition"),
        ("if self.thing is None: self.thing = x", "store", "condition"),
        ("if self.thing: return self.thing.close()", "read", "condition"),
        ("if not self.n: return\nself.n = 0", "store", "condition"),
        ("thing = self.thing\nif thing is None: self.thing = x", "store", "condition"),
        ("self.n = self.n + 1", "store", "data"),
        ("n = self.n\nself.n = n + 1", "store", "data"),
        ("self.n = max(self.n, x)", "store", "data"),
    ],
)
def test_acts_that_depend_on_a_check(body, kind, by):
    found = method(body).acts("A.go", kind)
    assert by in {act.by for act in found}


@pytest.mark.parametrize(
    "body",
    [
        "self.n = x",
        "if x: self.n = 1",
        "if self.n: pass\nself.thing = x",
        "n = self.n\nself.thing = x",
        "if self.n: x = 1\nself.n = 1",
    ],
)
def test_what_depends_on_nothing_is_no_act(body):
    assert [act.kind for act in method(body).acts("A.go") if act.kind in ("store", "insert", "remove")] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("with self.lock:\n    if key not in self.rows: self.rows[key] = x", ["self.lock"]),
        ("if key not in self.rows:\n    with self.lock: self.rows[key] = x", []),
        ("with self.lock: found = key in self.rows\nwith self.lock:\n    if not found: self.rows[key] = x", []),
        ("self.lock.acquire()\nif key not in self.rows: self.rows[key] = x\nself.lock.release()", ["self.lock"]),
    ],
)
def test_the_locks_held_from_the_check_to_the_act(body, expected):
    found = method(body)
    acts = found.acts("A.go", "insert")
    assert [found.held(act.through) for act in acts] == [expected] * len(acts)
    assert acts or "found" in body


def test_a_second_check_under_the_lock_is_the_one_that_counts():
    found = method("""
        if self.thing is None:
            with self.lock:
                if self.thing is None:
                    self.thing = x
    """)
    assert [found.held(act.through) for act in found.acts("A.go", "store")] == [["self.lock"]]


def test_an_exception_that_is_handled_is_told():
    found = method("""
        try:
            if key in self.rows:
                del self.rows[key]
        except KeyError:
            pass
    """)
    assert found.act("A.go", "remove").caught


def test_what_an_insertion_puts_in_may_have_an_identity():
    found = method("if key not in self.rows: self.rows[key] = threading.Thread()")
    assert found.act("A.go", "insert").value == "opened"
    assert method("if key not in self.rows: self.rows[key] = 5").act("A.go", "insert").value == ""


# --- calls and starts -------------------------------------------------------------------------------------------------


def test_calls_carry_what_is_held():
    found = method("with self.lock: self.helper()")
    site = found.calls("A.go")["A.helper"]
    assert found.held(site.held) == ["self.lock"]
    assert site.receiver is not None
    assert found.text(site.receiver) == "self"
    assert site.certain


def test_a_call_on_two_ways_holds_what_both_hold():
    found = method("""
        for _ in x:
            self.helper()
            self.lock.acquire()
    """)
    assert found.held(found.calls("A.go")["A.helper"].held) == []


def test_starts_and_what_comes_before_and_after():
    found = method("""
        self.n = 1
        thread = threading.Thread(target=self.helper)
        self.n = 2
        thread.start()
        self.n = 3
        thread.join()
        self.n = 4
    """)
    stores = [(a.started, bool(a.joined)) for a in found.accesses("A.go", "self.n") if a.kind == "store"]
    assert stores == [(False, False), (False, False), (True, False), (True, True)]
    (start,) = found.starts("A.go")
    assert (start.kind, start.many, start.looped, start.awaited) == ("thread", False, False, False)


@pytest.mark.parametrize(
    ("body", "many", "looped"),
    [
        ("threading.Thread(target=self.helper).start()", False, False),
        ("for _ in x: threading.Thread(target=self.helper).start()", False, True),
        ("while x: threading.Thread(target=self.helper).start()", False, True),
        ("[threading.Thread(target=self.helper) for _ in x]", False, True),
        ("x.submit(self.helper)", True, False),
    ],
)
def test_starts_of_several(body, many, looped):
    (start,) = method(body).starts("A.go")
    assert (start.many, start.looped) == (many, looped)


def test_an_executor_of_one_worker_is_a_queue():
    lead = "from concurrent.futures import ThreadPoolExecutor"
    (start,) = method("for _ in x: ThreadPoolExecutor(max_workers=1).submit(self.helper)", lead).starts("A.go")
    assert (start.many, start.looped) == (False, False)


def test_what_a_started_callable_is_given():
    found = method("threading.Thread(target=self.helper, args=(self.rows, key)).start()")
    (start,) = found.starts("A.go")
    assert [found.text(value) for values in start.args for value in values] == ["self.rows", "key"]


def test_callables_that_are_kept():
    found = method("self.thing = self.helper")
    assert [found.text(path) for path, _ in found.effects("A.go").stored] == ["self.thing"]


def test_callables_that_are_kept_in_a_container():
    assert method("self.rows[key] = self.helper").effects("A.go").stored


def test_threads_whose_object_is_started():
    found = parallel("""
        import threading
        class T(threading.Thread):
            def run(self): pass
        def go():
            thread = T()
            thread.start()
    """)
    assert found.effects("go").begun == {"m:T"}
    assert [name for _, name in found.effects("go").made] == ["m:T"]


# --- suspensions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("await self.fetch(key)", 1),
        ("await asyncio.sleep(1)", 1),
        ("await self.wait()", 1),
        ("await self.no_wait()", 0),
        ("async for row in self.fetch(key): pass", 1),
        ("async with self.gate: pass", 2),  # at both ends
        ("asyncio.create_task(self.wait())", 0),
        ("with self.gate: pass", 0),
        ("return [await self.fetch(k) for k in key]", 1),
        ("return [k async for k in self.fetch(key)]", 1),
    ],
)
def test_suspensions(body, count):
    assert len(coroutine(body).effects("B.go").suspensions) == count


@pytest.mark.parametrize(
    ("body", "kind", "suspended"),
    [
        ("n = self.n\nawait self.wait()\nself.n = n + 1", "store", True),
        ("n = self.n\nself.n = n + 1\nawait self.wait()", "store", False),
        ("await self.wait()\nself.n = self.n + 1", "store", False),
        ("n = self.n\nawait self.no_wait()\nself.n = n + 1", "store", False),
        ("self.n += await self.fetch(key)", "update", True),
        ("self.n = await self.fetch(key) + self.n", "store", False),
        ("if self.thing is None:\n    self.thing = await self.fetch(key)", "store", True),
        (
            "if self.thing is None:\n    await self.wait()\n    if self.thing is None:\n        self.thing = key",
            "store",
            False,
        ),
        ("if key in self.rows:\n    await self.wait()\n    del self.rows[key]", "remove", True),
        ("while self.thing is None:\n    await self.wait()\nself.thing = key", "store", False),
    ],
)
def test_acts_across_suspensions(body, kind, suspended):
    assert {act.suspended for act in coroutine(body).acts("B.go", kind)} == {suspended}


def test_a_flag_keeps_the_other_instances_out():
    found = coroutine("""
        if self.busy:
            return
        self.busy = True
        n = self.n
        await self.wait()
        self.n = n + 1
        self.busy = False
    """)
    assert {act.suspended for act in found.acts("B.go", "store")} == {False}


def test_locks_held_over_a_suspension():
    found = coroutine("""
        async with self.gate:
            n = self.n
            await self.wait()
            self.n = n + 1
    """)
    (act,) = found.acts("B.go", "store")
    assert (act.suspended, found.held(act.through)) == (True, ["self.gate"])


def test_an_iteration_across_a_suspension():
    found = coroutine("""
        for key in self.rows:
            await self.wait()
        for key in list(self.rows):
            await self.wait()
        for key in self.rows:
            await self.wait()
            break
    """)
    crossings = [c for entries in found.effects("B.go").crossings.values() for c in entries]
    placed = [c for c in crossings if found.places.locate(c.path) is not None]
    assert [(found.text(c.path), c.loop.line) for c in placed] == [("self.rows", 17)]
