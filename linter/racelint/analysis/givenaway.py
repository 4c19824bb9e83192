"""Given away: what callers have made for a function alone, and do not look at again when they have called it.

`c := parse(text); return qualified(c)`: what `qualified` takes for its own of `c` is missed by nobody.
"""

from __future__ import annotations

from typing import TypeGuard

from racelint.analysis.branching import are_alternatives, blocks, loops_around
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import Fresh, Param
from racelint.model import Assign, Attr, Block, Call, Expr, Function, Make, Name, Op
from racelint.record import records
from racelint.span import Span

GROWS = "append"  # which keeps what it is given


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
            around = loops_around(function.body, span)
            turn = around[-1].body if around else function.body
            if not made or not all(isinstance(value, Fresh) for value in made):
                return False
            sites = [value.site for value in made if isinstance(value, Fresh)]
            if around and not all(site.function == caller and _holds(turn, site.span) for site in sites):
                return False  # other turns have the same one
            calls = [node for node in records(function.body) if isinstance(node, Call) and node.span == span]
            callee = self._symbols.functions[parameter.function][1]
            given = [passed(call, parameter, callee) for call in calls]
            if not all(_is_parted_with(each, function, turn, span) for each in given):
                return False
            if around and any(_is_kept(each, function.body, turn) for each in given):
                return False
        return True


def passed(call: Call, parameter: Param, function: Function) -> Expr | None:
    """What a call of a function passes for a parameter, as it is written there."""
    if function.owner and parameter.index == 0:
        return call.func.base if isinstance(call.func, Attr) else None
    index = parameter.index - bool(function.owner)
    return call.args[index] if index < len(call.args) else None


def _is_parted_with(given: Expr | None, function: Function, turn: Block, call: Span) -> bool:
    """Whether what a call gives is made there, or in a variable that no statement names from there on.

    `turn` is what each turn of the loop around the call does, or the whole function.
    """
    if not isinstance(given, Name):
        return isinstance(given, Call | Make) or (given is not None and _is_address(given))
    if given.name not in function.bindings or given.name in function.cells:
        return False
    at = [stmt.span for block in blocks(function.body) for stmt in block if stmt.span.holds(call)]
    others = [span for span in _names(given.name, function.body) if span != given.span]
    return bool(at) and all(span[:2] < max(at)[:2] or are_alternatives(turn, span, call) for span in others)


def _is_kept(given: Expr | None, body: Block, turn: Block) -> bool:
    """Whether a variable lives longer than a turn of a loop, or the turn keeps what it has in another one.

    It only asks it, sets its parts, and hands it to functions.
    """
    if not isinstance(given, Name):
        return False
    asked: set[Span] = set()
    for node in records(turn):
        match node:
            case Assign(targets=targets):
                asked |= {target.span for target in targets if isinstance(target, Name)}
            case Attr(base=Name() as base):
                asked.add(base.span)
            case Call(func=Attr() | Name() as func, args=args) if func.name != GROWS:
                named = [arg.operands[0] if _is_address(arg) else arg for arg in args]
                asked |= {arg.span for arg in named if isinstance(arg, Name)}
            case _:
                pass
    return not set(_names(given.name, body)) <= asked


def _is_address(expr: Expr) -> TypeGuard[Op]:
    return isinstance(expr, Op) and expr.operator == "address"


def _names(name: str, body: Block) -> list[Span]:
    return [node.span for node in records(body) if isinstance(node, Name) and node.name == name]


def _holds(block: Block, spot: Span) -> bool:
    return any(stmt.span.holds(spot) for stmt in block)
