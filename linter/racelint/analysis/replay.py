"""Calls of the project's functions: a callee's summary applied to the state of its caller."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.body import (
    MOST_CALLBACKS,
    MOST_CALLS,
    MOST_EVENTS,
    MOST_GUESSED_CALLS,
    MOST_INVOKES,
    Keywords,
    is_within,
    visible,
    with_returned,
)
from racelint.analysis.conditions import holds
from racelint.analysis.effects import CALLABLE
from racelint.analysis.failing import last_of
from racelint.analysis.locking import Locking
from racelint.analysis.origins import Origins
from racelint.analysis.owning import Owning
from racelint.analysis.paths import Substitute, bounded, element, lazy, mentions_value, root, union
from racelint.analysis.state import (
    CLOSED,
    LOCAL,
    MAYBE_HELD,
    OF_COUNTERS,
    POOLS,
    STOPPED,
    TAKE,
    TASKS,
    THREADS,
    WAIT,
    Conditions,
    Held,
    Invoke,
    Predicate,
    Read,
    Resize,
    State,
)
from racelint.analysis.state import Call as CallStep
from racelint.analysis.summary import Place, Summary
from racelint.analysis.touching import Touching
from racelint.analysis.types import ClassType, LibraryType, TypeOf
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Literal,
    Param,
    Partial,
    Result,
    Site,
    Tuple,
    Unknown,
    Value,
    Values,
)
from racelint.model import Const, Function
from racelint.span import Span

NESTED_STARTS = 2  # calls of what is handed on, within what is started


class Replay(Locking, Origins, Owning, Touching):
    """Applies summaries."""

    def _bind(self, function: Function, given: tuple[Values, ...], keywords: Keywords) -> list[Values]:
        """The values of each parameter; one that is not passed has its default."""
        named = dict(keywords)
        bound: list[Values] = []
        for index, parameter in enumerate(function.parameters):
            if parameter.kind == "positional" and index < len(given):
                bound.append(given[index])
            elif parameter.name in named and parameter.kind != "variadic":
                bound.append(named[parameter.name])
            elif parameter.kind == "variadic" and len(given) > index and not (self.traits.duck_typed and self.is_open):
                bound.append((bounded(Tuple(given[index:])),))
            elif isinstance(parameter.default, Const) and not self.is_open:
                value = parameter.default.value
                bound.append((Literal(value, type(value).__name__ if value is not None else "None"),))
            else:
                bound.append(NOTHING_KNOWN)
        return bound

    def _replay(
        self, function_id: str, function: Function, summary: Summary, bound: list[Values], call: Span, state: State
    ) -> Values:
        """Apply a callee's summary to the state of its caller."""
        site = self.site(call, state)
        substitute = self._substitution(function_id, bound, site, state)
        step = CallStep(self.id, call, function_id)
        for event, conditions in list(summary.resizes.items()):
            feasible = self.feasible(conditions, substitute, state)
            if feasible is not None:
                self._replay_resize(event, conditions, feasible, substitute, step, state)
        posted = {started.callee for started in summary.starts} if summary.invokes else set()
        for invoke, during in list(summary.invokes.items()):
            outer = self.rare, self.certain
            self.rare = self.rare or invoke.callee in summary.kept
            self.certain = self.certain and invoke.callee not in posted  # it is called here, or else where it belongs
            self._replay_invoke(invoke, during, substitute, step, state)
            self.rare, self.certain = outer
            substitute.renew()
        if summary.changes:
            self.replay_changes(summary, substitute, step, state)
        if summary.touches:
            self.replay_touches(summary, function, substitute, step, state)
        if summary.contents:
            self.replay_contents(summary, substitute)
        if summary.passes:
            self.replay_passes(summary, substitute)
        if summary.taken_out:
            self.replay_taken(summary, substitute)
        if summary.owned:
            self.replay_owned(summary, substitute)
        returned = self._possible(summary, substitute, state)
        results = substitute.values(returned)  # paths in it mean what they held before the call
        if summary.ends_unless_failed or summary.told_if:
            results = last_of(site, results, summary.told_if)
        if state.reads is not None and len(returned) == 1 and isinstance(returned[0], Field):
            state.reads += [Read(path, call, state.held, False) for path in results if isinstance(path, Field)]
        self._replay_stores(function_id, summary, substitute, call, state)
        self._replay_locks(summary, function, substitute, call, state)
        self._replay_asks(summary, substitute, call)
        self._replay_starts(summary, bound, substitute, call, state)
        if self.certain and (summary.told or summary.renewed):
            self._replay_told(summary, substitute, call, state)
        for outcome, done in summary.told_if.items() if self.certain else ():
            told = [(operation, self._as_known(operation, path, substitute)) for operation, path in done]
            self.ends.call_done(call, outcome, frozenset([(o, known[0]) for o, known in told if len(known) == 1]))
        if function.is_generator and not self.symbols.is_coroutine(function_id, self.knowledge):
            streams = [v for value in summary.streams for v in substitute(value)]
            yields = substitute.values(summary.yields) if summary.yields else ()
            kind = "rounds" if summary.rounds else "generator"
            return (lazy(kind, tuple(dict.fromkeys(streams)), () if yields == NOTHING_KNOWN else yields),)
        if not summary.falls_through:
            self.stopped = True
        self._remember_environment(function_id, function, bound, state)
        declared = self.types.returned(function_id)
        if declared is not None and results == NOTHING_KNOWN:
            return (Result(site, self.types.text(declared)),)
        if declared is not None and not self.traits.duck_typed:
            return tuple([self._given_back(value, declared, site, state) for value in results])
        return results

    def _possible(self, summary: Summary, substitute: Substitute, state: State) -> Values:
        """What a callee may return, given its arguments here: `if as_view is True: return View(self)`."""
        if len(summary.returned_if) == 1:
            return summary.returns
        found: Values = ()
        for conditions, values in summary.returned_if.items():
            if not conditions or self.feasible(conditions, substitute, state) is not None:
                found = with_returned(found, values)
        return found or summary.returns

    def replay_started(
        self, callee: Value, args: tuple[Values, ...], call: Span, state: State, nested: int = NESTED_STARTS
    ) -> None:
        """What a function changes that is started beside this one, or that such a function calls."""
        if not isinstance(callee, FunctionValue):
            if visible(callee) and len(self.summary.begins) < MOST_INVOKES:
                self.summary.begins[callee, tuple([self.known_outside(values) for values in args])] = None
            return
        _, function = self.symbols.functions[callee.function]
        given = args if callee.receiver is None else ((callee.receiver,), *args)
        summary = self.summaries.of(callee.function)
        if not (summary.changes or summary.invokes or summary.passes):
            return
        bound = self._bind(function, given, ())
        substitute = self._substitution(callee.function, bound, Site(self.id, call), state)
        self.replay_passes(summary, substitute)
        self.replay_changes(summary, substitute, CallStep(self.id, call, callee.function), state)
        for invoke in summary.invokes if nested > 0 else ():
            handed = tuple([substitute.values(values) for values in invoke.args])
            for value in substitute(invoke.callee):
                self.replay_started(value, handed, call, state, nested - 1)

    def called_by_started(
        self, callee: Value, args: tuple[Values, ...], call: Span, state: State
    ) -> Iterator[tuple[Value, tuple[Values, ...]]]:
        """What a function that is started here calls of what this one was given, with no lock: as good as started."""
        if not isinstance(callee, FunctionValue):
            return
        summary = self.summaries.of(callee.function)
        given = [invoke for invoke in summary.invokes if not invoke.guarded]
        if not given:
            return
        _, function = self.symbols.functions[callee.function]
        bound = self._bind(function, args if callee.receiver is None else ((callee.receiver,), *args), ())
        substitute = self._substitution(callee.function, bound, Site(self.id, call), state)
        for invoke in given:
            for value in substitute(invoke.callee):
                if isinstance(value, Param) and value.function == self.id:
                    yield value, tuple([substitute.values(values) for values in invoke.args])

    def _substitution(self, function_id: str, bound: list[Values], site: Site, state: State) -> Substitute:
        """A callee's values in the terms of a call."""

        def lookup(value: Value) -> Values | None:
            match value:
                case Param(function=owner, index=index) if owner == function_id:
                    return bound[index]
                case Captured(function=owner, name=name) if owner == self.id and name in self.function.cells:
                    return self.read(value, state)
                case Captured(function=owner, name=name) if owner == self.id:
                    return state.variables.get(name, NOTHING_KNOWN)
                case Field(base=base, name=name) if type(base) is not Param or base.function != function_id:
                    path = self.place(base, name)
                    return state.heap.get(path) or ((path,) if path != value else None)
                case _:
                    return state.heap.get(value)

        def recursive(value: Value) -> Values | None:
            """What a path means whose parameters are those of the call, not the caller's own."""
            return lookup(value) if type(value) is Param or type(root(value)) is not Param else None

        return Substitute(recursive, site, state.heap.get) if function_id == self.id else Substitute(lookup, site)

    def _given_back(self, value: Value, declared: TypeOf, site: Site, state: State) -> Value:
        """A result as its caller has it: of the declared type where it is unknown, a copy if it is held by value."""
        if isinstance(value, Result) and not value.type:
            return self.retyped(value, self.types.text(declared))
        if value == UNKNOWN:
            return Result(site, self.types.text(declared))
        if isinstance(value, Tuple) and isinstance(declared, LibraryType) and len(declared.args) == len(value.parts):
            parts = [
                tuple([v if kind is None else self._given_back(v, kind, site, state) for v in values])
                for values, kind in zip(value.parts, declared.args, strict=True)
            ]
            return Tuple(_told_apart(parts, Result(site, self.types.text(declared))))
        held = isinstance(declared, ClassType) and declared.value
        return self.own_copy(value, site.span, state, declared=declared) if held else value

    def _remember_environment(self, function_id: str, function: Function, bound: list[Values], state: State) -> None:
        """What a closure that the callee returns will find in its captured parameters."""
        if not any([isinstance(v, FunctionValue) for v in self.summaries.of(function_id).returns]):
            return
        for parameter, values in zip(function.parameters, bound, strict=True):
            variable = Captured(function_id, parameter.name)
            other = state.heap.get(variable, values)
            state.heap[variable] = values if other == values else NOTHING_KNOWN

    def feasible(self, conditions: Conditions, substitute: Substitute, state: State) -> Conditions | None:
        """A callee's conditions in the caller's terms; None if one of them cannot hold."""
        mine: set[tuple[Predicate, bool]] = set()
        for predicate, outcome in conditions:
            values = substitute(predicate.value)
            if predicate.test == "instance":
                values = tuple([v for v in values if self._may_be(v, str(predicate.scalar))])
                if not values:
                    return None
            elif predicate.test == "class":
                values = tuple([v for v in values if self._may_be_one(v, predicate)])
                if not values:
                    return None
            elif all([self._is_refuted(predicate._replace(value=v), state, outcome=outcome) for v in values]):
                return None
            if len(values) == 1 and isinstance(values[0], Param):
                mine.add((predicate._replace(value=values[0]), outcome))
        return frozenset(mine)

    def _is_refuted(self, predicate: Predicate, state: State, *, outcome: bool) -> bool:
        """Whether a test cannot have an outcome here: a value of another type gets into no case for some types."""
        if holds(predicate, state) is (not outcome):
            return True
        if predicate.test != "type" or not outcome:
            return False
        assert isinstance(predicate.scalar, frozenset)
        return not self.summaries.type_cases.may_be(predicate.value, predicate.scalar)

    def _may_be_one(self, value: Value, predicate: Predicate) -> bool:
        """Whether an object may be of one of the classes that a callee asks for."""
        assert isinstance(predicate.scalar, tuple)
        return not isinstance(value, Literal) and any([self._may_be(value, type_id) for type_id in predicate.scalar])

    def _is_guesswork(self, conditions: Conditions, substitute: Substitute, container: Value) -> bool:
        """Whether a callee makes a change for objects of a class only, and nothing says that it is given one."""
        for predicate, _ in conditions:
            if predicate.test == "class":
                values = substitute(predicate.value)
                known = [isinstance(v, Param) or is_within(v, container) or self.types.class_of(v) for v in values]
                if not all(known):
                    return True
        return False

    def _may_be(self, value: Value, type_id: str) -> bool:
        """Whether an object may be an instance of a class: its static type is one, or lies above it."""
        known = self.types.class_of(value)
        if known is None or known == type_id:
            return True
        return known in self.symbols.subtypes(type_id) or type_id in self.symbols.subtypes(known)

    def _replay_resize(
        self, event: Resize, asked: Conditions, conditions: Conditions, substitute: Substitute, step: CallStep,
        state: State,
    ) -> None:  # fmt: skip
        """A callee's change of something that we can name; `asked` are its conditions in the callee's terms."""
        if len(event.calls) >= (MOST_CALLS if event.certain and self.certain else MOST_GUESSED_CALLS):
            return
        keys = substitute.values(event.keys) if event.keys else ()
        added = tuple([v for value in event.added for v in substitute(value)])
        particular = substitute.values(event.particular) if event.particular else ()
        vacant, unless = self._vacant_unless(event, substitute, state)
        for container in substitute(event.container):
            if container != UNKNOWN and not isinstance(container, Literal):
                moved = event._replace(
                    container=container, keys=keys, calls=(step, *event.calls), added=added, particular=particular,
                    rare=event.rare or self._is_guesswork(asked, substitute, container),
                    answer=self.summaries.of(step.callee).answers.get(event, ""),
                    raising=event.raising or self.raises_behind(step.span),
                    singled=(self.traits.duck_typed and event.singled) or self.is_singled(container, state),
                    vacant=vacant, unless=unless,
                )  # fmt: skip
                self.emit(moved, state, conditions)

    def _vacant_unless(
        self, event: Resize, substitute: Substitute, state: State
    ) -> tuple[bool, tuple[Predicate, bool] | None]:
        """Whether what this call gives says that a callee's change is made in an empty container; else, what decides.

        That may be what this function's own caller gives.
        """
        if event.unless is None:
            return event.vacant, None
        known = self.feasible(frozenset({event.unless}), substitute, state)
        return known is None, next(iter(known)) if known else None

    def _replay_invoke(
        self,
        invoke: Invoke,
        during: tuple[tuple[Value, Place], ...],
        substitute: Substitute,
        step: CallStep,
        state: State,
    ) -> None:
        """A callee calls something that we know here: what that does happens here, in the callee's loops too."""
        if len(invoke.calls) >= MOST_CALLS:
            return
        found = (*substitute(invoke.callee), *self._one_of_given(invoke.callee, step.span, substitute))
        callees = [v for v in found if isinstance(v, FunctionValue | Partial) or visible(v)]
        if not callees or isinstance(invoke.callee, Field):
            return
        live = [(v, loop) for value, loop in during for v in substitute(value) if v != UNKNOWN]
        args = tuple([substitute.values(values) for values in invoke.args])
        keywords = tuple([(name, substitute.values(values)) for name, values in invoke.keywords])
        guarded = invoke.guarded or (bool(state.held) and not self.traits.atomic_steps)
        made = frozenset([v for value, _ in during if isinstance(value, Fresh | Copy) for v in substitute(value)])
        given = (*args, *[values for _, values in keywords])
        for callee in callees:
            if isinstance(callee, FunctionValue | Partial):
                held = state.held
                if isinstance(callee, FunctionValue) and callee.function == step.callee:
                    live = [pair for pair in live if pair[0] not in made or self._is_handed_on(pair[0], given, state)]
                if invoke.guarded:  # which of the callee's locks that is matters less than that there is one
                    state.held = (*held, Held(UNKNOWN, step.span, "unknown"))
                self._call_back(callee, args, keywords, live, Place(invoke.function, invoke.span), step.span, state)
                state.held = held if invoke.guarded else state.held
            else:
                moved = Invoke(callee, args, keywords, invoke.function, invoke.span, (step, *invoke.calls), guarded)
                self.record_invoke(moved, [pair for pair in live if visible(pair[0])], state)

    @staticmethod
    def _is_handed_on(made: Value, given: tuple[Values, ...], state: State) -> bool:
        """Whether a function that calls itself gives that call what it has made, or keeps it where both find it.

        Else each run has its own, which are written alike.
        """
        kept = (*given, *state.variables.values(), *state.heap.values())
        return any([mentions_value(value, made) for values in kept for value in values])

    def _one_of_given(self, callee: Value, call: Span, substitute: Substitute) -> Values:
        """What is called of several functions that this one gives: `apply(pod, onNode("a"), named("b"))`, or a list."""
        if self.traits.duck_typed or not isinstance(callee, Element) or not isinstance(callee.base, Param):
            return ()
        site = Site(self.id, call)
        given = [value for value in substitute(callee.base) if isinstance(value, Tuple | Fresh)]
        return tuple([each for value in given for each in self.element_of(value, site)])

    def _call_back(
        self, callee: Value, args: tuple[Values, ...], keywords: Keywords, live: list[tuple[Value, Place]],
        stands: Place, call: Span, state: State,
    ) -> None:  # fmt: skip
        """A function that we know is called from inside a callee, while that iterates `live`."""
        if self._callbacks >= MOST_CALLBACKS:
            return
        self._callbacks += 1
        with self.collecting() as events:
            self.apply(callee, args, keywords, call, state)
        self._callbacks -= 1
        self.conflicts_during(live, stands, events)

    def record_invoke(self, event: Invoke, live: list[tuple[Value, Place]], state: State) -> None:
        """Record the call of a value that only a caller can name."""
        known = self.summary.invokes.get(event, ())
        if event in self.summary.invokes or len(self.summary.invokes) < MOST_INVOKES:
            self.summary.invokes[event] = tuple(dict.fromkeys((*known, *live)))[:MOST_INVOKES]
            if self.frames:
                state.record(event)

    def _replay_locks(
        self, summary: Summary, function: Function, substitute: Substitute, call: Span, state: State
    ) -> None:
        """Locks that the callee has taken or given back, and those that it holds over the body of a `with`."""
        for lock in summary.releases:  # first: what gives a lock back and takes it again holds it in the end
            for value in substitute(lock):
                self.give_back(value, state)
        for lock in summary.acquires:
            for value in substitute(lock):
                self.take(value, call, state)
        for lock in summary.may_acquire:
            for value in substitute(lock):
                if all([held.lock != value for held in state.held]):
                    state.held = (*state.held, Held(value, call, MAYBE_HELD))
        for lowered in summary.lowers:
            for value in substitute(lowered):
                state.drop_flag(value)
                if visible(value) and len(self.summary.lowers) < MOST_EVENTS:
                    self.summary.lowers[value] = None
        for flag, kind in summary.flags:
            found = substitute(flag)
            if len(found) == 1 and visible(found[0]):
                state.held = (*state.held, Held(found[0], call, kind))
        if function.is_generator:
            self.entered_suspends = summary.suspends
        if function.is_generator and summary.yields_held:
            self.entered = tuple([v for lock in summary.yields_held for v in substitute(lock)])

    def _replay_asks(self, summary: Summary, substitute: Substitute, call: Span) -> None:
        """What the result of a helper says of flags; nothing, if it may be another helper."""
        found = [(ask, substitute(ask.flag)) for ask in summary.asks]
        asks = tuple([ask._replace(flag=flags[0]) for ask, flags in found if len(flags) == 1])
        self.asks[call] = asks if self.certain and self.asks.get(call, asks) == asks else ()

    def _is_given_self(self, bound: list[Values]) -> bool:
        """Whether a callee gets hold of the object that is being constructed."""
        own = Param(self.id, 0)
        return any([mentions_value(value, own) for values in bound for value in values])

    def _replay_starts(
        self, summary: Summary, bound: list[Values], substitute: Substitute, call: Span, state: State
    ) -> None:
        """What the callee starts of what it was given, and that it starts or joins anything."""
        alone = not state.started or bool(state.joined & LOCAL)  # all that was started has been waited for
        for started in summary.starts:
            for value in substitute(started.callee):
                args = tuple([substitute.values(values) for values in started.args])
                known = isinstance(started.callee, FunctionValue | Partial)  # only its arguments are the caller's
                kind = "binding" if known else started.kind
                in_turn = started.through is not None and started.endless  # mostly
                many = started.many or (started.looped and not in_turn)
                through = started.through
                group = self._group(started.group, substitute)
                covering = tuple([Held(v, h.taken, h.kind) for h in started.covering for v in substitute(h.lock)])
                self.start(
                    value, kind, call, state, many=many, args=args, queue=started.queue, through=through, group=group,
                    covering=covering, ended=started.ended,
                )  # fmt: skip
                if through is not None and started.awaited:
                    state.running -= {call}
                    self.await_started(call)
        for callee, handed in summary.begins:
            args = tuple([substitute.values(values) for values in handed])
            for value in substitute(callee):
                self.replay_started(value, args, call, state)
        for launched in summary.launches:
            for value in substitute(launched):
                self.launch(value, call)
        for sent in summary.sends:
            self.send(substitute(sent), call, state)
        for disclosed in () if summary.joins & LOCAL else summary.disclosed:
            self.disclose(bound[disclosed.index], call)
        if summary.starts_any:
            self.ends.call(call, says=self.certain and summary.ends_unless_failed)
        if summary.starts_any and self.certain and (not self.constructs or self._is_given_self(bound)):
            state.started, state.joined = True, 0
            self.effects.starts_any = True
            if not self.traits.atomic_steps:
                state.run(call)
        state.joined |= summary.joins & (THREADS | TASKS | POOLS | STOPPED)
        if summary.starts_any and summary.joins & LOCAL:  # it has waited for all that it has started
            self.end_started(call, state, alone=alone)

    def _group(self, group: Value | None, substitute: Substitute) -> Value | None:
        """A callee's group in the terms of a call, if it is one."""
        if group is None or not isinstance(root(group), Param | Captured):
            return group
        found = {self.kept_at(value) for value in substitute(group)}
        return found.pop() if len(found) == 1 else None

    def _replay_told(self, summary: Summary, substitute: Substitute, call: Span, state: State) -> None:
        """What a callee surely does with channels and groups, by which it may wait for what was started here."""
        self.summary.renewed |= summary.renewed
        for group in summary.renewed:
            self.renew(group, call, state)
        for operation, path in summary.told:
            known = self._as_known(operation, path, substitute)
            if len(known) == 1:
                self.tell_again(operation, known, state)
                state.tell(operation, known)
                self.effects.passed_on.add((operation, known[0], call))
                if operation == WAIT:
                    self.wait_for_group(known[0], state)
                if operation == TAKE and state.running:
                    self.wait_for_last_words(known[0], state)
                if operation == CLOSED and state.running:
                    self.wait_for_last_close(known[0], call, state)

    def _as_known(self, operation: str, path: Value, substitute: Substitute) -> Values:
        """What holds a channel that a callee knows, in the terms of its caller; a number is in its variable itself.

        So is a channel that a call has made, for what it has started as well as for the function that it has given.
        """
        found = substitute(path) if isinstance(root(path), Param | Captured) else (path,)
        known = tuple([self.kept_at(value) for value in found])
        if not isinstance(path, Captured):
            return known
        is_number = all([isinstance(value, Literal | Result | Unknown) for value in known])
        is_of_callee = all([isinstance(value, Fresh) and value.site.origin is not None for value in known])
        return (path,) if (operation in OF_COUNTERS and is_number) or is_of_callee else known

    def _replay_stores(
        self, function_id: str, summary: Summary, substitute: Substitute, call: Span, state: State
    ) -> None:  # fmt: skip
        """Paths that the callee has given other values."""
        news: dict[Value, Values] = {}
        for path, values in summary.stores.items():
            if isinstance(path, Captured) and self._is_of_another_call(path, function_id):
                continue
            assigned = substitute.values(values)
            match path:
                case Field(base=base, name=name):
                    targets = [self.place(owner, name) for owner in substitute(base)]
                case Element(base=base, key=key):
                    keys = substitute(key)
                    targets = [element(owner, keys[0]) for owner in substitute(base)] if len(keys) == 1 else []
                case _:
                    targets = [path]
            for target in targets:
                check = state.checks.get(target) if state.checks else None
                if check is not None and target not in summary.checked and path not in summary.checked:
                    self._act_in_callee(check.read, target, assigned, summary, call, state)
                for value in assigned:
                    if isinstance(value, CALLABLE):
                        self.effects.store(target, value)
                self.publish(target, assigned, state)
                if target != UNKNOWN and not isinstance(target, Captured):
                    sole = len(targets) == 1 or _is_of_copy(path)
                    news[target] = assigned if sole else union(assigned, self.read(target, state))
                elif isinstance(target, Captured) and target.name in self.function.cells:
                    news[target] = assigned
                elif isinstance(target, Captured) and target.function == self.id:
                    state.assign(target.name, assigned)
                    substitute.renew()
                elif isinstance(target, Captured):
                    news[target] = assigned
        state.heap.update(news)
        substitute.renew()

    def _is_of_another_call(self, variable: Captured, callee: str) -> bool:
        """Whether a variable is one of a function that is at work here, and comes by again: that call has its own.

        What is called can change this one only if it is a function that stands in it.
        """
        inner = f"{variable.function}."
        return f"{self.id}.".startswith(inner) and not callee.startswith(inner)

    def _act_in_callee(
        self, read: Read, path: Value, assigned: Values, summary: Summary, call: Span, state: State
    ) -> None:
        """The callee writes what the caller has tested before."""
        detail = "none" if assigned == (NONE,) else "computed"
        self.effects.act(
            read,
            path,
            "store",
            call,
            "condition",
            state,
            detail,
            suspended=summary.suspends,
            calls=(CallStep(self.id, call, ""),),
        )


def _is_of_copy(path: Value) -> bool:
    """Whether a path leads to a copy that the callee has made: whatever it was made of, that has been stored there."""
    while isinstance(path, Field | Element):
        path = path.base
    return isinstance(path, Copy)


def _told_apart(parts: list[Values], whole: Result) -> tuple[Values, ...]:
    """The results of one call: two of one type of which nothing else is known are two parts of all, not one thing."""
    found: list[Values] = []
    for index, values in enumerate(parts):
        before = {value for earlier in parts[:index] for value in earlier}
        part = element(whole, Literal(index, "int"))
        same = [isinstance(v, Result) and v.site == whole.site and v in before for v in values]
        found.append(tuple([part if again else v for v, again in zip(values, same, strict=True)]))
    return tuple(found)
