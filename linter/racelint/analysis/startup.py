"""Start-up: what a function has waited for before the program goes on to hand libraries what they are to call.

`func main() { loadAll(); http.HandleFunc("/", show); ... }`: what `loadAll` starts in goroutines, and waits for, has
ended when `show` is called for the first time, or the method of an object that is made only then. So has what `loadAll`
does itself, be it far from where `show` is registered, if only a function that runs once goes both ways, one after the
other. What a command line runs before any command comes before all that commands start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from racelint.analysis.branching import are_alternatives, loops_around
from racelint.analysis.contexts import Contexts, Entry, targets
from racelint.analysis.effects import Effects, where_made
from racelint.analysis.memory import Memory
from racelint.analysis.spots import Spot
from racelint.analysis.starting import COMMAND, GOROUTINE, PREPARING
from racelint.analysis.symbols import Symbols
from racelint.model import Defer
from racelint.record import records
from racelint.span import Span

MAIN = "main"


class Step(NamedTuple):
    """A spot in a function that each of `programs` runs once, where they start."""

    function: str
    span: Span
    programs: frozenset[str]


class Startup:
    """Finds what is over when what libraries call is registered, or what they start is started."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, memory: Memory
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._memory = memory
        self._waiting = {function for function, _ in memory.waiting}
        self._known: dict[tuple[int, int, str], bool] = {}
        self._leading: dict[tuple[Step, int, str], bool] = {}
        self._reached: dict[tuple[str, bool], set[str]] = {}
        self._parted: dict[tuple[str, Span, Span], bool] = {}

    def precedes(self, spot: Spot, other: Spot) -> bool:
        """Whether the goroutine of an access has ended before anything that leads to the other one is registered."""
        index, by = spot.entry.context, other.entry.context
        if self._contexts.roots[index].kind != GOROUTINE or index == by:
            return False
        called = self._contexts.root(other.function, other.entry)
        if (index, by, called) not in self._known:
            ways = list(self._waits(index))
            self._known[index, by, called] = bool(ways) and all(self._is_later(way, by, called) for way in ways)
        return self._known[index, by, called]

    def _waits(self, index: int) -> Iterator[list[tuple[str, Span]]]:
        """The calls that lead to what waits for a goroutine, for each way that leads to its start."""
        starter = self._contexts.roots[index].starter or ""
        for entry in self._contexts.entries.get(starter, ()):
            way, by = self._contexts.way(starter, entry), self._contexts.roots[entry.context]
            calls = [*[function for function, _ in way], starter]
            waiting = [at for at, function in enumerate(calls) if self._waits_for(function, index)]
            again = not by.is_external or self._contexts.is_looped(starter, entry)
            yield [] if again or not waiting else way[: waiting[-1]]

    def _waits_for(self, function: str, index: int) -> bool:
        """Whether a function starts a context, itself or by what it calls, and returns when all that has ended."""
        return function in self._waiting and index in self._contexts.started_under.get(function, ())

    def _is_later(
        self, way: list[tuple[str, Span]], index: int, called: str, seen: frozenset[int] = frozenset()
    ) -> bool:
        """Whether a way has been gone, and come back, wherever what leads to a context is started, or registered.

        `called` is the function with which the context begins.
        """
        context = self._contexts.roots[index]
        if not way or context.is_external:
            return False
        if context.starter is not None and context.span is not None:
            found: Sequence[tuple[str, Span]] = [(context.starter, context.span)]
        else:
            found = self._memory.registered(called)
        reached = [
            (function, entry, span)
            for function, span in found
            for entry in self._contexts.entries.get(function, ())
            if entry.context not in seen
        ]
        return bool(reached) and all(
            self._memory.parts_before(way, self._contexts.steps(function, entry, span))
            or self._is_made_later(way, self._contexts.root(function, entry))
            if self._contexts.roots[entry.context].is_external
            else self._is_later(way, entry.context, self._contexts.root(function, entry), seen | {index})
            for function, entry, span in reached
        )

    def _is_made_later(self, way: list[tuple[str, Span]], method: str) -> bool:
        """Whether a way has been gone, and come back, before anybody has an object on which to call a method."""
        steps = [
            (self._contexts.roots[entry.context].is_external, self._contexts.steps(maker, entry, span))
            for maker, span in self._made.get(self._symbols.owner_of(method), ())
            for entry in self._contexts.entries.get(maker, ())
        ]
        return bool(steps) and all(outside and self._memory.parts_before(way, each) for outside, each in steps)

    def comes_first(self, spot: Spot, other: Spot) -> bool:
        """Whether a function that runs once has gone the way to an access before it goes on to all that leads to the
        context of the other one.
        """
        index = other.entry.context
        if index == spot.entry.context or self._contexts.roots[index].is_external:
            return False
        called = self._contexts.root(other.function, other.entry)
        for function, span in self._contexts.steps(spot.function, spot.entry, spot.access.span):
            programs = self._programs(function)
            if programs:
                step = Step(function, span, programs)
                if self._leads_only_later(step, index, called) and self._comes_once(spot, step):
                    return True
        return False

    def is_over_before(self, function: str, span: Span, other: Spot) -> bool:
        """Whether a function that runs once is done with a spot before it goes on to all that leads to the context of
        an access.
        """
        index, programs = other.entry.context, self._programs(function)
        if self._contexts.roots[index].is_external or not programs:
            return False
        called = self._contexts.root(other.function, other.entry)
        return self._leads_only_later(Step(function, span, programs), index, called)

    def _programs(self, function: str) -> frozenset[str]:
        """The programs each of which runs a function once; what prepares all commands stands for them itself."""
        if function in self._run[PREPARING]:
            return frozenset({function})
        found = self._contexts.runs_once(function)
        return found if isinstance(found, frozenset) else frozenset()

    @cached_property
    def _run(self) -> dict[str, set[str]]:
        """What a command line runs, by the kind of its start."""
        found: dict[str, set[str]] = {COMMAND: set(), PREPARING: set()}
        for effects in self._effects.values():
            for start in effects.starts.values():
                if start.kind in found:
                    found[start.kind].update(target.function for target in targets(start.callee))
        return found

    def _comes_once(self, spot: Spot, step: Step) -> bool:
        """Whether neither a function, behind one of its steps, nor who calls it comes to an access once more."""
        for function, span in self._contexts.way(spot.function, spot.entry):
            for at, callee in _led_to(self._effects[function], starts=False):
                first = function == step.function and self._goes_first(function, at, span)
                if at != span and not first and spot.function in self._below(callee, starts=False):
                    return False
            if function == step.function:
                return True
        return True

    def _leads_only_later(self, step: Step, index: int, called: str) -> bool:
        key = (step, index, called)
        if key not in self._leading:
            found = self._all_lead_later(step, index, called, frozenset())
            self._leading[key] = found and not self._leads_before(step, index, called)
        return self._leading[key]

    def _leads_before(self, step: Step, index: int, called: str) -> bool:
        """Whether a function may come, before one of its steps, to where a context begins, by any way."""
        begins = {function for function, _ in self.beginnings(index, called)}
        return any(
            not begins.isdisjoint(self._below(callee))
            for span, callee in _led_to(self._effects[step.function])
            if not self._goes_first(step.function, step.span, span)
        )

    def _below(self, function: str, *, starts: bool = True) -> set[str]:
        """What a function leads to by calls and starts, with itself."""
        if (function, starts) not in self._reached:
            found, left = {function}, [function]
            while left:
                effects = self._effects.get(left.pop())
                below = {f for _, f in _led_to(effects, starts=starts)} - found if effects is not None else set()
                found |= below
                left += below
            self._reached[function, starts] = found
        return self._reached[function, starts]

    def _all_lead_later(self, step: Step, index: int, called: str, seen: frozenset[int]) -> bool:
        """Whether each way to where a context is started, or registered, comes by a function behind one of its steps.

        What the context starts itself, or registers again, has been started first by somebody else.
        """
        seen |= {index}
        ways = [
            (entry, self._contexts.root(function, entry), self._contexts.steps(function, entry, span))
            for function, span in self.beginnings(index, called)
            for entry in self._contexts.entries.get(function, ())
            if entry.context not in seen and not self._is_of_other_program(function, entry, step)
        ]
        return bool(ways) and all(self._is_behind(step, entry, root, way, seen) for entry, root, way in ways)

    def _is_behind(
        self, step: Step, entry: Entry, root: str, way: Sequence[tuple[str, Span]], seen: frozenset[int]
    ) -> bool:  # fmt: skip
        for function, span in way:
            if function == step.function:
                return self._goes_first(function, step.span, span)
        if self._contexts.roots[entry.context].is_external:
            return step.function in self._run[PREPARING] and root in self._run[COMMAND]
        return self._all_lead_later(step, entry.context, root, seen)

    def beginnings(self, index: int, called: str) -> Sequence[tuple[str, Span]]:
        """Where a context is started, or its function registered, or the object made whose method a library calls."""
        context = self._contexts.roots[index]
        if context.starter is not None and context.span is not None:
            return [(context.starter, context.span)]
        return self._memory.registered(called) or self._made.get(self._symbols.owner_of(called), ())

    @cached_property
    def _made(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    def _is_of_other_program(self, function: str, entry: Entry, step: Step) -> bool:
        """Whether a way starts at the `main` of a program that does not come by a step."""
        if step.function in self._run[PREPARING]:
            return False
        root = self._contexts.root(function, entry)
        known = self._symbols.functions[root][1]
        return known.name == MAIN and not known.owner and root not in step.programs

    def _goes_first(self, function: str, first: Span, second: Span) -> bool:
        """Whether a function that runs once is done with one spot when it comes to another one; memoised."""
        key = (function, first, second)
        if key not in self._parted:
            self._parted[key] = self._is_done_with(function, first, second)
        return self._parted[key]

    def _is_done_with(self, function: str, first: Span, second: Span) -> bool:
        body = self._symbols.functions[function][1].body
        if any(isinstance(stmt, Defer) and stmt.span.holds(first) for stmt in records(body)):
            return False
        if any(loop.span.holds(second) for loop in loops_around(body, first)):
            return False
        return first[:2] < second[:2] or are_alternatives(body, first, second)


def _led_to(effects: Effects, *, starts: bool = True) -> Iterator[tuple[Span, str]]:
    """What a function calls, or starts, and where."""
    yield from ((span, callee) for span, callee in effects.calls if isinstance(callee, str))
    for start in effects.starts.values() if starts else ():
        yield from ((start.span, target.function) for target in targets(start.callee))
