"""What a file says of how it is run and installed: its main code, and the `package_dir` of a `setup.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racelint.model import Assign, Block, Branch, Build, Call, Const, Expr, Name, Op
from racelint.record import records
from racelint.span import Span

PACKAGES = "package_dir"


def main_code(body: Block) -> Span | None:
    """Where a module calls something if it is run as a program: `if __name__ == "__main__": main()`."""
    for stmt in body:
        match stmt:
            case Branch(test=Op(operator="==", operands=(Name(name="__name__"), Const(value="__main__")))):
                if not any(isinstance(part, Call) for part in records(stmt.then)):
                    return None
                end = stmt.orelse[0].span[:2] if stmt.orelse else stmt.span[2:]
                return Span(*stmt.span[:2], *end)
    return None


def installs(bodies: Iterable[Block]) -> tuple[tuple[str, str], ...]:
    """Pairs of a package and its folder, out of a dict that is written down for setuptools."""
    found: list[tuple[str, str]] = []
    for node in records(tuple(bodies)):
        match node:
            case Assign(targets=(Name(name=name),), value=value) if name == PACKAGES:
                found += _pairs(value)
            case Call(keywords=keywords):
                found += _pairs(dict(keywords).get(PACKAGES))
            case _:
                pass
    return tuple(found)


def _pairs(value: Expr | None) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Build) or value.kind != "dict":
        return
    for key, part in zip(value.keys, value.parts, strict=True):
        match key, part:
            case Const(value=str() as name), Const(value=str() as folder) if name:
                yield name, folder
            case _:
                pass
