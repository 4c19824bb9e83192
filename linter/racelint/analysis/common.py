"""Parts in common: what all objects of a type have in a field, because whoever makes them gives each the same.

`conn = Conn(self, sock); Thread(target=conn.serve).start()`: each connection runs on its own, all have one server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.branching import loops_around
from racelint.analysis.symbols import Symbols, argument
from racelint.analysis.turns import PARTS
from racelint.analysis.values import FunctionValue
from racelint.model import Assign, Attr, Call, Const, Expr, Make, Name, Op
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 3  # functions that hand on what an object gets
MOST_GIVEN = 12  # places that make objects of one type


class Given(NamedTuple):
    """An expression whose value an object gets, the function in which it stands, and where the object is made."""

    function: str
    value: Expr
    at: Span


class Common:
    """Answers for fields of types."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[tuple[str, str], bool] = {}
        self._sources: dict[str, frozenset[tuple[str, str]]] = {}

    def givers(self, one: str, two: str) -> set[str]:
        """The functions that give fields of two types, "Type.field", the object of one variable of their own.

        `m := &Metrics{}; go NewReader(m).run(); go NewWriter(m).run()`
        """
        return {function for function, _ in self._variables(one) & self._variables(two)}

    def _variables(self, home: str) -> frozenset[tuple[str, str]]:
        """The variables whose objects a field is given, itself or by what makes its struct, each with its function."""
        if home not in self._sources:
            type_id, _, name = home.rpartition(".")
            given = list(self._given(type_id, name)) if type_id in self._symbols.types else []
            known = [one for one in given if one is not None] if len(given) <= MOST_GIVEN else []
            self._sources[home] = frozenset([found for one in known for found in self._from_variable(one)])
        return self._sources[home]

    def _from_variable(self, given: Given, steps: int = MOST_STEPS) -> Iterator[tuple[str, str]]:
        value = given.value
        if isinstance(value, Op) and value.operator == "address":
            value = value.operands[0]
        if not isinstance(value, Name) or value.scope == "global":
            return
        function = self._symbols.functions[given.function][1]
        names = [parameter.name for parameter in function.parameters]
        if value.name not in names:
            if len(function.bindings.get(value.name, ())) == 1:
                yield given.function, value.name
        elif steps > 0 and not (function.owner and names.index(value.name) == 0):
            for handed in self._handed(given.function, names.index(value.name)):
                yield from self._from_variable(handed, steps - 1)

    def has(self, type_id: str, name: str) -> bool:
        """Whether all that makes objects of a type gives each the same for a field: itself, or what is older."""
        key = (type_id, name)
        if key not in self._known:
            given = list(self._given(type_id, name)) if type_id in self._symbols.types else []
            few = 0 < len(given) <= MOST_GIVEN
            self._known[key] = few and all(one is not None and self._is_from_around(one) for one in given)
        return self._known[key]

    def _given(self, type_id: str, name: str) -> Iterator[Given | None]:
        """What a field is given where objects are made; None for what is stored there elsewhere."""
        source, record = self._symbols.types[type_id]
        if source.module.traits.duck_typed:
            yield from self._by_constructor(type_id, name)
            return
        short, order = type_id.rpartition(":")[2], list(record.fields)
        for function_id, store in self._symbols.stores(name):
            made = store.base
            if not isinstance(made, Make):
                yield None if self._symbols.owner_of(function_id) == type_id else _given(function_id, store.value)
            elif made.type.name.rpartition(".")[2] == short:
                yield Given(function_id, store.value, made.span)
        for function_id, store in self._symbols.stores(""):
            made = store.base
            if isinstance(made, Make) and made.type.name.rpartition(".")[2] == short and name in order:
                parts = made.parts
                yield Given(function_id, parts[order.index(name)], made.span) if len(parts) == len(order) else None

    def _by_constructor(self, type_id: str, name: str) -> Iterator[Given | None]:
        """The same where a constructor stores what it is given."""
        for owner, record in self._symbols.field_records(type_id, name):
            module = owner.partition(":")[0]
            for assigned in record.values:
                function = self._symbols.functions[f"{module}:{assigned.function}"][1]
                names = [parameter.name for parameter in function.parameters]
                value = assigned.value
                if function.name != "__init__" or not isinstance(value, Name) or value.name not in names[1:]:
                    yield None
                    continue
                for made_type in (type_id, *sorted(self._symbols.subtypes(type_id))):
                    for maker, made in self._symbols.constructions(made_type):
                        handed = argument(made.call, names.index(value.name) - 1, value.name)
                        yield Given(maker, handed, made.call.span) if handed is not None else None

    def _is_from_around(self, given: Given, steps: int = MOST_STEPS) -> bool:
        """Whether a value is the maker's own object, or older than the loop that makes one object after the other."""
        function_id, value, at = given
        while isinstance(value, Attr) or (isinstance(value, Op) and value.operator in PARTS):
            value = value.base if isinstance(value, Attr) else value.operands[0]
        if isinstance(value, Const):
            return value.value is None
        if not isinstance(value, Name):
            return False
        if value.scope != "local":
            return True
        function = self._symbols.functions[function_id][1]
        names = [parameter.name for parameter in function.parameters]
        if value.name not in names:
            return self._is_older_than_loop(function_id, value.name, at)
        index = names.index(value.name)
        if index == 0 and function.owner and function.binding == "instance":
            return True
        if self._is_older_than_loop(function_id, value.name, at):
            return True
        handed = list(self._handed(function_id, index))
        return steps > 0 and bool(handed) and all(self._is_from_around(one, steps - 1) for one in handed)

    def _is_older_than_loop(self, function_id: str, name: str, at: Span) -> bool:
        """Whether a spot stands in a loop that does not give a variable its value."""
        body = self._symbols.functions[function_id][1].body
        loops = loops_around(body, at)
        if not loops:
            return False
        outermost = loops[0]
        stored = [stmt.targets for stmt in records(outermost.body) if isinstance(stmt, Assign)]
        stored += [(loop.target,) for loop in loops if loop.target is not None]
        return not any(isinstance(part, Name) and part.name == name for part in records(tuple(stored)))

    def _handed(self, function_id: str, index: int) -> Iterator[Given]:
        """What calls give a function for a parameter."""
        function = self._symbols.functions[function_id][1]
        position = index - (1 if function.owner and function.binding == "instance" else 0)
        for caller, call in self._symbols.called(function.name):
            meant = self._symbols.meant(caller, call.func)
            by_name = meant is None and isinstance(call.func, Attr) and bool(function.owner)
            if by_name or (isinstance(meant, FunctionValue) and meant.function == function_id):
                value = argument(call, position, function.parameters[index].name)
                if value is not None:
                    yield Given(caller, value, call.span)


def _given(function_id: str, value: Expr) -> Given | None:
    """What is stored in an object behind its making: where that stands is where the value stands."""
    span = next((part.span for part in records(value) if isinstance(part, Name | Attr | Call)), None)
    return Given(function_id, value, span) if span is not None else None
