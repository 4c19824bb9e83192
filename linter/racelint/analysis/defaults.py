"""Defaults of parameters that are made once: whether anything can be left in them for the next call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.branching import around
from racelint.analysis.origins import QUIET, REMOVALS
from racelint.analysis.paths import prefixes
from racelint.analysis.sharing import Change
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import FunctionValue, Param, TypeValue, Value
from racelint.model import (
    Assign,
    Attr,
    Block,
    Branch,
    Build,
    Call,
    Const,
    Eval,
    Expr,
    Function,
    Item,
    Jump,
    Loop,
    Name,
    Op,
    Star,
    Yield,
)
from racelint.record import records
from racelint.span import Span

CONSTRUCTOR = "__init__"
SPREAD = "*"  # stands for arguments of which nobody knows how many there are


class Passing(NamedTuple):
    """What one place gives a function: how many arguments by position, and which by name."""

    positions: int
    names: frozenset[str]


class Defaults:
    """Judges changes of parameters whose default is an empty container."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._passings: dict[str, list[Passing | None]] | None = None

    def leaks(self, start: Param, target: Value, change: Change) -> bool:
        """Whether a change of a default may be there at the next call that leaves the argument out."""
        function = self._symbols.functions[start.function][1]
        parameter = function.parameters[start.index]
        is_list = isinstance(parameter.default, Build) and parameter.default.kind == "list"
        within = len(prefixes(target)) > len(prefixes(start))
        if not within and (
            change.operation in (REMOVALS | QUIET) or (is_list and change.operation.startswith("[...]"))
        ):
            return False  # it is empty, and stays so
        if not change.calls and not within and change.span in _overwritten(function, parameter.name):
            return False
        if not change.calls and _is_filled(function, parameter.name, change.span):
            return False  # only where there is something already, which the default never has
        return not self._is_always_given(start)

    def _is_always_given(self, start: Param) -> bool:
        """Whether all that is done with a function is to call it, here or elsewhere, with the argument."""
        function = self._symbols.functions[start.function][1]
        called = function.name
        if called == CONSTRUCTOR:
            called = (function.owner or "").rpartition(".")[2]
            if self._symbols.subtypes(self._symbols.owner_of(start.function)):
                return False  # they call it as `super().__init__()`
        if self._passings is None:
            self._passings = self._all_passings()
        found = [*self._passings.get(start.function, ()), *self._passings.get(f".{called}", ())]
        position, name = start.index - (function.binding == "instance"), function.parameters[start.index].name
        return bool(found) and all(
            p is not None and (p.positions > position or name in p.names) and SPREAD not in p.names for p in found
        )

    def _all_passings(self) -> dict[str, list[Passing | None]]:
        """What functions, by id, and attributes, by name, are given wherever they are named; None if it is not told."""
        found: dict[str, list[Passing | None]] = {}
        for source, function in self._symbols.functions.values():
            for named, passing in _passings([function.body, function.decorators]):
                for key in self._keys(source.name, named):
                    found.setdefault(key, []).append(passing)
        return found

    def _keys(self, module: str, named: Name | Attr | str) -> list[str]:
        """What a name, an attribute or a text may stand for; a name that is no function of the project, nothing."""
        if isinstance(named, Name):
            value = self._symbols.static(module, named) if named.scope == "global" else None
            if isinstance(value, TypeValue):
                made = self._symbols.method(value.type, CONSTRUCTOR)
                return [made] if made is not None else []
            return [value.function] if isinstance(value, FunctionValue) else []
        return [f".{named if isinstance(named, str) else named.name}"]


def _passings(node: object) -> Iterator[tuple[Name | Attr | str, Passing | None]]:
    """The names in code, and what is given to the function that they may stand for: in calls, and beside a tuple's."""
    match node:
        case Call(func=Name() | Attr() as func, args=args, keywords=keywords):
            yield func, _passing(args, [key for key, _ in keywords])
            node = [args, keywords, func.base if isinstance(func, Attr) else ()]
        case Build(kind="tuple", parts=(Name() | Attr() as func, Build(kind="dict") as given)):
            yield func, _passing((), [str(key.value) if isinstance(key, Const) else "" for key in given.keys])
            node = [given, func.base if isinstance(func, Attr) else ()]  # whoever gets both calls it so
        case Name() | Attr():
            yield node, None
        case Const(value=str(text)):
            yield text, None
    if isinstance(node, tuple | list):
        for part in node:
            if isinstance(part, tuple | list):
                yield from _passings(part)


def _passing(args: tuple[Expr, ...], names: list[str]) -> Passing:
    spread = any(isinstance(arg, Star) for arg in args) or "" in names
    return Passing(len(args), frozenset([*names, *([SPREAD] if spread else [])]))


def _is_filled(function: Function, name: str, span: Span) -> bool:
    """Whether a spot is passed only where a parameter has entries: `if conditions:`, `for key in conditions:`."""
    for stmt in around(function.body, span):
        match stmt:
            case Loop(iterable=iterable) if iterable is not None and _walks(iterable, name):
                return True
            case Branch(test=Name(name=tested) | Op(operator="in", operands=(_, Name(name=tested)))) if tested == name:
                return True
    return False


def _walks(iterable: Expr, name: str) -> bool:
    """Whether a loop walks a parameter: itself, a view of it (`items()`), a copy (`list(...)`)."""
    match iterable:
        case Call(func=Attr(base=Name(name=walked)), args=()):
            return walked == name
        case Call(func=Name(), args=(Name() | Call() as first,)):
            return _walks(first, name)
        case _:
            return _is_it(iterable, name)


def picks_elements(function: Function, change: Change) -> bool:
    """Whether a change is made for some elements of a loop only, by what each of them is."""
    for loop in around(function.body, change.span):
        if isinstance(loop, Loop) and loop.target is not None:
            names = {inner.name for inner in records(loop.target) if isinstance(inner, Name)}
            tests = [stmt.test for stmt in around(loop.body, change.span) if isinstance(stmt, Branch)]
            if any(_mentions(test, name) for test in tests for name in names):
                return True
    return False


def _overwritten(function: Function, name: str) -> set[object]:
    """Where a function stores under constant keys of a parameter before it looks at it, and only lends it then."""
    found: set[object] = set()
    if name in function.cells:
        return found
    for index, stmt in enumerate(function.body):
        match stmt:
            case Assign(targets=(Item(base=Name(name=stored), key=Const()) as target,), value=value) if stored == name:
                if _mentions(value, name):
                    break
                found.add(target.span)
            case _ if _mentions(stmt, name):
                return found if _is_lent(function.body[index:], name) else set()
    return found


def _is_lent(block: Block, name: str) -> bool:
    """Whether what is kept of a parameter is none of it: it is handed to calls that answer, and to nothing else."""
    for node in records(block):
        match node:
            case Eval(value=Call(args=args, keywords=keywords)):
                if any(_is_it(arg, name) for arg in (*args, *[value for _, value in keywords])):
                    return False
            case Assign(value=value) | Jump(value=value) | Yield(value=value):
                if value is not None and _is_it(value, name):
                    return False
            case Build(parts=parts):
                if any(_is_it(part, name) for part in parts):
                    return False
    return True


def _is_it(expr: Expr, name: str) -> bool:
    return isinstance(expr, Name) and expr.name == name


def _mentions(node: object, name: str) -> bool:
    return any(isinstance(inner, Name) and inner.name == name for inner in records(node))
