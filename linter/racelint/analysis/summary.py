"""What a call of a function does, as its callers see it, and the records that it is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from racelint.analysis.effects import Start
from racelint.analysis.failing import Done, Outcome
from racelint.analysis.sharing import Change, Content
from racelint.analysis.state import Call, Conditions, Event, Held, Invoke, Pending, Resize
from racelint.analysis.values import NOTHING_KNOWN, Param, Site, Value, Values
from racelint.model import Block, Expr
from racelint.span import Span


class Place(NamedTuple):
    """A span in a function, by id; of a loop also what it iterates, and how.

    `repeated` says that another pass follows, `sweep` that it does nothing with elements that do not pass a test. It
    goes on only if what it calls has `answered` so ("" if whatever it has).
    """

    function: str
    span: Span
    iterable: Expr | None = None
    style: str = "direct"
    repeated: bool = False
    sweep: bool = False
    answered: str = ""

    def goes_on_after(self, answer: str) -> bool:
        """Whether a loop goes on when what it calls returns this ("" if that is no constant)."""
        return not (self.answered and answer) or self.answered == answer


class Conflict(NamedTuple):
    """A container that is resized while an iteration over it goes on.

    `style` is how it is iterated: "direct", "keys", "values", "items", "reversed", "generator" or "call" (a library
    function, or one of the project's, that calls back while it iterates). `kind` is the container's behaviour or
    "unknown". `repeated` says that an enclosing loop goes on until the container is as it wants it. `registered` is
    where a callback that makes the change was put into the container. `doubtful` says that container and change are
    mostly not about the same object, or not in the same run. `leaves` says that what the loop calls may make the
    change: `registered` is where callers put it in, `resize` where they can take it out. The conflict stands at the
    change if the loop's function makes it, else at the call in the loop that leads to it.
    """

    loop: Place
    stands: Place
    container: Value
    kind: str
    style: str
    resize: Resize
    registered: Place | None = None
    repeated: bool = False
    doubtful: bool = False
    leaves: bool = False


def functions_of(conflict: Conflict) -> set[str]:
    """The functions of the program without which a conflict cannot be: of the loop, of the change, and of the way in.

    A way in or out that is offered to callbacks is for users to call.
    """
    registered = (conflict.registered.function,) if conflict.registered is not None else ()
    return {conflict.loop.function, *(() if conflict.leaves else (conflict.resize.function, *registered))}


Stored: TypeAlias = Expr | int | None  # what is put into a flag: an expression, or one of a helper's arguments


class Ask(NamedTuple):
    """What a call says of a flag, by the library's function that asks for it.

    `outcome` is the result where the flag was found set, `stored` what is put there; `both` says that the other result
    says that it was not.
    """

    name: str
    flag: Value
    stored: Stored
    outcome: bool
    both: bool = True


class Touch(NamedTuple):
    """An access of what is in a container that the caller gives, or that lies in one.

    `held` are the function's own locks, `calls` lead to the access, which is the last of them.
    """

    path: Value
    kind: str
    detail: str
    held: tuple[Held, ...]
    calls: tuple[Call, ...]


@dataclass
class Summary:
    """What a call of a function does, in terms of its parameters, captured variables and globals.

    `stores` are paths that have other values on return, `streams` the containers that a generator iterates while its
    consumer runs, `yields` what it yields, `rounds` says that it starts over until they are as it wants. `invokes` are
    the calls of values that the caller knows, with the containers being iterated meanwhile and by which loops, `kept`
    the parameters that are handed on, `answers` what is always returned after a change. A constructor's `aliases` maps
    (field, field of that field's object) to another field that holds the same object: `self.store = s; self.service
    = Service(s)`. `falls_through` is false for a function that never returns. `acquires` are locks still held on
    return, `flags` the flags that it has set to keep others out, with their kinds, `lowers` those that it may have
    set back, `releases` the locks of the caller that it may give back for good, `yields_held` those held at every
    yield. `suspends` says that other tasks may run meanwhile, `starts_any` that it starts something, `joins` that
    it waits for a thread, `told` what it surely does with channels and groups, of which `renewed` have new members;
    `starts` are callables of the caller that it starts, `checked` the paths that it tests
    itself. `changes` are the objects that it changes in place, `contents` what lies in the containers that it has
    made and returns, `reworked` the shallow copies that it changes itself, `saved` what it has saved, and where last,
    `owned` the fields of objects that it has made and returns which hold others that it has made and nobody else knows,
    `parts` those that others may know, too,
    `asks` what its result says of flags, `launches` the parameters
    of which it makes the object call what was registered with it, `sends` those that it sends over a channel, `begins`
    the callables of the caller that run in what it starts, with what they are given there, `taken_out` what it returns
    that came out of a channel, `passes` what it puts into channels of the caller, `disclosed` the parameters that what
    it starts knows, `returned_if` what it returns where something holds of its parameters,
    `ends_unless_failed` that what it has started has ended if its last result is nothing, `told_if` what it has surely
    done with channels then, or where its answer is so, `closes` the channels that it may close itself, `last_words`
    those to which it gives something as the last thing that it does, `closed_last` those that it surely closes then.
    """

    returns: Values = NOTHING_KNOWN
    resizes: dict[Resize, Conditions] = field(default_factory=dict)
    stores: dict[Value, Values] = field(default_factory=dict)
    invokes: dict[Invoke, tuple[tuple[Value, Place], ...]] = field(default_factory=dict)
    streams: tuple[Value, ...] = ()
    yields: Values = ()
    rounds: bool = False
    kept: set[Value] = field(default_factory=set)
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)
    falls_through: bool = True
    conflicts: dict[Conflict, None] = field(default_factory=dict)
    answers: dict[Resize, str] = field(default_factory=dict)
    acquires: tuple[Value, ...] = ()
    may_acquire: tuple[Value, ...] = ()  # locks that it has taken on some of its ways, and keeps
    flags: tuple[tuple[Value, str], ...] = ()
    lowers: dict[Value, None] = field(default_factory=dict)
    releases: frozenset[Value] = frozenset()
    yields_held: tuple[Value, ...] | None = None
    suspends: bool = False
    starts: dict[Start, None] = field(default_factory=dict)
    starts_any: bool = False
    joins: int = 0
    told: frozenset[tuple[str, Value]] = frozenset()
    renewed: set[Value] = field(default_factory=set)
    checked: frozenset[Value] = frozenset()
    changes: dict[tuple[Value, str, str], tuple[Change, Conditions]] = field(default_factory=dict)
    contents: dict[Value, tuple[Content, ...]] = field(default_factory=dict)
    reworked: set[Value] = field(default_factory=set)
    saved: dict[Value, Span] = field(default_factory=dict)
    owned: dict[Value, frozenset[str]] = field(default_factory=dict)
    parts: dict[Value, frozenset[str]] = field(default_factory=dict)
    asks: tuple[Ask, ...] = ()
    touches: dict[Touch, Conditions] = field(default_factory=dict)
    launches: set[Param] = field(default_factory=set)
    sends: set[Param] = field(default_factory=set)
    begins: dict[tuple[Value, tuple[Values, ...]], None] = field(default_factory=dict)
    taken_out: dict[Value, Value] = field(default_factory=dict)
    passes: dict[tuple[Value, Value], None] = field(default_factory=dict)
    disclosed: set[Param] = field(default_factory=set)
    returned_if: dict[Conditions, Values] = field(default_factory=dict)
    ends_unless_failed: bool = False
    told_if: dict[Outcome, Done] = field(default_factory=dict)
    closes: frozenset[Value] = frozenset()
    last_words: frozenset[Value] = frozenset()
    closed_last: frozenset[Value] = frozenset()


@dataclass
class Frame:
    """A loop, or a set of context managers, while its body is walked."""

    values: Values = ()
    iterated: tuple[tuple[Value, str], ...] = ()
    elements: Values = ()  # what a turn has at hand (Go): known by what was put in, if the loop's function filled it
    site: Site | None = None
    outer: dict[Event, frozenset[tuple[str, Value]]] = field(default_factory=dict)
    seen: Pending = field(default_factory=dict)
    turns: int = 0
    watched: Values = ()  # what the test of a while loop looks at
    assigns: frozenset[str] = frozenset()  # the variables that get other values in a turn
    body: Block = ()  # of a loop
    targets: tuple[Expr, ...] = ()  # that a for loop gives values
    decides: frozenset[str] = frozenset()  # the variables on which it hangs whether a while loop goes on
    endless: bool = False  # a while loop that goes on until it is left
    single: bool = False  # a counting loop of one turn
    once: bool = False  # the consumer takes one element and drops the iterator
    loop: Span | None = None
    channels: Values = ()  # that are walked until they are closed
    taken: tuple[Held, ...] = ()  # locks of what each turn is about, which it has left taken
    suspended: bool = False  # other tasks may run in a turn
    waited: bool = False  # they may have run before the loop
    joined: int = 0  # what each turn has waited for
    running: frozenset[Span] | None = None  # what may still run after a turn
    held: tuple[Held, ...] = ()  # before context managers were entered
    guarded: int = 0  # the try bodies with handlers around it
    managers: tuple[tuple[str, Value, Span], ...] = ()  # of the project: what leaving them calls, and where they stand
