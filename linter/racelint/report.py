"""What a run comes to: the findings shown, the files that failed, and the counts."""

from __future__ import annotations

from dataclasses import dataclass

from racelint.finding import Finding, SourceError


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a run.

    `hidden` findings lie below the chosen severity or confidence, `suppressed` ones under a comment or
    per-file-ignores. `baselined` ones are known from a baseline, those `outside_diff` are not
    concerned by what has changed. `fixed` ones are gone (None if nothing was to be
    fixed); `unsafe_fixes` says that unsafe fixes were (or would be) applied, too.
    """

    files: int = 0
    lines: int = 0
    hidden: int = 0
    suppressed: int = 0
    unused_suppressions: int = 0
    baselined: int = 0
    outside_diff: int = 0
    fixed: int | None = None
    unsafe_fixes: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in a fixed order, files that could not be analysed, rules that crashed, notes for the user."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[SourceError, ...] = ()
    failed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    summary: Summary = Summary()
