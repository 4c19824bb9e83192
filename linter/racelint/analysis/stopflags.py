"""Stop flags: what tells a loop to end that a listener, closed behind it, ends anyway.

`s.done = true; s.listener.Close()` beside `for !s.done { conn, err := s.listener.Accept(); ... }`: who still finds the
flag unset has no connection from Accept any more, but an error, and behind that finds it set.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import arms, blocks, ends_with
from racelint.analysis.effects import A_CONSTANT
from racelint.analysis.places import Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import LibraryType
from racelint.analysis.values import Builtin
from racelint.analysis.written import plain
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Block, Branch, Build, Call, Const, Expr, Jump, Logic, Loop, Name, Op, Stmt, Try
from racelint.record import records
from racelint.span import Span

IS_THERE = {"is not": 0, "is": 1}  # operators, and the arm for an error
STORED = {f"{A_CONSTANT} {value!r}": value for value in (True, False)}


class StopFlags:
    """Finds flags of which it does not matter when they are seen, as a closed listener says the same."""

    def __init__(self, symbols: Symbols, places: Places, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._places = places
        self._knowledge = knowledge

    def says_nothing_new(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether who sees a flag too late meets the closed listener at once, or has met it already."""
        if place.kind != "field" or place.depth or other.is_write or write.access.detail not in STORED:
            return False
        if not self._symbols.is_ordered_by_steps(write.function):
            return False
        closed = set(self._closed_behind(place, write))
        return bool(closed) and any(
            name in closed and (self._comes_at_once(wait, write, other) or self._has_failed(wait, other))
            for name, wait in self._waits(place, other)
        )

    def _body(self, spot: Spot) -> Block:
        return self._symbols.functions[spot.function][1].body

    def _closed_behind(self, place: Place, write: Spot) -> Iterator[str]:
        """The fields of the same object that a function closes when it has set the flag, whatever comes between."""
        body, span = self._body(write), write.access.span
        flag = _at(body, span)
        if flag is None:
            return
        for stmt in _behind(body, span):
            for call in [part for part in records(stmt) if isinstance(part, Call)]:
                match call.func:
                    case Attr(base=Attr(base=owner, name=name), name=method) if plain(owner) == plain(flag.base):
                        is_passed = not isinstance(stmt, Loop | Try) and (
                            not isinstance(stmt, Branch) or name in _named(stmt.test)
                        )
                        if is_passed and self._does(place, name, method, "closes"):
                            yield name
            if any(isinstance(part, Jump) for part in records(stmt)):
                return

    def _waits(self, place: Place, other: Spot) -> Iterator[tuple[str, Assign]]:
        """Where a function takes from a field of the same object what comes in, and the error when that is closed."""
        flag = _at(self._body(other), other.access.span)
        if flag is None:
            return
        for stmt in records(self._body(other)):
            if not isinstance(stmt, Assign) or not isinstance(stmt.value, Call):
                continue
            match self._waited_for(place, other, stmt.value):
                case Attr(base=owner, name=name) if plain(owner) == plain(flag.base):
                    yield name, stmt

    def _waited_for(self, place: Place, other: Spot, call: Call) -> Expr | None:
        """What a call needs open: its object, or what a function of a library is given."""
        match call.func:
            case Attr(base=Attr(name=name) as found, name=method) if self._does(place, name, method, "fails-closed"):
                return found
        known = self._symbols.static(self._symbols.functions[other.function][0].name, call.func)
        row = self._knowledge.does(known.name, "fails-closed") if isinstance(known, Builtin) else None
        return call.args[row.argument] if row is not None and row.argument < len(call.args) else None

    def _does(self, place: Place, name: str, method: str, what: str) -> bool:
        kind = self._places.type_of(Place("field", place.owner, name))
        return isinstance(kind, LibraryType) and self._knowledge.does(f"{kind.name}.{method}", what) is not None

    def _comes_at_once(self, wait: Assign, write: Spot, other: Spot) -> bool:
        """Whether a loop ends where it finds the flag set, and waits for the next one at once where it does not."""
        span, value = other.access.span, STORED[write.access.detail]
        for loop in [node for node in records(self._body(other)) if isinstance(node, Loop)]:
            if loop.body and loop.body[0] is wait and loop.test is not None and _asks(loop.test, span) is not None:
                return _asks(loop.test, span) != value
            for test, then in zip(loop.body, loop.body[1:], strict=False):
                if then is wait and isinstance(test, Branch) and _asks(test.test, span) == value:
                    return ends_with(test.then, "return", "raise", "break")
        return False

    def _has_failed(self, wait: Assign, other: Spot) -> bool:
        """Whether the flag is looked at only where the wait has given an error."""
        span, body = other.access.span, self._body(other)
        targets = [part for part in wait.targets for part in (part.parts if isinstance(part, Build) else (part,))]
        if not targets or not isinstance(targets[-1], Name):
            return False
        found = [
            (branch.span, _is_there(branch.test, targets[-1], arm)) for branch, arm in arms(body, span, turns=True)
        ]
        found += [
            (node.span, _is_there(Logic("and", _before(node.test, span)), targets[-1], 0))
            for node in records(body)
            if isinstance(node, Branch) and isinstance(node.test, Logic)
        ]
        return any(told and _given_last(body, targets[-1], at) is wait for at, told in found)


def _at(body: Block, span: Span) -> Attr | None:
    """The field that stands at a spot."""
    return next((part for part in records(body) if isinstance(part, Attr) and part.span == span), None)


def _named(test: Expr) -> set[str]:
    return {part.name for part in records((test,)) if isinstance(part, Attr)}


def _behind(body: Block, span: Span) -> Iterator[Stmt]:
    """The statements that follow on a spot, outside of loops."""
    for block in (block for block in blocks(body) if any(stmt.span.holds(span) for stmt in block)):
        index = next(index for index, stmt in enumerate(block) if stmt.span.holds(span))
        if not isinstance(block[index], Assign):
            continue
        yield from block[index + 1 :]


def _asks(test: Expr, span: Span) -> bool | None:
    """The truth of the flag at a spot for which a test that is nothing but that flag holds."""
    match test:
        case Attr(span=found) if found == span:
            return True
        case Op(operator="not", operands=(Attr(span=found),)) if found == span:
            return False
        case _:
            return None


def _before(test: Expr, span: Span) -> tuple[Expr, ...]:
    """The parts of a conjunction that have held where it comes to the part with a spot."""
    parts = test.operands if isinstance(test, Logic) and test.operator == "and" else ()
    for index, part in enumerate(parts):
        if any(isinstance(each, Attr) and each.span == span for each in records((part,))):
            return tuple(parts[:index])
    return ()


def _is_there(test: Expr, name: Name, arm: int) -> bool:
    """Whether a variable holds something in an arm of a branch."""
    parts = test.operands if isinstance(test, Logic) and test.operator == "and" and arm == 0 else (test,)
    return any(
        isinstance(part, Op)
        and IS_THERE.get(part.operator) == arm
        and Const(None) in part.operands
        and any(isinstance(each, Name) and each.name == name.name for each in part.operands)
        for part in parts
    )


def _given_last(body: Block, name: Name, before: Span) -> Assign | None:
    """The assignment that stands last before a spot among those to a variable."""
    given = [
        stmt
        for stmt in records(body)
        if isinstance(stmt, Assign)
        and stmt.span[:2] < before[:2]
        and any(isinstance(part, Name) and part.name == name.name for part in records(stmt.targets))
    ]
    return max(given, key=lambda stmt: stmt.span[:2], default=None)
