"""Insight: what a function does beside the closures that it has started stands before its author's eyes.

Of the warnings of which one side only looks at what the other one changes, on repositories that the rule had not been
mended on, none was right in which

- a turn of a loop that waits for something stores what the closure looks at that a turn has started (6): who writes
  `case batch <- next: lastSent = now; go func() { sleep(lastSent); timeout <- true }()` has the states of the loop say
  when the next one comes. Variables of the loop itself, which were one for all turns, are easily forgotten (4 of 7);
- the function stores it anew when it has waited for something since it has started the closure (5).

That the two meet may be right all the same: each of them is ordered by something that is not seen here, or by nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import loops_around
from racelint.analysis.contexts import Contexts
from racelint.analysis.memory import Memory
from racelint.analysis.places import Place
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Op
from racelint.record import records
from racelint.span import Span


class Insight:
    """Answers for stores whose function has started, as a closure of its own, who looks at what is stored."""

    def __init__(self, symbols: Symbols, contexts: Contexts, memory: Memory) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._memory = memory

    def has(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether one text shows both accesses, and a wait of the function which stores that mostly orders them."""
        if other.is_write or not self._memory.governs(write.function) or self._is_of_a_loop(place):
            return False
        start = self._start(write, other)
        return start is not None and (self._is_of_next_turn(write, start) or self._has_waited(write, start))

    def _start(self, spot: Spot, closure: Spot) -> Span | None:
        """Where the very function of an access starts the context of another one, a closure that stands in it."""
        context = self._contexts.roots[closure.entry.context]
        if (
            context.kind != "goroutine"
            or context.starter != spot.function
            or spot.entry.context == closure.entry.context
        ):
            return None
        source, function = self._symbols.functions[context.function]
        inside = not function.owner and f"{source.name}:{function.parent}" == spot.function
        return context.span if inside else None

    def _is_of_a_loop(self, place: Place) -> bool:
        known = self._symbols.functions.get(place.owner) if place.kind == "captured" else None
        return known is not None and any(turn.edition and turn.variable == place.name for turn in known[1].turns)

    def _is_of_next_turn(self, write: Spot, start: Span) -> bool:
        """Whether a store comes before the start, in a loop around both that waits."""
        if write.access.span[:2] > start[:2]:
            return False
        loops = loops_around(self._symbols.functions[write.function][1].body, write.access.span)
        return any(loop.span.holds(start) and any(map(loop.span.holds, self._waits(write.function))) for loop in loops)

    def _has_waited(self, write: Spot, start: Span) -> bool:
        """Whether the function waits behind the start, and before the store."""
        return any(start[:2] < span[:2] < write.access.span[:2] for span in self._waits(write.function))

    def _waits(self, function_id: str) -> Iterator[Span]:
        """Where a function receives from a channel."""
        for part in records(self._symbols.functions[function_id][1].body):
            if isinstance(part, Op) and part.operator == "receive":
                yield part.span
