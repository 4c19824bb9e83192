"""What `racelint check` does with fixes: their options, and writing them or showing them as a patch."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from racelint.cli.streams import forget
from racelint.finding import SourceError
from racelint.reporters import View

if TYPE_CHECKING:
    from racelint.extract import Progress
    from racelint.mending import Change
    from racelint.report import Report
    from racelint.rule import Rule
    from racelint.run import Request


class Outcome(NamedTuple):
    """The report (after fixes, if they were written), what fixes change, and files that could not be written."""

    report: Report
    changes: tuple[Change, ...]
    problems: tuple[SourceError, ...]


@dataclass(frozen=True, slots=True)
class Fixes:
    """All that the options say of fixes."""

    fix: bool
    unsafe: bool
    diff: bool

    def check(self, request: Request, rules: tuple[Rule, ...], progress: Progress) -> Outcome:
        """Analyse; write fixes, or show them as a patch, if that is wanted."""
        from racelint import mending, run, writing

        if not (self.fix or self.diff):
            report = run.check(request, rules, progress)
            return Outcome(replace(report, summary=replace(report.summary, unsafe_fixes=self.unsafe)), (), ())
        mended = mending.mend(request, rules, progress, unsafe=self.unsafe, to_write=not self.diff)
        if self.diff:
            return Outcome(mended.found, mended.changes, ())
        failed = {change.path: writing.replace(*change) for change in mended.changes}
        problems = [
            SourceError("unwritable", path, f"{problem}: nothing was fixed there")
            for path, problem in failed.items()
            if problem
        ]
        return Outcome(mended.report, mended.changes, (*mended.problems, *problems))


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that takes them as one argument, `fixes`."""

    @functools.wraps(command)
    def packed(*args: Any, fix: bool, unsafe_fixes: bool, diff_fixes: bool, **others: Any) -> Any:
        if fix and not diff_fixes and others.get("stdin_filename"):
            raise click.UsageError("--fix writes files: with --stdin-filename use --diff-fixes")
        return command(*args, fixes=Fixes(fix, unsafe_fixes, diff_fixes), **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed


_OPTIONS = (
    click.option("--fix", is_flag=True, help="Apply safe fixes that mend their finding and break nothing."),
    click.option("--unsafe-fixes", is_flag=True, help="Count fixes in that may change more than the finding."),
    click.option("--diff-fixes", is_flag=True, help="Print the fixes as a patch; change nothing."),
)


def print_patch(changes: Iterable[Change]) -> None:
    """Write a patch in bytes: each file has its own encoding."""
    from racelint import writing

    view = View(Path.cwd().as_posix(), lambda path: [])
    try:
        sys.stdout.flush()
        for change in changes:
            sys.stdout.buffer.writelines(writing.patch(view.path(change.path), change.before, change.after))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        forget(sys.stdout)
