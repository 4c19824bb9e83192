"""Launching: what was registered with an object of a library is called only once that object has been made to run."""

from __future__ import annotations

from racelint.analysis.branching import comes_first
from racelint.analysis.contexts import Context, Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.memory import LISTENER
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Result, Value
from racelint.span import Span

MOST_STEPS = 8  # calls one on the other, as in `factory.Core().V1().Nodes().Informer()`


class Launching:
    """Finds accesses that come before the one spot where a type launches what it has made itself."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, places: Places
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._launches: dict[str, list[tuple[str, Span, Field]]] = {}  # by the type whose fields are launched
        for function_id, each in effects.items():
            for span, path in each.launches.items():
                owner = places.class_of(path.base) or ""
                self._launches.setdefault(owner, []).append((function_id, span, path))

    def precedes(self, spot: Spot, context: Context) -> bool:
        """Whether a type's object is accessed before it launches what a context's function is registered with."""
        owner = spot.located.type
        launches = self._launches.get(owner, ())
        if context.kind != LISTENER or not spot.located.own or len(launches) != 1:
            return False
        ((launcher, at, path),) = launches
        if not self._symbols.is_instance(path.base) or not self._registers(context.starter or "", owner):
            return False
        return self._is_made_inside(owner, path.name) and self._comes_first(spot, launcher, at)

    def _registers(self, function_id: str, owner: str) -> bool:
        """Whether a function is a type's own: a method, or what makes its objects."""
        made = self._effects[function_id].made if function_id in self._effects else ()
        return self._symbols.owner_of(function_id) == owner or any(each == owner for _, each in made)

    def _comes_first(self, spot: Spot, launcher: str, at: Span) -> bool:
        """Whether an access, or a call on the own instance that leads to it, comes first in what launches."""
        if self._contexts.roots[spot.entry.context].many or spot.access.span == at:
            return False
        function, entry, span = spot.function, spot.entry, spot.access.span
        while function != launcher:
            came = self._contexts.entries.get(function, {}).get(entry)
            if came is None or not came.own:
                return False
            function, entry, span = came.caller, came.entry, came.span
        looped = self._contexts.is_looped(function, entry)
        return not looped and comes_first(self._symbols.functions[launcher][1].body, span, at)

    def _is_made_inside(self, owner: str, name: str) -> bool:
        """Whether what a field holds is made where it is stored, so that nobody else can launch it."""
        stored = [
            (f, each.launchers[owner, name]) for f, each in self._effects.items() if (owner, name) in each.launchers
        ]
        return bool(stored) and all(self._is_made(f, v, MOST_STEPS) for f, values in stored for v in values)

    def _is_made(self, function_id: str, value: Value, steps: int) -> bool:
        """Whether a value comes out of a package's function, or out of methods of what does."""
        if not isinstance(value, Result) or value.site.function != function_id or steps == 0:
            return False
        called = [callee for span, callee in self._effects[function_id].calls if span == value.site.span]
        of = [callee.base if isinstance(callee, Field) else callee for callee in called]
        return all(not isinstance(each, str) and self._is_made(function_id, each, steps - 1) for each in of)
