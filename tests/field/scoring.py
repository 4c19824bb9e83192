"""One case measured: racelint on both sides of a fix, what of it concerns the bug, and where that is kept."""

from __future__ import annotations

import json
import pathlib
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import cases
import clones
import runs
from cases import Case
from clones import Clones
from runs import Engine, Found, Report

NO_SOURCES, NO_REPORT = "no sources", "no report"
Shows = Callable[[Found], bool]


@dataclass(frozen=True, slots=True)
class Side:
    """One run: the findings of every level that concern the case, and how many are shown of all."""

    report: Report = field(default_factory=Report)
    shown: int = 0

    def dump(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {"shown": self.shown} | self.report.dump()

    @classmethod
    def of(cls, data: dict[str, Any]) -> Side:
        """Build one from what `dump` returned."""
        return cls(runs.load_report(data), data["shown"])


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both runs of one case, or why there is none; a bug that nobody has mended yet has no `fixed`."""

    case: Case
    buggy: Side = field(default_factory=Side)
    fixed: Side | None = None
    failure: str = ""

    def dump(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        sides = {"buggy": self.buggy.dump(), "fixed": self.fixed and self.fixed.dump()}
        return {"case": self.case.id, "facts": self.case.facts, "failure": self.failure} | sides


@dataclass(frozen=True, slots=True)
class Score:
    """What one case came to: reported before the fix, silent on it after, and what there is to say if not."""

    case: Case
    hit: bool
    quiet: bool
    hidden: str = ""  # what is reported before the fix, but not shown
    left: str = ""  # what is still shown after it
    failure: str = ""

    @property
    def both(self) -> bool:
        """Whether it was found, and the fix was understood."""
        return self.hit and self.quiet


def measure(case: Case, where: Clones, engine: Engine) -> Outcome:
    """Run racelint on both sides; a failure is an outcome, so that the others are still measured."""
    try:
        buggy = run_side(case, case.buggy, where, engine)
        return Outcome(case, buggy, run_side(case, case.fixed, where, engine) if case.fixed else None)
    except (clones.CloneError, OSError) as error:
        return Outcome(case, failure=f"{NO_SOURCES}: {error}")
    except runs.RunError as error:
        return Outcome(case, failure=f"{NO_REPORT}: {error}")


def run_side(case: Case, commit: str, where: Clones, engine: Engine) -> Side:
    """Run racelint on one commit, and keep what concerns the case; a file that the clone lacks is not analysed."""
    missing: list[str] = []
    with tempfile.TemporaryDirectory(prefix="score-") as scratch:
        tree = pathlib.Path(scratch)
        git_dir = where.holding(case.repo, commit)
        lines = clones.export(git_dir, commit, tree, case.lang, case.paths, case.base, missing)
        if needed := sorted(set(missing) & set(case.places)):
            raise clones.CloneError(f"{git_dir} lacks {', '.join(needed)} of {commit}")
        report = engine.check(tree)
    kept = cases.concerning(report.findings, case, lines=commit == case.buggy)
    errors = report.errors + len(missing)
    return Side(replace(report, findings=kept, lines=lines, errors=errors), sum(map(runs.visible, report.findings)))


def score(outcome: Outcome, shows: Shows = runs.visible) -> Score:
    """Judge an outcome at one level; what could not be measured is neither found nor understood."""
    case = outcome.case
    if outcome.failure:
        return Score(case, hit=False, quiet=False, failure=outcome.failure)
    seen = outcome.buggy.report.findings
    left = [found for found in (outcome.fixed.report.findings if outcome.fixed else ()) if shows(found)]
    hit = any(map(shows, seen))
    hidden = "" if hit or not seen else told(min(seen, key=rank))
    return Score(case, hit, not left, hidden, told(min(left, key=rank)) if left else "")


def rank(found: Found) -> tuple[int, int, str, int]:
    """Order findings, those that racelint is surest of first."""
    return -runs.CONFIDENCES.index(found.confidence), -runs.SEVERITIES.index(found.severity), found.path, found.line


def told(found: Found) -> str:
    """Return a finding in few words."""
    return f"{found.rule} ({found.severity}, {found.confidence} confidence) at {found.where}"


def path_of(folder: pathlib.Path, identity: str, case: Case) -> pathlib.Path:
    """Return where the outcome of a case with one state of racelint is kept."""
    return folder / identity / f"{case.id}.json"


def save(folder: pathlib.Path, identity: str, outcome: Outcome) -> None:
    """Keep an outcome."""
    path = path_of(folder, identity, outcome.case)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")  # an interrupted run leaves no half of an outcome
    beside.write_text(json.dumps(outcome.dump(), indent=1) + "\n", encoding="utf-8")
    beside.replace(path)


def kept(folder: pathlib.Path, identity: str, every: Iterable[Case]) -> dict[str, Outcome]:
    """Read the outcomes of one state of racelint by case, but those of cases that have been changed since."""
    found = {}
    for case in every:
        path = path_of(folder, identity, case)
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if data.get("facts") == case.facts:
            fixed = Side.of(data["fixed"]) if data["fixed"] else None
            found[case.id] = Outcome(case, Side.of(data["buggy"]), fixed, data["failure"])
    return found
