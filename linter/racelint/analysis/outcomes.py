"""Outcomes: what those who call a function do with what it returns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from racelint.analysis.effects import Effects
from racelint.analysis.symbols import Symbols
from racelint.model import Assign, Block, Call, Const, Name, Op
from racelint.record import records
from racelint.span import Span

COMPARING = frozenset({"==", "!=", "is", "is not", "not"})


class Outcomes:
    """Looks at the calls of functions."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], snapshots: frozenset[str]) -> None:
        """`snapshots` are the functions that copy what they are given in one step."""
        self._symbols = symbols
        self._snapshots = snapshots
        self._effects = effects
        self._calls: dict[str, list[tuple[str, Span]]] | None = None
        self._compared: dict[str, set[Span]] = {}

    def are_gone_at_once(self, function_id: str) -> bool:
        """Whether all who call a function, as far as is known, only ask whether it returns anything, or copy that."""
        calls = self._callers().get(function_id, [])
        return bool(calls) and all(span in self._compared_in(caller) for caller, span in calls)

    def _callers(self) -> Mapping[str, list[tuple[str, Span]]]:
        if self._calls is None:
            found: dict[str, list[tuple[str, Span]]] = defaultdict(list)
            for caller, effects in self._effects.items():
                for span, callee in effects.calls:
                    if isinstance(callee, str):
                        found[callee].append((caller, span))
            self._calls = found
        return self._calls

    def _compared_in(self, caller: str) -> set[Span]:
        """The calls of a function whose results are compared with nothing or copied, and else not used."""
        if caller not in self._compared:
            inner = [f for f in self._symbols.functions if f.startswith(f"{caller}.")]
            bodies = [self._symbols.functions[f][1].body for f in inner]
            body = self._symbols.functions[caller][1].body
            self._compared[caller] = {*compared(body, bodies), *copied(body, self._snapshots)}
        return self._compared[caller]


def copied(body: Block, snapshots: frozenset[str]) -> Iterator[Span]:
    """The calls in a body whose results are copied at once: `list(f())`."""
    for node in records(body):
        match node:
            case Call(func=Name(name=name), args=(Call(span=span), *_)) if name in snapshots:
                yield span
            case _:
                pass


def compared(body: Block, inner: Sequence[Block]) -> Iterator[Span]:
    """The calls in a body whose results are compared with nothing, and else not used, nor by functions in it."""
    tests = [node for node in records(body) if isinstance(node, Op) and node.operator in COMPARING]
    sides = [side for test in tests if test.operator == "not" or Const(None) in test.operands for side in test.operands]
    yield from (side.span for side in sides if isinstance(side, Call))
    asked = {side for side in sides if isinstance(side, Name)}
    named = {node for node in records(body) if isinstance(node, Name)}
    captured = {node.name for node in records(tuple(inner)) if isinstance(node, Name) and node.scope == "captured"}
    for node in records(body):
        match node:
            case Assign(targets=(Name(name=name, scope="local") as target,), value=Call(span=span)):
                uses = [each for each in named if each.name == name and each != target]
                if name not in captured and all(each in asked for each in uses):
                    yield span
