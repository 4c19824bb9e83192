"""Phases: what a function does only as long as a variable of its own says that it has not told others yet.

`for row := range rows { if row == nil && !loaded { loaded = true; close(ready) } else if !loaded { keep(row) } }`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from racelint.analysis.branching import are_alternatives, blocks, ends_with, is_looped
from racelint.model import Assign, Block, Branch, Const, Eval, Expr, Function, Jump, Logic, Make, Name, Op, Stmt
from racelint.record import records
from racelint.span import Span

LEAVES = ("return", "raise", "continue", "break")
TOLD = Const(True)


def is_before(function: Function, spot: Span, words: Collection[Span]) -> bool:
    """Whether a function passes a spot only where a variable says that it has given none of some words."""
    return any(
        _is_said_once(function, name) and all(_is_said_with(function.body, name, word) for word in words)
        for name, region in _unset(function.body, spot)
        if not _may_be_set(region, name, spot)
    )


def _unset(body: Block, spot: Span) -> Iterator[tuple[str, Block]]:
    """The variables that are false where a function comes to a spot, and the statements since that is known."""
    for block in blocks(body):
        at = next((index for index, stmt in enumerate(block) if stmt.span.holds(spot)), None)
        for index, stmt in enumerate(block[: at + 1] if at is not None else ()):
            match stmt:
                case Branch(test=test, then=then, orelse=orelse) if index == at:
                    outcome = any(each.span.holds(spot) for each in then)
                    yield from [(name, then if outcome else orelse) for name in _false(test, outcome=outcome)]
                case Branch(test=test, then=then, orelse=()) if ends_with(then, *LEAVES):
                    yield from [(name, block[index + 1 : (at or 0) + 1]) for name in _false(test, outcome=False)]
                case _:
                    pass


def _false(test: Expr, *, outcome: bool) -> Iterator[str]:
    """The variables that are false if a test has an outcome."""
    match test:
        case Op(operator="not", operands=(operand,)):
            yield from _false(operand, outcome=not outcome)
        case Logic(operator=operator, operands=operands) if outcome == (operator == "and"):
            for operand in operands:
                yield from _false(operand, outcome=outcome)
        case Name(name=name, scope="local") if not outcome:
            yield name


def _may_be_set(region: Block, name: str, spot: Span) -> bool:
    """Whether a variable may have been set in some statements when a function comes to a spot in them."""
    return any(
        not are_alternatives(region, stored, spot, _is_jump) and (stored[:2] < spot[:2] or is_looped(region, stored))
        for stored in _stores(region, name)
    )


def _is_jump(stmt: Stmt) -> bool:
    return isinstance(stmt, Jump)


def _is_said_once(function: Function, name: str) -> bool:
    """Whether a variable of one function alone begins as false and is only set from then on."""
    if name in function.cells or name in [parameter.name for parameter in function.parameters]:
        return False
    if any(isinstance(node, Op) and node.operator == "address" and _is(node.operands[0], name)
           for node in records(function.body)):  # fmt: skip
        return False
    values = function.bindings.get(name, ())
    if not all([value == TOLD or _is_unset(value) for value in values]):
        return False
    unset = set(_stores(function.body, name)).difference(_stores(function.body, name, TOLD))
    return not any(is_looped(function.body, stored) for stored in unset)


def _is_unset(value: Expr) -> bool:
    """Whether a variable begins as false: `loaded := false`, `var loaded bool`."""
    return value == Const(False) or (isinstance(value, Make) and value.type.name == "bool" and not value.parts)


def _is_said_with(body: Block, name: str, word: Span) -> bool:
    """Whether a variable is set just before, or behind, something that is told to others."""
    for block in blocks(body):
        for index, stmt in enumerate(block):
            if isinstance(stmt, Eval) and stmt.span.holds(word):
                return any(_stores((each,), name, TOLD) for each in block[max(index - 1, 0) : index + 2]
                           if isinstance(each, Assign))  # fmt: skip
    return False


def _stores(body: Block, name: str, value: Expr | None = None) -> list[Span]:
    """Where a variable is given something, or given one value."""
    found = [node for node in records(body) if isinstance(node, Assign) and value in (None, node.value)]
    return [node.span for node in found if any(_is(target, name) for target in node.targets)]


def _is(expr: object, name: str) -> bool:
    return isinstance(expr, Name) and (expr.name, expr.scope) == (name, "local")
