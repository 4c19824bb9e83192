"""What comments say of locks in plain words, of every language: `// protects routes`, `# guarded by self._lock`.

Such a comment stands behind a declaration or above it, and says one of three things: which of its neighbours a lock
keeps (by their names, or "the fields below"), or which lock keeps what it stands beside. It is no annotation: what
does not fit is taken for something else that people tell each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from racelint.languages.notes import Target, names_of, read
from racelint.model import Annotation, Comment
from racelint.span import Span

_LOCKS = re.compile(rb"Lock|Mutex|Condition|Semaphore")
_MARK = re.compile(rb"#|//|/\*")
_SPOKEN = re.compile(rb"protect|guard|synchroni|serializ|mutat|manipulat|access|lock", re.I)
_KEEPS = re.compile(
    r"\b(?:protect|guard|synchroni[sz]|serializ|mutat|modif|manipulat|access|(?:lock|mutex)(?:s|ing)?\b)", re.I
)
_KEPT = re.compile(
    r"\b(?:protected|guarded|synchroni[sz]ed|covered)\s+(?:by|with|under)\s+(?:the\s+)?[`'\"]?(\w+(?:\.\w+)*)", re.I
)
_NOT = re.compile(r"\b(?:not|never|without|except|unless|immutable)\b|n't\b", re.I)
_BELOW = re.compile(r"\b(?:below|following|follows)\b", re.I)
_ALL = re.compile(r"\b(?:all|everything)\b(?!\s+(?:of|to|in)\b)", re.I)
_UNDERSCORED = re.compile(r"^_\w+?__(?=\w)|^_+|_+$")
_WORD = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+)")


class _Remark(NamedTuple):
    """Comments that belong together, and the line that they stand beside."""

    text: str
    line: int
    span: Span


class _Standing(NamedTuple):
    """A declaration, from line to line."""

    target: Target
    owner: str
    name: str
    first: int
    last: int


class Prose:
    """The comments of a file that may speak of locks, and the declarations that it turns out to have."""

    def __init__(self, comments: Sequence[Comment], data: bytes) -> None:
        self._remarks = list(_remarks(comments))
        self._lines = data.split(b"\n") if self._remarks else []
        self._standing: dict[tuple[Target, str], list[_Standing]] = defaultdict(list)  # by whose they are
        self._at: dict[int, list[_Standing]] = defaultdict(list)  # by their first and last lines

    def __bool__(self) -> bool:
        return bool(self._remarks)

    def add(self, target: Target, owner: str, names: Iterable[str], first: int, last: int) -> None:
        """Record a declaration."""
        for name in names if self._remarks else ():
            standing = _Standing(target, owner, name, first, last)
            self._standing[target, owner].append(standing)
            for line in {first, last}:
                self._at[line].append(standing)

    def annotations(self) -> Iterator[Annotation]:
        """What the comments say, of all declarations that have been recorded."""
        for remark in self._remarks:
            for beside in self._at.get(remark.line, ()):
                yield from self._said(remark, beside)

    def _said(self, remark: _Remark, beside: _Standing) -> Iterator[Annotation]:
        kept = _KEPT.search(remark.text)
        if kept is not None:
            yield _annotation(remark, beside, names_of(kept[1]))
        elif _LOCKS.search(b"\n".join(self._lines[beside.first - 1 : beside.last])) is not None:
            yield from self._neighbours(remark, beside)

    def _neighbours(self, remark: _Remark, lock: _Standing) -> Iterator[Annotation]:
        """What a comment says of a lock, each of its neighbours once."""
        others = [other for other in self._standing[lock.target, lock.owner] if other.name != lock.name]
        for name in dict.fromkeys([other.name for other in self._meant(remark, lock, others)]):
            yield _annotation(remark, lock._replace(name=name), ((lock.name,),))

    def _meant(self, remark: _Remark, lock: _Standing, neighbours: Sequence[_Standing]) -> Iterator[_Standing]:
        """The neighbours that a lock is said to keep."""
        words = {_bare(word) for word in _WORD.findall(remark.text)}
        named = [other for other in neighbours if _bare(other.name) in words]
        if named:
            yield from named
        elif _BELOW.search(remark.text):
            end = next((n for n in range(lock.last, len(self._lines)) if not self._lines[n].strip()), len(self._lines))
            yield from (other for other in neighbours if lock.last < other.first <= end)
        elif _ALL.search(remark.text) and lock.owner:
            yield from neighbours


def speaks(data: bytes) -> bool:
    """Whether a file may have comments that speak of its locks."""
    return _LOCKS.search(data) is not None and any(map(_is_spoken, data.split(b"\n")))


def _is_spoken(line: bytes) -> bool:
    comment = _MARK.search(line)
    return comment is not None and _SPOKEN.search(line, comment.end()) is not None


def _bare(name: str) -> str:
    """A name as people say it: without the underscores around it, and what they stand for."""
    return _UNDERSCORED.sub("", name)


def _remarks(comments: Sequence[Comment]) -> Iterator[_Remark]:
    """Comments about locks, those that stand alone on lines one below the other as one."""
    block: list[Comment] = []
    for comment in [*comments, None]:
        if block and (comment is None or not comment.alone or comment.line != block[-1].line + 1):
            yield from _remark(block, block[-1].line + 1)
            block = []
        if comment is not None and comment.alone:
            block.append(comment)
        elif comment is not None:
            yield from _remark([comment], comment.line)


def _remark(block: Sequence[Comment], line: int) -> Iterator[_Remark]:
    text = " ".join([comment.text for comment in block])
    if _KEEPS.search(text) and not _NOT.search(text) and not [*read(text)]:
        first = block[0]
        yield _Remark(text, line, Span(first.line, first.column, first.line, first.column + len(first.raw)))


def _annotation(remark: _Remark, of: _Standing, names: tuple[tuple[str, ...], ...]) -> Annotation:
    return Annotation("described", remark.text, names, of.target, of.owner, of.name, remark.span)
