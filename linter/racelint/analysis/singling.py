"""Singling out: comparisons that hold for one element of a sequence, where a language cuts such a one out by index."""

from __future__ import annotations

from racelint.analysis.body import is_within, whole
from racelint.analysis.paths import root, underlying
from racelint.analysis.summary import Frame
from racelint.analysis.values import Element, Fresh, Literal, Member, Result, Tuple, Unknown, Value, Values
from racelint.model import Attr, Expr, Name
from racelint.span import Span


def picked_out(operands: tuple[Expr, ...], sides: list[Values], frame: Frame | None) -> set[Value]:
    """What is compared with something that is the same in each turn of the loop at hand.

    `sides` are the values of the operands, `frame` is that loop's.
    """
    found: set[Value] = set()
    for mine, others, other in zip(sides, sides[::-1], operands[::-1], strict=True):
        name = _first_name(other)
        if frame is not None and (name in frame.assigns or (not name and _vary(others, frame.loop))):
            continue
        if frame is not None and any([is_within(v, walked) for v in others for walked, _ in frame.iterated]):
            continue  # each turn of the loop has another one
        found |= {value for value in mine if _stands_out(value, others, frame)}
    return found


def at_hand(elements: Values) -> Values:
    """What is known of a turn's element: behind its position, if the loop's target has both."""
    parts = [part for value in elements for part in (value.parts[-1] if isinstance(value, Tuple) else (value,))]
    return tuple([part for part in parts if not isinstance(part, Unknown | Literal)])


def _stands_out(value: Value, others: Values, frame: Frame | None) -> bool:
    """Whether a value is an element, or a part of one, and none of the others is of the same container."""
    walked = _walked(value)
    if walked is not None:
        return not any([is_within(other, walked) for other in others])
    if frame is not None and whole(value) in frame.elements:
        return not any([whole(other) in frame.elements for other in others])
    return frame is not None and _is_own(value, frame) and not any([_is_own(other, frame) for other in others])


def _is_own(value: Value, frame: Frame) -> bool:
    """Whether a value is a part of the copy that each turn of a loop has of an element."""
    start = root(value)
    return isinstance(start, Fresh) and start.site.span == frame.loop and frame.loop is not None


def _walked(value: Value) -> Value | None:
    """The container of which a value is an element, or a field of one."""
    value = whole(value)
    return underlying(value.base) if isinstance(value, Element | Member) else None


def _vary(values: Values, loop: Span | None) -> bool:
    """Whether one of some values is not known, or comes out of a call inside a loop."""
    starts = [root(value) for value in values]
    made = [start for start in starts if isinstance(start, Result | Fresh)]
    unknown = any([isinstance(start, Unknown) for start in starts])
    return loop is not None and (unknown or any([loop.holds(start.site.span) for start in made]))


def _first_name(expr: Expr) -> str:
    """The variable with which an access path starts, "" if it is none."""
    while isinstance(expr, Attr):
        expr = expr.base
    return expr.name if isinstance(expr, Name) else ""
