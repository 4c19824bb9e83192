"""Already set: what a program does only where a package's variable is found unset, when its start-up has set that.

`func main() { store.Open(path); go serve() }`, where `Open` sets `opened`, for good: a handler that asks
`if !opened { Open("") }` never goes there. Nor does who has set it on his own way: `Open(path); serve()`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeGuard

from racelint.analysis.branching import arms
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.passing import comes_before
from racelint.analysis.setting import Setting, Variable
from racelint.analysis.settled_tests import answers
from racelint.analysis.spots import Spot
from racelint.analysis.startup import MAIN, Startup
from racelint.analysis.symbols import MODULE, Symbols
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Call, Loop, Make, Name, Op, Update
from racelint.record import records
from racelint.span import Span

NOWHERE = -1  # a function that is not known to be called
NOTHING: frozenset[Variable] = frozenset()


class Passed(NamedTuple):
    """A spot of a function on a way, and the packages' variables that have been found unset behind it."""

    function: str
    span: Span
    asked: frozenset[Variable]


class Begun(NamedTuple):
    """A spot of a function, in one of its contexts, that leads to where another context begins."""

    function: str
    span: Span
    context: int


class AlreadySet:
    """Finds accesses to which nobody comes any more once a program has started."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, startup: Startup,
        knowledge: Knowledge, *, likely: bool = False,
    ) -> None:  # fmt: skip
        """`likely` asks, too, of what other packages see, and of what has been set to what a call returns."""
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._startup = startup
        self._likely = likely
        self._setting = Setting(symbols, effects, contexts, knowledge, likely=likely)
        self._mentions: dict[str, list[tuple[str, Span]]] = {}
        self._unset: dict[tuple[str, Span], frozenset[tuple[Variable, Span]]] = {}
        self._left_out: dict[tuple[str, Span, int, str], bool] = {}
        self._known: dict[tuple[Variable, int, str], bool] = {}
        self._set_first: dict[tuple[str, Span, Variable], bool] = {}

    def excludes(self, spot: Spot) -> bool:
        """Whether on each way to an access, in any context, a spot is passed where a variable is unset that is set.

        Where another context does come there, once the program has started, the access is judged like any other.
        """
        if not self._symbols.is_ordered_by_steps(spot.function):
            return False
        function, roots = spot.function, self._contexts.roots
        entries = {entry.context: entry for entry in self._contexts.entries.get(function, ())}
        return self._is_left_out(spot) and all(
            roots[index].is_external
            or self._is_left_out(spot._replace(entry=entry))
            or (self._likely and not self._is_of_main(index))
            for index, entry in entries.items()
        )

    def _is_of_main(self, index: int) -> bool:
        """Whether the main function of a program leads to a context, as far as that is known."""
        outermost = self._contexts.outermost.get(index, frozenset())
        return not outermost or any(each.rpartition(":")[2] == MAIN for each in outermost)

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
            own = self._found_unset(function, span)
            if any(self._is_set(each, function, at, spot) for each, at in own):
                continue
            if any(self._sets_first(function, each, span) for each in asked):
                continue
            asked |= {each for each, _ in own}
            callers = self._callers.get(function, set())
            if not self._are_all(callers, function, context):
                return False
            more = {Passed(*each, asked) for each in callers if self._is_in(each[0], context)} - seen
            seen |= more
            left += sorted(more, key=lambda passed: passed[:2])
        return True

    def _is_set(self, variable: Variable, function: str, asked: Span, spot: Spot) -> bool:
        """Whether a variable is set when a function asks for it on the way to an access; who does not know that sets it
        himself where he finds it unset, if it is only likely.
        """
        steps = self._setting.steps(variable).get(function, ())
        if self._likely and not any(variable in dict(self._found_unset(function, at)) for at in steps):
            return False
        return self.is_set_by_then(variable, spot) or self._sets_first(function, variable, asked)

    def _sets_first(self, function: str, variable: Variable, span: Span) -> bool:
        """Whether a function has surely set a variable, itself or by a call, when it comes to a spot."""
        key = (function, span, variable)
        if key not in self._set_first:
            body, steps = self._symbols.functions[function][1].body, self._setting.steps(variable)
            self._set_first[key] = any(comes_before(body, at, span, lambda _: False) for at in steps.get(function, ()))
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

    def _found_unset(self, function: str, span: Span) -> frozenset[tuple[Variable, Span]]:
        """The variables of its own package that a function has found unset when it comes to a spot, and where."""
        if (function, span) not in self._unset:
            body, module = self._symbols.functions[function][1].body, function.partition(":")[0]
            self._unset[function, span] = frozenset(
                [
                    (Variable(module, answer.path[1:], not answer.equal), branch.span)
                    for branch, arm in arms(body, span, turns=True)
                    for answer in answers(branch.test, held=arm == 0)
                    if answer.path[0] == "global" and not answer.value
                ]
            )
        return self._unset[function, span]

    def is_set_by_then(self, variable: Variable, spot: Spot) -> bool:
        """Whether the start-up of a program has set a package's variable, for good, before the context of an access."""
        called = self._contexts.root(spot.function, spot.entry)
        key = (variable, spot.entry.context, called)
        if key not in self._known:
            self._known[key] = (
                self._begins_later(variable, called, spot.entry.context)
                if self._likely
                else any(
                    self._startup.is_over_before(function, span, spot)
                    for function, spans in self._setting.steps(variable).items()
                    for span in spans
                )
            )
        return self._known[key]

    def _begins_later(self, variable: Variable, called: str, index: int) -> bool:
        """Whether each way to where a context begins, through those that start its starter, comes by where a variable
        is set.
        """
        left = list(self._beginnings(called, index))
        seen = set(left)
        if not left or not self._setting.steps(variable):
            return False
        while left:
            function, span, context = left.pop()
            if self._sets_first(function, variable, span):
                continue
            more = [*self._before(function, context)]
            if not more:
                return False
            left += [each for each in more if each not in seen]
            seen.update(more)
        return True

    def _before(self, function: str, context: int) -> Sequence[Begun]:
        """What calls a function in a context, or begins that with it; nothing if that is not known."""
        if context == NOWHERE:
            return self._begun(self._named(function))
        found: list[Begun] = []
        for entry, came in self._contexts.entries.get(function, {}).items():
            if entry.context == context and came is None:
                begun = self._beginnings(function, context)
                if not begun:
                    return []
                found += begun
        callers = self._callers.get(function, ())
        return [*found, *(Begun(*each, context) for each in sorted(callers) if self._is_in(each[0], context))]

    def _beginnings(self, function: str, index: int) -> Sequence[Begun]:
        """Where a context is started, or what begins it is registered, or made: a closure, or an object of a method."""
        root = self._contexts.roots[index]
        if root.is_external:
            return []
        if root.starter is not None and root.span is not None:
            return self._begun([(root.starter, root.span)])
        return self._begun(self._named(function) or self._startup.beginnings(index, function))

    def _named(self, function_id: str) -> Sequence[tuple[str, Span]]:
        """Where a closure is made, or a function that only its package knows is spoken of, but to be called at once."""
        source, function = self._symbols.functions[function_id]
        if function.parent not in (None, MODULE):
            return [(f"{source.name}:{function.parent}", function.span)]
        if function.owner or not function.name[:1].islower():
            return []
        if function_id not in self._mentions:
            bodies = [
                (f, each.body) for f, (where, each) in self._symbols.functions.items() if where.name == source.name
            ]
            found = [(f, part) for f, body in bodies for part in records(body) if _is_named(part, function.name)]
            calls = [part.func for _, body in bodies for part in records(body) if isinstance(part, Call)]
            called = {func.span for func in calls if isinstance(func, Name)}
            self._mentions[function_id] = [(f, part.span) for f, part in found if part.span not in called]
        return self._mentions[function_id]

    def _begun(self, spots: Sequence[tuple[str, Span]]) -> Sequence[Begun]:
        return [
            Begun(starter, span, context)
            for starter, span in spots
            for context in sorted({entry.context for entry in self._contexts.entries.get(starter, ())}) or [NOWHERE]
        ]


def _is_named(part: object, name: str) -> TypeGuard[Name]:
    return isinstance(part, Name) and part.name == name and part.scope == "global"


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
