"""GitLab's Code Quality report: the subset of Code Climate's format that merge requests show."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TextIO

from racelint.finding import Finding, Severity, SourceError
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.fingerprint import fingerprints
from racelint.reporters.plain import at, told

SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def write(report: Report, view: View, stream: TextIO) -> None:
    """Write one list: the findings, then the files that failed. GitLab drops what repeats a fingerprint."""
    issues = [
        _finding(finding, mark, view)
        for finding, mark in zip(report.findings, fingerprints(report.findings, view), strict=True)
    ]
    issues += [_error(error, view) for error in report.errors]
    json.dump(issues, stream, indent=2)
    stream.write("\n")


def _finding(finding: Finding, fingerprint: str, view: View) -> dict[str, Any]:
    span = finding.location.span
    others = dict.fromkeys(at(access.location, view) for access in finding.accesses)
    others.pop(at(finding.location, view), None)
    also = f" (see also {', '.join(others)})" if others else ""
    return {
        "type": "issue",
        "check_name": finding.rule,
        "description": finding.message + also,
        "content": {"body": "\n\n".join(told(finding, view))},
        "categories": ["Bug Risk"],
        "severity": SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": view.path(finding.location.path),
            "lines": {"begin": span.line, "end": span.end_line},
        },
    }


def _error(error: SourceError, view: View) -> dict[str, Any]:
    path = view.path(error.path)
    identity = "\0".join((error.kind, path, error.message, str(error.line)))
    return {
        "type": "issue",
        "check_name": error.kind,
        "description": f"{error.kind}: {error.message}",
        "categories": ["Bug Risk"],
        "severity": "info",
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "location": {"path": path, "lines": {"begin": max(error.line, 1)}},
    }
