"""Copies of containers that are iterated: `list(...)` around what a Python loop walks."""

from __future__ import annotations

import libcst as cst

from racelint.finding import Remedy
from racelint.languages.python.names import Names
from racelint.languages.python.piece import Piece
from racelint.span import Span

VIEWS = frozenset({"items", "keys", "values", "iteritems", "iterkeys", "itervalues"})
WALKERS = frozenset({"enumerate", "reversed", "iter"})
COMPREHENSIONS = (cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)


def snapshot(piece: Piece, names: Names, remedy: Remedy) -> tuple[str, cst.CSTNode] | None:
    """Iterate over a copy: `list(...)` around what the loop walks."""
    clause = _clause(piece, remedy.places[0].span)
    if clause is None or clause.asynchronous is not None:
        return None
    walked = _walked(clause.iter)
    if walked is not clause.iter and _counts_positions(piece, clause):
        return None
    if isinstance(walked, cst.Await | cst.Tuple | cst.List | cst.Set | cst.Dict):
        return None
    if names.is_builtin("list"):
        replaced: cst.BaseExpression = cst.Call(cst.Name("list"), [cst.Arg(bare(walked))])
    elif isinstance(walked, cst.Name | cst.Attribute | cst.Subscript):
        replaced = cst.Call(cst.Attribute(walked, cst.Name("copy")))
    else:
        return None
    return "iterate over a copy", piece.module.deep_replace(walked, replaced)


def _clause(piece: Piece, span: Span) -> cst.For | cst.CompFor | None:
    """The loop at a span: a statement, the clause that walks an expression, or a comprehension's only clause."""
    for node in piece.nodes():
        if isinstance(node, cst.For) and piece.span(node)[:2] == span[:2]:
            return node
        if isinstance(node, cst.For | cst.CompFor) and _is_of(piece, node.iter, span):
            return node
    for node in piece.nodes():
        if isinstance(node, COMPREHENSIONS) and _is_at(piece, node, span):
            return node.for_in if node.for_in.inner_for_in is None else None
    return None


def _is_of(piece: Piece, node: cst.BaseExpression, span: Span) -> bool:
    return span == piece.span(node) or (bool(node.lpar) and span == piece.wide_span(node))


def _is_at(piece: Piece, node: cst.CSTNode, span: Span) -> bool:
    """Whether a comprehension is meant; the parentheses of a call may count as its own."""
    found = piece.span(node)
    if found.line == found.end_line:
        found = Span(found.line, found.column - 1, found.end_line, found.end_column + 1)
        return span in (found, piece.span(node), piece.wide_span(node))
    return span[0] == found.line and span[2] == found.end_line and abs(span[1] - found.column) <= 1


def _walked(node: cst.BaseExpression) -> cst.BaseExpression:
    """The container, or its view, in what only counts or turns it round: `d.items()` in `enumerate(d.items())`."""
    match node:
        case cst.Call(func=cst.Name(value=name), args=[cst.Arg(value=inner, keyword=None, star=""), *_]) if (
            name in WALKERS
        ):
            return _walked(inner)
        case _:
            return node


def _counts_positions(piece: Piece, clause: cst.For | cst.CompFor) -> bool:
    """Whether a counter of turns is used as an index: what it counts in a copy is no position in the original."""
    counter = clause.target.elements[0].value if isinstance(clause.target, cst.Tuple) else clause.target
    if not isinstance(counter, cst.Name):
        return True
    for node in piece.nodes(clause.body if isinstance(clause, cst.For) else piece.parent(clause)):
        if isinstance(node, cst.Name) and node.value == counter.value:
            inside = next((n for n in piece.parents(node) if isinstance(n, cst.SubscriptElement | cst.Arg)), None)
            if isinstance(inside, cst.SubscriptElement):
                return True
            match piece.parent(inside) if inside is not None else None:
                case cst.Call(func=cst.Attribute(attr=cst.Name(value="pop" | "insert"))):
                    return True
    return False


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression without the parentheses around it, unless they hold lines together."""
    spaces = [*[par.whitespace_after for par in node.lpar], *[par.whitespace_before for par in node.rpar]]
    if len(spaces) != 2 or any(not isinstance(space, cst.SimpleWhitespace) for space in spaces):
        return node
    return node.with_changes(lpar=[], rpar=[])
