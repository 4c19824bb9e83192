"""The linked program: what rules ask."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from racelint.analysis import ownnames
from racelint.analysis.breaches import Breaches
from racelint.analysis.caches import Caches
from racelint.analysis.cachewrites import CacheMutation, CacheTeller
from racelint.analysis.checks import Breach, Checks
from racelint.analysis.confinement import Confinement
from racelint.analysis.contexts import Contexts
from racelint.analysis.declared import Declared, Problem
from racelint.analysis.describe import Describe
from racelint.analysis.escapes import Escapes
from racelint.analysis.explain import Explainer
from racelint.analysis.filling import Filling
from racelint.analysis.finder import Finder
from racelint.analysis.guards import Guards
from racelint.analysis.held import HeldLocks
from racelint.analysis.hollow import Hollow
from racelint.analysis.iteration import IterationConflict, handed_out, iterated_expression, told
from racelint.analysis.latefields import LateFields
from racelint.analysis.latelocks import LateLocks
from racelint.analysis.leaving import Leaving
from racelint.analysis.loading import Loading
from racelint.analysis.lookups import LookUps
from racelint.analysis.mentions import Mentions
from racelint.analysis.missedcalls import MissedCalls
from racelint.analysis.overwriting import Overwriting
from racelint.analysis.parts import Parts
from racelint.analysis.places import Place, Places
from racelint.analysis.prefetching import SNAPSHOT, Prefetching
from racelint.analysis.product import Product
from racelint.analysis.programs import Programs
from racelint.analysis.races import Races, one_a_cause, together
from racelint.analysis.sending import Sending
from racelint.analysis.spots import Pair, sides_of
from racelint.analysis.standing import Standing
from racelint.analysis.summaries import Summaries
from racelint.analysis.summary import Conflict, functions_of
from racelint.analysis.suspension import Suspensions
from racelint.analysis.symbols import Symbols
from racelint.analysis.takeable import TakeableLocks
from racelint.analysis.told import Race, Teller
from racelint.analysis.types import Types
from racelint.analysis.unknowns import Unknowns
from racelint.analysis.unlinking import Unlinking
from racelint.analysis.unnamed import Unnamed
from racelint.analysis.values import Global, Literal
from racelint.analysis.violations import Violation, ViolationTeller
from racelint.explanation import Explanation
from racelint.knowledge import Knowledge, MemoryModel, load
from racelint.log import phase
from racelint.model import Attr, Function, Item, Name, Source
from racelint.span import Span
from racelint.unknown import Unknown

Infer: TypeAlias = Callable[[str, str, Span], str | None]

FRAMES = 60_000  # Python frames the interpreter may nest: chains of calls times the depth of their statements


class _Linked(NamedTuple):
    """What is known of the contexts of a program."""

    declared: Declared
    checks: Checks
    breaches: list[Breach]
    places: Places
    contexts: Contexts
    races: Races
    pairs: dict[Place, Pair]
    suspensions: Suspensions
    overwriting: Overwriting
    teller: Teller
    late_locks: LateLocks
    late_fields: LateFields
    missed_calls: MissedCalls
    locks: TakeableLocks
    guarded: dict[Place, Pair]


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Chains of calls are followed downwards: more of Python's frames than usual."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Program:
    """All analysed sources, linked. `sources` is sorted by path; answers come in the order of the sources."""

    def __init__(self, sources: Iterable[Source], knowledge: Knowledge, infer: Infer | None = None) -> None:
        """`infer` is asked for the type of an expression (language, path, span) where a verdict hangs on it."""
        self._infer = infer
        self.sources = tuple(sorted(sources, key=lambda source: source.path))
        self._symbols = Symbols(self.sources, knowledge)
        self._programs = Programs(self._symbols)
        self._symbols.making.close(self._programs.use)
        knowledge = knowledge.in_program({w for source in self.sources for w in source.module.mentions.split()})
        self._types = Types(self._symbols, knowledge)
        self._knowledge = knowledge
        self._summaries = Summaries(self._symbols, self._types, knowledge)
        self._linked: _Linked | None = None
        self._explainer: Explainer | None = None

    @property
    def is_free_threaded(self) -> bool:
        """Whether Python code is to run without the GIL."""
        return self._knowledge.memory_model is MemoryModel.FREE_THREADED

    def functions(self) -> Iterator[tuple[str, Source, Function]]:
        """Every function with its id, in the order of the sources."""
        for function_id, (source, function) in self._symbols.functions.items():
            yield function_id, source, function

    def iteration_conflicts(self) -> Iterator[IterationConflict]:
        """Every container that is resized while an iteration over it goes on, in reported sources."""
        describe = Describe(self._symbols, self._types, self._summaries.usage)
        with _deep_recursion():
            conflicts = list(self._conflicts())  # by then all calls are known
            product = Product(self._symbols, self._summaries.effects)
            prefetching, lookups = Prefetching(self._symbols), LookUps(self._symbols)
            standing = Standing(self._symbols, self._summaries.effects)
            mentions = Mentions(self._symbols, product, self._knowledge) if conflicts else None
            for found in conflicts:
                conflict = self._typed(found)
                if mentions is not None and any(map(mentions.is_forgotten, functions_of(conflict))):
                    conflict = conflict._replace(doubtful=True)
                if self._only_replaces(conflict, standing):
                    continue
                if not conflict.resize.singled and lookups.picks_one(conflict):
                    conflict = conflict._replace(resize=conflict.resize._replace(singled=True))
                row = self._knowledge.kinds.get(conflict.kind)
                handed = handed_out(conflict, self._summaries.effects, self._symbols)
                live = row.live if row else SNAPSHOT if prefetching.misses_nothing(conflict) else ""
                yield told(conflict, describe, live, row.growth if row else "", handed)

    def cache_mutations(self) -> Iterator[CacheMutation]:
        """Every object that others hold too and that is changed in place, in reported sources."""
        self._run_all()
        describe = Describe(self._symbols, self._types, self._summaries.usage)
        mentions = Mentions(self._symbols, Product(self._symbols, self._summaries.effects), self._knowledge)
        unnamed = Unnamed(self._symbols, self._programs)
        teller = CacheTeller(
            describe,
            self._summaries,
            lambda function: bool(self._link().contexts.runs_once(function)),
            lambda function: mentions.is_forgotten(function) or unnamed.never_runs(function),
        )
        reported = [function_id for function_id, source, _ in self.functions() if source.reported]
        for write in Caches(self._knowledge, self._summaries).writes(reported):
            yield teller.told(write)

    def races(self) -> Iterator[Race]:
        """The worst race of each place: two accesses, one a write, by contexts proven parallel, no common lock."""
        linked = self._link()
        told = {(breach.function, breach.span.line) for breach in linked.breaches if breach.confidence > 1}
        more = (*linked.late_fields.all(), *linked.missed_calls.all())
        shown = {place for place, pair in linked.pairs.items() if pair.confidence > 1}
        more = tuple([pair for pair in more if pair.place not in shown])
        placed = {pair.place for pair in more}
        pairs = [pair for place, pair in linked.pairs.items() if place not in placed]
        for pair in (*together(pairs), *linked.late_locks.all(), *more):
            guarded = linked.guarded.get(pair.place) if pair.evidence == "admitted" else None
            if guarded is not None and guarded.confidence >= pair.confidence:
                continue  # the lock to take is known
            if linked.declared.confinement(pair.place) is None and told.isdisjoint(sides_of(pair)):
                yield linked.teller.pair(pair)

    def guard_breaches(self) -> Iterator[Race]:
        """The worst access of each guarded place without its guard; places with a sure race are left out."""
        linked = self._link()
        for pair in linked.guarded.values():
            if linked.declared.speaks_of(pair.place):
                continue
            proven = linked.pairs.get(pair.place)
            if proven is None or proven.confidence < 2 or proven.evidence == "admitted":
                yield linked.teller.pair(pair)

    def violations(self) -> Iterator[Violation]:
        """What breaks annotations that name locks: accesses of guarded places, calls that require a lock."""
        linked = self._link()
        teller = ViolationTeller(self._symbols, linked.teller, linked.locks)
        yield from map(teller.told, linked.breaches)

    def escapes(self) -> Iterator[Violation]:
        """What is confined to one context, and used in another one."""
        linked = self._link()
        teller = ViolationTeller(self._symbols, linked.teller, linked.locks)
        yield from map(teller.told, Escapes(linked.checks).all() if linked.declared.confines else ())

    def bad_annotations(self) -> Iterator[Problem]:
        """Annotations that cannot be right, in reported sources."""
        reported = {source.path for source in self.sources if source.reported}
        for problem in self._link().declared.problems if self._symbols.annotations else ():
            if problem.location.path in reported:
                yield problem

    def stale_writes(self) -> Iterator[Race]:
        """Writes that depend on what was read before a suspension, where another task may write meanwhile."""
        linked = self._link()
        for stale in linked.suspensions.stale_writes():
            yield linked.teller.stale(stale)

    def overwritten(self) -> Iterator[Race]:
        """What one of several tasks keeps for itself in a shared place, and reads when others have run."""
        linked = self._link()
        for pair in linked.overwriting.all():
            yield linked.teller.pair(pair)

    def crossed_iterations(self) -> Iterator[Race]:
        """Iterations that go on across a suspension, of containers that another task may resize meanwhile."""
        linked = self._link()
        for crossed in linked.suspensions.crossed_iterations():
            yield linked.teller.crossed(crossed)

    def held_at(self, path: str, line: int) -> list[str]:
        """The locks certainly held when the statement on a line starts, as the source names them, sorted."""
        return self._held().at(path, line)

    def explain(self, path: str, line: int) -> Explanation | None:
        """What is believed at a line: contexts, places, locks and why pairs of accesses are races or not."""
        if self._explainer is None:
            linked, describe = self._link(), Describe(self._symbols, self._types)
            self._explainer = Explainer(
                self._symbols, self._summaries.effects, linked.places, linked.contexts, linked.races, linked.teller,
                self._held(), describe, linked.declared,
            )  # fmt: skip
        return self._explainer.explain(path, line)

    def _held(self) -> HeldLocks:
        linked = self._link()
        return HeldLocks(self._symbols, self._types, self._summaries.effects, linked.places, linked.contexts)

    @phase("contexts, locks and races", least=0.01)
    def _link(self) -> _Linked:
        """Contexts and what they do, computed once."""
        if self._linked is None:
            self._run_all()
            found = self._summaries.effects  # in the order in which they were asked for
            effects = {function_id: found[function_id] for function_id, *_ in self.functions() if function_id in found}
            known = self._summaries
            places = Places(
                self._symbols, self._types, self._knowledge, known.hints.given_locks, known.usage, Parts(known)
            )
            declared = Declared(self._symbols, self._types, self._knowledge, places)
            contexts = Finder(self._symbols, self._types, self._knowledge, self._summaries, places, declared).run()
            is_one = Confinement(self._symbols, contexts, declared).is_one if declared.confined_functions else None
            races = Races(self._symbols, effects, places, contexts, is_one)
            pairs = one_a_cause(races.all())
            suspensions = Suspensions(self._symbols, effects, places, contexts, races, self._knowledge)
            locks = TakeableLocks(self._symbols, self._types, self._knowledge, effects, places, contexts)
            teller = Teller(self._symbols, contexts, places, locks)
            late_locks = LateLocks(self._symbols, effects, places, contexts)
            late_fields = LateFields(self._symbols, effects, places, contexts, self._knowledge)
            missed_calls = MissedCalls(self._symbols, effects, places, contexts)
            checks = Checks(self._symbols, self._summaries, places, contexts, races, declared)
            guards = Guards(self._symbols, places, contexts, races, declared)
            breaches = Breaches(checks, guards).all() if declared.asks else []
            guarded = {pair.place: pair for pair in (*Filling(contexts, races, guards).all(), *guards.all())}
            pairs = {pair.place: pair for pair in Sending(self._symbols, effects, races).all()} | pairs
            guarded |= {pair.place: pair for pair in Hollow(self._symbols, effects, places, contexts).all()}
            self._linked = _Linked(
                declared,
                checks,
                breaches,
                places,
                contexts,
                races,
                pairs,
                suspensions,
                Overwriting(effects, contexts, races),
                teller,
                late_locks,
                late_fields,
                missed_calls,
                locks,
                guarded,
            )
        return self._linked

    @phase("what functions do", least=0.01)
    def _run_all(self) -> None:
        with _deep_recursion():
            for function_id, source, _ in self.functions():
                if source.reported:  # tests are looked at only where the program calls them
                    self._summaries.of(function_id)

    def unknowns(self) -> dict[str, int]:
        """How often the analysis has met its limits so far: unresolved calls, chains that are too deep."""
        return {"unresolved calls": len(self._summaries.unresolved), **self._summaries.unknown}

    def to_do(self) -> list[Unknown]:
        """What could not be resolved and costs verdicts, the most frequent first."""
        self._run_all()
        with _deep_recursion():
            return Unknowns(self._symbols, self._types, self._knowledge, self._summaries.effects).all()

    def _only_replaces(self, conflict: Conflict, standing: Standing) -> bool:
        """Whether what a loop puts into the container of a field or variable is there by all keys that it may have."""
        event, container = conflict.resize, conflict.container
        key = self._summaries.callbacks.key(container)
        if key is None or event.change != "insert" or not event.keys:
            return False
        place = Place("global" if isinstance(container, Global) else "field", *key)
        return all(isinstance(k, Literal) and standing.has(place, k.value, event.function) for k in event.keys)

    def _typed(self, conflict: Conflict) -> Conflict:
        """The conflict with the kind of its container, if that is unknown and can be inferred."""
        iterable = conflict.loop.iterable
        if iterable is None or conflict.kind != "unknown" or self._infer is None:
            return conflict
        container_expression = iterated_expression(iterable)
        if not isinstance(container_expression, Name | Attr | Item):
            return conflict
        source, _ = self._symbols.functions[conflict.loop.function]
        name = self._infer(source.module.language, source.path, container_expression.span)
        if name is None:
            return conflict
        container = self._knowledge.container(name.removeprefix("builtins."))
        return conflict._replace(kind=container.kind if container is not None else "other")

    def _conflicts(self) -> Iterator[Conflict]:
        reported = [function_id for function_id, source, _ in self.functions() if source.reported]
        for function_id in reported:
            yield from self._summaries.of(function_id).conflicts
        for function_id in reported:  # by now every registration is known
            yield from self._summaries.callbacks.conflicts(
                function_id, self._summaries.of(function_id), self._summaries
            )
        duck_typed = [f for f, source, _ in self.functions() if source.reported and source.module.traits.duck_typed]
        summaries = self._summaries
        leaving = Leaving(self._symbols, self._types, summaries.callbacks, summaries.usage, summaries.known)
        yield from leaving.conflicts(duck_typed, summaries.effects)
        yield from ownnames.conflicts(self._symbols)
        yield from Loading(self._symbols, self._knowledge).conflicts(duck_typed)
        yield from Unlinking(self._symbols, self._types, self._knowledge).conflicts(reported)


def link(
    sources: Iterable[Source], knowledge: Iterable[Path] = (), infer: Infer | None = None,
    memory_model: MemoryModel = MemoryModel.GIL,
) -> Program:  # fmt: skip
    """Link sources into one program; the order in which they come does not matter."""
    return Program(sources, load(knowledge, memory_model), infer)
