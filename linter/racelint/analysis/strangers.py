"""Variables that are replaced whole by those that have hardly to do with each other.

Who reads a word (a flag, a number, a reference) that others replace has the old one or the new. Goroutines that do so
break the rules of the language all the same, but it harms only where the two sides have to do with each other. In code
that nobody had looked at before, by a rough count of the traces told, one such finding in six was right where the ways
to both sides lead through functions of three types, and one in four, on variables of any kind, where they lead through
three packages; of all others three of five.
"""

from __future__ import annotations

from racelint.analysis.effects import Access
from racelint.analysis.places import Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.type_names import ClassType, TypeOf
from racelint.analysis.ways import Ways

NEAR = 3  # calls from the roots of two contexts to their accesses, together
FOREIGN = 3  # types, or packages, of the functions on the ways to two accesses
WIDE = frozenset({"string"})  # a reader may see one half of the old one
NARROW = frozenset({"", "immutable", "channel"})  # kinds of containers that are one word


class Strangers:
    """Tells accesses that have hardly to do with each other."""

    def __init__(self, places: Places, ways: Ways) -> None:
        self._places = places
        self._ways = ways
        self._words: dict[Place, bool] = {}

    def are_far(self, first: Spot, second: Spot, kinds: frozenset[str]) -> bool:
        """Whether two contexts of some `kinds`, far from each other, store a variable and read, test or store it."""
        if not all(_is_plain(spot) for spot in (first, second)):
            return False
        ways, place = self._ways, first.located.place
        if ways.steps(first, second) > NEAR and len(ways.modules(first) | ways.modules(second)) >= FOREIGN:
            return True
        return (
            kinds == {GOROUTINE} and len(ways.owners(first) | ways.owners(second)) >= FOREIGN and self._is_word(place)
        )

    def _is_word(self, place: Place) -> bool:
        """Whether a field or a variable of a package is known to hold a word, or the two of an interface."""
        if place not in self._words:
            found = self._places.type_of(place)
            self._words[place] = found is not None and self._fits(found)
        return self._words[place]

    def _fits(self, found: TypeOf) -> bool:
        if isinstance(found, ClassType):
            return not found.value and self._places.kind_of(found) in NARROW
        return found.name not in WIDE and self._places.kind_of(found) in NARROW


def _is_plain(spot: Spot) -> bool:
    return isinstance(spot.access, Access) and spot.access.kind in ("store", "read", "test")
