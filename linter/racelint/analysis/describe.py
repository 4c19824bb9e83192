"""Values, functions and chains of calls in words for people."""

from __future__ import annotations

from racelint.analysis.paths import root
from racelint.analysis.state import Call as CallStep
from racelint.analysis.state import Resize
from racelint.analysis.summary import Conflict
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.usage import Usage
from racelint.analysis.values import (
    UNKNOWN,
    Builtin,
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    Global,
    Lazy,
    Literal,
    Member,
    ModuleValue,
    Param,
    Result,
    Seen,
    Tuple,
    TypeValue,
    Value,
    View,
)
from racelint.finding import Step
from racelint.model import Attr, Await, Call, Const, Expr, Item, Name
from racelint.span import Location, Span

CALLERS = 3  # how far a parameter is traced back to what callers pass


class Describe:
    """Names things as the analysed program names them."""

    def __init__(self, symbols: Symbols, types: Types, usage: Usage | None = None) -> None:
        self.symbols = symbols
        self.usage = usage or Usage()
        self._types = types

    def symbol(self, value: Value) -> str:
        """The place a value is: `Type.field`, `module:name`, or its expression."""
        match value:
            case Field(base=TypeValue(type=type_id), name=name):
                return f"{_qualname(type_id)}.{name}"
            case Field(base=base, name=name):
                owner = self._types.class_of(base)
                return f"{_qualname(owner)}.{name}" if owner else self.text(value)
            case Element(base=base, key=key):
                return f"{self.symbol(base)}[{self.text(key)}]"
            case Global(module=module, name=name):
                return f"{module.partition('@')[0]}:{name}"
            case _:
                return self.text(value)

    def text(self, value: Value) -> str:
        """A value as an expression."""
        match value:
            case Param(function=function, index=index):
                return self.symbols.functions[function][1].parameters[index].name
            case Captured(name=name) | Global(name=name) | Builtin(name=name):
                return name.partition("@")[0]
            case TypeValue(type=type_id):
                return _qualname(type_id)
            case Field(base=base, name=name):
                return f"{self.text(base)}.{name}"
            case Element(base=base, key=key):
                return f"{self.text(base)}[{self.text(key)}]"
            case View(base=base, kind=kind):
                return f"{self.text(base)}.{kind}()"
            case Seen(base=base):
                return self.text(base)
            case Literal(value=scalar):
                return repr(scalar)
            case Member():
                return "..."
            case Copy(base=base):
                return f"a copy of {self.text(base)}"
            case Cached(source=source):
                return f"{_qualname(source).rpartition('.')[2]}()" if source in self.symbols.functions else source
            case Fresh(type=kind):
                return f"the {_qualname(kind).rpartition('.')[2]} made here"
            case _:
                return "..."

    def is_named(self, value: Value) -> bool:
        """Whether `text` names a value as the program does, not by what it is."""
        return isinstance(root(value), Param | Captured | Global | Builtin | TypeValue)

    def is_foreign(self, value: Value, *, as_mapping: bool, by_call: bool, steps: int = CALLERS) -> bool:
        """Whether a container came out of an unknown call, or belongs to an object of unknown class.

        What such an attribute gives need not be the same object twice. What a class of the project keeps and walks as a
        mapping (`as_mapping`) is mostly a dict, though, from a store or a decoder; and so is an attribute of an object
        whose class was found by the method that changes it (`by_call`). A parameter is what all known callers pass.
        """
        while isinstance(value, Field | Element | Member | View | Copy | Seen):
            owned = isinstance(value, Field) and not isinstance(value.base, TypeValue | ModuleValue)
            if owned and self._is_foreign_field(value, as_mapping=as_mapping, by_call=by_call):
                return True
            value = value.base
        if isinstance(value, Param) and steps > 0:
            passed = [v for values in self.usage.passed(value.function, value.index) for v in values if v != UNKNOWN]
            parts = [
                v for v in passed if isinstance(v, Param | Field)
            ]  # what a call has just given is mostly plain data
            return (
                bool(passed)
                and parts == passed
                and all([self.is_foreign(v, as_mapping=as_mapping, by_call=by_call, steps=steps - 1) for v in passed])
            )
        return isinstance(value, Result | Fresh | Lazy | Tuple)

    def is_computed(self, value: Value) -> bool:
        """Whether a class on the way to a container computes what its attributes give: another object each time."""
        while isinstance(value, Field | Element | Member | View | Copy | Seen):
            owner = self._types.class_of(value.base) if isinstance(value, Field) else None
            if owner is not None and self.symbols.method(owner, "__getattribute__") is not None:
                return True
            value = value.base
        return False

    def is_read_anew(self, value: Value, iterable: Expr) -> bool:
        """Whether a loop reads a container out of an object of a library's class: each access may make another one."""
        if not isinstance(iterable, Attr | Item):
            return False  # of what a variable holds there is one
        while isinstance(value, Element | View | Copy | Seen):
            value = value.base
        return isinstance(value, Field) and self._types.is_of_unknown_library(value.base)

    def _is_foreign_field(self, value: Value, *, as_mapping: bool, by_call: bool) -> bool:
        assert isinstance(value, Field)
        owner = self._types.class_of(value.base)
        if owner is None:
            return not (as_mapping and by_call)
        if as_mapping:
            return False
        declared = self.symbols.field(owner, value.name)
        if declared is None:
            return self.symbols.method(owner, "__getattr__") is not None
        made_elsewhere = any(isinstance(assigned.value, Call) for assigned in declared[1].values)
        return made_elsewhere and self._types.of(value) is None

    def source(self, expr: Expr) -> str:
        """An expression, as near to its source as the model has it."""
        match expr:
            case Name(name=name):
                return name.partition("@")[0]
            case Attr(base=base, name=name):
                return f"{self.source(base)}.{name}"
            case Item(base=base, key=key):
                return f"{self.source(base)}[{self.source(key)}]"
            case Call(func=func, args=args):
                inner = ", ".join(self.source(arg) for arg in args)
                return f"{self.source(func)}({inner})"
            case Const(value=scalar):
                return repr(scalar)
            case Await(value=inner):
                return f"await {self.source(inner)}"
            case _:
                return "..."

    def steps(self, event: Resize) -> tuple[Step, ...]:
        """The calls that lead to a change, and the change itself."""
        return self.way(event.calls, event.function, event.span, event.operation)

    def way(self, calls: tuple[CallStep, ...], function: str, span: Span, note: str) -> tuple[Step, ...]:
        """Calls, and what they lead to."""
        steps = [self.step(call.function, call.span, f"calls {_qualname(call.callee)}") for call in calls]
        return (*steps, self.step(function, span, note))

    def is_same_place(self, path: Value, other: Value) -> bool:
        """Whether a path starts with another one: the same variable, or the same field of objects of one class."""
        while True:
            match path, other:
                case Global(), Global():
                    return path == other
                case Field(base=base, name=name), Field(base=second, name=wanted) if name == wanted:
                    return base == second or self.holder(base) == self.holder(second) is not None
                case Field() | Element() | Member() | Copy() | View() | Seen(), _:
                    path = path.base
                case _:
                    return False

    def holder(self, value: Value) -> str | None:
        """The project's class that a value is, or is an instance of."""
        return value.type if isinstance(value, TypeValue) else self._types.class_of(value)

    def registration(self, conflict: Conflict) -> tuple[Step, ...]:
        """Where the callback that makes the change was put into the container."""
        if conflict.registered is None:
            return ()
        if conflict.leaves:
            return (self.step(conflict.registered.function, conflict.registered.span, "puts in what it is given"),)
        callee = _qualname(conflict.resize.calls[0].callee)
        return (self.step(conflict.registered.function, conflict.registered.span, f"registers {callee}"),)

    def step(self, function_id: str, span: object, note: str) -> Step:
        """A spot in a function, and what it does there."""
        source, function = self.symbols.functions[function_id]
        return Step(Location(source.path, span), function.qualname, note)  # type: ignore[arg-type]


def _qualname(identifier: str) -> str:
    """The part of an id that its module's readers know it by."""
    return identifier.rpartition(":")[2]
