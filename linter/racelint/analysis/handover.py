"""Handing over by a flag: who has found it set, under a lock, has what lies beside it, and at other times who sets it.

`rows = load(); mu.Lock(); ready = true; for ready { cond.Wait() }; mu.Unlock()` goes round in one goroutine, and
`mu.Lock(); for !ready { cond.Wait() }; use(rows); ready = false; mu.Unlock()` in another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from racelint.analysis.branching import blocks, ends_with
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Access, Effects
from racelint.analysis.gates import UNSET, found, stores_of
from racelint.analysis.places import Place, Places, of_threads, sides
from racelint.analysis.spots import Spot
from racelint.analysis.state import Held
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field
from racelint.model import Block, Branch, Jump, Loop, Stmt
from racelint.record import records
from racelint.span import Span

LEAVES = ("return", "raise", "continue", "break")


class Asked(NamedTuple):
    """A flag that a function has found set, and the locks that it has held then."""

    path: Field
    held: tuple[Held, ...]


class HandingOver:
    """Finds accesses that never meet, by what each side has found a flag to be."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._asked: dict[tuple[str, Span], list[Asked]] = {}

    def order(self, giver: Spot, taker: Spot, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether one side has what is accessed until it sets a flag, and the other one while it has found that set."""
        if not self._symbols.is_ordered_by_steps(giver.function) or not isinstance(giver.access.path, Field):
            return False
        if not taker.locks or taker.located.place.kind != "field":
            return False
        return any(self._gives_by(giver, asked, spots) for asked in self._taken_by(taker))

    def _taken_by(self, taker: Spot) -> Iterator[Asked]:
        """The flags of the object that were found set under a lock which has been held since."""
        access = taker.access
        if not isinstance(access, Access) or not isinstance(access.path, Field):
            return
        for asked in self._found_set(taker.function, access.span):
            if asked.path.base == access.path.base:
                yield from _still(asked, access.held)
        if not taker.located.own:
            return
        for caller, span in self._contexts.way(taker.function, taker.entry)[-1:]:
            sites = [site for (at, callee), site in self._effects[caller].calls.items()
                     if at == span and callee == taker.function and site.receiver is not None]  # fmt: skip
            for site in sites:
                own = tuple([h for h in site.held if site.receiver in (h.lock, getattr(h.lock, "base", None))])
                for asked in self._found_set(caller, span):
                    yield from _still(asked, own)

    def _found_set(self, function: str, span: Span) -> list[Asked]:
        """The flags that a function has surely found set under a lock when it comes to a spot."""
        if (function, span) not in self._asked:
            there = {at for at, is_set in _passed(self._symbols.functions[function][1].body, span) if is_set}
            accesses = self._effects[function].all_accesses() if there else ()
            self._asked[function, span] = [
                Asked(access.path, access.held)
                for access in accesses
                if access.span in there and access.held and isinstance(access.path, Field)
            ]
        return self._asked[function, span]

    def _gives_by(self, giver: Spot, asked: Asked, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether only who makes an access sets a flag, behind that, and waits until it is unset again."""
        located = self._places.locate(asked.path)
        if located is None or located.place.kind != "field" or located.place == giver.located.place:
            return False
        if located.place.owner != giver.located.place.owner:
            return False
        locks, changes = sides(self._places.locks(asked.held)), [s for s in spots.get(located.place, ()) if s.is_write]
        setting = [spot for spot in changes if spot.access.detail not in UNSET]
        if not setting or not all(locks & of_threads(spot.locks) for spot in changes):
            return False
        if not stores_of(self._symbols, located.place) <= {spot.access.span for spot in changes}:
            return False
        return all(self._sets_behind(giver, spot, asked, locks) for spot in setting)

    def _sets_behind(self, giver: Spot, setting: Spot, asked: Asked, locks: frozenset[str]) -> bool:
        """Whether who sets a flag of the object has made the access, and finds it unset before the next one."""
        path, flag = giver.access.path, setting.access.path
        if giver.function != setting.function or giver.entry.context != setting.entry.context:
            return False
        if not isinstance(path, Field) or not isinstance(flag, Field) or path.base != flag.base:
            return False
        unset = {
            access.span for access in self._effects[giver.function].all_accesses()
            if access.path == flag and locks & sides(self._places.locks(access.held))
        }  # fmt: skip
        body = self._symbols.functions[giver.function][1].body
        return _is_round(body, giver.access.span, setting.access.span, unset)


def _still(asked: Asked, held: tuple[Held, ...]) -> Iterator[Asked]:
    """What was found under locks that are held still, since the same acquisition."""
    since = {(each.lock, each.taken) for each in held}
    kept = tuple([each for each in asked.held if (each.lock, each.taken) in since])
    if kept:
        yield Asked(asked.path, kept)


def _passed(body: Block, spot: Span) -> Iterator[tuple[Span, bool]]:
    """The attributes that a function has found set or unset when it comes to a spot, and where."""
    for block in blocks(body):
        at = next((index for index, stmt in enumerate(block) if stmt.span.holds(spot)), None)
        for stmt in block[: at or 0]:
            yield from _said_behind(stmt)


def _said_behind(stmt: Stmt) -> Iterator[tuple[Span, bool]]:
    """What is known behind a loop that goes on while a flag is so, or a branch that leaves if it is."""
    match stmt:
        case Loop(test=test) if test is not None and not _breaks_off(stmt):
            yield from found(test, outcome=False)
        case Branch(test=test, then=then, orelse=()) if ends_with(then, *LEAVES):
            yield from found(test, outcome=False)
        case _:
            return


def _breaks_off(loop: Loop) -> bool:
    """Whether a loop may be left otherwise than by its test, for what follows or for another turn around it."""
    jumps = [node for node in records(loop.body) if isinstance(node, Jump)]
    return any([jump.kind not in ("return", "raise") and (jump.label or jump.kind == "break") for jump in jumps])


def _is_round(body: Block, access: Span, setting: Span, unset: set[Span]) -> bool:
    """Whether a block makes an access, then sets a flag, and comes to its end only where it has found that unset."""
    for block in blocks(body):
        first = next((index for index, stmt in enumerate(block) if stmt.span.holds(access)), None)
        sets = next((index for index, stmt in enumerate(block) if stmt.span.holds(setting)), None)
        if first is None or sets is None or first >= sets:
            continue
        for index, stmt in enumerate(block[sets + 1 :], sets + 1):
            told = [at for at, is_set in _said_behind(stmt) if not is_set] if isinstance(stmt, Loop) else []
            if not unset.isdisjoint(told):
                between = [node for node in records(block[sets:index]) if isinstance(node, Jump)]
                return all([jump.kind in ("return", "raise") for jump in between])
    return False
