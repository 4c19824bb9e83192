"""Defined types: types that are declared by one struct type, whose objects a conversion lets pass as objects of that.

`type Nodes watcher` and `type Pods watcher`: behind `(*watcher)(nodes)` and `(*watcher)(pods)` there are two objects,
if no pointer is ever converted into a `*Nodes` or a `*Pods`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.memory import OF_VARIABLE
from racelint.analysis.paths import holder, object_of
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import ClassType, project_class
from racelint.analysis.values import Param
from racelint.analysis.ways import MOST_CALLS
from racelint.model import Cast
from racelint.record import records

POINTER = "*"


class DefinedTypes:
    """Compares by which of several types of one struct two sides know an object."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._annotations = places.types.annotations

    def are_apart(self, first: Spot, second: Spot) -> bool:
        """Whether the two objects came by two types of one struct, and no pointer is converted into one to such."""
        if first.located.place.kind != "field" or not {first.access.kind, second.access.kind} <= OF_VARIABLE:
            return False  # a map can be in both
        of_struct = self._by_struct.get(first.located.type, set())
        if first.located.type != second.located.type or len(of_struct) < 2:
            return False
        one, two = self._came_as(first), self._came_as(second)
        return one != two and {one, two} <= of_struct - self._converted

    def _came_as(self, spot: Spot) -> str:
        """The outermost type by which the functions on the way to an access know its object."""
        path, function, entry, found = object_of(spot.access.path), spot.function, spot.entry, ""
        for _ in range(MOST_CALLS):
            known = self._places.class_of(path) if path is not None else None
            found = known or found
            came = self._contexts.came(function, entry)
            if came is None or not isinstance(path, Param) or path.function != function:
                break
            path = holder(self._contexts.given(came, function, path))
            function, entry = came.caller, came.entry
        return found

    @cached_property
    def _by_struct(self) -> dict[str, set[str]]:
        """The types that struct types define, by the struct type."""
        found: dict[str, set[str]] = defaultdict(set)
        for type_id, (_, record) in self._symbols.types.items():
            struct = self._annotations.structure(ClassType(type_id)) if record.underlying is not None else None
            if isinstance(struct, ClassType) and struct.type != type_id:
                found[struct.type].add(type_id)
        return found

    @cached_property
    def _converted(self) -> set[str]:
        """The types to pointers to which the program converts others, or asserts that something is one."""
        found: set[str] = set()
        for function in self._effects:
            for node in records(self._symbols.functions[function][1].body):
                if isinstance(node, Cast) and node.type.name == POINTER:
                    type_id = project_class(self._annotations.declared(function, node.type))
                    found.update([type_id] if type_id is not None else [])
        return found
