"""Tables as text and as Markdown; the first row is the heading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Row = Sequence[str]


def aligned(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table in aligned columns."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    for number, row in enumerate(rows):
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |"
        if not number:
            yield "|" + "---|" * len(row)
