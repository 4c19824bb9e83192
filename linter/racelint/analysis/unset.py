"""Unset variables: pointers and maps of a package that only its tests give a value; in the program they are nil.

`if generator != nil { return generator.Intn(n) }`, with a generator of a test's own: what would be done with it is
never done. Nor is what stands behind `if profiling { ... }`, with `var profiling = false` which nobody sets.
"""

from __future__ import annotations

from racelint.analysis.memory import OF_VARIABLE
from racelint.analysis.paths import root
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import TESTING, Symbols
from racelint.analysis.values import Global
from racelint.model import Assign, Assigned, Build, Const, Expr, Function, Logic, Loop, Name, Op, Update
from racelint.record import records

NIL_AT_FIRST = frozenset({"*", "map"})
NOTHING = Const(None)
FLAG, FALSE = "bool", Const(False)
PROGRAM = "main"  # a package that nobody imports


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
        record = self._symbols.content(variable.module).globals.get(variable.name)
        if record is None or record.annotation is None or record.annotation.name not in NIL_AT_FIRST:
            return False
        nothing = all(each.value == NOTHING for each in record.values)
        return nothing and _is_never_set(self._symbols, variable, NOTHING)


class FixedFlags:
    """Answers for flags of packages, constant or variable, that are what they have been declared to be for good."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[Global, bool | None] = {}

    def outcome(self, test: Expr, module: str) -> bool | None:
        """How a test in a package always comes out; None if that is not known."""
        match test:
            case Name(name=name, scope="global"):
                return self._value(module, name)
            case Op(operator="not", operands=(operand,)):
                found = self.outcome(operand, module)
                return None if found is None else not found
            case Op(operator="==" | "!=" as operator, operands=(one, Const(value=bool() as value))):
                found = self.outcome(one, module)
                return None if found is None else (found is value) is (operator == "==")
            case Logic(operator=operator, operands=operands):
                outcomes = {self.outcome(operand, module) for operand in operands}
                decisive = operator == "or"
                return decisive if decisive in outcomes else None if None in outcomes else not decisive
            case _:
                return None

    def _value(self, module: str, name: str) -> bool | None:
        """What a flag of a package always is."""
        variable = Global(module, name)
        if variable not in self._known:
            self._known[variable] = self._find(variable)
        return self._known[variable]

    def _find(self, variable: Global) -> bool | None:
        record = self._symbols.content(variable.module).globals.get(variable.name)
        if record is None or (record.annotation is not None and record.annotation.name != FLAG):
            return None
        values = {each.value for each in record.values} or ({FALSE} if record.annotation is not None else set())
        match values.pop() if len(values) == 1 else record.constant:
            case Const(value=bool() as value) as declared if _is_never_set(self._symbols, variable, declared):
                return value
            case _:
                return None


def _is_never_set(symbols: Symbols, variable: Global, declared: Const) -> bool:
    """Whether code of its own package alone can set a variable, and none that programs are built from gives it another
    value than what it is declared with.
    """
    content = symbols.content(variable.module)
    if content.traits.duck_typed or (variable.name[0].isupper() and content.package != PROGRAM):
        return False
    built = [f for s, f in symbols.functions.values() if s.name == variable.module and not s.left_out]
    return not (
        any(_may_set(function, variable.name, declared) for function in built)
        or any(_may_point(each, variable.name) for other in content.globals.values() for each in other.values)
        or is_of_other_builds(symbols, variable.module, variable.name)
    )


def is_of_other_builds(symbols: Symbols, module: str, name: str) -> bool:
    """Whether what the usual build leaves out, and no test, speaks of a variable or field of a module."""
    return any(
        words.packages[0] == module.partition("@")[0]
        and not words.known
        and TESTING.isdisjoint(words.packages)
        and name in words.mentions.split()
        for words in symbols.words
    )


def _may_set(function: Function, name: str, declared: Const) -> bool:
    """Whether a function gives a variable of its module another value than the first, or hands its address on."""
    for node in records(function.body):
        match node:
            case Assign(targets=targets, value=value) if value != declared and any(_is_it(t, name) for t in targets):
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
