"""What a rule reports: findings with both sides of the bug, in records that every reporter understands."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

from racelint.span import Location, Span


class Severity(enum.IntEnum):
    """How bad the bug is if the finding is right."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The name used on the command line and in reports: note, warning, error."""
        return self.name.lower()


class Confidence(enum.IntEnum):
    """How sure the analysis is; the weakest link of its evidence."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def label(self) -> str:
        """The name used on the command line and in reports: low, medium, high."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way from where a context starts (or a loop stands) to an access, with the locks held there."""

    location: Location
    function: str
    note: str = ""
    locks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What runs: a thread, a task, a callback ("same" for code that needs no second context)."""

    kind: str
    started_at: Location | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """One side of a bug: who touches the place, where, how, holding which locks, and by which calls it got there."""

    role: str
    kind: str
    location: Location
    function: str
    context: Context = Context("same")
    locks: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding together; an unsafe one may change what the program means."""

    description: str
    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would mend a finding, in words that no language owns; the front end makes the edits.

    `kind` is "snapshot" (iterate over a copy: `places` has the loop), "deep-copy" (of a shared object: `places` has the
    change, and before it where the object comes from, if the function gets hold of it by an expression) or "hold" (a
    lock over all `places`, and over nothing in `avoid`). `lock` is the lock's name: a field of the object whose
    `field` is accessed there, or a variable if `field` is "". `shared` says that its shared side is enough,
    `is_async` that it excludes tasks and no threads. A remedy that may change what a correct program does is not
    `safe`.
    """

    kind: Literal["snapshot", "deep-copy", "hold"]
    places: tuple[Location, ...]
    lock: str = ""
    field: str = ""
    shared: bool = False
    is_async: bool = False
    avoid: tuple[Location, ...] = ()
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One bug: where it is reported, what collides, why, what goes wrong and how to mend it.

    `symbol` is the place or container (`Type.field`, `module:name` or the expression itself), `function` the qualified
    name of the function that contains `location`. `because`, `harm` and `mend` are one sentence each. A rule that knows
    what would mend the bug says so by `remedy`, or by `fix` if it knows the very edits.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    location: Location
    message: str
    symbol: str
    function: str
    accesses: tuple[Access, ...] = ()
    because: str = ""
    harm: str = ""
    mend: str = ""
    fix: Fix | None = None
    remedy: Remedy | None = None


@dataclass(frozen=True, slots=True)
class SourceError:
    """A file (or a part of the run) that could not be analysed; the rest was."""

    kind: str
    path: str
    message: str
    line: int = 0
    column: int = 0


__all__ = [
    "Access",
    "Confidence",
    "Context",
    "Edit",
    "Finding",
    "Fix",
    "Location",
    "Remedy",
    "Severity",
    "SourceError",
    "Span",
    "Step",
]
