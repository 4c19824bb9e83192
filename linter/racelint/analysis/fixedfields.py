"""Fixed fields: what every maker of an object gives one constant, and nobody changes; and fixed parameters.

`func (p *plugin) newCall() *call { return p.newCallFor(0) }`, where `newCallFor` alone makes calls, with its parameter
as their `timeout`: what stands behind `if c.timeout > 0 { go watch() }` is never done.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cached_property

from racelint.analysis.branching import arms
from racelint.analysis.contexts import Context
from racelint.analysis.effects import Effects, where_made
from racelint.analysis.fixedparameters import FixedParameters, values
from racelint.analysis.nilmaps import may_set
from racelint.analysis.settled_tests import SettledTests
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import project_class
from racelint.analysis.types import Types
from racelint.model import Attr, Const, Expr, Logic, Make, Name, Op, Scalar
from racelint.record import records
from racelint.span import Span

COMPARED: Mapping[str, Callable[[object, object], bool]] = {"==": operator.eq, "!=": operator.ne}
ORDERED: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
PLAIN = frozenset(
    {"bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "string"}
)
ZEROS: Mapping[type, Scalar] = {bool: False, int: 0, str: ""}
Options = frozenset[Scalar]
UNKNOWN: Options = frozenset()


class FixedFields:
    """Answers whether tests of such fields always come out the other way than where an access is."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], types: Types, is_made_within: Callable[[str], bool],
        parameters: FixedParameters,
    ) -> None:  # fmt: skip
        """`is_made_within` tells whether structs of a type are parts of others, made with them."""
        self._symbols = symbols
        self._effects = effects
        self._types = types
        self._is_made_within = is_made_within
        self._parameters = parameters
        self._ruled_out: dict[tuple[str, Span], bool] = {}
        self._known: dict[tuple[str, str, type], Options] = {}

    def rule_out(self, spot: Spot, context: Context) -> bool:
        """Whether an access, or the start of its context, stands where no test ever leads."""
        if not self._symbols.is_ordered_by_steps(spot.function):
            return False
        if self._is_ruled_out(spot.function, spot.access.span):
            return True
        starter, span = context.starter, context.span
        return starter is not None and span is not None and self._is_ruled_out(starter, span)

    def _is_ruled_out(self, function: str, span: Span) -> bool:
        key = (function, span)
        if key not in self._ruled_out:
            body = self._symbols.functions[function][1].body
            self._ruled_out[key] = any(
                self._outcome(function, branch.test) is (arm != 0) for branch, arm in arms(body, span, turns=True)
            )
        return self._ruled_out[key]

    def _outcome(self, function: str, test: Expr) -> bool | None:
        """How a test always comes out; None if that is not known."""
        match test:
            case Attr() | Name():
                found = {bool(each) for each in self._options(function, test, bool)}
            case Op(operator="not", operands=(operand,)):
                inner = self._outcome(function, operand)
                return None if inner is None else not inner
            case Op(operator=known, operands=(Attr() | Name() as one, Const(value=bool() | int() | str() as value))):
                options = self._options(function, one, type(value))
                found = {_compare(known, each, value) for each in options} if _is_known(known, value) else set()
            case Logic(operator=known, operands=operands):
                outcomes = {self._outcome(function, each) for each in operands}
                decisive = known == "or"
                return decisive if decisive in outcomes else None if None in outcomes else not decisive
            case _:
                return None
        return found.pop() if len(found) == 1 else None

    def _options(self, function: str, field: Attr | Name, kind: type) -> Options:
        """What a parameter, or a field of an object, may be, if all that is known by its type."""
        if isinstance(field, Name):
            is_own = field.scope == "local"
            return values(self._parameters.options(function, field.name), kind) if is_own else UNKNOWN
        owner = project_class(self._types.expressions.of(function, field.base))
        if owner is None or owner not in self._symbols.types:
            return UNKNOWN
        key = (owner, field.name, kind)
        if key not in self._known:
            self._known[key] = self._find(owner, field.name, kind)
        return self._known[key]

    def _find(self, owner: str, name: str, kind: type) -> Options:
        """What all makers of a type's objects give a field; nothing if that is not known, or somebody changes it.

        A field that other packages, and what decodes an object, may set has to be told in each literal, beside others
        that only the package knows.
        """
        record, made = self._symbols.types[owner][1], self._made.get(owner, ())
        hidden = not name[:1].isupper()
        field = record.fields.get(name)
        if (
            field is None
            or field.annotation is None
            or (not hidden and all(each[:1].isupper() for each in record.fields))
        ):
            return UNKNOWN
        plain = hidden and field.annotation.name in PLAIN
        if not made or self._is_made_within(owner) or self._tests.is_changed(name):
            return UNKNOWN
        found: Options = UNKNOWN
        for function, span in made:
            given = self._given(function, span, name, kind, plain=plain)
            if not given:
                return UNKNOWN
            found |= given
        return UNKNOWN if self._may_set(name, owner) else found

    def _given(self, function: str, span: Span, name: str, kind: type, *, plain: bool) -> Options:
        """What a function gives a field of the object that it makes at a spot; the zero value, if it is `plain`."""
        literals = [
            part
            for part in records(self._symbols.functions[function][1].body)
            if isinstance(part, Make) and part.span == span
        ]
        if any(literal.parts for literal in literals):
            return UNKNOWN
        values = [value for literal in literals for field, value in literal.fields if field == name]
        if not values:
            return frozenset({ZEROS[kind]}) if plain and kind in ZEROS else UNKNOWN
        return self._constants(function, values[0], kind)

    def _constants(self, function_id: str, value: Expr, kind: type) -> Options:
        """What a value may be: a constant, or a parameter of a function that its package alone calls."""
        if isinstance(value, Const):
            return frozenset({value.value}) if isinstance(value.value, kind) else UNKNOWN
        source, function = self._symbols.functions[function_id]
        names = [parameter.name for parameter in function.parameters]
        if not isinstance(value, Name) or value.name not in names or value.name in function.bindings:
            return UNKNOWN
        if function.name[:1].isupper() and (function.owner or "X")[:1].isupper() and source.module.package != "main":
            return UNKNOWN
        found = [each.value for each in self._types.constants(function_id, names.index(value.name))]
        return frozenset(found) if all(isinstance(each, kind) for each in found) else UNKNOWN

    @cached_property
    def _made(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    @cached_property
    def _tests(self) -> SettledTests:
        return SettledTests(self._effects, late=True)

    def _may_set(self, name: str, owner: str) -> bool:
        """Whether somebody says where a field of a name lies, or a loop or an update gives it something."""
        module = None if name[:1].isupper() else owner.partition(":")[0]
        bodies = [
            function.body
            for source, function in self._symbols.functions.values()
            if module in (None, source.name) and name in source.module.mentions
        ]
        return any(may_set(node, name) for node in records(tuple(bodies)))


def _is_known(known: str, value: Scalar) -> bool:
    return known in COMPARED or (known in ORDERED and isinstance(value, int))


def _compare(known: str, one: Scalar, other: Scalar) -> bool:
    if known in COMPARED:
        return COMPARED[known](one, other)
    return isinstance(one, int) and isinstance(other, int) and ORDERED[known](one, other)
