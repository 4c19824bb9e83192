"""Named entries: what a mapping has under one constant name is not touched by what happens to another one.

`if "id" in event: use(event["id"])` beside `event.pop("data")`: an atomic step of a mapping means one entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.effects import Access, Act
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Attr, Call, Const, Delete, Function, Item, Name, Op
from racelint.record import records
from racelint.span import Span

OF_ONE_ENTRY = frozenset({"get", "pop", "setdefault", "add", "remove", "discard"})
OF_ONE_ENTRY |= {"__getitem__", "__setitem__", "__delitem__", "__contains__"}


class NamedEntries:
    """Tells which entry an access means, where its function says so by a text."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._names: dict[str, dict[Span, str]] = {}

    def are_apart(self, acting: Spot, act: Act, changing: Spot, change: Access | Act) -> bool:
        """Whether an act and the check that it depends on mean other entries than a change that comes in between.

        Of what is put in where nothing was found the check must mean the same entry: not so `if not d: d["a"] = x`.
        """
        own = self._name(acting.function, act)
        other = self._name(changing.function, change) if own else ""
        checked = self._names_in(acting.function).get(act.check, "")
        return bool(other) and other not in (own, checked) and (act.kind != "insert" or checked == own)

    def _name(self, function_id: str, access: Access | Act) -> str:
        """The entry that an access means, maybe in a helper that is given the mapping; "" if it is not told."""
        where, span = access.calls[-1][:2] if access.calls else (function_id, access.span)
        return self._names_in(where).get(span, "")

    def _names_in(self, function_id: str) -> dict[Span, str]:
        if function_id not in self._names:
            self._names[function_id] = dict(_named(self._symbols.functions[function_id][1]))
        return self._names[function_id]


def _named(function: Function) -> Iterator[tuple[Span, str]]:
    """The steps of a function that mean the entry of one name."""
    for node in records(function.body):
        match node:
            case Item(key=Const(value=str() as name), span=span):
                yield span, name
            case Assign(targets=(Item(key=Const(value=str() as name)),), span=span):
                yield span, name
            case Delete(target=Item(key=Const(value=str() as name)), span=span):
                yield span, name
            case Call(func=Attr(name=method), args=(Const(value=str() as name), *_), span=span):
                if method in OF_ONE_ENTRY:
                    yield span, name
            case Op(operator="in" | "not in", operands=(Const(value=str() as name), Name() | Attr() as container)):
                yield container.span, name  # where the test looks at the mapping
