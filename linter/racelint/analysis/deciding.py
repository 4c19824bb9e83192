"""Parameters on which it depends what a function does, and the constants that calls give for them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping

from racelint.analysis.contexts import DECIDING, Entry, Flags
from racelint.analysis.edges import Edges
from racelint.analysis.effects import Access, Act, CallSite, Effects, Start
from racelint.analysis.values import Literal, Param


class Deciding:
    """Follows constants from callers to what tests them."""

    def __init__(self, effects: Mapping[str, Effects], edges: Edges) -> None:
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
            constant = mine.get(value.index) if isinstance(value, Param) and value.function == caller else value
            if index in deciding and isinstance(constant, Literal):
                found.add((index, constant))
        return frozenset(found)

    def _find(self) -> dict[str, set[int]]:
        """The parameters that something depends on, in a function itself or in one that it hands them to."""
        found: dict[str, set[int]] = {}
        for function_id, effects in self._effects.items():
            spots: list[Access | Act | CallSite | Start] = [*effects.all_accesses(), *effects.all_acts()]
            spots += effects.starts.values()
            spots += [*effects.calls.values(), *[site for _, site in self._edges.calls.get(function_id, ())]]
            needs = [p for spot in spots for p, _ in spot.needs if p.test in DECIDING]
            tested = {p.value.index for p in needs if isinstance(p.value, Param)}
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
                handed = {v.index for i, v in site.given if isinstance(v, Param) and i in found[callee]}
                if not handed <= found.get(caller, set()):
                    found.setdefault(caller, set()).update(handed)
                    todo.append(caller)
        return found
