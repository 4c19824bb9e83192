"""Gathers the accesses of a program, each in every entry state of its function, by the place that they touch."""

from __future__ import annotations

from collections import defaultdict

from racelint.analysis.contexts import Contexts, Entry, is_early, is_possible
from racelint.analysis.effects import UNKNOWN_KIND, WRITES, Access, Act, Effects
from racelint.analysis.memory import Memory
from racelint.analysis.objects import ALIVE, FRESH, MAYBE, MOST_STEPS, SHARED, Objects
from racelint.analysis.paths import root
from racelint.analysis.places import Located, Place, Places
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.state import THREADS
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Element, Field, Fresh, Member, Param, Value

CONSTRUCTORS = frozenset({"__init__", "__new__", "__del__", "__setstate__"})


class Gathering:
    """Locates accesses, and says what their objects are to the contexts that reach them."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts, memory: Memory
    ) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._memory = memory
        self._objects = Objects(symbols, places, contexts, effects)

    def by_place(self) -> dict[Place, list[Spot]]:
        """Every access in every entry state, by place; places that nobody writes after construction are left out."""
        found: dict[Place, list[Spot]] = defaultdict(list)
        written: set[Place] = set()
        for function_id, effects in self._effects.items():
            if function_id in self._contexts.entries:
                accesses: list[Access | Act] = [*effects.all_accesses(), *effects.all_acts()]
                for access in accesses:
                    spots = self.spots_of(function_id, access)
                    if isinstance(spots, Silence) or not spots:
                        continue
                    place = spots[0].located.place
                    found[place] += spots
                    if access.kind in WRITES:
                        written.add(place)
        return {place: spots for place, spots in found.items() if place in written}

    def spots_of(self, function_id: str, access: Access | Act) -> list[Spot] | Silence:
        """An access in each entry state of its function, or why it meets no other."""
        name = self._symbols.functions[function_id][1].name
        if access.joined & THREADS or name in ("<module>", "<body>"):
            return Silence.ORDERED
        located = self._places.locate(access.path)
        if located is None:
            return Silence.UNKNOWN
        is_new = (located.own and name in CONSTRUCTORS) or _is_of_new_class(function_id, located)
        if is_new and not access.started:
            return Silence.OWNED
        entries = self._contexts.entries.get(function_id)
        if not entries:
            return Silence.UNREACHED
        if access.detail == UNKNOWN_KIND and isinstance(root(access.path), Param):
            access = access._replace(detail=self._places.kind_at(access.path) or UNKNOWN_KIND)
        local = self._places.locks(access.through if isinstance(access, Act) else access.held)
        early = is_early(access, self._effects[function_id])
        spots: list[Spot] = []
        for entry in entries:
            if not is_possible(access.needs, entry):
                continue
            receiver = self._receiver(function_id, located, access.path, entry)
            if receiver == SHARED and not access.started:
                receiver = self._of_part(function_id, access, entry)
            if receiver == FRESH and access.started and located.own and self._shares_itself(function_id):
                receiver = ALIVE
            if located.place.kind != "field" or (located.own and name == "__init__"):
                receiver = SHARED  # a constructor that has started something is no longer alone with the object
            if receiver != FRESH:
                before = entry.before or (function_id if early else "")
                constructor = entry.constructor or (function_id if name == "__init__" else "")
                locks = entry.locks | local
                spots.append(Spot(function_id, located, access, entry, locks, receiver, before, constructor))
        return spots or Silence.OWNED

    def _receiver(self, function_id: str, located: Located, path: Value, entry: Entry) -> int:
        """What the object of an access is to the context."""
        if self._memory.governs(function_id) and isinstance(path, Field | Element | Member):
            inner: Value = path
            while isinstance(inner, Element | Member):
                inner = inner.base
            if isinstance(inner, Field) and isinstance(inner.base, Fresh):
                return SHARED  # with what its maker has started
            return self._objects.of(inner.base if isinstance(inner, Field) else inner, function_id, entry)
        return entry.receiver if located.own or located.constructed else self._reached(path, function_id, entry)

    def _of_part(self, function_id: str, access: Access | Act, entry: Entry) -> int:
        """What an object in a part of a method's own instance is to the context."""
        if self._places.parts is None or self._memory.governs(function_id):
            return SHARED
        if not self._contexts.comes_first(function_id, entry):
            return SHARED  # what was started may be one of the parts
        path = access.path
        while isinstance(path, Element | Member):
            path = path.base
        return self._places.parts.of(path.base, entry.receiver) if isinstance(path, Field) else SHARED

    def _shares_itself(self, function_id: str) -> bool:
        """Whether a method starts something on its own instance: whoever has made that, it is known to others now."""
        if self._effects[function_id].begins_own:
            return True
        owner = self._symbols.owner_of(function_id)
        started = [self._contexts.roots[each] for each in self._contexts.started_under.get(function_id, ())]
        return bool(owner) and any(
            self._symbols.owner_of(self._symbols.outermost(each.function)) == owner
            and (each.own or each.function.startswith(f"{function_id}."))
            for each in started
        )

    def _reached(self, path: Value, function_id: str, entry: Entry) -> int:
        """What an object that a path leads to is to the context: a variable's is shared with what its call starts.

        A parameter stands for what the call on the way gives: the caller's own instance, or something that this keeps.
        """
        start = root(path)
        if isinstance(start, Captured) and path != start and not self._symbols.is_captured_instance(start):
            return SHARED if self._contexts.roots[entry.context].starter == start.function else MAYBE
        if isinstance(start, Param) and self._places.is_known_start(start):
            return SHARED if self._contexts.roots[entry.context].function == start.function else MAYBE
        found, steps = of_root(path, self._symbols), 0
        while found == MAYBE and isinstance(start, Param) and start.function == function_id and steps < MOST_STEPS:
            came = self._contexts.came(function_id, entry)
            given = self._contexts.given(came, function_id, start) if came is not None else None
            if came is None or given is None:
                break
            if isinstance(given, Param) and self._symbols.is_instance(given):
                return came.entry.receiver
            found, start = of_root(given, self._symbols), root(given)
            function_id, entry, steps = came.caller, came.entry, steps + 1
        return found


def _is_of_new_class(function_id: str, located: Located) -> bool:
    """Whether a function changes a variable of a class that it makes itself, anew whenever it is called."""
    place = located.place
    return place.kind == "static" and place.owner == located.type == f"{function_id}.{located.type.rpartition('.')[2]}"


def of_root(path: Value, symbols: Symbols) -> int:
    """What an object that is reached by a path is to the context: shared, or perhaps the caller's own."""
    start = root(path)
    return MAYBE if isinstance(start, Param) and not symbols.is_instance(start) else SHARED
