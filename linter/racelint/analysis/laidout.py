"""Entries laid out beforehand: a mapping has one for each element before something is started for each of them.

`results = {name(job): None for job in jobs}`, then `pool.submit(run, job, results)` for each of the same jobs: what
`run` stores as `results[name(job)]` only gives a new value to an entry.
"""

from __future__ import annotations

from typing import NamedTuple

from racelint.analysis.contexts import Context
from racelint.analysis.effects import Access
from racelint.analysis.spots import Spot
from racelint.analysis.standing import key_at
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Attr, Call, Collect, Comp, Expr, Function, Loop, Name
from racelint.record import records
from racelint.span import Span


class Laid(NamedTuple):
    """The keys that a mapping is made with: one for each element of what a variable holds."""

    key: object  # as it is spelled, but for the element
    each: str
    span: Span


class LaidOut:
    """Answers for insertions into mappings that variables of functions hold."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def replaces(self, spot: Spot, context: Context) -> bool:
        """Whether an insertion, by what a function starts for each element, mostly only gives an entry a new value."""
        access, place = spot.access, spot.located.place
        if place.kind != "captured" or place.depth or access.kind != "insert" or not isinstance(access, Access):
            return False
        if context.starter != place.owner or context.span is None:
            return False
        owner = self._symbols.functions[place.owner][1]
        made = owner.bindings.get(place.name, ())
        laid = _laid(made[0]) if len(made) == 1 else None
        if laid is None or not _is_for_each(owner, laid, context.span):
            return False
        function, span = access.calls[-1][:2] if access.calls else (spot.function, access.span)
        return self._key(function, span) == laid.key

    def _key(self, function_id: str, span: Span) -> object:
        """How the key is spelled under which a function stores something, but for what it is given."""
        function = self._symbols.functions[function_id][1]
        key = key_at(function, span)
        given = function.bindings.get(key.name, ()) if isinstance(key, Name) else ()
        parameters = frozenset([parameter.name for parameter in function.parameters])
        return _spelled(given[0] if len(given) == 1 else key, parameters)


def _laid(made: Expr) -> Laid | None:
    """The entries with which a mapping is made for each element: by a comprehension, or as `dict.fromkeys(jobs)`."""
    match made:
        case Comp(kind="dict", body=Loop(target=Name(name=name), iterable=Name(name=each), body=(Collect(key=key),))):
            return Laid(_spelled(key, frozenset([name])), each, made.span)
        case Call(func=Attr(base=Name(name="dict"), name="fromkeys"), args=(Name(name=each), *_)):
            return Laid("", each, made.span)
        case _:
            return None


def _is_for_each(function: Function, laid: Laid, start: Span) -> bool:
    """Whether something is started in a loop over the same variable, which gets nothing new in between."""
    loops = [node for node in records(function.body) if isinstance(node, Loop) and node.span.holds(start)]
    walked = [loop.iterable.name for loop in loops if isinstance(loop.iterable, Name)]
    again = [
        stmt
        for stmt in records(function.body)
        if isinstance(stmt, Assign)
        and stmt.span > laid.span
        and any(isinstance(part, Name) and part.name == laid.each for part in stmt.targets)
    ]
    return laid.each in walked and not again


def _spelled(node: object, elements: frozenset[str]) -> object:
    """An expression without where it stands, and without the names of elements."""
    match node:
        case Span():
            return None
        case Name(name=name):
            return "" if name in elements else name
        case tuple():
            return (type(node).__name__, *[_spelled(part, elements) for part in node])
        case _:
            return node
