"""Finding one's way in a Go file for fixes: functions, blocks, runs of statements, and edits between their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from racelint.finding import Edit, Location
from racelint.languages.go.tree import Text
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
BLOCKS = frozenset({"block", "expression_case", "type_case", "default_case", "communication_case"})


class Run(NamedTuple):
    """Consecutive statements of a block; `function` is what they are in."""

    function: Node
    block: Node
    statements: list[Node]
    rest: list[Node]  # of the block, behind them


class File:
    """A file's text and its edits."""

    def __init__(self, data: bytes, path: str) -> None:
        self.text = Text(data)
        self.path = path
        self._rows = data.split(b"\n")
        self.newline = "\r\n" if b"\r\n" in data else "\n"

    def span(self, node: Node) -> Span:
        """Where a node stands."""
        return self.text.span(node)

    def of(self, node: Node) -> str:
        """A node's text."""
        return self.text.of(node)

    def starts_its_line(self, node: Node) -> bool:
        """Whether nothing stands before a node on its line."""
        row, column = node.start_point
        return not self._rows[row][:column].strip()

    def ends_its_line(self, node: Node) -> bool:
        """Whether nothing but a comment stands behind a node on its last line."""
        row, column = node.end_point
        rest = self._rows[row][column:].strip()
        return not rest or rest.startswith(b"//")

    def indent(self, node: Node) -> str:
        """The white space before a node's line."""
        row = self._rows[node.start_point[0]]
        return row[: len(row) - len(row.lstrip())].decode()

    def before(self, node: Node, lines: Iterable[str], indent: str | None = None) -> Edit:
        """Put lines before the line of a node, indented as that."""
        return self._insert(node.start_point[0] + 1, lines, self.indent(node) if indent is None else indent)

    def first(self, block: Node, statement: Node, lines: Iterable[str]) -> Edit:
        """Put lines at the start of a block, above comments on its first statement."""
        return self._insert(block.start_point[0] + 2, lines, self.indent(statement))

    def after(self, node: Node, lines: Iterable[str], indent: str | None = None) -> Edit:
        """Put lines behind the last line of a node."""
        return self._insert(node.end_point[0] + 2, lines, self.indent(node) if indent is None else indent)

    def append(self, node: Node, text: str) -> Edit:
        """Put text right behind a node."""
        span = self.span(node)
        return Edit(Location(self.path, Span(*span[2:], *span[2:])), text)

    def replace(self, node: Node, text: str) -> Edit:
        """Put text in place of a node."""
        return Edit(Location(self.path, self.span(node)), text)

    def _insert(self, line: int, lines: Iterable[str], indent: str) -> Edit:
        text = "".join([f"{indent}{each}{self.newline}" for each in lines])
        return Edit(Location(self.path, Span(line, 1, line, 1)), text)


def walk(node: Node, *, into_functions: bool = True) -> Iterator[Node]:
    """All named nodes in a node, outermost first."""
    yield node
    for child in node.named_children:
        if into_functions or child.type != "func_literal":
            yield from walk(child, into_functions=into_functions)


def statements(block: Node) -> list[Node]:
    """The statements of a block or of a case; comments are none."""
    found: list[Node] = []
    for child in block.named_children:
        if child.type == "statement_list":
            found += [inner for inner in child.named_children if inner.type != "comment"]
        elif child.type != "comment" and not _is_head(block, child):
            found.append(child)
    return found


def _is_head(block: Node, child: Node) -> bool:
    """Whether a node is what a case is about, and not what it does."""
    if block.type == "block":
        return False
    heads = [node for name in ("value", "type", "communication") for node in block.children_by_field_name(name)]
    return any(child == head for head in heads)


def function_around(file: File, root: Node, spans: list[Span]) -> Node | None:
    """The innermost function or literal that has all spans."""
    first, last = min(span.line for span in spans) - 1, max(span.end_line for span in spans) - 1
    found: Node | None = None
    level: list[Node] = [root]
    while level:
        node = next((n for n in level if all(file.span(n).holds(span) for span in spans)), None)
        if node is None:
            break
        found = node if node.type in FUNCTIONS else found
        level = [n for n in node.named_children if n.start_point[0] <= first and last <= n.end_point[0]]
    return found


def run_around(file: File, root: Node, spans: list[Span]) -> Run | None:
    """The fewest consecutive statements of one block that have all spans."""
    function = function_around(file, root, spans)
    body = function.child_by_field_name("body") if function is not None else None
    if function is None or body is None:
        return None
    best: Run | None = None
    for block in walk(body):
        if block.type not in BLOCKS:
            continue
        inside = statements(block)
        touched = [n for n, node in enumerate(inside) if any(file.span(node).holds(span) for span in spans)]
        if touched and all(any(file.span(inside[n]).holds(span) for n in touched) for span in spans):
            first, last = touched[0], touched[-1]
            best = Run(function, block, inside[first : last + 1], inside[last + 1 :])
    return best


def root_name(file: File, node: Node | None) -> str:
    """The variable at the root of `v.a[b].c`, "" if there is none."""
    while node is not None:
        match node.type:
            case "identifier":
                return file.of(node)
            case (
                "selector_expression"
                | "index_expression"
                | "slice_expression"
                | "type_assertion_expression"
                | "unary_expression"
            ):
                node = node.child_by_field_name("operand")
            case "parenthesized_expression":
                node = node.named_children[0] if node.named_children else None
            case _:
                return ""
    return ""
