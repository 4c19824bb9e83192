"""JUnit's XML, which most CI servers show as test results: one suite a file, one case a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from racelint.finding import Finding, SourceError
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.plain import told

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def write(report: Report, view: View, stream: TextIO) -> None:
    """Write the document. A run without findings is one case that passes: servers reject a report without tests."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    by_file = _by_file(report, view)
    root = Element("testsuites", {"name": "racelint", **_counts(report.findings, report.errors)})
    for path, (findings, errors) in sorted(by_file.items()):
        suite = SubElement(root, "testsuite", {"name": legal(path), **_counts(findings, errors)})
        suite.extend([_finding(finding, path, view) for finding in findings])
        suite.extend([_error(error, path) for error in errors])
    if not by_file:
        root.set("tests", "1")
        suite = SubElement(root, "testsuite", name="racelint", tests="1", failures="0", errors="0")
        SubElement(suite, "testcase", name="no findings", classname="racelint")
    indent(root)
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(tostring(root, "unicode") + "\n")


_Told = tuple[list[Finding], list[SourceError]]


def _by_file(report: Report, view: View) -> dict[str, _Told]:
    files: dict[str, _Told] = {}
    for finding in report.findings:
        files.setdefault(view.path(finding.location.path), ([], []))[0].append(finding)
    for error in report.errors:
        files.setdefault(view.path(error.path), ([], []))[1].append(error)
    return files


def _counts(findings: Sequence[Finding], errors: Sequence[SourceError]) -> dict[str, str]:
    return {
        "tests": str(len(findings) + len(errors)),
        "failures": str(len(findings)),
        "errors": str(len(errors)),
    }


def _finding(finding: Finding, path: str, view: View) -> Element:
    span = finding.location.span
    case = _case(f"{finding.rule} at {span.line}:{span.column}", path, span.line)
    return _verdict(case, "failure", finding.message, finding.severity.label, "\n".join(told(finding, view)))


def _error(error: SourceError, path: str) -> Element:
    place = f" at {error.line}:{error.column}" if error.line else ""
    return _verdict(_case(f"{error.kind}{place}", path, error.line), "error", error.message, error.kind, error.message)


def _case(name: str, path: str, line: int) -> Element:
    from xml.etree.ElementTree import Element

    place = {"line": str(line)} if line else {}
    return Element("testcase", {"name": name, "classname": legal(path), "file": legal(path), **place})


def _verdict(case: Element, tag: str, message: str, type_: str, text: str) -> Element:
    from xml.etree.ElementTree import SubElement

    SubElement(case, tag, message=legal(message), type=type_).text = legal(text)
    return case


def legal(text: str) -> str:
    """Text without the characters that no XML document may hold, not even escaped."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
