"""Small programs for the tests of the analysis layers: source text to a linked program, and values as text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from racelint.analysis.describe import Describe
from racelint.analysis.summaries import Summaries
from racelint.analysis.summary import Summary
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import ClassType, TypeOf, Types
from racelint.analysis.values import Builtin, FunctionValue, ModuleValue, TypeValue, Value, Values
from racelint.knowledge import Knowledge, load
from racelint.languages.python import FRONT_END
from racelint.model import Function, Module, Source


class Linked(NamedTuple):
    """The layers of one program."""

    sources: dict[str, Source]
    symbols: Symbols
    types: Types
    summaries: Summaries

    def type(self, value: Value) -> str:
        """The type of a value: "dict", "list[dict]", a project's class by its id, "" if unknown."""
        return type_text(self.types.of(value))

    def variable(self, function_id: str, name: str) -> str:
        """The type of a variable, likewise."""
        return type_text(self.types.variable(function_id, name))

    def field(self, type_id: str, name: str) -> str:
        """The type of a field, likewise."""
        return type_text(self.types.field(type_id, name))

    def text(self, values: Values) -> list[str]:
        """Values as expressions, sorted."""
        describe = Describe(self.symbols, self.types)
        return sorted(describe.text(value) for value in values)

    def resizes(self, function_id: str) -> list[str]:
        """What a function does to the size of containers: "remove d", "insert self.items"."""
        events = self.summaries.of(function_id).resizes
        return sorted({f"{event.change} {self.text((event.container,))[0]}" for event in events})

    def returns(self, function_id: str) -> list[str]:
        """What a function returns, as expressions."""
        return self.text(self.summaries.of(function_id).returns)

    def stores(self, function_id: str) -> dict[str, list[str]]:
        """What a function leaves in paths, as expressions."""
        stored = self.summaries.of(function_id).stores
        return {self.text((path,))[0]: self.text(values) for path, values in stored.items()}

    def summary(self, function_id: str) -> Summary:
        """A function's summary."""
        return self.summaries.of(function_id)


def lower(text: str | bytes) -> Module:
    """One file, lowered."""
    return FRONT_END.extract(text if isinstance(text, bytes) else textwrap.dedent(text).encode())


def function(text: str, name: str = "f") -> Function:
    """One function of a file."""
    return lower(text).functions[name]


def write(root: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files below a folder; folders of files become packages only by an `__init__.py` of their own."""
    paths = [root / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
    return paths


def program(root: Path, files: Mapping[str, str]) -> Linked:
    """Files, written, lowered and linked."""
    sources = []
    for path in sorted(write(root, files)):
        name = FRONT_END.module_name(path.as_posix())
        sources.append(Source(path.as_posix(), name, lower(path.read_bytes()), True))
    return linked(sources)


def single(text: str) -> Linked:
    """A program of one module named `m`."""
    return linked([Source("/p/m.py", "m", lower(text), True)])


def linked(sources: list[Source], knowledge: Knowledge | None = None) -> Linked:
    """Sources, linked."""
    known = knowledge or load()
    symbols = Symbols(sources, known)
    types = Types(symbols, known)
    return Linked({source.name: source for source in sources}, symbols, types, Summaries(symbols, types, known))


def type_text(found: TypeOf | None) -> str:
    """A type as it is written."""
    if found is None:
        return ""
    if isinstance(found, ClassType):
        return found.type
    return f"{found.name}[{', '.join(map(type_text, found.args))}]" if found.args else found.name


def meaning(value: Value | None) -> str:
    """What a name means: the id of a function, a class or a module, or a library's dotted name."""
    match value:
        case FunctionValue(function=name) | TypeValue(type=name) | ModuleValue(module=name) | Builtin(name=name):
            return name
        case _:
            return "" if value is None else type(value).__name__
