"""Stage flow: what constants a field of a method's own object may hold at a spot, by the tests and stores before it."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TypeAlias

from racelint.analysis.symbols import Symbols
from racelint.model import (
    Assign,
    Attr,
    Block,
    Branch,
    Const,
    Defer,
    Expr,
    Function,
    Jump,
    Labelled,
    Logic,
    Loop,
    Name,
    Op,
    Scalar,
    Spawn,
    Stmt,
    Update,
)
from racelint.record import records
from racelint.span import Span

Stages: TypeAlias = frozenset[Scalar]

ANY = "@any"  # stands for all that a field may hold
ALL: Stages = frozenset([ANY])
EQUAL, UNEQUAL = ("==", "is"), ("!=", "is not")


def changes(body: Block, name: str) -> Iterator[Span]:
    """Where statements give fields of a name a value, or say where they lie."""
    for node in records(body):
        match node:
            case Assign(targets=targets):
                yield from [each.span for each in records(targets) if isinstance(each, Attr) and each.name == name]
            case Update(target=Attr(name=field, span=span)) if field == name:
                yield span
            case Op(operator="address", operands=(Attr(name=field), *_), span=span) if field == name:
                yield span
            case _:
                pass


def compared(body: Block, own: str) -> Iterator[tuple[str, Expr]]:
    """The fields of a method's own object that it compares with something."""
    for node in records(body):
        if isinstance(node, Op) and node.operator in EQUAL + UNEQUAL:
            for one, other in (node.operands, node.operands[::-1]):
                if isinstance(one, Attr) and isinstance(one.base, Name) and one.base.name == own != "":
                    yield one.name, other


class Flow:
    """Follows one field of a method's own object through the method."""

    def __init__(
        self, symbols: Symbols, function_id: str, function: Function, name: str, taken: Span | None, calls: Set[Span]
    ) -> None:  # fmt: skip
        """`taken` is where the lock is taken before which others may have changed the field, `calls` what may do so."""
        self._symbols = symbols
        self._function_id = function_id
        self._function = function
        self._name = name
        self._taken = taken
        self._calls = calls
        self._found: Stages | None = None

    def at(self, spot: Span) -> Stages:
        """What the field may hold when the method comes to a spot."""
        self._spot = spot
        self._through(self._function.body, ALL)
        return self._found or ALL

    def stored(self, spot: Span) -> Stages:
        """The constants that an assignment to the field at a spot may store."""
        for stmt in records(self._function.body):
            if isinstance(stmt, Assign) and any([isinstance(t, Attr) and t.span == spot for t in stmt.targets]):
                return self._constants(stmt.value)
        return ALL

    def _through(self, block: Block, stages: Stages) -> Stages:
        """What the field may hold behind a block; nothing if that is never reached."""
        for stmt in block:
            if not stages:
                break
            stages = self._after(stmt, stages)
        return stages

    def _after(self, stmt: Stmt, stages: Stages) -> Stages:
        match stmt:
            case Branch(test=test, then=then, orelse=orelse, span=span):
                inner = [each.span for each in (*then, *orelse)]
                stages = self._begun(span, stages, inner)
                behind = self._through(then, self._refined(test, stages, outcome=True))
                return behind | self._through(orelse, self._refined(test, stages, outcome=False))
            case Loop(body=body, span=span) | Labelled(body=body, span=span):
                step = stmt.step if isinstance(stmt, Loop) else ()
                stages = ALL if self._may_change((*body, *step)) or self._is_unlocked(span) else stages
                self._through(body, self._begun(span, stages, [each.span for each in body]))
                return stages
            case Jump(span=span):
                self._begun(span, stages, [])
                return frozenset()
            case Defer(span=span) | Spawn(span=span):
                self._record(span, stages)
                return stages
            case Assign(targets=targets, value=value, span=span):
                stages = self._begun(span, stages, [])
                stored = any([self._is_own(part) for part in records(targets)])
                return stages if not stored else self._constants(value) if self._is_own(targets[0]) else ALL
            case Update(target=target, span=span) if self._is_own(target):
                self._record(span, stages)
                return ALL
            case _:
                return self._begun(stmt.span, stages, [])

    def _begun(self, span: Span, stages: Stages, inner: list[Span]) -> Stages:
        """What the field may hold when the calls of a statement, but for those of its blocks, are done."""
        taken = self._taken is not None and span.holds(self._taken) and not any([s.holds(self._taken) for s in inner])
        called = [call for call in self._calls if span.holds(call) and not any([each.holds(call) for each in inner])]
        stages = ALL if taken or called else stages
        if not any([each.holds(self._spot) for each in inner]):
            self._record(span, stages)
        return stages

    def _record(self, span: Span, stages: Stages) -> None:
        if span.holds(self._spot):
            self._found = stages

    def _is_unlocked(self, span: Span) -> bool:
        return self._taken is not None and span.holds(self._taken)

    def _may_change(self, block: Block) -> bool:
        stored = any([True for _ in changes(block, self._name)])
        return stored or any([each.span.holds(call) for each in block for call in self._calls])

    def _is_own(self, part: object) -> bool:
        own = self._function.own
        return (
            isinstance(part, Attr) and part.name == self._name and isinstance(part.base, Name) and part.base.name == own
        )

    def _refined(self, test: Expr, stages: Stages, *, outcome: bool) -> Stages:
        """What the field may hold if a test has an outcome; nothing if it cannot have that."""
        match test:
            case Op(operator="not", operands=(operand,)):
                return self._refined(operand, stages, outcome=not outcome)
            case Logic(operator=operator, operands=operands) if outcome == (operator == "and"):
                for operand in operands:
                    stages = self._refined(operand, stages, outcome=outcome)
                return stages
            case Logic(operands=operands):
                return frozenset().union(*[self._refined(each, stages, outcome=outcome) for each in operands])
            case Op(operator=operator, operands=(one, other)) if operator in EQUAL + UNEQUAL:
                asked = other if self._is_own(one) else one if self._is_own(other) else None
                constants = self._constants(asked) if asked is not None else ALL
                if ANY in constants or len(constants) != 1:
                    return stages
                return _kept(stages, constants, equal=outcome == (operator in EQUAL))
            case Attr() if self._is_own(test):
                return _kept(stages, frozenset([outcome]), equal=True)
            case _:
                return stages

    def _constants(self, expr: Expr, *, nested: bool = False) -> Stages:
        """The constants that an expression may be; all, if it may be anything else."""
        if isinstance(expr, Const):
            return ALL if expr.value is None else frozenset([expr.value])
        if isinstance(expr, Name) and expr.scope == "local":
            bound = self._function.bindings.get(expr.name, ())
            if nested or not bound or expr.name in self._function.cells:
                return ALL
            return frozenset().union(*[self._constants(each, nested=True) for each in bound])
        meant = self._symbols.meant(self._function_id, expr) if isinstance(expr, Name | Attr) else None
        constant = self._symbols.constant(meant) if meant is not None else None
        return frozenset([constant.value]) if constant is not None else ALL


def _kept(stages: Stages, constants: Stages, *, equal: bool) -> Stages:
    if equal:
        return constants if ANY in stages else stages & constants
    return stages if ANY in stages else stages - constants
