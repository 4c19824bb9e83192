"""Modes: the programs of a repository, and the way that one has taken where it starts."""

import pytest

from racelint.analysis.modes import Mode, are_apart
from racelint.span import Span

IF = Span(2, 1, 9, 1)
INNER = Span(3, 1, 5, 1)


def mode(program="main", *arms):
    return Mode(program, frozenset((program, branch, arm) for branch, arm in arms))


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ([mode()], [mode()], False),
        ([mode()], [mode("other")], True),
        ([mode("main", (IF, 0))], [mode("main", (IF, 1))], True),
        ([mode("main", (IF, 0))], [mode()], False),
        ([mode("main", (IF, 0))], [mode("main", (INNER, 1))], False),
        ([mode("main", (IF, 0), (INNER, 0))], [mode("main", (IF, 0), (INNER, 1))], True),
        ([mode("main", (IF, 0)), mode("other")], [mode("main", (IF, 1))], True),
        ([mode("main", (IF, 0)), mode("other")], [mode("main", (IF, 1)), mode("other")], False),
        ([], [mode()], False),
    ],
)
def test_who_is_never_in_one_process(first, second, apart):
    assert are_apart(first, second) is apart
    assert are_apart(second, first) is apart
