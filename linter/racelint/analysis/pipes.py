"""Pipes: what comes before a pipe's writing end is closed comes before what follows where all has been read from it.

`r, w := io.Pipe(); go func() { err = write(w); w.Close() }(); text, failed := io.ReadAll(r)`: behind that, the
goroutine has stored its error.
"""

from __future__ import annotations

from collections.abc import Iterable

from racelint.analysis.state import TAKE
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, Captured, Value
from racelint.knowledge import Knowledge
from racelint.model import Attr, Call, Const, Expr, Item, Name
from racelint.record import records

PIPE = "pipe at line "  # how what stands for a pipe begins
READING, WRITING = 0, 1  # which of the results of the call that makes it is which of its ends


class Pipes:
    """Finds what stands for a pipe in the functions that have one of its ends."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge

    def used(self, function_id: str, call: Call, names: Iterable[str]) -> tuple[str, Value] | None:
        """What a call does with a pipe, as with a channel, and what stands for that; `names` are whom it calls.

        Who reads until the end has it from the writer only if nobody else may close the reading end.
        """
        match call.func:
            case Attr(base=base, name=name) if name in self._knowledge.closes_pipes:
                closed = self._end(function_id, base, WRITING)
                return ("close", closed) if closed is not None else None
        rows = [self._knowledge.does(name, "reads-all") for name in names]
        known = [row.argument for row in rows if row is not None and row.argument < len(call.args)]
        if not known or len(known) != len(rows):
            return None
        read = call.args[known[0]]
        if not isinstance(read, Name) or not self._is_kept(function_id, read.name):
            return None
        pipe = self._end(function_id, read, READING)
        return (TAKE, pipe) if pipe is not None else None

    def _is_kept(self, function_id: str, name: str) -> bool:
        """Whether a variable is a function's own, which only one call is given."""
        function = self._symbols.functions[function_id][1]
        calls = [node for node in records(function.body) if isinstance(node, Call)]
        given = [arg for call in calls for arg in call.args if isinstance(arg, Name) and arg.name == name]
        return len(given) == 1 and name in function.bindings and name not in function.cells

    def _end(self, function_id: str, expr: Expr, which: int) -> Value | None:
        """The pipe of which a variable has that end, and never had anything else."""
        if not isinstance(expr, Name) or expr.scope not in ("local", "captured"):
            return None
        owner = function_id if expr.scope == "local" else self._types.binder(function_id, expr.name)
        if owner is None:
            return None
        source, function = self._symbols.functions[owner]
        match function.bindings.get(expr.name, ()):
            case (Item(base=Call() as made, key=Const(value=index)),) if index == which:
                found = self._symbols.static(source.name, made.func)
                if isinstance(found, Builtin) and self._knowledge.does(found.name, "makes-pipe") is not None:
                    return Captured(owner, f"{PIPE}{made.span.line}")
        return None


def is_pipe(path: Value) -> bool:
    """Whether something stands for a pipe, which several may close."""
    return isinstance(path, Captured) and path.name.startswith(PIPE)
