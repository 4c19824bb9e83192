"""Cancelling: what comes before a context is cancelled comes before what follows the wait for its end."""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, Captured, Value
from racelint.knowledge import Knowledge
from racelint.model import Assign, Call, Expr, Item, Name


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
        made = _core(bound[0])
        if not isinstance(made, Call) or not self._does(owner, made.func, "cancellable"):
            return None
        if not any(isinstance(each, Call) and self._does(owner, each.func, "endless") for each in made.args[:1]):
            return None
        return Captured(owner, f"context at line {made.span.line}")

    def lasts(self, function_id: str, expr: Expr, done: Set[tuple[str, Value]]) -> bool:
        """Whether only the function at hand can end a context, and nothing that it may have done by now has.

        The other variable that the call gave is what ends it: nobody else gets hold of that.
        """
        context = self.context(function_id, expr)
        if not isinstance(context, Captured) or context.function != function_id or ("close", context) in done:
            return False
        function = self._symbols.functions[function_id][1]
        bound = [(name, _core(given[0])) for name, given in function.bindings.items() if len(given) == 1]
        calls = [each for name, each in bound if isinstance(expr, Name) and name == expr.name]
        ends = [name for name, each in bound if each in calls and isinstance(expr, Name) and name != expr.name]
        return len(ends) == 1 and ends[0] not in function.cells and _is_only_called(function.body, ends[0])

    def _does(self, function_id: str, called: Expr, what: str) -> bool:
        """Whether a library's function is called of which the tables say that."""
        found = self._symbols.static(self._symbols.functions[function_id][0].name, called)
        return isinstance(found, Builtin) and self._knowledge.does(found.name, what) is not None


def _core(expr: Expr) -> Expr:
    """The call that a variable holds one of the results of."""
    while isinstance(expr, Item):
        expr = expr.base
    return expr


def _is_only_called(part: object, name: str) -> bool:
    """Whether a variable is called wherever it is read in a part of a function, so that nobody else gets it."""
    match part:
        case Name():
            return part.name != name
        case Call(func=Name(), args=args, keywords=keywords):
            return _is_only_called((args, keywords), name)
        case Assign(value=value):
            return _is_only_called(value, name)
        case tuple():
            return all(_is_only_called(inner, name) for inner in part)
        case _:
            return True
