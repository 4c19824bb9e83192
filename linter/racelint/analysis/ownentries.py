"""Own entries of remembering functions: what only one caller can get, since its arguments are its own.

`headers = headers_of(service="stream"); headers["Target"] = target`, where all others ask for other services: whoever
gets the object puts the same entry there at once, before it reads any.
"""

from __future__ import annotations

from itertools import pairwise

from racelint.analysis.branching import blocks
from racelint.analysis.sharing import Change
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import Cached
from racelint.model import Assign, Attr, Build, Call, Const, Eval, Expr, Item, Name, Star, Stmt
from racelint.record import records
from racelint.span import Span


class OwnEntries:
    """Answers for changes of what remembering functions give."""

    def __init__(self, summaries: Summaries) -> None:
        self._functions = summaries.symbols.functions
        self._usage = summaries.usage

    def is_overwritten(self, got: Cached, function_id: str, change: Change) -> bool:
        """Whether the statement after the call only puts an entry there under a constant key, and no other call of the
        remembering function gives the same object.
        """
        if got.site.function != function_id or change.calls or not self._is_put_at_once(got, change):
            return False
        own = self._call(function_id, got.site.span)
        here = (function_id, got.site.span)
        others = [self._call(*place) for place in self._usage.sites(got.source) if place != here]
        return own is not None and all(call is not None and _is_other(own, call) for call in others)

    def _is_put_at_once(self, got: Cached, change: Change) -> bool:
        for block in blocks(self._functions[got.site.function][1].body):
            for first, second in pairwise(block):
                match first:
                    case Assign(targets=(Name(name=name),), value=Call(span=span)) if span == got.site.span:
                        return second.span.holds(change.span) and _puts(second, name)
                    case _:
                        pass
        return False

    def _call(self, function_id: str, span: Span) -> Call | None:
        body = self._functions[function_id][1].body
        return next((node for node in records(body) if isinstance(node, Call) and node.span == span), None)


def _puts(stmt: Stmt, name: str) -> bool:
    """Whether a statement stores entries of a variable under constant keys, and makes no other use of it."""
    match stmt:
        case Assign(targets=(Item(base=Name(name=changed), key=Const()),), value=value):
            return changed == name and not _mentions(value, name)
        case Eval(
            value=Call(
                func=Attr(base=Name(name=changed), name="update"), args=(Build(keys=keys) as added,), keywords=()
            )
        ):
            return changed == name and all(isinstance(key, Const) for key in keys) and not _mentions(added, name)
        case _:
            return False


def _mentions(expr: Expr, name: str) -> bool:
    return any(isinstance(node, Name) and node.name == name for node in records(expr))


def _is_other(one: Call, two: Call) -> bool:
    """Whether two calls surely do not give the same arguments: one has another constant, or another number of them."""
    if any(isinstance(arg, Star) for arg in (*one.args, *two.args)) or not all(
        n for n, _ in one.keywords + two.keywords
    ):
        return False
    if len(one.args) + len(one.keywords) != len(two.args) + len(two.keywords):
        return True
    named = dict(two.keywords)
    pairs = [*zip(one.args, two.args, strict=False), *[(v, named[n]) for n, v in one.keywords if n in named]]
    return any(isinstance(a, Const) and isinstance(b, Const) and a.value != b.value for a, b in pairs)
