"""Reads the pages of docs/: their fenced blocks, links and headings.

A block's info string says, behind the language, what the tests do with it: `file=PATH` writes it into the page's own
scratch directory; `console` runs each line that starts with `$ ` there and compares what it prints with the lines that
follow (`...` stands for any lines); `skip` does not run it, but its commands must parse; `needs=OPTION` runs it only if
racelint has that option; `schema=NAME` validates it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_FENCE = re.compile(r"^( *)```(\S+)?(.*)$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_DROPPED = re.compile(r"[^\w\- ]")


class Block(NamedTuple):
    """A fenced block: `options` are the words behind the language, a word without a value has the value ""."""

    page: Path
    line: int
    language: str
    options: dict[str, str]
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Command(NamedTuple):
    """A line of a console and what it prints; `prints` is empty if the page does not show it."""

    line: int
    text: str
    prints: tuple[str, ...]


def blocks(page: Path) -> Iterator[Block]:
    lines = enumerate(page.read_text("utf-8").splitlines(), start=1)
    for number, line in lines:
        opening = _FENCE.match(line)
        if not opening:
            continue
        indent, language, words = opening.groups()
        body = []
        for _, inner in lines:
            if inner.strip() == "```":
                break
            body.append(inner.removeprefix(indent))
        options = dict((*word.split("=", 1), "")[:2] for word in words.split())
        yield Block(page, number, language or "", options, "".join(f"{each}\n" for each in body))


def commands(block: Block) -> Iterator[Command]:
    found: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found and found[-1][1].endswith("\\"):
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}", [])
        else:
            found[-1][2].append(line)
    for number, text, prints in found:
        yield Command(number, text, tuple(prints))


def prose(page: Path) -> str:
    """The page without its fenced blocks and code spans."""
    text, fenced = [], False
    for line in page.read_text("utf-8").splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            text.append(line)
    return re.sub(r"`[^`]*`", "", "\n".join(text))


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    text, fenced = [], False
    for line in page.read_text("utf-8").splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.startswith("#"):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip())
            text.append(_DROPPED.sub("", heading.lower()).replace(" ", "-"))
    return set(text)
