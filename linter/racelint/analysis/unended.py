"""Unended: what has surely been received wherever a context is found not to have ended.

`select { case <-done: case <-ctx.Done(): }; if err := ctx.Err(); err != nil { return err }`: behind that, `done` has.
What has ended stays so: who finds it not ended has come by the other case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis.values import Captured, Param, Result, Value

if TYPE_CHECKING:
    from racelint.analysis.failing import Done
    from racelint.analysis.state import State

Unless: TypeAlias = frozenset[tuple[Value, tuple[str, Value]]]  # contexts, and what has been done if they are not over
LASTING = frozenset({"take", "closed"})  # operations after which nothing is as it was before


def is_told_apart(context: Value) -> bool:
    """Whether a value stands for one context as long as the function runs."""
    return isinstance(context, Param | Captured | Result)


def done_unless(context: Value, state: State) -> Done:
    """What has been done if a context has not ended by now."""
    return frozenset([done for ended, done in state.unless if ended == context])


def unless_in_both(first: State, second: State) -> Unless:
    """What has been done in both of two states by all that have not come by the end of a context."""
    if not (first.over or second.over or first.unless or second.unless):
        return frozenset()
    known = first.unless | second.unless
    contexts = {*first.over, *second.over, *[context for context, _ in known]}
    told = {*(first.told[0] ^ second.told[0]), *[done for _, done in known]}
    return frozenset(
        [
            (context, done)
            for context in contexts
            for done in told
            if done[0] in LASTING and all([_holds(context, done, state) for state in (first, second)])
        ]
    )


def _holds(context: Value, done: tuple[str, Value], state: State) -> bool:
    return context in state.over or done in state.told[0] or (context, done) in state.unless
