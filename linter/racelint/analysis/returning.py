"""What a function may return: the expressions of its return statements."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.model import Block, Branch, Expr, Hold, Jump, Labelled, Loop, Try


def returned(block: Block) -> Iterator[Expr]:
    """The values that a block returns, in the order of the source; what ends without a value is passed over."""
    for stmt in block:
        match stmt:
            case Jump(kind="return", value=value) if value is not None:
                yield value
            case Branch(then=then, orelse=orelse):
                yield from returned(then)
                yield from returned(orelse)
            case Loop(body=body, orelse=orelse):
                yield from returned(body)
                yield from returned(orelse)
            case Hold(body=body) | Labelled(body=body):
                yield from returned(body)
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                for inner in (body, *[handler.body for handler in handlers], orelse, final):
                    yield from returned(inner)
