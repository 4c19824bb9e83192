"""Extraction: which files are read whole, and of which the outline does."""

from __future__ import annotations

from pathlib import Path

import pytest

from racelint.discover import discover
from racelint.extract import extract
from racelint.languages import front_ends
from racelint.languages.python import FRONT_END
from racelint.model import Module


def modules(root: Path, **options: bool) -> dict[str, Module]:
    scope = discover([str(root)], front_ends(), ())
    outcomes = extract(scope.files, front_ends(), None, 1, lambda done, total: None, **options)
    found = {path.removeprefix(f"{root}/"): outcome for path, outcome in outcomes.items()}
    return {path: outcome for path, outcome in found.items() if isinstance(outcome, Module)}


def whole(found: dict[str, Module]) -> set[str]:
    """The files of which the bodies of functions are known."""
    return {path for path, module in found.items() if any(f.body for f in module.functions.values() if f.parent)}


BODY = "def make():\n    return {}\n"


@pytest.mark.parametrize(
    "statement",
    [
        "from app.tests import helpers",
        "from app.tests.helpers import make",
        "import app.tests.helpers",
        "import app.tests.helpers as h",
        "from .tests.helpers import *",
        "from .tests import helpers as h",
        "def late():\n    from .tests import helpers\n    return helpers",
    ],
)
def test_of_a_test_that_the_program_imports_the_bodies_are_read(tree, statement):
    root = tree(
        {
            "app/__init__.py": "",
            "app/main.py": f"{statement}\n\ndef run():\n    return 1\n",
            "app/tests/__init__.py": "",
            "app/tests/helpers.py": f"from . import more\nfrom tests.outer import z\n{BODY}",
            "app/tests/more.py": BODY,
            "app/tests/test_main.py": f"from .helpers import make\n{BODY}",
            "tests/outer.py": BODY,
            "tests/other.py": BODY,
        }
    )
    found = modules(root)
    assert whole(found) == {"app/main.py", "app/tests/helpers.py", "app/tests/more.py", "tests/outer.py"}
    assert len(found) == 8
    assert whole(modules(root, tests=True)) == {path for path in found if not path.endswith("__init__.py")}


def test_a_folder_that_is_no_package_may_stand_before_a_name(tree):
    root = tree({"main.py": f"from space.tests.helpers import make\n{BODY}", "space/tests/helpers.py": BODY})
    assert whole(modules(root)) == {"main.py", "space/tests/helpers.py"}


def test_an_outline_knows_names_types_and_what_it_speaks_of():
    text = """
import threading

class Case(Base):
    limit: int = 3

    @property
    def size(self) -> int:
        return self.real.stop_all()

    async def later(self, a, *, b=1):
        x: dict = {}
        await getattr(self, "do_it")()

def run(flag): yield flag
"""
    full, outline = FRONT_END.extract(text.encode()), FRONT_END.outline(text.encode())
    assert outline.types.keys() == full.types.keys()
    assert outline.functions.keys() == full.functions.keys()
    assert outline.functions["Case.later"].parameters == full.functions["Case.later"].parameters
    assert outline.functions["Case.later"].is_async
    assert outline.functions["Case.size"].returns == full.functions["Case.size"].returns
    assert not any(f.body for f in outline.functions.values() if f.name in ("size", "later", "run"))
    assert set(full.mentions.split()) <= set(outline.mentions.split())
    assert {"stop_all", "do_it"} <= set(outline.mentions.split())
