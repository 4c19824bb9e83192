"""Conversions: whether objects of a type are put where another type is written, as what takes an interface.

`func add(m Manager, r Reconciler) error`, called as `add(m, &controller{})`: who is given a `Reconciler` there may give
it to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.product import Product
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import project_class
from racelint.analysis.types import Types
from racelint.analysis.values import FunctionValue
from racelint.model import Build, Call, Expr, Make, Name, TypeRef
from racelint.record import records


class Conversions:
    """Looks through the functions that can name a type; for few types, as it looks at all that these say."""

    def __init__(self, symbols: Symbols, types: Types, product: Product) -> None:
        self._symbols = symbols
        self._types = types
        self._product = product
        self._known: dict[str, bool] = {}

    def hide(self, type_id: str) -> bool:
        """Whether an object of a type may be known by another one: as an argument, a part, or a result."""
        if type_id not in self._known:
            functions = [each for each in self._product.effects if self._can_name(each, type_id)]
            self._known[type_id] = any([self._converts(each, type_id) for each in functions])
        return self._known[type_id]

    def _can_name(self, function_id: str, type_id: str) -> bool:
        source, module = self._symbols.functions[function_id][0], type_id.partition(":")[0]
        return source.name == module or any([each.module == module for each in source.module.imports.values()])

    def _converts(self, function_id: str, type_id: str) -> bool:
        return any(
            self._is_of(function_id, expr, type_id) and not self._says(where, written, type_id)
            for expr, where, written in self._given(function_id)
        )

    def _given(self, function_id: str) -> Iterator[tuple[Expr, str, TypeRef | None]]:
        """What a function gives away, each with the type that is written there and the function that can read it."""
        function = self._symbols.functions[function_id][1]
        for expr in function.bindings.get("return", ()):
            for part in expr.parts if isinstance(expr, Build) else (expr,):
                yield part, function_id, function.returns
        for node in records(function.body):
            if isinstance(node, Call):
                yield from self._arguments(function_id, node)
            elif isinstance(node, Make):
                yield from [(part, function_id, node.type) for part in node.parts]
                owner = project_class(self._types.expressions.of(function_id, node))
                for name, part in node.fields:
                    declared = self._symbols.field(owner, name) if owner else None
                    written = declared[1].annotation if declared else None
                    yield part, self._reader(declared[0]) if declared else function_id, written

    def _reader(self, type_id: str) -> str:
        """The top level of the module of a type, which reads names as that does."""
        return f"{type_id.partition(':')[0]}:{MODULE}"

    def _arguments(self, function_id: str, call: Call) -> Iterator[tuple[Expr, str, TypeRef | None]]:
        """What a call gives, but for what a variable holds: a function that takes a type says so where it is made."""
        if isinstance(call.func, Name) and call.func.scope in ("local", "captured"):
            return
        callee = self._symbols.meant(function_id, call.func)
        if not isinstance(callee, FunctionValue):
            yield from [(arg, function_id, None) for arg in call.args]
            return
        function = self._symbols.functions[callee.function][1]
        parameters = function.parameters[1 if function.owner else 0 :]
        for index, arg in enumerate(call.args):
            written = parameters[min(index, len(parameters) - 1)].annotation if parameters else None
            yield arg, callee.function, written

    def _is_of(self, function_id: str, expr: Expr, type_id: str) -> bool:
        return project_class(self._types.expressions.of(function_id, expr)) == type_id

    def _says(self, function_id: str, written: TypeRef | None, type_id: str) -> bool:
        """Whether a written type is a type, a pointer to it, or made of it."""
        if written is None:
            return False
        if project_class(self._types.annotations.declared(function_id, written)) == type_id:
            return True
        return any([self._says(function_id, each, type_id) for each in written.args])
