"""Recomputing: stores of what each run computes anew from fields that nobody changes: all of them store the same.

`q.format = fmt.Sprintf("%%0%dd", len(strconv.Itoa(q.most)))` in each of several workers, where `q.most` is set before
they start: what one of them puts in the place of another one's is equal to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from racelint.analysis.effects import Access
from racelint.analysis.places import Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import LibraryType
from racelint.analysis.values import Builtin
from racelint.model import Assign, Attr, Call, Const, Expr, Function, Name, Op
from racelint.record import records

COMPUTES = frozenset({"+", "-", "*", "/", "%", "length"})  # operators


class Recomputing:
    """Compares what functions store in fields of their own objects; `spots` are all accesses of places."""

    def __init__(self, symbols: Symbols, spots: Mapping[Place, Sequence[Spot]], places: Places) -> None:
        self._symbols = symbols
        self._spots = spots
        self._places = places

    def stores_the_same(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether two runs of one statement store what does not depend on the run, in a field of their own object."""
        if place.kind != "field" or place.depth or write.function != other.function or write.access != other.access:
            return False
        if not isinstance(write.access, Access) or write.access.kind != "store" or not write.located.own:
            return False
        function = self._symbols.functions[write.function][1]
        stored = [
            stmt.value
            for stmt in records(function.body)
            if isinstance(stmt, Assign)
            and any(isinstance(t, Attr) and t.span == write.access.span for t in stmt.targets)
        ]
        return len(stored) == 1 and isinstance(stored[0], Call | Op) and self._is_fixed(write, function, stored[0])

    def _is_fixed(self, spot: Spot, function: Function, expr: Expr) -> bool:
        """Whether an expression depends on nothing but fields of the own object that nobody changes."""
        match expr:
            case Const():
                return True
            case Attr(base=Name(name=own), name=name) if own == function.own and name[:1].islower():
                return self._is_kept(spot.function, Place("field", self._symbols.owner_of(spot.function), name))
            case Call(func=func, args=args, keywords=()):
                called = self._symbols.meant(spot.function, func)
                computes = (
                    isinstance(called, Builtin) and self._places.knowledge.does(called.name, "computes") is not None
                )
                return computes and all(self._is_fixed(spot, function, each) for each in args)
            case Op(operator=operator, operands=operands) if operator in COMPUTES:
                return all(self._is_fixed(spot, function, each) for each in operands)
            case _:
                return False

    def _is_kept(self, function_id: str, field: Place) -> bool:
        """Whether a field is a number, a text or a truth value that nobody changes while others run."""
        kind = self._places.type_of(field)
        scalars = self._symbols.functions[function_id][0].module.traits.scalars
        if not isinstance(kind, LibraryType) or kind.pointer or kind.name not in scalars:
            return False
        return not any(spot.is_write for spot in self._spots.get(field, ()))
