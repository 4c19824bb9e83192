"""Words: what is replaced whole, so that who reads it has the old one or the new: a flag, a number, a reference.

Two goroutines that do so break the rules of the language, and a reader would like to know. But it harms only where the
two have to do with each other: of such findings with three calls or more on the two ways together, every fifth was
right in code that nobody had looked at before, and of all others three of five (FIELD.md tells of these).
"""

from __future__ import annotations

from racelint.analysis.effects import Access
from racelint.analysis.places import Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.type_names import ClassType
from racelint.analysis.ways import Ways

CLOSE = 2  # calls from the roots of two goroutines to their accesses, together
WIDE = frozenset({"string"})  # a reader may see one half of the old one


class Words:
    """Tells accesses of words that have hardly to do with each other."""

    def __init__(self, places: Places, ways: Ways) -> None:
        self._places = places
        self._ways = ways
        self._words: dict[Place, bool] = {}

    def are_strangers(self, first: Spot, second: Spot, kinds: frozenset[str]) -> bool:
        """Whether two contexts of some `kinds`, far from each other, store a word and read, test or store it."""
        if kinds != {GOROUTINE} or not all(_is_plain(spot) for spot in (first, second)):
            return False
        return self._ways.steps(first, second) > CLOSE and self._is_word(first.located.place)

    def _is_word(self, place: Place) -> bool:
        """Whether a field or a variable of a package is known to hold a word, or the two of an interface."""
        if place not in self._words:
            found = self._places.type_of(place)
            wide = found is None or self._places.is_container(found) or getattr(found, "name", "") in WIDE
            self._words[place] = not wide and not (isinstance(found, ClassType) and found.value)
        return self._words[place]


def _is_plain(spot: Spot) -> bool:
    return isinstance(spot.access, Access) and spot.access.kind in ("store", "read", "test")
