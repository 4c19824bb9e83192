"""Races in the terms of rules and reports: names for people, locations, traces."""

from __future__ import annotations

from dataclasses import dataclass

from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import Access as Spotted
from racelint.analysis.effects import Act
from racelint.analysis.memory import SHAPES
from racelint.analysis.places import ASYNC, FLAG_MARK, SHARED_SIDE, SOME_WAYS, Place, Places
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.state import Call
from racelint.analysis.suspension import CrossedIteration, StaleWrite, is_shift
from racelint.analysis.symbols import Symbols
from racelint.analysis.takeable import Takeable, TakeableLocks
from racelint.finding import Access, Step
from racelint.finding import Context as ContextOf
from racelint.span import Location, Span

KINDS = {
    "test": "test", "lookup": "read", "snapshot": "read", "discard": "remove", "insert": "insert", "remove": "remove",
    "clear": "clear", "append": "append", "setitem": "store item", "reorder": "reorder", "update-item": "update item",
    "use": "use", "hand-out": "return", "alter": "change",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses to one place that may collide.

    `symbol` is the place (`Type.field`, `module:name`). `shape` says how they collide: "resize-iterate",
    "update-update", "update-store", "update-reset", "check-act", "check-use", "lost-wakeup", "replace-change",
    "store-test", "store-store", "state-write", "state-read", "loop-write", "shift-iterate", "count-count",
    "step-step" (counted by constants, for people), "hand-out", "overwritten" (threads), "late" (a constructor
    stores it when it has started who reads it), "missed-call" (a callback is kept when all that are kept have been
    called), "stale-write" and "crossed-iteration" and, of a list, "shifted-iteration" (tasks of one loop, across a
    suspension), "hollow" (behind a lock that protects nothing). `evidence` is "contexts" (two contexts, proven),
    "documented" (two callers, of a type whose documentation says that they may), "admitted" (two callers, of a type
    whose code shows that), "late-lock" (a lock that is made when it is missing), "late-local" (so is a place for
    what each thread has of its own), "guard" (`guard` is held at `held` of `total` accesses), "hollow" (`guard` was
    given back as soon as it was taken) or "suspension". `first` is where the finding stands. `confidence` is 1
    (low) to 3 (high). `check` is where the read stands that an act depends on, None if neither access is one.
    `takeable` is a lock that the first side could take. `said` is where a comment names the guard. `alike` are other
    fields of the type that the same function reads while the same contexts write them.
    """

    symbol: str
    shape: str
    evidence: str
    confidence: int
    location: Location
    function: str
    first: Access
    second: Access
    check: Location | None = None
    guard: str = ""
    held: int = 0
    total: int = 0
    language: str = "python"
    takeable: Takeable | None = None
    said: Location | None = None
    alike: tuple[str, ...] = ()


class Teller:
    """Turns pairs into `Race`s."""

    def __init__(self, symbols: Symbols, contexts: Contexts, places: Places, locks: TakeableLocks) -> None:
        self._symbols = symbols
        self._locks = locks
        self._places = places
        self._contexts = contexts

    def pair(self, pair: Pair) -> Race:
        """A race of threads; it stands at the act of a check, else at the access without a lock, else at a write."""
        first, second = pair.first, pair.second
        if pair.evidence not in ("guard", "hollow", "sent"):
            first, second = _standing(first, second, pair.shape)
        return self._race(pair.place, pair.shape, pair.evidence, pair.confidence, first, second, pair)

    def stale(self, stale: StaleWrite) -> Race:
        """A stale write; it stands at the write."""
        spot = Spot(stale.function, stale.located, stale.act, stale.entry, stale.entry.locks, 0)
        return self._race(stale.place, "stale-write", "suspension", stale.confidence, spot, stale.other, None)

    def crossed(self, crossed: CrossedIteration) -> Race:
        """An iteration across a suspension; it stands at the loop."""
        c = crossed.crossing
        access = Spotted(c.path, "iterate", c.loop, "", c.held, False, False)
        spot = Spot(crossed.function, crossed.located, access, crossed.entry, crossed.entry.locks, 0)
        shape = "shifted-iteration" if is_shift(crossed.other.access) else "crossed-iteration"
        return self._race(crossed.place, shape, "suspension", crossed.confidence, spot, crossed.other, None)

    def _race(
        self, place: Place, shape: str, evidence: str, confidence: int, first: Spot, second: Spot, pair: Pair | None
    ) -> Race:
        source, function = self._symbols.functions[first.function]
        stands = first.access.span
        if pair is not None and isinstance(first.access, Act) and pair.guard and self._acts_under(first, pair.guard):
            stands = first.access.check  # the act has the lock, the check has not
        check = next((s for s in (first, second) if isinstance(s.access, Act)), None)
        return Race(
            symbol=self.symbol(place),
            shape=shape,
            evidence=evidence,
            confidence=confidence,
            location=Location(source.path, stands),
            function=function.qualname,
            first=self.access(first),
            second=self.access(second),
            check=self.location(check.function, check.access.check) if check else None,  # type: ignore[union-attr]
            guard=self.lock(pair.guard) if pair else "",
            held=pair.held if pair else 0,
            total=pair.total if pair else 0,
            language=source.module.language,
            takeable=self._locks.between(place, first, second, pair.guard) if pair else None,
            said=pair.said if pair else None,
            alike=tuple([self.symbol(place) for place in pair.alike]) if pair else (),
        )

    def _acts_under(self, spot: Spot, guard: str) -> bool:
        assert isinstance(spot.access, Act)
        return guard in self._places.locks(spot.access.held)

    def access(self, spot: Spot) -> Access:
        """One side of a race."""
        kind = KINDS.get(spot.access.kind, spot.access.kind)
        context = self._contexts.roots[spot.entry.context]
        return Access(
            role="first",
            kind=kind,
            location=self.location(spot.function, spot.access.span),
            function=self._symbols.functions[spot.function][1].qualname,
            context=self.context(context),
            locks=self.locks(spot.locks),
            trace=self._trace(spot, kind),
        )

    def _trace(self, spot: Spot, note: str) -> tuple[Step, ...]:
        """The calls from a context's root to an access, through the helpers to which a container is given."""
        calls = spot.access.calls if isinstance(spot.access, Spotted) else ()
        if not calls:
            return self.trace(spot.function, spot.entry, spot.access.span, note, spot.locks)
        first, *between = calls[:-1]
        way = self.trace(spot.function, spot.entry, first.span, f"calls {self._qualname(first.callee)}", spot.locks)
        inner = [self._step(call, f"calls {self._qualname(call.callee)}") for call in between]
        return (*way, *inner, self._step(calls[-1], note, self.locks(spot.locks)))

    def _step(self, call: Call, note: str, locks: tuple[str, ...] = ()) -> Step:
        return Step(self.location(call.function, call.span), self._qualname(call.function), note, locks)

    def context_of(self, entry: Entry) -> ContextOf:
        """The context of an entry state."""
        return self.context(self._contexts.roots[entry.context])

    def context(self, context: Context) -> ContextOf:
        """A context, with where it is started."""
        started = self.location(context.starter, context.span) if context.starter and context.span else None
        return ContextOf(context.kind, started)

    def trace(
        self, function: str, entry: Entry, span: Span, note: str, locks: frozenset[str] = frozenset()
    ) -> tuple[Step, ...]:
        """The calls from a context's root to an access, and the access, each with the locks held there."""
        way = self._contexts.way(function, entry)
        locksets = self._contexts.locks_on_way(function, entry)
        names = [caller for caller, _ in way[1:]] + [function]
        steps = [
            Step(self.location(caller, at), self._qualname(caller), f"calls {self._qualname(callee)}", self.locks(held))
            for (caller, at), callee, held in zip(way, names, locksets, strict=True)
        ] if way else []  # fmt: skip
        return (*steps, Step(self.location(function, span), self._qualname(function), note, self.locks(locks)))

    def locks(self, locks: frozenset[str]) -> tuple[str, ...]:
        """Locks as a reader knows them, sorted."""
        return tuple(sorted(self.lock(lock) for lock in locks))

    def location(self, function_id: str, span: Span) -> Location:
        """A span in a function's file."""
        return Location(self._symbols.functions[function_id][0].path, span)

    def _qualname(self, function_id: str) -> str:
        return self._symbols.functions[function_id][1].qualname

    def symbol(self, place: Place) -> str:
        """A place as a reader knows it."""
        levels = "[...]" * place.depth
        owner_name = place.owner.rpartition(":")[2].rpartition(".")[2].lstrip("_")
        name = place.name.removeprefix(f"_{owner_name}") if place.name.startswith(f"_{owner_name}__") else place.name
        owner = place.owner.partition("@")[0]
        if place.kind == "global":
            return f"{owner}:{place.name}{levels}"
        return f"{place.owner.rpartition(':')[2]}.{name}{levels}"

    def lock(self, lock: str) -> str:
        """A lock as a reader knows it."""
        plain = lock.removeprefix(ASYNC).removeprefix(SHARED_SIDE).removeprefix(SOME_WAYS)
        kind = " (read side)" if lock.startswith(SHARED_SIDE) else " (flag)" if plain.startswith(FLAG_MARK) else ""
        kind = " (on some ways)" if lock.startswith(SOME_WAYS) else kind
        return (plain.rpartition(":")[2] or plain.removeprefix(FLAG_MARK) or lock) + kind


def _standing(first: Spot, second: Spot, shape: str) -> tuple[Spot, Spot]:
    """The order of the two sides: an act first, what holds fewer locks, the iteration that fails, the write."""

    def rank(spot: Spot) -> tuple[bool, ...]:
        if shape in SHAPES:
            return not spot.locks, spot.is_write
        if shape == "resize-iterate":
            return not spot.locks, spot.access.kind == "iterate"
        return isinstance(spot.access, Act) and spot.is_write, not spot.locks and spot.is_write, spot.is_write

    return (second, first) if rank(second) > rank(first) else (first, second)
