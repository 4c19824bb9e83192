"""Ends: statements behind which nothing of a program runs any more."""

from __future__ import annotations

from collections.abc import Callable

from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin
from racelint.knowledge import Knowledge
from racelint.model import Call, Eval, Stmt


def ends_program(symbols: Symbols, knowledge: Knowledge, module: str) -> Callable[[Stmt], bool]:
    """What tells the statements of a module that call what ends the program: `sys.exit(1)`."""

    def ends(stmt: Stmt) -> bool:
        call = stmt.value if isinstance(stmt, Eval) else None
        found = symbols.static(module, call.func) if isinstance(call, Call) else None
        return isinstance(found, Builtin) and knowledge.does(found.name, "never-returns") is not None

    return ends
