"""Programs whose threads are greenlets: a library has put its own in the place of what would make threads.

`gevent.monkey.patch_all()` at the top of a module: whoever has loaded that module has greenlets for threads, and they
switch only where they wait. What shows just as well is a type whose locks are those of such a library.
"""

from __future__ import annotations

from racelint.analysis.contexts import Contexts
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Builtin
from racelint.analysis.ways import Ways
from racelint.model import Call, Const, Eval, Source

THREADS = "thread"  # the option of what to replace that leaves threads as they are
GREENLET = "greenlet"
ANY = ".monkey_patch"  # replaces only what is named, where anything is


class Cooperating:
    """Answers for pairs of accesses."""

    def __init__(self, symbols: Symbols, places: Places, contexts: Contexts, ways: Ways) -> None:
        self._symbols = symbols
        self._places = places
        self._contexts = contexts
        self._ways = ways
        self._patching = places.knowledge.sharing.names("patches")
        self._libraries = frozenset([_library(name) for name in self._patching])
        starts = places.knowledge.concurrency.starts.items()
        self._own_locks = self._libraries | {_library(name) for name, row in starts if row.kind == GREENLET}
        self._loaded: dict[str, bool] = {}
        self._owners: dict[str, bool] = {}

    def are_greenlets(self, first: Spot, second: Spot) -> bool:
        """Whether both accesses are in processes whose threads take turns, as a module on each of their ways sees to.

        What one of them loads, or is a part of, the other one has, too, if they are to meet.
        """
        if self._is_greenlet(first) or self._is_greenlet(second):
            return True
        return self.have_own_locks(first, second)

    def have_own_locks(self, first: Spot, second: Spot) -> bool:
        """Whether callers meet, or a thread that others have started, in a type whose locks are all between greenlets.

        So are the callers for which it has them. A thread that the type starts itself is beside them.
        """
        roots = [self._contexts.roots[spot.entry.context] for spot in (first, second)]
        owner = self._symbols.owner_of(first.function)
        if not any(root.is_external for root in roots) or not self._has_own_locks(owner):
            return False
        starters = [root.starter for root in roots if not root.is_external and root.starter is not None]
        types = [self._symbols.owner_of(starter) for starter in starters]
        return not any(each and self._places.related(each, owner) for each in types)

    def _has_own_locks(self, type_id: str) -> bool:
        """Whether all locks that a type has are between greenlets."""
        if type_id not in self._owners:
            locks = self._places.locks_of(type_id)
            self._owners[type_id] = bool(locks) and all(_library(name) in self._own_locks for name in locks)
        return self._owners[type_id]

    def _is_greenlet(self, spot: Spot) -> bool:
        starter = self._contexts.roots[spot.entry.context].starter
        modules = self._ways.modules(spot) | ({starter.partition(":")[0]} if starter is not None else set())
        return any(self._is_patched(module) for module in modules)

    def _is_patched(self, module: str) -> bool:
        """Whether a module, or one of the packages around it, has greenlets put in the place of threads."""
        if module not in self._loaded:
            source = self._symbols.sources.get(module)
            outer = module.rpartition(".")[0]
            self._loaded[module] = (source is not None and self._patches(source)) or (
                bool(outer) and self._is_patched(outer)
            )
        return self._loaded[module]

    def _patches(self, source: Source) -> bool:
        """Whether a module does so when it is loaded, whatever else is the case."""
        if not any(_library(each.module) in self._libraries for each in source.module.imports.values()):
            return False
        body = source.module.functions[MODULE].body
        return any(
            isinstance(stmt, Eval) and isinstance(stmt.value, Call) and self._is_patch(source, stmt.value)
            for stmt in body
        )

    def _is_patch(self, source: Source, call: Call) -> bool:
        found = self._symbols.static(source.name, call.func)
        if not isinstance(found, Builtin) or found.name not in self._patching:
            return False
        options = dict(call.keywords)
        chosen = [name for name, value in options.items() if isinstance(value, Const) and value.value is True]
        left_out = THREADS in options and options[THREADS] != Const(True)
        return not left_out and (not chosen or THREADS in chosen or "all" in chosen or not found.name.endswith(ANY))


def _library(name: str) -> str:
    return name.partition(".")[0]
