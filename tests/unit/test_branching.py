"""Which of two statements excludes the other, and which comes first."""

import pytest
from tests.unit.programs import lower

from racelint.analysis.branching import are_alternatives, arms, comes_first, is_never_behind


def spots(body):
    """The block of a function, and the spans of its calls of first() and second()."""
    module = lower("def f(c):\n" + "".join(f"    {line}\n" for line in body.split("\n")))
    function = module.functions["f"]
    found = {}

    def walk(block):
        for stmt in block:
            func = getattr(getattr(stmt, "value", None), "func", None)
            if getattr(func, "name", "") in ("first", "second"):
                found[func.name] = stmt.span
            for name in ("then", "orelse", "body", "final"):
                walk(getattr(stmt, name, ()))
            for handler in getattr(stmt, "handlers", ()):
                walk(handler.body)

    walk(function.body)
    return function.body, found["first"], found["second"]


@pytest.mark.parametrize(
    ("body", "alternatives", "ordered"),
    [
        ("first()\nsecond()", False, True),
        ("if c:\n    first()\nelse:\n    second()", True, False),
        ("if c:\n    first()\n    return\nsecond()", True, False),
        ("if c:\n    first()\nsecond()", False, False),
        ("first()\nif c:\n    second()", False, True),
        ("with c:\n    first()\nsecond()", False, True),
        ("with c:\n    with c:\n        first()\nif c:\n    second()", False, True),
        ("with c:\n    if c:\n        first()\nsecond()", False, False),
        ("while c:\n    if c:\n        first()\n    else:\n        second()", False, False),
        ("try:\n    if c:\n        first()\n        raise c\nexcept ValueError:\n    second()", False, False),
        ("try:\n    first()\nexcept ValueError:\n    second()", False, False),
        ("match c:\n    case 1:\n        first()\n    case _:\n        second()", True, False),
        (
            "match c:\n    case 0:\n        c()\n    case 1:\n        first()\n    case 2:\n        second()",
            True,
            False,
        ),
    ],
)
def test_two_spots_of_a_function(body, alternatives, ordered):
    block, first, second = spots(body)
    assert are_alternatives(block, first, second) is alternatives
    assert comes_first(block, first, second) is ordered


@pytest.mark.parametrize(
    ("body", "never", "never_swapped"),
    [
        ("first()\nsecond()", True, False),
        ("if c:\n    second()\n    return\nfirst()", True, True),
        ("if c:\n    second()\nfirst()", False, True),
        ("while c:\n    first()\n    second()", False, False),
        ("while c:\n    first()\nsecond()", True, False),
    ],
)
def test_a_spot_that_is_never_behind_another_one(body, never, never_swapped):
    block, first, second = spots(body)
    assert is_never_behind(block, first, second) is never
    assert is_never_behind(block, second, first) is never_swapped


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("first()\nsecond()", ([], [])),
        ("if c:\n    first()\nelse:\n    second()", ([(2, 0)], [(2, 1)])),
        ("if c:\n    first()\n    return\nsecond()", ([(2, 0)], [(2, 1)])),
        ("if c:\n    first()\nsecond()", ([(2, 0)], [])),
        ("if c:\n    if not c:\n        first()\nelse:\n    second()", ([(2, 0), (3, 0)], [(2, 1)])),
        ("while c:\n    if c:\n        first()\nif c:\n    second()", ([], [(5, 0)])),
        ("try:\n    if c:\n        first()\nfinally:\n    second()", ([(3, 0)], [])),
    ],
)
def test_the_arms_that_lead_to_a_spot(body, expected):
    block, *found = spots(body)
    assert tuple([(branch.span.line, arm) for branch, arm in arms(block, spot)] for spot in found) == expected
