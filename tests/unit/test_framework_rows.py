"""The rows of frameworks.toml: every name stands in a fixture, every row says where the fact comes from."""

import re
import tomllib
from pathlib import Path

import pytest

from racelint import knowledge

FIXTURES = Path(__file__).parents[1] / "fixtures" / "unlocked-shared-write"
TABLE = tomllib.loads(Path(knowledge.__file__).with_name("frameworks.toml").read_text("utf-8"))
ROWS = [(table, row) for table, rows in TABLE.items() for row in rows]
NAMES = [name for _, row in ROWS for key in ("names", "bases", "decorators") for name in row.get(key, ())]
WORDS = set(re.findall(r"\w+", "".join(file.read_text("utf-8") for file in FIXTURES.glob("known_*.py"))))


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_every_name_stands_in_a_fixture(name):
    owner, _, last = name.rpartition(".")
    assert last.replace("*", "Store") in WORDS
    assert owner.rpartition(".")[2].replace("*", "service") in WORDS


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[(row.get("names") or [""])[0] or row["kind"] for _, row in ROWS])
def test_every_row_says_where_it_comes_from(table, row):
    assert row["source"].startswith("https://")
    assert table in ("entry", "start")
