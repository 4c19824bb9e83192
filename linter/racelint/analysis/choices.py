"""Choices: what an object does itself only where it does not start that, by a field that it is made with.

`if self._threaded: Thread(target=self.poll).start()`, and in another method `if not self._threaded: self.poll()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.gathering import CONSTRUCTORS
from racelint.analysis.identity import Identity
from racelint.analysis.optioning import options
from racelint.analysis.settled_tests import Answer, SettledTests
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import FunctionValue, Param
from racelint.span import Span


class Choices:
    """Answers for pairs of accesses of one object."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, identity: Identity
    ) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._identity = identity
        self._tests: SettledTests | None = None
        self._found: dict[tuple[str, Span], frozenset[Answer]] = {}

    def exclude(self, first: Spot, second: Spot) -> bool:
        """Whether the object of two accesses has been made for one of them: tests on the ways find opposite things."""
        if not (first.located.own and second.located.own):
            return False
        one = self._answers(first)
        return bool(one) and any(_differ(mine, theirs) for theirs in self._answers(second) for mine in one)

    def _answers(self, spot: Spot) -> frozenset[Answer]:
        """What the object's own methods have found, on the way to an access and before its context was started."""
        found = [self._asked(function, span) for function, span in self._own_way(spot)]
        return frozenset().union(*found)

    def _own_way(self, spot: Spot) -> Iterator[tuple[str, Span]]:
        """The last steps on the way to an access, as far as one object calls itself, or starts itself."""
        steps = self._contexts.steps(spot.function, spot.entry, spot.access.span)
        yield steps[-1]
        for (caller, span), (callee, _) in zip(reversed(steps[:-1]), reversed(steps[1:]), strict=True):
            sites = self._effects[caller].calls.values()
            if not any(site.span == span and site.receiver == Param(caller, 0) for site in sites):
                return
            if not self._identity.is_family(self._symbols.owner_of(caller), self._symbols.owner_of(callee)):
                return
            yield caller, span
        yield from self._start(spot, steps[0][0])

    def _start(self, spot: Spot, root: str) -> Iterator[tuple[str, Span]]:
        """Where a context was started, if a method has started one of its own object."""
        context = self._contexts.roots[spot.entry.context]
        if context.starter is None or context.span is None or context.function != root:
            return
        starts = [start for start in self._effects[context.starter].starts.values() if start.span == context.span]
        callees = [start.callee for start in starts if isinstance(start.callee, FunctionValue)]
        if any(callee.receiver == Param(context.starter, 0) for callee in callees):
            yield context.starter, context.span

    def _asked(self, function_id: str, span: Span) -> frozenset[Answer]:
        """What tests of a method's own fields have found, that nobody stores but who makes the object."""
        key = (function_id, span)
        if key not in self._found:
            if self._tests is None:
                completing = options(self._symbols, self._effects)
                self._tests = SettledTests(self._effects, makers=CONSTRUCTORS, completing=completing)
            function = self._symbols.functions[function_id][1]
            answers = self._tests.for_good(function_id, function, span) if function.own else ()
            own = [each for each in answers if each.path[:2] == ("local", function.own) and len(each.path) == 3]
            self._found[key] = frozenset([each._replace(path=each.path[2:]) for each in own])
        return self._found[key]


def _differ(one: Answer, other: Answer) -> bool:
    """Whether two answers are about one field, and not both true of it."""
    if one.path != other.path:
        return False
    if one.equal and other.equal:
        return one.value != other.value
    return bool(one.value) != bool(other.value)
