"""Decorators: objects that have an interface's methods and pass calls on to another object that has them, too.

They are put around one another in any order: behind a field of one lies any of the types that have the methods.
"""

from __future__ import annotations

from typing import NamedTuple

from racelint.analysis.effects import CallSite
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Field


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
