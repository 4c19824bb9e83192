"""Look-ups: loops that hand out of a sequence what belongs to the first element of some key, as if there were but one.

`for _, loc := range s.locations { if loc.Machine.Name == name { return loc.Node } }`: whoever takes out the location of
that machine takes out one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis import sweeps
from racelint.analysis.branching import around
from racelint.analysis.state import IDENTIFYING
from racelint.analysis.summary import Conflict
from racelint.analysis.symbols import Symbols
from racelint.model import Attr, Block, Branch, Const, Expr, Jump, Logic, Loop, Name, Op
from racelint.record import records


class Key(NamedTuple):
    """A part of the elements of a field's sequence, which is the name of something."""

    container: str
    path: tuple[str, ...]


class LookUps:
    """Knows by which parts of its elements a package looks into a field."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._found: dict[str, frozenset[Key]] = {}

    def picks_one(self, conflict: Conflict) -> bool:
        """Whether a loop changes what it walks for the element of a key, and its package looks that up elsewhere."""
        source, function = self._symbols.functions[conflict.loop.function]
        if source.module.traits.duck_typed or conflict.resize.calls:
            return False
        loop = next((n for n in records(function.body) if isinstance(n, Loop) and n.span == conflict.loop.span), None)
        if loop is None or sweeps.swaps_in_last(loop.body):
            return False
        tests = [node.test for node in around(loop.body, conflict.resize.span) if isinstance(node, Branch)]
        keys = {key for test in tests for key in _keys(loop, test)}
        return bool(keys) and not keys.isdisjoint(self._of(conflict.loop.function.partition(":")[0]))

    def _of(self, package: str) -> frozenset[Key]:
        """What a package looks up."""
        if package not in self._found:
            own = [f for each, (_, f) in self._symbols.functions.items() if each.startswith(f"{package}:")]
            loops = [node for function in own for node in records(function.body) if isinstance(node, Loop)]
            self._found[package] = frozenset([key for loop in loops for key in _looked_up(loop)])
        return self._found[package]


def _looked_up(loop: Loop) -> Iterator[Key]:
    """By what a loop finds an element of which it returns a part, or itself."""
    for stmt in loop.body:
        if isinstance(stmt, Branch) and stmt.then and _hands_out(stmt.then, sweeps.targeted(loop)):
            yield from _keys(loop, stmt.test)


def _hands_out(block: Block, elements: frozenset[str]) -> bool:
    match block[-1]:
        case Jump(kind="return", value=value) if value is not None:
            return any(isinstance(node, Name) and node.name in elements for node in records((value,)))
        case _:
            return False


def _keys(loop: Loop, test: Expr) -> Iterator[Key]:
    """The parts of a loop's element that a test compares with what is the same in each turn."""
    match test:
        case Logic(operator="and", operands=operands):
            for operand in operands:
                yield from _keys(loop, operand)
        case Op(operator="==", operands=(left, right)):
            for mine, other in ((left, right), (right, left)):
                key = _key(loop, mine)
                if key is not None and not isinstance(other, Const) and _stays(other, loop):
                    yield key


def _key(loop: Loop, expr: Expr) -> Key | None:
    """A part of a loop's element that is somebody's name, if the loop walks a field."""
    walked = loop.iterable
    while isinstance(walked, Op) and len(walked.operands) == 1:
        walked = walked.operands[0]
    path: list[str] = []
    while isinstance(expr, Attr):
        path.append(expr.name)
        expr = expr.base
    named = isinstance(expr, Name) and expr.name in sweeps.targeted(loop) and path and path[0].lower() in IDENTIFYING
    return Key(walked.name, tuple(path)) if isinstance(walked, Attr) and named else None


def _stays(expr: Expr, loop: Loop) -> bool:
    """Whether an access path names nothing that a turn of a loop gives a value."""
    while isinstance(expr, Attr):
        expr = expr.base
    inner = [node for node in records((loop,)) if isinstance(node, Loop)]
    given = sweeps.assigned(loop.body).union(*[sweeps.targeted(each) for each in inner])
    return isinstance(expr, Name) and expr.name not in given
