"""Accesses, calls and starts without the lock that an annotation asks for; what runs beside them does not matter."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.checks import Breach, Checks, State, worst
from racelint.analysis.collisions import RESIZES
from racelint.analysis.contexts import Came, Entry, is_possible, targets
from racelint.analysis.declared import Told
from racelint.analysis.effects import CONTENT, IN_PLACE, WRITES, Access, CallSite, Effects, Start
from racelint.analysis.guards import HANDED, LOCKED_NAME, Guards
from racelint.analysis.objects import FRESH
from racelint.analysis.places import Located, Place, holds
from racelint.analysis.state import THREADS

LATER = frozenset({"thread", "pool", "goroutine", "task", "loop", "remote", "greenlet"})  # without its starter's locks


class Breaches:
    """Compares what functions do with what annotations say of locks."""

    def __init__(self, checks: Checks, guards: Guards) -> None:
        self._checks = checks
        self._symbols = checks.symbols
        self._places = checks.places
        self._contexts = checks.contexts
        self._declared = checks.declared
        self._guards = guards
        self._changed: tuple[set[Place], set[Place]] | None = None

    def all(self) -> list[Breach]:
        """Guarded places that are accessed, and functions that are called, without the lock that they need."""
        return worst(
            breach for function_id, effects in self._checks.reported() for breach in self._of(function_id, effects)
        )

    def _of(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        if self._declared.guards:
            yield from self._accesses(function_id, effects)
        if self._declared.required:
            yield from self._calls(function_id, effects)
            yield from self._starts(function_id, effects)

    # --- guards -------------------------------------------------------------------------------------------------------

    def _accesses(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        for access in effects.all_accesses():
            located = self._places.locate(access.path)
            told = self._declared.guard(located.place) if located is not None else None
            if told is None or located is None or self._checks.fills(function_id, access, located):
                continue
            if access.kind == "hand-out":
                yield from self._handed_out(function_id, access, located, told)
            elif not _reads_content(access) or located.place in self._changes()[0]:
                yield from self._without(function_id, access, located, told)

    def _without(self, function_id: str, access: Access, located: Located, told: Told) -> Iterator[Breach]:
        """An access in the states in which the lock is not held; the side that others may hold is enough for reads."""
        for state in self._checks.states(function_id, access, located):
            if not holds(state.locks, told.name, shared=access.kind not in WRITES):
                read_side = holds(state.locks, told.name, shared=True)
                yield from self._blamed(
                    Breach(
                        "access", told, function_id, access.span, access.kind, located.place, "", state.entry,
                        state.locks, state.sure, read_side,
                    )
                )  # fmt: skip

    def _handed_out(self, function_id: str, access: Access, located: Located, told: Told) -> Iterator[Breach]:
        """A container that is returned live by the function that takes its lock, while it is changed in place."""
        locks = self._places.locks(access.held)
        if holds(locks, told.name, shared=True) and located.place in self._changes()[1]:
            entry = next(iter(self._contexts.entries.get(function_id, {})), None)
            sure = 2 if located.certain else 1
            yield Breach("hand-out", told, function_id, access.span, access.kind, located.place, "", entry, locks, sure)

    def _changes(self) -> tuple[set[Place], set[Place]]:
        """The places whose containers are changed in place, and those where whoever iterates over them meets that.

        Others are only ever replaced: who has read one under the lock may go on with it.
        """
        if self._changed is None:
            changed, resized = self._changed = (set[Place](), set[Place]())
            for function_id, effects in self._checks.summaries.effects.items():
                for access in effects.all_accesses():
                    located = self._places.locate(access.path) if access.kind in IN_PLACE else None
                    if located is not None and not self._checks.fills(function_id, access, located):
                        changed.add(located.place)
                        if access.kind in RESIZES and access.detail in HANDED:
                            resized.add(located.place)
        return self._changed

    def _blamed(self, breach: Breach) -> Iterator[Breach]:
        """The access itself, or the call of its function if that says by its name or in words that callers lock."""
        function, entry, span = breach.function, breach.entry, breach.span
        callee = ""
        while self._guards.is_contract(function):
            came = self._came(function, entry)
            if came is None or not LOCKED_NAME.search(self._symbols.functions[function][1].name):
                return  # its callers are told
            callee, function, entry, span = function, came.caller, came.entry, came.span
            if self._checks.constructs(function) and came.own:
                return
        if callee:
            breach = breach._replace(
                kind="call", function=function, entry=entry, span=span, does="call", place=None, callee=callee
            )
        yield breach

    def _came(self, function_id: str, entry: Entry | None) -> Came | None:
        return self._contexts.came(function_id, entry) if entry is not None else None

    # --- required locks -----------------------------------------------------------------------------------------------

    def _calls(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        """The calls of functions whose callers hold a lock, by those that do not."""
        for site in effects.calls.values():
            required = self._declared.required.get(site.callee) if isinstance(site.callee, str) else None
            own = site.receiver is not None and self._checks.owns(function_id, site.receiver)
            if not required or site.joined & THREADS or own:
                continue
            held = self._places.locks_at(site)
            for state in self._states(function_id, site):
                for told in required:
                    if not holds(state.locks | held, told.name, shared=True):
                        yield Breach(
                            "call", told, function_id, site.span, "call", None, str(site.callee), state.entry,
                            state.locks | held, state.sure,
                        )  # fmt: skip

    def _states(self, function_id: str, site: CallSite) -> Iterator[State]:
        """The states in which a call is made by others than constructors and those who are told to hold the lock."""
        entries = self._contexts.entries.get(function_id)
        is_contract = self._guards.is_contract(function_id)
        if entries is None and not is_contract:
            yield from [State(None, locks, 2) for locks in self._checks.unseen(function_id)]
        own = site.receiver is not None and self._symbols.is_instance(site.receiver)
        for entry, came in (entries or {}).items():
            if own and (entry.receiver == FRESH or entry.constructor):
                continue
            if is_possible(site.needs, entry) and not (came is None and is_contract):
                sure = 3 if site.certain and entry.sure else 2
                yield State(entry, entry.locks, 1 if self._checks.is_handed_on(function_id, entry) else sure)

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
                        callee = target.function
                        yield Breach("start", told, function_id, start.span, "start", None, callee, entry, locks, 3)

    def _is_handed(self, callee: str, effects: Effects, start: Start, told: Told) -> bool:
        """Whether the lock may go over to what is started: that gives it back, or who starts it holds it and waits."""
        if self._checks.summaries.of(callee).releases:
            return True
        kept = [start.held, *effects.waits.values()] if effects.waits else [()]
        return all([holds(self._places.locks(locks), told.name, shared=True) for locks in kept])


def _reads_content(access: Access) -> bool:
    """Whether only what is in a container is read, by whatever name; what a log writes is read as a whole."""
    return access.kind in CONTENT and access.kind not in WRITES and bool(access.detail or access.kind != "peek")
