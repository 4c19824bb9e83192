"""What a function does to shared state, in its own terms: accesses, acts that depend on checks, calls and starts.

The interpreter fills in one `Effects` a function while it walks the body; what a visit of the same spot finds later is
merged: a lock counts as held only if every way there holds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from racelint.analysis.paths import root
from racelint.analysis.state import ALWAYS, LOCAL, UNTOLD, Call, Conditions, Held, Read, State, Told, held_in_both
from racelint.analysis.values import (
    NONE,
    Captured,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Param,
    Partial,
    TypeValue,
    Value,
    Values,
)
from racelint.record import Record
from racelint.span import Span

READS = frozenset({"read", "test", "peek", "measure", "lookup", "iterate", "snapshot"})
IN_PLACE = frozenset({"insert", "remove", "discard", "clear", "append", "setitem", "reorder", "update-item"})
WHOLE = "whole"  # the detail of what becomes of a field when the struct around it is stored, or copied
RUNNING = "running"  # ... and to a loop where its tasks and callbacks run
STATEFUL = "stateful"  # the detail of what is done to a library's object that two contexts must not use at once
SETTING = "setting "  # begins the detail of a store of a package's variable, which is named behind it
OWN_KEY = "own"  # of an entry that is updated: by a key that the function was given
MEASURED = "measured"  # of a test by size: more or less than something
UNKNOWN_KIND = "?"  # of a container
OF_OBJECT = "."  # marks a queue that each object of a class has for itself
UNCOUNTED = -1
TOLD = "told"  # of a read of a number or a text that only goes into a log, where a step is not atomic
WRITES = IN_PLACE | {"store", "update", "delete", "alter"}
# Accesses of what is in a container.
CHOSEN = "chosen"  # an element that is named is taken out, not the next one
CONTENT = IN_PLACE | {"alter", "iterate", "snapshot", "lookup", "peek", "measure", "hand-out"}
CALLABLE = FunctionValue | Partial
NOTHING, A_CONSTANT = "none", "constant"  # what a store stores
CONTAINERS = frozenset({"empty", "fresh"})  # a container that is made there
NONE_RUNNING: frozenset[Span] = frozenset()
NOTHING_FOUND: frozenset[Value] = frozenset()
MOST_READS = 8  # paths that one variable's value is traced to
MOST_TURNS = 6  # visits of a call whose locks are told apart


def is_constant(detail: str) -> bool:
    """Whether the detail of a store says that what it stores is written down there."""
    return detail == NOTHING or detail.partition(" ")[0] == A_CONSTANT


STEP = "step"  # an update by what is at hand, with no call in between


def is_same_constant(first: Access | Act, second: Access | Act) -> bool:
    """Whether two accesses store one constant: whoever comes last stores what is there already."""
    return first.detail == second.detail and first.detail.startswith(f"{A_CONSTANT} ")


class Access(Record):
    """One spot that reads or writes a path.

    `kind` is one of `READS` and `WRITES`: "test" reads in a condition, "lookup" reads an entry of a container ("peek"
    without fear that it is not there, "measure" asks for its size), "snapshot" copies one at once, "hand-out" returns
    one, "update" is `x += 1`, "alter" calls what changes the state of a library's object.
    `detail` says what a store stores ("none", "constant" and which one in Go, "fresh" for a new container, "empty" for
    one without entries, "opened", "holder" (of such) or "object" for what has an identity, "given", "computed"), an
    update ("step" by what is at hand, "computed"), how a container behaves ("mapping", "list"), or which entry an
    "update-item" means ("=" and the key, `OWN_KEY`).
    `started` says that something may have been started earlier in this function, `joined` that it surely has ended,
    `running` where what may still run was started.
    """

    path: Value
    kind: str
    span: Span
    detail: str
    held: tuple[Held, ...]
    started: bool
    joined: int
    looped: bool = False  # in a loop of its function
    needs: Conditions = ALWAYS
    told: Told = UNTOLD  # what has been done with channels
    running: frozenset[Span] = NONE_RUNNING
    calls: tuple[Call, ...] = ()  # the helpers to which the function gives the container, and where the last one is


class Act(Record):
    """An access that depends on an earlier read of the same path, by a condition or by data.

    `through` are the locks held from the read to the act without a gap; `suspended` says that other tasks may have run
    in between.
    """

    path: Value
    kind: str
    span: Span
    check: Span
    by: str  # "condition", "data"
    through: tuple[Held, ...]
    suspended: bool
    detail: str
    started: bool
    joined: int
    caught: bool = False  # an exception is handled in this function
    check_held: tuple[Held, ...] = ()
    calls: tuple[Call, ...] = ()
    held: tuple[Held, ...] = ()  # at the act itself
    value: str = ""  # what an insertion puts in, if that has an identity; of a removal `CHOSEN`, or nothing
    needs: Conditions = ALWAYS


class CallSite(Record):
    """A call of a project's function, or of what a field or captured variable holds (`callee` is then its path).

    `given` are the arguments that are constants or can be named by the caller, by the callee's parameter. `turns` is
    what is held each time that the interpreter comes by, where that differs. `own` says that the callee is a method of
    the caller's own object, which has put it where the call finds it. `homes` are the fields that have the objects into
    which a callable is put that the caller calls out of its own one: no other object has it; none if any may.
    """

    callee: str | Value
    span: Span
    receiver: Value | None
    held: tuple[Held, ...]
    started: bool
    joined: int
    certain: bool
    looped: bool = False
    needs: Conditions = ALWAYS
    given: tuple[tuple[int, Value], ...] = ()
    used: bool = True  # something is done with what it returns
    holder: Value | None = None  # where others find a receiver that this function has made
    told: Told = UNTOLD  # what has been done with channels by then
    running: frozenset[Span] = NONE_RUNNING  # where what may still run was started
    turns: tuple[tuple[Held, ...], ...] = ()
    found: frozenset[Value] = NOTHING_FOUND  # what is given of which others may have found where it is by then
    own: bool = False
    homes: frozenset[str] = frozenset()


class Start(Record):
    """A callable that is made to run elsewhere or later; `looped` if in a loop of this function."""

    callee: Value
    kind: str
    span: Span
    many: bool
    looped: bool
    args: tuple[Values, ...] = ()  # what it is given, where that is known
    awaited: bool = False  # the function waits for it at once
    loop: Span | None = None  # the innermost loop around it
    joined: int = 0  # what has surely ended by then
    endless: bool = False  # in a loop that goes on until it is left
    again: bool = False  # a library runs it there, perhaps again and again
    group: Value | None = None  # what starts it, and tells when all that it has started have ended
    held: tuple[Held, ...] = ()
    queue: str = ""  # what runs it and others of that name one after the other
    near: bool = False  # only the thread of the loop that runs it may start it
    running: frozenset[Span] = NONE_RUNNING  # where what may still run by then was started
    needs: Conditions = ALWAYS
    through: tuple[str, Span] | None = None  # the helper that starts what calls it, and where: `go func() { f() }()`
    covering: tuple[Held, ...] = ()  # the locks that a coroutine holds which awaits it there and then
    told: Told = UNTOLD  # what has been done with channels by then: surely, and perhaps
    ended: bool = False  # it has ended when the call that starts it returns
    during: tuple[str, ...] = ()  # it runs only while a library's method of one of these names does

    def knows(self) -> Iterator[Value]:
        """What it has from its start: its receiver and its arguments."""
        if isinstance(self.callee, FunctionValue) and self.callee.receiver is not None:
            yield self.callee.receiver
        for values in self.args:
            yield from values


class Crossing(Record):
    """A container that is iterated across a suspension."""

    path: Value
    loop: Span
    span: Span
    held: tuple[Held, ...]
    joined: int


@dataclass
class Effects:
    """All that one function does to shared state."""

    accesses: dict[tuple[Span, str], list[Access]] = field(default_factory=dict)
    acts: dict[tuple[Span, Span, str], list[Act]] = field(default_factory=dict)
    calls: dict[tuple[Span, str | Value], CallSite] = field(default_factory=dict)
    starts: dict[tuple[Span, Value], Start] = field(default_factory=dict)
    stored: dict[tuple[Value, Value], Span | None] = field(default_factory=dict)  # callables by who holds them; calls
    crossings: dict[tuple[Span, Span], list[Crossing]] = field(default_factory=dict)
    suspensions: dict[Span, tuple[Held, ...]] = field(default_factory=dict)
    awaited: dict[Span, set[str]] = field(default_factory=dict)  # what suspensions wait for, as `Waking` reads it
    holds: dict[Span, tuple[Held, ...]] = field(default_factory=dict)  # what is held at the start of each statement
    guards: list[Value] = field(default_factory=list)  # locks around what a decorator's wrapper calls
    escaped: set[Value] = field(default_factory=set)  # objects made here that something started here knows
    looked_up: dict[Value, Value] = field(
        default_factory=dict
    )  # what is found by one of several keys, and its container
    disclosed: dict[Value, set[Span]] = field(default_factory=dict)  # those that what a call starts knows
    given_away: dict[Value, Span] = field(
        default_factory=dict
    )  # what was made here, and the call of a library that gets it
    exposed: dict[Value, Value] = field(default_factory=dict)  # objects made here, and the paths where others find them
    spread: set[Value] = field(default_factory=set)  # those that others find by more than one path
    notified: set[Value] = field(default_factory=set)  # conditions whose waiters it wakes
    taken: set[Value] = field(default_factory=set)  # what may be a lock that it takes
    tells_itself: bool = False  # it calls what its object was given, and gives it that object
    launches: set[tuple[Span, Value]] = field(default_factory=set)  # of which what is registered there is called then
    once: dict[Span, Value] = field(default_factory=dict)  # calls that run what they are given once, and by whom
    prepares: dict[Span, Value] = field(default_factory=dict)  # calls of other methods of what can be launched
    launchers: dict[tuple[str, str], Values] = field(default_factory=dict)  # what such fields of types are given here
    waits: dict[Span, tuple[Held, ...]] = field(default_factory=dict)  # calls that wait for what was started; locks
    joined_at_end: int = 0  # what has surely ended when the function is left
    told_at_end: frozenset[tuple[str, Value]] = frozenset()  # what has surely been done with channels then
    told: dict[tuple[str, Value, Span], frozenset[tuple[str, Value]]] = field(default_factory=dict)
    # what is done with channels and groups, and where; what had surely been done with others by then
    beside: dict[tuple[str, Value, Span], frozenset[Span]] = field(default_factory=dict)  # what may run beside that
    running_at_end: frozenset[Span] = NONE_RUNNING  # where what may still run when the function is left was started
    ended_inside: frozenset[Span] = NONE_RUNNING  # where what has ended by then was started, unless it has only failed
    told_by: dict[tuple[str, Value, Span], tuple[Held, ...]] = field(default_factory=dict)  # flags of who does that
    told_again: set[Value] = field(default_factory=set)  # channels that may have been given something before, too
    passed_on: set[tuple[str, Value, Span]] = field(default_factory=set)  # what its callees do of that, and where
    renewals: set[tuple[Value, Span]] = field(default_factory=set)  # groups that get new members, and where
    counted_up: set[Value] = field(default_factory=set)  # counters that go up here
    without_room: set[Value] = field(default_factory=set)  # channels that are made here without room
    own_channels: dict[Fresh, Field | Captured] = field(default_factory=dict)  # made here, and what holds them
    given_back: set[str] = field(default_factory=set)  # types of what is put back into pools
    counts: dict[str, Values] = field(default_factory=dict)  # numbers that libraries are given, by "package.Type.Field"
    of_call: set[Span] = field(default_factory=set)  # stores of what this very call was given, or a part of it
    polls: bool = False  # waits for any of its inputs, as each turn of a service's loop does
    asked: set[tuple[str, int]] = field(default_factory=set)
    # methods that are handed on, or called of objects of unknown type; how many arguments they get, or `UNCOUNTED`
    demanded: set[str] = field(default_factory=set)  # methods of many classes below that are called on the own object
    handed: set[tuple[str, str]] = field(default_factory=set)  # types whose objects libraries are given, by which call
    owned: set[Field] = field(default_factory=set)  # of objects from callees, which have made what they hold, too
    parts: set[Field] = field(default_factory=set)  # likewise, also where others know what they hold
    sent: dict[tuple[Value, Span], Access] = field(default_factory=dict)  # containers that channels hand over
    sent_early: set[Value] = field(default_factory=set)  # objects made here, sent before what is started here has ended
    starts_any: bool = False
    begun: set[str] = field(default_factory=set)  # types of the thread objects that it starts
    new_in: dict[str, Values] = field(default_factory=dict)  # made here, by captured variables
    begins_own: bool = False  # it starts a thread object that a field of its own instance holds
    looped: bool = False  # the statement at hand stands in a loop
    discarded: Span | None = None  # the call whose result the statement at hand throws away
    vague: set[Span] = field(default_factory=set)  # calls that may be of something besides the project's functions
    caught: bool = False  # the statement at hand stands in a try body that has handlers
    within: tuple[Call, ...] = ()  # the way to what a helper does with a container that it is given
    made: dict[tuple[Span, str], bool] = field(default_factory=dict)  # the project's objects made here; if in a loop

    def access(self, path: Value, kind: str, span: Span, state: State, detail: str = "", value: str = "") -> None:
        """Record an access of a path that others can reach, and the act it may be."""
        if type(path) is Element and kind in ("read", "test"):
            path, kind = path.base, "lookup"
        if type(start := root(path)) not in _SHARED and not self.is_disclosed(start):
            return
        entries = self.accesses.setdefault((span, kind), [])
        for index, known in enumerate(entries):
            if known.path == path:
                if known.held != state.held or known.started != state.started or known.joined != state.joined:
                    entries[index] = known._replace(
                        held=held_in_both(known.held, state.held),
                        started=known.started or state.started,
                        joined=known.joined & state.joined,
                        needs=known.needs & state.conditions() if known.needs else ALWAYS,
                    )
                elif known.needs:
                    entries[index] = known._replace(needs=known.needs & state.conditions())
                if known.told is not state.told or known.running is not state.running:
                    both = known.told[0] & state.told[0], known.told[1] | state.told[1]
                    entries[index] = entries[index]._replace(told=both, running=known.running | state.running)
                break
        else:
            entries.append(
                Access(
                    path, kind, span, detail, state.held, state.started, state.joined, self.looped, state.conditions(),
                    state.told, state.running, self.within,
                )
            )  # fmt: skip
        if state.reads is not None and kind in READS and len(state.reads) < MOST_READS:
            state.reads.append(Read(path, span, state.held, False))
        check = state.checks.get(path)
        if check is not None and check.read.span != span:
            self.act(check.read, path, kind, span, "condition", state, detail, calls=self.within, value=value)
            if kind == "store" and is_constant(detail) and detail != NOTHING and not check.read.suspended:
                state.claimed = True  # `if self.busy: return; self.busy = True`

    def use_tested(self, path: Value, span: Span, state: State) -> None:
        """Record that a test uses what an earlier one has found to be there."""
        check = state.checks.get(path)
        if check is not None and check.read.span != span:
            self.act(check.read, path, "read", span, "condition", state, "used")

    def act(
        self, read: Read, path: Value, kind: str, span: Span, by: str, state: State, detail: str,
        *, suspended: bool = False, calls: tuple[Call, ...] = (), value: str = "",
    ) -> None:  # fmt: skip
        """Record an access that depends on a read."""
        act = Act(
            path, kind, span, read.span, by, common(read.held, state.held),
            (read.suspended or suspended) and not state.claimed, detail,
            state.started, state.joined, self.caught, read.held, calls, state.held, value, state.conditions(),
        )  # fmt: skip
        entries = self.acts.setdefault((read.span, span, kind), [])
        for index, known in enumerate(entries):
            if known.path == path and known.by == by:
                entries[index] = known._replace(
                    through=common(known.through, act.through), suspended=known.suspended or act.suspended,
                    started=known.started or act.started, joined=known.joined & act.joined,
                    needs=known.needs & act.needs,
                )  # fmt: skip
                return
        entries.append(act)

    def call(
        self, callee: str | Value, span: Span, receiver: Value | None, state: State, *, certain: bool,
        given: tuple[tuple[int, Value], ...] = (),
    ) -> None:  # fmt: skip
        """Record a call."""
        key = (span, callee)
        known = self.calls.get(key)
        site = CallSite(
            callee,
            span,
            receiver,
            state.held,
            state.started,
            state.joined,
            certain,
            self.looped,
            state.conditions(),
            given,
            span != self.discarded,
            self.exposed.get(receiver) if receiver is not None and receiver in state.exposed else None,
            state.told,
            state.running,
            found=state.exposed.intersection([value for _, value in given]) if state.exposed else NOTHING_FOUND,
        )
        if known is not None:
            site = site._replace(
                found=known.found | site.found,
                held=held_in_both(known.held, site.held),
                started=known.started or site.started,
                joined=known.joined & site.joined,
                needs=known.needs & site.needs,
                told=(known.told[0] & site.told[0], known.told[1] | site.told[1]),
                running=known.running | site.running,
                given=tuple([pair for pair in known.given if pair in given]),
                turns=_each_turn(known, state.held),
            )
        self.calls[key] = site

    def start(self, start: Start) -> None:
        """Record a callable that will run elsewhere."""
        known = self.starts.get((start.span, start.callee))
        if known is not None:
            told = start.told[0] & known.told[0], start.told[1] | known.told[1]
            start = start._replace(
                running=start.running | known.running, needs=start.needs & known.needs, told=told,
                ended=start.ended and known.ended,
            )  # fmt: skip
        self.starts[start.span, start.callee] = start

    def store(self, path: Value, value: Value, call: Span | None = None) -> None:
        """Record a callable that is kept where another function may call it, and the call that hands it there."""
        if isinstance(value, CALLABLE):
            self.stored[path, value] = call or self.stored.get((path, value))

    def suspend(self, span: Span, state: State) -> None:
        """Other tasks run."""
        known = self.suspensions.get(span)
        self.suspensions[span] = state.held if known is None else held_in_both(known, state.held)
        state.suspend()

    def wait(self, span: Span, held: tuple[Held, ...]) -> None:
        """Record a wait for what was started."""
        self.waits[span] = held_in_both(self.waits[span], held) if span in self.waits else held

    def hold(self, span: Span, held: tuple[Held, ...]) -> None:
        """Record what is held when a statement starts; what another way there does not hold is not certain."""
        known = self.holds.get(span)
        if known is None:
            self.holds[span] = held
        elif known != held:
            self.holds[span] = held_in_both(known, held)

    def cross(self, path: Value, loop: Span, span: Span, joined: int) -> None:
        """An iteration has gone on after a suspension."""
        if type(root(path)) in _SHARED:
            entries = self.crossings.setdefault((loop, span), [])
            if all(entry.path != path for entry in entries):
                entries.append(Crossing(path, loop, span, self.suspensions.get(span, ()), joined))

    def holds_new(self, variable: str) -> bool:
        """Whether a captured variable holds only what is made here, and nobody else finds that anywhere."""
        held = [each for each in self.new_in.get(variable, ()) if each != NONE]
        return bool(held) and all(map(self.keeps_new, held))

    def keeps_new(self, value: Value | None) -> bool:
        """Whether a value is made here, and nobody else finds it anywhere, be it that a channel brings it early."""
        early = self.sent_early if self.joined_at_end & LOCAL else ()
        return isinstance(value, Fresh) and value not in self.exposed and value not in early

    def is_disclosed(self, made: Value) -> bool:
        """Whether something that is started here, or by a callee, knows an object that is made here."""
        return made in self.escaped or made in self.disclosed

    def is_private(self, made: Value, call: CallSite | None = None) -> bool:
        """Whether nothing that is started here knows an object that is made here, and others do not find it.

        Or not by the time when a call is given it.
        """
        if made in self.escaped or (made in self.exposed if call is None else made in call.found):
            return False
        return all(root(value) != made for start in self.starts.values() for value in start.knows())

    def all_accesses(self) -> Iterator[Access]:
        """Every access, in the order in which they were first met."""
        for entries in self.accesses.values():
            yield from entries

    def all_acts(self) -> Iterator[Act]:
        """Every act, likewise."""
        for entries in self.acts.values():
            yield from entries


_SHARED = frozenset({Param, Captured, Global, TypeValue})
_NAMED = frozenset({Field, Element, Global, Captured})


def common(first: tuple[Held, ...], second: tuple[Held, ...]) -> tuple[Held, ...]:
    """What is held in both, by the same acquisition."""
    return first if first == second else tuple([held for held in first if held in second])


def _each_turn(known: CallSite, held: tuple[Held, ...]) -> tuple[tuple[Held, ...], ...]:
    """What is held at a call on each visit, with one more; nothing where it is the same on all."""
    turns = known.turns or (known.held,)
    if held not in turns:
        return (*turns, held if len(turns) < MOST_TURNS else ())
    return turns if len(turns) > 1 else ()


def where_called(effects: Mapping[str, Effects]) -> dict[str, list[tuple[str, Span]]]:
    """By functions: those that call them, and where."""
    found: dict[str, list[tuple[str, Span]]] = defaultdict(list)
    for caller, each in effects.items():
        for span, callee in each.calls:
            if isinstance(callee, str):
                found[callee].append((caller, span))
    return found


def where_made(effects: Mapping[str, Effects]) -> dict[str, list[tuple[str, Span]]]:
    """Where objects of each type are made, by the functions that make them."""
    found: dict[str, list[tuple[str, Span]]] = defaultdict(list)
    for function, done in effects.items():
        for span, type_id in done.made:
            found[type_id].append((function, span))
    return dict(found)


def is_shared_path(path: Value) -> bool:
    """Whether a path leads to something that other functions can reach: a field, a global, a captured variable."""
    return type(path) in _NAMED and type(root(path)) in _SHARED
