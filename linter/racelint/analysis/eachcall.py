"""Each call: what a public method starts for what its callers give it; they call again and do not wait for that.

`func (x *Index) Add(name string) { go func() { x.sizes[name] = size(name) }() }`
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import counts
from racelint.analysis.contexts import Contexts, Entry, targets
from racelint.analysis.effects import Effects, Start
from racelint.analysis.lifecycle import in_lower_case, is_lifecycle, prepares, serves
from racelint.analysis.paths import root
from racelint.analysis.starting import GOROUTINE
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Captured, Param
from racelint.model import Loop, TypeRef
from racelint.record import records

MOST_STEPS = 20  # calls from a starter up to a public function
SERVICE = frozenset(
    {"Context", "CancelFunc", "WaitGroup", "chan", "func", "bool", "Duration"}
)  # types for what runs on


class EachCall:
    """Tells services, which are started once, from what is started for each call."""

    def __init__(self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts) -> None:
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts

    def starts(self, starter: str, start: Start, entry: Entry) -> bool:
        """Whether something is started for what a caller from outside gives with his call, and comes to an end."""
        if start.kind != GOROUTINE or not self._contexts.roots[entry.context].is_external:
            return False
        run = [target.function for target in targets(start.callee)]
        if any(self._runs_on(function) for function in run):
            return False
        handed = {root(value) for value in start.knows()}
        handed.update(*[self._used(function, starter) for function in run])
        return any(isinstance(each, Param) and self._is_callers(each, entry) for each in handed)

    def _runs_on(self, function: str) -> bool:
        """Whether a function has a loop without an end."""
        body = self._symbols.functions[function][1].body
        return any(isinstance(part, Loop) and part.iterable is None and not counts(part) for part in records(body))

    def _used(self, closure: str, starter: str) -> Iterator[Param]:
        """The parameters of a starter that a closure there uses."""
        names = [parameter.name for parameter in self._symbols.functions[starter][1].parameters]
        for access in self._effects[closure].all_accesses():
            start = root(access.path)
            if isinstance(start, Captured) and start.function == starter and start.name in names:
                yield Param(starter, names.index(start.name))

    def _is_callers(self, parameter: Param, entry: Entry) -> bool:
        """Whether a parameter is data that a caller from outside gives to a function which he calls again and again."""
        for _ in range(MOST_STEPS):
            function = self._symbols.functions[parameter.function][1]
            if self._symbols.is_instance(parameter) or _happens_once(function.name):
                return False
            came = self._contexts.came(parameter.function, entry)
            if came is None:
                return _is_data(function.parameters[parameter.index].annotation)
            given = self._contexts.given(came, parameter.function, parameter)
            start = root(given) if given is not None else None
            if not isinstance(start, Param):
                return False
            parameter, entry = start, came.entry
        return False


def _happens_once(name: str) -> bool:
    return is_lifecycle(in_lower_case(name)) or prepares(name) or serves(name)


def _is_data(annotation: TypeRef | None) -> bool:
    """Whether a parameter says what one call is about, not with what something runs."""
    return annotation is not None and annotation.name.rpartition(".")[2] not in SERVICE
