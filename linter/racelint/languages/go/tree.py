"""Text and positions of syntax nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node


class Text:
    """A file's bytes, and where its nodes stand in characters."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines = None if data.isascii() else data.split(b"\n")

    def of(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def span(self, node: Node) -> Span:
        """The span of a node; tree-sitter counts bytes from 0."""
        (line, column), (end_line, end_column) = node.start_point, node.end_point
        if self._lines is None:
            return Span(line + 1, column + 1, end_line + 1, end_column + 1)
        return Span(line + 1, self._column(line, column), end_line + 1, self._column(end_line, end_column))

    def _column(self, line: int, column: int) -> int:
        assert self._lines is not None
        text = self._lines[line] if line < len(self._lines) else b""
        return len(text[:column].decode("utf-8", "replace")) + 1


def parts(node: Node | None) -> list[Node]:
    """The named children of a node without comments."""
    if node is None:
        return []
    return [child for child in node.named_children if child.type != "comment"]


def field(node: Node, name: str) -> Node:
    """A child that the grammar says is there."""
    found = node.child_by_field_name(name)
    if found is None:
        raise ValueError(f"{node.type} without {name} in line {node.start_point[0] + 1}")
    return found


def statements(block: Node | None) -> Iterator[Node]:
    """The statements of a block or of a case, which the grammar may put into a list of their own."""
    for child in parts(block):
        if child.type == "statement_list":
            yield from parts(child)
        else:
            yield child
