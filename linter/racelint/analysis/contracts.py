"""Contracts: the locks that a decorator or a dependency holds around every call, or that an author requires."""

from __future__ import annotations

from racelint.analysis.declared import Declared
from racelint.analysis.paths import root
from racelint.analysis.places import SHARED_SIDE, Places
from racelint.analysis.state import surely_held
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin, Captured, Field, FunctionValue, Global, Param, Value
from racelint.knowledge import Knowledge
from racelint.model import Attr, Build, Call, Const, Expr, Function, Name


class Contracts:
    """Finds the locks that callers of a function hold by its decorators."""

    def __init__(
        self, symbols: Symbols, knowledge: Knowledge, summaries: Summaries, places: Places,
        declared: Declared | None = None,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._knowledge = knowledge
        self._summaries = summaries
        self._effects = summaries.effects
        self._places = places
        self._declared = declared
        self._found: dict[str, frozenset[str]] = {}

    def of(self, function_id: str, held: frozenset[str] = frozenset()) -> frozenset[str]:
        """Locks that a decorator holds around every call of a function, or that callers are said to hold.

        A caller that has the side which others may hold, too, has no more than that.
        """
        if function_id not in self._found:
            self._found[function_id] = self._find(function_id)
        required = self._declared.locks_of(function_id) if self._declared is not None else None
        if not required:
            return self._found[function_id]
        return self._found[function_id] | {lock for lock in required if f"{SHARED_SIDE}{lock}" not in held}

    def around(self, function_id: str) -> frozenset[str]:
        """Locks that a framework holds around its calls of a function, by what this asks it for.

        `def handle(store=Depends(opened))`, where `opened` yields the store under a lock. What it depends on itself is
        held as long. Who calls the function himself gives it a store.
        """
        asked = dict.fromkeys(self._dependencies(function_id, decorated=True))
        todo = list(asked)
        while todo:
            further = [each for each in self._dependencies(todo.pop()) if each not in asked]
            asked.update(dict.fromkeys(further))
            todo += further
        held = [lock for dependency in asked for lock in self._summaries.of(dependency).yields_held or ()]
        return frozenset([self._places.lock(lock) for lock in held if isinstance(root(lock), Global)])

    def _dependencies(self, function_id: str, *, decorated: bool = False) -> list[str]:
        """The functions of the program that a function asks a framework to call, perhaps by its decorators."""
        source, function = self._symbols.functions[function_id]
        asking = [parameter.default for parameter in function.parameters]
        for decorator in function.decorators if decorated else ():
            given = dict(decorator.keywords).values() if isinstance(decorator, Call) else ()
            asking += [part for each in given if isinstance(each, Build) for part in each.parts]
        found = [self._dependency(source.name, each) for each in asking if isinstance(each, Call) and each.args]
        return [each for each in found if each is not None]

    def _dependency(self, module: str, asking: Call) -> str | None:
        """The function of the program that `Depends(function)` asks for."""
        value = self._symbols.static(module, asking.func)
        if not isinstance(value, Builtin) or not self._knowledge.does(value.name, "depends"):
            return None
        asked = self._symbols.static(module, asking.args[0])
        return asked.function if isinstance(asked, FunctionValue) else None

    def _find(self, function_id: str) -> frozenset[str]:
        source, function = self._symbols.functions[function_id]
        locks: set[str] = set()
        for decorator in function.decorators:
            value = self._decorator(source.name, function, decorator)
            if isinstance(value, Builtin) and self._knowledge.does(value.name, "synchronized"):
                locks.add(f"@{value.name}{self._name(source.name, decorator)}")
            elif isinstance(value, FunctionValue):
                locks |= self._held_by_wrapper(value.function, source.name, function)
        return frozenset(locks)

    def _decorator(self, module: str, function: Function, decorator: Expr) -> Value | None:
        """What a decorator is, or what made it if that is of a library."""
        value = self._symbols.decorator(module, function, decorator)
        if isinstance(value, Global):
            made = [a.value for a in self._symbols.sources[value.module].module.globals[value.name].values]
            if len(made) == 1 and isinstance(made[0], Call):
                return self._symbols.static(value.module, made[0].func)
        return value

    def _name(self, module: str, decorator: Expr) -> str:
        """The name by which a decorator of a library finds its lock, if one is given: each name has its own."""
        given = decorator.args[0] if isinstance(decorator, Call) and decorator.args else None
        value = self._symbols.static(module, given) if isinstance(given, Name | Attr) else None
        if isinstance(value, Global):
            made = [a.value for a in self._symbols.sources[value.module].module.globals[value.name].values]
            given = made[0] if len(made) == 1 else None
        return f"({given.value!r})" if isinstance(given, Const) else ""

    def _held_by_wrapper(self, decorator: str, module: str, function: Function) -> set[str]:
        """Locks that a decorator of the project holds around the call of what it decorates."""
        source, declared = self._symbols.functions[decorator]
        locks: set[str] | None = None
        for qualname, other in source.module.functions.items():
            if other.parent is None or not _is_within(other, declared.qualname):
                continue
            other_id = f"{source.name}:{qualname}"
            effects = self._effects.get(other_id)
            for site in effects.calls.values() if effects else ():
                if isinstance(site.callee, Captured):
                    held = {self._renamed(h.lock, other_id, module, function) for h in surely_held(site.held)}
                    locks = held if locks is None else locks & held
        return locks or set()

    def _renamed(self, lock: Value, wrapper: str, module: str, function: Function) -> str:
        """A lock of the wrapper's first argument is one of the decorated method's own instance."""
        if isinstance(lock, Field) and lock.base == Param(wrapper, 0) and function.owner:
            return self._places.lock(Field(Param(f"{module}:{function.qualname}", 0), lock.name))
        return self._places.lock(lock)


def _is_within(function: Function, qualname: str) -> bool:
    return function.qualname.startswith(f"{qualname}.")
