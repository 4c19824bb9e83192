"""What the checks of annotations have in common: breaches, the states in which spots are reached, owned objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.declared import Declared, Told
from racelint.analysis.effects import CONTENT, WRITES, Access, Effects
from racelint.analysis.gathering import CONSTRUCTORS
from racelint.analysis.objects import MAYBE
from racelint.analysis.paths import root
from racelint.analysis.places import Located, Place, Places
from racelint.analysis.races import Races
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Captured, Copy, Field, Fresh
from racelint.span import Span

MADE = CONSTRUCTORS | {"__post_init__", "__attrs_post_init__", "__init_subclass__", "__set_name__"}


class Breach(NamedTuple):
    """One line that breaks an annotation.

    `kind` is "access" of a guarded place, "hand-out" of its live content from under the lock, "call" or "start" of a
    function that requires a lock, or "outside" for what is done outside of its context; `place` is None for calls and
    starts, whose `callee` is given. `entry` is None where no context is known to come there. `read_side` says that the
    lock is held, but on the side that others may hold.
    """

    kind: str
    told: Told
    function: str
    span: Span
    does: str
    place: Place | None
    callee: str
    entry: Entry | None
    locks: frozenset[str]
    confidence: int
    read_side: bool = False


class Checks:
    """What of a program is checked, and when an access needs nothing."""

    def __init__(
        self, symbols: Symbols, summaries: Summaries, places: Places, contexts: Contexts, races: Races,
        declared: Declared,
    ) -> None:  # fmt: skip
        self.symbols = symbols
        self.summaries = summaries
        self.places = places
        self.contexts = contexts
        self.declared = declared
        self._races = races

    def reported(self) -> Iterator[tuple[str, Effects]]:
        """The functions that findings may stand in; what comes before all others needs no lock."""
        for function_id, effects in self.summaries.effects.items():
            source, function = self.symbols.functions[function_id]
            if source.reported and not function.is_initial:
                yield function_id, effects

    def spots(self, function_id: str, access: Access) -> Iterator[Spot | None]:
        """The states in which an access is reached; None if nobody is known to come there, but somebody may."""
        spots = self._races.spots_of(function_id, access)
        if spots is Silence.UNREACHED and self.may_be_entered(function_id):
            yield None
        for spot in spots if not isinstance(spots, Silence) else ():
            if not (spot.located.own and spot.constructor) and not _is_before(spot):
                yield spot

    def may_be_entered(self, function_id: str) -> bool:
        """Whether others may call a function that nothing calls: it is no function in a function."""
        function = self.symbols.functions[function_id][1]
        return function.parent in (None, MODULE) or bool(function.owner)

    def fills(self, function_id: str, access: Access, located: Located) -> bool:
        """Whether a constructor fills its own object, or a function one that it has made."""
        path = access.path
        if isinstance(path, Field) and isinstance(path.base, Copy) and access.kind not in CONTENT:
            return True  # what is in a container is shared with what the object was copied from
        made = located.own or located.constructed
        return isinstance(root(path), Fresh) or (made and self.constructs(function_id))

    def constructs(self, function_id: str) -> bool:
        """Whether a method makes its object, or ends it: nobody else has it."""
        return self.symbols.functions[function_id][1].name in MADE

    def confidence(self, function_id: str, located: Located, spot: Spot | None) -> int:
        """How sure it is whose object an access is of, and in which state it is reached."""
        if not located.certain or (spot is not None and self.is_unseen(function_id, spot.entry)):
            return 1
        return 3 if spot is None or (spot.entry.sure and spot.receiver != MAYBE) else 2

    def is_unseen(self, function_id: str, entry: Entry) -> bool:
        """Whether a function in a function was handed to who knows whom: perhaps it runs right there."""
        if self.contexts.roots[entry.context].kind != "unknown":
            return False
        return not self.may_be_entered(self.contexts.root(function_id, entry))


def worst(breaches: Iterable[Breach]) -> list[Breach]:
    """One breach a line and place, or callee: what is sure, then what is worse."""
    found: dict[tuple[object, ...], Breach] = {}
    for breach in breaches:
        key = (breach.function, breach.span.line, breach.place or breach.callee)
        if key not in found or _rank(breach) > _rank(found[key]):
            found[key] = breach
    return list(found.values())


def _rank(breach: Breach) -> tuple[object, ...]:
    return breach.confidence, breach.does in WRITES, breach.does == "iterate", breach.entry is not None


def _is_before(spot: Spot) -> bool:
    """Whether a variable's object is still only its function's: nothing has been started yet."""
    start = root(spot.access.path)
    return isinstance(start, Captured) and start.function == spot.function and bool(spot.before)
