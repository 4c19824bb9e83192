"""Standard output, standard error and files: reports whole or not at all, a closed pipe no trouble."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from racelint.errors import RacelintError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from racelint.extract import Progress
    from racelint.finding import SourceError


def deliver(write: Callable[[TextIO], None], output: Path | None) -> None:
    """Write to standard output or, all at once, to a file."""
    if output is None or str(output) == "-":
        try:
            write(sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read has seen enough; the exit status still tells
            forget_stdout()
        return
    import io

    text = io.StringIO()
    write(text)
    try:
        replace_file(output, text.getvalue())
    except OSError as error:
        raise RacelintError(f"cannot write {output}: {error.strerror}") from error


def replace_file(path: Path, text: str) -> None:
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


def tell_problems(errors: Iterable[SourceError], notes: Iterable[str] = ()) -> None:
    """Tell on standard error which files failed and why, then the notes."""
    for error in errors:
        place = f"{error.path}:{error.line}:{error.column}" if error.line else error.path
        tell(f"{place}: {error.kind}: {error.message}")
    for note in notes:
        tell(note)


class ProgressBar:
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


def print_(text: str) -> None:
    """Write a line to standard output."""
    click.echo(text)


def tell(text: str) -> None:
    """Write a line to standard error."""
    click.echo(text, err=True)


def forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
