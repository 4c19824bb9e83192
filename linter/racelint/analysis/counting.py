"""Counting out: a counter of what is still to come from a channel is at zero when all that was started has ended.

`left := len(rows); for _, row := range rows { go func() { ...; done <- ok }() }; for { <-done; left--; if left == 0
{ break } }`: each of them sends once, as its last step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from racelint.analysis.branching import blocks, loops_around
from racelint.analysis.written import plain
from racelint.model import (
    Assign,
    Attr,
    Block,
    Const,
    Delete,
    Eval,
    Expr,
    Function,
    Loop,
    Make,
    Name,
    Op,
    Spawn,
    Stmt,
    Update,
)
from racelint.record import records
from racelint.span import Span

ONCE = frozenset({"send"})  # each receive takes one, other than of what is closed
ONE = Const(1)
WALKS = frozenset({"keys", "values", "entries"})
AT_ZERO = {
    ("==", 0): True, ("<=", 0): True, ("<", 1): True, ("!=", 0): False, (">", 0): False, (">=", 1): False,
}  # fmt: skip
AT_ONE = {
    ("==", 1): True, ("<=", 1): True, ("<", 2): True, ("!=", 1): False, (">", 1): False, (">=", 2): False,
}  # fmt: skip


def is_at_zero(test: Op, *, outcome: bool) -> bool:
    """Whether a test's outcome says that a number is zero, if it is never below."""
    return _says(test, AT_ZERO) is outcome


def is_at_one(test: Op, *, outcome: bool) -> bool:
    """Whether a test's outcome says that a number is one, if it has just gone up and was not below zero."""
    return _says(test, AT_ONE) is outcome


def _says(test: Op, bounds: Mapping[tuple[str, int], bool]) -> bool | None:
    """By which outcome a comparison with a constant says that a number is at a bound."""
    bound = test.operands[1] if len(test.operands) == 2 else None
    number = bound.value if isinstance(bound, Const) else None
    return bounds.get((test.operator, number)) if type(number) is int else None


def run_out(test: Expr, *, outcome: bool) -> str:
    """The variable that has come to zero, if a test has an outcome; "" if it says nothing of that."""
    match test:
        case Op(operator=operator, operands=(Name(name=name, scope="local"), Const(value=int(value)))):
            return name if AT_ZERO.get((operator, value)) is outcome else ""
        case _:
            return ""


def counted_by(function: Function, counter: str, start: Span) -> str:
    """The channel from which a function takes something each time when a counter goes down, if that has counted what is
    started at a spot; "" if there is none.
    """
    if counter in function.cells:
        return ""
    changes = [
        stmt for stmt in _statements(function.body)
        if isinstance(stmt, Assign | Update) and any([_is_variable(target, counter) for target in _targets(stmt)])
    ]  # fmt: skip
    ups = [stmt for stmt in changes if isinstance(stmt, Update) and stmt.operator == "+" and stmt.value == ONE]
    downs = [stmt for stmt in changes if isinstance(stmt, Update) and stmt.operator == "-" and stmt.value == ONE]
    given = [stmt for stmt in changes if isinstance(stmt, Assign)]
    if not downs or len(given) != 1 or len(given) + len(ups) + len(downs) != len(changes):
        return ""
    channels = {_received_before(function.body, down) for down in downs}
    channel = channels.pop() if len(channels) == 1 else ""
    if not channel or not _are_of_one_round(function, channel, given[0], start):
        return ""
    if ups:
        return (
            channel if given[0].value == Const(0) and len(ups) == 1 and _goes_with(function.body, ups[0], start) else ""
        )
    return channel if _is_as_many(function, given[0], start) else ""


def _targets(stmt: Assign | Update) -> Sequence[Expr]:
    return stmt.targets if isinstance(stmt, Assign) else (stmt.target,)


def _is_variable(target: Expr, name: str) -> bool:
    return any(isinstance(part, Name) and part.name == name and part.scope == "local" for part in records(target))


def _statements(body: Block) -> Iterator[Stmt]:
    for block in blocks(body):
        yield from block
        for stmt in block:
            if isinstance(stmt, Loop) and stmt.step:
                yield from stmt.step


def _received_before(body: Block, down: Update) -> str:
    """The channel from which a block has received once when it comes to a statement of its own."""
    block = next((block for block in blocks(body) if any(stmt is down for stmt in block)), ())
    at = next((index for index, stmt in enumerate(block) if stmt is down), 0)
    received = [
        node.operands[0] for stmt in block[:at] if isinstance(stmt, Eval | Assign)
        for node in records(stmt) if isinstance(node, Op) and node.operator == "receive"
    ]  # fmt: skip
    others = [stmt for stmt in block if stmt is not down and isinstance(stmt, Update) and stmt.target == down.target]
    names = [channel.name for channel in received if isinstance(channel, Name) and channel.scope == "local"]
    return names[0] if len(names) == len(received) == 1 and not others else ""


def _are_of_one_round(function: Function, channel: str, given: Assign, start: Span) -> bool:
    """Whether the channel, the counter and what is counted belong to one turn of the same loop, or to none."""
    makes = [stmt for stmt in _statements(function.body) if isinstance(stmt, Assign) and isinstance(stmt.value, Make)]
    made = [stmt.span for stmt in makes if any([_is_variable(target, channel) for target in stmt.targets])]
    if len(made) != 1:
        return False
    around = [loop.span for loop in loops_around(function.body, made[0])]
    counted = [loop.span for loop in loops_around(function.body, start)]
    return around == [loop.span for loop in loops_around(function.body, given.span)] == counted[: len(around)]


def _goes_with(body: Block, up: Update, start: Span) -> bool:
    """Whether a counter goes up whenever something is started: before that in its block, or as the next step."""
    for block in blocks(body):
        spawned = [index for index, stmt in enumerate(block) if isinstance(stmt, Spawn) and stmt.span.holds(start)]
        counted = [index for index, stmt in enumerate(block) if stmt is up]
        if spawned and counted:
            return counted[0] <= spawned[0] + 1
    return False


def _is_as_many(function: Function, given: Assign, start: Span) -> bool:
    """Whether a counter is given the number of turns of the loop that starts something in each of them."""
    inner = loops_around(function.body, start)[len(loops_around(function.body, given.span)) :]
    number = _number(function, given.value)
    if len(inner) != 1 or number is None or _turns(function, inner[0]) != plain(number):
        return False
    measured = number.operands[0] if isinstance(number, Op) else number
    later = [stmt for stmt in _statements(function.body) if stmt.span[:2] > given.span[:2]]
    changed = [target for stmt in later if isinstance(stmt, Assign | Update) for target in _targets(stmt)]
    changed += [stmt.target for stmt in later if isinstance(stmt, Delete)]
    return plain(measured) not in [plain(part) for target in changed for part in records(target)]


def _number(function: Function, value: Expr) -> Expr | None:
    """What a number is the length of, or the variable that holds it; None if it is something else."""
    match value:
        case Op(operator="length", operands=(Name() | Attr(),)):
            return value
        case Name(name=name):
            held = function.bindings.get(name, ())
            if len(held) == 1 and isinstance(held[0], Op) and held[0].operator == "length":
                return _number(function, held[0])
            return value if len(held) <= 1 else None
        case _:
            return None


def _turns(function: Function, loop: Loop) -> object:
    """How often a loop turns at most, as it is written: by what it walks, or by the bound up to which it counts."""
    match loop.iterable, loop.test:
        case (Op(operator=operator, operands=(walked,)), _) if operator in WALKS:
            return plain(Op("length", (walked,), loop.span))
        case (None, Op(operator="<", operands=(Name(name=name), bound))):
            number = _number(function, bound)
            from_zero = function.bindings.get(name, ())[:1] == (Const(0),)
            steps = [
                stmt for stmt in loop.step if isinstance(stmt, Update) and (stmt.operator, stmt.value) == ("+", ONE)
            ]
            return plain(number) if number is not None and from_zero and steps else None
        case _:
            return None
