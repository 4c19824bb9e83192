"""Touches: what a helper does to the containers that it is given, as accesses of its callers.

`put(self.routes, key)` inserts into a field that only the caller can name. The access stands at the call, as it would
if the helper's body stood there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from racelint.analysis.body import Body, visible
from racelint.analysis.effects import CONTENT, UNKNOWN_KIND
from racelint.analysis.paths import Substitute
from racelint.analysis.state import Call, Held, State, held_in_both, surely_held
from racelint.analysis.summary import Touch
from racelint.analysis.values import UNKNOWN, Copy, Element, Field, Fresh, Literal, Param, Value
from racelint.model import Function
from racelint.span import Span

if TYPE_CHECKING:
    from racelint.analysis.summary import Summary

MOST_TOUCHES = 12  # kept per summary, of what is given, and as many of its fields
MOST_HELPERS = 3  # that hand a container on to each other


class Touching(Body):
    """Tells callers what becomes of the containers that they give."""

    def note_touch(self, path: Value, kind: str, span: Span, state: State, detail: str) -> None:
        """A container is read or changed: for callers it counts if they gave it, or what has it."""
        container = _whole(path)
        given = container.base if isinstance(container, Field) else container
        if kind not in CONTENT or kind == "hand-out" or not isinstance(given, Param) or given.function != self.id:
            return
        if given is container and self._is_one_of_several_values(given, state):
            return
        touch = Touch(path, kind, detail, surely_held(state.held), self.effects.within or (Call(self.id, span, ""),))
        known = next((t for t in self.summary.touches if t[:3] == touch[:3]), None)
        if known is not None:
            needs = self.summary.touches.pop(known) & state.conditions()
            touch = known._replace(held=surely_held(held_in_both(known.held, touch.held)))
            self.summary.touches[touch] = needs
        elif len([t for t in self.summary.touches if _is_of_field(t) is (given is not container)]) < MOST_TOUCHES:
            self.summary.touches[touch] = state.conditions()

    def _is_one_of_several_values(self, given: Param, state: State) -> bool:
        """Whether a variable may hold what was given or something else: `result = table if in_place else copy(table)`.

        What takes the place of a parameter that was not given does no harm: `table = table or {}`.
        """
        own = self.function.parameters[given.index].name
        return any([len(v) > 1 and given in v and name != own for name, v in state.variables.items()])

    def replay_touches(
        self, summary: Summary, function: Function, substitute: Substitute, call: Call, state: State
    ) -> None:
        """A callee's touches as accesses of this function, if it is certain what is called and with what."""
        if not self.certain or function.is_generator or function.is_async:
            return
        outer, reads = state.held, state.reads
        state.reads = None  # what a callee makes of what it reads is something else
        for touch, conditions in list(summary.touches.items()):
            if len(touch.calls) > MOST_HELPERS or self.feasible(conditions, substitute, state) is None:
                continue
            found = [v for v in substitute(touch.path) if v != UNKNOWN and not isinstance(v, Literal)]
            if len(found) != 1 or self._is_found_there(touch, substitute, found[0]):
                continue
            kind = touch.detail
            if kind == UNKNOWN_KIND:
                kind = self.container_kind(found[0]) or UNKNOWN_KIND
            state.held = (*outer, *[Held(v, h.taken, h.kind) for h in touch.held for v in substitute(h.lock)])
            self.effects.within = (call, *touch.calls)
            self.note(found[0], touch.kind, call.span, state, kind)
            self.effects.within = ()
        state.held, state.reads = outer, reads

    def _is_found_there(self, touch: Touch, substitute: Substitute, found: Value) -> bool:
        """Whether the callee itself says of whose field a container is: unless it works on an object made here, into
        which it was put: `Saver(self.rows).save()`.
        """
        container = _whole(touch.path)
        if not isinstance(container, Field):
            return False
        owners = substitute(container.base)
        return not (len(owners) == 1 and isinstance(owners[0], Fresh | Copy) and visible(found))


def _whole(path: Value) -> Value:
    """The container in which an element lies, however deep."""
    while isinstance(path, Element):
        path = path.base
    return path


def _is_of_field(touch: Touch) -> bool:
    return isinstance(_whole(touch.path), Field)
