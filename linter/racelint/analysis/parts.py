"""Parts of objects that nobody else has yet: what a class makes for itself, is given when it is made, or finds.

`Report(rows)` made in a request handler is the handler's own, and so is the table that its constructor makes; the rows
are whoever's they were before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from racelint.analysis.objects import FRESH, MAYBE, SHARED
from racelint.analysis.paths import prefixes
from racelint.analysis.values import (
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Literal,
    Member,
    Param,
    Result,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

LINKS = 6  # calls through which what an object is given is followed back
RESTORING = frozenset({"__setstate__"})  # what was pickled is another object than the one that was
Key = tuple[str, str]  # the class that declares a field, and the field's name


class Parts:
    """Answers what lies in the fields of an object of which nobody else knows; all functions have been evaluated."""

    def __init__(self, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._types = summaries.types
        self._summaries = summaries
        self._held: dict[Key, set[Value]] | None = None  # what fields are given
        self._entries: dict[Key, set[Value]] = defaultdict(set)  # what is put into the containers there
        self._known: dict[tuple[Key, bool], int] = {}

    def of(self, path: Value, whole: int) -> int:
        """What an object in a part of a method's own instance is to the context that has that instance.

        Shared, if somebody else has put it there; unknown, if it cannot be told where it comes from.
        """
        steps = prefixes(path)
        if whole not in (FRESH, MAYBE) or not self._symbols.is_instance(steps[0]):
            return SHARED
        found = whole
        for step in steps[1:]:
            found = max(found, self._step(step))
        return found

    def _step(self, step: Value) -> int:
        if isinstance(step, Field):
            key = self._key(step)
            return SHARED if key is None else self._part(key, entries=False)
        if isinstance(step, Element | Member) and isinstance(step.base, Field):
            key = self._key(step.base)
            return SHARED if key is None else self._part(key, entries=True)
        return SHARED

    def _key(self, path: Field) -> Key | None:
        owner = self._types.class_of(path.base)
        declared = self._symbols.field(owner, path.name) if owner else None
        return (declared[0], path.name) if declared else None

    def _part(self, key: Key, *, entries: bool) -> int:
        if (key, entries) not in self._known:
            self._known[key, entries] = MAYBE  # what a part holds of itself says nothing
            self._known[key, entries] = self._judge(key, entries=entries)
        return self._known[key, entries]

    def _judge(self, key: Key, *, entries: bool) -> int:
        """Of entries it is not known whether all that puts them there was seen."""
        held = self._all_held()
        if key[1] in self._symbols.stored_from_outside or key not in held:
            return SHARED
        if entries:
            return max([MAYBE, *[self._whose(value) for value in self._entries.get(key, ())]])
        return max([self._whose(value) for value in held[key]])

    def _whose(self, value: Value, links: int = LINKS, *, own: bool = True) -> int:
        """Whose an object is that is put into a field; `own` says that it is named by a method of the same object."""
        match value:
            case Fresh() | Literal() | FunctionValue() | Copy():
                return FRESH
            case Result() | Unknown():
                return MAYBE
            case Param() if not self._symbols.is_instance(value) and links > 0:
                given = [self._whose(each, links - 1, own=own and itself) for each, itself in self._given(value)]
                return max([MAYBE, *given])
            case Field() | Element() | Member() if own:
                return self.of(value, FRESH)
            case _:
                return SHARED

    def _given(self, parameter: Param) -> Iterator[tuple[Value, bool]]:
        """What is given for a parameter, and whether a method gives that to one of the same object."""
        for caller, arguments in self._summaries.usage.given(parameter.function):
            if parameter.index < len(arguments) and not self._restores(caller):
                itself = arguments[0] == (Param(caller, 0),) and self._symbols.is_instance(Param(caller, 0))
                yield from [(value, itself) for value in arguments[parameter.index]]

    def _restores(self, function_id: str) -> bool:
        return self._symbols.functions[function_id][1].name in RESTORING

    def _all_held(self) -> dict[Key, set[Value]]:
        if self._held is not None:
            return self._held
        self._held = defaultdict(set)
        for function_id in self._symbols.functions:
            if self._restores(function_id):
                continue
            summary = self._summaries.known(function_id)
            for path, values in summary.stores.items():
                self._note(path, values)
            for resize in summary.resizes:
                self._note(Element(resize.container, Literal(0, "int")), resize.added)
        return self._held

    def _note(self, path: Value, values: tuple[Value, ...]) -> None:
        table = self._held
        if isinstance(path, Element | Member):
            path, table = path.base, self._entries
        if isinstance(path, Field) and isinstance(path.base, Param) and (key := self._key(path)) is not None:
            assert table is not None
            table[key].update([value for value in values if value != path])
