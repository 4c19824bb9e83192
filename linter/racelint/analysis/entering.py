"""Entering: objects of which `async with` notes in the object itself that it is open, so that one task has it open.

`async def __aenter__(self): self._run_task = self._run(); return await self._run_task.__aenter__()`: a second one
would lose what the first has put there. Tasks that enter such an object, each for itself, are two ways to use it.
"""

from __future__ import annotations

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.places import Place
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Param

ENTERS = ("__aenter__", "__enter__")


class Entering:
    """Tells which accesses are made while their object is open, each for the task at hand."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts

    def are_two_ways(self, place: Place, first: Spot, second: Spot) -> bool:
        """Whether two tasks each enter the object of a field themselves, which can be open in one of them only."""
        if place.kind != "field" or first.entry.context == second.entry.context:
            return False
        methods = {m for name in ENTERS if (m := self._symbols.method(place.owner, name)) and self._notes(m)}
        many = any(self._contexts.roots[spot.entry.context].many for spot in (first, second))
        return bool(methods) and not many and all(self._enters(spot, methods) for spot in (first, second))

    def _notes(self, method: str) -> bool:
        """Whether what enters an object replaces something in it: what it makes for whoever leaves it."""
        own = Param(method, 0)
        return any(
            access.kind == "store" and isinstance(access.path, Field) and access.path.base == own
            for access in self._effects[method].all_accesses()
        )

    def _enters(self, spot: Spot, methods: set[str]) -> bool:
        """Whether the way to an access leads through what enters its own object, or comes by that before."""
        if not spot.located.own:
            return False
        steps = self._contexts.steps(spot.function, spot.entry, spot.access.span)
        if any(function in methods for function, _ in steps):
            return True
        function, until = steps[-1]
        return any(
            callee in methods and span < until and site.receiver == Param(function, 0)
            for (span, callee), site in self._effects[function].calls.items()
        )
