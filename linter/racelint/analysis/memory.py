"""Races where single steps are not atomic: any two unordered accesses of one memory location, one of them a write.

A container has two locations: the variable that holds it, and its content. The elements of a sequence lie apart; which
of them an index means is not known, so that they are not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from racelint.analysis.body import own_each_turn
from racelint.analysis.branching import are_alternatives, is_never_behind, loops_around
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import IN_PLACE, RUNNING, STATEFUL, Access, Act, CallSite, Effects, Start
from racelint.analysis.hearing import Hearing
from racelint.analysis.paths import root
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.state import LOCAL, OFFSPRING
from racelint.analysis.symbols import Symbols
from racelint.analysis.turns import is_about_its_own
from racelint.analysis.values import Captured, Element, Field, Fresh, FunctionValue, Member, Value
from racelint.model import Attr, Block, Call, Defer, Loop, Make, Name, Spawn, Stmt
from racelint.record import records
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.places import Place
    from racelint.analysis.spots import Spot
    from racelint.knowledge import EntryRow

SHAPES = {
    "write-write": 3, "write-read": 3, "content-write": 3, "content-read": 3, "content-iterate": 3,
    "state-write": 3, "state-read": 3, "loop-write": 3,
}  # fmt: skip
OF_VARIABLE = frozenset({"store", "update", "delete", "read", "test"})
MOST_OUTER = 3  # contexts that have started one another
STORES = frozenset({"store", "update", "delete"})
OF_CONTENT = IN_PLACE | {"lookup", "peek", "measure", "iterate", "snapshot"}
SHARED_CONTENT = "map"  # the kind of a container whose content is one location
LISTENER = "listener"  # callbacks of one registration run one after the other
NOWHERE = Span(0, 0, 0, 0)
INITIAL = frozenset({"main", "init", "<module>"})


def shape(write: Access | Act, other: Access | Act) -> str | None:
    """How two accesses of one place collide, the first of which is a write; None if they touch different memory."""
    if isinstance(write, Act) or isinstance(other, Act):
        return None  # the access that an act is has been recorded as well
    if write.kind in STORES and other.kind in OF_VARIABLE:
        return "write-write" if other.kind in STORES else "write-read"
    if write.kind in IN_PLACE and other.kind in OF_CONTENT and write.detail == other.detail == SHARED_CONTENT:
        if other.kind in IN_PLACE:
            return "content-write"
        return "content-iterate" if other.kind == "iterate" else "content-read"
    if write.kind == "alter" and other.detail in (STATEFUL, RUNNING):
        return "state-write" if other.kind == "alter" else "state-read"
    return None


def _is_walked(loop: Loop, access: Access) -> bool:
    """Whether an access reads the variable or field that a loop walks: once, before all turns."""
    walked = [part.span for part in records(loop.iterable) if isinstance(part, Attr | Name)]
    return access.kind == "read" and access.span in walked


def _is_element_of(path: Value, loop: Span) -> bool:
    """Whether a loop has taken an object out of a container for its turn."""
    return isinstance(path, Element) and isinstance(path.key, Member) and path.key.site.span == loop


def _calls(body: Block | Stmt, names: tuple[str, ...]) -> list[Call]:
    """The calls of methods of these names."""
    return [
        node
        for node in records(body)
        if isinstance(node, Call) and isinstance(node.func, Attr) and node.func.name in names
    ]


def _receiver(call: Call) -> str:
    """The variable of which a method is called, "" if it is no variable."""
    base = call.func.base if isinstance(call.func, Attr) else None
    return base.name if isinstance(base, Name) else ""


class Memory:
    """What the order of goroutines, and objects that are told apart, mean to pairs of accesses."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, entries: Iterable[EntryRow] = ()
    ) -> None:  # fmt: skip
        """`entries` say which calls give libraries the objects of which they are to call methods."""
        self._takers: dict[str, set[str]] = defaultdict(set)
        for row in entries:
            for method in row.methods:
                self._takers[method].update(row.takers)
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self.waiting = [(f, e) for f, e in effects.items() if e.joined_at_end & LOCAL and self.governs(f)]
        self._hearing = Hearing(symbols, effects, contexts)
        self._registered: dict[str, list[tuple[str, Span]]] = defaultdict(list)  # what libraries are given to call
        self._settling: dict[str, list[Act]] = {}
        self._running_itself: dict[tuple[str, Span], bool] = {}
        for function_id, each in effects.items():
            for start in each.starts.values():
                if start.kind == "unknown" and isinstance(start.callee, FunctionValue):
                    self._registered[start.callee.function].append((function_id, start.span))

    def governs(self, function_id: str) -> bool:
        """Whether single steps of a function are not atomic."""
        return not self._symbols.functions[function_id][0].module.traits.atomic_steps

    def ends_inside(self, context: Context) -> bool:
        """Whether a goroutine has ended whenever its starter returns anything but a failure."""
        starter = context.starter
        if starter is None or not self.governs(starter):
            return False
        effects = self._effects[starter]
        if effects.joined_at_end & LOCAL:
            return True
        return context.kind == GOROUTINE and (context.ended or context.span in effects.ended_inside)

    def is_ordered(self, function_id: str, access: Access | Act, context: Context) -> bool:
        """Whether an access comes before the start of a context by the same function, or is of an object that only
        what this function starts can know.
        """
        if context.starter != function_id or context.span is None:
            return self._is_made_by(function_id, access.path) and not self.is_disclosed(function_id, access, context)
        if context.kind == LISTENER:
            return True  # it is registered; what calls it is mostly started later
        if self._is_strange_to(context, function_id, access.path):
            return True
        start = self.start(context)
        if start is None or not isinstance(access, Access):
            return access.span[:2] <= context.span[:2]
        if self._is_running(context, start, access):
            if self._runs_it_itself(function_id, start):
                return True
            if access.span[:2] <= context.span[:2]:
                return self._is_of_another_turn(access, context, start)
            return self._is_in_other_arm(access, function_id, start)
        return start.kind == GOROUTINE or access.span[:2] <= context.span[:2]

    def _is_of_another_turn(self, access: Access, context: Context, start: Start) -> bool:
        """Whether what may still run when an access comes again, before the next start, has nothing to do with it.

        The loop around both waits somewhere in a turn, for what it has started if there is any; or what the access is
        of is another one in each turn. What a loop walks is read before its first turn.
        """
        if self.is_new_each_turn(access.path, context):
            return True
        _, function = self._symbols.functions[context.starter or ""]
        around = loops_around(function.body, start.span)
        loops = [s.span for s in around if s.span.holds(access.span) and not _is_walked(s, access)]
        if not loops:
            return False
        effects = self._effects[context.starter or ""]
        return any(loops[-1].holds(span) for span in effects.waits) or self._is_own_of(access.path, loops[-1])

    def _runs_it_itself(self, function_id: str, start: Start) -> bool:
        """Whether what is registered with an object runs only while a method of that does, which the same function
        calls itself: not while it does anything else. Memoised.
        """
        key = (function_id, start.span)
        if key not in self._running_itself:
            self._running_itself[key] = bool(start.during) and self._runs_until(function_id, start)
        return self._running_itself[key]

    def _runs_until(self, function_id: str, start: Start) -> bool:
        """Whether a function itself, and nothing that it starts, calls the method that runs what is registered."""
        body = self._symbols.functions[function_id][1].body
        around = [node for node in records(body) if isinstance(node, Call) and node.span.holds(start.span)]
        known = {each.name for each in records(tuple(around)) if isinstance(each, Name)}
        runs = [call for call in _calls(body, start.during) if _receiver(call) in known]
        later = [node for node in records(body) if isinstance(node, Spawn | Defer)]
        inner = [each for each in self._effects if each.startswith(f"{function_id}.")]
        elsewhere = (*later, *[self._symbols.functions[each][1].body for each in inner])
        if any([_receiver(call) in known for part in elsewhere for call in _calls(part, start.during)]):
            return False
        return any([start.span[:2] < call.span[:2] for call in runs])

    def _is_in_other_arm(self, access: Access, function_id: str, start: Start) -> bool:
        """Whether a turn of a loop either starts something or makes an access, of what each turn has of its own."""
        body = self._symbols.functions[function_id][1].body
        both = [loop for loop in loops_around(body, start.span) if loop.span.holds(access.span)]
        if not both or not self._is_own_of(access.path, both[-1].span):
            return False
        return are_alternatives(both[-1].body, start.span, access.span)

    def _is_own_of(self, path: Value, loop: Span) -> bool:
        """Whether each turn of a loop has its own: the variable that a path starts from, or the element at hand."""
        if isinstance(path, Field) and _is_element_of(path.base, loop):
            return True
        origin = root(path)
        if not isinstance(origin, Captured):
            return False
        source, function = self._symbols.functions[origin.function]
        turns = [turn for turn in function.turns if turn.variable == origin.name and turn.loop == loop]
        return bool(turns) and origin.name in own_each_turn(function, source.edition)

    def _is_strange_to(self, context: Context, function_id: str, path: Value) -> bool:
        """Whether a path starts from an object made here that a started method or function is not given."""
        made, start = root(path), self.start(context)
        if start is None or not isinstance(made, Fresh) or made.site.function != function_id:
            return False
        if not isinstance(start.callee, FunctionValue) or start.callee.function.startswith(f"{function_id}."):
            return False  # a closure may know it by its variable
        given = [value for values in start.args for value in values]
        known = [root(value) for value in (start.callee.receiver, *given) if value is not None]
        return made not in known and made not in self._effects[function_id].exposed

    @staticmethod
    def _is_running(
        context: Context, start: Start, at: Access | CallSite | Start, *, offspring: bool = False
    ) -> bool:  # fmt: skip
        """Whether what has been started, or what such ones have started in turn, may run at a spot of its starter's."""
        if start.kind == GOROUTINE:
            return (start.span in at.running and not context.ended) or (offspring and OFFSPRING in at.running)
        return start.looped and (start.loop is None or start.loop.holds(at.span))

    def is_alone_each_turn(
        self, context: Context, *, of_one_call: bool = False, offspring: bool = False
    ) -> bool:  # fmt: skip
        """Whether only a loop makes a context several, and the loop waits for it before its next turn.

        `of_one_call`: only what one call of the starter starts is looked at, else that may not run several times.
        `offspring`: what the context has started in turn has ended then as well.
        """
        start = self.start(context)
        if start is None or start.many or start.loop is None or context.starter is None or context.span is None:
            return False
        starter = self._contexts.entries.get(context.starter, {})
        if not of_one_call and any(self._contexts.roots[entry.context].many for entry in starter):
            return False
        return not self._is_running(context, start, start, offspring=offspring)

    def _is_made_by(self, function_id: str, path: Value) -> bool:
        """Whether a path starts from an object that a function has made, which it knows by a variable."""
        start = root(path)
        return isinstance(start, Fresh) or (
            isinstance(start, Captured) and start.function == function_id and start != path
        )

    def is_disclosed(self, function_id: str, access: Access | Act, context: Context) -> bool:
        """Whether a call has started a context, before an access, that knows the object by which that is made.

        `s := &Server{}; s.start(); s.ready = true`
        """
        if not isinstance(access, Access):
            return False
        effects, made = self._effects[function_id], root(access.path)
        calls = effects.disclosed.get(made, set()) & access.running
        running = {call for call in calls if not self._is_of_turn_before(function_id, made, access.span, call)}
        callees = {site.callee for site in effects.calls.values() if site.span in running}
        under = [self._contexts.started_under.get(callee, ()) for callee in callees if isinstance(callee, str)]
        return any(self._contexts.roots[index] is context for started in under for index in started)

    def _is_of_turn_before(self, function_id: str, made: Value, at: Span, call: Span) -> bool:
        """Whether a call behind a spot, in a loop that makes an object each turn, was given that of the turn before."""
        if not isinstance(made, Fresh) or not at[:2] < call[:2]:
            return False
        loops = loops_around(self._symbols.functions[function_id][1].body, call)
        return bool(loops) and loops[-1].span.holds(made.site.span) and made.site.span[:2] <= at[:2]

    def start(self, context: Context) -> Start | None:
        """What has started a context: not what a helper starts there that calls what this one is given."""
        starts = self._effects[context.starter].starts.values() if context.starter else ()
        found = [start for start in starts if start.span == context.span]
        return next((start for start in found if start.kind != "binding"), found[0] if found else None)

    def is_new_each_turn(self, path: Value, context: Context) -> bool:
        """Whether what a path starts from is another one in each turn of the loop that starts a context."""
        start, origin = self.start(context), root(path)
        if start is None or isinstance(origin, Fresh):
            return isinstance(origin, Fresh)
        return start.loop is not None and self._is_own_of(path, start.loop)

    def is_made_each_turn(self, place: Place, context: Context) -> bool:
        """Whether a variable, which each turn of a loop has for itself, only ever holds what that turn has made, and
        the turn starts one context that knows it: `for ... { m := map[string]int{}; go fill(m) }`.
        """
        start = self.start(context)
        if start is None or context.starter != place.owner or start.many or start.through is not None:
            return False
        function, variable = self._symbols.functions[place.owner][1], Captured(place.owner, place.name)
        loops = loops_around(function.body, start.span)
        if not loops or not self._is_own_of(variable, loops[-1].span):
            return False
        inner = [each for function_id, each in self._effects.items() if function_id.startswith(f"{place.owner}.")]
        if any([a.path == variable and a.kind == "store" for each in inner for a in each.all_accesses()]):
            return False
        return all([isinstance(value, Make) for value in function.bindings.get(place.name, (None,))])

    def is_one_after_other(self, one: Context, two: Context) -> bool:
        """Whether two contexts are the callbacks of one registration, or one has ended when the other is started.

        Or one is started instead of the other.
        """
        if one.starter is None or one.starter != two.starter or one.span is None or two.span is None:
            return False
        if one.span == two.span:
            if one.kind == LISTENER or one.many or two.many:
                return one.kind == LISTENER
            starts = self._effects[one.starter].starts.values()  # what is handed to a closure runs in its goroutine
            own = {start.callee.function for start in starts if isinstance(start.callee, FunctionValue)}
            return not ({one.function, two.function} <= own or self._are_of_two_turns(one, two))
        first, second = self.start(one), self.start(two)
        if first is not None and second is not None and first.kind == second.kind == GOROUTINE:
            return not (self._is_running(one, first, second) or self._is_running(two, second, first))
        later = max(one, two, key=lambda context: context.span or NOWHERE)
        return bool((found := self.start(later)) and found.joined) or self.are_alternatives(one, two)

    def _are_of_two_turns(self, one: Context, two: Context) -> bool:
        """Whether a loop starts methods of one name, of what lies in a list: of one type in a turn, of another then."""
        start = self.start(one)
        methods = [self._symbols.functions[context.function][1] for context in (one, two)]
        owners = {method.owner for method in methods}
        return start is not None and start.looped and methods[0].name == methods[1].name and len(owners) > 1

    def are_alternatives(self, one: Context, two: Context) -> bool:
        """Whether one context is started instead of the other, by one function."""
        if one.starter is None or one.starter != two.starter or one.span is None or two.span is None:
            return False
        body = self._symbols.functions[one.starter][1].body
        return not (one.many or two.many) and are_alternatives(body, one.span, two.span)

    def is_started_later(
        self, function: str, entry: Entry, context: Context, steps: int = MOST_OUTER, *, span: Span | None = None,
        root: str = "",
    ) -> bool:  # fmt: skip
        """Whether an access lies in a call that is over when its caller starts what the context comes from.

        `span` is the access itself: a library may be handed what it calls by the same function, afterwards. `root` is
        where the context starts, if it has several roots.
        """
        if context.starter is None and self._is_registered_later(function, entry, root or context.function, span):
            return True
        start = self.start(context)
        if start is None or context.span is None or steps == 0:
            return False
        if context.starter == function and span is not None and steps < MOST_OUTER:
            return self._comes_first(function, span, context, start)
        for caller, call in self._contexts.way(function, entry):
            if caller == context.starter:
                sites = [site for site in self._effects[caller].calls.values() if site.span == call]
                if is_about_its_own(self._symbols, caller, call, context.span):
                    return True
                nested = steps < MOST_OUTER
                running = any(self._is_running(context, start, site, offspring=nested) for site in sites)
                if start.kind == GOROUTINE and sites:
                    return not running
                return call[:2] < context.span[:2] and not running
        around = list(self._contexts.entries.get(context.starter or "", {}))
        if all(other.context != entry.context for other in around):
            # what starts itself again has been started by others
            around = [other for other in around if self._contexts.roots[other.context] is not context]
        if any(other.context == entry.context for other in around):
            around = [
                other for other in around
                if not self._contexts.roots[other.context].is_external
                or (other.context == entry.context and self._is_of_one_call(function, entry, context, other))
            ]  # fmt: skip
        for other in around:
            if other.context == entry.context:
                later = self._parts_before(function, entry, context, other, span)
            else:
                outer, root = self._contexts.roots[other.context], self._contexts.root(context.starter or "", other)
                later = self.is_started_later(function, entry, outer, steps - 1, span=span, root=root)
            if not later:
                return False
        return bool(around)

    def _comes_first(self, function: str, span: Span, context: Context, start: Start) -> bool:
        """Whether nothing that a start has started may run at an access of the function that starts it."""
        accesses = [each for each in self._effects[function].all_accesses() if each.span == span]
        return bool(accesses) and all(
            not self._is_running(context, start, each, offspring=True)
            and (start.kind == GOROUTINE or span[:2] < start.span[:2])
            for each in accesses
        )

    def _is_of_one_call(self, function: str, entry: Entry, context: Context, starting: Entry) -> bool:
        """Whether one call from outside leads to an access and to a start."""
        return self._contexts.root(function, entry) == self._contexts.root(context.starter or "", starting)

    def _parts_before(
        self, function: str, entry: Entry, context: Context, starting: Entry, span: Span | None
    ) -> bool:  # fmt: skip
        """Whether two ways from one root part in a function that goes the first one, or makes the access, first."""
        if context.starter is None or context.span is None:
            return False
        way, second = self._contexts.way(function, entry), self._contexts.steps(context.starter, starting, context.span)
        if self.parts_before(way, second):
            return True
        if span is not None and self.governs(function) and not self._contexts.roots[entry.context].many:
            steps = self._contexts.steps(function, entry, span)
            if self._hearing.has_ended(steps, second, context, starting):
                return True
        if span is None or not self.governs(function) or second[: len(way)] != way or len(second) < len(way) + 2:
            return False
        caller, call = second[len(way)]
        return caller == function and self._is_before_all(function, span, {call, *self._leading(function, context)})

    def _is_before_all(self, function: str, span: Span, calls: set[Span]) -> bool:
        body = self._symbols.functions[function][1].body
        return all(is_never_behind(body, span, call) for call in calls)

    def _leading(self, function: str, context: Context) -> Iterator[Span]:
        """The calls of a function that lead to the start of a context."""
        for span, callee in self._effects[function].calls:
            under = self._contexts.started_under.get(callee, ()) if isinstance(callee, str) else ()
            if any(self._contexts.roots[index] is context for index in under):
                yield span

    def parts_before(self, first: Sequence[tuple[str, Span]], second: Sequence[tuple[str, Span]]) -> bool:
        """Whether two ways part in a function that goes the first one first, and comes back before the second."""
        for (caller, call), (other, later) in zip(first, second, strict=False):
            if caller != other:
                return False
            if call != later:
                before = call[:2] < later[:2] or are_alternatives(self._symbols.functions[caller][1].body, call, later)
                return before and not self._in_one_loop(caller, call, later)
        return False

    def _in_one_loop(self, function: str, first: Span, second: Span) -> bool:
        """Whether a loop holds two calls of a function."""
        looped = [site.looped for site in self._effects[function].calls.values() if site.span in (first, second)]
        return all(looped) and bool(looped)

    def _is_registered_later(self, function: str, entry: Entry, called: str, span: Span | None) -> bool:
        """Whether a function on the way hands a library what the context runs, after the access."""
        given = dict(self._registered.get(called, ()))
        context = self._contexts.roots[entry.context]
        again = context.many or (context.starter is None and not context.is_external)
        if again or self._contexts.is_looped(function, entry):
            return False  # it is registered again and again
        way = self._contexts.way(function, entry)
        if span is not None:
            way = [*way, (function, span)]
        return any(caller in given and call[:2] < given[caller][:2] for caller, call in way) or (
            span is not None and self.governs(function) and self._is_handed_later(entry, way, called)
        )

    def _is_handed_later(self, entry: Entry, way: Sequence[tuple[str, Span]], called: str) -> bool:
        """Whether a context gives a library the objects whose method that is to call only behind an access, and nobody
        else gives it any: `s.client = client; return s.setup(manager)`, where that builds the controller of `s`.
        """
        if called not in self._symbols.functions:
            return False
        method, owner = self._symbols.functions[called][1].name, self._symbols.owner_of(called)
        ways = [
            (around, self._contexts.way(function, around))
            for taker in self._takers.get(method, ())
            for function in self._handing.get((owner, taker), ())
            for around in self._contexts.entries.get(function, ())
        ]
        return bool(ways) and all(
            around.context == entry.context and self.parts_before(way, later) for around, later in ways
        )

    @cached_property
    def _handing(self) -> dict[tuple[str, str], list[str]]:
        """By the types of objects, and the calls that give libraries some of them: the functions that do so."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for function_id, effects in self._effects.items():
            for handed in effects.handed:
                found[handed].append(function_id)
        return found

    def registered(self, called: str) -> Sequence[tuple[str, Span]]:
        """Where libraries are handed a function that they are to call."""
        return self._registered.get(called, ())

    def registers(self, function: str, called: str) -> bool:
        """Whether a function hands another one to a library, which calls it."""
        return any(caller == function for caller, _ in self._registered.get(called, ()))

    def is_set_once(self, writes: Sequence[Spot]) -> bool:
        """Whether all writes hold a lock and stand where something was found unset: `if x == nil { x = ... }`.

        That may be another field of the object, which is set there, too.
        """
        for write in writes:
            if not self.governs(write.function) or not write.locks or write.access.kind != "store":
                return False
            if not self.sets_once(write.function, write.access):
                return False
        return bool(writes)

    def sets_once(self, function_id: str, write: Access | Act) -> bool:
        """Whether a function makes a store only where a test says that nothing is there yet."""
        acts = self._settling.get(function_id)
        if acts is None:
            every = self._effects[function_id].all_acts()
            acts = self._settling[function_id] = [a for a in every if a.kind == "store" and a.by == "condition"]
        return any([self._is_settled_by(act, write) for act in acts])

    def _is_settled_by(self, act: Act, write: Access | Act) -> bool:
        """Whether an act is the store itself, or one beside it to the same object, after the same test."""
        together = isinstance(act.path, Field) and isinstance(write.path, Field) and act.path.base == write.path.base
        near = act.check.line <= write.span.line and act.held == write.held
        return act.span.line == write.span.line or (together and near)

    def is_served(self, context: Context, steps: int = 3, *, asked: bool = False) -> bool:
        """Whether a library starts a context, or a function that runs only where a library has called it.

        `asked`: or where callers from outside have, who have the object already.
        """
        if steps == 0 or (context.is_external and not asked):
            return False
        if context.starter is None:
            return True
        roots = {entry.context for entry in self._contexts.entries.get(context.starter, ())}
        if not roots:
            return asked  # only a library's callback leads there
        return all(self.is_served(self._contexts.roots[i], steps - 1, asked=asked) for i in roots)

    def is_initial(self, root_id: str) -> bool:
        """Whether the program's start is the way to an access: what libraries call comes later."""
        return self._symbols.functions[root_id][1].name in INITIAL
