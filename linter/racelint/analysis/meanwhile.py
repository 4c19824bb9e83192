"""Meanwhile: flags that have one value as long as what was started may run, and say by the other one that it has ended.

`for !finished { select { case <-done: finished = true; case <-ticker.C: spin() } }`: behind that loop, `done` has been
received. Only variables of the function itself count, not those that closures share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis.values import Literal, Values
from racelint.model import Expr, Name
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.state import State

Flagged: TypeAlias = dict[Span, frozenset[tuple[str, bool, Values]]]  # by what may run: flags, and what they are then


def flags_in_either(first: State, second: State) -> dict[Span, set[tuple[str, bool]]]:
    """What flags are in both of two states, if what was started at a spot still runs there."""
    found: dict[Span, set[tuple[str, bool]]] = {}
    if first.running == second.running and not (first.flags or second.flags):
        return found
    for span in first.running | second.running:
        sides = [_flags(state, span) for state in (first, second) if span in state.running]
        if both := set.intersection(*sides):
            found[span] = both
    return found


def told_apart(found: dict[Span, set[tuple[str, bool]]], state: State) -> Flagged:
    """Those of the flags that may have another value where two states have met, since something has ended."""
    told = {
        span: frozenset([(n, held, state.variables[n]) for n, held in flags if _constant(state.variables[n]) is None])
        for span, flags in found.items()
    }
    return {span: flags for span, flags in told.items() if flags}


def refuted(test: Expr, state: State, *, outcome: bool) -> list[Span]:
    """What has ended where a flag is found to be something else than what it is as long as that runs."""
    if not state.flags or not isinstance(test, Name):
        return []
    return [span for span in state.running if (test.name, not outcome) in _flags(state, span)]


def _flags(state: State, span: Span) -> set[tuple[str, bool]]:
    known = {(name, held) for name, held, values in state.flags.get(span, ()) if state.variables.get(name) == values}
    constants = [(name, _constant(values)) for name, values in state.variables.items()]
    return known | {(name, held) for name, held in constants if held is not None}


def _constant(values: Values) -> bool | None:
    """The one truth value that some values have."""
    found = {value.value if isinstance(value, Literal) else None for value in values}
    held = found.pop() if len(found) == 1 else None
    return held if isinstance(held, bool) else None
