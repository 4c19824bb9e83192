"""Partial copies: structs that are copied for functions which use other fields of them than the one at hand.

`func limitOf(job Job) int { return job.Spec.Limit }`, `limitOf(*t.job)`: `job.Status` is read, but nobody looks at it.
"""

from __future__ import annotations

from collections.abc import Mapping

from racelint.analysis.effects import Effects
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Element, Field, Member, Value
from racelint.model import Attr, Block, Call, Expr, Function, Name, Op
from racelint.record import records
from racelint.span import Span


class PartialCopies:
    """Tells reads that only copy a field with the struct around it."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects]) -> None:
        self._symbols = symbols
        self._effects = effects
        self._known: dict[tuple[str, Span], frozenset[str] | None] = {}

    def leave_out(self, spot: Spot) -> bool:
        """Whether an access is such a read, for a function that uses neither that field nor what it lies in."""
        if spot.access.kind not in ("read", "test"):
            return False
        key = (spot.function, spot.access.span)
        if key not in self._known:
            self._known[key] = self._used(*key)
        used = self._known[key]
        return used is not None and used.isdisjoint(_names(spot.access.path))

    def _used(self, function_id: str, copied: Span) -> frozenset[str] | None:
        """The fields that a callee uses of the copy that it is given, None if it may use all of them."""
        body = self._symbols.functions[function_id][1].body
        calls = [node for node in records(body) if isinstance(node, Call) and _index(node, copied) is not None]
        if len(calls) != 1:
            return None
        at = calls[0].span
        callees = [callee for span, callee in self._effects[function_id].calls if span == at]
        if len(callees) != 1 or not isinstance(callees[0], str) or callees[0] not in self._symbols.functions:
            return None
        callee, index = self._symbols.functions[callees[0]][1], _index(calls[0], copied)
        parameters = callee.parameters[1:] if callee.owner else callee.parameters
        if index is None or index >= len(parameters) or parameters[index].kind != "positional":
            return None
        return _fields(parameters[index].name, callee)


def _index(call: Call, copied: Span) -> int | None:
    """The position of the argument that copies a struct, by following a pointer."""
    return next(
        (
            i
            for i, arg in enumerate(call.args)
            if isinstance(arg, Op) and arg.operator == "deref" and arg.span == copied
        ),
        None,
    )


def _fields(name: str, function: Function) -> frozenset[str] | None:
    """The fields by which a function uses a parameter, if it does nothing else with that, nor calls its methods."""
    if name in function.cells:
        return None
    used = [node.name for node in records(function.body) if isinstance(node, Attr) and _is(node.base, name)]
    return frozenset(used) if len(used) == _mentions(name, function.body) and not _calls(name, function.body) else None


def _mentions(name: str, body: Block) -> int:
    return len([node for node in records(body) if isinstance(node, Name) and node.name == name])


def _calls(name: str, body: Block) -> bool:
    """Whether a method of a variable is called."""
    called = [node.func for node in records(body) if isinstance(node, Call)]
    return any(isinstance(func, Attr) and _is(func.base, name) for func in called)


def _is(expr: Expr, name: str) -> bool:
    return isinstance(expr, Name) and expr.name == name


def _names(path: Value) -> set[str]:
    """The fields on the way to a place."""
    found: set[str] = set()
    while isinstance(path, Field | Element | Member):
        if isinstance(path, Field):
            found.add(path.name)
        path = path.base
    return found
