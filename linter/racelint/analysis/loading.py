"""Loops over a table that code anywhere adds to as it is loaded: `sys.modules`, by every import of every thread.

A loop that asks a module for an attribute may load another one itself: modules load parts of theirs when they are asked
for them (PEP 562).
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import goes_on
from racelint.analysis.iteration import iterated_expression
from racelint.analysis.state import Resize
from racelint.analysis.summary import Conflict, Place
from racelint.analysis.sweeps import targeted
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin
from racelint.knowledge import Knowledge
from racelint.model import Attr, Build, Call, Expr, Loop, Name
from racelint.record import records
from racelint.span import Span

OPERATION = "an import, here or in another thread"
ASKING = frozenset({"getattr", "hasattr"})
VALUES = frozenset({"items", "values"})
OWN = frozenset({"__name__", "__dict__", "__doc__", "__class__", "__spec__", "__loader__", "__package__"})  # all have


class Loading:
    """Finds such loops, by the rows of what does "fills-itself"."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._knowledge = knowledge

    def conflicts(self, functions: list[str]) -> Iterator[Conflict]:
        """One for each loop that asks what is loaded for something."""
        for function_id in functions:
            source, function = self._symbols.functions[function_id]
            for loop in [node for node in records(function.body) if isinstance(node, Loop)]:
                asked = _asked(loop)
                table = self._table(source.name, loop.iterable) if asked is not None and loop.iterable else None
                if asked is not None and table is not None:
                    added = Resize(table, "insert", OPERATION, (), function_id, asked, certain=False, kind="dict")
                    place = Place(function_id, loop.span, loop.iterable)
                    yield Conflict(place, Place(function_id, asked), table, "dict", "items", added)

    def _table(self, module: str, iterable: Expr) -> Builtin | None:
        found = self._symbols.static(module, iterated_expression(iterable))
        filled = isinstance(found, Builtin) and self._knowledge.does(found.name, "fills-itself") is not None
        return found if isinstance(found, Builtin) and filled else None


def _asked(loop: Loop) -> Span | None:
    """Where a loop over the values of a mapping asks one of them for an attribute."""
    match loop.iterable:
        case Call(func=Attr(name=view), args=()) if view in VALUES:
            target = loop.target.parts[-1] if isinstance(loop.target, Build) and loop.target.parts else loop.target
        case _:
            return None
    names = targeted(loop._replace(target=target)) if target is not None else frozenset()
    for node in records((loop.test, loop.body) if loop.test is not None else loop.body):
        match node:
            case Attr(base=Name(name=name), name=attribute, span=span) if name in names:
                if attribute not in OWN and (loop.test is not None or goes_on(loop, span)):
                    return span
            case Call(func=Name(name=function), args=(Name(name=name), *_), span=span) if function in ASKING:
                if name in names and (loop.test is not None or goes_on(loop, span)):
                    return span
            case _:
                pass
    return None
