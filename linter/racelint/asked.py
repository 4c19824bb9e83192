"""What a run can speak for, and so what it can say of comments and of entries of a baseline: are they still needed?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from racelint.baseline import Baseline, Entry
from racelint.comment_rules import UNEXPLAINED, UNUSED
from racelint.finding import Finding, SourceError
from racelint.policy import Policy
from racelint.rule import Rule
from racelint.suppress import Suppression
from racelint.suppress.unused import report_unexplained, report_unused, unused
from racelint.suppress.whole import seen_in_part


class Asked:
    """The `files` that a run reports on, the rules that it asked of all `known` ones, programs seen as a whole."""

    def __init__(
        self, files: frozenset[str], known: frozenset[str], rules: Iterable[Rule], paths: Sequence[str],
        errors: Iterable[SourceError], policy: Policy,
    ) -> None:  # fmt: skip
        self.files = files
        self.known = known
        self._rules = frozenset(rule.name for rule in rules)
        self._folders = tuple(f"{os.path.abspath(path).replace(os.sep, '/').rstrip('/')}/" for path in paths)
        self._in_part = seen_in_part(paths, errors)
        self._policy = policy

    def rules(self, path: str) -> frozenset[str]:
        """The rules that were asked about a file."""
        return self._rules - self._policy.ignored_in(path)

    def as_a_whole(self, path: str) -> bool:
        """Whether the program that a file belongs to was analysed as a whole."""
        return ("go" if path.endswith(".go") else "python") not in self._in_part

    def covers(self, baseline: Baseline, entry: Entry) -> bool:
        """Whether the run would have found what an entry stands for: nothing is found in files that are gone."""
        path = baseline.absolute(entry)
        looked = path in self.files or (path.startswith(self._folders) and not os.path.exists(path))
        if entry.rule not in self.known:  # no run finds it any more
            return looked
        return looked and self.as_a_whole(path) and entry.rule in self.rules(path)


class AboutComments(NamedTuple):
    """What there is to say about the comments that silence: findings, and how many silence nothing."""

    findings: list[Finding]
    unused: int


def comments_on(
    asked: Asked, suppressions: Sequence[Suppression], used: Mapping[Suppression, frozenset[str]],
    lines: Callable[[str], Sequence[str]], *, reasons: bool,
) -> AboutComments:  # fmt: skip
    """Judge suppressions: those that silence nothing, as far as that can be told, and those without `reasons`."""
    whole = [item for item in suppressions if asked.as_a_whole(item.path)]
    idle = list(unused(whole, used, asked.known, asked.rules))
    told = [item for item in idle if UNUSED in asked.rules(item.suppression.path)]
    findings = [report_unused(item, lines(item.suppression.path)) for item in told]
    if reasons:
        bare = [item for item in suppressions if not item.reason and UNEXPLAINED in asked.rules(item.path)]
        findings += [report_unexplained(item) for item in bare]
    return AboutComments(findings, len(idle))
