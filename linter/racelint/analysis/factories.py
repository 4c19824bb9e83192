"""Factories of default mappings: what one gives by a key that it lacks, `defaultdict(dict)`."""

from __future__ import annotations

from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Field, Global, TypeValue, Value
from racelint.model import Call, Expr, Name
from racelint.model import Field as FieldRecord

EMPTY = frozenset({"dict", "list"})  # what makes something in which there is no item


def gives_empty(mapping: Value, symbols: Symbols, types: Types) -> bool:
    """Whether what a field or variable holds gives only what has nothing in it."""
    record = _record(mapping, symbols, types)
    return record is not None and bool(record.values) and all(_is_empty(each.value) for each in record.values)


def _record(mapping: Value, symbols: Symbols, types: Types) -> FieldRecord | None:
    match mapping:
        case Global(module=module, name=name):
            return symbols.content(module).globals.get(name)
        case Field(base=base, name=name):
            owner = base.type if isinstance(base, TypeValue) else types.class_of(base)
            declared = symbols.field(owner, name) if owner else None
            return declared[1] if declared is not None else None
        case _:
            return None


def _is_empty(made: Expr) -> bool:
    match made:
        case Call(args=(Name(name=name, scope="global"), *_)):
            return name in EMPTY
        case _:
            return False
