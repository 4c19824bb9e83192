"""What could not be resolved and costs verdicts. Computed only when asked for, from what the analysis keeps anyway."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from racelint.analysis.effects import WRITES, Effects, Start
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import ClassType, LibraryType, Types
from racelint.analysis.values import Builtin, Field, FunctionValue, Partial, Value
from racelint.finding import Location
from racelint.knowledge import Knowledge
from racelint.model import Attr, Call, Closure, Expr, Hold, Name, Source
from racelint.span import Span
from racelint.unknown import Unknown

_NO_CALL = Call(Name("", "global", Span(0, 0, 0, 0)), (), (), Span(0, 0, 0, 0))
CALLABLE, WITH, RECEIVER = "callable", "with", "receiver"
MOST_OWNERS = 4  # classes that a missing declaration may name
START = """\
[[start]]
names = ["{name}"]
kind = "unknown"  # or "thread", "pool", "task", "loop", "handler", "goroutine", "here" (now, under the caller's locks)
callable = {position}
{keyword}source = ""  # where its documentation says so"""
LOCK = """\
[[lock]]
types = ["{name}"]  # no row if it excludes nobody
kind = "exclusive"  # or "async", "shared", "counted", "process"
source = ""  # where its documentation says so"""


class _Met(NamedTuple):
    """One occurrence."""

    kind: str
    name: str
    location: Location
    row: str


class Unknowns:
    """Names what has no meaning; asks the types again, so that an ordinary run keeps no list."""

    def __init__(self, symbols: Symbols, types: Types, knowledge: Knowledge, effects: dict[str, Effects]) -> None:
        self._symbols = symbols
        self._types = types
        self._knowledge = knowledge
        self._effects = effects

    def all(self) -> list[Unknown]:
        """Every unknown of the reported sources, the most frequent first."""
        groups: dict[tuple[str, str, str], list[_Met]] = {}
        for met in self._met():
            groups.setdefault((met.kind, met.name, _owner_of(met)), []).append(met)
        found = []
        for (kind, name, _), mets in groups.items():
            first = min(mets, key=lambda met: met.location)
            found.append(Unknown(kind, name, len(mets), first.location, first.row))
        return sorted(found, key=lambda each: (-each.count, each.kind, each.name, each.location))

    def _met(self) -> Iterator[_Met]:
        for function_id, (source, function) in self._symbols.functions.items():
            effects = self._effects.get(function_id)
            if source.reported and effects is not None:
                nodes = list(_nodes(function.body))
                calls = {node.span: node for node in nodes if isinstance(node, Call)}
                yield from self._callables(function_id, source, effects, calls)
                yield from self._managers(function_id, source, nodes)
                yield from self._receivers(function_id, source, effects, calls)

    # --- callees that were given a callable ---------------------------------------------------------------------------

    def _callables(self, function_id: str, source: Source, effects: Effects, calls: dict[Span, Call]) -> Iterator[_Met]:
        seen: set[Span] = set()
        for start in effects.starts.values():
            call = calls.get(start.span)
            if start.kind != "unknown" or call is None or start.span in seen:
                continue
            seen.add(start.span)
            name = self._callee(function_id, call.func)
            if name and not self._is_told(name):
                row = START.format(name=name, **_handed_at(call, start, self._symbols))
                yield _Met(CALLABLE, name, Location(source.path, call.span), row)

    def _callee(self, function_id: str, callee: Expr) -> str:
        """The name by which a knowledge row could speak of a callee; "" for what the project defines."""
        meant = self._symbols.meant(function_id, callee)
        if meant is not None:
            return meant.name if isinstance(meant, Builtin) else ""
        if not isinstance(callee, Attr):
            return ""
        owner = self._library_type(function_id, callee.base)
        return f"{owner}.{callee.name}" if owner else ""

    def _library_type(self, function_id: str, expr: Expr) -> str:
        """The library type of an expression, "*" if its type is unknown, "" if it is the project's."""
        match self._types.expressions.of(function_id, expr):
            case LibraryType(name=name):
                return name
            case ClassType(type=type_id):
                bases = [each.name for each in self._symbols.ancestors(type_id) if isinstance(each, Builtin)]
                return next((name for name in bases if name != "object"), "")
            case _:
                return "*"

    def _is_told(self, name: str) -> bool:
        """Whether some row says what a function or method does with callables, or the language itself does."""
        owner, _, method = name.rpartition(".")
        concurrency = self._knowledge.concurrency
        started = concurrency.start(name) is not None or concurrency.start(f"*.{method}") is not None
        plain = owner == "" or (owner == "*" and method in self._knowledge.common_methods)
        contained = any(self._knowledge.container(each) is not None for each in (name, owner))
        return started or plain or contained or bool(self._knowledge.rows(name))

    # --- context managers ---------------------------------------------------------------------------------------------

    def _managers(self, function_id: str, source: Source, nodes: Iterable[object]) -> Iterator[_Met]:
        for hold in [node for node in nodes if isinstance(node, Hold)]:
            for manager, _ in hold.items:
                name = self._manager(function_id, manager)
                if name:
                    row = LOCK.format(name=name if _is_type(name) else "MODULE.TYPE")
                    yield _Met(WITH, name.strip("()"), Location(source.path, hold.span), row)

    def _manager(self, function_id: str, manager: Expr) -> str:
        """The name of a context manager of which no row speaks; the standard library's locks all have one."""
        if isinstance(manager, Call):
            name = self._callee(function_id, manager.func)
        else:
            found = self._library_type(function_id, manager)
            name = self._path(function_id, manager) if found == "*" else found
        known = name in self._knowledge.concurrency.locks or self._is_told(name)
        return "" if known or _is_standard(name) else name

    # --- receivers ----------------------------------------------------------------------------------------------------

    def _receivers(self, function_id: str, source: Source, effects: Effects, calls: dict[Span, Call]) -> Iterator[_Met]:
        asked: dict[str, set[str]] = {}
        for call in calls.values():
            if isinstance(call.func, Attr):
                asked.setdefault(self._path(function_id, call.func.base), set()).add(call.func.name)
        for site in effects.calls.values():
            call = calls.get(site.span, _NO_CALL)
            if site.certain or not isinstance(site.callee, Field) or not isinstance(call.func, Attr):
                continue
            name = self._path(function_id, call.func.base)
            declarable = name.startswith("(") or self._is_field(function_id, call.func.base)
            owners = self._owners(source, site.callee.name, asked[name]) if declarable else []
            if owners:
                types = " | ".join(owner.partition(":")[2] for owner in owners)
                plain = name[1:-1] if name.startswith("(") else name
                row = f"{plain.rpartition('.')[2]}: {types}  # declare it: calls of its methods lead nowhere without"
                yield _Met(RECEIVER, plain, Location(source.path, call.span), row)

    def _is_field(self, function_id: str, expr: Expr) -> bool:
        """Whether the project declares or assigns a field: one that a library's class has is the library's business."""
        if not isinstance(expr, Attr):
            return False
        found = self._types.expressions.of(function_id, expr.base)
        return isinstance(found, ClassType) and self._symbols.field(found.type, expr.name) is not None

    def _owners(self, source: Source, method: str, asked: set[str]) -> list[str]:
        """The classes of the project with all methods that are asked for, of which `method` changes or starts some."""
        if method in self._knowledge.common_methods or method.startswith("__"):
            return []
        candidates = [owner for owner in self._symbols.owners(method) if self._matters(owner, method)]
        owners = [owner for owner in candidates if all(self._symbols.method(owner, name) for name in asked)]
        if not source.module.traits.duck_typed:  # libraries' methods have the same names
            owners = [o for o in owners if o.startswith(f"{source.name}:") and not method[:1].isupper()]
        return owners if len(owners) <= MOST_OWNERS else []

    def _matters(self, owner: str, method: str) -> bool:
        effects = self._effects.get(self._symbols.method(owner, method) or "")
        if effects is None:
            return False
        return effects.starts_any or any(access.kind in WRITES for access in effects.all_accesses())

    def _path(self, function_id: str, expr: Expr) -> str:
        """What goes by a declaration of its own: `Type.field`, a variable, `factory()`; "" for anything else."""
        match expr:
            case Attr(base=base, name=name):
                found = self._types.expressions.of(function_id, base)
                return f"{found.type.partition(':')[2]}.{name}" if isinstance(found, ClassType) else f"*.{name}"
            case Name(name=name):
                return "" if name in ("self", "cls") else f"({name.partition('@')[0]})"
            case Call(func=func):
                made = self._callee(function_id, func)
                return f"{made}()" if made else ""
            case _:
                return ""


def _owner_of(met: _Met) -> str:
    """What tells two of one name apart: variables of different types."""
    return met.row if met.kind == RECEIVER else ""


def _is_type(name: str) -> bool:
    """Whether a name can stand in a row: no variable, no method of an unknown object."""
    return not name.startswith(("*.", "("))


def _is_standard(name: str) -> bool:
    """Whether a name is of Python's own library (a name of Go has a slash or its package's path in front)."""
    first, dot, _ = name.partition(".")
    return first in sys.stdlib_module_names or not (dot or name.startswith("("))


def _handed_at(call: Call, start: Start, symbols: Symbols) -> dict[str, str]:
    """Where a call has the callable: the position, or "-1" and the keyword."""
    names = {symbols.functions[each][1].name for each in _functions(start.callee) if each in symbols.functions}
    for position, argument in enumerate(call.args):
        if _speaks_of(argument, names):
            return {"position": str(position), "keyword": ""}
    for keyword, argument in call.keywords:
        if keyword and _speaks_of(argument, names):
            return {"position": "-1", "keyword": f'keyword = "{keyword}"\n'}
    return {"position": "-1", "keyword": ""}


def _functions(value: Value) -> Iterator[str]:
    """The functions that a callable value stands for."""
    if isinstance(value, FunctionValue):
        yield value.function
    elif isinstance(value, Partial):
        yield from _functions(value.callee)
        for inner in [each for values in value.args[:1] for each in values]:
            yield from _functions(inner)


def _speaks_of(expr: Expr, names: set[str]) -> bool:
    """Whether an argument mentions a function by one of its names."""
    for node in _nodes((expr,)):
        if isinstance(node, Name | Attr) and node.name in names:
            return True
        if isinstance(node, Closure) and node.function.rpartition(".")[2] in names:
            return True
    return False


def _nodes(part: object) -> Iterator[object]:
    """All records of a part of the model, in order; those of nested functions are elsewhere."""
    waiting: list[object] = [part]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple) and not isinstance(each, Span):
            yield each
            waiting += reversed(each)
