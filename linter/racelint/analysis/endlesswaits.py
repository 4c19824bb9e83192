"""Endless waits: what follows a wait for the end of a context that nothing ever ends is never done.

`<-ctx.Done()`, or a case of a `select`, where `ctx` is `context.Background()`: its channel is nil. A function may have
that, or the channel alone, from all that call it, or find it in a field that holds nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.arriving import Arriving, Given, Source
from racelint.analysis.branching import blocks, waits
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import ClassType, LibraryType
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin
from racelint.knowledge import Knowledge
from racelint.model import Attr, Call, Eval, Expr, Jump, Make, Op, Stmt
from racelint.record import records
from racelint.span import Span


class EndlessWaits(Arriving):
    """Follows the contexts whose end functions wait for to where they are made."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        super().__init__(symbols, types)
        self._knowledge = knowledge
        self._behind_waits: dict[str, tuple[Span, ...]] = {}

    def come_before(self, spot: Spot) -> bool:
        """Whether an access stands behind a wait of its function that never ends."""
        if spot.function not in self._behind_waits:
            self._behind_waits[spot.function] = tuple(self._statements_behind(spot.function))
        return any(span.holds(spot.access.span) for span in self._behind_waits[spot.function])

    def _statements_behind(self, function_id: str) -> Iterator[Span]:
        """The statements of a function that stand in a block behind a wait that never ends."""
        body = self._symbols.functions[function_id][1].body
        if not waits(body) or any([_may_lead_anywhere(part) for part in records(body)]):
            return
        for block in blocks(body):
            ended = False
            for stmt in block:
                if ended:
                    yield stmt.span
                ended = ended or self._is_endless_wait(function_id, stmt)

    def _is_endless_wait(self, function_id: str, stmt: Stmt) -> bool:
        match stmt:
            case Eval(value=Op(operator="receive", operands=(channel,))):
                return self._is_endless(function_id, channel)
            case _:
                return False

    def _is_endless(self, function_id: str, channel: Expr) -> bool:
        """Whether all contexts are known whose end a channel can tell of, and nothing ends them."""
        origins = self._origins(Given(function_id, channel))
        return bool(origins) and all([self._names_endless(origin) for origin in origins or ()])

    def _names_endless(self, origin: object) -> bool:
        return isinstance(origin, Builtin) and self._knowledge.does(origin.name, "endless") is not None

    def _behind(self, function_id: str, expr: Expr, part: int | None) -> list[Source] | None:
        if isinstance(expr, Call):
            made = self._symbols.meant(function_id, expr.func)
            if isinstance(made, Builtin) and self._names_endless(made):
                return [made]
            match expr.func:
                case Attr(base=context, name=method) if made is None and method in self._knowledge.ends:
                    return [Given(function_id, context)]
        if isinstance(expr, Make) and not self._is_object(function_id, expr):
            return None
        return super()._behind(function_id, expr, part)

    def _is_object(self, function_id: str, made: Make) -> bool:
        """Whether something is of a type that has methods, not a channel."""
        match self._types.expressions.of(function_id, made):
            case ClassType(type=type_id):
                return self.is_interface(type_id)
            case found:
                return isinstance(found, LibraryType) and "." in found.name


def _may_lead_anywhere(part: object) -> bool:
    """Whether something is a `goto`: behind the wait, perhaps."""
    return isinstance(part, Jump) and part.kind == "raise" and part.value is None
