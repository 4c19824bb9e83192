"""Standard output, standard error and files: reports whole or not at all, a closed pipe no trouble."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from racelint.errors import RacelintError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO

    from racelint.extract import Progress
    from racelint.finding import SourceError


def is_stdout(output: Path | None) -> bool:
    """Whether an output is standard output."""
    return output is None or str(output) == "-"


def deliver(text: str, output: Path | None) -> None:
    """Write to standard output or, all at once, to a file."""
    if output is None or is_stdout(output):
        write_out(text)
        return
    try:
        replace_file(output, text)
    except OSError as error:
        raise RacelintError(f"cannot write {output}: {error.strerror}") from error


def write_out(text: str) -> None:
    """Write to standard output. That its reader has seen enough is no error; the exit status still tells."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        forget(sys.stdout)


def wants_colour(choice: str, stream: TextIO) -> bool:
    """Whether to colour a stream: what the command line says, or else NO_COLOR, FORCE_COLOR and the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def replace_file(path: Path, text: str) -> None:
    """Write a file all at once, so that nobody reads half of it; a device or pipe is written as it is."""
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    from racelint.writing import write

    write(path, data)


def tell_problems(errors: Iterable[SourceError], notes: Iterable[str] = ()) -> None:
    """Tell on standard error which files failed and why, then the notes."""
    for error in errors:
        place = f"{error.path}:{error.line}:{error.column}" if error.line else error.path
        tell(f"{place}: {error.kind}: {error.message}")
    for note in notes:
        tell(note)


def tell_failures(failures: Iterable[str]) -> None:
    """Tell on standard error which rules crashed: what they would have found is not known."""
    for failure in failures:
        tell(f"racelint: error: {failure}")


@contextmanager
def verbosely(wanted: bool) -> Iterator[None]:
    """Show on standard error what is logged, if it is wanted."""
    if not wanted:
        yield
        return
    import logging

    from racelint.log import log

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("racelint: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)


class ProgressBar:
    """A bar on standard error while files are read, if somebody is there to see it."""

    def __init__(self, wanted: bool, colour: str = "auto") -> None:
        # pre-commit gives hooks a terminal of its own making, and prints afterwards what they have written there.
        self._wanted = wanted and sys.stderr.isatty() and "PRE_COMMIT" not in os.environ
        self._colour = colour

    def __enter__(self) -> Progress:
        if not self._wanted:
            return lambda done, total: None
        from rich.console import Console
        from rich.progress import Progress

        # No refresh thread: worker processes are forked while the bar is shown.
        console = Console(stderr=True, no_color=not wants_colour(self._colour, sys.stderr))
        self._bar = Progress(console=console, transient=True, auto_refresh=False)
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
    write_out(f"{text}\n")


def tell(text: str) -> None:
    """Write a line to standard error, if anybody still reads it."""
    try:
        click.echo(text, err=True)
    except BrokenPipeError:
        forget(sys.stderr)


def forget(stream: TextIO) -> None:
    """Let what is still to be written, and the interpreter's last flush, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
