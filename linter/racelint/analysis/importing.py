"""Imports: which programs of a repository a package can be part of, by what their main packages import.

Tests are no part of a program, and what only they import is none either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from racelint.analysis.symbols import Symbols
from racelint.model import Source


class Importing:
    """Answers for packages; what no program imports is a library, of which nothing is known."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._imports: dict[str, set[str]] = defaultdict(set)
        self._reached: dict[str, frozenset[str]] = {}
        self._mains: set[str] = set()
        self.starts: list[Source] = []  # the files in which programs start
        self._are_linked: dict[frozenset[str], bool] = {}
        for source in symbols.sources.values():
            self._read(source)
        self._programs: dict[str, set[str]] = defaultdict(set)
        for main in sorted(self._mains):
            self._follow(main)

    def _read(self, source: Source) -> None:
        module = package_of(source.name)
        self._imports[module].update(self._symbols.imports[source.name])
        if source.module.package == "main" and "main" in source.module.functions:
            self._mains.add(module)
            self.starts.append(source)

    def _follow(self, main: str) -> None:
        todo = [main]
        while todo:
            module = todo.pop()
            if main not in self._programs[module]:
                self._programs[module].add(main)
                todo += [imported for imported in self._imports.get(module, ()) if imported in self._imports]

    def reached(self, package: str) -> frozenset[str]:
        """A package, those that it imports, those that these import, and so on."""
        if package not in self._reached:
            found, todo = set(), [package]
            while todo:
                module = todo.pop()
                if module not in found:
                    found.add(module)
                    todo += [imported for imported in self._imports.get(module, ()) if imported in self._imports]
            self._reached[package] = frozenset(found)
        return self._reached[package]

    def programs(self, package: str) -> frozenset[str]:
        """The main packages that import a package, or what imports it."""
        return frozenset(self._programs.get(package_of(package), ()))

    def stand(self, function_id: str) -> tuple[str, ...]:
        """What decides with which functions one can be in a program; its own package first if that is a main one."""
        package = package_of(self._symbols.functions[function_id][0].name)
        programs = sorted(self.programs(package))
        return (package, *programs) if package in self._mains else tuple(programs)

    def are_linked(self, functions: Iterable[str]) -> bool:
        """Whether one program can run all of some functions: what is in a main package runs with what that imports."""
        if not self._mains:
            return True
        packages = frozenset([package_of(self._symbols.functions[each][0].name) for each in functions])
        if packages not in self._are_linked:
            self._are_linked[packages] = all(packages <= self.reached(main) for main in packages & self._mains)
        return self._are_linked[packages]

    def are_apart(self, first: Iterable[str], second: Iterable[str]) -> bool:
        """Whether no program can run all of some functions and all of some others: they are in different processes."""
        if not self._mains:
            return False
        if not self.are_linked({*first, *second}):
            return True
        one, two = self._common(first), self._common(second)
        return bool(one) and bool(two) and one.isdisjoint(two)

    def _common(self, functions: Iterable[str]) -> set[str]:
        """The programs that import the packages of all functions; none if one of them is a library's."""
        found: set[str] | None = None
        for function_id in functions:
            programs = self._programs.get(package_of(self._symbols.functions[function_id][0].name), set())
            found = set(programs) if found is None else found & programs
        return found or set()


def package_of(name: str) -> str:
    """The path of the package that a module belongs to."""
    return name.partition("@")[0]


def loaded(symbols: Symbols, source: Source) -> list[str]:
    """The modules of the project that a file imports, in whatever scope, and the packages around them."""
    names: list[str] = []
    for imported in source.module.loads:
        name = imported.absolute(source.path, source.name)
        names.append(name if imported.name is None else f"{name}.{imported.name}")
    return modules(symbols, names, source)


def modules(symbols: Symbols, names: Iterable[str], source: Source) -> list[str]:
    """The modules of the project that dotted names mean in a file, and the packages around them."""
    parts = [name.split(".") for name in names]
    wholes = {".".join(each[:end]): None for each in parts for end in range(1, len(each) + 1)}
    found = [symbols.module(name, source) for name in wholes]
    return [module for module in found if module is not None]
