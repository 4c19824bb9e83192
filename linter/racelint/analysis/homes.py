"""Homes: the fields in which objects lie when they are given a callable, and what is found in another one instead.

A callable that is put into one object is called by no other object of that type. Two fields surely hold two objects
where all that is stored in either is made anew there: `s.pods = index.New()`, `s.nodes = index.New()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from racelint.analysis.effects import Effects
from racelint.analysis.places import Places
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import project_class
from racelint.analysis.types import Types
from racelint.analysis.values import Field, Fresh, FunctionValue, Value
from racelint.model import Call, Const, Expr, Make, Name, Op
from racelint.span import Span

ANYWHERE = ""  # what is put into objects of which that is not known


class Homes:
    """Tells objects of one type apart by the fields that have them, "Type.field"."""

    def __init__(self, symbols: Symbols, types: Types, places: Places, effects: Mapping[str, Effects]) -> None:
        self._symbols = symbols
        self._types = types
        self._places = places
        self._effects = effects
        self._filled_anew: dict[str, bool] = {}
        self._fields: dict[str, dict[Span, str]] = {}

    def of(self, function_id: str, path: Value) -> str:
        """The field that has an object in which a function puts something."""
        if not isinstance(path, Field) or not self._symbols.is_ordered_by_steps(function_id):
            return ANYWHERE
        if not isinstance(path.base, Fresh):
            return self._named(path.base)
        return self._put_in(path.base.site.function).get(path.base.site.span, ANYWHERE)

    def _put_in(self, function_id: str) -> dict[Span, str]:
        """The fields in which a function puts what it makes there and then, by where that is."""
        if function_id not in self._fields:
            source, function = self._symbols.functions[function_id]
            found: dict[Span, str] = {}
            for store in source.module.attribute_stores:
                span = _span(store.value)
                if store.function == function.qualname and span is not None:
                    owner = project_class(self._types.expressions.of(function_id, store.base))
                    known = owner is not None and span not in found
                    found[span] = f"{owner}.{store.name}" if known else ANYWHERE
            self._fields[function_id] = found
        return self._fields[function_id]

    def have_another(self, homes: Iterable[str], origin: str) -> bool:
        """Whether the object that was reached by a field surely lies in none of some others."""
        own = origin.removeprefix("=")
        if not self._is_filled_anew(own) or own in self._of_several:
            return False
        return all(home != own and self._is_filled_anew(home) for home in homes)

    @cached_property
    def _of_several(self) -> set[str]:
        """The fields that are told of calls on what may lie in one of several, by a variable that has had them all."""
        sites = [site for effects in self._effects.values() for site in effects.calls.values()]
        found = set[str]()
        for site in sites:
            path = site.holder if isinstance(site.receiver, Fresh) else site.receiver
            if isinstance(path, Field) and isinstance(site.callee, str) and (0, site.receiver) not in site.given:
                found.add(self._named(path))
        return found

    def _named(self, path: Value) -> str:
        return self._places.holder(path).removeprefix("=")

    def _is_filled_anew(self, home: str) -> bool:
        """Whether what is stored in a field is always a new object: one that lies in no other such field."""
        if home not in self._filled_anew:
            owner, _, name = home.rpartition(".")
            known = owner in self._symbols.types and name in self._symbols.types[owner][1].fields
            stored = self._types.arriving.stored(owner, name) if known else None
            self._filled_anew[home] = bool(stored) and all(
                self._is_new(given.function, given.expr, calls=True) for given in stored or ()
            )
        return self._filled_anew[home]

    def _is_new(self, function_id: str, expr: Expr, *, calls: bool) -> bool:
        """Whether an expression makes an object, itself or by a call of what does no more than that."""
        match expr:
            case Const(value=None) | Make():
                return True
            case Op(operator="address", operands=operands):
                return all(isinstance(operand, Make) for operand in operands)
            case Name(name=name, scope="local") if not calls:
                return self._is_bound_to_new(function_id, name)
            case Call() if calls:
                callee = self._symbols.meant(function_id, expr.func)
                return isinstance(callee, FunctionValue) and self._gives_new(callee.function)
            case _:
                return False

    def _is_bound_to_new(self, function_id: str, name: str) -> bool:
        """Whether a variable has nothing but what its function makes."""
        _, function = self._symbols.functions[function_id]
        if f"{name}()" in function.bindings or any(parameter.name == name for parameter in function.parameters):
            return False
        bound = function.bindings.get(name, ())
        made = [not isinstance(each, Name) and self._is_new(function_id, each, calls=False) for each in bound]
        return bool(made) and all(made)

    def _gives_new(self, function_id: str) -> bool:
        """Whether all that a function returns it has made in the same call."""
        returned = self._symbols.functions[function_id][1].bindings.get("return", ())
        return bool(returned) and all(self._is_new(function_id, expr, calls=False) for expr in returned)


def _span(expr: Expr) -> Span | None:
    """Where an expression makes an object, be it by a call."""
    match expr:
        case Op(operator="address", operands=(Make() as made,)):
            return made.span
        case Make() | Call():
            return expr.span
        case _:
            return None
