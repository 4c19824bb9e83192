"""Calls that run when their function is left, last in first out."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.body import Body
from racelint.analysis.state import MAYBE_HELD, State, join
from racelint.model import Attr, Call, Defer, Expr, Item, Name
from racelint.record import records
from racelint.span import Span


class Deferring(Body):
    """Keeps deferred calls with the state, and runs them on each way out."""

    def defer(self, stmt: Defer, state: State) -> None:
        """A call is put off until the function is left; in a loop it counts once. What it needs is read at once."""
        for expr in _needed(stmt.call):
            self.use(expr, state)
        stmt = self._settled(stmt, state)
        if all([known != stmt for known, _ in state.deferred]):
            state.deferred = (*state.deferred, (stmt, True))

    def _settled(self, stmt: Defer, state: State) -> Defer:
        """A deferred call on what a variable holds now, if that will hold something else later."""
        match stmt.call:
            case Call(func=Attr(base=Attr() | Name() as base) as func) as call if self._is_replaced(_first(base)):
                kept = Name(f"@{base.span.line}:{base.span.column}", "local", base.span)
                state.variables[kept.name] = self.evaluate(base, state)
                return stmt._replace(call=call._replace(func=func._replace(base=kept)))
        return stmt

    def _is_replaced(self, name: str) -> bool:
        """Whether a variable of the function gets more than one value."""
        given = any(parameter.name == name for parameter in self.function.parameters)
        return len(self.function.bindings.get(name, ())) + given > 1

    def run_deferred(self, left: list[State]) -> list[State]:
        """The states in which the function is left once its deferred calls have run."""
        if not any([state.deferred for state in left]):
            return left
        together: dict[object, State] = {}
        for state in left:
            key = (state.deferred, state.held)
            known = together.get(key)
            joined = state if known is None else join(known, state)
            assert joined is not None
            together[key] = joined
        return [self._run(state) for state in together.values()]

    def _run(self, state: State) -> State:
        self.effects.looped = False
        for stmt, certain in reversed(state.deferred):
            self.was_read = _reads(stmt.call)
            if certain:
                self.evaluate(stmt.call, state)
                continue
            outer, self.perhaps = self.perhaps, True
            other = state.copy()
            self.evaluate(stmt.call, other)
            self.perhaps = outer
            given = {held.lock for held in state.held} - {held.lock for held in other.held}
            state = join(state, other) or state
            # Who has put off that a lock is given back has taken it.
            state.held = tuple([held for held in state.held if held.kind != MAYBE_HELD or held.lock not in given])
        self.was_read = frozenset()
        return state


def _first(expr: Expr) -> str:
    """The local variable at which a path begins."""
    while isinstance(expr, Attr):
        expr = expr.base
    return expr.name if isinstance(expr, Name) and expr.scope == "local" else ""


def _needed(call: Expr) -> Iterator[Expr]:
    """What is called later, and what that is given, as far as it reads anything."""
    if isinstance(call, Call):
        yield from (part for part in (call.func, *call.args) if isinstance(part, Attr | Item))


def _reads(call: Expr) -> frozenset[Span]:
    """Where that reads something; a field that holds what is called is read by the call."""
    needed = [part.span for expr in _needed(call) for part in records(expr) if isinstance(part, Attr | Item)]
    return frozenset([*needed, call.span] if isinstance(call, Call) else needed)
