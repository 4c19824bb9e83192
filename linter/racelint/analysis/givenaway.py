"""Given away: what callers have made for a function alone, and do not look at again when they have called it.

`c := parse(text); return qualified(c)`: what `qualified` takes for its own of `c` is missed by nobody.
"""

from __future__ import annotations

from racelint.analysis.branching import blocks, is_looped
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import Fresh, Param
from racelint.model import Attr, Call, Expr, Function, Make, Name, Op
from racelint.record import records
from racelint.span import Span


class GivenAway:
    """Looks at the callers of functions that only their own package calls."""

    def __init__(self, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._usage = summaries.usage

    def is_given_away(self, parameter: Param) -> bool:
        """Whether each caller gives what it has made, by a variable that it does not name later, if by any."""
        _, function = self._symbols.functions[parameter.function]
        callers = [] if function.is_public else self._usage.callers(parameter.function)
        return bool(callers) and all(self._gives_away(caller, parameter) for caller in callers)

    def _gives_away(self, caller: str, parameter: Param) -> bool:
        _, function = self._symbols.functions[caller]
        for span, arguments in self._usage.arguments_from(caller, parameter.function):
            made = arguments[parameter.index] if parameter.index < len(arguments) else ()
            if not made or not all(isinstance(value, Fresh) for value in made) or is_looped(function.body, span):
                return False
            calls = [node for node in records(function.body) if isinstance(node, Call) and node.span == span]
            callee = self._symbols.functions[parameter.function][1]
            if not all(_is_parted_with(passed(call, parameter, callee), function, span) for call in calls):
                return False
        return True


def passed(call: Call, parameter: Param, function: Function) -> Expr | None:
    """What a call of a function passes for a parameter, as it is written there."""
    if function.owner and parameter.index == 0:
        return call.func.base if isinstance(call.func, Attr) else None
    index = parameter.index - bool(function.owner)
    return call.args[index] if index < len(call.args) else None


def _is_parted_with(given: Expr | None, function: Function, call: Span) -> bool:
    """Whether what a call gives is made there, or in a variable that no statement names from there on."""
    if not isinstance(given, Name):
        return isinstance(given, Call | Make) or (isinstance(given, Op) and given.operator == "address")
    if given.name not in function.bindings or given.name in function.cells:
        return False
    at = [stmt.span for block in blocks(function.body) for stmt in block if stmt.span.holds(call)]
    names = [node.span for node in records(function.body) if isinstance(node, Name) and node.name == given.name]
    return bool(at) and all(span == given.span or span[:2] < max(at)[:2] for span in names)
