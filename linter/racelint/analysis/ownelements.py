"""Own elements: what the runs that a loop starts, one for each element, do only where that is a certain one.

`for _, node := range nodes { go c.apply(node) }`, and in `apply` `if node == c.self { c.applied = true }`: one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.body import own_each_turn
from racelint.analysis.branching import arms, loops_around
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.repeating import Repeating
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Param
from racelint.model import Attr, Call, Const, Expr, Imported, Logic, Name, Op
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 20  # calls from an access up to where its context begins
EQUAL = "Equal"  # what a function that compares two objects is called


class OwnElements:
    """Finds accesses that only the run for one element comes to."""

    def __init__(self, symbols: Symbols, contexts: Contexts, repeating: Repeating) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._repeating = repeating

    def is_for_one(self, spot: Spot) -> bool:
        """Whether a test on the way to an access has found the run's own element equal to what is the same for all.

        It says nothing where several such loops meet on one object.
        """
        context = self._contexts.roots[spot.entry.context]
        if context.starter is None or context.span is None or self._repeating.runs(context).on_one:
            return False
        function, entry, span = spot.function, spot.entry, spot.access.span
        for _ in range(MOST_STEPS):
            if self._is_singled(function, entry, span, context):
                return True
            came = self._contexts.came(function, entry)
            if came is None:
                return False
            function, entry, span = came.caller, came.entry, came.span
        return False

    def _is_singled(self, function_id: str, entry: Entry, span: Span, context: Context) -> bool:
        body = self._symbols.functions[function_id][1].body
        return any(
            (self._is_own(one, function_id, entry, context) and self._is_same_for_all(other, function_id))
            or (self._is_own(other, function_id, entry, context) and self._is_same_for_all(one, function_id))
            for branch, arm in arms(body, span)
            for one, other in _equal(branch.test, held=arm == 0)
        )

    def _is_own(self, expr: Expr, function_id: str, entry: Entry, context: Context) -> bool:
        """Whether an expression is the element, or the index, that the loop has given to the run."""
        function = self._symbols.functions[function_id][1]
        match expr:
            case Name(name=name, scope="local") if not function.bindings.get(name) and name not in function.cells:
                names = [parameter.name for parameter in function.parameters]
                given = Param(function_id, names.index(name)) if name in names else None
                return given is not None and self._repeating.is_one_each_turn(given, function_id, entry, context)
            case Name(name=name, scope="captured"):
                return function_id.startswith(f"{context.starter}.") and self._is_walked(name, context)
            case _:
                return False

    def _is_walked(self, name: str, context: Context) -> bool:
        """Whether a variable of a starter is that of the loop which starts a context in each turn."""
        source, starter = self._symbols.functions[context.starter or ""]
        if context.span is None or name not in own_each_turn(starter, source.edition):
            return False
        walks = [loop for loop in loops_around(starter.body, context.span) if loop.iterable is not None]
        return any(isinstance(part, Name) and part.name == name for loop in walks for part in records((loop.target,)))

    def _is_same_for_all(self, expr: Expr, function_id: str) -> bool:
        """Whether an expression is a constant, or a path from a package or a method's own instance."""
        while isinstance(expr, Attr):
            expr = expr.base
        own = self._symbols.functions[function_id][1].own
        return isinstance(expr, Const | Imported) or (
            isinstance(expr, Name) and (expr.scope == "global" or (expr.scope == "local" and expr.name == own != ""))
        )


def _equal(test: Expr, *, held: bool) -> Iterator[tuple[Expr, Expr]]:
    """What is equal once a test has held, or has not."""
    match test:
        case Op(operator="not", operands=(operand,)):
            yield from _equal(operand, held=not held)
        case Logic(operator=operator, operands=operands) if held == (operator == "and"):
            for operand in operands:
                yield from _equal(operand, held=held)
        case Op(operator="==" | "!=" as operator, operands=(one, other)) if held == (operator == "=="):
            yield one, other
        case Call(func=Attr(base=base, name=name), args=args) if held and name == EQUAL:
            if len(args) == 2:
                yield args[0], args[1]
            elif len(args) == 1:
                yield base, args[0]
        case _:
            pass
