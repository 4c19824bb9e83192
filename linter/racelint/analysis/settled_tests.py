"""Tests that have one answer for good: `if d.enabled { go a() } ... if !d.enabled { go b() }` starts one of the two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from racelint.analysis.branching import arms
from racelint.analysis.effects import WRITES, Effects
from racelint.analysis.paths import root
from racelint.analysis.values import Captured, Field, Fresh, Global, Param, Value
from racelint.model import Assign, Attr, Build, Call, Const, Expr, Function, Imported, Logic, Name, Op, Scalar
from racelint.record import Record, records
from racelint.span import Span

Path: TypeAlias = tuple[str, ...]  # a variable, by its scope and name, and the fields that lead from it


class Answer(Record):
    """What a test has found: the truth of a path, or (`equal`) the constant that it equals."""

    path: Path
    equal: bool
    value: Scalar


class SettledTests:
    """Finds what tests on the way to a spot have found of what nobody changes after them."""

    def __init__(
        self, effects: Mapping[str, Effects], *, late: bool = False, makers: frozenset[str] = frozenset(),
        completing: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        """`late` says that an object is changed, too, by who has made it and told others of it.

        Methods that are called as `makers` do not change their own object: they make it. So do functions, by their ids,
        that are `completing` the object that they are given.
        """
        self._changed: dict[str, list[tuple[str, Span]]] = defaultdict(list)  # fields and variables, by their names
        for function_id, found in effects.items():
            for access in found.all_accesses():
                is_made_here = isinstance(root(access.path), Fresh) and not late
                is_made_here = is_made_here or _is_made_by(function_id, access.path, makers)
                is_made_here = is_made_here or (function_id in completing and _is_of_first(function_id, access.path))
                if access.kind in WRITES and isinstance(access.path, Field | Captured | Global) and not is_made_here:
                    self._changed[access.path.name].append((function_id, access.span))

    def on_the_way(self, function_id: str, function: Function, spot: Span) -> Iterator[Answer]:
        """The answers that are the same wherever the function asks again."""
        for branch, arm in arms(function.body, spot):
            for answer in answers(branch.test, held=arm == 0):
                if self._stays(answer.path, function_id, function, branch.span):
                    yield answer

    def for_good(self, function_id: str, function: Function, spot: Span) -> Iterator[Answer]:
        """The answers that are the same wherever and whenever anybody asks again: nothing on their paths is changed.

        Of fields that other packages see, or what decodes an object, that is not known.
        """
        for branch, arm in arms(function.body, spot, turns=True):
            for answer in answers(branch.test, held=arm == 0):
                names = answer.path[1:]
                if any([name in self._changed or name[:1].isupper() for name in names]):
                    continue
                if not any(_changed_by(function, answer.path)):
                    yield answer

    def is_changed(self, name: str) -> bool:
        """Whether anybody changes a field or variable of a name, but of what he has made himself."""
        return name in self._changed

    def _stays(self, path: Path, function_id: str, function: Function, asked: Span) -> bool:
        """Whether nothing on a path is changed but by the function itself, before it asks."""
        places = [place for name in path[1:] for place in self._changed.get(name, ())]
        places += [(function_id, span) for span in _changed_by(function, path)]
        return all(where == function_id and span[:2] < asked[:2] for where, span in places)


def _is_made_by(function_id: str, path: Value, makers: frozenset[str]) -> bool:
    """Whether a path is a field of the object that a function makes, as one of these methods."""
    return _is_of_first(function_id, path) and function_id.rpartition(".")[2] in makers


def _is_of_first(function_id: str, path: Value) -> bool:
    """Whether a path is a field of what a function is given first."""
    return isinstance(path, Field) and path.base == Param(function_id, 0)


def found_empty(method: Function, spot: Span) -> frozenset[str]:
    """The own fields that tests on the way to a spot have found to hold nothing: `if self._thread is None: ...`."""
    found = [answer for branch, arm in arms(method.body, spot) for answer in answers(branch.test, held=arm == 0)]
    return frozenset([a.path[-1] for a in found if a.path[:-1] == ("local", method.own) and not a.value])


def says_unset(test: Expr, path: Path, *, held: bool) -> bool:
    """Whether a test that has held, or has not, says that a path holds nothing."""
    return any(answer.path == path and not answer.value for answer in answers(test, held=held))


def answers(test: Expr, *, held: bool) -> Iterator[Answer]:
    """What is known once a test has held, or has not."""
    match test:
        case Op(operator="not", operands=(operand,)):
            yield from answers(operand, held=not held)
        case Logic(operator=operator, operands=operands) if held == (operator == "and"):
            for operand in operands:
                yield from answers(operand, held=held)
        case Op(operator="==" | "!=" | "is" | "is not" as operator, operands=(one, Const(value=value))):
            if held == (operator in ("==", "is")) and (path := _path(one)):
                yield Answer(path, True, value)
        case Name() | Attr():
            if path := _path(test):
                yield Answer(path, False, held)


def _path(expr: Expr) -> Path:
    """A path of fields from a variable; nothing if it is none."""
    names: list[str] = []
    while isinstance(expr, Attr):
        names.append(expr.name)
        expr = expr.base
    match expr:
        case Name(name=name, scope=scope):
            return (scope, name, *reversed(names))
        case Imported(module=module, name=name):
            return ("imported", f"{module}:{name}", *reversed(names))
        case _:
            return ()


def _changed_by(function: Function, path: Path) -> Iterator[Span]:
    """Where a function itself gives a path, or a part of it, another value, or calls a method of what it leads to."""
    for node in records(function.body):
        if isinstance(node, Call) and isinstance(node.func, Attr) and _path(node.func.base) == path:
            yield node.span
        for target in node.targets if isinstance(node, Assign) else (getattr(node, "target", None),):
            for part in target.parts if isinstance(target, Build) else (target,):
                if isinstance(part, Name | Attr) and (named := _path(part)) and named == path[: len(named)]:
                    yield part.span
