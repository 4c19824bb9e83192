"""FIELD.md and the condensed numbers that it is made from."""

from __future__ import annotations

import json
import pathlib
import sys
from dataclasses import replace
from typing import Any

import clones
import page
import pytest
import report
import results
import runs
import scoring
import tables
import triage
from tests.unit.field_projects import RULE, case, reported

COMMIT = "c" * 40
REPOSITORY = clones.Repository("owner/name", COMMIT, "python")


def outcome(**facts: Any) -> scoring.Outcome:
    """Return a case that is hit and quiet."""
    seen = scoring.Side(runs.Report((reported(symbol="Store._items"),), lines=2000), shown=3)
    return scoring.Outcome(case(**facts), seen, scoring.Side())


def finding(line: int = 1, **changes: Any) -> runs.Found:
    return reported("a.py", line, ("a.py", line), ("b.py", 7), **changes)


def verdict(line: int, word: str) -> triage.Verdict:
    about = ("owner/name", COMMIT, "a.py", line, RULE, "Store.other", "error", "high")
    return triage.Verdict(*about, word, "somebody read the code and says so")


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Lead the command to files of its own."""
    for module in (report, results):
        monkeypatch.setattr(module, "FILE", tmp_path / module.FILE.name)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["report.py", *map(str, arguments)])
    return report.main()


def test_page_is_the_one_that_its_files_make() -> None:
    assert report.FILE.read_text(encoding="utf-8") == report.made(), "run python tests/field/report.py"


def test_page_names_no_place_of_the_machine_that_made_it() -> None:
    for path in (report.FILE, results.FILE):
        text = path.read_text(encoding="utf-8")
        assert not [name for name in (str(pathlib.Path.home()), "/tmp/", "Traceback") if name in text]


def test_results_survive_the_file(tmp_path: pathlib.Path) -> None:
    every = [outcome(), outcome(id="failed", fixed=None), outcome(id="unmeasured")]
    failed = scoring.Outcome(every[1].case, failure="no sources: cannot export from /somewhere")
    for each in (every[0], failed):
        scoring.save(tmp_path, "abc", each)
    report = runs.Report((finding(), finding(2, severity="note")), 1, 2.0, 4000, "abc")
    clones_of = [REPOSITORY, clones.Repository("owner/other", COMMIT, "go")]
    results.collecting.save_report(tmp_path / "reports", REPOSITORY, report)
    cases_of = [each.case for each in every]
    path = tmp_path / "results.json"
    results.save(path, recall=results.recall_section(tmp_path, "abc", cases_of))
    results.save(path, precision=results.precision_section(tmp_path / "reports", clones_of))

    loaded = results.load(path, cases_of)
    assert loaded.scores == (scoring.Score(cases_of[0], True, True), scoring.Score(cases_of[1], False, False,
                                                                                   failure="no sources"))  # fmt: skip
    assert (loaded.racelint, loaded.lines, loaded.found) == ("abc", 2000, 3)
    assert loaded.pinned.repositories == (results.Measured("owner/name", COMMIT, "python", "abc", 4000, 1, 1),)
    (shown,) = loaded.pinned.findings
    assert shown.sides == (("a.py:1", "store", "f"), ("b.py:7", "store", "f"))
    assert shown.key == verdict(1, "true").key
    assert "/somewhere" not in path.read_text(encoding="utf-8")
    assert sum('"id"' in line for line in path.read_text(encoding="utf-8").splitlines()) == 2, "a line for each case"
    assert results.load(path, cases_of[:1]).scores == loaded.scores[:1]


def test_a_run_may_be_made_in_parts(tmp_path: pathlib.Path) -> None:
    first, second = outcome(), outcome(id="second")
    for part, each in (("first", first), ("second", second)):
        scoring.save(tmp_path / part, "abc", each)
    every = [first.case, second.case]
    before = results.recall_section(tmp_path / "first", "abc", every)
    both = results.recall_section(tmp_path / "second", "abc", every, before)
    assert [row["id"] for row in both["cases"]] == sorted(each.id for each in every)
    assert (both["lines"], both["findings"]) == (4000, 6)
    assert results.recall_section(tmp_path / "second", "abc", every, both) == both, "nothing counts twice"
    other = {**before, "racelint": "another"}
    assert [row["id"] for row in results.recall_section(tmp_path / "second", "abc", every, other)["cases"]] == [
        "second"
    ]


def test_page_tells_what_was_measured() -> None:
    scores = (
        scoring.Score(case(), True, True),
        scoring.Score(case(id="second", lang="go", pattern="check-then-act"), False, True, hidden="a note"),
        scoring.Score(case(id="third"), False, False, failure="no sources"),
        scoring.Score(case(id="fourth", excepted="needs a type checker"), False, False),
    )
    every = [*(score.case for score in scores), case(id="fifth")]
    repository = results.Measured("owner/name", COMMIT, "python", "abc", 4000, 9, 2)
    findings = tuple(results.shown(REPOSITORY, finding(line)) for line in (1, 2, 3))
    measured = results.Results("abc", scores, 20_000, 10, results.Sight((repository,), findings))
    text = page.text(measured, every, [verdict(1, "true"), verdict(2, "wrong")])
    for expected in (
        "- 1 cases are not measured yet",
        "- Python, real bugs (all but check-then-act): hit 1 of 2 (50 %, 9 to 91 %), hit and quiet",
        "- errors in mature code: right 1 of 2 (50 %, 9 to 91 %)",
        "racelint abc on 3 of the 5 cases in `cases.json` (1 not measured yet, 1 excepted)",
        "shows 10 findings in 20 kLOC, 0.50 per kLOC.",
        "| Python, shared-write | 2 | 1 | 1 | 1 | 50 % | 9 to 91 % | 50 % | 9 to 91 % |",
        "| Go, check-then-act | 1 | 0 | 1 | 0 | 0 % | 0 to 79 % | 0 % | 0 to 79 % |",
        "- `fourth` (owner/name): needs a type checker",
        "- `second` (owner/name, check-then-act, class, `Store._items`): hidden: a note",
        "- `third` (owner/name, shared-write, class, `Store._items`): not measured: no sources",
        "racelint abc on 1 repositories",
        "| Python, unlocked-shared-write, error | 1 | 0 | 1 | 1 | 50 % | 9 to 91 % |",
        "| owner/name cccccccccccc | Python | 4.0 | 3 | 1 | 0.75 | 9 | 2 |",
        "More than 0.3 findings per kLOC: owner/name.",
        "### owner/name cccccccccccc\n\n- unlocked-shared-write: `Store.other`: a.py:1 (store in `f`), b.py:7 (store",
    ):
        assert expected in text or expected in text.replace("\n", " "), expected  # paragraphs are folded


def test_page_tells_first_sight_apart() -> None:
    fresh = clones.Repository("fresh/name", COMMIT, "go")
    pinned_sight = results.Sight(
        (results.Measured("owner/name", COMMIT, "python", "abc", 4000, 0, 0),),
        tuple(results.shown(REPOSITORY, finding(line)) for line in (1, 2)),
    )
    fresh_sight = results.Sight(
        (results.Measured("fresh/name", COMMIT, "go", "abc", 2000, 0, 0),), (results.shown(fresh, finding(1)),)
    )
    measured = results.Results("abc", (), 0, 0, pinned_sight, fresh_sight)
    at_first_sight = replace(verdict(1, "benign"), repository="fresh/name")
    text = page.text(measured, [], [verdict(1, "true"), verdict(2, "true"), at_first_sight])
    for expected in (
        "- errors in mature code: right 2 of 3 (67 %, 21 to 94 %): pinned 2 of 2 (100 %, 34 to 100 %); fresh 0 of 1",
        "### At first sight",
        "| Go, unlocked-shared-write, error | 0 | 1 | 0 | 0 | 0 % | 0 to 79 % |",
        "| all, error | 2 | 1 | 0 | 0 | 67 % | 21 to 94 % |",
        "| fresh/name cccccccccccc | Go | 2.0 | 1 | 0 | 0.50 | 0 | 0 |",
    ):
        assert expected in text, expected
    assert "first sight" not in page.text(results.Results("abc", (), 0, 0, pinned_sight), [], [])


def test_page_of_nothing_can_be_made() -> None:
    text = page.text(results.Results(), [case()], [])
    assert "racelint (no run yet) on 0 of the 1 cases" in text
    assert text.count("None.") == 2


def test_command_makes_page_and_results(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report.cases, "load", lambda *_: [case()])
    assert call(monkeypatch, "--check") == 2
    scoring.save(folder / "recall", "abc", outcome())
    assert call(monkeypatch, "--recall", folder / "recall", "--revision", "abc") == 0
    text = (folder / "FIELD.md").read_text(encoding="utf-8")
    assert "hit 1 of 1" in text
    assert call(monkeypatch, "--check") == 0
    (folder / "FIELD.md").write_text("other", encoding="utf-8")
    assert call(monkeypatch, "--check") == 1
    assert call(monkeypatch) == 0
    assert (folder / "FIELD.md").read_text(encoding="utf-8") == text


def test_run_of_another_racelint_is_no_run(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scoring.save(folder / "recall", "abc", scoring.Outcome(case()))
    assert call(monkeypatch, "--recall", folder / "recall") == 2
    assert "there is abc" in capsys.readouterr().err
    assert call(monkeypatch, "--precision", folder / "nowhere") == 2
    assert "holds no report" in capsys.readouterr().err
    assert not (folder / "FIELD.md").exists()


def test_tables() -> None:
    rows = [("a", "long heading"), ("a name", "1|2")]
    assert list(tables.aligned(rows)) == ["a       long heading", "a name  1|2"]
    assert list(tables.markdown(rows)) == ["| a | long heading |", "|---|---|", "| a name | 1\\|2 |"]


def test_saved_results_are_plain_json(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "results.json"
    results.save(path)
    assert json.loads(path.read_text(encoding="utf-8")) == results.EMPTY
