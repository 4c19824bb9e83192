"""Dead stores: captured variables that nobody reads any more when closures have begun to store to them.

`hosts, err := list(); if err != nil { return }; for _, host := range hosts { go func() { err = update(host) }() }`
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import loops_around
from racelint.analysis.places import Place
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Attr, Block, Build, Call, Closure, Expr, Function, Name, Op
from racelint.record import records
from racelint.span import Span

LEAKS = frozenset({"address", "window"})  # operators by which others may come to the variable itself


class DeadStores:
    """Finds such variables by all that their functions, and those nested in them, say of them."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[Place, bool] = {}

    def has(self, place: Place) -> bool:
        """Whether a variable is only read before the first closure that has to do with it is made, if at all."""
        if not _is_variable(place) or self.may_leak(place):
            return False
        if place not in self._known:
            source, owner = self._symbols.functions[place.owner]
            self._known[place] = _is_dead(place.name, owner, _nested(owner, source.module.functions))
        return self._known[place]

    def may_leak(self, place: Place) -> bool:
        """Whether a function lets others come to its variable itself: by its address, or as a method's receiver."""
        return _is_variable(place) and _leaks(place.name, self._symbols.functions[place.owner][1].body)


def _is_variable(place: Place) -> bool:
    return place.kind == "captured" and not place.depth


def _is_dead(variable: str, owner: Function, nested: dict[str, Function]) -> bool:
    if any(_reads(variable, function.body) for function in nested.values()):
        return False
    captures = {name for name, function in nested.items() if _speaks_of(variable, function.body)}
    holders = {name for name in nested if any(_is_in(inner, name, nested) for inner in captures)}
    made = [node.span for node in records(owner.body) if isinstance(node, Closure) and node.function in holders]
    return bool(made) and all(_is_before(read, made, owner.body) for read in _reads(variable, owner.body))


def _is_before(read: Span, made: list[Span], body: Block) -> bool:
    """Whether a read is over when the first of some closures is made, and does not come again."""
    return read[:2] < min(made)[:2] and not loops_around(body, read)


def _reads(variable: str, body: Block) -> list[Span]:
    """Where a variable stands that is not just given a value."""
    return [name.span for name in _names(body) if name.name == variable]


def _names(node: object) -> Iterator[Name]:
    """The variables in a block but those that are just given values."""
    todo = [node]
    while todo:
        found = todo.pop()
        match found:
            case Name():
                yield found
            case Assign(targets=targets, value=value):
                todo += [value, *[part for target in targets for part in _parts(target) if not isinstance(part, Name)]]
            case tuple():
                todo += [part for part in found if isinstance(part, tuple)]


def _parts(target: Expr) -> tuple[Expr, ...]:
    return target.parts if isinstance(target, Build) else (target,)


def _leaks(variable: str, body: Block) -> bool:
    for node in records(body):
        match node:
            case Op(operator=operator, operands=(Name(name=name), *_)) if operator in LEAKS and name == variable:
                return True
            case Op(operator="address", operands=operands) if any(_speaks_of(variable, each) for each in operands):
                return True
            case Call(func=Attr(base=Name(name=name))) if name == variable:
                return True
    return False


def _speaks_of(variable: str, node: object) -> bool:
    return any(isinstance(each, Name) and each.name == variable for each in records(node))


def _nested(owner: Function, functions: dict[str, Function]) -> dict[str, Function]:
    """The functions nested in one, however deep, by their qualnames."""
    return {name: each for name, each in functions.items() if _is_in(name, owner.qualname, functions) and each != owner}


def _is_in(name: str | None, outer: str, functions: dict[str, Function]) -> bool:
    """Whether a function is another one, or is nested in it."""
    while name is not None and name != outer:
        name = functions[name].parent if name in functions else None
    return name == outer
