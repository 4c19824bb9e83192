"""The one interpreter of the statement language: state in, states out by exit.

Loops run to a fixpoint (a bounded number of turns, then widening), `finally` is applied to each exit, exceptions may
leave a `try` body before any of its statements. Domains fill in what statements mean; nothing else walks bodies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from racelint.analysis.branching import leaves
from racelint.model import (
    Assign,
    Block,
    Branch,
    Collect,
    Defer,
    Delete,
    Eval,
    Expr,
    Handler,
    Hold,
    Jump,
    Labelled,
    Loop,
    Spawn,
    Stmt,
    Try,
    Update,
)

S = TypeVar("S")
Frame = TypeVar("Frame")
Simple = Assign | Update | Delete | Eval | Collect | Defer | Spawn
Raising = Simple | Loop  # statements that may raise before they have done anything

TURNS = 3  # fixpoint passes over a loop body before its head state is widened


class Exits(Generic[S]):
    """The states in which a block may be left: at its end (None if it cannot be), and by jumps."""

    __slots__ = ("jumps", "normal")

    def __init__(self, normal: S | None, jumps: list[tuple[str, S]]) -> None:
        self.normal = normal
        self.jumps = jumps

    def take(self, *kinds: str) -> list[S]:
        """Remove and return the states of these jumps."""
        taken = [state for kind, state in self.jumps if kind in kinds]
        if taken:
            self.jumps = [jump for jump in self.jumps if jump[0] not in kinds]
        return taken


class Flow(ABC, Generic[S, Frame]):
    """Walks a function's body; a domain implements the hooks. Hooks change the state they are given in place."""

    def __init__(self) -> None:
        self.guarded = 0  # enclosing try bodies that have handlers
        self.leaving = False  # the block at hand ends by leaving the function: no other turn of its loop follows
        self.stepping = False  # what runs is the step of a loop, between two turns
        self._catching: list[list[S]] = []  # one per enclosing try body: states in which an exception may leave it

    # --- what a domain says -------------------------------------------------------------------------------------------

    @abstractmethod
    def copy(self, state: S) -> S:
        """An independent copy of a state."""

    @abstractmethod
    def join(self, first: S | None, second: S | None) -> S | None:
        """What may hold after either; may reuse the first."""

    @abstractmethod
    def stable(self, old: S, new: S) -> bool:
        """Whether another turn from `new` would show nothing that one from `old` has not."""

    @abstractmethod
    def widen(self, old: S, new: S) -> S:
        """A state above both that ends the fixpoint."""

    @abstractmethod
    def reach(self, stmt: Stmt, state: S) -> None:
        """A statement is about to run."""

    @abstractmethod
    def simple(self, stmt: Simple, state: S) -> bool:
        """Run a statement without control flow; False if it never ends normally (it exits, or always raises)."""

    @abstractmethod
    def branch(self, test: Expr, state: S) -> tuple[S | None, S | None]:
        """Evaluate a test: the states in which it is true and false (None: it cannot be). May reuse the state."""

    @abstractmethod
    def enter_loop(self, loop: Loop, state: S) -> Frame:
        """Evaluate what is iterated, before the first turn."""

    @abstractmethod
    def begin_turn(self, loop: Loop, frame: Frame, state: S) -> None:
        """A turn starts: bind the loop's target."""

    @abstractmethod
    def end_turn(self, loop: Loop, frame: Frame, state: S) -> None:
        """The loop goes on after this state."""

    @abstractmethod
    def exhaust(self, loop: Loop, frame: Frame, state: S) -> None:
        """The loop comes to its end, and is not left by a jump."""

    @abstractmethod
    def leave_loop(self, loop: Loop, frame: Frame, state: S) -> None:
        """The loop is left in this state, by its end or a jump; called once for each way out."""

    @abstractmethod
    def close_loop(self, loop: Loop, frame: Frame) -> None:
        """The analysis of the loop is over."""

    @abstractmethod
    def hold(self, hold: Hold, state: S) -> Frame:
        """Enter context managers."""

    @abstractmethod
    def release(self, hold: Hold, frame: Frame, state: S) -> None:
        """Leave context managers, on each way out."""

    @abstractmethod
    def jump(self, jump: Jump, state: S) -> None:
        """Evaluate the value of a return or raise."""

    @abstractmethod
    def caught(self, handler: Handler, body: Block, state: S) -> None:
        """An exception handler starts, on what the body raised: bind its target."""

    # --- the walk -----------------------------------------------------------------------------------------------------

    def block(self, block: Block, state: S | None) -> Exits[S]:
        """Run statements in order."""
        jumps: list[tuple[str, S]] = []
        outer, self.leaving = self.leaving, self.leaving or leaves(block)
        for stmt in block:
            if state is None:
                break
            state = self._statement(stmt, state, jumps)
        self.leaving = outer
        return Exits(state, jumps)

    def _statement(self, stmt: Stmt, state: S, jumps: list[tuple[str, S]]) -> S | None:
        if self._catching and self._may_raise(stmt):
            self._catching[-1].append(self.copy(state))
        self.reach(stmt, state)
        if isinstance(stmt, Simple):
            if self.simple(stmt, state):
                return state
            jumps.append(("raise", state))
            return None
        match stmt:
            case Branch():
                exits = self._branch(stmt, state)
            case Loop():
                exits = self.loop(stmt, state)
            case Jump():
                self.jump(stmt, state)
                jumps.append((f"{stmt.kind} {stmt.label}" if stmt.label else stmt.kind, state))
                return None
            case Labelled():
                exits = self.block(stmt.body, state)
                exits.normal = self.join_all([exits.normal, *exits.take(f"break {stmt.label}")])
            case Hold():
                exits = self._hold(stmt, state)
            case Try():
                exits = self._try(stmt, state)
        jumps.extend(exits.jumps)
        return exits.normal

    @staticmethod
    def _may_raise(stmt: Stmt) -> bool:
        """Whether an exception may leave before the statement has done anything; nested blocks speak for themselves."""
        return isinstance(stmt, Raising) or (isinstance(stmt, Jump) and stmt.value is not None)

    def _branch(self, stmt: Branch, state: S) -> Exits[S]:
        yes, no = self.branch(stmt.test, state)
        first = self.block(stmt.then, yes)
        second = self.block(stmt.orelse, no)
        self.leave_by(stmt, [left for kind, left in first.jumps if kind == "return"])
        return Exits(self.meet(stmt, first.normal, second.normal), first.jumps + second.jumps)

    def leave_by(self, stmt: Branch, left: list[S]) -> None:
        """The states in which the first way of a branch leaves the function."""

    def meet(self, stmt: Branch, first: S | None, second: S | None) -> S | None:
        """What may hold after both ways of a branch."""
        return self.join(first, second)

    def loop(self, loop: Loop, state: S) -> Exits[S]:
        """Run a loop to a fixpoint."""
        frame = self.enter_loop(loop, state)
        head, broken, jumps = state, list[S](), list[tuple[str, S]]()
        ended: S | None = None
        for turn in range(TURNS):
            ended, exits = self._turn(loop, frame, head)
            broken = exits.take("break", f"break {loop.label}")
            again = self.join_all([*exits.take("continue", f"continue {loop.label}"), exits.normal])
            again = self._step(loop, again)
            jumps = exits.jumps
            if again is None:
                break
            self.end_turn(loop, frame, again)
            merged = self.join(again, self.copy(head))
            assert merged is not None
            if self.stable(head, merged):
                break
            head = self.widen(head, merged) if turn == TURNS - 2 else merged
        for left in [*broken, *[s for _, s in jumps]]:
            self.leave_loop(loop, frame, left)
        if ended is not None:
            self.exhaust(loop, frame, ended)
            self.leave_loop(loop, frame, ended)
        self.close_loop(loop, frame)
        after = self.block(loop.orelse, ended)
        return Exits(self.join_all([after.normal, *broken]), jumps + after.jumps)

    def _turn(self, loop: Loop, frame: Frame, head: S) -> tuple[S | None, Exits[S]]:
        """One turn from a head state: the state in which the loop ends before it, and how its body is left."""
        if loop.test is not None:
            turn, ended = self.branch(loop.test, self.copy(head))
        else:
            turn, ended = self.copy(head), self.copy(head)
        if turn is not None:
            self.begin_turn(loop, frame, turn)
        outer, self.leaving = self.leaving, False
        exits = self.block(loop.body, turn)
        self.leaving = outer
        return ended, exits

    def _step(self, loop: Loop, state: S | None) -> S | None:
        """What a loop does between two turns."""
        if not loop.step or state is None:
            return state
        self.stepping = True
        after = self.block(loop.step, state).normal
        self.stepping = False
        return after

    def _hold(self, stmt: Hold, state: S) -> Exits[S]:
        frame = self.hold(stmt, state)
        exits = self.block(stmt.body, state)
        for left in [*([exits.normal] if exits.normal is not None else []), *[s for _, s in exits.jumps]]:
            self.release(stmt, frame, left)
        return exits

    def _try(self, stmt: Try, state: S) -> Exits[S]:
        raised: list[S] = []
        self._catching.append(raised)
        self.guarded += bool(stmt.handlers)
        body = self.block(stmt.body, state)
        self.guarded -= bool(stmt.handlers)
        self._catching.pop()
        if stmt.handlers:
            raised += body.take("raise")
        escaping = [] if stmt.handlers else raised
        self._catching.append(escaping)  # no handler here takes what the handlers and `else` raise
        exits = self._handled(stmt, body, raised)
        self._catching.pop()
        self._escape(stmt.final, escaping)
        return self._finally(stmt.final, exits) if stmt.final else exits

    def _handled(self, stmt: Try, body: Exits[S], raised: list[S]) -> Exits[S]:
        """Run `else` after the body, and each handler on what the body raised."""
        entry = self.join_all(raised) if stmt.handlers else None
        exits = self.block(stmt.orelse, body.normal)
        exits.jumps = body.jumps + exits.jumps
        for handler in stmt.handlers:
            if entry is None:
                break
            caught = self.copy(entry)
            self.caught(handler, stmt.body, caught)
            handled = self.block(handler.body, caught)
            exits = Exits(self.join(exits.normal, handled.normal), exits.jumps + handled.jumps)
        return exits

    def _escape(self, final: Block, states: list[S]) -> None:
        """Exceptions on their way to an outer handler pass through `finally`."""
        if self._catching and states:
            passing = self.block(final, self.join_all(states)).normal
            if passing is not None:
                self._catching[-1].append(passing)

    def _finally(self, final: Block, exits: Exits[S]) -> Exits[S]:
        """Run the block on each way out; where it jumps itself, that jump wins."""
        after = self.block(final, exits.normal)
        jumps = after.jumps
        for kind, state in exits.jumps:
            left = self.block(final, state)
            jumps = jumps + left.jumps
            if left.normal is not None:
                jumps = [*jumps, (kind, left.normal)]
        return Exits(after.normal, jumps)

    def join_all(self, states: list[S | None] | list[S]) -> S | None:
        """The join of all."""
        result: S | None = None
        for state in states:
            result = state if result is None else self.join(result, state)
        return result
