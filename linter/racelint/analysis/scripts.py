"""Scripts: in a language in which any file may be run as a program, which process a context can be in.

`if __name__ == "__main__": main()`: what happens there happens in a process that runs this file. What else a module
does when it is loaded happens where it is imported.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.importing import loaded, modules, package_of
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.ways import Ways
from racelint.model import Const, Source
from racelint.record import records
from racelint.span import Span

NAMED = re.compile(r"\w+(\.\w+)*:\w+|\w+(\.\w+)+")  # `app:api`, `app.tasks`


class Origin(NamedTuple):
    """A module that leads to something: by its main code, or else by what it does wherever it is imported."""

    module: str
    is_main: bool


class Scripts:
    """Answers for pairs of accesses."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, ways: Ways, loaders: frozenset[str]
    ) -> None:
        self._symbols = symbols
        self._loaders = loaders
        self._effects = effects
        self._contexts = contexts
        self._ways = ways
        self._has_any = any(source.module.main_code is not None for source in symbols.sources.values())
        self._reached: dict[str, frozenset[str] | None] = {}
        self._origins: dict[int, frozenset[Origin] | None] = {}
        self._lasts: set[str] | None = None  # the last parts of the names of all modules

    def are_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two accesses are in two processes: each of a script of its own, or one of a script that does not
        import what leads to the other one, or what is on the way to it.
        """
        if not self._has_any:
            return False
        one, two = self._of(first), self._of(second)
        return self._is_elsewhere(one, two, second) or self._is_elsewhere(two, one, first)

    def _is_elsewhere(self, mine: frozenset[Origin] | None, other: frozenset[Origin] | None, spot: Spot) -> bool:
        """Whether one side is in scripts only in which the other side, an access, cannot be."""
        if mine is None or not all(origin.is_main for origin in mine):
            return False
        scripts = [origin.module for origin in mine]
        if other is not None and all(self._lacks(script, origin) for script in scripts for origin in other):
            return True
        return all(self._is_without(script, spot) for script in scripts)

    def _lacks(self, script: str, origin: Origin) -> bool:
        """Whether something cannot come from a module in the process of a script."""
        if origin.is_main:
            return origin.module != script
        reached = self._imported_by(script)
        return reached is not None and package_of(origin.module) not in reached

    def _of(self, spot: Spot) -> frozenset[Origin] | None:
        """The modules whose own code leads to an access; None if others may, too."""
        index = spot.entry.context
        if self._contexts.roots[index].is_external:
            way = self._contexts.way(spot.function, spot.entry)
            origin = self._origin(way[0][0], [way[0][1]]) if way else None
            return frozenset({origin}) if origin is not None else None
        if index not in self._origins:
            self._origins[index] = self._of_started(index)
        return self._origins[index]

    def _of_started(self, index: int) -> frozenset[Origin] | None:
        found = set[Origin]()
        for function in self._contexts.outermost.get(index, ()):
            spans = [span for span, callee in self._effects[function].calls if self._starts(callee, index)]
            if self._contexts.roots[index].starter == function and (span := self._contexts.roots[index].span):
                spans.append(span)
            origin = self._origin(function, spans)
            if origin is None:
                return None
            found.add(origin)
        return frozenset(found) or None

    def _starts(self, callee: object, index: int) -> bool:
        """Whether what is called starts a context, itself or by its calls."""
        return isinstance(callee, str) and index in self._contexts.started_under.get(callee, ())

    def _origin(self, function: str, spans: list[Span]) -> Origin | None:
        """What a module's own code does in some places; None of other functions: anybody may call them."""
        source, record = self._symbols.functions[function]
        if record.name != MODULE:
            return None
        main_code = source.module.main_code
        return Origin(source.name, main_code is not None and bool(spans) and all(main_code.holds(s) for s in spans))

    def _is_without(self, script: str, spot: Spot) -> bool:
        """Whether a script imports, as far as it says what it imports, not all files on the way to an access."""
        reached = self._imported_by(script)
        starter = self._contexts.roots[spot.entry.context].starter
        way = self._ways.functions(spot) | ({starter} if starter is not None else set())
        names = [package_of(self._symbols.functions[each][0].name) for each in way]
        return reached is not None and any(name not in reached for name in names)

    def _imported_by(self, script: str) -> frozenset[str] | None:
        """The modules of the project that one imports, and that these import; None if it looks for others by itself.

        Of several of one name any may be meant.
        """
        if script not in self._reached:
            self._reached[script] = self._follow(script)
        return self._reached[script]

    def _follow(self, script: str) -> frozenset[str] | None:
        found, todo = set[str](), [script]
        while todo:
            module = todo.pop()
            if module in found:
                continue
            found.add(module)
            source = self._symbols.sources[module]
            if not self._loaders.isdisjoint(source.module.words.split()):
                return None
            todo += [*loaded(self._symbols, source), *self._named(source)]
        return frozenset(map(package_of, found))

    def _named(self, source: Source) -> list[str]:
        """The modules that the texts of a file name: `uvicorn.run("app:api")`."""
        if self._lasts is None:
            self._lasts = {name.rpartition(".")[2] for name in self._symbols.sources}
        if self._lasts.isdisjoint(source.module.mentions.split()):
            return []
        names = [
            node.value.partition(":")[0]
            for function in source.module.functions.values()
            for node in records(function.body)
            if isinstance(node, Const) and isinstance(node.value, str) and NAMED.fullmatch(node.value)
        ]
        return modules(self._symbols, names, source)
