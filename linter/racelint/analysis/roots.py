"""Roots: the contexts that functions of the program start themselves, and its callers' threads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set

from racelint.analysis.application import Application
from racelint.analysis.contexts import ASYNC_EXTERNAL, EXTERNAL, Context, targets
from racelint.analysis.edges import MOST_KEPT, Edges, foreign, is_outside
from racelint.analysis.effects import Effects, Start
from racelint.analysis.objects import OWN, SHARED
from racelint.analysis.product import Product
from racelint.analysis.starting import COMMAND, GOROUTINE, LEADING, PREPARING
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Captured, Element, Field, Fresh, FunctionValue, Member, Param, Result, Value
from racelint.knowledge import Knowledge
from racelint.model import Attr, Build, Comp, Expr, Loop, Name, Turn
from racelint.record import records
from racelint.span import Span

THREADED = frozenset({"thread", "pool"})  # what runs no coroutine by calling it


class Roots:
    """Finds what is started, and what callers may call."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge, product: Product, edges: Edges) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge
        self._product = product
        self._edges = edges

    def started(self, helpers: Collection[tuple[str, Span]]) -> Iterator[Context]:
        """What the functions of the project start, themselves or through one of these helpers."""
        for function_id, effects in self._product.effects.items():
            for start in effects.starts.values():
                if start.kind == "binding" or (start.through is not None and start.through not in helpers):
                    continue
                if isinstance(start.callee, Field | Captured):
                    for target in self._edges.kept_at(start.callee):
                        yield self._context(start, target._replace(receiver=foreign(target.receiver)), function_id)
                for target in targets(start.callee):
                    if start.kind in THREADED and self._symbols.is_coroutine(target.function, self._knowledge):
                        continue  # calling it there makes a coroutine, and runs nothing of it
                    if start.kind in (COMMAND, PREPARING):
                        yield Context(EXTERNAL, target.function, None, None, False, SHARED)
                        continue
                    yield self._context(start, target, function_id)
                    for handed in self._handed_with(start, target, effects):
                        yield self._context(start, handed, function_id)
                    for override in self._other_forms(target, function_id):
                        yield self._context(start, target._replace(function=override), function_id)

    def _handed_with(self, start: Start, target: FunctionValue, effects: Effects) -> Iterator[FunctionValue]:
        """What a started closure calls, if the call that makes it is given that: `go run(worker(queue, c.sync))`.

        Only where so many are handed through that parameter that its calls lead nowhere.
        """
        for (path, value), call in effects.stored.items():
            if call is None or not isinstance(path, Captured) or not start.span.holds(call):
                continue
            if target.function.startswith(f"{path.function}.") and not any(self._edges.kept_at(path)):
                yield from targets(value)

    def _other_forms(self, target: FunctionValue, starter: str) -> list[str]:
        """What subclasses put in place of a method that a base class starts, and what implements an interface's."""
        source, function = self._symbols.functions[target.function]
        if self._symbols.is_ordered_by_steps(target.function):
            return self._edges.implementations(target, starter)
        if not isinstance(target.receiver, Param) or function.owner is None:
            return []
        overrides = self._symbols.overrides(f"{source.name}:{function.owner}", function.name)
        return overrides if len(overrides) <= MOST_KEPT else []

    def _context(self, start: Start, target: FunctionValue, starter: str) -> Context:
        fresh = isinstance(target.receiver, Fresh) and not self._is_of_several(start, target.receiver, starter)
        fresh = fresh or self._is_each_turns_own(start, target.receiver, starter)
        receiver = OWN if fresh else SHARED
        many = start.many or (start.looped and not fresh)
        own = target.receiver is not None and self._symbols.is_instance(target.receiver)
        origin = self._held_by(target.receiver) if self._symbols.is_ordered_by_steps(starter) else ""
        where = (GOROUTINE if start.kind == LEADING else start.kind, target.function, starter, start.span)
        type_id = "" if own or target.receiver is None else self._types.class_of(target.receiver) or ""
        return Context(
            *where,
            many,
            receiver,
            awaited=start.awaited,
            own=own,
            origin=origin,
            type=type_id,
            queue=start.queue,
            near=start.near,
            ended=start.ended,
        )

    def _is_of_several(self, start: Start, made: Fresh, starter: str) -> bool:
        """Whether a function starts more than one method of an object that it has made, or one in a loop behind that.

        `go c.run(); go c.serve()`, `for range 4 { go c.work() }`. Or it goes on with the object itself: a task that
        calls another method of it comes in between two steps.
        """
        if start.kind == "task" and start.many:
            turns = [p for p in records(self._symbols.functions[starter][1].body) if isinstance(p, Loop | Comp)]
            return not any(turn.span.holds(made.site.span) for turn in turns)  # each is the same object's
        if start.looped:
            return is_outside(start, made, self._symbols.functions[starter][1].body)
        calls = self._product.effects[starter].calls.values()
        behind = [call for call in calls if call.span[:2] > start.span[:2] and not start.span.holds(call.span)]
        if start.kind == "task" and any(call.receiver == made for call in behind):
            return True
        others = [each for each in self._product.effects[starter].starts.values() if each is not start]
        return any(target.receiver == made for other in others for target in targets(other.callee))

    def _held_by(self, receiver: Value | None) -> str:
        """The field in which an object was found."""
        owner = self._types.class_of(receiver.base) if isinstance(receiver, Field) else None
        return f"{owner}.{receiver.name}" if owner is not None and isinstance(receiver, Field) else ""

    def _is_each_turns_own(self, start: Start, receiver: Value | None, starter: str) -> bool:
        """Whether each start has an object of its own: what a call or a channel gives, an element of a container."""
        if receiver is None or not self._symbols.is_ordered_by_steps(starter):
            return False
        return isinstance(receiver, Result | Element | Member) or (
            isinstance(receiver, Captured) and start.loop is not None
            and any(t.loop == start.loop and t.variable == receiver.name for t in self._turns(receiver.function))
        )  # fmt: skip

    def _turns(self, function_id: str) -> tuple[Turn, ...]:
        return self._symbols.functions[function_id][1].turns

    def external(self, others: Set[str], application: Application) -> Iterator[Context]:
        """The public functions and methods that nothing in the project calls, and that are no roots of `others`."""
        known = self._edges.called | others | self._decorators() | self._listed()
        for function_id, (source, function) in self._symbols.functions.items():
            effects = self._product.effects.get(function_id)
            if effects is None or function_id in known:
                continue
            if function.name == "<module>" and not effects.starts_any and source.module.main_code is None:
                continue  # a module runs at import, before anything is started
            if function.is_public and not application.is_uncalled(function_id):
                awaits = function.is_async or self._symbols.is_coroutine(function_id, self._knowledge)
                kind = ASYNC_EXTERNAL if awaits else EXTERNAL
                yield Context(kind, function_id, None, None, False, SHARED)

    def _listed(self) -> set[str]:
        """The functions in tables that modules and classes keep: who looks them up there calls them, no stranger."""
        found: set[str] = set()
        for source in {source.name: source for source, _ in self._symbols.functions.values()}.values():
            records = [*source.module.globals.values()]
            records += [field for record in source.module.types.values() for field in record.fields.values()]
            for assigned in [assigned for record in records for assigned in record.values]:
                found.update(self._in_table(source.name, assigned.value))
        return found

    def _in_table(self, module: str, expr: Expr) -> Iterator[str]:
        for part in expr.parts if isinstance(expr, Build) else ():
            value = self._symbols.static(module, part) if isinstance(part, Name | Attr) else None
            if isinstance(value, FunctionValue):
                yield value.function
            yield from self._in_table(module, part)

    def _decorators(self) -> set[str]:
        """The functions that decorate something of the project: they run when it is imported."""
        found: set[str] = set()
        for source, function in self._symbols.functions.values():
            for decorator in function.decorators:
                value = self._symbols.decorator(source.name, function, decorator)
                if isinstance(value, FunctionValue):
                    found.add(value.function)
        return found
