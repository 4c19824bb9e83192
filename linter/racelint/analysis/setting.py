"""Setting: the steps behind which a package's variable is set, for good.

`func get() *Conf { if conf == nil { conf = load() }; return conf }`: who has called `get` has set `conf`, or has found
it set; so has who has called what surely calls `get`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects, where_called
from racelint.analysis.ending import ends_program
from racelint.analysis.neverempty import is_something
from racelint.analysis.passing import fails, is_heeded, passes, tells_failure
from racelint.analysis.settled_tests import says_unset
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Build, Call, Const, Expr, Function, Jump, Loop, Name, Op, Update
from racelint.record import records
from racelint.span import Span


class Variable(NamedTuple):
    """A package's variable, or a field in it, by its path; a flag is one that is asked for its truth."""

    module: str
    path: tuple[str, ...]
    is_flag: bool

    @property
    def is_own(self) -> bool:
        """Whether only its package can name it."""
        return len(self.path) == 1 and self.path[0][:1].islower()


class Step(NamedTuple):
    """A spot at which a variable is set; `failing`: only if its function goes on without an error."""

    function: str
    span: Span
    failing: bool


class Setting:
    """Finds who has set a variable, or has found it set."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, knowledge: Knowledge, *,
        likely: bool,
    ) -> None:  # fmt: skip
        """`likely` takes what calls return for something, if no return says that it is not, and what a library does
        with the address of a struct for the setting of a field that nothing else sets.
        """
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._knowledge = knowledge
        self._likely = likely
        self._steps: dict[Variable, Mapping[str, list[Span]]] = {}

    def steps(self, variable: Variable) -> Mapping[str, list[Span]]:
        """The spots behind which a variable is set, by the functions that pass them unless they leave before."""
        if variable not in self._steps:
            stores = self._stores(variable) if self._likely or variable.is_own else None
            self._steps[variable] = self._passing(variable, stores) if stores else {}
        return self._steps[variable]

    def _passing(self, variable: Variable, stores: list[Step]) -> Mapping[str, list[Span]]:
        """Where functions come by stores of a variable, or by calls of what surely comes by one."""
        found: dict[str, list[Span]] = defaultdict(list)
        left, done = list(stores), set(stores)

        def asks(test: Expr) -> bool:
            return _asks_only(test, variable.path)

        while left:
            function_id, span, failing = left.pop()
            function = self._symbols.functions[function_id][1]
            if passes(function.body, span, lambda _: True, asks):
                found[function_id].append(span)
            more = set(self._calls(function_id, heeding=failing or not _passes_always(function, span, asks)))
            if passes(function.body, span, _failing_of(function), asks):
                left += sorted(more - done, key=lambda step: step[:2])
                done |= more
        return found

    def _calls(self, function: str, *, heeding: bool) -> Iterator[Step]:
        """Where a function alone is called; `heeding`: by who goes on only if it has not failed."""
        tells = not heeding or tells_failure(self._symbols.functions[function][1])
        for caller, span in self._callers.get(function, ()) if tells else ():
            source, body = self._symbols.functions[caller][0], self._symbols.functions[caller][1].body
            ends = ends_program(self._symbols, self._knowledge, source.name)
            if self._calls_only(caller, span, function) and (not heeding or is_heeded(body, span, ends)):
                yield Step(caller, span, heeding)

    def _calls_only(self, function: str, span: Span, callee: str) -> bool:
        effects = self._effects[function]
        called = [site.callee for site in effects.calls.values() if site.span == span]
        return bool(called) and all(each == callee for each in called) and span not in effects.vague

    @cached_property
    def _callers(self) -> Mapping[str, list[tuple[str, Span]]]:
        return where_called(self._effects)

    def _stores(self, variable: Variable) -> list[Step]:
        """Where a variable is set, if all that is ever stored there is something."""
        stored: list[Step] = []
        if any(True for _ in self._replaced(variable)):
            return []
        for function_id, node in self._changing(variable, len(variable.path) - 1):
            if not isinstance(node, Assign) or not self._is_something(function_id, node, variable):
                return []
            target = node.targets[0]
            stored.append(Step(function_id, _spot(target), isinstance(target, Build)))
        return stored or list(self._given(variable))

    def _replaced(self, variable: Variable) -> Iterator[object]:
        """What stores another struct where one has a variable as its field."""
        for index in range(len(variable.path) - 1):
            yield from (node for _, node in self._changing(variable, index) if not _is_address(node))

    def _changing(self, variable: Variable, index: int) -> Iterator[tuple[str, object]]:
        """What changes a part of a variable's path, or says where that is; in other packages whatever has its name."""
        name = variable.path[index]
        for function_id, node in self._named.get(name, ()):
            source, function = self._symbols.functions[function_id]
            own = source.name == variable.module
            if (own and function.is_initial) or (variable.is_own and not own):
                continue
            if _changes(node, name, Name if own and not index else Attr):
                yield function_id, node

    @cached_property
    def _named(self) -> Mapping[str, list[tuple[str, object]]]:
        """What changes variables and fields, or says where they lie, by their names."""
        found: dict[str, list[tuple[str, object]]] = defaultdict(list)
        for function_id, (source, function) in self._symbols.functions.items():
            for node in records(function.body) if source.reported else ():
                for name in {part.name for part in _changed(node) if isinstance(part, Name | Attr)}:
                    found[name].append((function_id, node))
        return found

    def _given(self, variable: Variable) -> Iterator[Step]:
        """The calls of libraries that are told where a struct lies, one field of which nothing else sets."""
        for function_id, node in self._named.get(variable.path[0], ()) if len(variable.path) > 1 else ():
            source, function = self._symbols.functions[function_id]
            if source.name == variable.module and _is_address(node) and _changes(node, variable.path[0], Name):
                own = {site.span for site in self._effects[function_id].calls.values()}
                for call in records(function.body):
                    if isinstance(call, Call) and node in call.args and call.span not in own:
                        yield Step(function_id, call.span, failing=False)

    def _is_something(self, function_id: str, stored: Assign, variable: Variable) -> bool:
        """Whether a store gives something that is surely not nil, zero or false; or likely."""
        value, function = stored.value, self._symbols.functions[function_id][1]
        if isinstance(stored.targets[0], Build):
            return self._likely and not variable.is_flag and self._is_returned(function_id, stored)
        names = [parameter.name for parameter in function.parameters]
        if isinstance(value, Name) and value.name in names and value.name not in function.bindings:
            return self._is_made_by_callers(function_id, names.index(value.name))
        if is_something(value):
            return True
        return self._likely and not variable.is_flag and self._is_likely(function_id, value)

    def _is_made_by_callers(self, function_id: str, parameter: int) -> bool:
        """Whether all callers of a function have made what they give it for a parameter."""
        given = [
            dict(site.given).get(parameter)
            for (_, _, callee), site in self._contexts.sites.items()
            if callee == function_id
        ]
        return bool(given) and all(isinstance(each, Fresh) for each in given)

    def _is_likely(self, function_id: str, value: Expr) -> bool:
        """Whether a value is what a call has returned, no failure behind which its function goes on."""
        match value:
            case Call():
                return self._gives_something(function_id, value)
            case Name(name=name, scope="local"):
                body = self._symbols.functions[function_id][1].body
                given = [node for node in records(body) if isinstance(node, Assign) and _is_target(node, name)]
                return bool(given) and all(
                    is_something(node.value)
                    or (self._is_returned if isinstance(node.targets[0], Build) else self._is_call)(function_id, node)
                    for node in given
                )
            case _:
                return False

    def _is_call(self, function_id: str, stored: Assign) -> bool:
        return isinstance(stored.value, Call) and self._gives_something(function_id, stored.value)

    def _is_returned(self, function_id: str, stored: Assign) -> bool:
        """Whether a function has left, or has ended the program, where a call has failed whose results it stores."""
        source, function = self._symbols.functions[function_id]
        ends = ends_program(self._symbols, self._knowledge, source.name)
        return isinstance(stored.value, Call) and is_heeded(function.body, stored.span, ends)

    def _gives_something(self, function_id: str, call: Call) -> bool:
        """Whether no function that a call may be of returns nothing by that name."""
        called = [s.callee for s in self._effects[function_id].calls.values() if s.span == call.span]
        bodies = [self._symbols.functions[each][1].body for each in called if isinstance(each, str)]
        returned = [node.value for node in records(tuple(bodies)) if isinstance(node, Jump) and node.kind == "return"]
        return not any(isinstance(value, Const) and not value.value for value in returned)


def _passes_always(function: Function, span: Span, asks: Callable[[Expr], bool]) -> bool:
    return passes(function.body, span, lambda _: False, asks)


def _failing_of(function: Function) -> Callable[[Jump], bool]:
    return lambda jump: fails(function, jump)


def _asks_only(test: Expr, path: tuple[str, ...]) -> bool:
    """Whether a test asks for nothing but whether a variable is set."""
    if not isinstance(test, Op | Name | Attr):
        return False
    return any(says_unset(test, ("global", *path), held=held) for held in (True, False))


def _changed(node: object) -> Iterator[Expr]:
    """What a statement gives a value, or an expression says where it lies; not what that is a part of."""
    match node:
        case Assign(targets=targets):
            given: tuple[Expr, ...] = targets
        case Update(target=target):
            given = (target,)
        case Loop(target=target) if target is not None:
            given = (target,)
        case Op(operator="address", operands=operands):
            given = operands
        case _:
            given = ()
    for each in given:
        yield from each.parts if isinstance(each, Build) else (each,)


def _changes(node: object, name: str, kind: type[Name | Attr]) -> bool:
    return any(
        isinstance(part, kind) and part.name == name and (not isinstance(part, Name) or part.scope == "global")
        for part in _changed(node)
    )


def _is_address(node: object) -> bool:
    return isinstance(node, Op)


def _spot(target: Expr) -> Span:
    """Where a variable is given a value, be it one of several."""
    part = target.parts[0] if isinstance(target, Build) else target
    return part.span if isinstance(part, Name | Attr) else Span(0, 0, 0, 0)


def _is_target(stored: Assign, name: str) -> bool:
    return any(isinstance(part, Name) and part.name == name for part in _changed(stored))
