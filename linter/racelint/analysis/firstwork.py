"""First work: what a worker does with what it has received, and what its object's maker does before anybody can send.

`s := &Server{jobs: make(chan Job)}; go s.work(); s.rows = rows; return s`, where `work` reads the rows for each job.
The channel is the object's own, and whoever sends to it has the object from who has made it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.branching import is_never_behind
from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import Access, Effects
from racelint.analysis.paths import rebased, root
from racelint.analysis.signals import Signals
from racelint.analysis.spots import Spot
from racelint.analysis.state import OFFSPRING, TAKE
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Fresh, Param, Value
from racelint.span import Span

MOST_CALLS = 6  # from what the maker calls to what sends


class Step(NamedTuple):
    """A function on the way from an object's maker to an access, where it goes on, and what may run by then."""

    function: str
    span: Span
    running: frozenset[Span]


class FirstWork:
    """Finds stores to an object that is known by then to nothing but workers without work."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, signals: Signals
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._signals = signals
        self._made_by: dict[tuple[Value, Step, Entry], tuple[Fresh | None, list[Step]]] = {}

    def follows(self, first: Spot, second: Spot) -> bool:
        """Whether one of two accesses follows a receive from a channel to which nobody can have sent at the other."""
        return self._is_later(first, second) or self._is_later(second, first)

    def _is_later(self, spot: Spot, other: Spot) -> bool:
        if other.entry.context == spot.entry.context:
            return False
        made, way = self._made(spot)
        if made is None:
            return False
        channels = [channel for operation, channel in self._signals.done(other) if operation == TAKE]
        return any(self._is_made_with(made, channel) and not self._may_be_given(channel, way) for channel in channels)

    def _made(self, spot: Spot) -> tuple[Fresh | None, list[Step]]:
        """The object whose field is accessed, if a function on the way has made it and has not put it anywhere."""
        if not isinstance(spot.access.path, Field) or not isinstance(spot.access, Access):
            return None, []
        key = (spot.access.path, Step(spot.function, spot.access.span, spot.access.running), spot.entry)
        if key not in self._made_by:
            self._made_by[key] = self._find_made(spot, *key[:2])
        return self._made_by[key]

    def _find_made(self, spot: Spot, path: Value, step: Step) -> tuple[Fresh | None, list[Step]]:
        way = [step]
        function, entry = spot.function, spot.entry
        while isinstance(start := root(path), Param) and start.function == function:
            came = self._contexts.came(function, entry)
            site = self._contexts.sites.get((came.caller, came.span, function)) if came is not None else None
            given = self._contexts.given(came, function, start) if came is not None else None
            if came is None or site is None or given is None:
                return None, []
            way.append(Step(came.caller, came.span, site.running))
            path, function, entry = rebased(path, start, given), came.caller, came.entry
        if isinstance(start, Fresh) and start not in self._effects[function].exposed:
            return start, way
        return None, []

    def _is_made_with(self, made: Fresh, channel: Value) -> bool:
        """Whether a channel is one that was made for a field of an object, by who has made that."""
        if not isinstance(channel, Field):
            return False
        return Field(made, channel.name) in self._effects[made.site.function].own_channels.values()

    def _may_be_given(self, channel: Value, way: list[Step]) -> bool:
        """Whether something may be given to a channel before an access, by what has been started or called by then."""
        givers = self._signals.first_givers(channel)
        running = self._running(channel, way)
        early = [entry.context in running and not self._has_worked(channel, f, entry) for f, entry, _ in givers]
        if not givers or any(early):
            return True
        giving = {function for function, _, _ in givers}
        for function, at, _ in way:
            body = self._symbols.functions[function][1].body
            calls = [span for span, callee in self._effects[function].calls if self._leads(callee, giving, MOST_CALLS)]
            told = [span for giver, _, span in givers if giver == function]
            if not all(span == at or is_never_behind(body, at, span) for span in (*calls, *told)):
                return True
        return False

    def _running(self, channel: Value, way: list[Step]) -> set[int]:
        """The contexts that may run by then, without those that have waited for the first work or are started later."""
        roots, found = self._contexts.roots, {context for step in way for context in self._started(step)}
        todo = list(found)
        while todo:
            context = todo.pop()
            for index, root_ in enumerate(roots):
                entries = self._contexts.entries.get(root_.starter or "", ()) if index not in found else ()
                states = [entry for entry in entries if entry.context == context]
                if any(not self._has_worked(channel, root_.starter or "", entry) for entry in states):
                    found.add(index)
                    todo.append(index)
        return found

    def _started(self, step: Step) -> Iterator[int]:
        """The contexts that a step has started, itself or by its calls."""
        for site in self._effects[step.function].calls.values():
            if site.span in step.running and isinstance(site.callee, str):
                yield from self._contexts.started_under.get(site.callee, ())
        for index, context in enumerate(self._contexts.roots):
            if context.starter == step.function and not step.running.isdisjoint({context.span, OFFSPRING}):
                yield index

    def _has_worked(self, channel: Value, function: str, entry: Entry) -> bool:
        """Whether who has called a function has received from a channel before."""
        return any(
            (TAKE, channel) == (operation, self._signals.channel(path, caller, above))
            for caller, above, told, _ in self._signals.levels_above(function, entry)
            for operation, path in told[0]
        )

    def _leads(self, callee: object, giving: set[str], steps: int) -> bool:
        """Whether a call leads to one of some functions."""
        if not isinstance(callee, str) or callee in giving or steps == 0:
            return callee in giving
        effects = self._effects.get(callee)
        return effects is not None and any(self._leads(each, giving, steps - 1) for _, each in effects.calls)
