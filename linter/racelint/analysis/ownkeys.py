"""Keys of work queues: what a controller does for its own key only, it does once at a time.

A queue hands out one key to one worker; an agent leaves what is not its own: `if c.nodeName != node.Name { return }`.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import leaves
from racelint.analysis.contexts import Contexts
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Attr, Branch, Expr, Function, Logic, Name, Op
from racelint.span import Span


def is_for_own_key(spot: Spot, symbols: Symbols, contexts: Contexts) -> bool:
    """Whether some function on the way to an access goes on only for the object that has the name of its controller."""
    steps = [*contexts.way(spot.function, spot.entry), (spot.function, spot.access.span)]
    return any(_goes_on_for_own(symbols, function_id, span) for function_id, span in steps)


def _goes_on_for_own(symbols: Symbols, function_id: str, span: Span) -> bool:
    source, function = symbols.functions[function_id]
    if not function.owner or not function.parameters:
        return False
    for stmt in function.body:
        if stmt.span.holds(span) or stmt.span[:2] > span[:2]:
            return False
        if isinstance(stmt, Branch) and leaves(stmt.then):
            tests = stmt.test.operands if isinstance(stmt.test, Logic) and stmt.test.operator == "or" else (stmt.test,)
            owner = f"{source.name}:{function.owner}"
            if any(name in _names(symbols, owner) for test in tests for name in _differing(test, function)):
                return True
    return False


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
