"""Shares of real bugs that were found, by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import shares
from scoring import Score

LANGUAGES = {"python": "Python", "go": "Go"}
APART = "check-then-act"  # its rules are still to come


@dataclass(frozen=True, slots=True)
class Tally:
    """How many cases of a group were found before the fix, were silent after it, and both."""

    name: str
    cases: int
    hit: int
    quiet: int
    both: int

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of a table under HEADING."""
        counts = map(str, (self.cases, self.hit, self.quiet, self.both))
        figures = (
            word(number, self.cases) for number in (self.hit, self.both) for word in (shares.percent, shares.interval)
        )
        return (self.name, *counts, *figures)


HEADING = ("", "cases", "hit", "quiet after the fix", "both", "hit", "95 % interval", "both", "95 % interval")


def tally(name: str, scores: Iterable[Score]) -> Tally:
    """Count one group."""
    group = list(scores)
    return Tally(name, len(group), sum(s.hit for s in group), sum(s.quiet for s in group), sum(s.both for s in group))


def by_pattern(scores: list[Score]) -> Iterator[Tally]:
    """Yield each language's patterns and its sum, with and without the pattern that no rule is made for."""
    for language, name in LANGUAGES.items():
        group = [score for score in scores if score.case.lang == language]
        yield from by(group, lambda score: score.case.pattern, f"{name}, ")
        rest = [score for score in group if score.case.pattern != APART]
        if rest and len(rest) < len(group):
            yield tally(f"{name}, all but {APART}", rest)
        if group:
            yield tally(f"{name}, all", group)


def by(scores: Iterable[Score], group: Callable[[Score], str], before: str = "") -> Iterator[Tally]:
    """Yield the groups in order of their names."""
    groups: dict[str, list[Score]] = {}
    for score in scores:
        groups.setdefault(group(score), []).append(score)
    yield from (tally(before + name, groups[name]) for name in sorted(groups))


def shortcoming(score: Score) -> str:
    """Return what a case falls short of in a line, nothing if it does not."""
    if score.failure:
        return f"not measured: {score.failure}"
    missed = [] if score.hit else [f"hidden: {score.hidden}" if score.hidden else "not seen"]
    return "; ".join([*missed, *([f"still reported after the fix: {score.left}"] if score.left else [])])
