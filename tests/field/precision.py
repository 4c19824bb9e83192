#!/usr/bin/env python3
"""Shows how many findings in real code are right, from the verdicts in triage.json, and helps to collect more.

    precision.py [show]                    precision by rule and severity, and by repository
    precision.py collect > todo.jsonl      findings that nobody has judged yet, with the code around them
    precision.py add todo.jsonl            keep those whose `verdict` and `reason` were filled in

A verdict is `true` (a bug worth mending), `benign` (it can happen and does no harm) or `wrong`; only `true` counts as
right. What racelint hides by default is left out unless --min-severity and --min-confidence ask for it.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import clones
import collecting
import runs
import triage
from runs import Found, Graded
from shares import wilson
from triage import Verdict


def table(title: str, verdicts: Iterable[Verdict], group: Callable[[Verdict], str]) -> Iterator[str]:
    """Yield the precision of each group of verdicts and of all of them."""
    yield f"{title:38}  judged   true  benign  wrong  precision  95 % interval"
    pairs = [(group(verdict), verdict.verdict) for verdict in verdicts]
    for name, counts in [*triage.counted(pairs), ("all", Counter(word for _, word in pairs))]:
        judged = counts.total()
        low, high = wilson(counts["true"], judged)
        share = f"{counts['true'] / judged:9.0%}" if judged else f"{'-':>9}"
        yield (
            f"{name:38}  {judged:6}  {counts['true']:5}  {counts['benign']:6}  {counts['wrong']:5}  {share}"
            f"  {low:6.0%} to {high:.0%}"
        )


def show(options: argparse.Namespace) -> int:
    """Print precision, of all verdicts or of those whose finding is in the reports of `--run`."""
    chosen = clones.pinned(options.repositories, options.only)
    names = {repository.name for repository in chosen}
    verdicts = [verdict for verdict in triage.load(options.triage) if verdict.repository in names]
    note = ""
    if options.run:
        found = collecting.current(chosen, collecting.load_reports(options.run, chosen))
        verdicts = [graded(verdict, found[verdict.key]) for verdict in verdicts if verdict.key in found]
        note = f" on {sum(visible(each, options) for each in found.values())} findings of the reports"
    counted = [verdict for verdict in verdicts if visible(verdict, options)]
    sections = (
        table("rule, severity", counted, lambda verdict: f"{verdict.rule}, {verdict.severity}"),
        table("confidence", counted, lambda verdict: verdict.confidence),
        table("repository", counted, lambda verdict: verdict.repository),
        [f"{len(counted)} verdicts{note}; {len(verdicts) - len(counted)} more are below the level looked at"],
    )
    print("\n\n".join("\n".join(section) for section in sections))
    return 0


def graded(verdict: Verdict, found: Found) -> Verdict:
    """Return a verdict with the severity and confidence of now; the file remembers those of its day."""
    return replace(verdict, severity=found.severity, confidence=found.confidence)


def visible(item: Graded, options: argparse.Namespace) -> bool:
    """Tell whether a finding is at or above the level looked at."""
    return runs.visible(item, options.min_severity, options.min_confidence)


def collect(options: argparse.Namespace) -> int:
    """Print findings without a verdict, and tell of verdicts without a finding on standard error."""
    chosen = clones.pinned(options.repositories, options.only)
    where = clones.from_options(options)
    reports = (
        collecting.load_reports(options.run, chosen) if options.run else collecting.run_all(chosen, where, options)
    )
    verdicts = triage.load(options.triage)
    for repository, found in collecting.unjudged(chosen, reports, verdicts):
        if visible(found, options):
            print(FORMATS[options.format](collecting.todo(repository, found, where, verdicts)))
    for verdict in collecting.stale(chosen, reports, verdicts):
        what = f"{verdict.repository} {verdict.path}:{verdict.line} {verdict.rule} {verdict.symbol}"
        print(f"stale: {what} ({verdict.verdict})", file=sys.stderr)
    missing = [repository.name for repository in chosen if repository.name not in reports]
    if missing:
        print(f"precision: no report on {', '.join(missing)}", file=sys.stderr)
    return 2 if missing else 0


def as_text(entry: dict[str, Any]) -> str:
    """Return an entry to judge for reading: what is claimed, the code, both sides, earlier verdicts."""
    heading = "{repository} {path}:{line} {severity} ({confidence}) {rule} {symbol}".format(**entry)
    claims = [f"  {name:9}{entry[name]}" for name in ("message", "because", "harm", "function") if entry.get(name)]
    similar = [f"  {'similar':9}{verdict}" for verdict in entry["similar"]]
    sides = [line for access in entry["accesses"] for line in access_as_text(access)]
    return "\n".join([heading, *claims, *similar, *entry["excerpt"], *sides, ""])


def access_as_text(access: dict[str, Any]) -> list[str]:
    """Return one side of a finding for reading: where, by which context, holding what, and the way there."""
    context = access.get("context") or {}
    way = [f"{step['function']} {place(step)}" for step in access.get("trace") or ()]
    facts = [
        f"  {access.get('kind', 'access')} {place(access)} in {access.get('function', '?')}",
        f"{context.get('kind', '?')} started at {place(context.get('started_at'))}",
        f"locks {', '.join(access.get('locks') or ()) or 'none'}",
    ]
    return ["; ".join(facts), *([f"    via {' -> '.join(way)}"] if way else []), *access["excerpt"]]


def place(spot: dict[str, Any] | None) -> str:
    """Return `path:line` of anything that has both."""
    return f"{spot['path']}:{spot['line']}" if spot else "?"


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {"jsonl": json.dumps, "text": as_text}


def add(options: argparse.Namespace) -> int:
    """Append verdicts from JSON lines, checked and in order."""
    source = sys.stdin if str(options.lines) == "-" else options.lines.open(encoding="utf-8")
    with source:
        new = triage.parse_lines(source.read())
    known = {repository.name for repository in clones.pinned(options.repositories)}
    if unknown := sorted({verdict.repository for verdict in new} - known):
        raise triage.TriageError(f"not among the pinned repositories: {', '.join(unknown)}")
    triage.save(options.triage, triage.merge(triage.load(options.triage), new, options.replace))
    print(f"{len(new)} verdicts kept", file=sys.stderr)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in (show, collect, add):
        sub = commands.add_parser(command.__name__, help=(command.__doc__ or "").strip())
        sub.set_defaults(command=command)
        sub.add_argument("--triage", type=pathlib.Path, default=triage.FILE, metavar="FILE", help="the verdicts")
        clones.add_options(sub)
        if command is add:
            sub.add_argument("lines", type=pathlib.Path, metavar="FILE", help="JSON lines; - is standard input")
            sub.add_argument("--replace", action="store_true", help="let new verdicts overrule old ones")
            continue
        runs.add_options(sub)
        sub.add_argument("--run", type=pathlib.Path, metavar="REPORTS", help="reports kept by collect --save")
        if command is collect:
            sub.add_argument("--save", type=pathlib.Path, metavar="REPORTS", help="keep the reports there")
            sub.add_argument("--revision", default=".", help="revision of racelint; . is the working tree")
            sub.add_argument("--format", choices=FORMATS, default="jsonl")
    return top


def main() -> int:
    """Run one command; return the exit status: 0, or 2 if something could not be done."""
    options = parser().parse_args(sys.argv[1:] or ["show"])
    try:
        return int(options.command(options))
    except (triage.TriageError, runs.RunError, clones.CloneError, OSError) as error:
        print(f"precision: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
