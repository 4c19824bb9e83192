"""Collisions: how two accesses to one place harm each other, if they run at once."""

from __future__ import annotations

from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import IN_PLACE, RUNNING, WRITES, Access, Act, Effects, is_constant
from racelint.analysis.identity import Identity
from racelint.analysis.memory import SHAPES
from racelint.analysis.memory import shape as memory_shape
from racelint.analysis.namedentries import NamedEntries
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.span import Span

RESIZES = frozenset({"insert", "remove", "discard", "clear", "append"})
REMOVALS = frozenset({"remove", "discard", "clear"})
TAKEN = frozenset({"read", "iterate", "snapshot", "hand-out", "lookup"})  # what is in a container is used
KEYED = frozenset({"lookup", "insert", "remove", "discard"})  # acts on one entry
LIVE = frozenset({"mapping", "default mapping", "counter mapping", "set", "deque", "weak mapping"})  # raise if resized
IDENTITIES = frozenset({"opened", "holder", "object"})  # of what is stored: two are one too many
ERROR = 3  # of SEVERITY
SEVERITY = {
    "resize-iterate": 3, "update-update": 3, "update-store": 3, "replace-change": 3, "check-act": 3,
    "lost-wakeup": 3, "check-use": 2, "shift-iterate": 2, "hand-out": 2, "count-count": 2, "step-step": 1,
    "store-test": 2, "store-store": 2, "update-reset": 2, "overwritten": 2, **SHAPES,
}  # fmt: skip


class Collisions:
    """Finds the shape of a collision."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts, identity: Identity
    ) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._identity = identity
        self.entries = NamedEntries(symbols)

    def shape(self, write: Spot, other: Spot, *, guarded: bool = False) -> str | None:
        """How two accesses collide; None for what is harmless."""
        a, b = write.access, other.access
        if self._symbols.is_ordered_by_steps(write.function):
            return memory_shape(a, b)
        if b.kind == "hand-out":
            return None
        if isinstance(a, Act) and not isinstance(b, Act):
            return None if not other.is_write else self._act(write, a, other)
        if isinstance(b, Act):
            if b.kind == "wait":
                return "lost-wakeup" if self._wakes(write, b) else None
            return (
                None if isinstance(a, Act) else self._act(other, b, write)
            )  # its change alone, by the locks at hand there, counts
        if b.kind == "iterate" and a.kind in RESIZES:
            if b.detail in LIVE or a.detail in LIVE:
                return "resize-iterate"
            shifts = a.kind in REMOVALS and a.kind != "clear"  # behind what is emptied nothing is left to be skipped
            return "shift-iterate" if shifts and "list" in (a.detail, b.detail) else None
        if a.kind == "update" or b.kind == "update":
            if a.kind == b.kind:
                return "update-update"
            if b.kind == "store" or a.kind == "store":
                constant = is_constant((b if a.kind == "update" else a).detail)
                return "update-reset" if constant else "update-store"
            return None
        if a.kind == "update-item" and b.kind == "update-item":
            apart = a.detail != b.detail and a.detail.startswith("=") and b.detail.startswith("=")
            return None if apart else "update-update"
        if a.kind == b.kind == "alter":
            if a.detail == RUNNING or self._is_at_home(write, other):
                return None
            return "loop-write" if b.detail == RUNNING else "state-write"
        if {a.kind, b.kind} & IN_PLACE and "store" in (a.kind, b.kind):
            stored, changed = (write, b) if a.kind == "store" else (other, a)
            return "replace-change" if self._loses(stored, changed) else None
        if a.kind == "store" and b.kind in ("read", "test") and self.are_of_decorator(write, other):
            return None if is_constant(a.detail) else "overwritten"
        if a.kind == "store" and a.detail == "computed":
            external = self._contexts.roots[write.entry.context].is_external
            if b.kind == "test" and not external and not guarded:
                return "store-test"
            if b.kind == "store" and b.detail == "computed" and (guarded or write.entry.context != other.entry.context):
                return "store-store"
        return None

    def _act(self, acting: Spot, act: Act, changing: Spot) -> str | None:
        """An act that depends on a check, against a write that may falsify it."""
        found = _act(act, changing.access)
        keyed = found is not None and act.kind in KEYED
        return None if keyed and self.entries.are_apart(acting, act, changing, changing.access) else found

    def _is_at_home(self, spot: Spot, other: Spot) -> bool:
        """Whether a task uses something on a loop's own thread, and another thread comes in between."""
        mine, theirs = (self._contexts.roots[each.entry.context] for each in (spot, other))
        return mine.is_loop and not theirs.is_loop

    def _loses(self, stored: Spot, change: Access | Act) -> bool:
        """Whether a change is missed when its container is replaced.

        What is put into it is, unless all is to be forgotten; what is taken out of it comes back, if the new one is
        made of the old one, or is not there any more.
        """
        store = stored.access
        if store.detail not in ("fresh", "empty"):
            return False
        if (store.detail == "empty") == (change.kind == "remove"):
            return True
        return self.is_made_of_old(stored) or (store.detail == "empty" and bool(self._taken(stored)))

    def is_made_of_old(self, stored: Spot) -> bool:
        """Whether a function that replaces a container has used what was in the old one by then."""
        return any(span.line <= stored.access.span.line for span in self._taken(stored))

    def _taken(self, stored: Spot) -> list[Span]:
        """Where a function that replaces a container uses what is in it."""
        others = self._effects[stored.function].all_accesses()
        return [access.span for access in others if access.kind in TAKEN and access.path == stored.access.path]

    def _wakes(self, write: Spot, wait: Act) -> bool:
        """Whether who writes also wakes those that wait: in vain, if that comes between their test and their wait."""
        awaited = self._places.locks(wait.held) - self._places.locks(wait.check_held)
        return any(self._places.lock(condition) in awaited for condition in self._effects[write.function].notified)

    def are_of_decorator(self, first: Spot, second: Spot) -> bool:
        """Whether calls of a decorated function use the decorator object itself."""
        context = self._contexts.roots[first.entry.context]
        place = first.located.place
        if context.kind != "decorated" or first.entry.context != second.entry.context or place.kind != "field":
            return False
        source, wrapper = self._symbols.functions[context.function]
        return self._identity.is_family(self._symbols.owner_of(f"{source.name}:{wrapper.parent}"), first.located.type)


def _act(act: Act, write: Access | Act) -> str | None:
    """An act that depends on a check, against a write that may falsify it."""
    if write.kind not in WRITES:
        return None
    if act.kind in WRITES:
        if act.kind in ("store", "update") and is_constant(act.detail) and is_constant(write.detail):
            return None  # a flag
        if act.kind == "remove":
            return "check-act" if write.kind in REMOVALS else None
        if act.kind == "insert" and act.value:
            return "check-act" if write.kind == "insert" else None
        if act.kind == "store" and write.kind == "store" and act.detail in IDENTITIES:
            return "check-act"
        return None
    if act.kind == "lookup" and write.kind in REMOVALS:
        return "check-use"
    if act.kind == "read" and act.detail == "used" and write.kind in ("store", "delete") and write.detail == "none":
        return "check-use"
    return None
