"""Answers of tests that are the same wherever their function asks again."""

import textwrap

import pytest
from tests.unit.programs import lower

from racelint.analysis.settled_tests import Answer, SettledTests
from racelint.model import Call, Eval, Name
from racelint.record import records


def answers(body: str) -> list[tuple[Answer, ...]]:
    """By the calls of `spot()`, in their order, what is known there."""
    text = "def main(mode, daemon):\n" + textwrap.indent(body, "    ")
    function = lower(text).functions["main"]
    spots = [
        node.span
        for node in records(function.body)
        if isinstance(node, Eval) and isinstance(node.value, Call) and isinstance(node.value.func, Name)
        if node.value.func.name == "spot"
    ]
    found = SettledTests({})
    return [tuple(found.on_the_way("m:main", function, span)) for span in sorted(spots)]


MODE, ENABLED = ("local", "mode"), ("local", "daemon", "enabled")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if daemon.enabled:\n    spot()\n", [(Answer(ENABLED, False, True),)]),
        ("if not daemon.enabled and mode == 'a':\n    spot()\n",
         [(Answer(ENABLED, False, False), Answer(MODE, True, "a"))]),
        ("if daemon.enabled or mode:\n    spot()\nelse:\n    spot()\n",
         [(), (Answer(ENABLED, False, False), Answer(MODE, False, False))]),
        ("if mode != 'a':\n    return\nspot()\n", [(Answer(MODE, True, "a"),)]),
        ("if mode != 'a':\n    spot()\n", [()]),
        ("if daemon.enabled is None:\n    spot()\nelse:\n    spot()\n", [(Answer(ENABLED, True, None),), ()]),
        ("if daemon.enabled is not None:\n    return\nspot()\n", [(Answer(ENABLED, True, None),)]),
        ("if daemon.enabled():\n    spot()\n", [()]),
        ("mode = read()\nif mode:\n    spot()\n", [(Answer(MODE, False, True),)]),
        ("if mode:\n    spot()\nmode = read()\n", [()]),
        ("if daemon.enabled:\n    spot()\ndaemon.enabled = read()\n", [()]),
        ("if daemon.enabled:\n    spot()\ndaemon = read()\n", [()]),
        ("if mode:\n    spot()\nmode.append(1)\n", [()]),
        ("while True:\n    if mode:\n        spot()\n", [()]),
    ],
)  # fmt: skip
def test_answers(body, expected):
    assert answers(body) == expected
