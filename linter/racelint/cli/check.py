"""`racelint check`: analyse, and report what the rules find."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from racelint.cli.options import FILE, FOUND, PACKS
from racelint.cli.streams import ProgressBar, deliver, tell_problems

if TYPE_CHECKING:
    from racelint.config import Settings
    from racelint.report import Report
    from racelint.rule import Rule
    from racelint.run import Request

FORMATS = ("text", "json")
SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")
MEMORY_MODELS = ("gil", "free-threaded")


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True))
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file.")
@click.option("--select", metavar="RULE", multiple=True, help="Run these rules only (repeat, or separate by commas).")
@click.option("--ignore", metavar="RULE", multiple=True, help="Do not run these rules, besides those configured.")
@click.option("--min-severity", type=click.Choice(SEVERITIES), help="Show findings from here up [warning].")
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Likewise [medium].")
@click.option("--fail-on", type=click.Choice((*SEVERITIES, "never")), help="Exit with 1 from here up [warning].")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes [as many as pay].")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--config", type=FILE, help="Use this file instead of searching for one.")
@PACKS
@click.option("--trust-packs", is_flag=True, help="Load packs that the analysed tree's configuration names.")
@click.option("--tests", is_flag=True, help="Report on tests, generated and vendored files too.")
@click.option("--python-memory-model", type=click.Choice(MEMORY_MODELS), help="How Python runs [gil].")
@click.option("--unknowns", is_flag=True, help="List what has no meaning yet, with rows to paste, and no findings.")
@click.option("--no-progress", "-q", "quiet", is_flag=True, help="Show no progress and no notes.")
def check(
    paths: tuple[str, ...], format_: str, output: Path | None, select: tuple[str, ...], ignore: tuple[str, ...],
    min_severity: str | None, min_confidence: str | None, fail_on: str | None, jobs: int | None, no_cache: bool,
    config: Path | None, packs: tuple[Path, ...], trust_packs: bool, tests: bool,
    python_memory_model: str | None, unknowns: bool, quiet: bool,
) -> int:  # fmt: skip
    """Analyse directories (each with all that lies below) or files (each as part of its project); default is ".".

    Exit status: 0 nothing found at or above --fail-on, 1 findings, 2 racelint could not do its work.
    """
    import time

    from racelint import cache, plugins, run
    from racelint.config import load

    started = time.perf_counter()
    paths = paths or (".",)
    settings = load(paths, config, trust_packs=trust_packs)
    settings = _override(settings, select, ignore, min_severity, min_confidence, fail_on, tests)
    settings = _with_memory_model(settings, python_memory_model)
    loaded = plugins.load((*settings.packs, *packs))
    rules = plugins.choose(loaded, settings.select, settings.ignore)
    kept = None if no_cache else cache.Cache(cache.default_directory())
    request = run.Request(paths, loaded, settings, jobs, kept)
    if unknowns:
        return _list_unknowns(request, format_, output, quiet)
    with ProgressBar(quiet) as progress:
        report = run.check(request, rules, progress)
    _write(report, format_, output, rules, time.perf_counter() - started)
    if not quiet:
        tell_problems(report.errors, report.notes)
    failing = [finding for finding in report.findings if settings.fail_on and finding.severity >= settings.fail_on]
    return FOUND if failing else 0


def _list_unknowns(request: Request, format_: str, output: Path | None, quiet: bool) -> int:
    """Write what the analysis could not resolve. It is no finding: the exit status is 0."""
    from racelint import run
    from racelint.reporters import View
    from racelint.reporters import unknowns as reporter

    with ProgressBar(quiet) as progress:
        analysed = run.analyse(request, progress)
    write = reporter.write_json if format_ == "json" else reporter.write_text
    view = View(Path.cwd().as_posix(), run.text_lines)
    deliver(lambda stream: write(analysed.program.to_do(), view, stream), output)
    if not quiet:
        tell_problems(analysed.errors)
    return 0


def _override(
    settings: Settings, select: tuple[str, ...], ignore: tuple[str, ...], min_severity: str | None,
    min_confidence: str | None, fail_on: str | None, tests: bool,
) -> Settings:  # fmt: skip
    """Settings with what the command line says on top; --ignore adds to what is configured, the rest replaces it."""
    from dataclasses import replace

    from racelint.config import parse_confidence, parse_fail_on, parse_severity

    return replace(
        settings,
        select=_names(select) or settings.select,
        ignore=(*settings.ignore, *_names(ignore)),
        min_severity=parse_severity(min_severity) if min_severity else settings.min_severity,
        min_confidence=parse_confidence(min_confidence) if min_confidence else settings.min_confidence,
        fail_on=parse_fail_on(fail_on) if fail_on else settings.fail_on,
        tests=tests or settings.tests,
    )


def _with_memory_model(settings: Settings, name: str | None) -> Settings:
    from dataclasses import replace

    from racelint.config import parse_memory_model

    return replace(settings, python_memory_model=parse_memory_model(name)) if name else settings


def _names(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for value in values for part in value.split(",") if (name := part.strip()))


def _write(report: Report, format_: str, output: Path | None, rules: tuple[Rule, ...], seconds: float) -> None:
    import shutil

    from racelint.reporters import View, reporters
    from racelint.run import text_lines

    width = max(60, min(shutil.get_terminal_size().columns, 120))
    view = View(Path.cwd().as_posix(), text_lines, {rule.name: rule.summary for rule in rules}, seconds, width)
    deliver(lambda stream: reporters()[format_](report, view, stream), output)
