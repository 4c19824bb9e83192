"""Findings about suppressions: those that silence nothing, with the edit that deletes them; those without a reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from racelint.comment_rules import NAMES, UNEXPLAINED, UNUSED
from racelint.finding import Confidence, Edit, Finding, Fix, Location, Severity, Span
from racelint.suppress import Suppression
from racelint.suppress.directive import Part


class Unused(NamedTuple):
    """A suppression, and which of its names silence nothing; all do not if there are none."""

    suppression: Suppression
    parts: tuple[Part, ...]


def unused(
    suppressions: Iterable[Suppression], used: Mapping[Suppression, frozenset[str]], known: frozenset[str],
    asked_at: Callable[[str], Collection[str]],
) -> Iterator[Unused]:  # fmt: skip
    """The suppressions that silence less than they say, where that can be told.

    `known` are all rules that there are, `asked_at` gives those that were asked about a file.
    """
    for item in suppressions:
        asked, silenced = asked_at(item.path), used.get(item, frozenset[str]())
        if UNUSED in item.rules:
            continue
        if not item.rules:
            if not silenced and known - NAMES <= set(asked):
                yield Unused(item, ())
        elif set(item.rules) <= set(asked):
            parts = tuple(part for part in item.directive.parts if part.name not in silenced | NAMES)
            if parts:
                yield Unused(item, parts)


def report_unused(item: Unused, lines: Sequence[str]) -> Finding:
    """The finding about an unused suppression."""
    names = ", ".join(part.name for part in item.parts)
    what = f"{names} {'reports' if len(item.parts) == 1 else 'report'} nothing" if names else "no rule reports anything"
    return Finding(
        rule=UNUSED,
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        location=_location(item.suppression),
        message=f"this comment silences nothing: {what} here",
        symbol=names,
        function="",
        harm="it will silence the next bug here, which nobody has looked at",
        mend="delete it",
        fix=_fix(item, lines),
    )


def report_unexplained(item: Suppression) -> Finding:
    """The finding about a suppression without a reason."""
    return Finding(
        rule=UNEXPLAINED,
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        location=_location(item),
        message="this comment silences a rule and does not say why",
        symbol=", ".join(item.rules),
        function="",
        harm="nobody can tell later whether what made the report harmless is still so",
        mend="write the reason after the rules",
    )


def _location(item: Suppression) -> Location:
    directive = item.directive
    column = directive.comment.column
    line = directive.comment.line
    return Location(item.path, Span(line, column + directive.start, line, column + directive.end))


def _fix(item: Unused, lines: Sequence[str]) -> Fix | None:
    """Deletes the comment, and its line if nothing else stands there; of several rules the unused ones."""
    directive, path = item.suppression.directive, item.suppression.path
    if not directive.comment.raw.startswith(("#", "//")):
        return None  # of a comment that may run over lines, nobody knows what belongs to it
    kept = [part.name for part in directive.parts if part not in item.parts]
    if kept:
        column, parts = directive.comment.column, directive.parts
        line = directive.comment.line
        span = Span(line, column + parts[0].start, line, column + parts[-1].end)
        separator = "," if "racelint:ignore " in directive.comment.raw else ", "
        return Fix("name only the rules that report here", (Edit(Location(path, span), separator.join(kept)),))
    return Fix("delete the comment", (Edit(Location(path, _stretch(item.suppression, lines)), ""),))


def _stretch(item: Suppression, lines: Sequence[str]) -> Span:
    """What goes with a comment: the space before it, or its line; another directive in the same comment stays."""
    directive, comment = item.directive, item.directive.comment
    line, column = comment.line, comment.column
    whole = directive.start == 0 and directive.end == len(comment.raw)
    if whole and comment.alone:
        is_last = line >= len(lines)  # and has no line end
        return Span(line, 1, line, column + len(comment.raw)) if is_last else Span(line, 1, line + 1, 1)
    text = lines[line - 1] if line <= len(lines) else ""
    start = column - 1 + directive.start
    if directive.start == 0 and directive.end < len(comment.raw):
        rest = comment.raw[directive.end :]
        return Span(line, start + 1, line, column + directive.end + len(rest) - len(rest.lstrip()))
    start -= len(text[:start]) - len(text[:start].rstrip())
    return Span(line, start + 1, line, column + directive.end)
