"""Found set: who has found a field set, under the lock under which it is set once, for good, needs that no more.

`mu.Lock(); if s.conn == nil { s.conn = dial() }; mu.Unlock()` stores nothing any more when somebody has come by
`if !s.isConnected() { return }`, a helper that asks under the same lock, and goes on with `s.conn`; or by a call of
`s.connect()`, which leaves it set. What else is stored only where the connection was found unset goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from racelint.analysis.branching import arms
from racelint.analysis.effects import Access, Effects
from racelint.analysis.gates import UNSET, found, stores_of
from racelint.analysis.paths import root
from racelint.analysis.places import ANY_LOCK, SOME_WAYS, Place, Places, of_threads, sides
from racelint.analysis.readiness import Readiness
from racelint.analysis.spots import Spot
from racelint.analysis.state import Held
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Param, Value
from racelint.model import Attr, Call, Expr, Jump, Logic, Op
from racelint.record import records
from racelint.span import Span


class FoundSet:
    """Finds reads of what nobody stores any more."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, readiness: Readiness
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._readiness = readiness
        self._setting: dict[tuple[Place, str], frozenset[str]] = {}
        self._without: dict[Place, dict[str, frozenset[str]]] = {}
        self._stored: dict[Place, list[Spot]] = {}
        self._known: dict[tuple[str, Value, Span, str], list[frozenset[str]]] = {}

    def order(self, write: Spot, read: Spot, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether a field is read by who has found it set, as which it stays. `spots` are the accesses by place.

        Or he has found another field set without which it would be stored.
        """
        place = write.located.place
        if place.kind != "field" or place.depth or not self._symbols.is_ordered_by_steps(read.function):
            return False
        if read.is_write or not isinstance(read.access.path, Field):
            return False
        return any(self._is_set_by_then(Place("field", place.owner, name), under, read, spots)
                   for name, under in self._only_without(place, spots).items())  # fmt: skip

    def _is_set_by_then(
        self, gate: Place, under: frozenset[str], read: Spot, spots: Mapping[Place, Sequence[Spot]]
    ) -> bool:
        """Whether who comes to a read has found a field set, or has set it, under locks under which it is set."""
        locks = under & self._set_under(gate, gate.name, spots)
        if not locks:
            return False
        if self._readiness.has_filled(read, self._stores(gate, spots)):
            return True
        key = (read.function, read.access.path, read.access.span, gate.name)
        if key not in self._known:
            self._known[key] = [self._locks(held) for held in self._found_set(read, gate.name)]
        return any(not locks.isdisjoint(held) for held in self._known[key])

    def _only_without(self, place: Place, spots: Mapping[Place, Sequence[Spot]]) -> dict[str, frozenset[str]]:
        """The fields that are found unset wherever a field is stored, often itself, and the locks of these sections."""
        if place not in self._without:
            names = [{name for name, _ in self._found_unset(spot)} for spot in self._stores(place, spots)]
            under = {name: self._set_under(place, name, spots) for name in set.intersection(*names)} if names else {}
            self._without[place] = {name: locks for name, locks in sorted(under.items()) if locks}
        return self._without[place]

    def _set_under(self, place: Place, name: str, spots: Mapping[Place, Sequence[Spot]]) -> frozenset[str]:
        """The locks under which a field is found unset wherever another one, or itself, is stored; none if it may be
        emptied.
        """
        if (place, name) not in self._setting:
            alike = [each for each in spots if each.kind == "field" and each.name == place.name]
            known = {spot.access.span for each in alike for spot in spots[each] if spot.is_write}
            all_known = stores_of(self._symbols, place) <= known
            under = [self._set_once_under(spot, name) for spot in self._stores(place, spots)] if all_known else []
            self._setting[place, name] = frozenset.intersection(*under) if under else frozenset()
        return self._setting[place, name]

    def _stores(self, place: Place, spots: Mapping[Place, Sequence[Spot]]) -> list[Spot]:
        """The stores of a field, but for those by which its object's maker completes it before others know it."""
        if place not in self._stored:
            writes = [spot for spot in spots.get(place, ()) if spot.is_write]
            self._stored[place] = [spot for spot in writes if not self._completes(spot)]
        return self._stored[place]

    def _completes(self, store: Spot) -> bool:
        """Whether a function stores something in an object that it has made, and nobody else knows yet."""
        access, made = store.access, root(store.access.path)
        if not isinstance(made, Captured) or made.function != store.function or access.started:
            return False
        return access.kind == "store" and self._effects[made.function].holds_new(made.name)

    def _set_once_under(self, store: Spot, name: str) -> frozenset[str]:
        """The locks of the section in which a store is made where a field of the object was found unset in it."""
        if store.access.kind != "store" or (store.located.place.name == name and store.access.detail in UNSET):
            return frozenset()
        sections = [
            tuple([held for held in access.held if held in store.access.held])
            for asked, access in self._found_unset(store)
            if asked == name
        ]
        return frozenset().union(*[of_threads(self._places.locks(section)) for section in sections])

    def _found_unset(self, store: Spot) -> Iterator[tuple[str, Access]]:
        """The fields that a function has found unset, under a lock, in the object at hand, when it comes to a store."""
        path, body = store.access.path, self._symbols.functions[store.function][1].body
        if not isinstance(path, Field):
            return
        asked = {
            span
            for branch, arm in arms(body, store.access.span, turns=True)
            for span, is_set in found(branch.test, outcome=arm == 0)
            if not is_set
        }
        for access in self._effects[store.function].all_accesses() if asked else ():
            field = access.path
            if isinstance(field, Field) and field.base == path.base and access.span in asked and access.held:
                yield field.name, access

    def _found_set(self, read: Spot, name: str) -> Iterator[tuple[Held, ...]]:
        """What was held when the function of a read asked for a field, itself or by a helper, and found it set."""
        path, body = read.access.path, self._symbols.functions[read.function][1].body
        if not isinstance(path, Field):
            return
        tests = [(branch.test, arm == 0) for branch, arm in arms(body, read.access.span)]
        asked = {span for test, held in tests for span, is_set in found(test, outcome=held) if is_set}
        for access in self._asking(read.function, Field(path.base, name), asked):
            yield access.held
        calls = dict(call for test, held in tests for call in _calls(test, outcome=held))
        for site in self._effects[read.function].calls.values():
            if site.span in calls and isinstance(site.callee, str) and site.receiver == path.base:
                yield from self._answered(site.callee, name, outcome=calls[site.span])

    def _answered(self, helper: str, name: str, *, outcome: bool) -> Iterator[tuple[Held, ...]]:
        """What a method holds where it asks for a field of its own object, if its one answer says that it is set."""
        returned = [part for part in records(self._symbols.functions[helper][1].body) if isinstance(part, Jump)]
        if len(returned) == 1 and returned[0].value is not None and helper in self._effects:
            asked = {span for span, is_set in found(returned[0].value, outcome=outcome) if is_set}
            for access in self._asking(helper, Field(Param(helper, 0), name), asked):
                yield access.held

    def _asking(self, function_id: str, path: Value, spans: set[Span]) -> Iterator[Access]:
        for access in self._effects[function_id].all_accesses() if spans else ():
            if access.path == path and access.span in spans and access.held:
                yield access

    def _locks(self, held: tuple[Held, ...]) -> frozenset[str]:
        found = sides(self._places.locks(held))
        return frozenset([lock for lock in found if not lock.startswith((ANY_LOCK, SOME_WAYS))])


def _calls(test: Expr, *, outcome: bool) -> Iterator[tuple[Span, bool]]:
    """The calls of methods that have surely given one answer, if a test has an outcome."""
    match test:
        case Op(operator="not", operands=(operand,)):
            yield from _calls(operand, outcome=not outcome)
        case Logic(operator=operator, operands=operands) if outcome == (operator == "and"):
            for operand in operands:
                yield from _calls(operand, outcome=outcome)
        case Call(func=Attr(), span=span):
            yield span, outcome
