"""Stages: what is stored only in a stage of an object's life that is over when a goroutine is started.

`mu.Lock(); if c.state != created { return errState }; c.conn = conn; c.state = ready`, and under the same lock
`if c.state != ready { return errState }; c.state = running; go c.run()`: no way leads back from `running` to `created`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from racelint.analysis.contexts import Contexts, targets
from racelint.analysis.effects import Effects
from racelint.analysis.memory import Memory
from racelint.analysis.paths import object_of
from racelint.analysis.places import ANY_LOCK, SOME_WAYS, Place, Places, of_threads, sides
from racelint.analysis.spots import Spot
from racelint.analysis.stageflow import ANY, Flow, Stages, changes, compared
from racelint.analysis.state import Held
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Param, Value
from racelint.analysis.ways import MOST_CALLS
from racelint.span import Span

Lead = tuple[Stages, Stages]  # from which stages a store leads to which


class StageOrder:
    """Compares the stage in which something is stored with those that follow on a start."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, contexts: Contexts, memory: Memory
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._memory = memory
        self._changed: dict[str, dict[str, list[tuple[str, Span]]]] = {}  # by module and field
        self._leads: dict[tuple[Place, str], list[Lead] | None] = {}
        self._may_change: dict[tuple[str, str], frozenset[str]] = {}

    def order(self, write: Spot, other: Spot, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether a field is stored only before what leads to the other access is started. `spots` are by place."""
        place = write.located.place
        if place.kind != "field" or not write.is_write or not self._symbols.is_ordered_by_steps(write.function):
            return False
        context = self._contexts.roots[other.entry.context]
        if context.starter is None or write.entry.context == other.entry.context or not self._is_of_starter(other):
            return False
        own = object_of(write.access.path)
        if not isinstance(own, Param) or not self._symbols.is_instance(own):
            return False
        start = self._memory.start(context)
        if start is None or start.through is not None or context.span is None:
            return False
        for lock, taken in self._locks(write.access.held).items():
            since = self._locks(start.held).get(lock)
            if since is None:
                continue
            for name in self._asked(write.function):
                gate = Place("field", place.owner, name)
                leads = self._all_leads(gate, lock, spots) if gate != place else None
                if leads and self._are_apart(
                    leads,
                    self._stages(write.function, write.access.span, taken, name),
                    self._stages(context.starter, context.span, since, name),
                ):
                    return True
        return False

    def _are_apart(self, leads: Sequence[Lead], stored_in: Stages, started_in: Stages) -> bool:
        """Whether no way leads from the stages of a start to those of a store."""
        reached = started_in
        while ANY not in reached:
            more = frozenset().union(*[to for since, to in leads if ANY in since or not since.isdisjoint(reached)])
            if more <= reached:
                return ANY not in stored_in and stored_in.isdisjoint(reached)
            reached |= more
        return False

    def _is_of_starter(self, spot: Spot) -> bool:
        """Whether an access is of the very object whose method has started its context."""
        path, function, entry = object_of(spot.access.path), spot.function, spot.entry
        context = self._contexts.roots[entry.context]
        for _ in range(MOST_CALLS):
            came = self._contexts.came(function, entry)
            if isinstance(path, Captured):
                return path.function == context.starter and self._symbols.is_instance_of(path)
            if not isinstance(path, Param) or path.function != function:
                return False
            if came is None:
                return function == context.function and path.index == 0 and self._is_started_on_own(spot)
            path, function, entry = self._contexts.given(came, function, path), came.caller, came.entry
        return False

    def _is_started_on_own(self, spot: Spot) -> bool:
        context = self._contexts.roots[spot.entry.context]
        start = self._memory.start(context)
        started = targets(start.callee) if start is not None else ()
        own = Param(context.starter or "", 0)
        found = [each.receiver == own for each in started if each.function == context.function]
        return bool(found) and all(found) and self._symbols.is_instance(own)

    def _locks(self, held: tuple[Held, ...]) -> dict[str, Span]:
        """The locks that are held, on whichever side, and where the function itself has taken each."""
        found: dict[str, Span] = {}
        for each in held:
            for lock in sides(self._places.locks((each,))):
                if not lock.startswith((ANY_LOCK, SOME_WAYS)) and not lock.endswith("[]"):
                    found[lock] = each.taken
        return found

    def _asked(self, function_id: str) -> list[str]:
        """The fields of its own object that a function compares with constants."""
        function = self._symbols.functions[function_id][1]
        return sorted({name for name, _ in compared(function.body, function.own)})

    def _stages(self, function_id: str, spot: Span, taken: Span | None, name: str) -> Stages:
        """The stages, by a field, in which a function comes to a spot, of which others say nothing since a lock."""
        function = self._symbols.functions[function_id][1]
        changing = self._changing(function_id, name)
        done = self._effects[function_id]
        calls = frozenset([span for span, callee in done.calls if callee in changing])
        flow = Flow(self._symbols, function_id, function, name, taken, calls)
        return flow.at(spot)

    def _changing(self, function_id: str, name: str) -> frozenset[str]:
        """The functions that may change a field of that name under a lock of their caller's, as no other one can."""
        module = self._symbols.functions[function_id][0].name
        if (module, name) not in self._may_change:
            found = {function for function, span in self._changes(module, name) if not self._holds_lock(function, span)}
            grown = -1
            while grown < len(found):
                grown = len(found)
                for caller, done in self._effects.items():
                    if any([site.callee in found and not site.held for site in done.calls.values()]):
                        found.add(caller)
            self._may_change[module, name] = frozenset(found)
        return self._may_change[module, name]

    def _holds_lock(self, function_id: str, span: Span) -> bool:
        """Whether a function holds a lock that it has taken itself where it changes something."""
        done = self._effects.get(function_id)
        found = [each for each in done.all_accesses() if each.span == span] if done is not None else []
        return bool(found) and all([each.held for each in found])

    def _changes(self, module: str, name: str) -> list[tuple[str, Span]]:
        """Where the functions of a package give fields of a name a value, or say where they lie."""
        known = self._changed.setdefault(module, {})
        if name not in known:
            functions = [(i, f) for i, (s, f) in self._symbols.functions.items() if s.name == module and s.reported]
            known[name] = [(function_id, span) for function_id, f in functions for span in changes(f.body, name)]
        return known[name]

    def _all_leads(self, gate: Place, lock: str, spots: Mapping[Place, Sequence[Spot]]) -> list[Lead] | None:
        """How a field changes, if nothing but methods of its object do that, under a lock, and to constants."""
        if (gate, lock) not in self._leads:
            self._leads[gate, lock] = self._find_leads(gate, lock, spots)
        return self._leads[gate, lock]

    def _find_leads(self, gate: Place, lock: str, spots: Mapping[Place, Sequence[Spot]]) -> list[Lead] | None:
        if gate.name[:1].isupper():
            return None  # other packages may change it
        module, alike = gate.owner.partition(":")[0], [p for p in spots if p.kind == "field" and p.name == gate.name]
        known = {(s.function, s.access.span) for each in alike for s in spots[each] if s.is_write}
        changed = {each for each in self._changes(module, gate.name) if self._is_reached(each[0])}
        stores = [s for s in spots.get(gate, ()) if s.is_write and (s.function, s.access.span) in changed]
        if not stores or not changed <= known:
            return None
        found = [self._lead(store, lock) for store in stores]
        leads = [each for each in found if each is not None]
        return leads if len(leads) == len(found) else None

    def _is_reached(self, function: str) -> bool:
        return bool(self._contexts.entries.get(function, ()))

    def _lead(self, store: Spot, lock: str) -> Lead | None:
        if lock not in of_threads(store.locks) or store.access.kind != "store":
            return None
        own: Value | None = object_of(store.access.path)
        function = self._symbols.functions[store.function][1]
        flow = Flow(self._symbols, store.function, function, store.located.place.name, None, frozenset())
        to = flow.stored(store.access.span)
        if ANY in to:
            return None
        taken = self._locks(store.access.held).get(lock)
        if taken is None or not isinstance(own, Param) or not self._symbols.is_instance(own):
            return frozenset([ANY]), to
        return self._stages(store.function, store.access.span, taken, store.located.place.name), to
