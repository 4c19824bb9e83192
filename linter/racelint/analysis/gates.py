"""Gates: who finds a field set, under the lock under which it is set, comes after all that its setter has done before.

`mu.Lock(); if s.key == nil { return }; use(s.size)`: there the size is the one that was stored before the first key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from racelint.analysis.branching import arms
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import A_CONSTANT, NOTHING, Access, Effects
from racelint.analysis.memory import Memory
from racelint.analysis.places import Place, Places, of_threads, sides
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Value
from racelint.model import Assign, Attr, Const, Expr, Logic, Make, Op, Update
from racelint.record import records
from racelint.span import Span

ONCE = frozenset({"goroutine", "thread"})  # what is run from its beginning to its end, once a start
UNSET = frozenset({NOTHING, *[f"{A_CONSTANT} {value!r}" for value in (False, 0, "")]})
EQUAL, UNEQUAL = ("==", "is"), ("!=", "is not")


class Gates:
    """Finds what a read has been let through by."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts,
        memory: Memory, is_before: Callable[[Spot, Spot], bool],
    ) -> None:  # fmt: skip
        """`is_before` tells whether an access ends before what leads to another one is started."""
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._memory = memory
        self._is_before = is_before
        self._gates: dict[tuple[str, Value, Span], list[Access]] = {}
        self._stores: dict[Place, set[Span]] = {}

    def order(self, write: Spot, other: Spot, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether a write, which is made once, is over before anybody opens a gate on the way to the other access."""
        return (
            self._symbols.is_ordered_by_steps(write.function)
            and self._is_made_once(write)
            and any(self._opens_later(write, gate, spots) for gate in self._passed(other))
        )

    def _is_made_once(self, write: Spot) -> bool:
        context, access = self._contexts.roots[write.entry.context], write.access
        if not isinstance(access, Access) or access.looped or self._contexts.is_looped(write.function, write.entry):
            return False
        return context.kind in ONCE and not context.many

    def _passed(self, spot: Spot) -> list[Access]:
        """The reads of other fields of the same object, under a lock, that have found them set."""
        key = (spot.function, spot.access.path, spot.access.span)
        if key not in self._gates:
            self._gates[key] = list(self._all_passed(spot))
        return self._gates[key]

    def _all_passed(self, spot: Spot) -> Iterator[Access]:
        if not isinstance(spot.access.path, Field):
            return
        set_there = self._found_set(spot)
        for access in self._effects[spot.function].all_accesses() if set_there else ():
            path = access.path
            alike = isinstance(path, Field) and path.base == spot.access.path.base and path != spot.access.path
            if alike and access.span in set_there and access.held:
                yield access

    def _found_set(self, spot: Spot) -> set[Span]:
        """Where a function has asked for what is surely set when it comes to an access."""
        body = self._symbols.functions[spot.function][1].body
        return {
            asked
            for branch, arm in arms(body, spot.access.span)
            for asked, is_set in found(branch.test, outcome=arm == 0)
            if is_set
        }

    def _opens_later(self, write: Spot, gate: Access, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether all that set a field do so under a lock of the gate, after the write."""
        located = self._places.locate(gate.path)
        if located is None or located.place.kind != "field":
            return False
        locks = sides(self._places.locks(gate.held))
        stores = [spot for spot in spots.get(located.place, ()) if spot.is_write and spot.access.detail not in UNSET]
        return (
            bool(stores)
            and all(locks & of_threads(spot.locks) and self._comes_first(write, spot) for spot in stores)
            and self._stored(located.place) <= {spot.access.span for spot in spots[located.place] if spot.is_write}
        )

    def _comes_first(self, write: Spot, later: Spot) -> bool:
        """Whether a context makes a write before it calls, or starts, anything that leads to another one."""
        context = self._contexts.roots[later.entry.context]
        if write.entry.context != later.entry.context:
            if context.starter != write.function or context.span is None:
                return self._is_before(write, later)
            ordered = self._memory.is_ordered(write.function, write.access, context)
            return ordered and write.access.span[:2] < context.span[:2]
        way = self._contexts.steps(write.function, write.entry, write.access.span)
        leading = self._leading(later.function)
        earlier = [(caller, span) for caller, span, callee in self._contexts.sites if callee in leading]
        earlier.append((later.function, later.access.span))
        return not any(caller == function and at[:2] < span[:2] for caller, at in earlier for function, span in way)

    def _leading(self, function_id: str) -> set[str]:
        """The functions that call one, directly or not, and itself."""
        found, todo = {function_id}, {function_id}
        while todo:
            todo = {caller for caller, _, callee in self._contexts.sites if callee in todo} - found
            found |= todo
        return found

    def _stored(self, place: Place) -> set[Span]:
        """Where the package of a type gives fields of a name a value, whatever they belong to."""
        if place not in self._stores:
            self._stores[place] = stores_of(self._symbols, place)
        return self._stores[place]


def stores_of(symbols: Symbols, place: Place, *, addressed: bool = True) -> set[Span]:
    """Where the package of a type gives fields of a name a value, or says where they lie, whatever they belong to."""
    module, functions = place.owner.partition(":")[0], symbols.functions.values()
    bodies = tuple([f.body for source, f in functions if source.name == module and source.reported])
    nodes = [n for n in records(bodies) if addressed or not (isinstance(n, Op) and n.operator == "address")]
    return {span for node in nodes for span in _stores(node, place.name)}


def found(test: Expr, *, outcome: bool) -> Iterator[tuple[Span, bool]]:
    """The attributes that are surely set, or surely unset, if a test has an outcome."""
    match test:
        case Op(operator="not", operands=(operand,)):
            yield from found(operand, outcome=not outcome)
        case Logic(operator=operator, operands=operands) if outcome == (operator == "and"):
            for operand in operands:
                yield from found(operand, outcome=outcome)
        case Op(operator=operator, operands=(Attr(span=span), Const(value=value))) if operator in EQUAL + UNEQUAL:
            equal = outcome == (operator in EQUAL)
            if equal or not value or isinstance(value, bool):
                yield span, bool(value) == equal
        case Attr(span=span):
            yield span, outcome


def _stores(node: object, name: str) -> Iterator[Span]:
    """Where a statement or an expression gives a field a value, or says where it lies."""
    match node:
        case Assign(targets=targets):
            yield from (each.span for each in records(targets) if isinstance(each, Attr) and each.name == name)
        case Update(target=Attr(name=field, span=span)) if field == name:
            yield span
        case Op(operator="address", operands=(Attr(name=field), *_), span=span) if field == name:
            yield span
        case Make(fields=fields):
            given = dict(fields).get(name, Const(None))
            if not (isinstance(given, Const) and not given.value):
                yield node.span
