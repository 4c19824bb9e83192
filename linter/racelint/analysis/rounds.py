"""Rounds: steps of one job, each of which waits for what it starts, on an object that the job has made for itself."""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import Effects
from racelint.analysis.paths import rebased, root
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Element, Field, Fresh, Member, Param, Value

MOST_CALLS = 12  # from an access or a start out to what has made the object


class Rounds:
    """Finds goroutines of two steps that are never at work on one object at once."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, waiting: Set[str]
    ) -> None:  # fmt: skip
        """`waiting` are the functions that wait for all that they start."""
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._waiting = waiting

    def take_turns(self, first: Spot, second: Spot) -> bool:
        """Whether each access is over when its starter returns, and neither starter leads to the other access."""
        one, two = (self._contexts.roots[spot.entry.context].starter for spot in (first, second))
        if one == two or one not in self._waiting or two not in self._waiting:
            return False
        under = self._contexts.started_under
        if second.entry.context in under.get(one or "", ()) or first.entry.context in under.get(two or "", ()):
            return False
        return self._is_of_job(first, one or "") and self._is_of_job(second, two or "")

    def _is_of_job(self, spot: Spot, starter: str) -> bool:
        """Whether what has called a starter, or its callers, have made the object of an access for that call."""
        path: Value = spot.access.path
        while isinstance(path, Element | Member):
            path = path.base
        if not isinstance(path, Field):
            return False
        found, _, _ = self._outward(path.base, spot.function, spot.entry)
        known = self._within(found, starter)
        entries = self._contexts.entries.get(starter, ())
        if not isinstance(start := root(known), Param) or start.function != starter or not entries:
            return False
        return all(self._is_made(*self._outward(known, starter, entry)[:2]) for entry in entries)

    def _outward(self, path: Value, function: str, entry: Entry) -> tuple[Value, str, Entry]:
        """An object, as the outermost caller knows it that has given it."""
        for _ in range(MOST_CALLS):
            start, came = root(path), self._contexts.came(function, entry)
            if came is None or not isinstance(start, Param | Captured):
                break
            if isinstance(start, Param) and start.function == function:
                given = self._contexts.given(came, function, start)
                if given is None:
                    break
                path = rebased(path, start, given)
            path, function, entry = self._within(path, came.caller), came.caller, came.entry
        return path, function, entry

    def _within(self, path: Value, function: str) -> Value:
        """A path that starts from a parameter which a closure shares, as the closure's maker knows it."""
        start = root(path)
        if not isinstance(start, Captured) or start.function != function:
            return path
        names = [parameter.name for parameter in self._symbols.functions[function][1].parameters]
        return rebased(path, start, Param(function, names.index(start.name))) if start.name in names else path

    def _is_made(self, path: Value, function: str) -> bool:
        """Whether a function has made an object, or has it as a part of what it has made, and keeps it to itself."""
        whole = path.base if isinstance(path, Field) else path
        effects = self._effects[function]
        if not isinstance(whole, Fresh) or not effects.is_private(whole):
            return False
        return path == whole or path in effects.owned
