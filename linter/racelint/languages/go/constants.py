"""Constants: what names that stand for one for good are worth, also those that are counted by `iota`."""

from __future__ import annotations

from collections.abc import Mapping

from racelint.model import Call, Cast, Const, Expr, Field, Name, Op

MOST_BITS = 64
STEPS = 20  # of one expression


def folded(expr: Expr, known: Mapping[str, Field], turn: int, steps: int = STEPS) -> Const | None:
    """What a constant expression is worth; `turn` is its line in the declaration. None for what is not followed."""
    if steps == 0:
        return None
    match expr:
        case Const(value=bool() | int() | str()):
            return expr
        case Name(name=name, scope="global"):
            return known[name].constant if name in known else None
        case Op(operator="iota"):
            return Const(turn)
        case Cast(value=inner) | Call(func=Name(scope="global"), args=(inner,), keywords=()):  # `State("open")`
            return folded(inner, known, turn, steps - 1)
        case Op(operator=operator, operands=(left, right)):
            sides = folded(left, known, turn, steps - 1), folded(right, known, turn, steps - 1)
            return _computed(operator, *sides)
        case _:
            return None


def _computed(operator: str, left: Const | None, right: Const | None) -> Const | None:
    """What an operator gives for two constants: `iota + 1`, `1 << iota`, `prefix + "open"`."""
    match operator, left, right:
        case "+", Const(value=str() as one), Const(value=str() as other):
            return Const(one + other)
        case _, Const(value=int() as first), Const(value=int() as second):
            return _counted(operator, first, second)
        case _:
            return None


def _counted(operator: str, first: int, second: int) -> Const | None:
    match operator:
        case "+":
            return Const(first + second)
        case "-":
            return Const(first - second)
        case "*":
            return Const(first * second)
        case "<<" if 0 <= second < MOST_BITS:
            return Const(first << second)
        case "|":
            return Const(first | second)
        case _:
            return None
