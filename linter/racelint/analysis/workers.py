"""Pools of one worker: what they run comes one after the other, however many hand it in."""

from __future__ import annotations

from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin
from racelint.model import Call, Const, Expr, Name

LINKS = 3  # from a name to the number that it stands for


def has_one_worker(call: Call, symbols: Symbols, settings: frozenset[str], module: str) -> bool:
    """Whether a call makes a pool with one worker: by a number, or by one that is a setting's default."""
    given = [*[value for name, value in call.keywords if name == "max_workers"], *call.args[:1]]
    return any([_is_one(value, symbols, settings, module, LINKS) for value in given])


def _is_one(value: Expr, symbols: Symbols, settings: frozenset[str], module: str, links: int) -> bool:
    match value:
        case Const(value=number):
            return number in (1, "1") and number is not True
        case Name(name=name, scope="global") if links:
            record = symbols.content(module).globals.get(name)
            bound = [assigned.value for assigned in record.values] if record is not None else []
            return bool(bound) and all([_is_one(each, symbols, settings, module, links - 1) for each in bound])
        case Call(func=Name(name="int"), args=(inner,)) if links:
            return _is_one(inner, symbols, settings, module, links - 1)
        case Call(func=func, args=(_, default)):
            found = symbols.static(module, func)
            return (
                isinstance(found, Builtin) and found.name in settings and _is_one(default, symbols, settings, module, 0)
            )
        case _:
            return False
