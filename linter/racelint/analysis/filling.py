"""Maps that one function fills as they are asked for, under a lock that it takes when it has looked into them."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Act
from racelint.analysis.guards import Guards
from racelint.analysis.paths import root
from racelint.analysis.places import ANY_LOCK, FLAG_MARK, SOME_WAYS, Place, of_threads
from racelint.analysis.races import Races
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.values import Captured, Fresh

PUTS = frozenset({"insert", "setitem", "update-item"})


class Filling:
    """Finds such look-ups, in languages in which one beside a store has no meaning.

    Nobody else touches the map: the lock is there to keep the function from itself, so that it runs several times at
    once, and each look-up meets the stores of others.
    """

    def __init__(self, contexts: Contexts, races: Races, guards: Guards) -> None:
        self._contexts = contexts
        self._races = races
        self._guards = guards

    def all(self) -> Iterator[Pair]:
        """One for each map."""
        for place, spots in self._races.spots.items():
            found = self._of(place, spots) if place.kind in ("field", "global") else None
            if found is not None:
                yield found

    def _of(self, place: Place, spots: list[Spot]) -> Pair | None:
        later = [spot for spot in spots if not self._is_early(spot)]
        function = later[0].function if len({spot.function for spot in later}) == 1 else ""
        if not function or not self._races.memory.governs(function) or self._guards.is_contract(function):
            return None
        plain = [spot for spot in later if not isinstance(spot.access, Act)]  # a second look has locks of its own
        looks = [spot for spot in plain if spot.access.kind == "lookup" and self._meets_itself(spot)]
        puts = [spot for spot in later if spot.access.kind in PUTS]
        for look in looks:
            for put in [put for put in puts if put.entry == look.entry and look.access.span[:2] < put.access.span[:2]]:
                lock = self._taken_between(look, put)
                if lock:
                    lines = {spot.access.span.line for spot in later}
                    held = {spot.access.span.line for spot in later if lock in of_threads(spot.locks)}
                    sure = 2 if look.located.certain else 1
                    return Pair(place, look, put, "content-read", "guard", sure, lock, len(held), len(lines))
        return None

    def _taken_between(self, look: Spot, put: Spot) -> str:
        """The object's own lock that is held at a store, where none was at the look-up before it; "" if there is none.

        Of a package's variable it is any one.
        """
        locks = [] if look.locks else sorted(of_threads(put.locks))
        return next((lock for lock in locks if self._is_own(lock, put.located.place)), "")

    def _is_early(self, spot: Spot) -> bool:
        """Whether nobody else knows the object yet."""
        return self._guards.constructs(spot) or isinstance(root(spot.access.path), Fresh | Captured)

    def _is_own(self, lock: str, place: Place) -> bool:
        if lock.startswith((ANY_LOCK, FLAG_MARK, SOME_WAYS)) or lock.endswith("[]"):
            return False
        return place.kind == "global" or self._races.identity.is_family(lock.rpartition(".")[0], place.owner)

    def _meets_itself(self, look: Spot) -> bool:
        """Whether callers lead there, or what runs beside itself."""
        context = self._contexts.roots[look.entry.context]
        return context.many or context.is_external or context.kind == "unknown"
