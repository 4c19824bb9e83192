"""Containers that a channel hands over, while whoever has sent them keeps them and goes on changing them in place.

To send is to give away: the receiver reads what it got without a lock, for nobody else should have it any more. It is
enough to look at the sender. Who has put something else into the variable behind the send has given the old one away.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import is_never_behind
from racelint.analysis.collisions import RESIZES
from racelint.analysis.effects import Access, Act, Effects
from racelint.analysis.guards import HANDED
from racelint.analysis.places import Place
from racelint.analysis.races import Races
from racelint.analysis.spots import Pair, Silence, Spot
from racelint.analysis.state import TAKE
from racelint.analysis.symbols import Symbols


class Sending:
    """Finds changes of containers that have been sent."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], races: Races) -> None:
        self._symbols = symbols
        self._effects = effects
        self._races = races

    def all(self) -> Iterator[Pair]:
        """One for each place, in the order of the functions."""
        seen: set[Place] = set()
        for function_id, effects in self._effects.items():
            for access in effects.sent.values():
                given_away = self._is_given_away(function_id, effects, access)
                for sent in self._spots(function_id, access):
                    change = self._change(sent.located.place) if not given_away else None
                    if change is not None and sent.located.place not in seen:
                        seen.add(sent.located.place)
                        yield Pair(sent.located.place, change, sent, "sent", "sent", 2)

    def _spots(self, function_id: str, access: Access) -> list[Spot]:
        spots = self._races.spots_of(function_id, access)
        return [] if isinstance(spots, Silence) else spots

    def _change(self, place: Place) -> Spot | None:
        """The first change of a container in place, of an object that others know."""
        changes = [
            spot
            for spot in self._races.spots.get(place, ())
            if not isinstance(spot.access, Act) and spot.access.kind in RESIZES and spot.access.detail in HANDED
        ]
        return min(changes, key=lambda spot: (spot.function, spot.access.span), default=None)

    def _is_given_away(self, function_id: str, effects: Effects, sent: Access) -> bool:
        """Whether the sender has another container afterwards, or waits for an answer."""
        body = self._symbols.functions[function_id][1].body
        stores = [each.span for each in effects.all_accesses() if each.kind == "store" and each.path == sent.path]
        answers = [span for operation, _, span in effects.told if operation == TAKE]
        return any(not is_never_behind(body, span, sent.span) for span in (*stores, *answers) if span > sent.span)
