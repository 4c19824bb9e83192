"""Finds contexts: all steps in their order, from the effects of functions to the states in which they are entered."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.alive import Alive
from racelint.analysis.application import Application
from racelint.analysis.commandlines import CommandLines
from racelint.analysis.concrete import Concrete
from racelint.analysis.contexts import ASYNC_EXTERNAL, EXTERNAL, Context, Contexts, targets
from racelint.analysis.deciding import Deciding
from racelint.analysis.declared import Declared
from racelint.analysis.edges import Edges
from racelint.analysis.entrypoints import EntryPoints
from racelint.analysis.leading import Leading
from racelint.analysis.modes import Modes
from racelint.analysis.objects import SHARED, Objects
from racelint.analysis.places import Places
from racelint.analysis.product import Product
from racelint.analysis.receivers import Receivers
from racelint.analysis.roots import Roots
from racelint.analysis.serving import Serving
from racelint.analysis.singles import Singles
from racelint.analysis.spreading import Spreading
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.knowledge import Knowledge

MOST_BEGUN = 12  # functions that one helper is given to start: of more nobody knows which of them meet
MOST_METHODS = 8  # of a type that does little but to start what it is given, as a group does


class Finder:
    """Builds `Contexts` out of the effects of all functions."""

    def __init__(
        self, symbols: Symbols, types: Types, knowledge: Knowledge, summaries: Summaries, places: Places,
        declared: Declared | None = None,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge
        self._summaries = summaries
        self._places = places
        self._declared = declared
        self._product = Product(symbols, summaries.effects)
        self._edges = Edges(symbols, types, places, self._product)
        self._found = Contexts(sites=self._edges.sites)
        self._known: set[Context] = set()
        self._merged: dict[Context, dict[str, None]] = {}  # the root functions of merged contexts

    def run(self) -> Contexts:
        """Everything: roots, entry states, and what leads to what."""
        self._find_roots()
        spreading = self._spreading()
        for index, context in enumerate(self._found.roots):
            for function_id in self._merged.get(context, (context.function,)):
                spreading.spread(index, context, function_id)
        self._drop_never_started()
        leading = Leading(self._symbols, self._summaries.effects, self._edges)
        self._found.started_under = leading.started_under(self._found.roots)
        self._found.separate = frozenset(c.function for c in self._found.roots if c.kind == "process")
        self._found.outermost = leading.outermost(self._found.started_under, self._found.separate)
        self._found.turning = {f: leading.to(f) for f, effects in self._product.effects.items() if effects.polls}
        self._found.consuming = set(leading.consumed_by(self._takers()))
        return self._found

    def _find_roots(self) -> None:
        """What is started, what libraries call, and what else only callers can call."""
        roots = Roots(self._symbols, self._types, self._knowledge, self._product, self._edges)
        points = EntryPoints(
            self._symbols,
            self._types,
            self._summaries.effects,
            self._edges,
            self._product,
            self._knowledge.sharing.names("setting"),
            Serving(self._symbols, self._types, self._knowledge.sharing.names("serves")),
        )
        entered = [*points.of_libraries(self._knowledge.concurrency.entries), *points.decorated()]
        known = {context.function for context in entered}
        commands = CommandLines(self._symbols, self._types, self._knowledge.concurrency.commands).all()
        singles = Singles(self._symbols, self._product.effects, self._edges.calls, known, commands)
        self._found.singles.update(singles.all())
        self._found.runs_once = singles.programs
        modes = Modes(self._symbols, self._product.effects, self._edges.calls, singles.programs)
        self._found.modes.update(modes.all())
        self._found.modes_of_starts.update(modes.of_starts(self._found.modes))
        application = Application(self._symbols, self._types, self._product, self._edges, self._knowledge, known)
        for effects in self._product.effects.values():
            for start in effects.starts.values():
                if start.through is not None:
                    self._found.begun.setdefault(start.through, set()).update(t.function for t in targets(start.callee))
        many = [helper for helper, begun in self._found.begun.items() if len(begun) > MOST_BEGUN]
        for helper in [helper for helper in many if not self._is_group(helper[0])]:
            del self._found.begun[helper]
        started = list(roots.started(self._found.begun))
        run = {context.function for context in (*started, *entered)}
        running = run | self._edges.called
        live = [
            context
            for context in started
            if context.starter is None or context.starter in running or not application.is_uncalled(context.starter)
        ]
        idle = {context.starter for context in live if context.starter is not None} - running
        self._found.left_to_tests.update(filter(application.is_left_to_tests, idle))
        for context in (*live, *entered):
            self._root(context)
        for context in roots.external(run, application):
            self._root(context)

    def _is_group(self, function_id: str) -> bool:
        """Whether a helper is there to start what it is given, and has nothing of its own that this could be about."""
        if not self._symbols.is_ordered_by_steps(function_id):
            return False
        source, function = self._symbols.functions[function_id]
        record = source.module.types.get(function.owner) if function.owner else None
        return record is None or len(record.methods) <= MOST_METHODS

    def _spreading(self) -> Spreading:
        active = {owner for context in self._found.roots for owner in self._owners(context)}
        objects = Objects(self._symbols, self._places, self._found, self._product.effects)
        alive = Alive(self._symbols, self._product.effects, self._edges)
        receivers = Receivers(self._symbols, self._types, self._places, objects, active, alive)
        deciding = Deciding(self._symbols, self._types, self._product.effects, self._edges)
        return Spreading(
            self._symbols, self._knowledge, self._summaries, self._places, self._edges, deciding, receivers,
            self._found, self._declared,
        )  # fmt: skip

    def _drop_never_started(self) -> None:
        """Forget contexts whose start no call of their starter reaches: `if debug: ...`, and nobody asks for that."""
        dropped: set[int] = set()
        while True:
            concrete = Concrete(self._symbols, self._product.effects, self._found)
            never = {i for i in range(len(self._found.roots)) if i not in dropped and not concrete.is_ever_started(i)}
            if not never:
                return
            dropped |= never
            for function_id, states in self._found.entries.items():
                kept = {entry: came for entry, came in states.items() if entry.context not in never}
                self._found.entries[function_id] = kept

    def _root(self, context: Context) -> None:
        """Add a context; callers' threads and callbacks are not told apart: one context each has many roots."""
        if context.is_external or context.kind == "unknown":
            merged = Context(context.kind, "", None, None, False, SHARED)
            self._merged.setdefault(merged, {})[context.function] = None
            context = merged
        if context not in self._known:
            self._known.add(context)
            self._found.roots.append(context)

    def _owners(self, context: Context) -> Iterator[str]:
        """The types whose methods start a context or are its root."""
        if context.kind in (EXTERNAL, ASYNC_EXTERNAL, "unknown", "process"):
            return
        for function_id in (context.starter, context.function):
            if function_id is not None:
                source, function = self._symbols.functions[function_id]
                if function.owner:
                    yield f"{source.name}:{function.owner}"

    def _takers(self) -> Iterator[str]:
        """The threads, and the streams that callers read."""
        for context in self._found.roots:
            if context.kind == "thread":
                yield context.function
        for functions in self._merged.values():
            for function_id in functions:
                if self._is_stream(function_id):
                    yield function_id

    def _is_stream(self, function_id: str) -> bool:
        return self._symbols.functions[function_id][1].is_generator and not self._symbols.is_coroutine(
            function_id, self._knowledge
        )
