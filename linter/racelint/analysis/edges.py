"""Edges: which function calls which, also by callables that fields, variables and parameters hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from racelint.analysis.branching import loops_around
from racelint.analysis.contexts import targets
from racelint.analysis.decorating import LockingDecorators
from racelint.analysis.effects import CallSite, Effects, Start
from racelint.analysis.homes import ANYWHERE, Homes
from racelint.analysis.places import Located, Places
from racelint.analysis.product import Product
from racelint.analysis.state import ALWAYS, Conditions, Predicate
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import RESULTS
from racelint.analysis.types import Types
from racelint.analysis.values import (
    Builtin,
    Captured,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Literal,
    Member,
    Param,
    Partial,
    Site,
    Value,
    Values,
)
from racelint.model import Block, TypeRef
from racelint.record import records
from racelint.span import Span

MOST_KEPT = 6  # callables kept in one field that are told apart
MOST_HANDED = 3  # callables handed through one parameter
MOST_OVERRIDES = 6  # of one method
MOST_STARTED = 12  # the same, where each is started on its own
Names: TypeAlias = frozenset[str]  # by which callables lie in a table
ANY: Names = frozenset()  # by some other key, or none
NOWHERE = Site("", Span(0, 0, 0, 0))


class Edges:
    """The calls that functions of the product make.

    `calls` are the callees and call sites by caller, `called` is what any other function calls, `sites` says what a
    call gives (by caller, span and callee; only where objects are told apart).
    """

    def __init__(self, symbols: Symbols, types: Types, places: Places, product: Product) -> None:
        self._symbols = symbols
        self._types = types
        self._places = places
        self._product = product
        self._kept: dict[tuple[str, str], dict[FunctionValue, Names]] = defaultdict(dict)
        self._given: dict[tuple[str, str], dict[FunctionValue, Names]] = defaultdict(dict)  # to what is started
        self._elsewhere: set[tuple[tuple[str, str], FunctionValue]] = (
            set()
        )  # kept, not by the object whose method it is
        self.homes = Homes(symbols, types, places, product.effects)
        self._put_into: dict[tuple[tuple[str, str], FunctionValue], set[str]] = defaultdict(set)
        self._locking = LockingDecorators(symbols, types, product.effects)
        self.calls: dict[str, list[tuple[str, CallSite]]] = defaultdict(list)
        self.called: set[str] = set()
        self.sites: dict[tuple[str, Span, str], CallSite] = {}
        self.lent = self._lent()
        for function_id, effects in product.effects.items():
            for path, value in effects.stored:
                self._keep(path, value, self.homes.of(function_id, path))
        self._bind_arguments()
        for function_id, effects in product.effects.items():
            self._link(function_id, effects)
        self._note_demanded()

    def _lent(self) -> dict[str, str]:
        """The closures that a function lends to those that it calls, in an object of its own: they end before it does.

        `validate(tx, &Options{Cost: func() int { return p.cost }})`
        """
        found: dict[str, str] = {}
        others: set[str] = set()
        for function_id, effects in self._product.effects.items():
            for path, value in effects.stored:
                for target in targets(value):
                    if target.function.startswith(f"{function_id}.") and self._keeps_to_itself(function_id, path):
                        found[target.function] = function_id
                    else:
                        others.add(target.function)
        return {closure: maker for closure, maker in found.items() if closure not in others}

    def _keeps_to_itself(self, function_id: str, path: Value) -> bool:
        """Whether nobody has an object any more, or beside it, when the function has ended that makes it."""
        effects, (source, function) = self._product.effects[function_id], self._symbols.functions[function_id]
        if not isinstance(path, Field) or not isinstance(path.base, Fresh) or effects.is_disclosed(path.base):
            return False
        plain = {RESULTS, "error", *source.module.traits.scalars}
        results = [part.name for part in records(function.returns) if isinstance(part, TypeRef)]
        return effects.is_private(path.base) and plain.issuperset(results)

    def _note_demanded(self) -> None:
        """What a thread demands is called by it, or by a constructor; where only outsiders come it may be theirs."""
        effects = self._product.effects
        starts = [start.callee for each in effects.values() for start in each.starts.values()]
        todo = [target.function for callee in starts for target in targets(callee)]
        found = set[str]()
        while todo:
            function_id = todo.pop()
            if function_id not in found and function_id in effects:
                found.add(function_id)
                todo += [callee for callee, _ in self.calls.get(function_id, ())]
        found |= {function_id for function_id in effects if function_id.endswith(".__init__")}
        for function_id in found:
            self.called |= effects[function_id].demanded

    def _keep(self, path: Value, value: Value, home: str) -> None:
        key = self._key(path)
        if key is not None:
            for target in targets(value):
                names = frozenset(_names(path)) or ANY
                if target.receiver is None or target.receiver != _holder(path):
                    self._elsewhere.add((key, target))
                self._put_into[key, target].add(home)
                known = self._kept[key].setdefault(target, names)
                self._kept[key][target] = known | names if known and names else ANY

    def _bind_arguments(self) -> None:
        """The parameters of what is started stand for what it is given."""
        for function_id, effects in self._product.effects.items():
            for start in effects.starts.values():
                for target, given in bound(start.callee, start.args):
                    _, function = self._symbols.functions[target]
                    for index, values in given.items():
                        if index < len(function.parameters) and len(values) == 1:
                            self._bind(target, index, function.parameters[index].name, values[0])
                            if isinstance(values[0], Fresh) and self._is_common(values[0], start, function_id):
                                self._places.hand(Param(target, index), values[0])

    def _is_common(self, made: Fresh, start: Start, starter: str) -> bool:
        """Whether who is handed an object at its start is not alone with it."""
        if start.looped:
            return is_outside(start, made, self._symbols.functions[starter][1].body)
        effects = self._product.effects[starter]
        if any(made in each.knows() for each in effects.starts.values() if each is not start):
            return True
        behind = [site.receiver for (span, _), site in effects.calls.items() if span > start.span]
        return made in behind  # its maker goes on with it

    def _bind(self, function_id: str, index: int, name: str, value: Value) -> None:
        self._places.stands_for(Param(function_id, index), value)
        for target in targets(value):
            self._kept[function_id, name][target] = ANY
            self._given[function_id, name][target] = ANY

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
                return (located.place.owner, name) if located is not None and self._is_sure(located) else None
            case _:
                return None

    def _is_sure(self, located: Located) -> bool:
        """Whether a callable surely lies in a field of that type.

        Where types are declared, one that is unknown is mostly a library's, whose fields may have the same names.
        """
        source = self._symbols.types.get(located.type)
        return located.certain or source is None or source[0].module.traits.duck_typed

    def _link(self, function_id: str, effects: Effects) -> None:
        """The calls of a function; one of a kept callable leads to all that are kept there."""
        for site in effects.calls.values():
            if isinstance(callee := site.callee, str):
                overrides = self._overrides(site, function_id)
                if function_id not in overrides and self._locking.may_stand_before(site, overrides):
                    site = site._replace(certain=False)
                self._edge(function_id, callee, self._if_given(site, callee))
                if len(overrides) > MOST_OVERRIDES:
                    self.called.update(overrides)  # too many to follow, but callers from outside they have none
                    overrides = []
                if len(overrides) > 1 and self._symbols.fits_many(callee):
                    site = site._replace(certain=False)
                for override in overrides:
                    self._edge(function_id, override, self._if_given(site, override))
                continue
            for target, needs in self._named(callee):
                own, homes = self._is_own(callee, target), self._homes(callee, target)
                found = site._replace(
                    receiver=foreign(target.receiver), needs=site.needs | needs, own=own, homes=homes
                )  # fmt: skip
                self._edge(function_id, target.function, found)

    def _is_own(self, path: Value, target: FunctionValue) -> bool:
        """Whether a method lies in a table of the caller's own object, where each object has put its own methods.

        Where types embed others, what is one's own is another one's, too.
        """
        holder = _holder(path)
        if not isinstance(holder, Param) or not self._symbols.is_instance(holder):
            return False
        if self._symbols.is_ordered_by_steps(holder.function):
            return False
        return (self._key(path) or ("", ""), target) not in self._elsewhere

    def _homes(self, path: Value, target: FunctionValue) -> frozenset[str]:
        """The fields of which one has the caller's own object, if a callable is in it; none if any may have it."""
        if not isinstance(path, Field) or not isinstance(path.base, Param) or not self._symbols.is_instance(path.base):
            return frozenset()
        homes = self._put_into.get((self._key(path) or ("", ""), target), {ANYWHERE})
        return frozenset() if ANYWHERE in homes else frozenset(homes)

    def _if_given(self, site: CallSite, callee: str) -> CallSite:
        """A call on a parameter leads to a method only if that is given no object of a type that has another one."""
        receiver = site.receiver
        if not isinstance(receiver, Param) or (0, receiver) not in site.given:  # or one of several things
            return site
        interface = self._types.class_of(receiver)
        if interface in (None, self._symbols.owner_of(callee)) or not self._symbols.is_ordered_by_steps(callee):
            return site
        name = self._symbols.functions[callee][1].name
        having = {each: self._symbols.put_in_place(each, name) for each in self._symbols.subtypes(interface)}
        others = frozenset([each for each, method in having.items() if method not in (None, callee)])
        return site._replace(needs=site.needs | {(Predicate(receiver, "other", others), True)}) if others else site

    def kept_at(self, path: Value) -> Iterator[FunctionValue]:
        """The callables that a path may hold; where many are handed through one place, no caller calls them all."""
        table = self._given if isinstance(path, Param) else self._kept
        key = self._key(path)
        found = table.get(key, {}) if key is not None else {}
        if len(found) <= (MOST_KEPT if isinstance(path, Field | Element | Member) else MOST_HANDED):
            yield from found

    def _named(self, path: Value) -> Iterator[tuple[FunctionValue, Conditions]]:
        """The callables that a path may hold, and what the name must be by which it is taken out of a table."""
        table = self._given if isinstance(path, Param) else self._kept
        names, parameter = frozenset(_names(path)), _parameter(path)
        for target in self.kept_at(path):
            kept = table[self._key(path) or ("", "")][target]
            if not kept:
                yield target, ALWAYS
            elif names:
                if not names.isdisjoint(kept):
                    yield target, ALWAYS
            elif parameter is None or len(kept) > 1:
                yield target, ALWAYS
            else:
                yield target, frozenset({(Predicate(parameter, "equal", next(iter(kept))), True)})

    def implementations(self, method: FunctionValue, starter: str) -> list[str]:
        """What runs if an interface's method is started, where it is so few that they can be followed."""
        if not self._symbols.is_ordered_by_steps(method.function) or method.receiver is None:
            return []
        found = self._put_in_place(method.function, method.receiver, starter)
        return found if len(found) <= MOST_STARTED else []

    def _edge(self, caller: str, callee: str, site: CallSite) -> None:
        self.calls[caller].append((callee, site))
        self.sites[caller, site.span, callee] = site
        if not f"{caller}.".startswith(f"{callee}."):  # it calls itself again, by a function in it or not
            self.called.add(callee)

    def _overrides(self, site: CallSite, caller: str) -> list[str]:
        """What subclasses put in place of the called method, if the receiver may be one of theirs."""
        assert isinstance(site.callee, str)
        return self._put_in_place(site.callee, site.receiver, caller) if site.receiver is not None else []

    def _put_in_place(self, method: str, receiver: Value, caller: str) -> list[str]:
        """What other classes put in place of a method, if an object of unknown class may be one of theirs.

        What an object holds is mostly not of the object's own class, if it is declared to be of a class above.
        """
        source, function = self._symbols.functions[method]
        if (
            isinstance(receiver, Fresh)
            or function.owner is None
            or function.name == "__init__"
            or self._places.is_exact(receiver)
        ):
            return []
        owner = self._types.class_of(receiver) or f"{source.name}:{function.owner}"
        overrides = self._symbols.overrides(owner, function.name)
        if self._symbols.is_ordered_by_steps(method):
            arriving = self._types.arriving.methods(receiver, function.name) if overrides else None
            possible = [override for override in overrides if arriving is None or override in arriving]
            overrides = [override for override in possible if self._product.has(override)]
        elif isinstance(receiver, Field | Element | Member):
            holder = self._symbols.owner_of(caller)
            overrides = [override for override in overrides if self._symbols.owner_of(override) != holder]
        return overrides


def bound(callee: Value, args: tuple[Values, ...]) -> Iterator[tuple[str, dict[int, Values]]]:
    """The function that a started callable is, and what its parameters are given, by their index."""
    match callee:
        case FunctionValue(function=function, receiver=receiver):
            yield function, dict(enumerate(args, 0 if receiver is None else 1))
        case Partial(callee=Builtin(name="coroutine"), args=((FunctionValue(function=function),), *given)):
            yield function, dict(enumerate(given))
        case Partial(callee=inner, args=given):
            yield from bound(inner, (*given, *args))


def _keys(path: Value) -> Iterator[Value]:
    while isinstance(path, Element | Member):
        if isinstance(path, Element):
            yield path.key
        path = path.base


def _holder(path: Value) -> Value | None:
    """The object in whose field a path goes through tables."""
    while isinstance(path, Element | Member):
        path = path.base
    return path.base if isinstance(path, Field) else None


def _names(path: Value) -> Iterator[str]:
    """The names by which a path goes through tables: those of events, of commands."""
    for key in _keys(path):
        if isinstance(key, Literal) and isinstance(key.value, str):
            yield key.value


def _parameter(path: Value) -> Param | None:
    """The parameter by which a path goes through a table, if it is one only."""
    found = [key for key in _keys(path) if isinstance(key, Param)]
    return found[0] if len(found) == 1 else None


def foreign(receiver: Value | None) -> Value | None:
    """A receiver in another function's terms: no instance of the function at hand."""
    return (
        None
        if receiver is None
        else Fresh(receiver.type, receiver.site)
        if isinstance(receiver, Fresh)
        else Member(receiver, NOWHERE)
    )


def is_outside(start: Start, made: Fresh, body: Block) -> bool:
    """Whether a function makes an object before the loop that starts something again and again: all have the same."""
    if not start.looped or start.loop is None or start.loop.holds(made.site.span):
        return False
    return all(loop.span.holds(start.span) for loop in loops_around(body, made.site.span))
