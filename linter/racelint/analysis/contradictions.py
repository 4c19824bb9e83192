"""Contradictions: ways to an access on which a test would have to come out both ways, of what nobody changes.

`if up.streamed { up.send() } else { go up.send() }`, and in `send` `if up.streamed { parse() }`: no goroutine parses.
Nor does one behind `if tracing { go parse() }`, with a flag of the package that is false for good.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from racelint.analysis.branching import arms
from racelint.analysis.contexts import Context, Contexts
from racelint.analysis.effects import CallSite, Effects
from racelint.analysis.places import Places
from racelint.analysis.settled_tests import Answer, SettledTests
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.unset import FixedFlags
from racelint.analysis.values import Captured, Field, FunctionValue, Param, Value, Values
from racelint.model import Function, Scalar
from racelint.span import Span

Asked: TypeAlias = tuple[str, tuple[str, ...]]  # a function, and its parameter with the fields that lead from it
Found: TypeAlias = frozenset[tuple[Asked, bool, Scalar]]

NEVER: Found = frozenset([(("", ()), False, True), (("", ()), False, False)])
MOST_WAYS = 24  # calls that are looked at on all ways to an access


class Contradictions:
    """Finds accesses to which no way leads."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects], places: Places, contexts: Contexts) -> None:
        self._symbols = symbols
        self._places = places
        self._effects = effects
        self._contexts = contexts
        self._tests = SettledTests(effects, late=True)
        self._flags = FixedFlags(symbols)
        self._callers: dict[str, list[tuple[str, CallSite]]] | None = None
        self._asked: dict[tuple[str, Span], Found] = {}
        self._known: dict[tuple[int, str, Span], bool] = {}
        self._left = 0  # calls that may still be looked at

    def never_leads(self, spot: Spot) -> bool:
        """Whether nothing that a context does leads to an access, from the tests before its start on."""
        index = spot.entry.context
        context, key = self._contexts.roots[index], (index, spot.function, spot.access.span)
        found = self._asks(spot.function, spot.access.span)
        if context.starter is None or context.span is None:
            return _contradicts(found)
        if key not in self._known:
            self._left = MOST_WAYS
            self._known[key] = self._is_excluded(context, index, spot.function, found, ())
        return self._known[key]

    def _is_excluded(self, context: Context, index: int, function: str, found: Found, on_way: tuple[str, ...]) -> bool:
        """Whether each way that leads a context to a function contradicts itself, by what is found behind it, too."""
        if _contradicts(found):
            return True
        self._left -= 1
        if function in on_way or self._left < 0:
            return False
        starts = function == context.function
        if starts and not all(_contradicts(each) for each in self._at_start(context, found)):
            return False
        ways = [
            (caller, site)
            for caller, site in self._calls_of(function)
            if any(entry.context == index for entry in self._contexts.entries.get(caller, ()))
        ]
        if not ways and not starts:
            return False
        return all(
            self._is_excluded(
                context, index, caller,
                self._from_call(found, function, caller, site) | self._asks(caller, site.span), (*on_way, function),
            )
            for caller, site in ways
        )  # fmt: skip

    def _at_start(self, context: Context, found: Found) -> Iterator[Found]:
        """What is known where a context is started, for each of the starts that are meant."""
        starter, span = context.starter, context.span
        if starter is None or span is None or starter not in self._effects:
            yield frozenset()
            return
        asked = self._asks(starter, span)
        starts = [each for each in self._effects[starter].starts.values() if each.span == span]
        owned = bool(self._symbols.functions[context.function][1].owner)
        for start in starts:
            receiver: Values = ()
            if owned and isinstance(start.callee, FunctionValue) and start.callee.receiver is not None:
                receiver = (start.callee.receiver,)
            given = [*([receiver] if owned else []), *start.args]
            values = {index: each[0] for index, each in enumerate(given) if len(each) == 1}
            yield self._renamed(found, context.function, starter, values) | asked
        if not starts:
            yield frozenset()

    def _calls_of(self, function: str) -> list[tuple[str, CallSite]]:
        if self._callers is None:
            self._callers = defaultdict(list)
            for (caller, _, callee), site in self._contexts.sites.items():
                self._callers[callee].append((caller, site))
        return self._callers.get(function, [])

    def _from_call(self, found: Found, function: str, caller: str, site: CallSite) -> Found:
        values = dict(site.given)
        if site.receiver is not None and self._symbols.functions[function][1].owner:
            values[0] = site.receiver
        return self._renamed(found, function, caller, values)

    def _renamed(self, found: Found, function: str, caller: str, values: Mapping[int, Value]) -> Found:
        """What holds of parameters, said of what the caller gives for them; of variables around it as it is."""
        kept = [each for each in found if each[0][0] != function and each[0][0] != caller]
        names = [parameter.name for parameter in self._symbols.functions[function][1].parameters]
        for (owner, path), equal, value in found:
            given = self._path(values[names.index(path[0])]) if self._is_given(owner, function, path, values) else None
            if given is not None:
                kept.append(((given[0], (*given[1], *path[1:])), equal, value))
            elif owner == caller and function.startswith(f"{caller}."):
                kept.append(((owner, path), equal, value))
        return frozenset(kept)

    def _is_given(self, owner: str, function: str, path: tuple[str, ...], values: Mapping[int, Value]) -> bool:
        names = [parameter.name for parameter in self._symbols.functions[function][1].parameters]
        return owner == function and path[0] in names and names.index(path[0]) in values

    def _path(self, value: Value) -> Asked | None:
        """The parameter that a value is, or is reached from by fields."""
        match value:
            case Field(base=base, name=name):
                inner = self._path(base)
                return (inner[0], (*inner[1], name)) if inner is not None else None
            case Param(function=function, index=index):
                names = [parameter.name for parameter in self._symbols.functions[function][1].parameters]
                return (function, (names[index],)) if index < len(names) else None
            case Captured(function=function, name=name):
                return (function, (name,))
            case _:
                return None

    def _asks(self, function_id: str, span: Span) -> Found:
        """What the tests on the way to a spot have found of parameters' fields that nobody changes."""
        key = (function_id, span)
        if key not in self._asked:
            function = self._symbols.functions[function_id][1]
            answers = self._tests.for_good(function_id, function, span)
            named = [(self._asked_of(function_id, answer), answer) for answer in answers]
            found = [(asked, a.equal, a.value) for asked, a in named if asked is not None]
            self._asked[key] = NEVER if self._is_ruled_out(function_id, function, span) else frozenset(found)
        return self._asked[key]

    def _is_ruled_out(self, function_id: str, function: Function, span: Span) -> bool:
        """Whether a test on the way to a spot, of flags that never change, always comes out the other way."""
        module = self._symbols.functions[function_id][0].name
        ways = arms(function.body, span, turns=True)
        return any(self._flags.outcome(branch.test, module) is (arm != 0) for branch, arm in ways)

    def _asked_of(self, function_id: str, answer: Answer) -> Asked | None:
        """The parameter that a test's path leads from, of the function or of one around it."""
        scope, name = answer.path[:2]
        owner = self._places.binder(function_id, name) if scope == "captured" else function_id
        if owner is None or scope not in ("local", "captured") or len(answer.path) == 2:
            return None
        function = self._symbols.functions[owner][1]
        is_parameter = any(parameter.name == name for parameter in function.parameters)
        return (owner, answer.path[1:]) if is_parameter and name not in function.bindings else None


def _contradicts(found: Found) -> bool:
    """Whether something has been found to be two things."""
    equal: dict[Asked, Scalar] = {asked: value for asked, is_equal, value in found if is_equal}
    return any(
        (value != equal[asked] if is_equal else bool(value) != bool(equal[asked]))
        for asked, is_equal, value in found
        if asked in equal
    ) or any((asked, False, not value) in found for asked, is_equal, value in found if not is_equal)
