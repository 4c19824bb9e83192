"""Beginnings: what libraries call only once they have been told to begin: controllers by `mgr.Start` of their manager.

Until then functions set up what they like: what is called comes after all that a program has done before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from racelint.analysis.contexts import Context
from racelint.analysis.effects import Effects
from racelint.analysis.symbols import Symbols
from racelint.model import Attr, Call, Expr, Imported, Item, Name, TypeRef
from racelint.record import records
from racelint.span import Span


class Beginnings:
    """Finds where a program has a library begin, by the method's name and by what its receiver may be."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects]) -> None:
        self._symbols = symbols
        self._effects = effects
        self._known: dict[str, list[tuple[str, Span]]] = {}

    def of(self, context: Context) -> list[tuple[str, Span]]:
        """Where a library may be told to begin before which it calls nothing; none if that is not known.

        There has to be one such place that surely is meant: a receiver of which nothing is known may be one, too.
        """
        if not context.begins:
            return []
        if context.begins not in self._known:
            found = list(self._places(*context.begins.rsplit(".", 1)))
            sure = any(is_sure for _, _, is_sure in found)
            self._known[context.begins] = [(function, span) for function, span, _ in found] if sure else []
        return self._known[context.begins]

    def _places(self, library: str, method: str) -> Iterator[tuple[str, Span, bool]]:
        for function_id, effects in self._effects.items():
            own = {span for span, callee in effects.calls if isinstance(callee, str)}
            body = self._symbols.functions[function_id][1].body
            named = [node for node in records(body) if isinstance(node, Attr) and node.name == method]
            calls = {node.func: node.span for node in records(body) if isinstance(node, Call)} if named else {}
            for node in named:
                is_meant = self._is_of(function_id, node.base, library)
                if is_meant is not False and calls.get(node) not in own:
                    yield function_id, calls.get(node, node.span), bool(is_meant)

    def _is_of(self, function_id: str, expr: Expr, library: str) -> bool | None:
        """Whether an object comes from a library; None if that is not known."""
        match expr:
            case Imported(module=module):
                return self._is_part(module, library)
            case Attr(base=Imported() as base) | Item(base=base) | Call(func=Attr(base=Imported() as base)):
                return self._is_of(function_id, base, library)
            case Name(name=name, scope="local"):
                return self._of_variable(function_id, name, library)
            case _:
                return None

    def _of_variable(self, function_id: str, name: str, library: str) -> bool | None:
        function = self._symbols.functions[function_id][1]
        declared = [p.annotation for p in function.parameters if p.name == name]
        declared += [function.annotations.get(name)]
        found = {self._is_type_of(each, library) for each in declared if each is not None}
        if not found:
            found = {self._is_of(function_id, each, library) for each in function.bindings.get(name, ())}
        return found.pop() if len(found) == 1 else True if True in found else None

    def _is_type_of(self, declared: TypeRef, library: str) -> bool | None:
        if declared.name == "pointer" and declared.args:
            return self._is_type_of(declared.args[0], library)
        return self._is_part(declared.module, library) if declared.module else None

    def _is_part(self, module: str, library: str) -> bool | None:
        """Whether a package is one of a library's; None if it is the program's own."""
        if module in self._packages:
            return None
        return module == library or module.startswith(f"{library}/")

    @cached_property
    def _packages(self) -> frozenset[str]:
        return frozenset([source.name.partition("@")[0] for source, _ in self._symbols.functions.values()])
