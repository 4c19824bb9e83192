"""First starts: what is stored where nothing is yet, before the start that stands behind it in the same branch.

`if addr == nil { addr = from; go func() { send(addr) }() }` in a loop: no later turn comes to the store again.
"""

from __future__ import annotations

from collections.abc import Sequence

from racelint.analysis.branching import arms, blocks, is_never_behind
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import NOTHING
from racelint.analysis.memory import STORES
from racelint.analysis.settled_tests import Path, says_unset
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Param, Value
from racelint.model import Branch
from racelint.span import Span


class FirstStart:
    """Answers for stores that one statement alone makes, once."""

    def __init__(self, symbols: Symbols, contexts: Contexts) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._spans: dict[tuple[str, Span], Span | None] = {}

    def follows(self, write: Spot, other: Spot, spots: Sequence[Spot]) -> bool:
        """Whether the other access's context is started behind the only store; `spots` are all of the place."""
        context = self._contexts.roots[other.entry.context]
        if context.starter != write.function or context.span is None or write.access.kind != "store":
            return False
        key = (write.function, write.access.span)
        if key not in self._spans:
            self._spans[key] = self._branch(write, spots)
        branch = self._spans[key]
        return branch is not None and branch.holds(context.span) and write.access.span[:2] < context.span[:2]

    def _branch(self, write: Spot, spots: Sequence[Spot]) -> Span | None:
        """What runs only where the place was found unset, around a store that is the last one ever."""
        function, path = self._symbols.functions[write.function][1], self._path(write.function, write.access.path)
        if not path or write.access.detail == NOTHING:
            return None
        for branch, arm in arms(function.body, write.access.span, turns=True):
            inside = _within(branch, arm)
            if inside is None or not says_unset(branch.test, path, held=arm == 0):
                continue
            stores = [spot for spot in spots if spot.access.kind in STORES and spot.access.span != write.access.span]
            if all(
                spot.function == write.function and is_never_behind(function.body, spot.access.span, branch.span)
                for spot in stores
            ):
                return inside
        return None

    def _path(self, function_id: str, value: Value) -> Path:
        """A variable of the function itself, or a field of its own object, as its tests name it."""
        match value:
            case Captured(function=function, name=name) if function == function_id:
                return ("local", name)
            case Field(base=Param(function=function, index=0), name=name) if function == function_id:
                own = self._symbols.functions[function_id][1].own
                return ("local", own, name) if own else ()
            case _:
                return ()


def _within(branch: Branch, arm: int) -> Span | None:
    """What an arm of a branch covers."""
    block = (branch.then, branch.orelse)[arm]
    spans = [stmt.span for each in blocks(block) for stmt in each]
    return Span(*min(spans)[:2], *max(span[2:] for span in spans)) if spans else None
