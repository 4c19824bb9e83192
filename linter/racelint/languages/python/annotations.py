"""Python annotations to `TypeRef`."""

from __future__ import annotations

import ast

from racelint.model import TypeRef


def type_ref(node: ast.expr | None) -> TypeRef | None:
    """The type an annotation names; None for what is no type (a call, a number)."""
    match node:
        case ast.Constant(value=None):
            return TypeRef("None")
        case ast.Constant(value=str(text)):
            return _quoted(text)
        case ast.Name(id=name):
            return TypeRef(name)
        case ast.Attribute():
            name = dotted(node)
            return TypeRef(name) if name else None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return TypeRef("Union", _all([left, right]))
        case ast.Subscript(value=value, slice=index):
            base = type_ref(value)
            arguments = index.elts if isinstance(index, ast.Tuple) else [index]
            return TypeRef(base.name, _all(arguments)) if base else None
        case _:
            return None


def _all(nodes: list[ast.expr]) -> tuple[TypeRef, ...]:
    return tuple([type_ref(node) or TypeRef("") for node in nodes])


def _quoted(text: str) -> TypeRef | None:
    try:
        return type_ref(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text; "" if the expression is not a plain dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
