"""Confinement: what an author says is used by one context only, an event loop's or a thread's."""

from __future__ import annotations

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.declared import Declared
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols

LOOP = frozenset({"loop", "event-loop", "event_loop", "eventloop", "asyncio", "io-loop", "ioloop"})
MAIN = frozenset({"main", "main-thread", "main_thread"})
APART = frozenset({"thread", "pool", "goroutine"})  # contexts that are surely none of the loop or the main thread


class Confinement:
    """Tells which contexts are those that annotations name."""

    def __init__(self, symbols: Symbols, contexts: Contexts, declared: Declared) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._functions = declared.confined_functions
        self._named = {told.name for told in declared.confined_functions.values()}

    def is_outside(self, name: str, function_id: str, entry: Entry) -> bool:
        """Whether something surely runs in another context than the one of this name.

        A thread that is started is another one than the main thread, and than the event loop of Python; of any other
        context it is known what runs there only if some function says so.
        """
        if self._contexts.roots[entry.context].kind not in APART or name in self.names(function_id, entry):
            return False
        if name in LOOP and self._symbols.functions[function_id][0].module.traits.atomic_steps:
            return True
        return name in MAIN or name in self._named

    def is_one(self, first: Spot, second: Spot) -> bool:
        """Whether two accesses are said to be of one context."""
        mine = self.names(first.function, first.entry)
        return bool(mine) and not mine.isdisjoint(self.names(second.function, second.entry))

    def names(self, function_id: str, entry: Entry) -> frozenset[str]:
        """The contexts that a function, or one on the way to it, is said to belong to."""
        if not self._functions:
            return frozenset()
        way = [function for function, _ in self._contexts.way(function_id, entry)]
        return frozenset([self._functions[f].name for f in (*way, function_id) if f in self._functions])
