"""Keys of work queues: what a controller does for its own key only, it does once at a time.

A queue hands out one key to one worker; an agent leaves what is not its own: `if c.nodeName != node.Name { return }`,
the reconciler of a single object what has another name: `if config.GetName() != ConfigName { return nil }`.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import leaves
from racelint.analysis.contexts import Contexts
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Attr, Branch, Call, Const, Expr, Function, Imported, Logic, Name, Op
from racelint.span import Span


def is_for_own_key(spot: Spot, symbols: Symbols, contexts: Contexts) -> bool:
    """Whether some function on the way to an access goes on only for the object that has the name of its controller."""
    steps = contexts.steps(spot.function, spot.entry, spot.access.span)
    return any(_goes_on_for_own(symbols, function_id, span) for function_id, span in steps)


def is_for_one_name(spot: Spot, symbols: Symbols, contexts: Contexts) -> bool:
    """Whether a reconciler on the way to an access goes on only for the object that has a constant name."""
    steps = contexts.steps(spot.function, spot.entry, spot.access.span)
    reconciling = [(f, span) for f, span in steps if "reconcile" in symbols.functions[f][1].name.lower()]
    return any(
        _has_other_name(test)
        for function_id, span in reconciling
        for test in _left_by(symbols.functions[function_id][1], span)
    )


def _has_other_name(test: Expr) -> bool:
    """`object.GetName() != NAME`"""
    if not isinstance(test, Op) or test.operator != "!=" or len(test.operands) != 2:
        return False
    named = [_is_name_of_object(side) for side in test.operands]
    constant = [isinstance(side, Const) or _is_of_package(side) for side in test.operands]
    return (named[0] and constant[1]) or (named[1] and constant[0])


def _is_name_of_object(expr: Expr) -> bool:
    if isinstance(expr, Call):
        return isinstance(expr.func, Attr) and expr.func.name == "GetName" and not expr.args
    return isinstance(expr, Attr) and expr.name == "Name" and not _is_of_package(expr)


def _is_of_package(expr: Expr) -> bool:
    """Whether an expression is a name of this or another package."""
    inner = expr.base if isinstance(expr, Attr) else expr
    return isinstance(inner, Imported) or (isinstance(inner, Name) and inner.scope == "global")


def _left_by(function: Function, span: Span) -> Iterator[Expr]:
    """The tests on which a function leaves before a spot, each enough for that."""
    for stmt in function.body:
        if stmt.span.holds(span) or stmt.span[:2] > span[:2]:
            return
        if isinstance(stmt, Branch) and leaves(stmt.then):
            test = stmt.test
            yield from test.operands if isinstance(test, Logic) and test.operator == "or" else (test,)


def _goes_on_for_own(symbols: Symbols, function_id: str, span: Span) -> bool:
    source, function = symbols.functions[function_id]
    if not function.owner or not function.parameters:
        return False
    owner = f"{source.name}:{function.owner}"
    tests = _left_by(function, span)
    return any(name in _names(symbols, owner) for test in tests for name in _differing(test, function))


def _differing(test: Expr, function: Function) -> Iterator[str]:
    """The fields of the receiver that a test finds different from a field of another object."""
    if isinstance(test, Op) and test.operator == "!=" and all(isinstance(side, Attr) for side in test.operands):
        receiver = function.parameters[0].name
        mine = [isinstance(side, Attr) and side.base == _named(side.base, receiver) for side in test.operands]
        if sum(mine) == 1:
            yield from (
                side.name for side, own in zip(test.operands, mine, strict=True) if isinstance(side, Attr) and own
            )


def _named(expr: Expr, name: str) -> Expr | None:
    return expr if isinstance(expr, Name) and expr.name == name else None


def _names(symbols: Symbols, owner: str) -> set[str]:
    """The fields of a type that hold a text."""
    known = symbols.types.get(owner)
    fields = known[1].fields if known is not None else {}
    return {name for name, record in fields.items() if record.annotation and record.annotation.name == "string"}
