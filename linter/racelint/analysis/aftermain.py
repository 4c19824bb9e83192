"""After main: what is done only when `main` has returned. The program ends then, whatever still runs.

`stop := make(chan struct{}); defer close(stop); go keep(stop)`: what `keep` does behind `<-stop` hardly happens at all.
"""

from __future__ import annotations

from racelint.analysis.cancelling import is_context
from racelint.analysis.signals import Signals
from racelint.analysis.spots import Spot
from racelint.analysis.state import CLOSED, TAKE
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Value
from racelint.model import Attr, Call, Defer, Expr, Name, Op
from racelint.record import records
from racelint.span import Span

TAKEN = frozenset({TAKE, CLOSED})


class AfterMain:
    """Finds what follows on the end of a channel that nothing but `main` closes, by what that defers."""

    def __init__(self, symbols: Symbols, signals: Signals) -> None:
        self._symbols = symbols
        self._signals = signals
        self._ends: dict[Value, bool] = {}

    def does(self, spot: Spot) -> bool:
        """Whether an access is made only then."""
        if not self._symbols.is_ordered_by_steps(spot.function):
            return False
        for function, entry, told in self._signals.told_on_way(spot):
            for operation, path in told:
                channel = self._signals.channel(path, function, entry) if operation in TAKEN else None
                if channel is not None and self._is_ended(channel):
                    return True
        return False

    def _is_ended(self, channel: Value) -> bool:
        """Whether a channel ends with the program only; who cancels a context is not always known."""
        if channel not in self._ends:
            closes = set() if is_context(channel) else self._signals.closes(channel)
            self._ends[channel] = bool(closes) and all([self._is_last(*close) for close in closes])
        return self._ends[channel]

    def _is_last(self, function_id: str, close: Span) -> bool:
        """Whether `main` defers a close, and waits for nothing any more when that has been done."""
        body = self._symbols.functions[function_id][1].body
        if not is_main(self._symbols, function_id):
            return False
        if not any(isinstance(stmt, Defer) and stmt.span.holds(close) for stmt in body):
            return False
        later = [part for part in records(body) if isinstance(part, Defer) and part.span[:2] < close[:2]]
        return all(_is_short(defer.call) for defer in later)


def is_main(symbols: Symbols, function_id: str) -> bool:
    """Whether a program starts in a function, and ends with it."""
    source, function = symbols.functions[function_id]
    return function.qualname == "main" and source.module.package == "main"


def _is_short(call: Expr) -> bool:
    """Whether a deferred call waits for nothing: it closes a channel, ends a context, or stops a clock."""
    match call:
        case Op(operator="close"):
            return True
        case Call(func=Name(scope="local") | Attr(name="Stop"), args=()):
            return True
        case _:
            return False
