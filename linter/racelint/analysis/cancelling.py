"""Cancelling: what comes before a context is cancelled comes before what follows the wait for its end."""

from __future__ import annotations

from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, Captured, Value
from racelint.knowledge import Knowledge
from racelint.model import Call, Expr, Item, Name


class Cancelling:
    """Finds what stands for a context in the functions that have it, or what cancels it."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge

    def context(self, function_id: str, expr: Expr) -> Value | None:
        """The context that a variable holds, or ends: `ctx, cancel := context.WithCancel(context.Background())`.

        Only if nothing else can end it: what it is made from lasts as long as the program.
        """
        if not isinstance(expr, Name) or expr.scope not in ("local", "captured"):
            return None
        owner = function_id if expr.scope == "local" else self._types.binder(function_id, expr.name)
        bound = self._symbols.functions[owner][1].bindings.get(expr.name, ()) if owner is not None else ()
        if owner is None or len(bound) != 1:
            return None
        made = bound[0]
        while isinstance(made, Item):
            made = made.base
        if not isinstance(made, Call) or not self._does(owner, made.func, "cancellable"):
            return None
        if not any(isinstance(each, Call) and self._does(owner, each.func, "endless") for each in made.args[:1]):
            return None
        return Captured(owner, f"context at line {made.span.line}")

    def _does(self, function_id: str, called: Expr, what: str) -> bool:
        """Whether a library's function is called of which the tables say that."""
        found = self._symbols.static(self._symbols.functions[function_id][0].name, called)
        return isinstance(found, Builtin) and self._knowledge.does(found.name, what) is not None
