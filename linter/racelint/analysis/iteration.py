"""What rules are told of containers that are resized while they are iterated."""

from __future__ import annotations

from dataclasses import dataclass

from racelint.analysis.body import Conflict
from racelint.analysis.describe import Describe
from racelint.finding import Step
from racelint.span import Location


@dataclass(frozen=True, slots=True)
class IterationConflict:
    """A container is resized in a loop over it, and the loop goes on.

    `symbol` names the container (`Type.field`, `module:name` or an expression) and `text` is how the loop's function
    writes it. `kind` is the container's behaviour ("mapping", "set", "list", "deque", ..., "unknown" for an unknown
    type, "other" for a known one that is no container), `live` what a resize does to an iteration ("raises", "skips",
    "snapshot"), `growth` "allowed" if adding at the end is a defined idiom. `style` is how it is iterated: "direct",
    "keys", "values", "items", "reversed", "generator" or "call". `change` is "insert", "append", "remove", "clear" or
    "reorder", `operation` what the source says. `location` is where the finding stands: the change in the loop's own
    function, else the call that leads to it; `steps` lead from there to the change. `certain` says that the callee and
    the container were found by their types, not by their names.
    """

    function: str
    symbol: str
    text: str
    kind: str
    live: str
    growth: str
    style: str
    change: str
    operation: str
    loop: Location
    location: Location
    steps: tuple[Step, ...]
    certain: bool


def told(conflict: Conflict, describe: Describe, live: str, growth: str) -> IterationConflict:
    """A conflict in the terms of a rule."""
    event, stands = conflict.resize, conflict.stands
    source, function = describe.symbols.functions[stands.function]
    loop_source, _ = describe.symbols.functions[conflict.loop.function]
    return IterationConflict(
        function=function.qualname,
        symbol=describe.symbol(conflict.container),
        text=describe.text(conflict.container),
        kind=conflict.kind,
        live=live,
        growth=growth,
        style=conflict.style,
        change=event.change,
        operation=event.operation,
        loop=Location(loop_source.path, conflict.loop.span),
        location=Location(source.path, stands.span),
        steps=describe.steps(event),
        certain=event.certain,
    )
