"""Decorators: objects that have an interface's methods and pass calls on to another object that has them, too.

They are put around one another in any order: behind a field of one lies any of the types that have the methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.state import surely_held
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Field, Param


class Passed(NamedTuple):
    """The type and the field of a decorator behind which any of several types may lie, and their interface."""

    holder: str
    field: str
    interface: str


class Decorating:
    """Finds calls that a decorator passes on."""

    def __init__(self, symbols: Symbols, types: Types) -> None:
        self._symbols = symbols
        self._types = types
        self._wholes: dict[str, dict[str, frozenset[str]]] = {}
        self._having: dict[tuple[str, str], frozenset[str]] = {}

    def passed(self, site: CallSite, callee: str) -> Passed | None:
        """The decorator that passes a call on to the callee's type, if that may as well go to another type."""
        receiver, behind = site.receiver, self._symbols.owner_of(callee)
        if not isinstance(receiver, Field) or not behind:
            return None
        holder, interface = self._types.class_of(receiver.base), self._types.class_of(receiver)
        if holder is None or interface is None or interface == behind:
            return None
        own = self._decorators(interface).get(holder)
        if own is None:
            return None
        others = self._implementers(interface, self._symbols.functions[callee][1].name) - own
        return Passed(holder, receiver.name, interface) if len(others) > 1 or behind in own else None

    def is_back(self, outermost: Passed | None, site: CallSite, callee: str) -> bool:
        """Whether a decorator passes a call on to one of the outermost one's own type: two objects, one in another."""
        if outermost is None or self.passed(site, callee) is None:
            return False
        return self._symbols.owner_of(callee) in self._decorators(outermost.interface).get(outermost.holder, ())

    def _implementers(self, interface: str, name: str) -> frozenset[str]:
        """The types of the program that have a method in an interface's place."""
        if (interface, name) not in self._having:
            found = self._symbols.overrides(interface, name)
            methods = [m for m in found if self._symbols.functions[m][0].reported and not self._symbols.stands_in(m)]
            self._having[interface, name] = frozenset([self._symbols.owner_of(method) for method in methods])
        return self._having[interface, name]

    def _decorators(self, interface: str) -> dict[str, frozenset[str]]:
        """The types that have an interface's methods, and the parts that these embed, by each of which they are."""
        if interface not in self._wholes:
            found: dict[str, set[str]] = {}
            for whole in self._symbols.subtypes(interface):
                for part in (whole, *self._symbols.embedding.parts(whole)):
                    found.setdefault(part, set()).add(whole)
            self._wholes[interface] = {part: frozenset(wholes) for part, wholes in found.items()}
        return self._wholes[interface]


class LockingDecorators:
    """Finds calls of an interface's method that may lead to a decorator first which takes a lock.

    `func (l *locked) Put(k string) { l.mu.Lock(); l.inner.Put(k); l.mu.Unlock() }`: whoever writes one gives it to
    those who call at once.
    """

    def __init__(self, symbols: Symbols, types: Types, effects: Mapping[str, Effects]) -> None:
        self._symbols = symbols
        self._types = types
        self._effects = effects
        self._locking: dict[str, bool] = {}  # whether methods pass their call on under a lock

    def may_stand_before(self, site: CallSite, methods: list[str]) -> bool:
        """Whether what arrives is not known, and one of the methods passes the call on under a lock: to the others."""
        if site.receiver is None or not any(map(self._locks_another, methods)):
            return False
        name = self._symbols.functions[methods[0]][1].name
        return self._types.arriving.methods(site.receiver, name) is None

    def _locks_another(self, method: str) -> bool:
        """Whether a method passes its call on, under a lock, to an interface's method in a field of its object."""
        if method not in self._locking:
            effects = self._effects.get(method)
            calls = effects.calls.values() if effects is not None else ()
            self._locking[method] = any([self._is_passed_on(site, method) for site in calls if site.held])
        return self._locking[method]

    def _is_passed_on(self, site: CallSite, method: str) -> bool:
        own = isinstance(site.receiver, Field) and site.receiver.base == Param(method, 0)
        inner = self._types.class_of(site.receiver) if own and site.receiver is not None else None
        if inner is None or not isinstance(site.callee, str) or not surely_held(site.held):
            return False
        alike = self._symbols.functions[site.callee][1].name == self._symbols.functions[method][1].name
        return alike and self._symbols.is_ordered_by_steps(method) and self._types.arriving.is_interface(inner)
