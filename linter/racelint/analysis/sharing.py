"""Changes of objects that may be shared, and what the program says of its caches while its functions are evaluated."""

from __future__ import annotations

from typing import NamedTuple

from racelint.analysis.state import Call
from racelint.analysis.values import Value, Values
from racelint.span import Span

MOST_CHANGES = 24  # kept per summary: one an object
FIELD = "field"  # the type of a literal that is the name of a field
MOST_CONTENTS = 6  # kept per container made in a function


class Change(NamedTuple):
    """An object is changed in place.

    `target` is the object in the terms of the function at hand, `kind` "field" if one of its fields gets another value,
    "content" for its entries; `operation` is what the source says, `names` the fields and variables that it names
    there, `keys` the alternatives of the entry that it is about; `several` says that it may be of other objects, too,
    `through` is what the variable holds by which the source names it, `settled` that it only puts an entry right,
    `fills` that it only gives a value to what had none.
    `calls` leads from the function at hand to the change, outermost first.
    """

    target: Value
    kind: str
    operation: str
    names: tuple[str, ...]
    function: str
    span: Span
    calls: tuple[Call, ...] = ()
    certain: bool = True
    keys: Values = ()
    several: bool = False
    through: Values = ()
    settled: bool = False
    fills: bool = False


class Content(NamedTuple):
    """What an object made here holds: a value, under a key or in a field if that is known; all elements if `spread`."""

    value: Value
    spread: bool = False
    key: Value | None = None


class Registration(NamedTuple):
    """Where a function was registered to be given shared objects."""

    function: str
    span: Span
    method: str


class Hints:
    """Filled in while functions are evaluated; complete when all are."""

    def __init__(self) -> None:
        self.handlers: dict[str, Registration] = {}
        self.watching: set[str] = set()  # functions that call what follows changes elsewhere
        self.filled: dict[tuple[str, str], bool] = {}  # fields with entries; whether those come from outside
        self.entered: dict[tuple[str, str], set[str]] = {}  # what a class puts into its field: "made" there, or "given"
        # What is put into containers that fields and variables hold, and where; with the name of the field of an entry.
        self.entries: dict[tuple[str, str], dict[tuple[str, Span], tuple[tuple[str, Value], ...]]] = {}
        # What fields have where an object is made.
        self.made_with: dict[tuple[str, str], dict[tuple[str, Span], Values]] = {}
        self.kept: dict[tuple[str, str], dict[Value, None]] = {}  # what is put into fields that hold functions
        self.told: dict[tuple[str, str], Registration] = {}  # such fields that are called with shared objects
        self.given_locks: dict[tuple[str, str], Value] = {}  # fields that hold another object's lock, and that lock
        self.exact: set[Span] = set()  # copies that share all fields, whatever the object's class says of copying
