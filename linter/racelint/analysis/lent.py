"""Containers that one object lends another: `Worker(self.jobs)`, whose constructor keeps what it is given."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.types import Types
from racelint.analysis.usage import Usage
from racelint.analysis.values import Field, Fresh, Global, Param, Value, Values
from racelint.model import Assign, Assigned, Attr, Const, Name
from racelint.model import Field as FieldRecord
from racelint.record import records
from racelint.span import Span

CONSTRUCTOR = "__init__"


class Taken(NamedTuple):
    """What a constructor takes: an attribute of a parameter, or that itself (""); and what all calls pass for it."""

    attribute: str
    passed: list[Values]


class Lent:
    """Finds the fields whose container is that of another object's field, or a module's; memoised.

    A constructor stores it once, all calls of it pass the same, and its owner never puts another one in its place.
    """

    def __init__(self, symbols: Symbols, types: Types, usage: Usage | None) -> None:
        self._symbols = symbols
        self._types = types
        self._usage = usage
        self._found: dict[tuple[str, str], tuple[str, str] | Global | None] = {}

    def source(self, owner: str, name: str) -> tuple[str, str] | Global | None:
        """The field (its class and name) or variable whose container a field of a class holds."""
        key = (owner, name)
        if key not in self._found:
            self._found[key] = None  # cut cycles
            self._found[key] = self._source(owner, name)
        return self._found[key]

    @cached_property
    def _stored_outside(self) -> frozenset[str]:
        """The names of attributes that functions store on anything but their own instance."""
        found: set[str] = set()
        for _, function in self._symbols.functions.values():
            for node in [node for node in records(function.body) if isinstance(node, Assign)]:
                stored = [part for part in records(node.targets) if isinstance(part, Attr)]
                found |= {t.name for t in stored if not isinstance(t.base, Name) or t.base.name != function.own}
        return frozenset(found)

    def lock(self, owner: str, name: str) -> tuple[str, str] | None:
        """The field whose lock a field of a class holds: `self.lock = owner.lock`."""
        taken = self._taken(owner, name)
        if taken is None or not taken.attribute:
            return None
        classes = {self._types.class_of(values[0]) if len(values) == 1 else None for values in taken.passed}
        lender = classes.pop() if len(classes) == 1 else None
        return (lender, taken.attribute) if lender is not None and (lender, taken.attribute) != (owner, name) else None

    def _source(self, owner: str, name: str) -> tuple[str, str] | Global | None:
        taken = self._taken(owner, name)
        if taken is None or name in self._stored_outside:
            return None
        found = {self._lender(values, taken.attribute) for values in taken.passed}
        lender = found.pop() if len(found) == 1 else None
        return lender if lender != (owner, name) else None

    def _taken(self, owner: str, name: str) -> Taken | None:
        """What a constructor keeps in a field of what it is given, and does nothing else with either."""
        declared = self._symbols.field(owner, name)
        stored = _stored(declared[1]) if declared is not None else []
        if declared is None or self._usage is None or len(stored) != 1:
            return None
        constructor = f"{declared[0]}.{CONSTRUCTOR}"
        if constructor not in self._symbols.functions or not stored[0].function.endswith(f".{CONSTRUCTOR}"):
            return None
        function = self._symbols.functions[constructor][1]
        names = [parameter.name for parameter in function.parameters]
        match stored[0].value:
            case Name(name=given, scope="local") if given in names:
                attribute = ""
            case Attr(base=Name(name=given, scope="local"), name=attribute) if given in names[1:]:
                pass
            case _:
                return None
        if given in function.bindings:
            return None  # it is another object by now
        return Taken(attribute, self._usage.passed(constructor, names.index(given)))

    def _lender(self, values: Values, attribute: str) -> tuple[str, str] | Global | None:
        """Whose container a constructor is given, itself or as an attribute of what it is given."""
        path: Value | None = values[0] if len(values) == 1 else None
        if path is not None and attribute:
            path = Field(path, attribute)
        if path is None or self._types.container(path) is None:
            return None
        match path:
            case Global(module=module, name=name):
                record = self._symbols.content(module).globals.get(name)
                kept = record is not None and all(each.function == MODULE for each in _stored(record))
                return path if kept else None
            case Field(base=Param() as base, name=name) if self._symbols.is_instance(base):
                owner = self._types.class_of(base)
                return (owner, name) if owner is not None and self._is_kept(owner, name) else None
            case Fresh(site=site):
                owner = self._symbols.owner_of(site.function)
                fields = self._symbols.types[owner][1].fields if owner in self._symbols.types else {}
                made = [name for name, record in fields.items() if _is_made_at(record, site.span)]
                return (owner, made[0]) if len(made) == 1 and self._is_kept(owner, made[0]) else None
            case _:
                return None

    def _is_kept(self, owner: str, name: str) -> bool:
        """Whether what is in a field when the object is made stays there."""
        declared = self._symbols.field(owner, name)
        stored = _stored(declared[1]) if declared is not None else []
        if name in self._stored_outside:
            return False
        return bool(stored) and all(each.function.endswith((f".{CONSTRUCTOR}", "<body>")) for each in stored)


def _is_made_at(record: FieldRecord, span: Span) -> bool:
    return any(getattr(assigned.value, "span", None) == span for assigned in record.values)


def _stored(record: FieldRecord) -> list[Assigned]:
    return [assigned for assigned in record.values if assigned.value != Const(None)]
