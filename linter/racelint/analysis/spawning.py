"""Decorators that make a call start what they decorate, and go on: `@threaded def work(self): ...`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from racelint.analysis.effects import Start
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, FunctionValue, Param, Value
from racelint.model import Call

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

SPAWNED = frozenset({"thread", "pool", "greenlet", "loop"})


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
            started = self._summaries.of(wrapper).starts
            effects = self._summaries.effects.get(wrapper)
            if effects is None or any(site.callee == given for site in effects.calls.values()):
                return ""
            kinds.update(start.kind for start in (*started, *effects.starts.values()) if self._is_for(start, given))
        return kinds.pop() if len(kinds) == 1 and kinds <= SPAWNED else ""

    def _is_for(self, start: Start, given: Value) -> bool:
        """Whether what is started is what a decorator was given, or a helper that gets that and calls it."""
        if not isinstance(start.callee, FunctionValue) or start.callee == given:
            return start.callee == given
        called = {invoke.callee for invoke in self._summaries.of(start.callee.function).invokes}
        first = start.callee.receiver is not None
        places = [index for index, values in enumerate(start.args, first) if given in values]
        return any(Param(start.callee.function, index) in called for index in places)

    def _within(self, function_id: str) -> Iterator[str]:
        for inner in self._inner[function_id]:
            yield inner
            yield from self._within(inner)
