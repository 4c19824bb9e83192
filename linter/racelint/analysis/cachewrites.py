"""What rules are told of shared objects that are changed in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from racelint.analysis.acceptance import Acceptance
from racelint.analysis.branching import is_looped
from racelint.analysis.caches import CacheWrite
from racelint.analysis.describe import Describe
from racelint.analysis.memos import Memos
from racelint.analysis.ownentries import OwnEntries
from racelint.analysis.paths import prefixes
from racelint.analysis.privatecaches import PrivateCaches
from racelint.analysis.sharing import Change, Hints
from racelint.analysis.sources import Origin
from racelint.analysis.summaries import Summaries
from racelint.analysis.values import Cached, Field, Global, Literal, Param, Value
from racelint.finding import Step
from racelint.span import Location

MOST_READERS = 3
# The next one starts from it.
BEGINNINGS = frozenset({"argument", "chosen", "default", "state", "half", "part", "option", "setting"})
FROM_SERVERS = frozenset({"library", "handler"})
GROWTH = frozenset({".append()", ".appendleft()", ".extend()", ".insert()", "+="})


@dataclass(frozen=True, slots=True)
class CacheMutation:
    """An object that others hold too is changed in place.

    `kind` says why it is shared: "library" (a library's cache hands it out), "memo" (a function that remembers its
    results does), "handler" (a cache gives it to a registered function), "mirror" (a class that follows changes
    elsewhere keeps it), "cache" (a class or field that goes by the name of a cache does), "lazy" (it is computed once
    and kept), "option" (a setting), "default" (a preset), "sibling" (others copy it before they change it) or "live"
    (an object's own state). `origin` names the source,
    `inner` the library's call behind it, `came` is where it comes from, `readers` are others who get it. `symbol` and
    `text` name what is changed as the program and as the function at hand do; `operation` is the change, "field" or
    "content" its `change`. `copied` says that there is a copy on the way, which does not reach so deep; `deep_copy` is
    how the language makes one that does; `can_deep_copy` says that the object surely has it. `location` is where
    the finding stands: the change in the function that got hold of the object, or the call that leads to it by
    `steps`. `certain` says that all callees were found by type, `settled` that the change only puts right what its
    entry holds, as everybody would do: `if d[k] is None: d[k] = []`, is of an entry that all overwrite who get the
    object, says of what type the object is, or sorts what nobody else has seen yet; `fills` that it gives a value
    to what has none; `grows` that each such change adds to what is there, `typed` that declared types say what is
    shared and what is copied, `far` counts the functions on the way, closures with what they stand in, `handler` is
    the function that a cache gave the object to, if it is another one, `unread` that nobody reads the object once
    the function at hand has had it, `of_object` that an object remembers it of itself, `unsure` that what remembers
    it may give copies, `forgotten` that nobody in the repository calls the function, or the one that makes the
    change, `own` that it is no part of a cluster's resource, as far as can be seen, `accepted` that the server has
    accepted it before.
    """

    kind: str
    origin: str
    inner: str
    came: Location | None
    readers: tuple[str, ...]
    symbol: str
    text: str
    function: str
    change: str
    operation: str
    location: Location
    steps: tuple[Step, ...]
    copied: bool
    deep_copy: str
    can_deep_copy: bool
    certain: bool
    settled: bool
    fills: bool
    grows: bool
    typed: bool
    far: int
    once: bool
    unread: bool
    of_object: bool
    unsure: bool
    forgotten: bool
    own: bool
    accepted: bool
    handler: str = ""


class CacheTeller:
    """Puts changes of shared objects into a rule's terms."""

    def __init__(
        self, describe: Describe, summaries: Summaries, runs_once: Callable[[str], bool],
        is_forgotten: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self._describe = describe
        self._runs_once = runs_once
        self._is_forgotten = is_forgotten
        self._summaries = summaries
        self._hints: Hints = summaries.hints
        self._memos = Memos(summaries)
        self._own_entries = OwnEntries(summaries)
        self._acceptance = Acceptance(summaries)
        self._private = PrivateCaches(summaries.symbols, summaries.knowledge, summaries.hints, summaries.usage.callee)
        self._found: dict[Origin, list[str]] = {}

    def told(self, write: CacheWrite) -> CacheMutation:
        """One change."""
        change, origin = write.change, write.origin
        source, function = self._describe.symbols.functions[write.function]
        span = change.calls[0].span if change.calls else change.span
        return CacheMutation(
            kind=origin.kind,
            origin=self._named(origin),
            inner=origin.by if origin.kind == "library" else "",
            came=self._came(write),
            readers=self._readers(origin, write.function),
            symbol=self._describe.symbol(write.target),
            text=self._describe.text(write.change.target),
            function=function.qualname,
            change=change.kind,
            operation=change.operation,
            location=Location(source.path, span),
            steps=self._describe.way(change.calls, change.function, change.span, change.operation),
            copied=write.copied,
            deep_copy=source.module.traits.deep_copy,
            can_deep_copy=source.module.traits.duck_typed or self._has_deep_copy(write),
            certain=change.certain,
            settled=change.settled or self._tells_type(write) or self._is_own_entry(write) or self._is_in_order(write),
            fills=change.fills,
            grows=change.operation in GROWTH or _is_by_key(change),
            typed=not source.module.traits.duck_typed,
            far=1 + sum(not call.callee.startswith(f"{call.function}.") for call in change.calls),
            once=origin.kind in BEGINNINGS and self._is_once(write),
            forgotten=self._is_of_others(write)
            or any(self._is_forgotten(f) or self._is_of_nobody(f) for f in (write.function, change.function)),
            handler=self._handler(write),
            of_object=origin.kind == "memo" and self._memos.is_of_object(origin.by),
            unsure=origin.kind == "memo" and self._memos.may_copy(origin.by),
            unread=isinstance(origin.start, Param) and self._private.is_only_reader(origin.start.function),
            own=not self._is_of_resource(origin.start),
            accepted=origin.kind in FROM_SERVERS and self._acceptance.follows(change),
        )

    def _is_of_nobody(self, function_id: str) -> bool:
        """Whether a method, or what stands in it, is of a type of which nobody makes an object."""
        symbols = self._describe.symbols
        method = symbols.outermost(function_id)
        source, function = symbols.functions[method]
        own = bool(function.owner) and not source.module.traits.duck_typed
        return own and symbols.making.is_never_made(symbols.owner_of(method))

    def _is_of_others(self, write: CacheWrite) -> bool:
        """Whether no program of the repository makes the cache, of a type that an interface stands for, but others may
        who import its package; what programs run changes what they have themselves.
        """
        symbols, owner = self._describe.symbols, write.origin.owner
        if owner not in symbols.types or symbols.types[owner][0].module.traits.duck_typed:
            return False
        return symbols.making.is_made_elsewhere(owner, symbols.outermost(write.function))

    def _is_of_resource(self, path: Value) -> bool:
        """Whether something is, or lies in, a part that all resources of a cluster have: `pod.ObjectMeta`."""
        parts = self._summaries.knowledge.sharing.inline
        return any(isinstance(each, Field) and each.name in parts for each in prefixes(path))

    def _is_once(self, write: CacheWrite) -> bool:
        """Whether a program comes to a change once; who chooses an object in a loop may choose the same again."""
        _, function = self._describe.symbols.functions[write.function]
        spot = write.change.calls[0].span if write.change.calls else write.change.span
        again = write.origin.kind == "chosen" and is_looped(function.body, spot)
        return not again and self._runs_once(write.function)

    def _is_own_entry(self, write: CacheWrite) -> bool:
        """Whether nobody but the function at hand gets what is changed, which it overwrites first of all."""
        got = write.origin.start
        known = write.origin.kind == "memo" and isinstance(got, Cached) and write.target == got
        return known and isinstance(got, Cached) and self._own_entries.is_overwritten(got, write.function, write.change)

    def _is_in_order(self, write: CacheWrite) -> bool:
        """Whether a function sorts what it is given before anybody else, or alone: the next time no element moves."""
        start, names = write.origin.start, self._summaries.knowledge.sharing
        registration = self._hints.handlers.get(start.function) if isinstance(start, Param) else None
        operation = write.change.operation.rpartition(".")[2].removesuffix("()")
        if registration is None or not isinstance(start, Param) or operation not in names.names("sorts"):
            return False
        return registration.method in names.told_first or self._private.is_only_reader(start.function, again=True)

    def _tells_type(self, write: CacheWrite) -> bool:
        """Whether a field of the shared object itself gets another value that says of what type it is."""
        names = self._summaries.knowledge.sharing.typing
        if write.change.operation.strip(" .=()") not in names:
            return False
        above = prefixes(write.origin.start)
        within = [path for path in prefixes(write.target) if path not in above]
        return all(path.name in names for path in within if isinstance(path, Field))

    def _handler(self, write: CacheWrite) -> str:
        """The registered function that an object was given to, unless that is the function at hand."""
        start = write.origin.start
        other = write.origin.kind == "handler" and isinstance(start, Param) and start.function != write.function
        return (
            self._describe.symbols.functions[start.function][1].qualname if other and isinstance(start, Param) else ""
        )

    def _has_deep_copy(self, write: CacheWrite) -> bool:
        """Whether an object of a library's cache says itself how it is copied; so do all those of the cluster."""
        if write.origin.kind not in ("library", "handler") or self._handler(write):
            return False
        start = write.origin.start
        if isinstance(start, Cached) and start.site.function != write.function:
            return False  # another function has got it, and put it where this one finds it
        owner = self._describe.holder(write.origin.start)
        return owner is None or self._describe.symbols.method(owner, "DeepCopy") is not None

    def _named(self, origin: Origin) -> str:
        """What the function at hand calls the source: the function of the project that it gets the object from."""
        start = origin.start
        if origin.kind == "library" and isinstance(start, Cached) and start.site.origin is not None:
            function = self._summaries.usage.callee(start.site.function, start.site.span)
            return f"{function.rpartition(':')[2]}()" if function else origin.by
        return origin.by.rpartition(":")[2] if origin.kind == "memo" else origin.by

    def _came(self, write: CacheWrite) -> Location | None:
        """Where the function at hand gets the object, or where the field or variable stands that holds it."""
        symbols, origin = self._describe.symbols, write.origin
        match origin.start:
            case Cached(site=site):
                return Location(symbols.functions[site.function][0].path, site.span)
            case Field() | Global():
                return self._got(write) or self._declared(origin.start)
            case Param(function=function):
                registration = self._hints.handlers.get(function)
                if registration is not None:
                    return Location(symbols.functions[registration.function][0].path, registration.span)
                if origin.kind == "handler":
                    source, told = symbols.functions[function]
                    return Location(source.path, told.span)
        return None

    def _got(self, write: CacheWrite) -> Location | None:
        """The nearest call, before the change, of a method that hands out what a field holds."""
        change = write.change
        until = change.calls[0].span if change.calls else change.span
        usage = self._summaries.usage
        spans = [s for getter in self._getters(write.origin) for s in usage.calls_from(write.function, getter)]
        before = [span for span in spans if span <= until]
        path = self._describe.symbols.functions[write.function][0].path
        return Location(path, max(before)) if before else None

    def _declared(self, start: Value) -> Location | None:
        symbols = self._describe.symbols
        if isinstance(start, Global):
            record = symbols.content(start.module).globals.get(start.name)
            return Location(symbols.paths[start.module, start.name], record.span) if record else None
        owner = self._describe.holder(start.base) if isinstance(start, Field) else None
        declared = symbols.field(owner, start.name) if owner and isinstance(start, Field) else None
        return Location(symbols.types[declared[0]][0].path, declared[1].span) if declared else None

    def _getters(self, origin: Origin) -> list[str]:
        """The functions of a cache that return what is in it."""
        if not origin.owner:
            return []
        if origin not in self._found:
            self._found[origin] = [
                function
                for function in self._describe.symbols.functions
                if function.startswith((f"{origin.owner}.", f"{origin.owner}:"))
                and self._returns(function, origin.start)
            ]
        return self._found[origin]

    def _returns(self, function: str, start: Value) -> bool:
        summary = self._summaries.known(function)
        held = [content.value for contents in summary.contents.values() for content in contents]
        return any(self._describe.is_same_place(value, start) for value in (*summary.returns, *held))

    def _readers(self, origin: Origin, function_id: str) -> tuple[str, ...]:
        """Other functions that get hold of it."""
        usage = self._summaries.usage
        if origin.kind == "memo":
            found = usage.callers(origin.by)
        elif origin.owner:
            found = [caller for getter in self._getters(origin) for caller in usage.callers(getter)]
        else:
            found = self._reading(origin.start) if isinstance(origin.start, Field | Global) else []
        names = [caller.rpartition(":")[2] for caller in found if caller != function_id]
        names = [name for name in names if "<" not in name and not name.endswith("__init__")]
        return tuple(dict.fromkeys(names))[:MOST_READERS]

    def _reading(self, start: Value) -> list[str]:
        """Functions that read a variable or field of that class."""
        return [
            function
            for function, effects in self._summaries.effects.items()
            if any(self._describe.is_same_place(access.path, start) for access in effects.all_accesses())
        ]


def _is_by_key(change: Change) -> bool:
    """Whether an entry is stored under a key that may be another one each time."""
    return change.operation == "[...] =" and bool(change.keys) and not all(isinstance(k, Literal) for k in change.keys)
