"""What libraries mean, as data: tables in TOML beside this file, and those that users and packs add."""

from __future__ import annotations

import copy
import functools
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from racelint.errors import RacelintError
from racelint.knowledge import sharing
from racelint.knowledge.sharing import Sharing

BUILTIN = (
    "python.toml", "concurrency.toml", "frameworks.toml", "go.toml", "caches.toml", "kubernetes.toml", "client_go.toml",
    "unsafe.toml", "hooks.toml",
)  # fmt: skip
LIVE = {"raises", "skips", "snapshot", "defined"}
DOES = {
    "snapshot", "deep-copy", "lazy", "view", "same", "picks", "yields", "takes-one", "calls-while-iterating", "awaits",
    "partial", "never-returns", "makes-and-more", "defers", "repeats", "delays", "polls", "coroutine", "suspends",
    "context-manager", "synchronized", "tells", "at-once", "writes", "type-test", "returns", "part", "subset",
    "walks", "cancellable", "endless", "is-done", "atomic", "tells-end", "sets", "asks", "finds-set", "claims", "swaps",
    "copies", "launches", "makes", "keeps", "new", "puts-in", "takes-out", "dispatches", "keeps-result", "unlinks",
    "fills-itself", "gives-back", "counts", "fails", "timed", "timed-out", "cancelled", "tells-cause", "compares",
    "gives-once", "refreshes", "makes-pipe", "closes-pipe", "reads-all", "drops-requests", "signals", "until-signal",
    "runs-once", "closes", "fails-closed", "depends", "computes",
}  # fmt: skip
TABLES = (
    "container", "function", "lock", "start", "entry", "safe", "unsafe", "join", "wait", "counterpart",
    "cache", "memo", "handler", "option", "live", "word", "name", "event", "fill", "inline", "given", "typing", "hook",
)  # fmt: skip
NAMES = ("aliases", "modules")  # tables of names that mean something else
LISTS = (
    "types",
    "names",
    "bases",
    "decorators",
    "signature",
    "embeds",
    "registers",
    "marks",
    "receivers",
    "words",
    "values",
    "options",
)  # a row has one of them
LOCKS = {"exclusive", "shared", "async", "counted", "process"}
CONTEXTS = {
    "thread",
    "goroutine",
    "listener",
    "pool",
    "task",
    "loop",
    "remote",
    "command",
    "preparing",
    "leading",
    "greenlet",
    "process",
    "handler",
    "here",
    "unknown",
}


KINDS = {"lock": LOCKS, "start": CONTEXTS, "entry": CONTEXTS, "word": sharing.WORDS, "name": sharing.NAMES}


class MemoryModel(Enum):
    """What CPython guarantees of operations that run in parallel: one step at a time, or only what an object locks."""

    GIL = "gil"
    FREE_THREADED = "free-threaded"


class KnowledgeError(RacelintError):
    """A knowledge table that cannot be read or has rows we do not understand."""


OF_TEXT = frozenset(name for name in (*dir(str), *dir(bytes)) if not name.startswith("_"))


@dataclass(frozen=True, slots=True)
class Container:
    """How a kind of container behaves; see the head of python.toml for the meaning of each key."""

    kind: str
    types: tuple[str, ...]
    live: str
    insert: Mapping[str, int] = field(default_factory=dict)
    append: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    reorder: tuple[str, ...] = ()
    views: Mapping[str, str] = field(default_factory=dict)
    copies: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    by_name: tuple[str, ...] = ()
    missing: str = ""
    growth: str = ""
    typed: bool = False
    sequence: bool = False
    source: str = ""

    def change(self, method: str) -> str | None:
        """What a method does to the container's size or order; None if it only reads."""
        if method in self.insert:
            return "insert"
        for name in ("append", "remove", "clear", "reorder"):
            if method in getattr(self, name):
                return name
        return None


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """What a library function does with its arguments."""

    names: tuple[str, ...]
    does: str
    returns: str = ""
    argument: int = 0
    callable: int = -1
    keyword: str = ""
    iterable: int = 0
    results: int = 1
    types: tuple[str, ...] = ()
    gil: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class HookRow:
    """A method of a library's classes that calls, before it returns, another one which subclasses may have.

    `bases` are patterns of these classes.
    """

    bases: tuple[str, ...]
    method: str
    calls: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class UnsafeRow:
    """Types whose objects two contexts must not use at once.

    `changes`, `reads` and `runs` are patterns of their methods; one of `runs` lets the tasks and callbacks of a loop go
    on where it is called. What `coroutines` do is done where they are awaited, or on the loop that they are handed to.
    What functions of `over` make has its state in their argument, but for what methods of `own`
    change: over one that locks itself it is safe.
    """

    types: tuple[str, ...]
    changes: tuple[str, ...]
    reads: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    coroutines: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    source: str = ""

    def use(self, method: str) -> str | None:
        """What a method does to its object: "alter", "peek" or nothing that matters."""
        if self.is_running(method) or any(fnmatchcase(method, pattern) for pattern in self.changes):
            return "alter"
        return "peek" if any(fnmatchcase(method, pattern) for pattern in self.reads) else None

    def is_running(self, method: str) -> bool:
        """Whether a method runs the loop."""
        return any(fnmatchcase(method, pattern) for pattern in self.runs)

    def keeps(self, method: str) -> bool:
        """Whether a method changes what an object keeps itself, whatever it was made over."""
        return any(fnmatchcase(method, pattern) for pattern in self.own)


@dataclass(frozen=True, slots=True)
class LockType:
    """Types that exclude other contexts; `over` is the position of an argument that is the lock itself."""

    types: tuple[str, ...]
    kind: str
    over: int = -1
    take: tuple[str, ...] = ("acquire", "acquire_lock", "__enter__", "lock")
    give: tuple[str, ...] = ("release", "release_lock", "__exit__", "unlock")
    share: tuple[str, ...] = ()  # of `take`, the methods that take the side which does not exclude itself
    wait: tuple[str, ...] = ()  # methods that give it back until another context has called one of `notify`
    notify: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class StartRow:
    """A call that makes a callable run elsewhere or later; `when` is "now", or "start" if that needs its start().

    If it is `assigned`, the names are those of attributes, and it is a callable that is stored there. All callables
    of one `queue` run one after the other. With `methods` it is an object, of which those are run. A program that
    speaks of one of `driven`, and of none of `driving`, does the library's work itself: nothing runs elsewhere then.
    `near` is true of what only the loop's own thread may do: it runs the callable, too. Who has called one of `stopped`
    has waited for the one thread that runs the callables, until somebody calls one of `driving` again. What is
    registered runs only while a method does that is named as one of `during`, and returns when all is done. A call that
    has `ended` it returns when all is done that it has started; the methods `first` and `last` of the object it calls
    itself, before it starts the others and when these are done.
    """

    names: tuple[str, ...]
    kind: str
    callable: int
    keyword: str = ""
    many: bool = False
    when: str = "now"
    fields: tuple[str, ...] = ()
    assigned: bool = False
    queue: str = ""
    near: bool = False
    methods: tuple[str, ...] = ()
    driven: tuple[str, ...] = ()
    driving: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    during: tuple[str, ...] = ()
    ended: bool = False
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """Functions that a library calls: methods of subclasses of `bases`, or what `decorators` register.

    `marks` are types, and `field` is a class variable: of a class that has one of these there the public methods whose
    first parameter has a name of `given`. With a `signature`, all functions that take parameters of just these types
    (and are named as one of `methods` if there are any); with `embeds`, the `methods` of types that embed one of a
    library named so. `many` is false for what a library calls one at a time. `instance` is "call" if each call has an
    object of its own, "own" if each object has its one context, else "shared"; `only` is "sync" or "async" if the row
    holds for such functions alone. `workers` names the field of a library's type, "package.Type.Field", in which the
    type that has the method says how many calls may run at once, if it says so. `results` is how many results they
    have, 0 if that does not matter. `served` are the functions that make what calls methods of `bases`: if all calls of
    them in a file give it a pool of one worker, those of the file's classes are called one at a time. With `overlaps`
    they serve the program: if all of its calls of them turn that option off, it takes one request at a time.
    `registers` names generated functions of the program, the second parameter of which is an interface: all methods
    that it asks for are called, of whatever type has them. `takers` are names of methods by which a library takes the
    object, and of it calls nothing but `methods`. A function of the kind "command" is run by the process's own command
    line; `makes` is the type of what its decorator makes of it, on which others are registered that run after it.
    """

    kind: str
    bases: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    field: str = ""
    marks: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    signature: tuple[str, ...] = ()
    embeds: tuple[str, ...] = ()
    registers: tuple[str, ...] = ()
    many: bool = True
    instance: str = "shared"
    only: str = ""
    queue: str = ""
    served: tuple[str, ...] = ()
    overlaps: str = ""
    workers: str = ""
    takers: tuple[str, ...] = ()
    results: int = 0
    makes: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class CounterpartRow:
    """A `field` by which objects of classes below `bases` know another one, of a class below one of `types`."""

    types: tuple[str, ...]
    bases: tuple[str, ...]
    field: str
    source: str = ""


class Concurrency:
    """The rows about what runs beside what, indexed by name."""

    def __init__(
        self, locks: Iterable[LockType], starts: Iterable[StartRow], entries: Iterable[EntryRow],
        safe: Iterable[str], joins: Iterable[str], waits: Iterable[str], counterparts: Iterable[CounterpartRow],
    ) -> None:  # fmt: skip
        self.locks = {name: row for row in locks for name in row.types}
        self.takes = frozenset(name for row in self.locks.values() for name in row.take)
        self.gives = frozenset(name for row in self.locks.values() for name in row.give)
        self.shares = frozenset(name for row in self.locks.values() for name in row.share)
        self.starts = {name: row for row in starts for name in row.names}
        self.assigned = frozenset(n.rpartition(".")[2] for n, row in self.starts.items() if row.assigned)
        self.stops = _methods((row, row.stopped) for row in self.starts.values())
        self.drives = _methods((row, row.driving) for row in self.starts.values() if row.stopped)
        self.stopped = frozenset(row.queue for row in self.starts.values() if row.stopped)
        entries = tuple(entries)
        self.entries = tuple([row for row in entries if row.kind != "command"])
        self.commands = {name: row for row in entries if row.kind == "command" for name in row.decorators}
        self.counts = frozenset(row.workers for row in self.entries if row.workers)
        self.safe = frozenset(safe)
        self.joins = frozenset(joins)
        self.groups = frozenset(name.rpartition(".")[0] for name in self.joins)  # types whose objects are waited for
        self.waits = frozenset(waits)
        self.counterparts = tuple(counterparts)
        listed = (*self.starts, *self.joins, *self.waits, *self.counts)
        self.types = self.safe | {owner for name in listed if (owner := name.rpartition(".")[0])}
        self.threads = frozenset(name for name, row in self.starts.items() if row.when == "start")
        self.processes = frozenset(name for name in self.threads if self.starts[name].kind == "process")

    def in_program(self, words: Collection[str]) -> Concurrency:
        """These rows without those of libraries that a program with these words drives itself."""
        idle = {
            name
            for name, row in self.starts.items()
            if any(word in words for word in row.driven) and not any(word in words for word in row.driving)
        }
        if not idle:
            return self
        found = copy.copy(self)
        found.starts = {name: row for name, row in self.starts.items() if name not in idle}
        found.assigned = frozenset(n.rpartition(".")[2] for n, row in found.starts.items() if row.assigned)
        return found

    def start(self, name: str) -> StartRow | None:
        """The row of a function or constructor; "*.name" stands for a method of that name on an unknown object."""
        return self.starts.get(name)


def _methods(rows: Iterable[tuple[StartRow, tuple[str, ...]]]) -> frozenset[str]:
    """Methods of the types to which the names of rows belong."""
    return frozenset(f"{name.rpartition('.')[0]}.{word}" for row, words in rows for name in row.names for word in words)


class Knowledge:
    """All rows, indexed by name."""

    def __init__(
        self,
        containers: Iterable[Container],
        functions: Iterable[LibraryFunction],
        aliases: dict[str, str],
        modules: dict[str, str],
        concurrency: Concurrency,
        shared: Sharing,
        unsafe: Iterable[UnsafeRow] = (),
        memory_model: MemoryModel = MemoryModel.GIL,
        hooks: Iterable[HookRow] = (),
    ) -> None:
        self.memory_model = memory_model
        self._hooks: dict[str, list[HookRow]] = {}
        for hook in hooks:
            self._hooks.setdefault(hook.method, []).append(hook)
        self._hooked = frozenset(base for rows in self._hooks.values() for row in rows for base in row.bases)
        self.concurrency = concurrency
        self.sharing = shared
        self.unsafe = {name: row for row in unsafe for name in row.types}
        self.kinds: dict[str, Container] = {}
        self.container_types: dict[str, Container] = {}
        for container in containers:
            self.kinds[container.kind] = container
            for name in container.types:
                self.container_types[name] = container
        self.typed = frozenset(name for name, container in self.container_types.items() if container.typed)
        self.functions: dict[str, list[LibraryFunction]] = {}
        for function in functions:
            for name in function.names:
                self.functions.setdefault(name, []).append(function)
        self.aliases = aliases
        self._modules = modules
        rows = [(name, row) for name, rows in self.functions.items() for row in rows]
        self.sets = frozenset(name for name, row in rows if row.does == "sets")
        self.launched = frozenset(name.rpartition(".")[0] for name, row in rows if row.does == "launches")
        self.made = frozenset(row.returns for _, row in rows if row.does == "makes")
        self.keepers = self._last_names("keeps")
        self.snapshots = self._last_names("snapshot")
        self.walkers = frozenset(name for name, row in rows if row.does == "walks" and not row.gil)
        self.ends = self._last_names("tells-end")
        self.causes, self.comparing = self._last_names("tells-cause"), self._last_names("compares")
        self.closes_pipes, self.reads_all = self._last_names("closes-pipe"), self._last_names("reads-all")
        self.asks = self._last_names("asks") | self._last_names("claims") | self._last_names("swaps")
        # Methods of containers and of text are too common to guess a project's class by.
        self.common_methods = frozenset(
            name
            for container in self.kinds.values()
            for name in (
                *container.insert, *container.append, *container.remove, *container.clear, *container.reorder,
                *container.views, *container.copies, *container.reads,
            )
        )  # fmt: skip
        started = {name.removeprefix("*.") for name in concurrency.starts if name.startswith("*.")}
        self.common_methods |= (
            started | OF_TEXT | {"start", "join", "acquire", "release", "wait", "set", "put", "send", "run"}
        )
        self.guess = _guess(self.kinds)

    def hook(self, bases: Iterable[str], method: str) -> str | None:
        """What a library's method calls on an object whose class has these bases."""
        rows = self._hooks.get(method, ())
        found = [row for row in rows if any(fnmatchcase(base, name) for base in bases for name in row.bases)]
        return found[0].calls if found else None

    def in_program(self, words: Collection[str]) -> Knowledge:
        """What holds in a program that has these words."""
        concurrency = self.concurrency.in_program(words)
        if concurrency is self.concurrency:
            return self
        found = copy.copy(self)
        found.concurrency = concurrency
        return found

    def walks(self, name: str, given: Collection[str] = ()) -> bool:
        """Whether a function walks its argument in several steps; under the GIL that may be one.

        `given` are the names of the arguments that are given by name, and are something.
        """
        if name in self.walkers:
            return True
        stepwise = [row for row in self.rows(name) if row.gil]
        free = self.memory_model is MemoryModel.FREE_THREADED
        return any(free or (row.keyword and row.keyword in given) for row in stepwise)

    def canonical(self, name: str) -> str:
        """A type's own name behind an alias (`typing.Dict` is `dict`)."""
        return self.aliases.get(name, name)

    def module(self, name: str) -> str:
        """A module's own name behind an older one, or another library's (`Queue`, `six.moves.queue`: `queue`)."""
        return self._modules.get(name, name)

    def container(self, type_name: str) -> Container | None:
        """The behaviour of a library type."""
        return self.container_types.get(self.canonical(type_name))

    def speaks_of(self, name: str) -> bool:
        """Whether a table has a row for a dotted name."""
        concurrency = self.concurrency
        known = (
            self.functions, self.container_types, self.aliases, concurrency.locks, concurrency.starts,
            self.sharing.types, self.unsafe,
        )  # fmt: skip
        if any(name in table for table in known) or name in concurrency.types:
            return True
        return any(fnmatchcase(name, base) for base in self._hooked)

    def _last_names(self, what: str) -> frozenset[str]:
        """The functions and methods that do something, each by its own name only."""
        names = [name for name, rows in self.functions.items() if any(row.does == what for row in rows)]
        return frozenset(name.rpartition(".")[2] for name in names)

    def does(self, name: str, what: str) -> LibraryFunction | None:
        """The row that says a function does something."""
        for row in self.rows(name):
            if row.does == what:
                return row
        return None

    def rows(self, name: str) -> list[LibraryFunction]:
        """The rows of a function; "*.name" stands for a function of that name in any unresolved module."""
        found = self.functions.get(name)
        if found is None and "." in name:
            found = self.functions.get(f"*.{name.rpartition('.')[2]}")
        return found or []


def load(extra: Iterable[Path] = (), memory_model: MemoryModel = MemoryModel.GIL) -> Knowledge:
    """The built-in tables and any others, as they hold under a memory model. Raises KnowledgeError."""
    extra = tuple(extra)
    tables = [*_builtin(), *[_read(path) for path in extra]]
    for table, name in zip(tables, [*BUILTIN, *map(str, extra)], strict=True):
        _check_shape(table, name)

    def rows(kind: str) -> list[dict[str, Any]]:
        return [row for table in tables for row in table.get(kind, ())]

    aliases, modules = (
        {name: target for table in tables for name, target in table.get(kind, {}).items()} for kind in NAMES
    )
    concurrency = Concurrency(
        [_row(LockType, row) for row in rows("lock")],
        [_row(StartRow, row) for row in rows("start")],
        [_row(EntryRow, row) for row in rows("entry")],
        [name for row in rows("safe") for name in row["types"]],
        [name for row in rows("join") for name in row["names"]],
        [name for row in rows("wait") for name in row["names"]],
        [_row(CounterpartRow, row) for row in rows("counterpart")],
    )
    containers = [_row(Container, row) for row in rows("container")]
    functions = [_row(LibraryFunction, row) for row in rows("function")]
    unsafe = [_row(UnsafeRow, row) for row in rows("unsafe")]
    hooks = [_row(HookRow, row) for row in rows("hook")]
    return Knowledge(containers, functions, aliases, modules, concurrency, _sharing(rows), unsafe, memory_model, hooks)


def _sharing(rows: Callable[[str], list[dict[str, Any]]]) -> Sharing:
    return Sharing(
        [_row(sharing.CacheRow, row) for row in rows("cache")],
        [_row(sharing.MemoRow, row) for row in rows("memo")],
        [_row(sharing.HandlerRow, row) for row in rows("handler")],
        [_row(sharing.OptionRow, row) for row in rows("option")],
        [_row(sharing.LiveRow, row) for row in rows("live")],
        [_row(sharing.WordRow, row) for row in rows("word")],
        [_row(sharing.NameRow, row) for row in rows("name")],
        [_row(sharing.EventRow, row) for row in rows("event")],
        [_row(sharing.FillRow, row) for row in rows("fill")],
        [_row(sharing.InlineRow, row) for row in rows("inline")],
        [_row(sharing.GivenRow, row) for row in rows("given")],
        [_row(sharing.TypingRow, row) for row in rows("typing")],
    )


@functools.cache
def _builtin() -> tuple[dict[str, Any], ...]:
    return tuple(_read(Path(__file__).with_name(name)) for name in BUILTIN)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KnowledgeError(f"knowledge table {path}: {error}") from None


def _check_shape(table: dict[str, Any], name: str) -> None:
    """Raise KnowledgeError for anything but arrays of rows and the tables of names."""
    unknown = sorted(table.keys() - {*TABLES, *NAMES})
    if unknown:
        raise KnowledgeError(f"{name}: unknown table {unknown[0]!r} (there are {', '.join((*TABLES, *NAMES))})")
    for kind in NAMES:
        names = table.get(kind, {})
        if not isinstance(names, dict) or not all(isinstance(target, str) for target in names.values()):
            raise KnowledgeError(f"{name}: [{kind}] is a table of names, each with another name")
    for kind in TABLES:
        rows = table.get(kind, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise KnowledgeError(f"{name}: write each row as [[{kind}]]")
        for row in rows:
            listed = next((row[key] for key in LISTS if key in row), None)
            if not isinstance(listed, list) or not listed:
                raise KnowledgeError(f"{name}: a {kind} row needs a list of its types or names")
            kinds = KINDS.get(kind)
            _check_words(row, name, kinds)


def _check_words(row: dict[str, Any], name: str, kinds: set[str] | None) -> None:
    """Raise KnowledgeError for a word that no analysis knows; a container's kind is a name of its own."""
    words = [("live", LIVE), ("does", DOES), ("gives", sharing.GIVES)]
    if kinds is not None:
        words.append(("kind", kinds))
    for key, known in words:
        if key in row and row[key] not in known:
            raise KnowledgeError(f"{name}: {key} = {row[key]!r} (known are {', '.join(sorted(known))})")
    for key in ("insert", "views"):
        if not isinstance(row.get(key, {}), dict):
            raise KnowledgeError(f"{name}: {key} is a table of methods, not {row[key]!r}")


def _row(record: type[Any], row: dict[str, Any]) -> Any:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    try:
        return record(**values)
    except TypeError as error:
        raise KnowledgeError(f"knowledge row {row.get('types') or row.get('names')}: {error}") from None


def _guess(kinds: Mapping[str, Container]) -> Container:
    """How a container of unknown type behaves, to go by the names of its methods."""
    mapping, sets, lists, deque = (kinds[kind] for kind in ("mapping", "set", "list", "deque"))
    known = (mapping, sets, lists)
    return Container(
        kind="unknown",
        types=(),
        live="raises",
        insert={**mapping.insert, "add": 0, "insert": 1},
        append=("append", "extend", "appendleft"),
        remove=tuple(sorted({name for kind in (*known, deque) for name in kind.remove})),
        clear=("clear",),
        reorder=("sort", "reverse"),
        views=mapping.views,
        copies=("copy",),
        reads=("get", "pop", "setdefault", "__getitem__"),
        by_name=tuple(sorted({name for kind in kinds.values() for name in kind.by_name})),
        source="the names that the known containers share",
    )
