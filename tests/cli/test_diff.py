"""`check --diff BASE`: a race has two ends, and the commit may have been at the one that is not reported."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def racelint(inside):
    """Many runs, in one process."""
    return inside


CACHE = """\
import threading


class Cache:
    def __init__(self):
        self._lock = threading.Lock()
        self.items = {}

    def walk(self):
        self._lock.acquire()
        for name in self.items:
            print(name)
        self._lock.release()

    def add(self, name):
        with self._lock:
            self.items[name] = 1
"""
UNLOCKED = CACHE.replace("        self._lock.acquire()\n", "").replace("        self._lock.release()\n", "")
MAIN = """\
import threading

from cache import Cache

CACHE = Cache()


def main():
    pass
"""
START = MAIN.replace("    pass", "    threading.Thread(target=CACHE.walk).start()\n    CACHE.add('a')")
GO = """\
package store

import "sync"

type Store struct {
	mu    sync.Mutex
	items map[string]int
}

func (s *Store) Add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[name] = 1
}

func (s *Store) Run() {
	go func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.items["b"] = 2
	}()
}
"""
BUG = "def close_all(sessions: dict) -> None:\n    for name in sessions:\n        del sessions[name]\n"


@pytest.fixture
def commit(tree, git):
    """Write files and commit them; the first commit is tagged `base`."""

    def write(files: dict[str, str]) -> None:
        fresh = not Path(tree({}), ".git").exists()
        if fresh:
            git("init", "-q", "-b", "main")
        tree(files)
        git("add", "-A")
        git("commit", "-qm", "x")
        if fresh:
            git("tag", "base")

    return write


def report(racelint, *arguments: str) -> tuple[list[tuple[str, int]], int]:
    """Where findings stand, and how many are outside of the diff."""
    done = racelint("check", "--format", "json", "--diff", *(arguments or ("base",)))
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    return [(found["path"], found["line"]) for found in told["findings"]], told["summary"]["outside_diff"]


def changed_lines(git) -> set[str]:
    return {name for name in git("diff", "--name-only", "base").split("\n") if name}


def test_a_commit_that_only_starts_a_thread_in_another_file(racelint, commit, git):
    commit({"cache.py": UNLOCKED.replace("with self._lock", "if name"), "main.py": MAIN})
    commit({"main.py": START})
    assert changed_lines(git) == {"main.py"}
    assert report(racelint) == ([("cache.py", 10)], 0)  # a line that has not changed, in a file that has not


def test_a_commit_that_only_adds_the_second_access_in_another_file(racelint, commit, git):
    first = UNLOCKED.replace(
        "    def add(self, name):\n        with self._lock:\n            self.items[name] = 1\n", ""
    )
    commit({"cache.py": first, "main.py": START.replace("    CACHE.add('a')", "")})
    assert racelint("check").returncode == 0
    commit({"main.py": START.replace("CACHE.add('a')", "CACHE.items['a'] = 1")})
    assert changed_lines(git) == {"main.py"}
    assert report(racelint) == ([("cache.py", 10)], 0)


@pytest.mark.parametrize("staged", [True, False])
def test_a_change_that_only_removes_a_lock(racelint, commit, git, tree, staged):
    commit({"cache.py": CACHE, "main.py": START})
    assert racelint("check").returncode == 0
    tree({"cache.py": UNLOCKED})
    if staged:
        git("add", "-A")
    assert not [text for text in git("diff", "base").split("\n") if text.startswith("+") and text[:3] != "+++"]
    assert report(racelint, "HEAD") == ([("cache.py", 10)], 0)


def test_a_lock_that_is_removed_in_go(racelint, commit, git):
    commit({"go.mod": "module x.y/z\n", "store.go": GO})
    assert racelint("check").returncode == 0
    commit({"store.go": GO.replace("\t\ts.mu.Lock()\n\t\tdefer s.mu.Unlock()\n", "")})
    findings, _ = report(racelint)
    assert findings == [("store.go", 18)]


def test_what_was_there_before_is_outside(racelint, commit):
    commit({"cache.py": UNLOCKED, "main.py": START, "other.py": BUG})
    commit({"cache.py": "# a word before\n" + UNLOCKED + "\n    def size(self):\n        return 1\n", "new.py": BUG})
    assert report(racelint) == ([("new.py", 3)], 2)
    done = racelint("check", "--diff", "base")
    assert done.returncode == 1
    assert "; 2 outside the diff;" in done.stdout
    assert racelint("check", "--diff", "HEAD").returncode == 0


def test_untracked_files_are_new_and_renamed_ones_are_not(racelint, commit, git, tree):
    commit({"a.py": BUG, "b.py": BUG, ".gitignore": "ignored.py\n"})
    git("mv", "a.py", "moved name.py")
    git("mv", "b.py", "touched.py")
    tree({"touched.py": BUG.replace("del ", "del  "), "sub/new.py": BUG, "ignored.py": BUG})
    assert report(racelint) == ([("sub/new.py", 3), ("touched.py", 3)], 1)


def test_what_the_base_has_changed_since_does_not_count(racelint, commit, git):
    commit({"a.py": BUG, "b.py": BUG})
    git("checkout", "-qb", "feature")
    commit({"b.py": BUG.replace("del ", "del  ")})
    git("checkout", "-q", "main")
    commit({"a.py": BUG.replace("del ", "del  ")})
    git("checkout", "-q", "feature")
    assert report(racelint, "main") == ([("b.py", 3)], 1)


def test_from_a_directory_below_and_for_a_file(racelint, commit, tree):
    commit({"pyproject.toml": "", "sub/a.py": BUG, "top.py": BUG})
    commit({"sub/a.py": BUG.replace("del ", "del  "), "top.py": BUG.replace("del ", "del  ")})
    root = tree({})
    done = racelint("check", "--diff", "base", "--format", "json", cwd=root / "sub")
    assert [found["path"] for found in json.loads(done.stdout)["findings"]] == ["a.py"]
    assert report(racelint, "base", "top.py") == ([("top.py", 3)], 0)


def test_with_a_baseline(racelint, commit):
    commit({"a.py": BUG, "b.py": BUG})
    racelint("baseline", "a.py")
    commit({"b.py": BUG.replace("del ", "del  "), "a.py": BUG.replace("del ", "del  ")})
    done = racelint("check", "--diff", "base", "--baseline", "racelint-baseline.jsonl", "--format", "json")
    told = json.loads(done.stdout)
    assert [found["path"] for found in told["findings"]] == ["b.py"]
    assert (told["summary"]["baselined"], told["summary"]["outside_diff"]) == (1, 0)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("no-such-branch", "no-such-branch is no commit of this repository"),
        ("--output=x", "is no commit"),
        ("", "is no"),
    ],
)
def test_a_base_that_is_no_commit(racelint, commit, base, message):
    commit({"a.py": BUG})
    done = racelint("check", f"--diff={base}")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_no_repository_no_commit_and_no_common_ancestor(racelint, tree, git):
    tree({"a.py": BUG})
    done = racelint("check", "--diff", "HEAD")
    assert (done.returncode, "lies in no git repository" in done.stderr) == (2, True)
    git("init", "-q", "-b", "main")
    assert racelint("check", "--diff", "HEAD").returncode == 2
    git("add", "-A")
    git("commit", "-qm", "x")
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-qm", "y")
    done = racelint("check", "--diff", "main")
    assert (done.returncode, "have no common ancestor" in done.stderr) == (2, True)


def test_without_git(racelint, tree):
    tree({"a.py": BUG})
    done = racelint("check", "--diff", "HEAD", env={"PATH": "/nowhere"})
    assert (done.returncode, "--diff needs git" in done.stderr) == (2, True)


def test_the_repository_runs_nothing(racelint, commit, git, tree):
    commit({"a.py": BUG, ".gitattributes": "*.py diff=evil filter=evil\n"})
    root = tree({"a.py": BUG.replace("del ", "del  "), "evil.sh": "#!/bin/sh\ntouch ran\ncat\n"})
    (root / "evil.sh").chmod(0o755)
    evil = (root / "evil.sh").as_posix()
    keys = ("diff.external", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor", "core.pager")
    for key in (*keys, "filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
        git("config", key, evil)
    git("config", "filter.evil.required", "true")
    git("config", "diff.noprefix", "true")
    git("config", "color.ui", "always")
    assert report(racelint) == ([("a.py", 3)], 0)
    assert not (root / "ran").exists()


def test_in_a_hook(racelint, commit, git, tree):
    """Git calls hooks with variables that hold for the top of the working tree only."""
    commit({"a.py": BUG, "sub/b.py": BUG})
    root = tree({"sub/b.py": BUG.replace("del ", "del  ")})
    done = racelint(
        "check", "--diff", "HEAD", "--format", "json", cwd=root / "sub", env={"GIT_DIR": ".git", "GIT_INDEX_FILE": "x"}
    )
    assert [found["path"] for found in json.loads(done.stdout)["findings"]] == ["b.py"]


def test_a_linked_working_tree(racelint, commit, git, tmp_path):
    commit({"a.py": BUG})
    git("worktree", "add", "-q", "linked", "-b", "other")
    (tmp_path / "linked" / "a.py").write_text(BUG.replace("del ", "del  "))
    done: subprocess.CompletedProcess[str] = racelint("check", "--diff", "main", cwd=tmp_path / "linked")
    assert done.returncode == 1
