"""Races: pairs of accesses to one place by contexts that run in parallel, with no lock in common."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from racelint.analysis.concrete import Concrete
from racelint.analysis.contexts import ELSEWHERE, Context, Contexts, Entry, is_early, is_possible
from racelint.analysis.documented import Documented
from racelint.analysis.effects import IN_PLACE, WRITES, Access, Act, Effects
from racelint.analysis.lifecycle import is_closing, is_registration, prepares
from racelint.analysis.memory import SHAPES, Memory
from racelint.analysis.memory import shape as memory_shape
from racelint.analysis.objects import FRESH, MAYBE, OWN, SHARED, Objects
from racelint.analysis.paths import root
from racelint.analysis.places import Located, Place, Places, of_threads, overlap
from racelint.analysis.state import LOCAL, TASKS, THREADS
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Element, Field, Fresh, Member, Param, Value

MOST_SPOTS = 400  # accesses of one place that are compared with each other
NEAR = 3  # calls from a context's root after which a way counts as long where little speaks for a race
MOST_CALLS = 6  # from a context's root to an access
MOST_TOGETHER = 8  # the same for both sides of a race together
ERROR = 3  # of SEVERITY
RESIZES = frozenset({"insert", "remove", "discard", "clear", "append"})
REMOVALS = frozenset({"remove", "discard", "clear"})
LIVE = frozenset(
    {"mapping", "default mapping", "counter mapping", "set", "deque", "weak mapping"}
)  # raise when resized
CONSTANT = frozenset({"none", "constant"})
CONSTRUCTORS = frozenset({"__init__", "__new__", "__del__", "__setstate__"})


class Silence(enum.Enum):
    """Why two accesses of one place are no race, or why one access is not compared with others at all."""

    HARMLESS = "harmless"  # each is one step in Python, or nothing depends on the order
    SAME_LOCK = "same lock"
    ONE_CONTEXT = "one context"  # it does not run beside itself
    ONE_LOOP = "one event loop"  # tasks switch at suspensions only
    CALLERS = "callers"  # callers from outside are taken to call one at a time
    OWNED = "owned"  # fresh, or each context's own object
    APART = "apart"  # two objects
    ORDERED = "ordered"  # before the first start, or after the join
    UNKNOWN = "unknown"  # whose it is, or what runs it
    UNREACHED = "unreached"  # by no context


class Spot(NamedTuple):
    """An access (or an act that depends on a check) in one entry state of its function."""

    function: str
    located: Located
    access: Access | Act
    entry: Entry
    locks: frozenset[str]
    receiver: int
    before: str = ""  # the function before whose first start it happens
    constructor: str = ""  # the constructor that is still at work on the method's own instance

    @property
    def is_write(self) -> bool:
        """Whether it changes the place."""
        return self.access.kind in WRITES


class Pair(NamedTuple):
    """Two accesses that may collide: `shape` says how, `evidence` why they are known to run in parallel.

    Shapes: "resize-iterate", "update-update", "update-store", "update-reset", "check-act", "check-use",
    "replace-change", "store-test", "store-store", "shift-iterate" (a list), "count-count", "hand-out", "overwritten".
    `evidence` is "contexts", "documented" (two callers, of a type that says they may) or "guard" (held at `held` of
    `total` accesses).
    """

    place: Place
    first: Spot
    second: Spot
    shape: str
    evidence: str
    confidence: int  # 1 low, 2 medium, 3 high
    guard: str = ""
    held: int = 0
    total: int = 0


class Races:
    """Compares accesses."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._concrete = Concrete(symbols, contexts)
        self._objects = Objects(symbols, places, contexts)
        self.memory = Memory(symbols, effects, contexts)
        self._documented = Documented(symbols, contexts)
        self._sites = Counter(type_id for done in effects.values() for _, type_id in done.made)
        self.spots = self._gather()

    def _gather(self) -> dict[Place, list[Spot]]:
        """Every access in every entry state, by place; places that nobody writes after construction are left out."""
        found: dict[Place, list[Spot]] = defaultdict(list)
        written: set[Place] = set()
        for function_id, effects in self._effects.items():
            if function_id in self._contexts.entries:
                accesses: list[Access | Act] = [*effects.all_accesses(), *effects.all_acts()]
                for access in accesses:
                    spots = self.spots_of(function_id, access)
                    if isinstance(spots, Silence) or not spots:
                        continue
                    place = spots[0].located.place
                    found[place] += spots
                    if access.kind in WRITES:
                        written.add(place)
        return {place: spots for place, spots in found.items() if place in written}

    def spots_of(self, function_id: str, access: Access | Act) -> list[Spot] | Silence:
        """An access in each entry state of its function, or why it meets no other."""
        name = self._symbols.functions[function_id][1].name
        if access.joined & THREADS or name in ("<module>", "<body>"):
            return Silence.ORDERED
        located = self._places.locate(access.path)
        if located is None:
            return Silence.UNKNOWN
        if located.own and name in CONSTRUCTORS and not access.started:
            return Silence.OWNED
        entries = self._contexts.entries.get(function_id)
        if not entries:
            return Silence.UNREACHED
        local = self._places.locks(access.through if isinstance(access, Act) else access.held)
        early = is_early(access, self._effects[function_id])
        spots: list[Spot] = []
        for entry in entries:
            if not is_possible(access.needs, entry):
                continue
            receiver = self._receiver(function_id, located, access.path, entry)
            if located.place.kind != "field" or (located.own and name == "__init__"):
                receiver = SHARED  # a constructor that has started something is no longer alone with the object
            if receiver != FRESH:
                before = entry.before or (function_id if early else "")
                constructor = entry.constructor or (function_id if name == "__init__" else "")
                locks = entry.locks | local
                spots.append(Spot(function_id, located, access, entry, locks, receiver, before, constructor))
        return spots or Silence.OWNED

    def _receiver(self, function_id: str, located: Located, path: Value, entry: Entry) -> int:
        """What the object of an access is to the context."""
        if self.memory.governs(function_id) and isinstance(path, Field | Element | Member):
            inner: Value = path
            while isinstance(inner, Element | Member):
                inner = inner.base
            if isinstance(inner, Field) and isinstance(inner.base, Fresh):
                return SHARED  # with what its maker has started
            return self._objects.of(inner.base if isinstance(inner, Field) else inner, function_id, entry)
        return entry.receiver if located.own or located.constructed else self._reached(path, entry)

    def _reached(self, path: Value, entry: Entry) -> int:
        """What an object that a path leads to is to the context: a variable's is shared with what its call starts."""
        start = root(path)
        if isinstance(start, Captured) and path != start and not self._symbols.is_captured_instance(start):
            return SHARED if self._contexts.roots[entry.context].starter == start.function else MAYBE
        return of_root(path, self._symbols)

    def all(self) -> Iterator[Pair]:
        """The worst race of each place that has any, in a fixed order."""
        for place, spots in self.spots.items():
            best = self._best(place, [spot for spot in spots if self._matters(spot)][:MOST_SPOTS])
            if best is not None:
                yield best

    def _best(self, place: Place, spots: list[Spot]) -> Pair | None:
        best: Pair | None = None
        rank = (0, 0, 0)
        writes = [spot for spot in spots if spot.is_write]
        meeting: dict[int, list[Spot]] = {}  # by a context, the accesses of those that may run beside it
        for write in writes:
            context = write.entry.context
            if context not in meeting:
                meeting[context] = [spot for spot in spots if self._may_meet(place, context, spot.entry.context)]
            for other in (*meeting[context], *self._by_contract(write, spots)):
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

    def _by_contract(self, write: Spot, spots: list[Spot]) -> list[Spot]:
        """The accesses that other callers make at the same time, on an object of a type that says they may."""
        owner = self._says_shared(write)
        return [spot for spot in spots if self._family(owner, self._says_shared(spot))] if owner else []

    def _says_shared(self, spot: Spot) -> str:
        """The type on whose own instance an access is, if that type says that many callers may use it at once."""
        return self._documented.shared_by(spot.function, spot.entry) if spot.located.own else ""

    def _matters(self, spot: Spot) -> bool:
        """Whether an access can be a side of a race: plain reads and look-ups may be one step each."""
        if self.memory.governs(spot.function):
            return isinstance(spot.access, Access)
        if spot.is_write or isinstance(spot.access, Act) or spot.access.kind in ("test", "iterate"):
            return True
        return spot.access.kind == "read" and self._contexts.roots[spot.entry.context].kind == "decorated"

    def _may_meet(self, place: Place, first: int, second: int) -> bool:
        """Whether two contexts may run in parallel at all; a captured variable hangs on more than the contexts."""
        one, two = self._contexts.roots[first], self._contexts.roots[second]
        if not {"unknown", "process"}.isdisjoint((one.kind, two.kind)):
            return False
        return place.kind == "captured" or _one_at_a_time(one, two) is None

    def judge(self, place: Place, write: Spot, other: Spot) -> Pair | Silence:
        """The race of a pair (parallel contexts, one object, no common lock), or why it is none; cheap tests first."""
        shape = self.shape(write, other)
        if shape is None:
            return Silence.HARMLESS
        one, two = self._contexts.roots[write.entry.context], self._contexts.roots[other.entry.context]
        if not self._places.related(_class(write), _class(other)):
            return Silence.APART
        if self._is_unknown_yet(write, other) or self._is_unknown_yet(other, write):
            return Silence.OWNED
        if _made_apart(write, other) and not self._is_same_holder(write.entry.origin, other.entry.origin):
            return Silence.APART
        if self._is_over(write, other) or self._is_over(other, write):
            return Silence.ORDERED
        if self._has_waited(write, other.entry.context) or self._has_waited(other, write.entry.context):
            return Silence.ORDERED
        if self.is_driven_instead(write, other) or self.is_driven_instead(other, write):
            return Silence.CALLERS
        if self.has_ended(write.function, write.access.joined, two) or self.has_ended(
            other.function, other.access.joined, one
        ):
            return Silence.ORDERED
        if self._is_before(write, other) or self._is_before(other, write):
            return Silence.ORDERED
        confidence = self._parallel(write, one, other, two)
        if isinstance(confidence, Silence):
            return confidence
        if overlap(of_threads(write.locks), of_threads(other.locks)):
            return Silence.SAME_LOCK
        if self._never_one(write, other):
            return Silence.APART
        if shape == "store-test" and not self._decides(write, other):
            confidence = 1
        if shape == "update-update" and not self.is_tested(place):
            shape = "count-count"
        if not (write.entry.sure and other.entry.sure):
            confidence = 1
        if self.may_be_two(write, other) or self._is_setting_up(write, other) or self._is_setting_up(other, write):
            confidence = 1
        if self.goes_behind(write, other) or self.goes_behind(other, write):
            confidence = 1
        if (one.is_external or two.is_external) and _is_member(write.access.path) != _is_member(other.access.path):
            confidence = 1  # what a container of the project holds is hardly what a caller made himself
        if SEVERITY[shape] < ERROR and (self.is_far(write, NEAR) or self.is_far(other, NEAR)):
            confidence = 1  # a value that is seen late matters only if the two have to do with each other
        if shape == "count-count" and not self._is_read(place):
            confidence = 1  # nobody looks at the count
        if shape == "store-store" or (shape == "update-reset" and not self.is_tested(place)):
            confidence = 1  # the last one wins, and nothing is decided by it
        if MAYBE in (write.receiver, other.receiver):
            confidence = min(confidence, 2) if self._locks_itself(write, other) else 1
        if not other.is_write and self.memory.is_set_once([s for s in self.spots.get(place, ()) if s.is_write]):
            confidence = 1  # who reads it has mostly come by what sets it
        if self.is_far(write) or self.is_far(other) or self._are_far(write, other):
            confidence = 1
        if shape in ("check-use", "check-act") and self.is_mild(shape, write, other):
            confidence = 1
        callers = one.is_external and two.is_external
        return Pair(place, write, other, shape, "documented" if callers else "contexts", confidence)

    def may_be_two(self, first: Spot, second: Spot) -> bool:
        """Whether a type has several objects, and each side reaches its own by another way."""
        if self.memory.governs(first.function) or self._sites[first.located.type] < 2:
            return False
        if first.located.place.kind != "field":
            return False
        one, two = self._held_by(first), self._held_by(second)
        return bool(one and two) and not self._is_same_holder(one, two)

    def _held_by(self, spot: Spot) -> str:
        """The field that holds the object at hand."""
        path = spot.access.path
        while isinstance(path, Element | Member):
            path = path.base
        if spot.located.own or not isinstance(path, Field):
            return spot.entry.origin
        return self._places.holder(path.base, spot.entry.type) or ELSEWHERE

    def _is_same_holder(self, first: str, second: str) -> bool:
        """Whether two fields are one: of one class, or of a class and one below."""
        one, two = first.lstrip("="), second.lstrip("=")
        if one == two:
            return True
        (owner, _, name), (other, _, named) = one.rpartition("."), two.rpartition(".")
        return name == named and self._places.related(owner, other)

    def _is_setting_up(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller still makes the whole of which an object is a part, and the other side is not its doing."""
        if not self._contexts.roots[spot.entry.context].is_external:
            return False
        root = self._contexts.root(spot.function, spot.entry)
        if self._symbols.functions[root][1].name != "__init__":
            return False
        return other.entry.context not in self._contexts.started_under.get(root, ())

    def goes_behind(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller would use an object directly that the other side uses under the lock of who holds it."""
        if not self._contexts.roots[spot.entry.context].is_external or not spot.located.own:
            return False
        if not self._family(self._symbols.owner_of(self._contexts.root(spot.function, spot.entry)), spot.located.type):
            return False
        owners = [lock.rpartition(".")[0] for lock in of_threads(other.entry.locks) if ":" in lock]
        return any(owner in self._symbols.types and not self._family(owner, spot.located.type) for owner in owners)

    def _is_unknown_yet(self, spot: Spot, other: Spot) -> bool:
        """Whether a constructor is still at work, and the other context is none that it has started."""
        if not spot.constructor or not spot.located.own:
            return False
        return other.entry.context not in self._contexts.started_under.get(spot.constructor, ())

    def is_driven_instead(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller takes the turns of a loop, for input or for results, which else the other context takes."""
        caller, context = self._contexts.roots[spot.entry.context], self._contexts.roots[other.entry.context]
        if not caller.is_external or context.is_external:
            return False
        mine, theirs = self._functions(spot), self._functions(other)
        if not self._contexts.consuming.isdisjoint(mine & theirs):
            return True
        root = self._contexts.root(spot.function, spot.entry)
        turns = [turn for turn, leading in self._contexts.turning.items() if root in leading]
        return any(e.context == other.entry.context for turn in turns for e in self._contexts.entries.get(turn, ()))

    def _functions(self, spot: Spot) -> set[str]:
        return {spot.function, *[function for function, _ in self._contexts.way(spot.function, spot.entry)]}

    def has_ended(self, function_id: str, joined: int, context: Context) -> bool:
        """Whether a function has waited for a context: one that it has started itself, or its class's task."""
        if context.starter is None:
            return False
        if context.kind == "task" and joined & TASKS:
            return self._family(self._symbols.owner_of(function_id), self._symbols.owner_of(context.starter))
        return bool(joined & LOCAL) and context.starter == function_id

    def _is_over(self, spot: Spot, other: Spot) -> bool:
        """Whether what leads to the other's start waits for all it starts, and the access is not on its way."""
        if not self.memory.governs(spot.function) or self._contexts.roots[spot.entry.context].many:
            return False
        mine = self._functions(spot)
        for function, _ in self.memory.waiting:
            if other.entry.context not in self._contexts.started_under.get(function, ()) or function in mine:
                continue
            if any(entry.context == spot.entry.context for entry in self._contexts.entries.get(function, ())):
                return True
        return False

    def _has_waited(self, spot: Spot, context: int) -> bool:
        """Whether a caller on the way has waited for what it had started, and a context comes from that."""
        if not self.memory.governs(spot.function):
            return False
        for caller, span in self._contexts.way(spot.function, spot.entry):
            if self._comes_from(context, caller):
                sites = [site for site in self._effects[caller].calls.values() if site.span == span]
                if sites and all(site.joined & LOCAL for site in sites):
                    return True
        return False

    def _comes_from(self, context: int, function: str) -> bool:
        """Whether a function starts a context, or what it starts does."""
        under = self._contexts.started_under
        mine = under.get(function, frozenset())
        return context in mine or any(context in under.get(self._contexts.roots[i].function, ()) for i in mine)

    def are_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two methods that use their own instance are of classes that no object has both of."""
        owners = [self._symbols.owner_of(spot.function) for spot in (first, second)]
        return first.located.own and second.located.own and not self._places.related(*owners)

    def is_mild(self, shape: str, write: Spot, other: Spot) -> bool:
        """Whether code deals with it itself (a handler), or it is configuration that is set before it matters."""
        act = write if isinstance(write.access, Act) else other
        against = other if act is write else write
        if getattr(act.access, "caught", False) and act.access.kind in ("read", "lookup", "remove"):
            return True
        external = self._contexts.roots[against.entry.context].is_external
        return external and shape == "check-use" and self._is_setter(against.function)

    def _configures(self, caller: Spot) -> bool:
        """Whether a caller only stores what he gives, or registers it: `Add...` of a listener, a handler."""
        if self._is_setter(caller.function):
            return True
        function = self._symbols.functions[caller.function][1]
        return function.is_public and is_registration(function.name)

    def _is_setter(self, function_id: str) -> bool:
        """Whether a function only stores what it is given."""
        if self._symbols.functions[function_id][1].qualname.endswith(".setter"):
            return True
        effects = self._effects[function_id]
        calls = any(isinstance(callee, str) for _, callee in effects.calls) or effects.starts_any
        return not calls and all(a.kind in ("store", "read", "test") for a in effects.all_accesses())

    def _is_before(self, spot: Spot, other: Spot) -> bool:
        """Whether an access ends before the other's context is started."""
        started = self._contexts.started_under.get(spot.before, frozenset()) if spot.before else frozenset()
        return other.entry.context in started and spot.entry.context not in started

    def _decides(self, write: Spot, other: Spot) -> bool:
        """Whether it matters which value is seen: one context stores again and again what another one decides by."""
        roots = self._contexts.roots
        kinds = {roots[write.entry.context].kind, roots[other.entry.context].kind}
        if not kinds <= {"thread", "handler"}:
            return False  # a caller, or a task of the loop, mostly has it told by other means
        looped = isinstance(write.access, Access) and write.access.looped
        return looped or self._contexts.is_looped(write.function, write.entry)

    def _is_read(self, place: Place) -> bool:
        """Whether anything may look at a place but the updates themselves."""
        if not place.name.startswith("_"):
            return True  # anybody may
        spots = self.spots.get(place, ())
        updates = {(spot.function, spot.access.span.line) for spot in spots if spot.access.kind.startswith("update")}
        reads = [spot for spot in spots if spot.access.kind in ("read", "test", "peek", "lookup")]
        return any((spot.function, spot.access.span.line) not in updates for spot in reads)

    def is_tested(self, place: Place) -> bool:
        """Whether something is decided by a place anywhere."""
        return any(spot.access.kind == "test" or isinstance(spot.access, Act) for spot in self.spots.get(place, ()))

    def _never_one(self, first: Spot, second: Spot) -> bool:
        """Whether no object makes both accesses, each as its own: a class overrides a method on the way to one."""
        if not (first.located.own and second.located.own):
            return False
        classes = self._concrete.classes
        return classes(first.function, first.entry).isdisjoint(classes(second.function, second.entry))

    def _are_far(self, first: Spot, second: Spot) -> bool:
        """Whether the two ways together are so long that some condition mostly stands against one of them."""
        steps = sum(len(self._contexts.way(spot.function, spot.entry)) for spot in (first, second))
        return steps > MOST_TOGETHER

    def is_far(self, spot: Spot, most: int = MOST_CALLS) -> bool:
        """Whether the way from the context's root is so long that some condition mostly stands against it."""
        return len(self._contexts.way(spot.function, spot.entry)) > most

    def _parallel(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """How sure it is that two accesses run in parallel on one object, or why they do not."""
        if "unknown" in (one.kind, two.kind):
            return Silence.UNKNOWN
        if "process" in (one.kind, two.kind) or not self._places.related(write.located.type, other.located.type):
            return Silence.APART
        if self.memory.governs(write.function):
            return self._goroutines(write, one, other, two)
        if write.located.place.kind == "captured":
            return self._in_one_activation(write, one, other, two)
        if one.is_external and two.is_external and (owner := self._says_shared(write)):
            return self._shared_by_contract(owner, write, other)
        in_turn = _one_at_a_time(one, two)
        if in_turn is not None:
            return in_turn
        if one == two:
            if SHARED not in (write.receiver, other.receiver) or OWN in (write.receiver, other.receiver):
                return Silence.OWNED
            return 3 if write.located.certain and other.located.certain else 2
        if self._is_waited_for(one, two) or self._is_waited_for(two, one):
            return Silence.CALLERS
        either = "greenlet" in (one.kind, two.kind) and one.starter != two.starter  # a choice of the configuration
        if (
            either
            or (one.awaited and two.awaited and one.is_loop)
            or self._is_waiting(one, other)
            or self._is_waiting(two, write)
        ):
            return 1  # one task at a time, if it is one task
        if {one.kind, two.kind} in ({"external", "task"}, {"external", "loop"}):
            return Silence.CALLERS
        if write.receiver == OWN and other.receiver == OWN:
            return Silence.OWNED
        certain = write.located.certain and other.located.certain
        if (one.is_external or two.is_external) and self._closes(two if one.is_external else one):
            return 1  # who still calls then
        if "remote" in (one.kind, two.kind) and (one.is_external or two.is_external):
            return 2 if self.shape(write, other) == "resize-iterate" else 1  # callers may run on the loop themselves
        if one.is_external or two.is_external:
            return self._with_caller(write, other, two if one.is_external else one) if certain else 1
        return 3 if certain else 2

    def _shared_by_contract(self, owner: str, write: Spot, other: Spot) -> int | Silence:
        """Two callers at once, of a type that says they may, on what is the object's own."""
        if not self._family(owner, self._says_shared(other)):
            return Silence.CALLERS
        sure = SHARED == write.receiver == other.receiver and write.located.certain and other.located.certain
        return 2 if sure and not self.is_far(write, NEAR) and not self.is_far(other, NEAR) else 1

    def _closes(self, context: Context) -> bool:
        """Whether a context is started only to close something."""
        names = [self._symbols.functions[f][1].name for f in (context.starter, context.function) if f]
        return context.starter is not None and any(is_closing(name) for name in names)

    def _is_waited_for(self, context: Context, caller: Context) -> bool:
        """Whether it is the caller who has started a context, on whatever way, and waits for it at once."""
        if not caller.is_external or not context.awaited or context.is_loop:
            return False
        states = self._contexts.entries.get(context.starter or "", ())
        return all(self._contexts.roots[entry.context].is_external for entry in states)

    def _programs(self, spot: Spot, context: Context) -> frozenset[str]:
        """The programs in which an access may happen; none if that is not known."""
        root = context.starter or self._contexts.root(spot.function, spot.entry)
        return self._contexts.programs.get(root, frozenset())

    def _goroutines(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """The same where goroutines are all there is, and any order of steps must be made."""
        memory = self.memory
        mine, theirs = self._programs(write, one), self._programs(other, two)
        if mine and theirs and mine.isdisjoint(theirs):
            return Silence.APART
        if memory.is_ordered(write.function, write.access, two) or memory.is_ordered(other.function, other.access, one):
            return Silence.ORDERED
        if memory.is_started_later(write.function, write.entry, two) or memory.is_started_later(
            other.function, other.entry, one
        ):
            return Silence.ORDERED
        if one != two and memory.is_one_after_other(one, two):
            return Silence.ONE_CONTEXT
        if write.located.place.kind == "captured":
            return self._captured(write, one, other, two)
        if one == two:
            if not one.many:
                return Silence.CALLERS if one.is_external else Silence.ONE_CONTEXT
            if OWN in (write.receiver, other.receiver):
                return Silence.OWNED
        elif one.is_external and two.is_external:
            return Silence.CALLERS
        elif write.receiver == OWN and other.receiver == OWN:
            return Silence.OWNED
        says_shared = self._locks_itself(write, other)
        if self.held_apart(write, other) or ((self.is_whose(write) or self.is_whose(other)) and not says_shared):
            return 1
        if self._precedes(write, two) or self._precedes(other, one) or self._are_alternatives(write, one, other, two):
            return 1
        certain = write.located.certain and other.located.certain
        if one.is_external or two.is_external:
            return self._outside(write, one, other, two) if certain else 1
        return 3 if certain else 2

    def _are_alternatives(self, first: Spot, one: Context, second: Spot, two: Context) -> bool:
        """Whether two methods start what does the same, and nobody calls both: a caller has his choice."""
        starters = (one.starter, two.starter)
        if one == two or None in starters or starters[0] == starters[1]:
            return False
        owners = [self._symbols.owner_of(starter) for starter in starters if starter is not None]
        if owners[0] != owners[1] or not owners[0] or not self._do_the_same(one, two):
            return False
        both = {first.entry.context, second.entry.context}
        return not any(both <= started for started in self._contexts.started_under.values())

    def _do_the_same(self, one: Context, two: Context) -> bool:
        """Whether two contexts call one function of the project, at their roots."""
        called = [{c for _, c in self._effects[f].calls if isinstance(c, str)} for f in (one.function, two.function)]
        return not called[0].isdisjoint(called[1])

    def _precedes(self, spot: Spot, context: Context) -> bool:
        """Whether a store is part of what sets the program up, before a library has any reason to call."""
        looped = isinstance(spot.access, Access) and spot.access.looped
        if spot.access.kind != "store" or looped or not self.memory.is_served(context, asked=True):
            return False
        if self._contexts.is_looped(spot.function, spot.entry) or context.starter in self._functions(spot):
            return False
        return any(prepares(self._symbols.functions[function][1].name) for function in self._functions(spot))

    def _locks_itself(self, first: Spot, second: Spot) -> bool:
        """Whether a write holds a lock of the object itself, and no function leads to both: one goroutine's own."""
        if not self.memory.governs(first.function) or not (_holds_own_lock(first) or _holds_own_lock(second)):
            return False
        return self._functions(first).isdisjoint(self._functions(second))

    def comes_before(self, spot: Spot, other: Spot) -> bool:
        """Whether an access is over when what leads to the context of the other one is started."""
        context = self._contexts.roots[other.entry.context]
        return self.memory.governs(spot.function) and self.memory.is_started_later(spot.function, spot.entry, context)

    def held_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two objects of one type were found in two fields: two objects, as far as can be told."""
        if first.located.type in self._contexts.singles:
            return False
        one, two = self._home(first), self._home(second)
        return bool(one) and bool(two) and one != two

    def _home(self, spot: Spot) -> str:
        """The field in which an access's object was found: "Type.field", "" if in none."""
        path: Value | None = spot.access.path
        while isinstance(path, Element | Member):
            path = path.base
        path = path.base if isinstance(path, Field) else None
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            if isinstance(path, Field):
                owner = self._places.class_of(path.base)
                return f"{owner}.{path.name}" if owner is not None else ""
            if isinstance(path, Param | Captured) and self._symbols.is_instance_of(path):
                return entry.origin.lstrip("=")
            came = self._contexts.entries.get(function, {}).get(entry)
            if came is None or not isinstance(path, Param) or path.function != function:
                return ""
            path = self._contexts.given(came, function, path)
            function, entry = came.caller, came.entry
        return ""

    def is_whose(self, spot: Spot) -> bool:
        """Whether it is open whose object an access is of: one of several, or a caller's."""
        return self.memory.governs(spot.function) and spot.receiver == MAYBE

    def _captured(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """A variable of a function, by what that very call of it starts, and by the function itself."""
        place = write.located.place
        if one == two and self._is_handed(write, one) and self._is_handed(other, two):
            return 3 if one.many else Silence.ONE_CONTEXT
        if place.owner not in (one.starter, two.starter):
            return Silence.APART
        if one == two:
            if not one.many:
                return Silence.ONE_CONTEXT
            return Silence.APART if self.memory.is_new_each_turn(write.access.path, one) else 3
        outside = [s for s, c in ((write, one), (other, two)) if c.starter != place.owner]
        return 3 if all(spot.function == place.owner for spot in outside) else Silence.UNKNOWN

    def goes_through(self, spot: Spot, owner: str) -> bool:
        """Whether the way to an access's object leads through an object of a type: what that one has is meant."""
        path: Value | None = spot.access.path
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            inner = path
            while isinstance(inner, Field | Element | Member):
                inner = inner.base
                if self._places.class_of(inner) == owner:
                    return True
            came = self._contexts.entries.get(function, {}).get(entry)
            if came is None or not isinstance(inner, Param) or inner.function != function:
                return False
            path = self._contexts.given(came, function, inner)
            function, entry = came.caller, came.entry
        return False

    def _is_handed(self, spot: Spot, context: Context) -> bool:
        """Whether a closure runs in a context that a function has started which its maker has handed it to."""
        maker = spot.located.place.owner
        start = self.memory.start(context)
        if start is None or start.endless:
            return False  # one after the other, mostly
        if context.starter == maker or not spot.function.startswith(f"{maker}."):
            return False
        if spot.entry.context not in self._contexts.started_under.get(maker, ()):
            return False
        return all(entry.context != spot.entry.context for entry in self._contexts.entries.get(maker, ()))

    def _outside(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """A caller beside a goroutine: sure enough if the type, or the package, itself starts that."""
        caller, context = (write, two) if one.is_external else (other, one)
        if caller.function == context.starter and isinstance(root(caller.access.path), Fresh | Captured):
            return 3  # it goes on with what it has made and handed over
        served = self.memory.is_served(context)
        if served and self.memory.is_initial(self._contexts.root(caller.function, caller.entry)):
            return Silence.ORDERED
        place = write.located.place
        if caller.is_write and any(prepares(self._symbols.functions[f][1].name) for f in self._functions(caller)):
            return 1  # first an object is made and filled, then it is put into service
        if caller.is_write and (served or place.kind == "global" or self._configures(caller)):
            return 1  # mostly configuration, before anything runs
        if place.kind == "global" and not (context.starter or context.function).startswith(f"{place.owner}:"):
            return 1
        return min(2, self._with_caller(write, other, context))

    def _in_one_activation(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """A variable of a function is shared by what that very call of it starts."""
        owner = write.located.place.owner
        inner = [spot for spot, context in ((write, one), (other, two)) if context.starter == owner]
        if not inner or any(spot.function == owner for spot in inner):
            return Silence.APART if not inner else Silence.ONE_CONTEXT
        if one == two:
            return 3 if one.many and not one.is_loop else Silence.ONE_LOOP if one.is_loop else Silence.ONE_CONTEXT
        outside = [context for context in (one, two) if context.starter != owner]
        if (one.is_loop and two.is_loop) or any(c.is_loop and inner[0].entry for c in outside if c.kind == "loop"):
            return Silence.ONE_LOOP
        return 3

    def _is_waiting(self, context: Context, spot: Spot) -> bool:
        """Whether a context's starter waits for it at once, and the other access is on the same task's way."""
        if not context.awaited or not self._contexts.roots[spot.entry.context].is_loop:
            return False
        way = [caller for caller, _ in self._contexts.way(spot.function, spot.entry)]
        return context.starter in (*way, spot.function)

    def _with_caller(self, write: Spot, other: Spot, context: Context) -> int:
        """A caller's thread beside a started one: where the start stands says how likely they meet on one object."""
        made = self._contexts.made_in.get(write.located.type)
        roots = self._contexts.roots
        if made and all(not roots[index].is_external for index in made):
            return 1  # the objects are made by what runs there
        started_in = context.starter or context.function
        owner = self._symbols.owner_of(started_in)
        place = write.located.place
        if place.kind in ("global", "captured") or self._family(owner, write.located.type):
            return 3 if context.starter else 2
        shape = self.shape(write, other)
        return 2 if shape in ("resize-iterate", "check-act", "update-update", "replace-change") else 1

    def _family(self, first: str, second: str) -> bool:
        return bool(first) and bool(second) and self._places.related(first, second)

    def shape(self, write: Spot, other: Spot, *, guarded: bool = False) -> str | None:
        """How two accesses collide; None for what is harmless."""
        a, b = write.access, other.access
        if self.memory.governs(write.function):
            return memory_shape(a, b)
        if b.kind == "hand-out":
            return None
        if isinstance(a, Act) and not isinstance(b, Act):
            return None if not other.is_write else self._act(a, b)
        if isinstance(b, Act):
            return self._act(b, a) if not isinstance(a, Act) or write.is_write else None
        if b.kind == "iterate" and a.kind in RESIZES:
            if b.detail in LIVE or a.detail in LIVE:
                return "resize-iterate"
            return "shift-iterate" if a.kind in REMOVALS and "list" in (a.detail, b.detail) else None
        if a.kind == "update" or b.kind == "update":
            if a.kind == b.kind:
                return "update-update"
            if b.kind == "store" or a.kind == "store":
                constant = (b if a.kind == "update" else a).detail in CONSTANT
                return "update-reset" if constant else "update-store"
            return None
        if a.kind == "update-item" and b.kind == "update-item":
            return "update-update"
        if {a.kind, b.kind} & IN_PLACE and "store" in (a.kind, b.kind):
            stored = a if a.kind == "store" else b
            return "replace-change" if stored.detail == "fresh" else None
        if a.kind == "store" and b.kind in ("read", "test") and self._are_of_decorator(write, other):
            return None if a.detail in CONSTANT else "overwritten"
        if a.kind == "store" and a.detail == "computed":
            external = self._contexts.roots[write.entry.context].is_external
            if b.kind == "test" and not external and not guarded:
                return "store-test"
            if b.kind == "store" and b.detail == "computed" and (guarded or write.entry.context != other.entry.context):
                return "store-store"
        return None

    def _are_of_decorator(self, first: Spot, second: Spot) -> bool:
        """Whether calls of a decorated function use the decorator object itself."""
        context = self._contexts.roots[first.entry.context]
        place = first.located.place
        if context.kind != "decorated" or first.entry.context != second.entry.context or place.kind != "field":
            return False
        source, wrapper = self._symbols.functions[context.function]
        return self._family(self._symbols.owner_of(f"{source.name}:{wrapper.parent}"), first.located.type)

    def _act(self, act: Act, write: Access | Act) -> str | None:
        """An act that depends on a check, against a write that may falsify it."""
        if write.kind not in WRITES:
            return None
        if act.kind in WRITES:
            if act.kind in ("store", "update") and act.detail in CONSTANT and write.detail in CONSTANT:
                return None  # a flag
            if act.kind == "remove":
                return "check-act" if write.kind in REMOVALS else None
            if act.kind == "insert" and act.value:
                return "check-act" if write.kind == "insert" else None
            if act.kind == "store" and write.kind == "store" and act.detail in ("opened", "object"):
                return "check-act"
            return None
        if act.kind == "lookup" and write.kind in REMOVALS:
            return "check-use"
        if act.kind == "read" and act.detail == "used" and write.kind in ("store", "delete") and write.detail == "none":
            return "check-use"
        return None


SEVERITY = {
    "resize-iterate": 3, "update-update": 3, "update-store": 3, "replace-change": 3, "check-act": 3,
    "check-use": 2, "shift-iterate": 2, "hand-out": 2, "count-count": 2,
    "store-test": 2, "store-store": 2, "update-reset": 2, "overwritten": 2, **SHAPES,
}  # fmt: skip


def _one_at_a_time(one: Context, two: Context) -> Silence | None:
    """Why two contexts never run in parallel, or why one does not run beside itself, whatever they do."""
    if one == two and (not one.many or one.is_loop):
        return Silence.CALLERS if one.is_external else Silence.ONE_LOOP if one.is_loop else Silence.ONE_CONTEXT
    if one == two:
        return None
    if one.is_external and two.is_external:
        return Silence.CALLERS
    return Silence.ONE_LOOP if one.is_loop and two.is_loop else None


def _is_member(path: Value) -> bool:
    """Whether a field's object was taken out of a container."""
    while isinstance(path, Field | Element | Member):
        if isinstance(path, Field) and isinstance(path.base, Element | Member):
            return True
        path = path.base
    return False


def _holds_own_lock(spot: Spot) -> bool:
    """Whether a write is made under a lock of the object itself: its author thinks that others have it, too."""
    if not spot.is_write or spot.located.place.kind != "field":
        return False
    owner = spot.located.place.owner
    return any(lock.rpartition(".")[0] == owner for lock in of_threads(spot.locks))


def _class(spot: Spot) -> str:
    """The class of the object, as near as the way to the access tells."""
    return spot.entry.type if spot.located.own and spot.entry.type else spot.located.type


def one_a_cause(pairs: Iterable[Pair]) -> dict[Place, Pair]:
    """The races by place, without those inside of an object whose one holder is a race itself: it needs the lock."""
    found = {pair.place: pair for pair in pairs}
    sure = {(place.owner, place.name) for place, pair in found.items() if pair.confidence > 1}
    return {place: pair for place, pair in found.items() if _holder(pair) not in sure}


def _holder(pair: Pair) -> tuple[str, str]:
    """The field through which both sides reach the object at hand: its owner and its name."""
    one, two = pair.first.entry.origin.lstrip("="), pair.second.entry.origin.lstrip("=")
    own = pair.first.located.own and pair.second.located.own
    owner, _, name = one.rpartition(".") if own and one == two else ("", "", "")
    return owner, name


def _made_apart(first: Spot, second: Spot) -> bool:
    """Whether two fields hold objects that each field's owner makes itself: they are two objects."""
    both_own = first.located.own and second.located.own
    return both_own and first.entry.origin.startswith("=") and second.entry.origin.startswith("=")


def of_root(path: Value, symbols: Symbols) -> int:
    """What an object that is reached by a path is to the context: shared, or perhaps the caller's own."""
    start = root(path)
    return MAYBE if isinstance(start, Param) and not symbols.is_instance(start) else SHARED
