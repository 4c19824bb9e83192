"""Comments that silence: `# racelint: ignore[rule, ...] reason`, in Go also `//racelint:ignore rule,... reason`."""

from __future__ import annotations

import re
from typing import NamedTuple

from racelint.model import Comment

_START = re.compile(r"(?:^|[\s#/*])racelint:\s*ignore(?![\w-])")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_NAMES = re.compile(r"[ \t]+([a-z0-9][a-z0-9-]*(?:,[ \t]*[a-z0-9][a-z0-9-]*)*)(?=\s|$|\*/)")
_NEXT = re.compile(r"\s+(?:#|//)\s?(?=[A-Za-z])")  # another tool's directive behind the reason
_MARKERS = "#/ \t"


class Part(NamedTuple):
    """A rule's name in a directive, and where it stands in the comment's raw text."""

    name: str
    start: int
    end: int


class Directive(NamedTuple):
    """What a comment says; no `parts` means every rule. `start` to `end` is its stretch of the comment's raw text.

    `start` is where the comment's, or this directive's own, marker stands; `listed` is where the list of names ends.
    """

    comment: Comment
    parts: tuple[Part, ...]
    reason: str
    start: int
    end: int
    listed: int

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules."""
        return tuple(part.name for part in self.parts)


def parse(comment: Comment, language: str) -> Directive | None:
    """The directive in a comment, if there is one."""
    raw = comment.raw or comment.text
    found = _START.search(raw)
    if found is None:
        return None
    position, parts = found.end(), tuple[Part, ...]()
    if brackets := _BRACKETS.match(raw, position):
        parts, position = _parts(brackets[1], brackets.start(1)), brackets.end()
    elif language == "go" and "racelint:ignore" in found[0] and (names := _NAMES.match(raw, position)):
        parts, position = _parts(names[1], names.start(1)), names.end()
    stop = _NEXT.search(raw, position)
    end = stop.start() if stop else len(raw)
    reason = raw[position:end].removesuffix("*/").strip(" \t:-")
    return Directive(comment, parts, reason, _marker(raw, raw.index("racelint:", found.start())), end, position)


def write(language: str, rules: tuple[str, ...], reason: str) -> str:
    """A comment that silences rules, as people of the language write it."""
    if language == "go":
        return f"//racelint:ignore {','.join(rules)} {reason}".rstrip()
    return f"# racelint: ignore[{', '.join(rules)}] {reason}".rstrip()


def _parts(text: str, start: int) -> tuple[Part, ...]:
    found = [(match[0].strip(), match) for match in re.finditer(r"[^,]+", text)]
    return tuple(
        Part(name, at, at + len(name))
        for name, match in found
        if name and (at := start + match.start() + match[0].index(name)) >= 0
    )


def _marker(raw: str, position: int) -> int:
    """Where the marker in front of a position starts, or the position itself if there is text between."""
    start = position
    while start > 0 and raw[start - 1] in _MARKERS:
        start -= 1
    marker = raw[start:position].strip()
    return start + len(raw[start:position]) - len(raw[start:position].lstrip()) if marker else position
