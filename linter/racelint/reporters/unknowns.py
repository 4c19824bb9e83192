"""The to-do list of unknowns, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from racelint.reporters import View
from racelint.reporters.excerpt import clean
from racelint.unknown import Unknown

VERSION = 1
NOTHING = "nothing unknown: every callee that is given a callable, every context manager and receiver has a meaning"


def write_text(unknowns: Sequence[Unknown], view: View, stream: TextIO) -> None:
    """Write the list for people to read and paste from."""
    if not unknowns:
        stream.write(f"{NOTHING}\n")
    for each in unknowns:
        place = f"{view.path(each.location.path)}:{each.location.line}"
        stream.write(clean(f"{each.count:5}  {each.kind:8}  {each.name}  {place}") + "\n")
        stream.writelines(f"                 {clean(line)}\n" for line in each.row.splitlines())


def write_json(unknowns: Sequence[Unknown], view: View, stream: TextIO) -> None:
    """Write the list as one JSON object."""
    rows = [
        {
            "kind": each.kind,
            "name": each.name,
            "count": each.count,
            "path": view.path(each.location.path),
            "line": each.location.span.line,
            "column": each.location.span.column,
            "row": each.row,
        }
        for each in unknowns
    ]
    json.dump({"version": VERSION, "unknowns": rows}, stream, indent=2)
    stream.write("\n")
