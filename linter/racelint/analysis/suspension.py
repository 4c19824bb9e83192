"""What goes wrong between the tasks of one event loop: only across suspensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from racelint.analysis.branching import is_looped
from racelint.analysis.collisions import IDENTITIES, LIVE, REMOVALS, RESIZES
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import IN_PLACE, Access, Act, Crossing, Effects
from racelint.analysis.entering import Entering
from racelint.analysis.gathering import of_root
from racelint.analysis.lifecycle import is_border, is_lifecycle
from racelint.analysis.objects import FRESH, MAYBE, SHARED
from racelint.analysis.places import ANY_LOCK, ASYNC, Located, Place, Places, overlap
from racelint.analysis.races import Races
from racelint.analysis.spots import Spot
from racelint.analysis.state import THREADS
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Fresh, Value
from racelint.analysis.waking import Waking
from racelint.analysis.ways import MOST_CALLS
from racelint.knowledge import Knowledge
from racelint.model import Attr, Call
from racelint.record import records


class StaleWrite(NamedTuple):
    """A write that depends on what was read before a suspension; `other` may have written meanwhile."""

    place: Place
    function: str
    entry: Entry
    act: Act
    located: Located
    other: Spot
    confidence: int


class CrossedIteration(NamedTuple):
    """An iteration that goes on across a suspension, and a change that another task may make there."""

    place: Place
    function: str
    entry: Entry
    crossing: Crossing
    located: Located
    other: Spot
    confidence: int


class Suspensions:
    """Compares what straddles a suspension with what other tasks do."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts, races: Races,
        knowledge: Knowledge,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._races = races
        self._entering = Entering(symbols, effects, contexts)
        self._waking = Waking(symbols, effects, knowledge)

    def stale_writes(self) -> Iterator[StaleWrite]:
        """One for each function and place, the surest, in the order of the functions."""
        for function_id, effects in self._effects.items():
            entries = self._contexts.entries.get(function_id)
            if not entries or not effects.suspensions:
                continue
            found: dict[Place, StaleWrite] = {}
            for act in effects.all_acts():
                if act.suspended and not act.joined & THREADS and _is_dependent_write(act):
                    stale = self._stale(function_id, entries, act)
                    if stale is not None and (
                        stale.place not in found or stale.confidence > found[stale.place].confidence
                    ):
                        found[stale.place] = stale
            yield from found.values()

    def _stale(self, function_id: str, entries: Mapping[Entry, object], act: Act) -> StaleWrite | None:
        located = self._places.locate(act.path)
        best: StaleWrite | None = None
        for entry in self._on_loop(function_id, entries, located, act.path) if located is not None else ():
            assert located is not None
            locks = entry.locks | self._places.locks(act.through)
            if any(lock.startswith((ASYNC, ANY_LOCK)) for lock in locks):
                continue
            for other in self._races.spots.get(located.place, ()):
                if not self._has_ended(function_id, act.joined, other) and self._falsifies(
                    act, function_id, entry, other, locks
                ):
                    apart = not self._wakes_between(function_id, act)
                    apart = apart or self._may_be_two(function_id, located, act, entry, other)
                    sure = 1 if apart else self._sureness(entry, other, function_id, act)
                    if best is None or sure > best.confidence:
                        best = StaleWrite(located.place, function_id, entry, act, located, other, sure)
        return best

    def _wakes_between(self, function_id: str, act: Act) -> bool:
        """Whether other tasks surely run at a suspension between a check and what depends on it, or in a callee."""
        spans = [
            span for span in self._effects[function_id].suspensions if act.check.line <= span.line <= act.span.end_line
        ]
        return not spans or any([self._waking.is_sure_at(function_id, span) for span in spans])

    def _on_loop(
        self, function_id: str, entries: Mapping[Entry, object], located: Located, path: Value | None
    ) -> Iterator[Entry]:
        """The states in which a function runs as a task on an object that others may reach (None: its callers do)."""
        is_coroutine = self._is_coroutine(function_id)
        for entry in entries:
            context = self._contexts.roots[entry.context]
            reached = entry.receiver if located.own or located.constructed else self._reached(path)
            runs = context.is_loop or context.kind == "handler" or (context.is_external and is_coroutine)
            if runs and reached == SHARED:
                yield entry

    def _reached(self, path: Value | None) -> int:
        return SHARED if path is None else of_root(path, self._symbols)

    def _falsifies(self, act: Act, function_id: str, entry: Entry, other: Spot, locks: frozenset[str]) -> bool:
        """Whether another task's access may make the earlier read untrue."""
        if not other.is_write or other.receiver == FRESH or self._is_thread(other):
            return False
        if other.locks & locks:
            return False
        same = other.function == function_id
        if same and (other.located.place.owner == function_id or not self._runs_twice(function_id, entry)):
            return False  # each run has variables of its own
        context = self._contexts.roots[entry.context]
        if other.entry.context == entry.context and context.kind == "task" and not context.many and not same:
            return False  # one task: it is suspended where it waits
        if same and other.access.kind != act.kind:
            return False
        if act.kind == "store" and act.detail == "none":  # a clean-up: what another one has put there meanwhile is lost
            external = self._contexts.roots[entry.context].is_external
            return not same and not external and other.access.kind == "store" and other.access.detail != "none"
        write = other.access
        if act.by == "condition" and act.kind in (
            "insert",
            "remove",
        ):  # another one of its kind: what was tested is done
            alike = REMOVALS if act.kind == "remove" else frozenset({"insert"})
            return write.kind in alike or write.kind == "store"
        if act.kind in IN_PLACE or act.kind == "lookup":
            return write.kind in IN_PLACE or write.kind == "store"
        return write.kind in ("store", "update", "delete")

    def _has_ended(self, function_id: str, joined: int, other: Spot) -> bool:
        """Whether the other access's task has ended: it was awaited."""
        context = self._contexts.roots[other.entry.context]
        return bool(joined) and self._races.order.has_ended(function_id, joined, context)

    def _is_thread(self, spot: Spot) -> bool:
        return self._contexts.roots[spot.entry.context].kind in ("thread", "pool", "process", "unknown")

    def _is_coroutine(self, function_id: str) -> bool:
        """Whether a function suspends itself: it is async, or a generator that a decorator makes a coroutine."""
        return bool(self._effects[function_id].suspensions)

    def _is_far(self, function_id: str, entry: Entry) -> bool:
        return len(self._contexts.way(function_id, entry)) > MOST_CALLS

    def _runs_twice(self, function_id: str, entry: Entry) -> bool:
        context = self._contexts.roots[entry.context]
        if not context.is_external:
            return context.many
        return not self._is_lifecycle(function_id, entry) and not self._is_stream(function_id, entry)

    def _is_stream(self, function_id: str, entry: Entry) -> bool:
        """Whether a caller takes results one after the other: two at once would take them from each other."""
        _, function = self._symbols.functions[self._contexts.root(function_id, entry)]
        return function.is_async and (function.is_generator or function.name == "__anext__")

    def _is_lifecycle(self, function_id: str, entry: Entry) -> bool:
        root = self._contexts.root(function_id, entry)
        return is_lifecycle(self._symbols.functions[root][1].name)

    @staticmethod
    def _is_opening(act: Act | None) -> bool:
        """Whether an act opens something that should be there once, or makes a new value out of the old one."""
        return act is not None and (act.by == "data" or act.detail in IDENTITIES or act.value in IDENTITIES)

    def _sureness(self, entry: Entry, other: Spot, function_id: str, act: Act | None = None) -> int:
        mine, theirs = self._contexts.roots[entry.context], self._contexts.roots[other.entry.context]
        if not (entry.sure and other.entry.sure) or MAYBE in (other.receiver, entry.receiver):
            return 1
        far = self._is_far(function_id, entry) or self._is_far(other.function, other.entry)
        if act is not None and act.kind == "remove":
            return 1  # what is taken out by its key is mostly the taker's own
        stored = act is not None and act.kind == "store" and act.by == "condition"
        if act is not None and stored and (act.detail == "none" or other.function != function_id):
            return 1  # who gives something up hardly is asked for it meanwhile
        if act is not None and self._is_split(act):
            return 1  # two critical sections of one lock: what the second one needs it mostly tests again
        if other.function != function_id and far:
            return 1  # two calls of one function stand in each other's way however long that is
        if theirs.is_external and self._is_lifecycle(other.function, other.entry):
            return 1
        if theirs.is_external and other.access.detail == "given":
            return 1  # what a caller gives he gives before he uses the rest
        callers = mine.is_external and theirs.is_external
        if callers and not self._is_opening(act) and (act is not None or not theirs.is_loop):
            return 1  # nothing says that callers do both at once
        filled = act is None and mine.is_external and self._is_of_callers(theirs)
        if filled and other.access.kind not in REMOVALS and not self._stays_a_while(other):
            return 1  # what is only ever filled is a memo: its filler mostly is awaited before it is walked
        if callers and act is not None and self._is_made_at_need(act) and not self._says_shared(other):
            return 1  # who uses an object in one task only never comes twice at once
        if callers and act is not None and act.kind == "insert" and not self._asks_for_entry(function_id, act):
            return 1  # what is filled when it is empty is a memo of the object's own
        if callers and act is not None and self._has_position(other.located.type):
            return 1  # of a file, too: who reads by turns gives the offset himself
        if mine != theirs and not mine.is_external and not theirs.is_external:
            return 3
        return 2

    def _is_of_callers(self, context: Context) -> bool:
        """Whether callers do something themselves, or by tasks that they wait for at once: `await gather(...)`."""
        if context.is_external or context.starter is None or not context.awaited:
            return context.is_external
        entries = self._contexts.entries.get(context.starter, ())
        return bool(entries) and all(self._contexts.roots[entry.context].is_external for entry in entries)

    def _says_shared(self, spot: Spot) -> bool:
        """Whether a type says that several tasks use its objects: by its documentation, or by a lock that it has."""
        place = spot.located.place
        shared = self._races.callers.says_shared(spot)
        return bool(shared) or (place.kind != "field" or self._places.has_lock_of_tasks(place.owner))

    def _stays_a_while(self, spot: Spot) -> bool:
        """Whether a coroutine puts something into a container, waits in a loop, and takes it out again.

        `self.clients.add(client)`, `async for message in client: ...`, `self.clients.discard(client)`.
        """
        effects, body = self._effects[spot.function], self._symbols.functions[spot.function][1].body
        path, entered = spot.access.path, spot.access.span
        left = [a.span for a in effects.all_accesses() if a.kind in REMOVALS and a.path == path and a.span > entered]
        waits = [span for span in effects.suspensions if span > entered and is_looped(body, span)]
        return spot.access.kind == "insert" and any(wait < out for wait in waits for out in left)

    def _has_position(self, type_id: str) -> bool:
        """Whether an object is like a file: what is read or written goes on where the last one has ended."""
        return type_id in self._symbols.types and all(
            self._symbols.methods_like(type_id, names) for names in (("read", "write"), ("seek", "tell"))
        )

    @staticmethod
    def _is_made_at_need(act: Act) -> bool:
        """Whether an act stores what was not there yet."""
        return act.kind == "store" and act.by == "condition"

    def _asks_for_entry(self, function_id: str, act: Act) -> bool:
        """Whether what an act depends on is one entry of a container, not whether there is any."""
        accesses = self._effects[function_id].all_accesses()
        return any(a.path == act.path and a.span == act.check and a.kind in ("lookup", "peek") for a in accesses)

    def _is_split(self, act: Act) -> bool:
        """Whether a test and what depends on it are two critical sections of one lock."""
        return act.by == "condition" and bool(self._places.locks(act.held) & self._places.locks(act.check_held))

    # --- iteration ----------------------------------------------------------------------------------------------------

    def crossed_iterations(self) -> Iterator[CrossedIteration]:
        """One for each loop and container."""
        for function_id, effects in self._effects.items():
            entries = self._contexts.entries.get(function_id)
            if not entries:
                continue
            seen = set()
            for crossings in effects.crossings.values():
                for crossing in crossings:
                    if (crossing.loop, crossing.path) in seen:
                        continue
                    found = self._crossed(function_id, entries, crossing)
                    if found is not None:
                        seen.add((crossing.loop, crossing.path))
                        yield found

    def _crossed(
        self, function_id: str, entries: Mapping[Entry, object], crossing: Crossing
    ) -> CrossedIteration | None:
        path: Value | None = crossing.path
        located = self._places.locate(crossing.path)
        if located is None:
            located, path = self._places.passed(crossing.path), None  # its callers have it all the time
        best: CrossedIteration | None = None
        for entry in self._on_loop(function_id, entries, located, path) if located is not None else ():
            assert located is not None
            locks = entry.locks | self._places.locks(crossing.held)
            for other in self._races.spots.get(located.place, ()):
                ended = self._has_ended(function_id, crossing.joined, other)
                meets = not ended and self._resizes(function_id, entry, other, locks)
                if meets and not self._is_started_later(entry, other):
                    unlikely = self._is_over(function_id, entry, other) or self._is_one_call(function_id, entry, other)
                    unlikely = unlikely or not self._waking.is_sure_at(function_id, crossing.span)
                    mine = self._spot(function_id, located, crossing, entry, other)
                    unlikely = unlikely or self._entering.are_two_ways(located.place, mine, other)
                    unlikely = unlikely or self._may_be_two(function_id, located, crossing, entry, other)
                    sure = 1 if unlikely else self._sureness(entry, other, function_id)
                    if best is None or sure > best.confidence:
                        best = CrossedIteration(located.place, function_id, entry, crossing, located, other, sure)
        return best

    def _is_started_later(self, entry: Entry, other: Spot) -> bool:
        """Whether the task of a loop is only created when the other's change is over."""
        context = self._contexts.roots[entry.context]
        return self._races.memory.is_started_later(other.function, other.entry, context, span=other.access.span)

    def _may_be_two(
        self, function_id: str, located: Located, access: Act | Crossing, entry: Entry, other: Spot
    ) -> bool:
        mine = self._spot(function_id, located, access, entry, other)
        if located.own and other.located.own and self._is_made_on_way(mine) and self._is_made_on_way(other):
            return True
        return self._races.identity.may_be_two(mine, other)

    @staticmethod
    def _spot(function_id: str, located: Located, access: Act | Crossing, entry: Entry, other: Spot) -> Spot:
        """What straddles a suspension, as a spot like that of the other task."""
        mine = other._replace(function=function_id, located=located, entry=entry)
        return mine._replace(access=other.access._replace(path=access.path, span=access.span))

    def _is_made_on_way(self, spot: Spot) -> bool:
        """Whether a function on the way to an own instance has made it: each task that comes by has another one."""
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            came = self._contexts.came(function, entry)
            site = self._effects[came.caller].calls.get((came.span, function)) if came is not None else None
            if came is None or site is None:
                return False
            if not came.own:
                return isinstance(site.receiver, Fresh)
            function, entry = came.caller, came.entry
        return False

    def _is_over(self, function_id: str, entry: Entry, other: Spot) -> bool:
        """Whether the loop opens or closes its object, when only those that it serves may still leave it."""
        names = [self._symbols.functions[f][1].name for f in (function_id, self._contexts.root(function_id, entry))]
        if not any(is_border(name) for name in names):
            return False
        theirs = self._contexts.roots[other.entry.context]
        return not theirs.many or other.access.kind in ("insert", "append")

    def _is_one_call(self, function_id: str, entry: Entry, other: Spot) -> bool:
        """Whether one and the same call leads to both, unless it is one of many at a time.

        A container that has something for each call under way is there for several.
        """
        if self._stays_a_while(other):
            return False
        mine, theirs = self._contexts.roots[entry.context], self._contexts.roots[other.entry.context]
        way = self._contexts.way(other.function, other.entry)
        if mine.is_external and theirs.is_external and function_id in [step[0] for step in way]:
            return True
        return self._contexts.root(function_id, entry) == (way[0][0] if way else other.function) and not mine.many

    def _shifts(self, spot: Spot) -> bool:
        """Whether elements of a list move up: what is told no element takes out the last one, or all of them."""
        body = self._symbols.functions[spot.function][1].body if is_shift(spot.access) else ()
        calls = [node for node in records(body) if isinstance(node, Call) and node.span == spot.access.span]
        return is_shift(spot.access) and not any(isinstance(call.func, Attr) and not call.args for call in calls)

    def _resizes(self, function_id: str, entry: Entry, other: Spot, locks: frozenset[str]) -> bool:
        if isinstance(other.access, Act) or not (self._shifts(other) or _breaks(other.access)):
            return False
        if self._is_thread(other) or overlap(other.locks, locks):
            return False
        if self._symbols.functions[self._contexts.root(other.function, other.entry)][1].qualname == MODULE:
            return False  # runs before the loop does
        return other.function != function_id or self._runs_twice(function_id, entry)


def is_shift(access: Access | Act) -> bool:
    """Whether elements of a list move up: a loop over it goes on, and skips some."""
    return access.kind in REMOVALS and access.detail == "list"


def _breaks(access: Access) -> bool:
    return access.kind in RESIZES and access.detail in LIVE


def _is_dependent_write(act: Act) -> bool:
    """Whether an act after a suspension writes what depends on the read, in a way that loses or doubles something."""
    if act.by == "data":
        return act.kind in ("store", "update", "update-item")
    if act.kind in IN_PLACE:
        return (act.kind == "remove" and not act.caught) or (act.kind == "insert" and bool(act.value))
    return act.kind == "store" and act.detail in IDENTITIES | {"none"}
