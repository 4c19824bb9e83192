"""A finding as SARIF's result: what it says, both ways to the bug, and how it is known again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from racelint.finding import Access, Edit, Finding, Fix, Location, Step
from racelint.reporters import View
from racelint.reporters.plain import locks
from racelint.reporters.sarif.places import artifact, at, region

MAX_RELATED = 99  # besides the result's own: GitHub shows 100 locations
MAX_STEPS = 1000  # of all thread flows of a result
FINGERPRINT = "racelint/v1"
ASIDE = ("says", "also", "call")  # what stands on no way of its own; calls are steps of the change's way
LABELS = {
    "declared": "declaration",
    "source": "source",
    "iteration": "loop",
    "change": "change",
    "call": "call",
    "hand-out": "hand-out",
}


class Related(NamedTuple):
    """A place besides the result's own, and the words that link to it."""

    location: Location
    label: str
    text: str


def result(finding: Finding, fingerprint: str, rule: int, view: View) -> dict[str, Any]:
    """The result object of a finding; `rule` is the number of its descriptor."""
    related = list(_related(finding))[:MAX_RELATED]
    flows = _flows(finding, view)
    place = at(finding.location, view)
    if finding.function:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    optional: dict[str, Any] = {
        "relatedLocations": [
            {"id": number, **at(item.location, view, item.text)} for number, item in enumerate(related, start=1)
        ],
        "codeFlows": [{"threadFlows": flows}] if flows else [],
        "fixes": [_fix(finding.fix, view)] if finding.fix else [],
    }
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": finding.severity.label,
        "message": {"text": _message(finding, related)},
        "locations": [place],
        **{key: value for key, value in optional.items() if value},
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "properties": {"confidence": finding.confidence.label, "symbol": finding.symbol},
    }


def shortened(finding: Finding) -> bool:
    """Whether a result cannot hold all the places of its finding."""
    steps = sum(len(_steps(access)) for access in finding.accesses)
    return steps > MAX_STEPS or len(list(_related(finding))) > MAX_RELATED


def _message(finding: Finding, related: Iterable[Related]) -> str:
    """The message with a link to each related place, then the advice, a sentence each.

    GitHub shows related places only where the message links to them, and the first sentence where there is no room.
    """
    links = ", ".join(f"[{item.label}]({number})" for number, item in enumerate(related, start=1))
    first = finding.message.replace("](", "] (")  # is no link
    sentences = (finding.because, finding.harm, finding.mend)
    return " ".join([f"{first} ({links})." if links else f"{first}.", *(_sentence(text) for text in sentences if text)])


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    start = text[0].upper() if first.isalpha() else text[0]  # names of the program stay as they are
    return f"{start}{text[1:]}.".replace("](", "] (")


def _related(finding: Finding) -> Iterator[Related]:
    """The other accesses, then where their contexts were started; each place once."""
    seen = {finding.location}
    for access in finding.accesses:
        if access.location not in seen:
            seen.add(access.location)
            label = "other access" if _concurrent(access) else LABELS.get(access.role, access.kind)
            yield Related(access.location, label, _told(access))
    for access in finding.accesses:
        started = access.context.started_at
        if started and started not in seen:
            seen.add(started)
            kind = access.context.kind
            yield Related(started, f"start of the {kind}", f"{kind} started here")


def _concurrent(access: Access) -> bool:
    return access.context.kind != "same" and access.role != "only"


def _told(access: Access) -> str:
    if access.role == "declared":
        return "declared here"
    where = f"{access.kind} in {access.function}" if access.function else access.kind
    return f"{where}, locks held: {locks(access)}" if access.context.kind != "same" or access.locks else where


# --- the way to each access -------------------------------------------------------------------------------------------


def _flows(finding: Finding, view: View) -> list[dict[str, Any]]:
    """One thread flow for each context, or a single one if all happens in one place of the program's time."""
    told = [access for access in finding.accesses if access.kind not in ASIDE]
    contexts = [access for access in told if access.context.kind != "same"]
    ways = [_steps(access) for access in contexts] or [[step for access in told for step in _steps(access)]]
    names = [access.context.kind for access in contexts] or [finding.function or finding.rule]
    room = MAX_STEPS // len(ways)
    return [
        {"id": str(number), "message": {"text": name}, "locations": [_flow_location(stop, view) for stop in stops]}
        for number, (name, way) in enumerate(zip(names, ways, strict=True), start=1)
        if (stops := _cut(way, room))
    ]


class _Stop(NamedTuple):
    """One stop on the way to an access; the access itself knows its locks."""

    location: Location
    text: str
    level: int
    access: Access | None = None


def _steps(access: Access) -> list[_Stop]:
    """From where the context was started, call by call, to the access."""
    started = access.context.started_at
    stops = [_Stop(started, f"{access.context.kind} started here", 0)] if started else []
    calls: list[Step] = [step for step in access.trace if step.location != access.location]
    stops += [
        _Stop(step.location, f"{step.function} {step.note}".strip(), level) for level, step in enumerate(calls, 1)
    ]
    return [*stops, _Stop(access.location, _told(access), len(calls) + 1, access)]


def _cut(stops: list[_Stop], room: int) -> list[_Stop]:
    """The start and the last stops, with the access."""
    return stops if len(stops) <= room else [stops[0], *stops[-(room - 1) :]]


def _flow_location(stop: _Stop, view: View) -> dict[str, Any]:
    importance = "essential" if stop.access else "important"
    flow: dict[str, Any] = {
        "location": at(stop.location, view, stop.text),
        "nestingLevel": stop.level,
        "importance": importance,
    }
    if stop.access and stop.access.context.kind != "same":
        flow["state"] = {"locks": {"text": locks(stop.access)}}
    return flow


# --- fixes ------------------------------------------------------------------------------------------------------------


def _fix(fix: Fix, view: View) -> dict[str, Any]:
    by_file: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_file.setdefault(edit.location.path, []).append(edit)
    changes = [{"artifactLocation": artifact(path, view), "replacements": _edits(by_file[path])} for path in by_file]
    return {"description": {"text": fix.description}, "artifactChanges": changes}


def _edits(edits: Iterable[Edit]) -> list[dict[str, Any]]:
    return [{"deletedRegion": region(edit.location.span), "insertedContent": {"text": edit.text}} for edit in edits]
