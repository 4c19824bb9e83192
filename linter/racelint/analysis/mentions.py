"""Mentions: in a language where any object may be asked for any method, one whose name nobody writes has no caller.

Only where the repository shows more than the program itself, its tests or examples: what users of a library call is
nearly always called there. A method that neither the program nor they speak of is left over; so is a function of a
module that others import, if it needs arguments (else it may be a command), and all that a class without bases has, if
their names stand nowhere else. What is private by its name is not there for tests: these do not count for it.
"""

from __future__ import annotations

from collections.abc import Collection

from racelint.analysis.importing import loaded
from racelint.analysis.product import Product
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Builtin
from racelint.knowledge import Knowledge
from racelint.model import Attr, Expr, Function, Imported, Name, Source, Type
from racelint.record import records

PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "abc.abstractmethod", "functools.cached_property", "functools.wraps"}
)  # what hands a function to nobody
PLAIN_BASES = frozenset({"object", "typing.Generic", "abc.ABC"})  # who finds classes below them does so by a name
SHORTEST = 6  # letters of a name that is looked for in whole texts


class Mentions:
    """Tells which methods nobody speaks of."""

    def __init__(self, symbols: Symbols, product: Product, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._loaders, self._leading = knowledge.sharing.names("loads"), knowledge.sharing.names("leads")
        self._listing = [name.rpartition(".") for name in knowledge.sharing.names("lists")]
        sources = {source.path: source for source, _ in symbols.functions.values() if source.module.traits.duck_typed}
        own = {source.name.partition(".")[0] for source in sources.values() if product.has(f"{source.name}:{MODULE}")}
        self._is_shown_in_use = any(
            each.level > 0 or each.module.partition(".")[0] in own
            for source in sources.values()
            if not product.has(f"{source.name}:{MODULE}")
            for each in source.module.imports.values()
        )
        self._names = {name for source in sources.values() for name in source.module.mentions.split()}
        self._product = [s for s in sources.values() if product.has(f"{s.name}:{MODULE}")]
        self._own_names = {name for source in self._product for name in source.module.mentions.split()}
        self._beginnings = tuple([name for name in self._names if name.endswith("_")])
        self._sources = sources
        self._words: set[str] | None = None
        self._own_words: set[str] = set()  # those of the product alone
        self._imported: set[str] | None = None
        self._listers: list[Source] | None = None

    def is_forgotten(self, function_id: str) -> bool:
        """Whether no code of the repository gets at a method, and no library may do so by a contract of its own."""
        source, function = self._symbols.functions[function_id]
        if not self._is_shown_in_use or not source.module.traits.duck_typed:
            return False
        if function.name == MODULE:
            return False
        if not function.owner:
            if not any(each.default is None and each.kind in ("positional", "keyword") for each in function.parameters):
                return False  # perhaps a command, which only the manifest of the project names
            return self._is_unnamed(function, source) and self._is_undecorated(function_id)
        if self._is_of_nobody(self._symbols.owner_of(function_id)):
            return True
        if function.name.startswith("__") and function.name.endswith("__"):
            return False
        known = self._own_names if _is_private(function.name) else self._names
        if function.name in known or function.name.startswith(self._beginnings):
            return False  # a beginning: the rest of the name is put together
        return self._is_undecorated(function_id) and not self._symbols.is_open(self._symbols.owner_of(function_id))

    def _is_unnamed(self, declared: Function | Type, source: Source) -> bool:
        """Whether no source of the repository has the name of a function or type of a module but for its declaration.

        Names may be put together, and tools may take what they find in a file.
        """
        if self._words is None:
            self._words = {word for source in self._sources.values() for word in source.module.words.split()}
            self._own_words = {word for source in self._product for word in source.module.words.split()}
        name, is_nested = declared.name, "." in declared.qualname
        words = self._own_words if _is_private(name) else self._words
        beginnings = tuple([each for each in self._beginnings if each.strip("_")])  # `for _ in rows` begins no name
        if len(name) < SHORTEST or is_nested or name in words or name.startswith(beginnings):
            return False
        return self._is_imported(source.name) and not self._is_listed(source.name)

    def _is_of_nobody(self, type_id: str) -> bool:
        """Whether nobody names a class, and nobody finds it below another one."""
        if type_id not in self._symbols.types:
            return False
        source, record = self._symbols.types[type_id]
        bases = [self._symbols.static(source.name, base) for base in record.bases]
        plain = all(isinstance(base, Builtin) and base.name in PLAIN_BASES for base in bases) and not record.decorators
        found = self._lists(source) or not self._leading.isdisjoint(source.module.words.split())
        return plain and not found and self._is_unnamed(record, source)

    def _is_imported(self, module: str) -> bool:
        """Whether some file imports a module, or something out of it; others are found by tools that look for files."""
        if self._imported is None:
            self._imported = {found for source in self._sources.values() for found in loaded(self._symbols, source)}
        return module in self._imported

    def _is_listed(self, module: str) -> bool:
        """Whether some file takes what it finds in a module: in one that it imports, or in any if it looks for them."""
        if self._listers is None:
            self._listers = [source for source in self._sources.values() if self._lists(source)]
        return any(
            module in loaded(self._symbols, source) or not self._loaders.isdisjoint(source.module.words.split())
            for source in self._listers
        )

    def _lists(self, source: Source) -> bool:
        """Whether a file asks for all that a module has, by a function of a library whose module it imports.

        Objects have methods of the same name. Of tests and examples all that is known are the words.
        """
        words = set(source.module.words.split())
        named = {name: module for module, _, name in self._listing if name in words}
        imports = (*source.module.loads, *source.module.imports.values()) if named else ()
        if not any(each.module in named.values() and each.level == 0 for each in imports):
            return False
        functions = source.module.functions.values()
        return source not in self._product or any(_takes(named, function) for function in functions)

    def _is_undecorated(self, function_id: str) -> bool:
        source, function = self._symbols.functions[function_id]
        known = [self._symbols.decorator(source.name, function, each) for each in function.decorators]
        return all(isinstance(each, Builtin) and each.name in PLAIN_DECORATORS for each in known)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _takes(names: Collection[str], function: Function) -> bool:
    """Whether a function speaks of something by one of some names that may be a module's, not an object's method."""
    return any(
        (isinstance(part, Name) and part.name in names)
        or (isinstance(part, Attr) and part.name in names and _may_be_module(part.base, function))
        for part in records(function.body)
    )


def _may_be_module(base: Expr, function: Function) -> bool:
    """Whether something may be an imported module: no variable of the function, if none of its imports has set it."""
    if not isinstance(base, Name):
        return False
    return base.scope != "local" or any(isinstance(bound, Imported) for bound in function.bindings.get(base.name, ()))
