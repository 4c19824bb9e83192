"""Closing: who sets a flag under a lock comes after all that others do under that lock while they find it unset.

`with lock: if self.closed: return; self.items.add(x)` has ended, or never begins, when somebody goes on behind
`with lock: self.closed = True`, with or without the lock.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import arms, comes_first
from racelint.analysis.effects import Access, Effects
from racelint.analysis.gates import found
from racelint.analysis.places import ANY_LOCK, SOME_WAYS, Place, Places, of_threads, sides
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field
from racelint.model import Assign, Attr, Const
from racelint.record import records

CONSTRUCTOR = "__init__"


class Closing:
    """Finds flags that are set once, before one access, and that the other access has found unset."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._truths: dict[tuple[str, Place], set[bool | None]] = {}

    def order(self, later: Spot, earlier: Spot) -> bool:
        """Whether an access comes after the end of what the other one needs a flag unset for."""
        return any(
            truth is not closes and self._place(stored) == self._place(asked) is not None
            for stored, closes, locks in self._closed_before(later)
            for asked, truth, theirs in self._found_open(earlier)
            if any(not lock.startswith((ANY_LOCK, SOME_WAYS)) for lock in locks & theirs)
        )

    def _closed_before(self, spot: Spot) -> Iterator[tuple[Access, bool, frozenset[str]]]:
        """The flags of the same object that a function has set by then, each with its truth and the locks held."""
        body = self._symbols.functions[spot.function][1].body
        for access in self._beside(spot):
            if access.kind != "store" or not access.held or not comes_first(body, access.span, spot.access.span):
                continue
            closes = self._always(spot.function, access)
            if closes is not None:
                yield access, closes, of_threads(self._places.locks(access.held))

    def _found_open(self, spot: Spot) -> Iterator[tuple[Access, bool, frozenset[str]]]:
        """The flags that a function has asked for in the very section in which it comes to an access."""
        body = self._symbols.functions[spot.function][1].body
        asked = {
            span: truth
            for branch, arm in arms(body, spot.access.span)
            for span, truth in found(branch.test, outcome=arm == 0)
        }
        for access in self._beside(spot) if asked else ():
            section = tuple([held for held in access.held if held in spot.access.held])
            if access.span in asked and section:
                yield access, asked[access.span], sides(self._places.locks(section))

    def _beside(self, spot: Spot) -> Iterator[Access]:
        """What a function does with other fields of the object at hand."""
        path = spot.access.path
        if not isinstance(path, Field):
            return
        for access in self._effects[spot.function].all_accesses():
            other = access.path
            if isinstance(other, Field) and other.base == path.base and other != path:
                yield access

    def _always(self, function_id: str, access: Access) -> bool | None:
        """The truth that whoever stores the field gives it, constructors apart; None if that differs."""
        place = self._place(access)
        if place is None:
            return None
        module = self._symbols.functions[function_id][0].name
        if (module, place) not in self._truths:
            self._truths[module, place] = set(self._stored(module, place))
        truths = self._truths[module, place]
        return next(iter(truths)) if len(truths) == 1 else None

    def _stored(self, module: str, place: Place) -> Iterator[bool | None]:
        """What a module stores in what may be a place: a truth, or None for what is no constant."""
        for function_id, (source, function) in self._symbols.functions.items():
            if source.name != module or function.name == CONSTRUCTOR:
                continue
            for assign in records(function.body):
                if isinstance(assign, Assign) and any(
                    isinstance(target, Attr) and target.name == place.name and self._may_be(function_id, target, place)
                    for target in records(assign.targets)
                ):
                    yield _truth(assign)

    def _may_be(self, function_id: str, target: Attr, place: Place) -> bool:
        """Whether what is stored is not known to be another place."""
        effects = self._effects.get(function_id)
        stored = [self._place(each) for each in effects.all_accesses() if each.span == target.span] if effects else []
        return not stored or place in stored or None in stored

    def _place(self, access: Access) -> Place | None:
        located = self._places.locate(access.path)
        return located.place if located is not None else None


def _truth(assign: Assign) -> bool | None:
    value = assign.value.value if isinstance(assign.value, Const) else assign
    return bool(value) if value is None or isinstance(value, bool) else None
