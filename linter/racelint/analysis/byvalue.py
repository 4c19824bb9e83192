"""Fields that hold a value itself, no pointer to one: whoever has made the struct has made these, too."""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.paths import prefixes
from racelint.analysis.types import ClassType, LibraryType, Types
from racelint.analysis.values import Field, Value

PLAIN = frozenset({
    "bool", "byte", "complex64", "complex128", "float32", "float64", "int", "int8", "int16", "int32", "int64", "rune",
    "string", "uint", "uint8", "uint16", "uint32", "uint64",
})  # fmt: skip


def is_inline(path: Value, types: Types, parts: Set[str]) -> bool:
    """Whether a field surely holds a value itself; `parts` are names of fields of libraries that hold structs."""
    if not isinstance(path, Field):
        return False
    found = types.of(path)
    if isinstance(found, LibraryType):
        return not found.pointer and (found.name in PLAIN or path.name in parts)
    return isinstance(found, ClassType) and found.value


def lies_in(target: Value, outer: Value, types: Types, parts: Set[str]) -> bool:
    """Whether what a path leads to is a part of an outer object's own memory: only such fields lead there."""
    way = prefixes(target)[len(prefixes(outer)) :]
    return bool(way) and all([is_inline(step, types, parts) for step in way])
