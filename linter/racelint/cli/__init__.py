"""The command line: the only package that prints or exits. Heavy imports stand inside the commands that need them."""

from __future__ import annotations

import io
import signal
import sys
from typing import NoReturn

import click

from racelint import __version__
from racelint.cli import baseline, check, completion, config, explain
from racelint.cli.options import INTERRUPTED, UNABLE
from racelint.cli.streams import tell
from racelint.errors import RacelintError


def main() -> NoReturn:
    """Run the command line and exit: 0 clean, 1 findings, 2 could not do its work, 130 interrupted."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python has it; see __main__
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # file names and sources hold what a terminal cannot show
    status = _status()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left is cleaning up
    sys.exit(status)


def _status() -> int:
    try:
        return int(cli.main(prog_name="racelint", standalone_mode=False) or 0)
    except click.ClickException as error:
        tell(_shown(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _stop_workers()
        # Below `python -m`, CPython ends by SIGINT if the last code that it ran from text (as dataclasses do) ended in
        # an interrupt, whether or not that was caught.
        exec("")
        return INTERRUPTED
    except RacelintError as error:
        tell(f"racelint: error: {error}")
    except Exception:
        import traceback

        tell(traceback.format_exc())
        tell("racelint: error: this is a bug in racelint; please report it with the lines above")
    return UNABLE


def _shown(error: click.ClickException) -> str:
    text = io.StringIO()
    error.show(text)
    return text.getvalue().rstrip("\n")


def _stop_workers() -> None:
    if "multiprocessing" in sys.modules:
        import multiprocessing

        for worker in multiprocessing.active_children():
            worker.terminate()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="racelint")
def cli() -> None:
    """Find concurrency bugs: shared writes, mutated cache objects, containers changed while iterated."""


cli.add_command(check.check)
cli.add_command(baseline.baseline)
cli.add_command(config.config)
cli.add_command(explain.rules)
cli.add_command(explain.explain)
cli.add_command(completion.completion)
