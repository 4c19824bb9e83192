"""Unset variables: pointers and maps of a package that only its tests give a value; in the program they are nil.

`if generator != nil { return generator.Intn(n) }`, with a generator of a test's own: what would be done with it is
never done.
"""

from __future__ import annotations

from racelint.analysis.memory import OF_VARIABLE
from racelint.analysis.paths import root
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import TESTING, Symbols
from racelint.analysis.values import Global
from racelint.model import Assign, Assigned, Build, Const, Expr, Function, Loop, Name, Op, Update
from racelint.record import records

NIL_AT_FIRST = frozenset({"*", "map"})
NOTHING = Const(None)


class Unset:
    """Answers for accesses of what the variables of modules hold."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[Global, bool] = {}

    def is_never_done(self, spot: Spot) -> bool:
        """Whether an access is of what a variable holds, or leads to, that holds nothing."""
        path = spot.access.path
        variable = root(path)
        if not isinstance(variable, Global) or (path == variable and spot.access.kind in OF_VARIABLE):
            return False
        if variable not in self._known:
            self._known[variable] = self._is_nil(variable)
        return self._known[variable]

    def _is_nil(self, variable: Global) -> bool:
        """Whether code of its own package alone can set a variable, and none does that programs are built from."""
        content = self._symbols.content(variable.module)
        record = content.globals.get(variable.name)
        if record is None or content.traits.duck_typed or variable.name[0].isupper():
            return False
        if record.annotation is None or record.annotation.name not in NIL_AT_FIRST:
            return False
        built = [f for s, f in self._symbols.functions.values() if s.name == variable.module and not s.left_out]
        return not (
            any(each.value != NOTHING for each in record.values)
            or any(_may_set(function, variable.name) for function in built)
            or any(_may_point(each, variable.name) for other in content.globals.values() for each in other.values)
            or self._is_of_other_builds(variable)
        )

    def _is_of_other_builds(self, variable: Global) -> bool:
        """Whether what the usual build leaves out, and no test, speaks of a variable."""
        return any(
            words.packages[0] == variable.module.partition("@")[0]
            and not words.known
            and TESTING.isdisjoint(words.packages)
            and variable.name in words.mentions.split()
            for words in self._symbols.words
        )


def _may_set(function: Function, name: str) -> bool:
    """Whether a function gives a variable of its module another value than nothing, or hands its address on."""
    for node in records(function.body):
        match node:
            case Assign(targets=targets, value=value) if value != NOTHING and any(_is_it(t, name) for t in targets):
                return True
            case Update(target=target) | Loop(target=target) if target is not None and _is_it(target, name):
                return True
            case Op(operator="address", operands=(first,)) if _speaks_of(first, name):
                return True
            case _:
                pass
    return False


def _is_it(target: Expr, name: str) -> bool:
    """Whether a variable of the module, not an entry of it, is what gets a value, alone or beside others."""
    parts = target.parts if isinstance(target, Build) else (target,)
    return any(isinstance(part, Name) and _speaks_of(part, name) for part in parts)


def _may_point(assigned: Assigned, name: str) -> bool:
    """Whether a variable is made with the address of another one."""
    return any(
        isinstance(node, Op) and node.operator == "address" and _speaks_of(node, name)
        for node in records((assigned.value,))
    )


def _speaks_of(expr: Expr, name: str) -> bool:
    """Whether a variable of the module stands somewhere in an expression."""
    return any(isinstance(node, Name) and node.name == name and node.scope == "global" for node in records((expr,)))
