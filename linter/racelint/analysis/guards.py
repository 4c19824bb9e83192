"""Guards: the lock that an author holds around a place, inferred from most of its accesses, and who forgets it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import WRITES, Act
from racelint.analysis.places import ANY_LOCK, Place, Places, of_threads
from racelint.analysis.races import SEVERITY, Pair, Races, Spot
from racelint.analysis.symbols import Symbols

CONTRACT = re.compile(
    r"(lock|mutex)\w*\s+(must|should|has to|needs? to|is)\s+(already\s+)?(be\s+)?(held|acquired|taken)"
    r"|(must|should|to be|only)\s+(be\s+)?(called|used|run|invoked)\s+(\w+\s+){0,4}(lock|mutex)"
    r"|(caller|requires?|assumes?|holding|held|with)\s+(\w+[.\s]+){0,4}(lock|mutex)"
    r"|not\s+(be\s+)?thread[- ]?safe",
    re.IGNORECASE,
)
UNSAFE = re.compile(r"not\s+(be\s+)?thread[- ]?safe|thread[- ]?unsafe", re.IGNORECASE)
MOST_BREACHES = 3  # a lock that is left out more often guards nothing


class Guards:
    """Infers guards and compares their breaches with what is done under them."""

    def __init__(self, symbols: Symbols, places: Places, contexts: Contexts, races: Races) -> None:
        self._symbols = symbols
        self._places = places
        self._contexts = contexts
        self._races = races

    def all(self) -> Iterator[Pair]:
        """The worst breach of each guarded place."""
        for place, spots in self._races.spots.items():
            best = self._best(place, spots)
            if best is not None:
                yield best

    def _best(self, place: Place, spots: list[Spot]) -> Pair | None:
        plain = self._by_access(spots)
        best: Pair | None = None
        for lock, held in self._candidates(plain).items():
            total = len(plain)
            breaches = [entry for entry in plain.values() if entry not in held]
            writes = [entry for entry in breaches if _writes(entry)]
            if not breaches or not (not writes or 3 * len(held) >= 2 * total) or len(writes) > MOST_BREACHES:
                continue
            for pair in self._breaches(place, lock, spots):
                found = pair._replace(guard=lock, held=len(held), total=total)
                if best is None or SEVERITY[found.shape] > SEVERITY[best.shape]:
                    best = found
        return best

    def _by_access(self, spots: list[Spot]) -> dict[tuple[object, ...], list[Spot]]:
        """The plain accesses of a place, each with its entry states."""
        found: dict[tuple[object, ...], list[Spot]] = defaultdict(list)
        for spot in spots:
            if not isinstance(spot.access, Act) and spot.access.kind != "hand-out":
                found[spot.function, spot.access.span, spot.access.kind].append(spot)
        return found

    def _candidates(self, plain: dict[tuple[object, ...], list[Spot]]) -> dict[str, list[list[Spot]]]:
        """Locks held at two accesses or more, one of them a write."""
        held: dict[str, list[list[Spot]]] = defaultdict(list)
        for entries in plain.values():
            common = frozenset.intersection(*[of_threads(spot.locks) for spot in entries])
            for lock in common:
                if not lock.startswith((ANY_LOCK, "@")) and not lock.endswith("[]"):
                    held[lock].append(entries)
        return {
            lock: entries for lock, entries in held.items()
            if len({(e[0].function, e[0].access.span.line) for e in entries}) >= 2 and any(_writes(e) for e in entries)
            and len({e[0].function for e in entries}) >= 2
        }  # fmt: skip

    def _breaches(self, place: Place, lock: str, spots: list[Spot]) -> Iterator[Pair]:
        guarded = [spot for spot in spots if lock in spot.locks]
        for breach in spots:
            if lock in breach.locks or ANY_LOCK in breach.locks or self._is_contract(breach.function):
                continue
            if any(name.endswith("[]") is False and name.startswith(ANY_LOCK) for name in breach.locks):
                continue
            for other in guarded:
                pair = self._pair(place, breach, other)
                if pair is not None:
                    yield pair

    def _pair(self, place: Place, breach: Spot, other: Spot) -> Pair | None:
        if not self._places.related(breach.located.type, other.located.type):
            return None
        if of_threads(breach.locks) & of_threads(other.locks):
            return None
        first, second = (breach, other) if breach.is_write else (other, breach)
        if not first.is_write:
            return None
        shape = self._races.shape(first, second, guarded=True)
        if shape is None or shape == "store-test":
            return None
        if breach.access.kind == "update" and other.access.kind == "update" and not other.is_write:
            return None
        acts = [spot.access for spot in (first, second) if isinstance(spot.access, Act)]
        confidence = 1 if any(act.caught for act in acts) and shape in ("check-use", "check-act") else 2
        if not breach.located.certain or not other.located.certain:
            confidence = 1
        return Pair(place, breach, other, shape, "guard", confidence)

    def _is_contract(self, function_id: str) -> bool:
        """Whether a name or a docstring says that the caller holds the lock, or that nobody needs to."""
        function = self._symbols.functions[function_id][1]
        source = self._symbols.functions[function_id][0]
        owner = source.module.types.get(function.owner) if function.owner else None
        if owner is not None and UNSAFE.search(owner.doc):
            return True
        named = function.name.lower().endswith(("_locked", "locked", "_unlocked", "nolock", "_no_lock", "_unsafe"))
        return named or bool(CONTRACT.search(function.doc))


def _writes(entries: list[Spot]) -> bool:
    return entries[0].access.kind in WRITES


__all__ = ["Guards"]
