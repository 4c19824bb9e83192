"""Memos: what the decorators of a function that remembers its results say of what its callers get."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.summaries import Summaries
from racelint.analysis.values import FunctionValue, Global, TypeValue, Value
from racelint.model import Attr, Call, Expr, Name
from racelint.record import records

MOST_STEPS = 4  # from a decorator to what keeps the results: its class, what makes a store, the store, its class


class Memos:
    """Answers for functions that have such decorators."""

    def __init__(self, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._readers = summaries.knowledge.sharing.names("reads-back")
        self._copying: dict[str, bool] = {}

    def is_of_object(self, function_id: str) -> bool:
        """Whether a function is a property that each object remembers of itself: `cached_property`."""
        return any(isinstance(d, Attr | Name) and d.name.endswith("cached_property") for d in self._named(function_id))

    def may_copy(self, function_id: str) -> bool:
        """Whether a decorator of the project comes to a store that reads anew what was written: `json.loads(text)`.

        Which of several stores it takes is mostly said by a text, or by the configuration.
        """
        known = self._copying.get(function_id)
        if known is None:
            source = self._symbols.functions[function_id][0].name if function_id in self._symbols.functions else ""
            found = [self._symbols.static(source, named) for named in self._named(function_id)]
            known = self._copying[function_id] = any([self._reads_back(value) for value in found])
        return known

    def _named(self, function_id: str) -> list[Expr]:
        known = self._symbols.functions.get(function_id)
        return [d.func if isinstance(d, Call) else d for d in known[1].decorators] if known is not None else []

    def _reads_back(self, decorator: Value | None) -> bool:
        """Whether the code of a decorator, or what its module has for it, reads back what was written down."""
        seen: set[Value] = set()
        todo = [decorator]
        for _ in range(MOST_STEPS):
            new = {value for value in todo if isinstance(value, FunctionValue | TypeValue | Global)} - seen
            seen |= new
            todo = []
            for value in new:
                module, code = self._code(value)
                for node in records(code):
                    if isinstance(node, Attr | Name) and node.name in self._readers:
                        return True
                    if isinstance(node, Name):
                        todo.append(self._symbols.static(module, node))
        return False

    def _code(self, value: FunctionValue | TypeValue | Global) -> tuple[str, tuple[object, ...]]:
        """The module in which something is defined, and the statements and values that define it."""
        match value:
            case FunctionValue(function=identifier):
                source, function = self._symbols.functions[identifier]
                return source.name, tuple(self._bodies(source.name, function.qualname))
            case TypeValue(type=identifier):
                source, _ = self._symbols.types[identifier]
                return source.name, tuple(self._bodies(source.name, identifier.rpartition(":")[2]))
            case Global(module=module, name=name):
                record = self._symbols.content(module).globals.get(name)
                return module, tuple([assigned.value for assigned in record.values]) if record is not None else ()

    def _bodies(self, module: str, qualname: str) -> Iterator[object]:
        """The bodies of a function and of those in it, or of all methods of a class."""
        for name, function in self._symbols.content(module).functions.items():
            if name == qualname or name.startswith(f"{qualname}."):
                yield function.body
