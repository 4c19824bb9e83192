"""Structures: containers as types, and the types of what they keep; pointers and what they lead to."""

from __future__ import annotations

from racelint.analysis.annotations import Annotations
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import RESULTS, ClassType, LibraryType, TypeOf
from racelint.analysis.values import Builtin
from racelint.knowledge import Container, Knowledge
from racelint.model import Const, Expr


class Structures:
    """Takes types apart."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge, annotations: Annotations) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self._annotations = annotations

    def behaviour(self, found: TypeOf | None) -> Container | None:
        """How a type behaves as a container; a project's class behaves as the library container it inherits from."""
        match found:
            case LibraryType(name=name):
                return self._knowledge.container(name)
            case ClassType(type=type_id):
                if self._symbols.types[type_id][1].underlying is not None:
                    inner = self._annotations.structure(found)
                    return None if inner == found or isinstance(inner, ClassType) else self.behaviour(inner)
                for ancestor in self._symbols.ancestors(type_id):
                    if isinstance(ancestor, Builtin):
                        container = self._knowledge.container(ancestor.name)
                        if container is not None:
                            return container
        return None

    def element(self, container: TypeOf | None, part: str) -> TypeOf | None:
        """The type of a container's keys or values; of a sequence's elements both."""
        container = self._annotations.structure(container)
        if not isinstance(container, LibraryType) or not container.args:
            return None
        if part == "value" and len(container.args) == 2 and container.name != "tuple":
            return container.args[1]
        return container.args[0]

    def item(self, container: TypeOf | None, key: Expr) -> TypeOf | None:
        """What a subscription takes out of a container; of a tuple it is known by its place."""
        if (
            isinstance(container, LibraryType)
            and container.name in ("pair", "tuple", RESULTS)
            and isinstance(key, Const)
        ):
            index = key.value
            known = isinstance(index, int) and 0 <= index < len(container.args)
            return container.args[index] if known else None  # type: ignore[index]
        return self.element(container, "value")

    def walked(self, container: TypeOf | None, part: str) -> TypeOf | None:
        """What a loop over a container takes out of it: keys are numbers where it is a sequence."""
        if not isinstance(container, LibraryType) or not container.args:
            return container if part == "element key" and container == LibraryType("int") else None
        if part == "element key":
            row = self._knowledge.container(container.name)
            return container.args[0] if row is None or not row.sequence else LibraryType("int")
        return container.args[-1]

    def across(self, found: TypeOf | None, *, pointer: bool) -> TypeOf | None:
        """A type behind a pointer, or what a pointer leads to."""
        if isinstance(found, ClassType):
            return found._replace(value=not pointer and self._annotations.is_value(found.type))
        return found._replace(pointer=pointer) if found is not None else None
