"""Logging loops: loops that only log what they go over, where whatever stops them is taken by a handler that logs it.

`try: for name in self.queues: log.info(...)`, `except Exception as error: log.error(error)`: who fails there, since the
container has grown, shows a little less this time.
"""

from __future__ import annotations

from racelint.analysis.catching import Catching
from racelint.analysis.effects import Access
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.knowledge.sharing import Sharing
from racelint.model import Attr, Block, Branch, Call, Eval, Hold, Jump, Loop, Name, Stmt, Try
from racelint.record import records
from racelint.span import Span


class LoggingLoops:
    """Answers for iterations; looks at texts only."""

    def __init__(self, symbols: Symbols, catching: Catching, names: Sharing) -> None:
        self._symbols = symbols
        self._catching = catching
        self._shows = names.names("shows")
        self._shown: dict[tuple[str, Span], bool] = {}

    def only_shows(self, spot: Spot) -> bool:
        """Whether an iteration is for nothing but to be shown, and its failure ends nothing else."""
        if not isinstance(spot.access, Access) or spot.access.kind != "iterate":
            return False
        key = (spot.function, spot.access.span)
        if key not in self._shown:
            self._shown[key] = self._is_shown(*key)
        return self._shown[key]

    def _is_shown(self, function_id: str, spot: Span) -> bool:
        body = self._symbols.functions[function_id][1].body
        tries = [node for node in records(body) if isinstance(node, Try) and _holding(node.body, spot) is not None]
        caught = [node for node in tries if any(map(self._catching.takes_all, node.handlers))]
        if not caught:
            return False
        nearest = max(caught, key=lambda node: node.span)
        handled = all(self._all_show(handler.body) for handler in nearest.handlers)
        return handled and self._all_show(nearest.orelse) and self._shows_from(nearest.body, spot)

    def _shows_from(self, block: Block, spot: Span) -> bool:
        """Whether a block has something shown at a spot, and does nothing else from there on."""
        index = _holding(block, spot)
        if index is None or not self._all_show(block[index + 1 :]):
            return False
        match block[index]:
            case Branch(then=then, orelse=orelse):
                return self._shows_from(then, spot) or self._shows_from(orelse, spot)
            case Hold(body=body):
                return self._shows_from(body, spot)
            case stmt:
                return self._all_show((stmt,))

    def _all_show(self, block: Block) -> bool:
        return all(self._is_showing(stmt) for stmt in block)

    def _is_showing(self, stmt: Stmt) -> bool:
        """Whether a statement only shows something, be it some of what a loop goes over."""
        match stmt:
            case Eval(value=Call(func=Attr(name=name) | Name(name=name))):
                return name in self._shows
            case Loop(body=body, orelse=orelse, iterable=iterable):
                return iterable is not None and self._all_show((*body, *orelse))
            case Branch(then=then, orelse=orelse):
                return self._all_show((*then, *orelse))
            case Jump(kind="continue" | "break"):
                return True
            case _:
                return False


def _holding(block: Block, spot: Span) -> int | None:
    """The statement of a block that a spot stands in."""
    return next((index for index, stmt in enumerate(block) if stmt.span.holds(spot)), None)
