"""What a rule reports: findings with both sides of the bug, in records that every reporter understands."""

from __future__ import annotations

import enum
from dataclasses import dataclass

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
class Finding:
    """One bug: where it is reported, what collides, why, what goes wrong and how to mend it.

    `symbol` is the place or container (`Type.field`, `module:name` or the expression itself), `function` the qualified
    name of the function that contains `location`. `because`, `harm` and `mend` are one sentence each.
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
    "Severity",
    "SourceError",
    "Span",
    "Step",
]
