"""What the analysis believes at a line, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from racelint.explanation import Counterpart, Explanation, Lock, Part, PlaceAccess, Reach, Told, Verdict
from racelint.finding import Access, Context, Location, Step
from racelint.reporters import View
from racelint.reporters.excerpt import clean

VERSION = 1
INSTANCE = {
    "own": "with an object of its own", "fresh": "on an object that nobody else knows yet", "shared": "",
    "alive": "on an object that only it and what it has started know",
    "unknown": "it is unknown whose object it is on",
}  # fmt: skip


def write_text(explanation: Explanation, view: View, stream: TextIO) -> None:
    """Write an explanation for people to read."""
    for line in _text(explanation, view):
        stream.write(f"{clean(line)}\n")


def write_json(explanation: Explanation, view: View, stream: TextIO) -> None:
    """Write an explanation as one JSON object."""
    document = {
        "version": VERSION,
        "path": view.path(explanation.path),
        "line": explanation.line,
        "functions": [_part_json(part, view) for part in explanation.parts],
        "findings": [_told_json(told, view) for told in explanation.findings],
    }
    json.dump(document, stream, indent=2)
    stream.write("\n")


# --- for people -------------------------------------------------------------------------------------------------------


def _text(explanation: Explanation, view: View) -> Iterator[str]:
    yield f"{view.path(explanation.path)}:{explanation.line}"
    lines = view.lines(explanation.path)
    if explanation.line <= len(lines):
        yield f"    {lines[explanation.line - 1].strip()}"
    for part in explanation.parts:
        yield ""
        yield from _part(part, view)
    if explanation.findings:
        yield ""
        yield "findings"
        yield from (f"  {line}" for told in explanation.findings for line in _told(told, view))


def _part(part: Part, view: View) -> Iterator[str]:
    yield f"{'coroutine' if part.is_coroutine else 'function'} {part.function} ({_at(part.location, view)})"
    if part.suspends:
        yield "  other tasks may run at this line"
    yield f"  reached by {'nothing that the analysis knows' if not part.contexts else ''}".rstrip()
    for reach in part.contexts:
        yield from (f"    {line}" for line in _reach(reach, view))
    if part.more_contexts:
        yield f"    and in {part.more_contexts} more ways"
    yield f"  locks held: {'none' if not part.locks else ''}".rstrip()
    yield from (f"    {_lock(lock, view)}" for lock in part.locks)
    for place in part.places:
        yield from (f"  {line}" for line in _place(place, view))


def _reach(reach: Reach, view: View) -> Iterator[str]:
    notes = ["several at once"] if reach.many else []
    notes += [INSTANCE[reach.instance]] if INSTANCE[reach.instance] else []
    yield "; ".join([_context(reach.context, view), *notes])
    yield from (f"  {step.function} {step.note} at {_at(step.location, view)}" for step in reach.trace)
    if reach.locks:
        yield f"  holding {', '.join(lock.name for lock in reach.locks)} on entry"


def _context(context: Context, view: View) -> str:
    if context.started_at is not None:
        return f"{context.kind} started at {_at(context.started_at, view)}"
    return {"external": "callers from outside", "async external": "tasks of callers from outside"}.get(
        context.kind, context.kind
    )


def _lock(lock: Lock, view: View) -> str:
    taken = f"taken at {_at(lock.taken, view)}" if lock.taken else ""
    if lock.declared is not None:
        return f"{lock.name}  on entry: its callers must hold it, as {_at(lock.declared, view)} says"
    if not lock.caller or lock.call is None:
        return f"{lock.name}  {taken or 'on entry: a decorator takes it'}"
    held = f"on entry: {lock.caller} calls with it at {_at(lock.call, view)}"
    return f"{lock.name}  {held}{', ' if taken else ''}{taken}"


def _place(place: PlaceAccess, view: View) -> Iterator[str]:
    yield f"{place.kind} {place.symbol}"
    for told in place.declared:
        at = _at(told.location, view)
        if told.kind == "described":
            yield f"  guarded, as {at} says: {told.name}"
        else:
            yield f"  {'guarded by' if told.kind == 'guarded_by' else 'confined to'} {told.name}, as {at} says"
    if place.alone is not None:
        yield f"  {place.alone.text}"
    if place.check is not None:
        waits = ", ".join(_at(location, view) for location in place.suspensions)
        between = f"other tasks may run in between ({waits})" if waits else "no other task runs in between"
        yield f"  depends on what was read at {_at(place.check, view)}; {between}"
    if place.acts:
        acts = ", ".join(dict.fromkeys(_at(location, view) for location in place.acts))
        yield f"  what is done at {acts} depends on it"
    for counterpart in place.counterparts:
        access = counterpart.access
        yield f"  {access.kind} at {_at(access.location, view)} in {access.function}{_runs(access, view)}"
        if place.alone is None:
            yield f"    {_verdict(counterpart.verdict)}"
    if place.more:
        yield f"  and {place.more} more accesses elsewhere"


def _runs(access: Access, view: View) -> str:
    return "" if access.context.kind == "same" else f", {_context(access.context, view)}"


def _verdict(verdict: Verdict) -> str:
    sure = [verdict.severity.label] if verdict.severity else []
    sure += [f"confidence {verdict.confidence.label}"] if verdict.confidence else []
    return verdict.text + (f" ({', '.join(sure)})" if sure else "")


def _told(told: Told, view: View) -> Iterator[str]:
    status = {"hidden": ", below the shown level", "silenced": ", silenced by a comment or the configuration"}.get(
        told.status, ""
    )
    level = f"{told.severity.label}, confidence {told.confidence.label}{status}"
    yield f"{_at(told.location, view)}  {told.rule} ({level})"
    yield f"  {told.message}"


def _at(location: Location, view: View) -> str:
    return f"{view.path(location.path)}:{location.line}"


# --- as JSON ----------------------------------------------------------------------------------------------------------


def _part_json(part: Part, view: View) -> dict[str, Any]:
    return {
        "function": part.function,
        **_where(part.location, view),
        "coroutine": part.is_coroutine,
        "suspends": part.suspends,
        "contexts": [_reach_json(reach, view) for reach in part.contexts],
        "more_contexts": part.more_contexts,
        "locks": [_lock_json(lock, view) for lock in part.locks],
        "places": [_place_json(place, view) for place in part.places],
    }


def _reach_json(reach: Reach, view: View) -> dict[str, Any]:
    return {
        **_context_json(reach.context, view),
        "many": reach.many,
        "instance": reach.instance,
        "trace": [_step_json(step, view) for step in reach.trace],
        "locks": [lock.name for lock in reach.locks],
    }


def _context_json(context: Context, view: View) -> dict[str, Any]:
    return {"kind": context.kind, "started_at": _maybe(context.started_at, view)}


def _step_json(step: Step, view: View) -> dict[str, Any]:
    return {**_where(step.location, view), "function": step.function, "note": step.note}


def _lock_json(lock: Lock, view: View) -> dict[str, Any]:
    return {
        "name": lock.name,
        "taken": _maybe(lock.taken, view),
        "caller": lock.caller or None,
        "call": _maybe(lock.call, view),
        "declared": _maybe(lock.declared, view),
    }


def _place_json(place: PlaceAccess, view: View) -> dict[str, Any]:
    return {
        "symbol": place.symbol,
        "kind": place.kind,
        **_where(place.location, view),
        "alone": _verdict_json(place.alone) if place.alone else None,
        "declared": [{"kind": d.kind, "name": d.name, **_where(d.location, view)} for d in place.declared],
        "check": _maybe(place.check, view),
        "acts": [_where(location, view) for location in place.acts],
        "suspensions": [_where(location, view) for location in place.suspensions],
        "counterparts": [_counterpart_json(counterpart, view) for counterpart in place.counterparts],
        "more": place.more,
    }


def _counterpart_json(counterpart: Counterpart, view: View) -> dict[str, Any]:
    access = counterpart.access
    return {
        "kind": access.kind,
        **_where(access.location, view),
        "function": access.function,
        "context": None if access.context.kind == "same" else _context_json(access.context, view),
        "locks": list(access.locks),
        "trace": [_step_json(step, view) for step in access.trace],
        "verdict": _verdict_json(counterpart.verdict),
    }


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "kind": verdict.kind,
        "text": verdict.text,
        "rule": verdict.rule or None,
        "severity": verdict.severity.label if verdict.severity else None,
        "confidence": verdict.confidence.label if verdict.confidence else None,
    }


def _told_json(told: Told, view: View) -> dict[str, Any]:
    return {
        "rule": told.rule,
        "severity": told.severity.label,
        "confidence": told.confidence.label,
        **_where(told.location, view),
        "symbol": told.symbol,
        "message": told.message,
        "status": told.status,
    }


def _where(location: Location, view: View) -> dict[str, Any]:
    return {"path": view.path(location.path), "line": location.span.line, "column": location.span.column}


def _maybe(location: Location | None, view: View) -> dict[str, Any] | None:
    return _where(location, view) if location else None
