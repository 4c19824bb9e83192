"""What libraries mean, as data: tables in TOML beside this file, and those that users and packs add."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racelint.errors import RacelintError

LIVE = {"raises", "skips", "snapshot"}
DOES = {
    "snapshot", "deep-copy", "lazy", "view", "same", "picks", "takes-one", "calls-while-iterating", "awaits", "partial",
    "never-returns", "defers", "repeats", "delays", "polls",
}  # fmt: skip


class KnowledgeError(RacelintError):
    """A knowledge table that cannot be read or has rows we do not understand."""


@dataclass(frozen=True, slots=True)
class Container:
    """How a kind of container behaves; see the head of python.toml for the meaning of each key."""

    kind: str
    types: tuple[str, ...]
    live: str
    insert: Mapping[str, int] = field(default_factory=dict)
    append: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    reorder: tuple[str, ...] = ()
    views: Mapping[str, str] = field(default_factory=dict)
    copies: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    missing: str = ""
    growth: str = ""
    source: str = ""

    def change(self, method: str) -> str | None:
        """What a method does to the container's size or order; None if it only reads."""
        if method in self.insert:
            return "insert"
        for name in ("append", "remove", "clear", "reorder"):
            if method in getattr(self, name):
                return name
        return None


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """What a library function does with its arguments."""

    names: tuple[str, ...]
    does: str
    returns: str = ""
    argument: int = 0
    callable: int = -1
    keyword: str = ""
    iterable: int = 0
    source: str = ""


class Knowledge:
    """All rows, indexed by name."""

    def __init__(self, containers: Iterable[Container], functions: Iterable[LibraryFunction], aliases: dict[str, str]):
        self.kinds: dict[str, Container] = {}
        self.container_types: dict[str, Container] = {}
        for container in containers:
            self.kinds[container.kind] = container
            for name in container.types:
                self.container_types[name] = container
        self.functions: dict[str, list[LibraryFunction]] = {}
        for function in functions:
            for name in function.names:
                self.functions.setdefault(name, []).append(function)
        self.aliases = aliases
        # Methods of containers are too common to guess a project's class by.
        self.common_methods = frozenset(
            name
            for container in self.kinds.values()
            for name in (
                *container.insert, *container.append, *container.remove, *container.clear, *container.reorder,
                *container.views, *container.copies, *container.reads,
            )
        )  # fmt: skip
        self.guess = _guess(self.kinds)

    def canonical(self, name: str) -> str:
        """A type's own name behind an alias (`typing.Dict` is `dict`)."""
        return self.aliases.get(name, name)

    def container(self, type_name: str) -> Container | None:
        """The behaviour of a library type."""
        return self.container_types.get(self.canonical(type_name))

    def speaks_of(self, name: str) -> bool:
        """Whether a table has a row for a dotted name."""
        return name in self.functions or name in self.container_types or name in self.aliases

    def does(self, name: str, what: str) -> LibraryFunction | None:
        """The row that says a function does something."""
        for row in self.rows(name):
            if row.does == what:
                return row
        return None

    def rows(self, name: str) -> list[LibraryFunction]:
        """The rows of a function; "*.name" stands for a function of that name in any unresolved module."""
        found = self.functions.get(name)
        if found is None and "." in name:
            found = self.functions.get(f"*.{name.rpartition('.')[2]}")
        return found or []


def load(extra: Iterable[Path] = ()) -> Knowledge:
    """The built-in tables and any others. Raises KnowledgeError."""
    extra = tuple(extra)
    tables = [_builtin(), *[_read(path) for path in extra]]
    for table, name in zip(tables, ["the built-in table", *map(str, extra)], strict=True):
        _check_shape(table, name)
    containers = [_row(Container, row) for table in tables for row in table.get("container", ())]
    functions = [_row(LibraryFunction, row) for table in tables for row in table.get("function", ())]
    aliases = {name: target for table in tables for name, target in table.get("aliases", {}).items()}
    return Knowledge(containers, functions, aliases)


@functools.cache
def _builtin() -> dict[str, Any]:
    return _read(Path(__file__).with_name("python.toml"))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KnowledgeError(f"knowledge table {path}: {error}") from None


def _check_shape(table: dict[str, Any], name: str) -> None:
    """Raise KnowledgeError for anything but arrays of rows and the table of aliases."""
    unknown = sorted(table.keys() - {"container", "function", "aliases"})
    if unknown:
        raise KnowledgeError(f"{name}: unknown table {unknown[0]!r} (there are container, function and aliases)")
    for kind in ("container", "function"):
        rows = table.get(kind, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise KnowledgeError(f"{name}: write each row as [[{kind}]]")
        for row in rows:
            listed = row.get("types", row.get("names"))
            if not isinstance(listed, list) or not listed:
                raise KnowledgeError(f"{name}: a {kind} row needs a list of its types or names")
            _check_words(row, name)


def _check_words(row: dict[str, Any], name: str) -> None:
    """Raise KnowledgeError for a word that no analysis knows."""
    for key, known in (("live", LIVE), ("does", DOES)):
        if key in row and row[key] not in known:
            raise KnowledgeError(f"{name}: {key} = {row[key]!r} (known are {', '.join(sorted(known))})")
    for key in ("insert", "views"):
        if not isinstance(row.get(key, {}), dict):
            raise KnowledgeError(f"{name}: {key} is a table of methods, not {row[key]!r}")


def _row(record: type[Any], row: dict[str, Any]) -> Any:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    try:
        return record(**values)
    except TypeError as error:
        raise KnowledgeError(f"knowledge row {row.get('types') or row.get('names')}: {error}") from None


def _guess(kinds: Mapping[str, Container]) -> Container:
    """How a container of unknown type behaves, to go by the names of its methods."""
    mapping, sets, lists, deque = (kinds[kind] for kind in ("mapping", "set", "list", "deque"))
    known = (mapping, sets, lists)
    return Container(
        kind="unknown",
        types=(),
        live="raises",
        insert={**mapping.insert, "add": 0, "insert": 1},
        append=("append", "extend", "appendleft"),
        remove=tuple(sorted({name for kind in (*known, deque) for name in kind.remove})),
        clear=("clear",),
        reorder=("sort", "reverse"),
        views=mapping.views,
        copies=("copy",),
        reads=("get", "pop", "setdefault", "__getitem__"),
        source="the names that the known containers share",
    )
