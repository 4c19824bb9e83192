"""Doubts: when a loop and a change that may be about one container mostly are not."""

from __future__ import annotations

from racelint.analysis.body import is_within
from racelint.analysis.paths import underlying
from racelint.analysis.state import Resize, State
from racelint.analysis.summary import Frame
from racelint.analysis.values import Copy, Element, Member, Value

BY_VALUE = frozenset({".remove()", ".discard()"})


def doubts(frame: Frame, container: Value, event: Resize, state: State) -> bool:
    """Whether the change is mostly made to something else, at another time, or made good in the same turn."""
    return (
        event.rare
        or any([is_within(value, container) for value in event.particular])
        or (_is_one_of_several(frame, event, state) and not takes_out_element(event, container))
        or _gives_way(event, state)
    )


def takes_out_element(event: Resize, container: Value) -> bool:
    """Whether an element of the iterated container is removed by its value: where it is, in that very container."""
    elements = [key.base for key in event.keys if isinstance(key, Element | Member)]
    return event.operation in BY_VALUE and container in map(underlying, elements)


def _is_one_of_several(frame: Frame, event: Resize, state: State) -> bool:
    """Whether both the loop and the change may be about containers that the other is surely not about."""
    iterated = {container for container, _ in frame.iterated}
    here = (event.span, event.function, event.calls, event.operation)
    changed = {
        e.container
        for e in state.pending
        if isinstance(e, Resize) and (e.span, e.function, e.calls, e.operation) == here
    }
    if not (iterated <= changed or changed <= iterated):
        return True
    if any([isinstance(value, Copy) for value in changed - iterated]):
        return True  # what is changed is a copy, if only on some ways
    return len(changed) > 1 and _go_by_two_names(iterated, state)


def _go_by_two_names(alternatives: set[Value], state: State) -> bool:
    """Whether two variables stand for the same alternatives: they have mostly been exchanged for each other."""
    return sum([len(values) > 1 and set(values) == alternatives for values in state.variables.values()]) > 1


def _gives_way(event: Resize, state: State) -> bool:
    """Whether a turn takes an element out of a list and puts others in: they mostly stand in its place.

    A deque's iterator notices every change, however many elements there are afterwards.
    """
    if event.kind == "deque":
        return False
    here = [e for e in state.pending if isinstance(e, Resize) and e.container == event.container]
    return any([e.operation == ".insert()" for e in here]) and any([e.change == "remove" for e in here])
