"""Discovery: what git would see, what is reported on, and what cannot be reached."""

from __future__ import annotations

import os

import pytest

from racelint.config import Exclude
from racelint.discover import discover, project_root
from racelint.errors import RacelintError
from racelint.languages.python.libraries import libraries


class FakeFrontEnd:
    name = "fake"
    suffixes = (".py",)
    builds_by_folder = False

    def is_test(self, path):
        return path.startswith("tests/") or "/tests/" in path or os.path.basename(path).startswith("test_")

    def libraries(self, paths):
        return libraries(paths)


class BuiltFrontEnd(FakeFrontEnd):
    builds_by_folder = True


TABLE = {".py": FakeFrontEnd()}


def found(root, *paths, excludes=(), table=TABLE):
    scope = discover([str(root / path) for path in paths] or [str(root)], table, excludes)
    return {os.path.relpath(file.path, root): file for file in scope.files}


def test_gitignore_files_count_down_to_the_deepest(tree):
    root = tree(
        {
            ".git/info/exclude": "private.py\n",
            ".gitignore": "*_gen.py\n/build/\nlogs/\n!keep_gen.py\n",
            "pkg/.gitignore": "!wanted_gen.py\nlocal.py\n",
            "a.py": "",
            "a_gen.py": "",
            "keep_gen.py": "",
            "private.py": "",
            "build/b.py": "",
            "pkg/build/c.py": "",
            "pkg/logs/d.py": "",
            "pkg/wanted_gen.py": "",
            "pkg/other_gen.py": "",
            "pkg/local.py": "",
            "local.py": "",
        }
    )
    assert set(found(root)) == {"a.py", "keep_gen.py", "pkg/build/c.py", "pkg/wanted_gen.py", "local.py"}
    assert set(found(root, "pkg")) == {"pkg/build/c.py", "pkg/wanted_gen.py"}


def test_what_ignores_a_program_does_not_ignore_the_folder_that_it_is_built_from(tree):
    root = tree(
        {
            ".git/info/exclude": "",
            ".gitignore": "\nagent\n/tool\n*.out\nbuild/\nnote[s]\n",
            "cmd/agent/main.py": "",
            "cmd/agent/inner/agent/a.py": "",
            "cmd/agent/x.out/b.py": "",
            "tool/main.py": "",
            "docs/agent/README.txt": "",
            "docs/agent/c.py": "",
            "build/d.py": "",
            "notes/e.py": "",
            "left/agent/f.py": "",
        }
    )
    excludes = [Exclude(str(root), ("left/",))]
    built = {".py": BuiltFrontEnd()}
    assert set(found(root, table=built, excludes=excludes)) == {
        "cmd/agent/main.py", "cmd/agent/inner/agent/a.py", "tool/main.py",
    }  # fmt: skip
    assert not found(root)


def test_a_line_of_gitignore_that_ends_in_an_escape_says_nothing(tree):
    root = tree({".git/HEAD": "", ".gitignore": "^config\\/\nbuild\n", "a.py": "", "build/b.py": ""})
    assert set(found(root)) == {"a.py"}


def test_gitignore_above_the_repository_does_not_count(tree):
    root = tree({".gitignore": "*.py\n", "repo/.git/HEAD": "", "repo/a.py": ""})
    assert set(found(root, "repo")) == {"repo/a.py"}


def test_what_is_named_is_read_though_it_is_ignored(tree):
    root = tree({".git/HEAD": "", ".gitignore": "build/\nx.py\n", "build/b.py": "", "build/sub/c.py": "", "x.py": ""})
    assert set(found(root, "build")) == {"build/b.py", "build/sub/c.py"}
    assert set(found(root, "build/sub")) == {"build/sub/c.py"}
    assert "x.py" in found(root, "x.py")


def test_configured_excludes(tree):
    root = tree({"a.py": "", "gen/b.py": "", "pkg/gen/c.py": "", "pkg/d_pb2.py": "", "gen/named.py": ""})
    excludes = [Exclude(root.as_posix(), ("/gen/", "*_pb2.py"))]
    assert set(found(root, excludes=excludes)) == {"a.py", "pkg/gen/c.py"}
    assert set(found(root, "gen", excludes=excludes)) == {"gen/b.py", "gen/named.py"}


def test_environments_and_caches_are_skipped(tree):
    root = tree(
        {
            "a.py": "",
            "env/pyvenv.cfg": "",
            "env/lib/b.py": "",
            ".venv/c.py": "",
            "node_modules/d.py": "",
            "__pycache__/e.py": "",
            ".tox/f.py": "",
            ".nox/g.py": "",
            ".git/h.py": "",
            "venv/source.py": "",
        }
    )
    assert set(found(root)) == {"a.py", "venv/source.py"}


def test_a_file_widens_the_analysis_to_its_project(tree):
    root = tree({"go.mod": "", "a.py": "", "pkg/b.py": "", "pkg/c.py": ""})
    files = found(root, "pkg/b.py")
    assert set(files) == {"a.py", "pkg/b.py", "pkg/c.py"}
    assert not any(file.within for file in files.values())
    mixed = found(root, "a.py", "pkg")
    assert {path for path, file in mixed.items() if file.within} == {"pkg/b.py", "pkg/c.py"}


def test_without_a_project_a_file_is_read_with_its_package_or_its_folder(tree, monkeypatch):
    monkeypatch.setattr("racelint.discover.ROOT_MARKERS", (".no-such-marker",))
    root = tree(
        {
            "x/a.py": "",
            "x/b.py": "",
            "x/far/c.py": "",
            "x/pkg/__init__.py": "",
            "x/pkg/sub/__init__.py": "",
            "x/pkg/sub/d.py": "",
        }
    )
    assert set(found(root, "x/a.py")) == {"x/a.py", "x/b.py"}
    assert set(found(root, "x/pkg/sub/d.py")) == {"x/pkg/__init__.py", "x/pkg/sub/__init__.py", "x/pkg/sub/d.py"}


def test_tests_and_vendored_trees_are_quiet_unless_named(tree):
    root = tree(
        {
            "pyproject.toml": "",
            "a.py": "",
            "tests/b.py": "",
            "pkg/test_c.py": "",
            "vendor/d.py": "",
            "tests/vendor/e.py": "",
        }
    )

    def quiet(*paths):
        return {path for path, file in found(root, *paths).items() if file.quiet}

    assert quiet() == {"tests/b.py", "pkg/test_c.py", "vendor/d.py", "tests/vendor/e.py"}
    assert quiet("pkg") == {"pkg/test_c.py"}
    assert quiet("tests") == set()
    assert quiet("vendor") == set()
    assert quiet(".", "tests") == {"pkg/test_c.py", "vendor/d.py"}
    assert quiet("tests", ".") == {"pkg/test_c.py", "vendor/d.py"}


def test_a_folder_of_other_peoples_libraries_is_quiet_unless_named(tree):
    libraries = {
        f"lib/{name}": "" for name in ("six.py", "bs4/__init__.py", "pytz/__init__.py", "zipp.py", "suds/a.py")
    }
    few = {f"ext/{name}": "" for name in ("six.py", "bs4/__init__.py", "pytz/__init__.py", "own.py")}
    own = {f"app/integrations/{name}.py": "" for name in ("flask", "redis", "requests", "tornado", "yaml")}
    root = tree({"pyproject.toml": "", "a.py": "", **libraries, **few, **own})

    def quiet(*paths):
        return {path for path, file in found(root, *paths).items() if file.quiet}

    assert quiet() == libraries.keys()
    assert quiet("lib") == set()


def test_a_link_counts_once(tree):
    root = tree({"a.py": "", "outside/x.py": ""})
    (root / "b.py").symlink_to("a.py")
    (root / "in").mkdir()
    (root / "in" / "y.py").symlink_to(root / "outside" / "x.py")
    (root / "in" / "z.py").symlink_to(root / "outside" / "x.py")
    assert set(found(root)) == {"a.py", "outside/x.py"}
    assert set(found(root, "in")) == {"in/y.py"}


def test_files_come_sorted_and_once(tree):
    root = tree({"b.py": "", "a.py": "", "c/d.py": ""})
    scope = discover([str(root / "c"), str(root), str(root)], TABLE)
    paths = [file.path for file in scope.files]
    assert paths == sorted(set(paths))
    assert len(paths) == 3


def test_an_unreadable_directory_is_told(tree, monkeypatch):
    root = tree({"a.py": "", "locked/b.py": ""})
    listing = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)  # a superuser may read any directory
    scope = discover([str(root)], TABLE)
    assert [os.path.basename(file.path) for file in scope.files] == ["a.py"]
    assert [(error.kind, os.path.basename(error.path)) for error in scope.errors] == [("unreadable", "locked")]


def test_a_path_that_does_not_exist():
    with pytest.raises(RacelintError, match="no such file"):
        discover(["no/such/path"], TABLE)


def test_project_root(tree, tmp_path):
    tree({"pyproject.toml": "", "a/b/c.py": ""})
    assert project_root(tmp_path / "a" / "b") == tmp_path


def test_files_that_a_hook_names_are_left_out_as_their_directory_leaves_them_out(tree):
    root = tree(
        {
            "pyproject.toml": "",
            ".git/HEAD": "",
            ".gitignore": "build/\n",
            "a.py": "",
            "b.py": "",
            "stub.pyi": "",
            "tests/c.py": "",
            "vendor/d.py": "",
            "build/e.py": "",
            "gen/f.py": "",
            "run": "#!/usr/bin/env python3\n",
            "gen/run": "#!/usr/bin/env python3\n",
        }
    )
    excludes = [Exclude(root.as_posix(), ("/gen/",))]
    names = ["a.py", "stub.pyi", "tests/c.py", "vendor/d.py", "build/e.py", "gen/f.py", "run", "gen/run"]
    scope = discover([str(root / name) for name in names], TABLE, excludes, force_exclude=True)
    assert {os.path.relpath(path, root) for path in scope.named} == {"a.py", "run"}
    assert not scope.insisted
    assert not scope.errors
    quiet = {os.path.relpath(file.path, root): file.quiet for file in scope.files}
    assert quiet == {"a.py": False, "b.py": False, "run": False, "tests/c.py": True, "vendor/d.py": True}
