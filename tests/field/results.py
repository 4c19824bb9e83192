"""The measured numbers, condensed from saved runs into one file, from which the page is made without any clone."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import collecting
import runs
import scoring
import triage
from cases import Case
from clones import HERE, Repository
from runs import Found, Report
from scoring import Outcome, Score

FILE = HERE / "results.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """One repository that racelint was run on; `hidden` are the findings below the level that it shows."""

    name: str
    commit: str
    language: str
    racelint: str
    lines: int
    hidden: int
    errors: int


@dataclass(frozen=True, slots=True)
class Shown:
    """One finding that racelint shows by default, with both of its sides as `path:line`, kind and function."""

    repository: str
    commit: str
    path: str
    line: int
    rule: str
    symbol: str
    severity: str
    confidence: str
    sides: tuple[tuple[str, str, str], ...]

    @property
    def key(self) -> triage.Key:
        """What a verdict on it is about."""
        return triage.Key(self.repository, self.commit, self.path, self.line, self.rule, self.symbol)


@dataclass(frozen=True, slots=True)
class Sight:
    """What one precision run shows of its repositories."""

    repositories: tuple[Measured, ...] = ()
    findings: tuple[Shown, ...] = field(default=(), repr=False)

    @property
    def lines(self) -> int:
        """Lines of product code in all of them."""
        return sum(repository.lines for repository in self.repositories)


@dataclass(frozen=True, slots=True)
class Results:
    """One recall run and two precision runs: of the pinned repositories, and of those of the last first look."""

    racelint: str = ""  # of the recall run
    scores: tuple[Score, ...] = ()
    lines: int = 0  # of all cases before their fix, and how much racelint shows there
    found: int = 0
    pinned: Sight = Sight()
    fresh: Sight = Sight()


EMPTY: dict[str, dict[str, Any]] = {
    "recall": {"racelint": "", "lines": 0, "findings": 0, "cases": []},
    "precision": {"repositories": [], "findings": []},
    "first look": {"repositories": [], "findings": []},
}


def recall_section(
    folder: pathlib.Path, identity: str, every: Iterable[Case], before: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Condense what `score.py --save` kept for one state of racelint.

    `before` is an earlier section: of the same state, its cases stay, so that a run may be made in parts.
    """
    outcomes = scoring.kept(folder, identity, every)
    if not outcomes:
        there = ", ".join(sorted(path.name for path in folder.glob("*") if path.is_dir())) or "nothing"
        raise runs.RunError(f"{folder} holds no run of racelint {identity}; there is {there}")
    section = before if before and before["racelint"] == identity else EMPTY["recall"]
    rows = {row["id"]: row for row in section["cases"]}
    new = [outcome for case_id, outcome in outcomes.items() if case_id not in rows]
    rows |= {case_id: score_row(outcome) for case_id, outcome in outcomes.items()}
    return {
        "racelint": identity,
        "lines": section["lines"] + sum(outcome.buggy.report.lines for outcome in new),
        "findings": section["findings"] + sum(outcome.buggy.shown for outcome in new),
        "cases": [row for _, row in sorted(rows.items())],
    }


def score_row(outcome: Outcome) -> dict[str, Any]:
    """Return one case's score; of a failure its kind alone, for the rest speaks of the machine."""
    score = scoring.score(outcome)
    texts = {"hidden": score.hidden, "left": score.left, "failure": score.failure.partition(":")[0]}
    row = {"id": score.case.id, "hit": score.hit, "quiet": score.quiet}
    return row | {name: text for name, text in texts.items() if text}


def precision_section(folder: pathlib.Path, pinned: list[Repository]) -> dict[str, Any]:
    """Condense what `precision.py collect --save` kept."""
    reports = collecting.load_reports(folder, pinned)
    ran = [(repository, reports[repository.name]) for repository in pinned if repository.name in reports]
    return {
        "repositories": [asdict(measured(repository, report)) for repository, report in ran],
        "findings": [
            asdict(shown(repository, found))
            for repository, report in ran
            for found in report.findings
            if runs.visible(found)
        ],
    }


def measured(repository: Repository, report: Report) -> Measured:
    """Return what is kept of one report."""
    hidden = sum(not runs.visible(found) for found in report.findings)
    about = repository.name, repository.commit, repository.language
    return Measured(*about, report.racelint, report.lines, hidden, report.errors)


def shown(repository: Repository, found: Found) -> Shown:
    """Return what is kept of one finding."""
    sides = tuple(
        (f"{side['path']}:{side['line']}", side.get("kind", ""), side.get("function") or "")
        for side in found.raw.get("accesses", ())
    )
    about = repository.name, repository.commit, found.path, found.line, found.rule, found.symbol
    return Shown(*about, found.severity, found.confidence, sides)


def load(path: pathlib.Path, every: Iterable[Case]) -> Results:
    """Read the condensed numbers; scores of cases that are no longer in the manifest are passed over."""
    data = json.loads(path.read_text(encoding="utf-8"))
    recall = data["recall"]
    known = {case.id: case for case in every}
    return Results(
        recall["racelint"],
        tuple(score_of(row, known[row["id"]]) for row in recall["cases"] if row["id"] in known),
        recall["lines"],
        recall["findings"],
        sight_of(data["precision"]),
        sight_of(data.get("first look", EMPTY["first look"])),
    )


def sight_of(section: dict[str, Any]) -> Sight:
    """Build what `precision_section` condensed from its rows."""
    return Sight(
        tuple(Measured(**row) for row in section["repositories"]),
        tuple(Shown(**row | {"sides": tuple(map(tuple, row["sides"]))}) for row in section["findings"]),
    )


def score_of(row: dict[str, Any], case: Case) -> Score:
    """Build a score from its row."""
    return Score(case, **{name: value for name, value in row.items() if name != "id"})


def save(path: pathlib.Path, **sections: dict[str, Any]) -> None:
    """Write sections, keeping those of the file that are not given, each case and finding on a line of its own."""
    path.write_text("\n".join(body({**sections_of(path), **sections})) + "\n", encoding="utf-8")


def sections_of(path: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Return the sections of the file as they stand there, or empty ones if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else EMPTY


def body(data: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the file."""
    yield "{"
    for number, (name, section) in enumerate(data.items(), start=1):
        fields = [f"    {json.dumps(key)}: {spread(value)}" for key, value in section.items()]
        yield f"  {json.dumps(name)}: {{\n" + ",\n".join(fields) + ("\n  }," if number < len(data) else "\n  }")
    yield "}"


def spread(value: Any) -> str:
    """Return a value as JSON, the items of a list on lines of their own."""
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"      {json.dumps(item, ensure_ascii=False)}" for item in value) + "\n    ]"
