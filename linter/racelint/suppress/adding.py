"""Writes comments that silence findings into the sources: behind the line if they fit, else above it.

Nothing but comments may change: the tokens of the new text are compared with those of the old one, and the comment
must cover what it was written for, or else the next place is tried.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from racelint.errors import RacelintError
from racelint.finding import Finding, Location, Span
from racelint.languages import FrontEnd, SourceProblem
from racelint.model import Source
from racelint.suppress import Suppression, collect
from racelint.suppress.directive import write
from racelint.writing import write as write_file

WIDTH = 88  # a line may be as long as this, or as the longest one of its file up to LIMIT
LIMIT = 120
FAR = 20  # lines from the first one of a statement


class Added(NamedTuple):
    """How many comments were written (or given more rules), into how many files, and the findings that have none."""

    comments: int
    files: int
    left: tuple[Finding, ...]


class _Text(NamedTuple):
    """A file while it is changed: its lines without line ends, and how they are to be written."""

    path: str
    lines: tuple[str, ...]
    codec: str
    front_end: FrontEnd

    def encoded(self) -> bytes:
        return "\n".join(self.lines).encode(self.codec)


class _Edit(NamedTuple):
    """Lines of a file replaced by others, and the line on which the finding stands then."""

    first: int
    replaced: int
    lines: tuple[str, ...]
    stands: int


def add_ignores(
    findings: Iterable[Finding], reason: str, sources: Sequence[Source], table: Mapping[str, FrontEnd]
) -> Added:
    """Give each finding a comment with this reason. Raises RacelintError if a file cannot be read or written."""
    if not reason.isprintable():
        raise RacelintError("the reason of a suppression must be one line of text")
    by_path = {source.path: source for source in sources}
    comments, files, left = 0, 0, list[Finding]()
    for path, group in groupby(sorted(findings, key=lambda f: f.location), key=lambda f: f.location.path):
        text = _read(path, table)
        before = text
        for line, on_line in groupby(reversed(list(group)), key=lambda f: f.location.line):  # below is not moved then
            here = list(on_line)
            text, done = _silenced(text, line, here, reason, by_path[path])
            comments += done
            left += [] if done else here
        if text.lines != before.lines:
            write_file(Path(path), text.encoded())
            files += 1
    return Added(comments, files, tuple(left))


def _read(path: str, table: Mapping[str, FrontEnd]) -> _Text:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise RacelintError(f"{path}: cannot be read: {error.strerror}") from error
    front_end = table.get(os.path.splitext(path)[1]) or table[".py"]  # a script without a suffix
    codec = front_end.encoding(data)
    return _Text(path, tuple(data.decode(codec).split("\n")), codec, front_end)


def _silenced(text: _Text, line: int, findings: list[Finding], reason: str, source: Source) -> tuple[_Text, bool]:
    """The text with a comment for the findings on a line, if there is a place for one."""
    rules = tuple(sorted({finding.rule for finding in findings}))
    tokens = text.front_end.tokens("\n".join(text.lines).encode(text.codec))
    for edit in _edits(text, line, rules, reason, source):
        start = edit.first - 1
        changed = text._replace(lines=(*text.lines[:start], *edit.lines, *text.lines[start + edit.replaced :]))
        if _holds(changed, tokens, [_moved(finding, edit.stands - line) for finding in findings], source):
            return changed, True
    return text, False


def _moved(finding: Finding, by: int) -> Finding:
    path, span = finding.location
    return replace(finding, location=Location(path, Span(span.line + by, span.column, span.end_line + by, 1)))


def _holds(text: _Text, tokens: list[str], findings: Iterable[Finding], source: Source) -> bool:
    """Whether only comments have changed, and the findings are silenced."""
    try:
        data = text.encoded()
        if text.front_end.tokens(data) != tokens:
            return False
        suppressions = _suppressions(text, data, source)
    except (SourceProblem, UnicodeEncodeError):
        return False
    return all(any(item.covers(finding) for item in suppressions) for finding in findings)


def _suppressions(text: _Text, data: bytes, source: Source) -> tuple[Suppression, ...]:
    changed = source._replace(module=text.front_end.extract(data))
    lines = [line.removesuffix("\r") for line in text.lines]
    return collect([changed], lambda _: text.front_end.comments(data), lambda _: lines)


def _edits(text: _Text, line: int, rules: tuple[str, ...], reason: str, source: Source) -> Iterator[_Edit]:
    """The places for a comment, the best first: one that is there already, behind the line, above it, its statement."""
    language = source.module.language
    comment = write(language, rules, reason)
    yield from _extended(text, line, rules, source)
    behind, fits = _behind(text, line, comment, language)
    if fits:
        yield behind
    yield _above(text, line, line, comment)
    yield behind
    for other in range(line - 1, max(line - FAR, 0), -1):  # no comment can stand within continued lines or a text
        if text.lines[other - 1].strip():
            yield _above(text, other, line, comment)


def _behind(text: _Text, line: int, comment: str, language: str) -> tuple[_Edit, bool]:
    """A comment behind a line, and whether that looks well: it is not too long, and no other comment stands near.

    gofmt would move comments behind neighbouring lines below each other.
    """
    old, end = _split(text.lines[line - 1])
    new = f"{old.rstrip()}{' ' if language == 'go' else '  '}{comment}"
    longest = max(len(each.rstrip()) for each in text.lines)
    marker = "//" if language == "go" else "#"
    near = text.lines[max(line - 2, 0) : line + 1] if language == "go" else text.lines[line - 1 : line]
    commented = any(marker in each and not each.lstrip().startswith(marker) for each in near)
    fits = len(new.expandtabs(8)) <= min(max(WIDTH, longest), LIMIT) and not commented
    return _Edit(line, 1, (new + end,), line), fits


def _above(text: _Text, line: int, stands: int, comment: str) -> _Edit:
    old, end = _split(text.lines[line - 1])
    indent = old[: len(old) - len(old.lstrip())]
    return _Edit(line, 0, (indent + comment + end,), stands + 1)


def _extended(text: _Text, line: int, rules: tuple[str, ...], source: Source) -> Iterator[_Edit]:
    """A comment that names other rules for the same line gets these, too."""
    for item in _suppressions(text, text.encoded(), source):
        parts, comment = item.directive.parts, item.directive.comment
        own = item.areas[0]
        if not parts or own.first != line or own.last != line or not comment.raw:
            continue
        names = dict.fromkeys((*item.rules, *rules))
        separator = "," if source.module.language == "go" and "racelint:ignore " in comment.raw else ", "
        old, end = _split(text.lines[item.line - 1])
        start = comment.column - 1
        new = old[: start + parts[0].start] + separator.join(names) + old[start + parts[-1].end :]
        yield _Edit(item.line, 1, (new + end,), line)


def _split(line: str) -> tuple[str, str]:
    """A line and the carriage return at its end."""
    return (line[:-1], "\r") if line.endswith("\r") else (line, "")
