"""Locks that annotations name: from a dotted name, seen from where it stands, to the lock that the analysis knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.places import ANY_LOCK, ASYNC, Places
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import ClassType, LibraryType, TypeOf
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, Captured, Global, ModuleValue, Param, TypeValue, Value
from racelint.knowledge import Knowledge

INSTANCE = frozenset({"self", "cls", "this"})  # what methods call their own object, if the type has none
PLAIN = frozenset({"None", "bool", "bytes", "float", "function", "int", "int32", "int64", "str", "string", "uint64"})
OWN = (("acquire", "release"), ("__enter__", "__exit__"), ("__aenter__", "__aexit__"), ("Lock", "Unlock"))


class Scope(NamedTuple):
    """Where a name stands: in a module, beside what belongs to a type or to a function, if it does."""

    module: str
    type: str = ""
    function: str = ""


class Named(NamedTuple):
    """A lock as `Places.lock` names it ("" if it cannot be followed), or why there is none."""

    lock: str
    problem: str = ""


class LockNames:
    """Finds the locks."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge, places: Places) -> None:
        self._symbols = symbols
        self._types = types
        self._concurrency = knowledge.concurrency
        self._knowledge = knowledge
        self._places = places

    def find(self, scope: Scope, name: tuple[str, ...]) -> Named:
        """The lock of a dotted name."""
        first, *rest = name
        for owner in self._around(scope):
            if self._has(owner, first):
                return self._member(owner, list(name))
            if rest and first in self._instance_names(owner):
                return self._member(owner, rest)
        for value in (*self._local(scope, first), self._symbols.attribute(scope.module, first)):
            if value is not None:
                return self._of(value, first, rest)
        module = self._symbols.content(scope.module)
        if rest and not module.traits.duck_typed:  # of a package, or what methods elsewhere call their object
            return next((self._member(o, rest) for o in self._around(scope) if self._has(o, rest[0])), Named(""))
        if any([self._symbols.is_open(owner) for owner in self._around(scope)]):
            return Named(f"{ANY_LOCK}.{name[-1]}")
        if any([self._is_below(owner, first) for owner in self._around(scope)]):
            return Named(f"{ANY_LOCK}.{name[-1]}")
        owners = [owner.rpartition(":")[2] for owner in self._around(scope)]
        whole = "package" if module.package else "module"
        where = f"neither {owners[0]} nor its {whole} has" if owners else f"nothing in the {whole} has"
        return Named("", f"{where} the name {first}")

    # --- what a name begins with --------------------------------------------------------------------------------------

    def _around(self, scope: Scope) -> Iterator[str]:
        """The type at hand, and those around it."""
        module, _, name = scope.type.partition(":")
        while name:
            if f"{module}:{name}" in self._symbols.types:
                yield f"{module}:{name}"
            name = name.rpartition(".")[0]

    def _instance_names(self, owner: str) -> frozenset[str]:
        source, record = self._symbols.types[owner]
        methods = [self._symbols.functions.get(f"{source.name}:{qualname}") for qualname in record.methods.values()]
        given = [known[1].parameters[0].name for known in methods if known is not None and known[1].parameters]
        return INSTANCE | frozenset(given)

    def _local(self, scope: Scope, name: str) -> Iterator[Value]:
        """A parameter of the function at hand, or a variable of one around it."""
        if not scope.function:
            return
        function = self._symbols.functions[scope.function][1]
        if name in function.bindings or name in function.annotations:
            yield Captured(scope.function, name)
        for index, parameter in enumerate(function.parameters):
            if parameter.name == name:
                yield Param(scope.function, index)
        binder = self._types.binder(scope.function, name)
        if binder is not None and not binder.endswith(f":{MODULE}"):
            yield Captured(binder, name)

    # --- members ------------------------------------------------------------------------------------------------------

    def _has(self, owner: str, name: str) -> bool:
        return (
            self._symbols.field(owner, name) is not None
            or bool(self._symbols.embedding.chain(owner, name))
            or self._symbols.method(owner, name) is not None
        )

    def _is_below(self, owner: str, name: str) -> bool:
        """Whether a class that inherits from the one at hand has a name."""
        return any([self._has(below, name) for below in sorted(self._symbols.subtypes(owner))])

    def _member(self, owner: str, names: list[str]) -> Named:
        """A lock by the fields that lead to it."""
        *outer, last = names
        for name in outer:
            inner = self._types.member(owner, name) if self._has(owner, name) else None
            if not isinstance(inner, ClassType):
                return self._missing(owner, name) if not self._has(owner, name) else Named(f"{ANY_LOCK}.{last}")
            owner = inner.type
        if not self._has(owner, last):
            return self._missing(owner, last)
        method = self._symbols.method(owner, last) if self._symbols.field(owner, last) is None else None
        if method is not None:
            is_property = self._symbols.functions[method][1].is_property
            return Named(ANY_LOCK) if is_property else Named("", f"{last} is a method, which is no lock")
        for part in self._symbols.embedding.chain(owner, last):
            inner = self._types.field(owner, part)
            if not isinstance(inner, ClassType):
                return Named("")
            owner = inner.type
        return self._checked(self._places.lock_of_field(owner, last), last, self._types.field(owner, last))

    def _missing(self, owner: str, name: str) -> Named:
        if self._symbols.is_open(owner) or self._is_below(owner, name) or name in self._symbols.stored_from_outside:
            return Named(f"{ANY_LOCK}.{name}")
        return Named("", f"{owner.rpartition(':')[2]} has no {name}")

    def _of(self, value: Value, first: str, rest: list[str]) -> Named:
        """A lock by what a name stands for, and the fields from there."""
        while rest and isinstance(value, ModuleValue):
            module, first, *rest = value.module, *rest
            found = self._symbols.attribute(module, first)
            if found is None:
                return Named("", f"{module} has no {first}")
            value = found
        match value:
            case Builtin():
                return Named("")
            case TypeValue(type=owner) if rest:
                return self._member(owner, rest)
            case Param() | Captured() | Global() if rest:
                owner_type = self._types.class_of(value)
                return self._member(owner_type, rest) if owner_type else Named(f"{ANY_LOCK}.{rest[-1]}")
            case Param() | Captured() | Global():
                return self._checked(self._places.lock(value), first, self._types.of(value))
            case _:
                return Named("", f"{first} is no lock")

    # --- locks --------------------------------------------------------------------------------------------------------

    def _checked(self, lock: str, name: str, found: TypeOf | None) -> Named:
        """A lock, unless its type is known to be none."""
        match found:
            case LibraryType(name=library):
                row = self._concurrency.locks.get(library)
                if row is not None:
                    mark = ASYNC if row.kind == "async" else ""
                    return Named("" if row.kind == "counted" else f"{mark}{lock}")
                known = self._knowledge.container(library) or library in self._concurrency.safe or library in PLAIN
                return Named("", f"{name} is a {library}, which is no lock") if known else Named(lock)
            case ClassType(type=type_id) if not self._may_exclude(type_id):
                return Named("", f"{name} is a {type_id.rpartition(':')[2]}, which is no lock")
            case _:
                return Named(lock)

    def _may_exclude(self, type_id: str) -> bool:
        """Whether objects of a class of the project may be locks."""
        record = self._symbols.types[type_id][1]
        if record.is_interface or record.underlying is not None or record.embedded or self._symbols.is_open(type_id):
            return True
        if any(
            [isinstance(a, Builtin) and a.name in self._concurrency.locks for a in self._symbols.ancestors(type_id)]
        ):
            return True
        return any([all([self._symbols.method(type_id, name) for name in pair]) for pair in OWN])
