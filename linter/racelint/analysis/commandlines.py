"""Command lines: functions that decorators register as commands, one of which a process runs, and runs once.

A decorator is a library's, one that the program makes of a library's (`def command(name): return click.command(name)`),
or the method of what such a decorator has made of another function: `@cli.command()`.
"""

from __future__ import annotations

from collections.abc import Mapping

from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import LibraryType
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, FunctionValue, Global
from racelint.knowledge import EntryRow
from racelint.model import Attr, Call, Expr, Jump
from racelint.record import records

MOST_STEPS = 6  # from a command up to what all are registered on


class CommandLines:
    """Finds the commands of a program."""

    def __init__(self, symbols: Symbols, types: Types, rows: Mapping[str, EntryRow]) -> None:
        self._symbols = symbols
        self._types = types
        self._rows = rows
        self._libraries = {name.partition(".")[0] for name in rows}
        self._known: dict[str, EntryRow | None] = {}

    def all(self) -> frozenset[str]:
        """The functions that are commands; what runs before the command that was asked for is none."""
        if not self._is_asked_for():
            return frozenset()
        return frozenset(
            function_id
            for function_id, (source, function) in self._symbols.functions.items()
            if function.decorators and source.module.traits.duck_typed and self._is_command(function_id)
        )

    def _is_asked_for(self) -> bool:
        """Whether a file of the program imports one of the libraries."""
        sources = self._symbols.sources.values()
        imported = {
            each.module.partition(".")[0] for s in sources for each in (*s.module.imports.values(), *s.module.loads)
        }
        return not self._libraries.isdisjoint(imported)

    def _is_command(self, function_id: str) -> bool:
        row = self._row_of(function_id, MOST_STEPS)
        return row is not None and not row.makes

    def _row_of(self, function_id: str, steps: int) -> EntryRow | None:
        """The row of the outermost decorator that registers a function."""
        if function_id not in self._known:
            self._known[function_id] = None  # cut cycles
            source, function = self._symbols.functions[function_id]
            rows = [self._meant(f"{source.name}:{MODULE}", each, steps) for each in function.decorators]
            self._known[function_id] = next((row for row in rows if row is not None), None)
        return self._known[function_id]

    def _meant(self, function_id: str, decorator: Expr, steps: int) -> EntryRow | None:
        """The row of a decorator, as it stands in a function."""
        if steps == 0:
            return None
        named = decorator.func if isinstance(decorator, Call) else decorator
        module = function_id.rpartition(":")[0]
        match self._symbols.meant(function_id, named) or self._symbols.static(module, named):
            case Builtin(name=name):
                return self._rows.get(name)
            case FunctionValue(function=made_by) if isinstance(decorator, Call):
                return self._returned(made_by, steps - 1)
            case None if isinstance(named, Attr):
                owner = self._owner(function_id, named.base, steps - 1)
                return self._rows.get(f"{owner}.{named.name}")
            case _:
                return None

    def _returned(self, function_id: str, steps: int) -> EntryRow | None:
        """The row of all decorators that a function of the program returns."""
        body = self._symbols.functions[function_id][1].body
        returned = [node.value for node in records(body) if isinstance(node, Jump) and node.kind == "return"]
        rows = [self._meant(function_id, each, steps) if isinstance(each, Call) else None for each in returned]
        return rows[0] if rows and all(row is not None and row is rows[0] for row in rows) else None

    def _owner(self, function_id: str, base: Expr, steps: int) -> str:
        """The type of a library to which something belongs, be it that a decorator has made it of a function."""
        module = function_id.rpartition(":")[0]
        match self._symbols.static(module, base):
            case FunctionValue(function=group):
                row = self._row_of(group, steps)
                return row.makes if row is not None else ""
            case Global() as variable:
                found = self._types.of(variable)
                return found.name if isinstance(found, LibraryType) else ""
            case _:
                return ""
