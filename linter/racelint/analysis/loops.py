"""Loops: what they iterate, what their target is bound to, and which resizes are followed by another turn."""

from __future__ import annotations

from racelint.analysis import sweeps
from racelint.analysis.branching import around, ends_with
from racelint.analysis.doubts import doubts, takes_out_element
from racelint.analysis.parents import Parents
from racelint.analysis.paths import (
    at,
    bounded,
    copy_of,
    element,
    lazy,
    mapped,
    member,
    mentions,
    root,
    uncopied,
    underlying,
    union,
    unite,
)
from racelint.analysis.sharing import MOST_CONTENTS, Content
from racelint.analysis.singling import at_hand
from racelint.analysis.state import CLOSED, TAKE, Held, Invoke, Pending, Resize, State, surely_held
from racelint.analysis.summary import Conflict, Frame, Place
from racelint.analysis.tallies import Tallies
from racelint.analysis.vacancy import fill, forget_vacant
from racelint.analysis.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    Copy,
    Element,
    Fresh,
    Lazy,
    Literal,
    Member,
    Param,
    Result,
    Site,
    Tuple,
    Unknown,
    Value,
    Values,
    View,
)
from racelint.model import (
    Assign,
    Attr,
    Branch,
    Build,
    Call,
    Collect,
    Comp,
    Const,
    Expr,
    Item,
    Logic,
    Loop,
    Name,
    Op,
    Stmt,
)
from racelint.record import records
from racelint.span import Span

UNKNOWN_ELEMENTS = {
    "map", "generator", "rounds", "accumulate", "starmap", "groupby", "reduce", "tee", "batched", "pairwise",
}  # fmt: skip


class Loops(Tallies):
    """The loop hooks of the interpreter."""

    def enter_loop(self, loop: Loop, state: State) -> Frame:
        """Evaluate what is iterated; resizes from before the loop are set aside."""
        frame = Frame()
        if loop.iterable is not None:
            if isinstance(loop.iterable, Item):
                self.presumed.add(loop.iterable.span)
            self.walked_channels = ()
            around, self.entered = self.entered, ()
            values = self.evaluate(loop.iterable, state)
            frame.channels = self.walked_channels
            frame.values = unite([self.iteration(value, loop.span, state) for value in values])
            frame.iterated = tuple([pair for value in frame.values for pair in iterated(value)])
            frame.loop = loop.span
            self._note_walk(loop, frame, state)
            self.entered = around
        elif loop.test is not None:
            frame.watched = unite([self.evaluate(path, state) for path in _paths_in(loop.test)])
            frame.decides = sweeps.deciding(loop)
            frame.endless = isinstance(loop.test, Const) and bool(loop.test.value)
            frame.single = self._has_one_turn(loop.test, state)
        if not self.traits.duck_typed:
            frame.assigns = sweeps.assigned((*loop.body, *loop.step)) | sweeps.targeted(loop)
        frame.site, frame.body = Site(self.id, loop.span), loop.body
        frame.targets = (loop.target,) if loop.target is not None else ()
        frame.waited, frame.guarded = state.waited, self.guarded
        if loop.is_async:
            self.suspend(loop.span, state)
            frame.suspended = True
        frame.once, self.once = self.once, False
        frame.outer, state.pending = state.pending, {}
        self.frames.append(frame)
        return frame

    def _note_walk(self, loop: Loop, frame: Frame, state: State) -> None:
        """A loop goes over containers: one over a generator has the locks that this holds whenever it yields."""
        outside = state.held
        walking = [Held(lock, loop.span, self.lock_kind(lock) or "unknown") for lock in self.entered]
        state.held = (*outside, *walking)
        for container, _ in frame.iterated:
            self.note(container, "iterate", loop.span, state, self.container_kind(container))
        state.held = outside

    def _has_one_turn(self, test: Expr, state: State) -> bool:
        """Whether a loop that counts up to a constant, as the pool of a single worker does, has no second turn."""
        match test:
            case Op(operator="<", operands=(Name(scope="local") as count, Name(scope="local") | Const() as most)):
                low, high = self.evaluate(count, state), self.evaluate(most, state)
                both = [v.value for v in (*low, *high) if isinstance(v, Literal) and isinstance(v.value, int)]
                return len(low) == len(high) == 1 and len(both) == 2 and both[1] - both[0] == 1
            case _:
                return False

    def iteration(self, value: Value, span: Span, state: State) -> Values:
        """What iterating a value reads: an object of the project says so itself by its `__iter__`.

        The views that a mapping of the project inherits from the abstract classes go by its `__iter__` too.
        """
        if isinstance(value, View) and self.types.container(value.base) in (None, self.knowledge.container("dict")):
            inner = self.iteration(value.base, span, state)
            return (value,) if inner == (value.base,) else inner
        owner = self.types.class_of(value)
        if owner is not None:
            for name in ("__iter__", "__aiter__"):
                if self.symbols.method(owner, name) is not None:
                    methods = self.attribute(value, name, span, state)
                    return unite([self.apply(method, (), (), span, state) for method in methods])
        return (value,)

    def begin_turn(self, loop: Loop, frame: Frame, state: State) -> None:
        """Bind the target to the element at hand; earlier turns had other elements."""
        state.pending = {}
        state.waited = False
        for container, _ in frame.iterated:
            fill(container, state)
        if state.crossed:
            state.crossed = frozenset([crossed for crossed in state.crossed if crossed[1] != loop.span])
        assert frame.site is not None
        if frame.turns:
            state.forget(frame.site)
        frame.turns += 1
        if frame.channels:  # it has received something
            self.tell_of(TAKE, frame.channels, loop.span, state)
        if loop.target is None:
            return
        site = frame.site
        elements: Values = ()
        for value in frame.values:
            found = self.element_of(value, site)
            elements = union(elements, found)
            keys = [key for element in found for key in _keys_in(element)]
            state.present |= {(key.base, key) for key in keys}
            # A copy has keys of its own, equal to those of what it copies.
            state.present |= {(c, k) for c, _ in iterated(value) for k in keys if underlying(c) == underlying(k.base)}
            state.present |= {(e.base, e) for e in found if isinstance(e, Element)}  # a sequence holds its elements
        if elements in ((), NOTHING_KNOWN):
            elements = (Result(site),)
        if not self.traits.duck_typed:
            elements = tuple([self._own_element(value, loop.span, state) for value in elements])
            frame.elements = at_hand(elements)
        self.assign(loop.target, elements, state)

    def _own_element(self, value: Value, span: Span, state: State) -> Value:
        """The loop's variable holds a copy of an element that is held by value."""
        if isinstance(value, Tuple):
            parts = [tuple([self.own_copy(v, span, state) for v in values]) for values in value.parts]
            return Tuple(tuple(parts))
        return self.own_copy(value, span, state)

    def end_turn(self, loop: Loop, frame: Frame, state: State) -> None:
        """The loop goes on: a resize of what it iterates, in this turn, is a conflict."""
        site = Site(self.id, loop.span)
        frame.taken = tuple([held for held in surely_held(state.held) if mentions(held.lock, site)])
        here = Place(self.id, loop.span, loop.iterable)
        again = any([outer.endless for outer in self.frames])
        looked_at = sweeps.conditions(loop.body, self._only_asks, again=again) if state.pending else None
        here = here._replace(sweep=looked_at is not None)
        lasting = looked_at is not None and self._is_own_search(looked_at, state)
        passes = bool(state.pending) and self._is_pass(loop)
        for event in () if frame.once else state.pending:
            match event:
                case Resize():
                    for container, style in frame.iterated:
                        if event.vacant and container == event.container and not state.waited:
                            continue  # with an element at hand it is not empty
                        back = self._leads_back(event, container)
                        if back or container == event.container or covers(event, container):
                            repeated = passes or (lasting and sweeps.is_lasting(container, self._instance()))
                            repeated = repeated or (looked_at is not None and self._comes_again(loop, container))
                            here = here._replace(repeated=repeated)
                            doubtful = event.rare if back else doubts(frame, container, event, state)
                            spot = event.calls[0].span if event.calls else event.span
                            one = sweeps.keeps_one(loop, spot, self._asks_for_class) or sweeps.puts_back(loop, spot)
                            told = event._replace(singled=True) if one else event
                            self.conflict(container, style, here, None, told, doubtful)
                case Invoke():
                    known = self.summary.invokes.get(event)
                    if known is not None:
                        # Once the path holds another container, what the callback does to it does no harm here.
                        said = state.answered(event)
                        more = [
                            (c, here._replace(style=s, repeated=self._is_repeated(c, s), answered=said))
                            for c, s in frame.iterated
                            if c in self.read(c, state)
                        ]
                        self.summary.invokes[event] = tuple(dict.fromkeys((*known, *more)))
        frame.seen = _seen_too(frame.seen, state.pending)
        frame.joined, frame.running = state.joined, state.running
        frame.suspended = frame.suspended or state.waited
        for container, loop_span, span in state.crossed:
            if loop_span == loop.span:
                self.effects.cross(container, loop_span, span, state.joined)

    def _only_asks(self, expr: Expr) -> bool:
        """Whether a call only has its object find out how it stands: `process.poll()`."""
        match expr:
            case Call(func=Attr(name=name), args=(), keywords=()):
                return self.knowledge.does(f"*.{name}", "refreshes") is not None
            case _:
                return False

    def _asks_for_class(self, test: Expr) -> bool:
        """Whether a test asks for the class of something."""
        match test:
            case Call(func=Name(name=name, scope="global"), args=(Name(), _)):
                return self.knowledge.does(name, "type-test") is not None
            case _:
                return False

    def _leads_back(self, event: Resize, container: Value) -> bool:
        parents = Parents(self.symbols, self.types)
        return bool(event.calls) and (
            parents.leads_back(event.container, container) or parents.is_of_the_one(event.container, container)
        )

    def conflict(
        self, container: Value, style: str, loop: Place, at: Place | None, event: Resize, doubtful: bool = False
    ) -> None:
        """Record a container that is resized while its iteration goes on."""
        found = self.types.container(container) or self.knowledge.kinds.get(event.kind)
        kind = found.kind if found is not None else "other" if self.types.of(container) is not None else "unknown"
        stands = at or Place(self.id, event.calls[0].span if event.calls else event.span)
        repeated = loop.repeated or self._is_repeated(container, style)
        found_so = Conflict(loop, stands, container, kind, style, event, None, repeated, doubtful)
        if doubtful and self._needs_earlier_turn(loop, stands):  # which was not known yet in the first turns
            self.summary.conflicts.pop(found_so._replace(doubtful=False), None)
        self.summary.conflicts[found_so] = None

    def _needs_earlier_turn(self, place: Place, change: Place) -> bool:
        """Whether a change, or a test around it, names a variable that the loop itself gives a value elsewhere."""
        body = self.function.body
        loops = tuple([node for node in records(body) if isinstance(node, Loop) and node.span == place.span])
        stored = [node for node in records(loops) if isinstance(node, Assign)]
        changes = tuple([node for node in stored if node.span.holds(change.span)])
        tests = tuple([node.test for node in around(body, change.span) if isinstance(node, Branch)])
        own = _named_in((*[node.targets for node in changes], *[node.target for node in loops]))
        given = _named_in(tuple([node.targets for node in stored if node not in changes]))
        return not _named_in((changes, tests)).isdisjoint(given - own)

    def _is_pass(self, loop: Loop) -> bool:
        """Whether a while loop runs this loop until it has done nothing more."""
        names = [frame.decides for frame in self.frames if frame.decides]
        return bool(names) and not sweeps.assigned(loop.body).isdisjoint(frozenset().union(*names))

    def _comes_again(self, loop: Loop, container: Value) -> bool:
        """Whether a loop around a sweep does it again, over the same list and with the same question."""
        outer = [frame for frame in self.frames[:-1] if frame.site is not None]
        return self.traits.duck_typed and any([_does_again(frame, loop, container) for frame in outer])

    def _is_own_search(self, looked_at: list[Expr], state: State) -> bool:
        """Whether a sweep looks for something that no caller has named: the next call finds what this one misses."""
        instance = self._instance()

        def given(name: Name) -> bool:
            values = state.variables.get(name.name, ()) if name.scope == "local" else ()
            return name.scope == "captured" or any([sweeps.is_given(v, instance) for v in values])

        return not any([sweeps.depends(expr, given) for expr in looked_at])

    def _instance(self) -> Value | None:
        """The object whose method this is."""
        return Param(self.id, 0) if self.function.owner and self.function.binding == "instance" else None

    def _is_repeated(self, container: Value, style: str) -> bool:
        """Whether an enclosing loop goes on until the container is as it wants it, or a call tells again what to do."""
        return self.effects.polls or style == "rounds" or any([container in frame.watched for frame in self.frames])

    def exhaust(self, loop: Loop, frame: Frame, state: State) -> None:
        """A loop ends over a channel when somebody has closed it, over workers when all have left.

        One that takes each thing's lock has all of them.
        """
        state.held = (*state.held, *[held for held in frame.taken if held not in state.held])
        self.of_all.update([held.lock for held in frame.taken])
        if frame.channels:
            self.tell_of(CLOSED, frame.channels, loop.span, state)
        self.wait_for_tally(loop, state)

    def leave_loop(self, loop: Loop, frame: Frame, state: State) -> None:
        """Loops further out see what happened before this one and in all its turns."""
        if loop.iterable is None:
            forget_vacant(state)
        state.joined |= frame.joined
        state.running = state.running & frame.running if frame.running is not None else state.running
        state.several &= state.running
        if frame.suspended:
            self._suspend_after(loop, state)
        state.waited = state.waited or frame.suspended or frame.waited
        if state.crossed:
            state.crossed = frozenset([crossed for crossed in state.crossed if crossed[1] != loop.span])
        state.pending = {**frame.outer, **_seen_too(frame.seen, state.pending)}

    @staticmethod
    def _suspend_after(loop: Loop, state: State) -> None:
        """Other tasks may have run in some turn; but what the loop's own test has just read is fresh."""
        before = state.checks
        state.suspend()
        if loop.test is not None:
            for path, check in before.items():
                if check.read.span.line == loop.span.line:
                    state.checks[path] = check

    def close_loop(self, loop: Loop, frame: Frame) -> None:
        """The analysis of the loop is over."""
        self.frames.pop()

    def element_of(self, value: Value, site: Site) -> Values:
        """What one turn of an iteration over a value yields."""
        match value:
            case View(base=viewed, kind=kind):
                base = uncopied(viewed)
                key = member(base, site)
                content = element(base, key)
                pair = bounded(Tuple(((key,), (content,))))
                return (key if kind == "keys" else content if kind == "values" else pair,)
            case Copy(base=base):
                return self.element_of(base, site)
            case Lazy(kind="enumerate", bases=bases):
                return (bounded(Tuple((NOTHING_KNOWN, self._elements(bases, site)))),)
            case Lazy(kind="zip" | "zip_longest", bases=bases):
                return (bounded(Tuple(tuple([self.element_of(base, site) for base in bases]))),)
            case Lazy(elements=elements) if elements:
                return tuple([at(v, site) for v in elements])
            case Lazy(kind=kind, bases=bases):
                return NOTHING_KNOWN if kind in UNKNOWN_ELEMENTS else self._elements(bases, site)
            case Tuple(parts=parts):
                return unite(parts)
            case Unknown() | Literal():
                return NOTHING_KNOWN
            case Fresh() if held := self._entries(value):
                return unite([self.element_of(c.value, site) if c.spread else (c.value,) for c in held])
            case Fresh() if self._seen_by_started(value) is None and (objects := self._objects(value)):
                return tuple([made._replace(site=site) for made in objects])
            case _:
                container = self.types.container(value)
                base = self._seen_by_started(value) or value
                key = member(base, site)
                sequence = container is not None and container.sequence
                return (element(base, key) if sequence else key,)

    def _seen_by_started(self, made: Value) -> Value | None:
        """By what a container made here is known to what has been started with it: what lies in it is shared, too."""
        shared = self.shared_locals.get(made)
        known = shared is not None and any([shared in start.knows() for start in self.effects.starts.values()])
        return shared if known else None

    def _entries(self, made: Fresh) -> tuple[Content, ...]:
        """What lies in a sequence made here, if that is known, in a language in which objects have one type."""
        held = self.filled.get(made, ())
        known = not self.traits.duck_typed and len(held) < MOST_CONTENTS and all([c.key is None for c in held])
        return held if known else ()

    def _objects(self, made: Fresh) -> tuple[Fresh, ...]:
        """What lies in a sequence made here, where that is objects of the program, made here, too, and nothing else.

        Each turn of a loop has one of its own.
        """
        container, held = self.types.container(made), self.filled.get(made, ())
        if container is None or not container.sequence or len(held) >= MOST_CONTENTS:
            return ()
        objects = [c.value for c in held if isinstance(c.value, Fresh) and not c.spread]
        own = len(objects) == len(held) and all([self._is_closed(each) for each in objects])
        return tuple(objects) if own else ()

    def _is_closed(self, made: Fresh) -> bool:
        """Whether an object is of a class of which all is known: no thread, no container."""
        owner = self.types.class_of(made)
        return owner is not None and not self.symbols.is_open(owner)

    def _elements(self, bases: tuple[Value, ...], site: Site) -> Values:
        return unite([self.element_of(base, site) for base in bases])

    def comprehension(self, expr: Comp, state: State) -> Values:
        """Run a comprehension's loops; one that only copies or filters is a copy of what it iterates."""
        loop = expr.body
        assert isinstance(loop, Loop)
        self.once = self.once and expr.kind == "generator"
        outer, self.collected = self.collected, ()
        exits = self.loop(loop, state)
        elements: Values = self.collected
        self.collected = outer
        if exits.normal is not None and exits.normal is not state:
            become(state, exits.normal)
        copied = _copied(loop)
        iterables = self.evaluate(copied, state) if copied is not None else ()
        site = self.site(expr.span, state)
        if expr.kind == "generator":
            bases = iterables or self.evaluate_again(loop, state)
            return (
                lazy("iter" if iterables else "generator", bases, () if iterables or UNKNOWN in elements else elements),
            )
        self.keep_coroutines(Fresh(expr.kind, site), elements)
        for value in elements:
            self.put(Fresh(expr.kind, site), value)
        if iterables and UNKNOWN not in iterables:
            of_items = expr.kind == "dict"
            return tuple([copy_of(mapped(v) if of_items else v, expr.kind, site) for v in iterables])
        return (Fresh(expr.kind, site),)

    def evaluate_again(self, loop: Loop, state: State) -> Values:
        """What a generator expression's outer loop iterates, if naming it again has no effect."""
        assert loop.iterable is not None
        return self.evaluate(loop.iterable, state) if _is_path(loop.iterable) else ()


def _does_again(outer: Frame, loop: Loop, container: Value) -> bool:
    """Whether what a loop walks, and asks of it, is the same in each turn of a loop around it."""
    assert outer.site is not None
    start = root(container)
    if isinstance(start, Fresh | Result) and outer.site.span.holds(start.site.span):
        return False  # each of its turns has another list
    return not ends_with(outer.body, "break", "return", "raise") and not sweeps.varies(loop, outer.body, outer.targets)


def become(state: State, other: State) -> None:
    """Make a state equal to another one."""
    state.variables, state.heap = other.variables, other.heap
    state.present, state.absent, state.singled = other.present, other.absent, other.singled
    state.assumptions, state.pending = other.assumptions, other.pending
    state.held, state.checks, state.sources = other.held, other.checks, other.sources
    state.started, state.joined, state.running = other.started, other.joined, other.running
    state.several = other.several
    state.claimed, state.crossed, state.waited = other.claimed, other.crossed, other.waited
    state.deferred, state.exposed, state.released = other.deferred, other.exposed, other.released


def _seen_too(seen: Pending, pending: Pending) -> Pending:
    """What may have happened in some turns and in the last one, with what functions have returned in all of them."""
    both = [event for event in pending if isinstance(event, Invoke) and event in seen]
    return {**seen, **pending, **{event: seen[event] & pending[event] for event in both}}


def iterated(value: Value, style: str = "direct") -> tuple[tuple[Value, str], ...]:
    """The containers that an iteration over a value reads while it goes on, with how it reads them."""
    match value:
        case View(base=base, kind=kind):
            return iterated(base, kind if style == "direct" else style)
        case Lazy(kind=kind, bases=bases):
            inner = kind if kind in ("reversed", "generator", "rounds") else style
            return tuple([pair for base in bases for pair in iterated(base, inner)])
        case Unknown() | Literal() | Tuple():
            return ()
        case _:
            return ((value, style),)


def covers(event: Resize, container: Value) -> bool:
    """Whether a callee's own loop over entries of a table comes by the entry that is being iterated.

    One over all of them does, and one that takes the loop's element out of all that it is said to be in.
    """
    return bool(event.calls) and _comes_by(event.container, container, takes_out_element(event, container))


def _comes_by(changed: Value, container: Value, listed: bool) -> bool:
    """Whether one of two paths of entries leads to the other, where its keys are those of a loop over all.

    `listed` says that they may as well be those of another table, in which it stands where an element is.
    """
    if not (isinstance(changed, Element) and isinstance(container, Element)):
        return False
    met = changed.key == container.key
    if isinstance(changed.key, Member):
        met = met or listed or changed.key.base == changed.base
    return met and (changed.base == container.base or _comes_by(changed.base, container.base, listed))


def _keys_in(value: Value) -> list[Member]:
    match value:
        case Member():
            return [value]
        case Tuple(parts=parts):
            return [v for values in parts for v in values if isinstance(v, Member)]
        case _:
            return []


def _copied(loop: Loop) -> Expr | None:
    """What a comprehension copies: `[x for x in xs if ...]`, `{k: v for k, v in d.items()}`."""
    inner: Stmt = loop
    while not isinstance(inner, Collect):
        inner = inner.then[0] if not isinstance(inner, Loop) and hasattr(inner, "then") else _single(inner)
        if isinstance(inner, Loop):
            return None
    same = inner.value if inner.key is None else Build("tuple", (inner.key, inner.value), (), inner.span)
    return loop.iterable if loop.iterable and _is_path(loop.iterable) and _names(same) == _names(loop.target) else None


def _single(stmt: Stmt) -> Stmt:
    assert isinstance(stmt, Loop)
    return stmt.body[0]


def _names(expr: Expr | None) -> tuple[str, ...] | None:
    match expr:
        case Name(name=name):
            return (name,)
        case Build(kind="tuple", parts=parts) if all(isinstance(part, Name) for part in parts):
            return tuple([part.name for part in parts if isinstance(part, Name)])
        case _:
            return None


def _paths_in(expr: Expr) -> list[Expr]:
    """The variables and attributes that a test looks at."""
    match expr:
        case Name() | Attr():
            return [expr] if _is_path(expr) else []
        case Op(operator="address"):
            return []  # it is not read
        case Op(operands=operands) | Logic(operands=operands) | Call(args=operands):
            return [path for operand in operands for path in _paths_in(operand)]
        case _:
            return []


def _is_path(expr: Expr) -> bool:
    """Whether evaluating an expression a second time does nothing but read: a path, or a view of one."""
    match expr:
        case Name():
            return True
        case Attr(base=base) | Call(func=Attr(base=base, name="items" | "keys" | "values"), args=()):
            return _is_path(base)
        case _:
            return False


def _named_in(node: object) -> set[str]:
    """The variables that an expression or a statement names."""
    return {part.name for part in records(node) if isinstance(part, Name) and part.scope != "global"}
