"""Stores that a program makes and fills itself: what lies in them is its own, as in a map that it has made.

A library's type says of its objects that others hold them too; that is so where the library fills the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING

from racelint.analysis.paths import prefixes, root
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import LibraryType, Types
from racelint.analysis.values import (
    NONE,
    Cached,
    Captured,
    Field,
    Fresh,
    Global,
    Param,
    Seen,
    Site,
    TypeValue,
    Unknown,
    Value,
    Values,
)
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.summaries import Summaries

LINKS = 3  # calls through which what is put into a store is followed back
Places = dict[Value, dict[Value, None]]


class StoreUse:
    """Where stores are kept and what is done with them: filled in while functions are evaluated."""

    def __init__(self, symbols: Symbols, types: Types, made: Set[str]) -> None:
        self._symbols = symbols
        self._types = types
        self._made = made
        self.drawn: dict[tuple[str, Span], dict[Value, None]] = {}  # what hands something out, and the stores
        self.kept: Places = {}  # what fields and variables are given that hold stores
        self.added: Places = {}  # what the program puts into stores
        self.given_away: dict[Value, None] = {}  # stores that others may fill
        self.filling: set[tuple[str, Span]] = set()  # the calls that put something into one, and whose they are

    def draw(self, source: str, call: Span, store: Value) -> None:
        """A call hands out what lies in a store, which the source calls so."""
        if self._is_store(store):
            self.drawn.setdefault((source, call), {})[self.place(store)] = None

    def keep(self, path: Value, values: Values) -> None:
        """A field or variable is given values."""
        if self._is_store(path) or any([self._is_store(value) for value in values]):
            self.kept.setdefault(self.place(path), {}).update(dict.fromkeys(values))

    def add(self, store: Value, values: Iterable[Value]) -> None:
        """Values are put into a store."""
        self.added.setdefault(self.place(store), {}).update(dict.fromkeys(values))

    def give_away(self, args: Iterable[Values]) -> None:
        """Something unknown is given values, or methods of them."""
        for value in [v for values in args for v in values]:
            value = value.base if isinstance(value, Field) and self._is_store(value.base) else value
            if self._is_store(value):
                self.given_away[self.place(value)] = None

    def _is_store(self, value: Value) -> bool:
        found = self._types.of(value)
        return isinstance(found, LibraryType) and found.name in self._made

    def place(self, value: Value) -> Value:
        """What stands for a value in all functions: the declared field, where the store was made."""
        match value:
            case Seen(base=base):
                return self.place(base)
            case Fresh(type=kind, site=site):
                return Fresh(kind, Site("", site.origin or site.span))
            case Field(base=base, name=name):
                owner = base.type if isinstance(base, TypeValue) else self._types.class_of(base)
                declared = self._symbols.field(owner, name) if owner else None
                return Field(TypeValue(declared[0]), name) if declared else Unknown()
            case _:
                return value


class OwnStores:
    """Tells which stores are the program's own; all functions have been evaluated."""

    def __init__(self, summaries: Summaries, is_shared: Callable[[Value], bool]) -> None:
        self._use = summaries.stores
        self._usage = summaries.usage
        self._symbols = summaries.symbols
        self._keepers = summaries.knowledge.keepers
        self._is_shared = is_shared
        self._handed = {type_id for effects in summaries.effects.values() for type_id, _ in effects.handed}
        self._away: Set[Value] | None = None
        self._links: Mapping[Value, Set[Value]] | None = None
        self._known: dict[Value, bool] = {}
        self._told: dict[str, bool] = {}  # functions of which all calls are known
        self._named: Set[str] | None = None

    def is_own(self, given: Cached) -> bool:
        """Whether what a call has handed out comes from stores that the program has made, and nobody else fills."""
        stores = self._use.drawn.get((given.source, given.site.origin or given.site.span), {})
        return bool(stores) and all(self._is_own(store) for store in stores)

    def _is_own(self, place: Value) -> bool:
        if place in self._known:
            return self._known[place]
        group = self._group(place)
        self._known.update(dict.fromkeys(group, True))  # what comes out of a store may be put back
        added = [value for each in group for value in self._use.added.get(each, ())]
        own = self._is_made(group) and not any(self._comes_from_cache(value) for value in added)
        if not own:
            self._known = {known: False for known, found in self._known.items() if not found}  # the rest built on it
        self._known.update(dict.fromkeys(group, own))
        return own

    def _is_made(self, group: Set[Value]) -> bool:
        """Whether the program has made all that goes by these names, and given none of them away."""
        known = all(isinstance(p, Fresh | Field | Global | Captured) or self._is_told(p) for p in group)
        return known and any(isinstance(place, Fresh) for place in group) and group.isdisjoint(self._all_away())

    def _group(self, place: Value) -> Set[Value]:
        """All fields and variables that may hold the same stores, and these."""
        found, waiting = {place}, [place]
        while waiting:
            new = self._all_links().get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    def _all_links(self) -> Mapping[Value, Set[Value]]:
        """Which places are given what others hold, both ways."""
        if self._links is None:
            links: dict[Value, set[Value]] = defaultdict(set)
            for path, values in self._use.kept.items():
                for given in [self._use.place(value) for value in values if value != NONE]:
                    links[path].add(given)
                    links[given].add(path)
            self._link_parameters(links)
            self._links = links
        return self._links

    def _link_parameters(self, links: dict[Value, set[Value]]) -> None:
        """A parameter of which all callers are known is what they pass."""
        drawn = [store for stores in self._use.drawn.values() for store in stores]
        waiting = [place for place in (*links, *self._use.added, *drawn) if self._is_told(place)]
        while waiting:
            place = waiting.pop()
            for given in [self._use.place(value) for value in self._passed(place) if value != NONE]:
                if given not in links[place]:
                    links[place].add(given)
                    links[given].add(place)
                    waiting += [given] if self._is_told(given) else []

    def _is_told(self, place: Value) -> bool:
        """Whether the program shows all that a parameter is given: of a function that is only named to be called."""
        if not isinstance(place, Param):
            return False
        if place.function not in self._told:
            _, function = self._symbols.functions[place.function]
            callers = [self._symbols.functions[caller][0] for caller in self._usage.callers(place.function)]
            named = function.owner or "." in function.qualname or function.name in self._all_named()
            self._told[place.function] = not named and any(caller.reported for caller in callers)
        given = self._usage.passed(place.function, place.index)
        return self._told[place.function] and bool(given) and all(given)

    def _all_named(self) -> Set[str]:
        """The names that are not only called anywhere."""
        if self._named is None:
            self._named = {name for words in self._symbols.words for name in words.mentions.split()}
        return self._named

    def _all_away(self) -> Set[Value]:
        """The stores that others may fill, by whatever name they were given away."""
        if self._away is None:
            found: set[Value] = set()
            waiting = [*self._use.given_away, Unknown()]
            waiting += [Field(TypeValue(t), name) for t in self._handed for name in self._symbols.types[t][1].embedded]
            params = [place for place in (*self._all_links(), *self._use.added) if isinstance(place, Param)]
            waiting += [place for place in params if not self._is_told(place)]
            while waiting:
                place = waiting.pop()
                if place not in found:
                    found.add(place)
                    waiting += self._all_links().get(place, ())
                    waiting += [self._use.place(value) for value in self._passed(place)]
            self._away = found
        return self._away

    def _passed(self, value: Value) -> list[Value]:
        """What the calls that are known pass for a parameter."""
        if not isinstance(value, Param):
            return []
        return [v for values in self._usage.passed(value.function, value.index) for v in values]

    def _comes_from_cache(self, value: Value, links: int = LINKS) -> bool:
        """Whether what is put into a store is known to be shared already, or a library puts it there."""
        if any(self._is_shared(start) for start in prefixes(value)) or self._is_put_by_library(root(value)):
            return True
        return links > 0 and any(self._comes_from_cache(v, links - 1) for v in self._passed(root(value)))

    def _is_put_by_library(self, value: Value) -> bool:
        """Whether a method is given a value that a library may call: one of a store around a store."""
        if not isinstance(value, Param) or self._symbols.owner_of(value.function) not in self._handed:
            return False
        return self._symbols.functions[value.function][1].name in self._keepers
