"""Type cases: whether a value can get into `case *v1.Pod:`, by what is known of its type where it is handed over.

A static type that is no interface is the dynamic one, and that is of one case at most.
"""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.symbols import Symbols
from racelint.analysis.types import ClassType, LibraryType, Types
from racelint.analysis.values import Value
from racelint.model import TypeRef
from racelint.record import records

POINTER = "*"


class TypeCases:
    """Answers for values, in languages in which types are written down."""

    def __init__(self, symbols: Symbols, types: Types) -> None:
        self._symbols = symbols
        self._types = types
        self._pointed: frozenset[str] | None = None

    def may_be(self, value: Value, among: Set[str]) -> bool:
        """Whether a value may be of one of some types, of which none is an interface."""
        match self._types.of(value):
            case ClassType(type=type_id):
                return type_id in among or self._types.arriving.is_interface(type_id) or _is_called_like(type_id, among)
            case LibraryType(name=name) as found:
                return _is_called_like(name, among) or not (found.pointer or name in self._pointed_types())
            case _:
                return True

    def _pointed_types(self) -> frozenset[str]:
        """The libraries' types of which the program has pointers: interfaces are held themselves."""
        if self._pointed is None:
            declared = self._types.annotations.declared
            found = [declared(function_id, written) for written, function_id in self._pointers().items()]
            self._pointed = frozenset([each.name for each in found if isinstance(each, LibraryType)])
        return self._pointed

    def _pointers(self) -> dict[TypeRef, str]:
        """What pointers are written to lead to in other packages, each with one function that has it so."""
        known: dict[TypeRef, str] = {}
        for function_id, (source, function) in self._symbols.functions.items():
            if source.module.traits.duck_typed:
                continue
            for part in records((function.parameters, function.returns, function.body)):
                if isinstance(part, TypeRef) and part.name == POINTER and part.args and part.args[0].module:
                    known.setdefault(part.args[0], function_id)
        return known


def _is_called_like(name: str, among: Set[str]) -> bool:
    """Whether one of some types has the same name, in another package perhaps: one may be an alias of the other."""
    return name in among or _last(name) in {_last(each) for each in among}


def _last(name: str) -> str:
    return name.rpartition(":")[2].rpartition(".")[2]
