"""Inline comments that silence findings: `# racelint: ignore[rule, ...] reason`, on a line, a function or a class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from racelint.finding import Finding
from racelint.model import Comment, Expr, Function, Source, Type

_DIRECTIVE = re.compile(r"(?:^|[\s#/])racelint:\s*ignore(?:\[(?P<rules>[^\]]*)\])?(?P<reason>.*)")


class Suppression(NamedTuple):
    """A comment and the lines it covers; no `rules` means every rule."""

    path: str
    line: int
    rules: tuple[str, ...]
    reason: str
    first: int
    last: int

    def covers(self, finding: Finding) -> bool:
        """Whether it silences a finding; a comment after the last line of what is reported counts as on its line."""
        if finding.location.path != self.path or (self.rules and finding.rule not in self.rules):
            return False
        span = finding.location.span
        return self.first <= span.line <= self.last or self.line == self.first == span.end_line


class Sifted(NamedTuple):
    """Findings kept, how many were silenced, and the comments that silenced none."""

    kept: tuple[Finding, ...]
    suppressed: int
    unused: tuple[Suppression, ...]


def sift(findings: Iterable[Finding], suppressions: Sequence[Suppression]) -> Sifted:
    """Part findings from those that a comment silences."""
    kept, used, count = list[Finding](), set[Suppression](), 0
    for finding in findings:
        covering = [suppression for suppression in suppressions if suppression.covers(finding)]
        used.update(covering)
        if covering:
            count += 1
        else:
            kept.append(finding)
    return Sifted(tuple(kept), count, tuple(item for item in suppressions if item not in used))


def collect(
    sources: Iterable[Source],
    comments: Callable[[Source], Sequence[Comment]],
    lines: Callable[[str], Sequence[str]],
) -> tuple[Suppression, ...]:
    """The suppressions in `sources`; `comments` lists all comments of one, `lines` its text: few files need either."""
    found: list[Suppression] = []
    for source in sources:
        directives = [
            (comment, match) for comment in source.module.comments if (match := _DIRECTIVE.search(comment.text))
        ]
        if not directives:
            continue
        alone = {comment.line for comment in comments(source) if comment.alone}
        headers = list(_headers(source, lines(source.path)))
        for comment, match in directives:
            found.append(_suppression(source.path, comment, match, alone, headers))
    return tuple(found)


class _Header(NamedTuple):
    """The lines from the first decorator to the end of a signature, and the last line of the body."""

    first: int
    last: int
    end: int


def _suppression(
    path: str, comment: Comment, match: re.Match[str], alone: set[int], headers: Iterable[_Header]
) -> Suppression:
    rules = tuple(name for part in (match["rules"] or "").split(",") if (name := part.strip()))
    reason = match["reason"].strip(" :-")
    line = comment.line
    while comment.alone and line in alone:  # a reason may run over several comment lines
        line += 1
    for header in headers:
        if header.first <= line <= header.last:
            return Suppression(path, comment.line, rules, reason, header.first, header.end)
    return Suppression(path, comment.line, rules, reason, line, line)


def _headers(source: Source, lines: Sequence[str]) -> Iterator[_Header]:
    for function in source.module.functions.values():
        if not function.name.startswith("<"):
            yield _header(function, lines)
    for type_ in source.module.types.values():
        yield _header(type_, lines)


def _header(owner: Function | Type, lines: Sequence[str]) -> _Header:
    span = owner.span
    first = min([span.line, *(line for decorator in owner.decorators if (line := _line_of(decorator)))])
    last = span.line
    for number, text in enumerate(lines[span.line - 1 : span.end_line], start=span.line):
        if re.split(r"#|//", text)[0].rstrip().endswith((":", "{")):
            last = number
            break
    return _Header(first, last, span.end_line)


def _line_of(expression: Expr) -> int:
    span = getattr(expression, "span", None)
    return span.line if span else 0
