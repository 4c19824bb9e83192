"""The command line: the only module that prints or exits. Heavy imports stand inside the commands that need them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from racelint import __version__
from racelint.errors import RacelintError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from racelint.config import Settings
    from racelint.extract import Progress
    from racelint.finding import SourceError
    from racelint.mending import Change
    from racelint.plugins import Pack
    from racelint.report import Report
    from racelint.rule import Rule
    from racelint.run import Request

FORMATS = ("text", "json")
SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")
MEMORY_MODELS = ("gil", "free-threaded")
FOUND, UNABLE, INTERRUPTED = 1, 2, 130  # exit status beside 0

_PACKS = click.option(
    "--pack",
    "packs",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="Load rules from a folder or file (runs its code).",
)
_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def main() -> NoReturn:
    """Run the command line and exit: 0 clean, 1 findings, 2 could not do its work."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # file names and sources hold what a terminal cannot show
    sys.exit(_status())


def _status() -> int:
    try:
        return int(cli.main(prog_name="racelint", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except RacelintError as error:
        _tell(f"racelint: error: {error}")
    except BrokenPipeError:
        _forget_stdout()
    except Exception:
        import traceback

        traceback.print_exc()
        _tell("racelint: error: this is a bug in racelint; please report it with the lines above")
    return UNABLE


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="racelint")
def cli() -> None:
    """Find concurrency bugs: shared writes, mutated cache objects, containers changed while iterated."""


@cli.command()
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
@click.option("--config", type=_FILE, help="Use this file instead of searching for one.")
@_PACKS
@click.option("--trust-packs", is_flag=True, help="Load packs that the analysed tree's configuration names.")
@click.option("--tests", is_flag=True, help="Report on tests, generated and vendored files too.")
@click.option("--python-memory-model", type=click.Choice(MEMORY_MODELS), help="How Python runs [gil].")
@click.option("--unknowns", is_flag=True, help="List what has no meaning yet, with rows to paste, and no findings.")
@click.option("--fix", is_flag=True, help="Apply safe fixes that mend their finding and break nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="Count fixes in that may change more than the finding.")
@click.option("--diff-fixes", is_flag=True, help="Print the fixes as a patch; change nothing.")
@click.option("--no-progress", "-q", "quiet", is_flag=True, help="Show no progress and no notes.")
def check(
    paths: tuple[str, ...], format_: str, output: Path | None, select: tuple[str, ...], ignore: tuple[str, ...],
    min_severity: str | None, min_confidence: str | None, fail_on: str | None, jobs: int | None, no_cache: bool,
    config: Path | None, packs: tuple[Path, ...], trust_packs: bool, tests: bool,
    python_memory_model: str | None, unknowns: bool, fix: bool, unsafe_fixes: bool, diff_fixes: bool, quiet: bool,
) -> int:  # fmt: skip
    """Analyse directories (each with all that lies below) or files (each as part of its project); default is ".".

    Exit status: 0 nothing found at or above --fail-on (or all of it fixed), 1 findings, 2 racelint could not do its
    work.
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
    with _Progress(quiet) as progress:
        report, changes, unwritable = _check(request, rules, progress, fix, unsafe_fixes, diff_fixes)
    if diff_fixes:
        _print_patch(changes)
    if not diff_fixes or output is not None:
        _write(report, format_, output, rules, time.perf_counter() - started)
    if not quiet:
        _tell_problems(report.errors, report.notes)
    _tell_problems(unwritable)
    failing = [finding for finding in report.findings if settings.fail_on and finding.severity >= settings.fail_on]
    return UNABLE if unwritable else FOUND if failing else 0


def _check(
    request: Request, rules: tuple[Rule, ...], progress: Progress, fix: bool, unsafe_fixes: bool, diff_fixes: bool
) -> tuple[Report, tuple[Change, ...], tuple[SourceError, ...]]:
    """The report, what fixes change (it is written, and what they mend not reported, if it is so wanted), problems."""
    from dataclasses import replace

    from racelint import mending, run, writing
    from racelint.finding import SourceError

    if not (fix or diff_fixes):
        report = run.check(request, rules, progress)
        return replace(report, summary=replace(report.summary, unsafe_fixes=unsafe_fixes)), (), ()
    mended = mending.mend(request, rules, progress, unsafe=unsafe_fixes, to_write=not diff_fixes)
    problems = list(mended.problems)
    failed = {} if diff_fixes else {change.path: writing.replace(*change) for change in mended.changes}
    problems += [
        SourceError("unwritable", path, f"{problem}: nothing was fixed there")
        for path, problem in failed.items()
        if problem
    ]
    return mended.found if diff_fixes else mended.report, mended.changes, tuple(problems)


def _print_patch(changes: Iterable[Change]) -> None:
    """Write a patch in bytes: each file has its own encoding."""
    from racelint import writing
    from racelint.reporters import View

    view = View(Path.cwd().as_posix(), lambda path: [])
    try:
        sys.stdout.flush()
        for change in changes:
            sys.stdout.buffer.writelines(writing.patch(view.path(change.path), change.before, change.after))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _forget_stdout()


def _list_unknowns(request: Request, format_: str, output: Path | None, quiet: bool) -> int:
    """Write what the analysis could not resolve. It is no finding: the exit status is 0."""
    from racelint import run
    from racelint.reporters import View
    from racelint.reporters import unknowns as reporter

    with _Progress(quiet) as progress:
        analysed = run.analyse(request, progress)
    write = reporter.write_json if format_ == "json" else reporter.write_text
    view = View(Path.cwd().as_posix(), run.text_lines)
    _deliver(lambda stream: write(analysed.program.to_do(), view, stream), output)
    if not quiet:
        _tell_problems(analysed.errors)
    return 0


@cli.command()
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@_PACKS
def rules(format_: str, packs: tuple[Path, ...]) -> int:
    """List the rules, the installed packs' included."""
    from racelint import plugins

    loaded = plugins.load(packs)
    listed = [(rule, pack) for pack in loaded for rule in pack.rules]
    if format_ == "json":
        import json

        _print(json.dumps([_as_json(rule, pack) for rule, pack in listed], indent=2))
        return 0
    width = max((len(rule.name) for rule, _ in listed), default=0)
    for rule, pack in listed:
        origin = "" if pack.name == plugins.BUILTIN else f"  [{pack.origin}]"
        _print(f"{rule.name:<{width}}  {rule.summary}{origin}")
    return 0


@cli.command()
@click.argument("target", metavar="RULE|FILE:LINE")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--root", type=_DIRECTORY, help="Analyse FILE with this directory [its project].")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--config", type=_FILE, help="Use this file instead of searching for one.")
@_PACKS
@click.option("--trust-packs", is_flag=True, help="Load packs that the analysed tree's configuration names.")
def explain(
    target: str, format_: str, root: Path | None, no_cache: bool, config: Path | None, packs: tuple[Path, ...],
    trust_packs: bool,
) -> int:  # fmt: skip
    """Show a rule's manual page, or what the analysis believes at a line: contexts, locks, places, why (not) reported.

    Exit status: 0, 1 if nothing is known of the line, 2 racelint could not do its work.
    """
    if not _is_spot(target):
        return _explain_rule(target, format_, packs)
    from racelint import cache, explaining, plugins, run
    from racelint.config import load

    file, line = _spot(target)
    settings = load((file,), config, trust_packs=trust_packs)
    loaded = plugins.load((*settings.packs, *packs))
    kept = None if no_cache else cache.Cache(cache.default_directory())
    request = run.Request((file,), loaded, settings, cache=kept, root=root.as_posix() if root else None)
    rules = plugins.choose(loaded, settings.select, settings.ignore)
    explanation = explaining.explain(request, Path(os.path.abspath(file)).as_posix(), line, rules)
    if explanation is None:
        _tell(f"{file}:{line}: nothing is known of this line: no statement starts there")
        return FOUND
    from racelint.reporters import View
    from racelint.reporters import explanation as reporter

    write = reporter.write_json if format_ == "json" else reporter.write_text
    write(explanation, View(Path.cwd().as_posix(), run.text_lines), sys.stdout)
    sys.stdout.flush()
    return 0


def _is_spot(target: str) -> bool:
    """Whether a file and a line are meant, however badly written, and no rule."""
    return any(mark in target for mark in (":", "/", os.sep, ".")) or os.path.exists(target)


def _spot(target: str) -> tuple[str, int]:
    """The file and the line; a column behind them, as reports print it, does not matter."""
    match = re.fullmatch(r"(.+?):([0-9]{1,9})(:[0-9]+)?:?", target)
    if not match:
        raise RacelintError(f"{target} is no rule and no FILE:LINE; write a line number, as in src/watcher.py:42")
    if not os.path.isfile(match[1]):
        raise RacelintError(f"{match[1]}: no such file")
    return match[1], int(match[2])


def _explain_rule(rule: str, format_: str, packs: tuple[Path, ...]) -> int:
    from racelint import plugins

    (found,) = plugins.choose(plugins.load(packs), [rule])
    if format_ == "json":
        import json

        _print(json.dumps({"name": found.name, "languages": list(found.languages), "page": found.page}, indent=2))
        return 0
    since = f", since {found.since}" if found.since else ""
    _print(f"{found.name} ({', '.join(found.languages)}{since})\n\n{found.page}")
    return 0


def _as_json(rule: Rule, pack: Pack) -> dict[str, object]:
    return {
        "name": rule.name,
        "summary": rule.summary,
        "languages": list(rule.languages),
        "since": rule.since,
        "pack": pack.name,
        "distribution": pack.distribution,
    }


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
    _deliver(lambda stream: reporters()[format_](report, view, stream), output)


def _deliver(write: Callable[[TextIO], None], output: Path | None) -> None:
    """Write to standard output or, all at once, to a file."""
    if output is None or str(output) == "-":
        try:
            write(sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read has seen enough; the exit status still tells
            _forget_stdout()
        return
    import io

    text = io.StringIO()
    write(text)
    try:
        _replace(output, text.getvalue())
    except OSError as error:
        raise RacelintError(f"cannot write {output}: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    """Write a file all at once, so that nobody reads half of it; a device or pipe is written as it is."""
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _tell_problems(errors: Iterable[SourceError], notes: Iterable[str] = ()) -> None:
    for error in errors:
        place = f"{error.path}:{error.line}:{error.column}" if error.line else error.path
        _tell(f"{place}: {error.kind}: {error.message}")
    for note in notes:
        _tell(note)


class _Progress:
    """A bar on standard error while files are read, if somebody is there to see it."""

    def __init__(self, quiet: bool) -> None:
        self._wanted = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        if not self._wanted:
            return lambda done, total: None
        from rich.console import Console
        from rich.progress import Progress

        # No refresh thread: worker processes are forked while the bar is shown.
        self._bar = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
        self._bar.start()
        task = self._bar.add_task("Reading", total=None)

        def show(done: int, total: int) -> None:
            self._bar.update(task, completed=done, total=total, refresh=done % 16 == 0 or done == total)

        return show

    def __exit__(self, *exception: object) -> None:
        if self._wanted:
            self._bar.stop()


def _print(text: str) -> None:
    click.echo(text)


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
