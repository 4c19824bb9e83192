"""Entry states: a context is propagated from its root along all calls, with what is held and known on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Set

from racelint.analysis.contexts import ASYNC_EXTERNAL, EXTERNAL, Came, Context, Contexts, Entry, is_early, is_possible
from racelint.analysis.contracts import Contracts
from racelint.analysis.deciding import Deciding
from racelint.analysis.declared import Declared
from racelint.analysis.edges import Edges
from racelint.analysis.effects import CallSite
from racelint.analysis.linking import Linking
from racelint.analysis.objects import FRESH, SHARED
from racelint.analysis.paths import root
from racelint.analysis.places import Places
from racelint.analysis.programs import Programs
from racelint.analysis.receivers import Receivers
from racelint.analysis.state import LOCAL, THREADS
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Param
from racelint.knowledge import Knowledge

CALLERS_TASK = Context(ASYNC_EXTERNAL, "", None, None, False, SHARED)
OTHERS_THREADS = frozenset({EXTERNAL, "handler", "decorated"})  # contexts of callers and servers
MOST_STATES = 8  # entry states kept for a function and context


class Spreading:
    """Fills in the states in which functions are entered."""

    def __init__(
        self, symbols: Symbols, knowledge: Knowledge, summaries: Summaries, places: Places, edges: Edges,
        deciding: Deciding, receivers: Receivers, contexts: Contexts, declared: Declared | None = None,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._knowledge = knowledge
        self._summaries = summaries
        self._effects = summaries.effects
        self._places = places
        self._edges = edges
        self._contracts = Contracts(symbols, knowledge, summaries, places, declared)
        self._deciding = deciding
        self._receivers = receivers
        self._found = contexts
        self._programs = Programs(symbols)
        self._linking = Linking(self._programs, edges)
        self._running: dict[str, set[str]] = {}  # functions that a context may run, by its root

    def spread(self, index: int, context: Context, root_id: str) -> None:
        """Propagate a context from a root along all calls."""
        if root_id not in self._effects or context.kind == "process":
            return
        receiver = FRESH if self._makes_itself(root_id) else context.receiver
        given = self._found.inherited[index] = self._inherited(index, context)
        locks = self._contracts.of(root_id) | self._contracts.around(root_id) | self._taken_over(root_id) | given
        flags = self._deciding.started(context)
        first = Entry(index, receiver, locks, context.type, origin=context.origin, flags=flags)
        if not context.function:
            first = first._replace(program=self._linking.program(index, root_id, root_id))
        if not self._enter(root_id, first, None):
            return
        above = {root_id, context.starter or root_id}
        begun = self._found.begun.get((context.starter, context.span), ()) if context.starter and context.span else ()
        todo = deque([(root_id, first)])
        while todo:
            function_id, entry = todo.popleft()
            effects = self._effects.get(function_id)
            if effects is None or entry not in self._found.entries[function_id]:
                continue
            for _, type_id in effects.made:
                self._found.made_in.setdefault(type_id, set()).add(entry.context)
            for callee, site in self._edges.calls.get(function_id, ()):
                if callee in begun and not isinstance(site.callee, str):
                    continue  # whoever has handed it to the helper starts it
                if not self._linking.can_follow(above, function_id, callee):
                    if not context.function:
                        self._linking.leave_out(index, function_id)
                    continue
                if site.homes and self._edges.homes.have_another(site.homes, entry.origin):
                    continue  # a callable that is put into other objects
                if self._is_put_in_by_tests(callee, {*above, function_id}):
                    continue  # and of one that no program has
                if self._is_of_others(callee, site, root_id):
                    continue  # what is lent by a function that does not run here
                by = self._found.roots[entry.context]
                if site.joined & THREADS or (self._is_coroutine(callee) and self._only_makes(by, callee)):
                    continue  # a coroutine does not run in the thread that makes it
                if self._is_async_generator(callee) and not self._symbols.functions[function_id][1].is_async:
                    continue  # nor does this
                own = site.receiver is not None and self._symbols.is_instance(site.receiver)
                if not is_possible(site.needs, entry) or ((own or site.own) and not self._may_run(callee, entry.type)):
                    continue
                next_entry = self._through(entry, function_id, callee, site)
                starts = self._effects[callee].starts_any if callee in self._effects else False
                if not next_entry.before and not starts and is_early(site, effects):
                    next_entry = next_entry._replace(before=function_id)
                if self._is_only_made(by, function_id, callee):
                    next_entry = next_entry._replace(context=self._tasks_of_callers())
                if next_entry.flags and self._is_full(callee, next_entry.context):
                    next_entry = next_entry._replace(flags=frozenset())  # which stands for all that has some
                if not context.function:
                    next_entry = next_entry._replace(program=self._linking.program(index, root_id, callee))
                if self._enter(callee, next_entry, Came(function_id, entry, site.span, site.looped, own)):
                    todo.append((callee, next_entry))

    def _is_put_in_by_tests(self, callee: str, callers: Set[str]) -> bool:
        """Whether a method is of a package for tests alone, and all that leads to its call is of what programs have."""
        source, function = self._symbols.functions[callee]
        if not function.owner or not self._programs.leave_to_tests(source.name):
            return False
        return all([self._programs.use(self._symbols.functions[each][0].name) for each in callers])

    def _is_of_others(self, callee: str, site: CallSite, root_id: str) -> bool:
        """Whether a parameter's callable is one that only a function lends which the context does not run."""
        maker = self._edges.lent.get(callee)
        if maker is None or isinstance(site.callee, str) or not isinstance(root(site.callee), Param):
            return False
        if root_id not in self._running:
            self._running[root_id] = self._reached(root_id)
        return maker not in self._running[root_id]

    def _reached(self, root_id: str) -> set[str]:
        """All functions that the calls of one lead to."""
        found, todo = {root_id}, [root_id]
        while todo:
            fresh = {callee for callee, _ in self._edges.calls.get(todo.pop(), ())} - found
            found |= fresh
            todo += fresh
        return found

    def _only_makes(self, context: Context, callee: str) -> bool:
        """Whether a context makes a coroutine for another one to run; what callers make they mostly wait for."""
        if context.kind != EXTERNAL:
            return context.kind in ("thread", "pool")
        states = self._found.entries.get(callee, ())
        return any(self._found.roots[state.context].function == callee for state in states)

    def _is_only_made(self, context: Context, caller: str, callee: str) -> bool:
        """Whether a function in a thread of others makes a coroutine: who gets hold of it runs it as a task."""
        if context.kind not in OTHERS_THREADS or not self._symbols.functions[callee][1].is_async:
            return False
        return not (self._is_coroutine(caller) or (context.function and self._is_coroutine(context.function)))

    def _tasks_of_callers(self) -> int:
        """The context that stands for all tasks of callers."""
        if CALLERS_TASK not in self._found.roots:
            self._found.roots.append(CALLERS_TASK)
        return self._found.roots.index(CALLERS_TASK)

    def _taken_over(self, root_id: str) -> frozenset[str]:
        """Locks that a goroutine gives back without having taken them: who has started it holds them until then."""
        if not self._symbols.is_ordered_by_steps(root_id):
            return frozenset()
        return frozenset([self._places.lock(lock) for lock in self._summaries.of(root_id).releases])

    def _inherited(self, index: int, context: Context) -> frozenset[str]:
        """Locks that the starter of a goroutine, or of an executor's job, holds from before its start until its end.

        Those of the starter's callers are known only when all contexts have been spread: `Contexts.covered`.
        """
        effects = self._effects.get(context.starter or "")
        if effects is None or context.span is None:
            return frozenset()
        mine = [start for start in effects.starts.values() if start.span == context.span]
        if not self._symbols.is_ordered_by_steps(context.function):
            covering = [self._places.locks(start.covering) for start in mine]
            return frozenset.intersection(*covering) if covering else frozenset()
        if mine and all(
            [start.awaited or start.ended for start in mine]
        ):  # a helper that has waited for all that it was given
            self._found.covered.add(index)
            return self._places.locks(tuple([lock for start in mine for lock in start.held]))
        held = {lock for start in mine for lock in start.held}
        waits = [locks for span, locks in effects.waits.items() if span[:2] >= context.span[:2]]
        if effects.joined_at_end & LOCAL:
            self._found.covered.add(index)
        return self._places.locks(tuple([lock for lock in held if any(lock in locks for locks in waits)]))

    def _makes_itself(self, function_id: str) -> bool:
        """Whether a method constructs its own instance, anew perhaps: nobody else may use it meanwhile."""
        if self._symbols.functions[function_id][1].name == "__init__":
            return True
        sites = self._effects[function_id].calls.values()
        made = [s.callee for s in sites if s.receiver == Param(function_id, 0) and isinstance(s.callee, str)]
        return any(self._symbols.functions[callee][1].name == "__init__" for callee in made)

    def _may_run(self, function_id: str, type_id: str) -> bool:
        """Whether an object of a class, or of one below it, can have a method."""
        source, function = self._symbols.functions[function_id]
        return not type_id or not function.owner or self._places.related(f"{source.name}:{function.owner}", type_id)

    def _is_async_generator(self, function_id: str) -> bool:
        function = self._symbols.functions[function_id][1]
        return function.is_async and function.is_generator

    def _is_coroutine(self, function_id: str) -> bool:
        return self._symbols.is_coroutine(function_id, self._knowledge)

    def _through(self, entry: Entry, caller: str, callee: str, site: CallSite) -> Entry:
        locks = entry.locks
        if site.held or site.turns:
            locks = locks | self._places.locks_at(site)
        locks = locks | self._contracts.of(callee, locks)
        passed = self._receivers.passed(entry, site, callee)
        sure = entry.sure and site.certain and not self._receivers.is_back(passed, site, callee)
        origin = self._receivers.origin(entry, site, caller)
        receiver = self._receivers.receiver(entry, site, caller, callee)
        flags = self._deciding.flags(entry, site, caller, callee)
        type_id = self._receivers.type(entry, site, caller)
        constructor = self._receivers.constructor(entry, site, caller)
        made = self._receivers.is_made_by_run(entry, site, caller)
        return Entry(
            entry.context, receiver, locks, type_id, sure, entry.before, origin, flags, constructor, passed, made
        )  # fmt: skip

    def _is_full(self, function_id: str, context: int) -> bool:
        """Whether a function is entered by a context in so many states that no other one is kept."""
        return sum(e.context == context for e in self._found.entries.get(function_id, ())) >= MOST_STATES

    def _enter(self, function_id: str, entry: Entry, came: Came | None) -> bool:
        """Add an entry state unless a weaker one is known; True if it is new. Of two calls the one in a loop stands."""
        known = self._found.entries.setdefault(function_id, {})
        if entry in known:
            first = known[entry]
            if came is not None and came.looped and first is not None and first[:2] == came[:2]:
                known[entry] = came
            return False
        same = [e for e in known if e.context == entry.context and e.program == entry.program]
        stronger = {e: known[e] for e in same if _covers(entry, e)}
        replaced = {e: found_by for e, found_by in stronger.items() if found_by is not None}
        if any(_covers(e, entry) for e in same) or len(same) - len(replaced) >= MOST_STATES:
            return False
        for e, found_by in replaced.items():
            self._found.replaced[function_id, e] = found_by
            del known[e]
        known[entry] = came
        return True


def _covers(weak: Entry, strong: Entry) -> bool:
    """Whether what may go wrong in one state may go wrong in another one: fewer locks, less owned, not before."""
    return (
        weak.receiver >= strong.receiver
        and weak.locks <= strong.locks
        and weak.sure >= strong.sure
        and weak.type == strong.type
        and weak.before in ("", strong.before)
        and weak.origin == strong.origin
        and weak.flags <= strong.flags
        and weak.constructor in ("", strong.constructor)
        and weak.passed == strong.passed
        and weak.made <= strong.made
    )
