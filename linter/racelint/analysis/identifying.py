"""Identifying: functions that take of an object nothing but which one it is, its name or its UID."""

from __future__ import annotations

from collections.abc import Callable, Collection, Set

from racelint.analysis.state import IDENTIFYING
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Attr, Call, Cast, Const, Expr, Jump, Name, Op
from racelint.record import records
from racelint.span import Span

MOST_CALLS = 3  # functions on the way to the one that asks
IDENTITY = IDENTIFYING | {"namespace"}


class Identifying:
    """Follows an object through variables, and to the functions that it is handed to."""

    def __init__(
        self, symbols: Symbols, callee: Callable[[str, Span], str], inline: Collection[str]
    ) -> None:  # fmt: skip
        """`callee` gives the function that is called at a place, `inline` are the parts that all such objects have."""
        self.symbols = symbols
        self._callee = callee
        self._inline = frozenset([name.lower() for name in inline])

    def asks_more(self, function_id: str, names: Set[str], left: int = MOST_CALLS) -> bool:
        """Whether a function may look at more of what some variables hold than which object it is, or keeps it."""
        return left <= 0 or _Walk(self, function_id, names, left).asks_more()

    def is_inline(self, name: str) -> bool:
        """Whether an attribute or method gives the part of an object that says which one it is."""
        return _plain(name) in self._inline or name.lower() in self._inline

    def handed(self, caller: str, call: Call, indexes: Collection[int], left: int) -> bool | None:
        """Whether a function that gets the object asks more; None if it gives it back, perhaps."""
        function_id = self._callee(caller, call.span)
        if function_id not in self.symbols.functions:
            return True
        _, function = self.symbols.functions[function_id]
        own = function.parameters[1:] if function.owner else function.parameters
        if any(index >= len(own) or own[index].kind != "positional" for index in indexes):
            return True
        names = frozenset([own[index].name for index in indexes])
        nested = [body for each, (_, f) in self.symbols.functions.items() if each.startswith(f"{function_id}.")
                  for body in f.body]  # fmt: skip
        if any(isinstance(part, Name) and part.name in names for part in records(tuple(nested))):
            return True
        if self.asks_more(function_id, names, left - 1):
            return True
        return None if any(isinstance(p, Jump) and p.kind == "return" for p in records(function.body)) else False


class _Walk:
    """One function, with the variables that hold the object."""

    def __init__(self, identifying: Identifying, function_id: str, names: Set[str], left: int) -> None:
        self._of = identifying
        self._id = function_id
        self._left = left
        self._body = identifying.symbols.functions[function_id][1].body
        self._held = set(names)
        self._handed: dict[Call, bool | None] = {}

    def asks_more(self) -> bool:
        known = -1
        while known != len(self._held):
            known = len(self._held)
            self._handed.clear()  # they may get it by more of their parameters
            for part in records(self._body):
                if isinstance(part, Assign) and self._is_it(part.value):
                    self._held.update([each.name for each in part.targets if isinstance(each, Name)])
        return self._asks(self._body)

    def _is_it(self, expr: object) -> bool:
        """Whether an expression is the object, or perhaps what a function has given back of it."""
        match expr:
            case Name(name=name):
                return name in self._held
            case Cast(value=value):
                return self._is_it(value)
            case Call(args=args):
                return any(map(self._is_it, args)) and self._calls(expr) is None
            case _:
                return False

    def _calls(self, call: Call) -> bool | None:
        if call not in self._handed:
            indexes = [index for index, arg in enumerate(call.args) if self._is_it(arg)]
            self._handed[call] = self._of.handed(self._id, call, indexes, self._left)
        return self._handed[call]

    def _asks(self, node: object) -> bool:
        match node:
            case Assign(targets=targets, value=value) if self._is_it(value):
                return not all(isinstance(each, Name) for each in targets) or self._asks_within(value)
            case Jump(kind="return", value=value) if self._is_it(value):
                return self._asks_within(value)
            case Op(operator="is" | "is not" | "match", operands=(tested, *others)) if self._is_it(tested):
                plain = all(isinstance(each, Const | Cast) for each in others)
                return not plain or self._asks_within(tested)
            case Call(func=Attr(base=base, name=name), args=()) | Attr(base=base, name=name) if self._leads_to_it(base):
                return _plain(name) not in IDENTITY
            case Call() if any(map(self._is_it, node.args)):
                rest = [arg for arg in node.args if not self._is_it(arg)]
                return self._calls(node) is True or self._asks((node.func, *rest)) or self._asks_within(node)
            case Name(name=name):
                return name in self._held
            case _:
                return isinstance(node, tuple) and any([self._asks(part) for part in node if isinstance(part, tuple)])

    def _asks_within(self, expr: object) -> bool:
        """The same for what is handed to calls that give the object back."""
        match expr:
            case Cast(value=value):
                return self._asks_within(value)
            case Call(args=args):
                return self._calls(expr) is True or any([self._asks_within(arg) for arg in args if self._is_it(arg)])
            case _:
                return False

    def _leads_to_it(self, expr: Expr) -> bool:
        """Whether an expression is the object, or the part of it that says which one it is."""
        match expr:
            case Call(func=Attr(base=base, name=name), args=()) | Attr(base=base, name=name):
                return self._of.is_inline(name) and self._leads_to_it(base)
            case _:
                return self._is_it(expr)


def _plain(name: str) -> str:
    return name.lower().removeprefix("get")
