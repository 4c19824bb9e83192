"""astroid as an oracle: what it tells, what it must not do (run or import anything), and how much of it we ask."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader

import astroid.builder
import astroid.manager
import pytest
from tests.unit.programs import write

from racelint.languages.python import FRONT_END, inference
from racelint.languages.python.inference import Inference
from racelint.span import Span


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """astroid and its plugins, loaded while they can be found."""
    astroid.builder.AstroidBuilder(astroid.manager.AstroidManager()).string_build("x = 1")


def ask(root, files, expression, *, path=None, oracle=None):
    """The type of the last occurrence of an expression in the first file."""
    paths = write(root, files)
    file = paths[0] if path is None else root / path
    lines = file.read_text("utf-8").split("\n")
    number = max(n for n, line in enumerate(lines) if expression in line)
    column = lines[number].rindex(expression) + 1
    oracle = oracle or FRONT_END.inference([p.as_posix() for p in paths])
    return oracle(file.as_posix(), Span(number + 1, column, number + 1, column + len(expression)))


TEXTS = [
    ("x = {}\nuse(x)", "builtins.dict"),
    ("x = [1] * 2\nuse(x)", "builtins.list"),
    ("def f(): return set()\nx = f()\nuse(x)", "builtins.set"),
    ("import collections\nx = collections.deque()\nuse(x)", "collections.deque"),
    ("import threading\nx = threading.Event()\nuse(x)", "threading.Event"),
    ("class A: pass\nx = A()\nuse(x)", "t5.A"),
    ("x = {} if y else None\nuse(x)", "builtins.dict"),
    ("x = {} if y else []\nuse(x)", None),
    ("def f(x): return x\nuse(x)", None),
    ("x = unknown()\nuse(x)", None),
    ("import gone\nx = gone.f()\nuse(x)", None),
    ("x = None\nuse(x)", None),
    ("def f(x:\nuse(x)", None),
]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """One oracle over all texts: `t0.py`, `t1.py` and so on."""
    root = tmp_path_factory.mktemp("texts")
    paths = write(root, {f"t{number}.py": text for number, (text, _) in enumerate(TEXTS)})
    return root, FRONT_END.inference([path.as_posix() for path in paths])


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_types_in_one_file(oracle, text, expected):
    root, infer = oracle
    number = [known for known, _ in TEXTS].index(text)
    assert ask(root, {f"t{number}.py": text}, "x", oracle=infer) == expected


def test_astroid_is_found_when_nothing_has_imported_it(tmp_path):
    (path,) = write(tmp_path, {"a.py": "x = {}"})
    script = (
        "from racelint.languages.python import FRONT_END; from racelint.span import Span;"
        f"print(FRONT_END.inference([{str(path)!r}])({str(path)!r}, Span(1, 5, 1, 7)))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "builtins.dict"


def test_attributes_and_items(tmp_path):
    text = """
        class A:
            def __init__(self): self.x = {}
        def f():
            return A().x
    """
    assert ask(tmp_path, {"a.py": text}, "A().x") == "builtins.dict"


def test_a_span_that_is_no_expression_or_no_file_is_unknown(tmp_path):
    write(tmp_path, {"a.py": "x = {}"})
    oracle = Inference([str(tmp_path)])
    for span in (Span(9, 1, 9, 2), Span(1, 2, 1, 3), Span(0, 0, 0, 0)):
        assert oracle(f"{tmp_path}/a.py", span) is None
    assert oracle(f"{tmp_path}/gone.py", Span(1, 1, 1, 2)) is None
    write(tmp_path, {"empty.py": ""})
    assert oracle(f"{tmp_path}/empty.py", Span(1, 1, 1, 2)) is None


@pytest.mark.parametrize("statement", ["from inf_store import make\nx = make()", "import inf_store as s\nx = s.make()"])
def test_types_across_project_files(tmp_path, statement):
    files = {"a.py": f"{statement}\nuse(x)", "inf_store.py": "def make(): return {}"}
    assert ask(tmp_path, files, "x") == "builtins.dict"


def test_relative_imports(tmp_path):
    files = {
        "inf_pkg/user.py": "from .store import make\nx = make()\nuse(x)",
        "inf_pkg/__init__.py": "",
        "inf_pkg/store.py": "def make(): return {}",
    }
    assert ask(tmp_path, files, "x") == "builtins.dict"


def test_lines_with_wide_characters(tmp_path):
    assert ask(tmp_path, {"a.py": "x = {}\n'ä', x"}, "x") == "builtins.dict"


def test_a_byte_order_mark(tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfx = {}\nuse(x)")
    assert Inference([str(tmp_path)])(f"{tmp_path}/a.py", Span(2, 5, 2, 6)) == "builtins.dict"


# --- one analysis does not see another --------------------------------------------------------------------------------


def test_two_programs_with_a_module_of_one_name(tmp_path):
    found = [
        ask(tmp_path / name, {"a.py": "import inf_twin\nx = inf_twin.make()\nuse(x)", "inf_twin.py": text}, "x")
        for name, text in (("one", "def make(): return {}"), ("two", "def make(): return []"))
    ]
    assert found == ["builtins.dict", "builtins.list"]


def test_a_file_in_a_package_does_not_stand_for_the_library_module_of_its_name(tmp_path):
    files = {
        "inf_app.py": "import sched\nx = sched.scheduler()\nuse(x)",
        "inf_own/__init__.py": "",
        "inf_own/sched.py": "def scheduler(): return {}\ny = scheduler()\nuse(y)",
    }
    paths = [path.as_posix() for path in write(tmp_path, files)]
    oracle = FRONT_END.inference(paths)
    assert ask(tmp_path, files, "y", path="inf_own/sched.py", oracle=oracle) == "builtins.dict"
    assert ask(tmp_path, files, "x", oracle=oracle) == "sched.scheduler"


# --- nothing runs -----------------------------------------------------------------------------------------------------


def test_the_analysed_source_is_never_run(tmp_path):
    effect = f"open({str(tmp_path / 'ran')!r}, 'w')"
    files = {
        "a.py": f"{effect}\nimport inf_effect\nfrom inf_package import thing\nx = inf_effect.make(thing)\nuse(x)",
        "inf_effect.py": f"{effect}\ndef make(t):\n    {effect}\n    return {{}}",
        "inf_package/__init__.py": f"{effect}\nthing = 1",
        "sitecustomize.py": effect,
        "conftest.py": effect,
    }
    before = set(sys.modules)
    assert ask(tmp_path, files, "x") == "builtins.dict"
    assert not (tmp_path / "ran").exists()
    assert not {"inf_effect", "inf_package", "sitecustomize", "conftest"} & (set(sys.modules) - before)


@pytest.fixture
def extensions(monkeypatch):
    """The files of compiled modules that are about to be loaded; none is."""
    loaded = []

    def refuse(loader, spec):
        loaded.append(spec.origin)
        raise ImportError(spec.name)

    monkeypatch.setattr(ExtensionFileLoader, "create_module", refuse)
    importlib.invalidate_caches()
    return loaded


def beside(root, name):
    write(root, {"a.py": f"import {name}\nx = {name}.make()\nuse(x)"})
    (root / f"{name}{EXTENSION_SUFFIXES[0]}").write_bytes(b"\x7fELF")
    oracle = FRONT_END.inference([f"{root}/a.py"])
    return oracle(f"{root}/a.py", Span(3, 5, 3, 6))


def test_a_compiled_module_of_the_project_is_not_loaded(tmp_path, extensions):
    assert beside(tmp_path, "inf_compiled") is None
    assert extensions == []


def test_a_compiled_module_that_goes_by_a_library_name_is_not_loaded(tmp_path, extensions, monkeypatch):
    monkeypatch.delitem(sys.modules, "nis", raising=False)
    beside(tmp_path, "nis")
    assert [path for path in extensions if path.startswith(str(tmp_path))] == []


def test_packages_installed_beside_us_are_not_visible(tmp_path):
    files = {"a.py": "import click\nx = click.Group()\nuse(x)"}
    assert ask(tmp_path, files, "x") is None


def test_a_package_on_the_path_is_not_visible(tmp_path, monkeypatch):
    write(tmp_path, {"beside/inf_beside.py": "def make(): return {}"})
    monkeypatch.syspath_prepend(tmp_path / "beside")
    assert importlib.util.find_spec("inf_beside")
    assert ask(tmp_path / "own", {"a.py": "import inf_beside\nx = inf_beside.make()\nuse(x)"}, "x") is None


def test_an_imported_package_is_not_visible(tmp_path, monkeypatch):
    (beside,) = write(tmp_path, {"beside/inf_loaded.py": "def make(): return {}"})
    module = types.ModuleType("inf_loaded")
    module.__file__ = str(beside)
    module.make = dict
    monkeypatch.setitem(sys.modules, "inf_loaded", module)
    assert ask(tmp_path / "own", {"a.py": "import inf_loaded\nx = inf_loaded.make()\nuse(x)"}, "x") is None


# --- how much we ask --------------------------------------------------------------------------------------------------


def test_queries_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(inference, "QUERIES", 3)
    write(tmp_path, {"a.py": "x = {}"})
    oracle = Inference([str(tmp_path)])
    found = [oracle(f"{tmp_path}/a.py", Span(1, 5, 1, 7)) for _ in range(5)]
    assert found == ["builtins.dict"] * 3 + [None] * 2


def test_the_path_is_put_back(tmp_path):
    before, known = sys.path, list(sys.path)
    ask(tmp_path, {"a.py": "x = {}\nuse(x)"}, "x")
    Inference([str(tmp_path)])("/gone.py", Span(1, 1, 1, 2))
    assert sys.path is before
    assert sys.path == known


def test_nothing_is_done_before_the_first_question(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("asked")

    monkeypatch.setattr(Inference, "_module", refuse)
    FRONT_END.inference([f"{tmp_path}/gone.py"])


def test_roots_are_the_folders_that_imports_start_from(tmp_path):
    paths = write(tmp_path, {"one/p/__init__.py": "", "one/p/a.py": "", "two/b.py": ""})
    oracle = FRONT_END.inference([path.as_posix() for path in paths])
    assert oracle._roots == [(tmp_path / name).as_posix() for name in ("one", "two")]
