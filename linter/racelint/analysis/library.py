"""Calls of libraries: what the knowledge tables say of functions and of containers' methods."""

from __future__ import annotations

from racelint.analysis.body import (
    Keywords,
)
from racelint.analysis.effects import RUNNING, STATEFUL
from racelint.analysis.failing import FAILURE
from racelint.analysis.loops import iterated
from racelint.analysis.origins import SPREADS, Origins
from racelint.analysis.paths import bounded, copy_of, element, lazy, mapped, only, union, unite, view
from racelint.analysis.settling import is_filler
from racelint.analysis.state import Held, State
from racelint.analysis.summary import Place
from racelint.analysis.types import LibraryType
from racelint.analysis.unended import done_unless
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Fresh,
    FunctionValue,
    Lazy,
    Literal,
    Member,
    Partial,
    Result,
    Site,
    Tuple,
    Unknown,
    Value,
    Values,
    View,
)
from racelint.knowledge import Container, LibraryFunction
from racelint.model import Call, Eval
from racelint.record import records
from racelint.span import Span

ATOMIC = "sync/atomic"
UNTYPED_POINTER = "unsafe.Pointer"
LISTS = frozenset({"filter", "map", "zip"})  # functions of Python 2 that give lists
LAZY = ("iter", "view", "__")  # methods of Python 2 whose results follow the changes of a dict


class Library(Origins):
    """Applies knowledge rows."""

    def _library(self, name: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State) -> Values:
        site = self.site(call, state)
        self.started_by(name, args, keywords, call, state)
        self.tell_flag(name, args[0] if args else (), args, call, state)
        if len(args) > 1:
            self.count_in_one_step(name, args[0], args[1], call, state)
        container_type, _, method = name.rpartition(".")
        if method == "fromkeys":
            return (Fresh(container_type, site),)
        if container_type and args and self.knowledge.container(container_type) is not None:
            return unite(
                [self._library_method(base, method, args[1:], call, state) for base in args[0]]
            )  # dict.pop(d, k)
        if args and self.knowledge.does(name, "takes-one") is not None:
            self.use_next(args[0], call, state)
        row = self.knowledge.does(name, "calls-while-iterating")
        if row is not None and not self._is_never_walked(name, call):
            self._calls_while_iterating(row, args, keywords, call, state)
        self._note_repetition(name, args, keywords)
        if args and self.knowledge.walks(name, [n for n, given in keywords if given != (NONE,)]):
            self._walk_all(args[0], call, state)
        elif args and self.knowledge.does(name, "walks"):
            self._walk_all(tuple([value for value in args[0] if value in self.calling]), call, state)
        for row in self.knowledge.rows(name):
            found = self._by_row(row, name, args, keywords, site, state)
            if found is not None:
                return found
        if name in self.knowledge.unsafe:
            return (Fresh(name, site),)
        if self.knowledge.container(name) is not None or name in self.knowledge.aliases:
            return self._new(Fresh(self.knowledge.canonical(name), site), empty=not args)
        last = name.rpartition(".")[2]
        if last[:1].isupper() and not last.isupper() and self.traits.capital_types:
            return (Fresh(name, site),)  # the class of a library
        base, _, last = name.rpartition(".")
        if base and self.types.of(Builtin(base)) is not None:
            return self._library_method(Builtin(base), last, args, call, state)
        return (Result(site),)

    def _walk_all(self, values: Values, span: Span, state: State) -> None:
        """Something walks containers in several steps: it is not made of C alone, or there is no lock on them."""
        for value in values:
            for container, _ in iterated(value):
                self.note(container, "iterate", span, state, self.container_kind(container))

    def _new(self, container: Fresh, *, empty: bool) -> Values:
        if empty:
            self.displays[container] = ()
        return (container,)

    def _by_row(
        self, row: LibraryFunction, name: str, args: tuple[Values, ...], keywords: Keywords, site: Site, state: State
    ) -> Values | None:
        first = args[0] if args else ()
        match row.does:
            case "snapshot":
                kind = "list" if name == "sorted" else name
                if not first or (self.knowledge.container(name) is None and name not in ("sorted", "copy.copy")):
                    return self._new(Fresh(kind, site), empty=not args and not keywords)
                self._walk_all(tuple([value for value in first if value in self.calling]), site.span, state)
                for value in [value for value in first if value not in self.calling]:
                    for container, _ in iterated(value):
                        self.note(container, "snapshot", site.span, state)
                if name == "copy.copy":
                    self.summaries.hints.exact.add(site.span)
                return tuple([self.copied(v, site, "" if name == "copy.copy" else kind) for v in first])
            case "deep-copy" if not row.keyword and self.traits.duck_typed:
                for value in first:
                    for container, _ in iterated(value):
                        self.note(container, "iterate", site.span, state, self.container_kind(container))
                return tuple([Fresh(self._type_name(v), site) for v in first]) or NOTHING_KNOWN
            case "lazy":
                skipped = self.knowledge.does(name, "calls-while-iterating")
                sources = [v for i, values in enumerate(args) if not (skipped and i == 0) for v in values]
                made = lazy(name.rpartition(".")[2], tuple(sources))
                if skipped and any([isinstance(value, FunctionValue | Partial) for value in first]):
                    self.calling.add(made)
                return (made,) if self.traits.live_views or name not in LISTS else self._listed(made, site, state)
            case "view" if first:
                return tuple([view(v, row.returns) for v in first])
            case "same" if len(args) > row.argument:
                same = args[row.argument]
                return (Tuple((same, *[NOTHING_KNOWN] * (row.results - 1))),) if row.results > 1 else same
            case "copies" if first:
                return self.grown(first, site.span, state)
            case "awaits":
                return tuple([v for values in args for v in values if isinstance(v, Partial)]) or NOTHING_KNOWN
            case "picks" if first:
                picked = unite([self.element_of(v, site) for v in first])
                state.present |= {(key.base, key) for key in picked if isinstance(key, Member)}
                return picked
            case "yields":
                parts = [
                    (Fresh(kind, Site(site.function, _nth(site.span, i), site.origin)),) if kind else NOTHING_KNOWN
                    for i, kind in enumerate(row.types)
                ]
                return (lazy("generator", (), (Tuple(tuple(parts)),)),)
            case "writes":
                for value in args[row.argument] if len(args) > row.argument >= 0 else ():
                    self.mutate(value, f"{name.rpartition('.')[2]}()", "content", site.span, state)
                return None
            case "returns" if first:
                self.returns(first)
                self.stopped = True
                return NOTHING_KNOWN
            case "fails":
                return (Result(site, FAILURE),)
            case "cancellable":
                return (Tuple(((Result(site, row.returns),), NOTHING_KNOWN)),)
            case "suspends":
                self.suspend(site.span, state)
                return None
            case "makes" | "new":
                return (Fresh(row.returns, site),)
            case "makes-and-more":
                return (Tuple(((Fresh(row.returns, site),), NOTHING_KNOWN)),)
            case "atomic":
                self._note_atomic(first, row.returns, site.span, state)
                return None
            case "never-returns":
                self.stopped = True
                return NOTHING_KNOWN
            case "partial" if args:
                return tuple([UNKNOWN if v == UNKNOWN else bounded(Partial(v, args[1:], keywords)) for v in first])
            case _:
                return None

    def _listed(self, made: Value, site: Site, state: State) -> Values:
        """What goes over its sources at once, in Python 2, and gives a list of what it has found."""
        if made in self.calling:
            self._walk_all((made,), site.span, state)
        else:
            for container, _ in iterated(made):
                self.note(container, "snapshot", site.span, state)
        return (self.copied(made, site, "list"),)

    def _is_never_walked(self, name: str, call: Span) -> bool:
        """Whether a call makes an iterator that nobody gets: `map(self.drop, names)` as a statement runs nothing."""
        if not self.traits.live_views or self.knowledge.does(name, "lazy") is None:
            return False
        thrown = [part.value for part in records(self.function.body) if isinstance(part, Eval)]
        return any([isinstance(value, Call) and value.span == call for value in thrown])

    def _note_atomic(self, words: Values, kind: str, span: Span, state: State) -> None:
        """One step on a word, which only excludes other such steps: what all of them hold is the hardware's lock."""
        outer, state.held = state.held, (*state.held, Held(Builtin(ATOMIC), span, "exclusive"))
        for word in words:
            if self.types.is_one_of(word, self.traits.scalars | {UNTYPED_POINTER}):  # else it is where a word is
                self.note(word, kind, span, state)
        state.held = outer

    def _calls_while_iterating(
        self, row: LibraryFunction, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> None:
        callables = dict(keywords).get(row.keyword, ()) if row.keyword else args[row.callable] if args else ()
        if len(args) <= row.iterable:
            return
        here = Place(self.id, call)
        live = [(container, here) for value in args[row.iterable] for container, _ in iterated(value)]
        if row.keyword and any([isinstance(callee, FunctionValue | Partial) for callee in callables]):
            self._walk_all(args[row.iterable], call, state)  # at once: what is lazy is walked by who asks for elements
        elements = NOTHING_KNOWN
        for callee in callables:
            if isinstance(callee, FunctionValue | Partial):
                with self.collecting() as events:
                    self.apply(callee, (elements,), (), call, state)
                self.conflicts_during(live, here, events)

    def _note_repetition(self, name: str, args: tuple[Values, ...], keywords: Keywords) -> None:
        """A timer is made; or this function, for one, asks what is ready, or makes a timer for its own next run."""
        if self.knowledge.does(name, "polls"):
            self.effects.polls = True
        row = self.knowledge.does(name, "repeats") or self.knowledge.does(name, "delays")
        if row is None:
            return
        given = dict(keywords).get(row.keyword, args[row.callable] if row.callable < len(args) else ())
        for value in given:
            target = value.callee if isinstance(value, Partial) else value
            if isinstance(target, FunctionValue) and (row.does == "repeats" or target.function == self.id):
                self.summaries.usage.timed(target.function)

    def _library_method(
        self, base: Value, name: str, args: tuple[Values, ...], call: Span, state: State, by_name: bool = False
    ) -> Values:
        """A method of a container, or of something that may be one; of any other type nothing is known.

        `by_name` says that the call gives arguments by name.
        """
        if isinstance(base, View) and self.knowledge.kinds["list"].change(name) is not None:
            self._is_list(base, call, state)
        container = self.types.container(base)
        known = container is not None
        self.lock_method(base, name, args, call, state)
        if container is None:
            found = self.types.of(base)
            library = found.name if isinstance(found, LibraryType) else "*" if found is None else ""
            if library and self.knowledge.does(f"{library}.{name}", "never-returns") is not None:
                self.stopped = True
            if isinstance(found, LibraryType):
                self.use_state(base, found.name, name, call, state)
                if self.knowledge.does(f"{found.name}.{name}", "polls"):
                    self.effects.polls = True
                if self.knowledge.does(f"{found.name}.{name}", "tells-cause"):
                    self.ends.call_done(call, None, done_unless(base, state))
                if self.knowledge.does(f"{found.name}.{name}", "fails"):
                    return (Result(self.site(call, state), FAILURE),)
                if (row := self.knowledge.does(f"{found.name}.{name}", "new")) is not None:
                    return (Fresh(row.returns, self.site(call, state)),)
            container = self.knowledge.guess
            if found is not None or base == UNKNOWN or self._is_no_container(container, name, args, by_name):
                return (Result(self.site(call, state)),)
            if self._gives_another(container, name, call):
                return (Result(self.site(call, state)),)
        if name in container.views and not args and not (self.traits.live_views or name.startswith(LAZY)):
            self.note(base, "snapshot", call, state, container.kind if known else "?")
            return (self.copied(base, self.site(call, state), "list"),)
        if name in container.views and not args:
            return (view(base, container.views[name]),)
        if name in container.copies:
            self.note(base, "snapshot", call, state, container.kind if known else "?")
            return (self.copied(base, self.site(call, state)),)
        position = container.insert.get(name, 0)
        keys = args[position] if 0 <= position < len(args) else self._of_rest(position - len(args))
        key = only(keys)
        result: Values = (Result(self.site(call, state)),)
        change = container.change(name)
        if name in container.reads and change != "remove":
            self.note(base, "peek", call, state, container.kind if known else "?")
        if name in container.reads and container.kind != "list":
            result = self.from_table(base, key, state) if change is None else ()
            result = result or self.opaque(self.read(element(base, key), state), call, state)
            if name == "get" and len(args) > 1:
                result = union(result, tuple([v for v in args[1] if not isinstance(v, Fresh) and v != NONE]))
        if change is not None and not (name == "update" and self._adds_nothing(args, base, state)):
            added = tuple([v for values in args for v in values])
            if change in ("append", "insert"):
                held = [v for index, values in enumerate(args) if index != position or len(args) == 1 for v in values]
                self.fill(base, f".{name}()", tuple(held), call, state)
            harmless = name == "discard" or (name == "pop" and len(args) > 1)
            self.settling = name == "setdefault" and all([is_filler(v) for values in args[1:] for v in values])
            self.change(base, change, f".{name}()", keys, call, state, added=added, certain=known, harmless=harmless)
            self.settling = False
        if change == "insert" and f".{name}()" in SPREADS and args:
            self._take_over(base, args[0], state)
        return result

    def _of_rest(self, index: int) -> Values:
        """An argument that the caller has given for one of the call at hand: `super().__setitem__(*args)`."""
        return tuple([element(rest, Literal(index, "int")) for rest in self.rest]) if index >= 0 else ()

    def _gives_another(self, container: Container, name: str, call: Span) -> bool:
        """Whether somebody uses what a method gives which gives nothing where it changes a container in place.

        `schema = schema.insert(0, field)`: an object that stays as it is, and another one.
        """
        if container.change(name) is None or name in container.reads or name.startswith("pop"):
            return False
        return call not in self.symbols.bare_calls(self.id)

    def use_state(self, base: Value, library: str, method: str, call: Span, state: State) -> None:
        """A method of an object that two contexts must not use at once."""
        row = self.knowledge.unsafe.get(library)
        use = row.use(method) if row is not None else None
        if row is None or use is None or (method in row.coroutines and self._is_for_loop(call)):
            return
        if not self.types.shells.is_safe(base, row, method):
            self.note(base, use, call, state, RUNNING if row.is_running(method) else STATEFUL)

    def _is_for_loop(self, call: Span) -> bool:
        """Whether a coroutine is made only to be handed to the loop of another thread:
        `asyncio.run_coroutine_threadsafe(queue.get(), loop)`.
        """
        for node in records(self.function.body):
            if isinstance(node, Call) and any(isinstance(arg, Call) and arg.span == call for arg in node.args):
                target = self.symbols.meant(self.id, node.func)
                row = self.knowledge.concurrency.start(target.name) if isinstance(target, Builtin) else None
                return row is not None and row.kind == "remote"
        return False

    def use_next(self, iterators: Values, span: Span, state: State) -> None:
        """An element is asked for of an iterator, which has a state of its own."""
        for iterator in iterators:
            found = self.types.of(iterator)
            if isinstance(found, LibraryType):
                self.use_state(iterator, found.name, "__next__", span, state)

    def _is_no_container(self, guess: Container, name: str, args: tuple[Values, ...], by_name: bool) -> bool:
        """Whether what has no type takes what no container does: arguments by name (options of a copy apart), a key
        that cannot be hashed, a text for the position in a list.
        """
        if not self.traits.duck_typed or (by_name and name not in (*guess.by_name, *guess.copies)):
            return True
        if name == "insert" and args and any([isinstance(v, Literal) and v.type == "str" for v in args[0]]):
            return True  # `database.insert("table", row)`
        keys = args[0] if args and name in guess.reads else ()
        return any([isinstance(key, Fresh) and self.types.container(key) is not None for key in keys])

    def _take_over(self, base: Value, given: Values, state: State) -> None:
        """The entries of a display replace those of the mapping that takes it over."""
        for value in given if len(given) == 1 else ():
            for key in self.displays.get(value, ()):
                taken, path = state.heap.get(element(value, key)), element(base, key)
                if taken is not None and path != UNKNOWN:
                    state.heap[path] = taken

    def _is_list(self, seen: View, call: Span, state: State) -> None:
        """What has a list's methods is no view: `keys()` gave a list, a copy, or Python 3 does not come by here."""
        listed = self.copied(seen, self.site(call, state), "list")
        state.variables = {name: _replaced(values, seen, listed) for name, values in state.variables.items()}
        state.heap = {path: _replaced(values, seen, listed) for path, values in state.heap.items()}

    def _adds_nothing(self, args: tuple[Values, ...], base: Value, state: State) -> bool:
        """`d.update(x)` where x is empty or made of keys that are there."""
        for value in args[0] if args else ():
            keys = self.displays.get(value)
            if keys is None or not all([(base, key) in state.present for key in keys]):
                return False
        return True

    def copied(self, value: Value, site: Site, kind: str = "") -> Value:
        """A fresh container with the elements of another; of something unknown just a fresh one."""
        if isinstance(value, Unknown | Literal | Tuple) or (
            isinstance(value, Lazy) and value.kind in ("generator", "rounds", "map")
        ):
            return Fresh(kind or "list", site) if kind else UNKNOWN
        found = self.knowledge.container(kind) if kind else None
        base = mapped(value) if found is not None and found.kind == "mapping" else value
        return copy_of(base, kind or self._type_name(value), site)

    def _type_name(self, value: Value) -> str:
        found = self.types.of(value)
        if found is None:
            return ""
        return found.name if isinstance(found, LibraryType) else found.type


def _replaced(values: Values, old: Value, new: Value) -> Values:
    return tuple([new if value == old else value for value in values]) if old in values else values


def _nth(span: Span, position: int) -> Span:
    """A place of its own for each of several objects that one call makes."""
    return span._replace(end_column=span.end_column + position)
