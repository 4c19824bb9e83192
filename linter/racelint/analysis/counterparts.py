"""Counterparts: what a library puts into a field of a class of the project."""

from __future__ import annotations

from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import ClassType, TypeOf
from racelint.analysis.values import Builtin, TypeValue
from racelint.knowledge import Knowledge


class Counterparts:
    """Finds the classes that libraries bring together, by rows of the library knowledge."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._knowledge = knowledge

    def of(self, type_id: str, name: str) -> TypeOf | None:
        """What a library puts into a field of a class below its own: what is made with this class, or the one class of
        the module that is made for that.
        """
        for row in self._knowledge.concurrency.counterparts:
            if row.field == name and self._is_below(type_id, row.bases):
                fitting = [other for other in self._symbols.types if self._is_below(other, row.types)]
                near = [other for other in fitting if other.partition(":")[0] == type_id.partition(":")[0]]
                found = [other for other in fitting if self._is_made_with(other, type_id)] or near
                return ClassType(found[0]) if len(found) == 1 else None
        return None

    def _is_made_with(self, type_id: str, other: str) -> bool:
        given = [(f, arg) for f, made in self._symbols.constructions(type_id) for arg in made.call.args]
        return any(self._symbols.meant(function_id, arg) == TypeValue(other) for function_id, arg in given)

    def _is_below(self, type_id: str, libraries: tuple[str, ...]) -> bool:
        return any(isinstance(a, Builtin) and a.name in libraries for a in self._symbols.ancestors(type_id))
