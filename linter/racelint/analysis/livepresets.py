"""Live presets: constants by their name that the program changes by that name, as it goes: they hold a state.

`SETTINGS = {...}`, and in some function `SETTINGS[key] = value`: what is changed there is meant to be.
"""

from __future__ import annotations

from typing import TypeAlias

from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE
from racelint.analysis.values import Value

Named: TypeAlias = tuple[str, str]  # the type or module, and the field or variable


class LivePresets:
    """Tells which presets are changed by their own name; all functions have been evaluated."""

    def __init__(self, summaries: Summaries) -> None:
        self._summaries = summaries
        self._changed: frozenset[Named] | None = None

    def has(self, start: Value) -> bool:
        """Whether what a path leads to, a field or a module's variable, is changed by its name."""
        if self._changed is None:
            functions = self._summaries.symbols.functions
            own = [f for f, (source, _) in functions.items() if source.reported and not f.endswith((MODULE, "<body>"))]
            self._changed = frozenset([named for function in own for named in self._changed_in(function)])
        return self._named(start) in self._changed

    def _changed_in(self, function_id: str) -> list[Named]:
        """What a function itself changes, and says so."""
        changes = [change for change, _ in self._summaries.known(function_id).changes.values() if not change.calls]
        found = [(self._named(change.target), change.names) for change in changes]
        return [named for named, names in found if named is not None and named[1] in names]

    def _named(self, path: Value) -> Named | None:
        key = self._summaries.callbacks.key(path)
        return (key.owner, key.name) if key is not None else None
