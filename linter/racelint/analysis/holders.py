"""Fields and containers that always hold what they were given: the objects behind them, by the paths of the givers."""

from __future__ import annotations

from collections.abc import Callable

from racelint.analysis.paths import rebased, root, uncopied
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import (
    NONE,
    Cached,
    Copy,
    Element,
    Field,
    Fresh,
    Global,
    Literal,
    Member,
    ModuleValue,
    Param,
    TypeValue,
    Unknown,
    Value,
)

MOST_PASSED = 12  # calls looked at for what a parameter is given
LINKS = 3  # calls through which what is put somewhere is followed back
HOLDER = Param("", 0)  # stands for the object whose field it is
Key = tuple[str, str]


class Holders:
    """Looks into fields and containers; all functions have been evaluated."""

    def __init__(self, summaries: Summaries, is_shared: Callable[[Value], bool]) -> None:
        self._symbols = summaries.symbols
        self._types = summaries.types
        self._summaries = summaries
        self._is_shared = is_shared
        self._stored: dict[Key, list[Value]] | None = None
        self._replaced: set[Key] = set()  # containers for which others are put that nobody here has filled
        self._entries: dict[tuple[Key, str], list[Value]] = {}

    def held(self, path: Value) -> list[Value]:
        """The objects that a field or an entry always holds; none if it may hold something else as well."""
        if isinstance(path, Element | Member):
            return self._held_in(uncopied(path.base), "")
        if not isinstance(path, Field):
            return []
        key = self._key(path)
        if key is not None and (stored := self._all_stored().get(key)):
            return [rebased(value, HOLDER, path.base) for value in stored]
        entry = uncopied(path.base)
        return self._held_in(uncopied(entry.base), path.name) if isinstance(entry, Element | Member) else []

    def _held_in(self, container: Value, name: str) -> list[Value]:
        """What the entries of a container are, or what these hold in a field."""
        key = self._key(container)
        if key is None or key not in self._summaries.hints.entries:
            return []
        if (key, name) not in self._entries:
            self._entries[key, name] = []
            self._entries[key, name] = self._all_entries(key, name)
        base = container.base if isinstance(container, Field) else HOLDER
        return [rebased(value, HOLDER, base) for value in self._entries[key, name]]

    def _all_entries(self, key: Key, name: str) -> list[Value]:
        self._all_stored()
        put = self._summaries.hints.entries[key].values()
        if key in self._replaced or not put:
            return []
        found: dict[Value, None] = {}
        for entries in put:
            values = [value for told, value in entries if told == name]
            if not values and any(told == "" and not isinstance(value, Fresh) for told, value in entries):
                return []
            for value in values:
                given = self._given(value, key)
                if not given:
                    return []
                found.update(dict.fromkeys(given))
        return list(found)

    def _all_stored(self) -> dict[Key, list[Value]]:
        if self._stored is not None:
            return self._stored
        found: dict[Key, dict[Value, None]] = {}
        mixed: set[Key] = set()
        for key, value, function_id in self._stores():
            given = self._given(value, key)
            found.setdefault(key, {}).update(dict.fromkeys(given))
            if not given and not isinstance(value, Literal):
                mixed.add(key)
                own = isinstance(value, Copy) and self._key(uncopied(value)) == key
                own = own or (isinstance(value, Unknown) and self._adds_to(function_id, key))
                if not isinstance(value, Fresh) and not own:
                    self._replaced.add(key)
        self._stored = {key: list(values) for key, values in found.items() if key not in mixed}
        return self._stored

    def _adds_to(self, function_id: str, key: Key) -> bool:
        """Whether a function puts entries into a field: in a loop it has another value after each turn."""
        return any(function == function_id for function, _ in self._summaries.hints.entries.get(key, ()))

    def _stores(self) -> list[tuple[Key, Value, str]]:
        """All that is put into fields, by methods and where objects are made, and the functions that do so."""
        found: list[tuple[Key, Value, str]] = []
        for function_id in self._symbols.functions:
            for path, values in self._summaries.known(function_id).stores.items():
                if isinstance(path, Field) and isinstance(path.base, Param) and (key := self._key(path)) is not None:
                    found += [(key, value, function_id) for value in values]
        for key, made in self._summaries.hints.made_with.items():
            found += [(key, value, made_by) for (made_by, _), values in made.items() for value in values]
        return found

    def _key(self, path: Value) -> Key | None:
        if isinstance(path, Global):
            return path.module, path.name
        if not isinstance(path, Field):
            return None
        owner = path.base.type if isinstance(path.base, TypeValue) else self._types.class_of(path.base)
        declared = self._symbols.field_behind(owner, path.name) if owner else None
        return (declared[0], path.name) if declared else None

    def _given(self, value: Value, key: Key, links: int = LINKS) -> list[Value]:
        """A value in terms that hold outside its function: of the holder, or of what callers pass for a parameter."""
        start = root(value)
        if isinstance(start, Cached | Global | TypeValue | ModuleValue):
            return [value]
        if not isinstance(start, Param):
            return []
        if self._is_shared(start):
            return [value]
        if start.index == 0 and (owner := self._symbols.owner_of(start.function)):
            return [rebased(value, start, HOLDER)] if links == LINKS and self._has(owner, key) else [value]
        passed = [v for values in self._summaries.usage.passed(start.function, start.index) for v in values]
        found: list[Value] = []
        for each in passed[:MOST_PASSED] if links > 0 else ():
            given = self._given(each, key, links - 1)
            if not given and each != NONE:
                return []
            found += [rebased(value, start, v) for v in given]
        return found

    def _has(self, owner: str, key: Key) -> bool:
        """Whether a method's object has the field that is meant: others put themselves into what is not theirs."""
        declared = self._symbols.field_behind(owner, key[1])
        return declared is not None and declared[0] == key[0]
