"""Hearing: a goroutine whose last word has been received on each way from the call that starts it to an access.

`for { f.add(name); f.finish(); if send(f) == nil { break }; f.reset() }`, where `finish` starts a goroutine that says
on a channel of the object that it is done, and `reset` waits for that: none is left when the loop comes to `add` again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from racelint.analysis import lastwords
from racelint.analysis.between import Between
from racelint.analysis.branching import is_looped
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import Effects
from racelint.analysis.state import GIVES, TAKE
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Field, Param, TypeValue, Value
from racelint.model import Block
from racelint.span import Span

Step = tuple[str, Span]  # a function, and a call, a start or an access there
MOST_CALLS = 8  # from a start out to the function that has received the word


class Hearing:
    """Finds what a function has received between the start of a goroutine and what follows."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._words: dict[str, Field | None] = {}
        self._ended: dict[object, bool] = {}
        self._leading: dict[str, set[str]] = {}

    def has_ended(
        self, steps: Sequence[Step], leading: Sequence[Step], context: Context, starting: Entry
    ) -> bool:  # fmt: skip
        """Whether a context has ended whenever the function in which two ways part comes to the first one.

        `steps` are the calls that lead from a root to an access, and that, `leading` those that lead from the same root
        to the context's starter, which is entered in the state `starting`, and the start.
        """
        parting = next((i for i, (one, two) in enumerate(zip(steps, leading, strict=False)) if one != two), None)
        if parting is None or parting + 1 == len(leading) or steps[parting][0] != leading[parting][0]:
            return False
        key = (leading[parting], steps[parting][1], steps[-1][0], context)
        if key not in self._ended:
            function, start = leading[parting]
            once = not any([is_looped(self._body(each), at) for each, at in leading[parting + 1 :]])
            heard = self._heard(function, start, context, starting) if once else set()
            after = {start, steps[parting][1], *self._leading_to(steps[-1][0], function)} if heard else set()
            ways = Between({start}, heard, after)
            self._ended[key] = bool(heard) and not ways.leads_directly(self._body(function))
        return self._ended[key]

    def _body(self, function: str) -> Block:
        return self._symbols.functions[function][1].body

    def _leading_to(self, called: str, function: str) -> set[Span]:
        """The calls of a function that lead to another one."""
        if called not in self._leading:
            found, todo = {called}, [called]
            for each in todo:  # grows
                new = self._callers[each] - found
                found |= new
                todo += new
            self._leading[called] = found
        calls = self._effects[function].calls
        return {span for span, callee in calls if callee in self._leading[called]}

    @cached_property
    def _callers(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for caller, _, callee in self._contexts.sites:
            found[callee].add(caller)
        return found

    def _heard(self, function: str, start: Span, context: Context, starting: Entry) -> set[Span]:
        """Where a function surely receives what a context says last, which one of its calls starts."""
        word = self._last_word(context.function)
        if word is None or not self._is_only_start(function, start, context):
            return set()
        holder = self._holder(function, start, context, starting)
        return set(self._received(function, word, holder)) if holder is not None else set()

    def _received(self, function: str, word: Field, holder: Value) -> Iterator[Span]:
        """Where a function surely receives from a channel of an object that it knows by a path, or has it do so."""
        effects = self._effects[function]
        named = [access.span for access in effects.all_accesses() if access.path == Field(holder, word.name)]
        own = {span for done, path, span in effects.told if done == TAKE and path == word}
        yield from [span for span in own if any(map(span.holds, named))]
        calls = {span for done, path, span in effects.passed_on if done == TAKE and path == word}
        for span, callee in effects.calls if calls else ():
            site = self._contexts.sites.get((function, span, callee)) if isinstance(callee, str) else None
            if span in calls and site is not None and site.receiver == holder:
                yield span

    def _is_only_start(self, function: str, start: Span, context: Context) -> bool:
        """Whether one call alone of a function starts a context, and by it one goroutine alone of its kind."""
        under, roots = self._contexts.started_under, self._contexts.roots
        found: set[Span] = set()
        for span, callee in self._effects[function].calls:
            started = under.get(callee, ()) if isinstance(callee, str) else ()
            alike = [index for index in started if roots[index].function == context.function]
            if len(alike) > 1:
                return False
            found.update([span] if alike else [])
        return found == {start}

    def _last_word(self, function: str) -> Field | None:
        """The channel of an object to which a function surely gives one thing, as its last act, and no other does."""
        if function not in self._words:
            effects = self._effects[function]
            said = lastwords.of(effects, {}) & {path for done, path in effects.told_at_end if done in GIVES}
            mine = [path for path in said if isinstance(path, Field) and self._givers(path, function) == {function}]
            self._words[function] = mine[0] if len(mine) == 1 else None
        return self._words[function]

    def _givers(self, channel: Field, function: str) -> set[str]:
        """The functions that may give something to a channel which one of them has in a field."""
        owner = self._owner(channel, function)
        given = [(each, path) for each, done in self._effects.items() for op, path, _ in done.told if op in GIVES]
        named = [(each, path) for each, path in given if isinstance(path, Field) and path.name == channel.name]
        return {each for each, path in named if self._owner(path, each) in (owner, "")} if owner else set()

    def _owner(self, channel: Field, function: str) -> str:
        """The type whose own instance has a channel, by all that is known, "" if it may be any."""
        match channel.base:
            case TypeValue(type=owner):
                return owner
            case Param() | Captured() as start if self._symbols.is_instance_of(start):
                return self._symbols.owner_of(self._symbols.outermost(function))
            case _:
                return ""

    def _holder(self, function: str, call: Span, context: Context, starting: Entry) -> Value | None:
        """The object of which a function calls a method that starts a context on the same object, as it knows that."""
        inner, entry = context.starter or "", starting
        if not (context.own or context.function.startswith(f"{inner}.")):
            return None
        for _ in range(MOST_CALLS):
            came = self._contexts.came(inner, entry)
            if came is None:
                return None
            if (came.caller, came.span) == (function, call):
                return self._contexts.sites[function, call, inner].receiver
            if not came.own:
                return None
            inner, entry = came.caller, came.entry
        return None
