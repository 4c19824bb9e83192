"""The fixture harness: each marker holds, and fails, when it should."""

from __future__ import annotations

import re

import pytest

from racelint import testing
from racelint.api import Confidence, Edit, Finding, Fix, Location, Program, Severity, Span, rule
from racelint.testing import check_fixture, programs


@rule(languages=("python",))
def bad_name(program: Program):
    """A function named bad; one named hint is a note, one named unsure is not sure."""
    for source in program.sources:
        for function in source.module.functions.values():
            if source.reported and function.name in ("bad", "worse", "hint", "unsure"):
                yield report(source.path, function)


@rule(languages=("python",))
def worse_name(program: Program):
    """A function named worse."""
    return []


def report(path, function):
    span = Span(function.span.line, 5, function.span.line, 5 + len(function.name))
    severity = Severity.NOTE if function.name == "hint" else Severity.ERROR
    confidence = Confidence.LOW if function.name == "unsure" else Confidence.HIGH
    fix = Fix("rename", (Edit(Location(path, span), "good"),)) if function.name == "bad" else None
    return Finding("bad-name", severity, confidence, Location(path, span), "bad", "", function.name, fix=fix)


RULES = (bad_name, worse_name)


def check(root, name="a.py", folder="bad-name"):
    check_fixture(root / folder / name, RULES)


def fails(root, message, name="a.py", folder="bad-name"):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check(root, name, folder)


@pytest.mark.parametrize(
    "text",
    [
        "def good(): print()\n",
        "def bad(): print()  # expect: bad-name\n",
        "def bad(): print()  # expect: bad-name (a remark)\n",
        "def bad(): print()\n# expect-above: bad-name\n",
        "def bad(): print()  # false: bad-name since names are free\n",
        "def good(): print()  # missed: bad-name\n",
        "def hint(): print()\ndef unsure(): print()\n",
        "def bad(): print()  # racelint: ignore[bad-name]\n",
        "x = '# expect: bad-name'\n",
    ],
)
def test_what_holds(tree, text):
    check(tree({"bad-name/a.py": text}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def bad(): print()\n", "a.py:1: not expected: bad-name: bad (error, high)"),
        ("\n\ndef good(): print()  # expect: bad-name\n", "a.py:3: not found: bad-name (expected 1, found 0)"),
        ("def bad(): print()  # expect: bad-name, bad-name\n", "a.py:1: not found: bad-name (expected 2, found 1)"),
        ("def hint(): print()  # expect: bad-name\n", "a.py:1: not found: bad-name"),
        (
            "def bad(): print()  # missed: bad-name\n",
            "a.py:1: now found: change 'missed: bad-name' to 'expect: bad-name'",
        ),
        ("def good(): print()  # false: bad-name\n", "a.py:1: mended: remove the marker 'false: bad-name'"),
        ("def good(): print()  # missed: worse-name\n", "a.py:1: 'missed: worse-name' names no rule that runs here"),
        ("def good(): print()  # expect: Bad_Name\n", "a.py:1: 'expect:' must be followed by rule names"),
        ("def good(:\n", "a.py:1: syntax-error"),
    ],
)
def test_what_fails(tree, text, message):
    fails(tree({"bad-name/a.py": text}), message)


def test_every_difference_is_listed(tree):
    root = tree({"bad-name/a.py": "def bad(): print()\ndef worse(): print()\n"})
    fails(root, "a.py:1: not expected")
    fails(root, "a.py:2: not expected")


def test_seeds_run_every_rule_and_other_folders_their_own(tree):
    text = "def worse(): print()  # expect: bad-name\n"
    root = tree({"seeds/a.py": text, "worse-name/a.py": "def bad(): print()\n", "no-rule/a.py": ""})
    check(root, folder="seeds")
    check(root, folder="worse-name")
    fails(root, "its folder is named no-rule, and no rule is", folder="no-rule")


def test_a_directory_is_one_program_and_its_tests_are_silent(tree):
    root = tree(
        {
            "tests/bad-name/case/a.py": "def good(): print()\n",
            "tests/bad-name/case/sub/b.py": "def bad(): print()  # expect: bad-name\n",
            "tests/bad-name/case/tests/test_c.py": "def bad(): print()\n",
            "tests/bad-name/case/vendor/d.py": "def bad(): print()\n",
            "tests/bad-name/test_alone.py": "def bad(): print()  # expect: bad-name\n",
        }
    )
    check(root / "tests", "case")
    check(root / "tests", "test_alone.py")


def test_held_asks_the_program(tree, monkeypatch):
    root = tree({"bad-name/a.py": "x = 1  # held: self._lock, other\ny = 1  # held: none\n"})
    monkeypatch.setattr(testing, "link", lambda sources, *_: WithLocks(sources, {1: ["other", "self._lock"], 2: []}))
    check(root)
    monkeypatch.setattr(testing, "link", lambda sources, *_: WithLocks(sources, {1: ["other"], 2: ["z"]}))
    fails(root, "a.py:1: held: expected other, self._lock, found other")
    fails(root, "a.py:2: held: expected none, found z")


class WithLocks:
    def __init__(self, sources, locks):
        self.sources = tuple(sources)
        self._locks = locks

    def held_at(self, path, line):
        return self._locks[line]


class WithoutLocks:
    def __init__(self, sources, *_):
        self.sources = tuple(sources)


def test_held_fails_loudly_if_the_program_cannot_tell(tree, monkeypatch):
    monkeypatch.setattr(testing, "link", WithoutLocks)
    fails(tree({"bad-name/a.py": "x = 1  # held: none\n"}), "cannot be checked")


def test_the_fixed_text_is_compared_and_must_be_clean(tree):
    bad = "def bad(): print()  # expect: bad-name\n"
    root = tree({"bad-name/a.py": bad, "bad-name/a.fixed.py": bad.replace("bad()", "good()")})
    check(root)
    (root / "bad-name" / "a.fixed.py").write_text("def fine(): print()\n")
    fails(root, "a.fixed.py: differs from the text after all safe fixes")
    (root / "bad-name" / "a.py").write_text("def worse(): print()  # expect: bad-name\n")
    (root / "bad-name" / "a.fixed.py").write_text("def worse(): print()  # expect: bad-name\n")
    fails(root, "after fixes, a.py:1: bad-name: bad")


def test_programs_are_files_and_directories_below_rule_folders(tree):
    root = tree(
        {
            "bad-name/a.py": "",
            "bad-name/a.fixed.py": "",
            "bad-name/case/b.py": "",
            "bad-name/notes.md": "",
            "bad-name/__pycache__/x.py": "",
            "top.py": "",
        }
    )
    assert [path.relative_to(root).as_posix() for path in programs(root)] == ["bad-name/a.py", "bad-name/case"]


def test_a_fixture_that_is_not_there(tree):
    fails(tree({"bad-name/empty/notes.md": ""}), "no program is there", "empty")
