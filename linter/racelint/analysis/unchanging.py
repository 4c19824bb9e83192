"""Unchanging: variables and fields that hold one value from the start, whoever stores it there again.

`func newQueue() *queue { q := &queue{}; q.limit = q.maxLimit(); return q }`, where `maxLimit` returns a constant: what
stores `q.maxLimit()` there once more changes nothing that anybody could see. Nor does `logger = h.log`, where all who
make an `h` give it the package's variable `logger` itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from racelint.analysis.alreadyset import AlreadySet, changes
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects, where_made
from racelint.analysis.neverempty import completing
from racelint.analysis.places import Place
from racelint.analysis.readiness import Readiness
from racelint.analysis.setting import Variable
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols, argument
from racelint.analysis.values import FunctionValue
from racelint.model import Assign, Attr, Call, Cast, Const, Expr, Function, Jump, Loop, Make, Name, Op, Scalar, Update
from racelint.record import records
from racelint.span import Span

MOST_CALLS = 2  # that hand a constant on
MOST_STEPS = 4  # fields and parameters through which a variable's value comes back to it
Worth: TypeAlias = tuple[type, Scalar]  # true is not 1


class Unchanging:
    """Finds stores that nobody can see, as the one constant that all of them store has been there before."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, already_set: AlreadySet,
        readiness: Readiness,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._already_set = already_set
        self._readiness = readiness
        self._kept: dict[Place, bool] = {}
        self._own: dict[Place, bool] = {}
        self._nodes: dict[str, Mapping[str, list[tuple[str, object]]]] = {}

    def is_seen_alike(self, place: Place, write: Spot, other: Spot) -> bool:
        """Whether all that is stored in a place is one constant, and who reads it comes when that is there; or what a
        variable has held before.
        """
        if place.kind not in ("field", "global") or place.depth or not place.name[:1].islower():
            return False  # other packages, and what decodes an object, may change what they see
        if not self._symbols.is_ordered_by_steps(write.function):
            return False
        if place.kind == "global" and self._keeps_its_own(place):
            return True
        if not self._keeps_one(place):
            return False
        if other.is_write:
            return True
        if place.kind == "global":
            return self._already_set.is_set_by_then(Variable(place.owner, (place.name,), True), other)
        return self._is_set_where_made(place, other)

    def _keeps_one(self, place: Place) -> bool:
        if place not in self._kept:
            stored = {None if value is None else self._worth(by, value) for by, value in self._stored(place)}
            self._kept[place] = len(stored) == 1 and None not in stored
        return self._kept[place]

    def _keeps_its_own(self, variable: Place) -> bool:
        if variable not in self._own:
            stored = list(self._stored(variable))
            self._own[variable] = bool(stored) and all(
                value is not None and self._is_its_own(by, value, variable, MOST_STEPS) for by, value in stored
            )
        return self._own[variable]

    def _is_its_own(self, function_id: str, expr: Expr, variable: Place, steps: int) -> bool:
        """Whether an expression is what a variable of a package holds: itself, or what has been given that before."""
        source, function = self._symbols.functions[function_id]
        match expr:
            case Name(name=name, scope="global"):
                return source.name == variable.owner and name == variable.name
            case Name(name=name, scope="local") if steps and not function.owner and _is_kept(function, name):
                return self._is_given_it(function_id, name, variable, steps - 1)
            case Attr(base=Name(name=base), name=name) if steps and base == function.own and name[:1].islower():
                place = Place("field", self._symbols.owner_of(function_id), name)
                stored = list(self._stored(place))
                return self._is_always_given(place) and all(
                    value is not None and self._is_its_own(by, value, variable, steps - 1) for by, value in stored
                )
            case _:
                return False

    def _is_given_it(self, function_id: str, name: str, variable: Place, steps: int) -> bool:
        """Whether all who call a function give it for a parameter what a variable holds."""
        function = self._symbols.functions[function_id][1]
        positions = [index for index, each in enumerate(function.parameters) if each.name == name]
        calls = [
            (caller, call)
            for caller, call in self._symbols.called(function.name)
            if self._symbols.meant(caller, call.func) == FunctionValue(function_id)
        ]
        given = [(caller, argument(call, index, name)) for caller, call in calls for index in positions]
        return bool(given) and all(
            value is not None and self._is_its_own(caller, value, variable, steps) for caller, value in given
        )

    def _is_always_given(self, place: Place) -> bool:
        """Whether all literals of a type give its field something, and nobody makes one in another way."""
        made = self._makers.get(place.owner, ())
        return bool(made) and all(
            any(
                isinstance(part, Make) and part.span == span and place.name in dict(part.fields)
                for part in records(self._symbols.functions[maker][1].body)
            )
            for maker, span in made
        )

    def _stored(self, place: Place) -> Iterator[tuple[str, Expr | None]]:
        """All that the package of a variable, or of a field's type, stores there, and by which function.

        None for what is not told.
        """
        module, owner = place.owner.partition(":")[0], place.owner.rpartition(":")[2]
        named = self._named(module)
        for function_id, node in (*named.get(place.name, ()), *named.get("", ())):
            if place.kind == "global" and self._symbols.functions[function_id][1].is_initial:
                continue
            if changes(node, place.kind, place.name):
                is_plain = isinstance(node, Assign) and len(node.targets) == 1 and _is_it(node.targets[0], place)
                yield function_id, node.value if is_plain and isinstance(node, Assign) else None
            elif isinstance(node, Make) and place.kind == "field":
                yield from ((function_id, value) for name, value in node.fields if name == place.name)
                if node.parts and node.type.name == owner:
                    yield function_id, None

    def _named(self, module: str) -> Mapping[str, list[tuple[str, object]]]:
        """What may store in a package's variables and fields, by their names, and "" for literals without names."""
        if module not in self._nodes:
            found: dict[str, list[tuple[str, object]]] = defaultdict(list)
            for function_id, (source, function) in self._symbols.functions.items():
                for node in records(function.body) if source.name == module and source.reported else ():
                    for name in set(_names(node)):
                        found[name].append((function_id, node))
            self._nodes[module] = dict(found)
        return self._nodes[module]

    def _worth(self, function_id: str, expr: Expr, steps: int = MOST_CALLS) -> Worth | None:
        """The constant that an expression is, whenever it is asked."""
        match expr:
            case Const(value=value):
                return None if value is None else (type(value), value)
            case Cast(value=inner):
                return self._worth(function_id, inner, steps)
            case Call(span=span) if steps:
                return self._returned(function_id, span, steps - 1)
            case Name() | Attr():
                meant = self._symbols.meant(function_id, expr)
                constant = self._symbols.constant(meant) if meant is not None else None
                return None if constant is None else (type(constant.value), constant.value)
            case _:
                return None

    def _returned(self, function_id: str, span: Span, steps: int) -> Worth | None:
        """The constant that the one function of the program returns which a call may be of."""
        effects = self._effects[function_id]
        called = [site.callee for site in effects.calls.values() if site.span == span]
        if len(called) != 1 or not isinstance(called[0], str) or span in effects.vague:
            return None
        body = self._symbols.functions[called[0]][1].body
        returned = [node.value for node in records(body) if isinstance(node, Jump) and node.kind == "return"]
        return self._worth(called[0], returned[0], steps) if len(returned) == 1 and returned[0] is not None else None

    def _is_set_where_made(self, place: Place, other: Spot) -> bool:
        """Whether all who make objects of a type give the field its value before they start what leads to an access."""
        made = self._makers.get(place.owner, ())
        return (
            bool(made)
            and not self._readiness.is_made_within(place.owner)
            and all(self._is_set_by(place.name, *each, other.entry.context) for each in made)
        )

    @cached_property
    def _makers(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    def _is_set_by(self, name: str, function: str, made: Span, context: int) -> bool:
        body, effects = self._symbols.functions[function][1].body, self._effects[function]
        literals = [part for part in records(body) if isinstance(part, Make) and part.span == made]
        if any(field == name for literal in literals for field, _ in literal.fields):
            return True
        stored = completing(body, made, name)
        if stored is None or any(start.span[:2] < stored.span[:2] for start in effects.starts.values()):
            return False
        under = self._contexts.started_under
        called = [site.callee for site in effects.calls.values() if site.span[:2] < stored.span[:2]]
        return not any(context in under.get(each, ()) for each in called if isinstance(each, str))


def _names(node: object) -> Iterator[str]:
    """The variables and fields in which a statement or an expression may store something."""
    match node:
        case Make(parts=parts, fields=fields):
            yield from [name for name, _ in fields] + [""] * bool(parts)
        case Assign(targets=found) | Op(operator="address", operands=found):
            yield from [part.name for part in records(found) if isinstance(part, Name | Attr)]
        case Update(target=target) | Loop(target=target):
            yield from [part.name for part in records((target,)) if isinstance(part, Name | Attr)]


def _is_kept(function: Function, parameter: str) -> bool:
    """Whether a parameter holds what it was given: neither its function nor those nested in it assign to it."""
    return not function.bindings.get(parameter) and f"{parameter}()" not in function.bindings


def _is_it(target: Expr, place: Place) -> bool:
    """Whether a target is the variable, or the field, itself."""
    return isinstance(target, Name if place.kind == "global" else Attr) and target.name == place.name
