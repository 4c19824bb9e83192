"""Loops over linked lists that go on from an element which they have taken out: it has no next one any more."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import goes_on
from racelint.analysis.ending import ends_program
from racelint.analysis.state import Resize
from racelint.analysis.summary import Conflict, Place
from racelint.analysis.sweeps import assigned
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import LibraryType, Types
from racelint.analysis.values import Captured, Field, Param, TypeValue, Value
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Call, Defer, Expr, Function, Loop, Name
from racelint.record import records

KIND = "linked list"


class Unlinking:
    """Finds `for e := l.Front(); e != nil; e = e.Next() { l.Remove(e) }`, by the rows of what does "unlinks"."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge

    def conflicts(self, functions: list[str]) -> Iterator[Conflict]:
        """One for each call that takes out what the loop's step starts from."""
        for function_id in functions:
            function = self._symbols.functions[function_id][1]
            for loop in [node for node in records(function.body) if isinstance(node, Loop) and node.step]:
                variable = _stepped(loop)
                if variable and not _is_steered(loop, variable):
                    yield from self._in_loop(function_id, function, loop, variable)

    def _in_loop(self, function_id: str, function: Function, loop: Loop, variable: str) -> Iterator[Conflict]:
        later = [part for node in records(loop.body) if isinstance(node, Defer) for part in records(node)]
        ends = ends_program(self._symbols, self._knowledge, self._symbols.functions[function_id][0].name)
        for call in [node for node in records(loop.body) if isinstance(node, Call) and node not in later]:
            match call:
                case Call(func=Attr(base=base, name=method), args=(Name(name=name),)) if name == variable:
                    if self._unlinks(function_id, base, method) and goes_on(loop, call.span, ends):
                        path = _path(function_id, function, base)
                        taken = Resize(path, "remove", f".{method}()", (), function_id, call.span)
                        place, stands = Place(function_id, loop.span, base), Place(function_id, call.span)
                        yield Conflict(place, stands, path, KIND, "direct", taken)
                case _:
                    pass

    def _unlinks(self, function_id: str, base: Expr, method: str) -> bool:
        found = self._types.expressions.of(function_id, base)
        return isinstance(found, LibraryType) and self._knowledge.does(f"{found.name}.{method}", "unlinks") is not None


def _stepped(loop: Loop) -> str:
    """The variable that goes to the next element behind each turn; "" if there is none."""
    match loop.step:
        case (Assign(targets=(Name(name=name),), value=Call(func=Attr(base=Name(name=base)), args=())),):
            return name if base == name else ""
        case _:
            return ""


def _is_steered(loop: Loop, variable: str) -> bool:
    """Whether the loop's body goes to another element, or sets what its test asks for: `e != nil && !found`."""
    asked = [part.name for part in records(loop.test) if isinstance(part, Name)] if loop.test is not None else []
    return not assigned(loop.body).isdisjoint([variable, *asked])


def _path(function_id: str, function: Function, expr: Expr) -> Value:
    """The list, as far as it has a name."""
    match expr:
        case Attr(base=base, name=name):
            return Field(_path(function_id, function, base), name)
        case Name(name=name):
            index = next((i for i, parameter in enumerate(function.parameters) if parameter.name == name), None)
            return Captured(function_id, name) if index is None else Param(function_id, index)
        case _:
            return TypeValue(function_id)
