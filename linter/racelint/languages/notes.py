"""Annotations in comments, of every language: `guarded_by: LOCK`, `requires_lock: LOCK`, `confined: CONTEXT`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from racelint.model import Annotation, Comment
from racelint.span import Span

Kind: TypeAlias = Literal["guarded_by", "requires_lock", "confined"]
Target: TypeAlias = Literal["field", "global", "variable", "function", "type", "nothing"]
PLACES: frozenset[Kind] = frozenset({"guarded_by", "confined"})  # what is said of fields and globals
FUNCTIONS: frozenset[Kind] = frozenset({"requires_lock", "confined"})
TYPES: frozenset[Kind] = frozenset({"confined"})

_WORDS = (b"guarded_by:", b"requires_lock:", b"confined:")
_COMMENTED = re.compile(rb"(?:#|//|/\*)[^\n]*\b(?:guarded_by|requires_lock|confined):")
_QUOTED = re.compile(r"`[^`]*`")
_NOTE = re.compile(r"(?:^|[#/.;,)-]\s*)(guarded_by|requires_lock|confined):[ \t]*")
_END = r"(?=$|\s*[;#]|\s+[(-]|\s*//|\.\s|\.$)"  # what follows is for people
_LOCKS = re.compile(rf"\w+(?:\.\w+)*(?:\s*,\s*\w+(?:\.\w+)*)*{_END}")
_CONTEXT = re.compile(rf"\w+(?:-\w+)*{_END}")


class Note(NamedTuple):
    """One annotation in a comment; `below` is the line that a comment alone on its line speaks of, 0 for others."""

    kind: Kind
    text: str
    names: tuple[tuple[str, ...], ...]
    span: Span
    below: int = 0

    def about(self, target: Target, owner: str = "", name: str = "") -> Annotation:
        """The annotation of what it stands beside."""
        return Annotation(self.kind, self.text, self.names, target, owner, name, self.span)


class Notes:
    """The annotations of a file's comments until each has found what it stands beside."""

    def __init__(self, comments: Sequence[Comment], data: bytes) -> None:
        self._left: list[Note] = []
        alone = {comment.line for comment in comments if comment.alone}
        lines: list[str] = []
        for comment in comments:
            for kind, text, names in read(comment.text):
                lines = lines or data.decode("utf-8", "replace").split("\n")
                span = _span(lines, comment.line, kind, text)
                self._left.append(Note(kind, text, names, span, _below(comment, alone)))

    def __bool__(self) -> bool:
        return bool(self._left)

    def take(self, kinds: Collection[Kind], first: int, last: int, *, inside: bool = False) -> list[Note]:
        """The notes of these kinds behind the lines from first to last, and above the first.

        With `inside`, also those that stand alone between them.
        """
        if not self._left:
            return []
        found = [
            note for note in self._left
            if note.kind in kinds
            and (note.below == first or ((inside or not note.below) and first <= note.span.line <= last))
        ]  # fmt: skip
        if found:
            self._left = [note for note in self._left if note not in found]
        return found

    def left(self) -> Iterator[Annotation]:
        """Those that stand beside nothing."""
        return (note.about("nothing") for note in self._left)


def speaks(data: bytes) -> bool:
    """Whether a file may have annotations in comments."""
    return any(word in data for word in _WORDS) and _COMMENTED.search(data) is not None


def read(text: str) -> Iterator[tuple[Kind, str, tuple[tuple[str, ...], ...]]]:
    """The annotations in a comment's text: kind, what it names as it is written, and the names.

    What stands in backticks is quoted.
    """
    text = _QUOTED.sub("``", text)
    for match in _NOTE.finditer(text):
        kind: Kind = match[1]  # type: ignore[assignment]
        if kind == "confined":
            if (context := _CONTEXT.match(text, match.end())) is not None:  # anything else is prose
                yield kind, context[0], ((context[0],),)
        elif (locks := _LOCKS.match(text, match.end())) is not None:
            yield kind, locks[0], names_of(locks[0])
        else:
            yield kind, text[match.end() :].strip(), ()


def names_of(text: str) -> tuple[tuple[str, ...], ...]:
    """The dotted names between commas; () if it is anything else."""
    names = tuple([tuple(part.strip().split(".")) for part in text.split(",")])
    return names if all(part.isidentifier() for name in names for part in name) else ()


def _below(comment: Comment, alone: Collection[int]) -> int:
    if not comment.alone:
        return 0
    line = comment.line
    while line in alone:
        line += 1
    return line


def _span(lines: Sequence[str], line: int, kind: str, text: str) -> Span:
    source = lines[line - 1] if line <= len(lines) else ""
    start = max(source.rfind(f"{kind}:"), 0)
    end = max(source.find(text, start) + len(text), start + len(kind)) if text else start + len(kind) + 1
    return Span(line, start + 1, line, end + 1)
