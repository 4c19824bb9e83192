"""Flags that are asked: what a test says of them, outright or by a helper that returns what it has found.

`if !s.ready.Load() { return }`: all has been done that comes before it is set. `if s.closed.CompareAndSwap(false, true)
{ ... }`, `if s.closed.Swap(true) { return }`, `if s.swap(done) == done { return }`: nobody else has set it before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from racelint.analysis import counting
from racelint.analysis.failing import ANSWER, Done, Outcome
from racelint.analysis.levels import anywhere, level
from racelint.analysis.state import FLAG, SET, TAKE, Held, State, surely_held
from racelint.analysis.summary import Ask, Stored
from racelint.analysis.tallies import Tallies
from racelint.analysis.types import LibraryType
from racelint.analysis.values import Builtin, Captured, Field, Global, Literal, TypeValue, Value, Values
from racelint.model import (
    Assign,
    Attr,
    Block,
    Branch,
    Call,
    Cast,
    Const,
    Expr,
    Jump,
    Logic,
    Loop,
    Name,
    Op,
    Spawn,
    Try,
    Update,
)
from racelint.record import records
from racelint.span import Span

MOST_STATEMENTS = 8  # of a helper that only says what it finds
NOT_STRAIGHT = (Assign, Branch, Loop, Spawn, Try, Update)
SET_FLAG = Literal(True, "bool")
UNDER = " set under "  # between the names of a flag and of the lock under which it is set
UNSET = "unset under"  # what stands for a flag that was found so while a lock was held


class Asking(Tallies):
    """Finds what calls say of flags."""

    def ask_flag(
        self, asked: Expr, found_set: State | None, found_unset: State | None, compared: Expr | None = None
    ) -> None:
        """Note what a test of a call says of flags; `compared` is what the call's result is compared with, if it is.

        Or of a variable that holds the result: `first := s.closed.CompareAndSwap(false, true); if !first { return }`.
        """
        call = self._meant(asked)
        if not isinstance(call, Call):
            return
        for ask in self._asks(call, found_set or found_unset):
            one, other = (found_set, found_unset) if ask.outcome else (found_unset, found_set)
            plain = compared is None or isinstance(compared, Const)
            if plain and self.knowledge.does(ask.name, "asks"):
                if one is not None:
                    self.tell(TAKE, (self.kept_at(ask.flag),), call.span, one)
                now = ask.both and call is asked  # by what locks a variable got its value is not known
                self._find_unset(ask.flag, call.span, other if now else None)
            if plain and self.knowledge.does(ask.name, "claims"):
                self._claim(ask, call.span, one)
                self._find_replaced(ask, call, one)
            if compared is None and one is not None and self.knowledge.does(ask.name, "swaps"):
                self.tell(TAKE, level(self.kept_at(ask.flag), SET_FLAG), call.span, one)
            if self.knowledge.does(ask.name, "swaps") and _tells_who_was_first(ask.stored, compared):
                self._claim(ask, call.span, other)

    def _find_replaced(self, ask: Ask, call: Call, state: State | None) -> None:
        """Who changes a flag from one value to another has found that: `s.asked.CompareAndSwap(true, false)`."""
        row = self.knowledge.does(ask.name, "sets")
        if state is None or row is None or call.span in self.asks or not 0 < row.argument < len(call.args):
            return
        found = self.evaluate(call.args[row.argument - 1], state.copy())
        known = self.symbols.constant(found[0]) if len(found) == 1 else None
        if known is not None:
            self.tell(TAKE, level(self.kept_at(ask.flag), known), call.span, state)

    def ask_bounds(self, test: Expr, yes: State | None, no: State | None) -> None:
        """Note what the outcome of a test says of a number that is above zero: `if s.loads.Load() > 0 { ... }`."""
        call = self._converted(test.operands[0]) if isinstance(test, Op) and len(test.operands) == 2 else None
        if not isinstance(call, Call) or self.traits.atomic_steps or not isinstance(test, Op):
            return
        for outcome, after in ((True, yes), (False, no)):
            if after is None or not counting.is_at_zero(test, outcome=not outcome):
                continue
            for ask in self._asks(call, after):
                if self.knowledge.does(ask.name, "asks") and ask.outcome:
                    self.tell(TAKE, anywhere(self.kept_at(ask.flag)), call.span, after)

    def ask_level(self, sides: Sequence[Expr], values: Sequence[Values], equal: State, different: State) -> None:
        """Note what a comparison of a flag with a constant says: `switch s.state.Load() { case running: ... }`."""
        for asked, compared in zip(sides, reversed(values), strict=True):
            number = self.symbols.constant(compared[0]) if len(compared) == 1 else None
            call = self._converted(asked)
            if number is None or type(number.value) is not int or not isinstance(call, Call):
                continue
            for ask in self._asks(call, equal):
                if self.knowledge.does(ask.name, "asks") and ask.outcome:
                    flag = self.kept_at(ask.flag)
                    self.tell(TAKE, level(flag, number), call.span, equal)
                    self.tell(TAKE, () if number.value else anywhere(flag), call.span, different)

    def _converted(self, expr: Expr) -> Expr:
        """What is converted to a plain type, or to one that has a name: `State(s.state.Load())`."""
        inner = self._meant(expr)
        while True:
            match inner:
                case Cast(value=value):
                    inner = value
                case Call(func=Name() as func, args=(value,), keywords=()) if isinstance(
                    self.symbols.static(self.source.name, func), TypeValue
                ):
                    inner = value
                case _:
                    return inner

    def _find_unset(self, flag: Value, span: Span, state: State | None) -> None:
        """Who has found a flag unset under a lock is the only one who has, until the lock is given back.

        `s.mu.Lock(); if !s.ready.Load() { s.table = load(); s.ready.Store(true) }; s.mu.Unlock()`
        """
        if state is None:
            return
        for held in surely_held(state.held):
            if held.kind == "exclusive" and isinstance(held.lock, Captured | Field | Global):
                found = Field(self.shared_locals.get(flag, flag), f"{UNSET} {held.lock.name}")
                state.held = (*state.held, Held(found, span, FLAG))
                self.found_under.setdefault(held.lock, set()).add(found)

    def set_under(self, path: Value, values: Values, span: Span, state: State) -> None:
        """A field is set under a lock of its object, for those who will find that under the same lock."""
        if self.traits.atomic_steps or values != (Literal(True, "bool"),):
            return
        for flag in _under(path, [held for held in state.held if held.kind == "exclusive"]):
            self.tell(SET, (self.kept_at(flag),), span, state)

    def find_set(self, values: Values, held: Sequence[Held], state: State) -> None:
        """Who finds a field set under a lock comes after what was done before it was set under that."""
        if self.traits.atomic_steps or len(values) != 1:
            return
        for flag in _under(values[0], [each for each in held if each.kind in ("exclusive", "shared")]):
            state.tell(TAKE, (self.kept_at(flag),))

    def _claim(self, ask: Ask, span: Span, state: State | None) -> None:
        """Who has set a flag that nobody had set has what follows to himself, until it is set back."""
        if state is None:
            return
        stored = self.evaluate(ask.stored, state.copy()) if isinstance(ask.stored, Const | Name) else ()
        if not any(map(self.is_unset, stored)):
            state.held = (*state.held, Held(self.shared_locals.get(ask.flag, ask.flag), span, FLAG))

    def note_asks(self, returned: Jump, state: State) -> None:
        """Remember what the result says of a helper that only returns what it has found a flag to be.

        It may hold a lock meanwhile: `s.mu.RLock(); defer s.mu.RUnlock(); return s.ready.Load() && !s.failed`.
        """
        if returned.value is not None and _only_returns(self.function.body, returned):
            found = self._returned(returned.value, state)
            self.summary.asks = tuple([ask._replace(stored=self._given(ask.stored)) for ask in found])

    def answers_of(self, returned: Expr, state: State) -> dict[Outcome, Done]:
        """What has been done with channels if a function's answer is yes, and if it is no: `ready.Load() && !s.off`."""
        declared = self.function.returns
        if self.traits.duck_typed or declared is None or declared.name != ANSWER:
            return {}
        yes, no = self._done_by(returned, state)
        return {True: yes, False: no}

    def _done_by(self, expr: Expr, state: State) -> tuple[Done, Done]:
        """What has been done with channels if an expression is true, and if it is false."""
        match expr:
            case Op(operator="not", operands=(inner,)):
                yes, no = self._done_by(inner, state)
                return no, yes
            case Logic(operator=operator, operands=operands):
                sides = [self._done_by(operand, state) for operand in operands]
                all_yes, all_no = [yes for yes, _ in sides], [no for _, no in sides]
                if operator == "and":
                    return frozenset().union(*all_yes), frozenset.intersection(*all_no)
                return frozenset.intersection(*all_yes), frozenset().union(*all_no)
            case Call() | Op(operator="==" | "!=" | "<" | "<=" | ">" | ">=", operands=(Call(), _)):
                outer, self.testing = self.testing, True
                found = self.branch(expr, state.copy())
                self.testing = outer
                yes, no = [state.told[0] if after is None else after.told[0] for after in found]
                return yes, no
            case Attr() if state.held:
                found_set = state.copy()
                self.find_set(self.evaluate(expr, found_set), state.held, found_set)
                return found_set.told[0], state.told[0]
            case _:
                return state.told[0], state.told[0]

    def _returned(self, expr: Expr, state: State) -> list[Ask]:
        """What the result of an expression says of flags: a call's own, converted or compared with a constant."""
        match expr:
            case Op(operator="not", operands=(inner,)):
                return [ask._replace(outcome=not ask.outcome) for ask in self._returned(inner, state)]
            case Op(operator="==" | "!=" as operator, operands=(Call() as inner, Const(value=value) as compared)):
                is_set = (operator == "==") is bool(value)
                found = [
                    ask for ask in self._asks(inner, state)
                    if not self.knowledge.does(ask.name, "swaps") or _tells_who_was_first(ask.stored, compared)
                ]  # fmt: skip
                return [ask._replace(outcome=ask.outcome is is_set) for ask in found]
            case Logic(operator=operator, operands=operands):
                found = [ask for operand in operands for ask in self._returned(operand, state)]
                sure = [ask for ask in found if ask.outcome is (operator == "and")]
                return [ask._replace(both=False) for ask in sure if not self.knowledge.does(ask.name, "swaps")]
            case Cast(value=inner):
                return self._returned(inner, state)
            case Call(func=func, args=(inner,)) if isinstance(self.symbols.static(self.source.name, func), TypeValue):
                return self._returned(inner, state)
            case Call():
                return list(self._asks(expr, state))
            case _:
                return []

    def _given(self, stored: Stored) -> Stored:
        """The position among a helper's arguments of what it puts into a flag, if it is given that."""
        inner = stored.value if isinstance(stored, Cast) else stored
        if not isinstance(inner, Name) or inner.scope != "local":
            return inner
        names = [parameter.name for parameter in self.function.parameters[bool(self.function.owner) :]]
        return names.index(inner.name) if inner.name in names else None

    def _asks(self, asked: Call, state: State | None) -> Iterator[Ask]:
        """Of which flag a call asks; where it is a helper's, by what that returns."""
        for ask in self.asks.get(asked.span, ()):
            index = ask.stored
            yield ask._replace(stored=asked.args[index]) if isinstance(index, int) and index < len(asked.args) else ask
        if state is None or not isinstance(asked.func, Attr) or asked.func.name not in self.knowledge.asks:
            return
        found = self._flags(asked, asked.func, state)
        for name, flag in found:
            row = self.knowledge.does(name, "sets")
            stored = asked.args[row.argument] if row is not None and row.argument < len(asked.args) else None
            if len(found) == 1 or self.knowledge.does(name, "asks"):
                yield Ask(name, flag, stored, outcome=True)

    def _flags(self, asked: Call, called: Attr, state: State) -> list[tuple[str, Value]]:
        """The flags of which a call asks, by what the call is known as: `atomic.LoadInt32(&flag)`, `flag.Load()`."""
        function = self.symbols.static(self.source.name, called)
        if isinstance(function, Builtin):
            return [(function.name, flag) for flag in self.evaluate(asked.args[0], state.copy())] if asked.args else []
        kinds = [(flag, self.types.of(flag)) for flag in self.evaluate(called.base, state.copy())]
        return [(f"{kind.name}.{called.name}", flag) for flag, kind in kinds if isinstance(kind, LibraryType)]


def _only_returns(body: Block, returned: Jump) -> bool:
    """Whether a short function comes to one return, by one way, on which it gives nothing a value."""
    if len(body) > MOST_STATEMENTS:
        return False
    parts = list(records(body))
    jumps = [part for part in parts if isinstance(part, Jump)]
    return jumps == [returned] and not any([isinstance(part, NOT_STRAIGHT) for part in parts])


def _under(path: Value, held: Sequence[Held]) -> Iterator[Value]:
    """What stands for a flag by each of the locks of its object under which it is set, or found set."""
    for lock in [each.lock for each in held]:
        match path, lock:
            case Field(base=base, name=name), Field(base=of, name=mutex) if base == of:
                yield Field(base, f"{name}{UNDER}{mutex}")
            case Field(base=base, name=name), _ if lock == base:
                yield Field(base, f"{name}{UNDER}")


def _tells_who_was_first(stored: Stored, compared: Expr | None) -> bool:
    """Whether a swap's result says that nobody has swapped before: it is compared with what is put there, or unset."""
    match stored, compared:
        case _, None:
            return True
        case Name(name=one, scope="global"), Name(name=other, scope="global"):
            return one == other
        case Const(value=one), Const(value=other):
            return one == other or not other
        case _, Const(value=other):
            return not other
        case _:
            return False
