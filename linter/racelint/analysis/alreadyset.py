"""Already set: what a program does only where a package's variable is found unset, when its start-up has set that.

`func main() { store.Open(path); go serve() }`, where `Open` sets `opened`, for good: a handler that asks
`if !opened { Open("") }` never goes there. Nor does who has set it on his own way: `Open(path); serve()`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from racelint.analysis.branching import arms
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.ending import ends_program
from racelint.analysis.neverempty import is_something
from racelint.analysis.passing import comes_before, fails, is_heeded, passes
from racelint.analysis.settled_tests import says_unset
from racelint.analysis.spots import Spot
from racelint.analysis.startup import Startup
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Expr, Jump, Loop, Make, Name, Op, Update
from racelint.record import records
from racelint.span import Span

NOTHING: frozenset[tuple[str, str]] = frozenset()


class Passed(NamedTuple):
    """A spot of a function on a way, and the packages' variables that have been found unset behind it."""

    function: str
    span: Span
    asked: frozenset[tuple[str, str]]


class AlreadySet:
    """Finds accesses to which nobody comes any more once a program has started."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, startup: Startup,
        knowledge: Knowledge,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._startup = startup
        self._knowledge = knowledge
        self._unset: dict[tuple[str, Span], frozenset[tuple[str, Span]]] = {}
        self._stores: dict[tuple[str, str], list[tuple[str, Span]]] = {}
        self._left_out: dict[tuple[str, Span, int, str], bool] = {}
        self._known: dict[tuple[str, str, int, str], bool] = {}
        self._set_first: dict[tuple[str, Span, str, str], bool] = {}

    def excludes(self, spot: Spot) -> bool:
        """Whether on each way to an access, in any context, a spot is passed where a variable is unset that is set.

        Where another context does come there, once the program has started, the access is judged like any other.
        """
        if not self._symbols.is_ordered_by_steps(spot.function):
            return False
        function, roots = spot.function, self._contexts.roots
        entries = {entry.context: entry for entry in self._contexts.entries.get(function, ())}
        return self._is_left_out(spot) and all(
            roots[index].is_external or self._is_left_out(spot._replace(entry=entry))
            for index, entry in entries.items()
        )

    def _is_left_out(self, spot: Spot) -> bool:
        key = (spot.function, spot.access.span, spot.entry.context, self._contexts.root(spot.function, spot.entry))
        if key not in self._left_out:
            self._left_out[key] = self._is_never_reached(spot)
        return self._left_out[key]

    def _is_never_reached(self, spot: Spot) -> bool:
        """Whether no way leads from the beginning of a context to an access but by what is done no more."""
        context, first = spot.entry.context, Passed(spot.function, spot.access.span, NOTHING)
        left, seen = [first], {first}
        while left:
            function, span, asked = left.pop()
            module = function.partition(":")[0]
            own = [(module, *each) for each in self._found_unset(function, span)]
            if any(self.is_set_by_then(*each[:2], spot) or self._sets_first(function, *each) for each in own):
                continue
            if any(self._sets_first(function, *each, span) for each in asked):
                continue
            asked |= {each[:2] for each in own}
            callers = self._callers.get(function, set())
            if not self._are_all(callers, function, context):
                return False
            more = {Passed(*each, asked) for each in callers if self._is_in(each[0], context)} - seen
            seen |= more
            left += sorted(more, key=lambda passed: passed[:2])
        return True

    def _sets_first(self, function: str, module: str, name: str, span: Span) -> bool:
        """Whether a function has surely set a variable, itself or by a call, when it comes to a spot."""
        key = (function, span, module, name)
        if key not in self._set_first:
            body = self._symbols.functions[function][1].body
            self._set_first[key] = any(
                comes_before(body, way[index][1], span, lambda _: False) and self._is_surely_passed(way[index:])
                for way in self._ways_to_stores(module, name)
                for index in range(len(way))
                if way[index][0] == function
            )
        return self._set_first[key]

    def _are_all(self, callers: set[tuple[str, Span]], function: str, context: int) -> bool:
        """Whether a context comes to a function by these calls alone: it does not begin there."""
        came = [each for entry, each in self._contexts.entries.get(function, {}).items() if entry.context == context]
        return bool(came) and all(each is not None and (each.caller, each.span) in callers for each in came)

    def _is_in(self, function: str, context: int) -> bool:
        return any(entry.context == context for entry in self._contexts.entries.get(function, ()))

    @cached_property
    def _callers(self) -> dict[str, set[tuple[str, Span]]]:
        found: dict[str, set[tuple[str, Span]]] = defaultdict(set)
        for caller, span, callee in self._contexts.sites:
            found[callee].add((caller, span))
        return dict(found)

    def _found_unset(self, function: str, span: Span) -> frozenset[tuple[str, Span]]:
        """The variables of its own package alone that a function has found unset when it comes to a spot, and where."""
        if (function, span) not in self._unset:
            body = self._symbols.functions[function][1].body
            self._unset[function, span] = frozenset(
                [
                    (part.name, branch.span)
                    for branch, arm in arms(body, span, turns=True)
                    for part in records((branch.test,))
                    if isinstance(part, Name) and part.scope == "global" and part.name[:1].islower()
                    if says_unset(branch.test, ("global", part.name), held=arm == 0)
                ]
            )
        return self._unset[function, span]

    def is_set_by_then(self, module: str, name: str, spot: Spot) -> bool:
        """Whether the start-up of a program has set a package's variable, for good, before the context of an access."""
        called = self._contexts.root(spot.function, spot.entry)
        key = (module, name, spot.entry.context, called)
        if key not in self._known:
            self._known[key] = any(
                self._is_surely_passed(way[index:]) and self._startup.is_over_before(*way[index], spot)
                for way in self._ways_to_stores(module, name)
                for index in range(len(way))
            )
        return self._known[key]

    def _ways_to_stores(self, module: str, name: str) -> Iterator[list[tuple[str, Span]]]:
        for function, span in self._stores_of(module, name):
            for entry in self._contexts.entries.get(function, ()):
                yield self._contexts.steps(function, entry, span)

    def _stores_of(self, module: str, name: str) -> list[tuple[str, Span]]:
        """Where a package sets a variable, if all that it stores there is something."""
        if (module, name) not in self._stores:
            functions = self._symbols.functions.items()
            own = [(each, f.body) for each, (s, f) in functions if s.name == module and s.reported and not f.is_initial]
            found = [(each, node) for each, body in own for node in records(body) if changes(node, "global", name)]
            kept = all(isinstance(node, Assign) and self._is_something(each, node.value) for each, node in found)
            self._stores[module, name] = [
                (each, node.targets[0].span)
                for each, node in found
                if kept and isinstance(node, Assign) and isinstance(node.targets[0], Name)
            ]
        return self._stores[module, name]

    def _is_something(self, function_id: str, value: Expr) -> bool:
        """Whether a value is surely not nil, zero or false; of a parameter all callers have made what they give."""
        function = self._symbols.functions[function_id][1]
        names = [parameter.name for parameter in function.parameters]
        if not isinstance(value, Name) or value.name not in names or value.name in function.bindings:
            return is_something(value)
        given = [
            dict(site.given).get(names.index(value.name))
            for (_, _, callee), site in self._contexts.sites.items()
            if callee == function_id
        ]
        return bool(given) and all(isinstance(each, Fresh) for each in given)

    def _is_surely_passed(self, way: Sequence[tuple[str, Span]]) -> bool:
        """Whether a function surely goes a way that starts with it, and has come back from it when it goes on."""
        heeds = True
        for index, (function_id, span) in enumerate(way):
            source, function = self._symbols.functions[function_id]
            inner = way[index + 1][0] if index + 1 < len(way) else None
            if inner is not None and not self._calls_only(function_id, span, inner):
                return False

            def may_leave(jump: Jump) -> bool:
                return index == 0 or (heeds and fails(function, jump))  # noqa: B023 (it is called at once)

            if not passes(function.body, span, may_leave, lambda _: False):
                return False
            ends = ends_program(self._symbols, self._knowledge, source.name)
            heeds = heeds and is_heeded(function.body, span, ends)
        return True

    def _calls_only(self, function: str, span: Span, callee: str) -> bool:
        effects = self._effects[function]
        called = [site.callee for site in effects.calls.values() if site.span == span]
        return bool(called) and all(each == callee for each in called) and span not in effects.vague


def changes(node: object, kind: str, name: str) -> bool:
    """Whether a statement or an expression gives a package's variable, or a field, a value, or says where it lies."""
    match node:
        case Assign(targets=targets):
            found: object = targets
        case Update(target=target) | Loop(target=target):
            found = (target,)
        case Op(operator="address", operands=(Make(), *_)):
            return False  # of what is made there, whatever it holds
        case Op(operator="address", operands=operands):
            found = operands
        case _:
            return False
    return any(
        isinstance(part, Name) and part.scope == "global" and part.name == name
        if kind == "global"
        else isinstance(part, Attr) and part.name == name
        for part in records(found)
    )
