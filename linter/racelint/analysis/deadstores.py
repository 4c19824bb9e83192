"""Dead stores: captured variables that nobody reads any more when closures have begun to store to them.

`hosts, err := list(); if err != nil { return }; for _, host := range hosts { go func() { err = update(host) }() }`

So it is with numbers that all code which sees them only counts on: `s.answered++`, and nobody asks how many.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import loops_around
from racelint.analysis.places import Place
from racelint.analysis.symbols import Symbols
from racelint.analysis.unset import is_of_other_builds
from racelint.analysis.written import plain
from racelint.model import Assign, Attr, Block, Build, Call, Closure, Expr, Function, Item, Name, Op, Update
from racelint.record import records
from racelint.span import Span

LEAKS = frozenset({"address", "window"})  # operators by which others may come to the variable itself
RECKONS = frozenset({"+", "-", "*", "/"})


class DeadStores:
    """Finds such variables by all that their functions, and those nested in them, say of them, or their packages."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[Place, bool] = {}
        self._counted: dict[Place, bool] = {}

    def has(self, place: Place) -> bool:
        """Whether a variable is only read before the first closure that has to do with it is made, if at all."""
        if not _is_variable(place) or self.may_leak(place):
            return False
        if place not in self._known:
            self._known[place] = self._is_dead(place, counted=False)
        return self._known[place]

    def may_leak(self, place: Place) -> bool:
        """Whether a function lets others come to its variable itself: by its address, or as a method's receiver."""
        return _is_variable(place) and _leaks(place.name, self._symbols.functions[place.owner][1].body)

    def is_only_counted(self, number: Place) -> bool:
        """Whether a number is only read to give it its next value, by all code that can see it, but for tests."""
        if number not in self._counted:
            self._counted[number] = not number.depth and self._is_only_counted(number)
        return self._counted[number]

    def _is_only_counted(self, number: Place) -> bool:
        if number.kind == "captured":
            return not self.may_leak(number) and self._is_dead(number, counted=True)
        module = number.owner.partition(":")[0]
        if number.kind not in ("field", "global") or not number.name[:1].islower():
            return False  # other packages may read it, and what encodes an object
        if self._symbols.content(module).traits.duck_typed or is_of_other_builds(self._symbols, module, number.name):
            return False
        functions = self._symbols.functions.values()
        bodies = (f.body for s, f in functions if s.name == module and (s.reported or s.module.generated))
        return not any(use.name == number.name for body in bodies for use in _uses(body, counted=True))

    def _is_dead(self, place: Place, *, counted: bool) -> bool:
        source, owner = self._symbols.functions[place.owner]
        return _is_dead(place.name, owner, _nested(owner, source.module.functions), counted=counted)


def _is_variable(place: Place) -> bool:
    return place.kind == "captured" and not place.depth


def _is_dead(variable: str, owner: Function, nested: dict[str, Function], *, counted: bool) -> bool:
    if any(_reads(variable, function.body, counted=counted) for function in nested.values()):
        return False
    captures = {name for name, function in nested.items() if _speaks_of(variable, function.body)}
    holders = {name for name in nested if any(_is_in(inner, name, nested) for inner in captures)}
    made = [node.span for node in records(owner.body) if isinstance(node, Closure) and node.function in holders]
    reads = _reads(variable, owner.body, counted=counted)
    return bool(made) and all(_is_before(read, made, owner.body) for read in reads)


def _is_before(read: Span, made: list[Span], body: Block) -> bool:
    """Whether a read is over when the first of some closures is made, and does not come again."""
    return read[:2] < min(made)[:2] and not loops_around(body, read)


def _reads(variable: str, body: Block, *, counted: bool) -> list[Span]:
    """Where a variable stands that is not just given a value."""
    return [use.span for use in _uses(body, counted=counted) if isinstance(use, Name) and use.name == variable]


def _uses(node: object, *, counted: bool) -> Iterator[Name | Attr]:
    """The variables and fields in a block but those that are just given values.

    `counted` says that what is only read for its own next value does not count: `n++`, `n = n + 1`.
    """
    todo = [node]
    while todo:
        found = todo.pop()
        match found:
            case Name():
                yield found
            case Attr(base=base):
                yield found
                todo.append(base)
            case Assign(targets=(target,), value=value) if counted and isinstance(target, Name | Attr):
                todo += [*_operands(value, plain(target)), *_bases(target)]
            case Assign(targets=targets, value=value):
                todo += [value, *[base for target in targets for part in _parts(target) for base in _bases(part)]]
            case Update(target=target, value=value) if counted:
                todo += [value, *_bases(target)]
            case tuple():
                todo += [part for part in found if isinstance(part, tuple)]


def _parts(target: Expr) -> tuple[Expr, ...]:
    return target.parts if isinstance(target, Build) else (target,)


def _bases(target: Expr) -> tuple[Expr, ...]:
    """What is read to find what is given a value."""
    match target:
        case Name():
            return ()
        case Attr(base=base):
            return (base,)
        case _:
            return (target,)


def _operands(value: Expr, target: object) -> list[Expr]:
    """What a value is reckoned of but its target's own, as it is written."""
    if isinstance(value, Op) and value.operator in RECKONS:
        return [part for operand in value.operands for part in _operands(operand, target)]
    return [] if plain(value) == target else [value]


def _leaks(variable: str, body: Block) -> bool:
    for node in records(body):
        match node:
            case Op(operator=operator, operands=(Name(name=name), *_)) if operator in LEAKS and name == variable:
                return True
            case Op(operator="address", operands=(first, *_)) if _holder(first) == variable:
                return True
            case Call(func=Attr(base=Name(name=name))) if name == variable:
                return True
    return False


def _holder(part: Expr) -> str:
    """The variable in which something lies that has an address: `hosts[0].name`."""
    while isinstance(part, Attr | Item):
        part = part.base
    return part.name if isinstance(part, Name) else ""


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
