"""Tallies: counters of those at work, which a loop waits for to come to zero.

`func (s *Session) work() { defer s.leave(); ... }`, where `leave` does `s.mu.Lock(); s.workers--; s.mu.Unlock()`, and
`for s.workers > 0 { s.idle.Wait() }`: behind that loop all of them have left. So it is with an atomic counter. A group
counts in the same way, which is why those who come in later are as with a group.
"""

from __future__ import annotations

from racelint.analysis import counting
from racelint.analysis.body import Body
from racelint.analysis.state import LEFT, OUT, State
from racelint.analysis.types import LibraryType
from racelint.analysis.values import Builtin, Captured, Field, Global, Literal, Value, Values
from racelint.model import Attr, Call, Const, Expr, Name, Op, Update
from racelint.span import Span


class Tallies(Body):
    """Finds who counts himself out, and who waits until all have."""

    def wait_for_tally(self, test: Expr | None, state: State) -> None:
        """A loop has come to its end by its test, not by a jump: a counter may be at zero."""
        if self.traits.atomic_steps or not isinstance(test, Op) or len(test.operands) != 2:
            return
        counter, bound = test.operands
        number = bound.value if isinstance(bound, Const) else None
        if isinstance(number, int) and counting.AT_ZERO.get((test.operator, number)) is False:
            asked = self._asked(counter, state) if isinstance(counter, Call) else self._counters(counter, state)
            self._tell_tally(OUT, asked, test.span, state)

    def count_by_one(self, stmt: Update, state: State) -> None:
        """`s.workers++` and `s.workers--`."""
        if not self.traits.atomic_steps and stmt.operator in ("+", "-") and stmt.value == counting.ONE:
            self._count_tally(self._counters(stmt.target, state), stmt.operator == "-", stmt.span, state)

    def count_in_one_step(self, name: str, counters: Values, args: Values, span: Span, state: State) -> None:
        """`s.workers.Add(-1)`; what is added may be anything else, too."""
        if self.knowledge.does(name, "counts") is not None:
            down = all([isinstance(value, Literal) and type(value.value) is int and value.value < 0 for value in args])
            self._count_tally(counters, down and bool(args), span, state)

    def _count_tally(self, counters: Values, down: bool, span: Span, state: State) -> None:
        if down:
            self._tell_tally(LEFT, counters, span, state)
        for counter in counters if not down else ():
            path = self.kept_at(counter)
            self.renew(path, span, state)
            if isinstance(path, Field | Global):
                self.summary.renewed.add(path)

    def _tell_tally(self, operation: str, counters: Values, span: Span, state: State) -> None:
        paths = tuple({self.kept_at(counter): None for counter in counters})
        if len(paths) == 1 and isinstance(paths[0], Captured | Global | Field):
            self.tell(operation, paths, span, state)

    def _counters(self, counter: Expr, state: State) -> Values:
        """The field or variable that is counted in."""
        match counter:
            case Attr(base=base, name=name):
                return tuple([self.place(owner, name) for owner in self.evaluate(base, state.copy())])
            case Name(name=name, scope="local") if name in self.function.cells:
                return (Captured(self.id, name),)
            case Name(name=name, scope=scope) if scope != "local":
                return (self.variable(name, scope),)
            case _:
                return ()

    def _asked(self, asked: Call, state: State) -> Values:
        """The counter that a call asks for in one step: `s.workers.Load()`, `atomic.LoadInt64(&s.workers)`."""
        if not isinstance(asked.func, Attr) or asked.func.name not in self.knowledge.asks:
            return ()
        function = self.symbols.static(self.source.name, asked.func)
        if isinstance(function, Builtin):
            known = self.knowledge.does(function.name, "asks") is not None and len(asked.args) == 1
            return self.evaluate(asked.args[0], state.copy()) if known else ()
        return tuple([v for v in self.evaluate(asked.func.base, state.copy()) if self._is_asked(v, asked.func.name)])

    def _is_asked(self, counter: Value, method: str) -> bool:
        kind = self.types.of(counter)
        return isinstance(kind, LibraryType) and self.knowledge.does(f"{kind.name}.{method}", "asks") is not None
