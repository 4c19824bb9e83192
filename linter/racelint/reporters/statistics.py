"""How many findings each rule has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from racelint.finding import Finding, Severity


class Row(NamedTuple):
    """A rule that found something: how often, how often in each severity (the worst first), and in how many files."""

    rule: str
    total: int
    severities: dict[Severity, int]
    files: int


def by_rule(findings: Iterable[Finding]) -> list[Row]:
    """A row for each rule, the most findings first."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.rule, []).append(finding)
    rows = [_row(rule, its) for rule, its in found.items()]
    return sorted(rows, key=lambda row: (-row.total, row.rule))


def _row(rule: str, findings: list[Finding]) -> Row:
    severities = [finding.severity for finding in findings]
    counts = {severity: severities.count(severity) for severity in sorted(Severity, reverse=True)}
    return Row(rule, len(findings), counts, len({finding.location.path for finding in findings}))
