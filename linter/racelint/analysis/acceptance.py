"""Acceptance: changes by which a program enters in its cache what a server has accepted just before.

`updated, err := client.Update(ctx, wanted); if err != nil { return err }; cached.Spec = updated.Spec`: the watch brings
the same a moment later. What is changed before it is sent is another matter: the server may refuse it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from racelint.analysis.branching import ends_with
from racelint.analysis.sharing import Change
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import Param
from racelint.model import Assign, Attr, Block, Branch, Build, Call, Const, Eval, Expr, Jump, Loop, Name, Op, Stmt
from racelint.record import records

FEWEST = 2  # arguments of a request; a store's method has one
ENDS = ("return", "raise", "continue", "break")


class _Request(NamedTuple):
    """A call that has succeeded: the variables that are sent, and those that hold the answer."""

    sent: frozenset[str]
    answer: frozenset[str]


class Acceptance:
    """Looks at the functions that make changes; all functions have been evaluated."""

    def __init__(self, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._usage = summaries.usage
        self._stores = summaries.stores
        self._requests = summaries.knowledge.sharing.names("sends")
        self._keeping: frozenset[Param] | None = None

    def follows(self, change: Change) -> bool:
        """Whether a field gets what a request has sent or answered for it, or its object goes back into a store after
        one. What is sent only then is not accepted yet.
        """
        source, function = self._symbols.functions[change.function]
        if source.module.traits.duck_typed or change.kind != "field" or change.operation == "* =":
            return False
        way = list(_way(function.body, change))
        stored = next((stmt for block, at in way for stmt in block[at : at + 1] if _stores(stmt, change)), None)
        if not isinstance(stored, Assign):
            return False
        changed, field = _path(stored.targets[0])
        requests = [request for block, at in way for request in self._succeeded(block[: at + 1], change)]
        if not (changed and requests) or self._is_sent(function.body, changed, change):
            return False
        given, same = _path(stored.value)
        if same == field and given != changed and any(given in (*r.answer, *r.sent) for r in requests):
            return True
        return any(
            self._puts_back(call, change.function, changed)
            for block, at in way
            for stmt in block[at + 1 :]
            for call in _called(stmt)
        )

    def _succeeded(self, block: Block, change: Change) -> Iterator[_Request]:
        """The requests in a block that have not failed where its last statement makes a change."""
        for stmt, after in pairwise(block):
            match stmt:
                case Assign(targets=(target,), value=Call() as call) if self._is_request(call):
                    parts = target.parts if isinstance(target, Build) else (target,)
                    *answer, error = [part.name for part in parts if isinstance(part, Name)] or [""]
                    if _is_refused(after, error, change):
                        sent = [arg.name for arg in call.args if isinstance(arg, Name)]
                        yield _Request(frozenset(sent), frozenset(answer) - {"_"})

    def _is_sent(self, body: Block, name: str, change: Change) -> bool:
        """Whether what a variable holds is sent after a change, or at least further down."""
        requests = [node for node in records(body) if isinstance(node, Call) and self._is_request(node)]
        later = [call for call in requests if call.span > change.span]
        return any(isinstance(arg, Name) and arg.name == name for call in later for arg in call.args)

    def _is_request(self, call: Call) -> bool:
        return isinstance(call.func, Attr) and call.func.name in self._requests and len(call.args) >= FEWEST

    def _puts_back(self, call: Call, function_id: str, name: str) -> bool:
        """Whether a call puts what a variable holds into a library's store."""
        places = [index for index, arg in enumerate(call.args) if isinstance(arg, Name) and arg.name == name]
        if not places:
            return False
        if (function_id, call.span) in self._stores.filling:
            return True
        callee = self._usage.callee(function_id, call.span)
        owned = bool(callee) and bool(self._symbols.functions[callee][1].owner)
        return bool(callee) and any(Param(callee, index + owned) in self._all_keeping() for index in places)

    def _all_keeping(self) -> frozenset[Param]:
        """The parameters that functions put into stores."""
        if self._keeping is None:
            added = [value for values in self._stores.added.values() for value in values]
            self._keeping = frozenset([value for value in added if isinstance(value, Param)])
        return self._keeping


def _way(body: Block, change: Change) -> Iterator[tuple[Block, int]]:
    """The blocks around a change, outermost first, each with the position of the statement that it is in."""
    at = next((index for index, stmt in enumerate(body) if stmt.span.holds(change.span)), None)
    if at is None:
        return
    yield body, at
    match body[at]:
        case Branch(then=then, orelse=orelse) | Loop(body=then, orelse=orelse):
            yield from _way(then, change)
            yield from _way(orelse, change)


def _stores(stmt: Stmt, change: Change) -> bool:
    match stmt:
        case Assign(targets=(Attr(span=span),)):
            return span == change.span
        case _:
            return False


def _is_refused(stmt: Stmt, error: str, change: Change) -> bool:
    """Whether a branch keeps who has an error from a change."""
    match stmt:
        case Branch(
            test=Op(operator=operator, operands=(Name(name=name), Const(value=None))), then=then, orelse=orelse
        ):
            made = then if operator == "is" else orelse
            if name != error or operator not in ("is", "is not"):
                return False
            if stmt.span.holds(change.span):
                return any(inner.span.holds(change.span) for inner in made)
            return operator == "is not" and ends_with(then, *ENDS)
        case _:
            return False


def _called(stmt: Stmt) -> list[Call]:
    """The calls that a statement makes in any case."""
    values = (stmt.value,) if isinstance(stmt, Assign | Eval | Jump) else ()
    return [node for node in records(values) if isinstance(node, Call)]


def _path(expr: Expr) -> tuple[str, tuple[str, ...]]:
    """The variable with which an access path starts, "" if it is none, and the fields that it names."""
    names: list[str] = []
    while True:
        match expr:
            case Attr(base=inner, name=name):
                names.append(name)
                expr = inner
            case Op(operator="deref", operands=(inner,)) | Call(func=Attr(base=inner), args=()):  # a copy
                expr = inner
            case Name(name=name, scope="local"):
                return name, tuple(names)
            case _:
                return "", tuple(names)
