"""Branches: which of two statements of one function excludes the other, which comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from racelint.model import (
    Assign,
    Attr,
    Await,
    Block,
    Branch,
    Call,
    Const,
    Defer,
    Eval,
    Function,
    Hold,
    Item,
    Jump,
    Labelled,
    Loop,
    Name,
    Op,
    Stmt,
    Try,
)
from racelint.record import records
from racelint.span import Span


def are_alternatives(body: Block, first: Span, second: Span, ends: Callable[[Stmt], bool] = lambda _: False) -> bool:
    """Whether two spots stand in different arms of one branch, or one in an arm that returns and the other behind it.

    Those in one loop are none: the next turn may take the other way. `ends` tells of statements that end the program.
    """
    for stmt in body if _holds(body, first) and _holds(body, second) else ():
        if stmt.span.holds(first) and stmt.span.holds(second):
            if isinstance(stmt, Branch) and _holds(stmt.then, first) != _holds(stmt.then, second):
                return True
            return any(are_alternatives(block, first, second, ends) for block in _blocks(stmt))
        spot = first if stmt.span.holds(first) else second if stmt.span.holds(second) else None
        if spot is not None:
            return isinstance(stmt, Branch) and any(
                (leaves(arm) or (arm and ends(arm[-1]))) and _holds(arm, spot) for arm in blocks((stmt,))
            )
    return False


def is_fallback(body: Block, first: Span, second: Span) -> bool:
    """Whether a spot is passed where the first one is not: in another arm of a branch, or where that has failed."""
    if are_alternatives(body, first, second):
        return True
    tries = [node for node in records(body) if isinstance(node, Try)]
    return any(_holds(t.body, first) and any(_holds(h.body, second) for h in t.handlers) for t in tries)


def comes_first(body: Block, first: Span, second: Span) -> bool:
    """Whether a spot is surely passed before another one, by what stands in one block or around the second spot."""
    for stmt in body if _holds(body, first) and _holds(body, second) else ():
        if stmt.span.holds(first):
            if stmt.span.holds(second):
                return any(comes_first(block, first, second) for block in _blocks(stmt))
            return first[:2] < second[:2] and _is_passed(stmt, first)
    return False


def _is_passed(stmt: Stmt, spot: Span) -> bool:
    """Whether who passes a statement passes a spot in it."""
    if isinstance(stmt, Hold):
        inside = [each for each in stmt.body if each.span.holds(spot)]
        return all(_is_passed(each, spot) for each in inside)
    inner = (*_blocks(stmt), stmt.body) if isinstance(stmt, Loop) else _blocks(stmt)
    return not any(_holds(block, spot) for block in inner)


def is_never_behind(body: Block, first: Span, second: Span) -> bool:
    """Whether one call of a function never comes to a spot when it has passed another one: what is deferred is last."""
    put_off = [any(d.span.holds(spot) for d in records(body) if isinstance(d, Defer)) for spot in (first, second)]
    if any(put_off):
        return not put_off[0]
    if _is_assigned(body, first, second):
        return False
    return are_alternatives(body, first, second) or (
        first[:2] < second[:2] and not any(loop.span.holds(first) for loop in loops_around(body, second))
    )


def _is_assigned(body: Block, target: Span, value: Span) -> bool:
    """Whether a spot is where an assignment puts what stands at another one: it comes first in the text only."""
    both = [s for s in records(body) if isinstance(s, Assign) and s.span.holds(target) and s.span.holds(value)]
    parts = [part for stmt in both for part in records(stmt.targets) if isinstance(part, Name | Attr | Item)]
    return any([part.span.holds(target) and not part.span.holds(value) for part in parts])


def waits(body: Block) -> bool:
    """Whether a function itself receives from a channel anywhere."""
    return any(isinstance(part, Op) and part.operator == "receive" for part in records(body))


def counts(loop: Loop) -> bool:
    """Whether a loop counts up to an end: not one that tries again until it is left."""
    return bool(loop.step) and not (isinstance(loop.test, Const) and bool(loop.test.value))


def is_looped(body: Block, spot: Span) -> bool:
    """Whether a spot stands in a loop of a function."""
    return bool(loops_around(body, spot))


def around(body: Block, spot: Span) -> Iterator[Branch | Loop]:
    """The branches and loops that a spot stands in, outermost first; a branch only where its test has held."""
    for stmt in body:
        if stmt.span.holds(spot):
            inner = (*_blocks(stmt), stmt.body, stmt.orelse) if isinstance(stmt, Loop) else _blocks(stmt)
            if (isinstance(stmt, Branch) and _holds(stmt.then, spot)) or (
                isinstance(stmt, Loop) and _holds(stmt.body, spot)
            ):
                yield stmt
            for block in inner:
                yield from around(block, spot)


def loops_around(body: Block, spot: Span) -> list[Loop]:
    """The loops that a spot stands in, outermost first."""
    return [stmt for stmt in around(body, spot) if isinstance(stmt, Loop)]


def ends_in_turn(body: Block, start: Span, wait: str) -> bool:
    """Whether the turn of a loop that makes and starts something also waits for it, by a method without a time limit.

    `for row in rows: t = Thread(target=work); t.start(); t.join()`
    """
    loops = loops_around(body, start)
    turn = loops[-1].body if loops else ()
    made = [stmt.targets for stmt in turn if isinstance(stmt, Assign) and stmt.span.holds(start)]
    names = {target.name for targets in made for target in targets if isinstance(target, Name)}
    calls = [stmt.value for stmt in turn if isinstance(stmt, Eval) and isinstance(stmt.value, Call)]
    return any(
        isinstance(call.func, Attr)
        and call.func.name == wait
        and isinstance(call.func.base, Name)
        and call.func.base.name in names
        and not (call.args or call.keywords)
        for call in calls
    )


def awaits_at(body: Block, call: Span) -> bool:
    """Whether a function awaits a call there and then."""
    awaits = [part.value for part in records(body) if isinstance(part, Await)]
    return any(isinstance(value, Call) and value.span == call for value in awaits)


def awaited_in_turn(body: Block, start: Span) -> bool:
    """Whether the turn of a loop that starts something also awaits what it has got for it.

    `async for job in jobs: done = loop.run_in_executor(None, job); await asyncio.shield(done)`
    """
    loops = loops_around(body, start)
    turn = list(_straight(loops[-1].body)) if loops else []
    made = [stmt for stmt in turn if isinstance(stmt, Assign) and stmt.span.holds(start)]
    names = {target.name for stmt in made for target in stmt.targets if isinstance(target, Name)}
    plain = tuple(stmt for stmt in turn if isinstance(stmt, Eval | Assign))
    awaited = tuple(part.value for part in records(plain) if isinstance(part, Await))
    return any(isinstance(part, Name) and part.name in names for part in records(awaited))


def _straight(block: Block) -> Iterator[Stmt]:
    """The statements of a block that no condition stands before."""
    for stmt in block:
        yield stmt
        if isinstance(stmt, Try | Hold):
            yield from _straight(stmt.body)


def arms(body: Block, spot: Span, *, turns: bool = False) -> Iterator[tuple[Branch, int]]:
    """The branches, and which arm of each leads to a spot; behind an arm that leaves, the other.

    Those in loops are left out: the next turn may take the other way. `turns` asks for them, too.
    """
    for stmt in body if _holds(body, spot) else ():
        if stmt.span.holds(spot):
            blocks = (stmt.body, stmt.orelse) if turns and isinstance(stmt, Loop) else _blocks(stmt)
            for index, block in enumerate(blocks):
                if _holds(block, spot):
                    if isinstance(stmt, Branch):
                        yield stmt, index
                    yield from arms(block, spot, turns=turns)
            return
        if isinstance(stmt, Branch):
            left = [index for index, block in enumerate(_blocks(stmt)) if leaves(block)]
            if len(left) == 1:
                yield stmt, 1 - left[0]


def holding(method: Function, start: Span) -> frozenset[str]:
    """The own fields that hold what is started at a spot: `self._thread = Thread(...)`, `self._thread.start()`."""
    stores = [node for node in records(method.body) if isinstance(node, Assign) and node.span.holds(start)]
    found = [target for node in stores for target in node.targets if isinstance(target, Attr)]
    calls = [node.func for node in records(method.body) if isinstance(node, Call) and node.span == start]
    found += [func.base for func in calls if isinstance(func, Attr) and isinstance(func.base, Attr)]
    return frozenset([attr.name for attr in found if isinstance(attr.base, Name) and attr.base.name == method.own])


def blocks(body: Block) -> Iterator[Block]:
    """A block and all that its statements consist of, those of loops, too."""
    todo = [body]
    while todo:  # a switch may have a thousand cases, each in the other branch of the one before
        block = todo.pop()
        yield block
        inner = [(s.body, s.orelse) if isinstance(s, Loop) else _blocks(s) for s in block]
        todo += reversed([part for parts in inner for part in parts])


def _holds(block: Block, spot: Span) -> bool:
    return any(stmt.span.holds(spot) for stmt in block)


def leaves(block: Block) -> bool:
    """Whether a block ends the function."""
    return ends_with(block, "return", "raise")


def ends_with(block: Block, *kinds: str) -> bool:
    """Whether the last statement of a block is a jump of one of these kinds."""
    return bool(block) and isinstance(last := block[-1], Jump) and last.kind in kinds


def raises_behind(body: Block, spot: Span) -> bool:
    """Whether a function raises, and catches nothing itself, in each case in which it passes a spot."""
    for stmt in body if _holds(body, spot) else ():
        if stmt.span.holds(spot):
            if isinstance(stmt, Try) and stmt.handlers and _holds(stmt.body, spot):
                return False
            if ends_with(body, "raise") and body[-1] is not stmt:
                return not any(isinstance(each, Jump) for each in records(body[body.index(stmt) : -1]))
            return any(raises_behind(block, spot) for block in _blocks(stmt) if _holds(block, spot))
    return False


def _blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks of which a statement consists; those of a loop are left out."""
    match stmt:
        case Branch(then=then, orelse=orelse):
            return (then, orelse)
        case Hold(body=body) | Labelled(body=body):
            return (body,)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            return (body, *[handler.body for handler in handlers], orelse, final)
        case _:
            return ()


def goes_on(loop: Loop, spot: Span, ends: Callable[[Stmt], bool] = lambda _: False) -> bool:
    """Whether another turn of a loop may follow on a spot in its body; `ends` tells statements that end the program."""
    out = _way_out(loop.body, spot, ends)
    return out is None or (out.kind == "continue" and out.label in ("", loop.label))


def goes_round(body: Block, spot: Span) -> bool:
    """Whether who has passed a spot may come to it again, in another turn of a loop around it."""
    return any(goes_on(loop, spot) for loop in loops_around(body, spot))


def _way_out(block: Block, spot: Span, ends: Callable[[Stmt], bool]) -> Jump | None:
    """The jump that leaves a block in any case once a spot in it has been passed; None if it may come to its end."""
    at = next((index for index, stmt in enumerate(block) if stmt.span.holds(spot)), None)
    if at is None:
        return None
    out = _way_out_of(block[at], spot, ends)
    return out if out is not None else _always_left(block[at + 1 :], ends)


def _way_out_of(stmt: Stmt, spot: Span, ends: Callable[[Stmt], bool]) -> Jump | None:
    match stmt:
        case Jump():
            return stmt
        case Loop(body=body, label=label):
            out = _way_out(body, spot, ends)
            return out if out is not None and _passes(out, label, "break", "continue") else None
        case Labelled(body=body, label=label):
            out = _way_out(body, spot, ends)
            return out if out is not None and out.label != label else None
        case _:
            inner = next((block for block in _blocks(stmt) if _holds(block, spot)), None)
            return _way_out(inner, spot, ends) if inner is not None else None


def _passes(out: Jump, label: str, *kinds: str) -> bool:
    """Whether a jump leads further out than a loop."""
    return out.kind not in kinds or out.label not in ("", label)


def _always_left(block: Block, ends: Callable[[Stmt], bool]) -> Jump | None:
    """The jump by which a block is left whatever happens in it."""
    for stmt in block:
        match stmt:
            case Jump():
                return stmt
            case Branch(then=then, orelse=orelse):
                one, two = _always_left(then, ends), _always_left(orelse, ends)
                if one is not None and two is not None:
                    return one if one.kind == "continue" else two
            case Labelled(body=body, label=label):
                out = _always_left(body, ends)
                if out is not None and out.label != label:
                    return out
            case Hold(body=body):
                if (out := _always_left(body, ends)) is not None:
                    return out
            case _ if ends(stmt):
                return Jump("raise", None, stmt.span)
            case _:
                pass
    return None
