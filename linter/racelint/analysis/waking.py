"""Whether a wait really lets other tasks run: a coroutine that only calls what never suspends runs through at once."""

from __future__ import annotations

import re

from racelint.analysis.calls import is_abstract
from racelint.analysis.effects import Effects
from racelint.analysis.symbols import Symbols
from racelint.knowledge import Knowledge
from racelint.span import Span

CALLED_BACK = re.compile(r"(^|_)(callbacks?|cb|handlers?|listeners?|hooks?|func|fn)$", re.IGNORECASE)


class Waking:
    """Follows suspensions down to what is waited for in the end."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._common = knowledge.common_methods  # that libraries' classes have, too
        self._effects = effects
        self._known: dict[str, bool] = {}

    def is_sure_at(self, function_id: str, span: Span) -> bool:
        """Whether a suspension of a function ends in one of a library, whatever stands for what is not known."""
        causes = self._effects[function_id].awaited.get(span)
        return causes is None or all([self._is_sure_cause(cause) for cause in causes])

    def is_sure(self, function_id: str) -> bool:
        """Whether a coroutine has such a suspension on some way through it."""
        known = self._known.get(function_id)
        if known is None:
            self._known[function_id] = False  # cut cycles
            known = self._known[function_id] = self._ends_surely(function_id)
        return known

    def _ends_surely(self, function_id: str) -> bool:
        function = self._symbols.functions[function_id][1]
        if is_abstract(function):  # what users put in its place is theirs to know
            owner = self._symbols.owner_of(function_id)
            overrides = self._symbols.overrides(owner, function.name) if owner else []
            return all([self.is_sure(override) for override in overrides])
        effects = self._effects.get(function_id)
        spans = effects.suspensions if effects is not None else ()
        return any([self.is_sure_at(function_id, span) for span in spans])

    def _is_sure_cause(self, cause: str) -> bool:
        if not cause.startswith("."):
            return not cause or self.is_sure(cause)
        name = cause[1:]
        if name in self._common:
            return True
        methods = [m for owner in self._symbols.owners(name) if (m := self._symbols.method(owner, name)) is not None]
        awaited = [m for m in methods if self._symbols.functions[m][1].is_async]
        whole = [m for m in awaited if not is_abstract(self._symbols.functions[m][1])]
        return all([self.is_sure(method) for method in whole]) if whole else CALLED_BACK.search(name) is None
