"""The rows of concurrency.toml: every name stands in a fixture, and each one does what its row says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.concurrent_programs import Parallel, parallel

from racelint import knowledge

FIXTURES = Path(__file__).parents[1] / "fixtures"
TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(knowledge.__file__).with_name("concurrency.toml").read_text("utf-8")
)
LISTS = ("types", "names", "bases", "decorators")
SHORT = ("*", "defer", "lockutils", "threads", "task", "ioloop", "gen", "greenthread", "web")
UNTYPED = "a constructor that does not start with a capital letter gives no type"
MADE_BY_CALL = "a decorator that a call of a library has made is unknown"


def rows(table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every name of a table with its row."""
    for row in TABLE[table]:
        for key in LISTS:
            for name in row.get(key, ()):
                yield name, row


def named(table: str, untyped: str = "", **wanted: Any) -> list[Any]:
    """The parameters of a test: each name with its row, of the rows that have certain values."""
    marks = [pytest.mark.xfail(strict=True, reason=UNTYPED)]
    return [
        pytest.param(
            name, row, id=f"{name}-{row.get('kind', row.get('does', table))}", marks=marks if name == untyped else []
        )
        for name, row in rows(table)
        if all(row.get(key) == value for key, value in wanted.items())
    ]


def last(name: str) -> str:
    return name.rpartition(".")[2]


def imports(name: str) -> str:
    """What makes a dotted name known; short names are those of modules that an import with a star brought."""
    owner = name.rpartition(".")[0]
    parts = owner.split(".")
    if last(owner)[:1].isupper() and len(parts) > 1 and not last(name)[:1].isupper():  # a method of a class
        owner = ".".join(parts[:-1])
    return f"import {owner}\n" if owner and owner not in SHORT else ""


# --- every row has a fixture ------------------------------------------------------------------------------------------

WORDS = frozenset(
    word for path in FIXTURES.rglob("*.py") for word in re.findall(r"\w+", path.read_text("utf-8"))
)  # fmt: skip


@pytest.mark.parametrize("table", sorted(TABLE))
def test_every_name_stands_in_a_fixture(table):
    assert [name for name, _ in rows(table) if last(name) not in WORDS] == []


@pytest.mark.parametrize("table", sorted(TABLE))
def test_every_row_says_where_it_comes_from(table):
    assert [row for row in TABLE[table] if not re.match(r"https://\S+", row.get("source", ""))] == []


@pytest.mark.parametrize("table", ["lock", "start", "safe", "join"])
def test_no_name_stands_in_two_rows(table):
    names = [name for name, _ in rows(table)]
    assert sorted({name for name in names if names.count(name) > 1}) == []


# --- starts -----------------------------------------------------------------------------------------------------------


def call(name: str, row: dict[str, Any], given: str = "work") -> str:
    """A function `go` that calls what a row names, with the callable where the row says it is."""
    arguments = f"{row['keyword']}={given}" if "keyword" in row else "None, " * row["callable"] + given
    owner, method = name.rpartition(".")[0], last(name)
    begin = "\n    made.start()" if row.get("when") == "start" else ""
    if owner == "*":
        return f"def go(thing):\n    made = thing.{method}({arguments}){begin}\n"
    if last(owner)[:1].isupper() and "." in owner and method[:1].islower():
        return f"def go():\n    thing = {owner}()\n    made = thing.{method}({arguments}){begin}\n"
    return f"def go():\n    made = {name}({arguments}){begin}\n"


def started(name: str, row: dict[str, Any], given: str = "work") -> Parallel:
    return parallel(f"{imports(name)}def work(): pass\n{call(name, row, given)}")


@pytest.mark.parametrize(("name", "row"), named("start"))
def test_a_start_makes_the_callable_the_root_of_a_context(name, row):
    found = started(name, row).roots("work")
    kind = "external" if row["kind"] in ("command", "preparing") else row["kind"]  # the program is its caller
    assert [(context.kind, context.many) for context in found] == [(kind, row.get("many", False))]
    if kind not in ("unknown", "external"):
        assert found[0].starter == "m:go"


@pytest.mark.parametrize(("name", "row"), named("start", when="start"))
def test_a_start_by_position_is_the_same(name, row):
    by_position = {key: value for key, value in row.items() if key != "keyword"}
    assert started(name, by_position).root_kinds("work") == [row["kind"]]


@pytest.mark.parametrize(("name", "row"), named("start"))
def test_only_the_callable_is_started(name, row):
    """What the callable is given is not: but gather() and its like take several."""
    if row["kind"] in ("task", "unknown") or "keyword" in row:
        return
    text = f"{imports(name)}def work(): pass\ndef other(): pass\n{call(name, row, 'work, other')}"
    assert parallel(text).root_kinds("other") == ["external"]


@pytest.mark.parametrize("name", ["threading.Thread", "multiprocessing.Process", "threading.Timer"])
def test_a_thread_that_nobody_starts_is_still_a_context(name):
    """Its handle may be started anywhere: the row's `when` only says from where on it runs."""
    row = dict(rows("start"))[name]
    text = f"{imports(name)}def work(): pass\ndef go():\n    return {name}({row['keyword']}=work)\n"
    assert parallel(text).root_kinds("work") == [row["kind"]]


@pytest.mark.parametrize(("name", "row"), named("start", untyped="threading._Timer"))
def test_what_follows_a_start_may_run_beside_it(name, row):
    """What runs on the loop or nobody knows when does not end the time before the first start, nor does a process."""
    text = f"TABLE = {{}}\n{imports(name)}def work(): pass\n{call(name, row)}    TABLE['a'] = 1\n"
    access = parallel(text).accesses("go", "TABLE")[-1]
    apart = row["kind"] == "process" and row.get("when") == "start"  # by pools threads of ours are started, too
    assert access.started == (row["kind"] not in ("unknown", "loop") and not apart)


# --- entries ----------------------------------------------------------------------------------------------------------


def instance(row: dict[str, Any]) -> int:
    return {"call": 0, "own": 1}.get(row.get("instance", "shared"), 3)


def by_base() -> list[Any]:
    return [pytest.param(base, row, id=base) for row in TABLE["entry"] for base in row.get("bases", ())]


def by_decorator() -> list[Any]:
    return [
        pytest.param(name, row, id=f"{name}-{row.get('only', 'both')}")
        for row in TABLE["entry"]
        for name in row.get("decorators", ())
    ]


def methods(row: dict[str, Any]) -> list[str]:
    return [pattern.replace("*", "THING") for pattern in row["methods"]]


@pytest.mark.parametrize(("base", "row"), by_base())
def test_a_library_calls_methods_of_subclasses(base, row):
    bodies = "".join(f"    def {name}(self): pass\n" for name in (*methods(row), "helper"))
    module = base.rpartition(".")[0]
    lead = f"from six.moves import {last(module)}\n" if base.startswith("six.") else f"import {module}\n"
    used = base.removeprefix("six.moves.")
    lead = "" if module == "web" else lead
    found = parallel(f"{lead}class Mine({used}):\n{bodies}class Lower(Mine): pass\n")
    for name in methods(row):
        (context,) = found.roots(f"Mine.{name}")
        assert (context.kind, context.many, context.receiver) == (row["kind"], row["kind"] == "handler", instance(row))
    assert found.root_kinds("Mine.helper") == ["external"]


@pytest.mark.parametrize(("name", "row"), by_decorator())
@pytest.mark.parametrize("prefix", ["", "async "], ids=["sync", "async"])
@pytest.mark.parametrize("given", ["", "('widgets')"], ids=["bare", "called"])
def test_a_library_calls_what_it_decorates(name, row, prefix, given):
    found = parallel(f"import {name.rpartition('.')[0]}\n@{name}{given}\n{prefix}def handle(**_): pass\n")
    kinds = [context.kind for context in found.roots("handle")]
    if row.get("only", "") in ("", "async" if prefix else "sync"):
        assert kinds == [row["kind"]]
        assert row["kind"] == "unknown" or found.roots("handle")[0].many
    else:
        assert row["kind"] not in kinds


# --- locks ------------------------------------------------------------------------------------------------------------

THREADS = """
import threading
{imports}
class Table:
    def __init__(self, source):
        self.gate = {made}
        self.rows = {{}}
        self.source = source
        threading.Thread(target=self.fill).start()

    def fill(self):
        for row in self.source:
            with self.gate:
                self.rows[row] = row

    def names(self):
        with self.gate:
            return [name.upper() for name in self.rows]
"""

TASKS = """
import asyncio
{imports}
class Total:
    def __init__(self, fetch):
        self.gate = {made}
        self.size = 0
        self.fetch = fetch

    async def run(self, urls):
        await asyncio.gather(*(self.add(url) for url in urls))

    async def add(self, url):
        async with self.gate:
            self.size += await self.fetch(url)
"""

NO_TYPE = ("_thread.allocate_lock", "thread.allocate_lock")
AT_ONCE = ("lockutils.lock", "lockutils.internal_lock", "lockutils.external_lock")  # made where they are entered


def locks(*kinds: str) -> list[Any]:
    found = []
    for name, row in rows("lock"):
        if row["kind"] in kinds and not name.endswith(AT_ONCE):
            marks = [pytest.mark.xfail(strict=True, reason=UNTYPED)] if name in NO_TYPE else []
            found.append(pytest.param(name, id=name, marks=marks))
    return found


def under(template: str, name: str, arguments: str = "") -> Parallel:
    return parallel(template.format(imports=imports(name), made=f"{name}({arguments})"))


@pytest.mark.parametrize("name", locks("exclusive", "process"))
def test_a_lock_keeps_threads_apart(name):
    assert under(THREADS, name).shapes() == []


@pytest.mark.parametrize("name", locks("async"))
def test_a_lock_between_tasks_keeps_tasks_apart_and_no_threads(name):
    assert under(TASKS, name).stale() == []
    assert under(THREADS, name).shapes() == ["resize-iterate rows"]


@pytest.mark.parametrize("name", locks("counted"))
def test_a_semaphore_is_a_lock_if_it_lets_one_in(name):
    template = TASKS if name.startswith("asyncio") else THREADS
    ask = Parallel.stale if name.startswith("asyncio") else Parallel.pairs
    assert ask(under(template, name)) == []
    assert ask(under(template, name, "1")) == []
    assert len(ask(under(template, name, "2"))) == 1


def test_what_is_no_lock_keeps_nobody_apart():
    assert under(THREADS, "contextlib.nullcontext").shapes() == ["resize-iterate rows"]
    assert [stale.place.name for stale in under(TASKS, "asyncio.timeout").stale()] == ["size"]


@pytest.mark.parametrize("name", [name for name, _ in rows("lock") if name.endswith(AT_ONCE)])
def test_a_lock_by_name_keeps_threads_apart_where_it_is_entered(name):
    text = THREADS.replace("with self.gate", "with {made}")
    assert parallel(text.format(imports=imports(name), made=f"{name}('rows')")).shapes() == []


def test_a_condition_over_a_lock_is_that_lock():
    found = parallel("""
        import threading
        class Table:
            def __init__(self):
                self.gate = threading.Lock()
                self.over = threading.Condition(self.gate)
                self.own = threading.Condition()
                threading.Thread(target=self.fill).start()
            def fill(self):
                with self.over:
                    self.a += 1
                    self.b += 1
            def also(self):
                with self.gate:
                    self.a += 1
                with self.own:
                    self.b += 1
    """)
    assert found.shapes() == ["count-count b"]


# --- types that are safe ----------------------------------------------------------------------------------------------

SHARED = """
import threading
{imports}
class Thing({name}):
    pass

class User:
    def __init__(self):
        self.thing = Thing()
        self.plain = {name}()
        for _ in range(2):
            threading.Thread(target=self.work).start()

    def work(self):
        while True:
            self.thing.level += 1
            self.plain = {name}()

    def reset(self):
        self.thing.level += 1
        if self.plain:
            self.plain = {name}()
"""


@pytest.mark.parametrize("name", [name for name, _ in rows("safe")])
def test_what_is_safe_does_not_race(name):
    assert parallel(SHARED.format(imports=imports(name), name=name)).shapes() == []


def test_what_is_not_safe_does():
    text = SHARED.format(imports="import lib\n", name="lib.Thing")
    assert parallel(text).shapes() == ["step-step level", "(store-test plain)"]


# --- joins ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, _ in rows("join")])
def test_a_join_ends_what_this_function_has_started(name):
    owner, method = name.rpartition(".")[0], last(name)
    called = f"jobs.{method}(jobs)" if owner == "*" else f"{name}(jobs)"
    lines = f"thing = {owner}()\n    thing.{method}()" if last(owner)[:1].isupper() else called
    text = f"TABLE = {{}}\n{imports(name)}def go(jobs):\n    TABLE['a'] = 1\n    {lines}\n    TABLE['b'] = 2\n"
    before, after = [a for a in parallel(text).accesses("go", "TABLE") if a.kind == "insert"]
    assert (bool(before.joined), bool(after.joined)) == (False, True)


# --- functions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "row"), named("function", does="coroutine"))
def test_a_decorated_generator_waits_at_each_yield(name, row):
    found = parallel(
        f"{imports(name)}TABLE = {{}}\n@{name}\ndef go(url):\n    page = yield url\n    TABLE['a'] = page\n"
    )
    assert len(found.effects("go").suspensions) == 1
    assert found.root_kinds("go") == ["async external"]


@pytest.mark.parametrize(("name", "row"), named("function", does="suspends"))
def test_a_sleep_lets_others_run(name, row):
    found = parallel(f"{imports(name)}def go(rows):\n    rows.a = 1\n    {name}(1)\n    rows.a = 2\n")
    assert len(found.effects("go").suspensions) == 1


@pytest.mark.parametrize(("name", "row"), named("function", does="at-once"))
@pytest.mark.parametrize(("size", "waits"), [("", False), ("9", True), ("maxsize=9", True)])
def test_what_awaits_a_queue_without_a_bound_goes_on_at_once(name, row, size, waits):
    queue, method = name.rpartition(".")[0], last(name)
    found = parallel(
        f"{imports(queue)}class A:\n    def __init__(self):\n        self.q = {queue}({size})\n"
        f"    async def go(self, text):\n        await self.q.{method}(text)\n"
    )
    assert bool(found.effects("A.go").suspensions) is (waits and "keyword" in row)


@pytest.mark.parametrize(("name", "row"), named("function", does="context-manager"))
def test_a_generator_as_context_manager_holds_its_lock_over_the_body(name, row):
    found = parallel(f"""
        import contextlib, threading
        class Table:
            def __init__(self): self.gate = threading.Lock()
            @{name}
            def locked(self):
                with self.gate:
                    yield
            def add(self):
                with self.locked():
                    self.rows = 1
    """)
    (access,) = found.accesses("Table.add", "self.rows")
    assert found.held(access.held) == ["self.gate"]


@pytest.mark.parametrize(("name", "row"), [
    pytest.param(*p.values, id=p.id, marks=[pytest.mark.xfail(strict=True, reason=MADE_BY_CALL)]
                 if "with_prefix" in str(p.id) else [])
    for p in named("function", does="synchronized")
])  # fmt: skip
def test_a_synchronized_function_holds_a_lock(name, row):
    used = f"{name}('agent-')('table')" if "with_prefix" in name else f"{name}('table')"
    found = parallel(f"""
        import threading, wrapt
        {imports(name).strip()}
        class Table:
            def start(self):
                for _ in range(2):
                    threading.Thread(target=self.add).start()
            @{used}
            def add(self):
                self.n += 1
    """)
    assert found.shapes() == []


@pytest.mark.parametrize(("name", "row"), [p for p in named("function", does="new") if ".submit" in str(p.id)])
def test_what_a_pool_gives_calls_back_in_a_worker(name, row):
    found = parallel(f"""
        {imports(name).strip()}
        class Table:
            def __init__(self, pool: {name.rpartition(".")[0]}):
                self.pool = pool
            def start(self, job):
                self.pool.submit(job).add_done_callback(self.note)
            def note(self, future):
                self.n = 1
    """)
    assert row["returns"] == "concurrent.futures.Future"
    assert found.root_kinds("Table.note") == ["pool"]


@pytest.mark.parametrize(("name", "row"), [*named("function", does="sets"), *named("function", does="finds-set")])
def test_what_comes_before_a_flag_is_set_comes_before_the_wait_for_it(name, row):
    flag = name.rpartition(".")[0]

    def found(limit):
        return parallel(f"""
            import threading
            class Table:
                def __init__(self):
                    self.ready = {flag}()
                    self.rows = {{}}
                    threading.Thread(target=self.fill).start()
                    threading.Thread(target=self.show).start()
                def fill(self):
                    for name in open("names"):
                        self.rows[name] = ""
                    self.ready.set()
                def show(self):
                    self.ready.wait({limit})
                    for name in self.rows:
                        print(name)
        """).shapes()

    assert found("") == [] != found("1")


@pytest.mark.parametrize(("name", "row"), named("function", does="depends"))
def test_a_dependency_that_yields_under_a_lock_holds_it_around_the_handler(name, row):
    def found(held: str) -> list[tuple[str, str]]:
        return parallel(f"""
            import threading
            import fastapi
            app = fastapi.FastAPI()
            gate = threading.Lock()
            rows = {{}}
            def opened():
                with gate:
                    {held}
            @app.get("/")
            def add(found={name}(opened)):
                for row in rows:
                    rows.pop(row)
        """).shapes()

    assert found("yield rows") == [] != found("return rows")


def test_every_meaning_of_a_function_is_tested():
    meanings = {row["does"] for _, row in rows("function")}
    tested = {
        "coroutine",
        "suspends",
        "at-once",
        "context-manager",
        "synchronized",
        "new",
        "sets",
        "finds-set",
        "depends",
    }
    assert meanings == tested
