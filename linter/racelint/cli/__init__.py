"""The command line: the only package that prints or exits. Heavy imports stand inside the commands that need them."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from racelint import __version__
from racelint.cli import check, explain
from racelint.cli.options import INTERRUPTED, UNABLE
from racelint.cli.streams import forget_stdout, tell
from racelint.errors import RacelintError


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
        tell(f"racelint: error: {error}")
    except BrokenPipeError:
        forget_stdout()
    except Exception:
        import traceback

        traceback.print_exc()
        tell("racelint: error: this is a bug in racelint; please report it with the lines above")
    return UNABLE


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="racelint")
def cli() -> None:
    """Find concurrency bugs: shared writes, mutated cache objects, containers changed while iterated."""


cli.add_command(check.check)
cli.add_command(explain.rules)
cli.add_command(explain.explain)
