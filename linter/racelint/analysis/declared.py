"""What authors say of their places, functions and types in annotations: guards, required locks, confinement.

The annotations are those of Clang's thread safety analysis (`guarded_by`, `requires_capability`) and of RacerD's and
Error Prone's `@GuardedBy`. What they say is believed; what cannot be true of them is a problem of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.lock_names import LockNames, Scope
from racelint.analysis.places import Place, Places
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.knowledge import Knowledge
from racelint.model import Annotation, Source
from racelint.span import Location

MEANT = re.compile(r"loop|thread|goroutine|worker|main")  # `confined: x` with another name may be prose
HERE = {
    "guarded_by": "it belongs above or behind the declaration of a field, or of a variable that several functions use",
    "requires_lock": "it belongs above or behind the head of a function",
    "confined": "it belongs to a field, a module's variable, a function or a class",
}


class Told(NamedTuple):
    """Something that an author says: the lock (as `Places` names it) or the context, as written, and where."""

    name: str
    text: str
    location: Location


class Problem(NamedTuple):
    """An annotation that cannot be right: its kind, what is wrong, why, and what of the program it speaks of."""

    kind: str
    location: Location
    message: str
    because: str
    symbol: str


class Declared:
    """Reads the annotations of a program."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge, places: Places) -> None:
        self._symbols = symbols
        self._places = places
        self._locks = LockNames(symbols, types, knowledge, places)
        self.guards: dict[tuple[str, str], Told] = {}  # by type or module, and name
        self._described: dict[tuple[str, str], Told] = {}  # guards in plain words
        self.required: dict[str, tuple[Told, ...]] = {}  # by function
        self.confined: dict[tuple[str, str], Told] = {}  # fields and globals
        self.confined_types: dict[str, Told] = {}
        self.confined_functions: dict[str, Told] = {}
        self.problems: list[Problem] = []
        for source, annotation in symbols.annotations:
            self._read(source, annotation)

    @property
    def asks(self) -> bool:
        """Whether any annotation asks for a lock."""
        return bool(self.guards or self.required)

    @property
    def confines(self) -> bool:
        """Whether any annotation names a context."""
        return bool(self.confined or self.confined_types or self.confined_functions)

    def guard(self, place: Place) -> Told | None:
        """The lock that a place is said to be guarded by."""
        return self.guards.get((place.owner, place.name)) if self.guards and not place.depth else None

    def description(self, place: Place) -> Told | None:
        """The lock that a comment in plain words says a place is guarded by."""
        return self._described.get((place.owner, place.name)) if self._described else None

    def confinement(self, place: Place) -> Told | None:
        """The context that a place, or its object as a whole, is said to be confined to."""
        found = self.confined.get((place.owner, place.name)) if self.confined else None
        if found is None and self.confined_types and place.kind in ("field", "static"):
            found = self.confined_types.get(place.owner)
        return found

    def speaks_of(self, place: Place) -> bool:
        """Whether an author says how a place is kept from races."""
        return self.guard(place) is not None or self.confinement(place) is not None

    def locks_of(self, function_id: str) -> frozenset[str]:
        """The locks that callers of a function are said to hold."""
        return frozenset([told.name for told in self.required.get(function_id, ())]) if self.required else frozenset()

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self, source: Source, annotation: Annotation) -> None:
        where = Location(source.path, annotation.span)
        if annotation.kind == "described":
            self._describe(source, annotation, where)
            return
        if annotation.target == "nothing":
            if annotation.kind != "confined" or MEANT.search(annotation.text):
                self._problem(annotation, where, "stands beside nothing that it could be about", HERE[annotation.kind])
            return
        told = Told(annotation.text, annotation.text, where)
        if annotation.kind == "confined":
            self._confine(source, annotation, told)
        elif annotation.kind == "guarded_by":
            locks = list(self._named(source, annotation, where))
            if len(annotation.names) > 1:
                self._problem(annotation, where, "names several locks", "a place has one guard: name one lock")
            elif locks:
                self._put(self.guards, self._key(source, annotation), annotation, locks[0])
        else:
            function_id = f"{source.name}:{annotation.name}"
            told_here = tuple(self._named(source, annotation, where))
            for each in (function_id, *self._overrides(function_id)):
                self.required[each] = tuple(dict.fromkeys((*self.required.get(each, ()), *told_here)))

    def _describe(self, source: Source, annotation: Annotation, where: Location) -> None:
        """A comment for people: one that names no lock speaks of something else; of several the first one counts."""
        found = [self._locks.find(self._scope(source, annotation), name).lock for name in annotation.names]
        if len(found) == 1 and found[0]:
            key = self._key(source, annotation)
            self._described.setdefault(key, Told(found[0], annotation.text, where))

    def _confine(self, source: Source, annotation: Annotation, told: Told) -> None:
        name = f"{source.name}:{annotation.name}"
        if not annotation.names:
            self._problem(annotation, told.location, "names no context", "a context is a name, such as event-loop")
        elif annotation.target == "function":
            self.confined_functions[name] = told
        elif annotation.target == "type":
            self.confined_types[name] = told
        else:
            self._put(self.confined, self._key(source, annotation), annotation, told)

    def _named(self, source: Source, annotation: Annotation, where: Location) -> Iterator[Told]:
        """The locks that an annotation names, and that are there."""
        if not annotation.names:
            why = "a lock is named by an attribute or a variable, such as self._lock"
            self._problem(annotation, where, "names no lock", why)
        scope = self._scope(source, annotation)
        for name in annotation.names:
            found = self._locks.find(scope, name)
            if found.problem:
                self._problem(annotation, where, "names no lock", found.problem)
            elif found.lock:
                yield Told(found.lock, _lock_text(annotation, name), where)

    def _scope(self, source: Source, annotation: Annotation) -> Scope:
        if annotation.target not in ("function", "variable"):
            return Scope(source.name, f"{source.name}:{annotation.owner}" if annotation.owner else "")
        function_id = f"{source.name}:{annotation.name if annotation.target == 'function' else annotation.owner}"
        function = self._symbols.functions[function_id][1]
        around = function
        while not around.owner and around.parent is not None:  # a function in a method
            around = self._symbols.functions[f"{source.name}:{around.parent}"][1]
        return Scope(source.name, f"{source.name}:{around.owner}" if around.owner else "", function_id)

    def _key(self, source: Source, annotation: Annotation) -> tuple[str, str]:
        if annotation.target == "global":
            return source.name, annotation.name
        if annotation.target == "variable":
            return f"{source.name}:{annotation.owner}", annotation.name
        return self._places.declarer(f"{source.name}:{annotation.owner}", annotation.name), annotation.name

    def _overrides(self, function_id: str) -> list[str]:
        """What subclasses put in place of a method: whoever calls the one may call the other."""
        owner = self._symbols.owner_of(function_id)
        return self._symbols.overrides(owner, self._symbols.functions[function_id][1].name) if owner else []

    def _put(
        self, table: dict[tuple[str, str], Told], key: tuple[str, str], annotation: Annotation, told: Told
    ) -> None:
        known = table.setdefault(key, told)
        if known.name != told.name:
            message = "contradicts another annotation"
            self._problem(annotation, told.location, message, f"{annotation.name} is said to be {_says(known)}")

    def _problem(self, annotation: Annotation, where: Location, message: str, because: str) -> None:
        of = ".".join([part for part in (annotation.owner, annotation.name) if part])
        text = f"{annotation.kind}: {annotation.text}"
        self.problems.append(Problem(annotation.kind, where, f"'{text}' {message}", because, of or text))


def _lock_text(annotation: Annotation, name: tuple[str, ...]) -> str:
    """One of the locks of an annotation as it is written."""
    return annotation.text.split(",")[annotation.names.index(name)].strip()


def _says(told: Told) -> str:
    where = f"{told.location.path.rpartition('/')[2]}:{told.location.line}"
    return f"of {told.text} at {where}"
