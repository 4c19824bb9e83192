"""Changes of shared objects: which of all that functions change in place belongs to others too."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from racelint.analysis.byvalue import lies_in
from racelint.analysis.defaults import Defaults, picks_elements
from racelint.analysis.givenaway import GivenAway, passed
from racelint.analysis.holders import Holders
from racelint.analysis.homemade import BY_HAND
from racelint.analysis.livepresets import LivePresets
from racelint.analysis.memos import Memos
from racelint.analysis.paths import prefixes, rebased, root
from racelint.analysis.presets import has_part
from racelint.analysis.sharing import Change
from racelint.analysis.siblings import Siblings
from racelint.analysis.sources import Origin, Sources
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE
from racelint.analysis.types import ClassType, LibraryType
from racelint.analysis.values import (
    Cached,
    Copy,
    Element,
    Field,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Seen,
    TypeValue,
    Value,
    View,
)
from racelint.analysis.written import dotted
from racelint.knowledge import Knowledge
from racelint.knowledge.sharing import split
from racelint.model import Assign, Attr, Call, Name
from racelint.record import records
from racelint.span import Span

WRITES = ("[...]", "del")  # operations on entries
TAKING = frozenset({".pop()", ".popitem()", ".remove()", ".clear()", "del"})
UNCHANGING = frozenset({"str", "bytes", "int", "float", "complex", "bool"})  # types whose objects nobody can change
HOLDS = 2  # fields that hold what a field holds


class CacheWrite(NamedTuple):
    """A shared object is changed in place, seen from the function that got hold of it; `target` is its path there."""

    origin: Origin
    change: Change
    function: str
    target: Value
    copied: bool


# Changes of containers by names that methods of other objects have, too.
OF_SERVICES = frozenset({".add()", ".update()", ".remove()", ".clear()", ".pop()", ".reverse()", ".sort()", ".merge()"})


class Caches:
    """Judges the changes of a program; all functions have been evaluated."""

    def __init__(self, knowledge: Knowledge, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._types = summaries.types
        self._names = knowledge.sharing
        self._summaries = summaries
        self._hints = summaries.hints
        self._sources = Sources(knowledge, summaries)
        self._holders = Holders(summaries, lambda v: self._sources.origin(v) is not None)
        self._defaults = Defaults(summaries.symbols)
        self._live_presets = LivePresets(summaries)
        self._changed: frozenset[Value] | None = None
        self._given_away = GivenAway(summaries)
        self._siblings = Siblings(summaries.symbols, knowledge.sharing)
        self._memos = Memos(summaries)
        self._register_kept()

    def _register_kept(self) -> None:
        """Functions that objects keep in a field, of which the field is called with shared objects."""
        for key, registration in self._hints.told.items():
            for value in self._hints.kept.get(key, ()):
                passed = self._summaries.usage.passed(value.function, value.index) if isinstance(value, Param) else ()
                for function in (value, *[v for values in passed for v in values]):
                    if isinstance(function, FunctionValue):
                        self._hints.handlers.setdefault(function.function, registration)

    def writes(self, functions: list[str]) -> Iterator[CacheWrite]:
        """Every change of a shared object in these functions, each told once, by the function that got hold of it."""
        found = [write for function in functions for write in self._in_function(function)]
        chains = {(w.origin.kind, w.origin.by, w.change.function, w.change.span, w.change.calls) for w in found}
        for write in found:
            origin, change = write.origin, write.change
            inner = [change.calls[n:] for n in range(1, len(change.calls) + 1)]
            if not any((origin.kind, origin.by, change.function, change.span, rest) in chains for rest in inner):
                yield write

    def _in_function(self, function_id: str) -> Iterator[CacheWrite]:
        changes = [change for change, _ in self._summaries.of(function_id).changes.values()]
        meant = {name for change in changes for name in change.names}
        reworked = self._summaries.of(function_id).reworked
        for change in changes:
            found = list(self._origins(change.target, change.kind))
            found = found or list(self._half_copied(function_id, change, reworked))
            for target, origin in found or self._copied_elsewhere(function_id, change):
                if origin.kind == "state" and _last_name(origin.start) in meant:
                    continue
                if origin.kind == "default" and (_last_name(origin.start) in meant or function_id.endswith(MODULE)):
                    continue  # the function says itself that it changes the preset; so does a module as it is set up
                chain = [function_id, *[call.function for call in change.calls], change.function]
                meant_so = self._is_meant(origin, change) or self._is_own(origin, chain)
                meant_so = meant_so or self._is_put_back(function_id, origin, change)
                meant_so = meant_so or (origin.kind == "memo" and self._is_saved(function_id, origin, change))
                if not meant_so and self._counts(origin, target, change):
                    way = prefixes(target)[len(prefixes(origin.start)) - 1 :]
                    copied = origin.kind in ("half", "part") or any(_is_copied(step, origin) for step in way)
                    yield CacheWrite(origin, change, function_id, target, copied)

    # --- which changes count ------------------------------------------------------------------------------------------

    def _is_own(self, origin: Origin, chain: list[str]) -> bool:
        """Whether the owner of the cache makes a change itself, or has it made; so does who keeps all entries there."""
        if not origin.owner:
            return False
        if origin.kind == "cache" and any([self._keeps_entries(function, origin.start) for function in chain]):
            return True
        family = {origin.owner, *self._symbols.subtypes(origin.owner)} if origin.owner in self._symbols.types else None
        for function in chain:
            if family is None:
                if function.startswith(f"{origin.owner}:"):
                    return True
            elif any(function.startswith(f"{member}.") for member in family):
                return True
        return False

    def _is_meant(self, origin: Origin, change: Change) -> bool:
        """Whether what a function keeps by hand is completed or kept up to date; nothing is to be taken out of it."""
        by_hand = origin.kind == "memo" and self._summaries.remembering.get(origin.by) == BY_HAND
        return by_hand and change.operation not in TAKING

    def _is_saved(self, function_id: str, origin: Origin, change: Change) -> bool:
        """Whether a remembered store is saved after a change: `settings()["fonts"][name] = 1; settings().save()`."""
        spans = [*[call.span for call in change.calls], change.span]
        if self._saves_itself(function_id, origin, spans[0]):
            return True
        saved = self._summaries.of(function_id).saved
        if any(isinstance(v, Cached) and v.source == origin.by and span > spans[0] for v, span in saved.items()):
            return True
        for callee, place in zip([call.callee for call in change.calls], spans[1:], strict=True):
            summary = self._summaries.of(callee)
            same = [
                root(c.target)
                for c, _ in summary.changes.values()
                if (c.function, c.span) == (change.function, change.span)
            ]
            if any(v in same and span > place for v, span in summary.saved.items()):
                return True
        return False

    def _saves_itself(self, function_id: str, origin: Origin, changed: Span) -> bool:
        """Whether an object that remembers something of its own changes that and saves itself: `self.save_state()`."""
        function, owner = self._symbols.functions[function_id][1], self._symbols.owner_of(function_id)
        remembering = self._symbols.functions.get(origin.by)
        if not function.own or remembering is None or self._symbols.method(owner, remembering[1].name) != origin.by:
            return False
        calls = [node for node in records(function.body) if isinstance(node, Call) and node.span > changed]
        return any(self._is_saving(call, function.own) for call in calls)

    def _is_saving(self, call: Call, own: str) -> bool:
        """Whether a call is one of a method of an object's own whose name begins with the word for saving."""
        match call.func:
            case Attr(base=Name(name=name), name=method):
                return name == own and next(iter(split(method)), "") in self._names.names("saves")
            case _:
                return False

    def _keeps_entries(self, function_id: str, start: Value) -> bool:
        """Whether a method is of the class that has a cache in a field, and has made all containers in it."""
        source, function = self._symbols.functions[function_id]
        if not function.owner or not isinstance(start, Field) or not isinstance(start.base, Field):
            return False
        declared = self._symbols.field(f"{source.name}:{function.owner}", start.base.name)
        return declared is not None and self._hints.entered.get((declared[0], start.base.name)) == {"made"}

    def _counts(self, origin: Origin, target: Value, change: Change) -> bool:
        """Whether a change is one of what is shared, and not one that the kind of object is made for."""
        way = prefixes(target)[len(prefixes(origin.start)) :]
        if not self._is_exact(way):
            return False
        entries = [step for step in way if isinstance(step, Element | Member)]
        plain = change.kind == "content" and not any(isinstance(step, Field) for step in way)
        direct = _last_name(origin.start) in change.names
        match origin.kind:
            case "library" | "handler":
                return not (self._is_registered(origin.start, way) or self._has_left(way))
            case "mirror":
                return bool(entries) and not self._is_by_itself(change)
            case "cache" if not self._is_duck_typed(change):
                return bool(entries)
            case "cache":
                return bool(entries) and plain and not self._is_object(target)
            case "memo" if self._memos.is_of_object(origin.by) and not isinstance(
                self._types.of(origin.start), LibraryType
            ):
                return False  # of an object that has a state: what it makes once is there to be worked with
            case "memo" if getattr(self._types.returned(origin.by), "name", "") in UNCHANGING:
                return False  # `lookup() -> str`, put into a list that a helper makes around it
            case "memo":  # a service that is made once is there to be used: it has such methods, too
                known = bool(entries) or self._types.container(target) is not None
                return (
                    plain
                    and (known or change.operation not in OF_SERVICES)
                    and not self._keeps_itself(origin, way, change)
                )
            case "argument":
                assert isinstance(origin.start, Param)
                return plain and self._defaults.leaks(origin.start, target, change)
            case "lazy":
                return plain and (bool(entries) or not direct)  # who names it fills it
            case "state" | "part":
                keyed = all(isinstance(step, Element) and not isinstance(step.key, Member) for step in entries)
                return plain and keyed and bool(entries) and not self._is_object(target)
            case "half":
                return bool(entries) or change.kind == "content"
            case "sibling":
                return not way
            case "chosen":
                return not way and change.several and origin.start not in self._changed_globals()
            case "live":  # who asks an object for its state sets its attributes
                return plain and not self._spells(change.function, _last_name(origin.start))
            case "option":
                return change.kind == "content" and not direct and (bool(entries) or not isinstance(target, Field))
            case "setting":
                return change.kind == "content" and not direct
            case "default":
                copied = any(isinstance(step, Copy) for step in way)
                walked = any(isinstance(step, Member) or isinstance(step.key, Member) for step in entries)
                template = self._names.says(_last_name(origin.start), "default")  # else a table, where things are put
                named = change.operation == "[...] =" and (
                    not template or all(isinstance(key, Literal) for key in change.keys)
                )
                if not plain or direct or picks_elements(self._symbols.functions[change.function][1], change):
                    return False
                if self._live_presets.has(origin.start):
                    return False
                if (walked or named) and not copied:
                    return False  # who completes a preset by one entry, or each of its entries, does so on purpose
                return self._has_part(origin.start, entries, change)
            case _:
                return False

    def _keeps_itself(self, origin: Origin, way: Sequence[Value], change: Change) -> bool:
        """Whether the one object that a function gives is changed by a method of its own that does more than that.

        `settings()["font"] = name`: the class of the settings says what that means, and saves them.
        """
        if way:
            return False
        line = self._line_of_one(origin)
        chain = {*[call.callee for call in change.calls], change.function}
        return any([self._symbols.owner_of(each) in line and self._does_more(each) for each in chain])

    def _line_of_one(self, origin: Origin) -> list[str]:
        """The class of the one object that a function remembers, and those above it; none of one object a key."""
        known = self._symbols.functions.get(origin.by)
        if origin.kind != "memo" or known is None or known[1].parameters:
            return []
        owner = self._types.class_of(origin.start)
        return [a.type for a in self._symbols.ancestors(owner) if isinstance(a, TypeValue)] if owner else []

    def _is_put_back(self, function_id: str, origin: Origin, change: Change) -> bool:
        """Whether a function goes on to give what it has changed to the one object that it has it from, to be saved.

        `fonts = settings()["fonts"]; fonts[name] = font; settings().save("fonts", fonts)`.
        """
        line = self._line_of_one(origin)
        if not line:
            return False
        until = change.calls[0].span if change.calls else change.span
        parts = {path for path in prefixes(change.target) if path not in prefixes(origin.start)}
        for method in filter(self._does_more, self._symbols.methods_like(line[0], ("*",))):
            for span, (itself, *given) in self._summaries.usage.arguments_from(function_id, method):
                to_it = any([(o := self._sources.origin(v)) is not None and o.by == origin.by for v in itself])
                if to_it and span > until and any([not parts.isdisjoint(values) for values in given]):
                    return True
        return False

    def _does_more(self, method: str) -> bool:
        """Whether a method also calls another method of its object, one that its class defines itself."""
        effects, name = self._summaries.effects.get(method), self._symbols.functions[method][1].name
        called = [
            site.callee.rpartition(".")[2] for site in (effects.calls.values() if effects is not None else ())
            if site.receiver == Param(method, 0) and isinstance(site.callee, str)
        ]  # fmt: skip
        return any([each != name for each in called])

    def _spells(self, function_id: str, attribute: str) -> bool:
        """Whether a function itself asks some object for an attribute."""
        _, function = self._symbols.functions[function_id]
        return any(isinstance(part, Attr) and part.name == attribute for part in records(function.body))

    def _is_registered(self, start: Value, way: Sequence[Value]) -> bool:
        """Whether what is handed out is an object of the project's that is no data: it was put there to be used."""
        outer = itertools.takewhile(lambda step: not isinstance(step, Field), way)
        owners = [self._types.class_of(value) for value in (start, *outer)]
        return any(owner is not None and not self._sources.is_data(owner) for owner in owners)

    def _has_left(self, way: Sequence[Value]) -> bool:
        """Whether an object came as one that the cache has lost: `obj.(cache.DeletedFinalStateUnknown).Obj`."""
        return any(isinstance(step, Seen) and step.type in self._names.removed for step in way)

    def _is_by_itself(self, change: Change) -> bool:
        """Whether an object changes a field of its own, by a method: no data, but something with a life of its own."""
        function = self._symbols.functions[change.function][1]
        if not self._is_duck_typed(change) or not function.own:
            return False
        stores = [node for node in records(function.body) if isinstance(node, Assign) and node.span.holds(change.span)]
        bases = [target.base for node in stores for target in node.targets if isinstance(target, Attr)]
        return bool(bases) and all(isinstance(base, Name) and base.name == function.own for base in bases)

    def _is_duck_typed(self, change: Change) -> bool:
        return self._symbols.functions[change.function][0].module.traits.duck_typed

    def _has_part(self, start: Value, way: Sequence[Value], change: Change) -> bool:
        record = self._sources.record(start)
        whole = not self._live_presets.is_completed(start)
        return record is not None and has_part(record, way, change, self._names, whole=whole)

    def _is_exact(self, way: list[Value]) -> bool:
        """Whether copies on the way share what lies below: a class may say otherwise of its own copies."""
        for step, following in itertools.pairwise(way):
            if isinstance(step, Copy) and isinstance(following, Field):
                made = step.site.origin or step.site.span
                if made not in self._hints.exact:
                    return False
        return True

    def _is_object(self, value: Value) -> bool:
        return isinstance(self._types.of(value), ClassType)

    # --- where objects come from --------------------------------------------------------------------------------------

    def _origins(self, target: Value, change: str, holds: int = HOLDS) -> Iterator[tuple[Value, Origin]]:
        """The origins of an object, each with the path to it from there; a field that changes may be its holder's."""
        for start in prefixes(target):
            origin = self._sources.origin(start)
            if origin is not None:
                yield target, origin
                return
            if isinstance(start, Field) and change == "field" and self._lies_in(target, start.base):
                return
            if isinstance(start, Field | Element) and holds > 0:
                moved = [rebased(target, start, held) for held in self._holders.held(start)]
                found = [list(self._origins(path, change, holds - 1)) for path in moved if not isinstance(path, Copy)]
                if isinstance(start, Field) or all(found):
                    yield from itertools.chain.from_iterable(found)

    def _lies_in(self, target: Value, outer: Value) -> bool:
        return lies_in(target, outer, self._types, self._names.inline)

    def _changed_globals(self) -> frozenset[Value]:
        """The variables of which some function changes the object as the only one that it can mean, or replaces it."""
        if self._changed is None:
            functions = [function for function in self._symbols.functions if not function.endswith(f":{MODULE}")]
            known = [self._summaries.known(function) for function in functions]
            changes = [change for summary in known for change, _ in summary.changes.values() if not change.several]
            replaced = [path for summary in known for path in summary.stores if isinstance(path, Global)]
            self._changed = frozenset([*[root(change.target) for change in changes], *replaced])
        return self._changed

    def _half_copied(
        self, function_id: str, change: Change, reworked: set[Value]
    ) -> Iterator[tuple[Value, Origin]]:  # fmt: skip
        """What a function has copied to change the copy, when it changes what both share."""
        source, function = self._symbols.functions[function_id]
        if source.module.traits.duck_typed:
            yield from self._half_copied_mapping(change.target, reworked)
            return
        for start in prefixes(change.target):
            if start in reworked and not change.calls and change.operation.startswith(WRITES):
                copied = start.base if isinstance(start, Copy) else start
                given = isinstance(start, Copy) and start.site.span == function.span  # a parameter is a copy anyway
                changes = self._summaries.of(function_id).changes.values()
                back = any(c.target in (copied, getattr(copied, "base", None)) for c, _ in changes)  # it puts it back
                held = _is_through(change, start, copied)
                given_by = root(copied)
                shared = isinstance(given_by, Param) and not self._is_folded(given_by)
                shared = shared and isinstance(given_by, Param) and not self._given_away.is_given_away(given_by)
                if shared and held and not given and not back:
                    yield change.target, Origin("half", copied, "", self._named(copied))
                return

    def _copied_elsewhere(self, function_id: str, change: Change) -> Iterator[tuple[Value, Origin]]:
        """What others copy before they change it and go on with it, and this function changes by a variable."""
        if change.calls or change.kind != "content" or not self._is_duck_typed(change) or self._sets_up(function_id):
            return
        key = self._summaries.callbacks.key(change.target)
        if key is not None and key.depth == 0 and self._siblings.copy_first(function_id, change.span):
            owner = key.owner.rpartition(":")[2] if isinstance(change.target, Field) else key.owner.partition("@")[0]
            separator = "." if isinstance(change.target, Field) else ":"
            yield change.target, Origin("sibling", change.target, "", f"{owner}{separator}{key.name}")

    def _sets_up(self, function_id: str) -> bool:
        """Whether the constructor of its class calls a method: what that changes of its object is to stay there."""
        source, function = self._symbols.functions[function_id]
        made = f"{source.name}:{function.owner}.__init__"
        return bool(function.owner) and made in self._summaries.usage.callers(function_id)

    def _is_folded(self, parameter: Param) -> bool:
        """Whether all callers put the result where they had what they passed: `config = config.Merge(other)`."""
        sites = self._summaries.usage.sites(parameter.function)
        _, function = self._symbols.functions[parameter.function]
        folds = {
            (caller, node.value.span)
            for caller in {caller for caller, _ in sites}
            for node in records(self._symbols.functions[caller][1].body)
            if isinstance(node, Assign) and isinstance(node.value, Call) and len(node.targets) == 1
            if dotted(node.targets[0]) == dotted(passed(node.value, parameter, function))
        }
        return bool(sites) and all(site in folds for site in sites)

    def _named(self, path: Value) -> str:
        """A field of a parameter, or of something in it, as the program calls it."""
        match path:
            case Param(function=function, index=index):
                return self._symbols.functions[function][1].parameters[index].name.partition("@")[0]
            case Field(base=base, name=name):
                return f"{self._named(base)}.{name}"
            case Element(base=base) | Copy(base=base) | Seen(base=base):
                return self._named(base)
            case _:
                return "it"

    def _half_copied_mapping(self, target: Value, reworked: set[Value]) -> Iterator[tuple[Value, Origin]]:
        """A mapping that a function has copied to change the copy, when it changes what both share.

        It lasts: a module's, an object's, or an entry of what the function was given, which goes on holding it.
        """
        for start in prefixes(target):
            if isinstance(start, Copy) and start in reworked:
                base = start.base
                if isinstance(base, Global):
                    yield target, Origin("state", base, "", f"{base.module.partition('@')[0]}:{base.name}")
                elif isinstance(base, Field):
                    owner = base.base.type if isinstance(base.base, TypeValue) else self._types.class_of(base.base)
                    if owner is not None:
                        yield target, Origin("state", base, "", f"{owner.rpartition(':')[2]}.{base.name}")
                elif isinstance(base, Element) and isinstance(given := root(base), Param):
                    if self._given_away.is_given_away(given):
                        return
                    yield target, Origin("part", base, "", self._named(base))
                return


def _is_through(change: Change, start: Value, copied: Value) -> bool:
    """Whether a change names its object by a variable that holds a copy of what was copied, or of what that is in."""
    outer = prefixes(copied)
    copies = [value.base for value in change.through if isinstance(value, Copy)]
    return (isinstance(start, Field) and start in change.through) or any(base in outer for base in copies)


def _is_copied(step: Value, origin: Origin) -> bool:
    """Whether a step on the way is a copy that somebody makes; a cache's own list is none."""
    own = isinstance(origin.start, Cached) and isinstance(step, Copy) and step.site == origin.start.site
    return isinstance(step, Copy) and not own


def _last_name(path: Value) -> str:
    while isinstance(path, Element | Member | Copy | View | Seen):
        path = path.base
    return path.name if isinstance(path, Field | Global) else ""
