"""Locks that an access could take: its place's own object's, unless they may be held already or are taken below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Act, Effects
from racelint.analysis.places import ANY_LOCK, ASYNC, FLAG_MARK, SHARED_SIDE, SOME_WAYS, Place, Places, sides
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.types import LibraryType, Types
from racelint.analysis.values import Global
from racelint.knowledge import Knowledge, LockType
from racelint.span import Location, Span

SURE_KINDS = frozenset({"exclusive", "async"})


@dataclass(frozen=True, slots=True)
class Takeable:
    """A lock to hold over all `places`: a field of the object whose `field` is accessed there, else a variable.

    `avoid` is what must not run under it, for it takes the lock itself. `shared` says that the side which others may
    hold, too, is enough.
    """

    lock: str
    field: str
    places: tuple[Location, ...]
    avoid: tuple[Location, ...]
    shared: bool
    is_async: bool


class TakeableLocks:
    """Finds for an access without a lock the one that it could take."""

    def __init__(
        self, symbols: Symbols, types: Types, knowledge: Knowledge, effects: dict[str, Effects], places: Places,
        contexts: Contexts,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._types = types
        self._rows = knowledge.concurrency.locks
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._takers: dict[str, frozenset[str]] = {}

    def between(self, place: Place, first: Spot, second: Spot, guard: str) -> Takeable | None:
        """The lock of one side that the other one could take: the guard, or the only one that the second side holds."""
        candidates = {guard} if guard else set(sides(second.locks)) or set(second.locks)
        candidates = {lock for lock in candidates if not lock.startswith(SOME_WAYS)}
        if len(candidates) != 1 or first.locks or first is second or not first.located.certain:
            return None
        spans = [first.access.span] + ([first.access.check] if isinstance(first.access, Act) else [])
        return self.over(first.function, place, candidates.pop(), spans, is_write=first.is_write)

    def over(self, function: str, place: Place, lock: str, spans: Iterable[Span], *, is_write: bool) -> Takeable | None:
        """A lock that a function could take around some of its accesses of a place, if it is the place's own."""
        is_async, lock = lock.startswith(ASYNC), lock.removeprefix(ASYNC).removeprefix(SHARED_SIDE)
        names = self._names(function, place, lock)
        if names is None or self._may_be_held(function, lock):
            return None
        row = self._row(place, lock)
        if row is None or row.kind not in SURE_KINDS or (row.kind == "async") != is_async:
            return None
        source = self._symbols.functions[function][0]
        return Takeable(
            *names,
            places=tuple(Location(source.path, span) for span in sorted(set(spans))),
            avoid=tuple(Location(source.path, span) for span in sorted(set(self._taking(function, lock)))),
            shared=bool(row.share) and not is_write,
            is_async=is_async,
        )

    def _names(self, function: str, place: Place, lock: str) -> tuple[str, str] | None:
        """The lock's name, and the field that is accessed: both belong to one object; or both are variables."""
        source, record = self._symbols.functions[function]
        owner, _, name = lock.rpartition(".")
        if record.qualname == MODULE or lock.startswith((FLAG_MARK, ANY_LOCK)):
            return None
        if place.kind == "global":
            module, _, name = lock.partition(":")
            return (name, "") if module == place.owner == source.name and name.isidentifier() else None
        if place.kind != "field" or not self._places.related(owner, place.owner) or owner not in self._symbols.types:
            return None
        field, mine = _unmangled(place.name, place.owner), _unmangled(name, owner)
        private = field.startswith("__") or mine.startswith("__")
        if private and not (self._symbols.owner_of(function) == owner == place.owner):
            return None
        return mine, field

    def _row(self, place: Place, lock: str) -> LockType | None:
        """What is known of the lock's type."""
        if place.kind == "global":
            module, _, name = lock.partition(":")
            found = self._types.of(Global(module, name))
        else:
            owner, _, name = lock.rpartition(".")
            found = self._types.field(owner, name)
        return self._rows.get(found.name) if isinstance(found, LibraryType) else None

    def _may_be_held(self, function: str, lock: str) -> bool:
        """Whether some caller comes with the lock, or with one that nobody knows."""
        entries = self._contexts.entries.get(function, {})
        return any(lock in _plain(entry.locks) or ANY_LOCK in _roots(entry.locks) for entry in entries)

    def _taking(self, function: str, lock: str) -> Iterator[Span]:
        """Where a function holds the lock already, or calls what takes it."""
        effects = self._effects[function]
        for span, held in effects.holds.items():
            if lock in _plain(self._places.locks(held)):
                yield span
        if any(self._places.lock(value) == lock for value in effects.taken):
            for (span, _), accesses in effects.accesses.items():
                if any(lock in _plain(self._places.locks(access.held)) for access in accesses):
                    yield span
        takers = self._takers_of(lock)
        for site in effects.calls.values():
            if not isinstance(site.callee, str) or site.callee in takers:
                yield site.span  # what a variable holds may do anything

    def _takers_of(self, lock: str) -> frozenset[str]:
        """The functions that take a lock, themselves or by what they call."""
        if lock not in self._takers:
            found = {
                function
                for function, effects in self._effects.items()
                if any(self._places.lock(value) in (lock, ANY_LOCK) for value in effects.taken)
            }
            callers: dict[str, set[str]] = {}
            for function, effects in self._effects.items():
                for site in effects.calls.values():
                    if isinstance(site.callee, str):
                        callers.setdefault(site.callee, set()).add(function)
            new = list(found)
            while new:
                for caller in callers.get(new.pop(), ()):
                    if caller not in found:
                        found.add(caller)
                        new.append(caller)
            self._takers[lock] = frozenset(found)
        return self._takers[lock]


def _unmangled(name: str, owner: str) -> str:
    type_name = owner.rpartition(":")[2].rpartition(".")[2].lstrip("_")
    return name.removeprefix(f"_{type_name}") if name.startswith(f"_{type_name}__") else name


def _plain(locks: frozenset[str]) -> set[str]:
    return {lock.removeprefix(ASYNC).removeprefix(SHARED_SIDE) for lock in locks}


def _roots(locks: frozenset[str]) -> set[str]:
    return {lock[:1] for lock in _plain(locks)}
