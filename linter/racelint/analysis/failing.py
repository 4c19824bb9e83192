"""Failures: results that say that a function may not have waited for what it has started.

`func fetch(f func()) error { go func() { f(); close(done) }(); select { case <-done: return nil; case <-timeout: return
ErrLate } }`: behind `if err := fetch(f); err != nil { return err }`, what it has started has ended. Others answer
whether something has come: `func (c *conn) up() bool { select { case <-c.ready: return true; default: return false }}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis.paths import root, unite
from racelint.analysis.values import (
    Builtin,
    Captured,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Result,
    Site,
    Tuple,
    Value,
    Values,
)
from racelint.model import Build, Expr, Name, TypeRef
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.state import State

FAILURE = "failure"  # the type of what a library makes to tell that something has failed: `fmt.Errorf(...)`
LAST = "error"  # the type of the last result of a call that says whether it has waited
ANSWER = "bool"  # the type of the result of a call that answers yes or no
SAYING = (LAST, ANSWER, FAILURE)
NOTHING = "@nothing"  # stands for it beside the variables that are compared with it
OBJECTS = Fresh | Field | Element | Member | Param
NAMED = ("Err", "err")  # how the names of such values begin

Variable: TypeAlias = str | Captured
Outcome: TypeAlias = bool | None  # of a call: yes, no, or that its last result, an error, is nothing
Done: TypeAlias = frozenset[tuple[str, Value]]  # operations, and the channels or groups
Failed: TypeAlias = dict[Span, frozenset[tuple[Variable, Values]]]  # by what may run: what has failed if it does


def is_failure(value: Value, state: State) -> bool:
    """Whether a value surely is not nothing."""
    match value:
        case Literal(value=constant):
            return constant is not None
        case Fresh() | FunctionValue():
            return True
        case Result(type=kind) if kind == FAILURE:
            return True
        case Global(name=name) | Builtin(name=name):
            return name.rpartition(".")[2].startswith(NAMED)
        case _:
            return state.is_something(value)


def surely_failed(state: State) -> set[Variable]:
    """The variables that surely hold something."""
    cells = [(path, values) for path, values in state.heap.items() if isinstance(path, Captured)]
    held: list[tuple[Variable, Values]] = [*state.variables.items(), *cells]
    surely = {name for name, values in held if values and all([is_failure(value, state) for value in values])}
    for pair, equal in state.compared.items():
        if NOTHING in pair and not equal:
            surely.update(pair)
    return surely


def failed_in(state: State, started: Span) -> set[Variable]:
    """The variables that say that something has failed, if what was started at a spot still runs."""
    held = state.failed.get(started, ())
    return surely_failed(state) | {name for name, values in held if value_of(name, state) == values}


def value_of(variable: Variable, state: State) -> Values:
    """What a variable holds."""
    return state.heap.get(variable, ()) if isinstance(variable, Captured) else state.variables.get(variable, ())


def failed_in_either(first: State, second: State) -> dict[Span, set[Variable]]:
    """What says in both of two states that something has failed, if what was started at a spot still runs there."""
    found: dict[Span, set[Variable]] = {}
    if first.running == second.running and not (first.failed or second.failed):
        return found
    for span in first.running | second.running:
        sides = [failed_in(state, span) for state in (first, second) if span in state.running]
        if both := set.intersection(*sides):
            found[span] = both
    return found


def as_merged(found: dict[Span, set[Variable]], state: State) -> Failed:
    """What has failed, with what the variables hold where two states have met."""
    return {span: frozenset([(name, value_of(name, state)) for name in names]) for span, names in found.items()}


def last_of(call: Site, results: Values, outcomes: Iterable[Outcome]) -> Values:
    """The results of a call whose last one says what it has done; what it has answered for sure stays."""
    if None not in outcomes and outcomes:
        return results if len(results) == 1 and isinstance(results[0], Literal | Tuple) else (Result(call, ANSWER),)
    said = (Result(call, LAST),)
    parts = [value for value in results if isinstance(value, Tuple) and value.parts]
    if not parts:
        return said
    return tuple([value._replace(parts=(*value.parts[:-1], said)) for value in parts])


class Ends:
    """What the results of a function, and of those that it calls, say of what has been started."""

    def __init__(self) -> None:
        self._calls: dict[Span, bool] = {}  # whether the last result of what was called says whether it has ended
        self._told: dict[tuple[Span, Outcome], Done] = {}  # what it has done with channels, by what comes out
        self._done: dict[Outcome, Done] = {}  # what the function itself has surely done then
        self._fails = self._ends = self._is_open = False
        self._left: dict[bool, set[Span]] = {True: set(), False: set()}  # what runs, by whether only a failure is told

    def call(self, call: Span, *, says: bool) -> None:
        """A call has started something; of several functions that may be called all say whether it has ended."""
        self._calls[call] = self._calls.get(call, True) and says

    def call_done(self, call: Span, outcome: Outcome, done: Done) -> None:
        """What was called has done something with channels if its last result is so."""
        self._told[call, outcome] = self._told.get((call, outcome), done) & done

    def ended(self, values: Values) -> list[Span]:
        """The calls of which all that they have started has ended if values are nothing."""
        return [call for call in _said_by(values) if self._calls.get(call)]

    def done(self, values: Values, outcome: Outcome = None) -> Done:
        """What has been done with channels by then if values are nothing, or true or false."""
        return frozenset().union(*[self._told.get((call, outcome), frozenset()) for call in _said_by(values)])

    def leave(
        self, expr: Expr, values: Values, span: Span, state: State, answers: Mapping[Outcome, Done]
    ) -> None:  # fmt: skip
        """A return statement, at a spot, gives some values, while what was started may still run.

        `answers` is what has been done with channels if they are true, and if they are false, where that differs.
        """
        parts = [value.parts[-1] for value in values if isinstance(value, Tuple) and value.parts]
        last = unite(parts) if parts else values
        if isinstance(expr, Build):
            expr = expr.parts[-1] if expr.parts else expr
        name = expr.name if isinstance(expr, Name) else ""
        surely = name in _names(surely_failed(state)) or all([is_failure(value, state) for value in last])
        self._left[surely and _is_alone(values, span)] |= state.running
        for outcome in (None, True, False):
            if not surely if outcome is None else any([_may_be(value, outcome) for value in last]):
                done = answers.get(outcome, state.told[0]) | self.done(last, outcome)
                self._done[outcome] = self._done.get(outcome, done) & done
        for span in state.running:
            if surely or span in self.ended(last) or name in _names(failed_in(state, span)):
                self._fails = True
            else:
                self._is_open = True
        self._ends |= state.started and not surely
        goes_on = [isinstance(value, OBJECTS) and not isinstance(root(value), Result) for value in last]
        self._is_open |= state.started and any(goes_on)  # callers get an object

    def has_done(self, returns: TypeRef | None) -> dict[Outcome, Done]:
        """What the function has surely done with channels if its last result is nothing, or by its answer."""
        if returns is not None and returns.name == ANSWER:
            return {outcome: done for outcome, done in self._done.items() if outcome is not None}
        return {None: self._done.get(None, frozenset())} if _tells_failures(returns) else {}

    def beside_failures(self, returns: TypeRef | None) -> set[Span]:
        """Where what may run only when callers are given a failure, and nothing made before, was started."""
        return self._left[True] - self._left[False] if _tells_failures(returns) else set()

    @property
    def says(self) -> bool:
        """Whether the last result says that all has ended: it is nothing then, and only then."""
        return self._fails and self._ends and not self._is_open


def _said_by(values: Values) -> list[Span]:
    """The call whose last result a value is, if it can be nothing else."""
    calls = [value.site.span for value in values if isinstance(value, Result) and value.type in SAYING]
    return calls if len(calls) == len(values) == 1 else []


def _may_be(value: Value, outcome: bool) -> bool:
    """Whether an answer may be so."""
    return not isinstance(value, Literal) or bool(value.value) is outcome


def _names(variables: set[Variable]) -> set[str]:
    return {each.name if isinstance(each, Captured) else each for each in variables}


def _tells_failures(returns: TypeRef | None) -> bool:
    """Whether the last result of a function is an error."""
    last = returns.args[-1] if returns is not None and returns.name == "results" and returns.args else returns
    return last is not None and last.name == LAST


def _is_alone(values: Values, returned: Span) -> bool:
    """Whether all that is returned beside a failure is nothing, a constant or made for that: `return nil, err`."""
    others = [part for value in values if isinstance(value, Tuple) for part in value.parts[:-1]]
    return all([_is_made_in(value, returned) for part in others for value in part])


def _is_made_in(value: Value, span: Span) -> bool:
    """Whether a value is a constant, or is made at a spot."""
    return isinstance(value, Literal) or (isinstance(value, Fresh) and span.holds(value.site.span))
