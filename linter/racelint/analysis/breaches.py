"""Accesses, calls and starts that break what annotations say; whether anything runs beside them does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.collisions import RESIZES
from racelint.analysis.confinement import Confinement
from racelint.analysis.contexts import Came, Contexts, Entry, is_possible, targets
from racelint.analysis.declared import Declared, Told
from racelint.analysis.effects import CONTENT, WRITES, Access, CallSite, Effects, Start
from racelint.analysis.gathering import CONSTRUCTORS
from racelint.analysis.guards import HANDED, LOCKED_NAME, Guards
from racelint.analysis.objects import FRESH, MAYBE
from racelint.analysis.paths import root
from racelint.analysis.places import Located, Place, Places, holds
from racelint.analysis.races import Races
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.state import THREADS
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Captured, Copy, Field, Fresh
from racelint.span import Span

MADE = CONSTRUCTORS | {"__post_init__", "__init_subclass__", "__set_name__", "__attrs_post_init__"}
LATER = frozenset({"thread", "pool", "goroutine", "task", "loop", "remote", "greenlet"})  # without its starter's locks
BEATS = {"iterate": 1}  # of several accesses on one line the worst one is told


class Breach(NamedTuple):
    """One line that breaks an annotation.

    `kind` is "access" of a guarded place, "hand-out" of its live content from under the lock, "call" or "start" of a function that requires a lock, or "outside" for what
    is done outside of its context; `place` is None for calls and starts, whose `callee` is given. `entry` is None where
    no context is known to come there. `read_side` says that the lock is held, but on the side that others may hold.
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


class Breaches:
    """Compares what functions do with what annotations say."""

    def __init__(
        self, symbols: Symbols, summaries: Summaries, places: Places, contexts: Contexts, races: Races, guards: Guards,
        declared: Declared,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._summaries = summaries
        self._places = places
        self._contexts = contexts
        self._races = races
        self._guards = guards
        self._declared = declared
        self._changed: set[Place] | None = None
        self._confinement = Confinement(symbols, contexts, declared)

    def of_locks(self) -> list[Breach]:
        """Guarded places that are accessed, and functions that are called, without the lock that they need."""
        found: dict[tuple[object, ...], Breach] = {}
        for function_id, effects in self._reported():
            breaches = [*self._accesses(function_id, effects)] if self._declared.guards else []
            if self._declared.required:
                breaches += [*self._calls(function_id, effects), *self._starts(function_id, effects)]
            for breach in breaches:
                key = (breach.function, breach.span.line, breach.place or breach.callee)
                if key not in found or _rank(breach) > _rank(found[key]):
                    found[key] = breach
        return list(found.values())

    def of_confinement(self) -> list[Breach]:
        """Confined places that are accessed, and functions that are called, in another context than they belong to."""
        found: dict[tuple[object, ...], Breach] = {}
        for function_id, effects in self._reported():
            for breach in (*self._escapes(function_id, effects), *self._strangers(function_id)):
                key = (breach.function, breach.span.line, breach.place or breach.callee)
                if key not in found or _rank(breach) > _rank(found[key]):
                    found[key] = breach
        return list(found.values())

    def _reported(self) -> Iterator[tuple[str, Effects]]:
        """The functions that findings may stand in; what comes before all others needs no lock."""
        for function_id, effects in self._summaries.effects.items():
            source, function = self._symbols.functions[function_id]
            if source.reported and not function.is_initial:
                yield function_id, effects

    # --- guards -------------------------------------------------------------------------------------------------------

    def _accesses(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        for access in effects.all_accesses():
            located = self._places.locate(access.path)
            told = self._declared.guard(located.place) if located is not None else None
            if told is None or located is None or self._fills(function_id, access, located):
                continue
            if access.kind == "hand-out":
                yield from self._handed_out(function_id, access, located, told)
                continue
            shared = access.kind not in WRITES
            for spot in self._spots(function_id, access):
                locks = spot.locks if spot is not None else self._places.locks(access.held)
                if holds(locks, told.name, shared=shared):
                    continue
                yield from self._blamed(
                    Breach(
                        "access", told, function_id, access.span, access.kind, located.place, "",
                        spot.entry if spot is not None else None, locks, self._confidence(function_id, located, spot),
                        holds(locks, told.name, shared=True),
                    )
                )  # fmt: skip

    def _handed_out(self, function_id: str, access: Access, located: Located, told: Told) -> Iterator[Breach]:
        """A container that is returned live by the function that takes its lock, while it is changed in place."""
        locks = self._places.locks(access.held)
        if holds(locks, told.name, shared=True) and located.place in self._resized():
            entry = next(iter(self._contexts.entries.get(function_id, {})), None)
            sure = 2 if located.certain else 1
            yield Breach("hand-out", told, function_id, access.span, access.kind, located.place, "", entry, locks, sure)

    def _resized(self) -> set[Place]:
        """The places whose containers are changed in place, in a way that those meet who iterate over them."""
        if self._changed is None:
            self._changed = set()
            for effects in self._summaries.effects.values():
                for access in effects.all_accesses():
                    if access.kind in RESIZES and access.detail in HANDED:
                        located = self._places.locate(access.path)
                        self._changed |= {located.place} if located is not None else set()
        return self._changed

    def _confidence(self, function_id: str, located: Located, spot: Spot | None) -> int:
        """How sure it is whose object an access is of, and that nobody on the way holds the lock."""
        if not located.certain or (spot is not None and self._is_unseen(function_id, spot.entry)):
            return 1
        return 3 if spot is None or (spot.entry.sure and spot.receiver != MAYBE) else 2

    def _is_unseen(self, function_id: str, entry: Entry) -> bool:
        """Whether a function in a function was handed to who knows whom: perhaps it runs right there."""
        if self._contexts.roots[entry.context].kind != "unknown":
            return False
        return not self._may_be_entered(self._contexts.root(function_id, entry))

    def _spots(self, function_id: str, access: Access) -> Iterator[Spot | None]:
        """The states in which an access is reached; None if nobody is known to come there, but somebody may."""
        spots = self._races.spots_of(function_id, access)
        if spots is Silence.UNREACHED and self._may_be_entered(function_id):
            yield None
        for spot in spots if not isinstance(spots, Silence) else ():
            if not (spot.located.own and spot.constructor) and not self._is_before(spot):
                yield spot

    def _may_be_entered(self, function_id: str) -> bool:
        return self._symbols.functions[function_id][1].parent in (None, MODULE) or bool(
            self._symbols.owner_of(function_id)
        )

    def _fills(self, function_id: str, access: Access, located: Located) -> bool:
        """Whether a constructor fills its own object, or a function one that it has made."""
        path = access.path
        if isinstance(path, Field) and isinstance(path.base, Copy) and access.kind not in CONTENT:
            return True  # what is in a container is shared with what the object was copied from
        made = located.own or located.constructed
        return isinstance(root(path), Fresh) or (made and self._constructs(function_id))

    def _constructs(self, function_id: str) -> bool:
        return self._symbols.functions[function_id][1].name in MADE

    def _is_before(self, spot: Spot) -> bool:
        """Whether a variable's object is still only its function's: nothing has been started yet."""
        start = root(spot.access.path)
        return isinstance(start, Captured) and start.function == spot.function and bool(spot.before)

    def _blamed(self, breach: Breach) -> Iterator[Breach]:
        """The access itself, or the call of its function if that says by its name or in words that callers lock."""
        function, entry, span = breach.function, breach.entry, breach.span
        calls = ""
        while self._guards.is_contract(function):
            came = self._came(function, entry)
            if came is None or not LOCKED_NAME.search(self._symbols.functions[function][1].name):
                return  # its callers are told
            calls, function, entry, span = function, came.caller, came.entry, came.span
            if self._constructs(function) and came.own:
                return
        if calls:
            yield breach._replace(
                kind="call", function=function, entry=entry, span=span, place=None, callee=calls, does="call"
            )
        else:
            yield breach

    def _came(self, function_id: str, entry: Entry | None) -> Came | None:
        return self._contexts.entries.get(function_id, {}).get(entry) if entry is not None else None

    # --- required locks -----------------------------------------------------------------------------------------------

    def _calls(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        """The calls of functions whose callers hold a lock, by those that do not."""
        for site in effects.calls.values():
            required = self._declared.required.get(site.callee) if isinstance(site.callee, str) else None
            if not required or site.joined & THREADS or self._is_own(function_id, site):
                continue
            for entry in self._entries(function_id, site):
                locks = self._places.locks(site.held) | (entry.locks if entry is not None else frozenset())
                for told in required:
                    if not holds(locks, told.name, shared=True):
                        sure = 3 if site.certain and (entry is None or entry.sure) else 2
                        sure = 1 if entry is not None and self._is_unseen(function_id, entry) else sure
                        callee = str(site.callee)
                        yield Breach("call", told, function_id, site.span, "call", None, callee, entry, locks, sure)

    def _is_own(self, function_id: str, site: CallSite) -> bool:
        """Whether a constructor, or who has just made the object, calls: nobody else has it."""
        if site.receiver is None:
            return False
        own = self._constructs(function_id) and self._symbols.is_instance(site.receiver)
        return own or isinstance(root(site.receiver), Fresh)

    def _entries(self, function_id: str, site: CallSite) -> Iterator[Entry | None]:
        """The states in which a call is made by others than constructors and those who are told to hold the lock."""
        entries = self._contexts.entries.get(function_id)
        if entries is None and self._may_be_entered(function_id) and not self._guards.is_contract(function_id):
            yield None
        own = site.receiver is not None and self._symbols.is_instance(site.receiver)
        for entry, came in (entries or {}).items():
            if own and (entry.receiver == FRESH or entry.constructor):
                continue
            if is_possible(site.needs, entry) and not (came is None and self._guards.is_contract(function_id)):
                yield entry

    def _starts(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        """Functions that require a lock and run elsewhere, where nobody holds it."""
        for start in effects.starts.values():
            if start.kind not in LATER or start.awaited:
                continue
            for target in targets(start.callee):
                for told in self._declared.required.get(target.function, ()):
                    if not self._is_handed(target.function, effects, start, told):
                        locks = self._places.locks(start.held)
                        entry = next(iter(self._contexts.entries.get(function_id, {})), None)
                        yield Breach(
                            "start", told, function_id, start.span, "start", None, target.function, entry, locks, 3
                        )

    def _is_handed(self, callee: str, effects: Effects, start: Start, told: Told) -> bool:
        """Whether the lock may go over to what is started: that gives it back, or who starts it holds it and waits."""
        if self._summaries.of(callee).releases:
            return True
        kept = [start.held, *effects.waits.values()] if effects.waits else [()]
        return all(holds(self._places.locks(locks), told.name, shared=True) for locks in kept)

    # --- confinement --------------------------------------------------------------------------------------------------

    def _escapes(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        """Accesses of confined places in contexts that they do not belong to."""
        if not (self._declared.confined or self._declared.confined_types):
            return
        for access in effects.all_accesses():
            located = self._places.locate(access.path)
            told = self._declared.confinement(located.place) if located is not None else None
            if told is None or located is None or self._fills(function_id, access, located):
                continue
            for spot in self._spots(function_id, access):
                if spot is not None and self._confinement.is_outside(told.name, function_id, spot.entry):
                    sure = 3 if located.certain and spot.entry.sure else 1
                    yield Breach(
                        "outside", told, function_id, access.span, access.kind, located.place, "", spot.entry,
                        spot.locks, sure,
                    )  # fmt: skip

    def _strangers(self, function_id: str) -> Iterator[Breach]:
        """Calls of a confined function by contexts that it does not belong to, told at the call."""
        told = self._declared.confined_functions.get(function_id)
        for entry, came in self._contexts.entries.get(function_id, {}).items() if told is not None else ():
            if told is not None and came is not None and entry.receiver != FRESH:
                if self._confinement.is_outside(told.name, came.caller, came.entry):
                    yield Breach(
                        "outside", told, came.caller, came.span, "call", None, function_id, came.entry, frozenset(),
                        3 if entry.sure else 1,
                    )  # fmt: skip


def _rank(breach: Breach) -> tuple[object, ...]:
    """Of several breaches on one line, the order in which they are told: what is sure, then what is worse."""
    return breach.confidence, breach.does in WRITES, BEATS.get(breach.does, 0), breach.entry is not None
