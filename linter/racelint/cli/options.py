"""What several commands share: kinds of options, and the exit statuses."""

from __future__ import annotations

from pathlib import Path

import click

FOUND, UNABLE, INTERRUPTED = 1, 2, 130  # exit status beside 0

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
PACKS = click.option(
    "--pack",
    "packs",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="Load rules from a folder or file (runs its code).",
)
