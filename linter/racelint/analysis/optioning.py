"""Options: closures that only whoever makes an object calls on it, `func WithLimit(n int) Option`, to complete it.

`type Option func(*Server)`, and `func NewServer(opts ...Option) *Server { s := &Server{}; for _, o := range opts { o(s)
}; return s }`: what an option stores is there before anybody else knows the object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from racelint.analysis.effects import Effects
from racelint.analysis.symbols import Symbols
from racelint.model import Call, Closure, Function, Jump, Loop, Name, TypeRef
from racelint.record import records


def options(symbols: Symbols, effects: Mapping[str, Effects]) -> frozenset[str]:
    """The functions, by their ids, that are options of what they are given."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)  # by the type of options: closures, and what they take
    for source, function in symbols.functions.values():
        declared = function.returns.name if function.returns is not None else ""
        if declared and not source.module.traits.duck_typed and _is_defined(symbols, source.name, declared):
            for closure in _returned(function):
                closure_id = f"{source.name}:{closure}"
                if (given := _pointed(symbols, closure_id)) is not None:
                    found[f"{source.name}:{declared}"].append((closure_id, f"{source.name}:{given}"))
    used, kept = (_used(symbols, set(found)), _kept(symbols)) if found else ({}, set())
    return frozenset(
        [
            closure
            for type_id, closures in found.items()
            for closure, made in closures
            if type_id.rpartition(":")[2] not in kept
            and all(_makes(effects.get(user), made) for user in used.get(type_id, ()))
        ]
    )


def _makes(done: Effects | None, type_id: str) -> bool:
    return done is not None and any(made == type_id for _, made in done.made)


def _kept(symbols: Symbols) -> set[str]:
    """The names of the types of which objects keep something in a field: it may be called later."""
    fields = [field for _, record in symbols.types.values() for field in record.fields.values()]
    return {part.name for field in fields for part in records(field.annotation) if isinstance(part, TypeRef)}


def _is_defined(symbols: Symbols, module: str, name: str) -> bool:
    """Whether a package defines a type of functions by a name."""
    record = symbols.types.get(f"{module}:{name}")
    return record is not None and record[1].underlying is not None and record[1].underlying.name == "func"


def _returned(function: Function) -> Iterator[str]:
    """The closures that a function returns there and then."""
    for jump in records(function.body):
        if isinstance(jump, Jump) and isinstance(jump.value, Closure):
            yield jump.value.function


def _pointed(symbols: Symbols, closure_id: str) -> str | None:
    """The name of the type of whose objects a closure is given one, by a pointer, and nothing else."""
    found = symbols.functions.get(closure_id)
    if found is None or len(found[1].parameters) != 1:
        return None
    match found[1].parameters[0].annotation:
        case TypeRef(name="*", args=(TypeRef(name=name, module=""),)):
            return name
        case _:
            return None


def _used(symbols: Symbols, type_ids: set[str]) -> dict[str, list[str]]:
    """The functions that call what they are given of some types, or go through a list of them."""
    named: dict[str, list[str]] = defaultdict(list)
    for type_id in sorted(type_ids):
        named[type_id.rpartition(":")[2]].append(type_id)
    found: dict[str, list[str]] = defaultdict(list)
    for function_id, (source, function) in symbols.functions.items():
        for parameter in function.parameters:
            for part in records(parameter.annotation):
                if isinstance(part, TypeRef) and part.name in named and _is_called(function, parameter.name):
                    meant = [f"{source.name}:{part.name}"] if not part.module else named[part.name]
                    for type_id in meant:
                        found[type_id].append(function_id)
    return found


def _is_called(function: Function, name: str) -> bool:
    return any(_calls(node, name) for node in records(function.body))


def _calls(node: object, name: str) -> bool:
    """Whether a statement goes through what a variable holds, or an expression calls that."""
    match node:
        case Loop(iterable=iterable):
            return any(isinstance(part, Name) and part.name == name for part in records(iterable))
        case Call(func=Name(name=called)):
            return called == name
        case _:
            return False
