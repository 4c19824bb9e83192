"""Parts of objects that a callee makes and returns: a part that it has made as well is no more known to others."""

from __future__ import annotations

from racelint.analysis.body import Body
from racelint.analysis.paths import Substitute
from racelint.analysis.state import State
from racelint.analysis.summary import Summary
from racelint.analysis.values import NONE, Field, Fresh, Tuple, Values


class Owning(Body):
    """Tells callers of the fields in which an object that they get holds another one of its own."""

    def tell_owned(self, values: Values, state: State) -> None:
        """What is returned here; on several ways out a part must be the object's own on each of them."""
        for value in values:
            if isinstance(value, Tuple):
                for part in value.parts:
                    self.tell_owned(part, state)
            if isinstance(value, Fresh):
                owned = frozenset() if self._is_known(value, state) else self._owned_by(value, state)
                self.summary.owned[value] = self.summary.owned.get(value, owned) & owned
                parts = self._parts_of(value, state)
                self.summary.parts[value] = self.summary.parts.get(value, parts) & parts

    def _owned_by(self, made: Fresh, state: State) -> frozenset[str]:
        held = {path.name: v for path, v in state.heap.items() if isinstance(path, Field) and path.base == made}
        kept = [v for path, v in state.heap.items() if not isinstance(path, Field) or path.base != made]
        elsewhere = {value for values in kept for value in values if isinstance(value, Fresh)}
        own = [n for n, v in held.items() if self._are_made_here(v, state) and elsewhere.isdisjoint(v)]
        got = [path.name for path in self.effects.owned if path.base == made and path.name not in held]
        return frozenset((*own, *got))

    def _parts_of(self, made: Fresh, state: State) -> frozenset[str]:
        """The fields that hold something made here, be it that others know it as well."""
        held = {path.name: v for path, v in state.heap.items() if isinstance(path, Field) and path.base == made}
        new = [n for n, v in held.items() if all([isinstance(each, Fresh) for each in v if each != NONE])]
        got = [path.name for path in self.effects.parts if path.base == made and path.name not in held]
        return frozenset((*[name for name in new if set(held[name]) != {NONE}], *got))

    def _are_made_here(self, values: Values, state: State) -> bool:
        """Whether a field holds something made here, or nothing."""
        objects = [value for value in values if value != NONE]
        return bool(objects) and all([isinstance(v, Fresh) and not self._is_known(v, state) for v in objects])

    def _is_known(self, made: Fresh, state: State) -> bool:
        """Whether others may have an object that was made here."""
        others = (state.exposed, self.effects.escaped, self.published, self.shared_locals)
        return any([made in known for known in others])

    def replay_owned(self, summary: Summary, substitute: Substitute) -> None:
        """The parts of what a callee has made and returns."""
        for made, names in summary.owned.items():
            for moved in substitute(made):
                if isinstance(moved, Fresh):
                    self.effects.owned.update([Field(moved, name) for name in names])
                    self.effects.parts.update([Field(moved, name) for name in summary.parts.get(made, ())])
