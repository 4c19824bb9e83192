"""Locks while a function runs: what is a lock, and which are certainly held."""

from __future__ import annotations

from racelint.analysis.attributes import Attributes
from racelint.analysis.body import MOST_EVENTS, visible
from racelint.analysis.paths import root
from racelint.analysis.starting import Starting
from racelint.analysis.state import MAYBE_HELD, Held, State, surely_held
from racelint.analysis.types import ClassType, LibraryType
from racelint.analysis.values import (
    UNKNOWN,
    Builtin,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    Global,
    Literal,
    Param,
    Result,
    TypeValue,
    Value,
    Values,
)
from racelint.model import Attr, Call, Name
from racelint.record import records
from racelint.span import Span

NAMED = (
    "lock",
    "mutex",
    "mutx",
    "cond",
    "semaphore",
    "exclusive",
    "synchron",
    "critical",
    "atomic",
    "guard",
)  # how locks of unknown type are called


class Locking(Starting, Attributes):
    """Takes and gives back locks."""

    def lock_kind(self, value: Value) -> str:
        """The kind of lock that a value is: a knowledge row's, "unknown" for one by its name, "" for none."""
        if not self.traits.duck_typed and self.summaries.turnstiles.taken_by(value):
            return "exclusive"
        found = self.types.of(value)
        match found:
            case LibraryType(name=name):
                row = self.knowledge.concurrency.locks.get(name)
                if row is None and self.traits.duck_typed and isinstance(value, Element) and lock_entry(value.key):
                    return "unknown"  # what other entries are says little: `{"size": 0, "lock": Lock()}`
                if row is not None and row.kind == "counted" and self.is_bound_to_one(value):
                    return "async" if name.startswith("asyncio") else "exclusive"
                return row.kind if row is not None else "unknown" if self._is_declared(value) else ""
            case ClassType(type=type_id):
                for ancestor in self.symbols.ancestors(type_id):
                    if isinstance(ancestor, Builtin) and ancestor.name in self.knowledge.concurrency.locks:
                        return self.knowledge.concurrency.locks[ancestor.name].kind
                made_of = self.types.annotations.structure(found)
                row = self.knowledge.concurrency.locks.get(getattr(made_of, "name", ""))  # `type Locker sync.Locker`
                own = row.kind if row is not None else self._own_lock(type_id)
                return own or ("unknown" if self._is_declared(value) else "")
        if isinstance(value, Param):
            parameters = self.symbols.functions[value.function][1].parameters
            named = value.index < len(parameters) and sounds_like_lock(parameters[value.index].name)
            return "unknown" if named else ""
        return "unknown" if is_named_lock(value) or self._is_declared(value) else ""

    def _is_declared(self, value: Value) -> bool:
        """Whether an annotation names something as a lock."""
        return isinstance(value, Field | Global | Captured) and value.name in self.symbols.declared_locks

    def publish(self, path: Value, values: Values, state: State) -> None:
        """What a shared path holds is no longer this function's own."""
        self.expose(path, values, state)
        for value in values:
            if isinstance(value, (Fresh, Copy)) and (self._has_state(value) or self.types.container(value) is not None):
                self.holders[value] = path
        if isinstance(path, Global) or (isinstance(path, Field) and isinstance(path.base, TypeValue)):
            self.published.update(values)

    def _has_state(self, value: Value) -> bool:
        """Whether two contexts must not use an object of a library at once."""
        found = self.types.of(value)
        return isinstance(found, LibraryType) and found.name in self.knowledge.unsafe

    def expose(self, path: Value, values: Values, state: State) -> None:
        """Remember where others find objects that were made here, in a language in which that is compared."""
        start = root(path)
        if self.traits.atomic_steps or not isinstance(start, Param | Global | Captured):
            return
        if not isinstance(start, Captured) or self.id.startswith(f"{start.function}."):  # else of a call, gone with it
            for value in values:
                if isinstance(value, Fresh):
                    if self.effects.exposed.setdefault(value, path) != path:
                        self.effects.spread.add(value)
                    state.exposed |= {value}
                elif isinstance(value, Field):
                    self.effects.owned.discard(value)

    def _own_lock(self, type_id: str) -> str:
        """The kind of lock that a class of the project is, by its methods and its name."""
        waits = self.symbols.method(type_id, "__aenter__") is not None
        enters = waits or self.symbols.method(type_id, "__enter__") is not None
        methods = self.symbols.method(type_id, "acquire") and self.symbols.method(type_id, "release")
        if not self.traits.duck_typed:
            methods = self.symbols.method(type_id, "Lock") and self.symbols.method(type_id, "Unlock")
            return "exclusive" if methods and (_is_called_lock(type_id) or self._is_only_lock(type_id)) else ""
        named = enters and (_is_called_lock(type_id) or type_id.lower().endswith("condition"))
        return ("async" if waits else "exclusive") if methods or named else ""

    def _is_only_lock(self, type_id: str) -> bool:
        """Whether an interface of the project asks for nothing but what takes and gives back a lock."""
        record, concurrency = self.symbols.types[type_id][1], self.knowledge.concurrency
        return record.is_interface and concurrency.takes.union(concurrency.gives).issuperset(record.methods)

    def take(self, value: Value, span: Span, state: State, *, shared: bool = False, discarded: bool = False) -> bool:
        """Hold a value from here on if it is a lock; `shared` is the side that does not exclude itself.

        `discarded` says that nobody uses what the method has given that takes it.
        """
        kind = self.lock_kind(value)
        plain = (discarded and self._is_given_back(value)) or not self.traits.duck_typed
        if not kind and plain and not isinstance(self.types.of(value), ClassType):
            kind = "unknown"  # what has methods of that name is a lock
        kind = "shared" if kind and shared else kind
        if kind and kind != "counted":
            self.effects.taken.add(value)
            held = Held(self.shared_locals.get(value, value), span, kind)
            if held not in state.held:
                state.held = (*[h for h in state.held if h.lock != held.lock or h.kind != MAYBE_HELD], held)
            state.released -= {value}
        return bool(kind)

    def _is_given_back(self, value: Value) -> bool:
        """Whether this function also gives back what goes by the name of a value: `self.access.release()`."""
        gives = self.knowledge.concurrency.gives
        calls = [node.func for node in records(self.function.body) if isinstance(node, Call)]
        bases = [func.base for func in calls if isinstance(func, Attr) and func.name in gives]
        names = {base.name for base in bases if isinstance(base, Attr | Name)}
        return isinstance(value, Field | Global | Captured) and value.name in names

    def give_back(self, value: Value, state: State) -> None:
        """A lock is released; one that this function did not take is its caller's."""
        value = self.shared_locals.get(value, value)
        found = self.found_under.get(value, ())
        of_all = {lock for lock in self.of_all if _is_of_one_container(lock, value)}
        kept = tuple([h for h in state.held if h.lock != value and h.lock not in found and h.lock not in of_all])
        taken = any([held.lock == value or held.lock in of_all for held in surely_held(state.held)])
        nameable = visible(value) and len(state.released) < MOST_EVENTS
        if not taken and nameable and not self.perhaps and self.lock_kind(value) not in ("", "counted"):
            state.released |= {value}
        state.held = kept

    def lock_method(self, base: Value, name: str, args: tuple[Values, ...], span: Span, state: State) -> None:
        """`lock.acquire()` and `lock.release()`, `condition.wait()` and `condition.notify()`."""
        concurrency = self.knowledge.concurrency
        found = self.types.of(base)
        row = concurrency.locks.get(found.name) if isinstance(found, LibraryType) else None
        if name in (row.take if row is not None else concurrency.takes):
            discarded = not args and span == self.effects.discarded  # who takes a connection uses it
            shares = row.share if row is not None else concurrency.shares
            self.take(base, span, state, shared=name in shares, discarded=discarded)
        elif name in (row.give if row is not None else concurrency.gives):
            self.give_back(base, state)
        elif row is not None and name in row.wait and not args:
            self._wait(base, span, state)
        elif row is not None and name in row.notify:
            self.effects.notified.add(base)

    def own_lock_method(self, function_id: str, lock: Value, span: Span, state: State) -> None:
        """`lock.acquire()` and `lock.release()` of a project's class that is a lock by its methods and its name."""
        name, function = function_id.rpartition(".")[2], self.symbols.functions[function_id][1]
        takes, gives = name in self.knowledge.concurrency.takes, name in self.knowledge.concurrency.gives
        found = self.types.of(lock) if (takes or gives) and not function.is_async else None
        if not isinstance(found, ClassType) or not (self._own_lock(found.type) and _is_called_lock(found.type)):
            return
        if takes:
            self.take(lock, span, state)
        else:
            self.give_back(lock, state)

    def pass_turnstile(self, operation: str, channels: Values, span: Span, state: State) -> None:
        """Take channels that are locks, or give them back."""
        for channel in channels:
            held = self.shared_locals.get(channel, channel)
            taken_by = self.summaries.turnstiles.taken_by(held)
            if taken_by == operation:
                self.take(held, span, state)
            elif taken_by and operation != "close":
                self.give_back(held, state)

    def _wait(self, condition: Value, span: Span, state: State) -> None:
        """Sleep until notified: an act that depends on every test that was made before the condition was taken."""
        for path, check in state.checks.items():
            if all(held.lock != condition for held in check.read.held):
                self.effects.act(check.read, path, "wait", span, "condition", state, "")

    def enter(self, values: Values, span: Span, state: State) -> Values:
        """Enter a context manager: what it holds over its body, and what it gives."""
        entered: Values = ()
        locks = [value for value in values if self.lock_kind(value)]
        if len(values) == 1 and locks:
            self.take(locks[0], span, state)
        elif locks:  # one of several: some lock is held
            self.effects.taken.update(locks)
            state.held = (*state.held, Held(UNKNOWN, span, "unknown"))
        for value in values:
            owner = self.types.class_of(value)
            method = next(
                (m for n in ("__enter__", "__aenter__") if owner and (m := self.symbols.method(owner, n))), None
            )
            if method is not None and not locks:
                entered = (*entered, *self.invoke(method, value, (), (), span, state))
            elif isinstance(value, Fresh):
                entered = (*entered, value)
        for lock in self.entered:  # a generator that is a context manager
            kind = self.lock_kind(lock)
            state.held = (*state.held, Held(lock, span, kind or "unknown"))
        if not locks and not self.entered and self._may_be_lock(values):
            state.held = (*state.held, Held(UNKNOWN, span, "unknown"))
        return entered

    def _may_be_lock(self, values: Values) -> bool:
        """Whether something of unknown type is entered that could be a lock: what an unresolved method returned."""
        called = [self.opaque_calls.get(v.site.span, "") for v in values if isinstance(v, Result) and not v.type]
        return any([sounds_like_lock(name) for name in called])


def _is_called_lock(type_id: str) -> bool:
    """Whether a class of the project says by its name that it is a lock: one of those that exclude all others."""
    return type_id.lower().endswith(("lock", "mutex"))


def _is_of_one_container(lock: Value, other: Value) -> bool:
    """Whether two locks are those of two elements of one container, or of one element."""
    match lock, other:
        case (Field(base=base, name=name), Field(base=theirs, name=named)):
            return name == named and _is_of_one_container(base, theirs)
        case (Element(base=base), Element(base=theirs)):
            return base == theirs
        case _:
            return lock == other


def is_named_lock(value: Value) -> bool:
    """Whether a value of unknown type goes by the name of a lock, maybe as an entry: `session["lock"]`."""
    while isinstance(value, Element):
        if lock_entry(value.key):
            return True
        value = value.base
    match value:
        case Field(name=name) | Global(name=name) | Captured(name=name):
            return sounds_like_lock(name)
        case _:
            return False


def lock_entry(key: Value) -> str:
    """The constant key of an entry that is a lock by that name: each object has one of its own; "" for any other."""
    name = key.value if isinstance(key, Literal) else None
    return name if isinstance(name, str) and sounds_like_lock(name) else ""


def sounds_like_lock(name: str) -> bool:
    """Whether something of unknown type goes by the name of what excludes others."""
    return any(word in name.lower() for word in NAMED)
