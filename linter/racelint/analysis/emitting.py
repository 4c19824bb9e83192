"""Loops that call what they walk: listeners, hooks, callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from racelint.analysis.branching import goes_on
from racelint.model import Assign, Attr, Await, Block, Call, Const, Eval, Expr, Function, Loop, Name
from racelint.record import records
from racelint.span import Span

Passes = Callable[[str, int], bool]  # whether a method of the own class calls the argument at a position


class Emission(NamedTuple):
    """A call of what a loop walks, after which the loop goes on.

    `form` is "direct" (the element itself), "named" (a method whose name the program puts together) or "method".
    `thrown_away` says that nobody uses what it returns: it is told something, not asked. `method` is the element's
    method that is called, "" if there is none, or its name is not written there.
    """

    span: Span
    form: str
    thrown_away: bool
    method: str = ""


def emissions(function: Function, loop: Loop, passes: Passes) -> list[Emission]:
    """The calls of a loop's own elements, directly, by a helper of the same class, or by their methods."""
    assert loop.target is not None
    walked = {part.name for part in records(loop.target) if isinstance(part, Name)}
    looked_up = _looked_up(loop.body, walked)
    told = [call for call in map(_told, records(loop.body)) if call is not None]
    found = [Emission(call.span, "direct", True) for call in told if _is_named(call.func, walked)]
    found += [Emission(call.span, "direct", True) for call in told if _is_passed(call, walked, passes)]
    for call in [node for node in records(loop.body) if isinstance(node, Call)]:
        if _is_named(call.func, looked_up):
            found.append(Emission(call.span, "named", False))
        elif _is_named(call.func, walked):
            found.append(Emission(call.span, "direct", False))
    found += [
        Emission(call.span, "method", True, call.func.name)
        for call in told
        if isinstance(call.func, Attr) and _is_named(call.func.base, walked)
    ]
    awaited = {
        part.value.span for part in records(loop.body) if isinstance(part, Await) and isinstance(part.value, Call)
    }
    runs = [each for each in found if each.thrown_away or each.span in awaited or not function.is_async]
    return [each for each in runs if goes_on(loop, each.span)]


def _told(node: object) -> Call | None:
    """The call that a statement consists of, awaited or not."""
    value = node.value if isinstance(node, Eval) else None
    value = value.value if isinstance(value, Await) else value
    return value if isinstance(value, Call) else None


def _is_named(expr: Expr, names: set[str]) -> bool:
    return isinstance(expr, Name) and expr.name in names


def _is_passed(call: Call, names: set[str], passes: Passes) -> bool:
    """Whether a method of the own object is given an element that it calls."""
    match call.func:
        case Attr(base=Name(), name=method):
            return any(_is_named(arg, names) and passes(method, index) for index, arg in enumerate(call.args))
        case _:
            return False


def _looked_up(body: Block, walked: set[str]) -> set[str]:
    """Variables that hold a method of an element, found by a name that is not written there."""

    def looks_up(value: Expr) -> bool:
        match value:
            case Call(func=Name(name="getattr"), args=(owner, name, *_)):
                return _is_named(owner, walked) and not isinstance(name, Const)
            case _:
                return False

    stored = [node for node in records(body) if isinstance(node, Assign) and looks_up(node.value)]
    return {target.name for node in stored for target in node.targets if isinstance(target, Name)}
