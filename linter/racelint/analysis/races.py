"""Races: pairs of accesses to one place by contexts that run in parallel, with no lock in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from racelint.analysis.aftermain import AfterMain
from racelint.analysis.branching import loops_around
from racelint.analysis.callers import Callers
from racelint.analysis.catching import Catching
from racelint.analysis.choices import Choices
from racelint.analysis.closing import Closing
from racelint.analysis.collisions import ERROR, REMOVALS, SEVERITY, Collisions
from racelint.analysis.contexts import Contexts
from racelint.analysis.contradictions import Contradictions
from racelint.analysis.cooperating import Cooperating
from racelint.analysis.deadstores import DeadStores
from racelint.analysis.documented import is_deliberate, is_for_tests
from racelint.analysis.effects import (
    CHOSEN,
    CONTAINERS,
    MEASURED,
    OWN_KEY,
    SETTING,
    STEP,
    TOLD,
    WHOLE,
    Access,
    Act,
    Effects,
    is_constant,
    is_same_constant,
)
from racelint.analysis.endlesswaits import EndlessWaits
from racelint.analysis.fixedfields import FixedFields
from racelint.analysis.fixedparameters import FixedParameters
from racelint.analysis.foundset import FoundSet
from racelint.analysis.gates import Gates
from racelint.analysis.gathering import CONSTRUCTORS, Gathering
from racelint.analysis.goroutines import Goroutines
from racelint.analysis.handover import HandingOver
from racelint.analysis.identity import Identity, is_member
from racelint.analysis.importing import Importing
from racelint.analysis.insight import Insight
from racelint.analysis.laidout import LaidOut
from racelint.analysis.lastruns import LastRuns
from racelint.analysis.lifecycle import is_closing, is_starting, measures, sets_up, tears_down
from racelint.analysis.loggingloops import LoggingLoops
from racelint.analysis.memory import STORES, Memory
from racelint.analysis.neverfailing import NeverFailing
from racelint.analysis.nilmaps import NilMaps
from racelint.analysis.objects import MAYBE
from racelint.analysis.order import Order
from racelint.analysis.outcomes import Outcomes
from racelint.analysis.ownelements import OwnElements
from racelint.analysis.ownruns import OwnRuns
from racelint.analysis.parallel import Parallel
from racelint.analysis.partialcopies import PartialCopies
from racelint.analysis.paths import root
from racelint.analysis.places import Place, Places, may_overlap, overlap
from racelint.analysis.printing import Printing
from racelint.analysis.processends import ProcessEnds
from racelint.analysis.recomputing import Recomputing
from racelint.analysis.rehearsing import Rehearsing
from racelint.analysis.repeating import Repeating
from racelint.analysis.rewriting import Rewriting
from racelint.analysis.scripts import Scripts
from racelint.analysis.spots import Pair, Silence, Spot
from racelint.analysis.stages import StageOrder
from racelint.analysis.standing import Standing
from racelint.analysis.stopflags import StopFlags
from racelint.analysis.strangers import Strangers
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import LibraryType
from racelint.analysis.unchanging import Unchanging
from racelint.analysis.unset import Unset
from racelint.analysis.values import Element, Global, Member, Param, Value
from racelint.analysis.ways import NEAR, Ways
from racelint.model import Const
from racelint.span import Span

ORDERED = frozenset({"list", "deque"})  # one takes out whatever comes next
JOBS = frozenset({"pool", "thread", "goroutine", "task"})
OF_CLOSE_CALLS = frozenset({"check-act", "check-use", "replace-change"})  # two steps, and another one just between them
OF_TWO_STEPS = OF_CLOSE_CALLS | {"update-update", "count-count", "update-store", "store-test"}
OF_ENTRIES = frozenset({"check-act", "check-use", "update-update"})  # where both may mean one entry each
MOST_ALIKE = 6  # fields of one type that a function reads in a race, each told for itself
PROVEN = 3  # the confidence in two contexts that both are known to run
MOST_PAIRS = 4_000  # of accesses to one place that are judged
WORST = (ERROR, PROVEN, True)
MOST_SPOTS = 400  # accesses of one place that are compared with each other


class Races:
    """Compares accesses."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts,
        is_one: Callable[[Spot, Spot], bool] | None = None,
    ) -> None:  # fmt: skip
        """`is_one` tells of which accesses an author says that one context does both."""
        self._symbols = symbols
        self.effects = effects
        self._is_one = is_one
        self._contexts = contexts
        self.memory = Memory(symbols, effects, contexts, places.knowledge.concurrency.entries)
        self.ways = Ways(symbols, contexts)
        self.identity = Identity(symbols, effects, places, contexts, self.ways)
        own_runs = OwnRuns(symbols, effects, places, contexts)
        self.order = Order(symbols, effects, contexts, self.memory, self.ways, self.identity, places, own_runs)
        self._gates = Gates(symbols, effects, places, contexts, self.memory, self.order.is_before)
        self._contradictions = Contradictions(symbols, effects, places, contexts)
        self.choices = Choices(symbols, effects, contexts, self.identity)
        self.handing = HandingOver(symbols, effects, places, contexts)
        self.closing = Closing(symbols, effects, places)
        self.found_set = FoundSet(symbols, effects, places, self.order.readiness)
        self.stages = StageOrder(symbols, effects, places, contexts, self.memory)
        self._catching = Catching(symbols, places.knowledge.sharing.names("catches-all"))
        self._laid_out = LaidOut(symbols)
        self.logging_loops = LoggingLoops(symbols, self._catching, places.knowledge.sharing)
        self.outcomes = Outcomes(symbols, effects, places.knowledge.snapshots)
        self.collisions = Collisions(symbols, effects, places, contexts, self.identity)
        self.callers = Callers(symbols, effects, contexts, self.ways, self.identity, self.collisions, places)
        self.strangers = Strangers(symbols, places, self.ways)
        self._standing = Standing(symbols, effects)
        self._dead_stores = DeadStores(symbols)
        self._partial_copies = PartialCopies(symbols, effects)
        self._last_runs = LastRuns(symbols, contexts, places.knowledge)
        self._unset = Unset(symbols)
        self._nil_maps = NilMaps(symbols, effects)
        importing = Importing(symbols)
        self.rehearsing = Rehearsing(symbols, importing)
        self._fixed_fields = FixedFields(
            symbols, effects, places.types, self.order.readiness.is_made_within,
            FixedParameters(symbols, places.types, importing),
        )  # fmt: skip
        self._never_failing = NeverFailing(symbols, effects, places)
        self._endless_waits = EndlessWaits(symbols, places.types, places.knowledge)
        self._process_ends = ProcessEnds(symbols, places, effects, contexts)
        self._stop_flags = StopFlags(symbols, places, places.knowledge)
        self._after_main = AfterMain(symbols, self.order.signals)
        self.printing = Printing(symbols, places.knowledge)
        self._rewriting = Rewriting(symbols, contexts)
        self._places = places
        self._repeating = Repeating(symbols, effects, contexts, self.memory, places)
        self._own_elements = OwnElements(symbols, contexts, self._repeating)
        goroutines = Goroutines(
            symbols, effects, contexts, self.memory, self.ways, self.identity, self.callers, self.strangers,
            self._repeating, importing, own_runs, places.knowledge,
        )  # fmt: skip
        self._importing = importing
        self._parallel = Parallel(
            symbols, places, contexts, self.collisions, self.callers, goroutines, self.memory, self._repeating, effects,
            Scripts(symbols, effects, contexts, self.ways, places.knowledge.sharing.names("loads")),
        )  # fmt: skip
        self._likely_set = goroutines.likely_set
        self._unchanging = Unchanging(symbols, effects, contexts, goroutines.already_set, self.order.readiness)
        self.cooperating = Cooperating(symbols, places, contexts, self.ways)
        self._insight = Insight(symbols, contexts, self.memory)
        self._gathering = Gathering(symbols, effects, places, contexts, self.memory)
        self.spots = self._gathering.by_place()
        self._recomputing = Recomputing(symbols, self.spots, places)
        self._same: dict[Place, bool] = {}
        self._tested = {place for place, spots in self.spots.items() if any(_decides_by(spot) for spot in spots)}

    def spots_of(self, function_id: str, access: Access | Act) -> list[Spot] | Silence:
        """An access in each entry state of its function, or why it meets no other."""
        return self._gathering.spots_of(function_id, access)

    def all(self) -> Iterator[Pair]:
        """The worst race of each place that has any, in a fixed order."""
        starters = {context.starter for context in self._contexts.roots}
        for place, spots in self.spots.items():
            if place.kind == "captured" and place.owner not in starters and not self.memory.governs(place.owner):
                continue  # nothing that its function starts can see the variable
            best = self._best(place, [spot for spot in spots if self._matters(spot)][:MOST_SPOTS])
            if best is not None:
                yield best

    def _best(self, place: Place, spots: list[Spot]) -> Pair | None:
        best: Pair | None = None
        rank, left = (0, 0, 0), MOST_PAIRS
        meeting: dict[object, list[Spot]] = {}  # by what does not hang on the entry state, what may collide with it
        for write in spots:
            if not write.is_write:
                continue
            key = (id(write.access), write.entry.context, write.located.type)
            if key not in meeting:
                meeting[key] = self._colliding(place, write, spots)
            for other in (*meeting[key], *self.callers.by_contract(write, spots)):
                if left == 0 or rank == WORST:
                    return best
                left -= 1
                race = self.judge(place, write, other)
                if isinstance(race, Silence):
                    continue
                own = (
                    SEVERITY[race.shape] if race.confidence > 1 else 0,
                    race.confidence,
                    race.first.is_write and not race.first.locks,
                )
                if best is None or own > rank:
                    best, rank = race, own
        return best

    def _colliding(self, place: Place, write: Spot, spots: list[Spot]) -> list[Spot]:
        """The accesses that would harm and be harmed, by contexts that may run in parallel."""
        context = write.entry.context
        may_meet = {c: self._parallel.may_meet(place, context, c) for c in {spot.entry.context for spot in spots}}
        return [s for s in spots if may_meet[s.entry.context] and self.collisions.shape(write, s) is not None]

    def _matters(self, spot: Spot) -> bool:
        """Whether an access can be a side of a race: plain reads and look-ups may be one step each."""
        if self.memory.governs(spot.function):
            return isinstance(spot.access, Access)
        if spot.is_write or isinstance(spot.access, Act) or spot.access.kind in ("test", "iterate"):
            return True
        return spot.access.kind == "read" and self._contexts.roots[spot.entry.context].kind == "decorated"

    def judge(self, place: Place, write: Spot, other: Spot) -> Pair | Silence:
        """The race of a pair (parallel contexts, one object, no common lock), or why it is none; cheap tests first."""
        shape = self.collisions.shape(write, other)
        if shape is None:
            return Silence.HARMLESS
        if shape == "resize-iterate" and self._standing.replaces(write):
            return Silence.HARMLESS
        if self._is_one is not None and self._is_one(write, other):
            return Silence.ONE_CONTEXT
        if overlap(self.ways.locks(write, other), self.ways.locks(other, write)):
            return Silence.SAME_LOCK
        silence = self._never_meet(write, other)
        if silence is not None:
            return silence
        confidence = self._parallel.confidence(write, other)
        if isinstance(confidence, Silence):
            return confidence
        if self.identity.never_one(write, other):
            return Silence.APART
        if self._contradictions.never_leads(write) or self._contradictions.never_leads(other):
            return Silence.UNREACHED
        if self._unset.is_never_done(write) or self._unset.is_never_done(other) or self._nil_maps.are_changed(write):
            return Silence.UNREACHED
        if self._endless_waits.come_before(write) or self._endless_waits.come_before(other):
            return Silence.UNREACHED
        if self._never_failing.is_never_done(write) or self._never_failing.is_never_done(other):
            return Silence.UNREACHED
        if self._never_failing.stays_nothing(place):
            return Silence.HARMLESS
        if self.choices.exclude(write, other):
            return Silence.ORDERED
        if shape == "update-update" and self._are_steps(place, write, other):
            shape = "step-step"
        elif shape == "update-update" and not self.is_tested(place):
            shape = "count-count"
        if self._is_harmless_mostly(place, shape, write, other) or self._is_doubtful(place, shape, write, other):
            confidence = 1
        elif MAYBE in (write.receiver, other.receiver):
            confidence = min(confidence, 2) if self.identity.settles(write, other) else 1
        roots = self._contexts.roots
        callers = roots[write.entry.context].is_external and roots[other.entry.context].is_external
        if shape in OF_CLOSE_CALLS and confidence < PROVEN and not callers:
            confidence = 1
        if confidence > 1 and any(self._fixed_fields.rule_out(s, roots[s.entry.context]) for s in (write, other)):
            confidence = 1
        if shape in OF_TWO_STEPS and self._is_task_beside_thread(write, other):
            confidence = 1
        if roots[write.entry.context].turn and roots[write.entry.context].turn == roots[other.entry.context].turn:
            confidence = 1  # another server may have requests overlap
        if confidence > 1 and self.cooperating.are_greenlets(write, other):
            confidence = 1  # it takes a wait between two steps
        if confidence > 1 and (self._is_lost(write, other) or self._stop_flags.says_nothing_new(place, write, other)):
            confidence = 1
        if confidence > 1 and (self._likely_set.excludes(write) or self._likely_set.excludes(other)):
            confidence = 1
        if self.memory.governs(write.function) and self._is_roundabout(write, other):
            confidence = min(confidence, PROVEN - 1)
        return Pair(place, write, other, shape, self.callers.evidence(write) if callers else "contexts", confidence)

    def _is_lost(self, write: Spot, other: Spot) -> bool:
        """Whether two accesses meet only as the program ends, where what comes of that is lost anyway."""
        ends, after = self._process_ends, self._after_main
        return ends.takes_last(write, other) or ends.takes_last(other, write) or after.does(write) or after.does(other)

    def _never_meet(self, write: Spot, other: Spot) -> Silence | None:
        """Why two accesses do not meet: two objects, one of them unknown to the other side, or some order."""
        order, callers = self.order, self.callers
        if self.identity.is_apart_by_class(write, other):
            return Silence.APART
        if order.is_unknown_yet(write, other) or order.is_unknown_yet(other, write):
            return Silence.OWNED
        if self.identity.made_apart(write, other) or self.identity.are_of_two_variables(write, other):
            return Silence.APART
        if order.waits(write, other) or order.is_called_instead(write, other) or order.is_called_instead(other, write):
            return Silence.ORDERED
        if order.is_other_way(write, other) or order.is_other_way(other, write):
            return Silence.ORDERED
        if callers.is_driven_instead(write, other) or callers.is_driven_instead(other, write):
            return Silence.CALLERS
        if (
            order.is_made_already(write, other, self.spots.get(write.located.place, ()))
            or order.is_made_already(other, write, self.spots.get(other.located.place, ()))
            or order.is_after_end(write, other)
            or order.is_before(write, other)
            or order.is_before(other, write)
            or self._gates.order(write, other, self.spots)
            or self.handing.order(write, other, self.spots)
            or self.handing.order(other, write, self.spots)
            or self.found_set.order(write, other, self.spots)
            or self.stages.order(write, other, self.spots)
            or self.closing.order(write, other)
            or self.closing.order(other, write)
        ):
            return Silence.ORDERED
        return None

    def _have_own_keys(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether one of two accesses means what a mapping has under an object that only one run knows."""
        if self.memory.governs(write.function):
            return False  # it is the mapping itself that is torn
        entries, spots = self.collisions.entries, self.spots.get(place, ())
        return entries.is_under_itself(write, other, spots) or entries.is_under_itself(other, write, spots)

    def _is_member(self, spot: Spot) -> bool:
        """Whether an access is of an object out of a container; of a method's own the caller took it out."""
        came = self._contexts.came(spot.function, spot.entry) if spot.located.own else None
        calls = self.effects[came.caller].calls.values() if came is not None else ()
        taken = [isinstance(site.receiver, Element | Member) for site in calls if came and site.span == came.span]
        return is_member(spot.access.path) or any(taken)

    def is_left_over(self, spot: Spot) -> bool:
        """Whether callers come in by a method of a program's package of which nobody speaks, be it a test."""
        if not self._contexts.roots[spot.entry.context].is_external or not self.memory.governs(spot.function):
            return False
        source, function = self._symbols.functions[self._contexts.root(spot.function, spot.entry)]
        if not function.owner or function.name in self._symbols.spoken_of:
            return False
        return bool(self._importing.programs(source.name))

    def is_for_tests(self, spot: Spot) -> bool:
        """Whether callers come in by a function of which its documentation says that they are tests."""
        root = self._contexts.root(spot.function, spot.entry)
        return self._contexts.roots[spot.entry.context].is_external and is_for_tests(self._symbols.functions[root][1])

    def _is_doubtful(self, place: Place, shape: str, write: Spot, other: Spot) -> bool:
        """Whether it is open that the two ever meet on one object."""
        callers, roots = self.callers, self._contexts.roots
        if not (write.entry.sure and other.entry.sure) or self.identity.may_be_two(write, other):
            return True
        if may_overlap(self.ways.locks(write, other), self.ways.locks(other, write)):
            return True
        if self.identity.is_behind_decorators(write, other):
            return True
        if any(is_deliberate(self._symbols.functions[spot.function][1].doc) for spot in (write, other)):
            return True
        if any(self.is_for_tests(spot) or self.rehearsing.does(spot) for spot in (write, other)):
            return True
        if callers.is_setting_up(write, other) or callers.is_setting_up(other, write):
            return True
        if callers.goes_behind(write, other) or callers.goes_behind(other, write):
            return True
        job = write.entry.context == other.entry.context and roots[write.entry.context].kind in JOBS
        if job and _is_own_entry(write.access.path) and _is_own_entry(other.access.path):
            return True  # what lies under a key that each job was given
        if shape in OF_ENTRIES and self._have_own_keys(place, write, other):
            return True
        if write.entry.context == other.entry.context and all(map(self._own_elements.is_for_one, (write, other))):
            return True  # of the runs for all elements mostly one
        callers_own = [not self._is_member(s) for s in (write, other) if roots[s.entry.context].is_external]
        if any(callers_own) and (self._is_member(write) or self._is_member(other)):
            return True  # what a container of the project holds is hardly what a caller made himself
        if not other.is_write and self.memory.is_set_once([s for s in self.spots.get(place, ()) if s.is_write]):
            return True  # who reads it has mostly come by what sets it
        if self._partial_copies.leave_out(other):
            return True  # only what copies the struct around it has to do with it
        if self._are_from_elsewhere(write, other):
            return True
        if self._last_runs.share(write, other, self.spots) or self._insight.has(place, write, other):
            return True
        far = self.ways.is_far
        if SEVERITY[shape] < ERROR and (far(write, NEAR) or far(other, NEAR)):
            return True  # a value that is seen late matters only if the two have to do with each other
        return far(write) or far(other) or self.ways.are_far(write, other)

    def _are_from_elsewhere(self, write: Spot, other: Spot) -> bool:
        """Whether both contexts are started in other files than those of the accesses, in a duck-typed language.

        Whether both are there in one process, at one time, on one object is then not sure: of 26 such warnings in 13
        repositories 6 were right (3 of 13 in those that the rule had been mended on for other things, 3 of 13 in
        others), of 192 others 111.
        """
        if self.memory.governs(write.function) or self._have_in_common(write, other):
            return False
        starters = [self._contexts.roots[spot.entry.context].starter for spot in (write, other)]
        files = {self._file(spot.function) for spot in (write, other)}
        return all(starter is not None and self._file(starter) not in files for starter in starters)

    def _have_in_common(self, write: Spot, other: Spot) -> bool:
        """Whether all runs of one context are known to have one object."""
        context = self._contexts.roots[write.entry.context]
        return write.entry.context == other.entry.context and self._repeating.share(context, write, other)

    def _is_task_beside_thread(self, write: Spot, other: Spot) -> bool:
        """Whether a coroutine meets a thread: mostly one of them is there because the other one is not.

        Of 13 such reports on what takes two steps, in repositories that the rule had not been mended on, one was right.
        """
        return {self._contexts.roots[spot.entry.context].kind for spot in (write, other)} == {"task", "thread"}

    def _file(self, function_id: str) -> str:
        return self._symbols.functions[function_id][0].path

    def _is_roundabout(self, write: Spot, other: Spot) -> bool:
        """Whether the ways of two contexts are so long together that it is not sure that both are gone in one process.

        Of 30 such errors, in repositories that the rule had not been mended on, 19 were right, of 55 others 48.
        """
        return write.entry.context != other.entry.context and self.ways.steps(write, other) >= 2 * NEAR

    def _is_harmless_mostly(self, place: Place, shape: str, write: Spot, other: Spot) -> bool:
        """Whether little depends on who comes first."""
        match shape:
            case "store-test":
                alone = write.entry.context == other.entry.context  # a thread of its own that its object starts again
                return alone or not self._decides(place, write, other) or self._is_made_on_demand(place, write, other)
            case "update-update":
                if measures(place.name):
                    return True
                own = OWN_KEY == write.access.detail == other.access.detail
                if own and all(self._contexts.roots[spot.entry.context].kind in JOBS for spot in (write, other)):
                    return True  # each job has an entry of its own
                return not self._is_drawn(place)  # a threshold is passed one step later
            case "count-count" | "step-step":
                figures = measures(place.name) or any(map(self._measures, (write, other)))
                idle = self._are_callers(write, other) and not self._is_drawn(place)
                return figures or idle or not self._is_read(place) or self._is_restarted(place)
            case "store-store":
                return True  # the last one wins, and nothing is decided by it
            case "update-store":
                return not (write.access.held or other.access.held)  # a number that nobody cares to guard
            case "update-reset":
                return True  # a count is a little off
            case "check-use" | "check-act":
                return self._is_mild(shape, write, other)
            case "shift-iterate":  # the loop goes on: it is a matter of what the two mean to do
                contexts = [self._contexts.roots[spot.entry.context] for spot in (write, other)]
                asked = all(context.kind == "handler" for context in contexts)  # one is told that it comes too late
                return asked or any(context.is_external for context in contexts)
            case "resize-iterate":
                laid = self._laid_out.replaces(write, self._contexts.roots[write.entry.context])
                return laid or self.logging_loops.only_shows(other)
            case "content-read":
                return other.access.kind == "measure"  # how many there are is a number of its own
            case "write-write" | "write-read":
                unseen = shape == "write-write" and self._is_unseen(place)
                made = self._is_made_on_demand(place, write, other) and write.access.detail not in CONTAINERS
                made = made and write.entry.context == other.entry.context
                alike = self._store_alike(write, other) and not self._is_helped(place, write, other)
                alike = alike or self._recomputing.stores_the_same(place, write, other)
                if unseen or made or alike or other.access.detail == TOLD or self._is_idle_number(place, write, other):
                    return True
                if self._is_figure(place) or self._stays_the_same(place) or self._puts_back(write, other):
                    return True
                if self.printing.only_shows(write, other):
                    return True
                return self._unchanging.is_seen_alike(place, write, other) or self._is_only_counted(place, write)
            case "replace-change":
                stored, kinds = write if write.access.kind == "store" else other, (write.access.kind, other.access.kind)
                if self._is_first(stored):
                    return True  # there is nothing yet that could be lost
                if write.function != other.function and not self.collisions.is_made_of_old(stored):
                    return True  # what starts anew mostly means to forget: of 29 such reports 5 were right
                return "remove" not in kinds and (self._is_at_border(stored) or not self._is_read(place))
            case _:
                return False

    def _store_alike(self, write: Spot, other: Spot) -> bool:
        """Whether two accesses store one constant, be it one that is known by its name in another package."""
        module, _, name = write.access.detail.removeprefix(SETTING).rpartition(":")
        if write.access.detail != other.access.detail or not write.access.detail.startswith(SETTING):
            return is_same_constant(write.access, other.access)
        return self._symbols.constant(Global(module, name)) is not None

    def _is_helped(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether a captured variable is stored to by what a helper starts, or under a lock: its own function does not
        show that two may do so at once, or its author cares. A lock that the function holds itself while it waits for
        them is for something else.
        """
        if place.kind != "captured":
            return False
        contexts = [self._contexts.roots[spot.entry.context] for spot in (write, other)]
        spans = {context.span for context in contexts if context.starter == place.owner}
        starts = [start for start in self.effects[place.owner].starts.values() if start.span in spans]
        begun = all(context.starter == place.owner for context in contexts)
        helpers = {start.through[0] for start in starts if start.through is not None} - {place.owner}
        inherited = self._contexts.inherited
        locks = [spot.locks - inherited.get(spot.entry.context, frozenset()) for spot in (write, other)]
        return not begun or not starts or bool(helpers or any(locks))

    def _is_unseen(self, place: Place) -> bool:
        """Whether nobody looks at what is stored."""
        if self._dead_stores.has(place):
            return True
        stored = all(spot.access.kind in STORES for spot in self.spots.get(place, ()))
        return stored and not self._dead_stores.may_leak(place)

    def _is_only_counted(self, place: Place, write: Spot) -> bool:
        """Whether a number is counted on, and nobody asks how far it is."""
        numbers = self._symbols.functions[write.function][0].module.traits.numbers
        return self._places.types.is_one_of(write.access.path, numbers) and self._dead_stores.is_only_counted(place)

    def _is_mild(self, shape: str, write: Spot, other: Spot) -> bool:
        """Whether code deals with it itself (a handler), or it is configuration that is set before it matters."""
        act = write if isinstance(write.access, Act) else other
        against = other if act is write else write
        if getattr(act.access, "caught", False) and act.access.kind in ("read", "lookup", "remove"):
            return True
        context = self._contexts.roots[against.entry.context]
        job = act.entry.context == against.entry.context and context.kind in JOBS
        if job and act.access.kind in ("lookup", "insert"):
            return True  # each job has an entry of its own, which it may open, too
        if act.access.kind == "store" and write.function == other.function and self._starts(write.function):
            return True  # it is started once, here or there
        made = getattr(act.access, "value", "") or act.access.detail
        if act.located.place.kind == "global" and made in ("object", "holder"):
            return True  # made on demand for the whole program: the one that is made too much is mostly dropped
        callers = self._are_callers(write, other)
        documented = callers and self.callers.evidence(write) == "documented"
        named = act.access.detail not in ORDERED or getattr(act.access, "value", "") == CHOSEN
        if act.access.kind == "remove" and (callers or named) and not documented:
            return True  # what is taken out by its key is mostly the taker's own, and one caller's what he has counted
        if act.access.kind == "insert" and made != "opened" and not documented:
            return True  # the entry that is made too much is mostly dropped
        if shape == "check-use" and write.access.kind == "store" and self._begins_or_ends(other, write):
            return True
        if shape == "check-use" and self._catching.goes_on(self._steps(act)):
            return True  # it has lost a turn of its loop, and looks again in the next one
        if shape == "check-use" and write.access.kind in REMOVALS and write.function == other.function:
            return not self._goes_round(write)  # who comes too late to take it out finds that it is gone
        if shape == "check-act" and made == "object" and not callers and not self._is_emptied(act):
            return True  # what stays is one or the other, and nothing is left open
        if shape != "check-use":
            return False
        if context.is_external and (self.callers.is_setter(against.function) or self._is_ended_by_caller(against)):
            return True
        return self._is_ended_by_request(act, against)

    def _goes_round(self, spot: Spot) -> bool:
        """Whether an access is in a `while` loop of a thread: an exception is the end of all that it would still do."""
        if self._contexts.roots[spot.entry.context].kind != "thread":
            return False
        bodies = [(self._symbols.functions[function][1].body, span) for function, span in self._steps(spot)]
        return any(loop.iterable is None for body, span in bodies for loop in loops_around(body, span))

    def _steps(self, spot: Spot) -> list[tuple[str, Span]]:
        return self._contexts.steps(spot.function, spot.entry, spot.access.span)

    def _are_callers(self, write: Spot, other: Spot) -> bool:
        return all(self._contexts.roots[spot.entry.context].is_external for spot in (write, other))

    def _is_emptied(self, act: Spot) -> bool:
        """Whether what an act stores, where it found nothing, is given up again elsewhere."""
        stores = [spot for spot in self.spots.get(act.located.place, ()) if spot.access.kind in STORES]
        return any(spot.function != act.function for spot in stores)

    def _is_first(self, store: Spot) -> bool:
        """Whether a constructor stores a field of its object: mostly for the first time, whatever it has started."""
        return store.located.own and self._symbols.functions[store.function][1].name in CONSTRUCTORS

    def _is_at_border(self, store: Spot) -> bool:
        """Whether a function gives a place its first or its last value."""
        name = self._symbols.functions[store.function][1].name
        return sets_up(name) or tears_down(name) or self._is_ended_by_caller(store)

    def _is_ended_by_caller(self, store: Spot) -> bool:
        """Whether a caller who ends the object gives a place its last value: what still runs fails as it ends.

        Of three reports of such a test and use, in code that nobody had looked at before, none was right.
        """
        root_id = self._contexts.root(store.function, store.entry)
        external = self._contexts.roots[store.entry.context].is_external
        own = self.identity.is_family(self._symbols.owner_of(root_id), store.located.place.owner)
        return external and own and is_closing(self._symbols.functions[root_id][1].name)

    def _is_ended_by_request(self, use: Spot, store: Spot) -> bool:
        """Whether a request ends the object that a job of the program uses: the job fails as it ends.

        The first method of the object on the way must be one that ends it: `reopen()` goes on. Neither of two such
        reports was right; where a thread of the program ends the object, three of four were: the others did not expect
        that.
        """
        kinds = [self._contexts.roots[spot.entry.context].kind for spot in (use, store)]
        if kinds[0] not in JOBS or kinds[1] not in ("handler", "remote"):
            return False
        owner = store.located.place.owner
        way = [function for function, _ in self._contexts.steps(store.function, store.entry, store.access.span)]
        own = [each for each in way if self.identity.is_family(self._symbols.owner_of(each), owner)]
        return bool(own) and is_closing(self._symbols.functions[own[0]][1].name)

    def _begins_or_ends(self, use: Spot, store: Spot) -> bool:
        """Whether what empties a place gives it its first value, or both sides are one function, which ends it."""
        return sets_up(self._symbols.functions[store.function][1].name) or use.function == store.function

    def _starts(self, function_id: str) -> bool:
        function = self._symbols.functions[function_id][1]
        return bool(function.owner) and is_starting(function.name)

    def _decides(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether it matters which value is seen: one context stores again and again what another one decides by."""
        writer, reader = self._contexts.roots[write.entry.context], self._contexts.roots[other.entry.context]
        if {writer.kind, reader.kind} != {"thread"} or writer.starter is None or writer.starter != reader.starter:
            return False  # only threads that one function starts are made for each other
        declared = self._symbols.field(place.owner, place.name) if place.kind == "field" else None
        if declared is not None and any(assigned.value == Const(None) for assigned in declared[1].values):
            return False  # what is tested is whether it is there
        looped = isinstance(write.access, Access) and write.access.looped
        return looped or self._contexts.is_looped(write.function, write.entry)

    def _are_steps(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether two `x += n` of which nobody uses the result, and which nobody cares to guard, are one step each.

        CPython, from 3.10 on and with the GIL, lets threads change over where a function begins and where a loop goes
        back, so not between the read of x, the addition of what is at hand and the store: nothing is lost, and who
        tests x elsewhere finds all of it. Of 18 such counts that were told three were worth mending.
        """
        steps = write.access.detail == other.access.detail == STEP
        return steps and not (write.locks or other.locks or self._goes_on(place))

    def _is_drawn(self, place: Place) -> bool:
        """Whether a value matters exactly: who updates it goes on with it, or something is decided by one value."""
        return any(map(_is_exact_test, [spot.access for spot in self.spots.get(place, ())])) or self._goes_on(place)

    def _goes_on(self, place: Place) -> bool:
        """Whether who updates a value uses it in another line, where somebody else may have updated it again."""
        spots = self.spots.get(place, ())
        updates = {(spot.function, spot.access.span.line) for spot in spots if spot.access.kind.startswith("update")}
        paths = {spot.access.path for spot in spots}
        return any(
            (access.kind == "read" or _is_exact_test(access))
            and access.path in paths
            and (function, access.span.line) not in updates
            for function in sorted({function for function, _ in updates})
            for access in self.effects[function].all_accesses()
        )

    def _measures(self, spot: Spot) -> bool:
        """Whether a function says by its name, or by that of its class, that it keeps figures for people."""
        return measures(self._symbols.functions[spot.function][1].qualname.replace(".", "_"))

    def _is_figure(self, place: Place) -> bool:
        """Whether a field is only ever added to, in a record that keeps figures for people: `queryStats.fetched`."""
        if place.kind != "field" or not measures(place.owner.rpartition(":")[2]):
            return False
        return all(spot.access.kind not in STORES - {"update"} for spot in self.spots.get(place, ()))

    def _is_idle_number(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether a number is replaced that neither side cares to guard: a threshold, a time to wait, a size.

        Of 14 such reports, in code that nobody had looked at, none was right; of truth values a third was.
        """
        if "update" in (write.access.kind, other.access.kind):
            return False  # what is counted depends on what was there
        if self.ways.locks(write, other) or self.ways.locks(other, write):
            return False
        found = self._places.type_of(place)
        numbers = self._symbols.functions[write.function][0].module.traits.numbers
        return isinstance(found, LibraryType) and not found.pointer and found.name in numbers

    def _stays_the_same(self, place: Place) -> bool:
        """Whether all that is ever stored is one setting of the program: each store brings what is there already."""
        if place not in self._same:
            self._same[place] = self._stores_one_setting(place)
        return self._same[place]

    def _stores_one_setting(self, place: Place) -> bool:
        stored = {spot.access.detail for spot in self.spots.get(place, ()) if spot.access.kind in STORES}
        detail = stored.pop() if len(stored) == 1 else ""
        module, _, name = detail.removeprefix(SETTING).rpartition(":")
        if not detail.startswith(SETTING) or not self._is_variable(module, name):
            return False
        return not any(spot.is_write for spot in self.spots.get(Place("global", module, name), ()))

    def _puts_back(self, write: Spot, other: Spot) -> bool:
        """Whether whatever two accesses store is there already."""
        return all(self._rewriting.changes_nothing(spot) for spot in (write, other) if spot.is_write)

    def _is_variable(self, module: str, name: str) -> bool:
        """Whether a name of a package is no constant: it is declared by its type, or gets its value at the start."""
        record = self._symbols.content(module).globals.get(name)
        if record is None or not record.values:
            return record is not None and record.annotation is not None
        initial = [effects for function, effects in self.effects.items() if function.startswith(f"{module}:{MODULE}")]
        return any(a.path == Global(module, name) and a.kind == "store" for e in initial for a in e.all_accesses())

    def _is_restarted(self, place: Place) -> bool:
        """Whether a count that decides nothing starts anew now and then: a figure of some time, for people."""
        spots = self.spots.get(place, ())
        return any(spot.access.kind == "store" and is_constant(spot.access.detail) for spot in spots)

    def _is_made_on_demand(self, place: Place, write: Spot, test: Spot) -> bool:
        """Whether a store is what follows on the test: who comes too early makes the same value again."""
        return write.function == test.function and any(
            isinstance(spot.access, Act) and spot.access.span == write.access.span and spot.access.kind == "store"
            for spot in self.spots.get(place, ())
        )

    def _is_read(self, place: Place) -> bool:
        """Whether anything may look at a place but what changes it."""
        if not place.name.startswith("_"):
            return True  # anybody may
        spots = self.spots.get(place, ())
        changes = {
            (spot.function, spot.access.span.line) for spot in spots if spot.is_write and spot.access.kind != "store"
        }
        return any(not spot.is_write and (spot.function, spot.access.span.line) not in changes for spot in spots)

    def is_tested(self, place: Place) -> bool:
        """Whether something is decided by a place anywhere."""
        return place in self._tested


def _decides_by(spot: Spot) -> bool:
    return spot.access.kind == "test" or isinstance(spot.access, Act)


def _is_exact_test(access: Access | Act) -> bool:
    """Whether something is decided by one value, and not by a threshold."""
    return access.kind == "test" and access.detail != MEASURED


def _is_own_entry(path: Value) -> bool:
    """Whether a path leads to an entry by a key that the function was given."""
    return isinstance(path, Element) and isinstance(root(path.key), Param)


def one_a_cause(pairs: Iterable[Pair]) -> dict[Place, Pair]:
    """The races by place, without those inside of an object whose one holder is a race of the same contexts.

    Where a whole struct is stored, or copied, one of its fields stands for all.
    """
    found: dict[Place, Pair] = {}
    whole: dict[tuple[str, Span], Place] = {}
    for pair in sorted(pairs, key=lambda pair: (bool(_whole(pair)), -pair.confidence)):
        if not _whole(pair):
            found[pair.place] = pair
            whole |= {(side.function, side.access.span): pair.place for side in (pair.first, pair.second)}
        elif all([whole.setdefault(at, pair.place) == pair.place for at in _whole(pair)]):
            found[pair.place] = pair
    sure = {(place.owner, place.name): _contexts(pair) for place, pair in found.items() if pair.confidence > 1}
    left = {place: pair for place, pair in found.items() if sure.get(_holder(pair)) != _contexts(pair)}
    inmost_first = sorted(left.values(), key=lambda pair: -pair.place.depth)
    walked = {key: pair for pair in inmost_first for key in _walks(pair)}
    return {place: pair for place, pair in left.items() if not any(_says_all(walked[k], pair) for k in _walks(pair))}


def together(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The same races, but one for all where a function reads many fields of one type that another context writes.

    It is one thing to mend, `func (s *State) String() string`, and the surest of them stands for the others.
    """
    told = list(pairs)
    groups: dict[object, list[Pair]] = defaultdict(list)
    for pair in told:
        groups[_read_by(pair)].append(pair)
    for pair in told:
        group = groups[_read_by(pair)]
        if _read_by(pair) is None or len(group) <= MOST_ALIKE:
            yield pair
        elif pair is max(group, key=lambda each: each.confidence):
            yield pair._replace(alike=tuple([each.place for each in group if each is not pair]))


def _read_by(pair: Pair) -> object:
    """The function that reads a field, whose type that is, and between which contexts it is a race."""
    reads = [side for side in (pair.first, pair.second) if not side.is_write]
    if len(reads) != 1 or pair.place.kind != "field" or pair.place.depth:
        return None
    return pair.place.owner, reads[0].function, _contexts(pair), pair.confidence > 1


def _walks(pair: Pair) -> list[tuple[str, str, str, Span]]:
    """Where a race's sides iterate over something, and in which variable or field it lies."""
    place, sides = pair.place, (pair.first, pair.second)
    return [(place.kind, place.owner, place.name, s.access.span) for s in sides if s.access.kind == "iterate"]


def _says_all(outer: Pair, inner: Pair) -> bool:
    """Whether a walk over all that lies in a container is told of already, for a level further out."""
    return outer.place.depth < inner.place.depth and outer.confidence >= inner.confidence


def _contexts(pair: Pair) -> frozenset[int]:
    return frozenset((pair.first.entry.context, pair.second.entry.context))


def _whole(pair: Pair) -> list[tuple[str, Span]]:
    """Where the struct around the field at hand is stored, or copied."""
    sides = [side for side in (pair.first, pair.second) if side.access.detail == WHOLE]
    return [(side.function, side.access.span) for side in sides]


def _holder(pair: Pair) -> tuple[str, str]:
    """The field through which both sides reach the object at hand: its owner and its name."""
    one, two = pair.first.entry.origin.lstrip("="), pair.second.entry.origin.lstrip("=")
    own = pair.first.located.own and pair.second.located.own
    owner, _, name = one.rpartition(".") if own and one == two else ("", "", "")
    return owner, name
