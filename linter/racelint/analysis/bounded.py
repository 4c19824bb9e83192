"""Bounded: threads that are over when the function returns that has started them, and those who call that."""

from __future__ import annotations

from collections.abc import Callable

from racelint.analysis.admitted import OWN_THREADS
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import Effects
from racelint.analysis.joining import is_joined
from racelint.analysis.spots import Spot
from racelint.analysis.starting import WAITS
from racelint.analysis.state import STOPPED
from racelint.analysis.symbols import Symbols
from racelint.analysis.ways import Ways
from racelint.knowledge import Knowledge
from racelint.model import Loop
from racelint.record import records
from racelint.span import Span


class Bounded:
    """Finds what runs only while a caller waits: it meets nothing of another caller's unless both come at once.

    Of the latter, `is_shared` tells whether documentation or code say so for a function in an entry state.
    """

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, ways: Ways, knowledge: Knowledge,
        is_shared: Callable[[str, Entry], str],
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._ways = ways
        self._concurrency = knowledge.concurrency
        self._is_shared = is_shared
        self._ended: dict[tuple[str, Span], bool] = {}  # by where something is started, whether it ends there

    def are_of_two_calls(self, first: int, second: int) -> bool:
        """Whether two contexts have each ended when the method that starts them returns, unless something fails there,
        and only callers come to these methods, one after the other as far as is known.
        """
        one, two = self._contexts.roots[first], self._contexts.roots[second]
        if one.starter is None or two.starter is None or one.starter == two.starter:
            return False
        if not (self._ends_there(one) and self._ends_there(two)):
            return False
        under = self._contexts.started_under
        if second in under.get(one.starter, ()) or first in under.get(two.starter, ()):
            return False  # one of the methods calls the other one
        return all(self._comes_alone(starter) for starter in (one.starter, two.starter))

    def _comes_alone(self, function_id: str) -> bool:
        """Whether only callers come to a function, and nothing says that others may be at its object then."""
        states = self._contexts.entries.get(function_id, ())
        known = bool(states) and all(self._contexts.roots[entry.context].is_external for entry in states)
        return known and not any(self._is_shared(function_id, entry) for entry in states)

    def _ends_there(self, context: Context) -> bool:
        """Whether the method that starts a thread also waits for it, or for its executor."""
        if context.starter is None or context.span is None or context.kind not in OWN_THREADS:
            return False
        key = (context.starter, context.span)
        if key not in self._ended:
            body = self._symbols.functions[context.starter][1].body
            self._ended[key] = context.awaited or is_joined(body, context.span, WAITS)
        return self._ended[key]

    def is_stopped_again(self, context: Context, caller: Spot) -> bool:
        """Whether only callers come to what has started a library's thread, and it is stopped before they go on.

        Not so where a loop goes on until somebody ends it: others call the object's methods meanwhile. What the starter
        itself does comes before the stop, or behind it.
        """
        if context.queue not in self._concurrency.stopped or context.starter is None:
            return False
        if not self._contexts.roots[caller.entry.context].is_external or not self._comes_alone(context.starter):
            return False
        if context.starter in self._ways.functions(caller):
            return False
        effects = self._effects[context.starter]
        called = [each for _, each in effects.calls if isinstance(each, str) and self._stops(each)]
        bodies = [self._symbols.functions[each][1].body for each in (context.starter, *called)]
        loops = [part for part in records(tuple(bodies)) if isinstance(part, Loop)]
        return self._stops(context.starter) and all(loop.iterable is not None for loop in loops)

    def _stops(self, function_id: str) -> bool:
        """Whether such a thread has surely been stopped when a function is left."""
        return function_id in self._effects and bool(self._effects[function_id].joined_at_end & STOPPED)
