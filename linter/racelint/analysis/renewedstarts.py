"""Renewed starts: what a starter finds in a field of its own instance, where that has been given a new object before.

`func (c *client) reopen() { c.connect(); c.listen() }`, where `connect` stores a new link in `c.link` and `listen` does
`go c.link.read()`: each of these goroutines has a link of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from racelint.analysis.branching import loops_around
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.passing import comes_before, fails, is_heeded, passes
from racelint.analysis.places import Places
from racelint.analysis.renewing import Renewing, core
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Field, Param, Value
from racelint.model import Assign, Attr, Block, Expr, Jump, Name
from racelint.record import records
from racelint.span import Span

MOST_STEPS = 6  # calls from a starter up to what renews the field
MOST_DEEP = 3  # calls from there down to the store


class RenewedStarts:
    """Finds the starts of which each has an object of its own, as what leads there has made it."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, contexts: Contexts
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._renewing = Renewing(symbols, effects, places, contexts)
        self._found: dict[tuple[Context, Value], bool] = {}
        self._sure: dict[tuple[Field, bool], bool] = {}

    def is_new(self, path: Value, context: Context) -> bool:
        """Whether each start of a context, on whatever way it comes, finds another object in a field of its starter."""
        if (context, path) not in self._found:
            self._found[context, path] = self._is_new(path, context)
        return self._found[context, path]

    def _is_new(self, path: Value, context: Context) -> bool:
        starter, span = context.starter, context.span
        if starter is None or span is None or not isinstance(path, Field):
            return False
        around = self._contexts.entries.get(starter, ())
        return bool(around) and all([self._is_renewed_on_way(path, starter, entry, span) for entry in around])

    def _is_renewed_on_way(self, path: Field, function: str, entry: Entry, span: Span) -> bool:
        """Whether a starter, or who has called it, has renewed a field before, in the turn that leads to the start."""
        for _ in range(MOST_STEPS):
            if not isinstance(path.base, Param) or not self._symbols.is_instance_of(path.base):
                return False
            body = self._symbols.functions[function][1].body
            loops = loops_around(body, span)
            if self._is_renewed(path, function, loops[-1].body if loops else body, span):
                return True
            came = self._contexts.came(function, entry)
            given = self._contexts.given(came, function, path.base) if came is not None and not loops else None
            if came is None or given is None:
                return False
            path, function, entry, span = Field(given, path.name), came.caller, came.entry, came.span
        return False

    def _is_renewed(self, path: Field, function: str, block: Block, before: Span) -> bool:
        """Whether who comes to a spot in a block has surely put a new object into a field by then."""
        spots = self._stores(path, function)
        if any([comes_before(block, spot, before, _never) for spot in spots]):
            return True
        body = self._symbols.functions[function][1].body
        sites = [site for site in self._calls_on(path.base, function) if comes_before(block, site.span, before, _never)]
        return any([self._renews(site, path, heeds=is_heeded(body, site.span), steps=MOST_DEEP) for site in sites])

    def _calls_on(self, own: Value, function: str) -> list[CallSite]:
        """The calls that surely lead to one method of an object."""
        done = self._effects[function]
        called = [(span, site.callee) for (span, _), site in done.calls.items()]
        return [
            site for (span, _), site in done.calls.items()
            if site.receiver == own and span not in done.vague and [at for at, _ in called].count(span) == 1
        ]  # fmt: skip

    def _renews(self, site: CallSite, path: Field, *, heeds: bool, steps: int) -> bool:
        """Whether a method surely renews a field of its object before it returns; `heeds`: without an error."""
        if not isinstance(site.callee, str) or site.callee not in self._effects or steps == 0:
            return False
        own, function = Field(Param(site.callee, 0), path.name), self._symbols.functions[site.callee][1]
        if (own, heeds) not in self._sure:
            self._sure[own, heeds] = False  # what calls itself

            def may_leave(jump: Jump) -> bool:
                return heeds and fails(function, jump)

            self._sure[own, heeds] = any(
                [passes(function.body, spot, may_leave, _never) for spot in self._stores(own, site.callee)]
            ) or any(
                [
                    passes(function.body, each.span, may_leave, _never)
                    and self._renews(each, own, heeds=heeds and is_heeded(function.body, each.span), steps=steps - 1)
                    for each in self._calls_on(own.base, site.callee)
                ]
            )
        return self._sure[own, heeds]

    def _stores(self, path: Field, function_id: str) -> list[Span]:
        """Where a function puts something into a field, if that is always a new object."""
        done, function = self._effects[function_id], self._symbols.functions[function_id][1]
        spots = [a.span for a in done.all_accesses() if a.kind == "store" and a.path == path]
        stored = [s.value for s in records(function.body) if isinstance(s, Assign) and _is_to(s, spots)]
        kept = [function.bindings.get(v.name, ()) if isinstance(v, Name) else (v,) for v in stored]
        kind = self._places.class_of(path)
        new = [bool(vs) and all([self._renewing.is_new(function_id, core(v), kind) for v in vs]) for vs in kept]
        return spots if len(stored) == len(spots) and all(new) else []


def _is_to(stmt: Assign, spans: list[Span]) -> bool:
    """Whether a statement assigns to a field at one of some spots."""
    return any([target.span in spans for target in stmt.targets if isinstance(target, Attr)])


def _never(_: Expr) -> bool:
    return False
