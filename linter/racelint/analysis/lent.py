"""Containers that one object lends another: `Worker(self.jobs)`, whose constructor keeps what it is given."""

from __future__ import annotations

from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.usage import Usage
from racelint.analysis.values import Field, Fresh, Global, Param, Value, Values
from racelint.model import Assigned, Attr, Const, Name
from racelint.model import Field as FieldRecord
from racelint.span import Span

CONSTRUCTOR = "__init__"


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

    def _source(self, owner: str, name: str) -> tuple[str, str] | Global | None:
        declared = self._symbols.field(owner, name)
        stored = _stored(declared[1]) if declared is not None else []
        if declared is None or self._usage is None or len(stored) != 1:
            return None
        constructor = f"{declared[0]}.{CONSTRUCTOR}"
        if constructor not in self._symbols.functions or not stored[0].function.endswith(f".{CONSTRUCTOR}"):
            return None
        names = [parameter.name for parameter in self._symbols.functions[constructor][1].parameters]
        match stored[0].value:
            case Name(name=given, scope="local") if given in names:
                attribute = ""
            case Attr(base=Name(name=given, scope="local"), name=attribute) if given in names[1:]:
                pass
            case _:
                return None
        passed = self._usage.passed(constructor, names.index(given))
        found = {self._lender(values, attribute) for values in passed}
        lender = found.pop() if len(found) == 1 else None
        return lender if lender != (owner, name) else None

    def _lender(self, values: Values, attribute: str) -> tuple[str, str] | Global | None:
        """Whose container a constructor is given, itself or as an attribute of what it is given."""
        path: Value | None = values[0] if len(values) == 1 else None
        if path is not None and attribute:
            path = Field(path, attribute)
        if path is None or self._types.container(path) is None:
            return None
        match path:
            case Global():
                return path
            case Field(base=Param() as base, name=name) if self._symbols.is_instance(base):
                owner = self._types.class_of(base)
                return (owner, name) if owner is not None and self._is_kept(owner, name) else None
            case Fresh(site=site):
                owner = self._symbols.owner_of(site.function)
                fields = self._symbols.types[owner][1].fields if owner in self._symbols.types else {}
                kept = [name for name, record in fields.items() if _is_made_at(record, site.span)]
                return (owner, kept[0]) if len(kept) == 1 and self._is_kept(owner, kept[0]) else None
            case _:
                return None

    def _is_kept(self, owner: str, name: str) -> bool:
        """Whether what is in a field when the object is made stays there."""
        declared = self._symbols.field(owner, name)
        stored = _stored(declared[1]) if declared is not None else []
        return bool(stored) and all(each.function.endswith((f".{CONSTRUCTOR}", "<body>")) for each in stored)


def _is_made_at(record: FieldRecord, span: Span) -> bool:
    return any(getattr(assigned.value, "span", None) == span for assigned in record.values)


def _stored(record: FieldRecord) -> list[Assigned]:
    return [assigned for assigned in record.values if assigned.value != Const(None)]
