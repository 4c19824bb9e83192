"""Findings in the pinned repositories: collected by running racelint or from kept reports, and set beside verdicts."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import clones
import runs
import triage
from clones import Clones, Repository
from runs import Engine, Found, Report
from triage import Key, Verdict

Reports = dict[str, Report]
EVERYTHING = runs.level_options(runs.SEVERITIES[0], runs.CONFIDENCES[0])
AROUND = 6  # lines of code shown on each side of a finding


def current(chosen: Iterable[Repository], reports: Reports) -> dict[Key, Found]:
    """Return the findings of the reports by what a verdict on them would be about."""
    return {
        triage.key_of(repository, found): found
        for repository in chosen
        if repository.name in reports
        for found in reports[repository.name].findings
    }


def load_reports(folder: pathlib.Path, chosen: Iterable[Repository]) -> Reports:
    """Read the reports that `collect --save` wrote, if they are of the pinned commits."""
    reports = {}
    for repository in chosen:
        path = report_path(folder, repository)
        if path.exists():
            reports[repository.name] = runs.load_report(json.loads(path.read_text(encoding="utf-8")))
    if not reports:
        raise runs.RunError(f"{folder} holds no report on the pinned commits: write some with collect --save")
    return reports


def save_report(folder: pathlib.Path, repository: Repository, report: Report) -> None:
    """Keep a report for `--run`."""
    folder.mkdir(parents=True, exist_ok=True)
    body = json.dumps(report.dump(), indent=1)
    report_path(folder, repository).write_text(body + "\n", encoding="utf-8")


def report_path(folder: pathlib.Path, repository: Repository) -> pathlib.Path:
    """Return where the report of one pinned repository is kept."""
    return folder / f"{repository.name.replace('/', '+')}@{repository.commit[:12]}.json"


def run_all(chosen: list[Repository], where: Clones, options: argparse.Namespace) -> Reports:
    """Run one revision of racelint on each repository; a failure is told and leaves that repository out.

    Each report is kept as soon as it is there, if they are to be kept.
    """
    with tempfile.TemporaryDirectory(prefix="racelint-") as scratch:
        engine = runs.checkout(options.revision, pathlib.Path(scratch, "engine"), options, EVERYTHING)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            reports = pool.map(lambda repository: run_one(repository, where, engine, options.save), chosen)
            return {r.name: report for r, report in zip(chosen, reports, strict=True) if report is not None}


def run_one(repository: Repository, where: Clones, engine: Engine, kept: pathlib.Path | None) -> Report | None:
    """Run racelint on one repository; a file that the clone lacks is told and not analysed."""
    missing: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="precision-") as scratch:
            tree = pathlib.Path(scratch)
            git_dir = where.holding(repository.name, repository.commit)
            what = (repository.commit, tree, repository.language, repository.paths)
            lines = clones.export(git_dir, *what, missing=missing)
            report = engine.check(tree)
            report = replace(report, lines=lines, errors=report.errors + len(missing))
            if missing:
                print(f"precision: {repository.name}: the clone lacks {', '.join(missing)}", file=sys.stderr)
            if kept:
                save_report(kept, repository, report)
            return report
    except (clones.CloneError, runs.RunError, OSError) as error:
        print(f"precision: {repository.name}: {error}", file=sys.stderr)
        return None


def unjudged(
    chosen: Iterable[Repository], reports: Reports, verdicts: Iterable[Verdict]
) -> Iterator[tuple[Repository, Found]]:
    """Yield the findings that have no verdict at this very commit."""
    judged = {verdict.key for verdict in verdicts}
    for repository in chosen:
        for found in reports.get(repository.name, Report()).findings:
            if triage.key_of(repository, found) not in judged:
                yield repository, found


def stale(chosen: Iterable[Repository], reports: Reports, verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts on repositories that were run whose finding is gone, or whose commit is not pinned now."""
    ran = [repository for repository in chosen if repository.name in reports]
    keys = current(ran, reports)
    names = {repository.name for repository in ran}
    return [v for v in verdicts if v.repository in names and v.key not in keys]


def todo(repository: Repository, found: Found, where: Clones, verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """Return a finding as an entry to judge: the fields of a verdict, two of them open, and what helps to decide."""
    near = [
        f"{v.verdict} at line {v.line}: {v.reason}"
        for v in verdicts
        if (v.repository, v.path, v.rule) == (repository.name, found.path, found.rule)
        and (v.symbol == found.symbol or v.line == found.line)
    ]
    git_dir = where.holding(repository.name, repository.commit)
    return {
        "repository": repository.name,
        "commit": repository.commit,
        "path": found.path,
        "line": found.line,
        "rule": found.rule,
        "symbol": found.symbol,
        "severity": found.severity,
        "confidence": found.confidence,
        "verdict": "",
        "reason": "",
        **{name: found.raw[name] for name in ("message", "function", "because", "harm") if name in found.raw},
        "excerpt": excerpt(git_dir, repository.commit, found.path, found.line),
        "accesses": [
            access | {"excerpt": [] if here else excerpt(git_dir, repository.commit, access["path"], access["line"])}
            for access in found.raw.get("accesses", ())
            for here in [(access["path"], access["line"]) == (found.path, found.line)]
        ],
        "similar": near,
    }


def excerpt(git_dir: pathlib.Path, commit: str, path: str, line: int) -> list[str]:
    """Return the code around a line, numbered, the line itself marked."""
    try:
        lines = clones.source(git_dir, commit, path)
    except clones.CloneError as error:
        return [str(error)]  # an access may stand in a file that is not the repository's
    first, last = max(1, line - AROUND), min(len(lines), line + AROUND)
    return [f"{'>' if n == line else ' '}{n:5} | {lines[n - 1]}" for n in range(first, last + 1)]
