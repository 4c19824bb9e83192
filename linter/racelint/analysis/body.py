"""What the parts of the evaluator share: the function at hand, the program around it, and what is recorded."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from racelint.analysis.flow import Flow
from racelint.analysis.state import Event, Invoke, Predicate, Resize, State
from racelint.analysis.values import (
    NOTHING_KNOWN,
    Captured,
    Global,
    Param,
    Site,
    Value,
    Values,
    root,
    unite,
)
from racelint.model import Call, Expr, Function, Loop, Source
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

Conditions: TypeAlias = frozenset[tuple[Predicate, bool]]
MOST_EVENTS = 48  # kept per summary; more would only repeat the same story
MOST_CALLS = 6  # links in a chain of calls that are told


class Conflict(NamedTuple):
    """A container that is resized while an iteration over it goes on.

    `style` is how it is iterated: "direct", "keys", "values", "items", "reversed", "generator" or "call" (a library
    function, or one of the project's, that calls back while it iterates). `kind` is the container's behaviour or
    "unknown". The conflict stands at `resize.span` if `resize.calls` is empty, else at the first call.
    """

    function: str
    loop: Span
    container: Value
    kind: str
    style: str
    resize: Resize


@dataclass
class Summary:
    """What a call of a function does, in terms of its parameters, captured variables and globals.

    `stores` are paths that have other values on return, `streams` the containers that a generator iterates while its
    consumer runs, `invokes` the calls of values that the caller knows, with the containers being iterated meanwhile.
    """

    returns: Values = NOTHING_KNOWN
    resizes: dict[Resize, Conditions] = field(default_factory=dict)
    stores: dict[Value, Values] = field(default_factory=dict)
    invokes: dict[Invoke, tuple[Value, ...]] = field(default_factory=dict)
    streams: tuple[Value, ...] = ()
    conflicts: dict[Conflict, None] = field(default_factory=dict)


@dataclass
class Frame:
    """A loop, or a set of context managers, while its body is walked."""

    values: Values = ()
    iterated: tuple[tuple[Value, str], ...] = ()
    site: Site | None = None
    outer: dict[Event, frozenset[tuple[str, Value]]] = field(default_factory=dict)
    seen: dict[Event, frozenset[tuple[str, Value]]] = field(default_factory=dict)
    turns: int = 0


class Body(Flow[State, Frame]):
    """One function being evaluated."""

    def __init__(self, function_id: str, source: Source, function: Function, summaries: Summaries) -> None:
        super().__init__()
        self.id = function_id
        self.source = source
        self.function = function
        self.summaries = summaries
        self.symbols = summaries.symbols
        self.types = summaries.types
        self.knowledge = summaries.knowledge
        self.summary = Summary(returns=())
        self.frames: list[Frame] = []
        self.certain = True  # whether the callee at hand was found by its type, not by its name
        self.emitted: list[Resize] | None = None
        self._made: set[Site] = set()

    # --- shared by the parts ------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, expr: Expr, state: State) -> Values:
        """The values of an expression; its effects are applied to the state."""

    @abstractmethod
    def apply(
        self, callee: Value, args: tuple[Values, ...], keywords: tuple[tuple[str, Values], ...], call: Span, state: State
    ) -> Values:
        """The values that a call of a value returns; its effects are applied to the state."""

    @abstractmethod
    def attribute(self, base: Value, name: str, span: Span, state: State) -> Values:
        """The values of `base.name`."""

    def site(self, span: Span, state: State) -> Site:
        """The site of an expression; what an earlier turn made there becomes unknown."""
        site = Site(self.id, span)
        if site in self._made:
            state.forget(site)
        self._made.add(site)
        return site

    def read(self, path: Value, state: State) -> Values:
        """What a path holds now: what this function has assigned, else what it held on entry."""
        assigned = state.heap.get(path)
        return (path,) if assigned is None else assigned

    def emit(self, event: Resize, state: State, conditions: Conditions = frozenset()) -> None:
        """Record a resize: for the loops around it, for callers, and in what is known of the container's keys."""
        if not self.certain and event.certain:
            event = event._replace(certain=False)
        if event.change == "insert" and (event.container, event.key) in state.present:
            return
        held = conditions | self.conditions(state)
        known = self.summary.resizes.get(event)
        if known is not None:
            self.summary.resizes[event] = known & held
        elif len(self.summary.resizes) < MOST_EVENTS and visible(event.container):
            self.summary.resizes[event] = held
        if self.frames:
            state.record(event)
        if self.emitted is not None:
            self.emitted.append(event)
        if event.change == "insert":
            state.present |= {(event.container, event.key)}
        elif event.change in ("remove", "clear"):
            state.present = frozenset([pair for pair in state.present if pair[0] != event.container])

    def conditions(self, state: State) -> Conditions:
        """What the path to here says about the function's own parameters."""
        return frozenset([(p, held) for p, held in state.assumptions.items() if isinstance(p.value, Param)])

    def close(self, left: list[State]) -> None:
        """Gather what holds when the function is left."""
        final = self.join_all(left)
        if final is not None:
            for path, values in final.heap.items():
                if visible(path) and values != (path,):
                    self.summary.stores[path] = values
        self.summary.returns = self.summary.returns or NOTHING_KNOWN

    def returns(self, values: Values) -> None:
        """Add what a return statement gives."""
        self.summary.returns = unite([self.summary.returns, values]) if self.summary.returns else values


def visible(value: Value) -> bool:
    """Whether a caller can name a value: its path starts from a parameter, a captured variable or a global."""
    from racelint.analysis.values import TypeValue

    return isinstance(root(value), Param | Captured | Global | TypeValue)


__all__ = ["Body", "Call", "Conditions", "Conflict", "Frame", "Loop", "Summary", "visible"]
