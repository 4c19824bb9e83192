"""Modes: which of several programs a process is, and which way it has taken where it starts.

A repository has many programs (`main` functions and commands), and a program may serve as one thing or another:
`if mode == "webhook" { serve() } else { sync() }`. What only one way leads to never meets what only the other one does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from racelint.analysis.branching import arms
from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.settled_tests import Path, SettledTests
from racelint.analysis.starting import COMMAND, PREPARING
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import FunctionValue
from racelint.model import Scalar
from racelint.record import Record
from racelint.span import Span

Found: TypeAlias = tuple[str, Span | tuple[Path, bool], Scalar]
Answers: TypeAlias = frozenset[Found]

MOST_MODES = 8  # of one program that are told apart in one function


class Mode(Record):
    """A program, by the function in which it starts, and what its functions have found there for good.

    Each finding is a function, what it has asked (a branch, or what some of its tests say of a path of fields), and the
    answer: the arm that was taken, or the value.
    """

    program: str
    found: Answers = frozenset()

    def excludes(self, other: Mode) -> bool:
        """Whether a process in the one mode is never in the other."""
        if self.program != other.program:
            return True
        mine = {(function, asked): answer for function, asked, answer in self.found}
        return any(mine.get((function, asked), answer) != answer for function, asked, answer in other.found)


def are_apart(first: Iterable[Mode], second: Iterable[Mode]) -> bool:
    """Whether no process has one of some modes and one of some others; not where one side's are unknown."""
    one, two = tuple(first), tuple(second)
    return bool(one) and bool(two) and all(mine.excludes(theirs) for mine in one for theirs in two)


class Modes:
    """Follows calls and starts from where programs start."""

    def __init__(
        self, symbols: Symbols, product: Mapping[str, Effects], edges: Mapping[str, Sequence[tuple[str, CallSite]]],
        runs_once: Callable[[str], object],
    ) -> None:  # fmt: skip
        """`runs_once` says of a function that each program runs it once, if at all."""
        self._symbols = symbols
        self._product = product
        self._edges = edges
        self._runs_once = runs_once
        self._tests = SettledTests(product)

    def of_starts(self, modes: Mapping[str, frozenset[Mode]]) -> dict[tuple[str, Span], frozenset[Mode]]:
        """By a function and a spot where it starts something, the modes in which it does; `modes` are what `all` gave.

        What several spots start runs in the modes of all of them, and yet each start is in its own.
        """
        found: dict[tuple[str, Span], frozenset[Mode]] = {}
        for starter, effects in self._product.items():
            for start in effects.starts.values() if starter in modes else ():
                answers = self._answers(starter, start.span)
                found[starter, start.span] = frozenset([_told(mode, answers) for mode in modes[starter]])
        return found

    def all(self) -> dict[str, frozenset[Mode]]:
        """By a function, the modes in which it may run."""
        found: dict[str, set[Mode]] = defaultdict(set)
        mains = [function for function in self._product if self._symbols.functions[function][1].name == "main"]
        todo = [(root, Mode(root)) for root in (*mains, *self._commands())]
        while todo:
            function_id, mode = todo.pop()
            known = found[function_id]
            if sum(each.program == mode.program for each in known) >= MOST_MODES:
                mode = Mode(mode.program)
            if any(each.program == mode.program and each.found <= mode.found for each in known):
                continue
            known -= {each for each in known if each.program == mode.program and mode.found <= each.found}
            known.add(mode)
            todo += [(callee, _told(mode, answers)) for callee, answers in self._ways(function_id)]
        return {function_id: frozenset(modes) for function_id, modes in found.items()}

    def _commands(self) -> list[str]:
        """What is run as a command: each is another program, as far as a process goes."""
        return [
            start.callee.function
            for effects in self._product.values()
            for start in effects.starts.values()
            if start.kind == COMMAND and isinstance(start.callee, FunctionValue)
        ]

    def _ways(self, function_id: str) -> Iterator[tuple[str, Answers]]:
        """What a function calls and starts, each with what it has found before."""
        effects = self._product.get(function_id)
        sites = [(callee, site.span) for callee, site in self._edges.get(function_id, ())]
        sites += [
            (start.callee.function, start.span)
            for start in (effects.starts.values() if effects is not None else ())
            if isinstance(start.callee, FunctionValue) and start.kind not in ("binding", COMMAND, PREPARING)
        ]
        for callee, span in sites:
            yield callee, self._answers(function_id, span)

    def _answers(self, function_id: str, span: Span) -> Answers:
        """What a function has found for good when it comes to a spot."""
        if not self._runs_once(function_id):
            return frozenset()
        function = self._symbols.functions[function_id][1]
        ways = [(function_id, branch.span, arm) for branch, arm in arms(function.body, span)]
        said = [(function_id, (a.path, a.equal), a.value) for a in self._tests.on_the_way(function_id, function, span)]
        return frozenset([*ways, *said])


def _told(mode: Mode, answers: Answers) -> Mode:
    """A mode, once a process has found some answers."""
    return mode._replace(found=mode.found | answers) if answers else mode
