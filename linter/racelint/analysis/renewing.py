"""Renewing: pointers that who goes through them has given a new object before, so that this is part of the holder.

`func (b *Bills) Build() { b.Document = newDocument(); b.add("total") }`, where `add` changes `b.Document`: while that
is one of `Bills`, no one of `Letters` that does the same has that document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from racelint.analysis.branching import comes_first
from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import Effects
from racelint.analysis.paths import object_of, rebased, root
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Fresh, FunctionValue, Param, Value
from racelint.analysis.ways import MOST_CALLS
from racelint.model import Assign, Attr, Call, Expr, Item, Make, Name, Op
from racelint.record import records
from racelint.span import Span


class Frame(NamedTuple):
    """What a function on the way to an access calls an object, its state, and the spot there that leads on."""

    path: Value
    function: str
    entry: Entry
    span: Span


class Renewing:
    """Tells objects apart by the holders of the pointers that lead to them."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts

    def are_apart(self, first: Spot, second: Spot) -> bool:
        """Whether each side has given a pointer a new object, and parts of two structs hold the two pointers."""
        one = list(self._homes(first))
        return bool(one) and any(mine != other for mine, other in zip(one, self._homes(second), strict=False))

    def _homes(self, spot: Spot) -> Iterator[str]:
        """The fields that have as a part what holds the renewed pointer, "Type.field", from that pointer outward."""
        frame = self._renewed(spot)
        while frame is not None:
            if isinstance(frame.path, Field):
                owner = self._places.class_of(frame.path.base)
                if owner is None or not self._places.is_own_field(owner, frame.path.name):
                    return
                yield f"{owner}.{frame.path.name}"
                frame = frame._replace(path=frame.path.base)
            elif isinstance(frame.path, Fresh):
                yield f"{frame.path.site.function}:{frame.path.site.span.line}"
                return
            else:
                frame = self._outward(frame)

    def _renewed(self, spot: Spot) -> Frame | None:
        """The holder of the pointer that leads to an access's object, in the function that has renewed it."""
        path = object_of(spot.access.path)
        frame = Frame(path, spot.function, spot.entry, spot.access.span) if path is not None else None
        for _ in range(MOST_CALLS):
            if frame is None:
                return None
            pointer = frame.path
            while isinstance(pointer, Field) and self._is_part(pointer):
                pointer = pointer.base
            if isinstance(pointer, Field) and self._is_renewed(frame, pointer):
                return frame._replace(path=pointer.base)
            frame = self._outward(frame)
        return None

    def _is_part(self, path: Field) -> bool:
        owner = self._places.class_of(path.base)
        return owner is not None and self._places.is_own_field(owner, path.name)

    def _outward(self, frame: Frame) -> Frame | None:
        """The same object as the caller knows it."""
        start, came = root(frame.path), self._contexts.came(frame.function, frame.entry)
        if came is None or not isinstance(start, Param) or start.function != frame.function:
            return None
        given = self._contexts.given(came, frame.function, start)
        return Frame(rebased(frame.path, start, given), came.caller, came.entry, came.span) if given else None

    def _is_renewed(self, frame: Frame, pointer: Field) -> bool:
        """Whether a function surely stores a new object at a pointer before it goes on, and never another one."""
        if isinstance(pointer.base, Fresh):
            return pointer.base.site.function == frame.function and self._is_made_with_new(pointer.base, pointer)
        body = self._symbols.functions[frame.function][1].body
        done = self._effects.get(frame.function)
        stores = [a.span for a in done.all_accesses() if a.kind == "store" and a.path == pointer] if done else []
        if not any([comes_first(body, span, frame.span) for span in stores]):
            return False
        stored = [s.value for s in records(body) if isinstance(s, Assign) and _is_to(s, stores)]
        kind = self._places.class_of(pointer)
        return len(stored) == len(stores) and all([self.is_new(frame.function, core(v), kind) for v in stored])

    def _is_made_with_new(self, made: Fresh, pointer: Field) -> bool:
        """Whether the literal that makes an object puts a new one into a field of it, be it by a variable."""
        function, span = made.site.function, made.site.span
        bindings = self._symbols.functions[function][1].bindings
        stores = [store for each, store in self._symbols.stores(pointer.name) if each == function]
        given = [store.value for store in stores if isinstance(store.base, Make) and store.base.span == span]
        kept = [bindings.get(value.name, ()) if isinstance(value, Name) else (value,) for value in given]
        kind = self._places.class_of(pointer)
        return all(kept) and bool(kept) and all([self.is_new(function, core(v), kind) for vs in kept for v in vs])

    def is_new(self, function_id: str, expr: Expr, kind: str | None = "") -> bool:
        """Whether an expression makes an object (of a type), or calls what makes one, and tells nobody."""
        if isinstance(expr, Make) or not isinstance(expr, Call):
            return isinstance(expr, Make)
        callee = self._symbols.meant(function_id, expr.func)
        done = self._effects.get(callee.function) if isinstance(callee, FunctionValue) else None
        if done is None or done.exposed or done.escaped:
            return False
        return any([kind in ("", made) for _, made in done.made])


def _is_to(stmt: Assign, spans: list[Span]) -> bool:
    """Whether a statement assigns to a field at one of some spots."""
    return any([target.span in spans for target in stmt.targets if isinstance(target, Attr)])


def core(expr: Expr) -> Expr:
    """What an expression takes the address of, or one of its results."""
    while isinstance(expr, Item) or (isinstance(expr, Op) and expr.operator == "address" and expr.operands):
        expr = expr.base if isinstance(expr, Item) else expr.operands[0]
    return expr
