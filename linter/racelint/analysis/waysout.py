"""Ways out: whether what the program itself hands to a way in leads to the way out while it is called.

Names are compared, not objects: `events.connect("x", self.on_x)` hands over whatever is called `on_x`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from racelint.analysis.symbols import Symbols
from racelint.analysis.usage import Usage
from racelint.model import Attr, Build, Call, Closure, Const, Expr, Function, Name
from racelint.record import records

MOST_CALLS = 5  # from a callback to the way out
OF_CONTAINERS = frozenset({"remove", "discard", "pop", "add", "append", "insert"})  # who calls them means a container


class Handed(NamedTuple):
    """The name of what is handed to a call; `by` is the function that only hands on its own parameter, if it does."""

    name: str
    by: str = ""


class WaysOut:
    """Answers for pairs of methods by which callbacks come and go."""

    def __init__(self, symbols: Symbols, usage: Usage, product: Iterable[str]) -> None:
        """`product` is what the program consists of: tests and examples show what users may do, not what it does."""
        self._symbols = symbols
        self._usage = usage
        self._product = {function: symbols.functions[function][1] for function in product}
        self._handed: dict[str, set[Handed]] = {}  # by the name of a method, what its calls hand over; of tables by ""
        self._told_of: dict[str, set[str]] = {}  # by the name of a function, the texts with which it is handed over
        self._is_read = False
        self._known: dict[tuple[str, str], bool | None] = {}

    def are_taken(self, joins: str, leaves: str) -> bool | None:
        """Whether what is handed to one function leads to a call of the other; None if the program calls neither."""
        if (joins, leaves) not in self._known:
            self._known[joins, leaves] = self._judge(joins, leaves)
        return self._known[joins, leaves]

    def _judge(self, joins: str, leaves: str) -> bool | None:
        self._read()
        leading = self._leading(leaves)
        if not leading:
            return None
        handed = self._handed_to(_last(joins))
        named = {function.name for function in self._product.values()}
        if handed.isdisjoint(named):  # a variable that goes over a table of them
            handed = {each.name for each in self._handed.get("", ())}
        return not handed.isdisjoint(_last(function) for function in leading)

    def _leading(self, leaves: str) -> set[str]:
        """The functions of the program from which a few calls lead to one, that one apart."""
        name = _last(leaves)
        named = () if name in OF_CONTAINERS else self._usage.callers_by_name(name)
        found, at = set[str](), {*self._usage.callers(leaves), *named}
        for _ in range(MOST_CALLS):
            at = {function for function in at if function in self._product and function not in found}
            found |= at
            at = {caller for function in at for caller in (*self._usage.callers(function), *self._by_event(function))}
        return found - {leaves}

    def _by_event(self, function: str) -> Iterator[str]:
        """Who calls a method by the name of an event that a function is told of.

        `window.connect("destroy", self.on_destroy)`, and `window.destroy()`.
        """
        for event in self._told_of.get(_last(function), ()):
            yield from self._usage.callers_by_name(event)

    def _read(self) -> None:
        """Note once what the functions of the program hand to others."""
        if self._is_read:
            return
        self._is_read = True
        for function in self._product.values():
            for to, handed in (*_arguments(function), *_decorated(function)):
                self._handed.setdefault(to, set()).add(handed)
            for event, name in _told(function):
                self._told_of.setdefault(name, set()).add(event)

    def _handed_to(self, name: str) -> set[str]:
        """The names of what is handed to methods of a name, as arguments or by decorators, also by way of others."""
        found, todo, seen = set[str](), [name], {name}
        while todo:
            for handed in self._handed.get(todo.pop(), ()):
                found.add(handed.name)
                if handed.by and handed.by not in seen:
                    seen.add(handed.by)
                    todo.append(handed.by)
        return found


def _arguments(function: Function) -> Iterator[tuple[str, Handed]]:
    """What a function hands to calls: the name of what is called, and of each argument; "" and what is in displays."""
    for node in records(function.body):
        if isinstance(node, Build):
            for handed in _names(node, function):
                yield "", handed
        if isinstance(node, Call) and isinstance(node.func, Attr | Name):
            for argument in (*node.args, *[value for _, value in node.keywords]):
                for handed in _names(argument, function):
                    yield node.func.name, handed


def _told(function: Function) -> Iterator[tuple[str, str]]:
    """The events, by their names, of which a function has others told."""
    for node in records(function.body):
        match node:
            case Call(args=(Const(value=str() as event), *rest)):
                for argument in rest:
                    if isinstance(argument, Attr | Name):
                        yield event, argument.name
            case _:
                pass


def _decorated(function: Function) -> Iterator[tuple[str, Handed]]:
    """To what the decorators of a function hand it: `@events.connect("x")`."""
    for decorator in function.decorators:
        to = decorator.func if isinstance(decorator, Call) else decorator
        if isinstance(to, Attr | Name):
            yield to.name, Handed(function.name)


def _names(argument: Expr, function: Function, *, links: int = 1) -> Iterator[Handed]:
    """The names of functions that an argument may be: itself, in a display, or what a call gets (`partial(f)`, mostly).

    An object may be called itself; a parameter is what is handed to the function.
    """
    match argument:
        case Name(name=name) if name == function.own:
            yield Handed("__call__")
        case Name(name=name) if any(name == parameter.name for parameter in function.parameters):
            yield Handed(name, function.name)
        case Name(name=name, scope="local") if links and function.bindings.get(name):
            yield Handed(name)
            for bound in function.bindings[name]:
                yield from _names(bound, function, links=0)
        case Attr(name=name) | Name(name=name):
            yield Handed(name)
        case Closure(function=closure):
            yield Handed(_last(closure))
        case Build(parts=parts) | Call(args=parts):
            for part in parts:
                yield from _names(part, function, links=links)


def _last(function_id: str) -> str:
    return function_id.rpartition(":")[2].rpartition(".")[2]
