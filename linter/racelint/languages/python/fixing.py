"""What a remedy means in a Python file: a tree changed by libcst, told as edits. Loaded only when there is one."""

from __future__ import annotations

import functools
from collections.abc import Callable

import libcst as cst

from racelint.finding import Edit, Fix, Remedy
from racelint.languages import SourceProblem
from racelint.languages.python import copying, holding, iterating, parse
from racelint.languages.python.document import Document, lines_of
from racelint.languages.python.names import Names
from racelint.languages.python.piece import Piece
from racelint.languages.python.text import encoding

Change = Callable[[Piece, Names, Remedy], tuple[str, cst.CSTNode] | None]
CHANGES: dict[str, Change] = {
    "snapshot": iterating.snapshot,
    "deep-copy": copying.deep_copy,
    "hold": holding.hold,
}


def fix(data: bytes, remedy: Remedy) -> Fix | None:
    """The edits of a file that do what a remedy says; None if there is no sure way."""
    document = _document(data)
    if document is None:
        return None
    places = remedy.places[-1:] if remedy.kind == "deep-copy" else remedy.places  # the source may be anywhere
    around = document.around([place.span for place in places])
    lines = lines_of(around)
    if lines is None:
        return None
    try:
        piece = Piece(document.rows, lines, document.newline)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    names, path = Names(document, around, lines), remedy.places[0].path
    change = CHANGES[remedy.kind](piece, names, remedy)
    if change is None:
        return None
    description, changed = change
    edits: list[Edit] = [piece.edit(changed, path), *names.edits(path)]
    return Fix(description, tuple(edits), remedy.safe)


@functools.lru_cache(maxsize=4)
def _document(data: bytes) -> Document | None:
    """A file's text and tree; None if edits could not be placed in it."""
    try:
        text = data.decode(encoding(data))
        tree = parse(data)
    except (UnicodeError, LookupError, SourceProblem):
        return None
    return None if "\r" in text.replace("\r\n", "") else Document(text, tree)
