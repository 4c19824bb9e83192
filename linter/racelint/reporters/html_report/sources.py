"""Source text beside the drawing: the lines around an access with what is accessed marked, and single lines."""

from __future__ import annotations

from functools import lru_cache

from racelint.finding import Location, Span
from racelint.reporters import View
from racelint.reporters.html_report.markup import Markup, tag

AROUND = 2  # lines before and after
MOST_LINES = 6  # of a long span
NEAR = 8  # lines that one excerpt spans
MOST_COLUMNS = 240


class Sources:
    """Reads each file once, and shows its lines."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._lines = lru_cache(maxsize=64)(view.lines)

    def place(self, location: Location, near: str = "") -> str:
        """A file and a line; the name alone will do beside `near`, the file that is shown in full already."""
        path = location.path.rpartition("/")[2] if location.path == near else self._view.path(location.path)
        return f"{path}:{location.line}"

    def line(self, location: Location) -> str:
        """The text of a location's first line, without its margin."""
        lines = self._lines(location.path)
        return lines[location.line - 1].strip()[:MOST_COLUMNS] if 1 <= location.line <= len(lines) else ""

    def excerpt(self, location: Location, other: Location | None = None) -> Markup | None:
        """The lines around a location, its own marked, from `other` on if that stands shortly before.

        Nothing if the file has no such line any more.
        """
        lines, span = self._lines(location.path), location.span
        if not 1 <= span.line <= len(lines):
            return None
        first = other.line if other and is_near(other, location) else span.line
        last = min(span.end_line, span.line + MOST_LINES - 1)
        numbers = range(max(first - AROUND, 1), min(last + AROUND, len(lines)) + 1)
        shown = {number: lines[number - 1].rstrip() for number in numbers}
        margin = min((len(text) - len(text.lstrip()) for text in shown.values() if text), default=0)
        rows = [_row(number, text, margin, span) for number, text in shown.items()]
        return tag("pre", rows, class_="src", aria_label=f"Source of {self.place(location)}", role="group")


def is_near(first: Location, second: Location) -> bool:
    """Whether one location stands so shortly before another that one excerpt shows both."""
    return first.path == second.path and 0 <= second.line - first.line <= NEAR


def _row(number: int, text: str, margin: int, span: Span) -> Markup:
    """A line: its number, its indentation (so that what is wrapped stays indented), and the code."""
    indent = len(text) - len(text.lstrip())
    lead = [tag("b", str(number)), tag("i", text[margin:indent]) if indent > margin else None]
    if not span.line <= number <= span.end_line:
        return tag("span", lead, tag("code", text[indent:MOST_COLUMNS] or " "), "\n")
    start = max(span.column - 1 if number == span.line else 0, indent)
    end = min(max(span.end_column - 1 if number == span.end_line else len(text), start), MOST_COLUMNS)
    code = tag("code", text[indent:start], tag("mark", text[start:end]), text[end:MOST_COLUMNS])
    return tag("span", lead, code, "\n", class_="hit")
