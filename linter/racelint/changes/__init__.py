"""What has changed since a commit, and which findings that concerns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Hunk(NamedTuple):
    """Lines `first` to `last` of today's file, that are new or changed; what was only deleted lies before `first`.

    `text` is all that was deleted or added, line by line.
    """

    first: int
    last: int
    text: tuple[str, ...]

    def touches(self, first: int, last: int) -> bool:
        """Whether any of these lines is changed; what was deleted counts at the lines on both sides."""
        own_first, own_last = (self.first, self.last) if self.first <= self.last else (self.last, self.first)
        return own_first <= last and first <= own_last

    def says(self, words: re.Pattern[str]) -> bool:
        """Whether a line that was deleted or added contains one of these words."""
        return any(words.search(line) for line in self.text)


class Changes(NamedTuple):
    """The hunks of each changed file (absolute path), and the files that are new in whole."""

    base: str
    hunks: Mapping[str, tuple[Hunk, ...]]
    new: frozenset[str]

    def in_lines(self, path: str, first: int, last: int) -> bool:
        """Whether any of these lines of a file has changed."""
        return path in self.new or any(hunk.touches(first, last) for hunk in self.hunks.get(path, ()))

    def say(self, path: str, first: int, last: int, words: re.Pattern[str]) -> bool:
        """Whether a change in these lines of a file has one of the words."""
        return any(hunk.touches(first, last) and hunk.says(words) for hunk in self.hunks.get(path, ()))
