"""Edits applied to text."""

from __future__ import annotations

import pytest

from racelint.finding import Edit, Fix, Location, Span
from racelint.fixes import Chosen, OverlapError, apply, rewrite


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Location("/a.py", Span(line, column, end_line, end_column)), text)


def test_edits_apply_in_any_order_and_equal_ones_once():
    edits = [edit(2, 5, 2, 6, "list(d)"), edit(1, 1, 1, 2, "e"), edit(2, 5, 2, 6, "list(d)")]
    assert apply("d = {}\nfor d:\n", edits) == "e = {}\nfor list(d):\n"


def test_an_edit_over_lines_and_an_insertion():
    assert apply("ab\ncd\nef", [edit(1, 2, 3, 2, "-"), edit(3, 3, 3, 3, "!")]) == "a-f!"


def test_overlapping_edits_are_refused():
    with pytest.raises(OverlapError, match="same text"):
        apply("abcdef", [edit(1, 1, 1, 4, "x"), edit(1, 3, 1, 5, "y")])


def fix(*edits: Edit) -> Fix:
    return Fix("", edits)


def test_fixes_are_chosen_in_order_unless_they_collide():
    chosen = Chosen()
    assert chosen.add(fix(edit(1, 5, 1, 9, "a"), edit(3, 1, 3, 1, "import copy\n")))
    assert chosen.add(fix(edit(5, 1, 5, 2, "b"), edit(3, 1, 3, 1, "import copy\n")))  # the same import
    assert not chosen.add(fix(edit(3, 1, 3, 1, "import os\n")))  # which of the two comes first?
    assert not chosen.add(fix(edit(1, 8, 1, 12, "c")))
    assert not chosen.add(fix(edit(1, 1, 1, 6, "c")))
    assert not chosen.add(fix(edit(7, 1, 7, 2, "d"), edit(5, 1, 5, 2, "e")))  # all edits or none
    assert chosen.add(fix(edit(1, 9, 1, 12, "c")))
    assert chosen.add(fix(edit(7, 1, 7, 2, "d")))
    assert chosen.paths == {"/a.py"}


@pytest.mark.parametrize("data", [b"a\rb", b"\xff", b"x"])
def test_what_cannot_be_written_as_it_was_is_not_rewritten(data):
    assert rewrite(data, "utf-8", [edit(1, 1, 1, 2, "\udc80")]) is None
