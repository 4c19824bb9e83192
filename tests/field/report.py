#!/usr/bin/env python3
"""Makes FIELD.md: which real bugs racelint finds, and how much of what it says of mature code is right.

    report.py                                              from results.json, cases.json and triage.json as they are
    report.py --recall build/recall --precision build/reports     from new runs; results.json is written anew first
    report.py --fresh build/fresh                          likewise from a run on repositories of the last first look
    report.py --check                                      say whether the page is the one that they make

The runs are those of `score.py --save` and `precision.py collect --save`. Exits 1 if --check finds another page, and 2
if a run cannot be read.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import cases
import clones
import page
import results
import runs
import triage

FILE = clones.HERE / "FIELD.md"
LOOKED = clones.HERE / "first_looks.json"


def made() -> str:
    """Return the page that the files of this folder make."""
    every = cases.load(cases.FILE)
    verdicts = [*triage.load(triage.FILE), *triage.load(LOOKED)]
    return page.text(results.load(results.FILE, every), every, verdicts)


def condense(options: argparse.Namespace) -> None:
    """Write results.json anew from the runs that are given."""
    sections = {}
    if options.recall:
        named = (options.recall / options.revision).is_dir() and options.revision != "."
        identity = options.revision if named else runs.identity(options.project, options.revision)
        before = results.sections_of(results.FILE)["recall"]
        sections["recall"] = results.recall_section(options.recall, identity, cases.load(cases.FILE), before)
    if options.precision:
        pinned = clones.pinned(clones.HERE / "repositories.json")
        sections["precision"] = results.precision_section(options.precision, pinned)
    if options.fresh:
        looked = clones.pinned(clones.HERE / "fresh_repositories.json")
        sections["first look"] = results.precision_section(options.fresh, looked)
    if sections:
        results.save(results.FILE, **sections)


def checked() -> int:
    """Say whether the page is up to date; return the exit status."""
    if FILE.read_text(encoding="utf-8") == made():
        return 0
    print(f"report: {FILE.name} is out of date: run python tests/field/report.py", file=sys.stderr)
    return 1


def main() -> int:
    """Write the page; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recall", type=pathlib.Path, metavar="DIR", help="runs kept by score.py --save")
    parser.add_argument("--precision", type=pathlib.Path, metavar="DIR", help="reports kept by precision.py collect")
    parser.add_argument(
        "--fresh", type=pathlib.Path, metavar="DIR", help="reports likewise, of first_looks_repositories"
    )
    parser.add_argument("--revision", default=".", help="whose recall is meant: a revision, or a folder of DIR")
    parser.add_argument("--project", type=pathlib.Path, default=runs.PROJECT, help="repository of that revision")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    try:
        if options.check:
            return checked()
        condense(options)
        FILE.write_text(made(), encoding="utf-8")
    except (cases.CaseError, runs.RunError, triage.TriageError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
