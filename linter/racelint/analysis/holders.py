"""Fields that always hold what they were given: the objects behind them, as those know them who put them there."""

from __future__ import annotations

from racelint.analysis.paths import rebased, root
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import Cached, Field, Global, Literal, ModuleValue, Param, TypeValue, Value

MOST_PASSED = 12  # calls looked at for what a parameter is given
HOLDER = Param("", 0)  # stands for the object whose field it is


class Holders:
    """Looks into fields; all functions have been evaluated."""

    def __init__(self, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._types = summaries.types
        self._summaries = summaries
        self._stored: dict[tuple[str, str], list[Value]] | None = None

    def held(self, path: Field) -> list[Value]:
        """The objects that a field always holds; none if it sometimes holds something else, or if that is unknown."""
        key = self._key(path)
        if key is None:
            return []
        if self._stored is None:
            self._stored = self._all_stored()
        return [rebased(value, HOLDER, path.base) for value in self._stored.get(key, [])]

    def _all_stored(self) -> dict[tuple[str, str], list[Value]]:
        found: dict[tuple[str, str], dict[Value, None]] = {}
        mixed: set[tuple[str, str]] = set()
        for function_id in self._symbols.functions:
            for path, values in self._summaries.known(function_id).stores.items():
                key = self._key(path) if isinstance(path, Field) and isinstance(path.base, Param) else None
                for value in values if key is not None else ():
                    given = self._given(value)
                    assert key is not None
                    found.setdefault(key, {}).update(dict.fromkeys(given))
                    if not given and not isinstance(value, Literal):
                        mixed.add(key)
        return {key: list(values) for key, values in found.items() if key not in mixed}

    def _key(self, path: Field) -> tuple[str, str] | None:
        owner = self._types.class_of(path.base)
        declared = self._symbols.field(owner, path.name) if owner else None
        return (declared[0], path.name) if declared else None

    def _given(self, value: Value) -> list[Value]:
        """A value in terms that hold outside its function: of the holder, or of what callers pass for a parameter."""
        start = root(value)
        if isinstance(start, Cached | Global | TypeValue | ModuleValue):
            return [value]
        if not isinstance(start, Param):
            return []
        if start.index == 0 and self._symbols.functions[start.function][1].owner:
            return [rebased(value, start, HOLDER)]
        passed = [v for values in self._summaries.usage.passed(start.function, start.index) for v in values]
        known = [v for v in passed[:MOST_PASSED] if isinstance(root(v), Cached | Global | TypeValue)]
        return [rebased(value, start, v) for v in known] if len(known) == len(passed) else []
