"""The pre-commit hook: what it does with the names of files, and the real pre-commit on a scratch repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "linter", "rules")

ROUTES = """\
class Routes:
    def __init__(self):
        self.routes = {}

    def names(self):
        return [name.lower() for name in self.routes]
"""
WATCHER = """\
import threading

from app.routes import Routes


class Watcher(Routes):
    def start(self):
        threading.Thread(target=self._run).start()

    def _run(self):
        while True:
            self.routes[object()] = 1
"""
TWO_ENDS = {"pyproject.toml": "", "app/__init__.py": "", "app/routes.py": ROUTES, "app/watcher.py": WATCHER}
RACE = [("app/routes.py", "unlocked-shared-write")]


def findings(racelint, *arguments, cwd=None):
    done = racelint("check", "--force-exclude", "--format", "json", *arguments, cwd=cwd)
    assert done.returncode in (0, 1), done.stderr
    return [(found["path"], found["rule"]) for found in json.loads(done.stdout)["findings"]]


def test_a_race_is_told_from_either_end(racelint, tree):
    tree(TWO_ENDS)
    assert findings(racelint, ".") == RACE
    assert findings(racelint, "app/routes.py") == RACE
    assert findings(racelint, "app/watcher.py") == RACE
    assert findings(racelint, "app/__init__.py") == []


def test_a_test_that_is_named_is_no_part_of_the_program(racelint, tree, bug):
    caller = "from app.watcher import Watcher\n\n\ndef test_it():\n    assert not Watcher().names()\n"
    tree({**TWO_ENDS, "tests/test_it.py": caller, "tests/test_bug.py": bug})
    assert findings(racelint, ".") == RACE
    assert findings(racelint, *TWO_ENDS, "tests/test_it.py", "tests/test_bug.py") == RACE
    assert findings(racelint, "tests/test_bug.py") == []


def test_files_of_several_projects(racelint, tree, bug):
    tree({"a/pyproject.toml": "", "a/x.py": bug, "a/y.py": bug, "b/go.mod": "module b\n", "b/z.py": bug, "c.py": bug})
    tree({".git/HEAD": ""})
    assert [path for path, _ in findings(racelint, "a/x.py", "b/z.py")] == ["a/x.py", "b/z.py"]


def test_many_files(racelint, tree, bug):
    """As many as fill a command line; pre-commit parts longer lists."""
    names = [f"pkg/module_{number:04}.py" for number in range(1500)]
    tree({"pyproject.toml": "", **dict.fromkeys(names, "")})
    tree({names[700]: bug})
    assert findings(racelint, *names) == [(names[700], "mutated-while-iterating")]


def offline() -> str:
    """Why the registry that pre-commit's environments are filled from cannot be used, "" if it can."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        return ""
    asked = [sys.executable, "-m", "pip", "index", "versions", "hatchling", "--disable-pip-version-check"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else "no package registry can be reached"


class Scratch:
    """A repository to commit to, with an environment in which git and pre-commit see nothing of the user's."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHONPATH"))}
        who = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.env = {**kept, **who, "HOME": str(home), "PRE_COMMIT_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
        root.mkdir()
        self("git", "init", "--quiet")

    def __call__(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=self.root, env=self.env, capture_output=True, encoding="utf-8", timeout=300, check=False
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def commit(self, *, check: bool = True) -> subprocess.CompletedProcess[str]:
        self("git", "add", "--all")
        return self("git", "commit", "--quiet", "--message", "x", check=check)


@pytest.fixture
def hooked(tmp_path):
    """This version of racelint as a repository of its own, and a scratch repository beside it."""
    pytest.importorskip("pre_commit", reason="pre-commit is a development dependency")
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    if reason := offline():
        pytest.skip(reason)
    hook, scratch = Scratch(tmp_path / "hook", tmp_path / "home"), Scratch(tmp_path / "scratch", tmp_path / "home")
    for name in OURS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, hook.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, hook.root / name)
    hook.commit()
    return hook, scratch


def test_the_real_pre_commit(hooked, bug):
    hook, scratch = hooked
    pre_commit = (sys.executable, "-m", "pre_commit")
    (scratch.root / "app.py").write_text(bug, "utf-8")
    scratch("git", "add", "--all")
    tried = scratch(*pre_commit, "try-repo", str(hook.root), "racelint", check=False)
    assert tried.returncode == 1, tried.stdout + tried.stderr
    assert "app.py:3:13  error  mutated-while-iterating" in tried.stdout
    assert "Reading" not in tried.stdout

    revision = hook("git", "rev-parse", "HEAD").stdout.strip()
    repo = {"repo": str(hook.root), "rev": revision, "hooks": [{"id": "racelint"}]}
    (scratch.root / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [repo]}), "utf-8")
    scratch(*pre_commit, "install")
    stopped = scratch.commit(check=False)
    assert stopped.returncode == 1
    assert "mutated-while-iterating" in stopped.stdout + stopped.stderr
    assert scratch("git", "rev-list", "--all").stdout == ""

    (scratch.root / "app.py").write_text(bug.replace("in sessions", "in list(sessions)"), "utf-8")
    passed = scratch.commit()
    assert "racelint" in passed.stdout + passed.stderr
    assert "Passed" in passed.stdout + passed.stderr
    assert len(scratch("git", "rev-list", "--all").stdout.split()) == 1
