"""Scripts: in a language in which any file may be run as a program, what only one that is run so leads to.

`if __name__ == "__main__": main()`: what happens there happens in a process that runs this file, and the files that it
imports.
"""

from __future__ import annotations

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.ways import Ways
from racelint.model import Source
from racelint.span import Span

MOST_STARTS = 4  # threads that start one another
LOADERS = frozenset(
    {"import_module", "__import__", "iter_modules", "walk_packages", "exec_module", "load_module", "iter_entry_points",
     "entry_points", "load_source", "run_path", "run_module"}
)  # fmt: skip


class Scripts:
    """Answers for pairs of accesses."""

    def __init__(self, symbols: Symbols, contexts: Contexts, ways: Ways) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._ways = ways
        self._reached: dict[str, frozenset[str] | None] = {}
        self._known: dict[tuple[str, Entry], str] = {}

    def are_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two accesses are in two processes: each of a script of its own, or one of a script without the
        other's files.
        """
        one, two = (self._script(spot.function, spot.entry, MOST_STARTS) for spot in (first, second))
        if one and two:
            return one != two
        return (bool(one) and self._is_without(one, second)) or (bool(two) and self._is_without(two, first))

    def _script(self, function: str, entry: Entry, starts: int) -> str:
        """The module whose main code alone leads to an entry of a function, "" if others may, too."""
        starter = self._contexts.roots[entry.context].starter
        if starter is None:
            way = self._contexts.way(function, entry)
            return self._of_main_code(*way[0]) if way else ""
        around = self._contexts.entries.get(starter, {}) if starts else {}
        scripts = {self._of_starter(starter, each, starts - 1) for each in around}
        return scripts.pop() if len(scripts) == 1 else ""

    def _of_starter(self, starter: str, entry: Entry, starts: int) -> str:
        key = (starter, entry)
        if key not in self._known:
            self._known[key] = ""  # what starts itself
            self._known[key] = self._script(starter, entry, starts)
        return self._known[key]

    def _of_main_code(self, function: str, span: Span) -> str:
        """The module in whose main code a call stands."""
        source, record = self._symbols.functions[function]
        main_code = source.module.main_code
        return source.name if record.name == MODULE and main_code is not None and main_code.holds(span) else ""

    def _is_without(self, script: str, spot: Spot) -> bool:
        """Whether a script imports, as far as it says what it imports, not all files on the way to an access."""
        if script not in self._reached:
            self._reached[script] = self._imported(script)
        reached = self._reached[script]
        starter = self._contexts.roots[spot.entry.context].starter
        way = self._ways.functions(spot) | ({starter} if starter is not None else set())
        return reached is not None and any(self._symbols.functions[each][0].name not in reached for each in way)

    def _imported(self, script: str) -> frozenset[str] | None:
        """The modules of the project that one imports, and that these import; None if it looks for others by itself."""
        found, todo = set[str](), [script]
        while todo:
            module = todo.pop()
            if module in found:
                continue
            found.add(module)
            source = self._symbols.sources[module]
            if not LOADERS.isdisjoint(source.module.mentions.split()):
                return None
            todo += self._loaded(source)
        return frozenset(found)

    def _loaded(self, source: Source) -> list[str]:
        """The modules that a file imports, in whatever scope, and the packages around them."""
        names: dict[str, None] = {}
        for imported in source.module.loads:
            name = imported.absolute(source.path, source.name)
            whole = name if imported.name is None else f"{name}.{imported.name}"
            parts = whole.split(".")
            names |= {".".join(parts[:end]): None for end in range(1, len(parts) + 1)}
        found = [self._symbols.module(name, source) for name in names]
        return [module for module in found if module is not None]
