"""Speaking: which packages speak of a name without its being known what they mean by it.

Of the program's own calls it is known whom they mean, or they ask objects of unknown type (`Effects.asked`): of its
names those count that are not only called. Tests, examples, generated code and what the usual build leaves out are no
part of the program: there all names count.
"""

from __future__ import annotations

from collections import defaultdict

from racelint.analysis.importing import Importing
from racelint.analysis.product import Product
from racelint.analysis.symbols import TESTING, Symbols, Words


class Speaking:
    """Answers for the names of functions and methods, in languages whose packages say what they import."""

    def __init__(self, symbols: Symbols, product: Product, importing: Importing) -> None:
        self._symbols = symbols
        self._product = product
        self._importing = importing
        self._speakers: dict[str, set[tuple[str, ...]]] | None = None  # by name, the packages that each of them names

    def may_mean(self, name: str, packages: set[str]) -> bool:
        """Whether somebody speaks of a name who can know something that is declared in one of some packages."""
        if name not in self._symbols.spoken_of:
            return False
        if self._speakers is None:
            self._speakers = self._index()
        named = {package for speaker in self._speakers.get(name, ()) for package in speaker}
        return any(not packages.isdisjoint(self._importing.reached(package)) for package in named)

    def only_tests_mean(self, name: str, package: str) -> bool:
        """Whether tests speak of what a package declares, and nobody else does who imports that, or is in it.

        What the usual build leaves out is a test if it imports what tests are made with.
        """
        tested = False
        for words in self._symbols.words:
            if package in words.packages and name in self._names(words):
                if words.known or TESTING.isdisjoint(words.packages):
                    return False
                tested = True
        return tested

    def _names(self, words: Words) -> list[str]:
        """The names of which a file speaks without its being known what they mean."""
        known = words.known and not self._product.is_example(words.path)
        return words.mentions.split() if known else f"{words.mentions} {words.called}".split()

    def _index(self) -> dict[str, set[tuple[str, ...]]]:
        found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for words in self._symbols.words:
            for name in self._names(words):
                found[name].add(words.packages)
        return found
