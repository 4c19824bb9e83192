"""Ways: the calls from a context's root to an access. On a long one some condition mostly stands against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.places import SOME_WAYS, of_threads
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols

NEAR = 3  # calls from a context's root after which a way counts as long where little speaks for a race
MOST_CALLS = 6  # from a context's root to an access
MOST_TOGETHER = 8  # the same for both sides of a race together


class Ways:
    """What lies on the ways to accesses."""

    def __init__(self, symbols: Symbols, contexts: Contexts) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._functions: dict[tuple[str, Entry], frozenset[str]] = {}
        self._covers: dict[int, frozenset[str]] = {}
        self._waiting: dict[int, frozenset[str]] = {}

    def functions(self, spot: Spot) -> frozenset[str]:
        """The function of an access and all that call it on the way."""
        key = (spot.function, spot.entry)
        if key not in self._functions:
            callers = [function for function, _ in self._contexts.way(spot.function, spot.entry)]
            self._functions[key] = frozenset((spot.function, *callers))
        return self._functions[key]

    def modules(self, spot: Spot) -> frozenset[str]:
        """The modules, or packages, of these."""
        return frozenset([function.partition(":")[0] for function in self.functions(spot)])

    def owners(self, spot: Spot) -> frozenset[str]:
        """The types that have them; of functions that are no methods, their modules."""
        return frozenset([type_id or function.partition(":")[0] for function, type_id in self._types(spot)])

    def stations(self, spot: Spot) -> frozenset[str]:
        """The types that have them; functions that are no methods count themselves."""
        return frozenset([type_id or function for function, type_id in self._types(spot)])

    def types(self, spot: Spot) -> frozenset[str]:
        """The types whose methods, or closures of these, lie there."""
        return frozenset([type_id for _, type_id in self._types(spot) if type_id])

    def _types(self, spot: Spot) -> list[tuple[str, str]]:
        """Each function or method, without closures, and its type."""
        within = {self._symbols.outermost(function) for function in self.functions(spot)}
        return [(function, self._symbols.owner_of(function)) for function in within]

    def locks(self, spot: Spot, other: Spot) -> frozenset[str]:
        """What excludes others during an access; what its starter holds for it excludes none of its starter's own."""
        given = self._contexts.inherited.get(spot.entry.context, frozenset())
        around = self._around(spot)
        if not given and not around:
            return of_threads(spot.locks)
        if of_threads(given) != given:  # a job of an executor, awaited by a coroutine that holds a lock between tasks
            return of_threads(spot.locks) | (spot.locks & other.locks)
        theirs = self._starters(other.entry.context) | self.functions(other)
        inside = bool(self._starters(spot.entry.context) & theirs)
        return of_threads(spot.locks - given if inside else spot.locks | around)

    def _around(self, spot: Spot) -> frozenset[str]:
        """The locks that the callers of a context's starter hold until it has waited for the context.

        Of several callers it is the one that has given it the function which leads to the access.
        """
        context = spot.entry.context
        if context not in self._contexts.covered:
            return frozenset()
        inside = {self._parent(function) for function in self.functions(spot)}
        entries = self._contexts.entries.get(self._contexts.roots[context].starter or "", {})
        given = [entry for entry, came in entries.items() if came is not None and came.caller in inside]
        return self._common(given) if given else self._cover(context)

    def _starters(self, context: int) -> frozenset[str]:
        """Who has started a context, and who waits around that: what they hold, they hold for all they start."""
        if context not in self._waiting:
            starter = self._contexts.roots[context].starter
            self._waiting[context] = frozenset([starter]) if starter else frozenset()
            around = self._contexts.entries.get(starter or "", {}) if context in self._contexts.covered else {}
            outer = {entry.context for entry in around if entry.context in self._contexts.covered}
            self._waiting[context] |= frozenset().union(*map(self._starters, outer))
        return self._waiting[context]

    def _cover(self, context: int) -> frozenset[str]:
        """The locks that are held around a context, whichever caller of its starter it is that waits."""
        if context not in self._contexts.covered:
            return frozenset()
        if context not in self._covers:
            self._covers[context] = frozenset()  # should it start itself
            self._covers[context] = self._common(
                self._contexts.entries.get(self._contexts.roots[context].starter or "")
            )
        return self._covers[context]

    def _common(self, entries: Collection[Entry] | None) -> frozenset[str]:
        """What is held in each of several states; what is held in most, or on some ways in most, is held on some ways.

        What the starters of their contexts hold for them counts.
        """
        held = [entry.locks | self._cover(entry.context) for entry in entries or ()]
        if not held:
            return frozenset()
        always = frozenset.intersection(*held)
        often = Counter([lock.removeprefix(SOME_WAYS) for locks in held for lock in locks])
        open_locks = [lock for lock, count in often.items() if lock not in always and 2 * count > len(held)]
        return always | {f"{SOME_WAYS}{lock}" for lock in open_locks}

    def _parent(self, function_id: str) -> str:
        """The function in which another one is written."""
        source, function = self._symbols.functions[function_id]
        return f"{source.name}:{function.parent}"

    def is_far(self, spot: Spot, most: int = MOST_CALLS) -> bool:
        """Whether the way from the context's root is so long that some condition mostly stands against it."""
        return len(self._contexts.way(spot.function, spot.entry)) > most

    def are_far(self, first: Spot, second: Spot) -> bool:
        """Whether two ways are so long together that some condition mostly stands there, or they are of two objects.

        Of 16 reports on two threads with more than three calls two were right, of 13 with fewer eight. Calls that two
        runs of one thread have in common count once. Where every order of steps counts, only callers' ways are judged.
        """
        contexts = [self._contexts.roots[spot.entry.context] for spot in (first, second)]
        if any(context.is_external for context in contexts):
            return self.steps(first, second) > MOST_TOGETHER
        threads = all(context.kind == "thread" for context in contexts)
        if not threads and self._symbols.is_ordered_by_steps(first.function):
            return False
        ways = [self._contexts.way(spot.function, spot.entry) for spot in (first, second)]
        alike = first.entry.context == second.entry.context
        calls = len({*ways[0], *ways[1]}) if alike else len(ways[0]) + len(ways[1])
        return calls > (NEAR if threads else MOST_TOGETHER)

    def steps(self, first: Spot, second: Spot) -> int:
        """The calls on both ways together."""
        return sum(len(self._contexts.way(spot.function, spot.entry)) for spot in (first, second))
