"""Between: whether each way through a function from one spot to another comes by one of some others."""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.flow import Flow, Simple
from racelint.model import Assign, Block, Call, Const, Defer, Eval, Expr, Handler, Hold, Jump, Loop, Op, Stmt
from racelint.record import records
from racelint.span import Span


class Way:
    """What the walk carries: whether a way begins at one of the first spots, and has not come by one in between."""

    __slots__ = ("begun",)

    def __init__(self, *, begun: bool) -> None:
        self.begun = begun


class Between(Flow[Way, None]):
    """Walks a function; `open` are the last spots to which some way leads directly."""

    def __init__(self, first: Set[Span], passed: Set[Span], last: Set[Span]) -> None:
        """Spots of calls, or of accesses; those that are `passed` count where their value is all that a statement
        evaluates: surely, and at once.
        """
        super().__init__()
        self._first = first
        self._passed = passed
        self._last = last
        self._known = {*first, *passed, *last}
        self.seen: set[Span] = set()
        self.open: set[Span] = set()

    def leads_directly(self, body: Block) -> bool:
        """Whether a way leads directly from one of the first spots to one of the last, for all that is known."""
        self.block(body, Way(begun=False))
        return bool(self.open) or not (self._first | self._last) <= self.seen

    def _come_by(self, node: object, state: Way, *, surely: Span | None = None) -> None:
        for span in sorted(self._spots(node)):
            self.seen.add(span)
            if span in self._last and state.begun:
                self.open.add(span)
            state.begun = (state.begun and span != surely) or span in self._first

    def _spots(self, node: object) -> set[Span]:
        """The spots that matter in a part of a function."""
        spans: list[Span | None] = [getattr(part, "span", None) for part in records(node)]
        return {span for span in spans if span in self._known and span is not None}

    def copy(self, state: Way) -> Way:
        """An independent copy."""
        return Way(begun=state.begun)

    def join(self, first: Way | None, second: Way | None) -> Way | None:
        """A way that is begun on either side is begun."""
        if first is None or second is None:
            return first or second
        return Way(begun=first.begun or second.begun)

    def stable(self, old: Way, new: Way) -> bool:
        """Whether another turn would show nothing new."""
        return old.begun == new.begun

    def widen(self, old: Way, new: Way) -> Way:
        """There are two states only."""
        return Way(begun=old.begun or new.begun)

    def reach(self, stmt: Stmt, state: Way) -> None:
        """Nothing happens yet."""

    def simple(self, stmt: Simple, state: Way) -> bool:
        """Come by the spots of a statement, in the order of the text."""
        if isinstance(stmt, Defer):  # it comes last
            self.open.update(self._spots(stmt) & self._last)
            return True
        value = stmt.value if isinstance(stmt, Eval | Assign) else None
        sure = value.span if isinstance(value, Call | Op) and value.span in self._passed else None
        self._come_by(stmt, state, surely=sure)
        return True

    def branch(self, test: Expr, state: Way) -> tuple[Way | None, Way | None]:
        """Both ways, but where a constant says which."""
        self._come_by(test, state)
        return state, None if isinstance(test, Const) and bool(test.value) else self.copy(state)

    def enter_loop(self, loop: Loop, state: Way) -> None:
        """Come by what is iterated."""
        self._come_by(loop.iterable, state)

    def begin_turn(self, loop: Loop, frame: None, state: Way) -> None:
        """A turn comes by nothing by itself."""

    def end_turn(self, loop: Loop, frame: None, state: Way) -> None:
        """Nor does its end."""

    def exhaust(self, loop: Loop, frame: None, state: Way) -> None:
        """Nor the end of the loop."""

    def leave_loop(self, loop: Loop, frame: None, state: Way) -> None:
        """Nor who leaves it."""

    def close_loop(self, loop: Loop, frame: None) -> None:
        """Nothing is kept of it."""

    def hold(self, hold: Hold, state: Way) -> None:
        """Come by what makes the context managers."""
        self._come_by(hold.items, state)

    def release(self, hold: Hold, frame: None, state: Way) -> None:
        """What is called then has no spot."""

    def jump(self, jump: Jump, state: Way) -> None:
        """Come by what is returned; where an exception leads, or a `goto`, is not known."""
        self._come_by(jump.value, state)
        if jump.kind == "raise" and state.begun:
            self.open |= self._last

    def caught(self, handler: Handler, body: Block, state: Way) -> None:
        """Come by what says which exceptions are caught."""
        self._come_by(handler.caught, state)
