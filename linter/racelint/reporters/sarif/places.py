"""Where things are, in SARIF's words."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from racelint.finding import Location
from racelint.reporters import View
from racelint.span import Span

BASE = "SRCROOT"

Region = dict[str, int]


def location(path: str, region: Region | None, view: View, text: str = "") -> dict[str, Any]:
    """A location object, with a message if there is one."""
    physical: dict[str, Any] = {"artifactLocation": artifact(path, view)}
    if region:
        physical["region"] = region
    message = {"message": {"text": text}} if text else {}
    return {"physicalLocation": physical, **message}


def at(place: Location, view: View, text: str = "") -> dict[str, Any]:
    """The location object of a place."""
    return location(place.path, region(place.span), view, text)


def artifact(path: str, view: View) -> dict[str, str]:
    """A file: relative to the base, or by its full address if it does not lie below."""
    shown = view.path(path)
    if shown == path:
        return {"uri": "file:///" + quote(os.fsencode(path.lstrip("/")), safe="/:")}
    return {"uri": quote(os.fsencode(shown)), "uriBaseId": BASE}


def region(span: Span) -> Region:
    """A region object; its end is exclusive as ours is."""
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
