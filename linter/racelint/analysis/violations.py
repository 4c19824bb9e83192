"""What breaks annotations, in the terms of rules and reports."""

from __future__ import annotations

from dataclasses import dataclass

from racelint.analysis.checks import Breach
from racelint.analysis.effects import WRITES
from racelint.analysis.symbols import Symbols
from racelint.analysis.takeable import Takeable, TakeableLocks
from racelint.analysis.told import KINDS, Teller
from racelint.finding import Access, Context
from racelint.span import Location


@dataclass(frozen=True, slots=True)
class Violation:
    """One line that breaks an annotation.

    `kind` is "access" (of a guarded place), "hand-out" (of its live content from under the lock), "call" or "start" (of
    a function, `symbol`, whose callers hold a lock) or "outside" (of the context that something is confined to). `name`
    is the lock or the context as the annotation at `declared` has it. `writes` and `iterates` say what an access does;
    `read_side` that the lock is held, but on the side that others may hold, too; `takeable` is the lock as it could
    be taken. `confidence` is 1 (low) to 3 (high).
    """

    kind: str
    symbol: str
    name: str
    declared: Location
    function: str
    access: Access
    writes: bool
    iterates: bool
    read_side: bool
    confidence: int
    language: str
    takeable: Takeable | None = None


class ViolationTeller:
    """Turns breaches into `Violation`s."""

    def __init__(self, symbols: Symbols, teller: Teller, locks: TakeableLocks) -> None:
        self._symbols = symbols
        self._locks = locks
        self._teller = teller

    def told(self, breach: Breach) -> Violation:
        """A breach as rules see it."""
        source, function = self._symbols.functions[breach.function]
        return Violation(
            breach.kind,
            self._teller.symbol(breach.place) if breach.place is not None else self._qualname(breach.callee),
            breach.told.text,
            breach.told.location,
            function.qualname,
            self._access(breach),
            breach.does in WRITES,
            breach.does == "iterate",
            breach.read_side,
            breach.confidence,
            source.module.language,
            self._takeable(breach),
        )

    def _takeable(self, breach: Breach) -> Takeable | None:
        if breach.kind != "access" or breach.place is None or breach.read_side or breach.locks:
            return None
        writes = breach.does in WRITES
        return self._locks.over(breach.function, breach.place, breach.told.name, [breach.span], is_write=writes)

    def _access(self, breach: Breach) -> Access:
        location = self._teller.location(breach.function, breach.span)
        kind = "calls" if breach.does == "call" else KINDS.get(breach.does, breach.does)
        locks = tuple(sorted(self._teller.lock(lock) for lock in breach.locks))
        if breach.entry is None:
            return Access("only", kind, location, self._qualname(breach.function), Context("same"), locks)
        context = self._teller.context_of(breach.entry)
        trace = self._teller.trace(breach.function, breach.entry, breach.span, kind, breach.locks)
        return Access("only", kind, location, self._qualname(breach.function), context, locks, trace)

    def _qualname(self, function_id: str) -> str:
        return self._symbols.functions[function_id][1].qualname
