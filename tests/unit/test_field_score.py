"""The manifest of real bugs, and its scorer on tiny repositories."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import cases
import clones
import jsonschema
import pytest
import recall
import runs
import scoring
from tests.unit.field_projects import FIELD, RULE, case, commit, engine, git, reported, row

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the field tools drive git")

Call = Callable[..., subprocess.CompletedProcess[str]]


# The manifest


@pytest.mark.parametrize("file", ["cases.json", "blind_cases.json", "blind_cases_2.json"])
def test_manifest_fits_its_schema(file: str) -> None:
    schema = json.loads(cases.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    rows = json.loads((FIELD / file).read_text(encoding="utf-8"))
    jsonschema.validate(rows, schema)
    names = [(entry["lang"] != "python", entry["id"]) for entry in rows]
    assert names == sorted(set(names)), "one entry a bug, Python first, in order of their names"
    assert len((FIELD / file).read_text(encoding="utf-8").splitlines()) == len(rows) + 2, "one line an entry"


MISFITS: list[dict[str, Any]] = [
    {"buggy": "main"}, {"fixed": ""}, {"files": []}, {"lang": "rust"}, {"excepted": ""}, {"pattern": "race"},
    {"lines_buggy": [0]}, {"seed": False}, {"extra": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", MISFITS, ids=str)
def test_what_is_no_case_does_not_fit(change: dict[str, Any]) -> None:
    schema = json.loads(cases.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate([row(), row(fixed=None, seed=True)], schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([row(**change)], schema)


def test_cases_are_chosen_by_name_repository_language_and_pattern(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([row(), row(id="other", lang="go", note="for readers")]), encoding="utf-8")
    assert [each.id for each in cases.load(path, "go shared-write$")] == ["other"]
    assert [each.id for each in cases.load(path, "^a-bug owner/name")] == ["a-bug"]


@pytest.mark.parametrize("text", ["{", "[{}]", "[1]", json.dumps([row(pattern="race")])])
def test_what_is_no_manifest_is_refused(tmp_path: pathlib.Path, text: str) -> None:
    (tmp_path / "cases.json").write_text(text, encoding="utf-8")
    with pytest.raises(cases.CaseError, match=r"cases\.json"):
        cases.load(tmp_path / "cases.json")


# Which findings are about a case


@pytest.mark.parametrize(
    ("finding", "before", "after"),
    [
        (reported(symbol="Other._items"), True, True),
        (reported(symbol="items"), True, True),
        (reported(line=13), True, False),
        (reported(line=14), False, False),
        (reported("b.py", symbol="Store._items"), False, False),
        (reported("b.py", 1, ("a.py", 8)), True, False),
        (reported("b.py", 1, ("a.py", 1), symbol="Store._items"), True, True),
        (reported(symbol="Store._items", rule="mutated-cache-object"), False, False),
        (reported("deep/a.py", line=10), False, False),
        (reported(function="Store._items"), True, True),
    ],
)
def test_finding_concerns_its_symbol_and_near_lines(finding: runs.Found, before: bool, after: bool) -> None:
    assert cases.concerns(finding, case(), lines=True) is before
    assert cases.concerns(finding, case(), lines=False) is after


def test_lines_are_those_of_the_first_file() -> None:
    assert not cases.concerns(reported("b.py", 10), case(files=["a.py", "b.py"]), lines=True)
    assert cases.concerns(reported("b.py", 99, symbol="Store._items"), case(files=["a.py", "b.py"]), lines=True)


@pytest.mark.parametrize(
    ("name", "part"),
    [("Store._items", "items"), ("Store.__Items", "items"), ("pkg:run", "run"), ("pkg/mod.go:Run)", "run"),
     ("(*Store).items", "items"), ("Get().Annotations", "annotations"), ("a[k].b", "b"), ("", "")],
)  # fmt: skip
def test_last_part_of_a_symbol(name: str, part: str) -> None:
    assert cases.last(name) == part


def test_symbol_that_ends_in_brackets_names_nothing() -> None:
    assert not cases.concerns(reported(symbol="Other[...]", function=None), case(symbol="Store.items[...]"), lines=True)


# What racelint it was


def test_identity_is_the_last_commit_of_the_sources(tmp_path: pathlib.Path) -> None:
    project = tmp_path / "project"
    first = commit(project, engine("BUG"))[:12]
    commit(project, {"README.md": "more"})
    assert (runs.identity(project, "."), runs.identity(project, "HEAD")) == (first, first)
    source = project / "linter/racelint/__init__.py"
    source.write_text("x = 1\n", encoding="utf-8")
    changed = runs.identity(project, ".")
    assert re.fullmatch(rf"{first}\+[0-9a-f]{{8}}", changed)
    assert runs.identity(project, "HEAD") == first
    source.write_text("x = 2\n", encoding="utf-8")
    assert runs.identity(project, ".") != changed


def test_identity_needs_no_repository(tmp_path: pathlib.Path) -> None:
    (tmp_path / "rules").mkdir()
    assert re.fullmatch(r"\+[0-9a-f]{8}", runs.identity(tmp_path, "."))


# The scorer


@pytest.fixture
def history(tmp_path: pathlib.Path) -> Callable[..., dict[str, Any]]:
    """Return a function that commits the sources before and after a fix, and returns the entry of the manifest."""

    def write(name: str, before: str, after: str | None, path: str = "a.py", **facts: Any) -> dict[str, Any]:
        folder = tmp_path / "remote" / "owner" / name
        buggy = commit(folder, {path: before})
        fixed = None if after is None else commit(folder, {path: after})
        files = facts.pop("files", [path])
        return row(id=name, repo=f"owner/{name}", buggy=buggy, fixed=fixed, files=files, symbol="x", **facts)

    return write


@pytest.fixture
def score(tmp_path: pathlib.Path) -> Call:
    """Return a function that runs the scorer on entries, offline."""
    commit(tmp_path / "project", engine("BUG", rule=RULE))

    def run(rows: list[dict[str, Any]], *arguments: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "cases.json").write_text(json.dumps(rows), encoding="utf-8")
        places = {"cases": "cases.json", "project": "project", "cache": "cache", "remote": "remote"}
        options = [word for name, path in places.items() for word in (f"--{name}", str(tmp_path / path))]
        command = [sys.executable, str(FIELD / "score.py"), *options, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    return run


def scores(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[bool, bool]]:
    return {each["case"]: (each["hit"], each["quiet"]) for each in json.loads(done.stdout)}


def test_cases_are_hit_and_quiet(history: Callable[..., dict[str, Any]], score: Call) -> None:
    rows = [
        history("found", "# BUG x\n", "pass\n"),
        history("missed", "pass\n", "pass\n"),
        history("loud", "# BUG x\n", "\n# BUG x\n"),
        history("unmended", "# BUG x\n", None),
        history("near", "\n" * 9 + "# BUG z\n", "\n" * 9 + "# BUG z\n"),
        history("hidden", "# NOTE BUG x\n", "# NOTE BUG x\n"),
        history("excepted", "# BUG x\n", "pass\n", excepted="no Python that anybody runs"),
    ]
    done = score(rows, "--format", "json")
    assert done.returncode == 0
    assert done.stderr == "score: excepted: excepted: no Python that anybody runs\n"
    assert scores(done) == {
        "found": (True, True),
        "missed": (False, True),
        "loud": (True, False),
        "unmended": (True, True),
        "near": (True, True),
        "hidden": (False, True),
    }
    lower = score(rows, "--format", "json", "--min-severity", "note", "--only", "^hidden ")
    assert scores(lower) == {"hidden": (True, False)}

    text = score(rows).stdout.splitlines()
    assert text[1].split()[:6] == ["Python,", "shared-write", "6", "4", "5", "3"]
    assert f"hidden: hidden: {RULE} (note, high confidence) at a.py:1 [class, x]" in text
    assert f"loud: still reported after the fix: {RULE} (error, high confidence) at a.py:2 [class, x]" in text
    assert "missed: not seen [class, x]" in text
    assert text[-1] == "4 findings in 0 kLOC before the fixes"


def test_what_cannot_be_measured_is_told(history: Callable[..., dict[str, Any]], score: Call) -> None:
    rows = [
        history("found", "# BUG x\n", "pass\n"),
        history("crash", "# BUG x\n", "# CRASH\n"),
        history("gone", "# BUG x\n", "pass\n") | {"fixed": "c" * 40},
        history("half", "# BUG x\n# SYNTAX\n", "pass\n"),
    ]
    done = score(rows, "--format", "json")
    assert done.returncode == 2
    assert scores(done) == {
        "found": (True, True), "crash": (False, False), "gone": (False, False), "half": (True, True),
    }  # fmt: skip
    assert re.search(r"score: crash: no report: .*boom", done.stderr)
    assert re.search(r"score: gone: no sources: .*c{40}", done.stderr)
    assert "score: half: not analysed, before the fix 1, after it 0 files" in done.stderr
    assert "Traceback" not in done.stderr


def test_manifest_that_is_none_is_told(score: Call, tmp_path: pathlib.Path) -> None:
    done = score([row(pattern="race")])
    assert (done.returncode, done.stdout) == (2, "")
    assert "race" in done.stderr
    assert score([], "--only", "nothing").returncode == 2


def test_saved_outcomes_are_not_measured_again(
    history: Callable[..., dict[str, Any]], score: Call, tmp_path: pathlib.Path
) -> None:
    rows = [history("found", "# BUG x\n", "pass\n"), history("gone", "# BUG x\n", "pass\n") | {"fixed": "c" * 40}]
    options = ("--format", "json", "--save", str(tmp_path / "saved"))
    first = score(rows, *options)
    identity = runs.identity(tmp_path / "project", ".")
    assert sorted(path.name for path in (tmp_path / "saved" / identity).iterdir()) == ["found.json", "gone.json"]

    shutil.rmtree(tmp_path / "remote" / "owner" / "found")
    shutil.rmtree(tmp_path / "cache")
    again = score(rows, *options)
    assert scores(again) == scores(first)
    mended = history("gone", "# BUG x\n", "pass\n")
    assert scores(score([rows[0], mended], *options)) == {"found": (True, True), "gone": (True, True)}
    other_facts = score([rows[0] | {"lines_buggy": [20]}], *options)
    assert scores(other_facts) == {"found": (False, False)}, "measured anew, and its sources are gone"

    commit(tmp_path / "project", engine("RACE", rule=RULE))
    assert scores(score([mended], *options)) == {"gone": (False, True)}


def test_clones_are_taken_from_a_folder(history: Callable[..., dict[str, Any]], score: Call) -> None:
    entry = history("found", "# BUG x\n", "pass\n")
    done = score([entry], "--clones", "remote", "--remote", "file:///nowhere", "--format", "json")
    assert scores(done) == {"found": (True, True)}


def test_vendored_copy_is_analysed_as_a_repository_of_its_own(tmp_path: pathlib.Path) -> None:
    files = {"vendor/k8s.io/a/a.go": "1\n", "vendor/k8s.io/b/b.go": "1\n", "main.go": "1\n"}
    sha = commit(tmp_path / "work", files)
    vendored = case(lang="go", files=["vendor/k8s.io/a/a.go"])
    assert (vendored.base, vendored.paths, vendored.places) == ("vendor/", ("vendor/k8s.io/a",), ("k8s.io/a/a.go",))
    git_dir, target = tmp_path / "work" / ".git", tmp_path / "target"
    assert clones.export(git_dir, sha, target, "go", vendored.paths, vendored.base) == 1
    assert [path.relative_to(target).as_posix() for path in target.rglob("*.go")] == ["k8s.io/a/a.go"]
    ordinary = case()
    assert (ordinary.base, ordinary.paths, ordinary.places) == ("", (), ("a.py",))


def test_clone_without_a_large_source_is_measured_without_it(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "clones" / "owner" / "name"
    sha = commit(folder, {"a.py": "# BUG x\n", "large.py": "x = 1\n"})
    project = tmp_path / "project"
    commit(project, engine("BUG", rule=RULE))
    where, racelint = clones.Clones(tmp_path / "clones", tmp_path / "cache", ""), runs.Engine(project)

    def lose(name: str) -> None:
        blob = git(folder, "rev-parse", f"{sha}:{name}")
        (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    lose("large.py")
    outcome = scoring.measure(case(buggy=sha, fixed=None, symbol="x"), where, racelint)
    assert (outcome.failure, outcome.buggy.report.errors, outcome.buggy.shown) == ("", 1, 1)
    assert scoring.score(outcome).both
    lose("a.py")
    failure = scoring.measure(case(buggy=sha, fixed=None, symbol="x"), where, racelint).failure
    assert failure.startswith("no sources: ")
    assert f"lacks a.py of {sha}" in failure


def test_outcomes_survive_the_file(tmp_path: pathlib.Path) -> None:
    side = scoring.Side(runs.Report((reported(),), 1, 2.5, 30, "abc"), 7)
    for outcome in (
        scoring.Outcome(case(), side, scoring.Side()),
        scoring.Outcome(case(id="other", fixed=None), side),
        scoring.Outcome(case(id="third"), failure="no report: why"),
    ):
        scoring.save(tmp_path, "abc", outcome)
        assert scoring.kept(tmp_path, "abc", [outcome.case]) == {outcome.case.id: outcome}
        assert scoring.kept(tmp_path, "def", [outcome.case]) == {}


def test_surest_finding_speaks_for_the_rest() -> None:
    many = (reported(line=3, severity="note"), reported(line=2, confidence="low"), reported(line=9), reported(line=4))
    loud = scoring.score(scoring.Outcome(case(), fixed=scoring.Side(runs.Report(many))))
    assert loud.left.endswith("a.py:4")
    unseen = scoring.score(scoring.Outcome(case(), scoring.Side(runs.Report(many[:2])), scoring.Side()))
    assert (unseen.hit, unseen.quiet, unseen.hidden.endswith("a.py:3")) == (False, True, True)


# Groups


def test_tallies_by_language_and_pattern() -> None:
    every = [
        scoring.Score(case(), hit=True, quiet=False),
        scoring.Score(case(pattern="check-then-act"), hit=False, quiet=True),
        scoring.Score(case(lang="go"), hit=True, quiet=True),
    ]
    assert [(t.name, t.cases, t.hit, t.quiet, t.both) for t in recall.by_pattern(every)] == [
        ("Python, check-then-act", 1, 0, 1, 0),
        ("Python, shared-write", 1, 1, 0, 0),
        ("Python, all but check-then-act", 1, 1, 0, 0),
        ("Python, all", 2, 1, 1, 0),
        ("Go, shared-write", 1, 1, 1, 1),
        ("Go, all", 1, 1, 1, 1),
    ]
    cells = recall.tally("", every[2:] * 10).cells
    assert cells == ("", "10", "10", "10", "10", "100 %", "72 to 100 %", "100 %", "72 to 100 %")
