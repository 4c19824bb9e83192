"""Applies edits to text, and puts fixes of several findings together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Set

from racelint.errors import RacelintError
from racelint.finding import Edit, Fix
from racelint.span import Span


class OverlapError(RacelintError):
    """Two edits of the same characters: applying both would be a guess."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits (equal ones count once). Raises OverlapError."""
    starts = _line_starts(text)
    stretches = sorted({(*_stretch(starts, edit.location.span), edit.text) for edit in edits})
    parts, position, inserted = list[str](), 0, -1
    for start, end, replacement in stretches:
        if start < position or start == inserted:
            raise OverlapError(f"two fixes change the same text before {text[start:end]!r}")
        parts += (text[position:start], replacement)
        position, inserted = end, start if start == end else -1
    return "".join((*parts, text[position:]))


def rewrite(data: bytes, encoding: str, edits: Iterable[Edit]) -> bytes | None:
    """A file after edits, in its encoding, with its line ends; None if that cannot hold them. Raises OverlapError."""
    try:
        text = data.decode(encoding)
        if text.encode(encoding) != data or "\r" in text.replace("\r\n", ""):
            return None  # compilers count a lone carriage return as a line end, editors do not
        return apply(text, edits).encode(encoding)
    except (UnicodeError, LookupError, IndexError):
        return None


class Chosen:
    """Edits that can be applied together: none changes text that another one changes, or inserts at its start."""

    def __init__(self) -> None:
        self._edits: dict[str, list[tuple[Span, str]]] = {}  # by path, sorted

    @property
    def paths(self) -> Set[str]:
        """The files that are changed."""
        return self._edits.keys()

    def add(self, fix: Fix) -> bool:
        """Take a fix with all its edits if it collides with none before; equal edits count once."""
        if any(self._collides(edit) for edit in fix.edits):
            return False
        for edit in fix.edits:
            edits, own = self._edits.setdefault(edit.location.path, []), (edit.location.span, edit.text)
            at = bisect_left(edits, own)
            if at == len(edits) or edits[at] != own:
                edits.insert(at, own)
        return True

    def _collides(self, edit: Edit) -> bool:
        edits, own = self._edits.get(edit.location.path, []), (edit.location.span, edit.text)
        at = bisect_left(edits, own)
        if at < len(edits) and edits[at] == own:
            return False
        near = edits[max(at - 1, 0) : at + 1]
        return any(_overlap(span, edit.location.span) for span, _ in near)


def _overlap(one: Span, other: Span) -> bool:
    return one[:2] == other[:2] or (one[:2] < other[2:] and other[:2] < one[2:])


def _stretch(starts: list[int], span: Span) -> tuple[int, int]:
    return starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
