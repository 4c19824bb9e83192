"""Once closed: whoever comes to what stands behind the `close` of one channel is the only one; a second close panics.

`if found { close(done); result = row }`, in each of several goroutines: one of them stores the row. The channel must be
made once, with what is accessed: by the function whose variable that is, or in the literal of the object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racelint.analysis.branching import is_looped
from racelint.analysis.effects import Effects
from racelint.analysis.places import Places
from racelint.analysis.signals import Signals
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, TypeValue, Value
from racelint.model import Make

CHANNEL = "chan"


class OnceClosed:
    """Finds channels that both sides of a pair have closed."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, signals: Signals) -> None:
        self._symbols = symbols
        self._places = places
        self._signals = signals
        self._closing = any(operation == "close" for each in effects.values() for operation, _, _ in each.told)
        self._made_once: dict[Value, bool] = {}

    def excludes(self, first: Spot, second: Spot) -> bool:
        """Whether two accesses cannot both be made: each stands behind the close of a channel that is closed once."""
        if not self._closing:
            return False
        both = set(self._closed_by(first)) & set(self._closed_by(second))
        return any(self._goes_with(channel, first, second) and self._is_made_once(channel) for channel in both)

    def _closed_by(self, spot: Spot) -> Iterator[Value]:
        """The channels that have surely been closed on the way to an access, by its own context."""
        for function, entry, told in self._signals.told_on_way(spot):
            for operation, path in told:
                channel = self._signals.channel(path, function, entry) if operation == "close" else None
                if channel is not None:
                    yield channel

    def _goes_with(self, channel: Value, first: Spot, second: Spot) -> bool:
        """Whether there is one channel for each place that two accesses are of."""
        place = first.located.place
        match channel:
            case Captured(function=function):
                return place.kind == "captured" and place == second.located.place and place.owner == function
            case Field(base=TypeValue(type=owner)):
                return all(self._holder(spot) == owner for spot in (first, second))
            case _:
                return False

    def _holder(self, spot: Spot) -> str | None:
        """The class of the object that has what is accessed in a field."""
        path = spot.access.path
        return self._places.class_of(path.base) if isinstance(path, Field) else None

    def _is_made_once(self, channel: Value) -> bool:
        """Whether a channel's variable, or field, is given one channel and never another one."""
        if channel not in self._made_once:
            self._made_once[channel] = self._keeps_one(channel)
        return self._made_once[channel]

    def _keeps_one(self, channel: Value) -> bool:
        match channel:
            case Captured(function=function, name=name):
                maker = self._symbols.functions[function][1]
                match maker.bindings.get(name, ()):
                    case (Make(type=made, span=span),):
                        return made.name == CHANNEL and not is_looped(maker.body, span)
                    case _:
                        return False
            case Field(base=TypeValue(type=owner), name=name):
                declared = self._symbols.field(owner, name)
                if declared is None or declared[1].annotation is None or declared[1].annotation.name != CHANNEL:
                    return False  # a context is cancelled as often as one likes
                stores = [store for _, store in self._symbols.stores(name)]
                return bool(stores) and all(isinstance(store.base, Make) for store in stores)
            case _:
                return False
