"""Summaries on demand, bottom-up: recursion is run to a fixpoint, at its head, a bounded number of times."""

from __future__ import annotations

from racelint.analysis.callbacks import Callbacks
from racelint.analysis.effects import Effects
from racelint.analysis.evaluate import Evaluator
from racelint.analysis.ownstores import StoreUse
from racelint.analysis.sharing import Hints
from racelint.analysis.spawning import Spawning
from racelint.analysis.summary import Summary
from racelint.analysis.symbols import Symbols
from racelint.analysis.turnstiles import Turnstiles
from racelint.analysis.typecases import TypeCases
from racelint.analysis.types import Types
from racelint.analysis.usage import Usage
from racelint.knowledge import Knowledge
from racelint.span import Span

ROUNDS = 3  # runs of a recursive group before its summaries are taken as they are
NESTED = 80  # calls followed downwards; deeper ones count as unknown


class Summaries:
    """Computes and keeps the summary of each function.

    A cycle of calls is found when a function is asked for while it is being computed. The outermost such function is
    the head of its group: it runs again until its summary no longer changes, the others are kept with it.
    """

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        self.symbols = symbols
        self.types = types
        self.knowledge = knowledge
        self.callbacks = Callbacks(symbols, types)
        self.unknown: dict[str, int] = {}
        self.usage = Usage()
        self.hints = Hints()
        self.stores = StoreUse(symbols, types, knowledge.made)
        self.turnstiles = Turnstiles(symbols, knowledge.concurrency)
        self.spawning = Spawning(symbols, self)
        self.type_cases = TypeCases(symbols, types)
        self.remembering: dict[str, str] = {}  # which functions give the same object again, and what
        self.caching: dict[str, bool] = {}  # by a file, whether it speaks of caches
        self.unresolved: set[tuple[str, Span]] = set()  # calls of which nothing is known but that they happen
        self.effects: dict[str, Effects] = {}
        self._done: dict[str, Summary] = {}
        self._tentative: dict[str, tuple[Summary, int]] = {}
        self._active: dict[str, int] = {}
        self._provisional: dict[str, Summary] = {}
        self._lowest = 0

    def of(self, function_id: str) -> Summary:
        """The summary of a function; of one being computed, what is known so far."""
        done = self._done.get(function_id)
        if done is not None:
            return done
        if function_id in self._active:
            self._lowest = min(self._lowest, self._active[function_id])
            return self._provisional.get(function_id) or Summary()
        if function_id in self._tentative:
            summary, lowest = self._tentative[function_id]
            self._lowest = min(self._lowest, lowest)
            return summary
        if len(self._active) >= NESTED:
            self.unknown["calls nested too deeply"] = self.unknown.get("calls nested too deeply", 0) + 1
            self._lowest = 0
            return Summary()
        return self._compute(function_id)

    def known(self, function_id: str) -> Summary:
        """The summary of a function if it has been computed, else one that says nothing."""
        return self._done.get(function_id) or Summary()

    def _compute(self, function_id: str) -> Summary:
        index = len(self._active)
        self._active[function_id] = index
        outer_lowest = self._lowest
        summary = Summary()
        for _ in range(ROUNDS):
            self._lowest = index + 1
            summary = self._run(function_id)
            if self._lowest != index or summary == self._provisional.get(function_id):
                break  # not the head of a cycle, or stable
            self._provisional[function_id] = summary
            self._forget_tentative(index)
        lowest = self._lowest
        del self._active[function_id]
        if lowest >= index:
            self._settle(function_id, summary, index)
            self._lowest = outer_lowest
        else:
            self._keep(function_id, summary, index, lowest)
            self._lowest = min(outer_lowest, lowest)
        return summary

    def _keep(self, function_id: str, summary: Summary, index: int, lowest: int) -> None:
        """A member of a cycle whose head is still being computed; what hung on it hangs on that head now."""
        self._provisional[function_id] = summary
        self._tentative[function_id] = (summary, lowest)
        for other, (kept, own) in self._tentative.items():
            if own >= index:
                self._tentative[other] = (kept, lowest)

    def _run(self, function_id: str) -> Summary:
        source, function = self.symbols.functions[function_id]
        evaluator = Evaluator(function_id, source, function, self)
        try:
            evaluator.run()
        except RecursionError:
            self.unknown["functions nested too deeply"] = self.unknown.get("functions nested too deeply", 0) + 1
            return Summary()
        self.effects[function_id] = evaluator.effects
        return evaluator.summary

    def _forget_tentative(self, index: int) -> None:
        """A new round starts: what was computed from the head's old summary is computed again."""
        self._tentative = {f: kept for f, kept in self._tentative.items() if kept[1] < index}

    def _settle(self, function_id: str, summary: Summary, index: int) -> None:
        """A function is done and, if it is the head of a cycle, so are the others of its group."""
        self._done[function_id] = summary
        self._provisional.pop(function_id, None)
        for member in [member for member, (_, lowest) in self._tentative.items() if lowest >= index]:
            self._done[member], _ = self._tentative.pop(member)
            self._provisional.pop(member, None)
