"""Contexts: what runs beside what, and in which states (context, lockset, receiver) each function is entered.

Entry states are propagated from the roots along calls, top-down, after RacerD's idea of keeping accesses where they are
(Blackshear et al. 2018); one intersection over all callers would be wrong both ways.
"""

from __future__ import annotations

import fnmatch
import os.path
import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from racelint.analysis.conditions import satisfies
from racelint.analysis.effects import Access, Act, CallSite, Effects, Start
from racelint.analysis.objects import FRESH, MAYBE, OWN, SHARED, Objects
from racelint.analysis.paths import root
from racelint.analysis.places import Places
from racelint.analysis.singles import Singles
from racelint.analysis.starting import COMMAND, GOROUTINE, LEADING
from racelint.analysis.state import THREADS, Conditions
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import (
    Builtin,
    Captured,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Partial,
    Result,
    Site,
    TypeValue,
    Value,
)
from racelint.knowledge import EntryRow, Knowledge
from racelint.model import Call, Const, Function, Turn
from racelint.record import Record
from racelint.span import Span

EXTERNAL = "external"
EXAMPLES = frozenset(
    {"example", "examples", "sample", "samples", "demo", "demos", "doc", "docs", "benchmark", "benchmarks", "scripts"}
)
SHOWS = re.compile(r"(^|[_-])(examples?|demo)([_-]|\d*\.)")  # a file that is an example by its name
DECIDING = frozenset({"truth", "none", "equal"})
LOOP = frozenset({"task", "loop", "remote", "greenlet", "async external"})
ELSEWHERE = "?"  # an object that no field is known to hold
MOST_STEPS = 60  # calls from a context's root
MOST_KEPT = 6  # callables kept in one field that are told apart
MOST_HANDED = 3  # callables handed through one parameter
MOST_STATES = 8  # entry states kept for a function and context


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

    @property
    def is_loop(self) -> bool:
        """Whether it runs on an event loop, one at a time between suspensions."""
        return self.kind in LOOP

    @property
    def is_external(self) -> bool:
        """Whether callers of the public interface are meant."""
        return self.kind in (EXTERNAL, "async external")


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
    flags: Flags = frozenset()  # constants that parameters have which decide what the function does
    constructor: str = ""  # which constructor is still at work on the own instance: only what it has started knows it


class Came(NamedTuple):
    """The caller, its own entry and the call by which a function was entered; `looped` if that is in a loop."""

    caller: str
    entry: Entry
    span: Span
    looped: bool = False
    own: bool = False  # on the caller's own instance


@dataclass
class Contexts:
    """All contexts, and for each function the states in which it is entered."""

    roots: list[Context] = field(default_factory=list)
    entries: dict[str, dict[Entry, Came | None]] = field(default_factory=dict)
    started_under: dict[str, frozenset[int]] = field(default_factory=dict)  # by the calls of a function
    _ways: dict[tuple[str, Entry], list[tuple[str, Span]]] = field(default_factory=dict)
    made_in: dict[str, set[int]] = field(default_factory=dict)  # the contexts in which objects of a type are made
    turning: dict[str, set[str]] = field(default_factory=dict)  # what polls its inputs, with what leads there
    singles: set[str] = field(default_factory=set)  # types of which there is one object
    programs: dict[str, frozenset[str]] = field(default_factory=dict)  # by a function, what may run it
    consuming: set[str] = field(default_factory=set)  # what a started context takes one result after the other from
    sites: dict[tuple[str, Span, str], CallSite] = field(default_factory=dict)  # by caller, span and callee

    def given(self, came: Came, callee: str, parameter: Param) -> Value | None:
        """What a call gives for a parameter, in the caller's terms."""
        site = self.sites.get((came.caller, came.span, callee))
        if site is None:
            return None
        return dict(site.given).get(parameter.index, site.receiver if parameter.index == 0 else None)

    def root(self, function: str, entry: Entry) -> str:
        """The function in which the way to an entry starts."""
        way = self.way(function, entry)
        return way[0][0] if way else function

    def is_looped(self, function: str, entry: Entry) -> bool:
        """Whether some call on the way from a context's root stands in a loop."""
        came, steps = self.entries[function].get(entry), 0
        while came is not None and steps < MOST_STEPS:
            if came.looped:
                return True
            came, steps = self.entries[came.caller].get(came.entry), steps + 1
        return False

    def way(self, function: str, entry: Entry) -> list[tuple[str, Span]]:
        """The calls from a context's root to a function, outermost first: the calling functions and the spans."""
        known = self._ways.get((function, entry))
        if known is not None:
            return known
        way: list[tuple[str, Span]] = []
        came = self.entries[function].get(entry)
        while came is not None and len(way) < MOST_STEPS:
            way.append((came.caller, came.span))
            came = self.entries[came.caller].get(came.entry)
        self._ways[function, entry] = way[::-1]
        return way[::-1]


class Finder:
    """Builds `Contexts` out of the effects of all functions."""

    def __init__(
        self, symbols: Symbols, types: Types, knowledge: Knowledge, summaries: Summaries, places: Places
    ) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge
        self._effects = summaries.effects
        self._summaries = summaries
        self._places = places
        self._kept: dict[tuple[str, str], dict[FunctionValue, None]] = defaultdict(dict)
        self._given: dict[tuple[str, str], dict[FunctionValue, None]] = defaultdict(dict)  # to what is started
        self._edges: dict[str, list[tuple[str, CallSite]]] = defaultdict(list)
        self._callers: dict[str, set[str]] = defaultdict(set)
        self._called: set[str] = set()
        self._found = Contexts()
        self._objects = Objects(symbols, places, self._found)
        self._active: set[str] = set()
        self._files = len({source.path for source, _ in symbols.functions.values()})
        self._examples = _examples([*dict.fromkeys(source.path for source, _ in symbols.functions.values())])
        self._deciding: dict[str, set[int]] = {}  # the parameters on which it depends what a function does
        self._known: set[Context] = set()
        self._merged: dict[Context, dict[str, None]] = {}  # the root functions of merged contexts
        self._contracts: dict[str, frozenset[str]] = {}

    def run(self) -> Contexts:
        """Everything, in three steps: callables that are kept, edges, roots."""
        product = {f: e for f, e in self._effects.items() if self._is_product(f)}
        for effects in product.values():
            for path, value in effects.stored:
                self._keep(path, value)
        self._bind_arguments(product)
        for function_id, effects in product.items():
            self._link(function_id, effects)
        self._deciding = self._find_deciding(product)
        started, entered = list(self._starts()), [*self._entries(), *self._decorated()]
        known = {context.function for context in entered}
        singles = Singles(self._symbols, product, self._edges, known)
        self._found.singles.update(singles.all())
        self._found.programs.update(singles.reached())
        for context in started:
            self._root(context)
        for context in entered:
            self._root(context)
        self._externals({context.function for context in started})
        self._active = {owner for context in self._found.roots for owner in self._owners(context)}
        for index, context in enumerate(self._found.roots):
            for function_id in self._merged.get(context, (context.function,)):
                self._spread(index, context, function_id)
        self._find_started()
        self._found.turning = {f: self._leading_to(f) for f, effects in product.items() if effects.polls}
        self._found.consuming = set(self._consuming())
        return self._found

    def _consuming(self) -> Iterator[str]:
        """Public functions from which a thread, or a stream that callers read, takes one result after the other: there
        is one who does.
        """
        takers = [context.function for context in self._found.roots if context.kind == "thread"]
        takers += [f for functions in self._merged.values() for f in functions if self._is_stream(f)]
        for taker in takers:
            for callee, site in self._edges.get(taker, ()):
                if site.looped and site.used and self._symbols.functions[callee][1].is_public:
                    yield callee

    def _is_stream(self, function_id: str) -> bool:
        return self._symbols.functions[function_id][1].is_generator and not self._is_coroutine(function_id)

    def _leading_to(self, function_id: str) -> set[str]:
        """A function, and those that call it, directly or by one other."""
        callers = self._callers.get(function_id, set())
        return {function_id, *callers, *[further for caller in callers for further in self._callers.get(caller, ())]}

    def _find_started(self) -> None:
        """Which contexts each function starts, itself or by its calls."""
        for caller, edges in self._edges.items():
            for callee, _ in edges:
                self._callers[callee].add(caller)
        found: dict[str, set[int]] = defaultdict(set)
        for index, context in enumerate(self._found.roots):
            todo = [context.starter] if context.starter else []
            todo += self._makers(context)
            while todo:
                function_id = todo.pop()
                if index not in found[function_id]:
                    found[function_id].add(index)
                    todo.extend(self._callers.get(function_id, ()))
        self._found.started_under = {function_id: frozenset(indexes) for function_id, indexes in found.items()}

    def _makers(self, context: Context) -> list[str]:
        """The functions that start the object whose method a library runs, a thread by inheritance, or else make it."""
        if context.starter or context.receiver != OWN:
            return []
        source, function = self._symbols.functions[context.function]
        owner = f"{source.name}:{function.owner}"
        family = {owner, *self._symbols.subtypes(owner)}
        family.update(a.type for a in self._symbols.ancestors(owner) if isinstance(a, TypeValue))
        starters = [f for f, effects in self._effects.items() if effects.begun & family]
        makers = [f for f, effects in self._effects.items() if any(made in family for _, made in effects.made)]
        return starters or makers

    def _owners(self, context: Context) -> Iterator[str]:
        """The types whose methods start a context or are its root."""
        if context.kind in (EXTERNAL, "async external", "unknown", "process"):
            return
        for function_id in (context.starter, context.function):
            if function_id is not None:
                source, function = self._symbols.functions[function_id]
                if function.owner:
                    yield f"{source.name}:{function.owner}"

    def _is_active(self, type_id: str) -> bool:
        """Whether objects of a type have contexts of their own: who made one is not alone with it."""
        if type_id not in self._symbols.types:
            return False
        line = [a.type for a in self._symbols.ancestors(type_id) if isinstance(a, TypeValue)]
        return any(t in self._active for t in line)

    def _is_product(self, function_id: str) -> bool:
        """Whether a function is part of the program, not a test or an example of its use."""
        source = self._symbols.functions[function_id][0]
        if self._symbols.stands_in(function_id):
            return False
        return source.reported and not (source.path in self._examples and len(self._examples) < self._files)

    def _root(self, context: Context) -> None:
        """Add a context; callers' threads and callbacks are not told apart: one context each has many roots."""
        if context.is_external or context.kind == "unknown":
            merged = Context(context.kind, "", None, None, False, SHARED)
            self._merged.setdefault(merged, {})[context.function] = None
            context = merged
        if context not in self._known:
            self._known.add(context)
            self._found.roots.append(context)

    # --- callables and calls ------------------------------------------------------------------------------------------

    def _keep(self, path: Value, value: Value) -> None:
        key = self._key(path)
        if key is not None:
            for target in targets(value):
                self._kept[key][target] = None

    def _bind_arguments(self, product: dict[str, Effects]) -> None:
        """The parameters of what is started stand for what it is given."""
        for effects in product.values():
            for start in effects.starts.values():
                for target in targets(start.callee):
                    _, function = self._symbols.functions[target.function]
                    offset = 1 if target.receiver is not None else 0
                    for index, values in enumerate(start.args, offset):
                        if index < len(function.parameters) and len(values) == 1:
                            self._bind(target.function, index, function.parameters[index].name, values[0])

    def _bind(self, function_id: str, index: int, name: str, value: Value) -> None:
        self._places.stands_for(Param(function_id, index), value)
        for target in targets(value):
            self._kept[function_id, name][target] = None
            self._given[function_id, name][target] = None

    def _key(self, path: Value) -> tuple[str, str] | None:
        while isinstance(path, Element | Member):
            path = path.base
        match path:
            case Captured(function=function, name=name):
                return function, name
            case Param(function=function, index=index):
                return function, self._symbols.functions[function][1].parameters[index].name
            case Field(name=name):
                located = self._places.locate(path)
                return (located.place.owner, name) if located is not None else None
            case _:
                return None

    def _link(self, function_id: str, effects: Effects) -> None:
        """The calls of a function; one of a kept callable leads to all that are kept there."""
        for site in effects.calls.values():
            if isinstance(site.callee, str):
                self._edge(function_id, site.callee, site)
                overrides = self._overrides(site, function_id)
                if len(overrides) > 1 and self._symbols.fits_many(site.callee):
                    site = site._replace(certain=False)
                for override in overrides:
                    self._edge(function_id, override, site)
                continue
            for target in self._kept_at(site.callee):
                self._edge(function_id, target.function, site._replace(receiver=_foreign(target.receiver)))

    def _kept_at(self, path: Value) -> Iterator[FunctionValue]:
        """The callables that a path may hold; where many are handed through one place, no caller calls them all."""
        table = self._given if isinstance(path, Param) else self._kept
        key = self._key(path)
        found = table.get(key, {}) if key is not None else {}
        if len(found) <= (MOST_KEPT if isinstance(path, Field | Element | Member) else MOST_HANDED):
            yield from found

    def _edge(self, caller: str, callee: str, site: CallSite) -> None:
        self._edges[caller].append((callee, site))
        if (site.given or site.receiver is not None) and self._is_ordered_by_steps(caller):
            self._found.sites[caller, site.span, callee] = site
        if caller != callee:
            self._called.add(callee)

    def _overrides(self, site: CallSite, caller: str) -> list[str]:
        """What subclasses put in place of the called method, if the receiver may be one of theirs.

        What an object holds is mostly not of the object's own class, if it is declared to be of a class above.
        """
        assert isinstance(site.callee, str)
        source, function = self._symbols.functions[site.callee]
        if (
            site.receiver is None
            or isinstance(site.receiver, Fresh)
            or function.owner is None
            or function.name == "__init__"
            or self._places.is_exact(site.receiver)
        ):
            return []
        owner = self._types.class_of(site.receiver) or f"{source.name}:{function.owner}"
        overrides = self._symbols.overrides(owner, function.name)
        if self._is_ordered_by_steps(site.callee):
            overrides = [override for override in overrides if self._is_product(override)]
        elif isinstance(site.receiver, Field | Element | Member):
            holder = self._symbols.owner_of(caller)
            overrides = [override for override in overrides if self._symbols.owner_of(override) != holder]
        return overrides if len(overrides) <= 6 else []

    # --- roots --------------------------------------------------------------------------------------------------------

    def _starts(self) -> Iterator[Context]:
        """What the functions of the project start."""
        for function_id, effects in self._effects.items():
            if not self._is_product(function_id):
                continue
            for start in effects.starts.values():
                if start.kind == "binding":
                    continue
                if isinstance(start.callee, Field | Captured):
                    for target in self._kept_at(start.callee):
                        yield self._context(start, target._replace(receiver=_foreign(target.receiver)), function_id)
                for target in targets(start.callee):
                    if start.kind == COMMAND:
                        yield Context(EXTERNAL, target.function, None, None, False, SHARED)
                        continue
                    yield self._context(start, target, function_id)
                    for handed in self._handed_with(start, target, effects):
                        yield self._context(start, handed, function_id)
                    for override in self._other_forms(target):
                        yield self._context(start, target._replace(function=override), function_id)

    def _handed_with(self, start: Start, target: FunctionValue, effects: Effects) -> Iterator[FunctionValue]:
        """What a started closure calls, if the call that makes it is given that: `go run(worker(queue, c.sync))`.

        Only where so many are handed through that parameter that its calls lead nowhere.
        """
        for (path, value), call in effects.stored.items():
            if call is None or not isinstance(path, Captured) or not start.span.holds(call):
                continue
            if target.function.startswith(f"{path.function}.") and not any(self._kept_at(path)):
                yield from targets(value)

    def _other_forms(self, target: FunctionValue) -> list[str]:
        """What subclasses put in place of a method that a base class starts."""
        source, function = self._symbols.functions[target.function]
        if not isinstance(target.receiver, Param) or function.owner is None:
            return []
        overrides = self._symbols.overrides(f"{source.name}:{function.owner}", function.name)
        return overrides if len(overrides) <= MOST_KEPT else []

    def _context(self, start: Start, target: FunctionValue, starter: str) -> Context:
        fresh = isinstance(target.receiver, Fresh) or self._is_each_turns_own(start, target.receiver, starter)
        receiver = OWN if fresh else SHARED
        many = start.many or (start.looped and not fresh)
        own = target.receiver is not None and self._symbols.is_instance(target.receiver)
        origin = self._held_by(target.receiver) if self._is_ordered_by_steps(starter) else ""
        where = (GOROUTINE if start.kind == LEADING else start.kind, target.function, starter, start.span)
        return Context(*where, many, receiver, awaited=start.awaited, own=own, origin=origin)

    def _held_by(self, receiver: Value | None) -> str:
        """The field in which an object was found."""
        owner = self._types.class_of(receiver.base) if isinstance(receiver, Field) else None
        return f"{owner}.{receiver.name}" if owner is not None and isinstance(receiver, Field) else ""

    def _is_each_turns_own(self, start: Start, receiver: Value | None, starter: str) -> bool:
        """Whether each start has an object of its own: what a call or a channel gives, an element of a container."""
        if receiver is None or self._symbols.functions[starter][0].module.traits.atomic_steps:
            return False
        return isinstance(receiver, Result | Element | Member) or (
            isinstance(receiver, Captured) and start.loop is not None
            and any(t.loop == start.loop and t.variable == receiver.name for t in self._turns(receiver.function))
        )  # fmt: skip

    def _turns(self, function_id: str) -> tuple[Turn, ...]:
        return self._symbols.functions[function_id][1].turns

    def _entries(self) -> Iterator[Context]:
        """What libraries call."""
        for row in self._knowledge.concurrency.entries:
            if row.bases:
                yield from self._by_base(row)
            if row.decorators:
                yield from self._by_decorator(row)
            if row.field:
                yield from self._by_mark(row)
            if row.signature and not row.embeds:
                yield from self._by_signature(row)
            if row.embeds:
                yield from self._by_embedding(row)

    def _by_base(self, row: EntryRow) -> Iterator[Context]:
        for type_id, (source, record) in self._symbols.types.items():
            line = self._symbols.ancestors(type_id)
            if not source.reported or not any(isinstance(a, Builtin) and a.name in row.bases for a in line):
                continue
            for name, qualname in record.methods.items():
                if any(fnmatch.fnmatchcase(name, pattern) for pattern in row.methods):
                    receiver = {"call": FRESH, "own": OWN}.get(row.instance, SHARED)
                    yield Context(row.kind, f"{source.name}:{qualname}", None, None, row.kind == "handler", receiver)

    def _by_mark(self, row: EntryRow) -> Iterator[Context]:
        for source, record in self._symbols.types.values():
            declared = record.fields.get(row.field) if source.reported else None
            made = [a.value.func for a in declared.values if isinstance(a.value, Call)] if declared else []
            marks = [self._symbols.static(source.name, func) for func in made]
            if any(isinstance(mark, Builtin) and mark.name in row.marks for mark in marks):
                for qualname in record.methods.values():
                    function_id = f"{source.name}:{qualname}"
                    function = self._symbols.functions[function_id][1]
                    if function.is_public and any(p.name in row.given for p in function.parameters[1:2]):
                        yield Context(row.kind, function_id, None, None, row.kind == "handler", SHARED)

    def _by_signature(self, row: EntryRow) -> Iterator[Context]:
        """Functions that take just what a library gives to those that it calls."""
        for function_id, (source, function) in self._symbols.functions.items():
            if row.methods and not any(fnmatch.fnmatchcase(function.name, pattern) for pattern in row.methods):
                continue
            if source.reported and function_id in self._effects and self._takes(function_id, row.signature):
                receiver = FRESH if row.instance == "call" else SHARED
                many = row.many and row.kind == "handler"
                yield Context(row.kind, function_id, None, None, many or self._has_workers(function_id, row), receiver)

    def _has_workers(self, function_id: str, row: EntryRow) -> bool:
        """Whether the type that has a method says that several calls of it may run at once."""
        owner = self._symbols.owner_of(function_id)
        for other, effects in self._effects.items() if row.workers and owner else ():
            if row.workers in effects.counts and self._symbols.owner_of(other) == owner:
                return any(self._number(value) > 1 for value in effects.counts[row.workers])
        return False

    def _number(self, value: Value) -> int:
        """A number that is written down, 1 for one that is not."""
        if isinstance(value, Global):
            record = self._symbols.content(value.module).globals.get(value.name)
            constants = [assigned.value for assigned in record.values] if record is not None else []
            found = constants[0].value if len(constants) == 1 and isinstance(constants[0], Const) else 1
        else:
            found = value.value if isinstance(value, Literal) else 1
        return found if isinstance(found, int) else 1

    def _takes(self, function_id: str, signature: tuple[str, ...]) -> bool:
        """Whether a function's parameters are of these types, which are patterns."""
        function = self._symbols.functions[function_id][1]
        given = function.parameters[1 if function.owner else 0 :]
        if len(given) != len(signature):
            return False
        found = [self._types.declared(function_id, p.annotation) if p.annotation else None for p in given]
        return all(
            fnmatch.fnmatchcase(self._types.text(f).replace(":", "."), wanted)
            for f, wanted in zip(found, signature, strict=True)
        )

    def _by_embedding(self, row: EntryRow) -> Iterator[Context]:
        """Methods of types that embed what a library has generated for them."""
        for source, record in self._symbols.types.values():
            if source.reported and any(fnmatch.fnmatchcase(e, p) for e in record.embedded for p in row.embeds):
                for name, qualname in record.methods.items():
                    if any(fnmatch.fnmatchcase(name, pattern) for pattern in row.methods):
                        function_id = f"{source.name}:{qualname}"
                        if not row.signature or self._takes(function_id, row.signature):
                            yield Context(row.kind, function_id, None, None, row.many, SHARED)

    def _by_decorator(self, row: EntryRow) -> Iterator[Context]:
        for function_id, (source, function) in self._symbols.functions.items():
            if not source.reported or (row.only and row.only != ("async" if function.is_async else "sync")):
                continue
            for decorator in function.decorators:
                named = decorator.func if isinstance(decorator, Call) else decorator
                value = self._symbols.static(source.name, named)
                if isinstance(value, Builtin) and value.name in row.decorators:
                    yield Context(row.kind, function_id, None, None, True, SHARED)

    def _decorated(self) -> Iterator[Context]:
        """What an object makes of a function it decorates: all calls of that function share the object."""
        for function_id in self._effects:
            source, function = self._symbols.functions[function_id]
            maker = f"{source.name}:{function.parent}"
            if not source.reported or maker not in self._effects or function_id in self._called:
                continue
            made_by = self._symbols.functions[maker][1]
            if made_by.owner and made_by.binding == "instance" and made_by.name == "__call__" and not function.is_async:
                yield Context("decorated", function_id, None, None, True, SHARED)

    def _decorators(self) -> set[str]:
        """The functions that decorate something of the project: they run when it is imported."""
        found: set[str] = set()
        for source, function in self._symbols.functions.values():
            for decorator in function.decorators:
                value = self._symbols.static(source.name, decorator.func if isinstance(decorator, Call) else decorator)
                if isinstance(value, FunctionValue):
                    found.add(value.function)
        return found

    def _externals(self, started: set[str]) -> None:
        """The public functions and methods that nothing in the project calls."""
        entered = {context.function for context in self._known} | self._decorators()
        entered.update(function_id for functions in self._merged.values() for function_id in functions)
        for function_id, (_, function) in self._symbols.functions.items():
            if (
                not self._is_product(function_id)
                or function_id in self._called
                or function_id in started
                or function_id in entered
            ):
                continue
            effects = self._effects.get(function_id)
            if effects is None or (function.name == "<module>" and not effects.starts_any):
                continue  # a module runs at import, before anything is started
            if function.is_public:
                kind = "async external" if self._symbols.is_coroutine(function_id, self._knowledge) else EXTERNAL
                self._root(Context(kind, function_id, None, None, False, SHARED))

    # --- entry states -------------------------------------------------------------------------------------------------

    def _spread(self, index: int, context: Context, root_id: str) -> None:
        """Propagate a context from a root along all calls."""
        if root_id not in self._effects or context.kind == "process":
            return
        receiver = FRESH if self._makes_itself(root_id) else context.receiver
        first = Entry(index, receiver, self._contract(root_id) | self._taken_over(root_id), origin=context.origin)
        if not self._enter(root_id, first, None):
            return
        todo = deque([(root_id, first)])
        while todo:
            function_id, entry = todo.popleft()
            effects = self._effects.get(function_id)
            if effects is None or entry not in self._found.entries[function_id]:
                continue
            for _, type_id in effects.made:
                self._found.made_in.setdefault(type_id, set()).add(index)
            for callee, site in self._edges.get(function_id, ()):
                if site.joined & THREADS or (context.kind in ("thread", "pool") and self._is_coroutine(callee)):
                    continue  # a coroutine does not run in the thread that makes it
                own = site.receiver is not None and self._symbols.is_instance(site.receiver)
                if not is_possible(site.needs, entry) or (own and not self._may_run(callee, entry.type)):
                    continue
                next_entry = self._through(entry, function_id, callee, site)
                starts = self._effects[callee].starts_any if callee in self._effects else False
                if not next_entry.before and not starts and is_early(site, effects):
                    next_entry = next_entry._replace(before=function_id)
                if self._enter(callee, next_entry, Came(function_id, entry, site.span, site.looped, own)):
                    todo.append((callee, next_entry))

    def _taken_over(self, root_id: str) -> frozenset[str]:
        """Locks that a goroutine gives back without having taken them: who has started it holds them until then."""
        if not self._is_ordered_by_steps(root_id):
            return frozenset()
        return frozenset([self._places.lock(lock) for lock in self._summaries.of(root_id).releases])

    def _makes_itself(self, function_id: str) -> bool:
        """Whether a method constructs its own instance, anew perhaps: nobody else may use it meanwhile."""
        if self._symbols.functions[function_id][1].name == "__init__":
            return True
        sites = self._effects[function_id].calls.values()
        made = [s.callee for s in sites if s.receiver == Param(function_id, 0) and isinstance(s.callee, str)]
        return any(self._symbols.functions[callee][1].name == "__init__" for callee in made)

    def _may_run(self, function_id: str, type_id: str) -> bool:
        """Whether an object of a class, or of one below it, can have a method."""
        source, function = self._symbols.functions[function_id]
        return not type_id or not function.owner or self._places.related(f"{source.name}:{function.owner}", type_id)

    def _is_coroutine(self, function_id: str) -> bool:
        return self._symbols.is_coroutine(function_id, self._knowledge)

    def _through(self, entry: Entry, caller: str, callee: str, site: CallSite) -> Entry:
        locks = entry.locks
        if site.held:
            locks = locks | self._places.locks(site.held)
        locks = locks | self._contract(callee)
        sure = entry.sure and site.certain
        origin = self._origin(entry, site, caller)
        receiver = self._receiver(entry, site, caller, callee)
        flags = self._flags(entry, site, caller, callee)
        type_id, constructor = self._type(entry, site, caller), self._constructor(entry, site, caller)
        return Entry(entry.context, receiver, locks, type_id, sure, entry.before, origin, flags, constructor)

    def _constructor(self, entry: Entry, site: CallSite, caller: str) -> str:
        """The constructor that is still at work on the callee's own instance."""
        if site.receiver is None or not self._symbols.is_instance(site.receiver):
            return ""
        name = self._symbols.functions[caller][1].name
        return entry.constructor or (caller if name == "__init__" and site.started else "")

    def _flags(self, entry: Entry, site: CallSite, caller: str, callee: str) -> Flags:
        """The constants that a call gives to what decides in the callee; the caller's own are handed on."""
        deciding = self._deciding.get(callee)
        if not deciding or not site.given:
            return frozenset()
        mine = dict(entry.flags)
        found: set[tuple[int, Literal]] = set()
        for index, value in site.given:
            constant = mine.get(value.index) if isinstance(value, Param) and value.function == caller else value
            if index in deciding and isinstance(constant, Literal):
                found.add((index, constant))
        return frozenset(found)

    def _find_deciding(self, product: dict[str, Effects]) -> dict[str, set[int]]:
        """The parameters that something depends on, in a function itself or in one that it hands them to."""
        found: dict[str, set[int]] = {}
        for function_id, effects in product.items():
            spots: list[Access | Act | CallSite] = [*effects.all_accesses(), *effects.all_acts()]
            spots += effects.calls.values()
            needs = [p for spot in spots for p, _ in spot.needs if p.test in DECIDING]
            tested = {p.value.index for p in needs if isinstance(p.value, Param)}
            if tested:
                found[function_id] = tested
        todo = deque(found)
        callers: dict[str, list[tuple[str, CallSite]]] = defaultdict(list)
        for caller, edges in self._edges.items():
            for callee, site in edges:
                if site.given:
                    callers[callee].append((caller, site))
        while todo:
            callee = todo.popleft()
            for caller, site in callers.get(callee, ()):
                handed = {v.index for i, v in site.given if isinstance(v, Param) and i in found[callee]}
                if not handed <= found.get(caller, set()):
                    found.setdefault(caller, set()).update(handed)
                    todo.append(caller)
        return found

    def _type(self, entry: Entry, site: CallSite, caller: str) -> str:
        """The class of the callee's own instance."""
        match site.receiver:
            case None:
                return ""
            case Param(function=function) as instance if function == caller and self._symbols.is_instance(instance):
                source, record = self._symbols.functions[caller]
                own = f"{source.name}:{record.owner}" if record.owner else ""
                known = entry.type
                return known if known and (not own or known in self._symbols.subtypes(own)) else own or known
            case receiver:
                return self._types.class_of(receiver) or ""

    def _origin(self, entry: Entry, site: CallSite, caller: str) -> str:
        """The field that holds the callee's own instance: "Type.field", marked "=" if its type makes what it keeps, and
        `ELSEWHERE` for a variable of which that is not known.
        """
        receiver, by_steps = site.receiver, self._is_ordered_by_steps(caller)
        if isinstance(receiver, Param) and self._symbols.is_instance(receiver):
            return entry.origin
        if receiver is None and by_steps:
            inside = isinstance(site.callee, str) and site.callee.startswith(f"{caller}.")
            return entry.origin if inside else ""  # a closure, called in place
        if by_steps and isinstance(receiver, Captured) and self._symbols.is_captured_instance(receiver):
            return entry.origin  # of the method around
        return self._places.holder(receiver, entry.type) or ("" if by_steps else ELSEWHERE)

    def _receiver(self, entry: Entry, site: CallSite, caller: str, callee: str) -> int:
        """What the callee's own instance is to the context."""
        if not site.certain:
            return MAYBE
        if self._is_ordered_by_steps(callee):
            if site.holder is not None and self._objects.of(_whole(site.holder), caller, entry) != FRESH:
                return OWN  # others may find it by now
            return self._objects.of(site.receiver, caller, entry)
        match site.receiver:
            case Fresh(type=name):
                made = self._symbols.functions[callee][1].name == "__init__"  # whoever makes an object is alone with it
                return SHARED if site.started and not made and self._is_active(name) else FRESH
            case Param(function=caller) as own if self._symbols.is_instance(own):
                published = site.started and self._symbols.functions[caller][1].name == "__init__"
                return SHARED if published else entry.receiver
            case Field() as path:
                base: Value = path
                if not isinstance(root(base), Param | Global | Captured | TypeValue):
                    return MAYBE
                while isinstance(base, Field):
                    owner = self._types.class_of(base.base)
                    back = owner is not None and entry.receiver == FRESH and self._places.leads_back(owner, base.name)
                    if owner is None or not (back or self._places.is_own_field(owner, base.name)):
                        return SHARED
                    base = base.base
                if isinstance(base, Param):
                    return entry.receiver if self._symbols.is_instance(base) else MAYBE
                return SHARED
            case None | TypeValue() | Global():
                return SHARED
            case Element() | Member() as path if isinstance(root(path), Param | Global | Captured | TypeValue):
                return SHARED
            case Element(base=Field()) | Member(base=Field()) as path if isinstance(root(path), Result):
                return SHARED  # out of some object's table: whoever has that has this, too
            case Captured():
                return SHARED
            case _:
                return MAYBE

    def _is_ordered_by_steps(self, function_id: str) -> bool:
        return not self._symbols.functions[function_id][0].module.traits.atomic_steps

    def _contract(self, function_id: str) -> frozenset[str]:
        """Locks that a decorator holds around every call of a function."""
        if function_id not in self._contracts:
            self._contracts[function_id] = self._find_contract(function_id)
        return self._contracts[function_id]

    def _find_contract(self, function_id: str) -> frozenset[str]:
        source, function = self._symbols.functions[function_id]
        locks: set[str] = set()
        for decorator in function.decorators:
            named = decorator.func if isinstance(decorator, Call) else decorator
            value = self._symbols.static(source.name, named)
            if isinstance(value, Builtin) and self._knowledge.does(value.name, "synchronized"):
                locks.add(f"@{value.name}")
            elif isinstance(value, FunctionValue):
                locks |= self._held_by_wrapper(value.function, source.name, function)
        return frozenset(locks)

    def _held_by_wrapper(self, decorator: str, module: str, function: Function) -> set[str]:
        """Locks that a decorator of the project holds around the call of what it decorates."""
        source, declared = self._symbols.functions[decorator]
        locks: set[str] | None = None
        for qualname, other in source.module.functions.items():
            if other.parent is None or not _is_within(other, declared.qualname):
                continue
            other_id = f"{source.name}:{qualname}"
            effects = self._effects.get(other_id)
            for site in effects.calls.values() if effects else ():
                if isinstance(site.callee, Captured):
                    held = {self._renamed(h.lock, other_id, module, function) for h in site.held}
                    locks = held if locks is None else locks & held
        return locks or set()

    def _renamed(self, lock: Value, wrapper: str, module: str, function: Function) -> str:
        """A lock of the wrapper's first argument is one of the decorated method's own instance."""
        if isinstance(lock, Field) and lock.base == Param(wrapper, 0) and function.owner:
            return self._places.lock(Field(Param(f"{module}:{function.qualname}", 0), lock.name))
        return self._places.lock(lock)

    def _enter(self, function_id: str, entry: Entry, came: Came | None) -> bool:
        """Add an entry state unless a weaker one is known; True if it is new."""
        known = self._found.entries.setdefault(function_id, {})
        if entry in known:
            return False
        same = [e for e in known if e.context == entry.context]
        if any(_covers(e, entry) for e in same) or len(same) >= MOST_STATES:
            return False
        for e in same:
            if _covers(entry, e) and known[e] is not None:
                del known[e]
        known[entry] = came
        return True


def _examples(paths: list[str]) -> frozenset[str]:
    """The files that show how a program is used, by their folders and names: they say nothing about the program."""
    if len(paths) < 2:
        return frozenset()
    root = len(os.path.commonpath(paths)) + 1
    found: set[str] = set()
    for path in paths:
        *folders, name = path[root:].lower().split("/")
        if not EXAMPLES.isdisjoint(folders) or SHOWS.search(name):
            found.add(path)
    return frozenset(found)


def _covers(weak: Entry, strong: Entry) -> bool:
    """Whether what may go wrong in one state may go wrong in another one: fewer locks, less owned, not before."""
    return (
        weak.receiver >= strong.receiver
        and weak.locks <= strong.locks
        and weak.sure >= strong.sure
        and weak.type == strong.type
        and weak.before in ("", strong.before)
        and weak.origin == strong.origin
        and weak.flags <= strong.flags
        and weak.constructor in ("", strong.constructor)
    )


def is_possible(needs: Conditions, entry: Entry) -> bool:
    """Whether a spot can be reached with the constants that a function was given."""
    if not needs or not entry.flags:
        return True
    given = dict(entry.flags)
    for predicate, outcome in needs:
        literal = given.get(predicate.value.index) if isinstance(predicate.value, Param) else None
        if literal is not None and predicate.test in DECIDING and satisfies(literal, predicate) is not outcome:
            return False
    return True


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


def _foreign(receiver: Value | None) -> Value | None:
    """A receiver in another function's terms: no instance of the function at hand."""
    return (
        None
        if receiver is None
        else Fresh("", receiver.site)
        if isinstance(receiver, Fresh)
        else Member(receiver, _NOSITE)
    )


def _whole(path: Value) -> Value:
    """The object that has what a path leads to."""
    while isinstance(path, Element | Member):
        path = path.base
    return path.base if isinstance(path, Field) else path


_NOSITE = Site("", Span(0, 0, 0, 0))


def _is_within(function: Function, qualname: str) -> bool:
    return function.qualname.startswith(f"{qualname}.")
