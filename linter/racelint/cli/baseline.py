"""`racelint baseline`: write down what is found today, so that `check` reports only what is new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from racelint.cli.check import check
from racelint.cli.settings import RUN, request_of, take_options
from racelint.cli.streams import ProgressBar, tell, tell_problems

_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True))
@click.option("--output", type=_OUTPUT, help="The baseline [as configured, or racelint-baseline.jsonl].")
@click.option("--prune", is_flag=True, help="Only delete what is not found any more; add nothing.")
def baseline(paths: tuple[str, ...], output: Path | None, prune: bool, **options: Any) -> int:
    """Write what `check` reports now to a file, one finding a line; `check --baseline FILE` reports what is not in it.

    An existing baseline is brought up to date: what is new is added, what is gone deleted, and what this run does not
    look at (other paths, other rules) stays. Exit status: 0, 2 racelint could not do its work.
    """
    from racelint import run
    from racelint.baseline import NAME, Baseline, read, text
    from racelint.writing import write

    request, rules = request_of(paths or (".",), options)
    file = output or request.settings.baseline or Path(NAME)
    before = read(file) if prune or file.exists() else Baseline(file)
    with ProgressBar(options["progress"] and not options["quiet"], options["colour"]) as progress:
        analysed = run.analyse(request, progress)
        found = run.sort_out(request, analysed, rules)
    if found.failed:
        raise run.RuleError(found.failed[0])  # the file would lack what that rule has found before
    compared = found.compared(before)
    gone = set(compared.stale)
    kept = [entry for entry in before.entries if entry not in gone]
    known = {entry.fingerprint for entry in kept}
    added = [] if prune else [e for e in before.entries_of(found.shown) if e.fingerprint not in known]
    write(file, text((*kept, *added)).encode())
    tell_problems(analysed.errors, () if options["quiet"] else found.notes)
    if not options["quiet"]:
        count = len({*kept, *added})
        tell(f"{file}: {count} {'entry' if count == 1 else 'entries'} ({len(added)} new, {len(gone)} gone)")
        if request.settings.baseline is None and not output:
            tell(f'`racelint check` uses it if the configuration says baseline = "{NAME}", or with --baseline {file}')
    return 0


take_options(baseline, check, tuple(name for name in RUN if name != "fail_on"))
