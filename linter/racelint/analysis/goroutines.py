"""Goroutines: who runs beside whom where any order of steps must be made, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.alreadyset import AlreadySet
from racelint.analysis.branching import are_alternatives
from racelint.analysis.callers import Callers
from racelint.analysis.contexts import EXTERNAL, Context, Contexts, Entry, targets
from racelint.analysis.effects import CONTAINERS, Access, Effects, is_constant
from racelint.analysis.identity import Identity
from racelint.analysis.importing import Importing
from racelint.analysis.lifecycle import begins, decodes, prepares, serves
from racelint.analysis.memory import Memory
from racelint.analysis.modes import Mode, are_apart
from racelint.analysis.objects import ALIVE, HANDLER, OWN, SHARED
from racelint.analysis.ownkeys import is_for_one_name, is_for_own_key
from racelint.analysis.ownruns import OwnRuns
from racelint.analysis.paths import root
from racelint.analysis.repeating import Repeating
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.starting import GOROUTINE, LEADING
from racelint.analysis.startup import Startup
from racelint.analysis.strangers import REQUESTED, Strangers
from racelint.analysis.succession import Succession
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Fresh
from racelint.analysis.ways import Ways
from racelint.knowledge import Knowledge
from racelint.model import Function
from racelint.span import Span

HANDLERS = frozenset({"Handler", "HandlerFunc", "func"})  # types of what answers requests
MOST_STARTS = 4  # goroutines that start one another


class Goroutines:
    """Judges pairs of contexts that only their own steps order."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, memory: Memory, ways: Ways,
        identity: Identity, callers: Callers, strangers: Strangers, repeating: Repeating, importing: Importing,
        own_runs: OwnRuns, knowledge: Knowledge,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._memory = memory
        self._ways = ways
        self._identity = identity
        self._callers = callers
        self._importing = importing
        self._strangers = strangers
        self._repeating = repeating
        self._own_runs = own_runs
        self._succession = Succession(symbols, contexts)
        self._startup = Startup(symbols, effects, contexts, memory)
        self.already_set = AlreadySet(symbols, effects, contexts, self._startup, knowledge)
        self.likely_set = AlreadySet(symbols, effects, contexts, self._startup, knowledge, likely=True)
        self._exclusive: dict[tuple[int, int], bool] = {}

    def parallel(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """How sure it is that two accesses run in parallel on one object, or why they do not."""
        memory = self._memory
        if are_apart(self._modes(write, one), self._modes(other, two)):
            return Silence.APART
        if self._are_in_two_programs(write, one, other, two):
            return Silence.APART
        if memory.is_ordered(write.function, write.access, two) or memory.is_ordered(other.function, other.access, one):
            return Silence.ORDERED
        later = memory.is_started_later
        if later(write.function, write.entry, two, span=write.access.span) or later(
            other.function, other.entry, one, span=other.access.span
        ):
            return Silence.ORDERED
        if self._startup.precedes(write, other) or self._startup.precedes(other, write):
            return Silence.ORDERED
        if self._startup.comes_first(write, other) or self._startup.comes_first(other, write):
            return Silence.ORDERED
        if self.already_set.excludes(write) or self.already_set.excludes(other):
            return Silence.ORDERED
        if self._succession.is_one(one, two) or (one != two and memory.is_one_after_other(one, two)):
            return Silence.ONE_CONTEXT
        if self._repeating.is_one_run(one, two):
            return Silence.ONE_CONTEXT
        if write.located.place.kind == "captured":
            return self._captured(write, one, other, two)
        if (one == two or one.kind == two.kind == HANDLER) and self._identity.are_borrowed(write, other):
            return Silence.OWNED
        if one == two:
            if not (one.many or self._repeating.share(one, write, other)) or memory.is_alone_each_turn(one):
                return Silence.CALLERS if one.is_external else Silence.ONE_CONTEXT
            if not {OWN, ALIVE}.isdisjoint((write.receiver, other.receiver)):
                return Silence.OWNED
            if all(_is_of_its_run(spot, one) or self._is_of_its_start(spot, one) for spot in (write, other)):
                return Silence.OWNED
            if all(self._repeating.has_one_each_turn(spot, one) for spot in (write, other)):
                return Silence.OWNED
            if self._own_runs.has_made(write) and self._own_runs.has_made(other):
                return Silence.OWNED
            own = one.kind == "goroutine" and is_for_own_key(write, self._symbols, self._contexts)
            if own and is_for_own_key(other, self._symbols, self._contexts):
                return Silence.ONE_CONTEXT
            if all(is_for_one_name(spot, self._symbols, self._contexts) for spot in (write, other)):
                return Silence.ONE_CONTEXT
        elif one.is_external and two.is_external:
            return Silence.CALLERS
        elif (write.receiver == other.receiver and write.receiver in (OWN, ALIVE)) or self._own_runs.made_apart(
            write, other
        ):
            return Silence.OWNED
        if not (self.has_started(write, other) and self.has_started(other, write)):
            return Silence.OWNED
        if one != two and (self._own_runs.keeps(write, other) or self._own_runs.keeps(other, write)):
            return Silence.OWNED
        identity = self._identity
        if identity.made_by_two(write, other) or identity.is_by_itself(write, other):
            return Silence.OWNED
        if identity.is_kept_inside(write, other):
            return Silence.OWNED
        if identity.held_apart(write, other):
            return 1
        if (identity.is_whose(write) or identity.is_whose(other)) and not identity.settles(write, other):
            return 1
        if self._is_made_for_each(write, one) or self._is_made_for_each(other, two):
            return 1
        if self._precedes(write, two) or self._precedes(other, one) or self._are_alternatives(write, one, other, two):
            return 1
        if self._is_one_for_tests(one, two):
            return 1
        if all(self._sets_up(spot) for spot in (write, other) if spot.is_write) and not self._are_related(write, other):
            return 1
        if self._strangers.hardly_matter(write, one, other, two) or self._are_hardly_one(write, one, other, two):
            return 1
        certain = write.located.certain and other.located.certain
        if one.is_external or two.is_external:
            return self._outside(write, one, other, two) if certain else 1
        if one == two and not one.many and self._repeating.runs(one).called:
            return 2 if certain else 1
        return 3 if certain else 2

    def _is_one_for_tests(self, one: Context, two: Context) -> bool:
        """Whether the program starts a goroutine once, and a second time only in a function that tests alone call."""
        tests = self._contexts.left_to_tests
        return one.function == two.function and (one.starter in tests) != (two.starter in tests)

    def _are_hardly_one(self, first: Spot, one: Context, second: Spot, two: Context) -> bool:
        """Whether nothing says that two goroutines have one object.

        That is: no lock; there are several objects, and neither goroutine was started by a method of the object, nor by
        the other, nor both by one function, nor on what one function has made. Two of 19 such reports were right.
        """
        if one == two or one.kind != GOROUTINE or two.kind != GOROUTINE or first.located.place.kind != "field":
            return False
        if first.locks or second.locks or first.located.type in self._contexts.singles:
            return False
        if one.starter == two.starter or self._identity.runs_on_each(first, second):
            return False
        if self._is_started_on(first, one) or self._is_started_on(second, two):
            return False
        if self._identity.is_of_one_maker(first, second) or self._identity.are_of_one_variable(first, second):
            return False
        return two.starter not in self._ways.functions(first) and one.starter not in self._ways.functions(second)

    def _is_started_on(self, spot: Spot, context: Context) -> bool:
        """Whether a method of an access's object, or of what has it in a field, has started the goroutine, which runs
        another one, or a part of it.
        """
        both = [context.starter, context.function] if context.starter is not None else []
        owners = [self._symbols.owner_of(self._symbols.outermost(function)) for function in both]
        return bool(owners) and any(
            all(self._identity.is_family(owner, type_id) for owner in owners) for type_id in self._identity.owners(spot)
        )

    def _is_of_its_start(self, spot: Spot, context: Context) -> bool:
        """Whether an access starts from a variable of the starter's one call, or turn: others have others."""
        start = root(spot.access.path)
        if not isinstance(start, Captured) or start.function != context.starter:
            alone = self._own_runs.is_of_one_call(spot, context) and self._is_alone_in_its_call(context)
            return alone and self._own_runs.is_over_by_next(spot, context)
        if self._symbols.is_instance_of(start):
            return False
        alone = self._is_alone_in_its_call(context)
        return alone or self._memory.is_new_each_turn(spot.access.path, context)

    def _is_alone_in_its_call(self, context: Context) -> bool:
        """Whether one call of a starter waits for what its loop starts before it starts the next."""
        return self._memory.is_alone_each_turn(context, of_one_call=True)

    def has_started(self, spot: Spot, other: Spot) -> bool:
        """Whether what is a context's own is known to the other one, because the way there has started that."""
        if spot.receiver != ALIVE:
            return True
        under = self._contexts.started_under
        return any(other.entry.context in under.get(function, ()) for function in self._ways.functions(spot))

    def _are_in_two_programs(self, write: Spot, one: Context, other: Spot, two: Context) -> bool:
        """Whether no main package of the repository imports what leads to both accesses."""
        ways = [self._ways.functions(spot) | {c.starter or spot.function} for spot, c in ((write, one), (other, two))]
        return self._importing.are_apart(*ways)

    def _modes(self, spot: Spot, context: Context) -> frozenset[Mode]:
        """What a process may be in which an access happens; nothing if that is not known."""
        root = context.starter or self._contexts.root(spot.function, spot.entry)
        of_root = self._contexts.modes.get(root, frozenset())
        return self._contexts.modes_of_starts.get((root, context.span), of_root) if context.span else of_root

    def _are_alternatives(self, first: Spot, one: Context, second: Spot, two: Context) -> bool:
        """Whether two methods start what does the same, and nobody calls both: a caller has his choice."""
        starters = (one.starter, two.starter)
        if one == two or None in starters or starters[0] == starters[1]:
            return False
        if self._are_implementations(one, two) or self._are_exclusive(first.entry.context, second.entry.context):
            return True
        owners = [self._symbols.owner_of(starter) for starter in starters if starter is not None]
        if owners[0] != owners[1] or not owners[0] or not self._do_the_same(one, two):
            return False
        both = {first.entry.context, second.entry.context}
        return not any(both <= started for started in self._contexts.started_under.values())

    def _are_exclusive(self, one: int, two: int) -> bool:
        """Whether whatever leads to the starts of two contexts has made its choice by then: one branch or the other.

        `switch { case s.size > 0: s.runBySize(); case s.every > 0: s.runByTime() }`
        """
        if (one, two) not in self._exclusive:
            self._exclusive[one, two] = self._exclusive[two, one] = self._are_started_apart(one, two)
        return self._exclusive[one, two]

    def _are_started_apart(self, one: int, two: int) -> bool:
        if self._leads_to(one, two) or self._leads_to(two, one):
            return False
        under = self._contexts.started_under
        both = {function for function, started in under.items() if one in started and two in started}
        lowest = [f for f in both if both.isdisjoint(self._callees(f) - {f})]
        return bool(lowest) and all(self._chooses(function, one, two) for function in lowest)

    def _leads_to(self, context: int, other: int) -> bool:
        """Whether a context starts another one."""
        starter = self._contexts.roots[other].starter
        return any(entry.context == context for entry in self._contexts.entries.get(starter or "", ()))

    def _callees(self, function: str) -> set[str]:
        return {callee for _, callee in self._reached(function)}

    def _reached(self, function: str) -> Iterator[tuple[Span, str]]:
        """What a function calls or starts, and where."""
        effects = self._effects[function]
        yield from ((span, callee) for span, callee in effects.calls if isinstance(callee, str))
        for start in effects.starts.values():
            yield from ((start.span, target.function) for target in targets(start.callee))

    def _chooses(self, function: str, one: int, two: int) -> bool:
        mine, theirs = (self._starting_at(function, context) for context in (one, two))
        body = self._symbols.functions[function][1].body
        return bool(mine and theirs) and all(are_alternatives(body, a, b) for a in mine for b in theirs)

    def _starting_at(self, function: str, context: int) -> list[Span]:
        """The spots in a function that start a context, or that call what does."""
        under, started = self._contexts.started_under, self._contexts.roots[context]
        calls = [span for span, callee in self._reached(function) if context in under.get(callee, ())]
        own = [started.span] if started.starter == function and started.span is not None else []
        return [*calls, *own]

    def _are_implementations(self, one: Context, two: Context) -> bool:
        """Whether methods of one name of two types start one function: what had been given one of them has no other."""
        if one.function != two.function or None in (one.starter, two.starter) or one.starter == two.starter:
            return False
        methods = [self._symbols.functions[starter] for starter in (one.starter, two.starter) if starter is not None]
        owners = {f"{source.name}:{_method(function)[0]}" for source, function in methods}
        names = {_method(function)[1] for _, function in methods}
        return len(names) == 1 and len(owners) == 2 and all(owner in self._symbols.types for owner in owners)

    def _do_the_same(self, one: Context, two: Context) -> bool:
        """Whether two contexts call one function of the project, at their roots."""
        return not self._called(one.function).isdisjoint(self._called(two.function))

    def _called(self, function_id: str) -> set[str]:
        """The functions that one calls, itself or in a closure that it makes for that, as what it defers."""
        called = {callee for _, callee in self._effects[function_id].calls if isinstance(callee, str)}
        inner = [self._called(callee) for callee in called if callee.startswith(f"{function_id}.")]
        return called.union(*inner)

    def _precedes(self, spot: Spot, context: Context) -> bool:
        """Whether an access is part of what sets the program up, before a library has any reason to call.

        Of reads that is said only where they set up what requests are answered with.
        """
        looped = isinstance(spot.access, Access) and spot.access.looped
        served = context.kind == REQUESTED != self._contexts.roots[spot.entry.context].kind
        stores = spot.access.kind == "store"
        if looped or not (stores or (served and not spot.is_write)) or not self._comes_later(spot, context):
            return False
        if self._contexts.is_looped(spot.function, spot.entry) or context.starter in self._ways.functions(spot):
            return False
        if self._memory.is_disclosed(spot.function, spot.access, context):
            return False
        names = [self._symbols.functions[function][1].name for function in self._ways.functions(spot)]
        return any(prepares(name) or (stores and served and serves(name)) for name in names)

    def _are_related(self, first: Spot, second: Spot) -> bool:
        """Whether what leads to one of two accesses starts the other's context, too: its steps say what is ordered."""
        return any(
            (
                spot.entry.context != other.entry.context
                and other.entry.context in self._contexts.started_under.get(function, ())
            )
            or self._memory.registers(function, self._contexts.root(other.function, other.entry))
            for spot, other in ((first, second), (second, first))
            for function in self._started_by(spot)
        )

    def _started_by(self, spot: Spot) -> frozenset[str]:
        """The functions on the way to an access, and the one that has started its context."""
        starter = self._contexts.roots[spot.entry.context].starter
        return self._ways.functions(spot) | ({starter} if starter is not None else frozenset())

    def _sets_up(self, spot: Spot) -> bool:
        """Whether an access stores something once that had to be got first: a client, a setting.

        Whoever reads that mostly waits for it in some way that cannot be seen here.
        """
        access = spot.access
        if access.kind != "store" or not isinstance(access, Access) or access.looped:
            return False
        if is_constant(access.detail) or access.detail in CONTAINERS:
            return False
        is_goroutine = self._contexts.roots[spot.entry.context].kind == GOROUTINE
        return is_goroutine and self._happens_once(spot.function, spot.entry, MOST_STARTS)

    def _happens_once(self, function: str, entry: Entry, starts: int) -> bool:
        """Whether what leads to a function is one goroutine that is started once, as far as can be seen."""
        context = self._contexts.roots[entry.context]
        if starts == 0 or context.many or context.kind not in (GOROUTINE, EXTERNAL):
            return False
        if self._contexts.is_looped(function, entry) or (context.starter is None and not context.is_external):
            return False
        start = self._memory.start(context)
        if context.starter is None or start is None or start.looped or start.again or start.kind == LEADING:
            return context.starter is None
        around = self._contexts.entries.get(context.starter, {})
        return all(self._happens_once(context.starter, each, starts - 1) for each in around)

    def _comes_later(self, spot: Spot, context: Context) -> bool:
        """Whether libraries and callers lead to a context, or else what is started after an access."""
        memory, roots = self._memory, self._contexts.roots
        if memory.is_served(context, asked=True):
            return True
        around = {entry.context for entry in self._contexts.entries.get(context.starter or "", ())}
        return bool(around) and all(
            memory.is_served(roots[index], asked=True)
            or memory.is_started_later(spot.function, spot.entry, roots[index], span=spot.access.span)
            for index in around
        )

    def _captured(self, write: Spot, one: Context, other: Spot, two: Context) -> int | Silence:
        """A variable of a function, by what that very call of it starts, and by the function itself."""
        place = write.located.place
        if self._own_runs.has_called(write, place.owner) and self._own_runs.has_called(other, place.owner):
            return Silence.APART  # two calls of one function have each their own
        if any(s.function == place.owner == c.starter for s, c in ((write, one), (other, two))):
            return Silence.APART  # what a call starts calls the function again: that has its own
        if one == two and self._is_handed(write, one) and self._is_handed(other, two):
            return 3 if one.many else Silence.ONE_CONTEXT
        makers = (self._maker(one), self._maker(two))
        if place.owner not in makers:
            return Silence.APART
        if makers != (one.starter, two.starter) and place.owner in (write.function, other.function):
            return Silence.ORDERED  # who sets the handlers up has done so before they are called
        if one == two:
            if not one.many or self._is_alone_in_its_call(one):
                return Silence.ONE_CONTEXT
            anew = self._memory.is_new_each_turn(write.access.path, one) or self._memory.is_made_each_turn(place, one)
            return Silence.APART if anew else 3
        outside = [spot for spot, maker in zip((write, other), makers, strict=True) if maker != place.owner]
        return 3 if all(spot.function == place.owner for spot in outside) else Silence.UNKNOWN

    def _maker(self, context: Context) -> str | None:
        """The function that has started a context, or has made the closure that is a handler for all requests.

        What is made for one request is not meant: it takes a function that runs once, or that returns the handler.
        """
        if context.starter is not None or context.kind != REQUESTED:
            return context.starter
        source, function = self._symbols.functions[context.function]
        if not function.parent:
            return None
        maker = f"{source.name}:{function.parent}"
        reached = [self._contexts.roots[entry.context] for entry in self._contexts.entries.get(maker, ())]
        if not reached or any(each.many for each in reached):
            return None
        returned = self._symbols.functions[maker][1].returns
        gives = returned is not None and returned.name.rpartition(".")[2] in HANDLERS
        return maker if gives or self._contexts.runs_once(maker) else None

    def _is_made_for_each(self, spot: Spot, context: Context) -> bool:
        """Whether a closure that answers requests is made for one of them, by a method of what that alone has."""
        if context.kind != REQUESTED or context.starter is not None:
            return False
        makers = {function for function, _ in self._identity.variables(spot)}
        around = [entry for maker in makers for entry in self._contexts.entries.get(maker, ())]
        return any(self._contexts.roots[e.context].many and e.receiver != SHARED for e in around)

    def _is_handed(self, spot: Spot, context: Context) -> bool:
        """Whether a closure runs in a context that a function has started which its maker has handed it to."""
        maker = spot.located.place.owner
        start = self._memory.start(context)
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
        known = caller.located.own and isinstance(caller.access, Access) and caller.access.started
        if caller.function == context.starter and (known or isinstance(root(caller.access.path), Fresh | Captured)):
            return 3  # it goes on with what it has handed over
        if self._memory.is_disclosed(caller.function, caller.access, context):
            return 3  # likewise, by a call
        served = self._memory.is_served(context)
        if served and self._memory.is_initial(self._contexts.root(caller.function, caller.entry)):
            return Silence.ORDERED
        place = write.located.place
        if decodes(self._symbols.functions[self._contexts.root(caller.function, caller.entry)][1].name):
            return 1  # by whoever decodes an object that he has made, under his locks
        if caller.is_write and any(prepares(self._symbols.functions[f][1].name) for f in self._ways.functions(caller)):
            return 1  # first an object is made and filled, then it is put into service
        if self._begins(caller) and not self._are_related(write, other):
            return 1  # likewise, in ways that mostly cannot be seen
        if caller.is_write and (served or place.kind == "global" or self._callers.configures(caller)):
            return 1  # mostly configuration, before anything runs
        if place.kind == "global" and not (context.starter or context.function).startswith(f"{place.owner}:"):
            return 1
        if self._strangers.hardly_meet(write, other):
            return 1
        if caller.receiver == ALIVE:
            return 2  # its maker goes on with what runs
        if place.kind == "field" and self._is_by_other_types(caller, context) and not self._are_related(write, other):
            return 1
        return min(2, self._callers.beside(write, other, context))

    def _is_by_other_types(self, caller: Spot, context: Context) -> bool:
        """Whether callers come to a field neither by a method of its type, nor of that which starts the goroutine.

        They mostly have another object, or have that one before it is put into service, or when this is over: of 17
        such warnings in 19 repositories six were right.
        """
        known = self._symbols.owner_of(self._contexts.root(caller.function, caller.entry))
        starts = {self._symbols.owner_of(function) for function in (context.starter, context.function) if function}
        return not known or starts.union({caller.located.type}).isdisjoint({known, *self._symbols.subtypes(known)})

    def _begins(self, caller: Spot) -> bool:
        """Whether a caller comes to an access as the life of an object begins."""
        return begins(self._symbols.functions[self._contexts.root(caller.function, caller.entry)][1].name)


def _is_of_its_run(spot: Spot, context: Context) -> bool:
    """Whether an access starts from a variable of what a context runs: each run has its own."""
    start = root(spot.access.path)
    return isinstance(start, Captured) and f"{start.function}.".startswith(f"{context.function}.")


def _method(function: Function) -> tuple[str, str]:
    """The type and the name of the method in which a function stands, which may be a closure there."""
    owner, _, rest = function.qualname.partition(".")
    return owner, rest.partition(".")[0]
