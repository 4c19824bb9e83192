"""The locks that are held at a line, named as its function's source would name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.contexts import Contexts
from racelint.analysis.describe import Describe
from racelint.analysis.effects import Effects
from racelint.analysis.places import ANY_LOCK, ASYNC, SHARED_SIDE, Places, surely
from racelint.analysis.state import Held, surely_held
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import TypeValue, Unknown
from racelint.span import Span

NAMELESS = "a lock without a name"


class Statement(NamedTuple):
    """A statement that the interpreter has met: its function, where it stands, and what the function itself holds."""

    function: str
    span: Span
    held: tuple[Held, ...]


class HeldLocks:
    """Tells what is held at a line: by the function that stands there, and by all its callers."""

    def __init__(
        self, symbols: Symbols, types: Types, effects: dict[str, Effects], places: Places, contexts: Contexts
    ) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._describe = Describe(symbols, types)

    def at(self, path: str, line: int) -> list[str]:
        """The names of the locks certainly held when the statement on a line starts, sorted; none if none is there."""
        statement = self.statement(path, line)
        if statement is None:
            return []
        own = [self.name(statement.function, held) for held in surely_held(statement.held)]
        on_entry = surely(self.on_entry(statement.function))
        entered = [self.reader_name(statement.function, lock) for lock in on_entry]
        return sorted({*own, *entered})

    def statement(self, path: str, line: int) -> Statement | None:
        """The outermost statement that starts on a line, or else the innermost simple one that goes on there."""
        found = list(self._statements(path, line))
        starting = [s for s in found if s.span.line == line]
        if starting:
            return min(starting, key=lambda s: (s.span.column, -s.span.end_line, -s.span.end_column))
        return max(found, key=lambda s: (s.span.line, s.span.column), default=None)

    def _statements(self, path: str, line: int) -> Iterator[Statement]:
        for function_id in self.functions(path, line):
            for span, held in self._effects[function_id].holds.items():
                if span.line <= line <= span.end_line:
                    yield Statement(function_id, span, held)

    def functions(self, path: str, line: int) -> list[str]:
        """The functions whose text a line belongs to, the module's body included."""
        return [
            function_id
            for function_id, (source, function) in self._symbols.functions.items()
            if source.path == path
            and function_id in self._effects
            and (function.span.line <= line <= function.span.end_line or function.name == "<module>")
        ]

    def on_entry(self, function_id: str) -> frozenset[str]:
        """What a function's callers hold in every state in which it is entered."""
        entries = self._contexts.entries.get(function_id)
        return frozenset.intersection(*[entry.locks for entry in entries]) if entries else frozenset()

    def name(self, function_id: str, held: Held) -> str:
        """A lock that a function holds itself; a condition over a lock is that lock."""
        lock = self._places.lock(held.lock)
        if not lock.startswith(ANY_LOCK) and self._is_own(function_id, lock):
            return self.reader_name(function_id, lock)
        return NAMELESS if isinstance(held.lock, Unknown) else self._describe.text(held.lock)

    def reader_name(self, function_id: str, lock: str) -> str:
        """A lock by its global name, as a function that is entered with it may call it."""
        lock = lock.removeprefix(ASYNC).removeprefix(SHARED_SIDE)
        if lock.startswith(ANY_LOCK):
            return lock.removeprefix(f"{ANY_LOCK}.") if len(lock) > 1 else NAMELESS
        owner, _, name = lock.rpartition(".")
        if self._is_own(function_id, lock):
            return f"{self._symbols.functions[function_id][1].parameters[0].name}.{name}"
        if ":" not in owner or owner in self._symbols.functions:
            return lock.rpartition(":")[2] if ":" not in owner else name
        return lock.rpartition(":")[2]

    def _is_own(self, function_id: str, lock: str) -> bool:
        """Whether a lock is a field of the class that a method belongs to."""
        source, function = self._symbols.functions[function_id]
        if not function.owner or not function.parameters or function.binding == "none":
            return False
        line = self._symbols.ancestors(f"{source.name}:{function.owner}")
        return TypeValue(lock.removeprefix(ASYNC).removeprefix(SHARED_SIDE).rpartition(".")[0]) in line
