"""Prefetching: iterators that have the next element at hand before they hand out one, as those of lxml have.

`for child in elem: elem.remove(child)` takes out all children of an lxml element, and every second one of an element of
`xml.etree`. Where an element comes from is seldom written down, but a file that works on them mostly knows one library.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from racelint.analysis.doubts import takes_out_element
from racelint.analysis.iteration import iterated_expression
from racelint.analysis.summary import Conflict
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin
from racelint.analysis.written import plain
from racelint.model import Attr, Call, Expr
from racelint.record import records

SNAPSHOT = "snapshot"  # what a resize does to such a loop, as the knowledge tables say it: nothing
PREFETCHING = "lxml"
LIBRARIES = frozenset({PREFETCHING, "BeautifulSoup", "bs4", "cElementTree", "defusedxml", "elementtree", "xml"})
WITHOUT_ELEMENTS = ("xml.parsers", "xml.sax")
ATTRIBUTES = "attrib"  # their iterator, and what `items()` and the like give, has listed them all first
STYLES = frozenset({"direct", "keys", "values", "items"})
# What elements have, and lists have not.
OF_ELEMENTS = frozenset({
    "attrib", "getnext", "getparent", "getprevious", "iterancestors", "iterchildren", "iterdescendants",
    "itersiblings", "makeelement", "nsmap", "tag", "tail", "xpath",
})  # fmt: skip


class Prefetching:
    """Tells which loops go over elements of lxml, or over their attributes."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def misses_nothing(self, conflict: Conflict) -> bool:
        """Whether a loop takes out of an element only the child at hand, or goes over the element's attributes."""
        if conflict.kind != "unknown" or conflict.loop.iterable is None or conflict.style not in STYLES:
            return False
        function_id = conflict.loop.function
        walked = iterated_expression(conflict.loop.iterable)
        attributes = isinstance(walked, Attr) and walked.name == ATTRIBUTES
        if conflict.style != "direct" and not attributes:
            return False
        at_hand = attributes or takes_out_element(conflict.resize, conflict.container)
        return (
            at_hand
            and (attributes or self._is_element(walked, function_id))
            and self._knows_one_library(self._symbols.functions[function_id][0].name)
        )

    def _is_element(self, walked: Expr, function_id: str) -> bool:
        """Whether a function uses what it walks as an element, or gives it to a function of lxml."""
        written = plain(walked)
        for node in records(self._symbols.functions[function_id][1].body):
            if isinstance(node, Attr) and node.name in OF_ELEMENTS and plain(node.base) == written:
                return True
            if isinstance(node, Call) and any([plain(given) == written for given in node.args]):
                called = self._symbols.meant(function_id, node.func)
                if isinstance(called, Builtin) and _library(called.name) == PREFETCHING:
                    return True
        return False

    def _knows_one_library(self, module: str) -> bool:
        """Whether a file knows lxml alone; one that knows no library has its elements from those that import it."""
        known = self._libraries.get(module)
        if known is None:
            importers = self._importers.get(module, ())
            known = frozenset().union(*[self._libraries.get(each, frozenset()) for each in importers])
        return known == {PREFETCHING}

    @cached_property
    def _libraries(self) -> dict[str, frozenset[str]]:
        """The libraries of elements that files import; those that import none are left out."""
        found = {
            name: frozenset([_library(each.module) for each in source.module.loads]) & LIBRARIES
            for name, source in self._symbols.sources.items()
        }
        return {name: libraries for name, libraries in found.items() if libraries}

    @cached_property
    def _importers(self) -> dict[str, set[str]]:
        """By a file of the project, those that import it, or something out of it."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, source in self._symbols.sources.items():
            for imported in source.module.loads:
                module = imported.absolute(source.path, name)
                targets = [self._symbols.module(each, source) for each in (module, f"{module}.{imported.name}")]
                for target in targets:
                    if target is not None:
                        found[target].add(name)
        return found


def _library(module: str) -> str:
    """The library of a module; what reads XML by events, or quotes it, knows no elements."""
    return "" if module.startswith(WITHOUT_ELEMENTS) else module.partition(".")[0]
