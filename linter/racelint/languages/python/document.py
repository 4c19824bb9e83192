"""A Python file as fixes need it: its lines, its functions, and the names that its module binds; computed once."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from racelint.span import Span

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda)


class Document:
    """A file's text and tree."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.rows = text.split("\n")
        self.tree = tree
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._starts = [_lines(node)[0] for node in tree.body]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the module itself binds."""
        return frozenset(bindings(self.tree))

    def around(self, spans: Iterable[Span]) -> list[ast.AST]:
        """The nodes that have all spans, outermost first."""
        wanted = list(spans)
        first, last = min(span.line for span in wanted), max(span.end_line for span in wanted)
        at = bisect_right(self._starts, first)
        level: Iterable[ast.AST] = self.tree.body[max(at - 1, 0) : at]
        found: list[ast.AST] = []
        while level:
            inner: list[ast.AST] = []
            for node in level:
                lines = _lines(node)
                if lines[0] <= first <= last <= lines[1]:
                    found.append(node)
                    inner = list(ast.iter_child_nodes(node))
                    break
            level = inner
        return found


def lines_of(around: list[ast.AST]) -> tuple[int, int] | None:
    """The lines of the innermost function (with decorators) of some nested nodes, else of the outermost."""
    functions = [node for node in around if isinstance(node, FUNCTIONS)]
    return _lines((functions or around)[-1 if functions else 0]) if around else None


def bindings(scope: ast.AST) -> Iterator[str]:
    """The names that a scope binds itself."""
    if isinstance(scope, SCOPES):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        yield from (argument.arg for argument in every if argument is not None)
    for node in ast.iter_child_nodes(scope):
        yield from _bound_by(node)


def _bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Lambda():
            return
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
    for child in ast.iter_child_nodes(node):
        yield from _bound_by(child)


def _lines(node: ast.AST) -> tuple[int, int]:
    line, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    return min([line, *[d.lineno for d in getattr(node, "decorator_list", [])]]), end
