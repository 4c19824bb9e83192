"""Named entries: what a mapping has under one key is not touched by what happens to another one.

`if "id" in event: use(event["id"])` beside `event.pop("data")`: an atomic step of a mapping means one entry. So is
`_HANDLES[self] += 1` beside `_HANDLES[future] -= 1`, for an object that only this run knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racelint.analysis.effects import Access, Act
from racelint.analysis.objects import FRESH
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Attr, Call, Const, Delete, Expr, Function, Item, Name, Op, Update
from racelint.record import records
from racelint.span import Span

OF_ONE_ENTRY = frozenset({"get", "pop", "setdefault", "add", "remove", "discard"})
OF_ONE_ENTRY |= {"__getitem__", "__setitem__", "__delitem__", "__contains__"}
PUT = frozenset({"insert", "setitem"})


class NamedEntries:
    """Tells which entry an access means, where its function says so by a text."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._keys: dict[str, dict[Span, Expr]] = {}

    def are_apart(self, acting: Spot, act: Act, changing: Spot, change: Access | Act) -> bool:
        """Whether an act and the check that it depends on mean other entries than a change that comes in between.

        Of what is put in where nothing was found the check must mean the same entry: not so `if not d: d["a"] = x`.
        """
        own = self._name(acting.function, act)
        other = self._name(changing.function, change) if own else ""
        checked = _text(self._keys_in(acting.function).get(act.check))
        return bool(other) and other not in (own, checked) and (act.kind != "insert" or checked == own)

    def is_under_itself(self, spot: Spot, other: Spot, spots: Iterable[Spot]) -> bool:
        """Whether an access means the entry under a function's own instance, which only its run knows.

        The other one means one entry, too, under whatever key. `spots` are all accesses of the mapping: a run that puts
        the object there makes it known.
        """
        if spot.entry.receiver != FRESH or not self._is_own(spot) or not self._key(other.function, other.access):
            return False
        here = [each for each in spots if each.entry.context == spot.entry.context]
        return not any(each.access.kind in PUT and self._is_own(each) for each in here)

    def _is_own(self, spot: Spot) -> bool:
        """Whether an access means the entry under the function's own instance, which equals no other object."""
        key, own = self._keys_in(spot.function).get(spot.access.span), self._symbols.functions[spot.function][1].own
        if spot.access.calls or not isinstance(key, Name) or key.name != own:
            return False
        type_id = spot.entry.type or self._symbols.owner_of(spot.function)
        known = self._symbols.types.get(type_id)
        alone = known is not None and not known[1].decorators  # `@dataclass`
        return alone and not self._symbols.methods_like(type_id, ("__eq__",))

    def _name(self, function_id: str, access: Access | Act) -> str:
        """The entry that an access means, where that is a text; "" if it is not told."""
        return _text(self._key(function_id, access))

    def _key(self, function_id: str, access: Access | Act) -> Expr | None:
        """The key by which an access means one entry, maybe in a helper that is given the mapping."""
        where, span = access.calls[-1][:2] if access.calls else (function_id, access.span)
        return self._keys_in(where).get(span)

    def _keys_in(self, function_id: str) -> dict[Span, Expr]:
        if function_id not in self._keys:
            self._keys[function_id] = dict(_keyed(self._symbols.functions[function_id][1]))
        return self._keys[function_id]


def _text(key: Expr | None) -> str:
    return key.value if isinstance(key, Const) and isinstance(key.value, str) else ""


def _keyed(function: Function) -> Iterator[tuple[Span, Expr]]:
    """The steps of a function that mean one entry, by its key."""
    for node in records(function.body):
        match node:
            case Item(key=key, span=span):
                yield span, key
            case Assign(targets=(Item(key=key),), span=span):
                yield span, key
            case Delete(target=Item(key=key), span=span) | Update(target=Item(key=key), span=span):
                yield span, key
            case Call(func=Attr(name=method), args=(key, *_), span=span):
                if method in OF_ONE_ENTRY:
                    yield span, key
            case Op(operator="in" | "not in", operands=(key, Name() | Attr() as container)):
                yield container.span, key  # where the test looks at the mapping
