"""The product: what of the analysed code is the program itself, not a test or an example of its use."""

from __future__ import annotations

import os.path
import re

from racelint.analysis.effects import Effects
from racelint.analysis.symbols import Symbols

EXAMPLES = frozenset(
    {"example", "examples", "sample", "samples", "demo", "demos", "doc", "docs", "benchmark", "benchmarks", "scripts"}
)
PARTS = re.compile("[_-]")
SHOWS = re.compile(r"(^|[_-])(examples?|demo)([_-]|\d*\.)")  # a file that is an example by its name


class Product:
    """The functions of the program, and their `effects`."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects]) -> None:
        self._symbols = symbols
        paths = [*dict.fromkeys(source.path for source, _ in symbols.functions.values())]
        self._examples = _examples(paths)
        self._is_all_examples = len(self._examples) >= len(paths)
        self.effects = {f: e for f, e in effects.items() if self.has(f)}

    def has(self, function_id: str) -> bool:
        """Whether a function is part of the program, not a test or an example of its use."""
        source = self._symbols.functions[function_id][0]
        if self._symbols.stands_in(function_id):
            return False
        return source.reported and not self.is_example(source.path)

    def is_example(self, path: str) -> bool:
        """Whether a file shows how the program is used, unless all of them do."""
        return not self._is_all_examples and path in self._examples


def _examples(paths: list[str]) -> frozenset[str]:
    """The files that show how a program is used, by their folders and names: they say nothing about the program."""
    if len(paths) < 2:
        return frozenset()
    root = len(os.path.commonpath(paths)) + 1
    found: set[str] = set()
    for path in paths:
        *folders, name = path[root:].lower().split("/")
        if any(not EXAMPLES.isdisjoint(PARTS.split(folder)) for folder in folders) or SHOWS.search(name):
            found.add(path)
    return frozenset(found)
