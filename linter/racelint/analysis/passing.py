"""Passing: what a function has surely come by when it returns, or when it comes to another spot.

`if r.pool != nil { return nil }; pool, err := open(); if err != nil { return err }; r.pool = pool`: who returns without
an error has passed the store, or has found filled in what that fills.
"""

from __future__ import annotations

from collections.abc import Callable

from racelint.analysis.branching import blocks, leaves
from racelint.model import (
    Assign,
    Attr,
    Block,
    Branch,
    Build,
    Const,
    Defer,
    Expr,
    Function,
    Hold,
    Jump,
    Labelled,
    Loop,
    Name,
    Op,
    Spawn,
    Stmt,
    Try,
)
from racelint.record import records
from racelint.span import Span

FAILURE = "error"


def fails(function: Function, jump: Jump) -> bool:
    """Whether a return says that something has failed."""
    value = _last(jump.value)
    return tells_failure(function) and value is not None and value != Const(None)


def tells_failure(function: Function) -> bool:
    """Whether what a function returns last is an error, or nothing."""
    returns = function.returns
    last = returns.args[-1] if returns is not None and returns.name == "results" and returns.args else returns
    return last is not None and last.name == FAILURE


def _last(value: Expr | None) -> Expr | None:
    return value.parts[-1] if isinstance(value, Build) and value.parts else value


def passes(block: Block, spot: Span, may_leave: Callable[[Jump], bool], asks: Callable[[Expr], bool]) -> bool:
    """Whether who passes a block passes a spot in it, or finds filled in what that fills; else he leaves as he may."""
    for stmt in block:
        if stmt.span.holds(spot):
            return _passes_in(stmt, spot, may_leave, asks)
        found = isinstance(stmt, Branch) and leaves(stmt.then) and finds(stmt.test) and asks(stmt.test)
        jumps = [part for part in records((stmt,)) if isinstance(part, Jump) and part.kind == "return"]
        if not found and not all(map(may_leave, jumps)):
            return False
    return False


def finds(test: Expr) -> bool:
    """Whether a test holds where something is there."""
    return isinstance(test, Name | Attr) or (isinstance(test, Op) and test.operator in ("is not", "!="))


def _passes_in(stmt: Stmt, spot: Span, may_leave: Callable[[Jump], bool], asks: Callable[[Expr], bool]) -> bool:
    match stmt:
        case Hold(body=body) if any([each.span.holds(spot) for each in body]):
            return passes(body, spot, may_leave, asks)
        case Branch(test=test, then=then, orelse=orelse) if any([each.span.holds(spot) for each in (*then, *orelse)]):
            return asks(test) and not finds(test) and passes(then, spot, may_leave, asks)
        case Branch(test=test):
            return isinstance(test, Op)
        case Loop() | Try() | Labelled() | Defer() | Spawn():
            return False
        case _:
            return True


def comes_before(block: Block, spot: Span, before: Span, asks: Callable[[Expr], bool]) -> bool:
    """Whether a spot has been passed, or what it fills has been found filled in, by who comes to another one."""
    for stmt in block:
        if stmt.span.holds(before):
            inner = [each for each in blocks((stmt,)) if each != (stmt,) and any(s.span.holds(before) for s in each)]
            return any(comes_before(each, spot, before, asks) for each in inner)
        if stmt.span.holds(spot):
            return _passes_in(stmt, spot, lambda _: True, asks)
    return False


def _goes_on(_: Stmt) -> bool:
    return False


def is_heeded(body: Block, call: Span, ends: Callable[[Stmt], bool] = _goes_on) -> bool:
    """Whether a function that has got an error from a call leaves with one: `if err := f(); err != nil { return err }`.

    Or it returns what it has got, or calls what ends the program, which `ends` tells.
    """
    for block in blocks(body):
        for index, stmt in enumerate(block):
            if stmt.span.holds(call) and isinstance(stmt, Jump) and stmt.kind == "return":
                return True
            if stmt.span.holds(call) and isinstance(stmt, Assign) and index + 1 < len(block):
                target, behind = _last(stmt.targets[-1]), block[index + 1]
                return (
                    isinstance(target, Name)
                    and isinstance(behind, Branch)
                    and (leaves(behind.then) or any(map(ends, behind.then[-1:])))
                    and _is_something(behind.test, target.name)
                )
    return False


def _is_something(test: Expr, name: str) -> bool:
    """Whether a test asks whether a variable holds something."""
    match test:
        case Op(operator="is not", operands=(Name(name=found), Const(value=None))):
            return found == name
        case _:
            return False
