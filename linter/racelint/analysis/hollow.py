"""Hollow critical sections: `mu.Lock()` and `mu.Unlock()` with nothing between, where a deferred unlock was meant.

Now and then that waits for whoever has the lock. What follows tells them apart: who goes on with what others touch
under that very lock has forgotten a word (the condition is ours; the pattern is SA2001 of staticcheck,
https://staticcheck.dev/docs/checks/#SA2001).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from racelint.analysis.branching import blocks
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects
from racelint.analysis.objects import SHARED
from racelint.analysis.places import Places, sides
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.state import Held
from racelint.analysis.symbols import Symbols
from racelint.model import Block, Call, Eval
from racelint.span import Span


class Hollow:
    """Finds what is accessed behind a lock that was given back as soon as it was taken.

    That somebody writes there is not asked: whoever takes a lock means it to protect something.
    """

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts

    def all(self) -> Iterator[Pair]:
        """One for each section, in the order of the functions: the first place behind it that others lock."""
        for function_id, effects in self._effects.items():
            body = self._symbols.functions[function_id][1].body
            for held, end in _sections(body, effects.holds):
                if self._is_filled(effects, held.taken, end):
                    continue
                found = self._behind(function_id, self._places.lock(held.lock), end)
                if found is not None:
                    yield found

    def _is_filled(self, effects: Effects, start: Span, end: Span) -> bool:
        """Whether a lock is given back by a function that does more than that: its body runs under the lock.

        `mu.Lock(); func() { defer mu.Unlock(); work() }()`. Where a function takes it, too, both are a lock's own.
        """
        called = {site.span: site.callee for site in effects.calls.values() if isinstance(site.callee, str)}
        callee = called.get(end)
        return callee is not None and start not in called and len(self._symbols.functions[callee][1].body) > 1

    def _behind(self, function_id: str, lock: str, end: Span) -> Pair | None:
        own = sorted(self._spots(function_id), key=lambda spot: spot.access.span)
        for spot in own:
            if spot.access.span > end and lock not in sides(spot.locks):
                other = self._locked_by_others(lock, spot)
                if other is not None:
                    return Pair(spot.located.place, spot, other, "hollow", "hollow", 3, guard=lock)
        return None

    def _locked_by_others(self, lock: str, spot: Spot) -> Spot | None:
        """An access by another function under the lock, if as many hold it as do not."""
        others = [
            each
            for function_id in self._effects
            if function_id != spot.function
            for each in self._spots(function_id)
            if each.located.place == spot.located.place
        ]
        locked = [each for each in others if lock in sides(each.locks)]
        bare = {each.function for each in others if each not in locked}
        return locked[0] if len({each.function for each in locked} - bare) >= max(1, len(bare)) else None

    def _spots(self, function_id: str) -> Iterator[Spot]:
        """What a function accesses that is not its own, with the locks that it and its callers hold."""
        for entry in self._contexts.entries.get(function_id, ()):
            for access in self._effects[function_id].all_accesses():
                located = self._places.locate(access.path)
                if located is not None and not (located.own and entry.constructor):
                    locks = entry.locks | self._places.locks(access.held)
                    yield Spot(function_id, located, access, entry, locks, SHARED)


def _sections(body: Block, holds: dict[Span, tuple[Held, ...]]) -> Iterator[tuple[Held, Span]]:
    """The locks that one statement takes and the next gives back, and where they are given back."""
    for block in blocks(body):
        for (first, second), (_, third) in pairwise(pairwise(block)):
            if not (_is_call(first) and _is_call(second)) or not {first.span, second.span, third.span} <= holds.keys():
                continue
            before, between, after = holds[first.span], holds[second.span], holds[third.span]
            taken = [held for held in between if held not in before and first.span.holds(held.taken)]
            if len(taken) == 1 and len(between) == len(before) + 1 and after == before:
                yield taken[0], second.span


def _is_call(stmt: object) -> bool:
    return isinstance(stmt, Eval) and isinstance(stmt.value, Call) and not stmt.value.args
