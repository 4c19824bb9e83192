"""The state that the interpreter carries from statement to statement."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, TypeAlias

from racelint.analysis.failing import Failed, as_merged, failed_in_either
from racelint.analysis.meanwhile import Flagged, flags_in_either, told_apart
from racelint.analysis.paths import made_at, mentions, union
from racelint.analysis.unended import Unless, unless_in_both
from racelint.analysis.values import NOTHING_KNOWN, Literal, Param, Site, Unknown, Value, Values
from racelint.model import Defer
from racelint.record import Record
from racelint.span import Span


class Call(NamedTuple):
    """One call on the way to an event: where it stands and what it calls."""

    function: str
    span: Span
    callee: str


class Predicate(NamedTuple):
    """A property of a value that a branch has tested.

    It is "truth", "none", "equal" to a scalar or to one of some, what another package has by a name or by one of some
    ("named"), of a "class", or of one of some concrete types ("type"), or of an "other" type than some; or a container
    is "vacant", perhaps unless a property that is the scalar has an outcome.
    """

    value: Value
    test: str
    scalar: object = None


class Resize(NamedTuple):
    """A container gains, loses or reorders entries.

    `change` is "insert", "remove", "clear", "append" (at the end of a sequence) or "reorder"; `operation` is what the
    source says; `keys` are the alternatives of the key that it is about. `calls` leads from the function at hand to the
    change, outermost first. `tested` says that the key was found missing just before. `added` are the functions and
    objects that it puts in, `kind` is the container's behaviour where the change stands ("" if unknown), `certain` is
    false if a callee on the way was found by its name alone, `singled` says that an `==` picked out the element
    (in Go one of the function at hand).
    `particular` are the objects for which alone it is made: a callee has compared its parameter with another object.
    `rare` says that it is made by a callback that is mostly called later. `answer` is what the callee that makes it
    returns then ("" if it is no constant). `raising` says that a callee raises behind it, and catches nothing. `vacant`
    says that it is made only where a test has found the container empty, `unless` that this was so, or the caller has
    given something with this property.
    """

    container: Value
    change: str
    operation: str
    keys: Values
    function: str
    span: Span
    calls: tuple[Call, ...] = ()
    certain: bool = True
    added: Values = ()
    tested: bool = False
    kind: str = ""
    singled: bool = False
    particular: Values = ()
    rare: bool = False
    answer: str = ""
    raising: bool = False
    vacant: bool = False
    unless: tuple[Predicate, bool] | None = None


class Invoke(NamedTuple):
    """A call of a value that only a caller can name: a parameter, or something taken out of a container."""

    callee: Value
    args: tuple[Values, ...]
    keywords: tuple[tuple[str, Values], ...]
    function: str
    span: Span
    calls: tuple[Call, ...] = ()
    guarded: bool = False  # under some lock, in a language in which that decides


Event: TypeAlias = Resize | Invoke


IDENTIFYING = frozenset({"name", "id", "uid", "uuid", "key"})  # fields that no two elements have alike, mostly
THREADS, LOCAL, TASKS, GIVEN, POOLS, STOPPED = 1, 2, 4, 8, 16, 32
OFFSPRING = Span(0, 0, 0, 0)  # stands among what runs for all that has been started by what has ended itself
TAKE = "take"  # a receive from a channel, or a flag that is found set; else it is given something, closed or set
SET = "set"
ENDED = "ended"  # a context is over, and time may have ended it
CLOSED = "closed"  # a loop over a channel has come to its end, or nothing was received
ANSWERED = "@answered"  # stands among the flags for what a function has returned that only a caller can name
GIVES = frozenset({"send", "close", SET})
DONE, WAIT = "done", "wait"  # one of a group of goroutines is about to end; all of them have
LEFT, OUT = "left", "out"  # one of those who are counted is about to leave; all of them have
LAST = "last"  # this one was the last of them
FILLED = "filled"  # a semaphore has room for nobody: all who had it have given it back
OF_COUNTERS = frozenset({LEFT, OUT, LAST})
OF_GROUPS = frozenset({DONE, WAIT, LEFT, OUT})
NOBODY = "nobody"  # there was nothing, and so nobody to wait for
Told: TypeAlias = tuple[frozenset[tuple[str, Value]], frozenset[tuple[str, Value]]]  # surely, and perhaps
UNTOLD: Told = (frozenset(), frozenset())
FLAG = "flag"  # the kind of a lock that is a flag
TASK_FLAG = "task flag"  # one that keeps out the other tasks of an event loop only
FLAGS = frozenset({FLAG, TASK_FLAG})
MAYBE_HELD = "maybe"  # the kind of a lock that is held on one of the ways that lead here
UNOPEN = FLAGS | {"async", MAYBE_HELD}  # kinds of locks that are held or not


class Held(Record):
    """A lock that is held, and where it was taken.

    `kind` is the knowledge row's, "unknown" for a lock by its name, `FLAG` for a flag that was found unset and set
    under one lock: until it is set back it keeps out whoever tests it so. `TASK_FLAG` is one that is found unset and
    set without a lock, which no other task of the event loop can do meanwhile. A lock of kind `MAYBE_HELD` excludes
    nobody for sure: `if known { mu.Lock(); defer mu.Unlock() }`.
    """

    lock: Value
    taken: Span
    kind: str


class Read(Record):
    """A read that later acts may depend on; `suspended` says that other tasks may have run since."""

    path: Value
    span: Span
    held: tuple[Held, ...]
    suspended: bool
    steps: int = 0  # variables that the value went through since


class Check(Record):
    """A read that a branch has tested, and how the test came out."""

    read: Read
    outcome: bool


Assumptions: TypeAlias = dict[Predicate, bool]
Conditions: TypeAlias = frozenset[tuple[Predicate, bool]]  # what must hold of a function's own parameters
ALWAYS: Conditions = frozenset()
Flags: TypeAlias = frozenset[tuple[str, Value]]
Pending: TypeAlias = dict[Event, Flags]  # what has happened, with the constants that variables held then


class State:
    """Variables, assigned paths, what is known of keys and conditions, and the resizes since the loop turn began.

    `pending` maps each resize (and each call that may turn out to be one) to the constants that flag variables held
    with it, so that `if found: break` after the branch that resized is understood. `held` are the locks that are
    certainly held, `released` those of the caller that may have been given back, `checks` the tested reads that what
    runs now depends on, `sources` the reads behind each variable, `reads` gathers reads while an expression is
    evaluated (None: nobody asks). `started` says that something may have been started that runs beside what follows,
    `joined` what has surely ended: `THREADS`, what this function has started itself (`LOCAL`), the tasks that the own
    class has started (`TASKS`), the jobs of the own pools (`POOLS`), a library's one thread that can be told to stop
    (`STOPPED`); or that something has been waited for that others
    give (`GIVEN`). `running` are the spots where this function has started what may still run, `several` those of them
    where it may have started it several times by now, `failed` the variables
    that hold a failure wherever that still runs, `flags` those that are true, or false, wherever it does.
    `claimed` says that a flag keeps other instances out, `compared` which
    pairs of variables a test has found equal or different, `waited` that other tasks may have run in this turn of a
    loop, `crossed` are iterations of this turn that have been suspended: container, loop, suspension.
    """

    __slots__ = (
        "absent", "assumptions", "checks", "claimed", "compared", "crossed", "deferred", "excluded", "exposed",
        "failed", "flags", "heap", "held", "joined", "over", "pending", "present", "reads", "released", "running",
        "several", "signalled", "singled", "sources", "started", "told", "unless", "variables", "waited",
    )  # fmt: skip

    def __init__(self) -> None:
        self.variables: dict[str, Values] = {}
        self.heap: dict[Value, Values] = {}
        self.present: frozenset[tuple[Value, Value]] = frozenset()  # pairs of container and key
        self.absent: frozenset[tuple[Value, Value]] = frozenset()
        self.singled: frozenset[Value] = frozenset()  # values found equal to another one
        self.assumptions: Assumptions = {}
        self.compared: dict[frozenset[str], bool] = {}
        self.pending: Pending = {}
        self.held: tuple[Held, ...] = ()
        self.released: frozenset[Value] = frozenset()
        self.checks: dict[Value, Check] = {}
        self.sources: dict[str, tuple[Read, ...]] = {}
        self.reads: list[Read] | None = None
        self.started = False
        self.exposed: frozenset[Value] = frozenset()  # objects made here that others may find by now
        self.signalled: frozenset[Value] = frozenset()  # objects of which a channel has told that they are ready
        self.told = UNTOLD  # what has been done with channels
        self.over: frozenset[Value] = frozenset()  # contexts that have ended
        self.unless: Unless = frozenset()  # what has been done with channels unless a context has ended
        self.joined = 0
        self.running: frozenset[Span] = frozenset()
        self.several: frozenset[Span] = frozenset()
        self.failed: Failed = {}
        self.flags: Flagged = {}
        self.excluded: frozenset[tuple[Value, Value]] = frozenset()  # paths, and constants that these are not
        self.claimed = False
        self.waited = False
        self.crossed: frozenset[tuple[Value, Span, Span]] = frozenset()
        self.deferred: tuple[tuple[Defer, bool], ...] = ()  # what runs on leaving, and whether it surely does

    def copy(self) -> State:
        """An independent copy."""
        other = State.__new__(State)
        other.variables = self.variables.copy()
        other.heap = self.heap.copy()
        other.present, other.absent, other.singled = self.present, self.absent, self.singled
        other.assumptions = self.assumptions.copy() if self.assumptions else {}
        other.compared = self.compared.copy() if self.compared else {}
        other.pending = self.pending.copy() if self.pending else {}
        other.held, other.started, other.joined, other.reads = self.held, self.started, self.joined, self.reads
        other.claimed, other.crossed, other.waited = self.claimed, self.crossed, self.waited
        other.deferred, other.signalled, other.told = self.deferred, self.signalled, self.told
        other.exposed, other.released, other.running = self.exposed, self.released, self.running
        other.failed, other.several, other.excluded = self.failed, self.several, self.excluded
        other.flags, other.over, other.unless = self.flags, self.over, self.unless
        other.checks = self.checks.copy() if self.checks else {}
        other.sources = self.sources.copy() if self.sources else {}
        return other

    def wait(self) -> None:
        """All that this function has started has ended."""
        self.joined |= LOCAL
        self.running = self.several = frozenset()

    def run(self, started: Span) -> None:
        """What was started at a spot may run from now on."""
        if started in self.running:
            self.several |= {started}
        self.running |= {started}
        if started in self.failed:
            self.failed = {span: failed for span, failed in self.failed.items() if span != started}
        if started in self.flags:
            self.flags = {span: flags for span, flags in self.flags.items() if span != started}

    def is_something(self, value: Value) -> bool:
        """Whether a test has found that a value is not nothing."""
        nothing = self.assumptions.get(Predicate(value, "none"))
        return nothing is False or self.assumptions.get(Predicate(value, "truth")) is True

    def end(self, started: Collection[Span], *, goes_on: bool = False) -> None:
        """What was started at some spots has ended, though what that has started itself perhaps goes on."""
        if not self.running.isdisjoint(started):
            self.running -= frozenset(started)
            self.running |= {OFFSPRING} if goes_on else frozenset()
            self.several &= self.running
            if not self.running:
                self.wait()

    def tell(self, operation: str, paths: Values) -> None:
        """Something has been done with a channel, if it is known which one it is."""
        done = {(operation, path) for path in paths}
        self.told = self.told[0] | (done if len(done) == 1 else frozenset()), self.told[1] | done

    def untell(self, operation: str, path: Value) -> None:
        """What had been done is not any more: a group that all were waited for has a new member."""
        self.told = self.told[0] - {(operation, path)}, self.told[1]

    def conditions(self) -> Conditions:
        """What the path to here says about the function's own parameters."""
        if not self.assumptions:
            return ALWAYS
        return frozenset(
            [
                (p, held)
                for p, held in self.assumptions.items()
                if type(p.value) is Param and p.test not in ("class", "vacant")
            ]
        )

    def asked(self) -> Conditions:
        """Of which classes of the project the caller's objects are here."""
        if not self.assumptions:
            return ALWAYS
        return frozenset([(p, held) for p, held in self.assumptions.items() if p.test == "class"])

    def drop_flag(self, path: Value) -> None:
        """A flag gets another value: it keeps nobody out any more."""
        if any([held.lock == path and held.kind in FLAGS for held in self.held]):
            self.held = tuple([held for held in self.held if held.lock != path or held.kind not in FLAGS])

    def suspend(self) -> None:
        """Other tasks run: what was read before may no longer hold."""
        constants = [p for p, values in self.heap.items() if all([isinstance(v, Literal) for v in values])]
        for path in constants:
            del self.heap[path]
        if self.reads:
            self.reads[:] = [read._replace(suspended=True) for read in self.reads]
        if self.checks:
            self.checks = {p: c._replace(read=c.read._replace(suspended=True)) for p, c in self.checks.items()}
        if self.sources:
            self.sources = {n: tuple([r._replace(suspended=True) for r in reads]) for n, reads in self.sources.items()}

    def same_as(self, other: State) -> bool:
        """Whether another turn from `other` would see anything new (pending resizes are seen at once, not carried)."""
        return (
            self.variables == other.variables
            and self.heap == other.heap
            and self.present == other.present
            and self.absent == other.absent
            and self.singled == other.singled
            and self.assumptions == other.assumptions
            and self.compared == other.compared
            and self.held == other.held
            and self.deferred == other.deferred
            and self.started == other.started
            and self.running == other.running
            and self.several == other.several
            and self.failed == other.failed
            and self.flags == other.flags
            and self.excluded == other.excluded
            and self.told == other.told
            and self.over == other.over
            and self.unless == other.unless
            and self.exposed == other.exposed
        )

    def assign(self, name: str, values: Values) -> None:
        """Give a variable new values."""
        self.variables[name] = values
        self.forget_compared(name)
        if self.pending:
            flag = values[0] if len(values) == 1 and isinstance(values[0], Literal) else None
            for resize, flags in self.pending.items():
                kept = frozenset([entry for entry in flags if entry[0] != name])
                self.pending[resize] = kept | {(name, flag)} if flag is not None else kept

    def forget_compared(self, name: str) -> None:
        """A variable gets another value, or may get one any time: what tests have said of it holds no more."""
        if self.compared:
            self.compared = {pair: equal for pair, equal in self.compared.items() if name not in pair}

    def record(self, event: Event) -> None:
        """Record an event of this loop turn, with the flags that hold now."""
        if event not in self.pending:
            flags = [
                (name, values[0])
                for name, values in self.variables.items()
                if len(values) == 1 and isinstance(values[0], Literal) and not isinstance(values[0].value, str | bytes)
            ]
            self.pending[event] = frozenset(flags)

    def answered(self, event: Invoke) -> str:
        """What a function that only a caller can name has returned on each way here; "" if that is not known."""
        return next(
            (str(v.value) for name, v in self.pending[event] if name == ANSWERED and isinstance(v, Literal)), ""
        )

    def forget(self, site: Site) -> None:
        """What an earlier turn made at a site is another object than what is made there now (recency abstraction)."""
        here = (site.function, site.span)
        for name, values in self.variables.items():
            if here in made_at(values):
                self.variables[name] = without(values, site)
        for path, values in list(self.heap.items()):
            if here not in made_at((path, *values)):
                continue
            if mentions(path, site):
                del self.heap[path]
            else:
                self.heap[path] = without(values, site)
        self.present, self.absent = _outliving(self.present, site), _outliving(self.absent, site)
        self.singled = frozenset([value for value in self.singled if not mentions(value, site)])
        self.exposed = frozenset([value for value in self.exposed if not mentions(value, site)])
        if self.assumptions:
            self.assumptions = {p: held for p, held in self.assumptions.items() if not mentions(p.value, site)}
        if self.over or self.unless:
            self.over = frozenset([context for context in self.over if not mentions(context, site)])
            self.unless = frozenset([(c, done) for c, done in self.unless if not mentions(c, site)])


def _outliving(pairs: frozenset[tuple[Value, Value]], site: Site) -> frozenset[tuple[Value, Value]]:
    return frozenset([p for p in pairs if not (mentions(p[0], site) or mentions(p[1], site))]) if pairs else pairs


def without(values: Values, site: Site) -> Values:
    """Values of which those that are about what is made at a site are unknown."""
    kept = tuple([value for value in values if not mentions(value, site)])
    return union(kept, NOTHING_KNOWN)


def join(first: State | None, second: State | None) -> State | None:
    """What may hold after either; the first argument is reused."""
    if first is None or second is None or first is second:
        return first or second
    failed, flagged = failed_in_either(first, second), flags_in_either(first, second)
    _merge(first.variables, second.variables)
    for path, two in second.heap.items():
        one = first.heap.get(path)
        if one is not two:
            first.heap[path] = union((path,) if one is None else one, two)
    for path, one in first.heap.items():
        if path not in second.heap:
            first.heap[path] = union(one, (path,))
    first.present, first.absent = first.present & second.present, first.absent & second.absent
    first.singled, first.signalled = first.singled & second.singled, first.signalled & second.signalled
    first.unless, first.over = unless_in_both(first, second), first.over & second.over
    if first.told is not second.told:
        first.told = first.told[0] & second.told[0], first.told[1] | second.told[1]
    if first.held != second.held:
        first.held = held_in_both(first.held, second.held)
    first.released |= second.released
    first.claimed, first.waited = first.claimed and second.claimed, first.waited or second.waited
    first.crossed |= second.crossed
    first.exposed |= second.exposed
    first.running |= second.running
    first.several |= second.several
    first.failed, first.flags = as_merged(failed, first), told_apart(flagged, first)
    first.excluded &= second.excluded
    if first.deferred != second.deferred:
        first.deferred = _either(first.deferred, second.deferred)
    joined = first.joined & second.joined
    if not (first.started and second.started):  # where nothing has been started, all of it has ended
        joined |= (first.joined | second.joined) & LOCAL if first.started != second.started else 0
    first.started, first.joined = first.started or second.started, joined
    if first.checks:
        first.checks = _common_checks(first.checks, second.checks)
    if second.sources:
        for name, reads in second.sources.items():
            known = first.sources.get(name)
            first.sources[name] = reads if known is None else tuple(dict.fromkeys((*known, *reads)))
    if first.assumptions:
        first.assumptions = {p: held for p, held in first.assumptions.items() if second.assumptions.get(p) is held}
    if first.compared:
        first.compared = {pair: equal for pair, equal in first.compared.items() if second.compared.get(pair) is equal}
    for resize, flags in second.pending.items():
        first.pending[resize] = first.pending[resize] & flags if resize in first.pending else flags
    return first


def _either(
    first: tuple[tuple[Defer, bool], ...], second: tuple[tuple[Defer, bool], ...]
) -> tuple[tuple[Defer, bool], ...]:
    """What is deferred on either way, in order; what only one way has deferred may not run."""
    mine, other = dict(first), dict(second)
    return tuple([(stmt, mine.get(stmt, False) and other.get(stmt, False)) for stmt in {**mine, **other}])


def held_in_both(first: tuple[Held, ...], second: tuple[Held, ...]) -> tuple[Held, ...]:
    """What is held on both ways, wherever each has taken it; a side that others share is all that is sure.

    What was open on one way, as after a branch that takes a lock, stays so.
    """
    found: list[Held] = []
    for held in first:
        other = held if held in second else next((h for h in second if _is_same_lock(held, h)), None)
        if other is not None and other != held:
            one, two = sorted((held.taken, other.taken))
            between = Span(one.line, one.column, max(one.end_line, two.end_line), max(one.end_column, two.end_column))
            held = Held(held.lock, between, held.kind if other.kind == held.kind else "shared")
        if other is not None:
            found.append(held)
    if len(found) == len(first) == len(second):
        return tuple(found)
    known = {held.lock for held in found}
    perhaps = {held.lock: held for held in (*first, *second) if held.kind == MAYBE_HELD and held.lock not in known}
    return (*found, *perhaps.values())


def surely_held(held: tuple[Held, ...]) -> tuple[Held, ...]:
    """The locks that are held on all ways."""
    return tuple([each for each in held if each.kind != MAYBE_HELD])


def held_in_any(states: list[State]) -> tuple[Value, ...]:
    """The locks that are held on some of the ways, in order; those of tasks, and flags, are held or not."""
    return tuple(dict.fromkeys([held.lock for state in states for held in state.held if held.kind not in UNOPEN]))


def _is_same_lock(first: Held, second: Held) -> bool:
    special = FLAGS | {MAYBE_HELD}
    return (
        first.lock == second.lock and special.isdisjoint((first.kind, second.kind)) and type(first.lock) is not Unknown
    )


def _common_checks(first: dict[Value, Check], second: dict[Value, Check]) -> dict[Value, Check]:
    """Tests that came out the same on both ways; other tasks may have run on one of them."""
    found: dict[Value, Check] = {}
    for path, check in first.items():
        other = second.get(path)
        if other == check:
            found[path] = check
        elif other is not None and other.outcome == check.outcome and other.read.span == check.read.span:
            held = tuple([h for h in check.read.held if h in other.read.held])
            found[path] = check._replace(read=check.read._replace(suspended=True, held=held))
    return found


def _merge(first: dict[str, Values], second: dict[str, Values]) -> None:
    """A variable that only one side has assigned keeps its value: using it after the other side would be an error."""
    for name, values in second.items():
        known = first.get(name)
        if known is None:
            first[name] = values
        elif known is not values:
            first[name] = union(known, values)
