"""The report as JSON, version 1; `report.schema.json` beside this module describes it."""

from __future__ import annotations

import json
from typing import Any, TextIO

from racelint.finding import Access, Edit, Finding, Fix, Location, Severity, SourceError, Step
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.fingerprint import fingerprints
from racelint.reporters.statistics import Row, by_rule

VERSION = 1


def write(report: Report, view: View, stream: TextIO) -> None:
    """Write the report as one JSON object. Time taken is left out: the same input gives the same bytes."""
    findings = [
        _finding(finding, mark, view)
        for finding, mark in zip(report.findings, fingerprints(report.findings, view), strict=True)
    ]
    document = {
        "version": VERSION,
        "findings": findings,
        **({"statistics": [_row(row) for row in by_rule(report.findings)]} if view.statistics else {}),
        "summary": _summary(report),
        "errors": [_error(error, view) for error in report.errors],
    }
    json.dump(document, stream, indent=2)
    stream.write("\n")


def _row(row: Row) -> dict[str, Any]:
    counts = {severity.label: count for severity, count in row.severities.items()}
    return {"rule": row.rule, "findings": row.total, "counts": counts, "files": row.files}


def _summary(report: Report) -> dict[str, Any]:
    summary = report.summary
    severities = [finding.severity for finding in report.findings]
    return {
        "findings": len(severities),
        "counts": {severity.label: severities.count(severity) for severity in sorted(Severity, reverse=True)},
        "files": summary.files,
        "lines": summary.lines,
        "hidden": summary.hidden,
        "suppressed": summary.suppressed,
        "unused_suppressions": summary.unused_suppressions,
        "baselined": summary.baselined,
        "outside_diff": summary.outside_diff,
        "fixed": summary.fixed or 0,
        "errors": len(report.errors),
    }


def _finding(finding: Finding, fingerprint: str, view: View) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.label,
        "confidence": finding.confidence.label,
        **_place(finding.location, view),
        "end_line": finding.location.span.end_line,
        "end_column": finding.location.span.end_column,
        "message": finding.message,
        "symbol": finding.symbol,
        "function": finding.function,
        "accesses": [_access(access, view) for access in finding.accesses],
        "because": finding.because,
        "harm": finding.harm,
        "help": finding.mend or view.help.get(finding.rule, ""),
        "fingerprint": fingerprint,
        "fix": _fix(finding.fix, view) if finding.fix else None,
    }


def _place(location: Location, view: View) -> dict[str, Any]:
    return {"path": view.path(location.path), "line": location.span.line, "column": location.span.column}


def _access(access: Access, view: View) -> dict[str, Any]:
    started = access.context.started_at
    return {
        "role": access.role,
        **_place(access.location, view),
        "kind": access.kind,
        "function": access.function,
        "context": {"kind": access.context.kind, "started_at": _place(started, view) if started else None},
        "locks": list(access.locks),
        "trace": [_step(step, view) for step in access.trace],
    }


def _step(step: Step, view: View) -> dict[str, Any]:
    return {**_place(step.location, view), "function": step.function, "note": step.note}


def _fix(fix: Fix, view: View) -> dict[str, Any]:
    return {"description": fix.description, "safe": fix.safe, "edits": [_edit(edit, view) for edit in fix.edits]}


def _edit(edit: Edit, view: View) -> dict[str, Any]:
    span = edit.location.span
    end = {"end_line": span.end_line, "end_column": span.end_column}
    return {**_place(edit.location, view), **end, "text": edit.text}


def _error(error: SourceError, view: View) -> dict[str, Any]:
    return {
        "kind": error.kind,
        "path": view.path(error.path),
        "line": error.line,
        "column": error.column,
        "message": error.message,
    }
