"""Which findings a change concerns: a race has two ends, and the change may have been at neither of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from racelint.changes import Changes
from racelint.finding import Access, Finding, Location
from racelint.model import Field, Source
from racelint.span import Span

_SIDE = " (read side)"
# What keeps accesses apart, or objects: where such a line comes, changes or goes, a race may have come with it.
_ORDER = (
    r"(?:\w*_)?(?:un|r|rw)?lock\w*",  # no clock, no block
    r"\w*(?:Lock|LOCK|[Mm]utex|MUTEX|[Ss]emaphore|[Cc]ondition|[Bb]arrier)\w*",
    r"mu", r"acquire\w*", r"release\w*", r"join", r"[Ww]ait(?:_\w+)?", r"Done", r"Once",
    r"deepcopy", r"copy", r"DeepCopy\w*", r"Clone",
)  # fmt: skip


class Concerned:
    """Tells which findings are to be reported for a change.

    Those with a changed line at either access, at what their contexts start with, at a call on the way, or where a lock
    that one side holds is declared; and those where a line that speaks of a lock, of waiting or of copying came,
    changed or went in a function on the way: an access may stand where it always did and have lost its lock.
    """

    def __init__(self, changes: Changes, sources: Iterable[Source]) -> None:
        self._changes = changes
        self._sources = {source.path: source for source in sources}
        self._declared: dict[str, list[Location]] = {}
        for location, name in self._fields():
            self._declared.setdefault(name, []).append(location)

    def __call__(self, finding: Finding) -> bool:
        """Whether the change concerns a finding."""
        spots = [finding.location, *(spot for access in finding.accesses for spot in _spots(access))]
        locks = {lock.removesuffix(_SIDE) for access in finding.accesses for lock in access.locks}
        spots += [location for lock in locks for location in self._declared.get(lock, ())]
        return any(map(self._changed, spots)) or self._order_changed(finding, locks)

    def _changed(self, location: Location) -> bool:
        path, span = location
        last = span.line if self._has_functions(path, span) else span.end_line
        return self._changes.in_lines(path, span.line, last)

    def _has_functions(self, path: str, span: Span) -> bool:
        """Whether a stretch holds functions: a started closure is as long as what it does."""
        source = self._sources.get(path)
        functions = source.module.functions.values() if source else ()
        return any(span.line <= f.span.line and span.holds(f.span) and f.name != "<module>" for f in functions)

    def _order_changed(self, finding: Finding, locks: Iterable[str]) -> bool:
        names = [re.escape(lock.rpartition(".")[2]) for lock in locks]
        words = re.compile(rf"\b(?:{'|'.join((*_ORDER, *names))})\b")
        return any(
            self._changes.say(path, span.line, span.end_line, words)
            for path, span in dict.fromkeys(self._functions(finding))
        )

    def _functions(self, finding: Finding) -> Iterator[tuple[str, Span]]:
        """The functions on the way to the accesses."""
        named = [(finding.location.path, finding.function)]
        for access in finding.accesses:
            named.append((access.location.path, access.function))
            named += [(step.location.path, step.function) for step in access.trace]
        for path, name in dict.fromkeys(named):
            source = self._sources.get(path)
            function = source.module.functions.get(name) if source else None
            if function is not None and function.name != "<module>":
                yield path, function.span

    def _fields(self) -> Iterator[tuple[Location, str]]:
        """Where fields and variables are declared, by the names that reports have for locks."""
        for source in self._sources.values():
            for type_ in source.module.types.values():
                yield from self._named(source, type_.fields.values(), f"{type_.qualname}.", type_.span)
            yield from self._named(source, source.module.globals.values(), "", None)

    def _named(
        self, source: Source, fields: Iterable[Field], prefix: str, around: Span | None
    ) -> Iterator[tuple[Location, str]]:
        for field in fields:
            if field.span != around:  # of what is only declared in a class body, no line is known
                yield Location(source.path, field.span), f"{prefix}{field.name}"


def _spots(access: Access) -> Sequence[Location]:
    started = access.context.started_at
    steps = [step.location for step in access.trace]
    return [access.location, *steps, *([started] if started else [])]
