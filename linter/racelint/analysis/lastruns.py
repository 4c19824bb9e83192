"""Last runs: what goroutines run until they are told to stop, and whose failure ends the process, share one variable.

`go func() { if err = pods.Run(stop); err != nil { klog.Fatal(err) } }()`, and the same for nodes: each stores its
result when the program ends, and nobody else asks for it. So may their function itself, if it does nothing with the
variable behind that but give a failure back: `if err = server.ListenAndServe(); err != nil { return err }`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

from racelint.analysis.branching import blocks, ends_with, is_looped
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Access
from racelint.analysis.ending import ends_program
from racelint.analysis.places import Place
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Branch, Call, Const, Expr, Logic, Make, Name, Op, Stmt
from racelint.span import Span

RUNNING = ("run", "serve", "start", "listenandserve")  # how the names of calls begin that go on until they are told
SERVING = frozenset({"Serve", "ServeTLS", "ListenAndServe", "ListenAndServeTLS"})  # ... of servers, told by other calls
TOLD_BY = re.compile(r"stop|quit|done|exit|term|ctx|context", re.IGNORECASE)  # the names of what tells them


class LastRuns:
    """Finds variables that only take what such calls return, where it is asked for at once."""

    def __init__(self, symbols: Symbols, contexts: Contexts, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._knowledge = knowledge
        self._found: dict[tuple[str, str], list[Span]] = {}
        self._known: dict[Place, bool] = {}

    def share(self, first: Spot, second: Spot, spots: Mapping[Place, Sequence[Spot]]) -> bool:
        """Whether two contexts, each of them one, have only such results in the variable of a function that is left."""
        place, contexts = first.located.place, (first.entry.context, second.entry.context)
        if place.kind != "captured" or place.depth or not self._symbols.is_ordered_by_steps(first.function):
            return False
        if contexts[0] == contexts[1] or any(self._contexts.roots[each].many for each in contexts):
            return False
        if place not in self._known:
            all_spots = spots.get(place, ())
            beside = [self._contexts.roots[s.entry.context] for s in all_spots if s.function != place.owner]
            seen_by = {context.span for context in beside}
            self._known[place] = all(context.starter == place.owner for context in beside) and all(
                self._is_last(spot, place, seen_by) for spot in all_spots
            )
        return self._known[place]

    def _is_last(self, spot: Spot, place: Place, seen_by: Set[Span | None]) -> bool:
        """Whether an access is a part of what ends the process on a failure, or comes before what sees the variable.

        That is started at the spots `seen_by`.
        """
        if not isinstance(spot.access, Access):
            return True  # the access that an act is has been recorded as well
        if spot.function == place.owner and seen_by.isdisjoint(spot.access.running):
            return True
        return any(span.holds(spot.access.span) for span in self._runs(spot.function, place))

    def _runs(self, function_id: str, place: Place) -> list[Span]:
        """The statements of a function that call what runs to the end, and end the process where that has failed.

        The function of the variable may also return then.
        """
        variable = place.name
        if (function_id, variable) not in self._found:
            source, function = self._symbols.functions[function_id]
            ends = ends_program(self._symbols, self._knowledge, source.name)
            returns = function_id == place.owner
            self._found[function_id, variable] = [
                span
                for block in blocks(function.body)
                for run, asked in pairwise(block)
                if _is_run(run, variable) and _asks(asked, variable) and not is_looped(function.body, run.span)
                if isinstance(asked, Branch) and asked.then
                if ends(asked.then[-1]) or (returns and ends_with(asked.then, "return"))
                for span in (run.span, asked.span)
            ]
        return self._found[function_id, variable]


def _is_run(stmt: Stmt, variable: str) -> bool:
    """Whether a statement gives a variable what a call returns that goes on until it is told to stop."""
    match stmt:
        case Assign(targets=(Name(name=name),), value=Call(func=Attr(name=called), args=args)) if name == variable:
            return called in SERVING or (called.lower().startswith(RUNNING) and any(map(_tells, args)))
        case _:
            return False


def _tells(arg: Expr) -> bool:
    """Whether an argument is by its name what tells a call to stop, or is made with such a field."""
    match arg:
        case Name(name=name) | Attr(name=name):
            return TOLD_BY.search(name) is not None
        case Op(operator="address", operands=(Make(fields=fields),)) | Make(fields=fields):
            return any(TOLD_BY.search(name) for name, _ in fields)
        case _:
            return False


def _asks(test: Expr | Stmt, variable: str) -> bool:
    """Whether a statement or a test asks whether a variable holds something, whatever else it asks."""
    match test:
        case Branch(test=inner) | Logic(operator="and", operands=(inner, *_)):
            return _asks(inner, variable)
        case Op(operator="is not" | "!=", operands=(Name(name=name), Const(value=None))):
            return name == variable
        case _:
            return False
