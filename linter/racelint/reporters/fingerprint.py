"""The fingerprints of the findings that a reporter shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racelint import fingerprint
from racelint.finding import Finding
from racelint.reporters import View


def fingerprints(findings: Iterable[Finding], view: View) -> Iterator[str]:
    """One fingerprint a finding, in their order, of paths as they are shown."""
    return fingerprint.fingerprints(findings, view.path)
