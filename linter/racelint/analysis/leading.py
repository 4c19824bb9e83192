"""What leads to contexts and to what they do: by which calls they are started, who polls, who consumes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from racelint.analysis.contexts import Context
from racelint.analysis.edges import Edges
from racelint.analysis.effects import Effects
from racelint.analysis.objects import OWN
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import TypeValue


class Leading:
    """Follows calls upwards."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], edges: Edges) -> None:
        self._symbols = symbols
        self._effects = effects
        self._edges = edges
        self._callers: dict[str, set[str]] = defaultdict(set)
        for caller, calls in edges.calls.items():
            for callee, _ in calls:
                self._callers[callee].add(caller)

    def started_under(self, roots: Iterable[Context]) -> dict[str, frozenset[int]]:
        """Which contexts each function starts, itself or by its calls."""
        found: dict[str, set[int]] = defaultdict(set)
        for index, context in enumerate(roots):
            todo = [context.starter] if context.starter else []
            todo += [*self._makers(context), *self._beginners(context)]
            while todo:
                function_id = todo.pop()
                if index not in found[function_id]:
                    found[function_id].add(index)
                    todo.extend(self._callers.get(function_id, ()))
        return {function_id: frozenset(indexes) for function_id, indexes in found.items()}

    def outermost(self, under: Mapping[str, frozenset[int]], separate: frozenset[str]) -> dict[int, frozenset[str]]:
        """The outermost functions that start each context, or what a process of its own runs that starts it.

        `under` says which contexts each function starts, `separate` what processes run: what one has in memory is a
        copy of its own.
        """
        outermost: dict[int, set[str]] = defaultdict(set)
        for function_id, indexes in under.items():
            if function_id in separate or not self._callers.get(function_id):
                for index in indexes:
                    outermost[index].add(function_id)
        return {index: frozenset(tops) for index, tops in outermost.items()}

    def _makers(self, context: Context) -> list[str]:
        """The functions that start the object whose method a library runs, a thread by inheritance, or else make it."""
        if context.starter or context.receiver != OWN:
            return []
        source, function = self._symbols.functions[context.function]
        owner = f"{source.name}:{function.owner}"
        family = {owner, *self._symbols.subtypes(owner)}
        family.update(a.type for a in self._symbols.ancestors(owner) if isinstance(a, TypeValue))
        starters = [f for f, effects in self._effects.items() if effects.begun & family]
        makers = [f for f, effects in self._effects.items() if any(made in family for _, made in effects.made)]
        return starters or makers

    def _beginners(self, context: Context) -> list[str]:
        """The methods that start a thread object which a method of their class has made for the object's own method."""
        if context.starter is None or not context.own:
            return []
        owner = self._symbols.owner_of(context.starter)
        family = {owner, *self._symbols.subtypes(owner)}
        return [f for f, effects in self._effects.items() if effects.begins_own and self._symbols.owner_of(f) in family]

    def to(self, function_id: str) -> set[str]:
        """A function, and those that call it, directly or by one other."""
        callers = self._callers.get(function_id, set())
        return {function_id, *callers, *[further for caller in callers for further in self._callers.get(caller, ())]}

    def consumed_by(self, takers: Iterable[str]) -> Iterator[str]:
        """Public functions from which one of these takes one result after the other: there is one who does."""
        for taker in takers:
            for callee, site in self._edges.calls.get(taker, ()):
                if site.looped and site.used and self._symbols.functions[callee][1].is_public:
                    yield callee
