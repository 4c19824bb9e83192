"""Fixed parameters: what all calls in a program give a function as one and the same constant.

`func (l *lock) Acquire(timeout int)`, which every call gives 0: what stands behind `if timeout != 0 { go l.expire() }`
is never done. So it is with a method that is called by an interface: all calls by its name count.
"""

from __future__ import annotations

from racelint.analysis.importing import Importing
from racelint.analysis.symbols import MODULE, Symbols, argument
from racelint.analysis.type_names import project_class
from racelint.analysis.types import Types
from racelint.analysis.values import FunctionValue
from racelint.model import Attr, Call, Cast, Expr, Name, Parameter, Scalar
from racelint.model import Const as Constant
from racelint.record import records

MOST_STEPS = 3  # parameters by which a constant is handed on
Constants = frozenset[Constant]
UNKNOWN: Constants = frozenset()


class FixedParameters:
    """Answers what a parameter may be, if all calls are known."""

    def __init__(self, symbols: Symbols, types: Types, importing: Importing) -> None:
        self._symbols = symbols
        self._types = types
        self._importing = importing
        self._known: dict[tuple[str, str], Constants] = {}
        self._handed_on: dict[str, bool] = {}

    def options(self, function_id: str, name: str, steps: int = MOST_STEPS) -> Constants:
        """The constants that a function is given for a parameter that it keeps; none if it may be anything else."""
        key = (function_id, name)
        if key not in self._known:
            self._known[key] = UNKNOWN  # as long as it is given by itself
            self._known[key] = self._find(function_id, name, steps)
        return self._known[key]

    def _find(self, function_id: str, name: str, steps: int) -> Constants:
        function = self._symbols.functions[function_id][1]
        given = function.parameters[1:] if function.owner and function.binding != "none" else function.parameters
        index = next((index for index, each in enumerate(given) if each.name == name), None)
        if index is None or name in function.bindings or f"{name}()" in function.bindings:
            return UNKNOWN
        if not self._are_calls_known(function_id) or any(each.kind == "variadic" for each in given):
            return UNKNOWN
        found: Constants = UNKNOWN
        for caller, call in self._symbols.called(function.name):
            if not self._may_mean(caller, call, function_id, given):
                continue
            constants = self._constants(caller, argument(call, index, name), steps)
            if not constants:
                return UNKNOWN
            found |= constants
        return found

    def _are_calls_known(self, function_id: str) -> bool:
        """Whether nobody else calls a function than who names it in a call."""
        source, function = self._symbols.functions[function_id]
        if function.parent not in (None, MODULE) or source.module.traits.duck_typed:
            return False
        if function.name[:1].isupper() and not self._importing.programs(source.name):
            return False  # of a library
        if function.name not in self._handed_on:
            self._handed_on[function.name] = self._is_handed_on(function.name)
        return not self._handed_on[function.name]

    def _is_handed_on(self, name: str) -> bool:
        """Whether something by a name is more than called anywhere."""
        for source, function in self._symbols.functions.values():
            if name not in source.module.mentions:
                continue
            parts = list(records(function.body))
            called = {part.func.span for part in parts if isinstance(part, Call) and isinstance(part.func, Attr | Name)}
            named = (part for part in parts if isinstance(part, Attr | Name) and part.name == name)
            if any(part.span not in called for part in named):
                return True
        return False

    def _may_mean(self, caller: str, call: Call, function_id: str, given: tuple[Parameter, ...]) -> bool:
        """Whether a call may be one of a function: it is not surely one of another."""
        meant = self._symbols.meant(caller, call.func)
        if meant is not None:
            return meant == FunctionValue(function_id)
        if len(call.args) != len(given) and not (len(call.args) == 1 and isinstance(call.args[0], Call)):
            return False
        if not isinstance(call.func, Attr):
            return True
        owner = project_class(self._types.expressions.of(caller, call.func.base))
        if owner is None or owner not in self._symbols.types or not self._symbols.types[owner][1].fields:
            return True
        found = self._symbols.method(owner, call.func.name)
        return found is None or found == function_id

    def _constants(self, function_id: str, value: Expr | None, steps: int) -> Constants:
        match value:
            case Constant():
                return frozenset({value})
            case Cast(value=inner):
                return self._constants(function_id, inner, steps)
            case Name(name=name, scope="local") if steps and self._takes(function_id, name):
                return self.options(function_id, name, steps - 1)
            case Name() | Attr():
                meant = self._symbols.meant(function_id, value)
                found = self._symbols.constant(meant) if meant is not None else None
                return frozenset({Constant(found.value)}) if found is not None else UNKNOWN
            case _:
                return UNKNOWN

    def _takes(self, function_id: str, name: str) -> bool:
        return any(each.name == name for each in self._symbols.functions[function_id][1].parameters)


def values(constants: Constants, kind: type) -> frozenset[Scalar]:
    """What constants are worth, if all are of one type."""
    found = [each.value for each in constants]
    return frozenset(found) if all(isinstance(each, kind) for each in found) else frozenset()
