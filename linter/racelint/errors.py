"""The one kind of exception that means: racelint could not do its work (exit status 2)."""

from __future__ import annotations


class RacelintError(Exception):
    """The run cannot go on; the message says what is wrong and what to do."""


def suggestion(name: str, known: list[str]) -> str:
    """A closing "did you mean ...?" for a mistyped name, or nothing."""
    import difflib

    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""
