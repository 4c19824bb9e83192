"""Mutants: programs with one protection taken out. What each one is, how it is made, which ones are drawn."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

KINDS = ("lock", "copy", "snapshot", "join")


class Cut(NamedTuple):
    """Replace the bytes from `start` to `end` of a file; cuts keep the number of lines."""

    start: int
    end: int
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One protection of one file, and the lines that it protects.

    `case` says what made us expect a bug without it; `places` are the fields, variables or expressions at stake, `spot`
    the line of an access that should then be reported, `first` to `last` the lines where a new finding counts.
    `guards` is the number of other methods that use the place under a lock that is taken out.
    """

    path: str
    kind: str
    case: str
    line: int
    removed: str
    function: str
    places: tuple[str, ...]
    spot: int
    first: int
    last: int
    cuts: tuple[Cut, ...]
    guards: int = 0

    @property
    def owner(self) -> str:
        """Whose protection it is: mutants of one class or type would disturb each other."""
        return self.function.rpartition(".")[0] or self.function


class BrokenError(Exception):
    """A mutant that changes the number of lines or cannot be cut as told."""


def mutated(data: bytes, mutant: Mutant) -> bytes:
    """Return a file without the protection. Raises BrokenError if its lines would move."""
    result, position = [], 0
    for cut in sorted(mutant.cuts):
        if cut.start < position:
            raise BrokenError(f"{mutant.path}:{mutant.line}: cuts overlap")
        result += [data[position : cut.start], cut.text]
        position = cut.end
    text = b"".join([*result, data[position:]])
    if text.count(b"\n") != data.count(b"\n"):
        raise BrokenError(f"{mutant.path}:{mutant.line}: lines would move")
    return text


def blank(data: bytes, start: int, end: int) -> Cut:
    """Cut out a stretch of text and leave its line ends."""
    return Cut(start, end, b"\n" * data.count(b"\n", start, end))


def drawn(candidates: dict[str, list[Mutant]], wanted: int, seed: int, rounds: int) -> dict[str, list[list[Mutant]]]:
    """Draw mutants, the kinds in turn, and part each repository's into at most `rounds` batches of independent ones.

    In a batch no two mutants share a file or a class. What fits in no batch is left out, so that rare kinds are
    drawn whole and common ones fill what is left.
    """
    queues = {kind: shuffled(candidates, kind, seed) for kind in KINDS}
    batches: dict[str, list[list[Mutant]]] = defaultdict(list)
    count: Counter[str] = Counter()
    while wanted > count.total() and any(queues.values()):
        for kind, queue in queues.items():
            while queue and count.total() < wanted:
                name, mutant = queue.pop()
                if placed(batches[name], mutant, rounds):
                    count[kind] += 1
                    break
    return {name: made for name, made in sorted(batches.items()) if made}


def shuffled(candidates: dict[str, list[Mutant]], kind: str, seed: int) -> list[tuple[str, Mutant]]:
    """All candidates of a kind in an order that the seed decides."""
    every = [(name, mutant) for name, found in sorted(candidates.items()) for mutant in found if mutant.kind == kind]
    random.Random(f"{seed} {kind}").shuffle(every)
    return every


def placed(batches: list[list[Mutant]], mutant: Mutant, rounds: int) -> bool:
    """Put a mutant into the first batch that has none of its file or class; tell whether there was one."""
    for batch in batches:
        if not any(each.path == mutant.path or each.owner == mutant.owner for each in batch):
            batch.append(mutant)
            return True
    if len(batches) < rounds:
        batches.append([mutant])
        return True
    return False


def distinct(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Return mutants in order of place, each protection once."""
    first: dict[tuple[Cut, ...], Mutant] = {}
    for mutant in mutants:
        first.setdefault(mutant.cuts, mutant)
    return sorted(first.values(), key=lambda mutant: (mutant.path, mutant.line, mutant.kind))
