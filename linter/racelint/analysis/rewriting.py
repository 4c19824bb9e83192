"""Rewriting: stores of what a variable holds already, since that is what a caller has given: `Parse(configFile)`.

`func Parse(path string) { configFile = path; ... }` is called at the start with a flag's value. Who calls it later, to
read the file again, with the variable itself, puts back what lies there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Access, CallSite
from racelint.analysis.paths import rebased, root
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Global, Param, Value
from racelint.model import Assign, Attr, Name
from racelint.record import records

MOST_CALLS = 4  # through which a value is handed on


class Rewriting:
    """Finds stores that change nothing."""

    def __init__(self, symbols: Symbols, contexts: Contexts) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._known: dict[Spot, bool] = {}
        self._sites: dict[str, list[tuple[str, CallSite]]] | None = None

    def changes_nothing(self, spot: Spot) -> bool:
        """Whether a store puts into a variable or field, on this way, what all who call have read there."""
        if not isinstance(spot.access, Access) or spot.access.kind != "store":
            return False
        if spot not in self._known:
            path, value = spot.access.path, self._stored(spot)
            self._known[spot] = self._puts_back(spot.function, spot.entry.context, path, value, MOST_CALLS)
        return self._known[spot]

    def _puts_back(self, function: str, context: int, path: Value, value: Value | None, steps: int) -> bool:
        """Whether all calls in a context give a function a value that lies at a path."""
        if steps == 0 or not isinstance(value, Param) or value.function != function:
            return False
        if self._contexts.roots[context].function == function:
            return False
        calls = list(self._calls(function, context))
        return bool(calls) and all(self._gives_back(site, function, context, path, value, steps) for site in calls)

    def _gives_back(
        self, call: tuple[str, CallSite], function: str, context: int, path: Value, value: Param, steps: int
    ) -> bool:  # fmt: skip
        caller, site = call
        where, given = _as_given(path, site, function), _given_for(value, site)
        if where is None or given is None:
            return False
        return given == where or self._puts_back(caller, context, where, given, steps - 1)

    def _calls(self, function: str, context: int) -> Iterator[tuple[str, CallSite]]:
        """The calls of a function by those that a context leads to."""
        if self._sites is None:
            self._sites = defaultdict(list)
            for (caller, _, callee), site in self._contexts.sites.items():
                self._sites[callee].append((caller, site))
        for caller, site in self._sites.get(function, ()):
            if any(entry.context == context for entry in self._contexts.entries.get(caller, ())):
                yield caller, site

    def _stored(self, spot: Spot) -> Value | None:
        """The parameter that a store stores as it was given."""
        function = self._symbols.functions[spot.function][1]
        names = {parameter.name: at for at, parameter in enumerate(function.parameters)}
        stored = [
            _given(stmt, names)
            for stmt in records(function.body)
            if isinstance(stmt, Assign)
            and any(isinstance(t, Name | Attr) and t.span == spot.access.span for t in stmt.targets)
        ]
        if len(stored) != 1 or stored[0] is None or function.bindings.get(stored[0]):
            return None
        return Param(spot.function, names[stored[0]])


def _given(stmt: Assign, names: Mapping[str, int]) -> str | None:
    value = stmt.value
    return value.name if isinstance(value, Name) and value.scope == "local" and value.name in names else None


def _given_for(parameter: Param, site: CallSite) -> Value | None:
    given = dict(site.given).get(parameter.index)
    return site.receiver if given is None and parameter.index == 0 else given


def _as_given(path: Value, site: CallSite, function: str) -> Value | None:
    """A variable, or a field of what a function was given, as its caller names it."""
    holder = root(path)
    if isinstance(path, Global):
        return path
    if not isinstance(path, Field) or not isinstance(holder, Param) or holder.function != function:
        return None
    given = _given_for(holder, site)
    return rebased(path, holder, given) if given is not None else None
