"""A baseline: what was found when racelint was adopted, one finding a line, sorted, readable in a merge.

Each line is a JSON object. Paths are relative to the baseline's own directory, so that it means the same from wherever
racelint is run. Two branches that both added lines are merged by keeping the lines of both (`merge=union` in
.gitattributes does it); the order of the lines and repeated ones mean nothing to the reader.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from racelint.errors import RacelintError
from racelint.finding import Finding
from racelint.fingerprint import fingerprints

NAME = "racelint-baseline.jsonl"
VERSION = 1
TOLD = 5  # stale entries named one by one
_HEAD = "racelint-baseline"
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


class BaselineError(RacelintError):
    """A baseline that cannot be used."""


class Entry(NamedTuple):
    """A finding that is known; `path` is relative to the baseline's directory."""

    path: str
    rule: str
    symbol: str
    function: str
    fingerprint: str


class Baseline(NamedTuple):
    """The entries of a file."""

    file: Path
    entries: tuple[Entry, ...] = ()

    def relative(self, path: str) -> str:
        """A path as entries have it."""
        return os.path.relpath(path, os.path.dirname(os.path.abspath(self.file))).replace(os.sep, "/")

    def absolute(self, entry: Entry) -> str:
        """The file that an entry is about."""
        base = os.path.dirname(os.path.abspath(self.file))
        return os.path.normpath(os.path.join(base, entry.path)).replace(os.sep, "/")

    def entries_of(self, findings: Sequence[Finding]) -> tuple[Entry, ...]:
        """What the baseline says, or would say, of findings."""
        return tuple(
            Entry(self.relative(found.location.path), found.rule, found.symbol, found.function, mark)
            for found, mark in zip(findings, fingerprints(findings, self.relative), strict=True)
        )


class Compared(NamedTuple):
    """The findings that are new and known, and entries of which nothing is found any more."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    stale: tuple[Entry, ...]


def compare(
    baseline: Baseline, shown: Sequence[Finding], hidden: Sequence[Finding], judged: Callable[[Entry], bool]
) -> Compared:
    """Part the findings that are shown by a baseline.

    An entry is stale if nothing like it is found, not even below the level that is shown; `judged` says whether the run
    could have found it.
    """
    marks = [entry.fingerprint for entry in baseline.entries_of(shown)]
    wanted = {entry.fingerprint for entry in baseline.entries}
    found = set(marks)
    below = {entry[:4] for entry in baseline.entries_of(hidden)}
    stale = [
        entry
        for entry in baseline.entries
        if entry.fingerprint not in found and entry[:4] not in below and judged(entry)
    ]
    new, known = list[Finding](), list[Finding]()
    for finding, mark in zip(shown, marks, strict=True):
        (known if mark in wanted else new).append(finding)
    return Compared(tuple(new), tuple(known), tuple(stale))


def stale_entries(baseline: Baseline, compared: Compared) -> tuple[str, ...]:
    """What there is to tell of stale entries."""
    if not compared.stale:
        return ()
    count = len(compared.stale)
    what = "entry is stale: what it stands for" if count == 1 else "entries are stale: what they stand for"
    them = "it" if count == 1 else "them"
    lines = [f"  {entry.path}: {entry.rule}: {entry.symbol or entry.function}" for entry in compared.stale]
    more = [f"  and {count - TOLD} more"] if count > TOLD else []
    head = f"{baseline.file}: {count} {what} is not found any more; `racelint baseline --prune` deletes {them}"
    return (head, *lines[:TOLD], *more)


def read(file: Path) -> Baseline:
    """A baseline from its file. Raises BaselineError."""
    try:
        lines = file.read_text("utf-8-sig").split("\n")
    except FileNotFoundError:
        raise BaselineError(f"{file}: no such baseline; `racelint baseline` writes one") from None
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BaselineError(f"{file}: is no baseline: {error}") from error
    entries = [entry for number, line in enumerate(lines, start=1) for entry in _entry(file, number, line)]
    if not any(_is_head(line) for line in lines):
        raise BaselineError(f"{file}: is no baseline: the line {_head()} is missing")
    return Baseline(file, tuple(dict.fromkeys(entries)))


def text(entries: Iterable[Entry]) -> str:
    """The file's text: the head, then the entries in order."""
    lines = [_line(entry) for entry in sorted(set(entries))]
    return "".join(f"{line}\n" for line in (_head(), *lines))


def _line(entry: Entry) -> str:
    line = json.dumps(entry._asdict(), ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # a file name that is no text
        return json.dumps(entry._asdict())
    return line


def _head() -> str:
    return json.dumps({_HEAD: VERSION})


def _is_head(line: str) -> bool:
    return line.lstrip().startswith(f'{{"{_HEAD}"')


def _entry(file: Path, number: int, line: str) -> Iterator[Entry]:
    line = line.strip()
    if not line:
        return
    if line.startswith(_CONFLICT):
        raise BaselineError(f"{file}:{number}: holds an unresolved merge conflict: keep the entries of both sides")
    try:
        values = json.loads(line)
    except ValueError as error:
        raise BaselineError(f"{file}:{number}: is no entry of a baseline: {error}") from None
    if isinstance(values, dict) and _HEAD in values:
        if values[_HEAD] != VERSION:
            raise BaselineError(
                f"{file}:{number}: version {values[_HEAD]!r} is not known; this racelint reads {VERSION}"
            )
        return
    if not isinstance(values, dict) or any(not isinstance(values.get(key), str) for key in Entry._fields):
        raise BaselineError(f"{file}:{number}: is no entry of a baseline: it must have {', '.join(Entry._fields)}")
    yield Entry(*[values[key] for key in Entry._fields])
