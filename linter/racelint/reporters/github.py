"""Workflow commands of GitHub Actions: the runner turns each line into an annotation of the commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from racelint.finding import Finding, Severity, SourceError, Span
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.plain import told

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def write(report: Report, view: View, stream: TextIO) -> None:
    """Write a command a finding, then one for each file that failed."""
    stream.writelines(f"{_finding(finding, view)}\n" for finding in report.findings)
    stream.writelines(f"{_error(error, view)}\n" for error in report.errors)


def _finding(finding: Finding, view: View) -> str:
    span = finding.location.span
    path = view.path(finding.location.path)
    # The runner's log shows the message alone, without the properties: it repeats the place.
    message = f"{path}:{span.line}:{span.column}: {finding.rule}: " + "\n".join(told(finding, view))
    properties = {"file": path, **_region(span), "title": f"racelint ({finding.rule})"}
    return command(LEVELS[finding.severity], properties, message)


def _error(error: SourceError, view: View) -> str:
    path = view.path(error.path)
    place = {"line": error.line, "col": error.column} if error.line else {}
    where = f"{path}:{error.line}:{error.column}" if error.line else path
    properties = {"file": path, **place, "title": f"racelint ({error.kind})"}
    return command("warning", properties, f"{where}: {error.kind}: {error.message}")


def _region(span: Span) -> dict[str, int]:
    """GitHub takes columns only of what stands on one line."""
    lines = {"line": span.line, "endLine": span.end_line}
    return {**lines, "col": span.column, "endColumn": span.end_column} if span.line == span.end_line else lines


def command(name: str, properties: Mapping[str, object], message: str) -> str:
    """A workflow command, escaped as the runner unescapes it (`actions/toolkit`, packages/core/src/command.ts)."""
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
