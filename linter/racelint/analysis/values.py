"""Abstract values: what an expression may stand for, said in terms that a caller can substitute.

A value is an access path (a root and at most `DEPTH` steps), something fresh, a function, or a live or copied form of
another value. Two equal values are the same object in one activation of a function: that is the alias analysis.
A variable holds a small tuple of alternatives (`Values`); more than `WIDTH` of them become unknown.
"""

from __future__ import annotations

from typing import TypeAlias

from racelint.model import Scalar
from racelint.record import Record
from racelint.span import Span

DEPTH = 8
WIDTH = 4


class Site(Record):
    """A place in a function that makes values; for what a callee made, the call, and where in the callee (`origin`)."""

    function: str
    span: Span
    origin: Span | None = None


class Unknown(Record):
    """Nothing is known; never the same as anything, itself included (`same` says so)."""

    tag: str = "?"


NAMED = "name of"  # the type of a literal that stands for what another package has by a name


class Literal(Record):
    """A scalar constant."""

    value: Scalar
    type: str


class Param(Record):
    """The value a parameter had on entry."""

    function: str
    index: int


class Captured(Record):
    """A variable of an enclosing function, seen from a nested one."""

    function: str
    name: str


class Global(Record):
    """A module's variable."""

    module: str
    name: str


class Builtin(Record):
    """Something outside the analysed sources, by dotted name: `sorted`, `collections.deque`."""

    name: str


class FunctionValue(Record):
    """A function of the project, bound to a receiver if it is a method value."""

    function: str
    receiver: Value | None = None


class TypeValue(Record):
    """A class of the project, as a value."""

    type: str


class ModuleValue(Record):
    """A module of the project, as a value."""

    module: str


class Partial(Record):
    """A callable with arguments already given."""

    callee: Value
    args: tuple[Values, ...]
    keywords: tuple[tuple[str, Values], ...]


class Field(Record):
    """`base.name` as it was on entry."""

    base: Value
    name: str


class Element(Record):
    """`base[key]` as it was on entry."""

    base: Value
    key: Value


class Member(Record):
    """The key (or the element of a set) at which an iteration over `base` stands; `site` is the loop."""

    base: Value
    site: Site


class Fresh(Record):
    """An object made here: a container display, a constructor call. `type` is a library type or a project class."""

    type: str
    site: Site


class Tuple(Record):
    """An immutable sequence with known parts."""

    parts: tuple[Values, ...]


class Copy(Record):
    """A fresh container of `type` with the elements of `base` (a shallow copy, a snapshot)."""

    base: Value
    type: str
    site: Site


class View(Record):
    """A live view of a mapping: "keys", "values" or "items"."""

    base: Value
    kind: str


class Seen(Record):
    """An object that is known by a wider type, taken for one of `type`: the same object."""

    base: Value
    type: str


class Lazy(Record):
    """An iterator that reads `bases` while it is consumed: "iter", "enumerate", "zip", "map", "generator"...

    `elements` are what a generator yields, if it is known.
    """

    kind: str
    bases: tuple[Value, ...]
    elements: tuple[Value, ...] = ()


class Result(Record):
    """What a call that cannot be resolved returned; `type` is the declared type, "" if unknown."""

    site: Site
    type: str = ""


class Cached(Record):
    """An object that others hold too: what a cache, or a function that remembers its results, hands out.

    `source` says whose it is: the id of the project's function that remembers it, or the library's name for the call.
    """

    source: str
    site: Site
    type: str = ""


Value: TypeAlias = (
    Unknown
    | Literal
    | Param
    | Captured
    | Global
    | Builtin
    | FunctionValue
    | TypeValue
    | ModuleValue
    | Partial
    | Field
    | Element
    | Member
    | Fresh
    | Tuple
    | Copy
    | View
    | Lazy
    | Result
    | Cached
    | Seen
)
Values: TypeAlias = tuple[Value, ...]

UNKNOWN = Unknown()
NOTHING_KNOWN: Values = (UNKNOWN,)
NONE = Literal(None, "None")
