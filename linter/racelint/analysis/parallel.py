"""Who runs beside whom: how sure it is that two accesses run in parallel on one object."""

from __future__ import annotations

from racelint.analysis.branching import awaits_at, is_looped
from racelint.analysis.callers import Callers
from racelint.analysis.collisions import Collisions
from racelint.analysis.contexts import Context, Contexts
from racelint.analysis.effects import OF_OBJECT, RUNNING, Effects
from racelint.analysis.goroutines import Goroutines
from racelint.analysis.memory import Memory
from racelint.analysis.objects import OWN, SHARED
from racelint.analysis.paths import root
from racelint.analysis.places import Place, Places
from racelint.analysis.repeating import Repeating
from racelint.analysis.scripts import Scripts
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Fresh, FunctionValue, Param, Value
from racelint.model import Attr, Await, Build, Call, Comp
from racelint.record import records
from racelint.span import Span


class Parallel:
    """Judges pairs of contexts."""

    def __init__(
        self, symbols: Symbols, places: Places, contexts: Contexts, collisions: Collisions, callers: Callers,
        goroutines: Goroutines, memory: Memory, repeating: Repeating, effects: dict[str, Effects], scripts: Scripts,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._memory = memory
        self._places = places
        self._alone = places.knowledge.sharing.names("one-thread")
        self._contexts = contexts
        self._collisions = collisions
        self._callers = callers
        self._goroutines = goroutines
        self._repeating = repeating
        self._scripts = scripts
        self._run_by: dict[int, frozenset[tuple[str, str]]] | None = None  # what _loops_of tells, when it is asked for

    def may_meet(self, place: Place, first: int, second: int) -> bool:
        """Whether two contexts may run in parallel at all; a captured variable hangs on more than the contexts."""
        one, two = self._contexts.roots[first], self._contexts.roots[second]
        if not {"unknown", "process"}.isdisjoint((one.kind, two.kind)):
            return False
        return place.kind == "captured" or self._one_at_a_time(one, two, place) is None

    def confidence(self, write: Spot, other: Spot) -> int | Silence:
        """How sure it is that two accesses run in parallel on one object, or why they do not."""
        one, two = self._contexts.roots[write.entry.context], self._contexts.roots[other.entry.context]
        if "unknown" in (one.kind, two.kind):
            return Silence.UNKNOWN
        if "process" in (one.kind, two.kind) or not self._places.related(write.located.type, other.located.type):
            return Silence.APART
        if self._contexts.are_in_two_processes(write.entry.context, other.entry.context):
            return Silence.APART
        if self._scripts.are_apart(write, other):
            return Silence.APART
        if self._is_in_one_thread(write) or self._is_in_one_thread(other):
            return Silence.ONE_CONTEXT
        if self._symbols.is_ordered_by_steps(write.function):
            return self._goroutines.parallel(write, one, other, two)
        if write.located.place.kind == "captured":
            return self._in_one_activation(write, one, other, two)
        if one.is_external and two.is_external and (owner := self._callers.says_shared(write)):
            return self._callers.shared_by_contract(owner, write, other)
        in_turn = self._one_at_a_time(one, two, write.located.place) or self._is_run_by(write, one, other, two)
        if in_turn is not None:
            return in_turn
        if "decorated" in (one.kind, two.kind) and not self._collisions.are_of_decorator(write, other):
            return Silence.CALLERS
        if one == two:
            if SHARED not in (write.receiver, other.receiver) or OWN in (write.receiver, other.receiver):
                return Silence.OWNED
            if not (one.many or self._is_started_by_many(one) or self._repeating.share(one, write, other)):
                return Silence.ONE_CONTEXT
            return 3 if write.located.certain and other.located.certain else 2
        if self._memory.are_alternatives(one, two):
            return Silence.ONE_CONTEXT
        if self._callers.is_waited_for(one, two) or self._callers.is_waited_for(two, one):
            return Silence.CALLERS
        own = write.located.own and other.located.own and self._have_one_of_their_run(one, two)
        if self._is_awaited_before(one, two, own=own) or self._is_awaited_before(two, one, own=own):
            return Silence.ORDERED
        # greenlets or threads: a choice of the configuration
        either = "greenlet" in (one.kind, two.kind) and (one.starter != two.starter or one.starter is None)
        if (
            either
            or (one.awaited and two.awaited and (one.is_loop or self._are_of_one_run(one, two)))
            or self._is_waiting(one, other)
            or self._is_waiting(two, write)
        ):
            return 1  # one task at a time, if it is one task
        if {one.kind, two.kind} in ({"external", "task"}, {"external", "loop"}):
            return Silence.CALLERS
        if write.receiver == OWN and other.receiver == OWN:
            return Silence.OWNED
        if not (self._goroutines.has_started(write, other) and self._goroutines.has_started(other, write)):
            return Silence.OWNED
        bounded = self._callers.bounded
        if bounded.is_stopped_again(one, other) or bounded.is_stopped_again(two, write):
            return 1  # who calls then
        if bounded.are_of_two_calls(write.entry.context, other.entry.context):
            return 1  # one caller at a time; or what a call that has failed has left behind
        certain = write.located.certain and other.located.certain
        if (one.is_external or two.is_external) and self._callers.closes(two if one.is_external else one):
            return 1  # who still calls then
        if "remote" in (one.kind, two.kind) and (one.is_external or two.is_external):
            if self._callers.is_of_loop(write if one.is_external else other):
                return 1
            shape = self._collisions.shape(write, other)
            return 2 if shape == "resize-iterate" else 1  # callers may run on the loop themselves
        if one.is_external or two.is_external:
            return self._callers.beside(write, other, two if one.is_external else one) if certain else 1
        return 3 if certain else 2

    def _is_in_one_thread(self, spot: Spot) -> bool:
        """Whether an access is in a package for programs of one thread."""
        source = self._symbols.functions[spot.function][0]
        return any(each.module in self._alone for each in source.module.imports.values())

    def _is_run_by(self, write: Spot, one: Context, other: Spot, two: Context) -> Silence | None:
        """What a task does with a loop, it mostly does where that loop runs; the thread that runs it is there, too."""
        first, second = write.entry.context, other.entry.context
        tasks = (write.access.detail == RUNNING and two.is_loop) or (other.access.detail == RUNNING and one.is_loop)
        return Silence.ONE_LOOP if tasks or self._runs(first, second) or self._runs(second, first) else None

    def _runs(self, thread: int, task: int) -> bool:
        """Whether a thread runs the event loop of a task: it has started it, or runs the one loop of its starter's."""
        one, two = self._contexts.roots[thread], self._contexts.roots[task]
        if one.kind != "thread" or one.many or not two.is_loop or two.starter is None:
            return False
        own = self._symbols.owner_of(one.function)
        unknown = two.near and bool(own) and own == self._symbols.owner_of(two.starter)  # its own object's callbacks
        if self._is_of_starter(two) and self._starts(thread, task, unknown=unknown):
            return True
        return self._is_started_on(two.starter, two.span, self._loops_of(thread))

    def _starts(self, thread: int, task: int, seen: frozenset[int] = frozenset(), *, unknown: bool = False) -> bool:
        """Whether only a thread, or tasks that it has started, start a task; or else callbacks of `unknown` threads."""
        seen |= {task}
        starter = self._contexts.roots[task].starter
        within = {entry.context for entry in self._contexts.entries.get(starter, ())} if starter else set()
        return bool(within) and all(
            context == thread
            or context in seen
            or (unknown and self._contexts.roots[context].kind == "unknown")
            or (
                self._is_of_starter(self._contexts.roots[context])
                and self._starts(thread, context, seen, unknown=unknown)
            )
            for context in within
        )

    def _is_of_starter(self, context: Context) -> bool:
        """Whether what starts a context runs on the same loop."""
        return context.kind == "task" or context.near

    def _is_started_on(self, starter: str, span: Span | None, loops: frozenset[tuple[str, str]]) -> bool:
        """Whether a method of a type that holds one of these loops starts something; one below it by that very field.

        `self.loop.create_task(...)`, `asyncio.run_coroutine_threadsafe(..., self.loop)`
        """
        owner = self._symbols.owner_of(starter)
        if owner in [each for each, _ in loops]:
            return True
        inherited = [name for each, name in loops if owner in self._symbols.subtypes(each)]
        if not inherited or span is None:
            return False
        calls = [part for part in records(self._symbols.functions[starter][1].body) if isinstance(part, Call)]
        parts = [part for call in calls if call.span.holds(span) for part in records((call.func, call.args))]
        return any(isinstance(part, Attr) and part.name in inherited for part in parts)

    def _loops_of(self, thread: int) -> frozenset[tuple[str, str]]:
        """The types and names of the fields that hold an event loop which a thread runs."""
        if self._run_by is None:
            self._run_by = {}
            for function, effects in self._effects.items():
                owner = self._symbols.owner_of(function)
                paths = [a.path for a in effects.all_accesses() if a.detail == RUNNING] if owner else []
                held = frozenset([(owner, path.name) for path in paths if isinstance(path, Field)])
                for entry in self._contexts.entries.get(function, ()) if held else ():
                    self._run_by[entry.context] = self._run_by.get(entry.context, frozenset()) | held
        return self._run_by.get(thread, frozenset())

    def _is_started_by_many(self, context: Context) -> bool:
        """Whether several tasks at once have pool workers run something on an object that they share.

        A lock that they hold meanwhile, also one between tasks, lets one of them at it.
        """
        start = self._memory.start(context) if context.kind == "pool" else None
        if context.starter is None or start is None or start.held:
            return False
        entries = [
            entry for entry in self._contexts.entries.get(context.starter, ())
            if entry.receiver == SHARED and not entry.locks
        ]  # fmt: skip
        started = [self._contexts.roots[entry.context] for entry in entries]
        return any(each.is_loop and each.many for each in started)

    def _have_one_of_their_run(self, one: Context, two: Context) -> bool:
        """Whether two contexts are started on an object that a function has made for itself: each run has another."""
        starts = (self._memory.start(one), self._memory.start(two))
        callees = [start.callee if start is not None else None for start in starts]
        first, second = (self._birth(c.receiver if isinstance(c, FunctionValue) else None) for c in callees)
        return first is not None and first == second and f"{one.starter}.".startswith(f"{first[0]}.")

    def _birth(self, receiver: Value | None) -> tuple[str, Span] | None:
        """Where an object is made, by which function, also if it is named by a variable of the function around."""
        match receiver:
            case Fresh(site=site):
                return site.function, site.span
            case Captured(function=function, name=name) if function in self._symbols.functions:
                bound = self._symbols.functions[function][1].bindings.get(name, ())
                return (function, bound[0].span) if len(bound) == 1 and isinstance(bound[0], Call) else None
            case _:
                return None

    def _is_awaited_before(self, one: Context, two: Context, *, own: bool = False) -> bool:
        """Whether the function that starts both has awaited the first before it comes to start the second.

        `own` says that both work on an object that each run of that function has for itself: a function in it may have
        started the first one, and awaited it.
        """
        if not one.awaited or one.starter is None or one.span is None or two.starter is None or two.span is None:
            return False
        body = self._symbols.functions[two.starter][1].body
        if own and one.starter != two.starter:
            spans = [span for span, callee in self._effects[two.starter].calls if callee == one.starter]
            awaited = {part.span for part in records(body) if isinstance(part, Await)}  # a coroutine runs there
            if is_looped(body, two.span) and any(is_looped(body, span) for span in spans):
                return False
            return bool(spans) and all(span < two.span and span in awaited for span in spans)
        if two.span <= one.span or one.span.holds(two.span):  # `await gather(first(), second())`
            return False
        if not own and not self._are_of_one_run(one, two):
            return False
        return awaits_at(body, one.span) and not (is_looped(body, one.span) and is_looped(body, two.span))

    def _are_of_one_run(self, one: Context, two: Context) -> bool:
        """Whether one function starts both, which does not run several times at once."""
        if one.starter is None or one.starter != two.starter:
            return False
        entries = self._contexts.entries.get(one.starter, ())
        return not any(self._contexts.roots[entry.context].many for entry in entries)

    def _in_one_activation(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """A variable of a function is shared by what that very call of it starts."""
        owner = write.located.place.owner
        inner = [spot for spot, context in ((write, one), (other, two)) if context.starter == owner]
        if not inner or any(spot.function == owner for spot in inner):
            return Silence.APART if not inner else Silence.ONE_CONTEXT
        handed = isinstance(root(write.access.path), Param) and isinstance(root(other.access.path), Param)
        if handed and self._is_made_in_turn(write.located.place):
            return Silence.OWNED
        if one == two:
            return 3 if one.many and not one.is_loop else Silence.ONE_LOOP if one.is_loop else Silence.ONE_CONTEXT
        started = inner[0].entry.context
        if any(self._is_handed_over(s, self._contexts.roots[started]) for s in (write, other) if s not in inner):
            return Silence.ORDERED
        outside = [context for context in (one, two) if context.starter != owner]
        if (one.is_loop and two.is_loop) or any(c.is_loop and inner[0].entry for c in outside if c.kind == "loop"):
            return Silence.ONE_LOOP
        return 3

    def _is_made_in_turn(self, place: Place) -> bool:
        """Whether a variable gets another object in each turn of some loop: whoever is handed one has his own."""
        body, made = self._symbols.functions[place.owner][1].body, self._made_at(place)
        return bool(made) and all(is_looped(body, span) for span in made)

    def _made_at(self, place: Place) -> list[Span]:
        """Where a function makes what it gives to a variable; nowhere if it gets something else, too."""
        bound = self._symbols.functions[place.owner][1].bindings.get(place.name, ())
        made = [value.span for value in bound if isinstance(value, Build | Comp | Call)]
        return made if len(made) == len(bound) else []

    def _is_handed_over(self, spot: Spot, context: Context) -> bool:
        """Whether an access comes before the start of a context, in a loop that makes another object in each turn."""
        start, place = self._memory.start(context), spot.located.place
        if (
            start is None
            or start.loop is None
            or spot.function != place.owner
            or spot.access.span[:2] >= start.span[:2]
        ):
            return False
        made = self._made_at(place)
        return bool(made) and all(start.loop.holds(span) for span in made)

    def _is_waiting(self, context: Context, spot: Spot) -> bool:
        """Whether a context's starter waits for it at once, and the other access is on the same task's way."""
        if not context.awaited or not self._contexts.roots[spot.entry.context].is_loop:
            return False
        way = [caller for caller, _ in self._contexts.way(spot.function, spot.entry)]
        return context.starter in (*way, spot.function)

    def _one_at_a_time(self, one: Context, two: Context, place: Place) -> Silence | None:
        """Why two contexts never run in parallel, or why one does not run beside itself, whatever they do."""
        several = one.many or self._is_started_by_many(one) or self._repeating.meets_itself(one)
        if one == two and (one.is_loop or not several):
            return Silence.CALLERS if one.is_external else Silence.ONE_LOOP if one.is_loop else Silence.ONE_CONTEXT
        if one == two:
            return None
        if one.queue and one.queue == two.queue and (place.kind == "field" or not one.queue.startswith(OF_OBJECT)):
            return Silence.ONE_CONTEXT
        same_start = (
            one.kind == two.kind == "thread" and one.starter == two.starter and one.span == two.span is not None
        )
        if same_start and not (one.many or two.many):
            return Silence.ONE_CONTEXT  # of one object: what a class below puts in the place of the other
        calling = [context.is_external or context.kind == "decorated" for context in (one, two)]
        if all(calling):
            return Silence.CALLERS
        return Silence.ONE_LOOP if one.is_loop and two.is_loop else None
