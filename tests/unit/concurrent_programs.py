"""Small programs for the tests of what runs beside what: source text to contexts, places and races."""

from __future__ import annotations

import sys
import textwrap
from typing import NamedTuple

from tests.unit.programs import lower

from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.declared import Declared
from racelint.analysis.describe import Describe
from racelint.analysis.effects import Access, Act, CallSite, Effects, Start
from racelint.analysis.finder import Finder
from racelint.analysis.guards import Guards
from racelint.analysis.places import Places
from racelint.analysis.program import FRAMES
from racelint.analysis.races import Races
from racelint.analysis.spots import Pair
from racelint.analysis.state import MAYBE_HELD, Held
from racelint.analysis.summaries import Summaries
from racelint.analysis.suspension import CrossedIteration, StaleWrite, Suspensions
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Value
from racelint.knowledge import Knowledge, load
from racelint.model import Source
from racelint.span import Span


class Parallel(NamedTuple):
    """The layers of one program of a single module named `m`."""

    lines: tuple[str, ...]
    symbols: Symbols
    types: Types
    knowledge: Knowledge
    summaries: Summaries
    places: Places
    contexts: Contexts
    races: Races

    # --- effects ------------------------------------------------------------------------------------------------------

    def effects(self, name: str) -> Effects:
        """What a function does."""
        return self.summaries.effects[f"m:{name}"]

    def text(self, value: Value) -> str:
        """A value as an expression."""
        return Describe(self.symbols, self.types).text(value)

    def line(self, span: Span | None) -> str:
        """The source line of a span."""
        return self.lines[span.line - 1].strip() if span is not None else ""

    def held(self, held: tuple[Held, ...]) -> list[str]:
        """Locks as the source names them; with a question mark what is held on some ways only."""
        return [self.text(each.lock) + ("?" if each.kind == MAYBE_HELD else "") for each in held]

    def accesses(self, name: str, path: str = "") -> list[Access]:
        """The accesses of a function, of one path if it is given."""
        return [a for a in self.effects(name).all_accesses() if path in ("", self.text(a.path))]

    def kinds(self, name: str, path: str = "") -> list[str]:
        """Accesses as "kind path", or as kinds of one path, in the order in which they were met."""
        found = self.accesses(name, path)
        return [access.kind if path else f"{access.kind} {self.text(access.path)}" for access in found]

    def acts(self, name: str, kind: str = "") -> list[Act]:
        """What depends on a check in a function."""
        return [act for act in self.effects(name).all_acts() if kind in ("", act.kind)]

    def act(self, name: str, kind: str = "") -> Act:
        """The only such act."""
        (act,) = self.acts(name, kind)
        return act

    def calls(self, name: str) -> dict[str, CallSite]:
        """The calls of a function, by the name of what they call."""
        sites = self.effects(name).calls.values()
        return {s.callee.partition(":")[2] if isinstance(s.callee, str) else self.text(s.callee): s for s in sites}

    def starts(self, name: str) -> list[Start]:
        """What a function starts."""
        return list(self.effects(name).starts.values())

    # --- contexts -----------------------------------------------------------------------------------------------------

    def roots(self, name: str) -> list[Context]:
        """The contexts in which a function is entered first; callers and callbacks have one each for all functions."""
        found = [context for context in self.contexts.roots if context.function == f"m:{name}"]
        found += [self.contexts.roots[entry.context] for entry, came in self._entries(name) if came is None]
        return list(dict.fromkeys(found))

    def root_kinds(self, name: str) -> list[str]:
        """Their kinds."""
        return sorted(context.kind for context in self.roots(name))

    def entries(self, name: str) -> list[Entry]:
        """The states in which a function is entered."""
        return [entry for entry, _ in self._entries(name)]

    def entered(self, name: str) -> list[str]:
        """The kinds of the contexts that reach a function."""
        return sorted({self.contexts.roots[entry.context].kind for entry in self.entries(name)})

    def _entries(self, name: str) -> list[tuple[Entry, object]]:
        return list(self.contexts.entries.get(f"m:{name}", {}).items())

    # --- what goes wrong ----------------------------------------------------------------------------------------------

    def pairs(self) -> list[Pair]:
        """The races, also those of low confidence."""
        return list(self.races.all())

    def shapes(self) -> list[str]:
        """Races as "shape place", those of low confidence in brackets."""
        return [shown(pair) for pair in self.pairs()]

    def breaches(self) -> list[Pair]:
        """The accesses without a guard."""
        declared = Declared(self.symbols, self.types, self.knowledge, self.places)
        return list(Guards(self.symbols, self.places, self.contexts, self.races, declared).all())

    def stale(self) -> list[StaleWrite]:
        """The writes after a suspension that depend on what was read before."""
        return list(self._suspensions().stale_writes())

    def crossed(self) -> list[CrossedIteration]:
        """The iterations that go on after a suspension."""
        return list(self._suspensions().crossed_iterations())

    def _suspensions(self) -> Suspensions:
        return Suspensions(self.symbols, self.summaries.effects, self.places, self.contexts, self.races, self.knowledge)


def shown(pair: Pair) -> str:
    """A race as "shape place", in brackets if its confidence is low."""
    text = f"{pair.shape} {pair.place.name}"
    return text if pair.confidence > 1 else f"({text})"


def parallel(text: str) -> Parallel:
    """A program of one module named `m`, linked, with its contexts."""
    text = textwrap.dedent(text)
    return in_parallel([Source("/p/m.py", "m", lower(text), True)], text)


def in_parallel(sources: list[Source], text: str) -> Parallel:
    """Sources, linked, with their contexts; `text` is that of the module whose lines are asked for."""
    known = load()
    symbols = Symbols(sources, known)
    types = Types(symbols, known)
    summaries = Summaries(symbols, types, known)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        for function_id in symbols.functions:
            summaries.of(function_id)
    finally:
        sys.setrecursionlimit(limit)
    places = Places(symbols, types, known)
    contexts = Finder(symbols, types, known, summaries, places).run()
    races = Races(symbols, summaries.effects, places, contexts)
    return Parallel(tuple(text.splitlines()), symbols, types, known, summaries, places, contexts, races)
