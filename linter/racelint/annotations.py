"""Annotations that tell racelint, and people, which lock guards what. This module has no effect at run time.

Import it, or copy this file into your project: the classes are recognised by their names inside `Annotated`, wherever
they come from, the decorator by its name if it comes from a module called `annotations`.

    class Router:
        routes: Annotated[dict[str, Route], GuardedBy("_lock")]     # a field, a class variable or a module's variable
        sessions: Annotated[set[Session], Confined("event-loop")]

        @requires_lock("_lock")
        def _drop(self, host: str) -> None: ...

The same can be said in comments: `# guarded_by: self._lock`, `# confined: event-loop`, `# requires_lock: self._lock`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Confined", "GuardedBy", "requires_lock"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class GuardedBy:
    """What is annotated is read and written only while a lock is held.

    `lock` is an attribute of the same object (with or without `self.`), or a variable of the module.
    """

    lock: str


@dataclass(frozen=True)
class Confined:
    """What is annotated is used by one context only: "event-loop", "main-thread" or any other name."""

    context: str


def requires_lock(*locks: str) -> Callable[[F], F]:
    """Say that callers of a function hold these locks, which are named as in `GuardedBy`."""

    def mark(function: F) -> F:
        return function

    return mark
