"""Functions beside each other: what one copies into a variable to change it, another one changes without a copy.

`headers = self.headers.copy(); headers["Accept"] = kind` here, and `headers = self.headers; headers["Accept"] = kind`
there: the same variable, of the same field, changed in the same way, and used afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racelint.analysis.symbols import Symbols
from racelint.analysis.written import dotted, plain
from racelint.knowledge.sharing import Sharing
from racelint.model import Assign, Attr, Build, Call, Delete, Expr, Function, Item, Jump, Logic, Name, Star, Update
from racelint.record import records
from racelint.span import Span

FILLED = "filled"
GROWN = "grown"
ALIKE = {
    "update": FILLED, "setdefault": FILLED, "append": GROWN, "extend": GROWN, "insert": GROWN,
}  # fmt: skip


class Use(NamedTuple):
    """A variable that gets what another path holds, or a copy of it, and how that is changed."""

    variable: str
    path: object  # as it is written
    changes: frozenset[str]


class Siblings:
    """Answers for changes by a variable; reads each module's functions once."""

    def __init__(self, symbols: Symbols, names: Sharing) -> None:
        self._symbols = symbols
        self._copies, self._shows = names.names("copies"), names.names("shows")
        self._copying: dict[str, dict[str, list[Use]]] = {}  # by a class or module, what its functions copy to change

    def copy_first(self, function_id: str, span: Span) -> bool:
        """Whether a function changes at a spot, by a variable, what others of its class or module copy first."""
        source, function = self._symbols.functions[function_id]
        change = next((found for node in records(function.body) for found in _changed(node) if found[2] == span), None)
        if change is None or not self._goes_on_with(function, change[0], span):
            return False
        own = {use.path for use in self._uses(function, copied=False) if use.variable == change[0]}
        beside = self._beside(source.name, function.owner)
        return any(
            use.variable == change[0] and use.path in own and change[1] in use.changes
            for other, uses in beside.items()
            if other != function_id
            for use in uses
        )

    def _beside(self, module: str, owner: str | None) -> dict[str, list[Use]]:
        """What the functions of a class, or those of a module that are of none, copy to change the copy."""
        key = f"{module}:{owner or ''}"
        if key not in self._copying:
            functions = self._symbols.sources[module].module.functions
            self._copying[key] = {
                f"{module}:{name}": list(self._uses(function, copied=True))
                for name, function in functions.items()
                if (function.owner or "") == (owner or "")
            }
        return self._copying[key]

    def _uses(self, function: Function, *, copied: bool) -> Iterator[Use]:
        """The variables of a function that get a path, or a copy of one, and how they are changed."""
        nodes = list(records(function.body))
        changes: dict[str, set[str]] = {}
        for node in nodes:
            for variable, operation, _ in _changed(node):
                changes.setdefault(variable, set()).add(operation)
        for node in nodes:
            match node:
                case Assign(targets=(Name(name=variable, scope="local"),), value=value) if variable in changes:
                    path = self._copied(value) if copied else _alternative(value)
                    if isinstance(path, Attr | Name) and dotted(path) and not _is_local(path, function):
                        yield Use(variable, _anchored(path, function), frozenset(changes[variable]))
                case _:
                    pass

    def _copied(self, value: Expr) -> Expr | None:
        """What is copied in `x.copy()`, `dict(x)`, `copy.copy(x)`, `{**x}`, `[*x]`."""
        match value:
            case Call(func=Attr(base=base, name="copy"), args=()):
                return _alternative(base)
            case Call(func=Name(name=name), args=(base, *_)) if name in self._copies:
                return _alternative(base)
            case Call(func=Attr(base=Name(name="copy"), name=name), args=(base, *_)) if name in self._copies:
                return _alternative(base)
            case Build(kind="dict", parts=(base, *_), keys=(None, *_)) | Build(parts=(Star(value=base), *_)):
                return _alternative(base)
            case _:
                return None

    def _goes_on_with(self, function: Function, variable: str, span: Span) -> bool:
        """Whether a function hands a variable on behind a spot, or gives it out: not to be shown to somebody only."""
        for node in records(function.body):
            match node:
                case Jump(kind="return", value=value, span=at) if value is not None:
                    given: tuple[Expr, ...] = (value,)
                case Call(func=func, args=args, keywords=keywords, span=at) if _name(func) not in self._shows:
                    given = (*args, *[part for _, part in keywords])
                case _:
                    continue
            if at[:2] > span[2:] and any(isinstance(part, Name) and part.name == variable for part in records(given)):
                return True
        return False


def _anchored(path: Expr, function: Function) -> object:
    """A path as it is written, but for what the function calls its own instance."""
    names = dotted(path).split(".")
    own = function.own or ""
    return ("self", *names[1:]) if own and names[0] == own else plain(path)


def _is_local(path: Expr, function: Function) -> bool:
    """Whether a path starts with a variable of the function, which others do not have."""
    while isinstance(path, Attr):
        path = path.base
    return not isinstance(path, Name) or (path.scope == "local" and path.name != function.own)


def _alternative(value: Expr) -> Expr:
    """`x` in `x or {}`."""
    return value.operands[0] if isinstance(value, Logic) and value.operator == "or" else value


def _changed(node: object) -> Iterator[tuple[str, str, Span]]:
    """The variables whose objects a statement or call changes in place, how, and where."""
    match node:
        case Call(func=Attr(base=Name(name=name, scope="local"), name=method), span=span):
            yield name, ALIKE.get(method, method), span
        case Assign(targets=targets):
            for target in targets:
                if isinstance(target, Item) and isinstance(target.base, Name) and target.base.scope == "local":
                    yield target.base.name, FILLED, target.span
        case Update(target=Item(base=Name(name=name, scope="local"), span=span)):
            yield name, FILLED, span
        case Delete(target=Item(base=Name(name=name, scope="local"), span=span)):
            yield name, "del", span
        case _:
            pass


def _name(func: Expr) -> str:
    return func.name if isinstance(func, Attr | Name) else ""
