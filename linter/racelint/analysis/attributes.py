"""Attributes: methods, what properties return, and which path a field has."""

from __future__ import annotations

from racelint.analysis.body import Body, own_each_turn
from racelint.analysis.paths import field, unite
from racelint.analysis.state import State
from racelint.analysis.types import ClassType, LibraryType
from racelint.analysis.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Captured,
    Field,
    Fresh,
    FunctionValue,
    Global,
    ModuleValue,
    Partial,
    TypeValue,
    Unknown,
    Value,
    Values,
)
from racelint.span import Span

MOST_SUPPLIED = 4  # methods of one name in classes below


class Attributes(Body):
    """Evaluates `base.name`."""

    def attribute(self, base: Value, name: str, span: Span, state: State) -> Values:
        """The values of `base.name`: a method, what a property returns, or a path."""
        match base:
            case Unknown():
                return NOTHING_KNOWN
            case ModuleValue() | Builtin():
                return self._member(base, name, span, state)
            case TypeValue(type=type_id):
                method = self.symbols.method(type_id, name)
                if method is not None and self._is_class_property(method):
                    return self.invoke(method, base, (), (), span, state)
                if method is not None:
                    return (self._bound(method, base),)
                path = self.place(base, name)
                self.note(path, "read", span, state)
                return self.read(path, state)
            case Partial(callee=Builtin(name="super"), args=((receiver,), *_)):
                return self._inherited(receiver, name)
            case _:
                return self._instance_attribute(base, name, span, state)

    def _member(self, base: Value, name: str, span: Span, state: State) -> Values:
        found = self.symbols.member(base, name)
        if isinstance(found, Global):
            self.note(found, "read", span, state)
        return NOTHING_KNOWN if found is None else self.read(found, state)

    def _instance_attribute(self, base: Value, name: str, span: Span, state: State) -> Values:
        owner = self.types.class_of(base)
        method = self.symbols.method(owner, name) if owner else None
        if method is None and owner is not None:
            chain = self._embedded(owner, name)
            if chain:
                return self._promoted(base, chain, name, span, state)
            below = self._supplied(base, owner, name)
            if below:
                return tuple([self._bound(each, base) for each in below])
        if method is None:
            path = self.place(base, name)
            if path == UNKNOWN and isinstance(self.types.of(base), LibraryType):
                return (Field(base, name),)  # a method of what is just near enough: nothing of it leads any further
            inner = self._in_embedded(base, name, path, state)
            if inner is not None:
                return inner
            if not self._is_inline(path):
                self.note(path, "read", span, state)
            return self.read(path, state)
        _, function = self.symbols.functions[method]
        if function.is_property:
            return self.invoke(method, base, (), (), span, state)
        return (self._bound(method, base),)

    def _supplied(self, base: Value, owner: str, name: str) -> list[str]:
        """The methods that classes below have, or inherit, where a class leaves to those what is called on it."""
        if not self.traits.duck_typed or isinstance(base, Fresh) or self.symbols.field(owner, name):
            return []
        methods = [self.symbols.method(subtype, name) for subtype in sorted(self.symbols.subtypes(owner))]
        found = list(dict.fromkeys([method for method in methods if method is not None]))
        if any([self.symbols.functions[each][1].is_property for each in found]):
            return []
        if len(found) > MOST_SUPPLIED:
            self.effects.demanded.update(found)  # too many to follow, but callers from outside they have none
            return []
        return found

    def _in_embedded(self, base: Value, name: str, path: Value, state: State) -> Values | None:
        """What a field of a struct made here is, if a struct of a library was put into that which has the field."""
        if type(base) is not Fresh or path in state.heap:
            return None
        for part in self.knowledge.sharing.embedded:
            put = state.heap.get(Field(base, part))
            if put is not None and name != part:
                return unite([self.read(self.place(value, name), state) for value in put])
        return None

    def _is_inline(self, path: Value) -> bool:
        """Whether a field holds an object itself: naming it reads nothing, what is taken out of it does."""
        found = self.types.of(path) if not self.traits.duck_typed else None
        return isinstance(found, ClassType) and found.value and not self._is_turned(path)

    def _is_turned(self, path: Value) -> bool:
        """Whether a variable of a function around this one gets another object in each turn of its loop."""
        if not isinstance(path, Captured) or path.function == self.id:
            return False
        source, function = self.symbols.functions[path.function]
        looped = any(turn.variable == path.name for turn in function.turns)
        return looped and path.name not in own_each_turn(function, source.edition)

    def _embedded(self, owner: str, name: str) -> tuple[str, ...]:
        """The embedded fields through which a type has a member; of libraries' types the one that can have it."""
        embedding = self.symbols.embedding
        chain = embedding.chain(owner, name)
        _, record = self.symbols.types[owner]
        if chain or name in record.fields:
            return chain
        found = embedding.libraries(owner)
        locks = self.knowledge.concurrency.locks
        known = [
            way for way, library in found if library in locks and name in (*locks[library].take, *locks[library].give)
        ]
        others = [way for way, library in found if library not in locks]
        return known[0] if known else others[0] if len(others) == 1 else ()

    def promoting(self, owner: Value, name: str, state: State) -> Values:
        """What has a field that is assigned through an object: the object, or what it embeds now."""
        type_id = self.types.class_of(owner)
        chain = self.symbols.embedding.chain(type_id, name) if type_id is not None else ()
        holders: Values = (owner,)
        for part in chain:
            holders = unite([self.read(field(holder, part), state) for holder in holders])
        return holders

    def _promoted(self, base: Value, chain: tuple[str, ...], name: str, span: Span, state: State) -> Values:
        owners: Values = (base,)
        for part in chain:
            owners = unite([self.read(field(owner, part), state) for owner in owners])
        return unite([self.attribute(owner, name, span, state) for owner in owners])

    def _is_class_property(self, method: str) -> bool:
        _, function = self.symbols.functions[method]
        return function.is_property and function.binding == "class"

    def _bound(self, method: str, receiver: Value) -> FunctionValue:
        _, function = self.symbols.functions[method]
        if function.binding == "class" and not isinstance(receiver, TypeValue):
            owner = self.types.class_of(receiver)
            return FunctionValue(method, TypeValue(owner) if owner else receiver)
        unbound = function.binding == "none" or (function.binding == "instance" and isinstance(receiver, TypeValue))
        return FunctionValue(method, None if unbound else receiver)

    def _inherited(self, receiver: Value, name: str) -> Values:
        if self.function.owner is None:
            return NOTHING_KNOWN
        owner = f"{self.source.name}:{self.function.owner}"
        current = self.types.class_of(receiver) or owner
        method = self.symbols.after(current, owner, name)
        if method is None and self._has_library_base(current):
            return (field(receiver, name),)
        return NOTHING_KNOWN if method is None else (self._bound(method, receiver),)

    def _has_library_base(self, type_id: str) -> bool:
        return any(isinstance(ancestor, Builtin) for ancestor in self.symbols.ancestors(type_id))

    def place(self, owner: Value, name: str) -> Value:
        """The path of a field: the class's own for what is only ever set on the class, else the object's."""
        path = field(owner, name)
        if path == UNKNOWN:
            return self._find_place(owner, name)
        found = self.resolved.get(path)
        if found is None:
            found = self.resolved[path] = self._find_place(owner, name)
        return found

    def _find_place(self, owner: Value, name: str) -> Value:
        if isinstance(owner, ModuleValue):
            return Global(owner.module, name)
        type_id = owner.type if isinstance(owner, TypeValue) else self.types.class_of(owner)
        for part in self.symbols.embedding.chain(type_id, name) if type_id is not None else ():
            owner = field(owner, part)
            type_id = self.types.class_of(owner)
        same = self._same_object(owner, type_id, name) if isinstance(owner, Field) else None
        if same is not None:
            return same
        declared = self.symbols.class_variable(type_id, name) if type_id is not None else None
        return field(owner, name) if declared is None else Field(TypeValue(declared), name)

    def _same_object(self, owner: Field, inner: str | None, name: str) -> Value | None:
        """`self.service.store` as `self.store`, where the constructor gave both the same object for good."""
        holder = self.types.class_of(owner.base)
        constructor = self.symbols.method(holder, "__init__") if holder else None
        if holder is None or constructor is None or constructor == self.id:
            return None
        alias = self.summaries.of(constructor).aliases.get((owner.name, name))
        if alias is None or inner is None:
            return None
        fixed = self._set_once(holder, owner.name) and self._set_once(holder, alias) and self._set_once(inner, name)
        return field(owner.base, alias) if fixed else None

    def _set_once(self, type_id: str, name: str) -> bool:
        """Whether a field is only ever assigned by the constructor."""
        declared = self.symbols.field(type_id, name)
        return declared is not None and all([v.function.endswith(".__init__") for v in declared[1].values])

    # --- calls --------------------------------------------------------------------------------------------------------
