"""Turnstiles: channels with room for one that are used as locks.

`turn <- struct{}{}` waits until the one place is free, and `<-turn` frees it: who does both, in that order, has what
lies between to himself. Or the other way round, if something was put in where the channel was made. That a receive
comes before the next send is over, the memory model says (https://go.dev/ref/mem#chan).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Global, Value
from racelint.knowledge import Concurrency
from racelint.model import Assign, Attr, Build, Call, Closure, Const, Defer, Expr, Loop, Make, Name, Op, Spawn
from racelint.record import records
from racelint.span import Span

SEND, RECEIVE, OTHER = "send", "receive", "other"
ONE_PLACE = (("size", Const(1)),)
SPEAKING = frozenset({Op, Loop, Assign, Defer})  # what may say something of channels

Key: TypeAlias = tuple[str, str, str]  # "field", "" and a name; "global", a module and one; "local", a function and one
Uses: TypeAlias = dict[Key, dict[str, list[tuple[bool, Span, str]]]]  # by the function: put off or not, where, and what


class Turnstiles:
    """Tells by which operation a channel is taken, if it is a lock."""

    def __init__(self, symbols: Symbols, concurrency: Concurrency) -> None:
        self._symbols = symbols
        self._takes = {name.lower() for name in concurrency.takes}  # functions that only take, or only give back
        self._gives = {name.lower() for name in concurrency.gives}
        self._uses: Uses | None = None
        self._made: dict[Key, list[tuple[str, Expr]]] = defaultdict(list)  # and where it is made
        self._known: dict[Key, str] = {}

    def taken_by(self, value: Value) -> str:
        """ "send" or "receive", whichever takes a channel that is used as a lock; "" if it is none."""
        match value:
            case Field(name=name):
                key = ("field", "", name)
            case Global(module=module, name=name):
                key = ("global", module, name)
            case Captured(function=function, name=name):
                key = ("local", self._symbols.outermost(function), name)
            case _:
                return ""
        if self._uses is None:
            self._uses = self._gather()
        if key not in self._uses:
            return ""
        if key not in self._known:
            self._known[key] = self._judge(key, self._uses[key])
        return self._known[key]

    def _gather(self) -> Uses:
        uses: Uses = defaultdict(lambda: defaultdict(list))
        put_off: dict[str, str] = {}  # closures that run when a function is left, with the function
        for function_id, (source, function) in self._symbols.functions.items():
            if source.module.traits.duck_typed:
                continue
            outer = self._symbols.outermost(function_id)
            for node in records(function.body):
                if type(node) not in SPEAKING:
                    continue
                if isinstance(node, Defer):
                    if isinstance(node.call, Call) and isinstance(node.call.func, Closure):
                        put_off[f"{source.name}:{node.call.func.function}"] = function_id
                    continue
                for channel, span, operation in _operations(node):
                    key = _key(channel, source.name, outer)
                    if key is not None:
                        uses[key][function_id].append((False, span, operation))
                for variable, value in _assigned(node):
                    key = _key(variable, source.name, outer)
                    if key is not None and key[0] != "field":
                        self._made[key].append((function_id, value))
        for found in uses.values():
            for closure in put_off.keys() & found.keys():
                found[put_off[closure]] += [(True, span, operation) for _, span, operation in found.pop(closure)]
        return uses

    def _judge(self, key: Key, uses: dict[str, list[tuple[bool, Span, str]]]) -> str:
        if key[0] == "field":
            made = [(function, store.value) for function, store in self._symbols.stores(key[2])]
        else:
            made = self._made[key]
        if not made or any(not _has_one_place(value) for _, value in made):
            return ""
        makers = {function for function, _ in made}
        ways = {function: [operation for _, _, operation in sorted(found)] for function, found in uses.items()}
        for take, give in ((SEND, RECEIVE), (RECEIVE, SEND)):
            filled = {function for function in makers if ways.get(function) == [SEND]} if take == RECEIVE else set()
            passing = [function for function in ways if function not in filled]
            takers = [function for function in passing if set(ways[function]) == {take}]
            givers = [function for function in passing if set(ways[function]) == {give}]
            handed = self._hand_over(takers, givers)
            if (
                (filled or take == SEND)
                and passing
                and all(
                    function in handed or self._passes(function, ways[function], take, give) for function in passing
                )
            ):
                return take
        return ""

    def _hand_over(self, takers: list[str], givers: list[str]) -> set[str]:
        """Those that take the place and start what gives it back in the end, and that: `<-free; go run()`."""
        names = {giver: self._symbols.functions[giver][1].name for giver in givers}
        found: set[str] = set()
        for taker in takers:
            calls = [
                n.call.func
                for n in records(self._symbols.functions[taker][1].body)
                if isinstance(n, Spawn) and isinstance(n.call, Call)
            ]
            spawned = {func.name for func in calls if isinstance(func, Attr | Name)}
            started = {giver for giver in givers if names[giver] in spawned}
            found |= {taker, *started} if started else set()
        return found

    def _passes(self, function_id: str, way: list[str], take: str, give: str) -> bool:
        """Whether a function takes the place and gives it back, or says by its name that it does one of the two."""
        name = self._symbols.functions[function_id][1].name.lower()
        if way[0] == take and way[-1] == give:
            return OTHER not in way
        return (set(way) == {take} and name in self._takes) or (set(way) == {give} and name in self._gives)


def _operations(node: object) -> Iterator[tuple[Expr, Span, str]]:
    """What is done with channels: nothing may be told by what is sent."""
    match node:
        case Op(operator="send", operands=(channel, sent), span=span):
            plain = isinstance(sent, Const) or (isinstance(sent, Make) and not (sent.parts or sent.fields))
            yield channel, span, SEND if plain else OTHER
        case Op(operator="receive", operands=(channel,), span=span):
            yield channel, span, RECEIVE
        case Op(operator="close", operands=(channel,), span=span):
            yield channel, span, OTHER
        case Loop(iterable=Op(operands=(walked, *_), span=span)):
            yield walked, span, OTHER
        case Loop(iterable=Attr(span=span) | Name(span=span) as walked):
            yield walked, span, OTHER


def _assigned(node: object) -> Iterator[tuple[Expr, Make]]:
    """What is made, and the variable that gets it."""
    match node:
        case Assign(targets=(Build(parts=targets),), value=Build(parts=values)):
            pairs = list(zip(targets, values, strict=False))
        case Assign(targets=(target,), value=value):
            pairs = [(target, value)]
        case _:
            pairs = []
    for target, value in pairs:
        if isinstance(value, Make):
            yield target, value


def _key(channel: Expr, module: str, outer: str) -> Key | None:
    match channel:
        case Attr(name=name):
            return "field", "", name
        case Name(name=name, scope="global"):
            return "global", module, name
        case Name(name=name):
            return "local", outer, name
        case _:
            return None


def _has_one_place(value: Expr) -> bool:
    return isinstance(value, Make) and value.type.name == "chan" and value.fields == ONE_PLACE
