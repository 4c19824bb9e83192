"""Vacancy: tests that find a container empty, `if not xs`, `if len(xs) == 0`.

No turn of a loop over it comes to what is done only then: there is an element at hand. `if xs and not again: return`
says so to those whose `again` is false.
"""

from __future__ import annotations

from collections.abc import Sequence

from racelint.analysis.state import Assumptions, Predicate, State
from racelint.analysis.values import Captured, Element, Field, Global, Param, Value, Values
from racelint.model import Attr, Call, Const, Expr, Item, Name, Op

VACANT = "vacant"
ASKED = frozenset({"truth", "none", "equal"})  # properties of what a caller gives that a constant of his decides
# By operator: the number with which a length is compared, and whether the test is true of an empty container.
COMPARED = {("==", 0): True, ("<", 1): True, ("<=", 0): True, ("!=", 0): False, (">", 0): False, (">=", 1): False}


def measured(test: Expr) -> tuple[Expr, bool] | None:
    """The container whose length a test asks for, and the outcome that says that there is nothing in it."""
    match test:
        case Op(operator=operator, operands=(length, Const(value=int(number)))) if (operator, number) in COMPARED:
            asked = _of_length(length)
            return (asked, COMPARED[operator, number]) if asked is not None else None
        case Call():
            asked = _of_length(test)
            return (asked, False) if asked is not None else None
        case _:
            return None


def _of_length(expr: Expr) -> Expr | None:
    match expr:
        case (
            Op(operator="length", operands=(asked,))
            | Call(func=Name(name="len", scope="global"), args=(asked,), keywords=())
        ) if isinstance(asked, Name | Attr | Item):
            return asked
        case _:
            return None


def note_vacant(values: Values, state: State) -> None:
    """A test has found empty what has these values; which of several, is not known."""
    if len(values) == 1 and isinstance(values[0], Field | Element | Global | Captured | Param):
        state.assumptions[Predicate(values[0], VACANT)] = True


def is_vacant(container: Value, state: State) -> bool:
    """Whether the way here goes through a test that has found a container empty."""
    return bool(state.assumptions) and Predicate(container, VACANT) in state.assumptions


def note_vacant_unless(ways: Sequence[Assumptions], before: Assumptions, after: State) -> None:
    """Several ways lead on: a container was found empty on all of them but one, which takes something of the caller's.

    `if xs and not again: return` goes on if there is nothing in `xs`, or `again` is true.
    """
    for container in [p.value for way in ways for p in way if p.test == VACANT and p.scalar is None]:
        others = [way for way in ways if Predicate(container, VACANT) not in way]
        if len(others) == 1:
            new = [pair for pair in others[0].items() if pair[0] not in before and pair[0].value != container]
            for asked in [pair for pair in new if type(pair[0].value) is Param and pair[0].test in ASKED][:1]:
                after.assumptions[Predicate(container, VACANT, asked)] = True


def vacant_unless(container: Value, state: State) -> tuple[Predicate, bool] | None:
    """What a caller has said if the way here goes through a test that need not have found a container empty."""
    for predicate in state.assumptions:
        if predicate.test == VACANT and predicate.value == container and isinstance(predicate.scalar, tuple):
            asked, held = predicate.scalar
            return asked, held
    return None


def forget_vacant(state: State) -> None:
    """What a while loop has found empty in the end, it may have emptied itself."""
    if any([predicate.test == VACANT for predicate in state.assumptions]):
        state.assumptions = {p: held for p, held in state.assumptions.items() if p.test != VACANT}


def fill(container: Value, state: State) -> None:
    """There is something in a container, whatever a test has said before."""
    if any([predicate.test == VACANT and predicate.value == container for predicate in state.assumptions]):
        kept = {p: held for p, held in state.assumptions.items() if p.test != VACANT or p.value != container}
        state.assumptions = kept
