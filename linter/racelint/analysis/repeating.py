"""Repeating: what a function starts once runs several times at once, if that function runs again or side by side.

`func (s *Server) handle(...) { go s.record() }` is called for each request, `spawn` for each name in a loop. An event
handler and a reconciler run one after the other, but do not wait for what they start.
"""

from __future__ import annotations

from typing import NamedTuple

from racelint.analysis.branching import counts, loops_around, waits
from racelint.analysis.common import Common
from racelint.analysis.contexts import Came, Context, Contexts, Entry, targets
from racelint.analysis.eachcall import EachCall
from racelint.analysis.effects import Effects, Start
from racelint.analysis.listed import is_started_once
from racelint.analysis.memory import LISTENER, OF_VARIABLE, Memory
from racelint.analysis.objects import SHARED
from racelint.analysis.paths import prefixes, rebased, root
from racelint.analysis.places import FLAG_MARK, Places
from racelint.analysis.renewedstarts import RenewedStarts
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE, HANDED_ON
from racelint.analysis.state import FLAGS, LOCAL
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Element, Field, Fresh, Global, Member, Param, TypeValue, Value
from racelint.model import Attr, Call, Loop, Name, Op, Spawn
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 20  # calls from a starter up to a loop
WAITS = frozenset({"receive", "wait", "join", "sleep", "get", "recv", "result", "done"})  # names of calls, mostly


class Runs(NamedTuple):
    """Whether several runs of a context come together, and whether they do on one object of their starter."""

    meet: bool
    on_one: bool
    called: bool = False  # only callers from outside say so, who come again


ONCE = Runs(meet=False, on_one=False)


class Repeating:
    """Finds starters that run again before what they have started has ended."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, memory: Memory, places: Places
    ) -> None:
        self._symbols = symbols
        self._places = places
        self._effects = effects
        self._contexts = contexts
        self._memory = memory
        self._common = Common(symbols)
        self._each_call = EachCall(symbols, effects, contexts)
        self._renewed = RenewedStarts(symbols, effects, places, contexts)
        self._runs: dict[Context, Runs] = {}

    def meets_itself(self, context: Context) -> bool:
        """Whether several runs of a context come together at all."""
        return self.runs(context).meet

    def share(self, context: Context, first: Spot, second: Spot) -> bool:
        """Whether several runs of a context come together at what both accesses are about."""
        runs = self.runs(context)
        return runs.meet and all(self._is_common(spot, context, runs) for spot in (first, second))

    def is_one_run(self, one: Context, two: Context) -> bool:
        """Whether one statement has started either of two contexts, by what a variable holds, and is not passed again.

        `k := current; if k == nil { k = newKeeper() }; go k.run()`
        """
        if one == two or one.starter is None or (one.starter, one.span) != (two.starter, two.span):
            return False
        if one.many or two.many or not self._is_spawned(one) or not self._is_spawned(two):
            return False
        return not (self.meets_itself(one) or self.meets_itself(two))

    def _is_spawned(self, context: Context) -> bool:
        """Whether a context is what a statement outside of loops starts, not what a helper does that it starts."""
        starter = context.starter or ""
        started = [each for each in self._effects[starter].starts.values() if each.span == context.span]
        direct = [each.through is None and not each.looped for each in started if context.function in _functions(each)]
        if not direct or not all(direct):
            return False
        spawned = [node for node in records(self._symbols.functions[starter][1].body) if isinstance(node, Spawn)]
        return any([isinstance(node.call, Call) and node.call.span == context.span for node in spawned])

    def has_one_each_turn(self, spot: Spot, context: Context) -> bool:
        """Whether the loop that starts a context hands an element to each: `for _, l := range all { go serve(l) }`."""
        inside = spot.access.kind not in OF_VARIABLE
        return self.is_one_each_turn(_holder(spot.access.path), spot.function, spot.entry, context, inside=inside)

    def is_one_each_turn(
        self, path: Value, function: str, entry: Entry, context: Context, *, inside: bool = False
    ) -> bool:  # fmt: skip
        """Whether a path is an element that the loop which starts a context has handed to it."""
        for _ in range(MOST_STEPS if context.starter is not None else 0):
            came = self._contexts.came(function, entry)
            if not isinstance(path, Param):
                return False  # what lies behind a field of it may be the others', too
            if came is None:
                handed = self._handed(path, context)
                return all(
                    [value is not None and self._is_of_one_turn(value, context, inside=inside) for value in handed]
                )
            given = self._contexts.given(came, function, path)
            if given is None:
                return False
            path, function, entry = given, came.caller, came.entry
        return False

    def _is_of_one_turn(self, value: Value, context: Context, *, inside: bool) -> bool:
        """Whether what is handed to a context is an element, or one of those that its starter has put into a list."""
        if _is_one_of_several(value):
            return True
        starter, method = context.starter, self._symbols.functions[context.function][1].name
        if starter is None or context.span is None or not isinstance(value, Fresh) or value.site.function != starter:
            return False
        return is_started_once(self._symbols, starter, context.span, method, value, inside=inside)

    def _is_common(self, spot: Spot, context: Context, runs: Runs) -> bool:
        """Whether each run has the object of an access from outside of the call that has started it."""
        path, function, entry = _holder(spot.access.path), spot.function, spot.entry
        for _ in range(MOST_STEPS):
            start, came = root(path), self._contexts.came(function, entry)
            if isinstance(start, Global | TypeValue):
                return True
            if _is_one_of_several(path) or not isinstance(start, Param | Captured):
                return False
            if came is None:
                return self._is_in_common(path, context, runs) or self._is_from_outside(start, context, runs)
            given = self._contexts.given(came, function, start) if isinstance(start, Param) else self._seen(start, came)
            if given is None:
                return False
            path, function, entry = rebased(path, start, given), came.caller, came.entry
        return False

    def _is_in_common(self, path: Value, context: Context, runs: Runs) -> bool:
        """Whether a path leads through a field in which all objects have one: `self.server.names` of a connection."""
        while isinstance(path, Field) and not isinstance(path.base, Param | Captured):
            path = path.base
        start = self._memory.start(context)
        if not isinstance(path, Field) or start is None or not (runs.on_one or start.looped):
            return False
        if isinstance(path.base, Captured):  # of the call that has started it: what that was given, or has made
            owner = self._places.class_of(path.base) if path.base.function == context.starter else None
        else:
            owner = self._symbols.owner_of(context.function) if self._symbols.is_instance(path.base) else None
        return self._common.has(owner or "", path.name)

    def _seen(self, variable: Captured, came: Came) -> Value | None:
        """What a closure's variable is to its caller: a parameter, if the caller has made it; a variable of its own is
        another one in each call.
        """
        if variable.function != came.caller:
            return variable
        names = [parameter.name for parameter in self._symbols.functions[came.caller][1].parameters]
        return Param(came.caller, names.index(variable.name)) if variable.name in names else None

    def _is_from_outside(self, start: Param | Captured, context: Context, runs: Runs) -> bool:
        """Whether what a context's first function knows something by is no variable of its starter's one call."""
        if isinstance(start, Captured) and start.function == context.starter:
            return runs.on_one and self._symbols.is_instance_of(start)
        if isinstance(start, Captured):
            around = f"{context.starter}".startswith(f"{start.function}.")
            return around and (runs.on_one or not self._symbols.is_instance_of(start))
        for value in self._handed(start, context):
            origin = root(value) if value is not None else None
            if value is not None and (self._is_replaced(value, context) or self._renewed.is_new(value, context)):
                return False
            if isinstance(origin, Global | TypeValue):
                continue
            own = isinstance(origin, Param | Captured) and self._symbols.is_instance_of(origin)
            if value is None or not own or not runs.on_one or _is_one_of_several(value):
                return False
        return True

    def _is_replaced(self, path: Value, context: Context) -> bool:
        """Whether a starter puts another object where it has found one, as soon as it has handed that over.

        `go flush(w.buffer); w.buffer = newBuffer()`
        """
        effects = self._effects.get(context.starter or "")
        return (
            effects is not None
            and context.span is not None
            and any(
                access.path == path and access.kind == "store" and access.span[:2] > context.span[:2]
                for access in effects.all_accesses()
            )
        )

    def _handed(self, parameter: Param, context: Context) -> list[Value | None]:
        """What a starter hands to what it starts, for a parameter of that."""
        found: list[Value | None] = []
        for start in self._effects[context.starter or ""].starts.values():
            if start.span != context.span:
                continue
            for target in targets(start.callee):
                given = start.args if target.receiver is None else ((target.receiver,), *start.args)
                found += given[parameter.index] if parameter.index < len(given) else (None,)
        return found or [None]

    def runs(self, context: Context) -> Runs:
        """How often a context runs at once, by what leads to its start."""
        if context not in self._runs:
            self._runs[context] = ONCE  # what starts itself
            self._runs[context] = self._find(context)
        return self._runs[context]

    def _find(self, context: Context) -> Runs:
        start = self._memory.start(context)
        if start is None or context.starter is None or start.kind not in HANDED_ON:
            return ONCE
        if any(held.kind in FLAGS for held in start.held):
            return ONCE  # who has won it starts one, and whoever comes by meanwhile none
        if self._is_made_on_demand(context.starter, start):
            return ONCE
        meet, on_one, called = self._starts_one_each_turn(context.starter, start), False, False
        stays = start.awaited or self._stays(context, start)
        for entry in self._contexts.entries.get(context.starter, {}):
            by = self._contexts.roots[entry.context]
            if by == context or any(FLAG_MARK in lock for lock in entry.locks):
                continue
            beside = (by.many and not self._memory.is_alone_each_turn(by, offspring=True)) or self.runs(by).meet
            shared = entry.receiver == SHARED and self._is_one_for_all(context.starter, entry, by)
            again = not beside and not stays and (self._loop(context.starter, entry) or _asked_again(by, shared=shared))
            if shared and not (beside or stays or again):
                called = called or self._each_call.starts(context.starter, start, entry)
            meet = meet or beside or bool(again)
            on_one = on_one or (beside and shared and self._meet_on_one(context.starter, entry, by)) or again == "one"
        return Runs(meet or called, on_one or called, called and not meet)

    def _starts_one_each_turn(self, function: str, start: Start) -> bool:
        """Whether a loop over something starts one run in each turn: `for _, w := range all { go w.run() }`.

        An endless one does so for all that comes in: `for { c := listen.Accept(); go serve(c) }`.
        """
        body = self._symbols.functions[function][1].body
        return start.looped and all(
            loop.iterable is not None or counts(loop) or _goes_on(loop, start.span)
            for loop in loops_around(body, start.span)
        )

    def _is_made_on_demand(self, function: str, start: Start) -> bool:
        """Whether a starter asks for what it stores itself: `if s.conn == nil { s.conn = dial(); go s.read() }`."""
        accesses = list(self._effects[function].all_accesses())
        stored = {access.path for access in accesses if access.kind == "store" and isinstance(access.path, Field)}
        return any(a.kind == "test" and a.path in stored and a.span < start.span for a in accesses)

    def _meet_on_one(self, function: str, entry: Entry, by: Context) -> bool:
        """Whether several runs of a context, also those that several runs of its starter start, meet on one object."""
        return by.many or (self.runs(by).on_one and self._is_one_for_all(function, entry, by, runs=True))

    def _is_one_for_all(self, function: str, entry: Entry, by: Context, *, runs: bool = False) -> bool:
        """Whether a context comes to a method on one object, again and again: not through what each has for itself.

        So do its `runs`, which several runs of its starter start, if that has not made the object for the start.
        """
        path: Value = Param(function, 0)
        if not self._symbols.is_instance(path):
            return True  # of a function it does not matter
        for _ in range(MOST_STEPS):
            start, came = root(path), self._contexts.came(function, entry)
            if isinstance(start, Global | TypeValue):
                return True
            if _is_one_of_several(path) or not isinstance(start, Param | Captured):
                return False
            if came is None:
                known = by.receiver == SHARED and self._symbols.is_instance_of(start)
                return known and not (runs and self._is_started_on_new(by))
            given = self._contexts.given(came, function, start) if isinstance(start, Param) else self._seen(start, came)
            if given is None:
                return False
            path, function, entry = given, came.caller, came.entry
        return False

    def _is_started_on_new(self, context: Context) -> bool:
        """Whether a context runs a method of what its starter makes: each call of that one makes another object."""
        start = self._memory.start(context)
        receivers = [target.receiver for target in targets(start.callee)] if start is not None else []
        return bool(receivers) and all([isinstance(each, Fresh) for each in receivers])

    def _stays(self, context: Context, start: Start) -> bool:
        """Whether a starter goes on, or waits, when it has started a context: mostly until that has ended."""
        if any(self._contexts.roots[index] == context for index in self._contexts.covered):
            return True
        function = context.starter or ""
        if self._effects[function].waits or self._effects[function].joined_at_end & LOCAL:
            return True
        body = self._symbols.functions[function][1].body
        serves = [part for part in records(body) if isinstance(part, Loop) and part.iterable is None]
        return waits(body) or any(loop.span > start.span for loop in serves)

    def _is_part(self, came: Came, callee: str) -> bool:
        """Whether a method is called on what the caller's own instance has in a field, or on a package's variable."""
        site = self._contexts.sites.get((came.caller, came.span, callee))
        path = site.receiver if site is not None else None
        if path is None or _is_one_of_several(path):
            return False
        start = root(path)
        return isinstance(start, Global) or (isinstance(start, Param) and self._symbols.is_instance(start))

    def _is_one_of_types(self, came: Came) -> bool:
        """Whether a call leads to methods of several types, by an interface."""
        callees = {callee for span, callee in self._effects[came.caller].calls if span == came.span}
        return len({self._symbols.owner_of(each) for each in callees if isinstance(each, str)}) > 1

    def _loop(self, function: str, entry: Entry) -> str:
        """Whether a loop over something calls a function: "one" if all turns on one object, "several", or ""."""
        one = True
        for _ in range(MOST_STEPS):
            came = self._contexts.came(function, entry)
            if came is None:
                return ""
            one = one and (came.own or self._is_part(came, function))
            # one of each type, mostly: `for _, each := range []Frontend{rest, grpc} { each.Serve() }`
            if came.looped and not self._is_one_of_types(came):
                body = self._symbols.functions[came.caller][1].body
                if any(loop.iterable is None and not counts(loop) for loop in loops_around(body, came.span)):
                    return ""  # a service's, which mostly begins anew when all that it had started has ended
                return "one" if one else "several"
            function, entry = came.caller, came.entry
        return ""


def _functions(start: Start) -> list[str]:
    return [target.function for target in targets(start.callee)]


def _asked_again(by: Context, *, shared: bool) -> str:
    """Likewise of what a library calls for each event, one after the other: it does not wait for what was started."""
    for_each = by.kind == LISTENER or (by.starter is None and by.kind == GOROUTINE)
    return ("one" if shared else "several") if for_each else ""


def _goes_on(loop: Loop, start: Span) -> bool:
    """Whether a turn of a loop asks for something, starts what works on that, and waits for nothing then."""
    calls = [part for part in records(loop.body) if isinstance(part, Call | Op)]
    before = [part for part in calls if _name_of(part) and part.span[2:] <= start[:2]]
    behind = [part for part in calls if part.span[:2] > start[:2] and not start.holds(part.span)]
    return bool(before) and not any(_name_of(part).lower() in WAITS for part in behind)


def _name_of(part: Call | Op) -> str:
    """The last name of what is called, or "receive"."""
    if isinstance(part, Op):
        return part.operator if part.operator == "receive" else ""
    return part.func.name if isinstance(part.func, Attr | Name) else "call"


def _holder(path: Value) -> Value:
    """The object or the variable of which a path leads to a part."""
    while isinstance(path, Element | Member):
        path = path.base
    return path.base if isinstance(path, Field) else path


def _is_one_of_several(path: Value) -> bool:
    """Whether a path leads through an element: mostly another one each time, by whatever type it is known."""
    return any(isinstance(part, Element | Member) for part in prefixes(path))
