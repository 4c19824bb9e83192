"""The rows about shared objects: which libraries hand out objects that others hold too, and which names speak of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

GIVES = {"object", "collection", "store"}
WORDS = {"cache", "default", "watch"}
NAMES = {
    "loads",
    "lists",
    "leads",
    "serialises",
    "reads-back",
    "saves",
    "sends",
    "catches-all",
    "copies",
    "shows",
    "looks-up",
    "puts-in",
    "one-thread",
    "patches",
    "serves",
    "setting",
    "sorts",
    "makes-store",
}


@dataclass(frozen=True, slots=True)
class CacheRow:
    """A store of shared objects: types, or receivers of unknown type by their name, and the methods that hand out.

    `gives` is "object" for the shared object itself, "collection" for a fresh collection of shared objects, "store" for
    another store, of type `returns`. `results` says how many results there are, of which that is the first, `found`
    which of them (1 is the second) says whether there was an object. With `through`, all other methods of these types
    give a store of the same kind.
    """

    methods: tuple[str, ...]
    types: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()
    gives: str = "object"
    returns: str = ""
    results: int = 1
    found: int = 0
    through: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class MemoRow:
    """Decorators that keep what a function has returned and give it again.

    A name without a dot stands for a decorator of the project, with a star for all that begin with that word.
    """

    decorators: tuple[str, ...]
    gives: str = "object"
    source: str = ""


@dataclass(frozen=True, slots=True)
class HandlerRow:
    """Methods that register functions (or objects with `methods`) which are given shared objects.

    `receivers` are the names of what they are called on in Python; in Go any receiver will do.
    `types` are those of objects whose `fields` hold such functions; without `fields` all that lies in them is one.
    `removed` are types of objects in which what has left the cache is told of. With `first` they are given an object
    before anybody else is, under the cache's lock, and once more when it goes.
    """

    names: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    first: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class EventRow:
    """Types of parameters by which a library tells functions of changes: the objects in them are shared."""

    types: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """Constructors (patterns) of fields that hold settings, marked by a keyword argument; objects made of settings."""

    types: tuple[str, ...] = ()
    flag: str = ""
    values: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class LiveRow:
    """Attributes that are an object's own state, live: whoever changes them changes the object."""

    names: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class WordRow:
    """Words in names: "cache" for what keeps copies, "default" for presets, "watch" for calls that follow changes."""

    words: tuple[str, ...]
    kind: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class NameRow:
    """Whole names that tell what code does where it is looked at as a text only: nothing of it is resolved.

    "loads" modules by their names, "lists" what a module has without naming it (where its own module is imported),
    "leads" to a class that nobody names, "serialises" what it is given, "catches-all" exceptions, "copies" a container,
    "shows" something to people only, "looks-up" or "puts-in" an entry of a cache. "one-thread" are packages: what
    imports one runs in one thread, whatever it starts.
    "patches" puts greenlets in the place of threads, in the whole process.
    "serves" are modules by which other servers run a program: it imports one, or has one of that name for them.
    "saves" is a method that writes down what its object holds, "reads-back" gives a new object of what was written.
    "sends" is a request to the server whose objects a cache has, which answers with what it has accepted.
    "setting" gives what the environment says, or its second argument if nobody sets it. "sorts" puts the elements of
    what it is given in order, and moves none of them the next time. "makes-store" makes a cache with the one handler
    that it is given, and gives its store as the first result: who drops that has no other way to what it holds.
    """

    names: tuple[str, ...]
    kind: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class InlineRow:
    """Names of fields that hold a struct itself, whatever type has them; if `embedded`, its fields are theirs, too."""

    names: tuple[str, ...]
    embedded: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class GivenRow:
    """Names of fields, and of methods that give them, which are empty until an object is stored where it comes from."""

    names: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class TypingRow:
    """Names of fields that say of what type an object is, and of methods that change them: the same for all of it."""

    names: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class FillRow:
    """Methods that put shared objects into what they are given, if one of the `options` (patterns) is given, too.

    `argument` is what is filled: a struct whose `field` gets a new sequence of copies of the shared objects, or with no
    field a copy of one itself. The copies share what lies deeper.
    """

    options: tuple[str, ...]
    methods: tuple[str, ...]
    argument: int
    field: str = ""
    source: str = ""


class Sharing:
    """The rows, indexed."""

    def __init__(
        self, caches: Iterable[CacheRow], memos: Iterable[MemoRow], handlers: Iterable[HandlerRow],
        options: Iterable[OptionRow], live: Iterable[LiveRow], words: Iterable[WordRow], names: Iterable[NameRow],
        events: Iterable[EventRow], fills: Iterable[FillRow], inline: Iterable[InlineRow], given: Iterable[GivenRow],
        typing: Iterable[TypingRow],
    ) -> None:  # fmt: skip
        self._caches = tuple(caches)
        self.memos = {name: row for row in memos for name in row.decorators}
        handlers = tuple(handlers)
        self.handlers = {name: row for row in handlers for name in row.names}
        self.carriers = {name: row for row in handlers for name in row.types}
        told_first = [row for row in handlers if row.first]
        self.told_first = frozenset(name.rpartition(".")[2] for row in told_first for name in (*row.names, *row.types))
        self.removed = frozenset(name for row in handlers for name in row.removed)
        self._fills = tuple(fills)
        inline = tuple(inline)
        self.inline = frozenset(name for row in inline for name in row.names)
        self.embedded = frozenset(name for row in inline if row.embedded for name in row.names)
        self.given = frozenset(name for row in given for name in row.names)
        self.typing = frozenset(name for row in typing for name in row.names)
        self.filling = frozenset(name for row in self._fills for name in row.methods)
        self.events = frozenset(name for row in events for name in row.types)
        self._options = tuple(options)
        self.settings = frozenset(name for row in self._options for name in row.values)
        self.live = frozenset(name for row in live for name in row.names)
        self._said: dict[tuple[str, str], bool] = {}
        self._words: dict[str, frozenset[str]] = {kind: frozenset() for kind in WORDS}
        for row in words:
            self._words[row.kind] |= frozenset(row.words)
        self._names: dict[str, frozenset[str]] = {kind: frozenset() for kind in NAMES}
        for named in names:
            self._names[named.kind] |= frozenset(named.names)
        self.methods = frozenset(method for row in self._caches for method in row.methods)
        self.types = frozenset([*[n for row in self._caches for n in row.types], *self.carriers, *self.events])
        self._stores: dict[str, bool] = {}

    def memo(self, name: str) -> MemoRow | None:
        """The row of a decorator of the project: by its name, or by the word with which that begins."""
        return self.memos.get(name) or self.memos.get(f"{split(name)[0]}*" if split(name) else "")

    def cache(self, type_name: str, receiver: str, method: str) -> CacheRow | None:
        """The row of a method of a library type or, if that is unknown, of something that goes by a name."""
        if method not in self.methods:
            return None
        for row in self._caches:
            if method in row.methods and (
                matches(type_name, row.types) if type_name else matches(receiver.lower(), row.receivers)
            ):
                return row
        return None

    def is_store(self, type_name: str) -> bool:
        """Whether all that an object of a type gives comes from a cache."""
        known = self._stores.get(type_name)
        if known is None:
            known = any(row.through and matches(type_name, row.types) for row in self._caches)
            self._stores[type_name] = known
        return known

    def handler(self, method: str, receiver: str | None) -> HandlerRow | None:
        """The row of a method that registers handlers, of a `receiver` that goes by that name (None: whoever it is)."""
        row = self.handlers.get(method)
        if row is None or (receiver is not None and not matches(receiver.lower(), row.receivers)):
            return None
        return row

    def fill(self, method: str, given: Iterable[str]) -> FillRow | None:
        """The row of a method that is given these named options."""
        names = tuple(given)
        for row in self._fills:
            if method in row.methods and any(matches(name, row.options) for name in names):
                return row
        return None

    def option(self, type_name: str) -> str:
        """The keyword that makes a field of this type an option, "" if there is none."""
        return next((row.flag for row in self._options if matches(type_name, row.types)), "")

    def names(self, kind: str) -> frozenset[str]:
        """The names that tell of what a `NameRow` of a kind does."""
        return self._names[kind]

    def says(self, name: str, kind: str) -> bool:
        """Whether a name contains a word of a kind."""
        known = self._said.get((name, kind))
        if known is None:
            known = self._said[name, kind] = not self._words[kind].isdisjoint(split(name))
        return known


def split(name: str) -> list[str]:
    """The words of a name, in lower case: `_podCache` and `POD_CACHE` have the same."""
    words: list[str] = []
    for part in name.replace(".", "_").split("_"):
        start = 0
        for index in range(1, len(part)):
            if part[index].isupper() and part[index - 1].islower():
                words.append(part[start:index].lower())
                start = index
        words.append(part[start:].lower())
    return [word for word in words if word]


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name is one of the patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
