"""Positions: what is taken out by one is taken out of a sequence, of whatever type that is.

`if x.name == name: del xs[xs.index(x)]`: mostly there is one of that name.
"""

from __future__ import annotations

from racelint.analysis.branching import around
from racelint.analysis.state import IDENTIFYING
from racelint.analysis.summary import Conflict
from racelint.analysis.symbols import Symbols
from racelint.model import Attr, Branch, Build, Call, Const, Delete, Expr, Function, Item, Loop, Name, Op
from racelint.record import records

BY_KEY = frozenset({"del", ".pop()"})


def is_named_by_position(conflict: Conflict, symbols: Symbols) -> bool:
    """Whether a loop itself takes out what it has found by a name, and says where that is.

    It does so by `index()`, or by what `enumerate()` counts.
    """
    event = conflict.resize
    if event.change != "remove" or event.operation not in BY_KEY or event.calls:
        return False
    function = symbols.functions[event.function][1]
    keys = [key for node in records(function.body) if (key := _key(node, conflict)) is not None]
    if not (keys and all(_is_position(key, function, conflict) for key in keys)):
        return False
    branches = [stmt for stmt in around(function.body, event.span) if isinstance(stmt, Branch)]
    return any(_asks_name(node) for branch in branches for node in records((branch.test,)))


def _asks_name(test: object) -> bool:
    """Whether something is compared with the name of something: `x.name == name`, `x["id"] == found`."""
    match test:
        case Op(operator="==", operands=operands):
            return any(_last(operand).lower() in IDENTIFYING for operand in operands)
        case _:
            return False


def _last(expr: Expr) -> str:
    match expr:
        case Attr(name=name) | Item(key=Const(value=str(name))):
            return name
        case _:
            return ""


def _key(node: object, conflict: Conflict) -> Expr | None:
    """By what a statement or a call takes out what a conflict is about."""
    match node:
        case Delete(target=Item(key=key, span=inner), span=span) if conflict.resize.span in (span, inner):
            return key
        case Call(func=Attr(name="pop"), args=(key, *_), span=span) if conflict.resize.span == span:
            return key
        case _:
            return None


def _is_position(key: Expr, function: Function, conflict: Conflict) -> bool:
    if isinstance(key, Name):
        given = function.bindings.get(key.name, ())
        return _is_counted(key.name, function, conflict) or (bool(given) and all(map(_is_index, given)))
    return _is_index(key)


def _is_index(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.func, Attr) and expr.func.name == "index"


def _is_counted(name: str, function: Function, conflict: Conflict) -> bool:
    """Whether a variable counts the turns of the loop."""
    for node in records(function.body):
        match node:
            case Loop(
                target=Build(parts=(Name(name=counted), _)), iterable=Call(func=Name(name="enumerate", scope="global"))
            ) if node.span == conflict.loop.span:
                return counted == name
            case _:
                pass
    return False
