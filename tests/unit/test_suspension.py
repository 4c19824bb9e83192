"""What goes wrong between the tasks of one event loop: stale writes, and iterations that others cut into."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.concurrent_programs import Parallel, parallel


def tasks(body: str, other: str = "pass", *, many: bool = True) -> Parallel:
    """A coroutine of this body, started for each of several keys (or once), beside another one."""
    start = "for key in keys: asyncio.create_task(self._go(key))" if many else "asyncio.create_task(self._go(keys))"
    return parallel(
        "import asyncio, threading\nfrom lib import connect\nclass A:\n"
        "    def __init__(self, fetch):\n"
        "        self.fetch = fetch\n        self.gate = asyncio.Lock()\n        self.lock = threading.Lock()\n"
        "        self.rows = {}\n        self.items = []\n        self.n = 0\n"
        "        self.thing = None\n        self.busy = False\n"
        f"    async def run(self, keys):\n        asyncio.create_task(self._other(keys))\n        {start}\n"
        "    async def _wait(self): await asyncio.sleep(1)\n"
        "    async def _nothing(self): return 1\n"
        f"    async def _go(self, key):\n{textwrap.indent(textwrap.dedent(body), '        ')}\n"
        f"    async def _other(self, key):\n{textwrap.indent(textwrap.dedent(other), '        ')}\n"
    )


def names(found: Parallel) -> list[str]:
    return sorted({stale.place.name for stale in found.stale()})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.n += await self.fetch(key)", ["n"]),
        ("n = self.n\nawait self._wait()\nself.n = n + 1", ["n"]),
        ("self.rows['all'] += await self.fetch(key)", ["rows"]),
        ("if self.thing is None: self.thing = await connect()", ["thing"]),
        ("if key not in self.rows:\n    thing = await connect()\n    self.rows[key] = thing", ["rows"]),
        ("if key in self.rows:\n    await self._wait()\n    del self.rows[key]", ["rows"]),
        ("thing = self.thing\nif thing is None:\n    await self._wait()\n    self.thing = connect()", ["thing"]),
        ("try:\n    if not self.thing:\n        self.thing = await connect()\nfinally:\n    pass", ["thing"]),
    ],
)
def test_stale_writes(body, expected):
    assert names(tasks(body)) == expected


@pytest.mark.parametrize(
    "body",
    [
        "n = await self.fetch(key)\nself.n += n",
        "self.n = await self.fetch(key) + self.n",
        "self.n = await self.fetch(key)",
        "n = self.n\nawait self._nothing()\nself.n = n + 1",
        "n = self.n\nasyncio.create_task(self._wait())\nself.n = n + 1",
        "async with self.gate:\n    self.n += await self.fetch(key)",
        "async with self.gate:\n    if self.thing is None: self.thing = await connect()",
        "if self.thing is None:\n    thing = await connect()\n    if self.thing is None: self.thing = thing",
        "if self.busy: return\nself.busy = True\nself.n += await self.fetch(key)\nself.busy = False",
        "if not self.busy:\n    self.busy = True\n    n = self.n\n    await self._wait()\n    self.n = n + 1",
        "if key not in self.rows:\n    value = await self.fetch(key)\n    self.rows[key] = 5",  # a memo
        "if self.busy: await self._wait()\nself.busy = True",
        "await self._wait()\nif self.thing is None: self.thing = connect()",
        "if self.thing is None:\n    self.thing = connect()\n    await self._wait()",
        "n = self.n\nawait self._wait()\nprint(n)",
        "table = {}\nn = len(table)\nawait self._wait()\ntable['a'] = n + 1",
    ],
)
def test_what_is_not_stale(body):
    assert names(tasks(body)) == []


def test_a_loop_that_tests_again_after_each_wait_is_not_stale():
    assert names(tasks("while self.thing is not None:\n    await self._wait()\nself.thing = connect()")) == []


@pytest.mark.xfail(strict=True, reason="a test that leaves the loop by break is taken as the first one")
def test_a_loop_that_breaks_on_a_fresh_test_is_not_stale():
    body = "while True:\n    if self.thing is None: break\n    await self._wait()\nself.thing = connect()"
    assert names(tasks(body)) == []


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("pass", []),
        ("print(self.n)", []),
        ("self.n = 0", ["n"]),
        ("self.n += 1", ["n"]),
        ("del self.n", ["n"]),
        ("n = self.n\nself.n = n", ["n"]),
    ],
)
def test_a_single_task_needs_another_that_writes(other, expected):
    assert names(tasks("self.n += await self.fetch(key)", other, many=False)) == expected


def test_a_clean_up_loses_what_another_has_put_there():
    body = "if self.thing is not None:\n    await self.thing.close()\n    self.thing = None"
    assert names(tasks(body)) == []
    assert names(tasks(body, "self.thing = connect()")) == ["thing"]
    assert names(tasks(body, "self.thing = None")) == []


def test_a_lock_between_threads_keeps_tasks_apart_if_both_hold_it():
    body = "with self.lock:\n    self.n += await self.fetch(key)"
    assert names(tasks(body)) == []
    assert names(tasks(body, "self.n = 0")) == ["n"]


def test_a_lock_that_is_given_back_in_between_does_not_help():
    body = "async with self.gate: n = self.n\nawait self._wait()\nasync with self.gate: self.n = n + 1"
    assert names(tasks(body)) == ["n"]


def test_threads_are_another_rule_s_business():
    found = parallel("""
        import asyncio
        class A:
            def __init__(self): self.n = 0
            async def run(self):
                asyncio.create_task(self._go())
                await asyncio.to_thread(self._reset)
            async def _go(self): self.n += await self.fetch()
            def _reset(self): self.n = compute()
    """)
    assert names(found) == []
    assert found.shapes() == ["(update-store n)"]


# --- callers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [("refresh", ["n"]), ("start", []), ("close", []), ("__aenter__", []), ("setup_table", []), ("_private", [])],
)
def test_callers_call_a_public_coroutine_twice_unless_it_is_of_the_life_cycle(name, expected):
    found = parallel(f"""
        class A:
            def __init__(self): self.n = 0
            async def {name}(self): self.n += await self.fetch()
    """)
    assert names(found) == expected


@pytest.mark.parametrize(
    ("call", "confidence"),
    [("asyncio.create_task(self._reset())", 3), ("pass", 1)],
)
def test_how_sure_it_is(call, confidence):
    found = parallel(f"""
        import asyncio
        class A:
            def __init__(self): self.n = 0
            def start(self):
                asyncio.create_task(self._go())
                {call}
            async def _go(self): self.n += await self.fetch()
            async def _reset(self): self.n = 0
            async def stop(self): self.n = 0
    """)
    assert max((stale.confidence for stale in found.stale()), default=0) == confidence


def test_objects_of_one_task_alone_are_its_own():
    found = parallel("""
        import asyncio
        class A:
            def __init__(self): self.n = 0
            async def _go(self): self.n += await self.fetch()
        async def one(): await A()._go()
        def start(keys):
            for key in keys: asyncio.create_task(one())
    """)
    assert names(found) == []


# --- iteration --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "other", "expected"),
    [
        ("for k in self.rows: await self._wait()", "self.rows['a'] = 1", ["rows"]),
        ("for k, v in self.rows.items(): await self._wait()", "self.rows.pop('a')", ["rows"]),
        ("for k in self.rows: await self._wait()", "self.rows = {}", []),
        ("for k in self.rows: await self._wait()", "print(self.rows)", []),
        ("for k in list(self.rows): await self._wait()", "self.rows['a'] = 1", []),
        ("for k in self.rows: print(k)", "self.rows['a'] = 1", []),
        ("for k in self.rows: await self._nothing()", "self.rows['a'] = 1", []),
        ("for k in self.rows:\n    await self._wait()\n    break", "self.rows['a'] = 1", []),
        ("for k in self.rows:\n    await self._wait()\n    return", "self.rows['a'] = 1", []),
        ("for k in self.items: await self._wait()", "self.items.append(1)", []),  # a list goes on
        ("async with self.gate:\n    for k in self.rows: await self._wait()", "self.rows['a'] = 1", ["rows"]),
        (
            "async with self.gate:\n    for k in self.rows: await self._wait()",
            "async with self.gate: self.rows['a'] = 1",
            [],
        ),
    ],
)
def test_iterations_across_a_suspension(body, other, expected):
    assert [crossed.place.name for crossed in tasks(body, other).crossed()] == expected
