"""Results that a function remembers by hand: it looks into a cache, and puts there what it has fetched.

`found = self.cache.get(url)`, and where that is nothing `found = fetch(url); self.cache.set(url, found)`: all who ask
get one object. What is made empty there, or an object of the project's, is kept to be worked with: no such result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from racelint.analysis.written import plain
from racelint.knowledge.sharing import Sharing
from racelint.model import Assign, Attr, Await, Call, Const, Expr, Function, Item, Jump, Name
from racelint.record import records

BY_HAND = "by hand"  # what `Handing` notes of such a function


class Slot(NamedTuple):
    """An entry of a cache, as it is written, and what is found there, or put."""

    cache: object
    key: object
    value: Expr


class ByHand:
    """Answers for functions; `keeps` tells of what is a cache that gives the very object again."""

    def __init__(self, names: Sharing, keeps: Callable[[Expr], bool]) -> None:
        self._looking, self._putting = names.names("looks-up"), names.names("puts-in")
        self._keeps = keeps

    def remembers(self, function: Function) -> bool:
        """Whether a function gives again what it has fetched once for the same key."""
        nodes = list(records(function.body))
        returned = [node.value for node in nodes if isinstance(node, Jump) and node.kind == "return" and node.value]
        if not returned:
            return False
        looks = list(self._looks(nodes))
        for put in self._puts(nodes):
            fetched = self._is_fetched(put.value, function)
            given = any(_is_given(each, put) for each in returned)
            known = any(look[:2] == put[:2] and any(_is_given(each, look) for each in returned) for look in looks)
            if fetched and given and known:
                return True
        return False

    def _looks(self, nodes: list[object]) -> Iterator[Slot]:
        for node in nodes:
            match node:
                case Assign(targets=(Name() as target,), value=value):
                    slot = self._slot(value, target, self._looking)
                case Jump(kind="return", value=Item() as value):
                    slot = self._slot(value, value, self._looking)
                case _:
                    slot = None
            if slot is not None:
                yield slot

    def _puts(self, nodes: list[object]) -> Iterator[Slot]:
        for node in nodes:
            match node:
                case Assign(targets=(Item() as target,), value=value):
                    slot = self._slot(target, value, self._putting)
                case Call(func=Attr(), args=(_, value, *_)):
                    slot = self._slot(node, value, self._putting)
                case _:
                    slot = None
            if slot is not None:
                yield slot

    def _slot(self, place: Expr, value: Expr, methods: frozenset[str]) -> Slot | None:
        """The entry that an expression means: `cache[key]`, `cache.get(key)`."""
        match place.value if isinstance(place, Await) else place:
            case Item(base=cache, key=key):
                pass
            case Call(func=Attr(base=cache, name=name), args=(key, *_)) if name in methods:
                pass
            case _:
                return None
        if isinstance(key, Const) or not self._keeps(cache):
            return None
        return Slot(plain(cache), plain(key), value)

    def _is_fetched(self, value: Expr, function: Function) -> bool:
        """Whether a value comes from a call, which does not look into the cache; a variable's may come from several."""
        bound = function.bindings.get(value.name, ()) if isinstance(value, Name) else (value,)
        return any(_is_call(each) and self._slot(each, each, self._looking) is None for each in bound)


def _is_given(returned: Expr, slot: Slot) -> bool:
    """Whether a function returns what is in an entry: by its variable, or by looking there once more."""
    if isinstance(returned, Item):
        return (plain(returned.base), plain(returned.key)) == slot[:2]
    return isinstance(returned, Name) and isinstance(slot.value, Name) and returned.name == slot.value.name


def _is_call(value: Expr) -> bool:
    """Whether a call gives something: with arguments, or of a method; `dict()` and `Thing()` make what is empty."""
    match value.value if isinstance(value, Await) else value:
        case Call(func=func, args=args, keywords=keywords):
            return isinstance(func, Attr) or bool(args or keywords)
        case _:
            return False
