"""Where something stands in a source file."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of text: lines and columns count characters from 1, the end is exclusive (as in an editor)."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, inner: Span) -> bool:
        """Whether another stretch lies in this one, or is the same."""
        return self[:2] <= inner[:2] and inner[2:] <= self[2:]


class Location(NamedTuple):
    """A span in a file. The path is absolute with forward slashes; reporters shorten it."""

    path: str
    span: Span

    @property
    def line(self) -> int:
        """The first line, from 1."""
        return self.span.line
