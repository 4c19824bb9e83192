"""Guards: the lock that an author holds around a place, inferred from most of its accesses, and who forgets it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from racelint.analysis.collisions import ERROR, LIVE, RESIZES, SEVERITY
from racelint.analysis.contexts import Contexts
from racelint.analysis.declared import Declared
from racelint.analysis.documented import is_deliberate
from racelint.analysis.effects import TOLD, WRITES, Act
from racelint.analysis.library import ATOMIC
from racelint.analysis.lifecycle import is_border, is_starting, prepares
from racelint.analysis.memory import LISTENER, SHARED_CONTENT
from racelint.analysis.objects import HANDLER
from racelint.analysis.paths import root
from racelint.analysis.places import (
    ANY_LOCK,
    ASYNC,
    FLAG_MARK,
    SOME_WAYS,
    Place,
    Places,
    may_overlap,
    of_threads,
    overlap,
    sides,
)
from racelint.analysis.races import MOST_PAIRS, Races
from racelint.analysis.spots import Pair, Silence, Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Fresh
from racelint.analysis.ways import MOST_CALLS, NEAR
from racelint.span import Span

CONTRACT = re.compile(
    r"(lock\w*|mutex\w*|mu)\s+(must|should|has to|needs? to|is)\s+(already\s+)?(be\s+)?(held|acquired|taken)"
    r"|(must|should|to be|only)\s+(be\s+)?(called|used|run|invoked)\s+(\w+\s+){0,4}(lock|mutex|mu\b)"
    r"|(caller|requires?|assumes?|holding|held|with)\s+(\w+[.\s]+){0,4}(lock|mutex|mu\b)"
    r"|not\s+(be\s+)?thread[- ]?safe",
    re.IGNORECASE,
)
LOCKED_NAME = re.compile(r"(?<!un)locked$", re.IGNORECASE)
UNSAFE = re.compile(r"not\s+(be\s+)?thread[- ]?safe|thread[- ]?unsafe", re.IGNORECASE)
HANDED = LIVE | {SHARED_CONTENT}
# What fmt, loggers and copies call, mostly under the lock of who asks for it.
PRINTED = frozenset(
    {"String", "GoString", "Error", "Format", "MarshalJSON", "MarshalLog", "DeepCopy", "DeepCopyInto", "DeepCopyObject"}
)
MOST_BREACHES = 3  # a lock that is left out more often guards nothing


class Guards:
    """Infers guards and compares their breaches with what is done under them."""

    def __init__(self, symbols: Symbols, places: Places, contexts: Contexts, races: Races, declared: Declared) -> None:
        self._symbols = symbols
        self._declared = declared
        self._places = places
        self._contexts = contexts
        self._races = races
        self._contracts: dict[str, bool] = {}
        self._made: dict[str, set[str]] = {}

    def all(self) -> Iterator[Pair]:
        """The worst breach of each guarded place."""
        for place, spots in self._races.spots.items():
            best = self._best(place, spots)
            if best is not None:
                yield best

    def _best(self, place: Place, spots: list[Spot]) -> Pair | None:
        if place.kind == "captured" and self._races.memory.governs(place.owner):
            return None  # the order of the function's own steps says more than its locks
        touching = frozenset([spot.entry.context for spot in spots])
        spots = [spot._replace(before="") if self._is_unrelated(spot, touching) else spot for spot in spots]
        plain = self._by_access(spots)
        best: Pair | None = None
        said = self._declared.description(place)
        for lock, held in self._candidates(plain).items():
            comment = said.location if said is not None and lock == said.name else None
            total = sum(entry in held or not self._says_nothing(entry) for entry in plain.values())
            breaches = [entry for entry in plain.values() if entry not in held]
            writes = [entry for entry in breaches if _writes(entry)]
            if not (len(writes) <= 1 or 3 * len(held) >= 2 * total) or len(writes) > MOST_BREACHES:
                continue
            for pair in (*self._breaches(place, lock, spots), *self._handed_out(place, lock, spots)):
                found = pair._replace(guard=lock, held=len(held), total=total, said=comment)
                if self._is_weak(found):
                    found = found._replace(confidence=1)
                if best is None or _rank(found) > _rank(best):
                    best = found
        return best

    def _says_nothing(self, entry: list[Spot]) -> bool:
        """Whether an access needs no lock of its own: the caller holds it, or it asks for a size only."""
        return all(spot.access.kind == "measure" or self.is_contract(spot.function) for spot in entry)

    def _is_weak(self, pair: Pair) -> bool:
        """Whether only callers from outside say that two accesses ever meet: mostly they see to it that they do not."""
        callers = [self._contexts.roots[spot.entry.context].is_external for spot in (pair.first, pair.second)]
        if pair.guard == ATOMIC:
            return False  # who takes a step for it knows of others
        if pair.guard in sides(pair.first.locks):
            return False  # its author thinks that the read side is enough
        if self._races.memory.governs(pair.first.function) and not self._is_kept_mostly(pair):
            return True
        if pair.shape == "hand-out" or (pair.shape.endswith("-iterate") and SEVERITY[pair.shape] >= ERROR):
            return False
        if pair.shape == "check-use" and self._holds_elsewhere(pair):
            return False  # who takes the lock there to fill the place knows that others may be about to empty it
        if pair.shape == "replace-change" and self._is_lost(pair):
            return False
        if pair.said is not None and not self._is_expected(pair):
            return False
        return any(callers) and pair.shape != "update-update" and not self._is_forgotten_read(pair)

    def _is_expected(self, pair: Pair) -> bool:
        """Whether a comment on a lock hardly means this: who starts the object, or takes out his own entry."""
        acts = [spot.access for spot in (pair.first, pair.second) if isinstance(spot.access, Act)]
        starts = any(prepares(self._symbols.functions[spot.function][1].name) for spot in (pair.first, pair.second))
        return starts or any(act.kind in ("remove", "lookup") for act in acts)

    def _is_lost(self, pair: Pair) -> bool:
        """Whether an object puts something into what it replaces under its own lock, not just when it ends."""
        owner = pair.guard.rpartition(".")[0]
        own = pair.first.located.own and self._races.identity.is_family(owner, pair.place.owner)
        ends = any(is_border(self._symbols.functions[spot.function][1].name) for spot in (pair.first, pair.second))
        first, second = pair.first.access.kind, pair.second.access.kind
        return own and not ends and first in ("insert", "append") and second == "store"

    def _holds_elsewhere(self, pair: Pair) -> bool:
        """Whether the function that goes without the lock holds it at other accesses of the place."""
        accesses = self._races.effects[pair.first.function].all_accesses()
        path = pair.first.access.path
        return any(access.path == path and pair.guard in self._places.locks(access.held) for access in accesses)

    def _is_kept_mostly(self, pair: Pair) -> bool:
        """Whether three quarters of the accesses hold a lock, of those on long ways nine in ten.

        Of 34 reports on others, in repositories that the rule had not been mended on, 11 were right. Not so where
        what is there is taken away, and for the only access without the lock, unless it is of a word.
        """
        if pair.held == pair.total - 1 and not self._races.strangers.is_word(pair.first):
            return True
        long = self._races.ways.steps(pair.first, pair.second) >= NEAR and pair.second.access.detail != "none"
        return (10 * pair.held >= 9 * pair.total) if long else (4 * pair.held >= 3 * pair.total)

    def _is_forgotten_read(self, pair: Pair) -> bool:
        """Whether what is stored under a lock is read, and not just tested, without it.

        In a language in which a read beside a store has no meaning three of four such reports were right; not so where
        a slice is only added to.
        """
        read, written = pair.first.access.kind, pair.second.access.kind
        if not self._races.memory.governs(pair.first.function) or read not in ("read", "lookup", "iterate"):
            return False
        return self._races.strangers.is_word(pair.first) or not written.startswith("update")

    def _is_unrelated(self, spot: Spot, touching: frozenset[int]) -> bool:
        """Whether nothing that is started after an access has to do with the place."""
        if not spot.before or not self._races.memory.governs(spot.function):
            return False
        return touching.isdisjoint(self._contexts.started_under.get(spot.before, ()))

    def _by_access(self, spots: list[Spot]) -> dict[tuple[object, ...], list[Spot]]:
        """The plain accesses of a place, by line, each with its entry states; a line that writes is a write."""
        found: dict[tuple[object, ...], list[Spot]] = defaultdict(list)
        for spot in spots:
            if not isinstance(spot.access, Act) and spot.access.kind != "hand-out" and not self._is_early(spot):
                found[spot.function, spot.access.span.line].append(spot)
        return found

    def _candidates(self, plain: dict[tuple[object, ...], list[Spot]]) -> dict[str, list[list[Spot]]]:
        """Locks held at two accesses or more, one of them a write."""
        held: dict[str, list[list[Spot]]] = defaultdict(list)
        for entries in plain.values():
            common = frozenset.intersection(*[_guarding(spot) for spot in entries])
            for lock in sorted(common):
                if not lock.startswith((ANY_LOCK, FLAG_MARK, SOME_WAYS)) and not lock.endswith("[]"):
                    held[lock].append(entries)
        return {
            lock: entries for lock, entries in held.items()
            if any(_writes(e) for e in entries) and (lock == ATOMIC or self._is_kept(lock, entries))
        }  # fmt: skip

    def _is_kept(self, lock: str, entries: list[list[Spot]]) -> bool:
        """Whether a lock is held in two functions or more, and not only by one that keeps itself out."""
        lines = {(e[0].function, e[0].access.span.line) for e in entries}
        functions = {function for function, _ in lines}
        return len(lines) >= 2 and len(functions) >= 2 and self._is_taken_in_several(lock, entries)

    def _is_taken_in_several(self, lock: str, entries: list[list[Spot]]) -> bool:
        """Whether more than one function takes a lock around a place: else it only keeps that function from itself."""
        if not self._races.memory.governs(entries[0][0].function):
            return True
        return len({taker for spots in entries for spot in spots for taker in self._takers(lock, spot)}) > 1

    def _takers(self, lock: str, spot: Spot) -> Iterator[str]:
        """The function that takes a lock around an access: its own, or the nearest one on the way."""
        if lock in sides(self._places.locks(getattr(spot.access, "held", ()))):
            yield spot.function
            return
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            came = self._contexts.came(function, entry)
            if came is None:
                break
            if lock not in sides(came.entry.locks):
                yield came.caller
                return
            function, entry = came.caller, came.entry
        yield function

    def _breaches(self, place: Place, lock: str, spots: list[Spot]) -> Iterator[Pair]:
        guarded = [spot for spot in spots if lock in _guarding(spot) and not self._is_early(spot, lock)]
        writes = [spot for spot in guarded if spot.is_write]
        own, left = self._one_writer(spots), MOST_PAIRS
        for breach in spots:
            by_steps = self._races.memory.governs(breach.function)
            if (
                lock in (_guarding(breach) if by_steps else sides(breach.locks))
                or ANY_LOCK in breach.locks
                or f"{SOME_WAYS}{lock}" in breach.locks
                or f"{ASYNC}{lock}" in breach.locks  # elsewhere nothing says that it is one of tasks
                or self.constructs(breach)
            ):
                continue
            if self._is_early(breach, lock) or self._is_own_writer(own, breach, lock):
                continue
            if by_steps and self._is_told(self._way_in(breach)[1]):
                continue
            if self.is_contract(breach.function):
                at_call = self._at_call(breach)
                if at_call is None:
                    continue
                breach = at_call
            if any(name.endswith("[]") is False and name.startswith(ANY_LOCK) for name in breach.locks):
                continue
            others = (guarded if breach.is_write else writes)[:left]
            left -= len(others)
            for other in others:
                pair = self._pair(place, lock, breach, other)
                if pair is not None:
                    yield pair
            if isinstance(breach.access, Act) and breach.access.kind == "insert" and breach.access.value:
                sure = 1 if self._is_split(breach.access, lock) else 2
                yield Pair(place, breach, breach, "check-act", "guard", sure)  # two of them at once

    def _is_split(self, act: Act, lock: str) -> bool:
        """Whether a check and its act are two critical sections of one lock."""
        both = lock in self._places.locks(act.held) and lock in self._places.locks(act.check_held)
        return both and act.by == "condition"

    def _pair(self, place: Place, lock: str, breach: Spot, other: Spot) -> Pair | None:
        if not self._places.related(breach.located.type, other.located.type):
            return None
        first, second = (breach, other) if breach.is_write else (other, breach)
        shape = self._races.collisions.shape(first, second, guarded=True) if first.is_write else None
        if shape is None or shape == "store-test" or (shape == "store-store" and breach.access is other.access):
            return None
        locks = self._races.ways.locks
        if overlap(locks(breach, other), locks(other, breach)) or self._is_one_thread(breach, other):
            return None
        if (
            self._races.identity.are_apart(breach, other)
            or self._is_borrowed(breach, other)
            or self._races.callers.is_driven_instead(breach, other)
            or self._races.callers.is_driven_instead(other, breach)
        ):
            return None
        order, closing, handing = self._races.order, self._races.closing, self._races.handing
        if handing.order(breach, other, self._races.spots) or handing.order(other, breach, self._races.spots):
            return None
        if closing.order(breach, other) or closing.order(other, breach):
            return None
        if self._races.found_set.order(other, breach, self._races.spots) or self._races.choices.exclude(breach, other):
            return None
        if order.comes_before(breach, other) or order.comes_before(other, breach) or order.signals.order(breach, other):
            return None
        if order.is_before_return(breach, other) or order.is_before_return(other, breach):
            return None
        if self._races.stages.order(other, breach, self._races.spots):
            return None
        if self._makes(lock, breach.function) or self._starts_later(breach, other):
            return None
        if shape == "update-update" and not self._races.is_tested(place):
            shape = "count-count"
        if breach.access.kind == "update" and other.access.kind == "update" and not other.is_write:
            return None
        acts = [spot.access for spot in (first, second) if isinstance(spot.access, Act)]
        confidence = 1 if any(act.caught for act in acts) and shape in ("check-use", "check-act") else 2
        if any(self._is_split(act, lock) for act in acts):
            confidence = 1  # two critical sections: what the second one needs it mostly tests again
        if shape == "check-use" and (first.function == second.function or any(act.kind == "lookup" for act in acts)):
            confidence = 1  # mostly the key is the caller's own, and who comes too late finds that it is gone
        far = self._races.ways.is_far(breach, MOST_CALLS - 1) or self._races.ways.is_far(other, MOST_CALLS - 1)
        callback = "unknown" in [self._contexts.roots[spot.entry.context].kind for spot in (breach, other)]
        found_by_name = place.kind == "field" and not breach.located.own and not breach.entry.sure
        if self._is_starting(breach):
            confidence = 1
        unlikely = shape in ("store-store", "update-reset", "count-count") or "measure" in (
            first.access.kind,
            second.access.kind,
        )
        unlikely = unlikely or TOLD in (first.access.detail, second.access.detail)
        unlikely = unlikely or self._races.printing.only_shows(other, breach)
        unlikely = unlikely or self._races.logging_loops.only_shows(second)
        unlikely = unlikely or self._races.cooperating.have_own_locks(breach, other)
        if shape.startswith("update") and place.kind == "field" and lock != ATOMIC:
            # a number is guarded by a lock of its own object
            unlikely = unlikely or not self._races.identity.is_family(lock.rpartition(".")[0], place.owner)
        if far or callback or found_by_name or unlikely or self._races.callers.goes_behind(breach, other):
            confidence = 1
        if self._symbols.is_ordered_by_steps(breach.function) and self._races.identity.held_apart(breach, other):
            confidence = 1
        if not breach.located.certain or not other.located.certain or not self._is_of_owner(place, lock, breach):
            confidence = 1
        if may_overlap(breach.locks, other.locks):
            confidence = 1  # a lock that one of them holds, and the other one on some way
        if any(self._races.is_left_over(spot) or self._races.is_for_tests(spot) for spot in (breach, other)):
            confidence = 1
        if self._races.rehearsing.does(breach):
            confidence = 1
        if self._is_foreign(place, lock, breach, other):
            confidence = 1  # in code that nobody had looked at before none of 21 such reports was right
        return Pair(place, breach, other, shape, "guard", confidence)

    def _is_borrowed(self, breach: Spot, other: Spot) -> bool:
        """Whether a request has taken the object out of a pool, for itself: what callers do to it is part of that."""
        contexts = [self._contexts.roots[spot.entry.context] for spot in (breach, other)]
        asked = [context.kind == HANDLER for context in contexts]
        alone = any(asked) and all(context.is_external or context.kind == HANDLER for context in contexts)
        return alone and self._races.identity.are_borrowed(breach, other)

    def _makes(self, lock: str, function_id: str) -> bool:
        """Whether a function makes the lock itself, as a constructor does: nobody can hold it yet."""
        if function_id not in self._made:
            accesses = self._races.effects[function_id].all_accesses()
            self._made[function_id] = {self._places.lock(access.path) for access in accesses if access.kind == "store"}
        return lock in self._made[function_id]

    def _is_starting(self, spot: Spot) -> bool:
        """Whether a caller puts the object into service."""
        by_steps = self._races.memory.governs(spot.function)
        if not self._contexts.roots[spot.entry.context].is_external or not (spot.located.own or by_steps):
            return False
        way = [function for function, _ in self._contexts.way(spot.function, spot.entry)]
        methods = [self._symbols.functions[function][1] for function in (*way, spot.function)]
        if self._races.memory.governs(spot.function):
            return any(prepares(method.name) for method in methods)
        return any(method.owner and is_starting(method.name) for method in methods)

    def _is_of_owner(self, place: Place, lock: str, breach: Spot) -> bool:
        """Whether it is known whose object a breach is of, or whoever it belongs to, it has the lock itself."""
        if lock == ATOMIC:
            return True
        owner = lock.rpartition(".")[0]
        identity = self._races.identity
        known = owner == place.owner or not (identity.is_whose(breach) or identity.is_handed_on(breach))
        return known or identity.goes_through(breach, owner)

    def _is_foreign(self, place: Place, lock: str, breach: Spot, other: Spot) -> bool:
        """Whether a field would be guarded by a lock of another type, though nothing else speaks for that.

        Mostly such a lock keeps its own things, and is held on the way only, or whoever goes without it has taken the
        object out first. Not so if there is a lock of the field's own object, too, of which one side holds each: one of
        the two is the wrong one; nor if what is there is taken away.
        """
        owner, identity = lock.rpartition(".")[0], self._races.identity
        if place.kind != "field" or not owner or identity.is_family(owner, place.owner):
            return False
        if any(spot.access.kind == "store" and spot.access.detail == "none" for spot in (breach, other)):
            return False
        return not any(identity.is_family(each.rpartition(".")[0], place.owner) for each in sides(breach.locks))

    def _starts_later(self, breach: Spot, other: Spot) -> bool:
        """Whether what makes the other access is only started, or calls come only, when the breach is over."""
        context = self._contexts.roots[other.entry.context]
        started = self._races.memory.governs(breach.function) and context.starter is not None
        return started and self._races.memory.is_started_later(
            breach.function, breach.entry, context, span=breach.access.span
        )

    def _is_early(self, spot: Spot, lock: str = "") -> bool:
        """Whether an access comes before something is started, in a language in which that is the only order.

        Who takes a lock there, be it the read side, is not alone: others have come by before.
        """
        if not self._races.memory.governs(spot.function):
            return False
        alone = bool(spot.before) and (not lock or lock not in sides(spot.locks))
        return alone or isinstance(root(spot.access.path), Fresh | Captured)

    def _way_in(self, spot: Spot) -> tuple[int, str]:
        return spot.entry.context, self._contexts.root(spot.function, spot.entry)

    def _one_writer(self, spots: list[Spot]) -> tuple[int, str] | None:
        """The one way in on which a place is written, if that is the only one and does not run beside itself.

        Several of them, each with an object that is not known to be the others', are one in this.
        """
        if not spots or not self._races.memory.governs(spots[0].function):
            return None
        writes = [spot for spot in spots if spot.is_write and not self._is_early(spot)]
        ways = {self._way_in(spot) for spot in writes}
        way = ways.pop() if len(ways) == 1 else None
        if way is None or not self._contexts.roots[way[0]].many:
            return way
        return way if all(self._races.identity.is_whose(spot) for spot in writes) else None

    def _is_own_writer(self, own: tuple[int, str] | None, breach: Spot, lock: str) -> bool:
        """Whether an access is the one writer's; callers who take atomic steps say that they are several."""
        if own is None or own != self._way_in(breach):
            return False
        return lock != ATOMIC or not self._contexts.roots[own[0]].is_external

    def _handed_out(self, place: Place, lock: str, spots: list[Spot]) -> Iterator[Pair]:
        """A live container that is returned from under its guard while others resize it in place."""
        for spot in spots:
            if spot.access.kind != "hand-out" or lock not in sides(self._places.locks(spot.access.held)):
                continue
            if self._races.outcomes.are_gone_at_once(spot.function):
                continue
            for other in spots:
                if other.access.kind in RESIZES and other.access.detail in HANDED and not isinstance(other.access, Act):
                    if self._is_used_at_once(place, spot, other, spots):
                        continue
                    yield Pair(place, spot, other, "hand-out", "guard", 2 if other.located.certain else 1)
                    break

    def _is_used_at_once(self, place: Place, handed: Spot, other: Spot, spots: list[Spot]) -> bool:
        """Whether all that get a live container use it where they ask for it, and do not meet a change of it there."""
        if not self._races.memory.governs(handed.function):
            return False
        if None in self._contexts.entries.get(handed.function, {}).values():
            return False  # callers that nobody sees
        calls = [(caller, span) for caller, span, callee in self._contexts.sites if callee == handed.function]
        uses = [[spot for spot in spots if _stands_at(spot, *call)] for call in calls]
        return all(uses) and all([self._is_silent(place, other, use) for each in uses for use in each])

    def _is_silent(self, place: Place, change: Spot, use: Spot) -> bool:
        return isinstance(self._races.judge(place, change, use), Silence)

    def _at_call(self, breach: Spot) -> Spot | None:
        """The call of a function whose name says that the caller holds the lock, by a caller that does not."""
        came = self._contexts.came(breach.function, breach.entry)
        if came is None or self.is_contract(came.caller) or isinstance(breach.access, Act):
            return None
        if not LOCKED_NAME.search(self._symbols.functions[breach.function][1].name):
            return None
        access = breach.access._replace(span=came.span)
        return breach._replace(function=came.caller, entry=came.entry, access=access)

    def constructs(self, spot: Spot) -> bool:
        """Whether a constructor fills its own object: the author thinks that nobody has it yet."""
        return spot.located.own and self._symbols.functions[spot.function][1].name == "__init__"

    def _is_one_thread(self, first: Spot, second: Spot) -> bool:
        """Whether one started context does both, one event loop or one registration: it does not meet itself."""
        context, other = self._contexts.roots[first.entry.context], self._contexts.roots[second.entry.context]
        if context.is_loop and other.is_loop and "greenlet" not in (context.kind, other.kind):
            return True
        if context != other and self._races.memory.governs(first.function):
            return context.kind == LISTENER and self._races.memory.is_one_after_other(context, other)
        alone = not context.many and not context.is_external and context.kind != "unknown"
        return first.entry.context == second.entry.context and alone

    def _is_told(self, root_id: str) -> bool:
        """Whether a caller from outside holds the lock: he is told to, or it is a log that he writes under it."""
        return self.is_contract(root_id) or self._symbols.functions[root_id][1].name in PRINTED

    def is_contract(self, function_id: str) -> bool:
        """Whether a name or a docstring says that the caller holds the lock, or that nobody needs to."""
        if function_id not in self._contracts:
            self._contracts[function_id] = self._says_contract(function_id)
        return self._contracts[function_id]

    def _says_contract(self, function_id: str) -> bool:
        function = self._symbols.functions[function_id][1]
        source = self._symbols.functions[function_id][0]
        owner = source.module.types.get(function.owner) if function.owner else None
        if owner is not None and UNSAFE.search(owner.doc):
            return True
        if not source.module.traits.atomic_steps and function.name.lower().startswith("unsafe"):
            return True
        named = function.name.lower().endswith(("_locked", "locked", "_unlocked", "nolock", "_no_lock", "_unsafe"))
        return named or bool(CONTRACT.search(function.doc)) or is_deliberate(function.doc)


def _stands_at(spot: Spot, function: str, span: Span) -> bool:
    """Whether an access of a function is of what it gets in the line of a call."""
    return spot.function == function and spot.access.span.line == span.line


def _guarding(spot: Spot) -> frozenset[str]:
    """The locks that keep others out during an access; the shared side is enough for a read."""
    return of_threads(spot.locks) if spot.is_write else sides(spot.locks)


def _rank(pair: Pair) -> tuple[int, int]:
    """The order in which the breaches of one place are told: what is shown, then what is worse."""
    return (pair.confidence, SEVERITY[pair.shape])


def _writes(entries: list[Spot]) -> bool:
    return any(spot.access.kind in WRITES for spot in entries)
