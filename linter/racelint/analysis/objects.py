"""Whose an object is: what a path stands for in one entry state of a function, by the calls that lead there.

Only for languages in which every unordered access counts: it must be shown that two contexts have the same object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis.branching import loops_around
from racelint.analysis.common import Common
from racelint.analysis.contexts import targets
from racelint.analysis.values import Captured, Element, Field, Fresh, Global, Member, Param, TypeValue, Value

if TYPE_CHECKING:
    from racelint.analysis.contexts import Contexts, Entry
    from racelint.analysis.effects import Effects, Start
    from racelint.analysis.places import Places
    from racelint.analysis.symbols import Symbols
    from racelint.span import Span

    Handing: TypeAlias = tuple[Span, Span | None]  # where something is handed over, and the innermost loop around that

# nobody else's yet; one for each context; the context's own, and of what it has started on it; unknown; shared
FRESH, OWN, ALIVE, MAYBE, SHARED = range(5)
MOST_STEPS = 8  # calls through which an object is handed on
HANDLER = "handler"  # the kind of what a library calls for each request


class Objects:
    """Follows objects up the calls to where they come from."""

    def __init__(
        self, symbols: Symbols, places: Places, contexts: Contexts, effects: Mapping[str, Effects]
    ) -> None:  # fmt: skip
        self._effects = effects
        self._symbols = symbols
        self._places = places
        self._contexts = contexts
        self._common = Common(symbols)
        self._handed_over: dict[str, dict[Value, list[Handing]]] = {}
        self._known: dict[tuple[str, Span, Value], set[Value]] = {}

    def of(self, path: Value | None, function: str, entry: Entry, steps: int = MOST_STEPS) -> int:
        """What the object at the end of a path is to the context of an entry state."""
        found = self._of(path, function, entry, steps)
        return SHARED if found == MAYBE and self._is_the_one(path) else found

    def comes_first(self, function: str, entry: Entry) -> bool:
        """Whether a function is entered before its context has started anything."""
        return self._contexts.comes_first(function, entry)

    def _is_the_one(self, path: Value | None) -> bool:
        """Whether there is only one object of a type; what lies in a container is one of several."""
        if path is None or isinstance(path, Element | Member):
            return False
        return self._places.class_of(path) in self._contexts.singles

    def _of(self, path: Value | None, function: str, entry: Entry, steps: int) -> int:
        match path:
            case None | TypeValue() | Global():
                return SHARED
            case Fresh():
                known = self._is_the_one(path) and not self._is_made_on_way(path, function, entry)
                return SHARED if known else FRESH
            case Param() if self._symbols.is_instance(path):
                return entry.receiver
            case Param():
                if self._places.is_bound(path):
                    return MAYBE if self._places.is_bound_to_one(path) else SHARED
                return SHARED if self._places.is_handed(path) else self._given(path, entry, steps)
            case Captured():
                return self._captured(path, function, entry, steps)
            case Field(base=base, name=name):
                if self._is_own_part(base, name, function, entry, steps):
                    return FRESH
                held = self.of(base, function, entry, steps)
                if held in (OWN, ALIVE) and self._common.has(self._places.class_of(base) or "", name):
                    return SHARED
                return held if held == SHARED or self._places.is_inside(base, name) else MAYBE
            case Element(base=Fresh()) if self._places.is_whole(path):
                return self.of(path.base, function, entry, steps)  # a struct that lies in a list itself
            case _:
                return MAYBE  # an element among them: one of several, and mostly each worker has its own key

    def _is_made_on_way(self, made: Fresh, function: str, entry: Entry) -> bool:
        """Whether a context has made an object itself; else it was given a method of it, and its maker has it, too."""
        if made.site.function == function or not self._symbols.is_ordered_by_steps(function):
            return True
        return made.site.function in [caller for caller, _ in self._contexts.way(function, entry)]

    def _is_own_part(self, whole: Value, name: str, function: str, entry: Entry, steps: int) -> bool:
        """Whether a callee has made an object and what lies in its field, and nothing that is started knows either.

        Others may find the object once the call is over that it is given to.
        """
        site = None
        while isinstance(whole, Param) and whole.function == function and steps > 0:
            came = self._contexts.came(function, entry)
            given = self._contexts.given(came, function, whole) if came is not None else None
            if came is None or given is None:
                return False
            site = self._contexts.sites.get((came.caller, came.span, function))
            whole, function, entry, steps = given, came.caller, came.entry, steps - 1
        effects = self._effects.get(function)
        if effects is None or Field(whole, name) not in effects.owned:
            return False
        return effects.is_private(whole, site)

    def is_handed_over(self, made: Fresh, function: str, at: Span) -> bool:
        """Whether a function hands an object to what it starts, or to what that works on: `Worker(table).start()`.

        Not so by `at`, if it makes another one in each turn of a loop, and the turn comes to that only afterwards.
        """
        found = self._handings(function).get(made, ())
        return not all([_is_of_later_turn(made, function, at, span, loop) for span, loop in found])

    def is_put_twice(self, made: Fresh, function: str) -> bool:
        """Whether a function puts an object that it has made where others find it, and somewhere else as well."""
        return made in self._effects[function].spread

    def is_given_away(self, made: Fresh, function: str, at: Span) -> bool:
        """Whether a function has given a library an object by then."""
        call = self._effects[function].given_away.get(made)
        return call is not None and call[:2] < at[:2]

    def _handings(self, function: str) -> dict[Value, list[Handing]]:
        """What a function hands over, and where: to what it starts, or to what that knows."""
        if function not in self._handed_over:
            effects, body = self._effects[function], self._symbols.functions[function][1].body
            found: dict[Value, list[Handing]] = defaultdict(list)
            for start in effects.starts.values():
                for value in self._known_to(start, function):
                    found[value].append((start.span, start.loop))
            sites = [site for site in effects.calls.values() if site.receiver in found]
            for site in sites:
                around = loops_around(body, site.span) if site.looped else []
                for value in [value for _, value in site.given if value != site.receiver]:
                    found[value].append((site.span, around[-1].span if around else None))
            self._handed_over[function] = dict(found)
        return self._handed_over[function]

    def _known_to(self, start: Start, function: str) -> set[Value]:
        """What is known to what a function starts: its receiver and arguments, and what a closure's variables hold."""
        key = (function, start.span, start.callee)
        if key not in self._known:
            new_in = self._effects[function].new_in
            closures = [t.function for t in targets(start.callee) if t.function.startswith(f"{function}.")]
            names = {name for closure in closures for name in self._symbols.captured_by(closure)} & new_in.keys()
            self._known[key] = {*start.knows(), *[value for name in names for value in new_in[name]]}
        return self._known[key]

    def _given(self, parameter: Param, entry: Entry, steps: int) -> int:
        """What callers give; of several calls the one that is known to lead here."""
        came = self._contexts.came(parameter.function, entry)
        site = self._contexts.sites.get((came.caller, came.span, parameter.function)) if came is not None else None
        value = dict(site.given).get(parameter.index) if site is not None else None
        if came is None or value is None or steps == 0:
            return MAYBE
        return self.of(value, came.caller, came.entry, steps - 1)

    def _captured(self, variable: Captured, function: str, entry: Entry, steps: int) -> int:
        """What a variable of a function around holds: the call of that function is on the way, or has started this."""
        if function == variable.function:
            return SHARED if self._contexts.started_under.get(function) else MAYBE  # with what this very call starts
        while steps > 0:
            came = self._contexts.came(function, entry)
            if came is None:
                starter = self._contexts.roots[entry.context].starter or ""
                if variable.name in [turn.variable for turn in self._symbols.functions[variable.function][1].turns]:
                    return MAYBE  # another one in each turn
                around = starter == variable.function or starter.startswith(f"{variable.function}.")
                return SHARED if around or self._is_of_all_requests(variable, entry) else MAYBE
            if came.caller == variable.function:
                return self._variable(variable, came.entry, steps - 1)
            function, entry, steps = came.caller, came.entry, steps - 1
        return MAYBE

    def _is_of_all_requests(self, variable: Captured, entry: Entry) -> bool:
        """Whether a closure answers all requests with what a variable around it holds.

        That is the instance of the method that has made it, as where the method itself answers; or what a function that
        runs once had.
        """
        context = self._contexts.roots[entry.context]
        if context.kind != HANDLER or not context.many or context.starter is not None:
            return False
        if self._symbols.is_captured_instance(variable) or self._contexts.runs_once(variable.function):
            return True
        return self._sets_up(variable.function)

    def _sets_up(self, function: str) -> bool:
        """Whether a function makes handlers before there are requests, as far as it shows: nothing of them calls it."""
        return not any(self._contexts.roots[e.context].many for e in self._contexts.entries.get(function, ()))

    def _variable(self, variable: Captured, entry: Entry, steps: int) -> int:
        """A parameter is what was given, any other variable is the running call's own."""
        parameters = self._symbols.functions[variable.function][1].parameters
        for index, parameter in enumerate(parameters):
            if parameter.name == variable.name:
                return self.of(Param(variable.function, index), variable.function, entry, steps)
        return MAYBE


def _is_of_later_turn(made: Fresh, function: str, at: Span, handed: Span, loop: Span | None) -> bool:
    """Whether each turn of a loop makes an object of its own, and hands it over behind a spot."""
    return made.site.function == function and loop is not None and loop.holds(made.site.span) and at[:2] < handed[:2]
