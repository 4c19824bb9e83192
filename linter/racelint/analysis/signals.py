"""Signals: accesses that a channel or a group orders, told apart by where each channel comes from.

What comes before `close(c)` and each send on it comes before what follows a receive, and what comes before the one
`close(c)` before what follows the end of a loop over it, or `!ok`; what comes before the one
receive from a channel without room comes before what follows a send. What comes before `wg.Done()` comes before what
follows `wg.Wait()`, whoever waits; that each object has its own group is taken for granted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Set

from racelint.analysis.asking import UNDER
from racelint.analysis.body import own_each_turn
from racelint.analysis.branching import comes_first, is_looped, is_never_behind, loops_around
from racelint.analysis.cancelling import is_context
from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.effects import NOTHING, Access, Effects
from racelint.analysis.gates import stores_of
from racelint.analysis.levels import flag_of, unknown
from racelint.analysis.paths import root
from racelint.analysis.pipes import is_pipe
from racelint.analysis.places import FLAG_MARK, Place, Places
from racelint.analysis.spots import Spot
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.state import CLOSED, DONE, FILLED, GIVES, LAST, LEFT, OUT, TAKE, UNTOLD, WAIT, Told
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Fresh, Global, Param, Site, TypeValue, Value
from racelint.model import Assign, Attr, Call, Cast, Const, Eval, Expr, Make, Op
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 8  # calls and starts through which a channel is handed on
ONE = Const(1)
NO_PART = (Const(0), Const(0))  # the bounds of what is left of a slice
MOST_GIVEN = 2  # calls through which one is given back


class Signals:
    """Finds channels that both sides of a pair know, and what is done with them."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, places: Places
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._places = places
        self._effects = effects
        self._contexts = contexts
        self._uses: dict[Value, set[tuple[bool, tuple[str, Span]]]] | None = None
        self._given: dict[Value, list[tuple[str, Value]]] = {}
        self._closed: dict[Value, list[tuple[str, Value]]] = {}
        self._givers: dict[Value, frozenset[str]] = {}  # what all hold that give something to a channel
        self._givers_at: dict[Value, list[tuple[str, Entry]]] = defaultdict(list)  # who does, in which state
        self._firsts: dict[Value, list[tuple[str, Entry, Span]]] = defaultdict(list)  # who does, not having received
        self._closes: dict[Value, set[tuple[str, Span]]] = defaultdict(set)  # where each channel is closed
        self._set_once: dict[Value, bool] = {}
        self._started: dict[int, list[tuple[str, Value]]] = {}  # what has been done before a context is started
        self._behind: dict[int, frozenset[tuple[str, Value]]] = {}  # what is done only when a context has ended
        self._callers: dict[tuple[str, Entry], list[tuple[str, Entry, Told, Span | None]]] = {}
        self._done: dict[object, list[tuple[str, Value]]] = {}
        self._calls = Counter([callee for _, _, callee in contexts.sites])
        starts = {(context.function, context.starter, context.span) for context in contexts.roots}
        self._starts = Counter([function for function, _, _ in starts])
        self._counted_up = {path for each in effects.values() for path in each.counted_up}
        self._of_owners: dict[Value, bool] = {}  # by a counter, whether it begins with the owner's own reference
        self._emptied: dict[tuple[str, Span], bool] = {}  # by a store, whether nothing is in what it leaves
        self._without_room = {path for each in effects.values() for path in each.without_room}

    def order(self, first: Spot, second: Spot) -> bool:
        """Whether a channel orders two accesses."""
        if self._precedes(first, second) or self._precedes(second, first) or self._are_last(first, second):
            return True
        if self._clears_at_last(first, second) or self._clears_at_last(second, first):
            return True
        if self._counts_anew(first, second) or self._counts_anew(second, first):
            return True
        return self._is_started_anew(first, second) or self._is_started_anew(second, first)

    def _is_started_anew(self, spot: Spot, other: Spot) -> bool:
        """Whether who starts the other access's context waits before that for the group that one like it is in.

        `func (s *Store) Restart() { s.Close(); s.wg.Add(1); go s.run() }`, where `Close` waits. A wait that hangs on a
        condition is taken to be left out only where there is nobody to wait for.
        """
        one, two = (self._contexts.roots[each.entry.context] for each in (spot, other))
        effects = self._effects.get(two.starter or "")
        if effects is None or two.starter is None or two.span is None or one.starter == two.starter:
            return False
        if one.function != two.function:
            return False  # there may be others of the group by then
        body = self._symbols.functions[two.starter][1].body
        waits = [
            path for operation, path, at in (*effects.told, *effects.passed_on)
            if operation == WAIT and comes_first(body, at, two.span)
        ]  # fmt: skip
        groups = {
            self.channel(path, two.starter, entry)
            for path in waits
            for entry in self._contexts.entries.get(two.starter, ())
        }
        return any(operation == DONE and channel in groups for operation, channel in self._later(spot) if channel)

    def _precedes(self, spot: Spot, other: Spot) -> bool:
        """Whether what a spot's function, or one that has called it, does with a channel after that comes before the
        other one.
        """
        context = self._contexts.roots[spot.entry.context]
        stepwise = self._symbols.is_ordered_by_steps(spot.function)
        many = context.many or (context.is_external and not stepwise)  # an event stays set when callers come again
        done = self.done(other)
        if any(flag_of(channel) is not None for _, channel in done) and not self._is_made_once(spot):
            done = [(reached, channel) for reached, channel in done if flag_of(channel) is None]
        if any(reached == TAKE and self._precedes_all(spot, channel) for reached, channel in done):
            return True
        return bool(done) and any(
            (
                (
                    operation in (DONE, LEFT)
                    or not many
                    or self._is_of_one_turn(spot, channel)
                    or (operation == "close" and _owner(channel) == self._owner_of(spot) == self._owner_of(other))
                )
                and (
                    self._is_sure(operation, reached, channel)
                    or self._is_first_word(spot, operation, reached, channel)
                    or (operation == "close" and self._is_the_close(spot, reached, channel))
                )
            )
            or (operation in GIVES and reached == TAKE and self._is_of_the_first(spot, channel))
            or (operation == TAKE and reached == FILLED and not self._has_given(spot, channel))
            for operation, channel in self._later(spot)
            for reached, there in done
            if channel is not None and there == channel
        )

    def _is_made_once(self, spot: Spot) -> bool:
        """Whether nothing leads to an access twice: no loop, no other call, and no other start of its context."""
        started = self._contexts.roots[spot.entry.context].starter is not None
        return started and self._is_reached_once(spot.function, spot.entry, spot.access.span)

    def _is_reached_once(self, function: str, entry: Entry, span: Span, steps: int = MOST_STEPS) -> bool:
        context, way = self._contexts.roots[entry.context], self._contexts.steps(function, entry, span)
        if len(way) != 1:
            return False  # a library may call it again and again
        if steps == 0 or context.many or any(self._calls[each] + self._starts[each] > 1 for each, _ in way):
            return False
        if any(is_looped(self._symbols.functions[each][1].body, at) for each, at in way):
            return False
        if context.starter is None or context.span is None:
            return True  # whoever calls that has another object each time
        around = self._contexts.entries.get(context.starter, ())
        starts = [each for each in self._effects[context.starter].starts.values() if each.span == context.span]
        if len(starts) != 1 or starts[0].again or starts[0].looped:
            return False
        return all(self._is_reached_once(context.starter, each, context.span, steps - 1) for each in around)

    def _owner_of(self, spot: Spot) -> str | None:
        """The class of the object that has what is accessed in a field: who closes a channel of it does that once."""
        path = spot.access.path
        return self._places.class_of(path.base) if isinstance(path, Field) else None

    def _is_of_one_turn(self, spot: Spot, channel: Value) -> bool:
        """Whether the loop that starts a goroutine makes the channel, and what is accessed, anew in each turn."""
        context = self._contexts.roots[spot.entry.context]
        starts = self._effects[context.starter].starts.values() if context.starter in self._effects else ()
        loops = {start.loop for start in starts if start.span == context.span}
        return len(loops) == 1 and all(self._is_new_in(path, loops) for path in (channel, spot.access.path))

    def _is_new_in(self, path: Value, loops: Set[Span | None]) -> bool:
        start = root(path)
        if not isinstance(start, Captured):
            return False
        source, function = self._symbols.functions[start.function]
        turns = [turn for turn in function.turns if turn.variable == start.name and turn.loop in loops]
        return bool(turns) and start.name in own_each_turn(function, source.edition)

    def done(self, spot: Spot) -> list[tuple[str, Value]]:
        """What has surely been done with channels when an access is made, by its own context or before what that has
        taken was given: `wg.Wait(); close(all)` there, `<-all` here. Memoised.
        """
        key = (spot.function, spot.entry, spot.access.span, _told(spot), spot.located.type, spot.located.own)
        if key not in self._done:
            self._done[key] = self._all_done(spot)
        return self._done[key]

    def _all_done(self, spot: Spot) -> list[tuple[str, Value]]:
        done = [
            (operation, channel)
            for function, entry, told, call in self._levels(spot)
            for operation, path in told[0] | self._waited_for_again(function, call or spot.access.span)
            if (channel := self.channel(path, function, entry)) is not None
        ]
        done += self._by_constructor(spot)
        done += self._before_start(spot.entry.context)
        done = [each for each in done if self._is_told_once(each[1])]
        for operation, channel in done:  # grows
            if (operation == TAKE and self._count(channel, taking=False) == 1) or (
                operation == CLOSED and self._is_sure("close", CLOSED, channel)
            ):
                before = [each for each in self._before_given(channel, operation) if each not in done]
                done += [each for each in before if self._is_told_once(each[1])]
        return done

    def _is_told_once(self, flag: Value) -> bool:
        """Whether one statement alone stores a flag, for good, if it is one that others find set under a lock.

        Of one that others find at a number: whether no other statement may store that there.
        """
        if (leveled := flag_of(flag)) is not None:
            return self._is_known_by_level(flag, leveled)
        name, under, _ = _name(flag).partition(UNDER)
        if not under:
            return True
        if flag not in self._set_once:
            owner = _owner(flag)
            stores = stores_of(self._symbols, Place("field", owner, name)) if owner else ()
            self._set_once[flag] = len(stores) == 1
        return self._set_once[flag]

    def _is_known_by_level(self, path: Value, flag: Field) -> bool:
        """Whether all that is stored in a flag is known, and stored in one step."""
        if path not in self._set_once:
            known = not any([self._count(each, taking=False) for each in unknown(path)])
            self._set_once[path] = known and not self._is_stored_plainly(flag)
        return self._set_once[path]

    def _is_stored_plainly(self, flag: Field) -> bool:
        """Whether a flag is a plain number to which a statement, or who makes its object, may give another value."""
        owner, knowledge = _owner(flag), self._places.knowledge
        if not owner or owner not in self._symbols.types:
            return True
        field = self._symbols.types[owner][1].fields.get(flag.name)
        kind = field.annotation if field is not None else None
        if kind is not None and any([knowledge.does(f"{kind.module}.{kind.name}.{n}", "asks") for n in knowledge.asks]):
            return False
        return bool(stores_of(self._symbols, Place("field", owner, flag.name), addressed=False))

    def _before_start(self, context: int) -> list[tuple[str, Value]]:
        """What has surely been received when a context is started, by its starter or those that call that.

        A group that has been waited for may have new members while what is started then runs.
        """
        if context not in self._started:
            self._started[context] = []  # for who starts himself anew
            starter, span = self._contexts.roots[context].starter, self._contexts.roots[context].span
            starts = self._effects[starter].starts.values() if starter in self._effects else ()
            told = [start.told[0] for start in starts if start.span == span]
            if starter is not None and told:
                before = frozenset.intersection(*told)
                each = [self._done_by_then(starter, e, before) for e in self._contexts.entries.get(starter, ())]
                self._started[context] = list(set.intersection(*each)) if each else []
        return self._started[context]

    def _done_by_then(self, function: str, entry: Entry, done: Set[tuple[str, Value]]) -> set[tuple[str, Value]]:
        """What a function, and those that have called it, have surely received."""
        levels = [(function, entry, done), *[(f, e, told[0]) for f, e, told, _ in self.levels_above(function, entry)]]
        return {
            (operation, channel)
            for level, around, told in levels
            for operation, path in told
            if operation in (TAKE, CLOSED) and (channel := self.channel(path, level, around)) is not None
        }

    def _by_constructor(self, spot: Spot) -> list[tuple[str, Value]]:
        """What the constructor of a caller's object has waited for on each way through it."""
        owner = spot.located.type if self._contexts.roots[spot.entry.context].is_external and spot.located.own else ""
        constructor = self._symbols.method(owner, "__init__") if owner in self._symbols.types else None
        if constructor is None or constructor not in self._effects:
            return []
        body = self._symbols.functions[constructor][1].body
        waits = [(path, at) for operation, path, at in self._effects[constructor].told if operation == TAKE]
        sure = [path for path, at in waits if any(isinstance(s, Eval) and s.span.holds(at) for s in body)]
        return [(TAKE, path) for path in sure if isinstance(path, Field) and isinstance(path.base, TypeValue)]

    def _waited_for_again(self, function: str, span: Span) -> set[tuple[str, Value]]:
        """The groups that a function has waited for before a loop, and in each turn before it comes to a spot there.

        New ones join them only behind that. A wait in the loop that hangs on a condition is taken to be left out only
        where there is nobody to wait for: the condition says whether a turn has started any.
        """
        effects, body = self._effects[function], self._symbols.functions[function][1].body
        waits = [(path, at) for operation, path, at in (*effects.told, *effects.passed_on) if operation == WAIT]
        found: set[tuple[str, Value]] = set()
        for group, first in waits if len(waits) > 1 else ():
            loops = [loop.span for loop in loops_around(body, span) if not loop.span.holds(first)]
            again = [at for path, at in waits if path == group and first[:2] < at[:2] < span[:2]]
            early = [at for path, at in effects.renewals if path == group and first[:2] < at[:2] < span[:2]]
            if comes_first(body, first, span) and not early and all(any(map(loop.holds, again)) for loop in loops):
                found.add((WAIT, group))
        return found

    def _before_given(self, channel: Value, reached: str) -> list[tuple[str, Value]]:
        """What has surely been done when something is given to a channel, or when it is closed."""
        self._count(channel, taking=False)
        before = (self._closed if reached == CLOSED else self._given).get(channel, [])
        return [*before, *self._by_callers_of_givers(channel)]

    def _by_callers_of_givers(self, channel: Value) -> list[tuple[str, Value]]:
        """What all have surely done by then that have called who gives something to a channel.

        `close(n.quit); n.group.Wait(); n.log.end()`: who is told to end by that comes after the group.
        """
        each = [self._done_above(function, entry) for function, entry in self._givers_at.get(channel, ())]
        return list(set.intersection(*each)) if each else []

    def _done_above(self, function: str, entry: Entry) -> set[tuple[str, Value]]:
        """What those that have called a function, each at one spot alone, have done with channels when they call it."""
        done: set[tuple[str, Value]] = set()
        for caller, around, told, _ in self.levels_above(function, entry):
            if self._calls[function] != 1:
                break
            known = [(operation, self.channel(path, caller, around)) for operation, path in told[0]]
            done.update([(operation, channel) for operation, channel in known if channel is not None])
            function = caller
        return done

    def _later(self, spot: Spot) -> Iterator[tuple[str, Value | None]]:
        """What is done with channels only after an access; who calls may do again what has been done by then."""
        given: set[tuple[str, Value | None]] = set()
        for function, entry, told, call in self._levels(spot):
            effects = self._effects[function]
            passed_on = {(o, p) for o, p, span in effects.passed_on if span != call}
            for operation, path in ({(o, p) for o, p, _ in effects.told} | passed_on) - told[1]:
                later = operation, self.channel(path, function, entry)
                if later not in given:
                    yield later
            given.update([(o, self.channel(p, function, entry)) for o, p in told[1] if o in GIVES])
        yield from self._ended(spot)
        yield from self._told_behind(spot.entry.context)

    def _told_behind(self, context: int) -> frozenset[tuple[str, Value]]:
        """What is done with channels only when a goroutine has ended, by who has started it and waits for it by then.

        `defer s.group.Done(); for part := range parts { done := make(chan bool); go s.load(part, done); <-done }`.
        """
        if context not in self._behind:
            self._behind[context] = frozenset()  # of who starts himself anew
            starter, start = self._contexts.roots[context].starter, self._contexts.roots[context].span
            if starter in self._effects and start is not None and self._contexts.roots[context].kind == GOROUTINE:
                told = [each.told[1] for each in self._effects[starter].starts.values() if each.span == start]
                before: frozenset[tuple[str, Value]] = frozenset().union(*told)
                entries = self._contexts.entries.get(starter, ())
                each = [self._behind_start(starter, entry, start, before) for entry in entries]
                self._behind[context] = frozenset.intersection(*each) if each else frozenset()
        return self._behind[context]

    def _behind_start(
        self, starter: str, entry: Entry, start: Span, before: Set[tuple[str, Value]]
    ) -> frozenset[tuple[str, Value]]:
        """What a starter, and those that have called or started it, surely do with channels only behind that's end.

        Not what they give to one that they may have given something before.
        """
        found: set[tuple[str, Value]] = set()
        given: set[Value | None] = set()
        function, span = starter, start
        above = [(caller, around, told[1], call) for caller, around, told, call in self.levels_above(starter, entry)]
        for function, around, before_that, at in ((starter, entry, before, start), *above):
            effects, span = self._effects[function], at or start
            early = {(o, path) for (o, path, _), running in effects.beside.items() if span in running} | before_that
            own = {(o, path) for o, path, _ in effects.told} & effects.told_at_end
            known = [(o, self.channel(path, function, around)) for o, path in own - early]
            found.update([(o, channel) for o, channel in known if channel is not None])
            given.update([self.channel(path, function, around) for o, path in early if o in GIVES])
            if span in effects.running_at_end:
                break
        else:
            if function == self._contexts.roots[entry.context].function:
                found |= self._told_behind(entry.context)
        return frozenset([(o, channel) for o, channel in found if o not in GIVES or channel not in given])

    def _ended(self, spot: Spot) -> Iterator[tuple[str, Value | None]]:
        """The group that is told when the goroutine of an access has ended, by who has started it."""
        context = self._contexts.roots[spot.entry.context]
        starts = self._effects[context.starter].starts.values() if context.starter in self._effects else ()
        for start in starts:
            if start.span == context.span and start.group is not None and context.starter is not None:
                for around in self._contexts.entries.get(context.starter, ()):
                    yield DONE, self.channel(start.group, context.starter, around)
                    break

    def _levels(self, spot: Spot) -> Iterator[tuple[str, Entry, Told, Span | None]]:
        """The function of an access and those that have called it, each with what it has done by then, and the call."""
        yield spot.function, spot.entry, _told(spot), None
        key = (spot.function, spot.entry)
        if key not in self._callers:
            self._callers[key] = list(self.levels_above(*key))
        yield from self._callers[key]

    def told_on_way(self, spot: Spot) -> Iterator[tuple[str, Entry, Set[tuple[str, Value]]]]:
        """What the function of an access, and those that have called it, have surely done by then, each by itself."""
        for function, entry, told, _ in self._levels(spot):
            yield function, entry, told[0]

    def levels_above(self, function: str, entry: Entry) -> Iterator[tuple[str, Entry, Told, Span | None]]:
        """Those who have called a function, each with what it has done by then, and the call."""
        for _ in range(MOST_STEPS):
            came = self._contexts.came(function, entry)
            if came is None:
                return
            sites = [site for (span, _), site in self._effects[came.caller].calls.items() if span == came.span]
            if not sites:
                return
            yield came.caller, came.entry, sites[0].told, came.span
            function, entry = came.caller, came.entry

    def _is_sure(self, operation: str, reached: str, channel: Value) -> bool:
        """Whether one operation on a channel cannot be over before the other one has begun."""
        if (operation, reached) in ((DONE, WAIT), (LEFT, OUT)) or (
            (operation, reached) == (LEFT, LAST) and channel not in self._counted_up
        ):
            return True
        if operation in GIVES and reached == TAKE:
            return self._count(channel, taking=False) == 1
        if operation == "close" and reached == CLOSED:
            return self._count(channel, taking=False) > 0 and len(self._closes[channel]) == 1
        return operation == TAKE and reached == "send" and self._count(channel, taking=True) == 1 and (
            channel in self._without_room
        )  # fmt: skip

    def _is_first_word(self, spot: Spot, operation: str, reached: str, channel: Value) -> bool:
        """Whether one function alone gives something to a channel, as which way it takes, and not before an access.

        `if err != nil { s.done <- err; return }; s.rows = rows; s.done <- nil`: who goes the other way stores nothing.
        """
        if operation not in GIVES or reached != TAKE or not self._count(channel, taking=False):
            return False
        assert self._uses is not None
        givers = {function for taken, (function, _) in self._uses[channel] if not taken}
        return len(givers) == 1 and not self._has_given(spot, channel)

    def _is_the_close(self, spot: Spot, reached: str, channel: Value) -> bool:
        """Whether a function on the way to an access surely closes a channel: nobody else has, since that panics.

        Others may close those of other objects, or run in its stead: `defer close(s.done)` in two kinds of workers.
        Where others send something, only who has come to the end of it knows of the close.
        """
        given = self._count(channel, taking=False)
        if is_context(channel) or is_pipe(channel):
            return False
        if reached != CLOSED and (reached != TAKE or given != len(self._closes.get(channel, ()))):
            return False
        return any(
            operation == "close" and self.channel(path, function, entry) == channel
            for function, entry, _, _ in self._levels(spot)
            for operation, path in self._effects[function].told_at_end
        )

    def _has_given(self, spot: Spot, channel: Value) -> bool:
        """Whether something may have been given to a channel, on the way to an access."""
        return any(
            done in GIVES and self.channel(path, function, entry) == channel
            for function, entry, told, _ in self._levels(spot)
            for done, path in told[1]
        )

    def _are_last(self, first: Spot, second: Spot) -> bool:
        """Whether both accesses are made by who was the last to count himself out: there is one such."""
        one, two = [{c for operation, c in self.done(spot) if operation == LAST} for spot in (first, second)]
        return any(counter not in self._counted_up for counter in one & two)

    def _clears_at_last(self, spot: Spot, other: Spot) -> bool:
        """Whether who has given back the last reference to an object clears it, while others look at it, or clear it.

        Whoever holds a reference has not given it back, and nobody is given one anew when there is none left: the count
        begins with that of the owner. Who does not count anything holds none.
        """
        counters = self._last_references(spot) if self._clears(spot) else set()
        if not other.is_write:
            return any(self._holds_reference(other, counter) for counter in counters)
        return self._clears(other) and not counters.isdisjoint(self._last_references(other))

    def _counts_anew(self, spot: Spot, other: Spot) -> bool:
        """Whether who has given back the last reference to an object sets their count anew, for who gets it next.

        Who gives one back, as the function of the other access does, has done so before, or has it from him.
        """
        place = spot.located.place
        if spot.access.kind != "store" or place.kind != "field" or other.access.kind == "store":
            return False
        counters = [c for operation, c in self.done(spot) if operation == LAST and _name(c) == place.name]
        return any(
            self._holds_reference(other, counter)
            for counter in counters
            if _owner(counter) == spot.located.type and self._begins_with_owner(counter)
        )

    def _holds_reference(self, spot: Spot, counter: Value) -> bool:
        """Whether the function of an access, or one that has called it, gives a reference back."""
        return any(
            operation == LEFT and self.channel(path, function, entry) == counter
            for function, entry, _, _ in self._levels(spot)
            for operation, path, _ in (*self._effects[function].told, *self._effects[function].passed_on)
        )

    def _clears(self, spot: Spot) -> bool:
        """Whether an access stores that there is nothing, or nothing any more: `v.parts = v.parts[:0]`."""
        if spot.access.kind != "store" or spot.access.detail == NOTHING:
            return spot.access.kind == "store"
        key = spot.function, spot.access.span
        if key not in self._emptied:
            self._emptied[key] = self._stores_no_part(spot)
        return self._emptied[key]

    def _stores_no_part(self, spot: Spot) -> bool:
        """Whether a field is stored as the part of something in which nothing is."""
        stores = [node for node in records(self._symbols.functions[spot.function][1].body) if isinstance(node, Assign)]
        stored = [
            node.value for node in stores if spot.access.span in [t.span for t in node.targets if isinstance(t, Attr)]
        ]
        return bool(stored) and all(
            [isinstance(each, Op) and each.operator == "window" and each.operands[1:] == NO_PART for each in stored]
        )

    def _last_references(self, spot: Spot) -> set[Value]:
        """The counters of references to the object of an access of which it was the last that was given back."""
        if spot.located.place.kind != "field":
            return set()
        counters = [c for operation, c in self.done(spot) if operation == LAST and c in self._counted_up]
        return {each for each in counters if _owner(each) == spot.located.type and self._begins_with_owner(each)}

    def _begins_with_owner(self, counter: Value) -> bool:
        """Whether who makes an object counts himself as one that holds a reference: `&view{parts: parts, refs: 1}`."""
        if counter not in self._of_owners:
            makers = [
                self._symbols.functions[function][1].body
                for function, effects in self._effects.items()
                if any(type_id == _owner(counter) for _, type_id in effects.made)
            ]
            self._of_owners[counter] = any([_counts_one(node, _name(counter)) for node in records(tuple(makers))])
        return self._of_owners[counter]

    def _precedes_all(self, spot: Spot, channel: Value) -> bool:
        """Whether an access is over before anybody is the first to give something to a channel.

        The channel is made by the call of a function in which all that happens, or which starts it: there the ways to
        the access and to what is given part, or in what that calls.
        """
        self._count(channel, taking=False)
        maker, many = _maker(channel), self._contexts.roots[spot.entry.context].many
        mine = self._way_from(maker, spot.function, spot.entry, spot.access.span)
        if not mine or channel not in self._firsts or (many and self._is_started(mine, spot.entry)):
            return False
        ways = [self._way_from(maker, *first) for first in self._firsts[channel]]
        return all(self._parts_before(mine, other, spot.entry) for other in ways)

    def _way_from(self, maker: str | None, function: str, entry: Entry, span: Span) -> list[tuple[str, Span]]:
        """The start and the calls that lead from a function to a spot; nothing if it does not lead there."""
        way, context = self._contexts.steps(function, entry, span), self._contexts.roots[entry.context]
        if context.starter is not None and context.span is not None:
            way.insert(0, (context.starter, context.span))
        found = [index for index, (caller, _) in enumerate(way) if caller == maker]
        return way[found[-1] :] if found else []

    def _is_started(self, way: list[tuple[str, Span]], entry: Entry) -> bool:
        """Whether a way begins with the start of its context."""
        context = self._contexts.roots[entry.context]
        return way[0] == (context.starter, context.span)

    def _parts_before(self, way: list[tuple[str, Span]], other: list[tuple[str, Span]], entry: Entry) -> bool:
        """Whether a way goes off from another one, and comes back to it before that goes on."""
        for index, ((function, at), (called, there)) in enumerate(zip(way, other, strict=False)):
            body = self._symbols.functions[function][1].body
            if at != there or function != called:
                comes_back = index > 0 or not self._is_started(way, entry)
                return comes_back and function == called and is_never_behind(body, at, there)
            if is_looped(body, at):
                return False
        return False

    def _is_of_the_first(self, spot: Spot, channel: Value) -> bool:
        """Whether an access is made by whoever was the first to set a flag, and only he gives something to a channel.

        `if s.closed.CompareAndSwap(false, true) { s.err = err; close(s.done) }`, wherever else that stands.
        """
        mine = {lock for lock in spot.locks if lock.startswith(FLAG_MARK)}
        return bool(mine) and self._count(channel, taking=False) > 0 and not mine.isdisjoint(self._givers[channel])

    def _count(self, channel: Value, *, taking: bool) -> int:
        """How many spots of the program give something to a channel, or take from it."""
        if self._uses is None:
            self._uses = defaultdict(set)
            for function_id, effects in self._effects.items():
                for (operation, path, span), before in effects.told.items():
                    for entry in self._contexts.entries.get(function_id, ()):
                        found = self.channel(path, function_id, entry)
                        if found is None:
                            continue
                        self._uses[found].add((operation in (TAKE, WAIT, OUT, CLOSED), (function_id, span)))
                        if operation in GIVES:
                            self._givers_at[found].append((function_id, entry))
                            by = self._places.locks(effects.told_by[operation, path, span]) | entry.locks
                            self._givers[found] = self._givers.get(found, by) & by
                            earlier = [(o, c) for o, p in before if (c := self.channel(p, function_id, entry))]
                            self._given.setdefault(found, earlier)
                            if operation == "close":
                                self._closes[found].add((function_id, span))
                                self._closed[found] = earlier
                            if (TAKE, found) not in earlier:
                                self._firsts[found].append((function_id, entry, span))
        return sum(taken == taking for taken, _ in self._uses.get(channel, ()))

    def closes(self, channel: Value) -> set[tuple[str, Span]]:
        """Where a channel is closed, in which functions; nothing if anything is sent on it."""
        only = self._count(channel, taking=False) == len(self._closes.get(channel, ()))
        return self._closes[channel] if only else set()

    def first_givers(self, channel: Value) -> list[tuple[str, Entry, Span]]:
        """Who gives something to a channel without having received from it, in which state, and where."""
        self._count(channel, taking=False)
        return self._firsts.get(channel, [])

    def channel(self, path: Value, function: str, entry: Entry, steps: int = MOST_STEPS) -> Value | None:
        """The variable that a channel was made for, up the calls and starts that lead here."""
        if isinstance(path, Fresh):
            path = self._kept_at(path)
        if isinstance(path, Global | Fresh) or (isinstance(path, Field) and isinstance(path.base, TypeValue)):
            return path
        if isinstance(path, Field):
            owner = self._places.class_of(path.base)
            return Field(TypeValue(owner), path.name) if owner is not None else None
        if steps == 0:
            return None
        if isinstance(path, Captured):
            index = self._parameter(path)
            if index is None:
                return path
            found = {self.channel(Param(path.function, index), path.function, around, steps - 1)
                     for around in self._around(path.function, function, entry)}  # fmt: skip
            return found.pop() if len(found) == 1 else None
        if not isinstance(path, Param):
            return None
        came = self._contexts.came(function, entry)
        if came is not None:
            given = self._contexts.given(came, function, path)
            return self.channel(given, came.caller, came.entry, steps - 1) if given is not None else None
        return self._started_with(path, entry, steps)

    def _kept_at(self, made: Fresh) -> Value:
        """The field that holds a channel, or, where a call has given it, the variable of the function that has made it.

        `<-s.run()`, where that is `done := make(chan bool); go func() { s.work(); close(done) }(); return done`.
        """
        effects, origin = self._effects[made.site.function], made.site.origin
        if made in effects.own_channels or origin is None:
            return effects.own_channels.get(made, made)
        called = {callee for span, callee in effects.calls if span == made.site.span and isinstance(callee, str)}
        for _ in range(MOST_GIVEN):
            for callee in called & self._effects.keys():
                own = self._effects[callee].own_channels.get(Fresh(made.type, Site(callee, origin)))
                if isinstance(own, Captured):
                    return own
            inner = [each for callee in called & self._effects.keys() for _, each in self._effects[callee].calls]
            called = {callee for callee in inner if isinstance(callee, str)}
        return made

    def _started_with(self, parameter: Param, entry: Entry, steps: int) -> Value | None:
        """What a goroutine was given at its start."""
        context = self._contexts.roots[entry.context]
        effects = self._effects.get(context.starter or "")
        if effects is None or context.function != parameter.function or context.starter is None:
            return None
        index = parameter.index - (1 if self._symbols.functions[parameter.function][1].owner else 0)
        for start in effects.starts.values():
            if start.span == context.span and 0 <= index < len(start.args) and len(start.args[index]) == 1:
                for around in self._contexts.entries.get(context.starter, ()):
                    return self.channel(start.args[index][0], context.starter, around, steps - 1)
        return None

    def _parameter(self, variable: Captured) -> int | None:
        """The position of a captured variable among its function's parameters."""
        names = [parameter.name for parameter in self._symbols.functions[variable.function][1].parameters]
        return names.index(variable.name) if variable.name in names else None

    def _around(self, owner: str, function: str, entry: Entry) -> Iterator[Entry]:
        """The entry states of the function around a closure from which that has been called or started."""
        for _ in range(MOST_STEPS):
            if function == owner:
                yield entry
                return
            came = self._contexts.came(function, entry)
            if came is None:
                starter = self._contexts.roots[entry.context].starter or ""
                if starter == owner or starter.startswith(f"{owner}."):
                    yield from self._contexts.entries.get(owner, ())
                return
            function, entry = came.caller, came.entry


def _maker(channel: Value) -> str | None:
    """The function that has made a channel, if it is no object's and no package's."""
    match channel:
        case Captured(function=function):
            return function
        case Fresh(site=site):
            return site.function
        case _:
            return None


def _name(channel: Value) -> str:
    """The name of a field."""
    return channel.name if isinstance(channel, Field) else ""


def _counts_one(node: object, name: str) -> bool:
    """Whether something gives a field the number one: in the literal, by a store, or in one step, `v.refs.Store(1)`."""
    match node:
        case Make(fields=fields):
            return _plain_number(dict(fields).get(name)) == ONE
        case Assign(targets=(Attr(name=stored),), value=value):
            return stored == name and value == ONE
        case Call(func=Attr(base=Attr(name=counted)), args=(value,)):
            return counted == name and value == ONE
        case _:
            return False


def _plain_number(expr: Expr | None) -> Expr | None:
    """A number without the conversion that says what type it is of: `int32(1)`."""
    return expr.value if isinstance(expr, Cast) else expr


def _owner(channel: Value) -> str | None:
    """The class whose objects have a channel in a field."""
    return channel.base.type if isinstance(channel, Field) and isinstance(channel.base, TypeValue) else ""


def _told(spot: Spot) -> Told:
    """What has been done with channels when an access is made: surely, and perhaps."""
    return spot.access.told if isinstance(spot.access, Access) else UNTOLD
