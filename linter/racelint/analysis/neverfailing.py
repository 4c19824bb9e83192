"""Functions that never fail: all that they return, and all that those return whose results they hand on, is nothing.

`func (l *listener) listen() error { for { ...; select { case <-l.done: return nil; default: } } }`: what stands behind
`if err := l.listen(); err != nil` is never done, and a variable that only gets such results never changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from racelint.analysis.branching import arms
from racelint.analysis.deadstores import LEAKS
from racelint.analysis.effects import Effects
from racelint.analysis.places import Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.model import Block, Build, Call, Const, Expr, Item, Name, Op
from racelint.record import records
from racelint.span import Span

NOTHING = Const(None)
MOST_ASKED = 120  # results and variables that may hang on each other
COMPARING = {"is not": 0, "!=": 0, "is": 1, "==": 1}  # operators, and the arm for what is there


class Returned(NamedTuple):
    """What a function returns, or that of several results."""

    function: str
    result: int | None


class Variable(NamedTuple):
    """A variable of a function."""

    function: str
    name: str


class NeverFailing:
    """Finds results and variables that are nothing, whatever happens: the greatest fixpoint over what they hang on."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], places: Places) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._known: dict[Returned | Variable, bool] = {}
        self._called: dict[str, dict[Span, list[str]]] = {}  # by the callers

    def stays_nothing(self, place: Place) -> bool:
        """Whether a captured variable is nothing from its declaration on, and gets nothing else."""
        if place.kind != "captured" or place.depth or self._is_duck_typed(place.owner):
            return False
        return self._is_nothing(Variable(place.owner, place.name))

    def is_never_done(self, spot: Spot) -> bool:
        """Whether an access stands where a result would have to be there that never is."""
        if self._is_duck_typed(spot.function):
            return False
        return any(map(self._are_nothing, self._asked_for(spot.function, spot.access.span)))

    def _is_duck_typed(self, function_id: str) -> bool:
        return self._symbols.functions[function_id][0].module.traits.duck_typed

    def _asked_for(self, function_id: str, spot: Span) -> Iterator[list[Returned | Variable]]:
        """What has to be there where a spot is passed, by the results and variables that it is."""
        for branch, arm in arms(self._symbols.functions[function_id][1].body, spot, turns=True):
            if (
                isinstance(branch.test, Op)
                and COMPARING.get(branch.test.operator) == arm
                and NOTHING in branch.test.operands
            ):
                for operand in branch.test.operands:
                    yield self._parts(function_id, operand) or []

    def _are_nothing(self, asked: list[Returned | Variable]) -> bool:
        return bool(asked) and all(map(self._is_nothing, asked))

    def _is_nothing(self, asked: Returned | Variable) -> bool:
        """Whether all that something hangs on is nothing: what hangs on itself alone adds nothing else."""
        if asked not in self._known:
            seen, todo = {asked}, [asked]
            while todo and len(seen) < MOST_ASKED:
                found = self._hangs_on(todo.pop())
                if found is None or any(self._known.get(each) is False for each in found):
                    break
                todo += [each for each in dict.fromkeys(found) if each not in seen and each not in self._known]
                seen.update(found)
            else:
                if not todo:
                    self._known.update(dict.fromkeys(seen, True))
            self._known.setdefault(asked, False)
        return self._known[asked]

    def _hangs_on(self, asked: Returned | Variable) -> list[Returned | Variable] | None:
        """The results and variables that something is, if it is not nothing itself; None if it may be anything else."""
        found: list[Returned | Variable] = []
        given: Sequence[tuple[str, Expr | None]] = (
            self._returned(asked) if isinstance(asked, Returned) else self._given(asked)
        )
        for function, expr in given:
            parts = self._parts(function, expr)
            if parts is None:  # whatever it is: perhaps nobody comes by
                parts = next(filter(None, self._asked_for(function, _span_of(expr))), None)
            if parts is None:
                return None
            found += parts
        return found if given else None

    def _returned(self, asked: Returned) -> Sequence[tuple[str, Expr | None]]:
        """What a function returns at a place among its results."""
        function = self._symbols.functions[asked.function][1]
        found = function.bindings.get("return", ())
        if function.is_generator or function.is_async or self._is_duck_typed(asked.function):
            return ()
        if asked.result is None:
            return [(asked.function, each) for each in found]
        return [(asked.function, _part(each, asked.result)) for each in found]

    def _given(self, asked: Variable) -> Sequence[tuple[str, Expr]]:
        """All that a variable gets, in its own function and those nested in it; nothing if it may get more."""
        source, function = self._symbols.functions[asked.function]
        own = function.bindings.get(asked.name, ())
        if not own or any(parameter.name == asked.name for parameter in function.parameters):
            return ()
        if asked.name not in function.cells:
            return () if _leaks(asked.name, function.body) else [(asked.function, each) for each in own]
        nested = {f: each for f, each in source.module.functions.items() if f.startswith(f"{function.qualname}.")}
        if any(_leaks(asked.name, each.body) for each in (function, *nested.values())):
            return ()
        given = [(asked.function, each) for each in own]
        for expr in function.bindings.get(f"{asked.name}()", ()):
            inner = [f for f, each in nested.items() if isinstance(expr, Const) or each.span.holds(_span_of(expr))]
            if not inner:
                return ()
            given.append((f"{source.name}:{max(inner, key=len)}", expr))
        return given

    def _parts(self, function_id: str, expr: Expr | None) -> list[Returned | Variable] | None:
        """What an expression is by other results and variables: none if it is nothing; None if it may be more."""
        match expr:
            case Const(value=None):
                return []
            case Name(name=name, scope="local"):
                return [Variable(function_id, name)]
            case Name(name=name, scope="captured"):
                owner = self._places.binder(function_id, name)
                return [Variable(owner, name)] if owner is not None else None
            case Call(span=span):
                return self._results(function_id, span, None)
            case Item(base=Call(span=span), key=Const(value=int(index))):
                return self._results(function_id, span, index)
            case _:
                return None

    def _results(self, function_id: str, call: Span, result: int | None) -> list[Returned | Variable] | None:
        """The results of all functions that a call may mean, if these are known."""
        if function_id not in self._called:
            self._called[function_id] = _callees(self._effects.get(function_id))
        found = self._called[function_id].get(call)
        return [Returned(each, result) for each in found] if found else None


def _callees(effects: Effects | None) -> dict[Span, list[str]]:
    """The functions that the calls of one mean, where all are functions of the project."""
    found: dict[Span, list[str]] = defaultdict(list)
    for span, callee in effects.calls if effects is not None else ():
        if isinstance(callee, str) and effects is not None and span not in effects.vague:
            found[span].append(callee)
    return found


def _part(expr: Expr, index: int) -> Expr | None:
    """One of the results that are returned together; None if it is not known."""
    match expr:
        case Build(kind="tuple", parts=parts) if index < len(parts):
            return parts[index]
        case Call(span=span):
            return Item(expr, Const(index), span)
        case _:
            return None


def _span_of(expr: Expr | None) -> Span:
    return expr.span if isinstance(expr, Call | Item | Name) else Span(0, 0, 0, 0)


def _leaks(name: str, body: Block) -> bool:
    """Whether the address of a variable is handed on, by which it may get other values."""
    return any(
        isinstance(node, Op)
        and node.operator in LEAKS
        and any(isinstance(each, Name) and each.name == name for each in records(node.operands))
        for node in records(body)
    )
