"""Operators that mean more than a value made of their parts: addresses, windows, channels; objects of written types."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from racelint.analysis import lastwords, meanwhile, sweeps
from racelint.analysis.body import Body
from racelint.analysis.branching import goes_round
from racelint.analysis.byvalue import is_inline
from racelint.analysis.effects import WHOLE, is_shared_path
from racelint.analysis.existence import says_of
from racelint.analysis.memory import SHARED_CONTENT
from racelint.analysis.paths import (
    bounded,
    copy_of,
    element,
    field,
    lazy,
    mentions,
    only,
    root,
    seen_as,
    uncopied,
    unite,
    view,
)
from racelint.analysis.state import TAKE, State
from racelint.analysis.types import ClassType, LibraryType, TypeOf
from racelint.analysis.unended import is_told_apart
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
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
    Seen,
    Site,
    Unknown,
    Value,
    Values,
)
from racelint.model import Attr, Build, Call, Cast, Const, Expr, Item, Make, Name, Op
from racelint.span import Span

OPERATIONS = frozenset({
    "address", "deref", "window", "append", "keys", "values", "entries", "receive", "length", "clear", "send", "close",
    "copy into",
})  # fmt: skip
VIEWS = {"keys": "keys", "values": "values", "entries": "items"}
ZEROS: dict[str, str | int | bool] = {"string": "", "bool": False, "int": 0, "int32": 0, "int64": 0}
_REFERRING = (Field, Element, Member, Param, Captured, Global, Cached, Seen)  # what leads to an object
COPYING = frozenset({"[]<byte>", "[]<uint8>", "[]<rune>"})  # mostly out of a string, so that it copies
LITERALS = frozenset({"[]", "[n]", "map"})  # whose types are those of their elements, and of nobody's making
BOUNDED = 3  # operands of a window that ends somewhere, but whose room does not end there
MOST_LEVELS = 2  # of structs in structs that a copy copies


class Operations(Body):
    """Evaluates operators, casts and makes."""

    def operate(self, expr: Op, state: State) -> Values | None:
        """The values of an operator that has a meaning of its own, None for any other."""
        match expr:
            case Op(operator="address", operands=(operand,)):
                return self._address(operand, state)
            case Op(operator="deref", operands=(operand,)):
                return self.evaluate(operand, state)
            case Op(operator="window", operands=(base, *bounds)):
                for bound in bounds:
                    self.evaluate(bound, state)
                return self.evaluate(base, state)
            case Op(operator="append", operands=(base, *added), span=span):
                found = self.evaluate(base, state)
                self.overwrite_behind(base, found, span, state)
                display = self.evaluate(Build("list", tuple(added), (), span), state)
                made = self.grown(found, span, state, base)
                self.take_in(made, display)
                self.append_to(found, display, span, state)
                return made
            case Op(operator="keys" | "values" | "entries" as walk, operands=(walked,), span=span):
                found = self.evaluate(walked, state)
                return unite([self._walked(value, walk, span, state) for value in found])
            case Op(operator="receive", operands=(channel,), span=span):
                channels = self.evaluate(channel, state)
                channels = tuple([value for value in channels if value != NONE]) or channels  # that one waits for ever
                state.end(self.ended_by(meanwhile.refuted_by_receive(channel, state)))
                received = unite([self._received(value, span, state) for value in channels])
                self.tell_of(TAKE, channels, span, state)
                if isinstance(channel, Name) and self._gives_once(channel):
                    state.assign(channel.name, (NONE,))  # nothing more comes from there, either
                if says_of(self.site(span, state)) not in received:  # a false that was received closes nothing
                    self.received[span] = channels
                self.pass_turnstile("receive", channels, span, state)
                match channel:
                    case Call(func=Attr(base=context, name=method)) if method in self.knowledge.ends:
                        self.stopped = self.stopped or self.cancelling.lasts(self.id, context, state.told[1])
                        self.tell_of_context(TAKE, context, span, state)
                        ended = self.evaluate(context, state.copy())
                        state.over |= {each for each in ended if len(ended) == 1 and is_told_apart(each)}
                return received
            case Op(operator="ok", span=span) if span in self.received:
                return (says_of(self.site(span, state)),)
            case Op(operator="send" | "close" as operation, operands=(channel, *sent), span=span):
                channels = self.use(channel, state)
                for each in sent:
                    values = self.use(each, state)
                    self.send(values, span, state)
                    self.send_through(channels, values, span, state)
                self.tell_of(operation, channels, span, state)
                self.pass_turnstile(operation, channels, span, state)
                return (Result(self.site(span, state)),)
            case Op(operator="copy into", operands=(target, *sources), span=span):
                for source in sources:
                    self.use(source, state)
                for value in self.use(target, state):
                    self.mutate(value, "copy()", "content", span, state)
                return NOTHING_KNOWN
            case Op(operator="length", operands=(measured,), span=span):
                for value in self.evaluate(measured, state):
                    self.note(value, "measure", span, state, self.container_kind(value))
                return NOTHING_KNOWN
            case Op(operator="clear", operands=(cleared,), span=span):
                for value in self.evaluate(cleared, state):
                    if self.container_kind(value) == "map":
                        self.change(value, "clear", "clear()", (), span, state)
                return NOTHING_KNOWN
            case _:
                return None

    def overwrite_behind(self, base: Expr, found: Values, span: Span, state: State) -> None:
        """What follows a window in the same memory is overwritten where something is appended to it."""
        if isinstance(base, Name) and base.scope == "local":
            windows = [expr for expr in self.function.bindings.get(base.name, ()) if _has_room(expr)]
        else:
            windows = [base] if _has_room(base) else []
        for value in found if windows else ():
            self.mutate(value, "append()", "content", span, state)

    def _address(self, operand: Expr, state: State) -> Values:
        """Where a variable is; nothing of it is read."""
        match operand:
            case Attr(base=base, name=name):
                return unite([self._address_of(self.place(owner, name), state) for owner in self.evaluate(base, state)])
            case Item(base=base, key=key):
                bases, keys = self.evaluate(base, state), self.evaluate(key, state)
                known = only(keys)
                return unite([self.read(element(owner, known), state) for owner in bases])
            case Name(name=name, scope="local") if name in self.function.cells:
                self.pointed.add(name)
                return self.read(Captured(self.id, name), state)
            case Name(name=name, scope=scope) if scope != "local":
                return self.read(self.variable(name, scope), state)
            case Name(name=name):
                self.pointed.add(name)
                state.forget_compared(name)
                return self.evaluate(operand, state)
            case _:
                return self.evaluate(operand, state)

    def _address_of(self, path: Value, state: State) -> Values:
        """Where a field is; that of a struct made here is there, whosever value it holds a copy of."""
        found = self.read(path, state)
        elsewhere = isinstance(root(path), Fresh) and any([isinstance(root(v), _REFERRING) for v in found])
        return (path,) if elsewhere and is_inline(path, self.types, self.knowledge.sharing.inline) else found

    def grown(self, values: Values, span: Span, state: State, expr: Expr | None = None) -> Values:
        """A sequence with more at its end: another one with the same elements, as far as can be told.

        `expr` is what it is read from: where a variable holds nothing yet, its declaration says what will lie there.
        """
        site, declared = self.site(span, state), self._declared(expr)
        result: list[Value] = []
        for value in values:
            made = self.types.text(self.types.of(value))
            within = isinstance(uncopied(value), Element | Field) and isinstance(root(value), Fresh)
            empty = within or isinstance(value, Unknown | Literal)  # what lies in something made here is known of that
            if empty:
                result.append(Fresh((made if within else declared) or "[]", site))
            else:
                result.append(self.copied(value, site, made))
        return unite([(value,) for value in result])

    def _declared(self, expr: Expr | None) -> str:
        """The type that a variable of this function is declared with."""
        written = self.function.annotations.get(expr.name) if isinstance(expr, Name) else None
        return self.types.text(self.types.annotations.declared(self.id, written)) if written is not None else ""

    def _walked(self, value: Value, walk: str, span: Span, state: State) -> Values:
        """What a loop over a value reads: entries of a mapping, positions and elements of a sequence."""
        container = self.types.container(value)
        found = self.types.of(value)
        if container is not None and container.kind == "channel":
            self.walked_channels = (*self.walked_channels, value)
            return (lazy("channel", (), self._received(value, span, state)),)
        if container is not None and container.sequence:
            if walk == "keys":
                return (lazy("generator", (value,)),)
            return (value,) if walk == "values" else (lazy("enumerate", (value,)),)
        if found is not None and container is None:
            return NOTHING_KNOWN  # a number, a string, an iterator function
        return (view(value, VIEWS[walk]),)

    def _received(self, value: Value, span: Span, state: State) -> Values:
        """What comes out of a channel belongs to who takes it; who made the channel waits for who sends.

        A channel that an object has tells when the rest of the object may be looked at.
        """
        endless = any([frame.endless for frame in self.frames])  # mostly it is what the loop lives on
        if isinstance(value, Fresh) and (not endless or self._is_answered(value, span, state)):
            state.wait()
        elif isinstance(value, Field) and self._only_signals(value):
            state.signalled |= {value.base}
        received = self.types.structures.element(self.types.of(value), "value")
        taken = Result(self.site(span, state), self.types.text(received))
        self.take_out(taken, value)
        return (taken,)

    def _is_answered(self, value: Fresh, span: Span, state: State) -> bool:
        """Whether a loop is left when the one goroutine that runs has said what it was waited for to say.

        `go s.load(ready)`, then `for { select { case <-ready: return; case <-ticker.C: report() } }`.
        """
        if len(state.running) != 1 or state.several or goes_round(self.function.body, span):
            return False
        found = lastwords.speaker(self.kept_at(value), self.id, self.symbols, calls=self.effects.calls)
        return found is not None and found[0] in state.running

    def _gives_once(self, channel: Name) -> bool:
        """Whether a variable of this function alone holds channels from which one thing comes at most."""
        held = self.function.bindings.get(channel.name, ())
        return (
            channel.scope == "local" and channel.name not in self.function.cells | self.pointed
            and any([isinstance(value, Attr | Call) for value in held])
            and all([value == Const(None) or self._is_of_timer(value) for value in held])
        )  # fmt: skip

    def _is_of_timer(self, value: Expr) -> bool:
        """Whether a call gives a channel through which one thing comes at most, or the timer whose field it is."""
        field = value.name if isinstance(value, Attr) else ""
        made = value.base if isinstance(value, Attr) else value
        if not isinstance(made, Call):
            return False
        called = only(self.evaluate(made.func, State()))
        row = self.knowledge.does(called.name, "gives-once") if isinstance(called, Builtin) else None
        return row is not None and row.returns == field

    def _only_signals(self, channel: Value) -> bool:
        """Whether nothing is sent through a channel but the fact itself: `chan struct{}`."""
        return self.types.structures.element(self.types.of(channel), "value") == LibraryType("struct")

    # --- written types ------------------------------------------------------------------------------------------------

    def cast(self, expr: Cast, state: State) -> Values:
        """A value seen as another type: what was known of it stays, else it is something of that type."""
        values = self.evaluate(expr.value, state)
        found = self.types.annotations.declared(self.id, expr.type)
        if found is None:
            return values
        site, name = self.site(expr.span, state), self.types.text(found)
        if name in COPYING:
            return (Fresh(name, site),)
        seen = unite([(self._seen_as(value, name, site),) for value in values])
        if self.traits.duck_typed or not (isinstance(found, ClassType) and self._is_by_value(found)):
            return seen
        return tuple([self._copied(value, found.type, site, state) for value in seen])

    def _is_constant(self, value: Value) -> bool:
        """Whether a value is a constant that has a name: `int32(running)`."""
        return isinstance(value, Global) and not self.traits.duck_typed and self.symbols.constant(value) is not None

    def _seen_as(self, value: Value, name: str, site: Site) -> Value:
        known = self.types.of(value)
        if isinstance(value, Cached) and not value.type:
            return value._replace(type=name)
        if (
            isinstance(value, Literal | FunctionValue | Partial)
            or self._is_constant(value)
            or (known is not None and not self._is_interface(known))
        ):
            return value
        if not isinstance(value, _REFERRING):
            if isinstance(value, Copy):
                return value
            return (
                self.retyped(value, name)
                if value in self.taken_out and isinstance(value, Result)
                else Result(site, name)
            )
        self.narrowed = True
        return seen_as(value, name)

    def _is_interface(self, found: ClassType | LibraryType) -> bool:
        if isinstance(found, LibraryType):  # of which nothing is known but its name
            return "/" in found.name and not found.pointer and self.types.structures.behaviour(found) is None
        return self.symbols.types[found.type][1].is_interface

    def make(self, expr: Make, state: State) -> Values:
        """A fresh object of a written type, with what its fields and elements are given."""
        keys = [() if key is None else self.evaluate(key, state) for key in expr.keys]
        parts = [self.taken(part, self.evaluate(part, state), state) for part in expr.parts]
        outer, self.filled_in = self.filled_in, _plain(part for _, part in expr.fields)
        fields = [(name, self.taken(part, self.evaluate(part, state), state)) for name, part in expr.fields]
        self.filled_in = outer
        site = self.site(expr.span, state)
        found = self.types.annotations.declared(self.id, expr.type)
        match found:
            case ClassType(type=type_id):
                return self._make_own(type_id, parts, keys, fields, site, state)
            case LibraryType(name=name) if name in ZEROS and not parts:
                return (Literal(ZEROS[name], name),)
            case LibraryType():
                made = Fresh(self.types.text(found), site)
                self._fill(made, parts, keys, state)
                self._contain(made, parts, keys)
                for name, values in fields:
                    state.heap[field(made, name)] = values
                    if f"{found.name}.{name}" in self.knowledge.concurrency.counts:
                        self.effects.counts[f"{found.name}.{name}"] = values
                self.registered_fields(self.types.text(found), fields, parts, expr.span)
                self.hand_stores((*parts, *[values for _, values in fields]))
                if not self._starts_fields(self.types.text(found), fields, expr.span, state):
                    if self._asks_by_own_interface(found, expr.span):
                        parts = [tuple([v for v in part if isinstance(v, FunctionValue | Partial)]) for part in parts]
                    self.hand_over(tuple(parts), tuple(fields), expr.span, state)
                return (made,)
            case None:
                self.hand_over(tuple(parts), tuple(fields), expr.span, state)
                return (Result(site),)

    def _asks_by_own_interface(self, found: LibraryType, literal: Span) -> bool:
        """Whether a loop that goes over a literal only asks its elements for what an interface of the program has.

        `for _, each := range []Group{&a, &b} { each.AddFlags(flags) }`: no library gets them. One without a name is of
        no known type.
        """
        if found.name not in LITERALS or not found.args:
            return False
        asked = self._asked_elements.get(literal)
        if asked is None:
            return False
        element = found.args[-1]
        known = self.symbols.types[element.type][1] if isinstance(element, ClassType) else None
        return element is None or (known is not None and known.is_interface and asked <= set(known.methods))

    @cached_property
    def _asked_elements(self) -> dict[Span, frozenset[str]]:
        return sweeps.asked_elements(self.function)

    def _starts_fields(self, name: str, fields: list[tuple[str, Values]], span: Span, state: State) -> bool:
        """Whether a library runs the callables that an object of it is made with."""
        row = self.knowledge.concurrency.start(name)
        if row is None or not row.fields:
            return False
        for _, values in [pair for pair in fields if pair[0] in row.fields]:
            for value in values:
                self.start(value, row.kind, span, state, alone=True)
        return True

    def _make_own(
        self, type_id: str, parts: list[Values], keys: list[Values], fields: list[tuple[str, Values]], site: Site,
        state: State,
    ) -> Values:  # fmt: skip
        """An object of a type of the project; an interface has none of its own."""
        _, record = self.symbols.types[type_id]
        if record.is_interface:
            return (NONE,)
        made = Fresh(type_id, site)
        self.effects.made[site.span, type_id] = bool(self.frames)
        if record.underlying is not None:
            self._fill(made, parts, keys, state)
            self._contain(made, parts, keys)
        for name, values in (*zip(record.fields, parts, strict=False), *fields):
            path = field(made, name)
            state.heap[path] = values
            self.keep_function(type_id, name, values)
            self.made_with(type_id, name, values, site.span)
            self.note_launcher(path, values)
            self.keep_store(path, values)
            for value in values:
                self.effects.store(path, value)
            self._note_lock(type_id, name, values)
        return (made,)

    def _contain(self, made: Fresh, parts: list[Values], keys: list[Values]) -> None:
        """What lies in a container made here."""
        for key, values in zip(keys, parts, strict=False):
            for value in values:
                self.put(made, value, key[0] if len(key) == 1 else None)

    def _note_lock(self, type_id: str, name: str, values: Values) -> None:
        """Remember a field that is given another object's lock; a copy of the same type has the same lock."""
        if len(values) != 1 or not isinstance(values[0], Param | Field | Global | Captured):
            return
        given = values[0]
        if isinstance(given, Field) and given.name == name and self.types.class_of(given.base) == type_id:
            return
        if self.lock_kind(given):
            known = self.summaries.hints.given_locks.setdefault((type_id, name), given)
            if known != given:
                self.summaries.hints.given_locks[type_id, name] = UNKNOWN

    def _fill(self, made: Fresh, parts: list[Values], keys: list[Values], state: State) -> None:
        for key, values in zip(keys, parts, strict=False):
            if len(key) == 1 and element(made, key[0]) != UNKNOWN:
                state.heap[element(made, key[0])] = values

    # --- objects held by value ----------------------------------------------------------------------------------------

    def taken(self, expr: Expr, values: Values, state: State) -> Values:
        """What an expression gives to whoever stores it: an object that is held by value is copied."""
        if self.traits.duck_typed or (isinstance(expr, Op) and expr.operator == "address"):
            return values
        behind = isinstance(expr, Op) and expr.operator == "deref"
        if not behind and self._leads_elsewhere(expr, values):
            return values
        self._read_whole(expr, values, state)
        if any([isinstance(value, Fresh) for value in values]) and isinstance(expr, Name | Attr):
            found = self._declared_as(expr)
            if isinstance(found, ClassType) and self._is_by_value(found):
                values = tuple([self._copied_again(value, self.site(expr.span, state), state) for value in values])
        return tuple([self.own_copy(value, getattr(expr, "span", None), state, behind=behind) for value in values])

    def _leads_elsewhere(self, expr: Expr, values: Values) -> bool:
        """Whether an expression gives a pointer to a struct in a field, a variable or a sequence: `r := s.get()`."""
        if not any([isinstance(value, Field | Element | Global) for value in values]):
            return False
        found = self.types.expressions.of(self.id, expr)
        return isinstance(found, ClassType) and not found.value

    def _declared_as(self, expr: Expr) -> TypeOf | None:
        """The type of a variable of this function, or of a part of one, whatever it holds."""
        if isinstance(expr, Name):
            return self.types.variable(self.id, expr.name) if expr.scope == "local" else None
        if not isinstance(expr, Attr):
            return None
        around = self._declared_as(expr.base)
        return self.types.field(around.type, expr.name) if isinstance(around, ClassType) else None

    def _copied_again(self, value: Value, site: Site, state: State) -> Value:
        """A copy of a struct that was made here: from now on there are two, unless they share a map."""
        if not isinstance(value, Fresh) or value.type not in self.symbols.types or self._has_map(value, value.type):
            return value
        return self._copy_struct(value, value.type, site, state, MOST_LEVELS)

    def _has_map(self, value: Value, type_id: str, levels: int = MOST_LEVELS) -> bool:
        """Whether a struct has a map, itself or in a part."""
        for name in self.symbols.types[type_id][1].fields:
            path = field(value, name)
            container, inner = self.types.container(path), self.types.of(path)
            if container is not None and container.kind == SHARED_CONTENT:
                return True
            part = inner.type if isinstance(inner, ClassType) and inner.value else ""
            if part and (levels == 0 or self._has_map(path, part, levels - 1)):
                return True
        return False

    def _read_whole(self, expr: Expr, values: Values, state: State) -> None:
        """A struct that lies in a field, or behind a pointer, is copied: all of its fields are read."""
        behind = isinstance(expr, Op) and expr.operator == "deref"
        if self.traits.duck_typed or not isinstance(expr, Attr | Op) or (isinstance(expr, Op) and not behind):
            return
        for value in values:
            found = self.types.of(value) if isinstance(value, _REFERRING) else None
            if isinstance(found, ClassType) and self._is_by_value(found, behind=behind):
                self._read_fields(value, found.type, expr.span, state, MOST_LEVELS)

    def _read_fields(self, whole: Value, type_id: str, span: Span, state: State, levels: int) -> None:
        for name in self.symbols.types[type_id][1].fields:
            path = self.place(whole, name)
            if is_shared_path(path):
                self.note(path, "read", span, state, WHOLE)
            found = self.types.of(path)
            if levels > 1 and isinstance(found, ClassType) and self._is_by_value(found):
                self._read_fields(path, found.type, span, state, levels - 1)

    def dereferenced(self, expr: Expr, values: Values, state: State) -> Values:
        """What an expression gives to whoever uses it: a copy of what is there, if it follows a pointer."""
        if isinstance(expr, Op) and expr.operator == "deref":
            return self.taken(expr, values, state)
        self._read_whole(expr, values, state)
        return values

    def own_copy(
        self, value: Value, span: Span | None, state: State, *, behind: bool = False, declared: TypeOf | None = None
    ) -> Value:
        """A copy of an object that is held by value (or is `behind` a pointer that is followed), else the value.

        `declared` is its type where that is not known: what a method gives may lie in what an interface stands for.
        """
        if span is None or not isinstance(value, _REFERRING):
            return value
        found = self.types.of(value)
        if found is None and declared is not None:
            found, value = declared, seen_as(value, self.types.text(declared))
        self.summaries.hints.exact.add(span)
        if not isinstance(found, ClassType):
            if not behind or self.types.container(value) is not None:
                return value
            return copy_of(value, self.types.text(found), self.site(span, state))
        if not self._is_by_value(found, behind=behind):
            return value
        return self._copied(value, found.type, self.site(span, state), state)

    def _is_by_value(self, found: ClassType, *, behind: bool = False) -> bool:
        """Whether what has a type is a struct itself, or one `behind` a pointer that is followed."""
        return (found.value or behind) and self.types.annotations.is_value(found.type)

    def _copied(self, value: Value, type_id: str, site: Site, state: State) -> Value:
        """A copy of a struct that is elsewhere as well, also of one that lies in an interface: `value.(Session)`."""
        return self._copy_struct(value, type_id, site, state, MOST_LEVELS) if isinstance(value, _REFERRING) else value

    def _copy_struct(self, value: Value, type_id: str, site: Site, state: State, levels: int) -> Value:
        """A new object whose fields hold what the old one's hold; what is inline is copied with it."""
        made = Fresh(type_id, site)
        self.copies[made] = _copy_of_turn(value, type_id, site)
        for name, record in self.symbols.types[type_id][1].fields.items():
            path = field(value, name)
            inner = self.types.of(path)
            inline = isinstance(inner, LibraryType) and not inner.pointer and self.types.container(path) is None
            if path == UNKNOWN or inline:
                continue
            if isinstance(inner, ClassType) and inner.value:
                if levels > 0:
                    part = site._replace(origin=_part(site.origin, record.span))
                    nested = self._copy_struct(path, inner.type, part, state, levels - 1)
                    state.heap[field(made, name)] = (nested,)
            else:
                state.heap[field(made, name)] = self.read(path, state)
        return made


def _part(around: Span | None, span: Span) -> Span:
    """Where a part of a copy is declared; of a part of a part, from the field around it to its own."""
    return span if around is None else Span(around.line, around.column, span.line, span.column)


def _copy_of_turn(value: Value, type_id: str, site: Site) -> Value:
    """A copy; of the element at which a loop stands, its variable is one in each turn."""
    found = copy_of(value, type_id, site)
    stands = isinstance(value, Element) and isinstance(value.key, Member) and value.key.site == site
    if isinstance(found, Fresh) and isinstance(value, Element) and stands and not mentions(value.base, site):
        return bounded(Copy(value, type_id, site))
    return found


def _has_room(expr: Expr) -> bool:
    """Whether an expression is a window that ends somewhere, behind which its memory goes on."""
    return isinstance(expr, Op) and expr.operator == "window" and len(expr.operands) == BOUNDED


def _plain(parts: Iterable[Expr]) -> frozenset[Span]:
    """Where fields are read that are put into a struct as they are, or converted: `Report{Size: float64(s.size)}`."""
    found: set[Span] = set()
    for part in parts:
        match part:
            case Attr(span=span) | Cast(value=Attr(span=span)) | Call(args=(Attr(span=span),), keywords=()):
                found.add(span)
            case _:
                pass
    return frozenset(found)
