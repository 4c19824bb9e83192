"""Whether a run sees enough to say that a comment is unused: a race may have its other end in what was left out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from racelint.finding import SourceError


def seen_in_part(paths: Iterable[str], errors: Iterable[SourceError]) -> frozenset[str]:
    """The languages of which only a part of a program is analysed: some folder of a package, of a Go module."""
    if any(error.kind != "unsupported" for error in errors):
        return frozenset({"python", "go"})
    folders = [Path(os.path.abspath(path)) for path in paths if os.path.isdir(path)]
    in_part = {"python" for folder in folders if _is_package(folder) and _is_package(folder.parent)}
    in_part |= {"go" for folder in folders if _is_below_module(folder)}
    return frozenset(in_part)


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _is_below_module(folder: Path) -> bool:
    above = next((each for each in (folder, *folder.parents) if (each / "go.mod").is_file()), folder)
    return above != folder
