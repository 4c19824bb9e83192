"""What an annotation confines to one context, and another context uses."""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.checks import Breach, Checks, worst
from racelint.analysis.confinement import Confinement
from racelint.analysis.effects import Effects
from racelint.analysis.objects import FRESH


class Escapes:
    """Compares the contexts that use places and functions with those that annotations name."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._contexts = checks.contexts
        self._declared = checks.declared
        self._confinement = Confinement(checks.symbols, checks.contexts, checks.declared)

    def all(self) -> list[Breach]:
        """Confined places that are accessed, and functions that are called, in another context than they belong to."""
        return worst(
            breach for function_id, effects in self._checks.reported() for breach in self._of(function_id, effects)
        )

    def _of(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        if self._declared.confined or self._declared.confined_types:
            yield from self._accesses(function_id, effects)
        if self._declared.confined_functions:
            yield from self._calls(function_id)

    def _accesses(self, function_id: str, effects: Effects) -> Iterator[Breach]:
        for access in effects.all_accesses():
            located = self._checks.places.locate(access.path)
            told = self._declared.confinement(located.place) if located is not None else None
            if told is None or located is None or self._checks.fills(function_id, access, located):
                continue
            for entry, locks, sure in self._checks.states(function_id, access, located):
                if entry is not None and self._confinement.is_outside(told.name, function_id, entry):
                    yield Breach(
                        "outside", told, function_id, access.span, access.kind, located.place, "", entry, locks, sure
                    )

    def _calls(self, function_id: str) -> Iterator[Breach]:
        """The calls of a confined function by other contexts; who is started with it is its context."""
        told = self._declared.confined_functions.get(function_id)
        if told is None:
            return
        for entry, came in self._contexts.entries.get(function_id, {}).items():
            if came is None or entry.receiver == FRESH:
                continue
            if self._confinement.is_outside(told.name, came.caller, came.entry):
                sure, locks = 3 if entry.sure else 1, entry.locks
                yield Breach(
                    "outside", told, came.caller, came.span, "call", None, function_id, came.entry, locks, sure
                )
