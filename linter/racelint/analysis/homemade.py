"""Results that a function remembers by hand: it looks into a cache, and puts there what it has fetched.

`found = self.cache.get(url)`, and where that is nothing `found = fetch(url); self.cache.set(url, found)`: all who ask
get one object. What is made empty there, or an object of the project's, is kept to be worked with: no such result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from racelint.analysis.written import plain
from racelint.model import Assign, Attr, Await, Call, Const, Expr, Function, Item, Jump, Name
from racelint.record import records

BY_HAND = "by hand"  # what `Handing` notes of such a function
LOOKS = frozenset({"get", "lookup", "load", "fetch"})
PUTS = frozenset({"set", "put", "store", "add", "save"})


class Slot(NamedTuple):
    """An entry of a cache, as it is written, and what is found there, or put."""

    cache: object
    key: object
    value: Expr


def remembers_by_hand(function: Function, keeps: Callable[[Expr], bool]) -> bool:
    """Whether a function gives again what it has fetched once for the same key.

    `keeps` tells of what is a cache that gives the very object again.
    """
    nodes = list(records(function.body))
    returned = [node.value for node in nodes if isinstance(node, Jump) and node.kind == "return" and node.value]
    if not returned:
        return False
    looks = list(_looks(nodes, keeps))
    for put in _puts(nodes, keeps):
        fetched = _is_fetched(put.value, function, keeps)
        given = any(_is_given(each, put) for each in returned)
        known = any(look[:2] == put[:2] and any(_is_given(each, look) for each in returned) for look in looks)
        if fetched and given and known:
            return True
    return False


def _looks(nodes: list[object], keeps: Callable[[Expr], bool]) -> Iterator[Slot]:
    for node in nodes:
        match node:
            case Assign(targets=(Name() as target,), value=value):
                slot = _slot(value, target, LOOKS, keeps)
            case Jump(kind="return", value=Item() as value):
                slot = _slot(value, value, LOOKS, keeps)
            case _:
                slot = None
        if slot is not None:
            yield slot


def _puts(nodes: list[object], keeps: Callable[[Expr], bool]) -> Iterator[Slot]:
    for node in nodes:
        match node:
            case Assign(targets=(Item() as target,), value=value):
                slot = _slot(target, value, PUTS, keeps)
            case Call(func=Attr(), args=(_, value, *_)):
                slot = _slot(node, value, PUTS, keeps)
            case _:
                slot = None
        if slot is not None:
            yield slot


def _slot(place: Expr, value: Expr, methods: frozenset[str], keeps: Callable[[Expr], bool]) -> Slot | None:
    """The entry that an expression means: `cache[key]`, `cache.get(key)`."""
    match place.value if isinstance(place, Await) else place:
        case Item(base=cache, key=key):
            pass
        case Call(func=Attr(base=cache, name=name), args=(key, *_)) if name in methods:
            pass
        case _:
            return None
    if isinstance(key, Const) or not keeps(cache):
        return None
    return Slot(plain(cache), plain(key), value)


def _is_given(returned: Expr, slot: Slot) -> bool:
    """Whether a function returns what is in an entry: by its variable, or by looking there once more."""
    if isinstance(returned, Item):
        return (plain(returned.base), plain(returned.key)) == slot[:2]
    return isinstance(returned, Name) and isinstance(slot.value, Name) and returned.name == slot.value.name


def _is_fetched(value: Expr, function: Function, keeps: Callable[[Expr], bool]) -> bool:
    """Whether a value comes from a call, which does not look into the cache; a variable's may come from several."""
    bound = function.bindings.get(value.name, ()) if isinstance(value, Name) else (value,)
    return any(_is_call(each) and _slot(each, each, LOOKS, keeps) is None for each in bound)


def _is_call(value: Expr) -> bool:
    """Whether a call gives something: with arguments, or of a method; `dict()` and `Thing()` make what is empty."""
    match value.value if isinstance(value, Await) else value:
        case Call(func=func, args=args, keywords=keywords):
            return isinstance(func, Attr) or bool(args or keywords)
        case _:
            return False
