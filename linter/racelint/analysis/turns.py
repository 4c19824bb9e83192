"""Turns: what a loop does in each turn with a thing of that turn has nothing to do with what earlier turns started.

`for _, service := range services { service.Configure(); go service.Serve() }`: the next turn's `Configure` comes beside
this turn's `Serve`, but on another service.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import loops_around
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Attr, Build, Call, Cast, Closure, Expr, Item, Loop, Name, Op
from racelint.record import records
from racelint.span import Span

PARTS = frozenset({"address", "deref"})


def is_about_its_own(symbols: Symbols, function_id: str, call: Span, start: Span) -> bool:
    """Whether a function calls a method of what is another thing in each turn, and then starts something with that."""
    source, function = symbols.functions[function_id]
    loops = [loop for loop in loops_around(function.body, start) if loop.span.holds(call)]
    if not loops or call[:2] >= start[:2]:
        return False
    own = _own_of_each(loops[-1])
    made = [found for found in records(loops[-1].body) if isinstance(found, Call) and found.span == call]
    subjects = {_subject(found.func.base) for found in made if isinstance(found.func, Attr)}
    return bool(subjects) and subjects <= own and subjects <= set(_started(symbols, source.name, loops[-1], start))


def _own_of_each(loop: Loop) -> set[str]:
    """The variables that stand for another thing in each turn: what is iterated, and what was read by way of it."""
    targets = loop.target.parts if isinstance(loop.target, Build) else (loop.target,)
    own = {target.name for target in targets if isinstance(target, Name)}
    stores = [stmt for stmt in records(loop.body) if isinstance(stmt, Assign)]
    for stmt in sorted(stores, key=lambda stmt: stmt.span[:2]):
        names = {name.name for name in records(stmt.targets) if isinstance(name, Name) and name.scope == "local"}
        plain = {target.name for target in stmt.targets if isinstance(target, Name)}
        own = own | plain if plain == names and _subject(stmt.value) in own else own - plain
    return own


def _subject(expr: Expr) -> str:
    """The variable that an expression is a part of; of what an index of the turn leads to, the index."""
    while True:
        match expr:
            case Item(key=Name(name=name)):
                return name
            case Attr(base=base) | Item(base=base) | Cast(value=base):
                expr = base
            case Op(operator=operator, operands=(base,)) if operator in PARTS:
                expr = base
            case Name(name=name):
                return name
            case _:
                return ""


def _started(symbols: Symbols, module: str, loop: Loop, start: Span) -> Iterator[str]:
    """The variables that a start has to do with: what it is given, and what its closure uses."""
    for found in records(loop.body):
        if getattr(found, "span", None) == start:
            for part in records(found):
                if isinstance(part, Closure):
                    yield from symbols.captured_by(f"{module}:{part.function}")
                elif isinstance(part, Name):
                    yield part.name
                elif isinstance(part, Item):
                    yield _subject(part)
