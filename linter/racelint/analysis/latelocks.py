"""Locks that are made only when they are needed, with nothing to keep two threads from making one each.

So are places for what each thread has of its own: the second one loses what the first thread has put there.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import Act, Effects
from racelint.analysis.objects import ALIVE, FRESH, OWN, SHARED, Objects
from racelint.analysis.places import Located, Places, of_threads
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Field, Fresh


class LateLocks:
    """Finds what makes the lock that it goes on to take: that it takes one says that it may run twice at once."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._objects = Objects(symbols, places, contexts, effects)

    def all(self) -> Iterator[Pair]:
        """One for each lock that is made so, in the order of the functions."""
        seen = set()
        for function_id, effects in self._effects.items():
            for act in effects.all_acts():
                if act.kind != "store" or not self._is_for_threads(act):
                    continue
                pair = self._made_late(function_id, act)
                if pair is not None and pair.place not in seen:
                    seen.add(pair.place)
                    yield pair

    def _is_for_threads(self, act: Act) -> bool:
        if self._places.has_one_for_each_thread(act.path):
            return act.by == "condition"
        return act.detail == "opened" and self._places.excludes_threads(act.path)

    def _made_late(self, function_id: str, act: Act) -> Pair | None:
        place = self._places.of_lock(act.path)
        for entry in self._contexts.entries.get(function_id, ()) if place is not None else ():
            assert place is not None
            locks = entry.locks | self._places.locks(act.through)
            is_local = self._places.has_one_for_each_thread(act.path)
            if (
                not of_threads(locks)
                and self._may_meet_itself(function_id, entry, called_back=is_local)
                and (is_local or self._takes(function_id, entry, act))
                and not self._is_own(function_id, entry, act)
            ):
                located = Located(place, place.owner, own=True, constructed=False, certain=True)
                spot = Spot(function_id, located, act, entry, locks, SHARED)
                return Pair(place, spot, spot, "check-act", "late-local" if is_local else "late-lock", 2)
        return None

    def _may_meet_itself(self, function_id: str, entry: Entry, *, called_back: bool) -> bool:
        """Whether two may be there at once: callers, or several of a kind, and not while the object is being made.

        What nobody knows the callers of counts only if `called_back`.
        """
        context = self._contexts.roots[entry.context]
        root = self._symbols.functions[self._contexts.root(function_id, entry)][1]
        if entry.constructor or root.name == "__init__" or root.qualname == MODULE:
            return False
        if context.kind == "external" or (called_back and context.kind == "unknown"):
            return True
        return context.many and context.kind in ("thread", "pool", "handler")

    def _is_own(self, function_id: str, entry: Entry, act: Act) -> bool:
        """Whether each run makes the lock of an object that it has made itself: `var node Node; ensureMutex(&node)`."""
        if not isinstance(act.path, Field) or not self._symbols.is_ordered_by_steps(function_id):
            return False
        return self._objects.of(act.path.base, function_id, entry) in (FRESH, OWN, ALIVE)

    def _takes(self, function_id: str, entry: Entry, act: Act) -> bool:
        """Whether the lock is taken on the way there: where it is made, or by who has it made."""
        lock = self._places.lock(act.path)
        way = [caller for caller, _ in self._contexts.way(function_id, entry)]
        taken = [value for each in (*way, function_id) for value in self._effects[each].taken]
        return any(lock == self._places.lock(value) for value in taken if not isinstance(value, Fresh))
