"""The few source lines that a finding is about, cut to fit beside their line numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from racelint.finding import Finding

NEAR = 6  # lines between the reported line and another access that is still worth showing with it
GUTTER = 10


class Line(NamedTuple):
    """A line of source: the reported one, one that another access touches, or one that explains them."""

    number: int
    text: str
    reported: bool
    touched: bool
    emphasis: tuple[int, int]


def excerpt(finding: Finding, source: Sequence[str], width: int) -> list[Line]:
    """The reported line with the one before it, and other accesses nearby with all between; no blank lines."""
    span = finding.location.span
    if not 1 <= span.line <= len(source):
        return []
    touched = {
        access.location.line
        for access in finding.accesses
        if access.location.path == finding.location.path and abs(access.location.line - span.line) <= NEAR
    }
    first, last = min(touched | {span.line}), max(touched | {span.line})
    while first > 1 and first >= span.line - 1 and (first == span.line or not source[first - 1].strip()):
        first -= 1
    numbers = [number for number in range(first, min(last, len(source)) + 1) if source[number - 1].strip()]
    texts = {number: clean(source[number - 1].rstrip()) for number in numbers}
    margin = min((len(text) - len(text.lstrip()) for text in texts.values()), default=0)
    return [_line(number, texts[number], margin, finding, touched=number in touched, width=width) for number in numbers]


def _line(number: int, text: str, margin: int, finding: Finding, *, touched: bool, width: int) -> Line:
    room = max(width - GUTTER, 30)
    text, span = text[margin:], finding.location.span
    reported = number == span.line
    start = end = 0
    if reported:
        start = span.column - 1 - margin
        end = span.end_column - 1 - margin if span.end_line == span.line else len(text)
    if len(text) > room:
        text = text[: room - 1] + "…"
    return Line(number, text, reported, touched, (max(start, 0), max(end, 0)))


def clean(text: str) -> str:
    """Text without what would steer a terminal: the analysed code is not ours. Tabs keep one column each."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda match: " " if match[0] == "\t" else "\N{REPLACEMENT CHARACTER}", text)
