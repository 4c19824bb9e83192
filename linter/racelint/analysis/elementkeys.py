"""Keys that a called function asks of what a loop has at hand: mostly those under which that lies already.

`for name in self.jobs: self.note(table[name])`, and `self.jobs[job.name()] = ...` in `note`.
"""

from __future__ import annotations

from racelint.analysis.givenaway import passed
from racelint.analysis.summary import Conflict
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Param
from racelint.model import Assign, Attr, Call, Expr, Function, Item, Loop, Name
from racelint.record import records
from racelint.span import Span


def is_asked_of_element(conflict: Conflict, symbols: Symbols) -> bool:
    """Whether an entry is put under what a method or attribute of the element, or of what has its key, gives."""
    event = conflict.resize
    if len(event.calls) != 1 or event.calls[0].function != conflict.loop.function:
        return False
    caller, callee = (symbols.functions[each][1] for each in (conflict.loop.function, event.function))
    name = _asked(_key_at(callee, event.span), callee)
    indexes = [index for index, parameter in enumerate(callee.parameters) if parameter.name == name]
    calls = [node for node in records(caller.body) if isinstance(node, Call) and node.span == event.calls[0].span]
    if not indexes or len(calls) != 1:
        return False
    return _is_of_turn(passed(calls[0], Param(event.function, indexes[0]), callee), caller, conflict.loop.span)


def _key_at(function: Function, span: Span) -> Expr | None:
    """The key under which something is stored at a spot; what a variable holds that has it."""
    stores = [node for node in records(function.body) if isinstance(node, Assign)]
    items = [(store, t) for store in stores for t in store.targets if isinstance(t, Item)]
    keys = [item.key for store, item in items if span in (store.span, item.span)]
    return _behind(keys[0], function) if len(keys) == 1 else None


def _behind(expr: Expr, function: Function) -> Expr:
    """What a variable is given, if that is one thing."""
    bound = function.bindings.get(expr.name, ()) if isinstance(expr, Name) else ()
    return bound[0] if len(bound) == 1 else expr


def _asked(key: Expr | None, function: Function) -> str:
    """The variable of which a key is an attribute, or what a method without arguments gives."""
    match key:
        case Call(func=Attr(base=Name(name=name)), args=(), keywords=()) | Attr(base=Name(name=name)):
            return "" if name == function.own else name
        case _:
            return ""


def _is_of_turn(given: Expr | None, function: Function, loop: Span) -> bool:
    """Whether something is what a turn of a loop has at hand, or what lies in some table under that."""
    targets = [node.target for node in records(function.body) if isinstance(node, Loop) and node.span == loop]
    names = {part.name for target in targets for part in records(target) if isinstance(part, Name)}
    if isinstance(given, Name) and given.name in names:
        return True
    match _behind(given, function) if given is not None else None:
        case Item(key=Name(name=name)) | Call(func=Attr(name="get"), args=(Name(name=name), *_)):
            return name in names
        case _:
            return False
