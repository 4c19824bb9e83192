"""Linking: which calls a context can follow, since all that leads to one must be in one program.

What a library calls by a field or an interface is mostly another function in each program. Whose callers are not told
apart has roots in several programs: where a call is left out for one of them, the states in which the functions are
entered that lead there are told apart by the programs of the root.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from racelint.analysis.edges import Edges
from racelint.analysis.programs import Programs


class Linking:
    """Tells for each context which calls are left out, and for whom what leads there is a state of its own."""

    def __init__(self, programs: Programs, edges: Edges) -> None:
        self._programs = programs
        self._edges = edges
        self._callers: dict[str, set[str]] = {}
        self._leading: dict[int, set[str]] = defaultdict(set)  # by contexts with many roots: to a call that is left out

    def can_follow(self, above: Set[str], caller: str, callee: str) -> bool:
        """Whether one program can have a call in it and what is known to lead there.

        Else it is an interface's method, of a type that another program has, or a callable that another one has kept.
        """
        chain = {*above, caller, callee}
        return self._programs.importing.are_linked(chain) and self._programs.hold(chain)

    def leave_out(self, context: int, caller: str) -> None:
        """Note that a call is not followed for one root of a context that has several."""
        leading, todo = self._leading[context], [caller]
        while todo:
            function_id = todo.pop()
            if function_id not in leading:
                leading.add(function_id)
                todo += self._calling().get(function_id, ())

    def program(self, context: int, root_id: str, function_id: str) -> tuple[str, ...]:
        """By which programs of the root a state is told apart from those that other roots lead to; mostly by none."""
        return self._programs.importing.stand(root_id) if function_id in self._leading[context] else ()

    def _calling(self) -> dict[str, set[str]]:
        if not self._callers:
            for caller, calls in self._edges.calls.items():
                for callee, _ in calls:
                    self._callers.setdefault(callee, set()).add(caller)
        return self._callers
