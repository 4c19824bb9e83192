"""Showing: what goroutines fill for the function that has made it, and that shows it to nobody before they have ended.

`func Load() *Table { t := &Table{}; t.fill(); return t }`, where `fill` starts them and waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from racelint.analysis.branching import loops_around
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.ownruns import OwnRuns
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.state import LOCAL
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Fresh, Param, Value
from racelint.analysis.ways import Ways

MOST_CALLS = 4  # from what makes an object to what starts the goroutines


class Showing:
    """Follows what a starter was given back to what has made it."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts, ways: Ways, places: Places,
        own_runs: OwnRuns, leads_to: Callable[[str, int], bool],
    ) -> None:  # fmt: skip
        """`leads_to` tells whether a function, or what it starts, starts a context."""
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._ways = ways
        self._places = places
        self._own_runs = own_runs
        self._leads_to = leads_to
        self._holders: dict[Param, frozenset[str] | None] = {}

    def comes_after(self, spot: Spot, other: Spot) -> bool:
        """Whether another access can only come when the one at hand's goroutine has ended: each call of its starter is
        given an object that a function on the way has made, and that nobody else knows by then.
        """
        context = self._contexts.roots[spot.entry.context]
        starter = context.starter
        if starter is None or self._symbols.functions[starter][0].module.traits.atomic_steps:
            return False
        if not (context.ended or self._effects[starter].joined_at_end & LOCAL):
            return False
        given = self._own_runs.parameters_of_starter(spot)
        holders = [self._holding(parameter, MOST_CALLS) for parameter in given]
        return bool(holders) and not any(found is None or self._is_inside(found, other) for found in holders)

    def _is_inside(self, holders: frozenset[str], spot: Spot) -> bool:
        """Whether an access may be made while these functions are at work, by what they call or start."""
        if any(self._leads_to(each, spot.entry.context) for each in holders):
            return True
        inside = tuple([f"{each}." for each in holders])
        return any(each in holders or each.startswith(inside) for each in self._ways.functions(spot))

    def _holding(self, parameter: Param, steps: int) -> frozenset[str] | None:
        """The functions that alone know what is given for a parameter, until the call is over; None if others may."""
        if parameter not in self._holders:
            self._holders[parameter] = None  # should it call itself
            self._holders[parameter] = self._find_holding(parameter, steps)
        return self._holders[parameter]

    def _find_holding(self, parameter: Param, steps: int) -> frozenset[str] | None:
        function = parameter.function
        calls = self._own_runs.calls_of(function)
        if steps == 0 or not calls or self._own_runs.is_root(function):
            return None
        if parameter in self._effects[function].sent_early:
            return None
        found = {function}
        for caller, site in calls:
            given = dict(site.given).get(parameter.index, site.receiver if parameter.index == 0 else None)
            if isinstance(given, Captured) and given.function == caller:
                given = self._own_runs.as_given(given)
            if isinstance(given, Param) and given.function == caller:
                around = self._holding(given, steps - 1)
                if around is None:
                    return None
                found |= around
            elif self._has_made(given, caller, site):
                found.add(caller)
            else:
                return None
        return frozenset(found)

    def _has_made(self, given: Value | None, caller: str, site: CallSite) -> bool:
        """Whether a caller has made what it gives, and nobody else finds that before the call is over."""
        if isinstance(given, Captured):
            held = self._own_runs.held_by(given)
            return bool(held) and all([self._is_unknown(each, caller, site) for each in held])
        return isinstance(given, Fresh) and given.site.function == caller and self._is_unknown(given, caller, site)

    def _is_unknown(self, made: Fresh, caller: str, site: CallSite) -> bool:
        """Whether nobody else finds what a function has made, be it in something else, before a call is over."""
        effects, body = self._effects[caller], self._symbols.functions[caller][1].body
        if site.running or made in effects.sent_early or not effects.is_private(made):
            return False
        if made in effects.disclosed or not all(
            loop.span.holds(made.site.span) for loop in loops_around(body, site.span)
        ):
            return False
        shown = [each for each in (*effects.exposed, *effects.sent_early) if isinstance(each, Fresh)]
        served = [each for each, call in effects.given_away.items() if call[:2] < site.span[:2]]
        known = [each for each in served if each == made or self._places.class_of(each) is not None]
        return not known and all(each.site.span[:2] > site.span[:2] for each in shown)
