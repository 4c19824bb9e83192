"""What arrives: the types that values of an interface can have, by all that is put where they come from.

A variable type analysis after Sundaresan et al. (OOPSLA 2000), asked backwards and only where an interface is called: a
field has what is stored there, a parameter what the calls give, a result what is returned. Anything that cannot be
followed makes the answer unknown.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from racelint.analysis.programs import Programs
from racelint.analysis.symbols import MODULE, Symbols, argument
from racelint.analysis.type_names import ClassType, LibraryType, TypeOf, project_class
from racelint.analysis.values import Builtin, Captured, Field, FunctionValue, Global, Param, TypeValue, Value
from racelint.model import Attr, Build, Call, Cast, Closure, Const, Expr, Function, Item, Make, Name, Op, Parameter

if TYPE_CHECKING:
    from racelint.analysis.types import Types

MOST_SOURCES = 60  # variables and expressions that are followed for one answer
MOST_NESTED = 2  # functions in variables that are called by functions in variables
MOST_INNER = 4  # objects in one another of which the innermost has a method
MOST_NAMED = 300  # calls and stores by one name that are looked at


class Given(NamedTuple):
    """An expression in a function; of a call with several results, which one."""

    function: str
    expr: Expr
    part: int | None = None


class Kept(NamedTuple):
    """A field of a type."""

    type: str
    name: str


class Variable(NamedTuple):
    """A variable of a function."""

    function: str
    name: str


Origin: TypeAlias = TypeValue | FunctionValue | Builtin  # a type, a function, or what a library has made
Source: TypeAlias = Given | Kept | Variable | Param | Global | Origin


class Arriving:
    """Answers which methods the call of an interface's method can mean."""

    def __init__(self, symbols: Symbols, types: Types) -> None:
        self._symbols = symbols
        self._types = types
        self._programs = Programs(symbols)
        self._known: dict[Source, frozenset[Origin] | None] = {}
        self._asked: list[Source] = []  # what is being followed, innermost last

    def methods(self, receiver: Value, name: str) -> frozenset[str] | None:
        """The methods of that name that the types of a receiver have; None if these are not all known."""
        start = self._start(receiver)
        return self._methods(start, name, MOST_INNER) if start is not None else None

    def stored(self, type_id: str, name: str) -> list[Given] | None:
        """All that is put into a field; None if that is not known."""
        found = self._stored(type_id, name)
        return None if found is None else [each for each in found if isinstance(each, Given)]

    def _methods(self, start: Source, name: str, levels: int) -> frozenset[str] | None:
        """The same for what arrives somewhere; a type may have the method of what is put into it."""
        origins = self._origins(start)
        if not origins:
            return None
        types = [origin.type for origin in origins if isinstance(origin, TypeValue)]
        found = [self._of_type(type_id, name, levels) for type_id in types]
        return None if None in found else frozenset().union(*[methods for methods in found if methods is not None])

    def _of_type(self, type_id: str, name: str, levels: int) -> frozenset[str] | None:
        """The methods that a name means for objects of a type, of what is put into them perhaps."""
        method = self._method(type_id, name)
        if method is not None:
            return frozenset({method})
        chain = self._symbols.embedding.chain(type_id, name)
        inner = self._kept(type_id, chain[-1]) if chain else None
        return self._methods(inner, name, levels - 1) if inner is not None and levels else None

    def _start(self, receiver: Value) -> Source | None:
        match receiver:
            case Param():
                return receiver
            case Captured(function=function, name=name):
                return Variable(function, name)
            case Field(base=base, name=name):
                owner = self._types.class_of(base)
                return self._kept(owner, name) if owner else None
            case _:
                return None

    def _origins(self, start: Source) -> frozenset[Origin] | None:
        """Where all that arrives somewhere comes from; None if that cannot be followed."""
        if start not in self._known:
            self._known[start] = self._follow(start)
        return self._known[start]

    def _follow(self, start: Source) -> frozenset[Origin] | None:
        """The same anew: what is known by then must not depend on what was asked before."""
        if start in self._asked or len(self._asked) > MOST_NESTED:
            return None
        self._asked.append(start)
        found = self._gathered(start)
        self._asked.pop()
        return found

    def _gathered(self, start: Source) -> frozenset[Origin] | None:
        todo: list[Source] = [start]
        seen = {start}
        while todo:
            source = todo.pop()
            if isinstance(source, Origin):
                continue
            before = self._before(source)
            if before is None or len(seen) > MOST_SOURCES:
                return None
            fresh = [each for each in before if each not in seen]
            seen.update(fresh)
            todo += fresh
        return frozenset([source for source in seen if isinstance(source, Origin)])

    def _before(self, source: Given | Kept | Variable | Param | Global) -> list[Source] | None:
        """Where what arrives at a place comes from directly."""
        match source:
            case Global():
                return None
            case Param(function=function, index=index):
                return self._given(function, index)
            case Kept(type=owner, name=name):
                return self._stored(owner, name)
            case Variable(function=function, name=name):
                return self._assigned(function, name)
            case Given(function=function, expr=expr, part=part):
                return self._made(function, expr, part)

    # --- places -------------------------------------------------------------------------------------------------------

    def _given(self, function_id: str, index: int) -> list[Source] | None:
        """What the calls of a function give for a parameter; unknown if it is handed on, or others may call it."""
        _, function = self._symbols.functions[function_id]
        if not self._has_known_callers(function_id, function) or function.parameters[index].kind != "positional":
            return None
        calls = [*self._symbols.called(function.name)]
        position = index - 1 if function.owner else index
        found: list[Source] = []
        for caller, call in calls if len(calls) <= MOST_NAMED else ():
            if caller in self._symbols.functions and self._may_lead_to(caller, call, function_id):
                given = argument(call, position, function.parameters[index].name)
                if given is None:
                    return None
                found.append(Given(caller, given))
        return found or None

    def _has_known_callers(self, function_id: str, function: Function) -> bool:
        """Whether the repository shows who calls a function: its programs use it, be it there for others, too."""
        outermost = function.parent in (None, MODULE) or bool(function.owner)
        if not outermost or function.name in self._symbols.mentioned:
            return False
        return not function.is_public or self._programs.use(self._symbols.functions[function_id][0].name)

    def _may_lead_to(self, caller: str, call: Call, function_id: str) -> bool:
        """Whether a call by the name of a function may be one of it: it is not surely one of another."""
        callee = self._symbols.meant(caller, call.func)
        if callee is not None or not isinstance(call.func, Attr):
            return callee == FunctionValue(function_id)
        found = self._types.expressions.of(caller, call.func.base)
        owner = project_class(found)
        if not self._takes(function_id, call) or (isinstance(found, LibraryType) and found.pointer):
            return False
        if owner is None:
            return bool(self._symbols.owner_of(function_id))
        method = self._promoted(owner, call.func.name)
        if method is None:
            return self.is_interface(owner) or not self._symbols.is_ordered_by_steps(function_id)
        return method == function_id or self._is_like(method, function_id)

    def _takes(self, function_id: str, call: Call) -> bool:
        """Whether a method may take as many arguments as a call gives; a call among them may give several."""
        parameters = self._symbols.functions[function_id][1].parameters
        if not self._symbols.is_ordered_by_steps(function_id) or any([p.kind == "variadic" for p in parameters]):
            return True
        several = len(call.args) == 1 and isinstance(call.args[0], Call)
        return several or len(call.args) == len(parameters) - bool(self._symbols.owner_of(function_id))

    def _is_like(self, method: str | None, function_id: str) -> bool:
        """Whether an interface's method may mean another one, perhaps of a type that is only embedded in others."""
        if method is None or not self.is_interface(self._symbols.owner_of(method)):
            return False
        one, other = (self._symbols.functions[each][1].parameters for each in (method, function_id))
        return len(one) == len(other) and not any(map(_are_two_types, one[1:], other[1:]))

    def _stored(self, type_id: str, name: str) -> list[Source] | None:
        """What is stored in a field, by assignments and in literals."""
        module, _, type_name = type_id.partition(":")
        if name[:1].isupper() and type_name[:1].isupper() and not self._programs.use(module):
            return None
        found, stores = self._placed(type_id, name), self._symbols.stores(name)
        if found is None or len(stores) > MOST_NAMED:
            return None
        for function_id, store in stores:
            if function_id not in self._symbols.functions:
                continue  # in what the build leaves out
            owner = self._types.expressions.of(function_id, store.base)
            if owner is None or (isinstance(owner, ClassType) and self._kept(owner.type, name) == Kept(type_id, name)):
                found.append(Given(function_id, store.value))
        return found or None

    def _placed(self, type_id: str, name: str) -> list[Source] | None:
        """What the literals give for a field that give all parts of a type by their order."""
        fields = list(self._symbols.types[type_id][1].fields)
        made = self._made_by_order.get(type_id, ())
        if any(len(literal.parts) != len(fields) for _, literal in made):
            return None
        return [Given(function_id, literal.parts[fields.index(name)]) for function_id, literal in made]

    @cached_property
    def _made_by_order(self) -> dict[str, list[tuple[str, Make]]]:
        """The literals of types that give the parts by their order, each with its function."""
        found: dict[str, list[tuple[str, Make]]] = defaultdict(list)
        for function_id, store in self._symbols.stores(""):
            if function_id in self._symbols.functions and isinstance(store.base, Make):
                owner = self._types.expressions.of(function_id, store.base)
                if isinstance(owner, ClassType):
                    found[owner.type].append((function_id, store.base))
        return found

    def _assigned(self, function_id: str, name: str) -> list[Source] | None:
        """What is assigned to a variable; what a nested function assigns is not followed."""
        _, function = self._symbols.functions[function_id]
        annotation = function.annotations.get(name)
        written = self._type(self._types.annotations.declared(function_id, annotation)) if annotation else None
        if written is not None:
            return [written]
        if f"{name}()" in function.bindings:
            return None
        bound: list[Source] = [Given(function_id, expr) for expr in function.bindings.get(name, ())]
        names = [parameter.name for parameter in function.parameters]
        if name in names:
            bound.append(Param(function_id, names.index(name)))
        return bound or None

    # --- expressions --------------------------------------------------------------------------------------------------

    def _made(self, function_id: str, expr: Expr, part: int | None) -> list[Source] | None:
        """What an expression gives: of its written type, if that says it, or else what it is made of."""
        match expr:
            case Const(value=None):
                return []
            case Closure(function=function):
                return [FunctionValue(f"{self._symbols.functions[function_id][0].name}:{function}")]
            case Name(name=name, scope="local"):
                return [Variable(function_id, name)]
            case Name(name=name, scope="captured"):
                binder = self._types.binder(function_id, name)
                return [Variable(binder, name)] if binder else None
            case Item(base=Call() as call, key=Const(value=int() as index)):
                return [Given(function_id, call, index)]
            case Item(base=Build(parts=parts), key=Const(value=int() as index)):
                return [Given(function_id, parts[index])] if index < len(parts) else None
            case Name() | Attr() if isinstance(named := self._symbols.meant(function_id, expr), FunctionValue):
                return [named]
            case Make() | Cast() | Attr() | Call() | Op(operator="address"):
                written = self._written(function_id, expr, part)
                return [written] if written is not None else self._behind(function_id, expr, part)
            case _:
                return None

    def _written(self, function_id: str, expr: Expr, part: int | None) -> Origin | None:
        """The type that an expression has by what is written, if no value has another one."""
        found = self._types.expressions.of(function_id, expr)
        return self._type(found if part is None else self._types.structures.item(found, Const(part)))

    def _type(self, found: TypeOf | None) -> Origin | None:
        """A type as the origin of values, if it is no interface."""
        match found:
            case ClassType(type=type_id):
                return None if self.is_interface(type_id) else TypeValue(type_id)
            case LibraryType(name=name, pointer=True):
                return Builtin(name)
            case _:
                return None

    def _behind(self, function_id: str, expr: Expr, part: int | None) -> list[Source] | None:
        """The same for what is written to be an interface."""
        match expr:
            case Cast(value=value):
                return [Given(function_id, value)]
            case Attr(base=base, name=name):
                owner = project_class(self._types.expressions.of(function_id, base))
                kept = self._kept(owner, name) if owner else None
                return [kept] if kept is not None else None
            case Call():
                return self._returned(function_id, expr, part)
            case Make():
                return []  # nil, which is what an interface starts with
            case _:
                return None

    def _returned(self, function_id: str, call: Call, part: int | None) -> list[Source] | None:
        callees = self._callees(function_id, call.func)
        found: list[Source] = []
        for callee in callees or ():
            if not isinstance(callee, FunctionValue):
                return None
            returns = self._symbols.functions[callee.function][1].bindings.get("return", ())
            if not returns:
                return None
            for expr in returns:
                one = Given(callee.function, expr, part)
                if part is not None and isinstance(expr, Build):
                    one = Given(callee.function, expr.parts[part]) if part < len(expr.parts) else one
                found.append(one)
        return found or None

    def _callees(self, function_id: str, func: Expr) -> frozenset[Origin] | None:
        """What a call calls."""
        match func:
            case Name(scope="local" | "captured"):
                return self._follow(Given(function_id, func))
            case Attr(base=base, name=name) if self._symbols.meant(function_id, func) is None:
                owner = project_class(self._types.expressions.of(function_id, base))
                method = self._method(owner, name) if owner else None
                return frozenset({FunctionValue(method)}) if method else None
            case _:
                named = self._symbols.meant(function_id, func)
                return frozenset({named}) if isinstance(named, FunctionValue) else None

    # --- types --------------------------------------------------------------------------------------------------------

    def is_interface(self, type_id: str) -> bool:
        """Whether values of a type may be of others; one of which that is not known may be such a type."""
        found: TypeOf | None = self._types.annotations.structure(ClassType(type_id))
        if isinstance(found, ClassType):
            return self._symbols.types[found.type][1].is_interface
        return found is None or "." in getattr(found, "name", "")

    def _kept(self, type_id: str, name: str) -> Kept | None:
        """The field that a name means for a type, in what it embeds perhaps."""
        owner = self._inner(type_id, name)
        return Kept(owner, name) if owner and name in self._symbols.types[owner][1].fields else None

    def _inner(self, type_id: str, name: str) -> str | None:
        """The type that has a member, which may be embedded."""
        owner: str | None = type_id
        for each in self._symbols.embedding.chain(type_id, name):
            owner = project_class(self._types.field(owner, each)) if owner else None
        return owner

    def _promoted(self, type_id: str, name: str) -> str | None:
        owner = self._inner(type_id, name)
        return self._symbols.method(owner, name) if owner else None

    def _method(self, type_id: str, name: str) -> str | None:
        """The method that objects of a type have, unless what they embed decides that."""
        method = self._promoted(type_id, name)
        return None if method is None or self.is_interface(self._symbols.owner_of(method)) else method


def _are_two_types(one: Parameter, other: Parameter) -> bool:
    """Whether two parameters are written with types of other packages, and those are not the same."""
    first, second = one.annotation, other.annotation
    if first is None or second is None or not (first.module and second.module):
        return False
    return (first.module, first.name) != (second.module, second.name)
