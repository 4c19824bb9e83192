"""Locks that a fix takes in Python code: `with lock:` around the statements that need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias, cast

import libcst as cst

from racelint.finding import Remedy
from racelint.languages.python.iterating import VIEWS
from racelint.languages.python.names import Names
from racelint.languages.python.piece import Piece
from racelint.span import Span

MOST_LINES = 12  # under a lock; more deserves a thought
SLOW = frozenset({
    "sleep", "wait", "join", "recv", "recvfrom", "accept", "connect", "request", "select", "poll", "acquire", "read",
    "readline", "send", "sendall", "communicate", "result", "call", "check_call", "check_output", "urlopen", "execute",
})  # fmt: skip

Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement


class _Run(NamedTuple):
    """Consecutive statements of a block, and the function that they are in."""

    block: cst.IndentedBlock
    first: int
    last: int
    function: cst.FunctionDef

    @property
    def statements(self) -> Sequence[Statement]:
        return cast("Sequence[Statement]", self.block.body[self.first : self.last + 1])


def hold(piece: Piece, names: Names, remedy: Remedy) -> tuple[str, cst.CSTNode] | None:
    """Take the lock around the fewest statements that cover all places; None if that would not do, or do harm."""
    spans = [place.span for place in remedy.places]
    run = _run(piece, spans)
    if run is None:
        return None
    lock = _lock(piece, names, run, spans, remedy)
    if lock is None:
        return None
    short = _gathered(piece, names, run, spans, remedy)
    if short is None and not _may_be_held(piece, run, spans, remedy):
        return None
    under, behind = short or (list(run.statements), [])
    block = run.block
    before = list(block.body[: run.first])
    around = before[-1] if before and not behind else None
    if isinstance(around, cst.With) and _is_same(piece, around, lock) and not under[0].leading_lines:
        assert isinstance(around.body, cst.IndentedBlock)
        held: cst.With = around.with_changes(body=around.body.with_changes(body=[*around.body.body, *under]))
        before.pop()
    else:
        held = _with(piece, run, lock, under, is_async=remedy.is_async)
    body = [*before, held, *behind, *block.body[run.last + 1 :]]
    return f"hold {lock}", piece.module.deep_replace(block, block.with_changes(body=body))


def _with(piece: Piece, run: _Run, lock: str, under: list[Statement], *, is_async: bool) -> cst.With:
    """The statement that holds a lock; comments above what comes under it stay above."""
    first, *others = under
    assert isinstance(run.function.body, cst.IndentedBlock)
    return cst.With(
        items=[cst.WithItem(cst.parse_expression(lock))],
        body=cst.IndentedBlock(
            body=[first.with_changes(leading_lines=[]), *others],
            indent=run.function.body.indent or piece.module.default_indent,
        ),
        asynchronous=cst.Asynchronous() if is_async else None,
        leading_lines=first.leading_lines,
    )


def _is_same(piece: Piece, around: cst.With, lock: str) -> bool:
    """Whether a statement holds just that lock; what comes next may then come under it, too."""
    plain = isinstance(around.body, cst.IndentedBlock) and not around.body.footer
    return plain and len(around.items) == 1 and piece.code(around.items[0].item) == lock


def _gathered(
    piece: Piece, names: Names, run: _Run, spans: list[Span], remedy: Remedy
) -> tuple[list[Statement], list[Statement]] | None:
    """A loop that calls others goes over what it has gathered under the lock, and calls them without it."""
    match run.statements:
        case [cst.For(asynchronous=None) as loop] if [piece.span(loop)[:2]] == [span[:2] for span in spans]:
            pass
        case _:
            return None
    calls = [node for node in piece.nodes(loop.body) if isinstance(node, cst.Call | cst.Await | cst.Yield)]
    inside = [
        node for node in piece.nodes(loop.body) if isinstance(node, cst.Attribute) and node.attr.value == remedy.field
    ]
    walked = piece.nodes(loop.iter)
    if not calls or inside or remedy.is_async or not names.is_builtin("list"):
        return None
    if any(isinstance(node, cst.Call) and not _is_view(node) for node in walked):
        return None
    if any(piece.span(loop.iter).holds(place.span) for place in remedy.avoid):
        return None
    name = names.new(remedy.field.strip("_") or "found")
    gathered = cst.Assign([cst.AssignTarget(cst.Name(name))], cst.Call(cst.Name("list"), [cst.Arg(loop.iter)]))
    line = cst.SimpleStatementLine([gathered], leading_lines=loop.leading_lines)
    return [line], [loop.with_changes(iter=cst.Name(name), leading_lines=[])]


def _is_view(node: cst.Call) -> bool:
    return not node.args and isinstance(node.func, cst.Attribute) and node.func.attr.value in VIEWS


def _run(piece: Piece, spans: list[Span]) -> _Run | None:
    """The run of statements in the innermost block that has all spans."""
    best: _Run | None = None
    function: cst.FunctionDef | None = None
    for node in piece.nodes():
        if isinstance(node, cst.FunctionDef) and _is_around(piece, node.body, spans):
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


def _is_around(piece: Piece, body: cst.BaseSuite, spans: list[Span]) -> bool:
    """Whether a block of statements on lines of their own has all spans."""
    return isinstance(body, cst.IndentedBlock) and all(piece.span(body).holds(span) for span in spans)


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
            if not isinstance(node, cst.Attribute) or node.attr.value != remedy.field or not _is_plain(node.value):
                continue
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
            target = (
                node.target if isinstance(node, cst.AssignTarget | cst.For | cst.NamedExpr | cst.AugAssign) else None
            )
            for inner in piece.nodes(target) if target is not None else ():
                parent = piece.parent(inner)
                if isinstance(inner, cst.Name) and not isinstance(parent, cst.Attribute | cst.Subscript):
                    yield inner.value
