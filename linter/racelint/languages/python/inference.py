"""Types of single expressions by astroid, asked only where a verdict hangs on a name that the linker could not resolve.

astroid reads source, it does not run it; it is shown the analysed roots and the standard library and nothing else.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from racelint.span import Span

QUERIES = 100  # a run; counted, not timed, so that results are the same on every machine


class Inference:
    """Infers types of expressions, given where they stand."""

    def __init__(self, roots: Sequence[str]) -> None:
        """`roots` are the folders from which the analysed sources import each other."""
        self._roots = list(roots)
        self._modules: dict[str, Any] = {}
        self._left = QUERIES

    def __call__(self, path: str, span: Span) -> str | None:
        """The qualified name of the type of the expression at a span, "builtins.dict"; None if it cannot be told."""
        if self._left <= 0:
            return None
        self._left -= 1
        with _only_on_path(self._roots):
            try:
                return self._infer(path, span)
            except Exception:  # astroid raises what it will on source that it does not understand
                return None

    def _infer(self, path: str, span: Span) -> str | None:
        module = self._module(path)
        node = _at(module, span)
        if node is None:
            return None
        from astroid.util import Uninferable

        names = {value.pytype() for value in node.infer() if value is not Uninferable}
        names.discard("builtins.NoneType")
        return names.pop() if len(names) == 1 else None

    def _module(self, path: str) -> Any:
        if path not in self._modules:
            from astroid.astroid_manager import MANAGER  # with all that astroid knows of the standard library
            from astroid.builder import AstroidBuilder

            text = Path(path).read_bytes().decode("utf-8", "replace")
            builder = AstroidBuilder(MANAGER)
            self._modules[path] = builder.string_build(text, modname=Path(path).stem, path=path)
        return self._modules[path]


def _at(module: Any, span: Span) -> Any:
    """The largest expression that starts and ends where the span does."""
    todo = [module]
    while todo:
        node = todo.pop(0)
        if (node.lineno, node.end_lineno) == (span.line, span.end_line) and (
            (node.col_offset, node.end_col_offset) == (span.column - 1, span.end_column - 1)
        ):
            return node
        children = node.get_children()
        todo.extend(c for c in children if c.lineno is None or c.lineno <= span.line <= (c.end_lineno or span.line))
    return None


@contextmanager
def _only_on_path(roots: list[str]) -> Iterator[None]:
    """Let astroid find the analysed roots and the standard library, not what happens to be installed beside us."""
    paths = sysconfig.get_paths()
    library = [paths["stdlib"], paths["platstdlib"], str(Path(paths["platstdlib"]) / "lib-dynload")]
    outer = sys.path
    sys.path = [*roots, *library]
    try:
        yield
    finally:
        sys.path = outer
