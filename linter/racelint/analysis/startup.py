"""Start-up: what a function has waited for before the program goes on to hand libraries what they are to call.

`func main() { loadAll(); http.HandleFunc("/", show); ... }`: what `loadAll` starts in goroutines, and waits for, has
ended when `show` is called for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from racelint.analysis.contexts import Contexts
from racelint.analysis.memory import Memory
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.span import Span


class Startup:
    """Finds goroutines that have ended when what libraries call is registered."""

    def __init__(self, contexts: Contexts, memory: Memory) -> None:
        self._contexts = contexts
        self._memory = memory
        self._waiting = {function for function, _ in memory.waiting}
        self._known: dict[tuple[int, int, str], bool] = {}

    def precedes(self, spot: Spot, other: Spot) -> bool:
        """Whether the goroutine of an access has ended before anything that leads to the other one is registered."""
        index, by = spot.entry.context, other.entry.context
        if self._contexts.roots[index].kind != GOROUTINE or index == by:
            return False
        called = self._contexts.root(other.function, other.entry)
        if (index, by, called) not in self._known:
            ways = list(self._waits(index))
            self._known[index, by, called] = bool(ways) and all(self._is_later(way, by, called) for way in ways)
        return self._known[index, by, called]

    def _waits(self, index: int) -> Iterator[list[tuple[str, Span]]]:
        """The calls that lead to what waits for a goroutine, for each way that leads to its start."""
        starter = self._contexts.roots[index].starter or ""
        for entry in self._contexts.entries.get(starter, ()):
            way, by = self._contexts.way(starter, entry), self._contexts.roots[entry.context]
            calls = [*[function for function, _ in way], starter]
            waiting = [at for at, function in enumerate(calls) if self._waits_for(function, index)]
            again = not by.is_external or self._contexts.is_looped(starter, entry)
            yield [] if again or not waiting else way[: waiting[-1]]

    def _waits_for(self, function: str, index: int) -> bool:
        """Whether a function starts a context, itself or by what it calls, and returns when all that has ended."""
        return function in self._waiting and index in self._contexts.started_under.get(function, ())

    def _is_later(
        self, way: list[tuple[str, Span]], index: int, called: str, seen: frozenset[int] = frozenset()
    ) -> bool:
        """Whether a way has been gone, and come back, wherever what leads to a context is started, or registered.

        `called` is the function with which the context begins.
        """
        context = self._contexts.roots[index]
        if not way or context.is_external:
            return False
        if context.starter is not None and context.span is not None:
            found: Sequence[tuple[str, Span]] = [(context.starter, context.span)]
        else:
            found = self._memory.registered(called)
        reached = [
            (function, entry, span)
            for function, span in found
            for entry in self._contexts.entries.get(function, ())
            if entry.context not in seen
        ]
        return bool(reached) and all(
            self._memory.parts_before(way, self._contexts.steps(function, entry, span))
            if self._contexts.roots[entry.context].is_external
            else self._is_later(way, entry.context, self._contexts.root(function, entry), seen | {index})
            for function, entry, span in reached
        )
