"""Running once: what a function that runs once starts and waits for has ended when anybody has come by that function.

`once.Do(func() { go func() { defer wg.Done(); fill(table) }(); wg.Wait() })`, and behind that `return table`: the first
one to come by has waited, and everybody else until he had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from racelint.analysis.contexts import Context, Contexts, Entry, targets
from racelint.analysis.effects import CallSite, Effects, where_called
from racelint.analysis.memory import STORES, Memory
from racelint.analysis.passing import comes_before, passes
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Element, Field, Global, Param, Value
from racelint.model import Branch, Call, Hold, Labelled, Logic, Loop, Make, Try
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 3  # calls, or starts, on the way to what runs once
HANDED = "unknown"  # the kind of context of what a library is given
AROUND = Branch | Loop | Try | Hold | Labelled


class Once(NamedTuple):
    """Where a function is run once, and that function."""

    function: str
    span: Span
    body: str


class RunningOnce:
    """Finds accesses by what has ended in such a function, and others behind that."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, memory: Memory) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._memory = memory
        self._holders = {(function, span): held for function, e in effects.items() for span, held in e.once.items()}
        self._within: dict[tuple[str, int], Once | None] = {}
        self._kept: dict[Value, bool] = {}
        self._passing: dict[tuple[str, Once, int], bool] = {}
        self._behind: dict[tuple[str, Span, Once], bool] = {}

    def precedes(self, spot: Spot, other: Spot) -> bool:
        """Whether the context of an access has ended when the function of the other one, or who leads to it, has come
        by what runs once; an object's own one says so only of what the object itself holds.
        """
        once = self._once_around(self._contexts.roots[spot.entry.context]) if self._holders else None
        if once is None or other.entry.context in self._contexts.started_under.get(once.body, ()):
            return False
        holder = self._holders[once.function, once.span]
        if not self._is_kept(holder):
            return False
        if isinstance(holder, Global):
            return self._is_behind(other.function, other.entry, other.access.span, once, MOST_STEPS)
        paths = (holder, _whole(spot.access.path), _whole(other.access.path))
        return all(map(self._is_own, paths)) and self._is_behind_own(other, once)

    def _once_around(self, context: Context) -> Once | None:
        """What runs once and starts a context, itself or by what it calls, and has ended only when that has."""
        starter = context.starter
        if starter is None or not self._memory.ends_inside(context):
            return None
        if context.span in self._effects[starter].running_at_end:
            return None
        return self._only_in(starter, MOST_STEPS)

    def _only_in(self, function: str, steps: int) -> Once | None:
        """What runs once, and is the only one that leads to a function, or is that."""
        if (function, steps) not in self._within:
            contexts = [self._contexts.roots[each.context] for each in self._contexts.entries.get(function, ())]
            found: set[Once | None] = {None}
            if contexts and all(context.kind == HANDED for context in contexts):
                callers = {caller for caller, _ in self._calls.get(function, ())}
                found = {self._only_in(caller, steps - 1) for caller in callers} if steps else {None}
                found |= {self._bodies[function]} if function in self._bodies else set()
            self._within[function, steps] = found.pop() if len(found) == 1 else None
        return self._within[function, steps]

    @cached_property
    def _calls(self) -> dict[str, list[tuple[str, Span]]]:
        """Where functions are called."""
        return where_called(self._effects)

    @cached_property
    def _bodies(self) -> dict[str, Once | None]:
        """What runs once, by the function that is run; None for one that something else starts, too."""
        found: dict[str, Once | None] = {}
        for function, effects in self._effects.items():
            for start in effects.starts.values():
                for target in targets(start.callee):
                    once = Once(function, start.span, target.function)
                    alone = (function, start.span) in self._holders and found.get(target.function, once) == once
                    found[target.function] = once if alone else None
        return found

    def _is_own(self, path: Value) -> bool:
        """Whether a path is a field of a method's own object."""
        if not isinstance(path, Field) or not isinstance(path.base, Param | Captured):
            return False
        return self._symbols.is_instance_of(path.base)

    def _is_kept(self, holder: Value) -> bool:
        """Whether nobody puts a new one in the place of what sees to it that a function runs once."""
        if holder not in self._kept:
            self._kept[holder] = not any(self._renewals(holder))
        return self._kept[holder]

    def _renewals(self, holder: Value) -> Iterator[bool]:
        if isinstance(holder, Field):
            yield from (not isinstance(store.base, Make) for _, store in self._symbols.stores(holder.name))
        for effects in self._effects.values():
            for (_, kind), entries in effects.accesses.items():
                if kind in STORES and isinstance(holder, Global):
                    yield from (access.path == holder for access in entries)

    def _is_behind(self, function: str, entry: Entry, span: Span, once: Once, steps: int) -> bool:
        """Whether what runs once has been passed on each way that leads to a spot, be it by who has started that."""
        if any(self._has_passed(*step, once) for step in self._contexts.steps(function, entry, span)):
            return True
        context = self._contexts.roots[entry.context]
        if steps == 0 or context.starter is None or context.span is None:
            return False
        around = self._contexts.entries.get(context.starter, ())
        return bool(around) and all(
            self._is_behind(context.starter, each, context.span, once, steps - 1) for each in around
        )

    def _is_behind_own(self, spot: Spot, once: Once) -> bool:
        """Whether methods on the way to a spot have passed what runs once for their own object, which is the spot's."""
        owner = self._symbols.owner_of(once.function)
        function, entry, span = spot.function, spot.entry, spot.access.span
        for _ in range(MOST_STEPS):
            if self._symbols.owner_of(function) != owner:
                return False
            if self._has_passed(function, span, once):
                return True
            came = self._contexts.came(function, entry)
            if came is None or not came.own:
                return False
            function, entry, span = came.caller, came.entry, came.span
        return False

    def _has_passed(self, function: str, span: Span, once: Once) -> bool:
        """Whether a function has come by what runs once, itself or by what it calls, when it comes to a spot."""
        key = (function, span, once)
        if key not in self._behind:
            body = self._symbols.functions[function][1].body
            self._behind[key] = any(
                comes_before(body, each, span, _never) or self._is_part(function, each, span)
                for each in self._passed_by(function, once, MOST_STEPS)
            )
        return self._behind[key]

    def _passed_by(self, function: str, once: Once, steps: int) -> Iterator[Span]:
        """The calls of a function by which it comes by what runs once, whichever function is called there."""
        if function == once.function:
            yield once.span
        effects = self._effects[function]
        sites: dict[Span, list[CallSite]] = {}
        for site in effects.calls.values() if steps else ():
            sites.setdefault(site.span, []).append(site)
        for span, called in sites.items():
            sure = span not in effects.vague and all(self._leads(site, once, steps - 1) for site in called)
            if sure and not self._is_conditional(function, span):
                yield span

    def _leads(self, site: CallSite, once: Once, steps: int) -> bool:
        """Whether a call has come by what runs once when it returns; by that of the caller's own object, if each has
        one.
        """
        callee = site.callee
        if not isinstance(callee, str) or callee not in self._effects:
            return False
        own = isinstance(self._holders[once.function, once.span], Field)
        if own and (site.receiver is None or not self._symbols.is_instance(site.receiver)):
            return False
        key = (callee, once, steps)
        if key not in self._passing:
            self._passing[key] = False  # should it call itself
            body = self._symbols.functions[callee][1].body
            found = self._passed_by(callee, once, steps)
            self._passing[key] = any(passes(body, span, _never, _never) for span in found)
        return self._passing[key]

    def _is_conditional(self, function: str, span: Span) -> bool:
        """Whether a call is made only if something else holds: `quick || load()`."""
        logic = [part for part in records(self._symbols.functions[function][1].body) if isinstance(part, Logic)]
        later = tuple([operand for part in logic for operand in part.operands[1:]])
        return any(isinstance(part, Call) and part.span == span for part in records(later))

    def _is_part(self, function: str, call: Span, span: Span) -> bool:
        """Whether a call gives what stands at a spot: `table()["a"]`, or what a loop goes over."""
        if call == span or not span.holds(call):
            return False
        around = [part for part in records(self._symbols.functions[function][1].body) if isinstance(part, AROUND)]
        loops = [part.iterable if isinstance(part, Loop) else None for part in around if part.span == span]
        return not loops or any(isinstance(p, Call) and p.span == call for p in records(tuple(filter(None, loops))))


def _whole(path: Value) -> Value:
    """The container in which an element lies, however deep."""
    while isinstance(path, Element):
        path = path.base
    return path


def _never(_: object) -> bool:
    return False
