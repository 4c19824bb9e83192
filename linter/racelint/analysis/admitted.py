"""What a type's own code admits: that callers use one object from several threads at once."""

from __future__ import annotations

from collections import defaultdict

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import Effects
from racelint.analysis.lifecycle import is_lifecycle
from racelint.analysis.places import Places
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, TypeValue

OWN_THREADS = frozenset({"thread", "pool"})


class Admitted:
    """Finds the methods that may run beside others on one object, called by nobody but callers.

    They take a lock that no thread of the program's own takes: it can only keep callers from each other. Or the object
    has a thread on which it calls what it was given, with itself as an argument: callers' code runs there, too.
    """

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._of_callers: dict[str, set[str]] | None = None
        self._telling: set[str] | None = None

    def shared_by(self, function_id: str, entry: Entry) -> str:
        """The type of a method that a caller has come to, if its code says that others may be there, too."""
        owner = self._symbols.owner_of(function_id)
        if self._contexts.roots[entry.context].kind != "external" or owner not in self._symbols.types:
            return ""
        first = self._symbols.functions[self._contexts.root(function_id, entry)][1]
        if first.name == "__init__" or is_lifecycle(first.name) or first.binding != "instance":
            return ""
        return owner if self._tells(owner) or self.keeps_callers_apart(function_id, entry) else ""

    def keeps_callers_apart(self, function_id: str, entry: Entry) -> bool:
        """Whether a method on the way takes a lock of its object that only callers take."""
        owner = self._symbols.owner_of(function_id)
        way = [caller for caller, _ in self._contexts.way(function_id, entry)]
        return any(self._takes(each, owner) for each in (*way, function_id))

    def _takes(self, function_id: str, owner: str) -> bool:
        """Whether a method of a type takes a lock of its object that only callers take."""
        if self._of_callers is None:
            self._of_callers = self._locks_of_callers()
        return self._symbols.owner_of(function_id) == owner and function_id in self._of_callers.get(owner, ())

    def _locks_of_callers(self) -> dict[str, set[str]]:
        """The methods that take such a lock, by their type."""
        takers: dict[str, set[str]] = defaultdict(set)
        for function_id, effects in self._effects.items():
            for value in effects.taken:
                if isinstance(value, Field) and self._places.excludes_threads(value):
                    takers[self._places.lock(value)].add(function_id)
        found: dict[str, set[str]] = defaultdict(set)
        for lock, functions in takers.items():
            if all(self._is_only_called(function_id) for function_id in functions):
                for function_id in functions:
                    owner = self._symbols.owner_of(function_id)
                    if owner in self._symbols.types and self._is_own(lock, owner):
                        found[owner].add(function_id)
        return found

    def _is_own(self, lock: str, owner: str) -> bool:
        """Whether a lock stands in a field of a type, not in what that has."""
        line = [ancestor.type for ancestor in self._symbols.ancestors(owner) if isinstance(ancestor, TypeValue)]
        return lock.rpartition(".")[0] in line

    def _is_only_called(self, function_id: str) -> bool:
        entries = self._contexts.entries.get(function_id, ())
        return all(self._contexts.roots[entry.context].kind == "external" for entry in entries)

    def _tells(self, owner: str) -> bool:
        """Whether a thread that objects of a type start calls out with the object."""
        if self._telling is None:
            tell = [function_id for function_id, effects in self._effects.items() if effects.tells_itself]
            self._telling = {self._symbols.owner_of(f) for f in tell if self._is_on_own_thread(f)}
        return owner in self._telling

    def _is_on_own_thread(self, function_id: str) -> bool:
        for entry in self._contexts.entries.get(function_id, ()):
            context = self._contexts.roots[entry.context]
            if context.kind in OWN_THREADS and context.own:
                return True
        return False
