"""The knowledge tables: every row is exercised and true of Python, broken tables are told, users' own extend ours."""

from __future__ import annotations

import array
import builtins
import collections
import functools
import os
import re
import tomllib
import types
import weakref
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from tests.unit.programs import Linked, linked, lower, single

from racelint import knowledge
from racelint.analysis.values import Builtin, Member
from racelint.analysis.values import Element as ElementValue
from racelint.errors import RacelintError
from racelint.knowledge import KnowledgeError, load
from racelint.model import Source

FIXTURES = Path(__file__).parents[1] / "fixtures"
TABLE = tomllib.loads(Path(knowledge.__file__).with_name("python.toml").read_text("utf-8"))
IMPORTS = "import array, asyncio, collections, functools, itertools, os, random, shim, sys, typing, weakref\n"

LAZY = {
    "itertools.chain.from_iterable": "itertools.chain.from_iterable([d])",
    "itertools.cycle": "itertools.cycle(d)",
    "itertools.dropwhile": "itertools.dropwhile(g, d)",
    "itertools.filterfalse": "itertools.filterfalse(g, d)",
    "itertools.starmap": "itertools.starmap(g, d.items())",
    "itertools.compress": "itertools.compress(d, [1])",
    "itertools.accumulate": "itertools.accumulate(d)",
    "itertools.pairwise": "itertools.pairwise(d)",
    "itertools.zip_longest": "itertools.zip_longest([], d)",
    "itertools.batched": "itertools.batched(d, 2)",
    "itertools.groupby": "itertools.groupby(d)",
    "*.viewkeys": "shim.viewkeys(d)",
    "*.viewvalues": "shim.viewvalues(d)",
}
CALLING = {
    "itertools.dropwhile": "list(itertools.dropwhile(drop, d))",
    "itertools.filterfalse": "list(itertools.filterfalse(drop, d))",
    "itertools.starmap": "list(itertools.starmap(drop, d.items()))",
}
ENDING = ["os._exit(1)", "os.abort()", "quit()", "os.execv(p, a)", "os.execve(p, a, e)", "os.execvp(p, a)"]
ENDING += ["os.execvpe(p, a, e)"]
DECLARED = {
    "array.array": "list",
    "weakref.WeakKeyDictionary": "weak mapping",
    "os._Environ": "environment",
    "bytes": "immutable",
    "float": "immutable",
}
HERE = {
    *LAZY, *CALLING, *DECLARED, *[call.partition("(")[0] for call in ENDING], "aiter", "anext",
    "typing.cast", "asyncio.wait_for", "asyncio.shield", "random.choice", "functools.partialmethod",
}  # fmt: skip


# --- the tables -------------------------------------------------------------------------------------------------------


def rows():
    return [*TABLE["container"], *TABLE["function"]]


@functools.cache
def words():
    return frozenset(word for file in FIXTURES.rglob("*.py") for word in re.findall(r"\w+", file.read_text("utf-8")))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.get("kind") or f"{row['does']} {row['names'][0]}")
def test_every_row_says_where_it_comes_from_and_every_name_in_it_is_exercised(row):
    assert row["source"].startswith("https://")
    names = row.get("names") or row["types"]
    assert [name for name in names if name.rpartition(".")[2] not in words() and name not in HERE] == []


def test_tests_here_are_about_rows_that_exist():
    assert HERE - {name for row in rows() for name in row.get("names") or row["types"]} == set()


def test_nothing_is_said_twice():
    types_ = [name for row in TABLE["container"] for name in row["types"]]
    kinds = [row["kind"] for row in TABLE["container"]]
    said = [(row["does"], name) for row in TABLE["function"] for name in row["names"]]
    for names in (types_, kinds, said):
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", TABLE["modules"])
def test_other_names_of_a_module_mean_the_module(name):
    target = TABLE["modules"][name]
    outer, _, last = name.rpartition(".")
    ways = [f"import {name} as m", f"from {outer} import {last} as m" if outer else f"import {name} as m"]
    for way in ways:
        source = Source("/p/m.py", "m", lower(f"{way}\ndef f(): return m.thing\n"), True)
        found = linked([source]).symbols
        assert found.name("m", "m") == Builtin(target), way


def test_aliases_lead_to_types_that_have_a_row():
    known = load()
    assert [name for name, target in TABLE["aliases"].items() if target not in known.container_types] == []


# --- what the rows do -------------------------------------------------------------------------------------------------


def conflicts(body):
    """How the loops of a function come to grief: style and change."""
    text = f"{IMPORTS}def g(x): pass\ndef f(d: dict):\n    " + body.replace("\n", "\n    ")
    return [(c.style, c.resize.change) for c in single(text).summary("m:f").conflicts]


NESTED = pytest.mark.xfail(reason="a container inside a display is not followed", strict=True)


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name, marks=NESTED if "[d]" in call else ()) for name, call in LAZY.items()]
)
def test_lazy_wrappers_and_views_read_while_they_are_consumed(call):
    assert [change for _, change in conflicts(f"for x in {call}: d.pop(1)")] == ["remove"]


@pytest.mark.parametrize("call", CALLING.values(), ids=CALLING)
def test_functions_that_call_while_they_iterate(call):
    assert conflicts(f"def drop(*x): d.pop(1)\n{call}") == [("call", "remove")]


@pytest.mark.parametrize("call", ENDING)
def test_functions_that_never_return(call):
    found = single(f"{IMPORTS}def f(d):\n    {call}\n    d.pop()")
    assert not found.summary("m:f").falls_through
    assert found.resizes("m:f") == []


@pytest.mark.parametrize(("name", "kind"), [*DECLARED.items(), *[(n, None) for n in TABLE["aliases"]]])
def test_declared_types(name, kind):
    found = single(f"import array, collections.abc, os, typing, weakref, xml, _weakrefset\ndef f(d: {name}): pass")
    container = found.types.structures.behaviour(found.types.variable("m:f", "d"))
    assert container.kind == (kind or load().container_types[TABLE["aliases"][name]].kind)


def test_aiter_is_lazy():
    assert conflicts("async for x in aiter(d): d.pop(1)") == [("direct", "remove")]


@pytest.mark.xfail(reason="what tee returns is not known", strict=True)
def test_tee_gives_iterators_over_its_argument():
    assert conflicts("a, b = itertools.tee(d)\nfor x in a: d.pop(1)") == [("direct", "remove")]


def test_the_tuple_that_tee_gives_does_not_read_its_argument():
    assert conflicts("for x in itertools.tee(d): d.pop(1)") == []


@pytest.mark.parametrize(("call", "count"), [("next", 0), ("anext", 0), ("list", 1)])
def test_functions_that_take_one_element(call, count):
    assert len(conflicts(f"{call}(d.pop(1) for x in d)")) == count


@pytest.mark.parametrize("call", ["asyncio.wait_for(g(d), 3)", "asyncio.shield(g(d))", "asyncio.gather(g(d))"])
def test_awaited_coroutines_run(call):
    found = single(f"{IMPORTS}async def g(d): d.pop()\nasync def f(d): await {call}\nasync def h(d): {call}")
    assert found.resizes("m:f") == ["remove d"]
    assert found.resizes("m:h") == []


def test_functions_that_return_or_bind_their_argument():
    found = single(f"{IMPORTS}def drop(d): d.pop()\ndef f(d): return typing.cast(dict, d)\n")
    assert found.returns("m:f") == ["d"]
    found = single(f"{IMPORTS}def drop(d): d.pop()\ndef f(d): functools.partialmethod(drop, d)()")
    assert found.resizes("m:f") == ["remove d"]


def test_functions_that_pick_an_element():
    found = single(f"{IMPORTS}def f(d): return random.choice(d)")
    (picked,) = found.summary("m:f").returns
    assert isinstance(picked, Member | ElementValue)


KEEPING = [name for row in TABLE["function"] if row["does"] == "keeps-result" for name in row["names"]]


@pytest.mark.parametrize("decorator", [*KEEPING, "functools.lru_cache(maxsize=1)", "functools.cache"])
def test_decorators_that_keep_what_a_function_gives(decorator):
    head = "import abc, functools, typing, typing_extensions\nclass A: pass\n"
    made = single(f"{head}@{decorator}\ndef make(): return A()\ndef f():\n    x = make()\n")
    assert made.variable("m:f", "x") == "m:A"


def test_other_decorators_may_give_anything():
    made = single("import a\nclass A: pass\n@a.wrapped\ndef make(): return A()\ndef f():\n    x = make()\n")
    assert made.variable("m:f", "x") == ""


# --- Python itself says the same --------------------------------------------------------------------------------------


class Thing:
    """Something that weak references can refer to."""


KEPT = [Thing() for _ in range(4)]
PAIRS = dict(enumerate("abcd"))
MADE = {
    "dict": lambda: dict(PAIRS),
    "collections.OrderedDict": lambda: collections.OrderedDict(PAIRS),
    "collections.UserDict": lambda: collections.UserDict(PAIRS),
    "collections.Counter": lambda: collections.Counter(PAIRS.values()),
    "collections.defaultdict": lambda: collections.defaultdict(list, PAIRS),
    "collections.ChainMap": lambda: collections.ChainMap(dict(PAIRS)),
    "set": lambda: set(PAIRS),
    "weakref.WeakSet": lambda: weakref.WeakSet(KEPT),
    "list": lambda: list(PAIRS),
    "collections.UserList": lambda: collections.UserList(PAIRS),
    "bytearray": lambda: bytearray(b"abcd"),
    "array.array": lambda: array.array("i", PAIRS),
    "collections.deque": lambda: collections.deque(PAIRS),
    "weakref.WeakKeyDictionary": lambda: weakref.WeakKeyDictionary(dict.fromkeys(KEPT, 1)),
    "weakref.WeakValueDictionary": lambda: weakref.WeakValueDictionary(enumerate(KEPT)),
    "os._Environ": lambda: os._Environ(
        {f"RACELINT_{n}".encode(): b"" for n in PAIRS}, os.fsencode, os.fsdecode, os.fsencode, os.fsdecode
    ),
    "xml.etree.ElementTree.Element": lambda: fromstring("<r><a/><b/><c/><d/></r>"),
}
IMMUTABLE = {*TABLE["container"][-1]["types"]}
MUTABLE = [(row, name) for row in TABLE["container"] for name in row["types"] if name not in IMMUTABLE]
PYTHON_2 = re.compile("(iter|view)(keys|values|items)")


def remove_one(container):
    match container:
        case Element():
            container.remove(container[0])
        case collections.abc.MutableMapping() | collections.abc.MutableSet():
            container.popitem() if hasattr(container, "popitem") else container.pop()
        case collections.deque():
            container.popleft()
        case _:
            container.pop(0)


@pytest.mark.parametrize(("row", "name"), MUTABLE, ids=[name for _, name in MUTABLE])
def test_removing_while_iterating_does_what_the_row_says(row, name):
    container = MADE[name]()
    iterator = iter(container)
    next(iterator)
    remove_one(container)
    try:
        seen = 1 + len(list(iterator))
    except RuntimeError:
        seen = 0
    assert {0: "raises", 3: "skips", 4: "snapshot"}[seen] == row["live"]


@pytest.mark.parametrize("row", TABLE["container"], ids=lambda row: row["kind"])
def test_the_methods_of_a_row_are_methods_of_its_types(row):
    made = [MADE[name]() for name in row["types"] if name in MADE]
    lists = ("insert", "append", "remove", "clear", "reorder", "views", "copies", "reads")
    methods = {method for key in lists for method in row.get(key, ()) if not PYTHON_2.fullmatch(method)}
    assert [method for method in sorted(methods) if not any(hasattr(one, method) for one in made)] == []


@pytest.mark.parametrize("name", ["dict", "collections.defaultdict", "collections.Counter"])
def test_reading_a_missing_key_does_what_the_row_says(name):
    container = MADE[name]()
    try:
        container["missing"]
        found = "inserts" if "missing" in container else "reads"
    except KeyError:
        found = ""
    assert load().container_types[name].missing == found


@pytest.mark.parametrize("name", sorted(IMMUTABLE))
def test_immutable_types_have_no_methods_that_change_them(name):
    cls = types.MappingProxyType if "Proxy" in name else getattr(builtins, name)
    changing = {"append", "add", "pop", "clear", "update", "insert", "remove", "__setitem__", "__delitem__"}
    assert not changing & set(dir(cls))


# --- tables of users --------------------------------------------------------------------------------------------------


def table(tmp_path, text):
    path = tmp_path / "own.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[container]", "own.toml"),
        ("\ufeff[[function]]", "own.toml"),
        (b"\xff", "own.toml"),
        ("[[function]]\nnames = ['a.f']\ndoes = 'snapshot'\nreturn = 'list'", "a.f"),
        ("[[function]]\nnames = ['a.f']", "a.f"),
        ("[[function]]\ndoes = 'snapshot'", "names"),
        ("[[container]]\nkind = 'x'\ntypes = ['a.T']", "a.T"),
        ("[[container]]\nkind = 'x'\ntypes = ['a.T']\nlive = 'raises'\nremoves = ['pop']", "a.T"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, text, message):
    with pytest.raises(KnowledgeError, match=re.escape(message)):
        load([table(tmp_path, text)])
    assert issubclass(KnowledgeError, RacelintError)


@pytest.mark.parametrize(
    "text",
    [
        "[[functions]]\nnames = ['a.f']\ndoes = 'snapshot'",
        "[[function]]\nnames = 'a.f'\ndoes = 'snapshot'",
        "[[function]]\nnames = ['a.f']\ndoes = 'snapshots'",
        "[[container]]\nkind = 'x'\ntypes = ['a.T']\nlive = 'explodes'",
        "[[container]]\nkind = 'x'\ntypes = ['a.T']\nlive = 'raises'\ninsert = ['put']",
        "aliases = ['a.T']",
        "[modules]\nqueue = 3",
    ],
)
def test_mistakes_that_would_silently_do_nothing(tmp_path, text):
    with pytest.raises(KnowledgeError):
        load([table(tmp_path, text)])


@pytest.mark.parametrize("section", ["container", "function"])
def test_a_table_where_a_list_of_tables_is_meant(tmp_path, section):
    with pytest.raises(KnowledgeError):
        load([table(tmp_path, f"[{section}]\nnames = ['a.f']\ndoes = 'snapshot'")])


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(KnowledgeError, match="gone"):
        load([tmp_path / "gone.toml"])


OWN = """
[[container]]
kind = "registry"
types = ["shim.Registry"]
live = "raises"
insert = { register = 0 }
remove = ["unregister"]
clear = ["reset"]

[[function]]
names = ["shim.frozen"]
does = "snapshot"

[[function]]
names = ["shim.stop"]
does = "never-returns"

[aliases]
"shim.Table" = "dict"
"""


def with_own(tmp_path, text) -> Linked:
    source = Source("/p/m.py", "m", lower(f"import shim\n{text}"), True)
    return linked([source], load([table(tmp_path, OWN)]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(d: shim.Registry): d.unregister(1)", ["remove d"]),
        ("def f(d: shim.Registry): d.register(1)", ["insert d"]),
        ("def f(d: shim.Registry): d.reset()", ["clear d"]),
        ("def f(d: shim.Registry): d.look(1)", []),
        ("def f(d: shim.Table): d.popitem()", ["remove d"]),
        ("def f(d):\n    shim.stop()\n    d.pop()", []),
        ("def f(d: dict): d.popitem()", ["remove d"]),
    ],
)
def test_rows_of_users_extend_ours(tmp_path, text, expected):
    assert with_own(tmp_path, text).resizes("m:f") == expected


def test_a_snapshot_of_users(tmp_path):
    text = "def f(d: dict):\n    for x in {}: d.pop(x)"
    found = [with_own(tmp_path, text.format(call)).summary("m:f") for call in ("shim.frozen(d)", "iter(d)")]
    assert [len(summary.conflicts) for summary in found] == [0, 1]


def test_behaviour_of_containers():
    known = load()
    changes = [known.kinds["mapping"].change(name) for name in ("update", "pop", "clear", "get", "no_such_method")]
    assert changes == ["insert", "remove", "clear", None, None]
    assert [known.kinds["list"].change(name) for name in ("append", "insert", "sort")] == [
        "append",
        "insert",
        "reorder",
    ]


@pytest.mark.parametrize(
    ("name", "spoken"),
    [("sorted", True), ("collections.deque", True), ("typing.Dict", True), ("a.b", False), ("six.iteritems", False)],
)
def test_names_that_the_tables_speak_of(name, spoken):
    assert load().speaks_of(name) is spoken


@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("six.iteritems", "view"),
        ("a.b.c.itervalues", "view"),
        ("itervalues", None),
        ("copy.deepcopy", "deep-copy"),
        ("a.deepcopy", None),
    ],
)
def test_rows_that_hold_in_any_module(name, does):
    assert [row.does for row in load().rows(name)] == ([] if does is None else [does])


def test_names_of_container_methods_are_too_common_to_guess_a_class_by():
    assert {"get", "pop", "update", "append", "items", "copy"} <= load().common_methods
    assert "reconcile" not in load().common_methods


def test_an_unknown_container_goes_by_the_names_that_all_share():
    guess = load().guess
    assert [guess.change(name) for name in ("pop", "discard", "popleft", "add", "append", "clear", "sort")] == [
        "remove", "remove", "remove", "insert", "append", "clear", "reorder",
    ]  # fmt: skip
