"""Last words: what a goroutine gives to a channel when it does nothing more; who receives it knows that it has ended.

`for { go func() { rows, err = load(); done <- err }(); select { case <-done: ...; case <-quit: return } }`: here one
goroutine has ended when the next turn starts another one. So it has where a helper has received that on each way out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set

from racelint.analysis.effects import Effects
from racelint.analysis.state import GIVES
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Value
from racelint.model import Assign, Call, Closure, Function, Name, Op, Spawn
from racelint.record import records
from racelint.span import Span

GIVING = frozenset({"send", "close"})
LISTENING = frozenset({"receive", "keys", "values", "entries", "length"})


def of(effects: Effects, called: Mapping[str, frozenset[Value]]) -> frozenset[Value]:
    """The channels to which a function gives something once at most, and does nothing behind that.

    `called` are those of the functions that it calls.
    """
    given = {path for operation, path, _ in effects.told if operation in GIVES}
    passed_on = [(path, span) for operation, path, span in effects.passed_on if operation in GIVES]
    given = given.union([path for path, _ in passed_on]) - effects.told_again
    return _said_last(effects, given, passed_on, called, GIVES)


def closed(
    effects: Effects, at_end: Set[tuple[str, Value]], called: Mapping[str, frozenset[Value]]
) -> frozenset[Value]:
    """The channels that a function surely closes, whatever it has given them before; it does nothing behind that.

    `at_end` is what it has surely done when it is left, `called` are those of the functions that it calls.
    """
    passed_on = [(path, span) for operation, path, span in effects.passed_on if operation == "close"]
    return _said_last(effects, {path for done, path in at_end if done == "close"}, passed_on, called, {"close"})


def _said_last(
    effects: Effects,
    given: Set[Value],
    passed_on: Collection[tuple[Value, Span]],
    called: Mapping[str, frozenset[Value]],
    operations: Set[str],
) -> frozenset[Value]:
    """The channels behind some operations on which a function does nothing, nor a function that does them for it."""
    last = set(given)
    for path, span in passed_on if last else ():
        by = [called.get(callee, ()) for at, callee in effects.calls if at == span and isinstance(callee, str)]
        if not by or any([path not in each for each in by]):
            last.discard(path)
    if not last:
        return frozenset()
    behind = [access.told[1] for access in effects.all_accesses()]
    behind += [site.told[1] for site in effects.calls.values()]
    return frozenset(last.difference([path for told in behind for done, path in told if done in operations]))


def speaker(
    channel: Value,
    function_id: str,
    symbols: Symbols,
    how: Set[str] = GIVING,
    calls: Collection[tuple[Span, str | Value]] = (),
) -> tuple[Span, str] | None:
    """What gives something to a channel of a function's own, and where it is started, if that is one closure."""
    found = speakers(channel, function_id, symbols, how, calls)
    return found[0] if len(found) == 1 else None


def speakers(
    channel: Value,
    function_id: str,
    symbols: Symbols,
    how: Set[str] = GIVING,
    calls: Collection[tuple[Span, str | Value]] = (),
) -> list[tuple[Span, str]]:
    """All that give something to a channel of a function's own, and where they are started, if those are closures.

    Nobody else gets hold of the channel but who only takes from it, in one of the function's `calls`, and each closure
    is written where it is started. `how` are the ways in which they may give that.
    """
    if not isinstance(channel, Captured) or channel.function != function_id:
        return []
    source, function = symbols.functions[function_id]
    if channel.name in [parameter.name for parameter in function.parameters]:
        return []
    givers: set[str] = set()
    for each in _within(function, source.module.functions):
        scope = "local" if each is function else "captured"
        lent = _lent(each, channel.name, calls, symbols) if each is function else 0
        if not _is_only_used(each, channel.name, scope, how | LISTENING, lent):
            return []
        if any(_operated(each, channel.name, scope, GIVING)):
            givers.add(each.qualname)
    found = [
        (spawn.call.span, spawn.call.func.function)
        for spawn in records(function.body)
        if isinstance(spawn, Spawn) and isinstance(spawn.call, Call) and isinstance(spawn.call.func, Closure)
    ]
    speaking = [(span, name) for span, name in found if any(f"{giver}.".startswith(f"{name}.") for giver in givers)]
    if not all([any(f"{giver}.".startswith(f"{name}.") for _, name in speaking) for giver in givers]):
        return []
    return [(span, f"{source.name}:{name}") for span, name in speaking]


def _within(function: Function, functions: Mapping[str, Function]) -> list[Function]:
    """A function and all that are written in it."""
    return [each for name, each in functions.items() if f"{name}.".startswith(f"{function.qualname}.")]


def _lent(function: Function, name: str, calls: Collection[tuple[Span, str | Value]], symbols: Symbols) -> int:
    """How many of a function's calls hand its channel to a function that only takes from it: `q.collect(done)`."""
    given = [
        (call.span, index)
        for call in records(function.body)
        if isinstance(call, Call)
        for index, arg in enumerate(call.args)
        if isinstance(arg, Name) and (arg.name, arg.scope) == (name, "local")
    ]
    called = [([callee for at, callee in calls if at == span], index) for span, index in given]
    return sum(len(callees) == 1 and _listens(callees[0], index, symbols) for callees, index in called)


def _listens(callee: str | Value, index: int, symbols: Symbols) -> bool:
    """Whether a function only takes from the channel that it is given for an argument."""
    if not isinstance(callee, str) or callee not in symbols.functions:
        return False
    source, function = symbols.functions[callee]
    parameters = function.parameters[1 if function.owner else 0 :]
    if index >= len(parameters) or parameters[index].kind != "positional":
        return False
    name = parameters[index].name
    return all(
        _is_only_used(each, name, "local" if each is function else "captured", LISTENING)
        for each in _within(function, source.module.functions)
    )


def _is_only_used(function: Function, name: str, scope: str, operators: Set[str], lent: int = 0) -> bool:
    """Whether a function does nothing with a channel but to make it, to use it in some operators, and to lend it."""
    names = [node for node in records(function.body) if isinstance(node, Name)]
    uses = sum(1 for node in names if (node.name, node.scope) == (name, scope))
    stores = [node for node in records(function.body) if isinstance(node, Assign)]
    made = [t for stmt in stores for t in stmt.targets if isinstance(t, Name) and (t.name, t.scope) == (name, "local")]
    known = sum(1 for _ in _operated(function, name, scope, operators))
    return uses == known + lent + (len(made) if scope == "local" else 0)


def _operated(function: Function, name: str, scope: str, operators: Set[str]) -> Iterator[Op]:
    """Where a function uses a channel in one of some operators, and only as the channel."""
    for node in records(function.body):
        if isinstance(node, Op) and node.operator in operators and node.operands:
            first = node.operands[0]
            if isinstance(first, Name) and (first.name, first.scope) == (name, scope):
                yield node
