"""`explain FILE:LINE`: the analysis of the file's project, asked about one line, and what the rules say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from racelint import run
from racelint.errors import RacelintError
from racelint.explanation import Counterpart, Explanation, PlaceAccess, Told, Verdict
from racelint.finding import Finding, Location
from racelint.languages import front_ends
from racelint.policy import Policy
from racelint.rule import Rule

STATUS = {"shown": "reported", "hidden": "hidden", "silenced": "silenced"}
WORDS = {
    "shown": "reported by {}",
    "hidden": "found by {}, below the shown level",
    "silenced": "found by {}, silenced by a comment or the configuration",
}


def explain(request: run.Request, path: str, line: int, rules: Sequence[Rule]) -> Explanation | None:
    """What is believed at a line of the one file of `request`; None if the analysis knows nothing of it.

    Raises RacelintError if the file cannot be analysed or has no such line.
    """
    analysed = run.analyse(request)
    broken = next((error for error in analysed.errors if error.path == path), None)
    if broken is not None:
        raise RacelintError(f"{path}: {broken.kind}: {broken.message}")
    source = next(source for source in analysed.sources if source.path == path)
    if not 1 <= line <= source.module.lines:
        raise RacelintError(f"{path} has no line {line}: it has {source.module.lines}")
    explanation = analysed.program.explain(path, line)
    if explanation is None:
        return None
    told = list(_findings(request, analysed, rules))
    parts = tuple(
        replace(part, places=tuple(_resolve(place, told) for place in part.places)) for part in explanation.parts
    )
    symbols = {place.symbol for part in parts for place in part.places}
    mine = tuple(item for finding, item in told if _concerns(finding, path, line, symbols))
    return replace(explanation, parts=parts, findings=mine)


_Judged = tuple[Finding, Told]


def _findings(request: run.Request, analysed: run.Analysed, rules: Sequence[Rule]) -> Iterator[_Judged]:
    """All that the rules find, each with whether it is shown."""
    policy = Policy(request.settings)
    found = [policy.judged(finding) for finding in run.ask(analysed.program, rules, request.packs)]
    sifted, _ = run.silence(found, analysed.sources, front_ends())
    kept = {finding for finding in sifted.kept if not policy.ignores(finding)}
    for f in found:
        status = "silenced" if f not in kept else "shown" if run.shown(f, request.settings) else "hidden"
        yield f, Told(f.rule, f.severity, f.confidence, f.location, f.symbol, f.message, status)


def _concerns(finding: Finding, path: str, line: int, symbols: set[str]) -> bool:
    """Whether a finding stands at a line, or is about what is accessed there."""
    here = (path, line)
    spots = {(access.location.path, access.location.line) for access in finding.accesses}
    stands = (finding.location.path, finding.location.line)
    return stands == here or here in spots or finding.symbol in symbols


def _resolve(place: PlaceAccess, told: Iterable[_Judged]) -> PlaceAccess:
    about = [(finding, item) for finding, item in told if finding.symbol == place.symbol]
    counterparts = [replace(c, verdict=_final(place, c, about)) for c in place.counterparts]
    counterparts.sort(key=lambda counterpart: counterpart.verdict.kind not in STATUS.values())
    return replace(place, counterparts=tuple(counterparts))


def _final(place: PlaceAccess, counterpart: Counterpart, about: Sequence[_Judged]) -> Verdict:
    """The verdict of a pair, with the finding that reports it; one that the rules do not report says why."""
    pair = {_line(place.location), _line(counterpart.access.location)}
    for finding, item in about:
        if pair == {_line(access.location) for access in finding.accesses if access.role != "declared"}:
            text = WORDS[item.status].format(item.rule)
            return Verdict(STATUS[item.status], text, item.rule, item.severity, item.confidence)
    verdict = counterpart.verdict
    if verdict.kind != "race":
        return verdict
    if about:
        finding = next((finding for finding, _ in about if _line(finding.location) in pair), about[0][0])
        there = f"{finding.location.path.rpartition('/')[2]}:{finding.location.line}"
        return replace(verdict, text=f"a race ({verdict.text}); the place's one finding stands at {there}")
    return replace(verdict, text=f"a race ({verdict.text}) that no chosen rule reports")


def _line(location: Location) -> tuple[str, int]:
    return location.path, location.line
