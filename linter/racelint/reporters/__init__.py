"""Reporters: each writes one report to a stream; one table names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from racelint.report import Report


@dataclass(frozen=True, slots=True)
class View:
    """What a reporter may know besides the report.

    `base` is the working directory that paths are shown relative to, `lines` gives a file's text by its path,
    `help` a rule's advice where a finding has none of its own, `width` is in characters. `pages` has the manual page of
    each rule that ran, in Markdown. `quiet` asks for the findings alone, `statistics` for counts by rule.
    """

    base: str
    lines: Callable[[str], Sequence[str]]
    help: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    width: int = 80
    pages: Mapping[str, str] = field(default_factory=dict)
    colour: bool = False
    quiet: bool = False
    statistics: bool = False

    def path(self, path: str) -> str:
        """A path as reports show it: relative if it lies below the working directory."""
        base = self.base.rstrip("/") + "/"
        return path[len(base) :] if path.startswith(base) else path


Reporter = Callable[[Report, View, TextIO], Sequence[str] | None]  # what it gives back are notes: what it left out


def reporters() -> dict[str, Reporter]:
    """The reporter of each format; those that need a heavy library import it when they run."""
    from racelint.reporters import github, gitlab, json_report, junit, sarif, text

    return {
        "text": text.write,
        "json": json_report.write,
        "sarif": sarif.write,
        "github": github.write,
        "gitlab": gitlab.write,
        "junit": junit.write,
    }


FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")  # the keys of the table, known without importing it
