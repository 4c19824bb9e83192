"""Suppressions: which comment covers which finding."""

from __future__ import annotations

import textwrap

import pytest

from racelint.finding import Confidence, Finding, Location, Severity, Span
from racelint.languages.python import FRONT_END
from racelint.model import Source
from racelint.suppress import collect, sift


def finding(line: int, rule: str = "a-rule", path: str = "/p.py", end_line: int = 0) -> Finding:
    span = Span(line, 1, end_line or line, 5)
    return Finding(rule, Severity.ERROR, Confidence.HIGH, Location(path, span), "message", "x", "f")


def suppressions(text: str):
    text = textwrap.dedent(text)
    data = text.encode()
    source = Source("/p.py", "p", FRONT_END.extract(data), True)
    return collect([source], lambda source: FRONT_END.comments(data), lambda path: text.split("\n"))


def covered(text: str, lines: int, rule: str = "a-rule") -> list[int]:
    """The lines on which a finding of `rule` is silenced."""
    sifted = sift([finding(line, rule) for line in range(1, lines + 1)], suppressions(text))
    kept = {found.location.line for found in sifted.kept}
    return [line for line in range(1, lines + 1) if line not in kept]


def test_on_the_line():
    assert covered("x = {}\nx[1] = 2  # racelint: ignore[a-rule] only at start\nx[2] = 3\n", 3) == [2]


def test_other_rules_are_not_silenced():
    text = "x = {}  # racelint: ignore[b-rule, c-rule]\n"
    assert covered(text, 1) == []
    assert covered(text, 1, "c-rule") == [1]


def test_without_names_every_rule_is_silenced():
    assert covered("x = {}  # racelint: ignore because\n", 1, "any-rule") == [1]


def test_alone_above_a_statement():
    assert covered("# racelint: ignore[a-rule]\nx = {}\ny = {}\n", 3) == [2]


def test_alone_with_a_reason_over_several_lines():
    assert covered("# racelint: ignore[a-rule] a long\n# reason\nx = {}\ny = {}\n", 4) == [3]


FUNCTION = """\
def before(): pass
{above}
@decorated
def f(
    a,
){on}:
    a.b = 1{inside}

    a.c = 2
def after(): pass
"""


@pytest.mark.parametrize(
    ("places", "lines"),
    [
        ({"above": "# racelint: ignore[a-rule]"}, [3, 4, 5, 6, 7, 8, 9]),
        ({"on": " -> None"}, []),
        ({"inside": "  # racelint: ignore[a-rule]"}, [7]),
    ],
)
def test_above_or_in_a_function(places, lines):
    text = FUNCTION.format(**{"above": "", "on": "", "inside": "", **places})
    assert covered(text, 10) == lines


@pytest.mark.parametrize("marked", [3, 4, 5, 6])
def test_on_any_line_of_a_signature(marked):
    lines = FUNCTION.format(above="", on="", inside="").split("\n")
    lines[marked - 1] += "  # racelint: ignore[a-rule]"
    assert covered("\n".join(lines), 10) == [3, 4, 5, 6, 7, 8, 9]


def test_between_decorator_and_function():
    text = "@decorated\n# racelint: ignore[a-rule]\ndef f(self):\n    self.x = 1\n"
    assert covered(text, 4) == [1, 2, 3, 4]


def test_on_a_class():
    text = """\
        class A:  # racelint: ignore[a-rule] one thread only
            def f(self):
                self.x = 1

            def g(self):
                self.x = 2
        class B: pass
        """
    assert covered(text, 7) == [1, 2, 3, 4, 5, 6]


def test_alone_as_the_first_line_of_a_body_covers_one_line():
    assert covered("def f(self):\n    # racelint: ignore[a-rule]\n    self.x = 1\n    self.y = 1\n", 4) == [3]


def test_after_the_last_line_of_what_is_reported():
    found = suppressions("x.update(\n    1,\n)  # racelint: ignore[a-rule]\n")
    assert sift([finding(1, end_line=3)], found).suppressed == 1
    assert sift([finding(2)], found).suppressed == 1
    assert sift([finding(4, end_line=5)], found).suppressed == 0


def test_a_comment_among_others_and_one_in_a_string():
    assert covered("x = {}  # noqa: E501  # racelint: ignore[a-rule]\n", 1) == [1]
    assert covered("x = '# racelint: ignore[a-rule]'\n", 1) == []


def test_counts_and_what_is_used():
    sifted = sift(
        [finding(1), finding(1, "b-rule"), finding(2)],
        suppressions("x = {}  # racelint: ignore\ny = 1\nz = 1  # racelint: ignore[a-rule] stale\n"),
    )
    assert sifted.suppressed == 2
    assert {item.line: rules for item, rules in sifted.used.items()} == {1: {"a-rule", "b-rule"}}


def test_another_file_is_not_silenced():
    found = suppressions("x = {}  # racelint: ignore\n")
    assert sift([finding(1, path="/q.py")], found).suppressed == 0
