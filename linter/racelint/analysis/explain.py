"""What the analysis believes at a line. It judges nothing itself: verdicts are those of `Races`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.contexts import Came, Contexts, Entry
from racelint.analysis.declared import Declared as Annotations
from racelint.analysis.describe import Describe
from racelint.analysis.effects import WRITES, Access, Act, Effects
from racelint.analysis.held import HeldLocks
from racelint.analysis.objects import ALIVE, FRESH, MAYBE, OWN, SHARED
from racelint.analysis.places import Place, Places, sides, surely
from racelint.analysis.races import MOST_SPOTS, Races
from racelint.analysis.spots import Pair, Silence, Spot
from racelint.analysis.state import surely_held
from racelint.analysis.symbols import Symbols
from racelint.analysis.told import KINDS, Teller
from racelint.analysis.values import Field, Value
from racelint.explanation import Counterpart, Declared, Explanation, Lock, Part, PlaceAccess, Reach, Verdict
from racelint.finding import Access as Side
from racelint.finding import Confidence, Location
from racelint.finding import Context as ContextOf
from racelint.model import Function

MOST_COUNTERPARTS = 12
MOST_CONTEXTS = 12
INSTANCE = {SHARED: "shared", ALIVE: "alive", OWN: "own", FRESH: "fresh", MAYBE: "unknown"}
# How far a pair came on its way to being a race: of several reasons the last one tells most.
PROGRESS = (
    Silence.UNREACHED, Silence.HARMLESS, Silence.APART, Silence.ORDERED, Silence.UNKNOWN, Silence.OWNED,
    Silence.ONE_CONTEXT, Silence.ONE_LOOP, Silence.CALLERS, Silence.SAME_LOCK,
)  # fmt: skip
REASONS = {
    Silence.HARMLESS: "harmless: each is one step in Python, and neither depends on the other",
    Silence.ONE_CONTEXT: "not parallel: one context does both, and it does not run beside itself",
    Silence.ONE_LOOP: "not parallel: tasks of one event loop switch at suspensions only",
    Silence.CALLERS: "not parallel: callers from outside are taken to call one at a time",
    Silence.OWNED: "owned: each context has an object of its own, or nobody else knows it yet",
    Silence.APART: "two objects: one cannot be the other",
    Silence.ORDERED: "ordered: one ends before the other starts (at import, before the first start, after the join)",
    Silence.UNKNOWN: "unknown: a callback of which nobody knows what runs it",
    Silence.UNREACHED: "no context reaches it",
}
ALONE = {
    Silence.OWNED: "owned: nobody else knows the object yet, or each context has its own",
    Silence.ORDERED: "ordered: it runs at import, or after all that was started has ended",
    Silence.UNKNOWN: "unknown whose it is",
    Silence.UNREACHED: "no context reaches it",
}
Spotted = Access | Act


class _Item(NamedTuple):
    """An access, with the acts that it is a side of."""

    function: str
    path: Value
    kind: str
    all: list[Spotted]

    @property
    def act(self) -> Act | None:
        return next((a for a in self.all if isinstance(a, Act)), None)


class Explainer:
    """Tells what is believed at lines."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts, races: Races,
        teller: Teller, held: HeldLocks, describe: Describe, declared: Annotations,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._races = races
        self._teller = teller
        self._held = held
        self._describe = describe
        self._declared = declared
        self._by_place: dict[Place, list[_Item]] = {}

    def explain(self, path: str, line: int) -> Explanation | None:
        """What is believed at a line; None if the analysis knows nothing of it."""
        parts = tuple(self._part(f, line) for f in self._held.functions(path, line) if self._knows(f, line))
        return Explanation(path, line, parts) if parts else None

    def _knows(self, function_id: str, line: int) -> bool:
        """Whether a function has a statement, an access or its head on a line."""
        function, effects = self._symbols.functions[function_id][1], self._effects[function_id]
        if function.name != "<module>" and line in _head(function):
            return True
        return any(span.line == line for span in effects.holds) or any(_items(function_id, effects, line))

    def _part(self, function_id: str, line: int) -> Part:
        source, function = self._symbols.functions[function_id]
        effects = self._effects[function_id]
        entries = list(self._contexts.entries.get(function_id, {}))
        return Part(
            function=function.qualname,
            location=Location(source.path, function.span),
            is_coroutine=function.is_async,
            suspends=any(span.line == line for span in effects.suspensions),
            contexts=tuple(self._reach(function_id, entry) for entry in entries[:MOST_CONTEXTS]),
            more_contexts=max(0, len(entries) - MOST_CONTEXTS),
            locks=tuple(self._locks(function_id, source.path, line)),
            places=tuple(self._place(item) for item in _items(function_id, effects, line)),
        )

    # --- contexts and locks -------------------------------------------------------------------------------------------

    def _reach(self, function_id: str, entry: Entry) -> Reach:
        context = self._contexts.roots[entry.context]
        span = self._symbols.functions[function_id][1].span
        calls = self._teller.trace(function_id, entry, span, "")[:-1]
        locks = tuple(self._entry_lock(function_id, entry, lock) for lock in surely(entry.locks))
        return Reach(self._teller.context(context), context.many, INSTANCE[entry.receiver], calls, locks)

    def _locks(self, function_id: str, path: str, line: int) -> Iterator[Lock]:
        """What is certainly held when a line starts: by the function itself, then by all its callers."""
        statement = self._held.statement(path, line)
        here = statement is not None and statement.function == function_id
        for held in surely_held(statement.held) if statement is not None and here else ():
            yield Lock(self._held.name(function_id, held), Location(path, held.taken))
        entries = self._contexts.entries.get(function_id)
        for lock in surely(self._held.on_entry(function_id)):
            yield self._entry_lock(function_id, next(iter(entries or ())), lock)

    def _entry_lock(self, function_id: str, entry: Entry, lock: str) -> Lock:
        """A lock held on entry, and the call that is made under it."""
        name, came = self._held.reader_name(function_id, lock), self._contexts.came(function_id, entry)
        while came is not None and lock in came.entry.locks:
            function_id, came = came.caller, self._contexts.came(came.caller, came.entry)
        taken = self._taken(came, lock) if came is not None else None
        required = [told.location for told in self._declared.required.get(function_id, ()) if told.name == lock]
        if came is None or (required and taken is None):
            return Lock(name, None, declared=required[0] if required else None)
        caller = self._symbols.functions[came.caller][1].qualname
        return Lock(name, taken, caller, self._teller.location(came.caller, came.span))

    def _taken(self, came: Came, lock: str) -> Location | None:
        """Where a caller took a lock; None if a decorator of the called function takes it."""
        for site in self._effects[came.caller].calls.values():
            for held in site.held if site.span == came.span else ():
                if lock in self._places.locks((held,)):
                    return self._teller.location(came.caller, held.taken)
        return None

    # --- places -------------------------------------------------------------------------------------------------------

    def _place(self, item: _Item) -> PlaceAccess:
        located = self._places.locate(item.path)
        act = item.act
        counterparts = self._counterparts(located.place, item) if located is not None else []
        return PlaceAccess(
            symbol=self._teller.symbol(located.place) if located else self._describe.symbol(item.path),
            kind=KINDS.get(item.kind, item.kind),
            location=self._teller.location(item.function, item.all[0].span),
            alone=self._alone(item),
            check=self._teller.location(item.function, act.check) if act else None,
            acts=tuple(self._acts(item)),
            suspensions=tuple(self._between(item.function, act)) if act is not None and act.suspended else (),
            counterparts=tuple(counterparts[:MOST_COUNTERPARTS]),
            more=max(0, len(counterparts) - MOST_COUNTERPARTS),
            declared=tuple(self._told_of(located.place)) if located else (),
        )

    def _told_of(self, place: Place) -> Iterator[Declared]:
        """What annotations say of a place."""
        for kind, told in (
            ("guarded_by", self._declared.guard(place)),
            ("confined", self._declared.confinement(place)),
            ("described", self._declared.description(place)),
        ):
            if told is not None:
                yield Declared(kind, told.text, told.location)

    def _alone(self, item: _Item) -> Verdict | None:
        reason = self._spots(item)
        if not isinstance(reason, Silence):
            return None
        if reason is Silence.UNKNOWN and self._places.is_safe(item.path):
            return Verdict("synchronised", "it synchronises itself")
        return Verdict(reason.value, ALONE[reason])

    def _acts(self, item: _Item) -> Iterator[Location]:
        """What depends on a read, where that stands on other lines."""
        check = item.all[0].span.line
        for act in self._effects[item.function].all_acts():
            if act.check.line == check != act.span.line and act.path == item.path:
                yield self._teller.location(item.function, act.span)

    def _between(self, function_id: str, act: Act) -> Iterator[Location]:
        """The suspensions that stand between a check and what depends on it."""
        for span in sorted(self._effects[function_id].suspensions):
            if act.check.line <= span.line <= act.span.end_line:
                yield self._teller.location(function_id, span)

    def _spots(self, item: _Item) -> list[Spot] | Silence:
        found: list[Spot] = []
        reason = Silence.UNREACHED
        for access in item.all:
            spots = self._races.spots_of(item.function, access)
            if isinstance(spots, Silence):
                reason = spots
            else:
                found += spots
        return found or reason

    def _counterparts(self, place: Place, mine: _Item) -> list[Counterpart]:
        """The accesses of a place in other functions, and in this one if they are races; the telling ones first."""
        ranked = []
        for theirs in self._others(place):
            verdict = self._verdict(place, mine, theirs)
            if theirs.function != mine.function or verdict.kind == "race":
                side = self._side(theirs)
                changes = theirs.kind in WRITES
                rank = (verdict.kind != "race", not changes, theirs.kind != "iterate", side.location)
                ranked.append((rank, Counterpart(side, verdict)))
        return [counterpart for _, counterpart in sorted(ranked, key=lambda pair: pair[0])]

    def _others(self, place: Place) -> list[_Item]:
        if not self._by_place:
            for function_id, effects in self._effects.items():
                for item in _items(function_id, effects, None):
                    located = self._places.locate(item.path)
                    if located is not None:
                        self._by_place.setdefault(located.place, []).append(item)
        return self._by_place.get(place, [])[:MOST_SPOTS]

    def _side(self, item: _Item) -> Side:
        spots = self._spots(item)
        if not isinstance(spots, Silence):
            return self._teller.access(spots[0])
        function = self._symbols.functions[item.function][1].qualname
        kind = KINDS.get(item.kind, item.kind)
        location = self._teller.location(item.function, item.all[0].span)
        locks = sorted({self._held.name(item.function, h) for h in item.all[0].held})
        return Side("counterpart", kind, location, function, ContextOf("same"), tuple(locks))

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def _verdict(self, place: Place, mine: _Item, theirs: _Item) -> Verdict:
        first, second = self._spots(mine), self._spots(theirs)
        for spots, whose in ((first, "this access"), (second, "the other access")):
            if isinstance(spots, Silence):
                return Verdict(spots.value, f"{ALONE[spots]} ({whose})")
        assert isinstance(first, list)
        assert isinstance(second, list)
        best: tuple[int, Pair | Silence, Spot, Spot] | None = None
        for one in first:
            for two in second:
                for write, other in ((one, two), (two, one)):
                    judged = self._races.judge(place, write, other) if write.is_write else Silence.HARMLESS
                    rank = PROGRESS.index(judged) if isinstance(judged, Silence) else 100 + judged.confidence
                    if best is None or rank > best[0]:
                        best = (rank, judged, write, other)
        assert best is not None
        return self._told(*best[1:])

    def _told(self, judged: Pair | Silence, one: Spot, two: Spot) -> Verdict:
        if isinstance(judged, Pair):
            named = "" if one.located.certain and two.located.certain else "; the class was found by a name only"
            return Verdict("race", f"{judged.shape}{named}", confidence=Confidence(judged.confidence))
        if judged is Silence.SAME_LOCK:
            common = sorted(self._teller.lock(lock) for lock in sides(one.locks) & sides(two.locks))
            return Verdict(judged.value, f"same lock: both hold {', '.join(common)}" if common else _MAYBE_SAME)
        if judged is Silence.HARMLESS and not (one.is_write or two.is_write):
            return Verdict(judged.value, "harmless: neither changes it")
        if judged is Silence.HARMLESS and self._symbols.is_ordered_by_steps(one.function):
            return Verdict(judged.value, "harmless: what the two touch lies apart in memory")
        return Verdict(judged.value, REASONS[judged] + self._who(judged, one, two))

    def _who(self, judged: Silence, one: Spot, two: Spot) -> str:
        """The contexts that a reason speaks of."""
        if judged not in (Silence.ONE_CONTEXT, Silence.UNKNOWN, Silence.ONE_LOOP):
            return ""
        kinds = sorted({self._contexts.roots[spot.entry.context].kind for spot in (one, two)})
        return f" ({', '.join(kinds)})"


_MAYBE_SAME = "same lock, perhaps: it is not known which lock one of them holds"


def _head(function: Function) -> range:
    """The lines of a function's decorators, and the one behind them."""
    ends = [decorator.span.end_line for decorator in function.decorators if hasattr(decorator, "span")]
    return range(function.span.line, max(ends, default=function.span.line - 1) + 2)


def _items(function_id: str, effects: Effects, line: int | None) -> Iterator[_Item]:
    """The accesses on a line (None: anywhere) by path, place in the text and kind, each with the acts that it is.

    The plain read that leads to another access of the same path on its line is left out, as is that of its method.
    """
    found: dict[tuple[object, ...], _Item] = {}
    for access in effects.all_accesses():
        if line is None or access.span.line == line:
            key = (access.path, access.kind, access.span)
            found.setdefault(key, _Item(function_id, access.path, access.kind, [])).all.append(access)
    for act in effects.all_acts():
        if line is None or act.span.line == line:
            key = (act.path, act.kind, act.span)
            found.setdefault(key, _Item(function_id, act.path, act.kind, [])).all.append(act)
    more = {(item.path, item.all[0].span.line) for item in found.values() if item.kind != "read"}
    for item in found.values():
        paths = (item.path, item.path.base) if isinstance(item.path, Field) else (item.path,)
        if item.kind != "read" or more.isdisjoint((path, item.all[0].span.line) for path in paths):
            yield item


__all__ = ["Explainer"]
