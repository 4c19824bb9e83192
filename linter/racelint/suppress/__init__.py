"""Inline comments that silence findings: on a line, a function, a type, or where a field or variable is declared.

A comment silences what is *reported* where it speaks of; the other access of a race is not enough, for there it would
silence what somebody else has done in another file. Where a field is declared it silences all races on it, wherever
they are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from racelint.finding import Finding
from racelint.model import Comment, Source
from racelint.suppress.directive import Directive, parse
from racelint.suppress.targets import Area, Targets


class Suppression(NamedTuple):
    """A comment, the lines and the places it covers; no `rules` means every rule.

    `rivals` are other files that declare types with the names of `places`, `home` the files of the comment's module.
    """

    path: str
    line: int
    rules: tuple[str, ...]
    reason: str
    directive: Directive
    areas: tuple[Area, ...]
    places: tuple[str, ...] = ()
    home: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()

    def covers(self, finding: Finding) -> bool:
        """Whether it silences a finding; a comment after the last line of what is reported counts as on its line."""
        if self.rules and finding.rule not in self.rules:
            return False
        path, span = finding.location
        if any(area.path == path and area.first <= span.line <= area.last for area in self.areas):
            return True
        own = self.areas[0]
        if path == self.path and self.line == own.first == span.end_line:
            return True
        return bool(self.places) and self._is_about(finding)

    def _is_about(self, finding: Finding) -> bool:
        place = finding.symbol.partition("[")[0]
        if place not in self.places and f"{place.rpartition('.')[0]}.*" not in self.places:
            return False
        paths = {finding.location.path, *(access.location.path for access in finding.accesses)}
        return not self.rivals or (not paths.isdisjoint(self.home) and paths.isdisjoint(self.rivals))


class Sifted(NamedTuple):
    """Findings kept and silenced, and which rules each comment has silenced."""

    kept: tuple[Finding, ...]
    silenced: tuple[Finding, ...]
    used: Mapping[Suppression, frozenset[str]]

    @property
    def suppressed(self) -> int:
        """How many were silenced."""
        return len(self.silenced)


def sift(findings: Iterable[Finding], suppressions: Sequence[Suppression]) -> Sifted:
    """Part findings from those that a comment silences."""
    kept, silenced = list[Finding](), list[Finding]()
    used: dict[Suppression, set[str]] = {}
    for finding in findings:
        covering = [suppression for suppression in suppressions if suppression.covers(finding)]
        for suppression in covering:
            used.setdefault(suppression, set()).add(finding.rule)
        (silenced if covering else kept).append(finding)
    return Sifted(tuple(kept), tuple(silenced), {item: frozenset(rules) for item, rules in used.items()})


def collect(
    sources: Collection[Source],
    comments: Callable[[Source], Sequence[Comment]],
    lines: Callable[[str], Sequence[str]],
) -> tuple[Suppression, ...]:
    """The suppressions in `sources`; `comments` lists all comments of one, `lines` its text: few files need either."""
    found: list[Suppression] = []
    for source in sources:
        directives = [
            directive
            for comment in source.module.comments
            if (directive := parse(comment, source.module.language)) is not None
        ]
        if not directives:
            continue
        alone = {comment.line for comment in comments(source) if comment.alone}
        targets = Targets(source, lines(source.path), sources)
        found += [_suppression(source, directive, targets, alone, sources) for directive in directives]
    return tuple(found)


def _suppression(
    source: Source, directive: Directive, targets: Targets, alone: Collection[int], sources: Iterable[Source]
) -> Suppression:
    comment, line = directive.comment, directive.comment.line
    while comment.alone and line in alone:  # a reason may run over several comment lines
        line += 1
    areas, places = targets.at(line, behind=not comment.alone)
    home, rivals = _homes(source, places, sources) if places else (frozenset(), frozenset())
    return Suppression(
        source.path, comment.line, directive.rules, directive.reason, directive, areas, places, home, rivals
    )


def _homes(source: Source, places: Collection[str], sources: Iterable[Source]) -> tuple[frozenset[str], frozenset[str]]:
    """The files of a source's module, and those of others that have types of the same names."""
    types = {place.rpartition(".")[0] for place in places if ":" not in place}
    home, rivals = {source.path}, set[str]()
    for other in sources:
        if other.module.package and other.name == source.name and other.module.language == source.module.language:
            home.add(other.path)
        elif other.path != source.path and not types.isdisjoint(other.module.types):
            rivals.add(other.path)
    return frozenset(home), frozenset(rivals)
