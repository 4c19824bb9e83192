"""Shells: objects of libraries whose state is all in another object, over which they are made.

`rand.New(&lockedSource{})`: a generator is as safe as its source, and one that locks itself is safe for two at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from racelint.analysis.arriving import Arriving, Given, Kept, Origin, Source, Variable
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import ClassType, LibraryType
from racelint.analysis.values import Builtin, Global, ModuleValue, Param, TypeValue, Value
from racelint.knowledge import Knowledge, UnsafeRow
from racelint.model import Assign, Attr, Call, Expr, Function, Name
from racelint.record import records

if TYPE_CHECKING:
    from racelint.analysis.types import Types


class Shells(Arriving):
    """Follows what is stored where such an object is found, and then what each was made over."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        super().__init__(symbols, types)
        self._knowledge = knowledge
        self._makers = {name for row in knowledge.unsafe.values() for name in row.over}
        self._shells = {name for name, row in knowledge.unsafe.items() if row.over}
        self._safe: dict[str, bool] = {}

    def is_safe(self, value: Value, row: UnsafeRow, method: str) -> bool:
        """Whether all that a method of an object changes is in what it was made over, which locks itself."""
        if not row.over or row.keeps(method):
            return False
        start = value if isinstance(value, Global) else self._start(value)
        origins = self._origins(start) if start is not None else None
        return bool(origins) and all([self._locks_itself(origin) for origin in origins or ()])

    def _locks_itself(self, origin: Origin) -> bool:
        if isinstance(origin, Builtin):
            return origin.name in self._knowledge.concurrency.safe
        if not isinstance(origin, TypeValue):
            return False
        if origin.type not in self._safe:
            methods = self._symbols.types[origin.type][1].methods
            found = [
                self._symbols.functions.get(f"{origin.type.partition(':')[0]}:{each}") for each in methods.values()
            ]
            self._safe[origin.type] = bool(found) and all(
                [each is not None and self._takes_own_lock(origin.type, each[1]) for each in found]
            )
        return self._safe[origin.type]

    def _takes_own_lock(self, type_id: str, method: Function) -> bool:
        """Whether a method takes a lock that is a part of its object."""
        calls = [node.func for node in records(method.body) if isinstance(node, Call)]
        return any([isinstance(func, Attr) and self._is_own_lock(type_id, method.own, func) for func in calls])

    def _is_own_lock(self, type_id: str, own: str, taken: Attr) -> bool:
        """Whether `own.mu.Lock` or, of an embedded one, `own.Lock` takes the side of a lock that excludes itself."""
        match taken.base:
            case Attr(base=Name(name=base), name=field) if base == own:
                fields = [field]
            case Name(name=base) if base == own:
                fields = list(self._symbols.types[type_id][1].embedded)
            case _:
                return False
        kinds = [self._types.field(type_id, field) for field in fields]
        rows = [self._knowledge.concurrency.locks.get(k.name) for k in kinds if isinstance(k, LibraryType)]
        return any([row is not None and taken.name in set(row.take) - set(row.share) for row in rows])

    # --- what arrives -------------------------------------------------------------------------------------------------

    def _before(self, source: Given | Kept | Variable | Param | Global) -> list[Source] | None:
        return self._put_into(source) if isinstance(source, Global) else super()._before(source)

    def _put_into(self, variable: Global) -> list[Source] | None:
        """What is assigned to a module's variable, there or by others."""
        module, name = variable.module, variable.name
        record = self._symbols.content(module).globals.get(name)
        if record is None:
            return None
        values = [(f"{module}:{each.function}", each.value) for each in record.values]
        values += self._assigned_within(module, name)
        for function_id, store in self._symbols.stores(name):
            if self._symbols.meant(function_id, store.base) == ModuleValue(module):
                values.append((function_id, store.value))
        return [Given(*each) for each in values] or None

    def _assigned_within(self, module: str, name: str) -> Iterator[tuple[str, Expr]]:
        """What the functions of a module assign to its variable."""
        for qualname, function in self._symbols.content(module).functions.items():
            for node in records(function.body):
                if isinstance(node, Assign) and any([_is_named(target, name) for target in node.targets]):
                    yield f"{module}:{qualname}", node.value

    def _type(self, found: object) -> Origin | None:
        """A shell's own type says nothing."""
        if isinstance(found, LibraryType) and found.name in self._shells:
            return None
        return super()._type(found) if isinstance(found, ClassType | LibraryType) else None

    def _behind(self, function_id: str, expr: Expr, part: int | None) -> list[Source] | None:
        if isinstance(expr, Call):
            made = self._symbols.meant(function_id, expr.func)
            if isinstance(made, Builtin) and made.name in self._makers:
                return [Given(function_id, expr.args[0])] if len(expr.args) == 1 else None
        return super()._behind(function_id, expr, part)


def _is_named(target: Expr, variable: str) -> bool:
    """Whether what is assigned to is a module's variable."""
    return isinstance(target, Name) and target.name == variable and target.scope == "global"
