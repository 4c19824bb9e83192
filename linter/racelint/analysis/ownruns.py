"""Runs of their own: what each run of a context makes for itself, no other run of that context has.

`func serve(w, r) { s := newSession(); go s.write(); s.read(r) }` runs for each request: what it has started may meet it
on its session, another request has another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

from racelint.analysis.contexts import Context, Contexts, Entry, targets
from racelint.analysis.effects import Access, CallSite, Effects, Start
from racelint.analysis.memory import OF_VARIABLE
from racelint.analysis.paths import rebased, root
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.state import CLOSED, GIVES, WAIT
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import NONE, Captured, Element, Field, Fresh, Member, Param, Site, Value
from racelint.analysis.ways import MOST_CALLS
from racelint.model import Call, Closure, Spawn
from racelint.record import records

TO_THE_END = frozenset({CLOSED, WAIT})  # a channel is read to its end, a group has ended
MOST_GIVEN = 4  # calls through which what a starter was given is followed back


class OwnRuns:
    """Follows the object of an access up the calls to what has made it."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, contexts: Contexts
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._callers: dict[str, list[tuple[str, CallSite]]] | None = None
        self._stored: set[str] | None = None  # names of fields, made when they are asked for
        self._outermost: dict[object, tuple[Value | None, str, Entry]] = {}
        self._called: dict[str, set[str]] = {}  # closures that a function calls where they are written

    def has_made(self, spot: Spot) -> bool:
        """Whether the very run that makes an access has made its object: a function on the way there has."""
        return bool(self._made(spot, parts=True))

    def is_of_one_call(self, spot: Spot, context: Context) -> bool:
        """Whether an access is of a field of what a starter has in a variable of its own: the struct itself, or nothing
        but objects that it has made. Each call of the starter has another.

        `go func() { var q query; for name := range names { q = newQuery(name); go q.run() } }()`
        """
        if spot.access.kind not in OF_VARIABLE:
            return False  # a map in it may be others', too
        path, _, _ = self._outward(spot)
        if not isinstance(path, Captured) or path.function != context.starter or self._parameter(path) != path:
            return False
        return self._places.is_whole(path) or bool(self._kept_in(path))

    def is_over_by_next(self, spot: Spot, context: Context) -> bool:
        """Whether an access precedes what the starter's loop has to hear before it starts the next: the first word that
        is sent there, or the end of all words, or of all of a group.
        """
        given = self._given_by(spot)
        if "close" in given or not given:
            return not given
        heard = [span for operation, _, span in self._effects[context.starter or ""].told if operation in TO_THE_END]
        loops = [start.loop for start in self._starts_of(context)]
        return all([loop is not None and any([loop.holds(span) and span != loop for span in heard]) for loop in loops])

    def _given_by(self, spot: Spot) -> set[str]:
        """How something may have been given to channels by the time of an access, by its context."""
        told = [spot.access.told] if isinstance(spot.access, Access) else []
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            came = self._contexts.came(function, entry)
            if came is None:
                break
            told += [site.told for site in self._effects[came.caller].calls.values() if site.span == came.span]
            function, entry = came.caller, came.entry
        return {operation for _, maybe in told for operation, _ in maybe if operation in GIVES}

    def has_called(self, spot: Spot, owner: str) -> bool:
        """Whether the very run that makes an access has made the call of a function whose variable it is of.

        The access is in that function, or in a closure that is called where it is written, be it as the call ends.
        """
        function, entry = spot.function, spot.entry
        while function != owner:
            came = self._contexts.came(function, entry)
            if came is None or not self._is_called_in_place(function, came.caller):
                return False
            function, entry = came.caller, came.entry
        return True

    def _is_called_in_place(self, closure: str, parent: str) -> bool:
        """Whether a function calls a closure where it is written, so that nobody else gets it."""
        if parent not in self._called:
            source, function = self._symbols.functions[parent]
            nodes = list(records(function.body))
            started = {id(node.call) for node in nodes if isinstance(node, Spawn)}
            called = [n.func for n in nodes if isinstance(n, Call) and id(n) not in started]
            self._called[parent] = {f"{source.name}:{f.function}" for f in called if isinstance(f, Closure)}
        return closure in self._called[parent]

    def made_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two contexts have objects that were made for each of them by another call.

        What one function makes and returns, when it has started something on it, is also what its caller has made.
        """
        if self._are_handed_two_parts(first, second) or self._are_handed_two_parameters(first, second):
            return True
        one, two = self._makers(first), self._makers(second)
        if not one or not two or not one.isdisjoint(two):
            return False
        if (self._made(first) and self._made(second)) or len({site.function for site in one | two}) == 1:
            return True
        return not (self._leads_to(one, second) or self._leads_to(two, first))

    def keeps(self, spot: Spot, other: Spot) -> bool:
        """Whether the function that has made an access's object, and is still on the way to it, has told nobody yet.

        `w := &Wallet{}; view(db, func(tx Tx) { w.accounts[0] = tx.First() }); return w`
        """
        path, function, _ = self._outward(spot)
        if function == spot.function or other.entry.context in self._contexts.started_under.get(function, ()):
            return False
        effects = self._effects[function]
        if isinstance(path, Captured) and path.function == function:
            held = [each for each in effects.new_in.get(path.name, ()) if each != NONE]
            return bool(self._kept_in(path)) and all([self._is_untold(each, effects) for each in held])
        return isinstance(path, Fresh) and path.site.function == function and self._is_untold(path, effects)

    def _is_untold(self, made: Value, effects: Effects) -> bool:
        """Whether nobody finds what a function has made, neither by what it stores nor by what it starts or gives."""
        return effects.is_private(made) and made not in effects.given_away and made not in effects.disclosed

    def _are_handed_two_parts(self, first: Spot, second: Spot) -> bool:
        """Whether each side's context was handed another part of a struct: `go fill(&t.one); go fill(&t.two)`."""
        one, two = self._handed_parts(first), self._handed_parts(second)
        return bool(one and two) and one.isdisjoint(two)

    def _handed_parts(self, spot: Spot) -> set[tuple[str | None, str]]:
        """The parts of structs, by type and field, of which a context is handed one as an access's object."""
        handed = self._handed_to(spot)
        parts = [each for each in handed if isinstance(each, Field) and self._places.is_inside(each.base, each.name)]
        return {(self._places.class_of(each.base), each.name) for each in parts} if len(parts) == len(handed) else set()

    def _are_handed_two_parameters(self, first: Spot, second: Spot) -> bool:
        """Whether each side's context was handed another parameter of the one function that has started both, to whose
        callers they are two: `go forward(source, target); go forward(target, source)`.
        """
        one, two = self._handed_parameters(first), self._handed_parameters(second)
        return bool(one and two) and all([self._are_two(mine, theirs) for mine in one for theirs in two])

    def _handed_parameters(self, spot: Spot) -> set[Param]:
        """The parameters of its starter of which a context is handed one as an access's object."""
        handed = [self.as_given(each) if isinstance(each, Captured) else each for each in self._handed_to(spot)]
        found = {each for each in handed if isinstance(each, Param)}
        return found if found == set(handed) else set()

    def is_handed_new(self, spot: Spot) -> bool:
        """Whether a context was handed an access's object by its starter, which has made it and shown it to nobody."""
        starter = self._contexts.roots[spot.entry.context].starter
        handed = [each for each in self._handed_to(spot) if each != NONE] if starter is not None else []
        return bool(handed) and all(map(self._effects[starter or ""].keeps_new, handed))

    def parameters_of_starter(self, spot: Spot) -> set[Param]:
        """The parameters of its starter one of which is an access's object; nothing if that may be anything else."""
        path, _, entry = self._outward(spot)
        starter = self._contexts.roots[entry.context].starter
        if isinstance(path, Captured) and path.function == starter:
            given = self.as_given(path)
            return {given} if isinstance(given, Param) else set()
        return self._handed_parameters(spot)

    def as_given(self, variable: Captured) -> Value:
        """The parameter that a captured variable is, if it is one and nothing else is put into it."""
        stored = self._symbols.functions[variable.function][1].bindings.get(variable.name)
        return variable if stored else self._parameter(variable)

    def _are_two(self, first: Param, second: Param) -> bool:
        """Whether no call of a function gives one thing for two of its parameters."""
        if first.function != second.function or first == second:
            return False
        given = [dict(site.given) for _, site in self.calls_of(first.function)]
        return all([each.get(first.index) is None or each[first.index] != each.get(second.index) for each in given])

    def _handed_to(self, spot: Spot) -> list[Value | None]:
        """What a context is handed as an access's object; nothing if that is none of its parameters."""
        path, function, entry = self._outward(spot)
        context = self._contexts.roots[entry.context]
        if not isinstance(path, Param) or function != context.function or context.starter is None:
            return []
        return [each for start in self._starts_of(context) for each in _handed(start, path.index)]

    def _starts_of(self, context: Context) -> list[Start]:
        return [each for each in self._effects[context.starter or ""].starts.values() if each.span == context.span]

    def _leads_to(self, makers: Set[Site], spot: Spot) -> bool:
        """Whether what has made an object leads to the start of a context."""
        under, context = self._contexts.started_under, spot.entry.context
        return any([context in under.get(site.function, ()) for site in makers])

    def _makers(self, spot: Spot) -> set[Site]:
        """Where the object of an access is made, by its own run or by what has started that; nothing if unknown."""
        made = self._made(spot)
        if made:
            return made
        path, function, entry = self._outward(spot)
        context = self._contexts.roots[entry.context]
        if function != context.function or context.starter is None:
            return set()
        return self._made_by_starter(path, context)

    def _made_by_starter(self, path: Value | None, context: Context) -> set[Site]:
        """Where a starter makes what a context knows as a parameter, or by a variable of its starter's."""
        starter = context.starter or ""
        if isinstance(path, Captured):
            return self._made_in(path, starter, MOST_GIVEN)
        if not isinstance(path, Param):
            return set()
        handed = [value for start in self._starts_of(context) for value in _handed(start, path.index)]
        made = {each.site for each in handed if isinstance(each, Fresh) and each.site.function == starter}
        return made if handed and all([isinstance(each, Fresh) for each in handed]) else set()

    def _made_in(self, value: Value | None, function: str, steps: int) -> set[Site]:
        """Where a function, or whoever calls it, makes what a value of its own stands for; nothing if unknown."""
        if isinstance(value, Captured) and value.function == function:
            parameter = self._parameter(value)
            return self._kept_in(value) if parameter == value else self._made_in(parameter, function, steps)
        if isinstance(value, Fresh) and value.site.function == function:
            return {value.site}
        if not isinstance(value, Param) or value.function != function or steps == 0 or self.is_root(function):
            return set()
        given = [(dict(site.given).get(value.index), caller) for caller, site in self.calls_of(function)]
        made = [self._made_in(each, caller, steps - 1) for each, caller in given]
        return set().union(*made) if all(made) else set()

    def is_root(self, function: str) -> bool:
        """Whether something else than a call of the program leads to a function."""
        entries = self._contexts.entries.get(function, ())
        return any([self._contexts.came(function, entry) is None for entry in entries])

    def calls_of(self, function: str) -> list[tuple[str, CallSite]]:
        """All calls of a function that are known, each with the function that makes it."""
        if self._callers is None:
            self._callers = defaultdict(list)
            for (caller, _, callee), site in self._contexts.sites.items():
                self._callers[callee].append((caller, site))
        return self._callers.get(function, [])

    def _made(self, spot: Spot, *, parts: bool = False) -> set[Site]:
        """Where a function on the way has made the object of an access, or has had it made as one of the parts."""
        found, function, _ = self._outward(spot, parts=parts)
        if isinstance(found, Fresh) and found.site.function == function:
            return {found.site}
        if isinstance(found, Captured) and found.function == function:
            return self._kept_in(found)
        return set()

    def _outward(self, spot: Spot, *, parts: bool = False) -> tuple[Value | None, str, Entry]:
        """The object of an access, as the outermost function knows it that has it; memoised."""
        key = (spot.access.path, spot.function, spot.entry, parts)
        if key not in self._outermost:
            self._outermost[key] = self._go_outward(spot, parts=parts)
        return self._outermost[key]

    def _go_outward(self, spot: Spot, *, parts: bool) -> tuple[Value | None, str, Entry]:
        path, function, entry = _object_of(spot.access.path), spot.function, spot.entry
        for _ in range(MOST_CALLS):
            path = self._whole(path, function, parts=parts)
            if path is None:
                break
            came, start = self._contexts.came(function, entry), root(path)
            if isinstance(start, Captured) and start.function == function:
                parameter = self._parameter(start)
                path, start = rebased(path, start, parameter), parameter
            if came is None:
                break
            if isinstance(start, Param) and start.function == function:
                given = self._contexts.given(came, function, start)
                path = rebased(path, start, given) if given is not None else None
            elif not isinstance(start, Captured) or start.function == function:
                break
            function, entry = came.caller, came.entry
        return path, function, entry

    def _whole(self, path: Value | None, function: str, *, parts: bool) -> Value | None:
        """The struct that has what a path leads to inside of it, or has been made together with it."""
        effects = self._effects[function]
        own = effects.parts if parts else effects.owned
        while isinstance(path, Field) and (self._is_kept(path, own) or self._places.is_inside(path.base, path.name)):
            path = path.base
        return path

    def _is_kept(self, path: Field, own: Set[Field]) -> bool:
        """Whether a field still holds what it was made with: nobody stores into it."""
        if path not in own:
            return False
        if self._stored is None:
            accesses = [a for each in self._effects.values() for a in each.all_accesses() if a.kind == "store"]
            self._stored = {a.path.name for a in accesses if isinstance(a.path, Field)}
        return path.name not in self._stored

    def _parameter(self, variable: Captured) -> Value:
        """The parameter that a captured variable is, if it is one."""
        names = [parameter.name for parameter in self._symbols.functions[variable.function][1].parameters]
        return Param(variable.function, names.index(variable.name)) if variable.name in names else variable

    def _kept_in(self, variable: Captured) -> set[Site]:
        """Where a function makes all that its variable ever holds; nothing if closures store into it, too."""
        return {each.site for each in self.held_by(variable)}

    def held_by(self, variable: Captured) -> set[Fresh]:
        """All that a variable ever holds, if its function has made that; nothing if closures store into it, too."""
        held = [each for each in self._effects[variable.function].new_in.get(variable.name, ()) if each != NONE]
        made = {each for each in held if isinstance(each, Fresh)}
        inner = [each for each in self._effects if each.startswith(f"{variable.function}.")]
        if not all([isinstance(each, Fresh) for each in held]) or any(
            [a.path == variable and a.kind == "store" for each in inner for a in self._effects[each].all_accesses()]
        ):
            return set()
        return made


def _handed(start: Start, index: int) -> Iterator[Value | None]:
    """What is handed to what is started, for a parameter of that."""
    for target in targets(start.callee):
        given = start.args if target.receiver is None else ((target.receiver,), *start.args)
        yield from given[index] if index < len(given) else (None,)


def _object_of(path: Value) -> Value | None:
    """The object of which a path leads to a field, or to what is in it."""
    while isinstance(path, Element | Member):
        path = path.base
    return path.base if isinstance(path, Field) else None
