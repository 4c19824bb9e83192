"""What the analysis could not resolve, in records that reporters understand: a to-do list of missing knowledge."""

from __future__ import annotations

from dataclasses import dataclass

from racelint.finding import Location


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something of unknown meaning, met `count` times, first at `location`.

    `kind` is "callable" (a callee that was given a callable: what runs it, and beside what?), "with" (a context
    manager: does it exclude others?) or "receiver" (an object whose methods change shared state, of unknown type).
    `row` is what to paste: a knowledge row, or the declaration that is missing.
    """

    kind: str
    name: str
    count: int
    location: Location
    row: str
