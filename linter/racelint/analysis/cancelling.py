"""Cancelling: what comes before a context is cancelled comes before what follows the wait for its end."""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, Captured, Value
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Call, Const, Expr, Item, Make, Name, Op

CONTEXT = "context at line "  # how what stands for a context begins


class Cancelling:
    """Finds what stands for a context in the functions that have it, or what cancels it."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge

    def context(self, function_id: str, expr: Expr) -> Value | None:
        """The context that a variable holds, or ends: `ctx, cancel := context.WithCancel(context.Background())`.

        Only if nothing else can end it but time: what it is made from lasts as long as the program.
        """
        owner, calls = self._made(function_id, expr)
        if owner is None or not calls or not all([self._is_own(owner, call, calls) for call in calls]):
            return None
        return Captured(owner, CONTEXT + ", ".join(sorted({str(call.span.line) for call in calls})))

    def is_timed(self, function_id: str, expr: Expr) -> bool:
        """Whether time may end the context that a variable holds, too."""
        owner, calls = self._made(function_id, expr)
        return owner is not None and any([self._does(owner, call.func, "timed") for call in calls])

    def cause(self, function_id: str, test: Expr) -> tuple[Value, bool] | None:
        """The context of which a test asks whether time has ended it (or, false, a call has): `==` or a library's."""
        match test:
            case Op(operator="==" | "!=" | "is" | "is not", operands=(asked, named)):
                pass
            case Call(func=func, args=(asked, named)) if self._does(function_id, func, "compares"):
                pass
            case _:
                return None
        by_time = self._does(function_id, named, "timed-out")
        if not by_time and not self._does(function_id, named, "cancelled"):
            return None
        if isinstance(asked, Name) and asked.scope == "local":
            bound = self._symbols.functions[function_id][1].bindings.get(asked.name, ())
            asked = bound[0] if len(bound) == 1 else asked
        match asked:
            case Call(func=Attr(base=held, name=name)) if name in self._knowledge.causes:
                context = self.context(function_id, held)
                return (context, by_time) if context is not None else None
            case _:
                return None

    def _made(self, function_id: str, expr: Expr) -> tuple[str | None, list[Call]]:
        """The function that binds a variable, and the calls that give the contexts which that holds, or ends."""
        if not isinstance(expr, Name) or expr.scope not in ("local", "captured"):
            return None, []
        owner = function_id if expr.scope == "local" else self._types.binder(function_id, expr.name)
        if owner is None:
            return None, []
        bound = [_core(each) for each in self._symbols.functions[owner][1].bindings.get(expr.name, ())]
        others = [each for each in bound if not (isinstance(each, Call) and self._gives_context(owner, each))]
        if not all([_is_nothing(each) or self._is_endless(owner, each) for each in others]):
            return owner, []
        return owner, [each for each in bound if isinstance(each, Call) and each not in others]

    def _gives_context(self, owner: str, call: Call) -> bool:
        return any([self._does(owner, call.func, what) for what in ("cancellable", "timed")])

    def _is_own(self, owner: str, call: Call, calls: list[Call]) -> bool:
        """Whether a context is made from nothing that others end: an endless one, or what its variable has held."""
        parent = call.args[0] if call.args else None
        if isinstance(parent, Name) and parent.scope == "local":
            return self._made(owner, parent)[1] == calls
        return parent is not None and self._is_endless(owner, parent)

    def _is_endless(self, owner: str, expr: Expr) -> bool:
        return isinstance(expr, Call) and self._does(owner, expr.func, "endless")

    def lasts(self, function_id: str, expr: Expr, done: Set[tuple[str, Value]]) -> bool:
        """Whether only the function at hand can end a context, and nothing that it may have done by now has.

        The other variable that the call gave is what ends it: nobody else gets hold of that.
        """
        context = self.context(function_id, expr)
        if not isinstance(context, Captured) or context.function != function_id or ("close", context) in done:
            return False
        if self.is_timed(function_id, expr):
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


def _is_nothing(expr: Expr) -> bool:
    """Whether a variable is only declared: neither a context nor what ends one is there yet."""
    return expr == Const(None) or (isinstance(expr, Make) and not (expr.parts or expr.fields))


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


def is_context(path: Value) -> bool:
    """Whether something stands for a context, which several may end."""
    return isinstance(path, Captured) and path.name.startswith(CONTEXT)
