"""Types of single expressions by astroid, asked only where a verdict hangs on a name that the linker could not resolve.

astroid reads source, it does not run it; it is shown the analysed roots and the standard library and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from racelint import texts
from racelint.languages.python.text import decode, module_name
from racelint.span import Span

DEPTH = 1000  # frames for a query: astroid counts on Python's usual limit to end what would never end
QUERIES = 100  # a run; counted, not timed, so that results are the same on every machine


class Inference:
    """Infers types of expressions, given where they stand. One for each run: astroid keeps a cache for the process."""

    def __init__(self, roots: Sequence[str]) -> None:
        """`roots` are the folders from which the analysed sources import each other."""
        self._roots = list(roots)
        self._modules: dict[str, Any] = {}
        self._left = QUERIES

    def __call__(self, path: str, span: Span) -> str | None:
        """The qualified name of the type of the expression at a span, "builtins.dict"; None if it cannot be told."""
        if self._left <= 0:
            return None
        if self._left == QUERIES:
            _forget_earlier_runs()
        self._left -= 1
        with _sandbox(self._roots), _recursion(DEPTH):
            try:
                return self._infer(path, span)
            except Exception:  # astroid raises what it will on source that it does not understand
                return None

    def _infer(self, path: str, span: Span) -> str | None:
        data = texts.read(path)
        node = _at(self._module(path, data), _in_bytes(data, span))
        if node is None:
            return None
        from astroid.util import Uninferable

        names = {value.pytype() for value in node.infer() if value is not Uninferable}
        names.discard("builtins.NoneType")
        return names.pop() if len(names) == 1 else None

    def _module(self, path: str, data: bytes) -> Any:
        if path not in self._modules:
            from astroid.builder import AstroidBuilder

            text = decode(data).removeprefix("\ufeff")
            name = module_name(path)
            self._modules[path] = AstroidBuilder(_manager()).string_build(text, modname=name, path=path)
        return self._modules[path]


def _manager() -> Any:
    from astroid.astroid_manager import MANAGER  # with all that astroid knows of the standard library

    return MANAGER


def _forget_earlier_runs() -> None:
    """Clear what astroid has read for another program; if it has just been loaded there is nothing to forget."""
    loaded = "astroid.astroid_manager" in sys.modules
    manager = _manager()
    if loaded:
        manager.clear_cache()


def _in_bytes(data: bytes, span: Span) -> Span:
    """A span as astroid counts: columns in bytes of UTF-8, from 0."""
    lines = decode(data).removeprefix("\ufeff").split("\n")

    def column(line: int, characters: int) -> int:
        return len(lines[line - 1][: characters - 1].encode("utf-8"))

    return Span(span.line, column(span.line, span.column), span.end_line, column(span.end_line, span.end_column))


def _at(module: Any, span: Span) -> Any:
    """The largest expression that starts and ends where the span does."""
    todo = [module]
    while todo:
        node = todo.pop(0)
        if (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == (
            span.line, span.column, span.end_line, span.end_column,
        ):  # fmt: skip
            return node
        children = node.get_children()
        todo.extend(c for c in children if c.lineno is None or c.lineno <= span.line <= (c.end_lineno or span.line))
    return None


@contextmanager
def _recursion(frames: int) -> Iterator[None]:
    """Allow so many frames more than there are, whatever the analysis may use: its own limit would let C run out."""
    depth, frame = frames, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@contextmanager
def _sandbox(roots: list[str]) -> Iterator[None]:
    """Let astroid find the standard library, then the analysed roots, and nothing that is installed beside us.

    Compiled modules have no source to read, so astroid imports them: only those of the standard library itself.
    """
    from astroid.manager import AstroidManager

    folder = Path(os.__file__).parent  # in a virtual environment too, where sysconfig names the environment's own
    library = [str(folder), str(folder / "lib-dynload")]

    def is_of_library(name: str) -> bool:
        return "." not in name and PathFinder.find_spec(name, library) is not None

    # On the class: astroid makes managers of its own on the way, which share their state but no instance attributes.
    outer_path, outer_rule = sys.path, AstroidManager._can_load_extension
    sys.path = [*library, *roots]
    AstroidManager._can_load_extension = lambda _, name: is_of_library(name)
    try:
        yield
    finally:
        sys.path = outer_path
        AstroidManager._can_load_extension = outer_rule
