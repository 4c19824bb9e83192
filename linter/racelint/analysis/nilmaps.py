"""Nil maps: fields of a map type that nobody ever gives a map: what is read there is nothing, and nothing is put there.

`type Server struct { pages map[string]*Page }`, made as `&Server{dir: dir}`, with no other store to `pages`: in Go
`s.pages[name] = page` panics at its first run, and races with nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from racelint.analysis.effects import IN_PLACE, Effects, where_made
from racelint.analysis.memory import SHARED_CONTENT
from racelint.analysis.places import Place
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Attr, Expr, Loop, Make, Op, Update
from racelint.record import records
from racelint.span import Span

MAP = "map"


class NilMaps:
    """Finds changes of what a field holds that is nil in each object of its type."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects]) -> None:
        self._symbols = symbols
        self._effects = effects
        self._known: dict[Place, bool] = {}

    def are_changed(self, write: Spot) -> bool:
        """Whether a write changes the content of a map that no object has."""
        place = write.located.place
        if place.kind != "field" or place.depth or not place.name[:1].islower():
            return False  # other packages, and what decodes an object, may fill in a field that they see
        if write.access.kind not in IN_PLACE or write.access.detail != SHARED_CONTENT:
            return False
        if place not in self._known:
            self._known[place] = self._is_nil(place)
        return self._known[place]

    def _is_nil(self, place: Place) -> bool:
        """Whether the package of a type declares a field as a map, and stores nothing there, in tests neither.

        Where nobody makes an object, those who do are not in sight.
        """
        if place.owner not in self._made or place.owner not in self._symbols.types:
            return False
        source, record = self._symbols.types[place.owner]
        field = record.fields.get(place.name)
        if source.module.traits.duck_typed or field is None or field.annotation is None or field.annotation.name != MAP:
            return False
        if self._stores(source.name, place.name) or any(
            isinstance(base, Make) and base.type.name in (record.name, place.owner)
            for base in self._stores(source.name, "")
        ):
            return False
        bodies = tuple([f.body for s, f in self._symbols.functions.values() if s.name == source.name])
        return not any(may_set(node, place.name) for node in records(bodies))

    @cached_property
    def _made(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    def _stores(self, module: str, name: str) -> list[Expr]:
        """What a package stores to by a field's name, in literals, too; "" is for those by the order of the fields."""
        return [each.base for where, each in self._symbols.stores(name) if where.partition(":")[0] == module]


def may_set(node: object, name: str) -> bool:
    """Whether a loop or an update gives a field of a name something, or somebody says where it lies."""
    match node:
        case Op(operator="address", operands=(Attr(name=found), *_)) | Update(target=Attr(name=found)):
            return found == name
        case Loop(target=target) if target is not None:
            return any(isinstance(part, Attr) and part.name == name for part in records((target,)))
        case _:
            return False
