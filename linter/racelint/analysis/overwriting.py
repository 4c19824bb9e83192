"""Overwriting: what a call keeps for itself in a place that others share, and finds overwritten after a wait.

`self.channel = message.channel; await self.think(); await self.send(self.channel)`, while other messages are handled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import READS, Access, Effects
from racelint.analysis.objects import SHARED
from racelint.analysis.places import ANY_LOCK, ASYNC, Place
from racelint.analysis.races import Races
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.ways import NEAR
from racelint.span import Span

BEGINNING = Span(0, 0, 0, 0)


class _Step(NamedTuple):
    """A spot in a function."""

    function: str
    span: Span


class Overwriting:
    """Finds what one of several tasks stores of what it alone was given, and reads when others have run."""

    def __init__(self, effects: dict[str, Effects], contexts: Contexts, races: Races) -> None:
        self._effects = effects
        self._contexts = contexts
        self._races = races

    def all(self) -> Iterator[Pair]:
        """One for each place, by the shortest way; the store comes first."""
        for place, spots in self._races.spots.items():
            found = [pair for store in spots if self._is_own(store) for pair in self._read_later(place, store, spots)]
            if found:
                yield min(found, key=lambda pair: self._races.ways.steps(pair.first, pair.second))

    def _is_own(self, store: Spot) -> bool:
        """Whether one of several tasks stores what it was given, on an object that all of them share.

        Requests and threads do so mostly to set what others are to see: of five such reports none was right.
        """
        context, access = self._contexts.roots[store.entry.context], store.access
        if not isinstance(access, Access) or access.span not in self._effects[store.function].of_call:
            return False
        several = context.kind == "task" and context.many
        alone = bool(store.constructor) or not store.located.certain
        return several and store.receiver == SHARED and not (alone or _is_guarded(store))

    def _read_later(self, place: Place, store: Spot, spots: list[Spot]) -> Iterator[Pair]:
        for read in spots:
            if (
                read.access.kind in READS - {"test"}  # who only asks whether there is something takes what he finds
                and isinstance(read.access, Access)
                and read.entry.context == store.entry.context
                and read.receiver == SHARED
                and not _is_guarded(read)
                and not self._races.ways.is_far(read, NEAR + 1)
                and self._comes_later(store, read, spots)
            ):
                sure = read.entry.sure and store.entry.sure
                yield Pair(place, store, read, "overwritten", "contexts", 3 if sure else 1)

    def _comes_later(self, store: Spot, read: Spot, spots: list[Spot]) -> bool:
        """Whether a read comes after a store, other tasks run in between, and nothing is stored anew."""
        there, here = self._steps(store), self._steps(read)
        parting = next((n for n, (one, two) in enumerate(zip(there, here, strict=False)) if one != two), -1)
        if parting < 0 or there[parting].function != here[parting].function:
            return False
        stored = [_Step(spot.function, spot.access.span) for spot in spots if spot.access.kind == "store"]
        if parting + 1 < len(there):  # a call stores it: so do others of the same function
            calls = self._effects[there[parting].function].calls
            setter = there[parting + 1].function
            stored += [_Step(there[parting].function, span) for span, callee in calls if callee == setter]
        waits = False
        for step in here[parting:]:
            start = there[parting].span if step is here[parting] else BEGINNING
            if step.span <= start or any(s.function == step.function and start < s.span < step.span for s in stored):
                return False
            suspensions = self._effects[step.function].suspensions
            waits = waits or any(start < span and span[2:] <= step.span[:2] for span in suspensions)
        return waits

    def _steps(self, spot: Spot) -> list[_Step]:
        """The calls from the context's root to an access, and the access."""
        way = self._contexts.way(spot.function, spot.entry)
        return [*[_Step(function, span) for function, span in way], _Step(spot.function, spot.access.span)]


def _is_guarded(spot: Spot) -> bool:
    """Whether a lock may keep other tasks out."""
    return any(lock.startswith((ASYNC, ANY_LOCK)) for lock in spot.locks)
