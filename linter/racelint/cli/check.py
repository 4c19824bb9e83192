"""`racelint check`: analyse, and report what the rules find."""

from __future__ import annotations

import functools
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from racelint import texts
from racelint.cli import adopt, fixing, outputs
from racelint.cli.completion import rule_names
from racelint.cli.options import FILE, FOUND, PACKS, UNABLE
from racelint.cli.settings import settings_of
from racelint.cli.streams import ProgressBar, deliver, tell_failures, tell_problems, verbosely
from racelint.reporters import View

if TYPE_CHECKING:
    from racelint.report import Report
    from racelint.rule import Rule
    from racelint.run import Request

UNKNOWNS_AS = ("text", "json")
SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")
MEMORY_MODELS = ("gil", "free-threaded")
_rules_option = functools.partial(click.option, metavar="RULE", multiple=True, shell_complete=rule_names)


@click.command(cls=outputs.Command)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@outputs.options
@fixing.options
@_rules_option("--select", help="Run these rules only (repeat, or separate by commas).")
@_rules_option("--ignore", help="Do not run these rules, besides those configured.")
@click.option("--min-severity", type=click.Choice(SEVERITIES), help="Show findings from here up [warning].")
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Likewise [medium].")
@click.option("--fail-on", type=click.Choice((*SEVERITIES, "never")), help="Exit with 1 from here up [warning].")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes [as many as pay].")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--config", type=FILE, help="Use this file instead of searching for one.")
@PACKS
@click.option("--trust-packs", is_flag=True, help="Load packs that the analysed tree's configuration names.")
@click.option("--tests", is_flag=True, help="Report on tests, generated and vendored files too.")
@click.option("--force-exclude", is_flag=True, help="Leave named files out like those of a directory (for hooks).")
@click.option("--python-memory-model", type=click.Choice(MEMORY_MODELS), help="How Python runs [gil].")
@click.option("--unknowns", is_flag=True, help="List what has no meaning yet, with rows to paste, and no findings.")
@click.option("--diff", metavar="BASE", help="Report only what the lines changed since git's BASE concern.")
@click.option("--baseline", metavar="FILE", type=click.Path(path_type=Path), help="Report only what is not in it.")
@click.option("--no-baseline", is_flag=True, help="Report what is in the configured baseline, too.")
@click.option("--add-ignores", metavar="REASON", help="Silence all that is found by comments in the sources.")
@click.option("--stdin-filename", metavar="FILE", help="Report on this file, its text taken from standard input.")
def check(
    paths: tuple[str, ...], shape: outputs.Shape, fixes: fixing.Fixes, select: tuple[str, ...], ignore: tuple[str, ...],
    min_severity: str | None, min_confidence: str | None, fail_on: str | None, jobs: int | None, no_cache: bool,
    config: Path | None, packs: tuple[Path, ...], trust_packs: bool, tests: bool,
    force_exclude: bool, python_memory_model: str | None, unknowns: bool, diff: str | None, baseline: Path | None,
    no_baseline: bool, add_ignores: str | None, stdin_filename: str | None,
) -> int:  # fmt: skip
    """Analyse directories (each with all that lies below) or files (each as part of its project); default is ".".

    Exit status: 0 nothing found at or above --fail-on (or all of it fixed), 1 findings, 2 racelint could not do its
    work.
    """
    import time

    from racelint import cache, plugins, run
    from racelint.policy import rules_of

    started = time.perf_counter()
    paths, unsaved = _named(paths, stdin_filename)
    settings = settings_of(paths, click.get_current_context().params)
    loaded = plugins.load(settings.packs)
    rules = rules_of(settings, loaded)
    kept = None if no_cache else cache.Cache(cache.default_directory())
    known = None if no_baseline else adopt.baseline_of(settings)
    changes = adopt.changes_of(diff, paths)
    request = run.Request(
        paths, loaded, settings, jobs, kept, baseline=known, changes=changes, force_exclude=force_exclude
    )
    with verbosely(shape.verbose), texts.unsaved(unsaved):
        if shape.verbose:
            _tell_terms(request, config, rules)
        if unknowns:
            return _list_unknowns(request, shape)
        if add_ignores is not None:
            return adopt.add_ignores(request, rules, add_ignores, shape)
        with ProgressBar(shape.progress, shape.colour) as progress:
            report, edited, unwritable = fixes.check(request, rules, progress)
        if fixes.diff:
            fixing.print_patch(edited)
            shape = shape.beside_patch()
        notes = _write(report, shape, rules, started)
    tell_problems((*report.errors, *unwritable), () if shape.quiet else (*report.notes, *notes))
    tell_failures(report.failed)
    failing = [finding for finding in report.findings if settings.fail_on and finding.severity >= settings.fail_on]
    return UNABLE if unwritable or report.failed else FOUND if failing else 0


def _named(paths: tuple[str, ...], stdin_filename: str | None) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """The paths to analyse, and the text that standard input holds, by its path."""
    others = [path for path in paths if path != "-"]
    if stdin_filename is None:
        if len(others) < len(paths):
            raise click.UsageError("standard input needs --stdin-filename FILE, to know what it is part of")
        return paths or (".",), {}
    if others:
        raise click.UsageError(f"--stdin-filename takes no other path than it names, not {others[0]}")
    if os.path.isdir(stdin_filename):
        raise click.UsageError(f"--stdin-filename {stdin_filename} is a directory")
    return (stdin_filename,), {Path(os.path.abspath(stdin_filename)).as_posix(): sys.stdin.buffer.read()}


def _list_unknowns(request: Request, shape: outputs.Shape) -> int:
    """Write what the analysis could not resolve. It is no finding: the exit status is 0."""
    from racelint import run
    from racelint.reporters import unknowns as reporter

    (target, *more) = shape.targets
    if more or target.format not in UNKNOWNS_AS:
        raise click.UsageError(f"--unknowns has one format, {' or '.join(UNKNOWNS_AS)}")
    with ProgressBar(shape.progress, shape.colour) as progress:
        analysed = run.analyse(request, progress)
    write = reporter.write_json if target.format == "json" else reporter.write_text
    text = io.StringIO()
    write(analysed.program.to_do(), View(Path.cwd().as_posix(), run.text_lines), text)
    deliver(text.getvalue(), target.output)
    tell_problems(analysed.errors)
    return 0


def _tell_terms(request: Request, config: Path | None, rules: tuple[Rule, ...]) -> None:
    """Log under which terms the run goes: the files that decide, and what is asked of what."""
    import platform

    from racelint import __version__
    from racelint.cache import default_directory
    from racelint.config import find, user_file
    from racelint.log import log

    own = [user_file()] if user_file().is_file() else []
    files = [str(file) for file in (*own, config or find(request.paths)) if file]
    log.info("racelint %s, Python %s", __version__, platform.python_version())
    log.info("configuration: %s", ", then ".join(files) or "none, all is as built in")
    log.info("rules: %s", ", ".join(rule.name for rule in rules) or "none")
    log.info("cache: %s", default_directory() if request.cache else "not used")
    log.info("analysing %s", ", ".join(request.paths))


def _write(report: Report, shape: outputs.Shape, rules: tuple[Rule, ...], started: float) -> list[str]:
    """Write the report in all its formats; what some of them had to leave out comes back."""
    import shutil
    import time

    from racelint.log import log, phase
    from racelint.run import text_lines

    seconds = time.perf_counter() - started
    width = max(60, min(shutil.get_terminal_size().columns, 120))
    summaries, pages = {rule.name: rule.summary for rule in rules}, {rule.name: rule.page for rule in rules}

    def view(target: outputs.Target) -> View:
        return View(
            outputs.base_of(target.format), text_lines, summaries, seconds, width, pages,
            colour=shape.shows_colour(target), quiet=shape.quiet, statistics=shape.statistics,
        )  # fmt: skip

    with phase("writing the report"):
        notes = shape.write(report, view)
    log.info("%d findings, %.2f s in all", len(report.findings), time.perf_counter() - started)
    return notes
