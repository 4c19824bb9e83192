"""Block scopes: which variable a name means, under a name of its own in its function and those around it."""

from __future__ import annotations

from typing import NamedTuple

from racelint.model import Expr, Turn, TypeRef
from racelint.model import Scope as ScopeKind
from racelint.span import Span

PER_TURN = "1.22"  # from here on, each turn of a loop has its own copy of the variables that the loop declares


class TypeName(NamedTuple):
    """A type that a function declares, by its qualname; None for a type parameter."""

    qualname: str | None


class FunctionScope:
    """The variables of one function while it is lowered; shadowing ones are renamed, so that no two share a name."""

    def __init__(self, qualname: str, parent: FunctionScope | None) -> None:
        self.qualname = qualname
        self.parent = parent
        self.blocks: list[dict[str, str | TypeName]] = [{}]
        self.bindings: dict[str, list[Expr]] = {}
        self.annotations: dict[str, TypeRef] = {}
        self.cells: set[str] = set()
        self.turns: list[Turn] = []
        self.births: list[tuple[str, Span]] = []
        self.loops: list[Span] = []
        self.results: tuple[str, ...] = ()
        self.closures = 0
        self._used: set[str] = set()

    def declare(self, name: str, span: Span, *, header: Span | None = None) -> str:
        """Declare a variable in the innermost block; `header` is the loop whose header declares it."""
        if name == "_":
            return name
        unique, number = name, 1
        while self._is_used(unique):
            number += 1
            unique = f"{name}@{number}"
        self._used.add(unique)
        self.blocks[-1][name] = unique
        self.births.append((unique, span))
        if header is not None:
            self.turns.append(Turn(unique, header, PER_TURN))
        elif self.loops:
            self.turns.append(Turn(unique, self.loops[-1]))
        return unique

    def _is_used(self, name: str) -> bool:
        scope: FunctionScope | None = self
        while scope is not None:
            if name in scope._used:
                return True
            scope = scope.parent
        return False

    def here(self, name: str) -> str | None:
        """The variable of that name which the innermost block itself declares."""
        found = self.blocks[-1].get(name)
        return found if isinstance(found, str) else None

    def resolve(self, name: str) -> tuple[str, ScopeKind] | TypeName:
        """What a name means; names that no function around declares belong to the package."""
        for block in reversed(self.blocks):
            found = block.get(name)
            if found is not None:
                return found if isinstance(found, TypeName) else (found, "local")
        scope = self.parent
        while scope is not None:
            for block in reversed(scope.blocks):
                found = block.get(name)
                if isinstance(found, TypeName):
                    return found
                if found is not None:
                    scope.cells.add(found)
                    return found, "captured"
            scope = scope.parent
        return name, "global"

    def holder(self, name: str) -> FunctionScope:
        """The function around that has declared a variable."""
        scope = self
        while name not in scope._used and scope.parent is not None:
            scope = scope.parent
        return scope
