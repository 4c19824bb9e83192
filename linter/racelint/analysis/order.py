"""Order: accesses that are over before what leads to the other context is started, or after it has been waited for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from racelint.analysis.branching import are_alternatives, comes_first, holding, is_fallback
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import IN_PLACE, Effects
from racelint.analysis.ending import ends_program
from racelint.analysis.firststart import FirstStart
from racelint.analysis.firstwork import FirstWork
from racelint.analysis.identity import Identity
from racelint.analysis.launching import Launching
from racelint.analysis.lifecycle import is_lifecycle, is_registration
from racelint.analysis.memory import STORES, Memory
from racelint.analysis.neverempty import NeverEmpty
from racelint.analysis.onceclosed import OnceClosed
from racelint.analysis.ownruns import OwnRuns
from racelint.analysis.parting import Parting
from racelint.analysis.places import Place, Places
from racelint.analysis.prefilling import Prefilling
from racelint.analysis.readiness import Readiness
from racelint.analysis.rounds import Rounds
from racelint.analysis.runningonce import RunningOnce
from racelint.analysis.settled_tests import found_empty
from racelint.analysis.showing import Showing
from racelint.analysis.signals import Signals
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.state import GIVEN, LOCAL, POOLS, STOPPED, TASKS
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.ways import Ways
from racelint.model import Function
from racelint.span import Span

MOST_STEPS = 3  # calls through which a starter demands something


class Order:
    """Finds what happens before what."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, memory: Memory, ways: Ways,
        identity: Identity, places: Places, own_runs: OwnRuns,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._memory = memory
        self._ways = ways
        self._identity = identity
        self._places = places
        self._own_runs = own_runs
        self.signals = Signals(symbols, effects, contexts, places)
        self._first_start = FirstStart(symbols, contexts)
        self._once_closed = OnceClosed(symbols, effects, places, self.signals)
        self._running_once = RunningOnce(symbols, effects, contexts, memory)
        self._first_work = FirstWork(symbols, effects, contexts, self.signals)
        self._rounds = Rounds(symbols, effects, contexts, {function for function, _ in memory.waiting})
        self.launching = Launching(symbols, effects, contexts, places)
        self._parting = Parting(symbols, effects, contexts)
        self._showing = Showing(symbols, effects, contexts, ways, places, own_runs, self._leads_to)
        self._kept: dict[Place, bool] = {}
        self._held_in: dict[tuple[str, Span], frozenset[str]] = {}
        self._over: dict[tuple[str, Entry, int], bool] = {}
        self.readiness = Readiness(symbols, effects, contexts, identity)
        self._never_empty = NeverEmpty(symbols, effects, self.readiness.is_made_within)
        self._prefilling = Prefilling(symbols, effects, contexts, self.readiness.settled, places.knowledge)
        self._led_to: dict[str, frozenset[int]] = {}
        self._before: dict[tuple[str, Span], list[str]] = {}
        self._initial = [f for f in effects if symbols.functions[f][1].is_initial or _is_init(symbols.functions[f][1])]

    def waits(self, first: Spot, second: Spot) -> bool:
        """Whether one of two accesses comes when the context of the other one has been waited for."""
        if self.signals.order(first, second) or self._once_closed.excludes(first, second):
            return True
        if self._parting.goes_on(first) or self._parting.goes_on(second):
            return False
        if self._is_over(first, second) or self._is_over(second, first):
            return True
        if self._rounds.take_turns(first, second) or self._first_work.follows(first, second):
            return True
        if self.is_before_return(first, second) or self.is_before_return(second, first):
            return True
        if self._showing.comes_after(first, second) or self._showing.comes_after(second, first):
            return True
        if self._has_waited(first, second.entry.context) or self._has_waited(second, first.entry.context):
            return True
        return self._running_once.precedes(first, second) or self._running_once.precedes(second, first)

    def is_before_return(self, spot: Spot, other: Spot) -> bool:
        """Whether a function has made an object, waits for what it has started on it, and only then lets others see it.

        `account := load(); go func() { account.Rules = rules() }(); wg.Wait(); return account`
        """
        context = self._contexts.roots[spot.entry.context]
        starter = context.starter
        if starter is None or not self._memory.ends_inside(context):
            return False
        if self._leads_to(starter, other.entry.context):
            return False
        if any(each == starter or each.startswith(f"{starter}.") for each in self._ways.functions(other)):
            return False  # it is a closure of the starter's, perhaps, that sees the same variables
        if not self._holds_new(starter, spot) and not self._own_runs.is_handed_new(spot):
            return False
        if self._effects[starter].joined_at_end & LOCAL and not self._is_served_by(starter, other):
            return True
        return self._is_behind_call(other.function, other.entry, other.access.span, starter, MOST_STEPS)

    def _holds_new(self, starter: str, spot: Spot) -> bool:
        """Whether an access's object was reached through a variable that holds what a function has made."""
        held = self._identity.variables(spot)
        return any(function == starter and self._effects[starter].holds_new(name) for function, name in held)

    def _is_served_by(self, starter: str, spot: Spot) -> bool:
        """Whether a library calls a method of what a function has made, perhaps for it, and may do so at once.

        `http.Handle("/", newServer(state)); group.Go(state.refresh); return group.Wait()`
        """
        context = self._contexts.roots[spot.entry.context]
        if context.starter is not None or context.is_external:
            return False
        owner = self._symbols.owner_of(self._contexts.root(spot.function, spot.entry))
        called = [callee for _, callee in self._effects[starter].calls if isinstance(callee, str)]
        makers = [self._effects[each] for each in (starter, *called) if each in self._effects]
        return bool(owner) and any(type_id == owner for each in makers for _, type_id in each.made)

    def _is_behind_call(self, function: str, entry: Entry, span: Span, callee: str, steps: int) -> bool:
        """Whether a function has surely been called, and has returned, on each way that leads to a spot of another."""
        way = self._contexts.steps(function, entry, span)
        if any(self._calls_before(caller, at, callee) for caller, at in way):
            return True
        context = self._contexts.roots[entry.context]
        around = self._contexts.entries.get(context.starter or "", ())
        if steps == 0 or context.starter is None or context.span is None:
            return False
        return bool(around) and all(
            self._is_behind_call(context.starter, each, context.span, callee, steps - 1) for each in around
        )

    def is_after_end(self, first: Spot, second: Spot) -> bool:
        """Whether one of two accesses stands behind a wait for the context of the other one."""
        if self._parting.goes_on(first) or self._parting.goes_on(second):
            return False
        one, two = self._contexts.roots[first.entry.context], self._contexts.roots[second.entry.context]
        if self._is_without(first, two) or self._is_without(second, one):
            return True
        return self.has_ended(first.function, first.access.joined, two) or self.has_ended(
            second.function, second.access.joined, one
        )

    def _holding(self, starter: str, start: Span) -> frozenset[str]:
        """The fields of a starter's own object that hold what it starts at a spot."""
        if (starter, start) not in self._held_in:
            self._held_in[starter, start] = holding(self._symbols.functions[starter][1], start)
        return self._held_in[starter, start]

    def _is_without(self, spot: Spot, context: Context) -> bool:
        """Whether an access is made only where the field is empty that holds the other context's thread."""
        if context.kind != "thread" or context.starter is None or context.span is None:
            return False
        held = self._holding(context.starter, context.span)
        starter = self._symbols.owner_of(context.starter)
        without = False
        for caller, call in self._contexts.steps(spot.function, spot.entry, spot.access.span) if held else ():
            own = self._identity.is_family(self._symbols.owner_of(caller), starter)
            if own and not held.isdisjoint(found_empty(self._symbols.functions[caller][1], call)):
                without = True
            sites = [site.started for site in self._effects[caller].calls.values() if site.span == call]
            if any(sites) or (call == spot.access.span and spot.access.started):
                return False  # it may have been started since
        return without

    def is_unknown_yet(self, spot: Spot, other: Spot) -> bool:
        """Whether a constructor is still at work, and the other context is none that it has started."""
        if not spot.constructor or not spot.located.own:
            return False
        return other.entry.context not in self._contexts.started_under.get(spot.constructor, ())

    def is_called_instead(self, spot: Spot, other: Spot) -> bool:
        """Whether a function is called where the same one could not be posted to what the other context runs on.

        `if loop.is_running(): loop.call_soon_threadsafe(close)`, `else: close()`.
        """
        context = self._contexts.roots[other.entry.context]
        if context.kind != "loop" or context.starter is None or context.span is None or context.many:
            return False
        way = self._contexts.steps(spot.function, spot.entry, spot.access.span)
        body = self._symbols.functions[context.starter][1].body
        return any(
            caller == context.starter and callee == context.function and is_fallback(body, context.span, call)
            for (caller, call), (callee, _) in pairwise(way)
        )

    def is_other_way(self, spot: Spot, other: Spot) -> bool:
        """Whether a program that comes to an access has taken another way than the one that starts the other context.

        `if args.shell: Thread(target=app.run).start(); shell(); exit(0)`, and behind that `app.run()`.
        """
        context = self._contexts.roots[other.entry.context]
        if context.starter is None or context.span is None:
            return False
        source, starter = self._symbols.functions[context.starter]
        if starter.name != MODULE:
            return False  # it may be called again
        way = self._contexts.steps(spot.function, spot.entry, spot.access.span)
        calls = [call for caller, call in way if caller == context.starter]
        ends = ends_program(self._symbols, self._places.knowledge, source.name)
        return any(are_alternatives(starter.body, context.span, call, ends) for call in calls)

    def has_ended(self, function_id: str, joined: int, context: Context) -> bool:
        """Whether a function has waited for a context: one that it has started itself, or its class's task."""
        if context.starter is None:
            return False
        if (context.kind == "task" and joined & TASKS) or (context.kind == "pool" and joined & POOLS):
            owner, starter = self._symbols.owner_of(function_id), self._symbols.owner_of(context.starter)
            return self._identity.is_family(owner, starter)
        return self._ends_by(joined, context) and context.starter == function_id

    def _ends_by(self, joined: int, context: Context) -> bool:
        """Whether one of the things that a function starts has ended, by what has ended there."""
        stopped = context.queue in self._places.knowledge.concurrency.stopped
        return bool(joined & (LOCAL | STOPPED if stopped else LOCAL))

    def _is_over(self, spot: Spot, other: Spot) -> bool:
        """Whether what leads to the other's start waits for all it starts, and the access is not on its way."""
        if not self._symbols.is_ordered_by_steps(spot.function) or self._contexts.roots[spot.entry.context].many:
            return False
        key = (spot.function, spot.entry, other.entry.context)
        if key not in self._over:
            self._over[key] = self._has_been_waited_for(spot, other.entry.context)
        return self._over[key]

    def _has_been_waited_for(self, spot: Spot, context: int) -> bool:
        mine, at_once = self._waited_for(spot)
        for function, _ in self._memory.waiting:
            if context not in self._contexts.started_under.get(function, ()) or function in mine:
                continue
            if any(entry.context in at_once for entry in self._contexts.entries.get(function, ())):
                return True
        return False

    def _waited_for(self, spot: Spot) -> tuple[frozenset[str], set[int]]:
        """The functions on the way to an access, and the contexts of which each step comes before or after it.

        Those are its own, and that of its starter if this waits for all it starts.
        """
        mine, contexts = self._ways.functions(spot), {spot.entry.context}
        starter = self._contexts.roots[spot.entry.context].starter
        if starter is not None and starter in {function for function, _ in self._memory.waiting}:
            for entry in self._contexts.entries.get(starter, ()):
                if not self._contexts.roots[entry.context].many:
                    contexts.add(entry.context)
                    mine |= {starter, *[function for function, _ in self._contexts.way(starter, entry)]}
        return mine, contexts

    def _has_waited(self, spot: Spot, context: int) -> bool:
        """Whether a caller on the way has waited for what it had started, and a context comes from that."""
        way = self._contexts.way(spot.function, spot.entry)
        called = [*[function for function, _ in way[1:]], spot.function]
        for (caller, span), callee in zip(way, called, strict=False):
            if self._comes_from(context, caller) and not self._comes_from(context, callee):
                sites = [site for site in self._effects[caller].calls.values() if site.span == span]
                if sites and all(self._ends_by(site.joined, self._contexts.roots[context]) for site in sites):
                    return True
        return False

    def _comes_from(self, context: int, function: str) -> bool:
        """Whether a function starts a context, or what it starts does."""
        under = self._contexts.started_under
        mine = under.get(function, frozenset())
        return context in mine or any(context in under.get(self._contexts.roots[i].function, ()) for i in mine)

    def _leads_to(self, function: str, context: int) -> bool:
        """Whether a function starts a context, or what it starts does, however many start one another."""
        if function not in self._led_to:
            under, todo = self._contexts.started_under, list(self._contexts.started_under.get(function, ()))
            found = set(todo)
            for each in todo:  # grows
                new = under.get(self._contexts.roots[each].function, frozenset()) - found
                found |= new
                todo += new
            self._led_to[function] = frozenset(found)
        return context in self._led_to[function]

    def is_made_already(self, write: Spot, other: Spot, spots: Sequence[Spot]) -> bool:
        """Whether a store that is made only where nothing is yet has been made by a call before its context started.

        `if helper == nil { helper = ... }` in what the program calls before it starts anything. `spots` are all
        accesses of the place; where it is an object's field, it must never be emptied again.
        """
        function, span = write.function, write.access.span
        by_steps, kind = self._symbols.is_ordered_by_steps(function), write.located.place.kind
        if by_steps and self._first_start.follows(write, other, spots):
            return True
        if kind == "captured" or (kind == "global" and not by_steps):
            return False
        if write.access.kind != "store" or not self._memory.sets_once(write.function, write.access):
            return False
        if by_steps and self._never_empty.excludes(write):
            return True
        if kind != "global" and not self._is_kept(write.located.place, spots):
            return False
        context = self._contexts.roots[write.entry.context]
        if by_steps and kind == "field" and self.readiness.is_always_given(write.located.place):
            return True
        stores = [s for s in spots if s.access.kind == "store"]
        if by_steps and kind == "field" and self.readiness.is_filled(write, other, stores):
            return True
        setters = {function, *[s.function for s in stores if kind == "field"]}
        if any(self._has_called(context, setter) for setter in setters):
            return True
        asked = by_steps and kind == "field" and all([self.readiness.is_asked_for(store) for store in stores])
        if asked and self._prefilling.is_made_filled(write, stores):
            return True
        if by_steps and kind == "field" and context.starter is None and not context.is_external:
            makers = self._identity.makers(write.located.place.owner)  # what a library calls comes later
            return bool(makers) and all(any(self._leads(m, setter, MOST_STEPS) for setter in setters) for m in makers)
        if by_steps and kind != "global":
            asked = all([self.readiness.is_asked_for(store) for store in stores])
            return asked and self._prefilling.is_filled(write, stores)
        if by_steps and any(self._leads(each, function, MOST_STEPS) for each in self._initial):
            return True
        return any(
            entry.context != write.entry.context and self._memory.is_started_later(function, entry, context, span=span)
            for entry in self._contexts.entries.get(function, ())
        )

    def _has_called(self, context: Context, function_id: str) -> bool:
        """Whether a context's starter, or whoever calls that, has surely called a function before the start.

        Itself or by others, on each way that leads there.
        """
        starter, start = context.starter, context.span
        if starter is None or start is None:
            return False
        ways = [self._contexts.way(starter, entry) for entry in self._contexts.entries.get(starter, ())]
        return bool(ways) and all(
            any(self._calls_before(caller, span, function_id) for caller, span in ((starter, start), *way))
            for way in ways
        )

    def _calls_before(self, caller: str, spot: Span, function_id: str) -> bool:
        return any(self._leads(called, function_id, MOST_STEPS) for called in self._called_before(caller, spot))

    def _called_before(self, starter: str, start: Span) -> list[str]:
        """What a function has surely called before a spot of its own."""
        if (starter, start) not in self._before:
            body, calls = self._symbols.functions[starter][1].body, self._effects[starter].calls
            first = [c for span, c in calls if isinstance(c, str) and comes_first(body, span, start)]
            self._before[starter, start] = first
        return self._before[starter, start]

    def _leads(self, caller: str, function_id: str, steps: int) -> bool:
        """Whether one function calls another one, in a few steps."""
        if caller == function_id or steps == 0 or caller not in self._effects:
            return caller == function_id
        return any(
            isinstance(callee, str) and self._leads(callee, function_id, steps - 1)
            for _, callee in self._effects[caller].calls
        )

    def _is_kept(self, place: Place, spots: Sequence[Spot]) -> bool:
        """Whether what a field holds stays there, once it is set."""
        if place not in self._kept:
            self._kept[place] = all(map(self._keeps, spots))
        return self._kept[place]

    def _keeps(self, spot: Spot) -> bool:
        """Whether an access leaves what a field holds in its place."""
        if spot.access.kind not in STORES or self._symbols.functions[spot.function][1].name == "__init__":
            return True
        return spot.access.kind == "store" and self._memory.sets_once(spot.function, spot.access)

    def is_before(self, spot: Spot, other: Spot) -> bool:
        """Whether an access ends before the other's context is started."""
        started = self._contexts.started_under.get(spot.before, frozenset()) if spot.before else frozenset()
        ours = other.entry.context in started or self._is_started_within(other.entry.context, started, spot)
        if ours and spot.entry.context not in started:
            return not self._comes_again(spot, self._contexts.roots[other.entry.context])
        return self._is_built_before(spot, other) or self._is_started_after(spot, other)

    def _is_started_within(self, context: int, started: frozenset[int], spot: Spot) -> bool:
        """Whether only what is started there starts a context itself: the tasks of a gathering their jobs in a pool."""
        starter = self._contexts.roots[context].starter
        if not started or starter is None or self._memory.governs(spot.function):
            return False
        starting = {entry.context for entry in self._contexts.entries.get(starter, ())}
        return bool(starting) and starting <= started

    def _comes_again(self, spot: Spot, context: Context) -> bool:
        """Whether a change before the start of a job comes again while the job runs: its function is called for each of
        many things, `def put(self, key): self.rows[key] = 1; self.pool.submit(self.save)`.
        """
        starter = context.starter
        if context.kind not in ("pool", "thread") or spot.access.kind not in IN_PLACE:
            return False
        if spot.located.place.kind == "captured":
            return False  # each call has its own
        if self._memory.governs(spot.function):
            return False
        outer = spot.before or spot.function
        helped = spot.function == outer and starter is not None and self._is_helper(starter, outer)
        if starter is None or not (spot.before == starter or helped):
            return False
        _, function = self._symbols.functions[outer]
        names = [self._symbols.functions[each][1].name for each in (outer, starter)]
        once = any(is_lifecycle(name.lstrip("_")) or is_registration(name) or name == "__init__" for name in names)
        if once or not function.owner or len(function.parameters) < 2:
            return False
        return self._contexts.roots[spot.entry.context].many or self._contexts.roots[spot.entry.context].is_external

    def _is_helper(self, helper: str, function_id: str) -> bool:
        """Whether a method calls another one of its class, which starts something for it."""
        if self._symbols.owner_of(helper) != self._symbols.owner_of(function_id):
            return False
        return any(callee == helper for _, callee in self._effects[function_id].calls)

    def _is_started_after(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller on the way to an access starts the other context after that call."""
        context = self._contexts.roots[other.entry.context]
        if self.launching.precedes(spot, context):
            return True
        if self._comes_again(spot, context):
            return False
        if context.starter is None or context.span is None or spot.entry.context == other.entry.context:
            return False
        calls = [span for caller, span in self._contexts.way(spot.function, spot.entry) if caller == context.starter]
        return bool(calls) and self._memory.is_started_later(spot.function, spot.entry, context, span=spot.access.span)

    def _is_built_before(self, spot: Spot, other: Spot) -> bool:
        """Whether a constructor makes an access to its own object before it starts the other context.

        What it has started by then knows the object, and yet a later thread sees all that came before its start, as
        does one that waits first for what is given to it: only what has a whole object gives.
        """
        context = self._contexts.roots[other.entry.context]
        if not spot.constructor or not spot.located.own or spot.entry.context == other.entry.context:
            return False
        if self._has_been_given(other):
            return True
        if context.starter == spot.function:
            return self._memory.is_ordered(spot.function, spot.access, context)
        return self._memory.is_started_later(spot.function, spot.entry, context, span=spot.access.span)

    def _has_been_given(self, spot: Spot) -> bool:
        """Whether a context has waited for something that others give before it comes to an access."""
        if spot.access.joined & GIVEN:
            return True
        for caller, span in self._contexts.way(spot.function, spot.entry):
            sites = [site for site in self._effects[caller].calls.values() if site.span == span]
            if sites and all(site.joined & GIVEN for site in sites):
                return True
        return False

    def comes_before(self, spot: Spot, other: Spot) -> bool:
        """Whether an access is over when what leads to the context of the other one is started."""
        if not self._symbols.is_ordered_by_steps(spot.function):
            return False
        context = self._contexts.roots[other.entry.context]
        if context.kind == GOROUTINE and context.starter == spot.function:
            return self._memory.is_ordered(spot.function, spot.access, context)
        return self._memory.is_started_later(spot.function, spot.entry, context, span=spot.access.span)


def _is_init(function: Function) -> bool:
    """Whether a function runs when its package is loaded."""
    return function.qualname.partition("@")[0] == "init"
