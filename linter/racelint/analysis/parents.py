"""Parents: what holds an object in a container, and is known to the object itself as the one that has made it, or as
the one of its kind that the program has.
"""

from __future__ import annotations

from racelint.analysis.paths import underlying
from racelint.analysis.symbols import Symbols
from racelint.analysis.types import Types
from racelint.analysis.values import Element, Field, Global, Member, TypeValue, Value
from racelint.model import Call, Const, Construction, Name


class Parents:
    """Finds the way back from an element to its holder: `for child in self.children: child.close()`, where `close` is
    `self.parent.children.remove(self)`.
    """

    def __init__(self, symbols: Symbols, types: Types) -> None:
        self._symbols = symbols
        self._types = types

    def leads_back(self, path: Value, container: Value) -> bool:
        """Whether a path goes through an element of a container back to that container, by the element's parent.

        It does if the element's class is only ever made by methods of the parent's class, which pass themselves.
        """
        match path, container:
            case Field(Field(Element(base) | Member(base) as child), name), Field(parent, field):
                if name != field or underlying(base) != container:
                    return False
                child_type, parent_type = self._types.class_of(child), self._types.class_of(parent)
                back = self._types.class_of(path.base)
                if child_type is None or parent_type is None or back is None or not self._is_below(parent_type, back):
                    return False
                made = list(self._symbols.constructions(child_type))
                return bool(made) and all([self._passes_itself(*one, parent_type) for one in made])
        return False

    def is_of_the_one(self, path: Value, container: Value) -> bool:
        """Whether a path from a module's variable leads to an object's container: there is no other object of its kind.

        `for task in self.tasks: task.kill()`, where `kill` is `app.scheduler.tasks.remove(self)`.
        """
        match path, container:
            case Field(Global() as variable, name), Field(holder, field):
                owner = self._types.class_of(variable)
                same = name == field and owner is not None and owner == self._types.class_of(holder)
                return same and owner is not None and self._is_only(variable, owner)
        return False

    def _is_only(self, variable: Global, type_id: str) -> bool:
        """Whether a class has no subclasses and, as far as is written down, no object but that of a variable."""
        record = self._symbols.content(variable.module).globals.get(variable.name)
        made = [assigned.value for assigned in record.values if assigned.value != Const(None)] if record else []
        if len(made) != 1 or not isinstance(made[0], Call) or self._symbols.subtypes(type_id):
            return False
        return all(construction.call == made[0] for _, construction in self._symbols.constructions(type_id))

    def _passes_itself(self, function_id: str, made: Construction, type_id: str) -> bool:
        """Whether a method of a class, or of one above it, gives its own object to what it makes."""
        _, function = self._symbols.functions[function_id]
        owner = f"{function_id.partition(':')[0]}:{function.owner}"
        if not function.owner or function.binding != "instance" or not self._is_below(type_id, owner):
            return False
        given = [*made.call.args, *[value for _, value in made.call.keywords]]
        return any([isinstance(arg, Name) and arg.name == function.parameters[0].name for arg in given])

    def _is_below(self, type_id: str, above: str) -> bool:
        return TypeValue(above) in self._symbols.ancestors(type_id)
