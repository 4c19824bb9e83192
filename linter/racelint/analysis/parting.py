"""Parting: what a goroutine does when it has told its starter all that this waits for."""

from __future__ import annotations

from racelint.analysis.branching import is_looped
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Access, Effects
from racelint.analysis.spots import Spot
from racelint.analysis.state import CLOSED, GIVES, OUT, TAKE, WAIT
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Value

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
        if starter is None or function != context.function or not isinstance(spot.access, Access):
            return False
        answer = self._answer(starter)
        if answer is None or not any(operation in GIVES for operation, path in spot.access.told[0] if path == answer):
            return False
        body = self._symbols.functions[function][1].body
        done, before = spot.access.told[1], spot.access.span[:2]
        given = [(o, at) for o, path, at in self._effects[function].told if path == answer and o in GIVES]
        return all((o, answer) in done and at[:2] < before and not is_looped(body, at) for o, at in given)

    def _answer(self, starter: str) -> Value | None:
        """The channel of a function's own from which it receives once, and waits for nothing else."""
        if starter not in self._answers:
            effects, body = self._effects[starter], self._symbols.functions[starter][1].body
            told = (*effects.told, *effects.passed_on)
            waits = list(dict.fromkeys([(path, at) for operation, path, at in told if operation in TAKES]))
            single = len(waits) == 1 and not effects.waits and not is_looped(body, waits[0][1])
            own = single and isinstance(waits[0][0], Captured) and waits[0][0].function == starter
            self._answers[starter] = waits[0][0] if own else None
        return self._answers[starter]
