"""Wrapping: remembered results that are no objects of their own, but show or are the state of the object asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racelint.analysis.paths import prefixes, root
from racelint.analysis.values import Copy, Field, Fresh, Param, Result, TypeValue
from racelint.model import Attr, Call, Expr, Function, Jump, Name

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries


def is_view(function_id: str, function: Function, summaries: Summaries) -> bool:
    """Whether a method returns a new object that only shows the method's own object: `return Rows(self._rows)`.

    Its class says itself what its entries are, and its constructor keeps what it was given of the method's object.
    """
    match function.body:
        case (*_, Jump(kind="return", value=Call(func=func, args=args, keywords=()) as made)) if function.owner:
            source, _ = summaries.symbols.functions[function_id]
            owner = summaries.symbols.static(source.name, func)
            only = [v.site.span for v in summaries.of(function_id).returns if isinstance(v, Fresh)] == [made.span]
            if not only or not isinstance(owner, TypeValue) or not summaries.symbols.method(owner.type, "__getitem__"):
                return False
            own = [index for index, arg in enumerate(args) if _is_own(arg, function)]
            return any(_keeps(owner.type, index + 1, summaries) for index in own)
        case _:
            return False


def _is_own(expr: Expr, function: Function) -> bool:
    while isinstance(expr, Attr):
        expr = expr.base
    return isinstance(expr, Name) and bool(function.parameters) and expr.name == function.parameters[0].name


def _keeps(type_id: str, index: int, summaries: Summaries) -> bool:
    """Whether a constructor keeps an argument, or a part of it, as it is."""
    method = summaries.symbols.method(type_id, "__init__")
    if method is None:
        return False
    kept = [v for values in summaries.of(method).stores.values() for v in values if root(v) == Param(method, index)]
    return any(not any(isinstance(step, Copy) for step in prefixes(value)) for value in kept)


def is_own_state(function_id: str, summaries: Summaries) -> bool:
    """Whether a method also keeps all that it returns in fields of its own object."""
    summary = summaries.known(function_id)
    instance = Param(function_id, 0)
    own = [v for p, values in summary.stores.items() if isinstance(p, Field) and p.base == instance for v in values]
    return all(isinstance(value, Fresh | Result) and value in own for value in summary.returns)
