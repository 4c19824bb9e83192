"""Spots: accesses in the entry states of their functions, pairs of them that may collide, and why others do not."""

from __future__ import annotations

import enum
from typing import NamedTuple

from racelint.analysis.contexts import Entry
from racelint.analysis.effects import WRITES, Access, Act
from racelint.analysis.places import Located, Place
from racelint.span import Location


class Silence(enum.Enum):
    """Why two accesses of one place are no race, or why one access is not compared with others at all."""

    HARMLESS = "harmless"  # each is one step in Python, or nothing depends on the order
    SAME_LOCK = "same lock"
    ONE_CONTEXT = "one context"  # it does not run beside itself
    ONE_LOOP = "one event loop"  # tasks switch at suspensions only
    CALLERS = "callers"  # callers from outside are taken to call one at a time
    OWNED = "owned"  # fresh, or each context's own object
    APART = "apart"  # two objects
    ORDERED = "ordered"  # before the first start, or after the join
    UNKNOWN = "unknown"  # whose it is, or what runs it
    UNREACHED = "unreached"  # by no context


class Spot(NamedTuple):
    """An access (or an act that depends on a check) in one entry state of its function."""

    function: str
    located: Located
    access: Access | Act
    entry: Entry
    locks: frozenset[str]
    receiver: int
    before: str = ""  # the function before whose first start it happens
    constructor: str = ""  # the constructor that is still at work on the method's own instance

    @property
    def is_write(self) -> bool:
        """Whether it changes the place."""
        return self.access.kind in WRITES


class Pair(NamedTuple):
    """Two accesses that may collide: `shape` says how, `evidence` why they are known to run in parallel.

    Shapes: "resize-iterate", "update-update", "update-store", "update-reset", "check-act", "check-use", "lost-wakeup",
    "replace-change", "store-test", "store-store", "shift-iterate" (a list), "count-count", "step-step"
    (counted by constants, for people), "hand-out", "overwritten", "late" (first stored when the reader has been
    started), "missed-call".
    `evidence` is "contexts", "documented" or "admitted" (two callers, of a type that says or shows
    that they may), "late-lock" (a lock that is made when it is missing),
    "late-local" (so is a place for what each thread has of its own), "guard" (held at `held` of
    `total` accesses) or "hollow" (`guard` is given back as soon as it is taken).
    """

    place: Place
    first: Spot
    second: Spot
    shape: str
    evidence: str
    confidence: int  # 1 low, 2 medium, 3 high
    guard: str = ""
    held: int = 0
    total: int = 0
    said: Location | None = None  # the comment that names the guard
    alike: tuple[Place, ...] = ()  # other fields of the type that one function reads and the same contexts race for


def sides_of(pair: Pair) -> frozenset[tuple[str, int]]:
    """The functions and lines of both sides."""
    return frozenset([(spot.function, spot.access.span.line) for spot in (pair.first, pair.second)])
