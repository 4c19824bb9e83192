"""Parameters on which it depends what a function does, and the constants (or types) that calls give for them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from racelint.analysis.contexts import DECIDING, OBJECT, Context, Entry, Flags, kind_of_constant, kind_of_test
from racelint.analysis.edges import Edges, bound
from racelint.analysis.effects import Access, Act, CallSite, Effects, Start
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Fresh, Literal, Param, Value

Decisive: TypeAlias = tuple[int, str]  # a parameter, by its index, and what of it decides


class Deciding:
    """Follows constants from callers to what tests them."""

    def __init__(self, symbols: Symbols, types: Types, effects: Mapping[str, Effects], edges: Edges) -> None:
        self._symbols = symbols
        self._types = types
        self._effects = effects
        self._edges = edges
        self._deciding = self._find()

    def flags(self, entry: Entry, site: CallSite, caller: str, callee: str) -> Flags:
        """The constants that a call gives to what decides in the callee; the caller's own are handed on."""
        deciding = self._deciding.get(callee)
        if not deciding or not site.given:
            return frozenset()
        mine = dict(entry.flags)
        found: set[tuple[int, Literal]] = set()
        for index, value in site.given:
            own = value.index if isinstance(value, Param) and value.function == caller else None
            constant = (None if own is None else mine.get(own)) or self._known(value)
            if constant is not None and (index, kind_of_constant(constant)) in deciding:
                found.add((index, constant))
        return frozenset(found)

    def started(self, context: Context) -> Flags:
        """The constants that a start gives to what decides in the function that it starts: `go x.drop(keys, Pod)`."""
        deciding = self._deciding.get(context.function)
        effects = self._effects.get(context.starter or "")
        if not deciding or effects is None:
            return frozenset()
        starts = [start for start in effects.starts.values() if start.span == context.span]
        found = [set(self._given(start, context.function)) for start in starts]
        same = set.intersection(*found) if found else set()
        return frozenset([flag for flag in same if (flag[0], kind_of_constant(flag[1])) in deciding])

    def _given(self, start: Start, function_id: str) -> Iterator[tuple[int, Literal]]:
        """The constants among what a start gives to a function, by its parameters."""
        for function, given in bound(start.callee, start.args):
            for index, values in given.items() if function == function_id else ():
                constant = self._known(values[0]) if len(values) == 1 else None
                if constant is not None:
                    yield index, constant

    def _known(self, value: Value) -> Literal | None:
        """What a value is for good: a constant, a name of another package, or the type of what is made or declared."""
        if isinstance(value, Fresh) and value.type in self._symbols.types:
            return Literal(value.type, OBJECT)
        return self._symbols.constant(value) or self._symbols.named(value) or self._declared(value)

    def _declared(self, value: Value) -> Literal | None:
        """An object of the type that what holds it is declared to be of, where that is no interface."""
        type_id = self._types.class_of(value)
        if type_id is None or self._symbols.types[type_id][0].module.traits.duck_typed:
            return None
        return None if self._types.arriving.is_interface(type_id) else Literal(type_id, OBJECT)

    def _find(self) -> dict[str, set[Decisive]]:
        """The parameters that something depends on, in a function itself or in one that it hands them to."""
        found: dict[str, set[Decisive]] = {}
        for function_id, effects in self._effects.items():
            spots: list[Access | Act | CallSite | Start] = [*effects.all_accesses(), *effects.all_acts()]
            spots += effects.starts.values()
            spots += [*effects.calls.values(), *[site for _, site in self._edges.calls.get(function_id, ())]]
            needs = [p for spot in spots for p, _ in spot.needs if p.test in DECIDING]
            tested = {(p.value.index, kind_of_test(p.test)) for p in needs if isinstance(p.value, Param)}
            if tested:
                found[function_id] = tested
        todo = deque(found)
        callers: dict[str, list[tuple[str, CallSite]]] = defaultdict(list)
        for caller, edges in self._edges.calls.items():
            for callee, site in edges:
                if site.given:
                    callers[callee].append((caller, site))
        while todo:
            callee = todo.popleft()
            for caller, site in callers.get(callee, ()):
                handed = {
                    (v.index, kind)
                    for i, v in site.given if isinstance(v, Param)
                    for index, kind in found[callee] if index == i
                }  # fmt: skip
                if not handed <= found.get(caller, set()):
                    found.setdefault(caller, set()).update(handed)
                    todo.append(caller)
        return found
