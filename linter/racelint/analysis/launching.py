"""Launching: what was registered with an object of a library is called only once that object has been made to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racelint.analysis.branching import comes_first
from racelint.analysis.contexts import Context, Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.memory import LISTENER
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import NONE, Field, Result, Site, Value
from racelint.span import Span

MOST_CALLS = 3  # from what gives an object to what makes it
MOST_STEPS = 8  # calls one on the other, as in `factory.Core().V1().Nodes().Informer()`


class Launching:
    """Finds accesses that come before a type launches what it has made itself."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, places: Places
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._launches: dict[str, list[tuple[str, Span, str]]] = {}  # by the type whose fields are launched: which
        for function_id, each in effects.items():
            for span, launched in each.launches:
                for owner, name in self._fields(each, launched, places):
                    self._launches.setdefault(owner, []).append((function_id, span, name))
        self._registered: dict[tuple[str, Span, str], set[str]] = {}

    def _fields(self, effects: Effects, launched: Value, places: Places) -> list[tuple[str, str]]:
        """The types and fields that hold what a function launches, on its own instance or put there by it."""
        if isinstance(launched, Field):
            return [(places.class_of(launched.base) or "", launched.name)]
        return [key for key, values in effects.launchers.items() if launched in values]

    def precedes(self, spot: Spot, context: Context) -> bool:
        """Whether a type's object is accessed before it launches what a context's function is registered with."""
        owner = spot.located.type
        launches = self._launches.get(owner, ())
        if not launches or context.kind != LISTENER or context.starter is None or context.span is None:
            return False
        if not spot.located.own or not self._registers(context.starter, owner):
            return False
        names = self._registered_with(context.starter, context.span, owner)
        mine = [launch for launch in launches if launch[2] in names] or launches
        if len(mine) > 1 and names.isdisjoint([name for _, _, name in mine]):
            return False  # it may be registered with any of them
        return all(self._is_later(spot, owner, *launch) for launch in mine)

    def _is_later(self, spot: Spot, owner: str, launcher: str, at: Span, name: str) -> bool:
        """Whether an access comes before the launch of what a type has made itself."""
        return self._is_made_inside(owner, name) and self._comes_first(spot, launcher, at)

    def _registered_with(self, starter: str, at: Span, owner: str) -> set[str]:
        """The fields of a type that hold what a function registers something with there, if that is known."""
        if (starter, at, owner) not in self._registered:
            self._registered[starter, at, owner] = set(self._holders(self._effects[starter], at, owner))
        return self._registered[starter, at, owner]

    def _holders(self, effects: Effects, at: Span, owner: str) -> Iterator[str]:
        objects = [of for span, of in effects.prepares.items() if span.holds(at)]
        objects += [callee.base for span, callee in effects.calls if isinstance(callee, Field) and span.holds(at)]
        named = {of.name for of in objects if isinstance(of, Field) and self._symbols.is_instance(of.base)}
        made = [of for of in objects if isinstance(of, Result)]
        for function_id, each in self._effects.items():
            held = {name: values for (type_id, name), values in each.launchers.items() if type_id == owner}
            for name, values in held.items():
                those = [v for v in values if name in named or any(self._is_that(v, function_id, m) for m in made)]
                sources = {source for value in those for source in self._sources(each, value)}
                yield from [other for other, found in held.items() if not sources.isdisjoint(found)]
        yield from named

    def _sources(self, effects: Effects, value: Value) -> Iterator[Value]:
        """An object, and the one of which a method has given it, and so on: a factory launches what it has made."""
        for _ in range(MOST_STEPS):
            yield value
            at = value.site.span if isinstance(value, Result) else None
            bases = [callee.base for span, callee in effects.calls if span == at and isinstance(callee, Field)]
            bases += [of for span, of in effects.prepares.items() if span == at]
            if len(bases) != 1:
                return
            value = bases[0]

    def _is_that(self, value: Value, function_id: str, made: Result) -> bool:
        """Whether what a function stores is an object that was made there, or by the function that it calls for it."""
        if not isinstance(value, Result) or value == made:
            return value == made
        called = [callee for span, callee in self._effects[function_id].calls if span == value.site.span]
        return made.site.function in called and value.site.origin == made.site.span

    def _registers(self, function_id: str, owner: str) -> bool:
        """Whether a function is a type's own: a method, or what makes its objects."""
        made = self._effects[function_id].made if function_id in self._effects else ()
        return self._symbols.owner_of(function_id) == owner or any(each == owner for _, each in made)

    def _comes_first(self, spot: Spot, launcher: str, at: Span) -> bool:
        """Whether an access, or a call on the own instance that leads to it, comes first in what launches."""
        if self._contexts.roots[spot.entry.context].many or spot.access.span == at:
            return False
        function, entry, span = spot.function, spot.entry, spot.access.span
        while function != launcher:
            came = self._contexts.came(function, entry)
            if came is None or not came.own:
                return False
            function, entry, span = came.caller, came.entry, came.span
        looped = self._contexts.is_looped(function, entry)
        return not looped and comes_first(self._symbols.functions[launcher][1].body, span, at)

    def _is_made_inside(self, owner: str, name: str) -> bool:
        """Whether what a field holds is made where it is stored, so that nobody else can launch it."""
        stored = [
            (f, each.launchers[owner, name]) for f, each in self._effects.items() if (owner, name) in each.launchers
        ]
        return bool(stored) and all(self._is_made(f, v, MOST_STEPS) for f, values in stored for v in values)

    def _is_made(self, function_id: str, value: Value, steps: int) -> bool:
        """Whether a value comes out of a package's function, or out of methods of what does, here or in a callee."""
        if not isinstance(value, Result) or value.site.function != function_id or steps == 0:
            return value == NONE
        called = [callee for span, callee in self._effects[function_id].calls if span == value.site.span]
        if value.site.origin is not None:
            inside = self._where(called, value.site.origin)
            made = [Result(Site(each, value.site.origin)) for each in inside]
            return bool(made) and all(self._is_made(each.site.function, each, steps - 1) for each in made)
        of = [callee.base if isinstance(callee, Field) else callee for callee in called]
        return all(not isinstance(each, str) and self._is_made(function_id, each, steps - 1) for each in of)

    def _where(self, called: Iterable[str | Value], at: Span) -> set[str]:
        """The functions around a spot, among those that are called and what they call, some calls deep."""
        known, new = set[str](), {each for each in called if isinstance(each, str)}
        for _ in range(MOST_CALLS):
            known |= new
            calls = [each for function_id in new if function_id in self._effects
                     for _, each in self._effects[function_id].calls]  # fmt: skip
            new = {each for each in calls if isinstance(each, str)} - known
        return {each for each in known if self._symbols.functions[each][1].span.holds(at)}
