"""Meanwhile: variables that are so as long as what was started may run, and say by being otherwise that it has ended.

`for !finished { select { case <-done: finished = true; case <-ticker.C: spin() } }`: behind that loop, `done` has been
received. Likewise `if task == nil { task = begin(); go func() { task.Run(); done <- true }() }` in a loop that stores
nothing there once `done` has been received, and `case <-due: due = nil; go ...`: from nothing, nothing is received.
Variables that others may store to do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis.failing import Variable, is_failure, value_of
from racelint.analysis.values import NONE, Captured, Literal, Values
from racelint.model import Const, Expr, Name, Op
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.state import State

NOTHING, SOMETHING = "nothing", "something"
EQUAL, UNEQUAL = ("==", "is"), ("!=", "is not")
Known: TypeAlias = bool | str  # what a variable surely is: true, false, nothing or something
Flagged: TypeAlias = dict[Span, frozenset[tuple[Variable, Known, Values]]]  # by what may run: what they are then


def flags_in_either(first: State, second: State) -> dict[Span, set[tuple[Variable, Known]]]:
    """What flags are in both of two states, if what was started at a spot still runs there."""
    found: dict[Span, set[tuple[Variable, Known]]] = {}
    if first.running == second.running and not (first.flags or second.flags):
        return found
    known = [(state, set(_known(state))) for state in (first, second)]
    for span in first.running | second.running:
        sides = [told | _told(state, span) for state, told in known if span in state.running]
        if both := set.intersection(*sides):
            found[span] = both
    return found


def told_apart(found: dict[Span, set[tuple[Variable, Known]]], state: State) -> Flagged:
    """Those of the flags that may have another value where two states have met, since something has ended."""
    told = {
        span: frozenset(
            [(v, known, value_of(v, state)) for v, known in flags if known != _is(value_of(v, state), state)]
        )
        for span, flags in found.items()
    }
    return {span: flags for span, flags in told.items() if flags}


def refuted(test: Expr, state: State, *, outcome: bool) -> list[tuple[Span, Variable]]:
    """What has ended where a variable is found to be something else than what it is as long as that runs."""
    match test if state.flags else None:
        case Name(scope="local") as name:
            return _ended(name, {not outcome, *([NOTHING] if outcome else ())}, state)
        case Op(operator=operator, operands=(Name(scope="local") as name, Const(value=None))) if (
            operator in EQUAL + UNEQUAL
        ):
            return _ended(name, {SOMETHING if outcome == (operator in EQUAL) else NOTHING}, state)
        case _:
            return []


def refuted_by_receive(channel: Expr, state: State) -> list[tuple[Span, Variable]]:
    """What has ended where something has come from a channel, if there is none as long as that runs."""
    return _ended(channel, {NOTHING}, state) if isinstance(channel, Name) and channel.scope == "local" else []


def _ended(name: Name, known: Set[Known], state: State) -> list[tuple[Span, Variable]]:
    """What has ended if a variable is not as it is known to be while that runs, and by which variable."""
    return [
        (span, variable)
        for span in state.running
        for variable, so in _told(state, span)
        if so in known and name.name == (variable.name if isinstance(variable, Captured) else variable)
    ]


def _told(state: State, span: Span) -> set[tuple[Variable, Known]]:
    """The flags that have got no other value since two states have met."""
    return {(v, known) for v, known, values in state.flags.get(span, ()) if value_of(v, state) == values}


def _known(state: State) -> Iterator[tuple[Variable, Known]]:
    """The variables of which one thing is sure."""
    cells = [(path, values) for path, values in state.heap.items() if isinstance(path, Captured)]
    held: list[tuple[Variable, Values]] = [*state.variables.items(), *cells]
    for variable, values in held:
        if (known := _is(values, state)) is not None:
            yield variable, known


def _is(values: Values, state: State) -> Known | None:
    """What a variable of some values surely is."""
    match values:
        case (Literal(value=bool(truth)),):
            return truth
        case (value,) if value == NONE:
            return NOTHING
        case _:
            return SOMETHING if values and all([is_failure(value, state) for value in values]) else None
