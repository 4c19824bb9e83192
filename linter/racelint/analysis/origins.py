"""Origins: which objects are shared, what containers made here hold, and which objects a function changes in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racelint.analysis.body import MOST_CALLS, MOST_FIELDS, MOST_GUESSED_CALLS, NESTED, visible
from racelint.analysis.byvalue import lies_in
from racelint.analysis.effects import CALLABLE
from racelint.analysis.entries import Entries
from racelint.analysis.handing import Handing, named_in
from racelint.analysis.paths import Substitute, copy_of, prefixes, rebased, root, uncopied, unite
from racelint.analysis.settling import SORTS, filled, placed, put_in_order
from racelint.analysis.sharing import FIELD, MOST_CHANGES, MOST_CONTENTS, Change, Content
from racelint.analysis.state import Call as CallStep
from racelint.analysis.state import Conditions, State
from racelint.analysis.summary import Summary
from racelint.analysis.types import ClassType, LibraryType, TypeOf
from racelint.analysis.values import (
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    Global,
    Literal,
    Member,
    Param,
    Result,
    Seen,
    Site,
    Tuple,
    TypeValue,
    Unknown,
    Value,
    Values,
    View,
)
from racelint.model import Attr, Expr, Function, Item, Name, Op, Source
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

SPREADS = frozenset({".update()", ".extend()", ".extendleft()", "|=", "+="})  # operations that take over elements
REMOVALS = frozenset({".pop()", ".popitem()", ".popleft()", ".remove()", ".discard()", ".clear()", "del"})
QUIET = frozenset({".sort()", ".reverse()"})
PLACING = frozenset({".remove()", ".insert()", ".append()", ".sort()", *[f"{name}()" for name in SORTS]})
READS = frozenset({"[...]"})  # an entry that reading adds is no change of the object's content

_ROOTS = frozenset({Param, Captured, Global, TypeValue, Cached})


class Origins(Handing, Entries):
    """Follows shared objects through one function."""

    def __init__(self, function_id: str, source: Source, function: Function, summaries: Summaries) -> None:
        super().__init__(function_id, source, function, summaries)
        self._pending: list[tuple[Change, Conditions]] = []  # of what comes out of channels that are made here

    # --- changes ------------------------------------------------------------------------------------------------------

    def mutate(self, target: Value, operation: str, kind: str, span: Span, state: State, keys: Values = ()) -> None:
        """An object is changed in place."""
        start = type(root(target))
        if type(target) is Copy and (kind == "content" or not self.traits.duck_typed) and start in _ROOTS:
            self.summary.reworked.add(target)
        copied = self.copies.get(target)
        if isinstance(copied, Copy) and copied.site.span != self.function.span:  # a parameter is a copy anyway
            self.summary.reworked |= {copied, copied.base}
        taken = start is Result and root(target) in self.taken_out
        if type(target) is Copy or operation in READS or not (start in _ROOTS or start is Fresh or taken):
            return
        names = named_in(self.sink) if self.sink is not None else ()
        change = Change(target, kind, operation, names, self.id, span, (), self.certain, keys, self.several)
        change = change._replace(settled=True) if self.settling or self._only_places(operation, span) else change
        if operation.endswith(" =") and self._fills(span):
            change = change._replace(fills=True)
        if not self.traits.duck_typed and self.sink is not None:
            change = change._replace(through=self._named_by(self.sink, state))
        self._record_all(change, state.conditions())

    def _only_places(self, operation: str, span: Span) -> bool:
        """Whether a change only puts what a list holds where everybody would put it."""
        if operation not in PLACING:
            return False
        if self.placed is None:
            self.placed = frozenset([*placed(self.function.body), *put_in_order(self.function.body)])
        return span in self.placed

    def _fills(self, span: Span) -> bool:
        """Whether a store only gives a value to what has been found to have none."""
        if self.fillers is None:
            self.fillers = frozenset(filled(self.function.body))
        return span in self.fillers

    def _named_by(self, expr: Expr, state: State) -> Values:
        """What the variable holds that a path starts from; of a struct made here as a copy, that it is one."""
        while isinstance(expr, Attr | Item):
            expr = expr.base
        found = state.variables.get(expr.name, ()) if isinstance(expr, Name) and expr.scope == "local" else ()
        return tuple([self.copies.get(value, value) for value in found])

    def _changed_paths(self, target: Value, kind: str) -> Values:
        """The shared objects that a change is of; what a copy holds by value is the copy's own."""
        if kind == "field" and isinstance(start := root(target), Fresh) and self._lies_in(target, start):
            return ()
        paths = self._shared_paths(target)
        if kind != "field" or self.traits.duck_typed:
            return paths
        return tuple([path for path in paths if not self._is_inside_copy(path)])

    def _lies_in(self, target: Value, outer: Value) -> bool:
        return lies_in(target, outer, self.types, self.knowledge.sharing.inline)

    def _is_inside_copy(self, path: Value) -> bool:
        """Whether only fields lead from a copy to an object, none of which is known to be a pointer."""
        while isinstance(path, Field | Seen):
            if isinstance(path, Field) and self._is_pointer(self.types.of(path)):
                return False
            path = path.base
        return isinstance(path, Copy)

    def _is_pointer(self, found: TypeOf | None) -> bool:
        if isinstance(found, ClassType):
            return not found.value
        return found is not None and (found.pointer or self.types.structures.behaviour(found) is not None)

    def is_held_here(self, expr: Expr | None, owner: Value, state: State, *, by_type: bool = True) -> bool:
        """Whether an object is a copy that this function holds by value, as far as the program says.

        What was read from a field or an element of something unknown is one, since it may be a struct; unless that is
        what a cache hands out.
        """
        names: list[str] = []
        while isinstance(expr, Attr):
            names.append(expr.name)
            expr = expr.base
        if not isinstance(expr, Name) or expr.scope == "global":
            return False
        starts = self.evaluate(expr, state)
        if names and all([self._carries(start) for start in starts]):
            return False
        if names and not any([self._leads_to(start, names[::-1], owner) for start in starts]):
            if any([self._is_behind_pointer(start, self.place(start, names[-1])) for start in starts]):
                return False
            return isinstance(owner, Field | Element) and not self._is_pointer(self.types.of(owner))
        held = [start for start in starts if self._is_plain(expr, start, by_type=by_type)]
        known = [v for v in held if isinstance(v, Field) and v.name in self.knowledge.sharing.inline]
        self.summary.reworked.update(known)
        return bool(held)

    def _is_behind_pointer(self, start: Value, path: Value) -> bool:
        """Whether a pointer leads to a field, or what it is a field of is embedded by one."""
        return any([self._is_pointer(self.types.of(step)) for step in prefixes(path)[len(prefixes(start)) :]])

    def _carries(self, value: Value) -> bool:
        """Whether a value only tells of shared objects."""
        found = self.types.of(value)
        return isinstance(found, LibraryType) and found.name in self.knowledge.sharing.events

    def _leads_to(self, start: Value, names: list[str], owner: Value) -> bool:
        for name in names:
            start = self.place(start, name)
        return start == owner

    def _is_plain(self, variable: Name, value: Value, *, by_type: bool) -> bool:
        """Whether a variable holds a struct itself."""
        binder = self.id if variable.scope == "local" else self.types.binder(self.id, variable.name)
        found = self.types.variable(binder, variable.name) if binder else None
        if found is not None:
            return by_type and isinstance(found, LibraryType) and not self._is_pointer(found)
        handed = type(value) is Element and type(uncopied(value.base)) is Cached
        if not isinstance(value, Field | Element) or handed or binder is None:
            return False
        given = self.symbols.functions[binder][1].bindings.get(variable.name, ())
        return bool(given) and all(_reads(expr) for expr in given)

    def _shared_paths(self, target: Value, nested: int = NESTED) -> Values:
        """A path in terms of what does not only exist here: what lies in a container made here keeps its origin."""
        start = root(target)
        if start in self.taken_out and nested > 0:
            return self._shared_paths(rebased(target, start, self.taken_out[start]), nested - 1)
        if isinstance(start, Tuple):  # what a function is given as the rest of its arguments
            return self._shared_parts(target, start, nested)
        if type(start) is not Fresh:
            return (target,) if type(start) in _ROOTS and type(target) is not Copy else ()
        contents = self.filled.get(start)
        original = self.copies.get(start)
        if original is not None and target != start and nested > 0:
            return self._shared_paths(rebased(target, start, original), nested - 1)
        if not contents or target == start or nested <= 0:
            return ()
        way = prefixes(target)
        step = next((p for p in way[1:] if not isinstance(p, Copy | View)), None)
        found: list[Value] = []
        for content in _at(step, contents):
            old, new = (start, content.value) if content.spread else (step, content.value)
            assert old is not None
            found += self._shared_paths(rebased(target, old, new), nested - 1)
        for inner in self._embedded_in(step, contents) if not found else ():
            found += self._shared_paths(rebased(target, start, inner), nested - 1)
        return tuple(dict.fromkeys(found))[:MOST_CONTENTS]

    def _shared_parts(self, target: Value, whole: Tuple, nested: int) -> Values:
        """What a path that starts from several objects means for each of them, or for the one that it names."""
        step = next((p for p in prefixes(target)[1:] if not isinstance(p, Copy | View)), None)
        if not isinstance(step, Element) or nested <= 0:
            return ()
        index = step.key.value if isinstance(step.key, Literal) else None
        parts = whole.parts[index : index + 1] if isinstance(index, int) else whole.parts
        given = [value for values in parts for value in values]
        found = [path for value in given for path in self._shared_paths(rebased(target, step, value), nested - 1)]
        return tuple(dict.fromkeys(found))[:MOST_CONTENTS]

    def known_outside(self, values: Values) -> Values:
        """What lies in containers made here, by the paths of those who have put it there; the rest as it is."""
        return unite(
            [(self._shared_paths(value) if type(root(value)) is Fresh else ()) or (value,) for value in values]
        )

    def _embedded_in(self, step: Value | None, contents: tuple[Content, ...]) -> Values:
        """The structs put into one that was made here of which a field may be that this has not by its name."""
        if not isinstance(step, Field):
            return ()
        embedded = [Literal(name, FIELD) for name in self.knowledge.sharing.embedded if name != step.name]
        return tuple([content.value for content in contents if content.key in embedded])

    def _record_all(self, change: Change, conditions: Conditions) -> None:
        """Note a change for each shared object that it may be of; what is put into a channel is known in the end."""
        for path in self._changed_paths(change.target, change.kind):
            self._record(change._replace(target=path), conditions)
        start = root(change.target)
        start = root(self.taken_out.get(start, start))
        made = next((made for made, seen in self.shared_locals.items() if seen == start), start)
        if isinstance(made, Fresh) and made.type.startswith("chan"):
            self._pending.append((change._replace(target=rebased(change.target, start, made)), conditions))

    def close(self, left: list[State]) -> None:
        """Gather what holds when the function is left."""
        pending, self._pending = self._pending, []
        for change, conditions in pending:
            self._record_all(change, conditions)
        super().close(left)

    def _record(self, change: Change, conditions: Conditions) -> None:
        key = (change.target, change.kind, weight(change))
        known = self.summary.changes.get(key)
        if known is not None:
            self.summary.changes[key] = (known[0], known[1] & conditions)
        elif len(self.summary.changes) < MOST_CHANGES:
            self.summary.changes[key] = (change, conditions)

    def replay_changes(self, summary: Summary, substitute: Substitute, step: CallStep, state: State) -> None:
        """What a callee changes of the objects that it gets hold of, in this function's terms."""
        for change, conditions in list(summary.changes.values()):
            if len(change.calls) >= (MOST_CALLS if change.certain and self.certain else MOST_GUESSED_CALLS):
                continue
            targets = substitute(change.target) if visible(change.target) else ()
            feasible = self.feasible(conditions, substitute, state) if targets and conditions else conditions
            if feasible is None:
                continue
            moved = change._replace(calls=(step, *change.calls), certain=change.certain and self.certain)
            for target in targets:
                self._record_all(moved._replace(target=target), feasible | state.conditions())

    def replay_contents(self, summary: Summary, substitute: Substitute) -> None:
        """What lies in containers that the callee has made and returns."""
        for made, contents in summary.contents.items():
            for moved in substitute(made):
                for content in contents:
                    for value in substitute(content.value):
                        key = content.key if isinstance(content.key, Literal | Global) else None
                        self.put(moved, value, key, spread=content.spread)
                        if isinstance(value, CALLABLE) and isinstance(key, Literal) and key.type == FIELD:
                            self.effects.store(Field(moved, str(key.value)), value)

    # --- containers made here -----------------------------------------------------------------------------------------

    def fill(
        self, container: Value, operation: str, values: Values, span: Span, state: State, key: Value | None = None
    ) -> None:
        """Values become entries of a container; of a mapping that takes over another one, that one's entries."""
        spread = operation in SPREADS
        for value in values:
            self.put(container, value, key, spread=spread, site=Site(self.id, span) if spread else None)
        if isinstance(container, Field) and values:
            self._keep(container, values)
        self.keep_entries(container, values, span, state)

    def put(
        self, container: Value, value: Value, key: Value | None = None, *, spread: bool = False,
        site: Site | None = None,
    ) -> None:  # fmt: skip
        """Remember a value that lies in a container made here."""
        if type(container) is not Fresh or isinstance(value, Literal | Unknown) or value == container:
            return
        known = self.filled.setdefault(container, ())
        original = self.deep_copies.get(value)
        if original is not None and key is not None:  # in place of what was there, which is not to be changed
            known = self.filled[container] = tuple([c for c in known if c.value != original])
        content = Content(copy_of(value, "", site) if site is not None else value, spread, key)
        most = MOST_CONTENTS if type(key) is not Literal or key.type != FIELD else MOST_FIELDS
        if content not in known and len(known) < most:
            self.filled[container] = (*known, content)

    def take_in(self, made: Values, added: Values) -> None:
        """Sequences made here take over what a display lists."""
        for container in {uncopied(value): None for value in made}:
            for display in added:
                if isinstance(display, Copy):
                    self.put(container, display.base, spread=True, site=display.site)
                for content in self.filled.get(display, ()):
                    self.put(container, content.value, content.key, spread=content.spread)

    def _keep(self, path: Field, values: Values) -> None:
        """A field gets entries: whether they come from outside its class; what others put there is their change."""
        owner, holder = self.types.class_of(path.base), path.base
        captured = isinstance(holder, Captured) and self.symbols.is_captured_instance(holder)
        if owner is None or not (captured or self.symbols.is_instance(holder)):
            return
        declared = self.symbols.field(owner, path.name)
        key = (declared[0] if declared else owner, path.name)
        hints = self.summaries.hints
        hints.filled[key] = hints.filled.get(key, False) or any([self._is_outside(v) for v in values])

    def note_entry(self, container: Value, values: Values) -> None:
        """A method puts entries into a field of its own object: whether it has made these containers itself."""
        if not isinstance(container, Field) or container.base != Param(self.id, 0) or not self.function.owner:
            return
        owner = f"{self.source.name}:{self.function.owner}"
        declared = self.symbols.field(owner, container.name)
        found = self.summaries.hints.entered.setdefault((declared[0] if declared else owner, container.name), set())
        for value in values:
            if isinstance(value, Fresh | Copy):
                found.add("made")
            elif isinstance(root(value), Result | Cached | Param | Unknown):
                found.add("given")

    def _is_outside(self, value: Value, nested: int = NESTED) -> bool:
        """Whether an object was given to this function, or came out of a call of which nothing is known."""
        start = root(value)
        if isinstance(start, Fresh):
            contents = self.filled.get(start, ())
            return nested > 0 and any([self._is_outside(c.value, nested - 1) for c in contents])
        own = bool(self.function.owner) and self.function.binding != "none"
        return isinstance(start, Result | Cached) or (isinstance(start, Param) and start.index >= own)


def weight(change: Change) -> str:
    """What kind of change it is, as far as a heavier one of the same object must not be lost for it."""
    if change.settled:
        return "settled"
    if change.fills:
        return "fills"
    if not isinstance(change.target, Param):
        return ""
    if change.operation in REMOVALS | QUIET:
        return "removal"
    key = change.keys[0] if len(change.keys) == 1 else None
    constant = f" {key.value!r}" if isinstance(key, Literal) else ""
    return f"item{constant}" if change.operation == "[...] =" else ""


def _reads(expr: Expr) -> bool:
    """Whether an expression reads a field or an element."""
    return isinstance(expr, Attr | Item) or (isinstance(expr, Op) and expr.operator == "element value")


def _at(step: Value | None, contents: tuple[Content, ...]) -> list[Content]:
    """What may lie where a step into a container leads: under a known key what was put there, else all of it."""
    if isinstance(step, Field):
        return [content for content in contents if content.key == Literal(step.name, FIELD)]
    if not isinstance(step, Element | Member):
        return []
    key = step.key if isinstance(step, Element) else None
    if not isinstance(key, Literal | Global):
        # Under a key of this turn of a loop lies nothing that an earlier turn put there.
        return [c for c in contents if c.key is None or c.key != key or not isinstance(key, Member)]
    named = [content for content in contents if content.key == key]
    return named or [content for content in contents if not isinstance(content.key, Literal | Global)]
