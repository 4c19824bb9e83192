"""Suppressions as a user meets them: unused ones, reasons that are asked for, comments for all that is found."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def racelint(inside):
    """Many runs, in one process."""
    return inside


PYTHON = """\
import threading


class Cache:
    def __init__(self):
        self.items = {}
        self._thread = threading.Thread(target=self._run)

    def start(self):
        self._thread.start()

    def _run(self):
        for name in self.items:
            print(name)

    def add(self, name):
        self.items[name] = 1
"""
GO = """\
package store

type Store struct {
	items map[string]int
}

func (s *Store) Run() {
	go func() {
		s.items["a"]++
	}()
	s.items["b"] = 1
}
"""
FILES = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "app/cache.py": PYTHON,
    "go.mod": "module x.y/z\n",
    "store.go": GO,
}


def rules(done) -> list[tuple[str, int, str]]:
    return [(found["path"], found["line"], found["rule"]) for found in json.loads(done.stdout)["findings"]]


def test_both_programs_have_a_finding(racelint, tree):
    tree(FILES)
    found = rules(racelint("check", "--format", "json"))
    assert found == [("app/cache.py", 13, "unlocked-shared-write"), ("store.go", 9, "unlocked-shared-write")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.items = {}", "self.items = {}  # racelint: ignore[unlocked-shared-write] filled before the start"),
        ("class Cache:", "class Cache:  # racelint: ignore[unlocked-shared-write] one thread"),
        ("    def _run", "    # racelint: ignore[unlocked-shared-write] why\n    def _run"),
        ("in self.items:", "in self.items:  # racelint: ignore[unlocked-shared-write] why"),
    ],
)
def test_where_a_comment_silences_in_python(racelint, tree, old, new):
    tree({**FILES, "app/cache.py": PYTHON.replace(old, new)})
    done = racelint("check", "app")
    assert (done.returncode, "; 1 suppressed;" in done.stdout) == (0, True), done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("items map[string]int", "items map[string]int //racelint:ignore unlocked-shared-write one goroutine"),
        ("type Store", "//racelint:ignore unlocked-shared-write one goroutine\ntype Store"),
        ("func (s", "//racelint:ignore unlocked-shared-write why\nfunc (s"),
        ('"a"]++', '"a"]++ //racelint:ignore unlocked-shared-write why'),
    ],
)
def test_where_a_comment_silences_in_go(racelint, tree, old, new):
    tree({"go.mod": "module x.y/z\n", "store.go": GO.replace(old, new)})
    done = racelint("check")
    assert (done.returncode, "; 1 suppressed;" in done.stdout) == (0, True), done.stdout


def test_the_other_access_of_a_race_silences_nothing(racelint, tree):
    marked = PYTHON.replace("[name] = 1", "[name] = 1  # racelint: ignore[unlocked-shared-write] why")
    tree({"cache.py": marked})
    assert [rule for _, _, rule in rules(racelint("check", "--format", "json"))] == [
        "unlocked-shared-write",
        "unused-suppression",
    ]


UNUSED = "x = 1  # racelint: ignore[unlocked-shared-write] stale\n"


def test_an_unused_comment_is_a_warning_with_a_fix(racelint, tree):
    tree({"a.py": UNUSED})
    done = racelint("check", "--format", "json")
    report = json.loads(done.stdout)
    (finding,) = report["findings"]
    assert (done.returncode, finding["rule"], finding["severity"]) == (1, "unused-suppression", "warning")
    assert (finding["line"], finding["column"]) == (1, 8)
    assert finding["fix"]["safe"]
    assert finding["fix"]["edits"] == [
        {"path": "a.py", "line": 1, "column": 6, "end_line": 1, "end_column": 55, "text": ""}
    ]
    assert report["summary"]["unused_suppressions"] == 1


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--ignore", "unused-suppression"], 0),
        (["--ignore", "unlocked-shared-write"], 0),
        (["--select", "mutated-while-iterating,unused-suppression"], 0),
        (["--select", "unlocked-shared-write"], 0),
        (["--select", "unlocked-shared-write,unused-suppression"], 1),
        (["--min-severity", "error"], 0),
        (["a.py"], 1),
        (["sub/part"], 0),
        (["sub"], 1),
    ],
)
def test_when_unused_comments_are_reported(racelint, tree, arguments, count):
    tree({"pyproject.toml": "", "a.py": UNUSED, "sub/__init__.py": "", "sub/part/__init__.py": UNUSED})
    found = rules(
        racelint("check", "--format", "json", *(arguments if arguments[0][0] != "-" else ["a.py", *arguments]))
    )
    assert [rule for *_, rule in found] == ["unused-suppression"] * count


def test_a_part_of_a_go_module_does_not_tell_what_is_unused(racelint, tree):
    tree({"go.mod": "module x.y/z\n", "sub/a.go": "package sub\n\nvar x = 1 //racelint:ignore unlocked-shared-write\n"})
    assert rules(racelint("check", "--format", "json", "sub")) == []
    assert rules(racelint("check", "--format", "json")) == [("sub/a.go", 3, "unused-suppression")]


def test_a_file_that_fails_may_hold_the_other_end(racelint, tree):
    tree({"a.py": UNUSED, "b.py": "def :\n"})
    assert rules(racelint("check", "--format", "json")) == []


def test_hidden_findings_use_a_comment(racelint, tree):
    marked = PYTHON.replace("in self.items:", "in self.items:  # racelint: ignore[unlocked-shared-write] why")
    tree({"a.py": marked})
    assert rules(racelint("check", "--format", "json", "--min-severity", "note")) == []
    assert rules(racelint("check", "--format", "json", "--min-confidence", "high")) == []


def test_a_reason_can_be_asked_for(racelint, tree):
    bare = PYTHON.replace("self.items = {}", "self.items = {}  # racelint: ignore[unlocked-shared-write]")
    tree({"a.py": bare, "racelint.toml": "require-reason = true\n"})
    assert rules(racelint("check", "--format", "json")) == [("a.py", 6, "unexplained-suppression")]
    tree({"a.py": bare.replace("shared-write]", "shared-write] set up first")})
    assert racelint("check").returncode == 0


def test_the_rules_about_comments_have_names_and_pages(racelint, tree):
    listed = racelint("rules").stdout
    for name in ("unused-suppression", "unexplained-suppression"):
        assert name in listed
        assert "## How it decides" in racelint("explain", name).stdout


def test_comments_for_all_that_is_found(racelint, tree):
    root = tree(FILES)
    done = racelint("check", "--add-ignores", "not yet looked at")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "wrote 2 comments in 2 files\n")
    written = {name: (root / name).read_text() for name in FILES}
    assert "# racelint: ignore[unlocked-shared-write] not yet looked at\n" in written["app/cache.py"]
    assert "//racelint:ignore unlocked-shared-write not yet looked at\n" in written["store.go"]
    done = racelint("check")
    assert (done.returncode, done.stderr) == (0, "")
    assert "; 2 suppressed;" in done.stdout
    assert racelint("check", "--add-ignores", "again").stderr == "wrote 0 comments in 0 files\n"
    assert {name: (root / name).read_text() for name in FILES} == written


@pytest.mark.parametrize(("reason", "message"), [(" ", "needs a reason"), ("a\nb", "one line")])
def test_a_reason_is_needed_to_add_comments(racelint, tree, reason, message):
    tree(FILES)
    done = racelint("check", "--add-ignores", reason)
    assert done.returncode == 2
    assert message in done.stderr


def test_an_unused_comment_gets_no_comment(racelint, tree):
    root = tree({"a.py": UNUSED})
    done = racelint("check", "--add-ignores", "why")
    assert done.returncode == 1
    assert "no comment for unused-suppression" in done.stderr
    assert (root / "a.py").read_text() == UNUSED
