"""Readiness: fields that are filled in where they are found empty, by who has surely done so before others come.

`func NewPool() (*Pool, error) { p := &Pool{}; if err := p.open(); err != nil { return nil, err }; return p, nil }`:
what `open` fills in where nothing is yet, it never fills in again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from racelint.analysis.branching import arms, blocks
from racelint.analysis.contexts import Context, Contexts
from racelint.analysis.effects import CallSite, Effects, where_made
from racelint.analysis.identity import Identity
from racelint.analysis.passing import comes_before, fails, is_heeded, passes
from racelint.analysis.paths import root
from racelint.analysis.places import Place
from racelint.analysis.settled_tests import SettledTests
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Fresh, FunctionValue, Param, Site, Value
from racelint.model import (
    Assign,
    Attr,
    Block,
    Call,
    Const,
    Expr,
    Jump,
    Make,
    Name,
    TypeRef,
)
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 3  # calls through which a function fills something in
POINTER = "*"


@dataclass(frozen=True, eq=False)
class Fills:
    """Where methods of a type fill in a field of their own object, or of a struct that is a part of it."""

    owner: str
    place: Place
    spots: dict[str, list[Span]]  # by the function


class Readiness:
    """Answers for stores that are made only where nothing is yet, in fields that are never emptied again."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, identity: Identity) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._identity = identity
        self.settled = SettledTests(effects)
        self._given: dict[tuple[str, str], frozenset[tuple[str, Span]]] = {}  # by a type and a field of it
        self._literals: dict[str, dict[Span, Make]] = {}  # by their functions
        self._fills: dict[tuple[str, tuple[str, ...], int], Fills | None] = {}  # by how many setters, too
        self._fillers: dict[tuple[Fills, str, Span], list[str]] = {}
        self._parts: set[tuple[str, str]] | None = None

    def is_always_given(self, place: Place) -> bool:
        """Whether whoever makes an object of a type gives it something for a field, in the literal."""
        made = self._made.get(place.owner)
        return made is not None and self._givers(place).issuperset(made)

    @cached_property
    def _made(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    def _givers(self, place: Place) -> frozenset[tuple[str, Span]]:
        """The literals, by their functions, that give something for a field."""
        key = (place.owner, place.name)
        if key not in self._given:
            made = self._made.get(place.owner, ())
            self._given[key] = frozenset([each for each in made if self._gives(*each, place.name)])
        return self._given[key]

    def _gives(self, function_id: str, made: Span, name: str) -> bool:
        """Whether a literal gives something for a field, and not nil, zero or an empty string."""
        if function_id not in self._literals:
            body = self._symbols.functions[function_id][1].body
            self._literals[function_id] = {part.span: part for part in records(body) if isinstance(part, Make)}
        literal = self._literals[function_id].get(made)
        value = dict(literal.fields).get(name) if literal is not None else None
        return value is not None and not (isinstance(value, Const) and not value.value)

    def is_filled(self, write: Spot, other: Spot, setters: Sequence[Spot]) -> bool:
        """Whether the field of an object is filled in before anybody else can know it, or before what leads to the
        other access is started. `setters` are all stores of the place.
        """
        fills = self._fills_of(write, setters)
        if fills is None:
            return False
        return self._is_filled_by_makers(fills, write, other) or self._is_filled_before(fills, write, other)

    def has_filled(self, read: Spot, setters: Sequence[Spot]) -> bool:
        """Whether the function of a read has surely filled in a field of the same object, or found it filled in, by
        calling a method that does. `setters` are all stores of that field.
        """
        chain = self._chain(read)
        fills = self._fills_of(setters[0], setters) if setters and len(chain) == 1 else None
        return fills is not None and self._fills_before(fills, read.function, read.access.span)

    def _fills_of(self, write: Spot, setters: Sequence[Spot]) -> Fills | None:
        owner, chain = self._symbols.owner_of(write.function), self._chain(write)
        if not chain or owner not in self._symbols.types:
            return None  # a closure, or another object
        key = (owner, chain, len(setters))
        if key not in self._fills:
            found: dict[str, list[Span]] = defaultdict(list)
            for spot in setters:
                if self._chain(spot) == chain and self._symbols.owner_of(spot.function) == owner:
                    found[spot.function].append(spot.access.span)
            asked = all([self.is_asked_for(spot) for spot in setters])
            self._fills[key] = Fills(owner, write.located.place, found) if asked else None
        return self._fills[key]

    def is_asked_for(self, store: Spot) -> bool:
        """Whether a test of the field itself stands before a store, not only one of another field of the object."""
        body, name = self._symbols.functions[store.function][1].body, store.located.place.name
        tests = [branch.test for branch, _ in arms(body, store.access.span)]
        return any(isinstance(part, Attr) and part.name == name for test in tests for part in records(test))

    def _chain(self, spot: Spot) -> tuple[str, ...]:
        """The fields that lead from a method's own object to a place, all but the last of them structs in it."""
        names: list[str] = []
        path: Value = spot.access.path
        while isinstance(path, Field):
            names.append(path.name)
            path = path.base
        if not isinstance(path, Param | Captured) or not self._symbols.is_instance_of(path):
            return ()
        chain, owner = tuple(reversed(names)), self._symbols.owner_of(path.function)
        return chain if all([self._is_part(owner, name) for name in chain[:-1]]) else ()

    def _is_part(self, owner: str, name: str) -> bool:
        """Whether a field of a type holds a struct, no pointer to one."""
        if owner not in self._symbols.types or name not in self._symbols.types[owner][1].fields:
            return False
        annotation = self._symbols.types[owner][1].fields[name].annotation
        return annotation is not None and annotation.name != POINTER

    def _is_filled_by_makers(self, fills: Fills, write: Spot, other: Spot) -> bool:
        """Whether whoever makes an object fills in the field before anybody else can know it."""
        made = [
            (maker, span)
            for maker in sorted(self._identity.makers(fills.owner))
            for span, type_id in self._effects[maker].made
            if type_id == fills.owner or type_id in self._symbols.subtypes(fills.owner)
        ]
        if not made or self.is_made_within(fills.owner):
            return False
        contexts = {write.entry.context, other.entry.context}
        return all([self._is_filled_by_maker(fills, maker, span, contexts) for maker, span in made])

    def is_made_within(self, type_id: str) -> bool:
        """Whether structs of a type are parts of others, made with them."""
        if self._parts is None:
            fields = [f for _, record in self._symbols.types.values() for f in record.fields.values()]
            self._parts = {part for each in fields if each.annotation for part in _held(each.annotation)}
        module, _, name = type_id.rpartition(":")
        return not self._parts.isdisjoint({("", name), (module.rpartition("/")[2], name)})

    def _is_filled_by_maker(self, fills: Fills, maker: str, made: Span, contexts: set[int]) -> bool:
        if fills.place.owner == fills.owner and (maker, made) in self._givers(fills.place):
            return True
        key = (fills, maker, made)
        if key not in self._fillers:
            self._fillers[key] = list(self._called_by_maker(fills, maker, made))
        under = self._contexts.started_under
        return any([under.get(each, frozenset()).isdisjoint(contexts) for each in self._fillers[key]])

    def _called_by_maker(self, fills: Fills, maker: str, made: Span) -> Iterator[str]:
        """The methods that fill in the field of a new object, and are surely called before others can know that."""
        body = self._symbols.functions[maker][1].body
        for site in self._effects[maker].calls.values():
            own, callee = site.receiver, site.callee
            if not isinstance(own, Fresh) or not isinstance(callee, str) or own.site != Site(maker, made):
                continue
            if self._is_known(maker, own, site) or not _is_next(body, made, site.span):
                continue
            if self._fills_surely(fills, callee, heeds=is_heeded(body, site.span)):
                yield callee

    def _is_known(self, maker: str, made: Value, site: CallSite) -> bool:
        """Whether something that may run at a call knows what was made."""
        effects = self._effects[maker]
        started = [start for start in effects.starts.values() if start.span in site.running]
        if any([root(value) == made for start in started for value in start.knows()]):
            return True
        return bool(effects.disclosed.get(made, set()) & site.running) or (made in effects.escaped and bool(started))

    def _is_filled_before(self, fills: Fills, write: Spot, other: Spot) -> bool:
        """Whether who starts what leads to an access has filled in the field of that very object first."""
        context = self._contexts.roots[other.entry.context]
        if context.starter is None or context.span is None or self._chain(other) != self._chain(write):
            return False
        way = self._contexts.way(other.function, other.entry)
        if not self._is_started_on_own(context) or not all(map(self._is_own, way)):
            return False
        entries = self._contexts.entries.get(context.starter, ())
        ways = [self._contexts.steps(context.starter, entry, context.span) for entry in entries]
        return bool(ways) and all(any(self._fills_on(fills, way)) for way in ways)

    def _is_own(self, call: tuple[str, Span]) -> bool:
        """Whether a function calls a method of its own object, or of the one of the method around it."""
        function_id, span = call
        receivers = [site.receiver for site in self._effects[function_id].calls.values() if site.span == span]
        return bool(receivers) and all(
            isinstance(receiver, Param | Captured) and self._symbols.is_instance_of(receiver) for receiver in receivers
        )

    def _is_started_on_own(self, context: Context) -> bool:
        """Whether a method starts another one of its own object, or a closure, which knows that."""
        starts = self._effects[context.starter or ""].starts.values()
        callees = [start.callee for start in starts if start.span == context.span]
        return bool(callees) and all(self._is_of_own(callee, context.starter or "") for callee in callees)

    def _is_of_own(self, callee: Value, starter: str) -> bool:
        if not isinstance(callee, FunctionValue):
            return False
        if callee.receiver is None:
            return callee.function.startswith(f"{starter}.")
        return self._symbols.is_instance(callee.receiver)

    def _fills_on(self, fills: Fills, way: list[tuple[str, Span]]) -> Iterator[bool]:
        """Whether each method on a way has filled in the field of its own object, as long as it is the same one."""
        *calls, (function_id, span) = way
        yield self._fills_before(fills, function_id, span)
        for call in reversed(calls):
            if not self._is_own(call):
                return
            yield self._fills_before(fills, *call)

    def _fills_before(self, fills: Fills, function_id: str, before: Span) -> bool:
        """Whether a method has surely filled in the field when it comes to a spot."""
        if self._symbols.owner_of(function_id) != fills.owner:
            return False
        body = self._symbols.functions[function_id][1].body
        asks = self._asks(fills, function_id)
        if any([comes_before(body, span, before, asks) for span in fills.spots.get(function_id, ())]):
            return True
        return any(
            comes_before(body, site.span, before, _never) and self._fills_surely(fills, callee, heeds=heeds)
            for callee, site, heeds in self._own_calls(function_id)
        )

    def _own_calls(self, function_id: str) -> Iterator[tuple[str, CallSite, bool]]:
        """The calls of methods of the own object, and whether the function heeds it if one has failed."""
        body = self._symbols.functions[function_id][1].body
        for site in self._effects[function_id].calls.values():
            if isinstance(site.callee, str) and site.receiver is not None and self._symbols.is_instance(site.receiver):
                yield site.callee, site, is_heeded(body, site.span)

    def _fills_surely(self, fills: Fills, function_id: str, *, heeds: bool, steps: int = MOST_STEPS) -> bool:
        """Whether a method has filled in the field when it returns; `heeds`: without an error."""
        if function_id not in self._effects:
            return False
        function = self._symbols.functions[function_id][1]
        asks = self._asks(fills, function_id)

        def may_leave(jump: Jump) -> bool:
            return heeds and fails(function, jump)

        if any([passes(function.body, span, may_leave, asks) for span in fills.spots.get(function_id, ())]):
            return True
        return steps > 0 and any(
            passes(function.body, site.span, may_leave, asks)
            and self._fills_surely(fills, callee, heeds=heeds and heeded, steps=steps - 1)
            for callee, site, heeded in self._own_calls(function_id)
        )

    def _asks(self, fills: Fills, function_id: str) -> Callable[[Expr], bool]:
        """Whether a test asks only for the field, and for what has one answer as long as an object lives."""
        own, name = self._symbols.functions[function_id][1].own, fills.place.name

        def asks(test: Expr) -> bool:
            parts = list(records(test))
            if any([isinstance(part, Call) or (isinstance(part, Name) and part.name != own) for part in parts]):
                return False
            fields = {part.name for part in parts if isinstance(part, Attr)}
            return name in fields and not any(map(self.settled.is_changed, fields - {name}))

        return asks


def _never(_: Expr) -> bool:
    return False


def _held(ref: TypeRef) -> Iterator[tuple[str, str]]:
    """The types of which a type holds a whole one, by the last part of their module path, "" if it is open."""
    if ref.name != POINTER:
        yield ref.module.rpartition("/")[2], ref.name.rpartition(".")[2]
        for arg in ref.args:
            yield from _held(arg)


def _is_next(body: Block, made: Span, call: Span) -> bool:
    """Whether who has made an object, and goes on with it, surely comes to a call: he gives it to nobody before."""
    for block in blocks(body):
        for index, stmt in enumerate(block):
            if isinstance(stmt, Assign) and stmt.span.holds(made) and isinstance(stmt.targets[0], Name):
                given = partial(_is_of_others, stmt.targets[0].name)
                return passes(block[index + 1 :], call, given, _never)
    return False


def _is_of_others(name: str, jump: Jump) -> bool:
    """Whether a return does not give a variable, and cannot give it as a named result."""
    if jump.value is None:
        return False
    return all(not isinstance(part, Name) or part.name != name for part in records((jump.value,)))
