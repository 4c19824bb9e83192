"""Lists: the objects that a function puts into a list and starts one after the other, each of them once.

`sources := []Source{newFile(), newSocket()}; for _, s := range sources { go s.Read() }`: two sources, two goroutines.
"""

from __future__ import annotations

from collections.abc import Iterator

from racelint.analysis.branching import loops_around
from racelint.analysis.renewing import core
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh
from racelint.model import Attr, Call, Const, Expr, Function, Make, Name, Op
from racelint.record import records
from racelint.span import Span

ELEMENT = "element value"  # what a loop takes out of what it walks
APPEND = "append"
MOST_NAMES = 3  # variables through which an element is followed back


def is_started_once(
    symbols: Symbols, starter: str, start: Span, method: str, made: Fresh, *, inside: bool
) -> bool:  # fmt: skip
    """Whether a loop starts a method of each element of a list, in which an object that its function makes lies once.

    So must all that lies there: of one that comes from elsewhere nobody knows what it is. Of what is `inside` of the
    objects, as the entries of a map, that is not said if two of them were given one thing as they were made.
    """
    function = symbols.functions[starter][1]
    loops, walked = loops_around(function.body, start), _started(function, start, method)
    if not loops or walked is None or not _is_target(walked, loops[-1].target):
        return False
    if not all([loop.span.holds(made.site.span) for loop in loops[:-1]]):
        return False  # each turn of a loop around it starts all of them again
    listed = [each for taken in function.bindings[walked] for each in _elements(function, taken)]
    spots = [spot for each in listed for spot in _spots(function, each)]
    if None in spots or spots.count(made.site.span) != 1 or not _is_put_once(function, listed, made):
        return False
    return not inside or not _have_in_common(function, spots)


def _started(function: Function, start: Span, method: str) -> str | None:
    """The variable of whose object a call starts a method, itself or by a library: `go s.Read()`, `g.Go(s.Read)`."""
    calls = [part for part in records(function.body) if isinstance(part, Call) and part.span == start]
    bound = [part.base for part in records(tuple(calls)) if isinstance(part, Attr) and part.name == method]
    names = {each.name for each in bound if isinstance(each, Name) and each.scope == "local"}
    return names.pop() if len(names) == 1 and len(bound) == 1 else None


def _is_target(name: str, target: Expr | None) -> bool:
    return any([isinstance(part, Name) and part.name == name for part in records((target,))])


def _elements(function: Function, taken: Expr) -> Iterator[Expr | None]:
    """What is put into the list out of which an element is taken; None for what cannot be told."""
    match taken:
        case Op(operator=operator, operands=(Make() as made,)) if operator == ELEMENT:
            yield from made.parts
        case Op(operator=operator, operands=(Name(name=name, scope="local"),)) if operator == ELEMENT:
            for each in function.bindings.get(name, (None,)) if name not in function.cells else (None,):
                yield from _put(name, each)
        case _:
            yield None


def _put(name: str, value: Expr | None) -> Iterator[Expr | None]:
    """What a value has put into a list that is kept in a variable: a literal, or what is appended to it."""
    match value:
        case Make():
            yield from value.parts
        case Const(value=None):
            pass
        case Op(operator=operator, operands=(Name(name=old), *added)) if operator == APPEND and old == name:
            yield from added
        case _:
            yield None


def _spots(function: Function, element: Expr | None, steps: int = MOST_NAMES) -> Iterator[Span | None]:
    """Where an element is made, itself or for a variable; None for what cannot be told."""
    made = core(element) if element is not None else None
    if isinstance(made, Name) and made.scope == "local" and made.name not in function.cells and steps > 0:
        for each in function.bindings.get(made.name, (None,)):
            yield from _spots(function, each, steps - 1)
    else:
        yield made.span if isinstance(made, Call | Make) else None


def _is_put_once(function: Function, listed: list[Expr | None], made: Fresh) -> bool:
    """Whether no loop puts one object into a list again and again."""
    site = made.site.span
    loops = loops_around(function.body, site)
    put = [each for each in listed if site in _spots(function, each)]
    return all([loops_around(function.body, getattr(each, "span", site)) == loops for each in put])


def _have_in_common(function: Function, spots: list[Span | None]) -> bool:
    """Whether two of the objects that a function makes are made with one variable."""
    made = [part for part in records(function.body) if isinstance(part, Call | Make) and part.span in spots]
    given = [each.parts if isinstance(each, Make) else each.args for each in made]
    named = [{part.name for part in records(each) if isinstance(part, Name)} for each in given]
    return len(set().union(*named)) < sum(map(len, named))
