"""Callbacks that are missed: who adds one finds nothing done yet and keeps it, just when all that are kept are called.

`if self.done: callback() else: self.kept.append(callback)`, beside `self.done = True; for callback in self.kept: ...`
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

from racelint.analysis.branching import leaves
from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import Access as Spotted
from racelint.analysis.effects import Act, Effects
from racelint.analysis.objects import SHARED
from racelint.analysis.places import Located, Place, Places, of_threads
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin, Field, Param
from racelint.model import Assign, Attr, Block, Branch, Call, Eval, Expr, Function, Hold, Loop, Name, Stmt, Try
from racelint.record import records
from racelint.span import Span

ADDING = frozenset({"append", "add", "appendleft", "put"})
THREADS = "threading."
KEEPS = re.compile("_*(add|append|put|register|schedule|call_soon|call_later|connect)")
JOBS = frozenset({"thread", "pool", "handler"})


class Keeping(NamedTuple):
    """A branch that calls a parameter at once, or keeps it in the field `kept`, by what the fields `asked` say."""

    asked: frozenset[str]
    kept: str
    test: Span
    put: Span


class MissedCalls:
    """Finds methods that keep a callback, beside those that set what they have asked and then call what is kept."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts

    def all(self) -> Iterator[Pair]:
        """One for each field in which callbacks are kept, in the order of the functions."""
        seen: set[Place] = set()
        for function_id in self._effects:
            source, function = self._symbols.functions[function_id]
            if not (function.owner and source.reported and source.module.traits.atomic_steps) or function.is_async:
                continue
            for keeping in _keepings(function, function.body):
                pair = self._met(function_id, keeping)
                if pair is not None and pair.place not in seen:
                    seen.add(pair.place)
                    yield pair

    def _met(self, function_id: str, keeping: Keeping) -> Pair | None:
        """A method of the class that sets what was asked, and looks at what is kept only then."""
        owner = self._symbols.owner_of(function_id)
        for method in self._symbols.types[owner][1].methods.values():
            other = f"{owner.partition(':')[0]}:{method}"
            _, function = self._symbols.functions[other]
            if other == function_id or function.name == "__init__" or function.is_async or other not in self._effects:
                continue
            for stored, read in _settling(function, keeping):
                pair = self._pair(function_id, keeping, other, stored, read)
                if pair is not None:
                    return pair
        return None

    def _pair(self, adder: str, keeping: Keeping, setter: str, stored: Span, read: Span) -> Pair | None:
        owner = self._symbols.owner_of(adder)
        made_for_threads = self._has_lock(owner, setter)
        mine = self._locks(adder, keeping.test) & self._locks(adder, keeping.put)
        theirs = self._locks(setter, stored)
        for one in self._contexts.entries.get(adder, ()):
            for two in self._contexts.entries.get(setter, ()):
                apart = of_threads(one.locks | mine).isdisjoint(of_threads(two.locks | theirs))
                if apart and self._may_meet(one, two, made_for_threads=made_for_threads):
                    return self._found(owner, adder, keeping, one, setter, read, two)
        return None

    def _found(
        self, owner: str, adder: str, keeping: Keeping, one: Entry, setter: str, read: Span, two: Entry
    ) -> Pair:  # fmt: skip
        place = Place("field", owner, keeping.kept)
        located = Located(place, owner, own=True, constructed=False, certain=True)
        act = Act(
            Field(Param(adder, 0), keeping.kept), "store", keeping.put, keeping.test, "condition", (), False, "given",
            False, 0,
        )  # fmt: skip
        access = Spotted(Field(Param(setter, 0), keeping.kept), "read", read, "", (), False, 0)
        first = Spot(adder, located, act, one, of_threads(one.locks | self._locks(adder, keeping.put)), SHARED)
        second = Spot(setter, located, access, two, of_threads(two.locks | self._locks(setter, read)), SHARED)
        return Pair(place, first, second, "missed-call", "contexts", 2)

    def _locks(self, function_id: str, span: Span) -> frozenset[str]:
        """What is held at the start of a statement."""
        return self._places.locks(self._effects[function_id].holds.get(span, ()))

    def _may_meet(self, one: Entry, two: Entry, *, made_for_threads: bool) -> bool:
        """Whether two entries are of contexts that run side by side: proven, or as an object made for threads says."""
        first, second = self._contexts.roots[one.context], self._contexts.roots[two.context]
        if first.is_loop or second.is_loop or one.constructor or two.constructor:
            return False
        if made_for_threads:
            return True
        return one.context != two.context and bool({first.kind, second.kind} & JOBS) and one.sure and two.sure

    def _has_lock(self, owner: str, setter: str) -> bool:
        """Whether objects of a class have an event, a lock or a condition of threads, which the setter uses."""
        used = {node.name for node in records(self._symbols.functions[setter][1].body) if isinstance(node, Attr)}
        _, record = self._symbols.types[owner]
        return any(
            isinstance(assigned.value, Call) and self._is_of_threads(owner, assigned.function, assigned.value.func)
            for name in used & record.fields.keys()
            for assigned in record.fields[name].values
        )

    def _is_of_threads(self, owner: str, function: str, made: Expr) -> bool:
        found = self._symbols.meant(f"{owner.partition(':')[0]}:{function}", made)
        return isinstance(found, Builtin) and found.name.startswith(THREADS)


def _keepings(function: Function, body: Block) -> Iterator[Keeping]:
    """The branches of a method that call what it is given, or keep it."""
    given = frozenset([parameter.name for parameter in function.parameters[1:]])
    own = function.own
    for index, stmt in enumerate(body):
        if isinstance(stmt, Branch) and own and given:
            simple = not any(isinstance(node, Call) for node in records(stmt.test))
            asked = _fields((stmt.test,), own) if simple else frozenset()
            behind = body[index + 1 :] if leaves(stmt.then) and not stmt.orelse else stmt.orelse
            for calling, keeping in ((stmt.then, behind), (stmt.orelse, stmt.then)):
                named = _called(calling, given, own)
                for put, field in _put(keeping, named, own) if named and asked else ():
                    if field not in asked:
                        yield Keeping(asked, field, stmt.span, put)
        for block in _inner(stmt):
            yield from _keepings(function, block)


def _inner(stmt: Stmt) -> tuple[Block, ...]:
    match stmt:
        case Branch(then=then, orelse=orelse):
            return (then, orelse)
        case Hold(body=body) | Try(body=body):
            return (body,)
        case _:
            return ()


def _called(block: Block, given: frozenset[str], own: str) -> frozenset[str]:
    """The parameters that a block calls, or gives to a method of the object that does not only keep them."""
    calls = [node for node in records(block) if isinstance(node, Call)]
    direct = {call.func.name for call in calls if isinstance(call.func, Name)}
    calling = [call for call in calls if _is_own_method(call.func, own) and not KEEPS.match(call.func.name)]
    passed = {part.name for call in calling for part in records(call.args) if isinstance(part, Name)}
    return given & (direct | passed)


def _is_own_method(func: Expr, own: str) -> TypeGuard[Attr]:
    return isinstance(func, Attr) and isinstance(func.base, Name) and func.base.name == own


def _calls_kept(body: Block, own: str, kept: str) -> list[Span]:
    """Where a method calls what a field holds, one by one, or hands the field to a method that does."""
    found: list[Span] = []
    for node in records(body):
        match node:
            case Loop(target=target, iterable=iterable, body=inner) if target is not None and iterable is not None:
                names = {part.name for part in records(target) if isinstance(part, Name)}
                calls = [part for part in records(inner) if isinstance(part, Call)]
                used = any(
                    (isinstance(call.func, Name) and call.func.name in names)
                    or (_is_own_method(call.func, own) and _names(call.args, frozenset(names)))
                    for call in calls
                )
                found += _kept_in(iterable, own, kept) if used else []
            case Assign(targets=targets, value=value) if _kept_in(value, own, kept):
                # `fn, args = self.callback; fn(*args)`
                names = {part.name for part in records(targets) if isinstance(part, Name)}
                called = [part.func for part in records(body) if isinstance(part, Call)]
                if any(isinstance(each, Name) and each.name in names for each in called):
                    found += _kept_in(value, own, kept)
            case Call(func=func) if _is_own_method(func, own) and func.name == kept:
                found.append(func.span)
            case Call(func=func, args=args) if _is_own_method(func, own):
                found += _kept_in(args, own, kept)
            case _:
                pass
    return found


def _kept_in(parts: object, own: str, kept: str) -> list[Span]:
    fields = [part for part in records(parts) if isinstance(part, Attr) and part.name == kept]
    return [part.span for part in fields if isinstance(part.base, Name) and part.base.name == own]


def _put(block: Block, named: frozenset[str], own: str) -> Iterator[tuple[Span, str]]:
    """Where a block itself puts one of some variables into a field of the object."""
    for stmt in block:
        match stmt:
            case Eval(value=Call(func=Attr(base=Attr(base=Name(name=base), name=field), name=method), args=args)):
                if base == own and method in ADDING and _names(args, named):
                    yield stmt.span, field
            case Assign(targets=(Attr(base=Name(name=base), name=field),), value=value):
                if base == own and _names((value,), named):
                    yield stmt.span, field
            case Hold(body=body):
                yield from _put(body, named, own)
            case _:
                pass


def _names(parts: tuple[Expr, ...], named: frozenset[str]) -> bool:
    return any(isinstance(part, Name) and part.name in named for part in records(parts))


def _fields(parts: tuple[Expr, ...], own: str) -> frozenset[str]:
    """The fields of the object that are named."""
    found = [part for part in records(parts) if isinstance(part, Attr) and isinstance(part.base, Name)]
    return frozenset([part.name for part in found if isinstance(part.base, Name) and part.base.name == own])


def _settling(function: Function, keeping: Keeping) -> Iterator[tuple[Span, Span]]:
    """Where a method sets what is asked for, and looks at what is kept behind that."""
    own = function.own
    stores, reads = [], _calls_kept(function.body, own, keeping.kept)
    for node in records(function.body):
        if isinstance(node, Assign):
            targets = [t for t in node.targets if isinstance(t, Attr) and isinstance(t.base, Name)]
            if any(isinstance(t.base, Name) and t.base.name == own and t.name in keeping.asked for t in targets):
                stores.append(node.span)
    turning = [node.span for node in records(function.body) if isinstance(node, Loop) and node.target is None]
    reads = [read for read in reads if not any(loop.holds(read) for loop in turning)]  # they look again and again
    for stored in sorted(stores):
        later = sorted(read for read in reads if read[:2] > stored[:2])
        if later:
            yield stored, later[0]
