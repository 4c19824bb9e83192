"""Unnamed functions: what only its own package could call, and nothing there names, never runs.

The last call of it was taken out, or has been put into a comment.
"""

from __future__ import annotations

from racelint.analysis.importing import package_of
from racelint.analysis.programs import Programs
from racelint.analysis.singles import START
from racelint.analysis.symbols import Symbols

UNSEEN = frozenset({"C", "unsafe"})  # what a package imports that others call by names in its comments


class Unnamed:
    """Answers for functions, in languages whose packages say by a name whether others can use it."""

    def __init__(self, symbols: Symbols, programs: Programs) -> None:
        self._symbols = symbols
        self._programs = programs
        self._partly_known: set[str] | None = None

    def never_runs(self, function_id: str) -> bool:
        """Whether nothing names a function, or the one that it stands in, of a package that programs use."""
        outermost = self._symbols.outermost(function_id)
        source, function = self._symbols.functions[outermost]
        if source.module.traits.duck_typed or function.name[:1].isupper() or function.name in START:
            return False
        if function.name in self._symbols.spoken_of or self._symbols.making.speaks_of(outermost):
            return False
        if not UNSEEN.isdisjoint(source.module.imports):
            return False
        package = package_of(source.name)
        return (bool(function.owner) or package not in self._others()) and self._programs.use(source.name)

    def _others(self) -> set[str]:
        """The packages with files of which not all names are known: generated, or for other builds."""
        if self._partly_known is None:
            self._partly_known = {each.packages[0] for each in self._symbols.words if each.partial}
        return self._partly_known
