"""Inside: objects that only a variable of the function that has made them leads to, and what is called on them.

`all := &heads{}; go func() { for all.Len() > 0 { heap.Pop(all) } }()`: nobody else ever has that object, whatever other
objects of its type he has.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.places import Places
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin, Captured
from racelint.model import Assign, Attr, Call, Function, Name, Op
from racelint.record import records

SEEING = frozenset({"==", "!=", "length", "keys", "values", "entries", "not"})  # operators that lead nowhere
MOST_METHODS = 12  # methods through which an object is followed


class Inside:
    """Finds variables whose objects stay where they are."""

    def __init__(self, symbols: Symbols, places: Places) -> None:
        self._symbols = symbols
        self._places = places
        self._stays: dict[tuple[str, str], bool] = {}

    def stays(self, function_id: str, name: str) -> bool:
        """Whether the object of a function's variable is known by that alone: to the function and to those in it."""
        key = (function_id, name)
        if key not in self._stays:
            source, function = self._symbols.functions[function_id]
            given = name in [parameter.name for parameter in function.parameters]
            inner = [f for n, f in source.module.functions.items() if f"{n}.".startswith(f"{function.qualname}.")]
            owner = self._places.class_of(Captured(function_id, name))
            self._stays[key] = not given and all(
                self._only_uses(f"{source.name}:{each.qualname}", each, name, owner, set()) for each in inner
            )
        return self._stays[key]

    def _only_uses(
        self, function_id: str, function: Function, name: str, owner: str | None, seen: set[str]
    ) -> bool:  # fmt: skip
        """Whether a function hands what a variable holds to nobody but to methods of it that do not, either."""
        nodes = list(records(function.body))
        uses = sum(1 for node in nodes if isinstance(node, Name) and node.name == name)
        known = sum(1 for _ in self._harmless(function_id, nodes, name))
        parts = [node.operands[0] for node in nodes if isinstance(node, Op) and node.operator == "address"]
        calls = [node for node in nodes if isinstance(node, Call)]
        if uses != known or any(_is_part(part, name) for part in parts) or self._is_bound(nodes, calls, name, owner):
            return False
        called = {call.func.name for call in calls if isinstance(call.func, Attr) and _is_named(call.func.base, name)}
        given = {m for call in calls if _has(call, name) for m in self._runs(function_id, call)}
        return all(self._method_keeps(owner, method, seen) for method in (called | given) - seen)

    def _is_bound(self, nodes: list[object], calls: list[Call], name: str, owner: str | None) -> bool:
        """Whether a method is not called there, but given on with its object: `mux.HandleFunc("/", own.serve)`."""
        taken = [node for node in nodes if isinstance(node, Attr) and _is_named(node.base, name)]
        called = [call.func for call in calls if isinstance(call.func, Attr)]
        return any(
            (owner is None or self._symbols.method(owner, each.name) is not None)
            and not any(each is func for func in called)
            for each in taken
        )

    def _method_keeps(self, owner: str | None, name: str, seen: set[str]) -> bool:
        """Whether a method of a type does not tell others of its object."""
        seen.add(name)
        found = self._symbols.method(owner, name) if owner is not None and len(seen) <= MOST_METHODS else None
        if found is None:
            return False
        method = self._symbols.functions[found][1]
        source = self._symbols.functions[found][0]
        inner = [f for n, f in source.module.functions.items() if f"{n}.".startswith(f"{method.qualname}.")]
        return not method.own or all(
            self._only_uses(f"{source.name}:{each.qualname}", each, method.own, owner, seen) for each in inner
        )

    def _harmless(self, function_id: str, nodes: list[object], name: str) -> Iterator[object]:
        """The uses of a variable that lead nobody else to what it holds."""
        for node in nodes:
            match node:
                case Attr(base=Name(name=used)) if used == name:
                    yield node
                case Assign(targets=targets):
                    yield from [target for target in targets if _is_named(target, name)]
                case Op(operator=operator, operands=operands) if operator in SEEING:
                    yield from [each for each in operands if _is_named(each, name)]
                case Call(args=args) if self._runs(function_id, node):
                    yield from [each for each in args if _is_named(each, name)]

    def _runs(self, function_id: str, call: Call) -> tuple[str, ...]:
        """The methods of what it is given that a function of a library calls, and does nothing else with it."""
        callee = self._symbols.static(function_id.partition(":")[0], call.func)
        row = self._places.knowledge.concurrency.start(callee.name) if isinstance(callee, Builtin) else None
        return row.methods if row is not None and row.kind == "here" else ()


def _is_named(expr: object, name: str) -> bool:
    return isinstance(expr, Name) and expr.name == name


def _has(call: Call, name: str) -> bool:
    return any(_is_named(each, name) for each in call.args)


def _is_part(expr: object, name: str) -> bool:
    """Whether an expression is a part of what a variable holds."""
    while isinstance(expr, Attr):
        expr = expr.base
    return _is_named(expr, name)
