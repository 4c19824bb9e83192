"""Expressions as they are written, without the places where they stand."""

from __future__ import annotations

from racelint.model import Attr, Call, Expr, Item, Name
from racelint.span import Span


def dotted(expr: Expr | None) -> str:
    """A path of names as text; what is no name is left out."""
    match expr:
        case Name(name=name):
            return name.partition("@")[0]
        case Attr(base=base, name=name):
            inner = dotted(base)
            return f"{inner}.{name}" if inner else name
        case Call(func=func):
            return dotted(func)
        case Item(base=base):
            return dotted(base)
        case _:
            return ""


def plain(expr: object) -> object:
    """An expression without the places where its parts stand: equal where the same is written."""
    if isinstance(expr, Span):
        return None
    if isinstance(expr, tuple):
        return (type(expr).__name__, *map(plain, expr))
    return expr
