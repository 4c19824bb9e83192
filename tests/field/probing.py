"""Run by the mutation benchmark in the environment of one racelint: what it finds in a tree and believes at lines.

Standard input holds `[[path, line], ...]`, standard output gets `{"report": ..., "explained": [...]}`: the JSON report
with all that is hidden by default, and for each line the places accessed there, with the verdict of the first pair.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

from racelint import cache, plugins, run
from racelint.config import Settings
from racelint.explanation import Explanation, PlaceAccess, Verdict
from racelint.finding import Confidence, Severity
from racelint.reporters import View, reporters

PROGRESS = (  # constructors are always "owned"
    "unreached", "owned", "harmless", "apart", "ordered", "unknown", "one context", "one event loop", "callers",
    "same lock",
)  # fmt: skip


def main() -> None:
    """Analyse the working directory once and answer all questions."""
    packs = plugins.load(())
    settings = Settings(min_severity=Severity.NOTE, min_confidence=Confidence.LOW)
    request = run.Request((".",), packs, settings, 1, cache.Cache(cache.default_directory()))
    analysed = run.analyse(request)
    report = run.judge(request, analysed, plugins.choose(packs, (), ()))
    text = io.StringIO()
    reporters()["json"](report, View(os.getcwd(), run.text_lines), text)
    explained = [believed(analysed.program.explain(os.path.abspath(path), line)) for path, line in json.load(sys.stdin)]
    json.dump({"report": json.loads(text.getvalue()), "explained": explained}, sys.stdout)


def believed(explanation: Explanation | None) -> list[dict[str, Any]]:
    """The places of a line and why they are (not) races; a function that nothing reaches counts as such."""
    parts = explanation.parts if explanation else ()
    return [{"symbol": place.symbol, "kind": place.kind, **reason(place)} for part in parts for place in part.places]


def reason(place: PlaceAccess) -> dict[str, Any]:
    """The verdict on an access: why it is compared with none, or that on the pair that came closest to a race."""
    if place.alone is not None:
        return {"why": place.alone.kind, "text": place.alone.text}
    if not place.counterparts:
        return {"why": "no counterpart", "text": "no other access of the place is known"}
    verdict = max((counterpart.verdict for counterpart in place.counterparts), key=progress)
    return {"why": verdict.kind, "text": verdict.text}


def progress(verdict: Verdict) -> int:
    """How far a pair came on its way to being a race."""
    return PROGRESS.index(verdict.kind) if verdict.kind in PROGRESS else len(PROGRESS)


if __name__ == "__main__":
    main()
