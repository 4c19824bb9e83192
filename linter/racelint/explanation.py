"""What the analysis believes at one line, in records that reporters understand."""

from __future__ import annotations

from dataclasses import dataclass

from racelint.finding import Access, Confidence, Context, Location, Severity, Step


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held: where it was taken, and by which caller's call if it is held on entry ("" if not).

    `declared` is where an annotation says that callers hold it.
    """

    name: str
    taken: Location | None
    caller: str = ""
    call: Location | None = None
    declared: Location | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """One way in which a function is reached: the context, whether several of it run at once, calls, locks on entry.

    `instance` says whose the method's own object is there: "shared", "own" (each context has one), "fresh", "unknown",
    or "alive" (its own, and of what it has started).
    """

    context: Context
    many: bool
    instance: str
    trace: tuple[Step, ...]
    locks: tuple[Lock, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two accesses are a race, and why (not).

    `kind` is "reported", "hidden", "race" (of a place whose one finding stands elsewhere), or why it is none: one of
    the values of `racelint.analysis.races.Silence`.
    """

    kind: str
    text: str
    rule: str = ""
    severity: Severity | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Counterpart:
    """An access of the same place elsewhere."""

    access: Access
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Declared:
    """What an annotation says of a place: "guarded_by" a lock or "confined" to a context, as written, and where."""

    kind: str
    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class PlaceAccess:
    """One access on the line. `symbol` is the place; `alone` says why it is compared with no other, if it is not.

    `check` is where the read stands that it depends on, `suspensions` where other tasks may run in between; `acts` are
    what depends on it. The most relevant `counterparts` are listed, `more` are not. `declared` are the annotations.
    """

    symbol: str
    kind: str
    location: Location
    alone: Verdict | None
    check: Location | None
    acts: tuple[Location, ...]
    suspensions: tuple[Location, ...]
    counterparts: tuple[Counterpart, ...]
    more: int = 0
    declared: tuple[Declared, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of one function that has something on the line (a lambda shares its line with another one).

    `suspends` says that other tasks may run at the line.
    """

    function: str
    location: Location
    is_coroutine: bool
    suspends: bool
    contexts: tuple[Reach, ...]
    more_contexts: int
    locks: tuple[Lock, ...]
    places: tuple[PlaceAccess, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A finding that concerns the line; `status` is "shown", "hidden" or "silenced" (by a comment)."""

    rule: str
    severity: Severity
    confidence: Confidence
    location: Location
    symbol: str
    message: str
    status: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of a line."""

    path: str
    line: int
    parts: tuple[Part, ...]
    findings: tuple[Told, ...] = ()
