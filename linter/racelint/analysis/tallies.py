"""Tallies: counters of those at work, which a loop waits for to come to zero.

`func (s *Session) work() { defer s.leave(); ... }`, where `leave` does `s.mu.Lock(); s.workers--; s.mu.Unlock()`, and
`for s.workers > 0 { s.idle.Wait() }`: behind that loop all of them have left. So it is with an atomic counter. A group
counts in the same way, which is why those who come in later are as with a group.
"""

from __future__ import annotations

from racelint.analysis import counting
from racelint.analysis.body import Body
from racelint.analysis.levels import stored as levels_of
from racelint.analysis.state import FILLED, FLAG, LAST, LEFT, OUT, SET, Held, State
from racelint.analysis.types import LibraryType
from racelint.analysis.values import Builtin, Captured, Field, Global, Literal, Value, Values
from racelint.analysis.written import plain
from racelint.model import Attr, Call, Eval, Expr, Loop, Name, Op, Update
from racelint.span import Span


class Tallies(Body):
    """Finds who counts himself out, and who waits until all have."""

    def wait_for_tally(self, loop: Loop, state: State) -> None:
        """A loop has come to its end by its test, not by a jump: a counter may be at zero, or a semaphore full."""
        test = loop.test
        if self.traits.atomic_steps or not isinstance(test, Op) or len(test.operands) != 2:
            return
        counter, bound = test.operands
        if counting.is_at_zero(test, outcome=False):
            asked = self._asked(counter, state) if isinstance(counter, Call) else self._counters(counter, state)
            self._tell_tally(OUT, asked, test.span, state)
        elif test.operator == "<" and isinstance(bound, Op) and bound.operator == "length" and _fills(loop, bound):
            self.tell_of(FILLED, self.evaluate(bound.operands[0], state.copy()), test.span, state)

    def last_out(self, test: Expr, state: State, *, outcome: bool) -> None:
        """Who has counted himself out and then finds the counter at zero is the last one.

        `s.mu.Lock(); s.left--; last := s.left == 0; s.mu.Unlock(); if last { ... }`, `if s.left.Add(-1) == 0 { ... }`.
        """
        meant = self._meant(test)
        if self.traits.atomic_steps or not isinstance(meant, Op) or not counting.is_at_zero(meant, outcome=outcome):
            return
        counter = self._meant(meant.operands[0])
        counters = self._counted(counter, state) if isinstance(counter, Call) else self._counters(counter, state)
        if all([(LEFT, self.kept_at(each)) in state.told[0] for each in counters]):
            self._tell_tally(LAST, counters, meant.span, state)

    def first_in(self, test: Expr, state: State, *, outcome: bool) -> None:
        """Who has counted up by one, and is at one, has what follows to himself, until somebody counts down again.

        `if s.failures.Add(1) > 1 { return }; s.report(err)`: all others find more.
        """
        meant = self._meant(test)
        if self.traits.atomic_steps or not isinstance(meant, Op) or not counting.is_at_one(meant, outcome=outcome):
            return
        call = self._meant(meant.operands[0])
        if isinstance(call, Call) and call.args[-1:] == (counting.ONE,):
            paths = {self.kept_at(counter): None for counter in self._counted(call, state)}
            held = [Held(path, call.span, FLAG) for path in paths if isinstance(path, Captured | Global | Field)]
            state.held = (*state.held, *(held if len(paths) == 1 else ()))

    def _meant(self, expr: Expr) -> Expr:
        """What a local variable holds that is given a value once."""
        if not isinstance(expr, Name) or expr.scope != "local" or expr.name in self.function.cells:
            return expr
        held = self.function.bindings.get(expr.name, ())
        return held[0] if len(held) == 1 else expr

    def _counted(self, call: Call, state: State) -> Values:
        """The counter that a call counts in."""
        if not isinstance(call.func, Attr):
            return ()
        function = self.symbols.static(self.source.name, call.func)
        if isinstance(function, Builtin):
            known = self.knowledge.does(function.name, "counts") is not None and bool(call.args)
            return self.evaluate(call.args[0], state.copy()) if known else ()
        method, owners = call.func.name, self.evaluate(call.func.base, state.copy())
        return tuple([each for each in owners if self._does(each, method, "counts")])

    def count_by_one(self, stmt: Update, state: State) -> None:
        """`s.workers++` and `s.workers--`."""
        if not self.traits.atomic_steps and stmt.operator in ("+", "-") and stmt.value == counting.ONE:
            self._count_tally(self._counters(stmt.target, state), stmt.operator == "-", stmt.span, state)

    def count_in_one_step(self, name: str, counters: Values, args: Values, span: Span, state: State) -> None:
        """`s.workers.Add(-1)`; what is added may be anything else, too."""
        if self.knowledge.does(name, "counts") is not None:
            self.tell_level(counters, (), span, state)
            down = all([isinstance(value, Literal) and type(value.value) is int and value.value < 0 for value in args])
            self._count_tally(counters, down and bool(args), span, state)

    def flags_at(self, flags: Values, state: State) -> Values:
        """The variables or fields that hold flags, also those that have just been made."""
        return tuple([self.kept_at(self.holder_of(self.kept_at(flag), state)) for flag in flags])

    def tell_level(self, flags: Values, stored: Values, span: Span, state: State) -> None:
        """A number is stored in a flag: others may find that there."""
        if not self.traits.atomic_steps:
            known = self.symbols.constant(stored[0]) if len(stored) == 1 else None
            for flag in self.flags_at(flags, state):
                for path in levels_of(flag, known):
                    self.tell(SET, (path,), span, state)

    def _count_tally(self, counters: Values, down: bool, span: Span, state: State) -> None:
        if down:
            self._tell_tally(LEFT, counters, span, state)
            for counter in counters:
                state.drop_flag(self.kept_at(counter))
        for counter in counters if not down else ():
            path = self.kept_at(counter)
            self.renew(path, span, state)
            self.effects.counted_up.add(path)
            if isinstance(path, Captured | Field | Global):
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
        method, owners = asked.func.name, self.evaluate(asked.func.base, state.copy())
        return tuple([each for each in owners if self._does(each, method, "asks")])

    def _does(self, counter: Value, method: str, what: str) -> bool:
        kind = self.types.of(counter)
        return isinstance(kind, LibraryType) and self.knowledge.does(f"{kind.name}.{method}", what) is not None


def _fills(loop: Loop, bound: Op) -> bool:
    """Whether each turn of a loop sends something to the channel whose room it counts."""
    sends = [stmt.value for stmt in loop.body if isinstance(stmt, Eval)]
    channels = [plain(op.operands[0]) for op in sends if isinstance(op, Op) and op.operator == "send"]
    return plain(bound.operands[0]) in channels
