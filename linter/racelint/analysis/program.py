"""The linked program: what rules ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from racelint.model import Source


@dataclass(frozen=True)
class Program:
    """All analysed sources, linked. `sources` is sorted by path."""

    sources: tuple[Source, ...]


def link(sources: Iterable[Source]) -> Program:
    """Link sources into one program; the order in which they come does not matter."""
    return Program(tuple(sorted(sources, key=lambda source: source.path)))
