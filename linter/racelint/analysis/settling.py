"""Settling: changes that only put right what is there, by nothing but what is there.

Whoever comes first does the same as everybody else would: `if d[k] is None: d[k] = []`, or puts a constant at one end
of a list: `names.remove("id")`, `names.insert(0, "id")`, or sorts what it has found not to be sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from racelint.analysis.state import Predicate, State
from racelint.analysis.values import Element, Literal, Value, Values
from racelint.model import Assign, Attr, Block, Branch, Build, Call, Choice, Const, Eval, Expr, Item, Logic, Name, Op
from racelint.record import records
from racelint.span import Span

WANTING = "wanting"
SORTED = frozenset({"StringsAreSorted", "IntsAreSorted", "Float64sAreSorted", "SliceIsSorted", "IsSorted"})
SORTS = frozenset({"sort", "Strings", "Ints", "Float64s", "Slice", "SliceStable", "Sort", "SortFunc", "Stable"})


def note_wanting(values: Values, found: str, state: State) -> None:
    """Entries have been found wanting: "none", not of a "type", or without "truth"."""
    for value in values:
        if isinstance(value, Element):
            state.assumptions[Predicate(value, WANTING, found)] = True


def is_settled(
    slot: Element, values: Values, stored: Expr | None, state: State, is_it: Callable[[Expr], bool],
    makes: Callable[[Expr], bool],
) -> bool:  # fmt: skip
    """Whether storing `values` in an entry settles it; `is_it` knows the entry, `makes` the types of containers."""
    if (slot.base, slot.key) in state.absent:
        return bool(values) and all([is_filler(value) for value in values])
    found = {p.scalar for p, held in state.assumptions.items() if held and p.test == WANTING and p.value == slot}
    if found & {"none", "type"}:
        return stored is not None and _is_closed(stored, is_it, makes)
    return "truth" in found and stored is not None and _is_nothing(stored, makes)


def is_filler(value: Value) -> bool:
    """Whether a value stands where there was nothing before; what is noted by a `True` is not nothing."""
    return isinstance(value, Literal) and value.value is not True


def placed(body: Block) -> Iterator[Span]:
    """The calls that take a constant out of a list and put it in again, always at the same end."""
    for block in records(body):
        for first, second in pairwise(block) if type(block) is tuple else ():
            if isinstance(first, Eval) and isinstance(second, Eval) and _is_placing(first.value, second.value):
                yield from (call.span for call in (first.value, second.value) if isinstance(call, Call))


def put_in_order(body: Block) -> Iterator[Span]:
    """The calls that sort what a test around them has found not to be sorted: mostly there is nothing to do."""
    for branch in records(body):
        wanting = _unsorted(branch.test) if isinstance(branch, Branch) else None
        for stmt in branch.then if isinstance(branch, Branch) and wanting is not None else ():
            if isinstance(stmt, Eval) and _plain(_sorted_by(stmt.value)) == _plain(wanting):
                yield stmt.value.span if isinstance(stmt.value, Call) else stmt.span


def filled(body: Block) -> Iterator[Span]:
    """The stores that fill in what a test around them has found to be empty: `if x.port == 0 { x.port = 80 }`."""
    for branch in records(body):
        empty = {_plain(expr) for expr in _empty(branch.test)} if isinstance(branch, Branch) else set()
        for stmt in branch.then if isinstance(branch, Branch) and empty else ():
            if isinstance(stmt, Assign) and not _is_truth(stmt.value):
                yield from (t.span for t in stmt.targets if isinstance(t, Attr | Item) and _plain(t) in empty)


def _is_truth(expr: Expr) -> bool:
    """Whether a flag is set, which tells others something."""
    return isinstance(expr, Const) and isinstance(expr.value, bool)


def _empty(test: Expr) -> Iterator[Expr]:
    """What a test, or a part of it, finds to be empty."""
    match test:
        case Logic(operands=operands):
            for part in operands:
                yield from _empty(part)
        case Op(operator="is" | "==", operands=(asked, Const(value=nothing))) if not nothing:
            yield asked
            if isinstance(asked, Op) and asked.operator == "length":
                yield from asked.operands
        case Op(operator="not", operands=(asked,)):
            yield asked


def _sorted_by(expr: Expr) -> Expr | None:
    """What a call puts in order."""
    if isinstance(expr, Call) and isinstance(expr.func, Attr) and expr.func.name in SORTS:
        return expr.args[0] if expr.args else expr.func.base
    return None


def _unsorted(test: Expr) -> Expr | None:
    """What a test has found not to be sorted."""
    match test:
        case Op(operator="not", operands=(Call(func=Attr(name=name), args=(asked, *_)),)) if name in SORTED:
            return asked
        case Op(operator="!=", operands=(asked, Call(func=Name(name="sorted"), args=(same,), keywords=()))):
            return asked if _plain(asked) == _plain(same) else None
    return None


def _plain(node: object) -> object:
    """An expression, wherever it stands."""
    return tuple([_plain(part) for part in node if not isinstance(part, Span)]) if isinstance(node, tuple) else node


def _is_placing(first: Expr, second: Expr) -> bool:
    match first, second:
        case (
            Call(func=Attr(base=Name(name=one, scope=scope), name="remove"), args=(Const() as taken,)),
            Call(func=Attr(base=Name(name=other, scope=same), name="insert" | "append"), args=(*where, Const() as put)),
        ):
            return (one, scope) == (other, same) and taken == put and where in ([], [Const(0)])
    return False


def _is_nothing(expr: Expr, makes: Callable[[Expr], bool]) -> bool:
    match expr:
        case Const(value=value):
            return not value
        case Build(parts=parts):
            return not parts
        case Call(func=func, args=(), keywords=()):
            return makes(func)
        case _:
            return False


def _is_closed(expr: Expr, is_it: Callable[[Expr], bool], makes: Callable[[Expr], bool]) -> bool:
    """Whether an expression is made of constants and of what the entry holds, nothing else."""
    if _is_nothing(expr, makes) or is_it(expr):
        return True
    match expr:
        case Const():
            return True
        case Build(parts=parts, keys=keys):
            inner = (*parts, *[key for key in keys if key is not None])
            return None not in keys and all(_is_closed(part, is_it, makes) for part in inner)
        case Call(func=func, args=args, keywords=keywords):
            given = (*args, *[value for _, value in keywords])
            called = _is_part(func, is_it) or (_is_fixed(func) and any(_is_part(part, is_it) for part in given))
            return called and all(_is_closed(part, is_it, makes) for part in given)
        case Op(operands=operands) | Logic(operands=operands):
            return all(_is_closed(part, is_it, makes) for part in operands)
        case Choice(test=test, then=then, orelse=orelse):
            return all(_is_closed(part, is_it, makes) for part in (test, then, orelse))
        case _:
            return _is_part(expr, is_it)


def _is_fixed(func: Expr) -> bool:
    """Whether a function is named by a global name: the same for all."""
    while isinstance(func, Attr):
        func = func.base
    return isinstance(func, Name) and func.scope == "global"


def _is_part(expr: Expr, is_it: Callable[[Expr], bool]) -> bool:
    """Whether an expression is the entry, or an attribute or constant item of it."""
    while not is_it(expr):
        match expr:
            case Attr(base=base) | Item(base=base, key=Const()):
                expr = base
            case _:
                return False
    return True
