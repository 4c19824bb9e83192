"""How the program uses its functions: who calls them and with what, how often they run, and when."""

from __future__ import annotations

from racelint.analysis.values import Values
from racelint.span import Span

FINALISER = ".__del__"
MOST_CALLERS = 4  # calls between a function that a timer runs and one that only it calls


class Usage:
    """Filled in while functions are evaluated; complete when all are."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[tuple[str, Span], list[Values]]] = {}
        self._named: dict[str, set[str]] = {}
        self._timed: set[str] = set()
        self._at: dict[tuple[str, Span], str] | None = None  # of each call the callee; made when it is asked for

    def call(self, caller: str, span: Span, callee: str, arguments: list[Values]) -> None:
        """A function calls another one; what it passed there before is out of date."""
        self._calls.setdefault(callee, {})[caller, span] = arguments

    def method_call(self, caller: str, name: str) -> None:
        """A function calls a method of that name, of whatever object."""
        self._named.setdefault(name, set()).add(caller)

    def timed(self, function: str) -> None:
        """A function is handed to something that runs it again and again."""
        self._timed.add(function)

    def passed(self, function: str, index: int) -> list[Values]:
        """What the calls that are known pass for a parameter."""
        return [arguments[index] for arguments in self._calls.get(function, {}).values() if index < len(arguments)]

    def given(self, function: str) -> list[tuple[str, list[Values]]]:
        """What the calls that are known pass for all parameters, each with the function that does so."""
        return [(caller, arguments) for (caller, _), arguments in self._calls.get(function, {}).items()]

    def callers(self, function: str) -> list[str]:
        """The functions that are known to call one, sorted."""
        return sorted({caller for caller, _ in self._calls.get(function, {})})

    def callers_by_name(self, name: str) -> list[str]:
        """The functions that call methods of a name, of whatever object, sorted."""
        return sorted(self._named.get(name, ()))

    def sites(self, function: str) -> list[tuple[str, Span]]:
        """Where one is known to be called, sorted: the calling functions and the spans."""
        return sorted(self._calls.get(function, {}))

    def callee(self, caller: str, span: Span) -> str:
        """The function that is known to be called at a place, "" if there is none, or several."""
        if self._at is None:
            self._at = {}
            for function, calls in self._calls.items():
                for place in calls:
                    self._at[place] = "" if place in self._at else function
        return self._at.get((caller, span), "")

    def calls_from(self, caller: str, function: str) -> list[Span]:
        """Where one function calls another, in order."""
        return sorted(span for known, span in self._calls.get(function, {}) if known == caller)

    def arguments_from(self, caller: str, function: str) -> list[tuple[Span, list[Values]]]:
        """What one function passes for the parameters of another one, by the places where it calls that, in order."""
        return [(span, self._calls[function][caller, span]) for span in self.calls_from(caller, function)]

    def is_periodic(self, function: str, steps: int = MOST_CALLERS) -> bool:
        """Whether a timer runs a function, or all the functions that call it."""
        if function in self._timed:
            return True
        callers = {caller for caller, _ in self._calls.get(function, {})}
        return bool(callers) and steps > 0 and all(self.is_periodic(caller, steps - 1) for caller in callers)

    def is_final(self, name: str) -> bool:
        """Whether only finalisers call methods of a name."""
        callers = self._named.get(name, set())
        return bool(callers) and all(caller.endswith(FINALISER) for caller in callers)
