#!/usr/bin/env python3
"""Shows what a change of racelint gains and loses on the pinned repositories, as mypy_primer does for mypy.

OLD and NEW are git revisions of this repository; `.` is the working tree and, for OLD, `empty` finds nothing.
Lines start with `+` for a finding gained, `-` for one lost and `~` for one whose severity or confidence changed.
The exit status is 0 whatever the difference is, and 2 if a run fails.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field

import clones
import runs
import tables
from clones import Clones, Repository
from runs import Engine, Found, Report

Pair = tuple[Found, Found]
KEYS: tuple[Callable[[Found], Hashable], ...] = (
    lambda found: (found.fingerprint, found.line),
    lambda found: (found.rule, found.path, found.line, found.symbol),  # reworded, or an equal one before it is gone
    lambda found: found.fingerprint,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """What two reports on one repository do not share."""

    gained: list[Found] = field(default_factory=list)
    lost: list[Found] = field(default_factory=list)
    changed: list[Pair] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both runs on one repository, or the reason why there is none."""

    name: str
    lines: int = 0
    old: Report = field(default_factory=Report)
    new: Report = field(default_factory=Report)
    difference: Difference = field(default_factory=Difference)
    failure: str = ""

    @property
    def counts(self) -> str:
        """How many findings were gained, lost and changed."""
        return f"+{len(self.difference.gained)} -{len(self.difference.lost)} ~{len(self.difference.changed)}"


def compare(old: Iterable[Found], new: Iterable[Found]) -> Difference:
    """Match findings by fingerprint and by place, so that neither a moved line nor other words are a difference."""
    lost, gained, pairs = list(old), list(new), []
    for key in KEYS:
        more, lost, gained = match(lost, gained, key)
        pairs += more
    changed = [(a, b) for a, b in pairs if (a.severity, a.confidence) != (b.severity, b.confidence)]
    return Difference(sorted(gained), sorted(lost), sorted(changed))


def match(
    old: list[Found], new: list[Found], key: Callable[[Found], Hashable]
) -> tuple[list[Pair], list[Found], list[Found]]:
    """Pair findings of equal key one to one; return the pairs and what is left of both sides."""
    waiting: dict[Hashable, list[Found]] = defaultdict(list)
    for found in reversed(old):
        waiting[key(found)].append(found)
    pairs, left = [], []
    for found in new:
        if waiting[key(found)]:
            pairs.append((waiting[key(found)].pop(), found))
        else:
            left.append(found)
    return pairs, [found for rest in waiting.values() for found in rest], left


def measure(repository: Repository, where: Clones, old: Engine, new: Engine) -> Outcome:
    """Run both engines on one repository; a failure is an outcome, so that the others are still measured."""
    try:
        with tempfile.TemporaryDirectory(prefix="primer-") as scratch:
            tree = pathlib.Path(scratch)
            git_dir = where.holding(repository.name, repository.commit)
            lines = clones.export(git_dir, repository.commit, tree, repository.language, repository.paths)
            before, after = old.check(tree), new.check(tree)
    except (clones.CloneError, runs.RunError, OSError) as error:
        return Outcome(repository.name, failure=str(error))
    return Outcome(repository.name, lines, before, after, compare(before.findings, after.findings))


def differences(outcome: Outcome) -> Iterator[str]:
    """Yield the lines that tell one repository's difference, in order of place."""
    rows = [(found, "+", found.severity) for found in outcome.difference.gained]
    rows += [(found, "-", found.severity) for found in outcome.difference.lost]
    rows += [(new, "~", f"{level(old)}->{level(new)}") for old, new in outcome.difference.changed]
    for found, sign, severity in sorted(rows):
        yield f"{sign} {outcome.name} {found.where} {severity} {found.rule} {found.message}"


def level(found: Found) -> str:
    """Name severity and confidence together."""
    return f"{found.severity}/{found.confidence}"


def summary(outcomes: list[Outcome]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table that ends a report: a heading, the repositories, the total."""
    yield ("repository", "kLOC", "old", "new", "difference", "old s", "new s")
    total = Outcome("all")
    for outcome in outcomes:
        yield row(outcome)
        total = add(total, outcome)
    yield row(total)


def row(outcome: Outcome) -> tuple[str, ...]:
    """Return one repository's row of the table."""
    if outcome.failure:
        return (outcome.name, "", "", "", "failed", "", "")
    old, new = outcome.old, outcome.new
    return (
        outcome.name,
        f"{outcome.lines / 1000:.1f}",
        str(len(old.findings)),
        str(len(new.findings)),
        outcome.counts,
        f"{old.seconds:.1f}",
        f"{new.seconds:.1f}",
    )


def add(one: Outcome, other: Outcome) -> Outcome:
    """Return two outcomes as one, for totals."""
    a, b = one.difference, other.difference
    both = Difference(a.gained + b.gained, a.lost + b.lost, a.changed + b.changed)
    return Outcome(one.name, one.lines + other.lines, joined(one.old, other.old), joined(one.new, other.new), both)


def joined(one: Report, other: Report) -> Report:
    """Return two reports as one, for totals."""
    return Report(one.findings + other.findings, one.errors + other.errors, one.seconds + other.seconds)


def as_text(outcomes: list[Outcome]) -> str:
    """Return the differences, then the table in aligned columns."""
    lines = [line for outcome in outcomes for line in differences(outcome)]
    return "\n".join([*lines, "", *tables.aligned(summary(outcomes))]).lstrip("\n")


def as_markdown(outcomes: list[Outcome]) -> str:
    """Return the table and, folded below it, the differences: fit for a comment on a change."""
    lines = [line for outcome in outcomes for line in differences(outcome)]
    folded = ["<details><summary>differences</summary>", "", "```diff", *lines, "```", "", "</details>"]
    return "\n".join([*tables.markdown(summary(outcomes)), "", *(folded if lines else ["No difference."])])


def as_json(outcomes: list[Outcome]) -> str:
    """Return everything that was measured, for other programs."""
    return json.dumps(
        [
            {
                "repository": outcome.name,
                "lines": outcome.lines,
                "failure": outcome.failure,
                "gained": [found.raw for found in outcome.difference.gained],
                "lost": [found.raw for found in outcome.difference.lost],
                "changed": [{"old": a.raw, "new": b.raw} for a, b in outcome.difference.changed],
                **{
                    side: {
                        "findings": len(report.findings),
                        "errors": report.errors,
                        "seconds": round(report.seconds, 2),
                    }
                    for side, report in (("old", outcome.old), ("new", outcome.new))
                },
            }
            for outcome in outcomes
        ],
        indent=2,
    )


FORMATS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def measure_all(options: argparse.Namespace) -> list[Outcome]:
    """Check out both revisions once and run them on each chosen repository."""
    chosen = [r for r in clones.pinned(options.repositories, options.only) if r.primer or options.all]
    where = clones.from_options(options)
    with tempfile.TemporaryDirectory(prefix="racelint-") as scratch:
        passed = runs.level_options(options.min_severity, options.min_confidence)
        old = runs.checkout(options.old, pathlib.Path(scratch, "old"), options, passed)
        new = runs.checkout(options.new, pathlib.Path(scratch, "new"), options, passed)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            return list(pool.map(lambda repository: measure(repository, where, old, new), chosen))


def main() -> int:
    """Print the difference between two revisions; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--all", action="store_true", help="all pinned repositories, not the primer's ten only")
    clones.add_options(parser)
    runs.add_options(parser)
    options = parser.parse_args()
    try:
        outcomes = measure_all(options)
    except runs.RunError as error:
        print(f"primer: {error}", file=sys.stderr)
        return 2
    print(FORMATS[options.format](outcomes))
    for outcome in outcomes:
        if outcome.failure:
            print(f"primer: {outcome.name}: {outcome.failure}", file=sys.stderr)
        elif outcome.old.errors or outcome.new.errors:
            print(
                f"primer: {outcome.name}: not analysed, old {outcome.old.errors}, new {outcome.new.errors} files",
                file=sys.stderr,
            )
    return 2 if not outcomes or any(outcome.failure for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
