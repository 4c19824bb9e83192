"""Types of which a program makes one object: wherever one is met, it is that one.

Only a single expression makes it, in a function that one call leads to, and so on up to where a program starts. What
different programs of one repository make is made in different processes, as is what commands of a command line make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.lifecycle import is_starting
from racelint.analysis.starting import COMMAND, GOROUTINE, LEADING, PREPARING
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import FunctionValue

START = frozenset({"main", "init", "<module>"})
COPIES = ("DeepCopy", "DeepCopyInto", "Clone", "Copy", "Unmarshal")  # who has one is copied, or read from somewhere
DATA = ("Config", "Configuration", "Options", "Opts", "Spec", "Status", "Args", "Params", "Settings")
MOST_STEPS = 12
Programs = frozenset[str]  # the functions in which programs start
NEVER: Programs = frozenset()


class Singles:
    """Finds the types of which there is one object."""

    def __init__(
        self, symbols: Symbols, product: Mapping[str, Effects], edges: Mapping[str, Sequence[tuple[str, CallSite]]],
        entered: Set[str], run: Set[str] = frozenset(),
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._product = product
        self._once: dict[str, Programs] = {}
        self._ways: dict[str, list[tuple[str, bool]]] = defaultdict(list)  # callers and starters; whether repeated
        self._found: dict[str, bool] = {}
        self._commands: dict[str, str] = {}
        self._entered = entered  # what libraries call, again and again
        self._run = run  # the commands that a process's command line asks for
        self._leading: set[str] = set()  # what runs once this process leads: mostly what else runs at once
        for caller in product:
            for callee, site in edges.get(caller, ()):
                self._ways[callee].append((caller, site.looped))
        for starter, effects in product.items():
            for start in effects.starts.values():
                if not isinstance(start.callee, FunctionValue) or start.kind in ("binding", PREPARING):
                    continue
                if start.kind == LEADING:
                    self._leading.add(start.callee.function)
                if start.kind == COMMAND:
                    self._commands.setdefault(start.callee.function, starter)
                else:
                    once = start.kind in (GOROUTINE, LEADING) and not start.looped and not start.many
                    self._ways[start.callee.function].append((starter, not once))
        self._sites: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        for function_id, effects in product.items():
            for (_, type_id), looped in effects.made.items():
                self._sites[type_id].append((function_id, looped))

    def all(self) -> Iterator[str]:
        """The types, by id."""
        for type_id in self._sites:
            if self.is_single(type_id):
                yield type_id

    def is_single(self, type_id: str) -> bool:
        """Whether there is one object of a type."""
        known = self._found.get(type_id)
        if known is None:
            self._found[type_id] = False  # cut cycles
            known = self._found[type_id] = self._is_single(type_id)
        return known

    def _is_single(self, type_id: str) -> bool:
        sites, (source, record) = self._sites.get(type_id, ()), self._symbols.types[type_id]
        if len(sites) != 1 or sites[0][1] or record.underlying is not None:
            return False
        if source.module.generated:
            return False  # what else is generated makes them, too: a request's message, for each request
        if not record.methods or record.name.endswith(DATA):
            return False  # mostly read from somewhere, and copied
        if any(self._symbols.method(type_id, name) is not None for name in COPIES):
            return False
        return bool(self.programs(sites[0][0]))

    def programs(self, function_id: str, steps: int = MOST_STEPS) -> Programs:
        """The starts of programs that lead to a function, in each of which it runs once; none if it may run again."""
        known = self._once.get(function_id)
        if known is None:
            if steps == 0:
                return NEVER
            self._once[function_id] = NEVER
            known = self._once[function_id] = self._programs(function_id, steps)
        return known

    def _programs(self, function_id: str, steps: int) -> Programs:
        function = self._symbols.functions[function_id][1]
        if function.name in START and not function.owner:
            return frozenset({function_id})
        if function_id in self._commands:  # each is another program, as far as a process goes
            return frozenset({function_id}) if self.programs(self._commands[function_id], steps - 1) else NEVER
        ways = self._ways.get(function_id, ())
        if function_id in self._entered:
            return NEVER
        if not ways and function_id not in self._run:
            return self._of_root(function_id, steps)
        found: Programs = frozenset({function_id}) if function_id in self._run else NEVER
        for caller, repeated in sorted(ways, key=lambda way: way[0] in self._leading):
            programs = NEVER if repeated else self.programs(caller, steps - 1)
            if not programs or (programs & found and caller not in self._leading):
                return NEVER
            found |= programs
        return found

    def _of_root(self, function_id: str, steps: int) -> Programs:
        """A function that only libraries call: a command, or what puts the one object of its type into service."""
        source, function = self._symbols.functions[function_id]
        if function.owner:
            owner = f"{source.name}:{function.owner}"
            lasting = is_starting(function.name.lower()) or function.name in ("Run", "Start")
            return frozenset({owner}) if lasting and self.is_single(owner) else NEVER
        return NEVER
