"""Decorators that make a call start what they decorate, and go on: `@threaded def work(self): ...`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, FunctionValue
from racelint.model import Call

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

SPAWNED = frozenset({"thread", "pool", "greenlet"})


class Spawning:
    """Knows the decorators of the program whose wrappers start the function that they are made for."""

    def __init__(self, symbols: Symbols, summaries: Summaries) -> None:
        self._symbols = symbols
        self._summaries = summaries
        self._inner: dict[str, list[str]] = defaultdict(list)
        for function_id, (source, function) in symbols.functions.items():
            if function.parent is not None and source.module.traits.duck_typed:
                self._inner[f"{source.name}:{function.parent}"].append(function_id)

    def kind(self, function_id: str) -> str:
        """What runs a function when it is called, "" if the caller does."""
        source, function = self._symbols.functions[function_id]
        for decorator in function.decorators if source.module.traits.duck_typed else ():
            value = self._symbols.decorator(source.name, function, decorator)
            if isinstance(value, FunctionValue) and value.function != function_id:
                made = self._inner[value.function] if isinstance(decorator, Call) else [value.function]
                for maker in made:
                    found = self._started_by(maker)
                    if found:
                        return found
        return ""

    def _started_by(self, decorator: str) -> str:
        """How the wrappers that a decorator makes start what it is given, if that is all they do with it."""
        parameters = self._symbols.functions[decorator][1].parameters
        if not parameters:
            return ""
        given = Captured(decorator, parameters[0].name)
        kinds: set[str] = set()
        for wrapper in self._within(decorator):
            kinds.update(start.kind for start in self._summaries.of(wrapper).starts if start.callee == given)
            effects = self._summaries.effects.get(wrapper)
            if effects is None or any(site.callee == given for site in effects.calls.values()):
                return ""
        return kinds.pop() if len(kinds) == 1 and kinds <= SPAWNED else ""

    def _within(self, function_id: str) -> Iterator[str]:
        for inner in self._inner[function_id]:
            yield inner
            yield from self._within(inner)
