"""A finding to report, and a report written in a format."""

from __future__ import annotations

import io
from typing import Any

from racelint.finding import Access, Confidence, Context, Finding, Location, Severity, Span, Step
from racelint.report import Report
from racelint.reporters import View, reporters

MIRROR = "/work/app/controllers/mirror.py"
SOURCE = ["pass"] * 84 + [
    "class MirrorWatcher:",
    "        alive = self._liveness.get()",
    "",
    "        self.gateway_alive = alive",
]


def at(line: int, column: int = 1, path: str = MIRROR, end_column: int = 0) -> Location:
    return Location(path, Span(line, column, line, end_column or column + 4))


def race(**changes: object) -> Finding:
    values: dict[str, object] = {
        "rule": "unlocked-shared-write",
        "severity": Severity.WARNING,
        "confidence": Confidence.HIGH,
        "location": at(88, 9, end_column=27),
        "message": "MirrorWatcher.gateway_alive is stored by one thread while another reads it, with no common lock",
        "symbol": "MirrorWatcher.gateway_alive",
        "function": "MirrorWatcher._repair_loop",
        "accesses": (
            Access("write", "store", at(88), "MirrorWatcher._repair_loop", Context("thread", at(41))),
            Access(
                "other",
                "read",
                at(12, path="/work/app/controllers/endpoints.py"),
                "repair",
                Context("thread", at(40)),
                ("self._lock",),
                (Step(at(132), "MirrorWatcher.process_events"), Step(at(140), "MirrorWatcher.repair_endpoints")),
            ),
        ),
        "because": "both threads live as long as the watcher, and nothing orders the two accesses",
        "harm": "endpoints are repaired from a liveness value that is already stale",
        "mend": "hold one lock on both sides, or pass the value through the event queue that is there",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def render(name: str, report: Report, width: int = 80, **options: Any) -> str:
    stream = io.StringIO()
    view = View("/work/app", lambda path: SOURCE, {"unlocked-shared-write": "Use a lock."}, 0.42, width, **options)
    reporters()[name](report, view, stream)
    return stream.getvalue()
