"""Prefilling: fields filled in, where they are found empty, by who has done so before the starts that lead there again.

`r := newResolver(); r.clients(); go run(func() { r.clients() })`, where `run` starts in a goroutine what it is given:
what `clients` fills in where nothing is yet, it never fills in again. Between who has called it before and the
goroutine there may be several starts, each of which leads to the next one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from racelint.analysis.branching import arms
from racelint.analysis.contexts import Contexts, Entry, targets
from racelint.analysis.effects import NOTHING, CallSite, Effects, Start, where_called, where_made
from racelint.analysis.ending import ends_program
from racelint.analysis.passing import comes_before, fails, is_heeded, passes
from racelint.analysis.paths import rebased, root
from racelint.analysis.places import Place
from racelint.analysis.settled_tests import SettledTests
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import NONE, UNKNOWN, Captured, Field, Fresh, Global, Param, Value
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Block, Build, Call, Const, Expr, Jump, Name, Op, TypeRef
from racelint.record import records
from racelint.span import Span

MOST_CALLS = 3  # through which a function fills something in
MOST_STARTS = 4  # each of which leads to the next one


class Frame(NamedTuple):
    """A function on the way to a start, its state, the spot at which it goes on, and what it calls the object."""

    function: str
    entry: Entry
    span: Span
    value: Value


class Filling(NamedTuple):
    """A field, and where functions fill it in, by what they call the object."""

    place: Place
    spots: dict[tuple[str, Value], list[Span]]


class Prefilling:
    """Finds stores that what is started later never makes."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, settled: SettledTests,
        knowledge: Knowledge,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._settled = settled
        self._knowledge = knowledge
        self._fillings: dict[Place, Filling] = {}
        self._known: dict[tuple[str, Value, Entry], bool] = {}
        self._sure: dict[tuple[Place, Param, bool, int], bool] = {}
        self._made_filled: dict[Place, bool] = {}

    def is_filled(self, write: Spot, stores: Sequence[Spot]) -> bool:
        """Whether who starts the context of a write, or starts who does, has filled in the field before.

        The write fills it in where it is empty, as do all the other `stores` of the place.
        """
        path = write.access.path
        if not isinstance(path, Field):
            return False
        key = (write.function, path, write.entry)
        if key not in self._known:
            filling = self._filling(write.located.place, stores)
            first = self._root(Frame(write.function, write.entry, write.access.span, path.base))
            self._known[key] = first is not None and self._is_filled_above(filling, first, MOST_STARTS)
        return self._known[key]

    def is_made_filled(self, write: Spot, stores: Sequence[Spot]) -> bool:
        """Whether all who make objects of a type fill the field in before anybody else knows them.

        `db := newDB(); db.connect(); return &server{db: db}`, by what has started nothing until then.
        """
        place = write.located.place
        if place not in self._made_filled:
            filling, made = self._filling(place, stores), self._makers.get(place.owner, ())
            self._made_filled[place] = (
                bool(made)
                and not self._is_held_by_value(place.owner)
                and all([self._is_filled_where_made(filling, function, span, MOST_CALLS) for function, span in made])
            )
        return self._made_filled[place]

    def _is_held_by_value(self, type_id: str) -> bool:
        """Whether a struct may have an object of a type as a part: nobody makes that by itself."""
        name = type_id.rpartition(":")[2]
        fields = [field for _, record in self._symbols.types.values() for field in record.fields.values()]
        written = [ref for field in fields if field.annotation is not None for ref in _values(field.annotation)]
        return any([ref.rpartition(".")[2] == name for ref in written])

    def _is_filled_where_made(self, filling: Filling, function: str, made: Span, steps: int) -> bool:
        """Whether a function that makes an object, or gets it from who makes it, fills its field in, or else all that
        get it from this one do.
        """
        sites = [each for each in self._effects[function].calls.values() if _is_made_at(each.receiver, function, made)]
        if any([self._is_filled_first(filling, function, site) for site in sites]):
            return True
        reached = self._contexts.entries.get(function, {})
        if steps == 0 or any([self._contexts.came(function, entry) is None for entry in reached]):
            return False
        callers = self._callers.get(function, ())
        return bool(callers) and all(
            [self._is_filled_where_made(filling, caller, span, steps - 1) for caller, span in callers]
        )

    @cached_property
    def _makers(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    @cached_property
    def _callers(self) -> dict[str, list[tuple[str, Span]]]:
        """The functions that call one, and where."""
        return where_called(self._effects)

    def _is_filled_first(self, filling: Filling, function_id: str, site: CallSite) -> bool:
        """Whether a call that fills in the field of a new object is the first use of the variable that holds that, on
        all ways but those that fail.
        """
        function, receiver = self._symbols.functions[function_id][1], site.receiver
        calls = [node for node in records(function.body) if isinstance(node, Call) and node.span == site.span]
        holding = [call.func.base for call in calls if isinstance(call.func, Attr) and isinstance(call.func.base, Name)]
        if site.started or receiver is None or len(holding) != 1:
            return False
        inner = [self._symbols.functions[each][1].body for each in self._effects if each.startswith(f"{function_id}.")]
        parts = records((function.body, *inner))
        names = [part for part in parts if isinstance(part, Name) and part.name == holding[0].name]
        targets = [t.span for stmt in records(function.body) if isinstance(stmt, Assign) for t in stmt.targets
                   if isinstance(t, Name)]  # fmt: skip
        if any([name.span[:2] < site.span[:2] and name.span not in targets for name in names]):
            return False
        heeds = self._is_heeded(function_id, site.span)
        passed = passes(function.body, site.span, lambda jump: fails(function, jump), _never)
        return passed and self._does_fill(filling, site, receiver, heeds=heeds)

    def _filling(self, place: Place, stores: Sequence[Spot]) -> Filling:
        if place not in self._fillings:
            spots: dict[tuple[str, Value], list[Span]] = defaultdict(list)
            for spot in stores:
                if isinstance(spot.access.path, Field) and self._fills(spot):
                    spots[spot.function, spot.access.path.base].append(spot.access.span)
            self._fillings[place] = Filling(place, spots)
        return self._fillings[place]

    def _fills(self, store: Spot) -> bool:
        """Whether a field is surely set after a store: a string or a number that a call returns may be empty again."""
        body, name = self._symbols.functions[store.function][1].body, store.located.place.name
        found = [node for node in records(body) if isinstance(node, Assign) and _gives(node, store.access.span)]
        if len(found) != 1 or store.access.detail == NOTHING or isinstance(found[0].targets[0], Build):
            return False
        value, tests = found[0].value, [branch.test for branch, _ in arms(body, store.access.span)]
        if any(_asks_for_nothing(part, name) for test in tests for part in records(test)):
            return _is_there(body, value)
        return not isinstance(value, Call) and not (isinstance(value, Const) and not value.value)

    def _root(self, frame: Frame | None) -> Frame | None:
        """The function with which a context begins, and what that calls the object."""
        while frame is not None and self._contexts.came(frame.function, frame.entry) is not None:
            frame = self._caller(frame)
        return frame

    def _caller(self, frame: Frame) -> Frame | None:
        """The function that has called one, and what that calls the object."""
        came = self._contexts.came(frame.function, frame.entry)
        if came is None:
            return None
        value, start = frame.value, root(frame.value)
        if isinstance(start, Param):
            given = self._contexts.given(came, frame.function, start)
            if given is None or start.function != frame.function:
                return None
            value = rebased(value, start, given)
        found = self._within(value, came.caller)
        return Frame(came.caller, came.entry, came.span, found) if self._stays(found) else None

    def _stays(self, path: Value) -> bool:
        """Whether a path leads to one object for good: no field on it is changed."""
        while isinstance(path, Field):
            if self._settled.is_changed(path.name):
                return False
            path = path.base
        return isinstance(path, Param | Captured | Global | Fresh)

    def _within(self, value: Value, function: str) -> Value:
        """What a function calls an object that its closures know by a variable: a parameter, or what it has made."""
        variable = root(value)
        if not isinstance(variable, Captured) or variable.function != function:
            return value
        record, name = self._symbols.functions[function][1], variable.name
        names = [parameter.name for parameter in record.parameters]
        if f"{name}()" in record.bindings or len(record.bindings.get(name, ())) != int(name not in names):
            return UNKNOWN  # it may hold another object by then
        held = [each for each in self._effects[function].new_in.get(name, ()) if each != NONE]
        found = Param(function, names.index(name)) if name in names else held[0] if len(held) == 1 else variable
        return rebased(value, variable, found)

    def _is_filled_above(self, filling: Filling, first: Frame, steps: int) -> bool:
        """Whether the field has been filled in on each way to the start of a context; `first` is where that begins."""
        context = self._contexts.roots[first.entry.context]
        starter, span = context.starter, context.span
        if starter is None or span is None or steps == 0 or starter not in self._effects:
            return False
        value, entries = self._at_start(first, starter, span), self._contexts.entries.get(starter, ())
        if value is None or not entries or not self._stays(value):
            return False
        return all([self._is_filled_on_way(filling, Frame(starter, each, span, value), steps) for each in entries])

    def _at_start(self, first: Frame, starter: str, span: Span) -> Value | None:
        """What a starter calls the object of what it starts."""
        value, start = first.value, root(first.value)
        if isinstance(start, Param):
            starts = [each for each in self._effects[starter].starts.values() if each.span == span]
            given = {self._given_at_start(each, start) for each in starts}
            own = given.pop() if len(given) == 1 and start.function == first.function else None
            if own is None:
                return None
            value = rebased(value, start, own)
        return self._within(value, starter)

    def _given_at_start(self, start: Start, parameter: Param) -> Value | None:
        """What a function that is started is given for a parameter."""
        called = [each for each in targets(start.callee) if each.function == parameter.function]
        index = parameter.index - int(self._symbols.functions[parameter.function][1].owner is not None)
        if index < 0:
            return called[0].receiver if len(called) == 1 else None
        return start.args[index][0] if index < len(start.args) and len(start.args[index]) == 1 else None

    def _is_filled_on_way(self, filling: Filling, frame: Frame, steps: int) -> bool:
        """Whether a starter, or who has called it, or has started that, has filled in the field before."""
        while not self._is_filled_at(filling, frame):
            if isinstance(root(frame.value), Fresh):
                return False  # further out nobody knows it
            outer = self._caller(frame)
            if outer is None:
                begins = self._contexts.came(frame.function, frame.entry) is None
                return begins and self._is_filled_above(filling, frame, steps - 1)
            frame = outer
        return True

    def _is_filled_at(self, filling: Filling, frame: Frame) -> bool:
        """Whether a function has surely filled in the field when it comes to a spot."""
        body, asks = self._symbols.functions[frame.function][1].body, self._asks(filling.place, frame.value)
        spots = filling.spots.get((frame.function, frame.value), ())
        return any([comes_before(body, span, frame.span, asks) for span in spots]) or any(
            comes_before(body, span, frame.span, _never)
            and all(
                [self._does_fill(filling, s, frame.value, heeds=self._is_heeded(frame.function, span)) for s in sites]
            )
            for span, sites in self._calls(frame.function)
        )

    def _calls(self, function: str) -> Iterator[tuple[Span, list[CallSite]]]:
        """Where a function calls others, and whom it may call there."""
        found: dict[Span, list[CallSite]] = defaultdict(list)
        for site in self._effects[function].calls.values():
            found[site.span].append(site)
        yield from found.items()

    def _does_fill(
        self, filling: Filling, site: CallSite, value: Value, *, heeds: bool, steps: int = MOST_CALLS
    ) -> bool:
        """Whether a call has surely filled in the field of what is given to it, by who goes on behind that.

        `heeds`: it is left with an error where this has got one.
        """
        if not isinstance(site.callee, str) or site.callee not in self._effects or not steps:
            return False
        given = [index for index, each in ((0, site.receiver), *site.given) if each == value]
        return any(self._fills_surely(filling, Param(site.callee, i), heeds=heeds, steps=steps - 1) for i in given)

    def _fills_surely(self, filling: Filling, own: Param, *, heeds: bool, steps: int) -> bool:
        """Whether a function has filled in the field of what it is given when it returns; `heeds`: without an error."""
        key = (filling.place, own, heeds, steps)
        if key not in self._sure:
            self._sure[key] = self._find_sure(filling, own, heeds=heeds, steps=steps)
        return self._sure[key]

    def _find_sure(self, filling: Filling, own: Param, *, heeds: bool, steps: int) -> bool:
        function, asks = self._symbols.functions[own.function][1], self._asks(filling.place, own)

        def may_leave(jump: Jump) -> bool:
            return heeds and fails(function, jump)

        spots = filling.spots.get((own.function, own), ())
        if any([passes(function.body, span, may_leave, asks) for span in spots]):
            return True
        return any(
            passes(function.body, span, may_leave, asks)
            and all(
                [
                    self._does_fill(filling, s, own, heeds=heeds and self._is_heeded(own.function, span), steps=steps)
                    for s in sites
                ]
            )
            for span, sites in self._calls(own.function)
        )

    def _is_heeded(self, function_id: str, call: Span) -> bool:
        """Whether a function that has got an error from a call goes on no further."""
        source, function = self._symbols.functions[function_id]
        return is_heeded(function.body, call, ends_program(self._symbols, self._knowledge, source.name))

    def _asks(self, place: Place, value: Value) -> Callable[[Expr], bool]:
        """Whether a test asks only for the field, and for what has one answer as long as an object lives."""
        own = ""
        if isinstance(value, Param):
            own = self._symbols.functions[value.function][1].parameters[value.index].name

        def asks(test: Expr) -> bool:
            parts = list(records(test))
            if any([isinstance(part, Call) or (isinstance(part, Name) and part.name != own) for part in parts]):
                return False
            fields = {part.name for part in parts if isinstance(part, Attr)}
            return place.name in fields and not any(map(self._settled.is_changed, fields - {place.name}))

        return asks


def _is_made_at(value: Value | None, function: str, span: Span) -> bool:
    """Whether a value is an object that a function makes at a spot, or gets there from who does."""
    return isinstance(value, Fresh) and value.site.function == function and value.site.span == span


def _values(ref: TypeRef) -> Iterator[str]:
    """The types in a written type of which it holds objects, not pointers."""
    if ref.name != "*":
        yield ref.name
        for arg in ref.args:
            yield from _values(arg)


def _never(_: Expr) -> bool:
    return False


def _gives(stmt: Assign, target: Span) -> bool:
    """Whether an assignment is what stores at a spot."""
    return any(isinstance(part, Attr) and part.span == target for part in records(stmt.targets))


def _asks_for_nothing(test: object, name: str) -> bool:
    """Whether a test asks whether a field holds nothing, or something; not a string, or a number."""
    match test:
        case Op(operands=(Attr(name=asked), Const(value=None))):
            return asked == name
        case _:
            return False


def _is_there(body: Block, value: Expr) -> bool:
    """Whether a function stores something: where a call may have failed, it has left then."""
    if not isinstance(value, Name):
        return value != Const(None)
    for stmt in records(body):
        named = (
            [part.name for part in records(stmt.targets) if isinstance(part, Name)] if isinstance(stmt, Assign) else ()
        )
        if value.name in named and isinstance(stmt, Assign):
            failed = isinstance(stmt.targets[0], Build) and not is_heeded(body, stmt.span)
            if failed or stmt.value == Const(None):
                return False
    return True
