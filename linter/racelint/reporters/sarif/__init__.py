"""SARIF 2.1.0 for code scanning: each race is one code flow with a thread flow for each context.

The document keeps within what GitHub accepts (docs.github.com, "SARIF support for code scanning"): what is left out for
that is told in the document, as a notification, and to the caller.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any, TextIO

from racelint import __version__
from racelint.finding import Finding, SourceError
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.fingerprint import fingerprints
from racelint.reporters.sarif.places import BASE, location
from racelint.reporters.sarif.results import result, shortened
from racelint.reporters.sarif.rules import descriptors

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS = 25_000  # in a run; beyond, GitHub rejects the file
SHOWN_RESULTS = 5_000  # beyond, GitHub stores the most severe ones alone
MAX_COMPRESSED = 10_000_000  # bytes of the file, compressed by gzip as the upload does

_END = "\n    }\n  ]\n}"  # of the run, the runs and the document

_Marked = tuple[Finding, str]


def write(report: Report, view: View, stream: TextIO) -> list[str]:
    """Write the document, and give back what had to be left out of it."""
    marked = list(zip(report.findings, fingerprints(report.findings, view), strict=True))
    kept = _most_severe(marked, MAX_RESULTS)
    text = _text(report, kept, len(marked), view)
    while len(kept) > 1 and len(text) > MAX_COMPRESSED and len(zlib.compress(text.encode())) > MAX_COMPRESSED:
        kept = _most_severe(kept, len(kept) * 3 // 4)
        text = _text(report, kept, len(marked), view)
    stream.write(text)
    left_out = _left_out(kept, len(marked))
    if len(kept) > SHOWN_RESULTS:
        left_out.append(f"GitHub shows the {SHOWN_RESULTS:,} most severe findings of {len(kept):,}")
    return [f"sarif: {note}" for note in left_out]


def _most_severe(marked: Sequence[_Marked], count: int) -> list[_Marked]:
    """That many of them, the most severe and certain, in the order that they had."""
    if len(marked) <= count:
        return list(marked)
    numbers = sorted(range(len(marked)), key=lambda n: (-marked[n][0].severity, -marked[n][0].confidence, n))
    return [marked[number] for number in sorted(numbers[:count])]


def _left_out(kept: Sequence[_Marked], found: int) -> list[str]:
    notes = []
    if len(kept) < found:
        reason = f"GitHub takes {MAX_RESULTS:,} results and {MAX_COMPRESSED // 1_000_000} MB, compressed"
        notes.append(f"{found - len(kept):,} of {found:,} findings, the least severe, are left out: {reason}")
    if cut := sum(shortened(finding) for finding, _ in kept):
        notes.append(f"of {cut:,} findings some places are left out: GitHub shows no more")
    return notes


def _text(report: Report, kept: Sequence[_Marked], found: int, view: View) -> str:
    rules = descriptors(view.pages, (finding.rule for finding, _ in kept))
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "racelint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": rules,
            }
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    *(_failed(error, view) for error in report.errors),
                    *(_notification("left-out", "warning", note) for note in _left_out(kept, found)),
                ],
            }
        ],
        "originalUriBaseIds": {BASE: {"description": {"text": "The directory that paths are relative to."}}},
        "columnKind": "unicodeCodePoints",
    }
    frame = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)
    # The results on a line each: the whole of them indented takes a minute and a gigabyte where there are many.
    lines = ",\n".join(json.dumps(result(finding, mark, numbers[finding.rule], view)) for finding, mark in kept)
    return f'{frame.removesuffix(_END)},\n      "results": [\n{lines}\n      ]{_END}\n'


def _failed(error: SourceError, view: View) -> dict[str, Any]:
    """A file that could not be analysed; the run went on."""
    region = {"startLine": error.line, "startColumn": max(error.column, 1)} if error.line else None
    place = location(error.path, region, view)
    return {**_notification(error.kind, "error", error.message), "locations": [place]}


def _notification(kind: str, level: str, text: str) -> dict[str, Any]:
    return {"descriptor": {"id": kind}, "level": level, "message": {"text": text}}
