"""Rehearsing: programs that are there to try out others: servers that are mocked, and what is only used to test.

They lie beside the programs of the repository, in folders like `cmd/api-mock`, or say what they are for in a comment at
their head. Few of their races matter to anybody.
"""

from __future__ import annotations

import os.path
import re
from functools import cached_property

from racelint.analysis.documented import SENTENCE
from racelint.analysis.importing import Importing, package_of
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Source

WORDS = frozenset({"mock", "mocks", "e2e"})  # of the name of a program's folder
PARTS = re.compile("[_-]")
FOR_TESTS = re.compile(
    r"\b(?:only|just|solely|purely|exclusively)\s+(?:(?:used|meant|intended|there|exists?|made|here)\s+)?(?:for|in|to)\s+"
    r"(?:(?:the|our|unit|e2e|end-to-end|integration|manual|local)\s+)*test(?:s|ing)?(?:\s+purposes?)?\s*(?:[.;,!)]|$)"
    r"|\b(?:for|in)\s+test(?:s|ing)?(?:\s+purposes?)?\s+only\s*(?:[.;,!)]|$)",
    re.IGNORECASE,
)
OF_ITSELF = frozenset({
    "is", "program", "command", "binary", "application", "tool", "utility", "server", "service", "package", "code",
})  # fmt: skip


class Rehearsing:
    """Answers for functions, in languages that say which package is a program."""

    def __init__(self, symbols: Symbols, importing: Importing) -> None:
        self._symbols = symbols
        self._importing = importing

    def does(self, spot: Spot) -> bool:
        """Whether an access is made by such programs alone, as far as the repository shows."""
        programs = self._importing.programs(self._symbols.functions[spot.function][0].name)
        return bool(programs) and programs <= self._rehearsals

    @cached_property
    def _rehearsals(self) -> frozenset[str]:
        """The main packages that are such programs; none where there is no other program, which then is the product."""
        mains = self._importing.starts
        folders = {os.path.dirname(source.path) for source in mains}
        root = os.path.commonpath(folders) if folders else ""
        found = frozenset([package_of(each.name) for each in mains if _is_named(each, root) or _is_said(each)])
        return found if any(package_of(each.name) not in found for each in mains) else frozenset()


def _is_named(program: Source, root: str) -> bool:
    folder = os.path.dirname(program.path)
    return folder != root and not WORDS.isdisjoint(PARTS.split(os.path.basename(folder).lower()))


def _is_said(program: Source) -> bool:
    """Whether a sentence about the program, not one about its options, says that it is for tests."""
    if not FOR_TESTS.search(program.module.doc):
        return False
    names = {os.path.basename(os.path.dirname(program.path)).lower(), "command", "program", "package"}
    sentences = [sentence.split() for sentence in SENTENCE.split(program.module.doc)]
    return any(
        FOR_TESTS.search(" ".join(words))
        for words in sentences
        if len(words) > 1
        and (words[0].lower() in names or (words[0].lower() == "this" and words[1].lower() in OF_ITSELF))
    )
