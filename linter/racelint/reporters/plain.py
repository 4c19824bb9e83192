"""A finding in plain sentences, for the formats that have one text a finding."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.finding import Access, Finding, Location
from racelint.reporters import View


def told(finding: Finding, view: View) -> Iterator[str]:
    """The message, a line for each access, then why, what goes wrong and how to mend it."""
    yield finding.message
    yield from (access_line(access, view) for access in finding.accesses if access.kind != "call")
    advice = (("because", finding.because), ("harm", finding.harm), ("mend", finding.mend))
    yield from (f"{label}: {text}" for label, text in advice if text)


def access_line(access: Access, view: View) -> str:
    """An access: what, where, in which function, by whom and with which locks."""
    verb = "declared" if access.role == "declared" else access.kind
    text = f"{verb} at {at(access.location, view)}"
    text += f" in {access.function}" if access.function else ""
    text += f", {who(access, view)}" if access.context.kind != "same" else ""
    return f"{text}, locks held: {locks(access)}" if access.context.kind != "same" or access.locks else text


def who(access: Access, view: View) -> str:
    """The context that runs an access, and where it was started."""
    started = access.context.started_at
    return f"{access.context.kind} started at {at(started, view)}" if started else access.context.kind


def locks(access: Access) -> str:
    """The lockset in words."""
    return ", ".join(access.locks) or "none"


def at(location: Location, view: View) -> str:
    """A place as people write it."""
    return f"{view.path(location.path)}:{location.line}"
