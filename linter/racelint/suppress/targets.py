"""What a comment is about: a line, a statement, a function, a type with its methods, a field, a module's variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from racelint.model import (
    Block,
    Branch,
    Expr,
    Function,
    Hold,
    Labelled,
    Loop,
    Source,
    Stmt,
    Try,
    Type,
)

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__"})
EXPRESSIONS = frozenset({"<module>", "<body>", "<lambda>"})  # whatever else is a function has statements of its own
_CLASS_LEVEL = re.compile(r"\s*([A-Za-z_]\w*)\s*(?::|=(?!=))")


class Area(NamedTuple):
    """Lines of a file."""

    path: str
    first: int
    last: int


class Target(NamedTuple):
    """The lines that a comment is about, and the places: "Type.field", "Type.*", "module:name"."""

    areas: tuple[Area, ...]
    places: tuple[str, ...] = ()


class Targets:
    """Finds what stands on the lines of one source; `others` are all sources, for methods in other files."""

    def __init__(self, source: Source, lines: Sequence[str], others: Iterable[Source]) -> None:
        self._source = source
        self._lines = lines
        self._others = others
        self._heads = list(self._headers())
        self._inner = [f.span.line for f in source.module.functions.values() if f.name not in EXPRESSIONS]
        self._statements = dict(self._extents())

    def at(self, line: int, *, behind: bool) -> Target:
        """What a comment is about that stands above a line or (`behind`) at its end."""
        path = self._source.path
        for head, owner in self._heads:
            if head.first <= line <= head.last:
                areas = (Area(path, head.first, head.end),)
                if isinstance(owner, Type):
                    return Target((*areas, *self._methods(owner)), (f"{owner.qualname}.*",))
                return Target(areas)
        first, last = self._statements.get(line, (line, line))
        if behind and first == last:
            first, last = next((extent for extent in self._statements.values() if extent[1] == line), (line, line))
        return Target((Area(path, first, last),), tuple(self._declared(line)))

    # --- heads of functions and types ---------------------------------------------------------------------------------

    def _headers(self) -> Iterator[tuple[_Header, Function | Type]]:
        for function in self._source.module.functions.values():
            if _is_named(function):
                yield _header(function, self._lines), function
        for type_ in self._source.module.types.values():
            yield _header(type_, self._lines), type_

    def _methods(self, owner: Type) -> Iterator[Area]:
        """Methods that stand outside of the type, in the same package."""
        module, own = self._source.module, self._source
        for source in self._others:
            if source.path != own.path and not (module.package and source.name == own.name):
                continue
            for function in source.module.functions.values():
                if function.owner == owner.qualname and not _lies_in(function, owner, source.path == own.path):
                    yield Area(source.path, function.span.line, function.span.end_line)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _extents(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """The lines of each statement that runs over several, or of its head, by the first one."""
        for function in self._source.module.functions.values():
            for statement in _statements(function.body):
                first, last = statement.span.line, _end(statement)
                if last > first and not any(first <= line <= last for line in self._inner):
                    yield first, (first, last)

    # --- declarations -------------------------------------------------------------------------------------------------

    def _declared(self, line: int) -> Iterator[str]:
        """The fields and variables that are declared on a line."""
        module = self._source.module
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        around = [f for f in module.functions.values() if _is_named(f) and f.span.line <= line <= f.span.end_line]
        if not around:
            for name, variable in module.globals.items():
                if variable.span.line == line:
                    yield f"{self._source.name.partition('@')[0]}:{name}"
        inside = max(around, key=lambda function: function.span.line, default=None)
        for type_ in module.types.values():
            if inside is None and type_.span.line <= line <= type_.span.end_line:
                level = _CLASS_LEVEL.match(text)
                names = [name for name, field in type_.fields.items() if field.span.line == line]
                names += [level[1]] if level and level[1] in type_.fields else []
            elif inside is not None and inside.owner == type_.qualname and inside.name in CONSTRUCTORS:
                names = [name for name in _assigned(text, inside) if _mangled(name, type_) in type_.fields]
            else:
                continue
            yield from (f"{type_.qualname}.{_unmangled(name, type_)}" for name in names)


class _Header(NamedTuple):
    """The lines from the first decorator to the end of a signature, and the last line of the body."""

    first: int
    last: int
    end: int


def _is_named(function: Function) -> bool:
    return not function.name.startswith("<")


def _lies_in(function: Function, owner: Type, same_file: bool) -> bool:
    return same_file and owner.span.line <= function.span.line <= owner.span.end_line


def _header(owner: Function | Type, lines: Sequence[str]) -> _Header:
    span = owner.span
    first = min([span.line, *(line for decorator in owner.decorators if (line := _line_of(decorator)))])
    last = span.line
    for number, text in enumerate(lines[span.line - 1 : span.end_line], start=span.line):
        if re.split(r"#|//", text)[0].rstrip().endswith((":", "{")):
            last = number
            break
    return _Header(first, last, span.end_line)


def _line_of(expression: Expr) -> int:
    span = getattr(expression, "span", None)
    return span.line if span else 0


def _blocks(statement: Stmt) -> tuple[Block, ...]:
    match statement:
        case Branch(then=then, orelse=orelse):
            return then, orelse
        case Loop(body=body, orelse=orelse, step=step):
            return body, orelse, step
        case Hold(body=body) | Labelled(body=body):
            return (body,)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            return body, *(handler.body for handler in handlers), orelse, final
        case _:
            return ()


def _statements(block: Block) -> Iterator[Stmt]:
    for statement in block:
        if not isinstance(statement, Labelled):
            yield statement
        for inner in _blocks(statement):
            yield from _statements(inner)


def _end(statement: Stmt) -> int:
    """The last line of a statement, or of the head of one that has a body."""
    span = statement.span
    starts = [inner.span.line for block in _blocks(statement) for inner in block if hasattr(inner, "span")]
    if not starts:
        return span.end_line if not isinstance(statement, Branch | Loop | Hold | Try) else span.line
    return max(span.line, min(starts) - 1)


def _assigned(text: str, function: Function) -> list[str]:
    """The attributes of the method's own object that a line assigns or declares."""
    if not function.parameters:
        return []
    instance = re.escape(function.parameters[0].name)
    if not re.match(rf"\s*\(?\s*{instance}\.\w+\s*\)?\s*(?:[,:]|=(?!=))", text):
        return []
    return re.findall(rf"\b{instance}\.(\w+)(?=\s*(?:,|:|\)|=(?!=)))", re.split(r"(?<![=!<>:])=(?!=)", text)[0] + "=")


def _mangled(name: str, type_: Type) -> str:
    hidden = name.startswith("__") and not name.endswith("__")
    return f"_{type_.name.lstrip('_')}{name}" if hidden else name


def _unmangled(name: str, type_: Type) -> str:
    prefix = f"_{type_.name.lstrip('_')}"
    return name.removeprefix(prefix) if name.startswith(f"{prefix}__") else name
