"""Parting: what a goroutine does when it has told its starter all that this waits for."""

from __future__ import annotations

from racelint.analysis import phases
from racelint.analysis.branching import goes_round, is_looped, loops_around
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Access, Effects
from racelint.analysis.spots import Spot
from racelint.analysis.state import CLOSED, GIVES, OUT, TAKE, WAIT
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Value
from racelint.model import Block
from racelint.span import Span

TAKES = frozenset({TAKE, WAIT, OUT, CLOSED})


class Parting:
    """Finds accesses to which the end of a wait says nothing: the goroutine has gone on meanwhile."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._answers: dict[str, Value | None] = {}

    def goes_on(self, spot: Spot) -> bool:
        """Whether a goroutine makes an access behind all that it gives to the one channel that its starter receives
        from, once, of all that it waits for.

        `go func() { err := run(); started <- err; s.done = true }()`, then `<-started`.
        """
        context = self._contexts.roots[spot.entry.context]
        starter, function = context.starter, spot.function
        answer = self._answer(starter) if starter in self._effects else None
        if starter is None or answer is None or context.function not in self._effects:
            return False
        given = [(o, at) for o, path, at in self._effects[context.function].told if path == answer and o in GIVES]
        if self._is_looped_until(starter, answer) and self._comes_again(spot, answer, given):
            return True
        if function != context.function or not isinstance(spot.access, Access):
            return False
        if not any(operation in GIVES for operation, path in spot.access.told[0] if path == answer):
            return False
        body = self._symbols.functions[function][1].body
        done, before = spot.access.told[1], spot.access.span[:2]
        return all((o, answer) in done and at[:2] < before and not is_looped(body, at) for o, at in given)

    def _is_looped_until(self, starter: str, answer: Value) -> bool:
        """Whether a function asks for the answer in a loop, which it leaves when it has it."""
        body = self._symbols.functions[starter][1].body
        told = self._effects[starter].told
        return any(is_looped(body, at) for operation, path, at in told if path == answer and operation in TAKES)

    def _comes_again(self, spot: Spot, answer: Value, given: list[tuple[str, Span]]) -> bool:
        """Whether a goroutine may come to an access when it has given the answer, as far as its variables say."""
        function = self._contexts.roots[spot.entry.context].function
        steps = self._contexts.steps(spot.function, spot.entry, spot.access.span)
        at = next((span for caller, span in steps if caller == function), None)
        sites = [site.told[1] for site in self._effects[function].calls.values() if site.span == at]
        if spot.function == function and isinstance(spot.access, Access):
            sites = [spot.access.told[1]]
        if at is None or not any((operation, answer) in told for operation, _ in given for told in sites):
            return False
        return not phases.is_before(self._symbols.functions[function][1], at, [span for _, span in given])

    def _answer(self, starter: str) -> Value | None:
        """The channel of a function's own from which it receives once, and waits for nothing else till the end."""
        if starter not in self._answers:
            effects, body = self._effects[starter], self._symbols.functions[starter][1].body
            told = (*effects.told, *effects.passed_on)
            waits = list(dict.fromkeys([(path, at) for operation, path, at in told if operation in TAKES]))
            left = [(path, at) for path, at in waits if not goes_round(body, at)]
            single = len(left) == 1 and not effects.waits and _are_beside(body, left[0][1], [at for _, at in waits])
            own = single and isinstance(left[0][0], Captured) and left[0][0].function == starter
            self._answers[starter] = left[0][0] if own else None
        return self._answers[starter]


def _are_beside(body: Block, answer: Span, waits: list[Span]) -> bool:
    """Whether what a function waits for else is what keeps it busy in the loop that it leaves with the answer."""
    loops = loops_around(body, answer)
    return all(at == answer or (loops and loops[-1].span.holds(at)) for at in waits)
