"""What the checks of annotations have in common: breaches, the states in which spots are reached, owned objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.declared import Declared, Told
from racelint.analysis.effects import CONTENT, WRITES, Access, CallSite, Effects
from racelint.analysis.gathering import CONSTRUCTORS
from racelint.analysis.objects import MAYBE
from racelint.analysis.paths import root
from racelint.analysis.places import Located, Place, Places
from racelint.analysis.races import Races
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.state import LOCAL
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Captured, Copy, Field, Fresh, TypeValue, Value
from racelint.model import Call, Expr, Make, Op
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


class State(NamedTuple):
    """A state in which a spot is reached: the entry (None if no context is known to come there), and the locks held.

    `sure` is 3 (high) to 1 (low): whether it is known whose object is accessed, and what runs there.
    """

    entry: Entry | None
    locks: frozenset[str]
    sure: int


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
        self._callers: dict[str, list[tuple[str, CallSite]]] | None = None
        self._unseen: dict[str, list[frozenset[str]]] = {}

    def reported(self) -> Iterator[tuple[str, Effects]]:
        """The functions that findings may stand in; what comes before all others needs no lock."""
        for function_id, effects in self.summaries.effects.items():
            source, function = self.symbols.functions[function_id]
            if source.reported and not function.is_initial:
                yield function_id, effects

    def states(self, function_id: str, access: Access, located: Located) -> Iterator[State]:
        """The states in which an access is reached, of an object that others may know."""
        spots = self._races.spots_of(function_id, access)
        if spots is Silence.UNREACHED:
            own = self.places.locks(access.held)
            for locks in self.unseen(function_id):
                yield State(None, own | locks, 2 if located.certain else 1)
        for spot in spots if not isinstance(spots, Silence) else ():
            if not (spot.located.own and spot.constructor) and not self._is_alone(spot):
                yield State(spot.entry, spot.locks, self._confidence(function_id, located, spot))

    def unseen(self, function_id: str) -> list[frozenset[str]]:
        """The locks that are held when a function is called which no context is known to reach, by its callers."""
        if function_id not in self._unseen:
            self._unseen[function_id] = []  # cut cycles
            found = {self.declared.locks_of(function_id) | locks for locks in self._called_with(function_id)}
            self._unseen[function_id] = sorted(found, key=sorted)
        return self._unseen[function_id]

    def _called_with(self, function_id: str) -> Iterator[frozenset[str]]:
        if self._callers is None:
            self._callers = defaultdict(list)
            for caller, effects in self.summaries.effects.items():
                for site in effects.calls.values():
                    if isinstance(site.callee, str) and site.callee != caller:
                        self._callers[site.callee].append((caller, site))
        callers = self._callers.get(function_id, [])
        if not callers and self.may_be_entered(function_id):
            yield frozenset()
        for caller, site in callers:
            if site.receiver is None or not self.owns(caller, site.receiver):
                held = self.places.locks_at(site)
                entries = self.contexts.entries.get(caller)
                known = [entry.locks for entry in entries] if entries is not None else self.unseen(caller)
                yield from [locks | held for locks in known]

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

    def owns(self, function_id: str, receiver: Value) -> bool:
        """Whether a call is a constructor's on its own object, or of who has just made the object."""
        own = self.constructs(function_id) and self.symbols.is_instance(receiver)
        return own or isinstance(root(receiver), Fresh)

    def constructs(self, function_id: str) -> bool:
        """Whether a method makes its object, or ends it: nobody else has it."""
        return self.symbols.functions[function_id][1].name in MADE

    def _confidence(self, function_id: str, located: Located, spot: Spot) -> int:
        if not located.certain or self.is_handed_on(function_id, spot.entry):
            return 1
        return 3 if spot.entry.sure and spot.receiver != MAYBE else 2

    def is_handed_on(self, function_id: str, entry: Entry) -> bool:
        """Whether a function in a function was handed to who knows whom: perhaps it runs right there."""
        if self.contexts.roots[entry.context].kind != "unknown":
            return False
        return not self.may_be_entered(self.contexts.root(function_id, entry))

    def _is_alone(self, spot: Spot) -> bool:
        """Whether a variable is only its function's: nothing that knows it has been started yet, or all has ended."""
        start = root(spot.access.path)
        if not isinstance(start, Captured) or start.function != spot.function:
            return False
        if spot.access.joined & LOCAL:
            return True
        made = self.symbols.functions[spot.function][1].bindings.get(start.name, ())
        if spot.before or not made or not all([self._makes(spot.function, value) for value in made]):
            return bool(spot.before)
        effects, here = self.summaries.effects[spot.function], spot.access.span[:2]
        calls = [site for site in effects.calls.values() if site.span[:2] < here]
        lent = [site for site in calls if site.receiver == start or isinstance(site.receiver, Fresh)]
        started = [o for o in effects.starts.values() if o.kind != "binding" and o.span[:2] < here]
        return not started and not any([self._starts(site) for site in lent])

    def _starts(self, site: CallSite) -> bool:
        """Whether a call may start something."""
        effects = self.summaries.effects.get(site.callee) if isinstance(site.callee, str) else None
        return effects is None or effects.starts_any

    def _makes(self, function_id: str, value: Expr) -> bool:
        """Whether an expression makes an object."""
        if isinstance(value, Op) and value.operator == "address":
            value = value.operands[0]
        is_type = isinstance(value, Call) and isinstance(self.symbols.meant(function_id, value.func), TypeValue)
        return is_type or isinstance(value, Make)


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
