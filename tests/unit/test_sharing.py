"""Shared objects: origins, copies by depth and changes in summaries; every row of caches.toml and kubernetes.toml."""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.unit.programs import lower, single

from racelint import knowledge
from racelint.analysis.describe import Describe
from racelint.analysis.program import Program
from racelint.knowledge import load
from racelint.knowledge.sharing import split
from racelint.model import Source

FOLDER = Path(knowledge.__file__).parent
TABLES = [tomllib.loads((FOLDER / name).read_text("utf-8")) for name in ("caches.toml", "kubernetes.toml")]
MIRROR = """
    class Mirror:
        def __init__(self, api):
            self.api = api
            self.pods = {}

        def run(self):
            for event in self.api.watch():
                self.pods[event["name"]] = event["object"]

        def get(self, name):
            return self.pods[name]


    class User:
        def __init__(self, mirror: Mirror):
            self.mirror = mirror

        def use(self, name):
"""


def rows(table: str, **wanted: Any) -> list[dict[str, Any]]:
    """The rows of a table that have certain values."""
    found = [row for content in TABLES for row in content.get(table, ())]
    return [row for row in found if all(row.get(key) == value for key, value in wanted.items())]


def names(table: str, key: str = "names", **wanted: Any) -> list[str]:
    """All names in them."""
    return [name for row in rows(table, **wanted) for name in row.get(key, ())]


def kinds(text: str) -> list[str]:
    """The changes of shared objects in a program: why they are shared, and the change."""
    source = Source("/p/m.py", "m", lower(text), True)
    return sorted(f"{found.kind} {found.operation}" for found in Program([source], load()).cache_mutations())


def use(*lines: str) -> list[str]:
    """Likewise, in a method that can ask a mirror for its pods."""
    return kinds(textwrap.dedent(MIRROR) + textwrap.indent("\n".join(lines), " " * 8) + "\n")


def changes(text: str, function: str = "m:f") -> list[str]:
    """What a function changes, in its own terms."""
    program = single(text)
    describe = Describe(program.symbols, program.types)
    found = program.summaries.of(function).changes.values()
    return sorted(f"{describe.text(change.target)} {change.operation}" for change, _ in found)


# --- every row says what is true --------------------------------------------------------------------------------------


def test_every_row_says_where_it_comes_from():
    found = [row for content in TABLES for table in content.values() for row in table]
    assert [row for row in found if len(row.get("source", "")) < 20] == []


@pytest.mark.parametrize("name", [name for name in names("memo", "decorators") if "." in name])
def test_remembering_decorators_of_libraries(name):
    owner = name.rpartition(".")[0]
    text = f"import {owner}\n@{name}\ndef rows(): return [1]\ndef f():\n    rows().append(2)\n"
    assert kinds(text) == ["memo .append()"]


@pytest.mark.parametrize("name", [name for name in names("memo", "decorators", gives=None) if "." not in name])
def test_remembering_decorators_of_the_project(name):
    name = name.replace("*", "_rows")
    text = f"def {name}(g): return g\n@{name}\ndef rows(): return [1]\ndef f():\n    rows().append(2)\n"
    assert kinds(text) == ["memo .append()"]


@pytest.mark.parametrize("name", names("memo", "decorators", gives="collection"))
def test_a_new_collection_of_remembered_results(name):
    text = f"def {name}(g): return g\n@{name}\ndef rows(): return load()\ndef f():\n    found = rows()\n    "
    assert kinds(text + "found['a'] = 1\n") == []
    assert kinds(text + "found['a']['b'] = 1\n") == ["memo [...] ="]


@pytest.mark.parametrize("name", names("function", does="writes"))
def test_what_writes_into_its_argument(name):
    owner = name.rpartition(".")[0]
    module = owner if not owner.endswith("merger") else owner.partition(".")[0]
    assert any(change.startswith("d ") for change in changes(f"import {module}\ndef f(d, x):\n    {name}(d, x)\n"))


@pytest.mark.parametrize("name", names("function", does="returns"))
def test_what_ends_a_coroutine_with_a_value(name):
    head = "from twisted.internet import defer\nimport twisted.internet.defer\n"
    program = single(f"{head}def f(x):\n    {name}(x)\n")
    assert program.returns("m:f") == ["x"]


@pytest.mark.parametrize("name", names("function", does="deep-copy"))
def test_copies_that_are_deep_on_demand(name):
    method = name.removeprefix("*.")
    assert use(f"pod = self.mirror.get(name).{method}(deep=True)", "pod['a']['b'] = 1") == []


def test_copies_that_are_not_deep():
    assert use("pod = self.mirror.get(name).copy(deep=False)", "pod['a']['b'] = 1") == ["mirror [...] ="]


@pytest.mark.parametrize("name", names("function", does="type-test"))
def test_what_is_no_container_shares_nothing(name):
    text = f"def f(x):\n    if {name}(x, dict):\n        return {{}}\n"
    assert "x" in single(f"{text}    return x\n").returns("m:f")
    text += f"    if {name}(x, list):\n        return []\n"
    assert "x" not in single(f"{text}    return x\n").returns("m:f")


@pytest.mark.parametrize("row", rows("cache"), ids=lambda row: row.get("gives", "object"))
def test_caches_of_libraries(row):
    for type_name in row["types"]:
        module, _, last = type_name.rpartition(".")
        for method in row["methods"]:
            head = f"from {module} import {last}\ndef f(x):\n    cache = {last}()\n    found = cache.{method}(x)\n    "
            direct = [] if row.get("gives") == "collection" else ["library [...] ="]
            assert kinds(head + "found['a'] = 1\n") == direct
            assert kinds(head + "found[0]['a'] = 1\n") == ["library [...] ="]


@pytest.mark.parametrize("pattern", names("cache", "receivers"))
def test_caches_by_their_name(pattern):
    name = pattern.replace("*", "pod_")
    head = f"def f({name.partition('.')[0]}, x):\n    "
    assert kinds(f"{head}{name}.get(x).spec = 1\n") == ["library .spec ="]
    assert kinds(f"{head}{name}_client.get(x).spec = 1\n") == []


@pytest.mark.parametrize("method", names("handler"))
def test_handlers(method):
    text = f"def on_add(pod):\n    pod['a'] = 1\ndef f(informer):\n    informer.{method}(on_add)\n"
    assert kinds(text) == ["handler [...] ="]
    assert kinds(text.replace("(on_add)", "('added', on_add)")) == ["handler [...] ="]
    assert (
        kinds(text.replace("informer.", "app.").replace("(informer)", "(app)").replace("(on_add)", "('a', on_add)"))
        == []
    )


@pytest.mark.parametrize("name", names("option", "values"))
def test_settings(name):
    owner, _, last = name.rpartition(".")
    text = f"import {owner}\n{last} = {name}\ndef f():\n    found = {last}.group.hosts\n    found.append(1)\n"
    assert kinds(text) == ["setting .append()"]
    assert kinds(text.replace("found.append", f"{last}.group.hosts.append")) == []


def test_options():
    text = """
        import traitlets

        def complete(entries):
            for entry in entries:
                entry["a"] = 1

        class C:
            x = traitlets.List({})

            def f(self):
                complete(self.x)
    """
    assert kinds(text.format("config=True")) == ["option [...] ="]
    assert kinds(text.format("")) == []


@pytest.mark.parametrize("name", names("live"))
def test_live_state(name):
    text = f"class C: pass\nc = C()\ndef f():\n    g(c.{name})\ndef g(found):\n    found['a'] = 1\n"
    assert kinds(text) == ["live [...] ="]
    assert kinds(f"class C: pass\nc = C()\ndef f():\n    found = c.{name}\n    found['a'] = 1\n") == []
    assert kinds(f"class C: pass\nc = C()\ndef f():\n    c.{name}['a'] = 1\n") == []


@pytest.mark.parametrize(
    ("name", "words"), [("_podCache", ["pod", "cache"]), ("POD_CACHE", ["pod", "cache"]), ("", [])]
)
def test_words_of_names(name, words):
    assert split(name) == words


# --- changes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("d['a'] = 1", ["d [...] ="]),
        ("d.a = 1", ["d .a ="]),
        ("del d['a']", ["d del"]),
        ("del d.a", ["d del .a"]),
        ("d['a'] += 1", ["d [...] +="]),
        ("d.a += 1", ["d .a ="]),
        ("d.sort()", ["d .sort()"]),
        ("d.update(a=1)", ["d .update()"]),
        ("d.setdefault('a', 1)", ["d .setdefault()"]),
        ("setattr(d, 'a', 1)", ["d .a ="]),
        ("d['a']['b'] = 1", ["d['a'] [...] ="]),
        ("d.a.b.append(1)", ["d.a.b .append()"]),
        ("x = d.get('a'); x.append(1)", ["d['a'] .append()"]),
        ("x = dict(d); x['a'] = 1", []),
        ("x = dict(d); x['a']['b'] = 1", ["a copy of d['a'] [...] ="]),
        ("x = [d]; x[0]['b'] = 1", ["d [...] ="]),
        ("x = [d]; x.append(1)", []),
        ("x = {'k': d, 'l': {}}; x['l']['b'] = 1", []),
        ("x = {**d}; x['a']['b'] = 1", ["a copy of d['a'] [...] ="]),
        ("x = {**d, 'a': {}}; x['a']['b'] = 1", []),
        ("d = {}; d['a'] = 1", []),
        ("d.get('a')", []),
    ],
)
def test_what_a_function_changes(line, found):
    assert changes(f"def f(d):\n    {line}\n") == found


def test_a_constructor_does_not_change_its_object():
    assert changes("class C:\n    def __init__(self, d):\n        self.a = d\n", "m:C.__init__") == []


def test_changes_come_through_calls():
    assert changes("def g(x, deep):\n    if deep:\n        x['a'] = 1\ndef f(d):\n    g(d, True)\n") == ["d [...] ="]
    assert changes("def g(x, deep):\n    if deep:\n        x['a'] = 1\ndef f(d):\n    g(d, False)\n") == []


def test_a_callee_returns_a_list_of_what_it_was_given():
    assert changes(
        "def g(x):\n    found = []\n    found.append(x)\n    return found\ndef f(d):\n    g(d)[0].a = 1\n"
    ) == ["d .a ="]


def test_changes_are_told_once():
    text = "def add(pod):\n    pod['a'] = 1\n"
    found = kinds(
        text
        + textwrap.dedent(MIRROR)
        + " " * 8
        + "add(self.mirror.get(name))\n    def more(self):\n        self.use('a')\n"
    )
    assert found == ["mirror [...] ="]
