"""Callbacks that may leave: loops that call, live, what callers have put into a container and may take out of it.

What such callbacks do is mostly not in the program, but what they may do is: a class that offers `subscribe()` and
`unsubscribe()` lets a callback unsubscribe itself while it is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from racelint.analysis.callbacks import Callbacks, Key
from racelint.analysis.effects import Effects
from racelint.analysis.emitting import Emission, emissions
from racelint.analysis.state import Resize
from racelint.analysis.summary import Conflict, Place, Summary
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import project_class
from racelint.analysis.types import Types
from racelint.analysis.usage import Usage
from racelint.analysis.values import Element, Field, FunctionValue, Global, Literal, Param, Partial, Value, Values
from racelint.analysis.waysout import WaysOut
from racelint.model import Assign, Attr, Call, Closure, Expr, Function, Jump, Loop, Name, Parameter
from racelint.record import records
from racelint.span import Span

TAKING = frozenset({".remove()", ".discard()", ".pop()", "del"})
NAMES = re.compile(r"listener|observer|subscriber|callback|handler|hook|watcher|delegate|_cbs?$", re.IGNORECASE)
MOST_OWN_CALLS = 4  # of an object's own methods, from what it is told to where it leaves
VARIADIC = frozenset({"variadic", "keywords"})


class Change(NamedTuple):
    """What a function puts into a container, or takes out of it."""

    function: str
    event: Resize


class Walk(NamedTuple):
    """A loop over a container that calls what it walks."""

    key: Key
    function: str
    loop: Loop
    container: Value
    call: Emission


class Tellers:
    """What methods call with their own instance, and which others of their own; read off their bodies once."""

    def __init__(self, symbols: Symbols, types: Types) -> None:
        self._symbols = symbols
        self._types = types
        self._by_name: dict[str, list[str]] | None = None
        self._by_class: dict[str, list[str]] = {}
        self._calls: dict[str, tuple[dict[str, list[Expr]], tuple[str, ...]]] = {}

    def named(self, name: str) -> list[str]:
        """The methods of a name."""
        if self._by_name is None:
            self._by_name = {}
            for function_id, (_, function) in self._symbols.functions.items():
                if function.own:
                    self._by_name.setdefault(function.name, []).append(function_id)
                    self._by_class.setdefault(_scope(function_id), []).append(function_id)
        return self._by_name.get(name, [])

    def beside(self, method: str) -> list[str]:
        """The methods of the class of one."""
        return self._by_class.get(_scope(method), [])

    def gives_itself(self, method: str, name: str, owner: str, steps: int = 0) -> bool:
        """Whether a method calls something by a name with its own instance, maybe by other methods of its own.

        What is known to be of another class than the owner of that name does not count.
        """
        seen, at = {method}, [method]
        for _ in range(steps + 1):
            for each in at:
                known = [self._types.expressions.of(each, base) for base in self._of(each)[0].get(name, ())]
                if any(found is None or project_class(found) in (None, owner) for found in known):
                    return True
            at = [found for each in at for found in self._of(each)[1] if found not in seen]
            seen.update(at)
        return False

    def _of(self, method: str) -> tuple[dict[str, list[Expr]], tuple[str, ...]]:
        """On what a method calls which names with its own instance, and the methods that it calls on itself."""
        if method not in self._calls:
            function, owner = self._symbols.functions[method][1], self._symbols.owner_of(method)
            given: dict[str, list[Expr]] = {}
            own: dict[str, None] = {}
            for call in [node for node in records(function.body) if isinstance(node, Call)]:
                if isinstance(call.func, Attr) and any(_is_own(arg, function) for arg in call.args):
                    given.setdefault(call.func.name, []).append(call.func.base)
                if isinstance(call.func, Attr) and _is_own(call.func.base, function):
                    found = self._symbols.method(owner, call.func.name)
                    own |= {found: None} if found is not None else {}
            self._calls[method] = given, tuple(own)
        return self._calls[method]


class Leaving:
    """Tells which loops go over callbacks that may leave meanwhile: one loop for each container."""

    def __init__(
        self, symbols: Symbols, types: Types, callbacks: Callbacks, usage: Usage, summary: Callable[[str], Summary]
    ) -> None:
        self._symbols = symbols
        self._types = types
        self._key = callbacks.key
        self._usage = usage
        self._summary = summary
        self._tellers = Tellers(symbols, types)
        self._out: WaysOut | None = None
        self._known: dict[tuple[str, str, str, str], bool] = {}

    def conflicts(self, reported: list[str], effects: Mapping[str, Effects]) -> Iterator[Conflict]:
        """The first such loop over each container, the surest before the others."""
        walks = [walk for function in reported for walk in self._walks(function, effects.get(function))]
        changes = self._changes({walk.key for walk in walks}) if walks else {}
        self._out = WaysOut(self._symbols, self._usage, reported)
        found: dict[Key, Conflict] = {}
        for walk in walks:
            pair = next(self._pairs(walk, changes.get(walk.key, [])), None)
            if pair is not None and (walk.key not in found or found[walk.key].doubtful):
                conflict = self._conflict(walk, *pair)
                if walk.key not in found or not conflict.doubtful:
                    found[walk.key] = conflict
        yield from found.values()

    def _conflict(self, walk: Walk, joined: Change, left: Change) -> Conflict:
        container = self._types.container(walk.container)
        return Conflict(
            Place(walk.function, walk.loop.span, walk.loop.iterable),
            Place(walk.function, walk.call.span),
            walk.container,
            container.kind if container is not None else "unknown",
            "direct",
            left.event,
            Place(joined.function, joined.event.span),
            doubtful=not (self._may_leave(walk, joined, left) or self._take_themselves_out(walk, joined, left)),
            leaves=True,
        )

    def _may_leave(self, walk: Walk, joined: Change, left: Change) -> bool:
        """Whether some callback may leave while it is called: one of the program, or else any that users have.

        A program that takes out what it has put in, but in none of its callbacks, mostly does so when all is over: of
        16 such reports 2 were right, of 8 others 6.
        """
        assert self._out is not None
        return self._is_open(walk) and self._out.are_taken(joined.function, left.function) is not False

    def _is_open(self, walk: Walk) -> bool:
        """Whether any callback at all may be among them: they are told of events by name, or given any arguments.

        Those of one purpose are mostly few, and known; to leave while they are called is not theirs.
        """
        if walk.call.form == "method":
            return False
        _, function = self._symbols.functions[walk.function]
        by_name = isinstance(walk.container, Element) and not isinstance(walk.container.key, Literal)
        return by_name or walk.call.form == "named" or any(p.kind in VARIADIC for p in function.parameters)

    def _walks(self, function_id: str, effects: Effects | None) -> Iterator[Walk]:
        """The loops of a function over containers that others can reach, which call what they walk."""
        if effects is None or not any(kind == "iterate" for _, kind in effects.accesses):
            return
        _, function = self._symbols.functions[function_id]
        for loop in [node for node in records(function.body) if isinstance(node, Loop) and node.target is not None]:
            for access in effects.accesses.get((loop.span, "iterate"), ()):
                key = self._key(access.path) if _is_live(access.path) and not _is_reversed(loop) else None
                calls = emissions(function, loop, lambda *at: self._passes(function_id, *at)) if key else []
                if key is not None and calls:
                    yield Walk(key, function_id, loop, access.path, calls[0])

    def _passes(self, function_id: str, method: str, position: int) -> bool:
        """Whether a method of the own class calls the argument at a position."""
        owner = self._symbols.owner_of(function_id)
        found = self._symbols.method(owner, method) if owner else None
        return found is not None and any(
            invoke.callee == Param(found, position + 1) for invoke in self._summary(found).invokes
        )

    def _changes(self, keys: set[Key]) -> dict[Key, list[Change]]:
        """Who puts something that he is given into these containers, and who takes out what he is asked to."""
        found: dict[Key, list[Change]] = {}
        for function_id in self._symbols.functions:
            for event in self._summary(function_id).resizes:
                key = self._key(event.container) if not event.calls else None
                if key in keys and key is not None and self._is_offered(function_id, event, key):
                    found.setdefault(key, []).append(Change(function_id, event))
            for key, left in self._given_to_leave(function_id):
                if key in keys:
                    found.setdefault(key, []).append(left)
        return found

    def _given_to_leave(self, function_id: str) -> Iterator[tuple[Key, Change]]:
        """What a function returns for its caller to leave by: `return partial(self._remove, self.gone, callback)`."""
        for given in self._summary(function_id).returns:
            if not isinstance(given, Partial) or not isinstance(given.callee, FunctionValue):
                continue
            left, bound = given.callee.function, given.callee.receiver is not None
            for event in self._summary(left).resizes:
                if event.change != "remove" or event.operation not in TAKING or event.calls:
                    continue
                containers: Values = (event.container,)
                if isinstance(event.container, Param):
                    index = event.container.index - bound
                    containers = given.args[index] if 0 <= index < len(given.args) else ()
                for key in dict.fromkeys(map(self._key, containers)):
                    if key is not None:
                        yield key, Change(left, event)

    def _is_offered(self, function_id: str, event: Resize, key: Key) -> bool:
        """Whether callers say by an argument what goes in, or out; or by a handle that they were given."""
        _, function = self._symbols.functions[function_id]
        given = self._parameters(function_id)
        if event.change == "remove":
            if self._is_nested(function_id):
                return event.operation in TAKING
            return event.operation in TAKING and bool(given) and not function.name.startswith("_")
        if event.change not in ("insert", "append") or not (given and self._is_reached(function_id)):
            return False
        calls = [node for node in records(function.body) if isinstance(node, Call) and node.span == event.span]
        stores = [node for node in records(function.body) if isinstance(node, Assign) and _is_target(node, event.span)]
        values = (*[call.args for call in calls], *[store.value for store in stores])
        names = {parameter.name for parameter in given}
        return any(isinstance(part, Name) and part.name in names for part in records(values))

    def _parameters(self, function_id: str) -> tuple[Parameter, ...]:
        _, function = self._symbols.functions[function_id]
        return function.parameters[1:] if function.owner and function.binding != "none" else function.parameters

    def _is_reached(self, function_id: str) -> bool:
        """Whether callers from outside come to a function: it is public, or public ones of its class pass on to it."""
        own = _scope(function_id)
        ways = (function_id, *[each for each in self._usage.callers(function_id) if _scope(each) == own])
        return any(not each.rpartition(".")[2].startswith("_") for each in ways)

    def _is_nested(self, function_id: str) -> bool:
        _, function = self._symbols.functions[function_id]
        return not function.owner and function.parent not in (None, MODULE)

    def _pairs(self, walk: Walk, changes: list[Change]) -> Iterator[tuple[Change, Change]]:
        """A way in and a way out that belong together, if it is callbacks that they are about."""
        others = [change for change in changes if change.function != walk.function]
        for joined in [change for change in others if change.event.change != "remove"]:
            for left in [change for change in others if change.event.change == "remove"]:
                named = NAMES.search(walk.key.name) or NAMES.search(joined.function.rpartition(":")[2])
                told = walk.call.form == "direct" and walk.call.thrown_away
                apart = joined.function != left.function and self._belong(joined, left)
                if apart and (named or told or self._take_themselves_out(walk, joined, left)):
                    yield joined, left

    def _take_themselves_out(self, walk: Walk, joined: Change, left: Change) -> bool:
        """Whether objects of a class of the program put themselves in, and take themselves out in what is called.

        As far as names tell: `source.add(self)`, and `source.remove(self)` where `client.on_fail()` leads.
        """
        told, joins, leaves = walk.call.method, _last(joined.function), _last(left.function)
        key = (told, joins, leaves, _scope(left.function))
        if told and key not in self._known:
            found = self._tellers.named(told)
            self._known[key] = any(
                self._tellers.gives_itself(teller, leaves, key[-1], MOST_OWN_CALLS)
                and any(self._tellers.gives_itself(method, joins, key[-1]) for method in self._tellers.beside(teller))
                for teller in found
            )
        return bool(told) and self._known[key]

    def _belong(self, joined: Change, left: Change) -> bool:
        """Whether one class or module offers both ways, or the one way hands out the other."""
        if self._is_nested(left.function):
            return left.function.startswith(f"{joined.function}.") and self._hands_out(joined.function, left.function)
        return _scope(joined.function) == _scope(left.function)

    def _hands_out(self, outer: str, inner: str) -> bool:
        """Whether a function returns one that it has made: by itself, or as a part of something."""
        name = inner.rpartition(".")[2]
        returned = [
            node.value
            for node in records(self._symbols.functions[outer][1].body)
            if isinstance(node, Jump) and node.kind == "return" and node.value is not None
        ]
        parts = [part for value in returned for part in records(value)]
        return any(
            (isinstance(part, Name) and part.name == name)
            or (isinstance(part, Closure) and part.function.rpartition(".")[2] == name)
            for part in parts
        )


def _last(function_id: str) -> str:
    return function_id.rpartition(":")[2].rpartition(".")[2]


def _is_own(expr: Expr, function: Function) -> bool:
    return bool(function.own) and isinstance(expr, Name) and expr.name == function.own


def _scope(function_id: str) -> str:
    """The class of a method, the module of a function."""
    module, _, name = function_id.partition(":")
    return f"{module}:{name.rpartition('.')[0]}" if "." in name else module


def _is_target(node: Assign, span: Span) -> bool:
    return any(getattr(target, "span", None) == span for target in node.targets)


def _is_live(path: Value) -> bool:
    """Whether a path leads to the container itself, not to a copy."""
    while isinstance(path, Field | Element):
        path = path.base
    return isinstance(path, Param | Global)


def _is_reversed(loop: Loop) -> bool:
    """Whether what leaves has been walked already."""
    return isinstance(loop.iterable, Call) and isinstance(func := loop.iterable.func, Name) and func.name == "reversed"
