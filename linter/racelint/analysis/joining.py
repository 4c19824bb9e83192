"""Joining: a thread that the function which starts it also waits for, unless something fails in between.

`t = Thread(target=work); t.start(); feed(); t.join()`, or a list of them. A wait with a time limit is none.
"""

from __future__ import annotations

from racelint.analysis.written import dotted
from racelint.model import (
    Assign,
    Attr,
    Block,
    Branch,
    Build,
    Call,
    Comp,
    Eval,
    Expr,
    Hold,
    Jump,
    Labelled,
    Loop,
    Name,
    Stmt,
    Try,
)
from racelint.record import records
from racelint.span import Span

ADDS = "append"


def is_joined(body: Block, start: Span, wait: str) -> bool:
    """Whether a function that has started something at a spot also waits for it, wherever nothing fails before.

    `wait` is the method by which what is started is waited for.
    """
    return _Way(start, wait).behind(body) is True


class _Way:
    """Follows a function from a start: a statement says that this has ended, that nobody waits, or nothing (None)."""

    def __init__(self, start: Span, wait: str) -> None:
        self._start = start
        self._wait = wait
        self._names: set[str] = set()  # variables and fields that hold what has been started last
        self._lists: set[str] = set()  # those that hold all that has been started

    def behind(self, block: Block) -> bool | None:
        """What a block that holds the start says from there on."""
        for index, stmt in enumerate(block):
            if stmt.span.holds(self._start):
                found = self._around(stmt)
                return self._pass(block[index + 1 :]) if found is None else found
        return None

    def _around(self, stmt: Stmt) -> bool | None:
        """What a statement says that holds the start."""
        match stmt:
            case Assign(targets=targets, value=value):
                self._keep({_path(target) for target in targets} - {""}, value)
                return None
            case Loop(body=body):
                found = self.behind(body)
                self._names.clear()  # of the last turn only
                return found
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                parts = (body, orelse, *[handler.body for handler in handlers])
                inner = next((part for part in parts if _holds(part, self._start)), ())
                found = self.behind(inner)
                if found is None and inner is body:
                    found = self._pass(orelse)
                return self._at_last(final, found)
            case Branch(then=then, orelse=orelse):
                return self.behind(then if _holds(then, self._start) else orelse)
            case Hold(body=body) | Labelled(body=body):
                return self.behind(body)
            case _:
                return None

    def _keep(self, names: set[str], value: Expr) -> None:
        if isinstance(value, Call) and value.span == self._start:
            self._names |= names
        elif isinstance(value, Build | Comp):  # `threads = [Thread(target=work) for _ in range(4)]`
            self._lists |= names

    def _pass(self, block: Block) -> bool | None:
        """What the statements behind the start say."""
        said = (self._pass_one(stmt) for stmt in block)
        return next((found for found in said if found is not None), None)

    def _pass_one(self, stmt: Stmt) -> bool | None:
        match stmt:
            case Eval(value=Call(func=Attr(base=base, name=name), args=args, keywords=keywords)):
                return self._call(_path(base), name, args) if not keywords else None
            case Assign(targets=targets):
                replaced = {_path(target) for target in targets}
                self._names -= replaced
                self._lists -= replaced
                return None
            case Try(body=body, orelse=orelse, final=final):
                return self._at_last(final, self._pass((*body, *orelse)))
            case Hold(body=body) | Labelled(body=body):
                return self._pass(body)
            case Loop(iterable=iterable, target=Name() as turn, body=body) if _path(iterable) in self._lists:
                inner = _Way(self._start, self._wait)
                inner._names = {_path(turn)}
                return inner._pass(body) or _left_in(stmt)
            case Branch(test=test, then=then) if any(_path(part) in self._names for part in records(test)):
                return self._pass(then) or _left_in(stmt)  # `if t.is_alive(): t.join()`
            case _:
                return _left_in(stmt)

    def _call(self, base: str, name: str, args: tuple[Expr, ...]) -> bool | None:
        if name == ADDS and any(_path(each) in self._names for each in args):
            self._lists.add(base)
        return True if name == self._wait and base in self._names and not args else None

    def _at_last(self, final: Block, found: bool | None) -> bool | None:
        """What a statement says whose `finally` comes behind all else."""
        last = self._pass(final)
        return found if last is None else last


def _path(part: object) -> str:
    """A variable, or a field of something that one leads to, as it is written."""
    match part:
        case Name():
            return dotted(part)
        case Attr(base=base, name=name):
            return f"{inner}.{name}" if (inner := _path(base)) else ""
        case _:
            return ""


def _holds(block: Block, spot: Span) -> bool:
    return any(stmt.span.holds(spot) for stmt in block)


def _left_in(stmt: Stmt) -> bool | None:
    """False if the function, or the turn of a loop around the statement, may end in it without a failure."""
    kinds = ("return",) if isinstance(stmt, Loop) else ("return", "break", "continue")
    return False if any(isinstance(part, Jump) and part.kind in kinds for part in records(stmt)) else None
