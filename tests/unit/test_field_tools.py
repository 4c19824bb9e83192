"""The field tools, on tiny repositories and a racelint that reports each line which says BUG."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import clones
import collecting
import jsonschema
import precision
import primer
import pytest
import runs
import triage
from tests.unit.field_projects import FIELD, commit, engine, git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the field tools drive git")

NAME = "owner/name"


@pytest.fixture
def remote(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "remote"


@pytest.fixture
def pins(tmp_path: pathlib.Path, remote: pathlib.Path) -> Callable[..., pathlib.Path]:
    """Return a function that commits files to repositories of the remote and writes their list."""

    def write(**repositories: dict[str, str]) -> pathlib.Path:
        rows = [
            {"name": f"owner/{name}", "commit": commit(remote / "owner" / name, files), "language": "python",
             "primer": True}
            for name, files in repositories.items()
        ]  # fmt: skip
        path = tmp_path / "repositories.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def call(tmp_path: pathlib.Path, remote: pathlib.Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs a tool as a script, offline."""

    def run(script: str, *arguments: str, project: bool = True) -> subprocess.CompletedProcess[str]:
        places = [
            "--repositories",
            tmp_path / "repositories.json",
            "--remote",
            remote.as_uri(),
            "--cache",
            tmp_path / "c",
        ]
        places += ["--project", tmp_path / "project"] if project else []
        command = [sys.executable, str(FIELD / script), *arguments, *map(str, places)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    return run


def found(path: str = "a.py", line: int = 1, **changes: Any) -> runs.Found:
    values = {"rule": "shared-thing", "symbol": "x", "severity": "error", "confidence": "high",
              "message": "x is shared", "fingerprint": f"{path}/x"}  # fmt: skip
    return runs.Found.of({"path": path, "line": line} | values | changes)


def verdict(word: str = "true", **changes: Any) -> triage.Verdict:
    values = {"repository": NAME, "commit": "a" * 40, "path": "a.py", "line": 3, "rule": "shared-thing", "symbol": "x",
              "severity": "error", "confidence": "high", "reason": "both threads live as long as it"}  # fmt: skip
    return triage.Verdict(verdict=word, **(values | changes))


# The pinned repositories and the verdicts on them


def test_pinned_repositories_are_complete() -> None:
    every = clones.pinned(clones.HERE / "repositories.json")
    assert len({repository.name for repository in every}) == len(every)
    assert all(len(repository.commit) == 40 and repository.language in clones.SUFFIXES for repository in every)
    assert sum(repository.primer for repository in every) == 10


@pytest.mark.parametrize(
    ("file", "repositories"),
    [("triage.json", "repositories.json"), ("first_looks.json", "first_looks_repositories.json")],
)
def test_verdicts_fit_their_schema(file: str, repositories: str) -> None:
    schema = json.loads(triage.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(triage.read(clones.HERE / file), schema)
    verdicts = triage.load(clones.HERE / file)
    assert [v.key for v in verdicts] == sorted({v.key for v in verdicts}), "one verdict a finding, in order of place"
    pinned = {repository.name for repository in clones.pinned(clones.HERE / repositories)}
    assert {v.repository for v in verdicts} <= pinned


def test_first_looks_are_at_repositories_that_the_rule_was_not_mended_on() -> None:
    verdicts = triage.load(clones.HERE / "triage.json")
    later = {"second reader", "fourth reader", "fifth reader"}  # after the first looks
    seen = {v.repository for v in verdicts if v.rule == "mutated-while-iterating" and v.judge not in later}
    assert not seen & {r.name for r in clones.pinned(clones.HERE / "first_looks_repositories.json")}


BROKEN: list[dict[str, Any]] = [
    {"verdict": "maybe"}, {"line": 0}, {"line": "3"}, {"line": True}, {"commit": "main"}, {"path": "/a.py"},
    {"path": "a\\b.py"}, {"repository": "name"}, {"reason": "short"}, {"symbol": ""}, {"severity": "fatal"},
    {"confidence": "sure"}, {"rule": "Shared_Thing"}, {"judge": ""}, {"extra": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", BROKEN, ids=str)
def test_what_the_schema_forbids_is_refused(change: dict[str, Any]) -> None:
    row = verdict().row() | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([row], json.loads(triage.SCHEMA.read_text(encoding="utf-8")))
    with pytest.raises(triage.TriageError, match=next(iter(change))):
        triage.checked(row, "entry 1")


def test_each_required_field_is_missed() -> None:
    for name in json.loads(triage.SCHEMA.read_text(encoding="utf-8"))["items"]["required"]:
        row = verdict().row()
        del row[name]
        with pytest.raises(triage.TriageError, match=f"no {name}"):
            triage.checked(row, "entry 1")


def test_verdicts_survive_the_file_in_order(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "triage.json"
    triage.save(path, [verdict(line=30), verdict(line=4, judge="me"), verdict(path="0.py")])
    assert [(v.path, v.line, v.judge) for v in triage.load(path)] == [
        ("0.py", 3, ""),
        ("a.py", 4, "me"),
        ("a.py", 30, ""),
    ]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 5
    triage.save(path, [])
    assert triage.load(path) == []


def test_second_opinion_needs_replace() -> None:
    old, new = verdict("true"), verdict("wrong")
    with pytest.raises(triage.TriageError, match="judged true, now wrong"):
        triage.merge([old], [new])
    assert triage.merge([old], [new], replace=True) == [new]
    assert triage.merge([old], [old, verdict(line=9)]) == [old, verdict(line=9)]


# Clones


@pytest.mark.parametrize("layout", ["owner+name/repo", "owner/name", "owner/name.git", "name", "name.git"])
def test_clone_is_found_in_each_layout(tmp_path: pathlib.Path, layout: str) -> None:
    sha = commit(tmp_path / "clones" / layout, {"a.py": "x = 1\n"})
    where = clones.Clones(tmp_path / "clones", tmp_path / "cache", "file:///nowhere")
    git_dir = where.holding(NAME, sha)
    assert clones.source(git_dir, sha, "a.py") == ("x = 1", "")
    assert not (tmp_path / "cache").exists()


def test_bare_clone_is_found(tmp_path: pathlib.Path) -> None:
    sha = commit(tmp_path / "work", {"a.py": "x = 1\n"})
    git(tmp_path, "clone", "--quiet", "--bare", "work", "clones/owner/name.git")
    assert clones.has_commit(clones.Clones(tmp_path / "clones", tmp_path, "").holding(NAME, sha), sha)


def test_missing_commits_are_fetched_once(tmp_path: pathlib.Path, remote: pathlib.Path) -> None:
    first = commit(remote / NAME, {"a.py": "x = 1\n"})
    second = commit(remote / NAME, {"a.py": "x = 2\n"})
    where = clones.Clones(None, tmp_path / "cache", remote.as_uri())
    assert clones.source(where.holding(NAME, first), first, "a.py") == ("x = 1", "")
    assert clones.source(where.holding(NAME, second), second, "a.py") == ("x = 2", "")
    remote.rename(tmp_path / "gone")
    assert clones.has_commit(where.holding(NAME, first), first)


def test_old_clone_does_not_hide_the_remote(tmp_path: pathlib.Path, remote: pathlib.Path) -> None:
    commit(tmp_path / "clones" / NAME, {"a.py": "old\n"})
    sha = commit(remote / NAME, {"a.py": "new\n"})
    where = clones.Clones(tmp_path / "clones", tmp_path / "cache", remote.as_uri())
    assert clones.source(where.holding(NAME, sha), sha, "a.py") == ("new", "")


def test_commit_that_nobody_has_is_named(tmp_path: pathlib.Path, remote: pathlib.Path) -> None:
    commit(remote / NAME, {"a.py": ""})
    with pytest.raises(clones.CloneError, match="b" * 40):
        clones.Clones(None, tmp_path / "cache", remote.as_uri()).holding(NAME, "b" * 40)


def test_export_takes_sources_and_no_settings(tmp_path: pathlib.Path) -> None:
    files = {
        "src/a.py": "1\n2\n3\n", "src/tests/test_a.py": "1\n", "src/pyproject.toml": "[tool.racelint]\n",
        "setup.cfg": "", ".gitignore": "x\n", "other/b.py": "1\n", "go/main.go": "1\n2\n", "go/go.mod": "1\n",
        "go/vendor/v.go": "1\n",
    }  # fmt: skip
    sha = commit(tmp_path / "work", files)

    def exported(target: pathlib.Path, language: str, *paths: str) -> tuple[int, list[str]]:
        lines = clones.export(tmp_path / "work" / ".git", sha, target, language, paths)
        return lines, sorted(p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file())

    assert exported(tmp_path / "1", "python", "src") == (3, ["src/a.py", "src/tests/test_a.py"])
    assert exported(tmp_path / "2", "python")[1] == ["other/b.py", "src/a.py", "src/tests/test_a.py"]
    assert exported(tmp_path / "3", "go") == (3, ["go/go.mod", "go/main.go"])
    with pytest.raises(clones.CloneError, match="nothing-here"):
        exported(tmp_path / "4", "python", "nothing-here")


def test_clone_without_a_large_file_is_exported(tmp_path: pathlib.Path) -> None:
    sha = commit(tmp_path / "work", {"a.py": "1\n", "picture.png": "large\n", "c/b.py": "2\n"})
    git_dir = tmp_path / "work" / ".git"

    def lose(name: str) -> None:
        blob = git(tmp_path / "work", "rev-parse", f"{sha}:{name}").strip()
        (git_dir / "objects" / blob[:2] / blob[2:]).unlink()

    lose("picture.png")
    assert clones.export(git_dir, sha, tmp_path / "1", "python") == 2
    assert (tmp_path / "1" / "c" / "b.py").read_text() == "2\n"
    lose("a.py")
    with pytest.raises(clones.CloneError, match=r"a\.py is missing"):
        clones.export(git_dir, sha, tmp_path / "2", "python")


def test_links_and_ways_out_are_not_written() -> None:
    assert clones.wanted("a/b.py", "100644", "python")
    assert clones.wanted("a/b.py", "100755", "python")
    assert not clones.wanted("../b.py", "100644", "python")
    assert not clones.wanted("/b.py", "100644", "python")
    assert not clones.wanted("b.py", "120000", "python")
    assert not clones.wanted("b.py", "160000", "python")


# Primer


def test_moved_line_is_no_difference() -> None:
    assert primer.compare([found(line=1)], [found(line=50, message="reworded")]) == primer.Difference()


def test_one_of_two_equal_fingerprints_is_lost() -> None:
    both = [found(line=1), found(line=9)]
    assert primer.compare(both, [found(line=9)]).lost == [found(line=1)]
    assert primer.compare(both, [found(line=1)]).lost == [found(line=9)]
    assert primer.compare([found(line=1)], both).gained == [found(line=9)]


def test_ordinals_in_fingerprints_do_not_move_the_loss() -> None:
    first, second = found(line=1, fingerprint="1st"), found(line=9, fingerprint="2nd")
    assert primer.compare([first, second], [found(line=9, fingerprint="1st")]).lost == [first]


def test_redefined_fingerprint_is_no_difference() -> None:
    assert primer.compare([found(fingerprint="old")], [found(fingerprint="new")]) == primer.Difference()
    other = found(fingerprint="new", symbol="y")
    assert primer.compare([found(fingerprint="old")], [other]) == primer.Difference([other], [found(fingerprint="old")])


def test_changed_confidence_is_told() -> None:
    old, new = found(confidence="high"), found(confidence="low", line=7)
    assert primer.compare([old], [new]) == primer.Difference(changed=[(old, new)])


@pytest.fixture
def project(tmp_path: pathlib.Path, pins: Callable[..., pathlib.Path]) -> pathlib.Path:
    """Return a racelint repository with revisions one and two and a working tree, and pin two repositories."""
    folder = tmp_path / "project"
    commit(folder, engine("BUG"))
    git(folder, "tag", "one")
    commit(folder, engine("RACE"))
    git(folder, "tag", "two")
    (folder / "linter/racelint/cli.py").write_text(engine("BUG", "warning")["linter/racelint/cli.py"], encoding="utf-8")
    pins(
        alpha={"a.py": "# BUG x\n# RACE y\n# RACE and BUG z\n", "json.py": "raise SystemExit('executed')\n"},
        beta={"b.py": "pass\n"},
    )
    return folder


def test_primer_tells_gained_and_lost(project: pathlib.Path, call: Callable[..., Any]) -> None:
    done = call("primer.py", "one", "two")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "- owner/alpha a.py:1 error shared-thing x is shared",
        "+ owner/alpha a.py:2 error shared-thing y is shared",
        "",
    ]
    assert lines[4].split()[:7] == ["owner/alpha", "0.0", "2", "2", "+1", "-1", "~0"]
    assert lines[5].split()[:7] == ["owner/beta", "0.0", "0", "0", "+0", "-0", "~0"]
    assert lines[6].split()[:7] == ["all", "0.0", "2", "2", "+1", "-1", "~0"]


def test_primer_knows_the_working_tree_and_nothing(project: pathlib.Path, call: Callable[..., Any]) -> None:
    assert "~ owner/alpha a.py:1 error/high->warning/high shared-thing" in call("primer.py", "one", ".").stdout
    gained = call("primer.py", "empty", ".", "--only", "alpha", "--format", "json")
    (outcome,) = json.loads(gained.stdout)
    assert [row["symbol"] for row in outcome["gained"]] == ["x", "z"]
    assert (outcome["lost"], outcome["old"]["findings"], outcome["new"]["findings"]) == ([], 0, 2)


def test_primer_passes_the_least_severity(
    project: pathlib.Path, call: Callable[..., Any], pins: Callable[..., pathlib.Path]
) -> None:
    pins(gamma={"a.py": "# NOTE BUG x\n"})
    assert "+1 -0" not in call("primer.py", "empty", "one").stdout
    assert "+1 -0" in call("primer.py", "empty", "one", "--min-severity", "note").stdout


def test_primer_writes_markdown(project: pathlib.Path, call: Callable[..., Any]) -> None:
    lines = call("primer.py", "one", "two", "--format", "markdown").stdout.splitlines()
    assert lines[0].count("|") == lines[1].count("|") == lines[2].count("|")
    assert "- owner/alpha a.py:1 error shared-thing x is shared" in lines
    assert "No difference." in call("primer.py", "one", "one", "--format", "markdown").stdout


def test_primer_fails_where_a_run_fails_and_measures_the_rest(
    project: pathlib.Path, call: Callable[..., Any], pins: Callable[..., pathlib.Path]
) -> None:
    pins(delta={"a.py": "# CRASH\n"}, epsilon={"a.py": "# BUG x\n"}, zeta={"a.py": "# BUG broken-rule\n"})
    done = call("primer.py", "empty", "one")
    assert done.returncode == 2
    assert "+ owner/epsilon a.py:1" in done.stdout
    assert "owner/delta: exit 1, no report: boom" in done.stderr
    assert "owner/zeta: exit 2" in done.stderr


def test_primer_tells_of_files_that_were_not_analysed(
    project: pathlib.Path, call: Callable[..., Any], pins: Callable[..., pathlib.Path]
) -> None:
    pins(theta={"a.py": "# SYNTAX\n"}, iota={"a.py": "\n"})
    done = call("primer.py", "empty", "one")
    assert (done.returncode, done.stderr) == (0, "primer: owner/theta: not analysed, old 0, new 1 files\n")


def test_primer_names_a_revision_that_is_not_there(project: pathlib.Path, call: Callable[..., Any]) -> None:
    done = call("primer.py", "one", "nonesuch")
    assert done.returncode == 2
    assert "nonesuch" in done.stderr
    assert "Traceback" not in done.stderr


def test_slow_run_is_ended(project: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (project / "linter/racelint/cli.py").write_text("import time\ndef main(): time.sleep(30)\n", encoding="utf-8")
    with pytest.raises(runs.RunError, match="not done after 1 s"):
        runs.Engine(project, timeout=1).check(tmp_path)


# Precision


def test_wilson_interval_is_the_published_one() -> None:
    assert precision.wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert precision.wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert precision.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)  # Newcombe 1998, table I
    assert precision.wilson(0, 0) == (0.0, 1.0)


def test_benign_is_not_right() -> None:
    verdicts = [verdict("true"), verdict("true"), verdict("benign"), verdict("wrong", severity="warning")]
    rows = [line.split() for line in precision.table("t", verdicts, lambda v: v.severity)]
    assert rows[1] == ["error", "3", "2", "1", "0", "67%", "21%", "to", "94%"]
    assert rows[2][:6] == ["warning", "1", "0", "0", "1", "0%"]
    assert rows[3][:6] == ["all", "4", "2", "1", "1", "50%"]


def judge(path: pathlib.Path, words: dict[str, str]) -> None:
    """Fill in verdicts by symbol in a file of JSON lines."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row |= {"verdict": words.get(row["symbol"], ""), "reason": "somebody read the code and says so"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_collect_judge_add_show(project: pathlib.Path, call: Callable[..., Any], tmp_path: pathlib.Path) -> None:
    store = ("--triage", str(tmp_path / "triage.json"))
    (tmp_path / "triage.json").write_text("[]", encoding="utf-8")
    collect = ("collect", *store, "--revision", "one")
    done = call("precision.py", *collect, "--save", str(tmp_path / "reports"))
    assert (done.returncode, done.stderr) == (0, "")
    entry = json.loads(done.stdout.splitlines()[1])
    assert entry["excerpt"] == ["     1 | # BUG x", "     2 | # RACE y", ">    3 | # RACE and BUG z", "     4 | "]
    own, gone = entry["accesses"]
    assert own["excerpt"] == []
    assert gone["excerpt"][0].startswith("cannot read gone.py")
    todo = tmp_path / "todo.jsonl"
    todo.write_text(done.stdout, encoding="utf-8")
    judge(todo, {"x": "true"})
    assert call("precision.py", "add", str(todo), *store, project=False).returncode == 0
    assert [v.symbol for v in triage.load(tmp_path / "triage.json")] == ["x"]

    text = call("precision.py", *collect, "--run", str(tmp_path / "reports"), "--format", "text").stdout
    assert "owner/alpha a.py:3 error (high) shared-thing z" in text
    assert "  store a.py:3 in f; thread started at ?; locks L" in text
    assert "    via g a.py:1" in text
    assert "a.py:1 error" not in text

    shown = call("precision.py", "show", *store, "--run", str(tmp_path / "reports")).stdout
    assert "1 verdicts on 2 findings" in shown
    assert "shared-thing, error" in shown

    gone = call("precision.py", "collect", *store, "--revision", "two")
    assert "stale: owner/alpha a.py:1 shared-thing x (true)" in gone.stderr


def test_collect_passes_over_what_a_clone_lacks(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "clones" / "owner" / "alpha"
    sha = commit(folder, {"a.py": "# BUG x\n", "large.py": "x = 1\n"})
    commit(tmp_path / "project", engine("BUG"))
    blob = git(folder, "rev-parse", f"{sha}:large.py")
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    where = clones.Clones(tmp_path / "clones", tmp_path / "cache", "")
    alpha = clones.Repository("owner/alpha", sha, "python")
    report = collecting.run_one(alpha, where, runs.Engine(tmp_path / "project"), None)
    assert report is not None
    assert (len(report.findings), report.lines, report.errors) == (1, 1, 1)
    assert "owner/alpha: the clone lacks large.py" in capsys.readouterr().err


def test_collect_hides_notes_and_keeps_them_in_the_reports(
    project: pathlib.Path, call: Callable[..., Any], pins: Callable[..., pathlib.Path], tmp_path: pathlib.Path
) -> None:
    pins(eta={"b.py": "# NOTE BUG x\n", "a.py": "# NOTE BUG y\n"})
    reports = tmp_path / "reports"
    assert call("precision.py", "collect", "--revision", "one", "--save", str(reports)).stdout == ""
    asked = call("precision.py", "collect", "--run", str(reports), "--min-severity", "note").stdout
    assert [json.loads(line)["path"] for line in asked.splitlines()] == ["a.py", "b.py"]


def test_verdict_counts_at_the_severity_of_now(
    project: pathlib.Path, call: Callable[..., Any], tmp_path: pathlib.Path
) -> None:
    reports = tmp_path / "reports"
    call("precision.py", "collect", "--revision", ".", "--save", str(reports), "--triage", str(triage.FILE))
    (repository,) = clones.pinned(tmp_path / "repositories.json", "alpha")
    old = verdict(repository="owner/alpha", commit=repository.commit, line=1, symbol="x", severity="error")
    triage.save(tmp_path / "triage.json", [old, replace(old, line=2, symbol="gone")])
    shown = call("precision.py", "show", "--run", str(reports), "--triage", str(tmp_path / "triage.json")).stdout
    assert "shared-thing, warning" in shown
    assert "shared-thing, error" not in shown
    assert "1 verdicts on 2 findings" in shown


def test_no_reports_are_not_no_findings(project: pathlib.Path, call: Callable[..., Any]) -> None:
    done = call("precision.py", "show", "--run", "nowhere")
    assert done.returncode == 2
    assert "nowhere holds no report" in done.stderr


def test_other_commit_needs_a_new_verdict() -> None:
    repository = clones.Repository(NAME, "b" * 40, "python")
    reports = {NAME: runs.Report((found(line=3),))}
    assert list(collecting.unjudged([repository], reports, [verdict()])) == [(repository, found(line=3))]
    assert collecting.stale([repository], reports, [verdict()]) == [verdict()]
    assert list(collecting.unjudged([repository], reports, [verdict(commit="b" * 40)])) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 1"),
        ('{"verdict": "true"}', "no repository"),
        (json.dumps(verdict(repository="no/one").row()), "no/one"),
    ],
)
def test_add_refuses_what_is_not_a_verdict(
    project: pathlib.Path, call: Callable[..., Any], tmp_path: pathlib.Path, line: str, complaint: str
) -> None:
    (tmp_path / "triage.json").write_text("[]", encoding="utf-8")
    (tmp_path / "new.jsonl").write_text(line, encoding="utf-8")
    done = call("precision.py", "add", "new.jsonl", "--triage", str(tmp_path / "triage.json"), project=False)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert (tmp_path / "triage.json").read_text(encoding="utf-8") == "[]"


def test_precision_runs_bare() -> None:
    done = subprocess.run([sys.executable, str(FIELD / "precision.py")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rule, severity")
