"""Requests in turn: a program that serves itself, and has its server take one request at a time.

`app.run(threaded=False)`, or `opts["threaded"] = False` and `app.run(**opts)`. Another server may run it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import LibraryType
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin
from racelint.knowledge import EntryRow
from racelint.model import Assign, Attr, Build, Call, Const, Expr, Function, Item, Name, Source
from racelint.record import records

NO = Const(False)


class Serving:
    """Answers for rows of library knowledge."""

    def __init__(self, symbols: Symbols, types: Types, servers: Set[str]) -> None:
        self._symbols = symbols
        self._types = types
        self._servers = servers  # modules by which others serve a program, or are told how
        self._known: dict[tuple[tuple[str, ...], str], str] = {}

    def of(self, row: EntryRow) -> str:
        """What takes the requests one at a time, "" if they may overlap: all of the program's servers are told so."""
        key = (row.served, row.overlaps)
        if not row.overlaps:
            return ""
        if key not in self._known:
            alone = self._speaks_of(row.overlaps) and self._are_all_told(row) and not self._is_served_by_others()
            self._known[key] = row.served[0] if alone else ""
        return self._known[key]

    def _speaks_of(self, option: str) -> bool:
        return any(option in source.module.words.split() for source in self._reported())

    def _reported(self) -> Iterator[Source]:
        return (source for source in self._symbols.sources.values() if source.reported)

    def _are_all_told(self, row: EntryRow) -> bool:
        told = [
            _is_off(call, row.overlaps, function)
            for function_id, (source, function) in self._symbols.functions.items()
            if source.reported
            for call in records(function.body)
            if isinstance(call, Call) and self._serves(call, row, function_id)
        ]
        return bool(told) and all(told)

    def _serves(self, call: Call, row: EntryRow, function_id: str) -> bool:
        named = call.func
        last = named.name if isinstance(named, Attr | Name) else ""
        if not any(name.rpartition(".")[2] == last for name in row.served):
            return False
        found = self._symbols.static(function_id.partition(":")[0], named)
        if isinstance(found, Builtin):
            return found.name in row.served
        owner = self._types.expressions.of(function_id, named.base) if isinstance(named, Attr) else None
        return isinstance(owner, LibraryType) and f"{owner.name}.{last}" in row.served

    def _is_served_by_others(self) -> bool:
        """Whether a module of the program uses another server, or has the name of one that is there for it."""
        for source in self._reported():
            if source.name.rpartition(".")[2] in self._servers:
                return True
            for imported in source.module.loads:
                name = imported.module if imported.name is None else f"{imported.module}.{imported.name}"
                if not imported.level and any(f"{name}.".startswith(f"{server}.") for server in self._servers):
                    return True
        return False


def _is_off(call: Call, option: str, function: Function) -> bool:
    """Whether a call turns an option off by its name, or by what an entry of a mapping says that it spreads."""
    given = dict(call.keywords)
    if option in given:
        return given[option] == NO
    spread = [value for name, value in call.keywords if not name]
    return any(_said_by(value, option, function) for value in spread)


def _said_by(mapping: Expr, option: str, function: Function) -> bool:
    """Whether every entry of that name in a mapping, as far as the function itself makes it, says no."""
    values = list(_in_display(mapping, option))
    for node in records(function.body) if isinstance(mapping, Name) else ():
        match node:
            case Assign(targets=targets, value=value):
                entries = [each for each in targets if isinstance(each, Item) and each.key == Const(option)]
                values += [value for each in entries if _is_same(each.base, mapping)]
                values += _in_display(value, option) if any(_is_same(each, mapping) for each in targets) else ()
            case _:
                pass
    return bool(values) and all(value == NO for value in values)


def _is_same(expr: Expr, variable: Expr) -> bool:
    return isinstance(expr, Name) and isinstance(variable, Name) and expr.name == variable.name


def _in_display(value: Expr, option: str) -> Iterator[Expr]:
    """What a display, or a call that makes a dict, has under a name."""
    match value:
        case Build(kind="dict", keys=keys, parts=parts):
            yield from (part for key, part in zip(keys, parts, strict=True) if key == Const(option))
        case Call(func=Name(name="dict"), keywords=keywords):
            yield from (part for name, part in keywords if name == option)
        case _:
            pass
