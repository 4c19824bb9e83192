"""Deadlines: waits that end when a goroutine has, or when time is up; who goes on by then clears what that has read.

`go func() { s.server.Drain(); close(done) }(); select { case <-done: case <-time.After(limit): s.server.Stop() }`, and
behind that `s.server = nil`. What the goroutine stores is another thing: it may come too late for who reads it then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racelint.analysis import lastwords
from racelint.analysis.branching import comes_first, is_looped
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Access, Effects
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.state import GIVES
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin, Captured
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Block, Branch, Call, Eval, Expr, Function, Name, Op
from racelint.record import records

READY = "ready"  # asks which case of a select it is


class Deadlines:
    """Finds stores behind a wait for a goroutine, or for a timer, of what that goroutine reads before its last word."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, knowledge: Knowledge
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._knowledge = knowledge

    def have_passed(self, store: Spot, read: Spot) -> bool:
        """Whether a store comes when what reads the place has ended, or has had its time for that."""
        context = self._contexts.roots[read.entry.context]
        if context.kind != GOROUTINE or context.starter != store.function or context.function != read.function:
            return False
        if store.access.kind != "store" or read.is_write or self._is_repeated(read) or context.span is None:
            return False
        source, function = self._symbols.functions[store.function]
        return any(
            context.span[:2] < select.span[:2]
            and comes_first(function.body, select.span, store.access.span)
            and self._waits(select, read, function, source.name)
            for select in records(function.body)
            if isinstance(select, Branch) and _is_select(select)
        )

    def _is_repeated(self, read: Spot) -> bool:
        """Whether a goroutine comes to a read again and again: it may be in the midst of that when time is up."""
        return is_looped(self._symbols.functions[read.function][1].body, read.access.span)

    def _waits(self, select: Branch, read: Spot, function: Function, module: str) -> bool:
        """Whether each case of a select receives something: one the last word of a goroutine, another one the time."""
        channels = [_received(case) for case in _cases(select)]
        if None in channels:
            return False
        timed = any(channel is not None and self._is_timer(channel, function, module) for channel in channels)
        return timed and any(isinstance(each, Name) and self._is_ended_by(each, read) for each in channels)

    def _is_ended_by(self, channel: Name, read: Spot) -> bool:
        """Whether a goroutine that reads something gives its last word to a channel of its starter's after that."""
        context = self._contexts.roots[read.entry.context]
        starter = context.starter or ""
        path = Captured(starter, channel.name)
        found = lastwords.speaker(path, starter, self._symbols, calls=self._effects[starter].calls)
        if found != (context.span, context.function):
            return False
        told = read.access.told[1] if isinstance(read.access, Access) else ()
        return all(operation not in GIVES or given != path for operation, given in told)

    def _is_timer(self, channel: Expr, function: Function, module: str) -> bool:
        """Whether a channel is one through which a library tells once that time is up."""
        if isinstance(channel, Attr) and isinstance(channel.base, Name):
            made = function.bindings.get(channel.base.name, ())
            return bool(made) and all([self._makes_timer(value, channel.name, module) for value in made])
        return self._makes_timer(channel, "", module)

    def _makes_timer(self, value: Expr, field: str, module: str) -> bool:
        found = self._symbols.static(module, value.func) if isinstance(value, Call) else None
        row = self._knowledge.does(found.name, "gives-once") if isinstance(found, Builtin) else None
        return row is not None and row.returns == field


def _is_select(branch: Branch) -> bool:
    return isinstance(branch.test, Op) and branch.test.operator == READY


def _cases(select: Branch) -> Iterator[Block]:
    """What is done in each case of a select."""
    yield select.then
    match select.orelse:
        case (Branch() as rest,) if _is_select(rest):
            yield from _cases(rest)
        case last:
            yield last


def _received(case: Block) -> Expr | None:
    """The channel from which a case receives first."""
    value = case[0].value if case and isinstance(case[0], Eval | Assign) else None
    return value.operands[0] if isinstance(value, Op) and value.operator == "receive" else None
