"""Callbacks kept in containers: which of them change the container that a loop takes them from.

A registration is a function, or an object, that is put into a field's container, in the terms of the function that does
it: `self.source.listeners.append(self.on_event)`. If the registered function takes itself out of the same container on
the same path, every loop that calls the container's elements, live, is changed while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from racelint.analysis.paths import Substitute, underlying
from racelint.analysis.state import Call, Invoke, Resize
from racelint.analysis.summary import Conflict, Place, Summary
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import (
    Captured,
    Element,
    Field,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Partial,
    Site,
    TypeValue,
    Value,
    Values,
)
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

Lookup: TypeAlias = Callable[[Value], Values | None]
MOST = 24  # registrations remembered for a container
NOWHERE = Span(0, 0, 0, 0)
UNDER_KEYS = ("[...] =", ".setdefault()")


class Registration(NamedTuple):
    """A value put into a container, maybe under a key of its own, in the terms of the function that does it."""

    added: Value
    container: Value
    place: Place
    keyed: bool = False


class Key(NamedTuple):
    """What containers that may be one object have in common: type and field (or module and global), and depth."""

    owner: str
    name: str
    depth: int


class Callbacks:
    """Remembers registrations while functions are evaluated; answers when all are done."""

    def __init__(self, symbols: Symbols, types: Types) -> None:
        self._symbols = symbols
        self._types = types
        self._registered: dict[Key, dict[Registration, None]] = {}

    def register(self, event: Resize, function: str, span: Span) -> None:
        """Remember what an insertion puts into a container that outlives the function."""
        key = self.key(event.container)
        if key is None:
            return
        known = self._registered.setdefault(key, {})
        for added in event.added:
            if len(known) < MOST and (isinstance(added, FunctionValue | Partial) or self._types.class_of(added)):
                keyed = event.operation in UNDER_KEYS
                known[Registration(added, event.container, Place(function, span), keyed)] = None

    def key(self, container: Value) -> Key | None:
        """By what a container is known that outlives the function, None for any other."""
        steps = 0
        while isinstance(container, Element):
            container, steps = container.base, steps + 1
        match container:
            case Global(module=module, name=name):
                return Key(module, name, steps)
            case Field(base=TypeValue(type=owner), name=name):
                return Key(owner, name, steps)
            case Field(base=base, name=name):
                owner_type = self._types.class_of(base) or self._symbols.only_owner(name)
                declared = self._symbols.field(owner_type, name) if owner_type else None
                return Key(declared[0], name, steps) if declared else None
            case _:
                return None

    def conflicts(self, function_id: str, summary: Summary, summaries: Summaries) -> Iterator[Conflict]:
        """The loops of a function that call registered functions which change what the loop iterates."""
        for invoke, during in summary.invokes.items():
            for container, loop in during:
                key = self.key(container) if not invoke.calls else None
                if key is None:
                    continue
                for registration in self._registered.get(key, ()):
                    if not _may_be_one(container, registration.container):
                        continue
                    for callee, receiver in self._called(invoke, container, registration):
                        yield from self._removals(
                            function_id, invoke, container, loop, registration, callee, receiver, summaries
                        )

    def _called(
        self, invoke: Invoke, container: Value, registration: Registration
    ) -> Iterator[tuple[str, Value | None]]:
        """The function that runs when the loop calls what was registered, or a method of it."""
        callee, added = invoke.callee, registration.added
        if isinstance(added, Partial):
            added = added.callee
        if isinstance(added, FunctionValue):
            _, function = self._symbols.functions[added.function]
            if _is_taken(callee, container, registration) and not function.is_async:  # a coroutine runs after the loop
                yield added.function, added.receiver
        elif isinstance(callee, Field) and _is_taken(callee.base, container, registration):
            owner = self._types.class_of(added)
            method = self._symbols.method(owner, callee.name) if owner else None
            if method is not None and not self._symbols.functions[method][1].is_async:
                yield method, added

    def _removals(
        self, function_id: str, invoke: Invoke, container: Value, loop: Place, registration: Registration,
        callee: str, receiver: Value | None, summaries: Summaries,
    ) -> Iterator[Conflict]:  # fmt: skip
        registering = registration.place.function
        stores = summaries.of(registering).stores
        substitute = Substitute(self._terms(registering, stores, callee, receiver), Site(callee, NOWHERE))
        for event in summaries.of(callee).resizes:
            removes = event.change in ("remove", "clear")  # what it adds is mostly itself, once more
            removes = removes and loop.goes_on_after(summaries.of(callee).answers.get(event, ""))
            if removes and registration.container in substitute(event.container):
                moved = event._replace(
                    container=container, calls=(Call(function_id, invoke.span, callee), *event.calls), certain=False
                )
                found = self._types.container(container)
                kind = found.kind if found is not None else "unknown"
                stands = Place(function_id, invoke.span)
                at = loop._replace(answered="")
                yield Conflict(at, stands, container, kind, loop.style, moved, registration.place, loop.repeated)

    def _terms(self, registering: str, stores: dict[Value, Values], callee: str, receiver: Value | None) -> Lookup:
        """The callback's own object, and what it captures, in the terms of the function that registers it."""
        _, function = self._symbols.functions[registering]

        def lookup(value: Value) -> Values | None:
            match value:
                case Param(function=owner, index=0) if owner == callee and receiver is not None:
                    return (receiver,)
                case Captured(function=owner, name=name) if owner == registering:
                    indexes = [i for i, p in enumerate(function.parameters) if p.name == name]
                    return (Param(registering, indexes[0]),) if indexes else None
                case _:
                    return stores.get(value)  # `self.source = source`: what the registering function leaves there

        return lookup


def _may_be_one(first: Value, second: Value) -> bool:
    """Whether two entries of one table may be the same: not if both go by constants, and these differ."""
    while isinstance(first, Element) and isinstance(second, Element):
        if isinstance(first.key, Literal) and isinstance(second.key, Literal) and first.key != second.key:
            return False
        first, second = first.base, second.base
    return True


def _is_taken(value: Value, container: Value, registration: Registration) -> bool:
    """Whether a value is what was put into a container, or a part of it: not the key under which it lies there."""
    while isinstance(value, Element | Member | Field):
        if not isinstance(value, Field) and underlying(value.base) == container:
            return not (registration.keyed and isinstance(value, Member))
        value = value.base
    return False
