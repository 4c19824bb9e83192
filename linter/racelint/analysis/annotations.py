"""Types as the sources write them: what annotations name, and what defined types are made of."""

from __future__ import annotations

from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import NONE_TYPE, ClassType, LibraryType, TypeOf
from racelint.analysis.values import Builtin, TypeValue, Value
from racelint.knowledge import Knowledge
from racelint.model import TypeRef

STEPS = 12  # how far a type is traced through variables, fields and calls
WRAPPERS = {
    "typing.Optional", "typing.Final", "typing.ClassVar", "typing.Annotated", "typing.Required", "typing.Awaitable",
    "typing.NotRequired", "typing.ReadOnly", "dataclasses.InitVar",
}  # fmt: skip
UNIONS = {"typing.Union", "Union"}


class Annotations:
    """Reads written types."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self._asking: set[str] = set()  # whose values are asked for at the moment

    def declared(self, function_id: str, annotation: TypeRef, steps: int = STEPS) -> TypeOf | None:
        """The type an annotation names, seen from a function."""
        if steps <= 0:
            return None
        source, function = self._symbols.functions[function_id]
        if annotation.name == "*" and annotation.args:
            found = self.declared(function_id, annotation.args[0], steps - 1)
            if isinstance(found, ClassType):
                return found._replace(value=False)
            return found._replace(pointer=True) if found is not None else None
        name = self._name_of(source.name, annotation)
        if name in WRAPPERS:  # a bare Final says nothing of the type
            return self.declared(function_id, annotation.args[0], steps - 1) if annotation.args else None
        if name in UNIONS:
            options = [self.declared(function_id, arg, steps - 1) for arg in annotation.args]
            options = [option for option in options if option != NONE_TYPE]
            return options[0] if options and all(option == options[0] for option in options) else None
        if name in ("typing.Self", "typing_extensions.Self") and function.owner:
            return ClassType(f"{source.name}:{function.owner}")
        if name in self._symbols.types:
            return ClassType(name, self.is_value(name))
        if not name or name in ("typing.Any", "object"):
            return None
        args = tuple([self.declared(function_id, arg, steps - 1) for arg in annotation.args])
        return LibraryType(self._knowledge.canonical(name), args)

    def _declared_in(self, module: str, annotation: TypeRef) -> TypeOf | None:
        return self.declared(f"{module}:{MODULE}", annotation)

    def structure(self, found: TypeOf | None) -> TypeOf | None:
        """What a defined type is made of; any other type is itself."""
        for _ in range(STEPS):
            record = self._symbols.types[found.type][1] if isinstance(found, ClassType) else None
            if record is None or record.underlying is None:
                break
            found = self._declared_in(found.type.partition(":")[0], record.underlying)  # type: ignore[union-attr]
        return found

    def is_value(self, type_id: str) -> bool:
        """Whether variables of a type hold the object itself: not if it is made of itself, `type t map[string]t`."""
        record = self._symbols.types[type_id][1]
        if record.by_value or record.underlying is None or type_id in self._asking:
            return record.by_value
        self._asking.add(type_id)
        inner = self.structure(ClassType(type_id))
        self._asking.discard(type_id)
        return isinstance(inner, ClassType) and self._symbols.types[inner.type][1].by_value

    def _name_of(self, module: str, ref: TypeRef) -> str:
        """The type id or library name that a written type stands for."""
        if ref.module:
            value = self._symbols.embedding.named(module, ref)
            return value.type if isinstance(value, TypeValue) else value.name if isinstance(value, Builtin) else ""
        return self._dotted(module, ref.name) or (
            f"{module}:{ref.name}" if f"{module}:{ref.name}" in self._symbols.types else ""
        )

    def _dotted(self, module: str, name: str) -> str:
        """A dotted name in a module: a type id, or the library name it stands for."""
        first, *rest = name.split(".")
        value: Value | None = self._symbols.name(module, first)
        for part in rest:
            value = self._symbols.member(value, part)
        match value:
            case TypeValue(type=type_id):
                return type_id
            case Builtin(name=library):
                return library.replace("typing_extensions.", "typing.")
            case _:
                return ""
