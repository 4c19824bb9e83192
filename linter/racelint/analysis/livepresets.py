"""Live presets: constants by their name that the program changes by that name, as it goes: they hold a state.

`SETTINGS = {...}`, and in some function `SETTINGS[key] = value`: what is changed there is meant to be.
"""

from __future__ import annotations

from typing import TypeAlias

from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE
from racelint.analysis.values import Value
from racelint.model import Attr, Call, Item, Name
from racelint.record import records

CLASS_BODY = "<body>"
Named: TypeAlias = tuple[str, str]  # the type or module, and the field or variable


class LivePresets:
    """Tells which presets are changed by their own name; all functions have been evaluated."""

    def __init__(self, summaries: Summaries) -> None:
        self._summaries = summaries
        self._changed: frozenset[Named] | None = None
        self._completed: frozenset[Named] | None = None

    def has(self, start: Value) -> bool:
        """Whether what a path leads to, a field or a module's variable, is changed by its name."""
        if self._changed is None:
            functions = self._summaries.symbols.functions
            own = [
                f for f, (source, _) in functions.items() if source.reported and not f.endswith((MODULE, CLASS_BODY))
            ]
            self._changed = frozenset([named for function in own for named in self._changed_in(function)])
        return self._named(start) in self._changed

    def is_completed(self, start: Value) -> bool:
        """Whether anything, be it its own module as that is loaded, changes what a field or variable holds itself."""
        if self._completed is None:
            known = [self._summaries.known(function) for function in self._summaries.symbols.functions]
            changes = [change for each in known for change, _ in each.changes.values() if not change.calls]
            self._completed = frozenset([named for c in changes if (named := self._named(c.target)) is not None])
        named = self._named(start)
        return named is None or named in self._completed or self._is_completed_at_first(*named)

    def _is_completed_at_first(self, owner: str, name: str) -> bool:
        """Whether the body of a module or class does more with a variable than to set it."""
        own = f"{owner}.{CLASS_BODY}" if ":" in owner else f"{owner}:{MODULE}"
        functions = self._summaries.symbols.functions
        return own not in functions or any(_is_used(node, name) for node in records(functions[own][1].body))

    def _changed_in(self, function_id: str) -> list[Named]:
        """What a function itself changes, and says so."""
        changes = [change for change, _ in self._summaries.known(function_id).changes.values() if not change.calls]
        found = [(self._named(change.target), change.names) for change in changes]
        return [named for named, names in found if named is not None and named[1] in names]

    def _named(self, path: Value) -> Named | None:
        key = self._summaries.callbacks.key(path)
        return (key.owner, key.name) if key is not None else None


def _is_used(node: object, name: str) -> bool:
    """Whether an expression asks what a variable holds for something, or gives it to a call."""
    match node:
        case Item(base=Name(name=used)) | Attr(base=Name(name=used)):
            return used == name
        case Call(args=args):
            return any(isinstance(each, Name) and each.name == name for each in args)
        case _:
            return False
