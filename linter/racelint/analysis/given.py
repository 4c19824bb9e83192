"""What is given: types of parameters by what calls give for them, of elements by what is put into a container."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from racelint.analysis.annotations import STEPS, Annotations
from racelint.analysis.symbols import Symbols, argument
from racelint.analysis.type_names import ClassType, LibraryType, TypeOf, only, project_class
from racelint.analysis.values import FunctionValue, TypeValue
from racelint.knowledge import Knowledge
from racelint.model import Attr, Call, Const, Expr, Name, TypeRef

if TYPE_CHECKING:
    from racelint.analysis.types import Types

CONSTRUCTOR = "__init__"
MOST_HANDED = 2  # functions through which a constant is handed on
UNKNOWN: frozenset[Const] = frozenset()
MOST_GIVEN = 8  # constructor calls looked at for the type of a parameter


class Given:
    """Answers what type a parameter has, or the elements of a container."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge, annotations: Annotations, types: Types) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self._annotations = annotations
        self._types = types
        self._parameters: dict[tuple[str, int], TypeOf | None] = {}
        self._going_up: dict[str, list[tuple[str, Call]]] | None = None  # calls of constructors by those of types below

    def parameter(self, function_id: str, index: int) -> TypeOf | None:
        """The type of a parameter: as declared, by its default, or by what it is given."""
        source, function = self._symbols.functions[function_id]
        if index >= len(function.parameters):
            return None
        parameter = function.parameters[index]
        if index == 0 and function.owner and function.binding == "instance":
            return self._receiver(f"{source.name}:{function.owner}", parameter.annotation)
        if parameter.kind == "variadic" and parameter.annotation is not None and parameter.annotation.name == "[]":
            return self._annotations.declared(function_id, parameter.annotation)
        if parameter.kind == "variadic":
            return LibraryType("tuple")
        if parameter.kind == "keywords":
            return LibraryType("dict")
        if parameter.annotation is not None:
            return self._annotations.declared(function_id, parameter.annotation)
        if parameter.default is not None and parameter.default != Const(None):
            found = self._types.expressions.of(function_id, parameter.default)
            return found if isinstance(found, LibraryType) and self._knowledge.container(found.name) else None
        if function.name == CONSTRUCTOR and function.owner:
            return self._given(f"{source.name}:{function.owner}", index - 1, parameter.name)
        return self._from_calls(function_id, index) if source.module.traits.duck_typed else None

    def _from_calls(self, function_id: str, index: int) -> TypeOf | None:
        """What calls of a function give for a parameter, if that is always of one class, or of classes below one."""
        key = (function_id, index)
        if key not in self._parameters:
            self._parameters[key] = None
            self._parameters[key] = self._from_all_calls(function_id, index)
        return self._parameters[key]

    def _from_all_calls(self, function_id: str, index: int) -> TypeOf | None:
        _, function = self._symbols.functions[function_id]
        if function.name in self._knowledge.common_methods or function.name.startswith("<"):
            return None
        position = index - 1 if function.owner and function.binding != "none" else index
        options: list[TypeOf | None] = []
        for caller, call in self._symbols.called(function.name):
            given = argument(call, position, function.parameters[index].name)
            if given is not None and self._leads_to(caller, call, function_id):
                options.append(self._types.expressions.of(caller, given))
                if len(options) >= MOST_GIVEN:
                    break
        found = self._types.common(options) if None not in options else None
        return found if isinstance(found, ClassType) else None

    def constants(self, function_id: str, index: int, steps: int = MOST_HANDED) -> frozenset[Const]:
        """What a parameter may be, if the project calls a function, and each call says outright: `true` or `false`."""
        _, function = self._symbols.functions[function_id]
        position = index - 1 if function.owner and function.binding != "none" else index
        found: frozenset[Const] = UNKNOWN
        for caller, call in self._symbols.called(function.name):
            if not self._may_lead_to(caller, call, function_id):
                continue
            given = argument(call, position, function.parameters[index].name) or function.parameters[index].default
            names = [parameter.name for parameter in self._symbols.functions[caller][1].parameters]
            if isinstance(given, Const):
                found |= {given}
            elif isinstance(given, Name) and given.name in names and steps > 0 and caller != function_id:
                handed = self.constants(caller, names.index(given.name), steps - 1)
                if not handed:
                    return UNKNOWN
                found |= handed
            else:
                return UNKNOWN
        return found

    def _leads_to(self, caller: str, call: Call, function_id: str) -> bool:
        """Whether a call is one of a function, or of a method that overrides it or is overridden by it."""
        callee = self._symbols.meant(caller, call.func)
        if callee is not None or not isinstance(call.func, Attr):
            return callee == FunctionValue(function_id)
        owner = project_class(self._types.expressions.of(caller, call.func.base))
        if owner is None:
            return self._symbols.owners(call.func.name) == [self._symbols.owner_of(function_id)]
        return self._symbols.method(owner, call.func.name) == function_id

    def _may_lead_to(self, caller: str, call: Call, function_id: str) -> bool:
        """Whether a call is one of a function, as far as can be told: it is not surely one of another."""
        if self._leads_to(caller, call, function_id):
            return True
        if self._symbols.meant(caller, call.func) is not None or not isinstance(call.func, Attr):
            return False
        return project_class(self._types.expressions.of(caller, call.func.base)) is None

    def _receiver(self, type_id: str, annotation: TypeRef | None) -> TypeOf | None:
        if type_id not in self._symbols.types:
            return None  # declared in a file that could not be read
        pointer = annotation is None or annotation.name == "*"
        return ClassType(type_id, not pointer and self._annotations.is_value(type_id))

    def _given(self, type_id: str, position: int, name: str) -> TypeOf | None:
        """What the constructors of a type, or of those that inherit its constructor, are given for a parameter."""
        heirs = [
            t for t in sorted(self._symbols.subtypes(type_id)) if CONSTRUCTOR not in self._symbols.types[t][1].methods
        ]
        options: list[TypeOf | None] = []
        for owner in (type_id, *heirs):
            for function_id, given in self._symbols.handed(owner, position, name):
                options.append(self._types.expressions.of(function_id, given))
                if len(options) >= MOST_GIVEN:
                    return self._types.common(options)
        for function_id, given in self._handed_up(type_id, position, name):
            options.append(self._types.expressions.of(function_id, given))
            if len(options) >= MOST_GIVEN:
                break
        return self._types.common(options)

    def _handed_up(self, type_id: str, position: int, name: str) -> Iterator[tuple[str, Expr]]:
        """What constructors of types below give to a type's own: `super().__init__(o)`, `Base.__init__(self, o)`."""
        if self._going_up is None:
            self._going_up = defaultdict(list)
            for caller, call in self._symbols.called(CONSTRUCTOR):
                if self._symbols.functions[caller][1].name == CONSTRUCTOR:
                    self._going_up[self._symbols.owner_of(caller)].append((caller, call))
        own = self._symbols.method(type_id, CONSTRUCTOR)
        for heir in sorted(self._symbols.subtypes(type_id)):
            is_next = self._symbols.after(heir, heir, CONSTRUCTOR) == own
            for caller, call in self._going_up.get(heir, ()):
                match call.func:
                    case Attr(base=Call(func=Name(name="super"))) if is_next:
                        given = argument(call, position, name)
                    case Attr(base=base) if self._symbols.meant(caller, base) == TypeValue(type_id):
                        given = argument(call, position + 1, name)
                    case _:
                        given = None
                if given is not None:
                    yield caller, given

    def filled(self, found: TypeOf | None, put: Iterable[tuple[str, Expr]], steps: int = STEPS) -> TypeOf | None:
        """A container whose elements' type is not said, with the type of all that is put into it."""
        if not isinstance(found, LibraryType) or found.args:
            return found
        container = self._knowledge.container(found.name)
        element = only([self._types.expressions.of(function_id, value, steps - 1) for function_id, value in put])
        if element is None or container is None:
            return found
        return LibraryType(found.name, (None, element) if "keys" in container.views else (element,))
