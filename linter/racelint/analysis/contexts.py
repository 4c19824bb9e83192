"""Contexts: what runs beside what, and in which states (context, lockset, receiver) each function is entered.

Entry states are propagated from the roots along calls, top-down, after RacerD's idea of keeping accesses where they are
(Blackshear et al. 2018); one intersection over all callers would be wrong both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from racelint.analysis.conditions import satisfies
from racelint.analysis.decorating import Passed
from racelint.analysis.effects import Access, Act, CallSite, Effects
from racelint.analysis.modes import Mode
from racelint.analysis.state import Conditions, Predicate
from racelint.analysis.values import NAMED, Builtin, Element, FunctionValue, Literal, Param, Partial, Value
from racelint.record import Record
from racelint.span import Span

EXTERNAL = "external"
ASYNC_EXTERNAL = "async external"
OBJECT = "object of"  # stands for the type of what is known as an object of one type only
BY_TYPE = frozenset({"type", "other"})  # tests of an object's type
DECIDING = BY_TYPE | {"truth", "none", "equal", "named"}
LOOP = frozenset({"task", "loop", "remote", "greenlet", ASYNC_EXTERNAL})
ELSEWHERE = "?"  # an object that no field is known to hold
MOST_STEPS = 60  # calls from a context's root


class Context(Record):
    """Something that runs concurrently.

    `kind` is "thread", "pool", "task", "loop", "remote", "handler", "decorated" (calls of what a decorator has made),
    "process", "unknown", "external" (callers'
    threads) or "async external" (callers' tasks). `starter` and `span` say where it is started (None: by a library or
    by callers). `many` says that several run at once on the same object; `receiver` is FRESH, OWN or SHARED.
    """

    kind: str
    function: str
    starter: str | None
    span: Span | None
    many: bool
    receiver: int
    certain: bool = True
    awaited: bool = False  # its starter waits for it at once
    own: bool = False  # it runs a method of its starter's own instance
    origin: str = ""  # the field that holds the instance whose method it runs: "Type.field"
    type: str = ""  # the class of that instance, if it is not its starter's own
    queue: str = ""  # what runs it and others of that name one after the other
    near: bool = False  # only the thread of the loop that runs it may start it
    turn: str = ""  # what serves it and others of that name one at a time, as far as the program has it served
    ended: bool = False  # it has ended when the call by which its starter starts it returns

    @property
    def is_loop(self) -> bool:
        """Whether it runs on an event loop, one at a time between suspensions."""
        return self.kind in LOOP

    @property
    def is_external(self) -> bool:
        """Whether callers of the public interface are meant."""
        return self.kind in (EXTERNAL, ASYNC_EXTERNAL)


Flags: TypeAlias = frozenset[tuple[int, Literal]]


class Entry(NamedTuple):
    """A state in which a function is entered, and the call that leads there (None for a context's root)."""

    context: int
    receiver: int
    locks: frozenset[str]
    type: str = ""  # the class of the function's own instance, as near as the calls tell
    sure: bool = True  # whether every call on the way was resolved by type, none by its name alone
    before: str = ""  # the function in which the call stands before its first start, "" if in none
    origin: str = ""  # the field through which the function's own instance was reached, "" if it was not
    flags: Flags = frozenset()  # constants, or types, that parameters have which decide what the function does
    constructor: str = ""  # which constructor is still at work on the own instance: only what it has started knows it
    passed: Passed | None = None  # the outermost decorator on the way behind which any of several types may lie
    made: bool = False  # whether the context's own run has made the function's own instance, as far as the calls tell
    program: tuple[str, ...] = ()  # what the context's root is part of, where another root's program has other callees


class Came(NamedTuple):
    """The caller, its own entry and the call by which a function was entered; `looped` if that is in a loop."""

    caller: str
    entry: Entry
    span: Span
    looped: bool = False
    own: bool = False  # on the caller's own instance


def never(_: str) -> bool:
    """What is not known of any function."""
    return False


@dataclass
class Contexts:
    """All contexts, and for each function the states in which it is entered."""

    roots: list[Context] = field(default_factory=list)
    entries: dict[str, dict[Entry, Came | None]] = field(default_factory=dict)
    started_under: dict[str, frozenset[int]] = field(default_factory=dict)  # by the calls of a function
    replaced: dict[tuple[str, Entry], Came] = field(default_factory=dict)  # states for which weaker ones stand now
    _ways: dict[tuple[str, Entry], list[tuple[str, Span]]] = field(default_factory=dict)
    made_in: dict[str, set[int]] = field(default_factory=dict)  # the contexts in which objects of a type are made
    turning: dict[str, set[str]] = field(default_factory=dict)  # what polls its inputs, with what leads there
    singles: set[str] = field(default_factory=set)  # types of which there is one object
    runs_once: Callable[[str], object] = never  # whether a program runs a function once, if at all
    left_to_tests: set[str] = field(default_factory=set)  # functions that start something, and that only tests call
    modes: dict[str, frozenset[Mode]] = field(default_factory=dict)  # by a function, what the process is that runs it
    modes_of_starts: dict[tuple[str, Span], frozenset[Mode]] = field(default_factory=dict)  # by a starter and its spot
    outermost: dict[int, frozenset[str]] = field(default_factory=dict)  # of the functions that start a context
    separate: frozenset[str] = frozenset()  # what is started as a process of its own
    covered: set[int] = field(default_factory=set)  # contexts whose starter waits for them before it returns
    inherited: dict[int, frozenset[str]] = field(default_factory=dict)  # locks of who has started a context and waits
    consuming: set[str] = field(default_factory=set)  # what a started context takes one result after the other from
    begun: dict[tuple[str, Span], set[str]] = field(default_factory=dict)  # by a helper's start, whom it calls
    sites: dict[tuple[str, Span, str], CallSite] = field(default_factory=dict)  # by caller, span and callee

    def are_in_two_processes(self, first: int, second: int) -> bool:
        """Whether only a process of its own starts one of two contexts, and not the other one; callers are outside."""
        inside = self.separate
        if not inside or "process" in (self.roots[first].kind, self.roots[second].kind):
            return False
        outside = frozenset({EXTERNAL})
        one, two = (
            outside if self.roots[i].is_external else self.outermost.get(i, frozenset()) for i in (first, second)
        )
        return bool(one) and bool(two) and one.isdisjoint(two) and (one <= inside or two <= inside)

    def came(self, function: str, entry: Entry) -> Came | None:
        """The call by which a state of a function was found, be it that a weaker one stands for that now."""
        came = self.entries.get(function, {}).get(entry)
        return came if came is not None else self.replaced.get((function, entry))

    def comes_first(self, function: str, entry: Entry) -> bool:
        """Whether no call on the way to an entry comes after one that has started something."""
        if entry.before:
            return True
        for _ in range(MOST_STEPS):
            came = self.came(function, entry)
            if came is None:
                return True
            site = self.sites.get((came.caller, came.span, function))
            if site is None or site.started:
                return False
            function, entry = came.caller, came.entry
        return False

    def given(self, came: Came, callee: str, parameter: Param, *, elements: bool = False) -> Value | None:
        """What a call gives for a parameter, in the caller's terms; one of several only if `elements` are asked for."""
        site = self.sites.get((came.caller, came.span, callee))
        if site is None:
            return None
        value = dict(site.given).get(parameter.index)
        if value is None or (isinstance(value, Element) and not elements):
            return site.receiver if parameter.index == 0 else None
        return value

    def root(self, function: str, entry: Entry) -> str:
        """The function in which the way to an entry starts."""
        way = self.way(function, entry)
        return way[0][0] if way else function

    def is_looped(self, function: str, entry: Entry) -> bool:
        """Whether some call on the way from a context's root stands in a loop."""
        came, steps = self.came(function, entry), 0
        while came is not None and steps < MOST_STEPS:
            if came.looped:
                return True
            came, steps = self.came(came.caller, came.entry), steps + 1
        return False

    def way(self, function: str, entry: Entry) -> list[tuple[str, Span]]:
        """The calls from a context's root to a function, outermost first: the calling functions and the spans."""
        known = self._ways.get((function, entry))
        if known is not None:
            return known
        way: list[tuple[str, Span]] = []
        came = self.came(function, entry)
        while came is not None and len(way) < MOST_STEPS:
            way.append((came.caller, came.span))
            came = self.came(came.caller, came.entry)
        self._ways[function, entry] = way[::-1]
        return way[::-1]

    def steps(self, function: str, entry: Entry, span: Span) -> list[tuple[str, Span]]:
        """The calls from a context's root to a function, and the spot there that they lead to."""
        return [*self.way(function, entry), (function, span)]

    def locks_on_way(self, function: str, entry: Entry) -> list[frozenset[str]]:
        """The locks held at each call of `way`, as what is called there is entered with them."""
        held: list[frozenset[str]] = []
        came = self.came(function, entry)
        while came is not None and len(held) < MOST_STEPS:
            held.append(entry.locks)
            entry = came.entry
            came = self.came(came.caller, entry)
        return held[::-1]


def is_possible(needs: Conditions, entry: Entry) -> bool:
    """Whether a spot can be reached with the constants that a function was given."""
    if not needs or not entry.flags:
        return True
    given = dict(entry.flags)
    for predicate, outcome in needs:
        literal = given.get(predicate.value.index) if isinstance(predicate.value, Param) else None
        if literal is not None and predicate.test in DECIDING and _rules_out(literal, predicate, outcome=outcome):
            return False
    return True


def _rules_out(given: Literal, predicate: Predicate, *, outcome: bool) -> bool:
    """Whether what a parameter is given, or its type, does not let a test have an outcome."""
    if kind_of_constant(given) != kind_of_test(predicate.test):
        return False
    if given.type == OBJECT:
        among = isinstance(predicate.scalar, frozenset) and given.value in predicate.scalar
        return outcome and among is (predicate.test == "other")
    return satisfies(given, predicate) is not outcome


def kind_of_constant(given: Literal) -> str:
    """What a test must ask for that a constant answers: its value, its type, or its name in another package."""
    return {OBJECT: "type", NAMED: "named"}.get(given.type, "value")


def kind_of_test(test: str) -> str:
    """What a test asks for, in the same words."""
    if test in BY_TYPE:
        return "type"
    return test if test == "named" else "value"


def is_early(site: Access | Act | CallSite, effects: Effects) -> bool:
    """Whether a spot comes before the first start of its function."""
    return effects.starts_any and not site.started


def targets(value: Value) -> tuple[FunctionValue, ...]:
    """The functions that a callable value stands for, with their receivers."""
    match value:
        case FunctionValue():
            return (value,)
        case Partial(callee=Builtin(name="coroutine"), args=((FunctionValue(function=function),), *given)):
            receiver = given[0][0] if given and given[0] else None
            return (FunctionValue(function, receiver),)
        case Partial(callee=callee):
            return targets(callee)
        case _:
            return ()
