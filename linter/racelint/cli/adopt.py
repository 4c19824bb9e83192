"""What makes racelint fit an existing code base: comments for all that is found, a baseline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from racelint import texts
from racelint.cli.options import FOUND, UNABLE
from racelint.cli.streams import ProgressBar, tell, tell_failures, tell_problems
from racelint.errors import RacelintError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racelint.baseline import Baseline
    from racelint.changes import Changes
    from racelint.cli.outputs import Shape
    from racelint.config import Settings
    from racelint.rule import Rule
    from racelint.run import Request


def baseline_of(settings: Settings) -> Baseline | None:
    """The baseline that is set. Raises BaselineError."""
    from racelint.baseline import read

    return read(settings.baseline) if settings.baseline else None


def changes_of(base: str | None, paths: tuple[str, ...]) -> Changes | None:
    """What has changed since `--diff BASE`. Raises DiffError."""
    if base is None:
        return None
    from racelint.changes.git import changes_since
    from racelint.languages import front_ends

    return changes_since(base, paths, tuple(front_ends()))


def add_ignores(request: Request, rules: Sequence[Rule], reason: str, shape: Shape) -> int:
    """Write a comment for each finding that is shown. Exit status: 0, 1 if some have none, 2 if a rule crashed."""
    from racelint import run
    from racelint.comment_rules import NAMES
    from racelint.languages import front_ends
    from racelint.reporters import View
    from racelint.suppress.adding import add_ignores as add

    if any(texts.is_unsaved(os.path.abspath(path)) for path in request.paths):
        raise RacelintError("--add-ignores writes into files, and --stdin-filename has none")
    if not reason.strip():
        raise RacelintError('--add-ignores needs a reason, as in --add-ignores "not yet looked at"')
    with ProgressBar(shape.progress, shape.colour) as progress:
        analysed = run.analyse(request, progress)
        report = run.judge(request, analysed, rules)
    about_comments = [finding for finding in report.findings if finding.rule in NAMES]
    findings = [finding for finding in report.findings if finding.rule not in NAMES]
    added = add(findings, reason.strip(), analysed.sources, front_ends())
    view = View(Path.cwd().as_posix(), run.text_lines)
    for finding in (*about_comments, *added.left):
        place = f"{view.path(finding.location.path)}:{finding.location.line}"
        tell(f"{place}: no comment for {finding.rule}: {finding.message}")
    tell_problems(report.errors, () if shape.quiet else report.notes)
    tell_failures(report.failed)
    if not shape.quiet:
        comments = f"{added.comments} comment{'' if added.comments == 1 else 's'}"
        tell(f"wrote {comments} in {added.files} file{'' if added.files == 1 else 's'}")
    return UNABLE if report.failed else FOUND if about_comments or added.left else 0
