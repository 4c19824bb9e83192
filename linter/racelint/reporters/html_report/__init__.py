"""The report as one HTML file that loads nothing: each race drawn as two lanes with the locks held along them."""

from __future__ import annotations

from typing import TextIO

from racelint.report import Report
from racelint.reporters import View


def write(report: Report, view: View, stream: TextIO) -> None:
    """Write the document. Time taken is left out: the same input gives the same bytes."""
    from racelint.reporters.html_report.page import page

    stream.write(page(report, view))
