"""Concrete classes: on objects of which classes an access can happen at all."""

from __future__ import annotations

from collections.abc import Mapping

from racelint.analysis.contexts import Contexts, Entry, is_possible
from racelint.analysis.effects import Effects
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh


class Concrete:
    """Judges inherited methods class by class: two accesses meet only on an object that can make both."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._known: dict[tuple[str, Entry], frozenset[str]] = {}
        self._families: dict[str, frozenset[str]] = {}
        self._every = frozenset(symbols.types)

    def classes(self, function_id: str, entry: Entry) -> frozenset[str]:
        """The classes whose objects run a method in an entry state: in them no method on the way is overridden."""
        key = (function_id, entry)
        if key not in self._known:
            self._known[key] = self._every  # for a context that starts itself anew
            self._known[key] = self._classes(function_id, entry)
        return self._known[key]

    def _classes(self, function_id: str, entry: Entry) -> frozenset[str]:
        found = self._family(entry.type or self._symbols.owner_of(function_id))
        while owner := self._symbols.owner_of(function_id):
            found &= self._family(owner)
            name = self._symbols.functions[function_id][1].name
            came = self._contexts.came(function_id, entry)
            if came is None or not self._is_inherited(came.caller, owner, function_id):
                found = frozenset([c for c in found if self._symbols.method(c, name) == function_id])
            if came is None:
                return found & self._starting(entry)
            if not came.own:
                site = self._contexts.sites.get((came.caller, came.span, function_id))
                exact = site is not None and isinstance(site.receiver, Fresh) and entry.type in found
                return frozenset({entry.type}) if exact else found
            function_id, entry = came.caller, came.entry
        return found

    def _starting(self, entry: Entry) -> frozenset[str]:
        """The classes whose objects start the context on themselves; all, if it is not started so."""
        context = self._contexts.roots[entry.context]
        states = self._contexts.entries.get(context.starter or "", ())
        if not context.own or context.starter is None or not states:
            return self._every
        return frozenset().union(*[self.classes(context.starter, state) for state in self.leading(entry.context)])

    def leading(self, index: int) -> list[Entry]:
        """The states of a context's starter in which it starts the context, by the constants that it is given."""
        context = self._contexts.roots[index]
        if context.starter is None or context.starter not in self._effects:
            return []
        starts = [s for s in self._effects[context.starter].starts.values() if s.span == context.span]
        states = self._contexts.entries.get(context.starter, ())
        return [state for state in states if not starts or any(is_possible(start.needs, state) for start in starts)]

    def is_ever_started(self, index: int) -> bool:
        """Whether a state of its starter lets a context begin, on an object of a class that has its function."""
        context = self._contexts.roots[index]
        if context.starter is None or context.starter not in self._contexts.entries:
            return True
        owner = self._symbols.owner_of(context.function)
        if not (context.own and owner):
            return bool(self.leading(index))
        starting = frozenset().union(*[self.classes(context.starter, state) for state in self.leading(index)])
        name = self._symbols.functions[context.function][1].name
        running = [c for c in self._family(owner) if self._symbols.method(c, name) == context.function]
        return not running or not starting.isdisjoint(running)

    def _is_inherited(self, caller_id: str, owner: str, function_id: str) -> bool:
        """Whether a method is called as the base class's own, past an override: `super().method()`."""
        caller = self._symbols.owner_of(caller_id)
        name = self._symbols.functions[function_id][1].name
        return caller in self._family(owner) and self._symbols.method(caller, name) != function_id

    def _family(self, type_id: str) -> frozenset[str]:
        if type_id not in self._families:
            self._families[type_id] = frozenset({type_id, *self._symbols.subtypes(type_id)})
        return self._families[type_id]
