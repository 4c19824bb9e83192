"""Locks that a fix takes in Python code: `with lock:` around the statements that need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from racelint.finding import Remedy
from racelint.languages.python.names import Names
from racelint.languages.python.piece import Piece
from racelint.span import Span

MOST_LINES = 12  # under a lock; more deserves a thought
SLOW = frozenset({
    "sleep", "wait", "join", "recv", "recvfrom", "accept", "connect", "request", "select", "poll", "acquire", "read",
    "readline", "send", "sendall", "communicate", "result", "call", "check_call", "check_output", "urlopen", "execute",
})  # fmt: skip
LATER = (cst.Lambda, cst.FunctionDef, cst.ClassDef)


class _Run(NamedTuple):
    """Consecutive statements of a block, and the function that they are in."""

    block: cst.IndentedBlock
    first: int
    last: int
    function: cst.FunctionDef

    @property
    def statements(self) -> Sequence[cst.BaseStatement]:
        return self.block.body[self.first : self.last + 1]


def hold(piece: Piece, names: Names, remedy: Remedy) -> tuple[str, cst.CSTNode] | None:
    """Take the lock around the fewest statements that cover all places; None if that would not do, or do harm."""
    spans = [place.span for place in remedy.places]
    run = _run(piece, spans)
    if run is None or not _may_be_held(piece, run, spans, remedy):
        return None
    lock = _lock(piece, names, run, spans, remedy)
    if lock is None:
        return None
    first, *others = run.statements
    leading = first.leading_lines
    held = cst.With(
        items=[cst.WithItem(cst.parse_expression(lock))],
        body=cst.IndentedBlock(
            body=[first.with_changes(leading_lines=[]), *others],
            indent=_function_block(run).indent or piece.module.default_indent,
        ),
        asynchronous=cst.Asynchronous() if remedy.is_async else None,
        leading_lines=leading,
    )
    body = [*run.block.body[: run.first], held, *run.block.body[run.last + 1 :]]
    return f"hold {lock}", piece.module.deep_replace(run.block, run.block.with_changes(body=body))


def _function_block(run: _Run) -> cst.IndentedBlock:
    assert isinstance(run.function.body, cst.IndentedBlock)
    return run.function.body


def _run(piece: Piece, spans: list[Span]) -> _Run | None:
    """The run of statements in the innermost block that has all spans."""
    best: _Run | None = None
    function: cst.FunctionDef | None = None
    for node in piece.nodes():
        if isinstance(node, cst.FunctionDef) and isinstance(node.body, cst.IndentedBlock):
            if all(piece.span(node.body).holds(span) for span in spans):
                function = node
        if function is None or not isinstance(node, cst.IndentedBlock):
            continue
        touched = [
            index for index, statement in enumerate(node.body) if any(piece.span(statement).holds(s) for s in spans)
        ]
        covered = [s for s in spans if any(piece.span(node.body[index]).holds(s) for index in touched)]
        if touched and len(covered) == len(spans):
            best = _Run(node, touched[0], touched[-1], function)
    return best


def _may_be_held(piece: Piece, run: _Run, spans: list[Span], remedy: Remedy) -> bool:
    """Whether nothing in the statements forbids a lock around them: a wait, a lambda that runs later, a long loop."""
    first, last = piece.span(run.statements[0]), piece.span(run.statements[-1])
    held = Span(*first[:2], *last[2:])
    if any(held.holds(place.span) for place in remedy.avoid):
        return False
    if last.end_line - first.line >= MOST_LINES:
        return False
    if remedy.is_async and run.function.asynchronous is None:
        return False
    for node in (inner for statement in run.statements for inner in piece.nodes(statement)):
        match node:
            case cst.Yield() | cst.While():
                return False
            case cst.Await() if not remedy.is_async:
                return False
            case cst.For() | cst.With() | cst.CompFor() if node.asynchronous is not None and not remedy.is_async:
                return False
            case cst.Lambda() | cst.FunctionDef() | cst.ClassDef() if any(piece.span(node).holds(s) for s in spans):
                return False
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))) if name in SLOW:
                return False
    return True


def _lock(piece: Piece, names: Names, run: _Run, spans: list[Span], remedy: Remedy) -> str | None:
    """The lock as the function writes it: a field of the object that is accessed, or a variable of the module."""
    if not remedy.field:
        return remedy.lock if not names.is_local(remedy.lock) else None
    bases = set[str]()
    for statement in run.statements:
        for node in piece.nodes(statement):
            if isinstance(node, cst.Attribute) and node.attr.value == remedy.field and _is_plain(node.value):
                if any(_touches(span, piece.span(node)) for span in spans):
                    bases.add(piece.code(node.value))
    if len(bases) != 1:
        return None
    base = bases.pop()
    if base.partition(".")[0] in set(_assigned(piece, run)):
        return None
    return f"{base}.{remedy.lock}"


def _touches(outer: Span, inner: Span) -> bool:
    return outer.holds(inner) or (inner[:2] < outer[2:] and outer[:2] < inner[2:])


def _is_plain(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _assigned(piece: Piece, run: _Run) -> Iterator[str]:
    """The variables that the statements assign."""
    for statement in run.statements:
        for node in piece.nodes(statement):
            target = node.target if isinstance(node, cst.AssignTarget | cst.For | cst.NamedExpr | cst.AugAssign) else None
            for inner in piece.nodes(target) if target is not None else ():
                parent = piece.parent(inner)
                if isinstance(inner, cst.Name) and not isinstance(parent, cst.Attribute | cst.Subscript):
                    yield inner.value
