"""Variables that are replaced whole, where little depends on which of two values is seen.

Who reads a word (a flag, a number, a reference) that others replace has the old one or the new. Goroutines that do so
break the rules of the language all the same, but it harms only where the two sides have to do with each other, and
where what is read is more than a setting. In code that nobody had looked at before, by a rough count of the traces
told, one such finding in six was right where the ways to both sides lead through functions of three types, one in four,
on variables of any kind, where they lead through three packages, and three in ten where they lead through five types or
functions and neither side holds a lock; one in six of those on a package's own variables, one in five of those on
single words by a caller who shows no lock; of all others three of five.
"""

from __future__ import annotations

from racelint.analysis.contexts import Context
from racelint.analysis.effects import Access
from racelint.analysis.places import Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import ClassType, TypeOf
from racelint.analysis.ways import Ways
from racelint.model import Traits

NEAR = 3  # calls from the roots of two contexts to their accesses, together
FOREIGN = 3  # types, or packages, of the functions on the ways to two accesses
LONG = 5  # types and functions there
NARROW = frozenset({"", "immutable", "channel"})  # kinds of containers that are one word
REQUESTED = "handler"  # a context that others wait for: what it stores is an answer to them


class Strangers:
    """Tells pairs of accesses of which little depends on who comes first."""

    def __init__(self, symbols: Symbols, places: Places, ways: Ways) -> None:
        self._symbols = symbols
        self._places = places
        self._ways = ways
        self._words: dict[Place, bool] = {}

    def hardly_matter(self, first: Spot, one: Context, second: Spot, two: Context) -> bool:
        """Whether two contexts store a variable whole, or read or test it, and that is seldom more than untidy."""
        if not all(_is_plain(spot) for spot in (first, second)):
            return False
        kinds = {one.kind, two.kind}
        if self._are_far(first, second, kinds):
            return True
        place = first.located.place
        if place.kind == "field":
            return self._is_loose(first, one, second, two)
        own = place.kind == "global" and not place.name[:1].isupper()
        return own and REQUESTED not in kinds and self._is_bare_word(first, second)

    def _is_loose(self, first: Spot, one: Context, second: Spot, two: Context) -> bool:
        """Whether two contexts share a word without any lock, by methods of two types, and not to answer requests.

        Of 14 such reports, in repositories that the rule had not been mended on, two were right: mostly it is a setting
        that is loaded again, or what is set up on the way. Not so if it is taken away, or counted.
        """
        if one == two or one.kind == two.kind == REQUESTED or any(map(_is_emptied, (first, second))):
            return False
        return len(self._ways.types(first) | self._ways.types(second)) > 1 and self._is_bare_word(first, second)

    def hardly_meet(self, caller: Spot, other: Spot) -> bool:
        """Whether a caller and what runs beside him share a single word, and neither shows any lock.

        Not so if it is taken away: who has found it there goes on with nothing.
        """
        emptied = any(map(_is_emptied, (caller, other)))
        return not emptied and all(_is_plain(spot) for spot in (caller, other)) and self._is_bare_word(caller, other)

    def _is_bare_word(self, first: Spot, second: Spot) -> bool:
        return not (first.locks or second.locks) and self.is_word(first)

    def _are_far(self, first: Spot, second: Spot, kinds: set[str]) -> bool:
        """Whether the two sides have hardly to do with each other."""
        ways = self._ways
        if ways.steps(first, second) > NEAR and len(ways.modules(first) | ways.modules(second)) >= FOREIGN:
            return True
        if not (first.locks or second.locks) and len(ways.stations(first) | ways.stations(second)) >= LONG:
            return True
        return kinds == {GOROUTINE} and len(ways.owners(first) | ways.owners(second)) >= FOREIGN and self.is_word(first)

    def is_word(self, spot: Spot) -> bool:
        """Whether a field or a variable of a package is known to hold a word, or the two of an interface."""
        place = spot.located.place
        if place not in self._words:
            found = self._places.type_of(place)
            self._words[place] = found is not None and self._fits(found, self._traits(spot).texts)
        return self._words[place]

    def _fits(self, found: TypeOf, texts: frozenset[str]) -> bool:
        if isinstance(found, ClassType):
            return not found.value and self._places.kind_of(found) in NARROW
        return found.name not in texts and self._places.kind_of(found) in NARROW

    def _traits(self, spot: Spot) -> Traits:
        return self._symbols.functions[spot.function][0].module.traits


def _is_emptied(spot: Spot) -> bool:
    return spot.access.kind == "store" and spot.access.detail == "none"


def _is_plain(spot: Spot) -> bool:
    return isinstance(spot.access, Access) and spot.access.kind in ("store", "read", "test")
