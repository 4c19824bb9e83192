"""Loops over lists that miss little: sweeps, which act on the elements that pass a test and do nothing with the rest;
and the passes of a loop that goes on until one of them has done nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from racelint.analysis.branching import blocks
from racelint.analysis.values import Captured, Element, Field, Global, Member, Param, TypeValue, Value, View
from racelint.analysis.written import plain
from racelint.model import (
    Assign,
    Attr,
    Await,
    Block,
    Branch,
    Build,
    Call,
    Choice,
    Closure,
    Const,
    Delete,
    Eval,
    Expr,
    Function,
    Hold,
    Item,
    Jump,
    Labelled,
    Logic,
    Loop,
    Make,
    Name,
    Op,
    Stmt,
    Try,
    Update,
)
from racelint.record import records
from racelint.span import Span


def conditions(body: Block, asks: Callable[[Expr], bool], *, again: bool = False) -> list[Expr] | None:
    """What a sweep's turn looks at; None if the body does anything else than test and act on what it has found.

    `asks` tells of a call whose result nobody wants whether it only has its object find out how it stands.

    Something changes with time there: an attribute, or what a call says. What never changes is looked at only once,
    unless an endless loop does it `again` and again.
    """
    looked_at: list[Expr] = []
    acting = _acting(body, looked_at, asks)
    return looked_at if acting == 1 and (again or any(_may_change(expr) for expr in looked_at)) else None


def _acting(body: Block, looked_at: list[Expr], asks: Callable[[Expr], bool]) -> int:
    """How many statements act on what was found, and what the others look at; more than one if it is no sweep."""
    acting, passed = 0, False
    for stmt in body:
        match stmt:
            case Assign(targets=targets, value=value) if all(_is_local(target) for target in targets):
                looked_at.append(value)
            case Branch(test=test, then=then, orelse=()):
                looked_at.append(test)
                leaves = all(isinstance(inner, Jump) and inner.kind == "continue" for inner in then)
                acting, passed = acting + (not leaves), passed or leaves
            case Try(body=tried, handlers=handlers, orelse=(), final=()) if _looks(tried):
                acting += _acting(tried, looked_at, asks)
                acting += sum(_acting(handler.body, looked_at, asks) for handler in handlers)
            case Eval(value=asked) if asks(asked):
                looked_at.append(asked)
            case Jump(kind="continue"):
                pass
            case _:
                return acting + 1 if passed else 2  # the rest of the turn is for what has passed
    return acting


def _is_local(target: Expr) -> bool:
    match target:
        case Name(scope="local"):
            return True
        case Build(kind="tuple", parts=parts):
            return all(_is_local(part) for part in parts)
        case _:
            return False


def _looks(body: Block) -> bool:
    """Whether a block only asks: what is asked may fail."""
    return all(isinstance(stmt, Assign) for stmt in body)


def _may_change(expr: Expr) -> bool:
    match expr:
        case Attr() | Call():
            return True
        case Item(base=base):
            return _may_change(base)
        case Op(operands=operands) | Logic(operands=operands):
            return any(_may_change(operand) for operand in operands)
        case _:
            return False


def depends(expr: Expr, given: Callable[[Name], bool]) -> bool:
    """Whether an expression is about something for which `given` holds, as far as it can be told."""
    match expr:
        case Name():
            return given(expr)
        case Const():
            return False
        case Attr(base=base) | Await(value=base):
            return depends(base, given)
        case Item(base=base, key=key):
            return depends(base, given) or depends(key, given)
        case Call(func=func, args=args, keywords=keywords):
            return any(depends(part, given) for part in (func, *args, *[value for _, value in keywords]))
        case Op(operands=operands) | Logic(operands=operands):
            return any(depends(operand, given) for operand in operands)
        case Choice(test=test, then=then, orelse=orelse):
            return any(depends(part, given) for part in (test, then, orelse))
        case _:
            return True


def is_lasting(container: Value, instance: Value | None) -> bool:
    """Whether a container outlives the function: a field of its object or class, or a module's variable."""
    while isinstance(container, Field | Element):
        container = container.base
    return container == instance or isinstance(container, Global | TypeValue)


def is_given(value: Value, instance: Value | None) -> bool:
    """Whether a value is a parameter, or a part of one, other than the function's own object."""
    while isinstance(value, Field | Element | Member | View):
        value = value.base
    return isinstance(value, Param | Captured) and value != instance


def deciding(loop: Loop) -> frozenset[str]:
    """The variables on which it hangs whether a while loop goes on."""
    branches = [stmt for stmt in loop.body if isinstance(stmt, Branch)]
    tests = [stmt.test for stmt in branches if any(_breaks(inner) for inner in (*stmt.then, *stmt.orelse))]
    found: set[str] = set()

    def note(name: Name) -> bool:
        found.add(name.name)
        return False

    for test in (*tests, *([loop.test] if loop.test is not None else [])):
        depends(test, note)
    return frozenset(found)


def _breaks(stmt: Stmt) -> bool:
    return isinstance(stmt, Jump) and stmt.kind == "break"


def targeted(loop: Loop) -> frozenset[str]:
    """The variables that a for loop gives values."""
    target = loop.target
    parts = target.parts if isinstance(target, Build) else () if target is None else (target,)
    return frozenset([part.name for part in parts if isinstance(part, Name)])


def keeps_one(loop: Loop, change: Span, asks_for_class: Callable[[Expr], bool]) -> bool:
    """Whether a loop notes the element of a class in a variable, and removes it: mostly there is one of that class.

    `for option in options: if isinstance(option, Timeout): timeout = option; options.remove(option)`
    """
    tests = [node for node in records(loop.body) if isinstance(node, Branch) and asks_for_class(node.test)]
    arms = [node.then for node in tests if any(stmt.span.holds(change) for stmt in node.then)]
    elements = targeted(loop)
    notes = [stmt for arm in arms for stmt in arm if isinstance(stmt, Assign)]
    return any(
        isinstance(stmt.value, Name) and stmt.value.name in elements and all(isinstance(t, Name) for t in stmt.targets)
        for stmt in notes
    )


def puts_back(loop: Loop, change: Span) -> bool:
    """Whether the element at hand, taken out by its index, is put at the end of the same sequence at once.

    `hosts = append(hosts[:i], hosts[i+1:]...); hosts = append(hosts, host)`: none is lost, and the length stays.
    """
    elements = targeted(loop)
    for first, second in [pair for block in blocks(loop.body) for pair in pairwise(block)]:
        match first, second:
            case (
                Delete(target=Item(base=taken), span=span),
                Update(target=target, operator="append", value=Build(parts=(Name(name=name),))),
            ) if span == change and name in elements:
                return plain(taken) == plain(target)
    return False


def swaps_in_last(body: Block) -> bool:
    """Whether a block puts the last element of a sequence into another place of it: `s[i] = s[len(s)-1]`."""
    for assign in [node for node in records(body) if isinstance(node, Assign)]:
        filled = [plain(part.base) for part in records(assign.targets) if isinstance(part, Item)]
        if any(_last_of(part) in filled for part in records(assign.value) if isinstance(part, Item)):
            return True
    return False


def _last_of(item: Item) -> object:
    """The sequence, as it is written, of which an item is the last one by its length; None if it is not."""
    match item.key:
        case Op(operator="-", operands=(Op(operator="length", operands=(measured,)), Const(value=1))):
            return plain(item.base) if plain(item.base) == plain(measured) else None
        case _:
            return None


def assigned(block: Block) -> frozenset[str]:
    """The variables that a block, or a block in it, gives other values."""
    found: frozenset[str] = frozenset()
    for stmt in block:
        match stmt:
            case Assign(targets=targets):
                found |= {target.name for target in targets if isinstance(target, Name)}
            case Update(target=Name(name=name)):
                found |= {name}
            case Branch(then=body, orelse=orelse) | Loop(body=body, orelse=orelse):
                found |= assigned(body) | assigned(orelse)
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                found |= assigned(body) | assigned(orelse) | assigned(final)
                found = found.union(*[assigned(handler.body) for handler in handlers])
            case Hold(body=body) | Labelled(body=body):
                found |= assigned(body)
            case _:
                pass
    return found


def varies(loop: Loop, around: Block, targets: tuple[Expr, ...]) -> bool:
    """Whether a loop names something that a loop around it gives other values, in `around` or as its targets."""
    own = assigned(loop.body) | targeted(loop)
    changed = (assigned(around) - own) | {part.name for part in records(targets) if isinstance(part, Name)}
    named = {part.name for part in records((loop.iterable, loop.body)) if isinstance(part, Name)}
    return not named.isdisjoint(changed)


def asked_elements(function: Function) -> dict[Span, frozenset[str]]:
    """Literals of whose elements only methods are called, in loops or by their positions, and which methods these are.

    `for _, each := range []Group{&a, &b} { each.AddFlags(flags) }`: the elements are handed to nobody.
    """
    parts = [*records(function.body)]
    uses = Counter(part.name for part in parts if isinstance(part, Name))
    enclosed = any(isinstance(part, Closure) for part in parts)
    found: dict[Span, frozenset[str]] = {}
    asked: dict[str, list[frozenset[str]]] = {}  # by variables, for each use
    for part in parts:
        match part:
            case Loop(iterable=Make(span=span) | Op(operands=(Make(span=span),))) if methods := _asked(part):
                found[span] = methods
            case Loop(iterable=Name(name=name) | Op(operands=(Name(name=name),))) if methods := _asked(part):
                asked.setdefault(name, []).append(methods)
            case Attr(base=Item(base=Name(name=name)), name=method):
                asked.setdefault(name, []).append(frozenset({method}))
            case _:
                pass
    for name, each in asked.items():
        bound = function.bindings.get(name, ())
        if len(bound) == 1 and isinstance(bound[0], Make) and uses[name] == len(each) + 1 and not enclosed:
            found[bound[0].span] = frozenset().union(*each)
    return found


def _asked(loop: Loop) -> frozenset[str]:
    """The methods of its elements that a loop calls, if it does nothing else with them."""
    names = {part.name for part in records(loop.target) if isinstance(part, Name)} if loop.target else set()
    parts = [*records(loop.body)]
    uses = [part for part in parts if isinstance(part, Name) and part.name in names]
    asked = [part.name for part in parts if isinstance(part, Attr) and part.base in uses]
    enclosed = any(isinstance(part, Closure) for part in parts)  # what it does with them stands elsewhere
    return frozenset(asked if len(asked) == len(uses) and not enclosed else ())
