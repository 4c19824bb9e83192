"""Found set: who has found a field set, under the lock under which it is set once, for good, needs that no more.

`mu.Lock(); if s.conn == nil { s.conn = dial() }; mu.Unlock()` stores nothing any more when somebody has come by
`if !s.isConnected() { return }`, a helper that asks under the same lock, and goes on with `s.conn`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from racelint.analysis.branching import arms
from racelint.analysis.effects import Access, Effects
from racelint.analysis.gates import UNSET, found, stores_of
from racelint.analysis.places import ANY_LOCK, SOME_WAYS, Place, Places, of_threads, sides
from racelint.analysis.spots import Spot
from racelint.analysis.state import Held
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Param, Value
from racelint.model import Attr, Call, Expr, Jump, Logic, Op
from racelint.record import records
from racelint.span import Span


class FoundSet:
    """Finds reads of what nobody stores any more."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], places: Places) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._setting: dict[Place, frozenset[str]] = {}

    def order(self, write: Spot, read: Spot, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether a field is read by who has found it set, as which it stays. `spots` are the accesses by place."""
        place = write.located.place
        if place.kind != "field" or place.depth or not self._symbols.is_ordered_by_steps(read.function):
            return False
        if read.is_write:
            return False
        return any(self._set_under(place, spots) & self._locks(held) for held in self._found_set(read))

    def _set_under(self, place: Place, spots: Mapping[Place, Sequence[Spot]]) -> frozenset[str]:
        """The locks under which a field is found unset and set, wherever it is stored; none if it may be emptied."""
        if place not in self._setting:
            alike = [each for each in spots if each.kind == "field" and each.name == place.name]
            known = {spot.access.span for each in alike for spot in spots[each] if spot.is_write}
            all_known = stores_of(self._symbols, place) <= known
            stores = [spot for spot in spots.get(place, ()) if spot.is_write]
            under = [self._set_once_under(spot) for spot in stores] if all_known else []
            self._setting[place] = frozenset.intersection(*under) if under else frozenset()
        return self._setting[place]

    def _set_once_under(self, store: Spot) -> frozenset[str]:
        """The locks of the section in which a store is made where the field was found unset in it."""
        if store.access.kind != "store" or store.access.detail in UNSET:
            return frozenset()
        body = self._symbols.functions[store.function][1].body
        asked = {
            span
            for branch, arm in arms(body, store.access.span, turns=True)
            for span, is_set in found(branch.test, outcome=arm == 0)
            if not is_set
        }
        sections = [
            tuple([held for held in access.held if held in store.access.held])
            for access in self._asking(store.function, store.access.path, asked)
        ]
        return frozenset().union(*[of_threads(self._places.locks(section)) for section in sections])

    def _found_set(self, read: Spot) -> Iterator[tuple[Held, ...]]:
        """What was held when the function of a read asked for the field, itself or by a helper, and found it set."""
        path, body = read.access.path, self._symbols.functions[read.function][1].body
        if not isinstance(path, Field):
            return
        tests = [(branch.test, arm == 0) for branch, arm in arms(body, read.access.span)]
        asked = {span for test, held in tests for span, is_set in found(test, outcome=held) if is_set}
        for access in self._asking(read.function, path, asked):
            yield access.held
        calls = dict(call for test, held in tests for call in _calls(test, outcome=held))
        for site in self._effects[read.function].calls.values():
            if site.span in calls and isinstance(site.callee, str) and site.receiver == path.base:
                yield from self._answered(site.callee, path.name, outcome=calls[site.span])

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
