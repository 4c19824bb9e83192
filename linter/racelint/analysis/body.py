"""What the parts of the evaluator share: the function at hand, the program around it, and what is recorded."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis import counting, lastwords
from racelint.analysis.branching import blocks, ends_with, raises_behind
from racelint.analysis.cancelling import Cancelling
from racelint.analysis.effects import CALLABLE, CHOSEN, CONTENT, IN_PLACE, MEASURED, TOLD, Access, Effects, Start
from racelint.analysis.existence import tied
from racelint.analysis.failing import Done, Ends, Variable
from racelint.analysis.flow import Flow
from racelint.analysis.paths import (
    Substitute,
    depth,
    element,
    is_seen,
    one_of,
    prefixes,
    repacked,
    root,
    underlying,
    unite,
)
from racelint.analysis.pipes import Pipes
from racelint.analysis.sharing import FIELD, Content
from racelint.analysis.state import (
    ALWAYS,
    CLOSED,
    DONE,
    ENDED,
    FLAG,
    FLAGS,
    GIVES,
    IDENTIFYING,
    LOCAL,
    MAYBE_HELD,
    NOBODY,
    OF_GROUPS,
    OUT,
    TAKE,
    WAIT,
    Conditions,
    Held,
    Resize,
    State,
    held_in_any,
    surely_held,
)
from racelint.analysis.summary import Ask, Frame, Place, Summary
from racelint.analysis.sweeps import swaps_in_last
from racelint.analysis.vacancy import is_vacant, vacant_unless
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Partial,
    Result,
    Site,
    Tuple,
    TypeValue,
    Value,
    Values,
)
from racelint.model import Block, Branch, Const, Expr, Function, Hold, Jump, Op, Source
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries
    from racelint.analysis.type_names import TypeOf

Keywords: TypeAlias = tuple[tuple[str, Values], ...]
MOST_EVENTS = 48  # kept per summary; more would only repeat the same story
MOST_WAYS = 8  # of returning, by what holds of the parameters, that are told apart
MOST_STORES = 24
MOST_INVOKES = 12
MOST_FIELDS = 12  # of an object that is returned
NESTED = 3  # containers made here that lie in each other
MOST_CALLBACKS = 2  # callbacks run inside callbacks: a function can be handed to itself
STORE_DEPTH = 3
MOST_CALLS = 6  # links in a chain of calls that are told
MOST_GUESSED_CALLS = 3  # links in a chain of which one was found by its name alone


class Body(Flow[State, Frame]):
    """One function being evaluated."""

    def __init__(self, function_id: str, source: Source, function: Function, summaries: Summaries) -> None:
        super().__init__()
        self.id = function_id
        self.source = source
        self.function = function
        self.summaries = summaries
        self.symbols = summaries.symbols
        self.types = summaries.types
        self.knowledge = summaries.knowledge
        self.summary = Summary(returns=())
        self.frames: list[Frame] = []
        self.certain = True  # whether the callee at hand was found by its type, not by its name
        self.emitted: list[Resize] | None = None
        self.stopped = False  # the statement at hand calls something that never returns
        self.displays: dict[Value, tuple[Value, ...]] = {}  # the keys of dict displays; () of what is empty
        self.collected: Values = ()  # what the comprehension at hand collects
        self.effects = Effects()
        self.entered: tuple[Value, ...] = ()  # locks that the context manager evaluated last holds over its body
        self.library_calls: set[Span] = set()
        self.opaque_calls: dict[Span, str] = {}  # calls of methods of which nothing is known, with their names
        self.entered_suspends = True  # whether entering that context manager lets other tasks run
        self.put_under: dict[Value, tuple[tuple[Held, ...], bool]] = {}  # what was held when one was put there
        self.holders: dict[Value, Value] = {}  # containers and the like made here, and the shared paths that hold them
        self.shared_locals: dict[Value, Value] = {}  # objects of this function that others see, as captured variables
        self.kept_in: dict[Value, Field] = {}  # channels and groups made here, and the fields that hold them
        self.walked_channels: Values = ()  # by the loop that begins
        self.received: dict[Span, Values] = {}  # channels, by where something was received from them
        self.loose: dict[Value, tuple[str, Span, Value | None]] = {}  # coroutines that nobody here awaits or starts
        self.contents: dict[Value, Values] = {}  # coroutines that lists made here hold
        self.filled: dict[Value, tuple[Content, ...]] = {}  # what lies in containers made here
        self.taken_out: dict[Value, Value] = {}  # what came out of channels, and the paths of entries in these
        self.cancelling = Cancelling(self.symbols, self.types, self.knowledge)
        self.pipes = Pipes(self.symbols, self.types, self.knowledge)
        self.ends = Ends()
        self.deep_copies: dict[Value, Value] = {}  # and of what they are copies
        self.foreign: set[Value] = set()  # what libraries have made of what is none of ours
        self.copies: dict[Value, Value] = {}  # structs made here as shallow copies of others
        self.presumed: set[Span] = (
            set()
        )  # items that are taken for there: something is taken out of them, or they are walked
        self.entered_items: set[Span] = (
            set()
        )  # items of which an item is read, where nobody catches that it is not there
        self.published: set[Value] = set()  # objects made here that a class or module variable holds
        self.resolved: dict[Value, Value] = {}  # paths of fields, and the places that they are
        self.constructs = self.function.name == "__init__"
        self.singles: set[Span] = set()  # executors made with one worker
        self.delayed: set[Span] = set()  # timers that are made here: what they start runs when some time is over
        self.spread: Values = ()  # what the call at hand spreads: `gather(*...)`
        self.rest: Values = ()  # the rest of its own arguments that a function hands on: `f(*args)`
        self.by_name = False  # the call at hand gives arguments by name
        self.told: frozenset[Span] = frozenset()  # what the call at hand only makes text of
        self.harmless: frozenset[str] = frozenset()  # the types of which it may do so at any time
        self.sizes_told: frozenset[Span] = frozenset()  # of what it is only told how much it holds
        self.told_later: dict[Span, bool] = {}  # whether nothing but a log gets a text that is made there
        self.filled_in: frozenset[Span] = frozenset()  # what the struct at hand is made with
        self.was_read: frozenset[Span] = frozenset()  # what the call at hand needs and has read before it was put off
        self.using: Span | None = None  # the expression at hand that would fail if its value were gone
        self.testing = False  # the expression at hand decides a branch
        self.is_open = False  # the call at hand gives more than is written: `*rest`, `**options`
        self.measuring = False  # it is compared by its size
        self.calling: set[Value] = set()  # iterators that call Python between two elements: `map(f, d)`
        self.on_nothing = False  # the method called next may be called on nothing instead of an object
        self.once = False  # the generator expression evaluated next is asked for one element only
        self.rare = False  # the callback at hand is mostly called later
        self.stored: Expr | None = None  # what the assignment at hand stores
        self.settling = False  # the change at hand only puts right what its entry holds
        self.placed: frozenset[Span] | None = None  # calls that only put in order what a list holds
        self.fillers: frozenset[Span] | None = None  # stores that only give a value to what has none
        self.perhaps = False  # what is evaluated may not run
        self.traits = source.module.traits
        self.per_turn = own_each_turn(function, source.edition)
        late = {turn.variable for turn in function.turns if turn.edition} - self.per_turn
        self.births = frozenset([span for name, span in function.births if name not in late])
        self.answers = _answers(self.function.body)  # whether the result may say what was done
        self.answered: dict[Resize, set[str]] = {}  # what is returned after a change
        self.narrowed = False  # whether something is known by a narrower type than it was declared with
        self.found_under: dict[Value, set[Value]] = {}  # flags that were found unset, by the lock that was held then
        self.of_all: set[Value] = set()  # locks that loops have taken of each thing that they go over
        self.pointed: set[str] = set()  # variables that something may change through a pointer
        self.asks: dict[Span, tuple[Ask, ...]] = {}  # what the results of helpers say of flags, by the call
        self._made: set[Site] = set()
        self._callbacks = 0

    # --- shared by the parts ------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, expr: Expr, state: State) -> Values:
        """The values of an expression; its effects are applied to the state."""

    def use(self, expr: Expr, state: State) -> Values:
        """The values of an expression that an operation needs to be there."""
        outer, self.using = self.using, getattr(expr, "span", None)
        values = self.evaluate(expr, state)
        self.using = outer
        return values

    def tell_of_context(self, operation: str, expr: Expr, span: Span, state: State) -> None:
        """Remember that a context is waited for, or ended; what time may have ended is not told of by its end."""
        context = self.cancelling.context(self.id, expr) if not self.traits.duck_typed else None
        if context is not None and operation == TAKE and self.cancelling.is_timed(self.id, expr):
            state.tell(ENDED, (context,))
        elif context is not None:
            self.tell(operation, (context,), span, state)

    def kept_at(self, value: Value) -> Value:
        """The variable or field that holds a channel, a flag or a group; that of an object's field is its type's."""
        path = self.shared_locals.get(value, self.kept_in.get(value, value))
        if isinstance(path, Field):
            owner = self.types.class_of(path.base)
            return Field(TypeValue(owner), path.name) if owner is not None else path
        return path

    def send(self, values: Values, span: Span, state: State) -> None:
        """Remember the containers that a channel hands over, in a struct made for that perhaps, and who else has them.

        A field has what was put into it just before, too.
        """
        heap = state.heap.items()
        parts = [part for path, held in heap if isinstance(path, Field) and path.base in values for part in held]
        handed = {
            value
            for value in (*values, *parts)
            if value not in (*NOTHING_KNOWN, UNKNOWN) and not isinstance(value, Literal)
        }
        kept = [path for path, held in heap if not handed.isdisjoint(held)]
        for path in (*handed, *kept):
            if isinstance(path, Param):
                self.summary.sends.add(path)
            elif isinstance(path, Field | Global) and isinstance(root(path), Param | Global):
                access = Access(path, "send", span, "", state.held, state.started, state.joined)
                self.effects.sent.setdefault((path, span), access)

    def is_unset(self, value: Value) -> bool:
        """Whether a value stands for a flag that is not set: what is nothing, or is named for it."""
        if isinstance(value, Global):
            record = self.symbols.content(value.module).globals.get(value.name)
            named = [assigned.value for assigned in record.values] if record is not None else []
            return any([isinstance(v, Op) and v.operator == "iota" for v in named]) or (Const(0) in named)
        return isinstance(value, Literal) and not value.value

    def tell_of(self, operation: str, channels: Values, span: Span, state: State) -> None:
        """Remember what is done with channels that others know."""
        paths = tuple([self.kept_at(value) for value in channels])
        if all([isinstance(path, Captured | Param | Global | Field) or _is_given(path) for path in paths]):
            self.tell(operation, paths, span, state)
            if operation == CLOSED and len(paths) == 1 and state.running:
                self._wait_for_closer(paths[0], span, state)
                self.wait_for_last_close(paths[0], span, state)
            if operation == TAKE and len(paths) == 1 and state.running:
                self.wait_for_last_words(paths[0], state)

    def wait_for_last_words(self, channel: Value, state: State) -> None:
        """The one that was started here to give something to a channel has done so, as the last thing that it does.

        What that starts itself may go on, and be several after some turns: not all has ended then. One of several is
        the one if none of them is started while another may run:
        `if quiet { go func() { ...; done <- 1 }() } else { go func() { ... }() }`.
        """
        calls = self.effects.calls
        found = lastwords.speakers(channel, self.id, self.symbols, calls=calls) if isinstance(channel, Captured) else []
        spans = {span for span, _ in found}
        if not spans.isdisjoint(state.several) or (len(spans) > 1 and self._meet_at_start(spans)):
            return
        summaries = [self.summaries.of(function) for _, function in found]
        if all([channel in summary.last_words for summary in summaries]):
            goes_on = any([summary.starts_any and not summary.joins & LOCAL for summary in summaries])
            state.end(spans, goes_on=goes_on)

    def _meet_at_start(self, spans: Set[Span]) -> bool:
        """Whether something is started at one of some spots while what another of them has started may still run."""
        return any(
            not spans.isdisjoint(start.running - {at}) for (at, _), start in self.effects.starts.items() if at in spans
        )

    def run_out(self, counter: str, state: State) -> None:
        """A counter of what is to come has come to zero: all that it has counted have sent their last words."""
        for start in state.running:
            name = counting.counted_by(self.function, counter, start)
            channel = Captured(self.id, name)
            found = lastwords.speaker(channel, self.id, self.symbols, counting.ONCE) if name else None
            if found is not None and found[0] == start and channel in self.summaries.of(found[1]).last_words:
                state.end({start})

    def _wait_for_closer(self, channel: Value, span: Span, state: State) -> None:
        """The one that was started here to close a channel has done so, and before that has waited for its group.

        `go func() { group.Wait(); close(results) }()`, then a loop over the results.
        """
        closers = {at: start for at, start in self._started(state) if channel in self._closed_by(start)}
        for at, start in closers.items() if len(closers) == 1 else ():
            self._wait_for(at, start, span, state)

    def wait_for_last_close(self, channel: Value, span: Span, state: State) -> None:
        """The one that was started here to close a channel as the last thing that it does has done so.

        Nobody else can have closed it, whoever has made it and whoever else knows it: that panics.
        """
        variable = self._only_variable(channel)
        started = dict(self._started(state)) if variable is not None else {}
        for at, start in started.items():
            callees = [callee for span, callee in self.effects.starts if span == at]
            if len(callees) == 1 and at not in state.several and variable in self._closed_last_by(start):
                self._wait_for(at, start, span, state)

    def _wait_for(self, at: Span, start: Start, span: Span, state: State) -> None:
        """What was started at a spot has ended, and so has what it has waited for."""
        for group in [path for operation, path in self._tells_of(start) if operation == WAIT]:
            self.tell(WAIT, (group,), span, state)
            self.wait_for_group(group, state)
        state.end({at})

    def _closed_last_by(self, start: Start) -> set[Value | None]:
        """The variables of the channels that a started function closes when all that it does, or starts, is done."""
        assert isinstance(start.callee, FunctionValue)
        summary = self.summaries.of(start.callee.function)
        if summary.starts_any and not summary.joins & LOCAL:
            return set()
        found: set[Value | None] = set()
        for path in summary.closed_last:
            index = path.index if isinstance(path, Param) else None
            if index is not None and start.callee.receiver is not None:
                index -= 1
            given = start.args[index] if index is not None and 0 <= index < len(start.args) else (path,)
            found.update([self._only_variable(self.kept_at(given[0]))] if len(given) == 1 else [])
        return found

    def _only_variable(self, channel: Value) -> Value | None:
        """The variable that holds a channel, and never another one; a parameter is known by its name, too."""
        if isinstance(channel, Param) and channel.function == self.id:
            channel = Captured(self.id, self.function.parameters[channel.index].name)
        if not isinstance(channel, Captured):
            return channel if isinstance(channel, Global) else None
        owner = self.symbols.functions[channel.function][1]
        given = [parameter.name for parameter in owner.parameters].count(channel.name)
        return channel if given + len(owner.bindings.get(channel.name, ())) == 1 else None

    def wait_for_group(self, group: Value, state: State) -> None:
        """What was started here and tells a group when it is done has ended."""
        members = {at: True for at, _ in self._started(state)}
        for at, start in self._started(state):
            members[at] &= self._is_member(start, group)
        state.end({at for at, ended in members.items() if ended})

    def _started(self, state: State) -> Iterator[tuple[Span, Start]]:
        """What was started here and may still run."""
        for (span, callee), start in self.effects.starts.items() if state.running else ():
            if span in state.running and isinstance(callee, FunctionValue):
                yield span, start

    def _is_member(self, start: Start, group: Value) -> bool:
        """Whether what was started tells a group when it is done, or counts itself out: `wg.Add(-1)`."""
        assert isinstance(start.callee, FunctionValue)
        member = self.summaries.of(start.callee.function)
        return start.group == group or group in member.renewed or (DONE, group) in member.told

    def _tells_of(self, start: Start) -> frozenset[tuple[str, Value]]:
        """What a function that was started here surely does with channels and groups."""
        assert isinstance(start.callee, FunctionValue)
        return self.summaries.of(start.callee.function).told

    def _closed_by(self, start: Start) -> frozenset[Value]:
        """The channels that a function which was started here closes on some way."""
        assert isinstance(start.callee, FunctionValue)
        return self.summaries.of(start.callee.function).closes

    def group_of(self, callee: Value) -> Value | None:
        """The group that a function which is started here tells when it is done, if it is one."""
        told = self.summaries.of(callee.function).told if isinstance(callee, FunctionValue) else ()
        groups = [path for operation, path in told if operation == DONE]
        return groups[0] if len(groups) == 1 else None

    def tell(self, operation: str, paths: Values, span: Span, state: State) -> None:
        """Remember what is done with channels, contexts, flags or groups that others know."""
        self.tell_again(operation, paths, state)
        for path in paths:
            known = self.effects.told.get((operation, path, span), state.told[0])
            self.effects.told[operation, path, span] = known & state.told[0]
            beside = self.effects.beside.get((operation, path, span), state.running)
            self.effects.beside[operation, path, span] = beside | state.running
            flags = self.effects.told_by.get((operation, path, span), state.held)
            self.effects.told_by[operation, path, span] = tuple(
                [held for held in flags if held.kind == FLAG and held in state.held]
            )
        state.tell(operation, paths)

    def tell_again(self, operation: str, paths: Values, state: State) -> None:
        """Remember the channels to which this function may have given something already when it does so."""
        if operation in GIVES:
            given = [path for done, path in state.told[1] if done in GIVES]
            self.effects.told_again.update([path for path in paths if path in given])

    def renew(self, group: Value, span: Span, state: State) -> None:
        """A group gets new members, for which nobody has waited yet, by whatever path it was waited for."""
        self.effects.renewals.add((group, span))
        for operation, path in state.told[0]:
            if operation in (WAIT, OUT) and self.kept_at(path) == group:
                state.untell(operation, path)

    @abstractmethod
    def apply(self, callee: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State) -> Values:
        """The values that a call of a value returns; its effects are applied to the state."""

    @abstractmethod
    def replay_started(self, callee: Value, args: tuple[Values, ...], call: Span, state: State) -> None:
        """What a callable changes of what it is given that is started beside this function."""

    @abstractmethod
    def called_by_started(
        self, callee: Value, args: tuple[Values, ...], call: Span, state: State
    ) -> Iterator[tuple[Value, tuple[Values, ...]]]:
        """What a function that is started here calls of what this one was given, and with which arguments."""

    @abstractmethod
    def own_copy(
        self, value: Value, span: Span | None, state: State, *, behind: bool = False, declared: TypeOf | None = None
    ) -> Value:
        """A copy of an object that is held by value, else the value; `declared` is its type if that is not known."""

    @abstractmethod
    def dereferenced(self, expr: Expr, values: Values, state: State) -> Values:
        """What an expression gives that follows a pointer: a copy of what is there."""

    @abstractmethod
    def hand_over(
        self, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State, name: str = ""
    ) -> None:  # fmt: skip
        """A library is given values: functions among them run some time, somewhere."""

    @abstractmethod
    def promoting(self, owner: Value, name: str, state: State) -> Values:
        """What has a field that is assigned through an object: the object, or what it embeds now."""

    @abstractmethod
    def place(self, owner: Value, name: str) -> Value:
        """The path of a field."""

    @abstractmethod
    def invoke(
        self, function_id: str, receiver: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """Run a method of an object now."""

    @abstractmethod
    def assign(self, target: Expr, values: Values, state: State) -> None:
        """Assign values to a target."""

    @abstractmethod
    def element_of(self, value: Value, site: Site) -> Values:
        """What one turn of an iteration over a value yields."""

    @abstractmethod
    def copied(self, value: Value, site: Site, kind: str = "") -> Value:
        """A fresh container with the elements of another."""

    @abstractmethod
    def conflict(
        self, container: Value, style: str, loop: Place, at: Place | None, event: Resize, doubtful: bool = False
    ) -> None:
        """Record a container that is resized while its iteration goes on."""

    @abstractmethod
    def attribute(self, base: Value, name: str, span: Span, state: State) -> Values:
        """The values of `base.name`."""

    def site(self, span: Span, state: State) -> Site:
        """The site of an expression; what an earlier turn made there becomes unknown."""
        site = Site(self.id, span)
        if self.frames and site in self._made:  # outside loops it is the same object once more
            state.forget(site)
            here = (site.function, site.span)
            for made in [v for v in self.holders if isinstance(v, Fresh | Copy) and v.site[:2] == here]:  # type: ignore[index]
                del self.holders[made]
        self._made.add(site)
        return site

    def note(self, path: Value, kind: str, span: Span, state: State, detail: str = "", value: str = "") -> None:
        """Record an access of a path."""
        if state.signalled and isinstance(path, Field) and path.base in state.signalled:
            return  # after what was done before the channel was closed
        if kind == "read" and span in self.was_read:
            return
        if self.narrowed and is_seen(path):
            return  # whose object that is, nobody knows
        if kind == "read" and span in self.sizes_told:
            detail = TOLD
        elif kind == "read" and span in self.told:
            if self.traits.atomic_steps:
                kind = "peek"
            elif self.types.is_one_of(path, self.harmless):
                detail = TOLD
        elif kind == "read" and span in self.filled_in and self.types.is_one_of(path, self.traits.numbers):
            detail = TOLD
        elif kind == "read" and span == self.using:
            detail = "used"
        if self.holders:
            holder = self.holders.get(path)
            if holder is not None and path in state.heap.get(holder, ()):
                if kind in IN_PLACE and self._is_of_one_change(path, holder, state):
                    return  # nobody has seen it between
                self.effects.access(holder, kind, span, state, detail, value)
                return
        if self._is_taken_out(path, kind, state):
            return
        made = path
        if self.function.cells:
            path = self._seen_from_outside(path)
        elif self.shared_locals:
            path = self.shared_locals.get(path, path)
        if path is not made and self._is_one_of_several(path) and self._is_taken_out(path, kind, state):
            return
        if kind == "read" and self.testing:
            if detail == "used":  # `if self.job: if self.job.done: ...`
                self.effects.use_tested(path, span, state)
            kind, detail = "test", MEASURED if self.measuring else detail
        self.effects.access(path, kind, span, state, detail, value)
        self.note_touch(path, kind, span, state, detail)

    @abstractmethod
    def note_touch(self, path: Value, kind: str, span: Span, state: State, detail: str) -> None:
        """Tell callers what becomes of the containers that they give."""

    def _is_taken_out(self, path: Value, kind: str, state: State) -> bool:
        """Whether an object was taken out of the place that it is known by, which holds another one now."""
        if kind not in CONTENT:
            return False
        holder = path
        while isinstance(holder, Element) and holder in state.heap.get(holder, (holder,)):
            holder = holder.base
        return holder not in state.heap.get(holder, (holder,))

    def _is_one_of_several(self, variable: Value) -> bool:
        """Whether a variable is given more than one object: what is started may know another one."""
        return not isinstance(variable, Captured) or len(self.function.bindings.get(variable.name, ())) != 1

    def _is_of_one_change(self, made: Value, holder: Value, state: State) -> bool:
        """Whether a new container is filled under the locks under which it was put in place of another one."""
        if self.traits.atomic_steps or state.heap.get(holder) != (made,):
            return False
        return self.put_under.get(made) == (state.held, state.started)

    def _seen_from_outside(self, path: Value) -> Value:
        """The path by which nested functions reach what a variable that they share holds."""
        known = self.shared_locals.get(path)
        if known is not None or not isinstance(path, Field | Element):
            return known or path
        base = self._seen_from_outside(path.base)
        return path if base is path.base else path._replace(base=base)

    @abstractmethod
    def feasible(self, conditions: Conditions, substitute: Substitute, state: State) -> Conditions | None:
        """A callee's conditions in the caller's terms; None if one of them cannot hold."""

    @abstractmethod
    def put(self, container: Value, value: Value, key: Value | None = None) -> None:
        """Remember a value that lies in a container made here."""

    @abstractmethod
    def keep_entries(self, container: Value, values: Values, span: Span, state: State) -> None:
        """Values are put into a container, or sent over a channel."""

    @abstractmethod
    def send_through(self, channels: Values, values: Values, span: Span, state: State) -> None:
        """Values are sent over channels."""

    @abstractmethod
    def retyped(self, value: Result, name: str) -> Result:
        """Something of unknown type that has turned out to be of a type."""

    @abstractmethod
    def append_to(self, sequences: Values, displays: Values, span: Span, state: State) -> None:
        """Sequences get what displays list at their end."""

    @abstractmethod
    def overwrite_behind(self, base: Expr, found: Values, span: Span, state: State) -> None:
        """What follows a window in the same memory is overwritten where something is appended to it."""

    @abstractmethod
    def made_with(self, type_id: str, name: str, values: Values, span: Span) -> None:
        """An object is made with values in a field."""

    @abstractmethod
    def take_out(self, taken: Result, container: Value) -> None:
        """Something comes out of a channel."""

    @abstractmethod
    def take_in(self, made: Values, added: Values) -> None:
        """Sequences made here take over what a display lists."""

    @abstractmethod
    def mutate(self, target: Value, operation: str, kind: str, span: Span, state: State, keys: Values = ()) -> None:
        """An object is changed in place."""

    @abstractmethod
    def ended_by(self, refuted: Iterable[tuple[Span, Variable]]) -> list[Span]:
        """What has ended where a variable says so, if nobody but this function stores to that."""

    @abstractmethod
    def find_something(self, base: Expr, owners: Values, state: State) -> None:
        """A field of what a variable holds is stored: nothing has no fields, so that it holds something."""

    @abstractmethod
    def keep_function(self, type_id: str, name: str, values: Values) -> None:
        """A field is given values: functions among them are called by whoever has the object."""

    @abstractmethod
    def registered_fields(
        self, type_name: str, fields: list[tuple[str, Values]], parts: list[Values], span: Span
    ) -> None:  # fmt: skip
        """A library's object is made that has functions which it is told of shared objects."""

    @abstractmethod
    def fill(
        self, container: Value, operation: str, values: Values, span: Span, state: State, key: Value | None = None
    ) -> None:
        """Values become entries of a container."""

    @abstractmethod
    def identity(self, values: Values) -> str:
        """Whether values are more than what they say: "opened", "holder" (of such), "object" or ""."""

    @abstractmethod
    def is_thread(self, value: Value) -> bool:
        """Whether a value is a thread (or a process)."""

    @abstractmethod
    def tell_owned(self, values: Values, state: State) -> None:
        """What is returned: parts of objects made here that were made here, too."""

    @abstractmethod
    def expose(self, path: Value, values: Values, state: State) -> None:
        """Others find objects there that were made here."""

    @abstractmethod
    def grown(self, values: Values, span: Span, state: State, expr: Expr | None = None) -> Values:
        """A sequence with more at its end: another one with the same elements, as far as can be told."""

    @abstractmethod
    def count_in_one_step(self, name: str, counters: Values, args: Values, span: Span, state: State) -> None:
        """A counter of those at work may be counted up or down."""

    @abstractmethod
    def tell_flag(self, name: str, flags: Values, args: tuple[Values, ...], call: Span, state: State) -> None:
        """Remember that a flag is set which others ask for before they look at what has been stored by then."""

    @abstractmethod
    def started_by(self, name: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State) -> None:
        """A function or constructor of a library: what it starts."""

    @abstractmethod
    def keep_store(self, path: Value, values: Values) -> None:
        """A field or variable is given values: stores among them are known by its name, too."""

    @abstractmethod
    def pass_turnstile(self, operation: str, channels: Values, span: Span, state: State) -> None:
        """Something is sent to channels, or received: that may be how they are locked."""

    @abstractmethod
    def hand_stores(self, args: tuple[Values, ...]) -> None:
        """Something unknown is given values: it may fill the stores among them."""

    @abstractmethod
    def note_launcher(self, path: Value, values: Values) -> None:
        """Remember what is put into a field that can be made to call what is registered with it."""

    @abstractmethod
    def lock_kind(self, value: Value) -> str:
        """The kind of lock that a value is, "" for none."""

    @abstractmethod
    def lock_method(self, base: Value, name: str, args: tuple[Values, ...], span: Span, state: State) -> None:
        """`lock.acquire()` and `lock.release()`, `condition.wait()` and `condition.notify()`."""

    @abstractmethod
    def start(
        self, callee: Value, kind: str, span: Span, state: State, *, many: bool = False, args: tuple[Values, ...] = (),
        alone: bool = False, queue: str = "",
    ) -> None:  # fmt: skip
        """A callable is made to run elsewhere or later."""

    def variable(self, name: str, scope: str) -> Value:
        """Where a variable lives that is not the function's own."""
        if scope == "captured":
            return self.types.captured(self.id, name) or UNKNOWN
        if scope == "global":
            return self.symbols.name(self.source.name, name)
        return Global(self.source.name, name)

    def read(self, path: Value, state: State) -> Values:
        """What a path holds now: what this function has assigned, else what it held on entry."""
        assigned = state.heap.get(path)
        return (path,) if assigned is None else assigned

    def from_table(self, base: Value, key: Value, state: State) -> Values:
        """The functions of a table that is made here, of which one is looked up; () if it is none, or known by its key.

        `{"get": self.get, "put": self.put}[method]`
        """
        keys = self.displays.get(base, ()) if isinstance(base, Fresh) and not isinstance(key, Literal) else ()
        held = unite([state.heap.get(element(base, each), NOTHING_KNOWN) for each in keys])
        return held if keys and all([isinstance(value, FunctionValue | Partial) for value in held]) else ()

    def opaque(self, values: Values, span: Span, state: State) -> Values:
        """Something of which nothing is known is still one object: the same wherever the program hands it on."""
        return (Result(self.site(span, state)),) if values == NOTHING_KNOWN else values

    def emit(self, event: Resize, state: State, conditions: Conditions = frozenset()) -> None:
        """Record a resize: for the loops around it, for callers, and in what is known of the container's keys."""
        if not self.certain and event.certain:
            event = event._replace(certain=False)
        if event.change == "insert" and self._adds_nothing_new(event, state):
            return
        if is_vacant(event.container, state):
            event = event._replace(vacant=True)
        elif state.assumptions and event.unless is None:
            event = event._replace(unless=vacant_unless(event.container, state))
        if any([(event.container, key) in state.absent for key in event.keys]):
            event = event._replace(tested=True)
        if state.singled or self.rare:
            here = [v for v in state.singled if isinstance(v, Param)]
            particular = (*event.particular, *sorted(here, key=lambda param: param.index))
            event = event._replace(particular=particular, rare=event.rare or self.rare)
        held = conditions | state.conditions() | state.asked()
        ends = event.raising and bool(event.calls) and self.guarded <= min([f.guarded for f in self.frames], default=0)
        if self.guarded:
            event = event._replace(raising=False)  # it may be caught here
        known = self.summary.resizes.get(event)
        if known is not None:
            self.summary.resizes[event] = known & held
        elif len(self.summary.resizes) < MOST_EVENTS and visible(event.container):
            self.summary.resizes[event] = held
        back = event.operation == ".insert()" and self._puts_back(event, state)
        if (self.frames or self.answers) and not (back or ends):
            state.record(event)
        if self.emitted is not None:
            self.emitted.append(event)
        if event.added and event.change in ("insert", "append"):
            span = event.calls[0].span if event.calls else event.span
            self.summaries.callbacks.register(event, self.id, span)
            if kept := [value for value in event.added if isinstance(value, CALLABLE)]:
                keyed = event.change == "insert" and len(event.keys) == 1
                holder = self.holder_of(event.container, state)
                path = element(holder, event.keys[0]) if keyed else holder
                for value in kept:
                    self.effects.store(path, value)  # whoever takes it out may call it
        if event.change == "insert":
            if len(event.keys) == 1 and event.keys[0] != UNKNOWN:
                pair = (event.container, event.keys[0])
                state.present, state.absent = state.present | {pair}, state.absent - {pair}
        elif event.change in ("remove", "clear"):
            state.present = frozenset([pair for pair in state.present if pair[0] != event.container])

    def raises_behind(self, span: Span) -> bool:
        """Whether what is done at a spot ends the loops of a caller: an exception follows."""
        return self.traits.duck_typed and self._ends_in_raise and raises_behind(self.function.body, span)

    @cached_property
    def _ends_in_raise(self) -> bool:
        """Whether some block ends by raising an exception; in most functions none does."""
        return any(ends_with(block, "raise") for block in blocks(self.function.body))

    def holder_of(self, container: Value, state: State) -> Value:
        """The field in which a container made here is kept: by that name others take out what lies in it."""
        if not isinstance(container, Fresh):
            return container
        return next((p for p, held in state.heap.items() if isinstance(p, Field) and container in held), container)

    def _adds_nothing_new(self, event: Resize, state: State) -> bool:
        """Whether an insertion only replaces: its key is there. A sequence grows all the same, unless looked up."""
        keyed = event.kind not in ("list", "deque", "element") or event.tested
        return keyed and any([(event.container, repacked(key)) in state.present for key in event.keys])

    def _puts_back(self, event: Resize, state: State) -> bool:
        """Whether a list gets back in this turn what was taken out: its length and its unvisited part are as before."""
        taken = [e for e in state.pending if isinstance(e, Resize) and e.container == event.container]
        taken = [e for e in taken if e.change == "remove" and e.kind in ("list", "")]
        for removal in taken:
            del state.pending[removal]
        return bool(taken)

    def change(
        self, container: Value, change: str, operation: str, keys: Values, span: Span, state: State, *,
        added: Values = (), certain: bool = True, harmless: bool = False, kind: str = "",
    ) -> None:  # fmt: skip
        """A container gains, loses or reorders entries; `kind` is its behaviour if its type is not known."""
        self.mutate(container, operation, "content", span, state, keys)
        if change in ("append", "insert"):
            self.displays.pop(container, None)  # there is more in it now
        kept = tuple([v for v in added if isinstance(v, FunctionValue | Param | Partial | Fresh)])
        found = self.types.container(container)
        kind = found.kind if found is not None else kind
        if change in ("append", "insert"):
            self.keep_coroutines(container, added)
        access = "discard" if harmless else self._change_kind(container, change, keys, kind, state)
        if operation == "[...]" and keys and all([isinstance(key, Literal) for key in keys]):
            access = "peek"  # a read by a name of the program's own: the entry is mostly there from the start
        value = CHOSEN if operation == ".remove()" else self.identity(added)
        self.note(container, access, span, state, kind or "?", value)
        singled = self.is_singled(container, state)
        event = Resize(container, change, operation, keys, self.id, span, (), certain, kept, kind=kind, singled=singled)
        self.emit(event._replace(raising=self.raises_behind(span)), state)
        if change in ("remove", "clear"):
            check = state.checks.get(container)
            if check is not None and check.outcome:  # `if k in d: del d[k]`: now it is not there, on both ways
                state.checks[container] = check._replace(outcome=False)
            for known in [p for p in state.heap if isinstance(p, Element) and p.base == container]:
                state.heap[known] = NOTHING_KNOWN
            path = element(container, keys[0]) if len(keys) == 1 else UNKNOWN
            if path != UNKNOWN:
                state.heap[path] = NOTHING_KNOWN  # what is put there later is another object

    def is_singled(self, container: Value, state: State) -> bool:
        """Whether a comparison has picked out one element.

        Itself, or by several of its fields where many share one, or by its name; whoever fills the gap with the last
        element does not say that there is but one.
        """
        if self.traits.duck_typed:
            return any([is_within(part, container) for value in state.singled for part in (value, *keys_of(value))])
        found = [value for value in state.singled if is_within(value, container)]
        walking = [frame for frame in self.frames if container in [walked for walked, _ in frame.iterated]]
        spans = {frame.loop for frame in walking}
        elements = {element for frame in walking for element in frame.elements}
        for value in state.singled:
            start = root(value)
            if isinstance(start, Fresh) and start.site.span in spans:
                found.append(value)  # of the copy that each turn has of an element
            elif whole(value) in elements:
                found.append(value)  # of what the function itself has put in
        fields = {value.name for value in found if isinstance(value, Field)}
        if len(fields) > 1 or any([not isinstance(value, Field) for value in found]):
            return True
        named = any([is_identity(value, elements) for value in found])
        return named and not any([swaps_in_last(f.body) for f in walking])

    def _change_kind(self, container: Value, change: str, keys: Values, kind: str, state: State) -> str:
        """The kind of access that a change is; giving an existing key another value resizes nothing."""
        there = change == "insert" and any([(container, key) in state.present for key in (*keys, one_of(keys))])
        return "setitem" if there and kind not in ("list", "deque", "element") else change

    def keep_coroutines(self, container: Value, values: Values) -> None:
        """Remember the coroutines that are put into a list: `gather(*jobs)` starts them."""
        made = tuple([v for v in values if isinstance(v, Partial)])
        if made:
            self.contents[container] = (*self.contents.get(container, ()), *made)

    def container_kind(self, value: Value) -> str:
        """How a value behaves as a container: "?" if its type is unknown, "" if it is none."""
        found = self.types.container(value)
        if found is not None:
            return found.kind
        return "?" if self.types.of(value) is None else ""

    def suspend(self, span: Span, state: State) -> None:
        """Other tasks may run here."""
        iterated = [
            (container, frame.loop)
            for frame in self.frames
            if frame.loop
            for container, _ in frame.iterated
            if self.is_in_its_place(container, state)
        ]
        self.effects.suspend(span, state)
        state.crossed |= {(container, loop, span) for container, loop in iterated}
        state.waited = True

    def is_in_its_place(self, container: Value, state: State) -> bool:
        """Whether a path still leads to a container; not if the function has put something else in its place."""
        return all(step in state.heap.get(step, (step,)) for step in prefixes(container))

    def collecting(self) -> Collecting:
        """Gather the resizes that happen inside a `with`."""
        return Collecting(self)

    def conflicts_during(self, live: list[tuple[Value, Place]], stands: Place, events: list[Resize]) -> None:
        """What a callback changes of the containers that were being iterated when it was called."""
        for event in events:
            for container, loop in live:
                if container == event.container and loop.goes_on_after(event.answer):
                    self.conflict(container, "call", loop._replace(answered=""), stands, event)

    def close(self, left: list[State]) -> None:
        """Gather what holds when the function is left."""
        left_open = [lock for lock in held_in_any(left) if lock not in self.of_all]
        waited = _waited_for(left)
        final = self.join_all(left)
        if final is not None:
            for path, values in final.heap.items():
                if visible(path) and values != (path,) and _matters(path, values):
                    self.summary.stores[path] = values
                    if len(self.summary.stores) >= MOST_STORES:
                        break
            if self.function.name == "__init__":
                self._find_aliases(final)
            known = [held.lock for held in surely_held(final.held) if held.lock not in self.of_all]
            kept = tuple([lock for lock in known if visible(lock)])  # who gives back those of all is hard to tell
            perhaps = dict.fromkeys([*left_open, *[held.lock for held in final.held if held.kind == MAYBE_HELD]])
            self.summary.acquires = kept
            self.summary.may_acquire = tuple([lock for lock in perhaps if visible(lock) and lock not in kept])
            self.summary.releases = final.released
            self.summary.flags = tuple([(h.lock, h.kind) for h in final.held if h.kind in FLAGS and visible(h.lock)])
            self.summary.joins = self.effects.joined_at_end = final.joined
            self.summary.told = self._told_to_callers(final.told[0] | waited)
            self.effects.told_at_end, self.effects.running_at_end = final.told[0], final.running
            open_ends = final.running - self.ends.beside_failures(self.function.returns)
            self.effects.ended_inside = frozenset([s.span for s in self.effects.starts.values()]) - open_ends
        for callee, span, receiver in self.loose.values():  # whoever gets hold of it runs it
            self.effects.call(callee, span, receiver, final or State(), certain=True)
        self.summary.answers = {event: said.pop() for event, said in self.answered.items() if len(said) == 1}
        self.summary.starts_any = self.effects.starts_any
        self.summary.ends_unless_failed = self.ends.says
        by_outcome = self.ends.has_done(self.function.returns).items()
        told = [(outcome, self._told_to_callers(done) - self.summary.told) for outcome, done in by_outcome]
        self.summary.told_if = {outcome: done for outcome, done in told if done}
        self.summary.closes = frozenset([path for operation, path, _ in self.effects.told if operation == "close"])
        self.summary.renewed = {group for group in self.summary.renewed if not self._is_own(group)}  # new at each call
        speaking = self._speaking_callees()
        self.summary.last_words = lastwords.of(self.effects, {each: by.last_words for each, by in speaking.items()})
        closing = {each: by.closed_last for each, by in speaking.items()}
        self.summary.closed_last = lastwords.closed(self.effects, self.effects.told_at_end, closing)
        self.summary.suspends = bool(self.effects.suspensions)
        self.summary.checked = frozenset([act.path for act in self.effects.all_acts()])
        self.summary.returns = self.summary.returns or NOTHING_KNOWN

    def _told_to_callers(self, done: Done) -> Done:
        """What is done with channels that callers know."""
        return frozenset([told for told in done if visible(told[1]) and not self._is_own(told[1])])

    def _speaking_callees(self) -> dict[str, Summary]:
        """The functions that this one calls, by which it gives something to channels."""
        spans = {span for operation, _, span in self.effects.passed_on if operation in GIVES}
        called = [callee for span, callee in self.effects.calls if span in spans and isinstance(callee, str)]
        return {callee: self.summaries.of(callee) for callee in called}

    def _is_own(self, path: Value) -> bool:
        """Whether a path starts from a variable of this function."""
        return isinstance(start := root(path), Captured) and start.function == self.id

    def _find_aliases(self, final: State) -> None:
        """Objects that the constructor both keeps itself and hands on to another object that it keeps."""
        instance = Param(self.id, 0)
        own = [(p, v[0]) for p, v in final.heap.items() if isinstance(p, Field) and p.base == instance and len(v) == 1]
        holder = {value: path.name for path, value in reversed(own) if value != UNKNOWN}
        for path, value in own:
            for inner, held in final.heap.items():
                if isinstance(inner, Field) and inner.base == value and len(held) == 1 and held[0] in holder:
                    self.summary.aliases[path.name, inner.name] = holder[held[0]]

    def returns(self, values: Values, state: State | None = None) -> None:
        """Add what a return statement gives."""
        if self.answers and state is not None:
            answer = str(values[0].value) if len(values) == 1 and isinstance(values[0], Literal) else ""
            for event in [e for e in state.pending if isinstance(e, Resize)]:
                self.answered.setdefault(event, set()).add(answer)
        if self.filled or not self.traits.duck_typed:
            self._tell_contents(values, state)
        if state is not None and not self.traits.duck_typed:
            self.tell_owned(values, state)
        here = state.conditions() if state is not None and len(self.summary.returned_if) < MOST_WAYS else ALWAYS
        self.summary.returns = with_returned(self.summary.returns, values)
        self.summary.returned_if[here] = with_returned(self.summary.returned_if.get(here, ()), values)

    def _tell_contents(self, values: Values, state: State | None, nested: int = NESTED) -> None:
        """What lies in what is returned, or what is taken out of: containers made here, fields of objects made here."""
        for value in values:
            if isinstance(value, Tuple):
                for part in value.parts:
                    self._tell_contents(part, state, nested)
            made = root(value)
            if not isinstance(made, Fresh) or nested <= 0:
                continue
            held = [*self.filled.get(made, ()), *self._in_fields(made, state)]
            if held:
                self.summary.contents[made] = tuple(dict.fromkeys(held))
                self._tell_contents(tuple([content.value for content in held]), state, nested - 1)

    def _in_fields(self, made: Fresh, state: State | None) -> list[Content]:
        if state is None or self.traits.duck_typed:
            return []
        fields = [(p.name, v) for p, v in state.heap.items() if type(p) is Field and p.base == made]
        found = [Content(v, False, Literal(name, FIELD)) for name, values in fields for v in values]
        owners = {path.base for path in state.heap if type(path) is Field}
        kept = [
            c for c in found if c.value in self.filled or c.value in owners or isinstance(root(c.value), Param | Cached)
        ]
        return kept[:MOST_FIELDS]


def with_returned(known: Values, values: Values) -> Values:
    """What a function may return, once it is known that it may also return some values."""
    return _together(known, values) or (unite([known, values]) if known else values)


def _together(known: Values, values: Values) -> Values:
    """Several results, each with its alternatives; () if these are not all several results, as many."""
    tuples = [value for value in (*known, *values) if isinstance(value, Tuple)]
    if len(tuples) != len(known) + len(values) or len({len(value.parts) for value in tuples}) != 1:
        return ()
    if len(tuples) == 2:
        tuples = list(tied(*tuples))
    return (Tuple(tuple([unite(parts) for parts in zip(*[value.parts for value in tuples], strict=True)])),)


def _answers(block: Block) -> bool:
    """Whether a function ends with constant answers: then one of them mostly says that something was done."""
    match block[-1] if block else None:
        case Jump(value=Const(value=bool())):
            return True
        case Branch(then=then, orelse=orelse):
            return _answers(then) and _answers(orelse)
        case Hold(body=body):
            return _answers(body)
        case _:
            return False


def _waited_for(left: list[State]) -> frozenset[tuple[str, Value]]:
    """What groups have been told, or waited for, when a function is left, by all but those who had none."""
    others = [state.told[0] for state in left if (NOBODY, NONE) not in state.told[0]]
    return frozenset([told for told in frozenset.intersection(*others) if told[0] in OF_GROUPS] if others else ())


def _matters(path: Value, values: Values) -> bool:
    """Whether a store is worth telling callers: near enough to be named by them, and of something that has parts."""
    return depth(path) <= STORE_DEPTH and not all([isinstance(v, Literal) for v in values])


def is_within(path: Value, container: Value) -> bool:
    """Whether a path is an element of a container, or starts from one."""
    while isinstance(path, Field | Element | Member):
        if not isinstance(path, Field) and underlying(path.base) == underlying(container):
            return True
        path = path.base
    return False


def whole(path: Value) -> Value:
    """The object of which a path is a field, or a field of one."""
    while isinstance(path, Field):
        path = path.base
    return path


def is_identity(path: Value, elements: Set[Value]) -> bool:
    """Whether a path is the name of an element, or a part of that: `chart.Name`, but not `chart.Owner.Name`."""
    name = ""
    while isinstance(path, Field):
        name, path = path.name, path.base
    is_element = isinstance(path, Element | Member | Fresh) or path in elements
    return is_element and name.lower().removeprefix("get") in IDENTIFYING


def keys_of(path: Value) -> Iterator[Value]:
    """The keys by which a path looks things up, innermost last."""
    while isinstance(path, Field | Element | Member):
        if isinstance(path, Element):
            yield path.key
        path = path.base


def own_each_turn(function: Function, edition: str) -> frozenset[str]:
    """The variables that each turn of a loop has for itself, in a language version."""
    return frozenset([turn.variable for turn in function.turns if not turn.edition or _reaches(edition, turn.edition)])


def _reaches(edition: str, wanted: str) -> bool:
    """Whether a version is not older than another one; one that is not said is the newest."""
    if not edition:
        return True
    return [int(part) for part in edition.split(".")] >= [int(part) for part in wanted.split(".")]


def visible(value: Value) -> bool:
    """Whether a caller can name a value: its path starts from a parameter, a captured variable or a global."""
    return isinstance(root(value), Param | Captured | Global | TypeValue)


class Collecting:
    """Gathers the resizes that are emitted while it is entered."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __enter__(self) -> list[Resize]:
        self._outer = self._body.emitted
        self._events: list[Resize] = []
        self._body.emitted = self._events
        return self._events

    def __exit__(self, *_: object) -> None:
        self._body.emitted = self._outer
        if self._outer is not None:
            self._outer.extend(self._events)


def _is_given(channel: Value) -> bool:
    """Whether a call has given a channel that was made for it."""
    return isinstance(channel, Fresh) and channel.site.origin is not None
