"""What is drawn of a finding: a lane for each context, with its stops, and the locks held from stop to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from racelint.finding import Access, Finding, Location

READ_SIDE = " (read side)"
NO_STOPS = frozenset({"says", "also", "call"})  # told beside the drawing, or stands on the way already
FIRST, LAST = 2, 2  # stops that are not folded away
FEW = 3  # fewer than these are not worth it
NAMES = {
    "thread": "Thread", "pool": "Pool worker", "task": "Task", "loop": "Callback on the event loop",
    "remote": "Task on the loop's thread", "greenlet": "Greenlet", "handler": "Handler", "goroutine": "Goroutine",
    "decorated": "Call of a decorated function", "listener": "Event handler", "external": "Caller from outside",
    "async external": "Caller's task", "unknown": "Callback", "same": "One context",
}  # fmt: skip
VERBS = {
    "store": "stores", "update": "updates", "update item": "updates an item of", "insert": "inserts into",
    "remove": "removes from", "discard": "removes from", "clear": "empties", "append": "appends to",
    "store item": "stores an item of", "delete": "deletes", "reorder": "reorders", "change": "changes", "read": "reads",
    "return": "hands out", "test": "tests", "iterate": "iterates over", "peek": "looks at",
    "measure": "measures", "wait": "waits for",
    "mutate": "changes", "calls": "calls",
}  # fmt: skip
READS = frozenset({"read", "return", "test", "iterate", "peek", "measure", "wait", "calls"})


@dataclass(frozen=True, slots=True)
class Stop:
    """A point of a lane: where its context is started, a call, or (with `access`) where the place is accessed."""

    location: Location
    function: str
    locks: tuple[str, ...] = ()
    access: Access | None = None
    starts: bool = False

    @property
    def is_write(self) -> bool:
        """Whether the place is changed here."""
        return self.access is not None and not self.is_source and self.access.kind not in READS

    @property
    def verb(self) -> str:
        """What is done to the place here."""
        if self.access is None:
            return ""
        return "takes an object from" if self.is_source else VERBS.get(self.access.kind, self.access.kind)

    @property
    def is_source(self) -> bool:
        """Whether the object that is changed later comes from here; `function` is then what hands it out."""
        return self.access is not None and self.access.role == "source"


@dataclass(frozen=True, slots=True)
class Lane:
    """One context on its way: its stops, the access last, and the locks that are held at any of them."""

    title: str
    stops: tuple[Stop, ...]
    locks: tuple[str, ...]
    through: str = ""  # what lasts from the first access to the last, if that is the point

    @property
    def held(self) -> tuple[str, ...]:
        """The locks held at the access."""
        return self.stops[-1].locks


@dataclass(frozen=True, slots=True)
class Drawing:
    """All lanes. `verdict` is "free" (no lock at all), "apart" (locks, none in common) or "common" (by its name)."""

    lanes: tuple[Lane, ...]
    verdict: str = ""
    common: tuple[str, ...] = ()

    @property
    def locks(self) -> tuple[str, ...]:
        """Every lock that is drawn, without its side, in a fixed order: those in common first."""
        names = {bare(lock): None for lane in self.lanes for lock in lane.locks}
        return (*self.common, *[name for name in names if name not in self.common])


def draw(finding: Finding) -> Drawing:
    """The lanes of a finding: one for each access that has a context, one for all that happen in the same."""
    shown = [access for access in finding.accesses if access.kind not in NO_STOPS]
    alone = [access for access in shown if access.context.kind == "same"]
    lanes = [_lane([access]) for access in shown if access.context.kind != "same"]
    if alone:
        lanes.insert(0, _lane(alone))
    if len(lanes) != 2:
        return Drawing(tuple(lanes))
    first, second = ({bare(lock) for lock in lane.held} for lane in lanes)
    common = tuple(sorted(first & second))
    return Drawing(tuple(lanes), "common" if common else "apart" if first | second else "free", common)


def _lane(accesses: list[Access]) -> Lane:
    context = accesses[0].context
    stops = tuple(_stops(accesses))
    locks = dict.fromkeys(lock for stop in stops for lock in stop.locks)
    title = NAMES.get(context.kind, context.kind)
    return Lane(title, stops, tuple(sorted(locks, key=lambda lock: _first(lock, stops))), _through(accesses))


def _through(accesses: list[Access]) -> str:
    if len(accesses) < 2:
        return ""
    first = accesses[0]
    return "iteration goes on" if first.kind == "iterate" else "no copy on the way" if first.role == "source" else ""


def _stops(accesses: list[Access]) -> Iterator[Stop]:
    started = accesses[0].context.started_at
    if started:
        yield Stop(started, "", starts=True)
    seen = {_spot(access.location, access.function) for access in accesses}
    for access in accesses:
        for step in access.trace:
            spot = _spot(step.location, step.function)
            if spot not in seen:
                seen.add(spot)
                yield Stop(step.location, step.function, step.locks)
        yield Stop(access.location, access.function, access.locks, access)


def _spot(location: Location, function: str) -> tuple[str, int, str]:
    return location.path, location.line, function


def _first(lock: str, stops: tuple[Stop, ...]) -> tuple[int, str]:
    return next(number for number, stop in enumerate(stops) if lock in stop.locks), lock


def fold(way: Sequence[Stop]) -> tuple[int, int]:
    """The longest stretch of calls that can be folded away: no lock is taken in it, and both ends stay in sight."""
    runs = [(0, 0)]
    first = FIRST
    for number in range(FIRST, len(way) - LAST + 1):
        if number == len(way) - LAST or way[number].access or way[number].locks != way[number - 1].locks:
            runs.append((first, number))
            first = number + 1
    longest = max(runs, key=lambda run: run[1] - run[0])
    return longest if longest[1] - longest[0] >= FEW else (0, 0)


def bare(lock: str) -> str:
    """A lock's name, whichever of its sides is held."""
    return lock.removesuffix(READ_SIDE)


def beside(finding: Finding) -> list[Access]:
    """What is told beside the drawing: declarations, and where else the same happens."""
    return [access for access in finding.accesses if access.kind in ("says", "also")]
