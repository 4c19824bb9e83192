"""Presets: constants by their name, with something in them that is to be completed, not changed."""

from __future__ import annotations

from collections.abc import Sequence

from racelint.analysis.sharing import Change
from racelint.analysis.values import Element, Literal, Value
from racelint.knowledge.sharing import Sharing
from racelint.model import Build, Call, Const, Expr, Field, Make, Op

REMOVALS = frozenset({".remove()", ".discard()", ".pop()", "del"})


def is_preset(record: Field, where: str, names: Sharing) -> bool:
    """Whether a variable of a body is a constant by its name, set once, to a container that is not empty.

    What a call gives is one if its name says that it is a default.
    """
    if len(record.values) != 1 or not record.name.strip("_").isupper():
        return False
    assigned = record.values[0]
    value = assigned.value
    if not assigned.function.endswith(where):
        return False
    if isinstance(value, Build):
        return bool(value.parts) and value.kind != "tuple"
    return isinstance(value, Call) and names.says(record.name, "default")


def is_template(record: Field) -> bool:
    """Whether a variable starts with a pointer to an object that has something in it."""
    match [assigned.value for assigned in record.values]:
        case [Op(operator="address", operands=(Make(fields=fields),))]:
            return bool(fields)
        case _:
            return False


def has_part(record: Field, way: Sequence[Value], change: Change, names: Sharing, *, whole: bool) -> bool:
    """Whether a preset has something to be changed where a path leads, and the change is about what it has.

    `whole` says that nothing is put into the preset later.
    """
    value, default = record.values[0].value, names.says(record.name, "default")
    if not isinstance(value, Build):
        return not way or default
    if not way and value.kind == "dict" and not default:
        return False  # a table in which things are registered
    parts = _parts_at(value, way, whole=whole)
    if change.operation in REMOVALS and change.keys and all(isinstance(key, Literal) for key in change.keys):
        keys = [Const(key.value) for key in change.keys if isinstance(key, Literal)]
        parts = [part for part in parts if any(key in (*part.parts, *part.keys) for key in keys)]
    return any(part.parts for part in parts)


def _parts_at(value: Expr, way: Sequence[Value], *, whole: bool) -> list[Build]:
    """The displays within a display to which a path may lead."""
    if not isinstance(value, Build):
        return []
    if not way:
        return [value] if value.kind != "tuple" else []
    step = way[0].key if isinstance(way[0], Element) else None
    keyed = dict(zip(value.keys, value.parts, strict=True)) if value.keys else {}
    named = [part for key, part in keyed.items() if isinstance(step, Literal) and key == Const(step.value)]
    lacks = whole and isinstance(step, Literal) and bool(keyed) and all(isinstance(key, Const) for key in keyed)
    parts = named or (() if lacks else value.parts)
    return [found for part in parts for found in _parts_at(part, way[1:], whole=whole)]
