"""Catching: whatever goes wrong in one turn of a loop is taken by a handler there, and the next turn goes on.

`while True: try: self.step() except Exception: log()`: who fails in a turn, since something is gone, loses that turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from racelint.analysis.branching import loops_around
from racelint.analysis.symbols import Symbols
from racelint.model import Block, Handler, Name, Try
from racelint.record import records
from racelint.span import Span


class Catching:
    """Answers for ways to a spot; `all_of_them` are the names that stand for any exception."""

    def __init__(self, symbols: Symbols, all_of_them: frozenset[str]) -> None:
        self._symbols = symbols
        self._all = all_of_them

    def goes_on(self, steps: Sequence[tuple[str, Span]]) -> bool:
        """Whether an exception at the end of a way, outermost call first, ends no more than a turn of some loop."""
        is_looped = False
        for function_id, spot in steps:
            body = self._symbols.functions[function_id][1].body
            loops = loops_around(body, spot)
            tries = [node for node in records(body) if isinstance(node, Try) and _stands_in(spot, node.body)]
            for node in [each for each in tries if any(map(self.takes_all, each.handlers))]:
                if is_looped or any(loop.span.holds(node.span) for loop in loops):
                    return True
            is_looped = is_looped or bool(loops)
        return False

    def takes_all(self, handler: Handler) -> bool:
        """Whether a handler takes any exception."""
        return handler.caught is None or (isinstance(handler.caught, Name) and handler.caught.name in self._all)


def _stands_in(spot: Span, block: Block) -> bool:
    return any(stmt.span.holds(spot) for stmt in block)
