"""Succession: what a goroutine starts as the last thing it does, so that the next one does the same work anew.

`defer func() { if recover() != nil { go r.run() } }()` in `run` itself: the one has ended when the next begins.
"""

from __future__ import annotations

from racelint.analysis.contexts import Context, Contexts
from racelint.analysis.symbols import Symbols
from racelint.model import Block, Branch, Call, Closure, Defer, Spawn
from racelint.record import records
from racelint.span import Span


class Succession:
    """Finds goroutines of which one takes over from the other."""

    def __init__(self, symbols: Symbols, contexts: Contexts) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._called: frozenset[str] | None = None
        self._last: dict[tuple[str, Span], bool] = {}

    def is_one(self, one: Context, two: Context) -> bool:
        """Whether two contexts are one after the other, of one goroutine that some other function starts once."""
        if one.function != two.function or not (self._takes_over(one) or self._takes_over(two)):
            return False
        first = [each for each in self._contexts.roots if each.function == one.function and not self._takes_over(each)]
        return len(first) == 1 and not first[0].many and first[0].starter is not None

    def _takes_over(self, context: Context) -> bool:
        """Whether a context is started where a function that it runs is left, by what that has put off till then."""
        starter, span = context.starter, context.span
        if starter is None or span is None or starter == context.function:
            return False
        if (starter, span) not in self._last:
            self._last[starter, span] = self._is_last(starter, context.function, span)
        return self._last[starter, span]

    def _is_last(self, starter: str, function_id: str, span: Span) -> bool:
        if self._called is None:
            self._called = frozenset([callee for _, _, callee in self._contexts.sites])
        source, function = self._symbols.functions[function_id]
        put_off = [node for node in records(function.body) if isinstance(node, Defer)]
        first = min(put_off, key=lambda node: node.span).call if put_off else None  # it runs when all others have
        if function_id in self._called or not isinstance(first, Call) or not isinstance(first.func, Closure):
            return False
        if f"{source.name}:{first.func.function}" != starter:
            return False
        body = self._symbols.functions[starter][1].body
        return not any(isinstance(node, Defer) for node in records(body)) and _ends_with(body, span)


def _ends_with(block: Block, span: Span) -> bool:
    """Whether nothing follows on what a block starts at a spot."""
    last = block[-1] if block else None
    if isinstance(last, Branch):
        return _ends_with(last.then, span) or _ends_with(last.orelse, span)
    return isinstance(last, Spawn) and (last.span.holds(span) or span.holds(last.span))
