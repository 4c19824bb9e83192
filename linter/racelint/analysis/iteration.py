"""What rules are told of containers that are resized while they are iterated."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from racelint.analysis.describe import Describe
from racelint.analysis.effects import Effects
from racelint.analysis.elementkeys import is_asked_of_element
from racelint.analysis.paths import underlying
from racelint.analysis.positions import is_named_by_position
from racelint.analysis.state import Resize
from racelint.analysis.summary import Conflict
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import (
    Builtin,
    Copy,
    Element,
    Field,
    Fresh,
    Literal,
    Member,
    Result,
    Tuple,
    Unknown,
    Value,
)
from racelint.analysis.written import plain
from racelint.finding import Step
from racelint.model import Assign, Attr, Call, Const, Expr, Function, Item, Jump, Loop, Name, Op
from racelint.record import records
from racelint.span import Location, Span

# Libraries of tables and stores, whose loops go over the columns or members that there were.
FRAMES = frozenset({"h5py", "netCDF4", "pandas", "polars", "xarray", "zarr"})


@dataclass(frozen=True, slots=True)
class IterationConflict:
    """A container is resized in a loop over it, and the loop goes on.

    `symbol` names the container (`Type.field`, `module:name` or an expression) and `text` is how the loop's function
    writes it. `kind` is the container's behaviour ("mapping", "set", "list", "deque", ..., "unknown" for an unknown
    type, "other" for a known one that is no container), `live` what a resize does to an iteration ("raises", "skips",
    "snapshot", "defined"), `growth` "allowed" if adding at the end is a defined idiom. `style` is how it is iterated:
    "direct", "keys", "values", "items", "reversed", "generator" or "call". `change` is "insert", "append", "remove",
    "clear" or "reorder", `operation` what the source says; for an insertion `key` is "absent" (tested just before),
    "constant", "computed", "part" (an attribute or item of the loop's own element), "other" or "unknown"; for a removal
    it is "element" if it is what the loop has at hand, "position" if it says where that is, found by its name, in a
    container of unknown type. `iterable` is where the expression stands that the loop walks,
    if it walks one. `framed` says that the loop's file uses a library of tables, whose loops go over the columns that
    there were. `exported` says that the container is an object that a library exports, which may walk something else.
    `location` is where the finding stands: the change in the loop's own function, else the call that leads to it;
    `steps` lead from there to the change. `certain` says that the callee and the container were found by their types,
    not by their names; `foreign` that the container belongs to an object of unknown class or came out of an unknown
    call; `repeated` that the container is looked through again, until it is as it should be or by a timer; `singled`
    that the removed element was found by a comparison with `==` (in Go by one of the loop's own function); `computed`
    that a class on the way to the container computes its attributes; `doubtful` that loop and change are mostly about
    different objects, or not in the same run; `final` that only finalisers (`__del__`) call the loop's function;
    `sweep` that the loop does nothing with elements that do not pass a test. `leaves` says that the loop calls what it
    walks, and that this may make the change: `steps` are then where callers put it in, and where they can take it out.
    `handed` is where a function gives out the live container, or a view of it, that the loop walks. `cleared` says that
    the loop sets the last element of what it walks to nil, where the language goes on to the length of before, and has
    taken something out of each element by then.
    """

    function: str
    symbol: str
    text: str
    kind: str
    live: str
    growth: str
    style: str
    change: str
    operation: str
    key: str
    loop: Location
    iterable: Location | None
    location: Location
    steps: tuple[Step, ...]
    certain: bool
    foreign: bool
    repeated: bool
    singled: bool
    computed: bool
    doubtful: bool
    final: bool
    sweep: bool
    framed: bool = False
    language: str = "python"
    leaves: bool = False
    handed: Step | None = None
    cleared: bool = False
    exported: bool = False


def told(
    conflict: Conflict, describe: Describe, live: str, growth: str, handed: tuple[str, Span] | None = None
) -> IterationConflict:
    """A conflict in the terms of a rule; `handed` is the function that gives out the container, and its `return`."""
    event, stands = conflict.resize, conflict.stands
    source, function = describe.symbols.functions[stands.function]
    loop_source, loop_function = describe.symbols.functions[conflict.loop.function]
    container, iterable = conflict.container, conflict.loop.iterable
    unnamed = (
        describe.source(iterated_expression(iterable))
        if iterable is not None and not describe.is_named(container)
        else ""
    )
    return IterationConflict(
        function=function.qualname,
        symbol=unnamed or describe.symbol(container),
        text=unnamed or describe.text(container),
        kind=conflict.kind,
        live=live,
        growth=growth,
        style="generator" if conflict.style == "rounds" else conflict.style,
        change=event.change,
        operation=event.operation,
        key=_key_of(conflict, describe.symbols),
        loop=Location(loop_source.path, conflict.loop.span),
        iterable=_located(loop_source.path, iterable),
        location=Location(source.path, stands.span),
        steps=(*describe.registration(conflict), *describe.steps(event)),
        certain=event.certain,
        foreign=describe.is_foreign(
            container, as_mapping=conflict.style in ("keys", "values", "items"), by_call=bool(event.calls)
        ),
        repeated=conflict.repeated or describe.usage.is_periodic(conflict.loop.function),
        singled=event.singled,
        computed=describe.is_computed(container) or _is_made_by_library(conflict, describe),
        doubtful=conflict.doubtful,
        sweep=conflict.loop.sweep,
        framed=any([imported.module.partition(".")[0] in FRAMES for imported in loop_source.module.imports.values()]),
        language=source.module.language,
        leaves=conflict.leaves,
        exported=isinstance(container, Builtin),
        final=bool(loop_function.owner) and describe.usage.is_final(loop_function.name),
        handed=describe.step(*handed, "return") if handed is not None else None,
        cleared=_clears_end(conflict, loop_function),
    )


def _is_made_by_library(conflict: Conflict, describe: Describe) -> bool:
    """Whether a loop reads an attribute of a library's object, of which nothing says that it is kept there."""
    iterable = conflict.loop.iterable
    if conflict.kind != "unknown" or iterable is None:
        return False
    return describe.is_read_anew(conflict.container, iterated_expression(iterable))


def _key_of(conflict: Conflict, symbols: Symbols) -> str:
    """What is known of the key; of a position only where nothing else says that the container is a sequence."""
    if conflict.kind == "unknown" and is_named_by_position(conflict, symbols):
        return "position"
    return "part" if is_asked_of_element(conflict, symbols) else _key(conflict.resize, conflict.container)


def _clears_end(conflict: Conflict, function: Function) -> bool:
    """Whether a loop does `s[len(s)-1] = nil` to the slice that it walks, and takes something out of each element."""
    if conflict.loop.iterable is None:
        return False
    walked = plain(_ranged(conflict.loop.iterable))
    targets = [n.target for n in records(function.body) if isinstance(n, Loop) and n.span == conflict.loop.span]
    elements = {part.name for part in records(tuple(targets)) if isinstance(part, Name)}
    for node in records(function.body):
        match node:
            case Assign(
                targets=(Item(base=base, key=Op(operator="-", operands=(Op(operator="length") as length, last))),),
                value=Const(value=None),
            ) if conflict.loop.span.holds(node.span) and last == Const(1):
                before = Span(*conflict.loop.span[:2], *node.span[:2])
                if plain(base) == plain(length.operands[0]) == walked and _is_entered(elements, function, before):
                    return True
            case _:
                pass
    return False


def _is_entered(names: Set[str], function: Function, span: Span) -> bool:
    """Whether a field or method of a variable is used in a stretch of a function."""
    return any(
        isinstance(node, Attr) and isinstance(node.base, Name) and node.base.name in names and span.holds(node.span)
        for node in records(function.body)
    )


def _ranged(iterable: Expr) -> Expr:
    """What a `range` clause goes over: the entries of a slice."""
    return iterable.operands[0] if isinstance(iterable, Op) and iterable.operator == "entries" else iterable


def handed_out(conflict: Conflict, effects: Mapping[str, Effects], symbols: Symbols) -> tuple[str, Span] | None:
    """The one function that gives out what a loop walks, and the one place where it returns something."""
    if conflict.loop.iterable is None or conflict.loop.function not in effects:
        return None
    span = getattr(iterated_expression(conflict.loop.iterable), "span", None)
    sites = [site for site in effects[conflict.loop.function].calls.values() if site.span == span]
    callees = {site.callee for site in sites if isinstance(site.callee, str)}
    if len(callees) != 1:
        return None
    callee = callees.pop()
    function = symbols.functions[callee][1]
    jumps = [part for part in records(function.body) if isinstance(part, Jump) and part.kind == "return"]
    given = [jump.span for jump in jumps if jump.value is not None and not isinstance(jump.value, Const)]
    return (callee, given[0]) if len(given) == 1 and not function.is_generator else None


def _located(path: str, expression: Expr | None) -> Location | None:
    span = getattr(expression, "span", None)  # what only combines others has none
    return Location(path, span) if span is not None else None


def iterated_expression(iterable: Expr) -> Expr:
    """The container in what a loop iterates: `self.d` in `enumerate(self.d.items())`."""
    match iterable:
        case Call(
            func=Attr(base=base, name="items" | "keys" | "values" | "iteritems" | "iterkeys" | "itervalues"), args=()
        ):
            return iterated_expression(base)
        case Call(func=Name(name="enumerate" | "items" | "iteritems" | "reversed" | "iter"), args=(first, *_)):
            return iterated_expression(first)
        case _:
            return iterable


def _key(event: Resize, container: Value) -> str:
    """What is known of the key that an insertion or a deletion is about."""
    if event.tested and not (event.calls and all([isinstance(key, Field | Unknown) for key in event.keys])):
        return "absent"
    if event.change == "remove":
        return "element" if event.keys and all([_is_element(key, container) for key in event.keys]) else "unknown"
    if event.change != "insert" or len(event.keys) != 1:
        return "unknown"
    match event.keys[0]:
        case Result(site=site) if site.origin and any(_is_part(value, underlying(container)) for value in event.added):
            return "part"  # a callee has computed the key of what comes out of the container: mostly the same again
        case Literal():
            return "constant"
        case Tuple(parts=parts) if any([_is_attribute(v, underlying(container)) for values in parts for v in values]):
            return "part"  # mostly the same key, put together again
        case Result() | Fresh() | Tuple() | Copy():
            return "computed"
        case Field() | Element() as path if _is_part(path, underlying(container)):
            return "part"
        case _:
            return "other"


def _is_attribute(value: Value, container: Value) -> bool:
    return isinstance(value, Field) and _is_part(value, container)


def _is_element(value: Value, container: Value) -> bool:
    """Whether a value is what a loop over the container has at hand."""
    return isinstance(value, Member) and underlying(value.base) == underlying(container)


def _is_part(path: Value, container: Value) -> bool:
    """Whether a path starts from an element of the container."""
    while isinstance(path, Field | Element):
        if isinstance(path, Element) and underlying(path.base) == container:
            return True
        path = path.base
    return isinstance(path, Member) and underlying(path.base) == container
