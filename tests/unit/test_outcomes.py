"""What callers do with what a function returns."""

import pytest
from tests.unit.programs import lower

from racelint.analysis.outcomes import compared


@pytest.mark.parametrize(
    ("body", "only_compared"),
    [
        ("if found() is None:\n        return", True),
        ("if not found():\n        return", True),
        ("x = found()\n    if x is not None:\n        return", True),
        ("x = found()\n    if x is not None:\n        use(x)", False),
        ("use(found())", False),
        ("return found()", False),
        ("for x in found():\n        use(x)", False),
        ("x = found()\n    def inner():\n        use(x)\n    if x is None:\n        return inner", False),
    ],
)
def test_results_that_are_only_compared(body, only_compared):
    functions = lower(f"def f():\n    {body}\n").functions
    inner = [function.body for name, function in functions.items() if name.startswith("f.")]
    assert bool(set(compared(functions["f"].body, inner))) == only_compared
