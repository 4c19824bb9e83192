"""The names of a file that a fix may use: builtins that are not hidden, `copy.deepcopy` with an import if need be."""

from __future__ import annotations

import ast
import builtins
import keyword
import sys
from collections.abc import Iterator

from racelint.finding import Edit, Location
from racelint.languages.python.document import SCOPES, Document, bindings
from racelint.span import Span


class Names:
    """What names mean in the lines that a fix is about, and the imports that the fix has asked for."""

    def __init__(self, document: Document, around: list[ast.AST], lines: tuple[int, int]) -> None:
        self._document = document
        self._tree = document.tree
        self._rows = document.rows
        self._newline = document.newline
        self._around = around
        self._lines = lines
        self._imports: list[str] = []

    def is_builtin(self, name: str) -> bool:
        """Whether a name is that of the builtin: nothing in the file around the lines binds it."""
        return name not in self._bound()

    def is_local(self, name: str) -> bool:
        """Whether a function around the lines binds a name."""
        return name in self._bound(module=False)

    def new(self, name: str) -> str:
        """A name that nothing around the lines has, like a given one."""
        taken = self._bound() | set(dir(builtins)) | set(keyword.kwlist)
        return next(each for each in (name, *(f"{name}_{number}" for number in range(2, 1_000))) if each not in taken)

    def deepcopy(self) -> str:
        """How the file may call `copy.deepcopy`, with an import if there is none; "" if its names are in the way."""
        inner = self._bound(module=False)
        modules, functions = self._imported()
        for name in functions:
            if name not in inner:
                return name
        for name in modules:
            if name not in inner:
                return f"{name}.deepcopy"
        taken = self._bound()
        if "copy" not in taken:
            self._imports.append("import copy")
            return "copy.deepcopy"
        if "deepcopy" not in taken:
            self._imports.append("from copy import deepcopy")
            return "deepcopy"
        return ""

    def edits(self, path: str) -> Iterator[Edit]:
        """The imports that were asked for."""
        for line in self._imports:
            number, before, after = self._import_place(line)
            text = f"{before}{line}{self._newline}{after}"
            yield Edit(Location(path, Span(number, 1, number, 1)), text)

    def _imported(self) -> tuple[list[str], list[str]]:
        """What the module's own top-level imports call `copy` and `deepcopy`, imported before the lines."""
        modules, functions = list[str](), list[str]()
        for node in self._tree.body:
            if node.lineno >= self._lines[0]:
                break
            if isinstance(node, ast.Import):
                modules += [alias.asname or alias.name for alias in node.names if alias.name == "copy"]
            elif isinstance(node, ast.ImportFrom) and node.module == "copy" and not node.level:
                functions += [alias.asname or alias.name for alias in node.names if alias.name == "deepcopy"]
        return modules, functions

    def _bound(self, *, module: bool = True) -> set[str]:
        """The names that the module and the functions around the lines bind; those of classes are seen by nobody."""
        own = [scope for scope in self._around if isinstance(scope, SCOPES)]
        inner = [node for scope in own[-1:] for node in ast.walk(scope) if isinstance(node, SCOPES)]
        found = {name for scope in (*own, *inner) for name in bindings(scope)}
        return found | self._document.bound if module else found

    def _import_place(self, line: str) -> tuple[int, str, str]:
        """The line before which an import goes, and what else goes around it: sorted in with the first imports."""
        body = [node for node in self._tree.body if not _is_docstring(node, self._tree)]
        while body and isinstance(body[0], ast.ImportFrom) and body[0].module == "__future__":
            body = body[1:]
        imports: list[ast.Import | ast.ImportFrom] = []
        for node in body:
            if not isinstance(node, ast.Import | ast.ImportFrom) or self._shares_line(node):
                break
            if imports and node.lineno > (imports[-1].end_lineno or 0) + 1:
                break  # another block
            imports.append(node)
        if imports:
            kind = ast.Import if line.startswith("import") else ast.ImportFrom
            own = [node for node in imports if _key(node).partition(".")[0] in sys.stdlib_module_names]
            alike = [node for node in own if isinstance(node, kind)]
            for node in alike:
                if _key(node) > _key(line):
                    return node.lineno, "", ""
            if alike:
                return (alike[-1].end_lineno or 0) + 1, "", ""
            if own and kind is ast.ImportFrom:
                return (own[-1].end_lineno or 0) + 1, "", ""
            return imports[0].lineno, "", "" if imports[0] in own else self._newline
        gap = self._newline
        if body:
            number = min([body[0].lineno, *[d.lineno for d in getattr(body[0], "decorator_list", [])]])
            while number > 1 and self._rows[number - 2].lstrip().startswith("#") and number - 1 > self._head():
                number -= 1  # a comment belongs to what comes after it
            return number, "", gap + (gap if isinstance(body[0], ast.ClassDef | ast.FunctionDef) else "")
        return len(self._rows), "", ""

    def _head(self) -> int:
        """The last line that must stay above imports: a "#!" line, the encoding, the docstring, `__future__`."""
        before = [
            n for n in self._tree.body if _is_docstring(n, self._tree) or getattr(n, "module", "") == "__future__"
        ]
        rows = [
            number
            for number, row in enumerate(self._rows[:2], start=1)
            if row.startswith("#") and ("coding" in row or row.startswith("#!"))
        ]
        return max([0, *rows, *[node.end_lineno or 0 for node in before]])

    def _shares_line(self, node: ast.stmt) -> bool:
        return any(other is not node and other.lineno == node.lineno for other in self._tree.body)


def _key(node: ast.Import | ast.ImportFrom | str) -> str:
    if isinstance(node, str):
        return node.split()[1].lower()
    return (node.names[0].name if isinstance(node, ast.Import) else "." * node.level + (node.module or "")).lower()


def _is_docstring(node: ast.stmt, tree: ast.Module) -> bool:
    return (
        node is tree.body[0]
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
