"""Applies edits to text."""

from __future__ import annotations

from collections.abc import Iterable

from racelint.errors import RacelintError
from racelint.finding import Edit


class OverlapError(RacelintError):
    """Two edits of the same characters: applying both would be a guess."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits (equal ones count once). Raises OverlapError."""
    starts = _line_starts(text)
    stretches = sorted(
        {
            (starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1, edit.text)
            for edit in edits
            for span in (edit.location.span,)
        }
    )
    parts, position = list[str](), 0
    for start, end, replacement in stretches:
        if start < position:
            raise OverlapError(f"two fixes change the same text before {text[start:end]!r}")
        parts += (text[position:start], replacement)
        position = end
    return "".join((*parts, text[position:]))


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
