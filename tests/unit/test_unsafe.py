"""The rows of unsafe.toml: objects of libraries that two contexts must not use at once."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.unit.concurrent_programs import parallel
from tests.unit.go_programs import go

from racelint import knowledge

TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(knowledge.__file__).with_name("unsafe.toml").read_text("utf-8")
)
ROWS = [(name, row) for row in TABLE["unsafe"] for name in row["types"]]
OF_GO = [(name, row) for name, row in ROWS if "/" in name or row["changes"][0][0].isupper()]
OF_PYTHON = [pair for pair in ROWS if pair not in OF_GO]


def method(pattern: str) -> str:
    return pattern.replace("*", "X")


def in_go(name: str, one: str, two: str) -> list[str]:
    """The races of two goroutines that use one object of a library."""
    path, _, type_name = name.rpartition(".")
    calls = f"func (h *Holder) one() {{ h.thing.{one}() }}\n\nfunc (h *Holder) two() {{ h.thing.{two}() }}\n"
    start = "func (h *Holder) Start() {\n\tgo h.one()\n\tgo h.two()\n}\n\n"
    return go(f'import lib "{path}"\n\ntype Holder struct{{ thing *lib.{type_name} }}\n\n{start}{calls}').shapes()


@pytest.mark.parametrize(("name", "row"), OF_GO)
def test_in_go_a_change_races_with_changes_and_reads(name, row):
    first = method(row["changes"][0])
    for pattern in row["changes"]:
        assert in_go(name, method(pattern), first) == ["state-write thing"]
    for pattern in row.get("reads", ()):
        assert in_go(name, first, method(pattern)) == ["state-read thing"]
        assert in_go(name, method(pattern), method(pattern)) == []


@pytest.mark.parametrize(("name", "row"), OF_PYTHON)
def test_in_python_two_changes_race(name, row):
    module = name.rpartition(".")[0]
    for pattern in row["changes"]:
        text = (
            f"import threading\nimport {module}\n\nclass Holder:\n"
            f"    def __init__(self, thing: {name}):\n        self.thing: {name} = thing\n"
            "    def start(self):\n        threading.Thread(target=self.one).start()\n"
            "        threading.Thread(target=self.two).start()\n"
            f"    def one(self):\n        self.thing.{method(pattern)}(1)\n"
            f"    def two(self):\n        self.thing.{method(row['changes'][0])}(2)\n"
        )
        assert parallel(text).shapes() == ["state-write thing"]


def test_what_stands_in_neither_list_may_be_called_at_any_time():
    assert in_go("github.com/gorilla/websocket.Conn", "Close", "WriteMessage") == []


@pytest.mark.parametrize("row", TABLE["function"])
def test_what_a_function_makes_is_of_that_type(row):
    assert row["does"] == "new"
    assert row["returns"] in dict(ROWS)


@pytest.mark.parametrize("row", [row for rows in TABLE.values() for row in rows])
def test_every_row_says_where_it_comes_from(row):
    assert row["source"].startswith("https://")
