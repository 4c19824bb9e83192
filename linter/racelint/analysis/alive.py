"""Alive: objects on which something runs already: nobody is alone with them, not even who has made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from racelint.analysis.contexts import targets
from racelint.analysis.edges import Edges
from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh, FunctionValue, Param

MOST_ROUNDS = 4  # functions through which an object comes


class Alive:
    """Knows the methods that start something on their own object, and who makes objects and does so.

    Only of languages in which every unordered access counts.
    """

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], edges: Edges) -> None:
        self._symbols = symbols
        self._effects = effects
        self._edges = edges
        self.starters = {f for f in effects if symbols.is_ordered_by_steps(f) and self._starts_on_itself(f)}
        for _ in range(MOST_ROUNDS):
            self.starters |= {f for f in edges.calls if f not in self.starters and self._calls_on_itself(f)}
        self._made: dict[str, set[str]] = defaultdict(set)  # by a function, the types of what it has made and started
        for function in effects:
            if symbols.is_ordered_by_steps(function):
                self._made[function] |= self._makes_and_starts(function)
        for _ in range(MOST_ROUNDS):
            for caller, calls in edges.calls.items():
                for callee, _ in calls:
                    self._made[caller] |= self._made.get(callee, set())

    def _starts_on_itself(self, function: str) -> bool:
        return any(
            self._is_own(target, function)
            for start in self._effects[function].starts.values()
            if start.kind == GOROUTINE and not start.awaited
            for target in targets(start.callee)
        )

    def _is_own(self, target: FunctionValue, function: str) -> bool:
        """Whether a method of the function's own instance is meant, or a closure that knows it."""
        if target.receiver is not None:
            return self._symbols.is_instance(target.receiver)
        return bool(self._symbols.owner_of(function)) and target.function.startswith(f"{function}.")

    def _calls_on_itself(self, function: str) -> bool:
        return any(
            callee in self.starters and isinstance(site.receiver, Param) and self._symbols.is_instance(site.receiver)
            for callee, site in self._edges.calls[function]
        )

    def _makes_and_starts(self, function: str) -> set[str]:
        effects = self._effects[function]
        started = [
            target.receiver
            for start in effects.starts.values()
            if start.kind == GOROUTINE
            for target in targets(start.callee)
        ]
        started += [site.receiver for callee, site in self._edges.calls.get(function, ()) if callee in self.starters]
        return {each.type for each in started if isinstance(each, Fresh)}

    def is_alive(self, made: Fresh, caller: str, site: CallSite) -> bool:
        """Whether something runs on an object when its maker makes a call: a method of its own has started that, or
        the factory that it comes from.
        """
        for callee, other in self._edges.calls.get(caller, ()):
            if other.receiver == made and callee in self.starters and other.span[:2] < site.span[:2]:
                return True
            if other.span == made.site.span and made.type in self._made.get(callee, ()):
                return True
        return False
