"""Alive: objects on which something runs already: nobody is alone with them, not even who has made them."""

from __future__ import annotations

from collections.abc import Mapping

from racelint.analysis.contexts import targets
from racelint.analysis.edges import Edges
from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh, FunctionValue, Param

APART = frozenset({"process", "unknown"})  # what is started so has objects of its own, or may never run
MOST_ROUNDS = 4  # methods of one object that call each other


class Alive:
    """Knows the methods that start something on their own object, and who makes objects and does so."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], edges: Edges) -> None:
        self._symbols = symbols
        self._effects = effects
        self._edges = edges
        self.starters = {f for f in effects if self._starts_on_itself(f)}
        for _ in range(MOST_ROUNDS):
            self.starters |= {f for f in edges.calls if f not in self.starters and self._calls_on_itself(f)}
        self._started = {function: self._starts_on_new(function) for function in effects}
        self._makers = {
            (span[:2], type_id): function
            for function, each in effects.items()
            if self._started[function]
            for span, type_id in each.made
        }

    def _starts_on_itself(self, function: str) -> bool:
        return self._effects[function].begins_own or any(
            self._is_own(target, function)
            for start in self._effects[function].starts.values()
            if start.kind not in APART and not start.awaited
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

    def _starts_on_new(self, function: str) -> set[str]:
        """The types of what a function makes and starts something on."""
        if not self._symbols.is_ordered_by_steps(function):
            return set()
        starts = [start for start in self._effects[function].starts.values() if start.kind == GOROUTINE]
        started = [target.receiver for start in starts for target in targets(start.callee)]
        started += [site.receiver for callee, site in self._edges.calls.get(function, ()) if callee in self.starters]
        return {each.type for each in started if isinstance(each, Fresh)}

    def is_alive(self, made: Fresh, caller: str, site: CallSite) -> bool:
        """Whether something runs on an object when its maker makes a call: a method of its own has started that, or
        the factory that it comes from.
        """
        origin = made.site.origin
        if origin is not None and made.type in self._started.get(self._makers.get((origin[:2], made.type), ""), ()):
            return True
        return any(
            other.receiver == made and callee in self.starters and other.span[2:] < site.span[2:]
            for callee, other in self._edges.calls.get(caller, ())
        )
