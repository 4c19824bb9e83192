#!/usr/bin/env python3
"""Shows which real bugs racelint reports before their fix, and on which it is silent after it.

The cases stand in cases.json. A case is hit if a finding of an accepted rule that racelint shows by default (or at the
level asked for) names its symbol or stands within three lines of it, and quiet if after the fix none names its symbol.
The exit status is 0 whatever the shares are, and 2 if a case could not be measured.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import sys
import tempfile
from collections.abc import Iterator

import cases
import clones
import recall
import runs
import scoring
import tables
from cases import Case
from scoring import Outcome, Score

EVERYTHING = runs.level_options(runs.SEVERITIES[0], runs.CONFIDENCES[0])


def measure_all(chosen: list[Case], options: argparse.Namespace) -> list[Outcome]:
    """Measure the cases, but those that `--save` keeps from earlier runs of the same racelint."""
    identity = runs.identity(options.project, options.revision)
    known = scoring.kept(options.save, identity, chosen) if options.save else {}
    done = {name: outcome for name, outcome in known.items() if not outcome.failure}
    todo = [case for case in chosen if case.id not in done]
    for outcome in run(todo, identity, options) if todo else ():
        done[outcome.case.id] = outcome
    return [done[case.id] for case in chosen]


def run(todo: list[Case], identity: str, options: argparse.Namespace) -> list[Outcome]:
    """Run racelint on the cases, and keep each outcome as soon as it is there."""
    where = clones.from_options(options)
    with tempfile.TemporaryDirectory(prefix="racelint-") as scratch:
        engine = runs.checkout(options.revision, pathlib.Path(scratch, "engine"), options, EVERYTHING)

        def one(case: Case) -> Outcome:
            outcome = scoring.measure(case, where, engine)
            if options.save:
                scoring.save(options.save, identity, outcome)
            return outcome

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            return list(pool.map(one, todo))


def as_text(outcomes: list[Outcome], scores: list[Score]) -> str:
    """Return the table, then a line for each case that falls short, then the sums."""
    lines = list(tables.aligned([recall.HEADING, *(tally.cells for tally in recall.by_pattern(scores))]))
    short = [(score.case, recall.shortcoming(score)) for score in scores]
    lines += ["", *(f"{case.id}: {words} [{case.scope}, {case.symbol}]" for case, words in short if words)]
    found, loc = sum(o.buggy.shown for o in outcomes), sum(o.buggy.report.lines for o in outcomes)
    return "\n".join([*lines, "", f"{found} findings in {loc / 1000:.0f} kLOC before the fixes"])


def as_json(outcomes: list[Outcome], scores: list[Score]) -> str:
    """Return each case's score for other programs."""
    rows = [
        {"case": score.case.id, "hit": score.hit, "quiet": score.quiet, "hidden": score.hidden, "left": score.left}
        | {"failure": score.failure, "findings": outcome.buggy.shown, "lines": outcome.buggy.report.lines}
        for outcome, score in zip(outcomes, scores, strict=True)
    ]
    return json.dumps(rows, indent=2)


FORMATS = {"text": as_text, "json": as_json}


def remarks(every: list[Case], outcomes: list[Outcome]) -> Iterator[str]:
    """Yield what a reader of the shares has to know."""
    yield from (f"{case.id}: excepted: {case.excepted}" for case in every if case.excepted)
    for outcome in outcomes:
        before, after = outcome.buggy.report.errors, outcome.fixed.report.errors if outcome.fixed else 0
        if outcome.failure:
            yield f"{outcome.case.id}: {outcome.failure}"
        elif before or after:
            yield f"{outcome.case.id}: not analysed, before the fix {before}, after it {after} files"


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = top.add_argument_group("cases")
    group.add_argument("--cases", type=pathlib.Path, default=cases.FILE, metavar="FILE", help="the manifest")
    group.add_argument(
        "--only", default="", metavar="REGEX", help="those whose id, repository, lang or pattern matches"
    )
    group.add_argument("--save", type=pathlib.Path, metavar="DIR", help="keep each outcome there, and go on from it")
    top.add_argument("--revision", default=".", help="revision of racelint; . is the working tree")
    top.add_argument("--format", choices=FORMATS, default="text")
    clones.add_places(top)
    runs.add_options(top)
    return top


def main() -> int:
    """Print the scores; return the exit status."""
    options = parser().parse_args()
    try:
        every = cases.load(options.cases, options.only)
        outcomes = measure_all([case for case in every if not case.excepted], options)
    except (cases.CaseError, runs.RunError, OSError) as error:
        print(f"score: {error}", file=sys.stderr)
        return 2
    level = options.min_severity, options.min_confidence
    scores = [scoring.score(outcome, lambda found: runs.visible(found, *level)) for outcome in outcomes]
    print(FORMATS[options.format](outcomes, scores))
    for remark in remarks(every, outcomes):
        print(f"score: {remark}", file=sys.stderr)
    return 2 if not outcomes or any(outcome.failure for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
