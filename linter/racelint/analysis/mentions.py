"""Mentions: in a language where any object may be asked for any method, one whose name nobody writes has no caller.

Only where the repository shows more than the program itself, its tests or examples: what users of a library call is
nearly always called there. A method that neither the program nor they speak of is left over.
"""

from __future__ import annotations

from racelint.analysis.product import Product
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Builtin

PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "abc.abstractmethod", "functools.cached_property", "functools.wraps"}
)  # what hands a function to nobody


class Mentions:
    """Tells which methods nobody speaks of."""

    def __init__(self, symbols: Symbols, product: Product) -> None:
        self._symbols = symbols
        sources = {source.path: source for source, _ in symbols.functions.values() if source.module.traits.duck_typed}
        own = {source.name.partition(".")[0] for source in sources.values() if product.has(f"{source.name}:{MODULE}")}
        self._is_shown_in_use = any(
            each.level > 0 or each.module.partition(".")[0] in own
            for source in sources.values()
            if not product.has(f"{source.name}:{MODULE}")
            for each in source.module.imports.values()
        )
        self._names = {name for source in sources.values() for name in source.module.mentions.split()}
        self._beginnings = tuple([name for name in self._names if name.endswith("_")])

    def is_forgotten(self, function_id: str) -> bool:
        """Whether no code of the repository gets at a method, and no library may do so by a contract of its own."""
        source, function = self._symbols.functions[function_id]
        if not self._is_shown_in_use or not function.owner or not source.module.traits.duck_typed:
            return False
        if function.name.startswith("__") and function.name.endswith("__"):
            return False
        if function.name in self._names or function.name.startswith(self._beginnings):
            return False  # a beginning: the rest of the name is put together
        return self._is_undecorated(function_id) and not self._symbols.is_open(self._symbols.owner_of(function_id))

    def _is_undecorated(self, function_id: str) -> bool:
        source, function = self._symbols.functions[function_id]
        known = [self._symbols.decorator(source.name, function, each) for each in function.decorators]
        return all(isinstance(each, Builtin) and each.name in PLAIN_DECORATORS for each in known)
