"""Edits applied to text."""

from __future__ import annotations

import pytest

from racelint.finding import Edit, Location, Span
from racelint.fixes import OverlapError, apply


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
