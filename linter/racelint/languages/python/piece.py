"""The function around a place, parsed by libcst: fixes change its tree, and come out as the edit that makes of it.

libcst is slow on whole files, and nothing outside the function is to change: only the lines of the function (or of the
top-level statement, for code that is in none) are parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider, WhitespaceInclusivePositionProvider

from racelint.finding import Edit, Location
from racelint.span import Span


class Piece:
    """The lines of a function or statement. Spans are those of the file."""

    def __init__(self, rows: Sequence[str], lines: tuple[int, int], newline: str) -> None:
        """Raises cst.ParserSyntaxError for what libcst cannot read."""
        first, last = lines
        self.newline = newline
        self._source = "\n".join(rows[first - 1 : last]) + ("\n" if last < len(rows) else "")
        # An indented function becomes the body of a block: its columns stay what they are.
        self._prefix = f"if 1:{newline}" if self._source[:1] in (" ", "\t") else ""
        self._first = first
        self._wrapper = MetadataWrapper(cst.parse_module(self._prefix + self._source), unsafe_skip_copy=True)
        self.module = self._wrapper.module
        self._positions = self._wrapper.resolve(PositionProvider)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands, without parentheses around it."""
        return self._shifted(self._positions[node])

    def wide_span(self, node: cst.CSTNode) -> Span:
        """Where a node stands, with parentheses and space around it."""
        return self._shifted(self._wrapper.resolve(WhitespaceInclusivePositionProvider)[node])

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around a node."""
        return self._wrapper.resolve(ParentNodeProvider).get(node)

    def parents(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, the nearest first."""
        around = self.parent(node)
        while around is not None:
            yield around
            around = self.parent(around)

    def nodes(self, within: cst.CSTNode | None = None) -> Iterator[cst.CSTNode]:
        """All nodes, or those in one of them, outermost first."""
        node = self.module if within is None else within
        yield node
        for child in node.children:
            yield from self.nodes(child)

    def expressions(self, span: Span) -> Iterator[cst.BaseExpression]:
        """The expressions at a span, with or without their parentheses."""
        for node in self.nodes():
            if isinstance(node, cst.BaseExpression) and (
                span == self.span(node) or (node.lpar and span == self.wide_span(node))
            ):
                yield node

    def code(self, node: cst.CSTNode) -> str:
        """A node's own text."""
        return self.module.code_for_node(node)

    def edit(self, changed: cst.CSTNode, path: str) -> Edit:
        """The one edit that makes the file's text that of a changed tree."""
        assert isinstance(changed, cst.Module)
        old, new = self._source, changed.code.removeprefix(self._prefix)
        start = _common(old, new)
        end = _common(old[start:][::-1], new[start:][::-1])
        location = Location(path, Span(*self._place(start), *self._place(len(old) - end)))
        return Edit(location, new[start : len(new) - end])

    def _place(self, offset: int) -> tuple[int, int]:
        before = self._source[:offset]
        return self._first + before.count("\n"), offset - (before.rfind("\n") + 1) + 1

    def _shifted(self, found: object) -> Span:
        start, end = found.start, found.end  # type: ignore[attr-defined]
        down = self._first - 1 - bool(self._prefix)
        return Span(start.line + down, start.column + 1, end.line + down, end.column + 1)


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    limit = min(len(one), len(other))
    low, high = 0, limit
    while low < high:  # slices compare fast
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
