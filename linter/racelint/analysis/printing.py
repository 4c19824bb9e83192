"""Printing: figures that others count by atomic steps, and that are read, without one, only to be shown to people.

`fmt.Printf("%d of %d\r", q.done, q.all)`, beside `atomic.AddInt64(&q.done, 1)`: what is shown is a little old.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racelint.analysis.deadstores import RECKONS
from racelint.analysis.library import ATOMIC
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin
from racelint.knowledge import Knowledge
from racelint.model import Attr, Call, Cast, Expr, Name, Op
from racelint.record import records
from racelint.span import Span


class Printing:
    """Looks at what functions print."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._shows = knowledge.sharing.names("shows")
        self._shown: dict[str, frozenset[Span]] = {}

    def only_shows(self, write: Spot, read: Spot) -> bool:
        """Whether a word is stored by an atomic step, and read to be printed alone."""
        if (
            ATOMIC not in write.locks
            or read.access.kind != "read"
            or not self._symbols.is_ordered_by_steps(read.function)
        ):
            return False
        if read.function not in self._shown:
            self._shown[read.function] = frozenset(self._printed_by(read.function))
        return read.access.span in self._shown[read.function]

    def _printed_by(self, function_id: str) -> Iterator[Span]:
        """Where the variables and fields stand that a function gives to what prints them."""
        source, function = self._symbols.functions[function_id]
        for node in records(function.body):
            if isinstance(node, Call) and self._prints(source.name, node):
                yield from _figures(node.args)

    def _prints(self, module: str, call: Call) -> bool:
        """Whether a call prints what it is given: by its name, or by the stream that a library's function writes to."""
        if not isinstance(call.func, Attr):
            return False
        callee = self._symbols.static(module, call.func)
        if not isinstance(callee, Builtin):
            return False
        stream = self._symbols.static(module, call.args[0]) if call.args else None
        return callee.name in self._shows or (isinstance(stream, Builtin) and stream.name in self._shows)


def _figures(args: Iterable[Expr]) -> Iterator[Span]:
    """Where the words stand of which arguments are made: as they are, by a conversion, by arithmetic."""
    for arg in args:
        match arg:
            case Attr(span=span) | Name(span=span):
                yield span
            case Cast(value=value):
                yield from _figures((value,))
            case Op(operator=operator, operands=parts) if operator in RECKONS:
                yield from _figures(parts)
