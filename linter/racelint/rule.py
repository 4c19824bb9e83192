"""Rule, and the decorator that makes one out of a documented function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from racelint.finding import Finding

if TYPE_CHECKING:
    from racelint.analysis.program import Program

Check = Callable[["Program"], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule is a value: its name, the languages it serves, its manual page, and the function that asks the program."""

    name: str
    languages: tuple[str, ...]
    since: str
    page: str
    check: Check

    @property
    def summary(self) -> str:
        """The first sentence of the manual page."""
        return self.page.partition("\n")[0]


def rule(*, languages: tuple[str, ...] = ("python", "go"), since: str = "") -> Callable[[Check], Rule]:
    """Make a `Rule` of a function; its name in kebab-case is the rule's name, its docstring the manual page.

    Raises ValueError for a function without a docstring: a rule nobody can look up is not shipped.
    """

    def decorate(check: Check) -> Rule:
        page = inspect.getdoc(check)
        if not page:
            raise ValueError(f"rule {check.__name__} has no docstring; it is the rule's manual page")
        return Rule(check.__name__.replace("_", "-"), languages, since, page, check)

    return decorate
