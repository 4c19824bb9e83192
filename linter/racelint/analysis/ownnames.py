"""Modules that walk the dict of their own names, while the loop gives new names to it."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.state import Resize
from racelint.analysis.summary import Conflict, Place
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Builtin, Literal
from racelint.model import Assign, Attr, Block, Branch, Build, Call, Expr, Hold, Jump, Loop, Name, Stmt, Try

NAMESPACES = frozenset({"globals", "locals", "vars"})
VIEWS = frozenset({"items", "keys", "values"})


def conflicts(symbols: Symbols) -> Iterator[Conflict]:
    """The loops of reported modules over their own names that are the first to use one of their variables."""
    for function_id, (source, function) in symbols.functions.items():
        if source.reported and function.qualname == MODULE and source.module.traits.live_views:
            for index, stmt in enumerate(function.body):
                if isinstance(stmt, Loop) and stmt.iterable is not None and not _ends(stmt.body):
                    before = _bound(function.body[:index]) | source.module.imports.keys()
                    yield from _conflict(function_id, stmt, _walked(stmt.iterable), before)


def _conflict(function_id: str, loop: Loop, walked: tuple[str, str] | None, before: set[str]) -> Iterator[Conflict]:
    """One for the first name that the loop adds."""
    target = _names(loop.target) if loop.target is not None else []
    new = [name for name in (*target, *_stored(loop.body)) if name.name not in before]
    if walked is None or not new:
        return
    space, style = walked
    container = Builtin(f"{space}()")
    added = Resize(
        container, "insert", "[...] =", (Literal(new[0].name, "str"),), function_id, new[0].span, kind="dict"
    )
    place = Place(function_id, loop.span, loop.iterable)
    yield Conflict(place, Place(function_id, new[0].span), container, "dict", style, added)


def _walked(iterable: Expr) -> tuple[str, str] | None:
    """Which namespace a loop goes over, live, and how."""
    match iterable:
        case Call(func=Attr(base=base, name=view), args=()) if view in VIEWS:
            found = _walked(base)
            return (found[0], view) if found is not None and found[1] == "direct" else None
        case Call(func=Name(name=name, scope="global"), args=(), keywords=()) if name in NAMESPACES:
            return name, "direct"
        case _:
            return None


def _bound(block: Block) -> set[str]:
    """The names that some statements, or statements in them, may have given a value, imported or defined."""
    return {name.name for name in _stored(block)}


def _stored(block: Block) -> list[Name]:
    """The variables to which some statements give values, in order."""
    found: list[Name] = []
    for stmt in block:
        found += _stored_by(stmt)
    return found


def _stored_by(stmt: Stmt) -> list[Name]:
    match stmt:
        case Assign(targets=targets):
            return [name for target in targets for name in _names(target)]
        case Branch(then=then, orelse=orelse):
            return _stored((*then, *orelse))
        case Loop(target=target, body=body, orelse=orelse):
            return [*(_names(target) if target is not None else []), *_stored((*body, *orelse))]
        case Hold(items=items, body=body):
            return [name for _, target in items if target is not None for name in _names(target)] + _stored(body)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            inner = [stmt for handler in handlers for stmt in handler.body]
            return _stored((*body, *inner, *orelse, *final))
        case _:
            return []


def _names(target: Expr) -> list[Name]:
    parts = target.parts if isinstance(target, Build) else (target,)
    return [part for part in parts if isinstance(part, Name)]


def _ends(body: Block) -> bool:
    """Whether the loop has one turn only."""
    return bool(body) and isinstance(body[-1], Jump) and body[-1].kind != "continue"
