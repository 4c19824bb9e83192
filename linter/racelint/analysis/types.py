"""Types of values and expressions, as far as the sources say them: the receivers of calls."""

from __future__ import annotations

import sys
from collections.abc import Set

from racelint.analysis.annotations import STEPS, Annotations
from racelint.analysis.arriving import Arriving
from racelint.analysis.counterparts import Counterparts
from racelint.analysis.expressions import Expressions
from racelint.analysis.given import MOST_GIVEN, Given
from racelint.analysis.shells import Shells
from racelint.analysis.structures import Structures
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import NONE_TYPE, RESULTS, only, project_class, read, written
from racelint.analysis.type_names import ClassType as ClassType
from racelint.analysis.type_names import LibraryType as LibraryType
from racelint.analysis.type_names import TypeOf as TypeOf
from racelint.analysis.values import (
    Builtin,
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Lazy,
    Literal,
    Member,
    Param,
    Result,
    Seen,
    Tuple,
    TypeValue,
    Value,
    View,
)
from racelint.knowledge import Container, Knowledge
from racelint.model import Assign, Assigned, Attr, Call, Const, Expr, Function, Name
from racelint.model import Field as FieldRecord
from racelint.record import records

# Annotations that say less than what is assigned: what has a lock or a state may be told as one of them.
WIDE = frozenset(
    f"{module}.{name}"
    for module in ("typing", "contextlib")
    for name in ("ContextManager", "AsyncContextManager", "AbstractContextManager", "AbstractAsyncContextManager")
) | frozenset(f"{module}.{name}" for module in ("typing", "collections.abc") for name in ("Iterator", "Generator"))
GENERATOR = "types.GeneratorType"
MOST_OWN_CALLS = 2  # of a method on its own instance, one in the other, that may put something in a field


class Types:
    """Answers what type something has; None means unknown. Memoised; cycles are unknown.

    `annotations` reads written types, `structures` takes types apart, `expressions` are judged without regard to order,
    `arriving` tells of what type the values of an interface are, `shells` over what objects of libraries are made.
    """

    def __init__(self, symbols: Symbols, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self.annotations = Annotations(symbols, knowledge)
        self.structures = Structures(symbols, knowledge, self.annotations)
        self._counterparts = Counterparts(symbols, knowledge)
        self._given = Given(symbols, knowledge, self.annotations, self)
        self.expressions = Expressions(symbols, knowledge, self.annotations, self.structures, self)
        self.arriving = Arriving(symbols, self)
        self.shells = Shells(symbols, self, knowledge)
        self._fields: dict[tuple[str, str], TypeOf | None] = {}
        self._variables: dict[tuple[str, str], TypeOf | None] = {}
        self._values: dict[Value, TypeOf | None] = {}
        self._returns: dict[str, TypeOf | None] = {}
        self._inferred: dict[tuple[str, int], TypeOf | None] = {}
        self._captured: dict[Captured, Value] = {}
        self._is_cut = False  # the answer at hand lacks what is more steps away

    def is_of_unknown_library(self, value: Value) -> bool:
        """Whether an object is of a library's class of which no table speaks, nor the language's own documentation."""
        found = self.of(value)
        if not isinstance(found, LibraryType) or self._knowledge.speaks_of(found.name):
            return False
        return found.name.partition(".")[0] not in sys.stdlib_module_names

    def is_always_constant(self, parameter: Param) -> bool:
        """Whether each call in the project says outright what a parameter is."""
        return bool(self._given.constants(parameter.function, parameter.index))

    def constants(self, function_id: str, index: int) -> frozenset[Const]:
        """What a parameter may be, if each call in the project says that outright; nothing if it is not known."""
        return self._given.constants(function_id, index)

    def container(self, value: Value) -> Container | None:
        """How a value behaves as a container; None if its type is unknown or no container."""
        return self.structures.behaviour(self.of(value))

    def is_one_of(self, value: Value, names: Set[str]) -> bool:
        """Whether a value is of one of some types of the language or a library, itself and not by a pointer."""
        found = self.annotations.structure(self.of(value))
        return isinstance(found, LibraryType) and not found.pointer and found.name in names

    def of(self, value: Value) -> TypeOf | None:
        """The type of a value."""
        try:
            return self._values[value]  # hashing a value means walking it: once, if it is known
        except KeyError:
            self._values[value] = None
        found = self._values[value] = self._of(value)
        return found

    def _of(self, value: Value) -> TypeOf | None:
        match value:
            case Fresh(type=name) | Copy(type=name) | Result(type=name) | Cached(type=name) | Seen(type=name):
                return self.named(name)
            case Literal(type=name):
                return LibraryType(name)
            case Param(function=function, index=index):
                return self._given.parameter(function, index)
            case Captured(function=function, name=name):
                return self.variable(function, name)
            case Global(module=module, name=name):
                return self.variable(f"{module}:{MODULE}", name)
            case Field(base=base, name=name):
                owner = base.type if isinstance(base, TypeValue) else project_class(self.of(base))
                return self.field(owner, name) if owner else None
            case Element(base=base, key=key):
                found = self.of(base)
                if isinstance(found, LibraryType) and found.name == RESULTS and isinstance(key, Literal):
                    return self.structures.item(found, Const(key.value))
                return self.structures.element(found, "value")
            case Member(base=base):
                return self.structures.element(self.of(base), "key")
            case View() | Lazy():
                return LibraryType("iterator")
            case Tuple():
                return LibraryType("tuple")
            case Builtin(name="os.environ"):
                return LibraryType("os._Environ")
            case Builtin(name="sys.modules"):
                return LibraryType("dict")
            case FunctionValue() | TypeValue():
                return LibraryType("function")
            case _:
                return None

    def named(self, name: str) -> TypeOf | None:
        """A type by the name that values carry: a project's type id or a library's dotted name."""
        if not name:
            return None
        if name.endswith(">"):
            return read(name, self.named)
        return ClassType(name) if name in self._symbols.types else LibraryType(self._knowledge.canonical(name))

    def text(self, found: TypeOf | None) -> str:
        """The name of a type for values to carry: with the types of its elements, for what is known to keep them."""
        return written(found, self._knowledge.typed)

    def class_of(self, value: Value) -> str | None:
        """The project's class that a value is an instance of."""
        found = self.of(value)
        return found.type if type(found) is ClassType else None

    def field(self, type_id: str, name: str) -> TypeOf | None:
        """The type of a field: as declared, or of what is assigned to it if that is always the same."""
        key = (type_id, name)
        if key not in self._fields:
            self._fields[key] = None
            self._fields[key] = self._field(type_id, name)
        return self._fields[key]

    def _field(self, type_id: str, name: str) -> TypeOf | None:
        options: list[TypeOf | None] = []
        for owner, record in self._symbols.field_records(type_id, name):
            module = owner.partition(":")[0]
            if record.annotation is not None:
                found = self.annotations.declared(f"{module}:{MODULE}", record.annotation)
                if isinstance(found, LibraryType) and found.name in WIDE:
                    found = only(self._assigned(module, record)) or found
                if found is not None:
                    return self._narrowed(found, self._assigned(module, record))
            options += self._assigned(module, record)
        method = self._symbols.method(type_id, name)
        if not options and method is not None and self._symbols.functions[method][1].is_property:
            return self.result(method)
        if not options:
            return self._counterparts.of(type_id, name)
        lines = [(a.type, a.type.partition(":")[0]) for a in self._symbols.ancestors(type_id) if type(a) is TypeValue]
        put = [(module, f) for owner, module in lines for f in self._symbols.fillings.get((owner, name), ())]
        given = [(f"{module}:{f.function}", f.value) for module, f in put[:MOST_GIVEN]]
        return self._given.filled(self.common(options), given)

    def _narrowed(self, declared: TypeOf, stored: list[TypeOf | None]) -> TypeOf:
        """The mapping that is stored where one is declared, if looking something up changes that: a defaultdict."""
        kept = only(stored)
        if not isinstance(declared, LibraryType) or not isinstance(kept, LibraryType):
            return declared
        kinds = [found.kind for found in map(self.structures.behaviour, (declared, kept)) if found is not None]
        return declared._replace(name=kept.name) if kinds == ["mapping", "default mapping"] else declared

    def member(self, type_id: str, name: str) -> TypeOf | None:
        """The type of a field, the type's own or one that it embeds."""
        for part in self._symbols.embedding.chain(type_id, name):
            inner = project_class(self.field(type_id, part))
            if inner is None:
                return None
            type_id = inner
        return self.field(type_id, name)

    def _assigned(self, module: str, record: FieldRecord) -> list[TypeOf | None]:
        return [self._of_assigned(module, assigned) for assigned in record.values[:8]]

    def _of_assigned(self, module: str, assigned: Assigned, steps: int = STEPS) -> TypeOf | None:
        return self.expressions.of(f"{module}:{assigned.function}", assigned.value, steps - 1)

    def variable(self, function_id: str, name: str, steps: int = STEPS) -> TypeOf | None:
        """The type of a local variable (of a module's variable, for its module function)."""
        key = (function_id, name)
        if key not in self._variables:
            self._variables[key] = None
            self._variables[key] = self._variable(function_id, name, steps)
        return self._variables[key]

    def _variable(self, function_id: str, name: str, steps: int) -> TypeOf | None:
        source, function = self._symbols.functions[function_id]
        if function.qualname == MODULE:
            record = self._symbols.content(source.name).globals.get(name)
            if record is None:
                return None
            if record.annotation is not None:
                return self.annotations.declared(function_id, record.annotation)
            fillings = self._symbols.fillings.get((source.name, name), [])[:MOST_GIVEN]
            given = [(f"{source.name}:{filling.function}", filling.value) for filling in fillings]
            return self._given.filled(self.common(self._assigned(source.name, record)), given)
        if name in function.annotations:
            return self.annotations.declared(function_id, function.annotations[name])
        for index, parameter in enumerate(function.parameters):
            if parameter.name == name:
                return self._given.parameter(function_id, index)
        bound = function.bindings.get(name, ())[:6]
        found = self.common([self.expressions.of(function_id, expr, steps - 1) for expr in bound])
        put = [(function_id, value) for value in function.bindings.get(f"{name}[]", ())[:6]]
        return self._given.filled(found, put, steps) if put else found

    def binder(self, function_id: str, name: str) -> str | None:
        """The enclosing function that binds a captured name."""
        source, function = self._symbols.functions[function_id]
        while function.parent is not None:
            parent_id = f"{source.name}:{function.parent}"
            function = self._symbols.functions[parent_id][1]
            if function.name == "<body>":
                continue  # a class's variables are not seen from its methods
            if name in function.bindings or any(p.name == name for p in function.parameters):
                return parent_id
        return None

    def captured(self, function_id: str, name: str) -> Value | None:
        """Where a captured variable lives, or the field whose container it means: `rows = self.rows`, and nothing else.

        A method that puts another container in the field keeps the old one in the variable.
        """
        binder = self.binder(function_id, name)
        if binder is None:
            return None
        variable = Captured(binder, name)
        if variable not in self._captured:
            self._captured[variable] = self._kept_in(binder, name) or variable
        return self._captured[variable]

    def _kept_in(self, function_id: str, name: str) -> Field | None:
        """The field, unless the method, one that it calls on itself or a function in it may have put another there."""
        source, function = self._symbols.functions[function_id]
        bound = function.bindings.get(name, ())
        if not source.module.traits.duck_typed or len(bound) != 1 or not isinstance(bound[0], Attr):
            return None
        base, field = bound[0].base, bound[0].name
        if not function.own or not isinstance(base, Name) or base.name != function.own:
            return None
        inner = [f for each, (_, f) in self._symbols.functions.items() if each.startswith(f"{function_id}.")]
        if any(name in _targets(each) for each in inner) or self._replaces(function_id, field, MOST_OWN_CALLS):
            return None
        known = self.container(Field(Param(function_id, 0), field)) is not None
        return Field(Captured(function_id, function.own), field) if known else None

    def _replaces(self, function_id: str, field: str, steps: int) -> bool:
        """Whether a method, or one that it calls on its instance, stores a field."""
        _, function = self._symbols.functions[function_id]
        if f".{field}" in _targets(function):
            return True
        owner = self._symbols.owner_of(function_id)
        calls = [node.func for node in records(function.body) if isinstance(node, Call)]
        own = [f for f in calls if isinstance(f, Attr) and isinstance(f.base, Name) and f.base.name == function.own]
        called = [self._symbols.method(owner, func.name) for func in own] if steps > 0 else []
        return any(each is not None and self._replaces(each, field, steps - 1) for each in called)

    def returned(self, function_id: str) -> TypeOf | None:
        """What a function is declared to return, or what a generator function makes."""
        if function_id not in self._returns:
            self._returns[function_id] = None
            _, function = self._symbols.functions[function_id]
            if function.is_generator:
                made = not (function.is_async or self._symbols.is_coroutine(function_id, self._knowledge))
                self._returns[function_id] = LibraryType(GENERATOR) if made and not function.decorators else None
            elif function.returns is not None:
                self._returns[function_id] = self.annotations.declared(function_id, function.returns)
        return self._returns[function_id]

    def result(self, function_id: str, steps: int = STEPS) -> TypeOf | None:
        """What a call of a function gives: as declared, or what all that it returns is, and what overrides it.

        What was cut short counts for the same number of steps only.
        """
        found = self.returned(function_id)
        source, function = self._symbols.functions[function_id]
        if found is not None or not source.module.traits.duck_typed or function.is_generator:
            return found
        for key in ((function_id, 0), (function_id, steps)):
            if key in self._inferred:
                return self._inferred[key]
        if steps <= 1:
            self._is_cut = True
            return None
        self._inferred[function_id, steps] = None
        outer, self._is_cut = self._is_cut, False
        found = self._inferred_result(function_id, steps)
        self._inferred[function_id, steps if self._is_cut else 0] = self._inferred[function_id, steps] = found
        self._is_cut = outer or self._is_cut
        return found

    def _inferred_result(self, function_id: str, steps: int) -> TypeOf | None:
        function = self._symbols.functions[function_id][1]
        owner = self._symbols.owner_of(function_id) if function.owner else None
        options: list[TypeOf | None] = []
        for each in (function_id, *(self._symbols.overrides(owner, function.name) if owner else ())):
            one = self._symbols.functions[each][1]
            returned = one.bindings.get("return", ())
            declared = self.returned(each)
            if declared is not None:
                options.append(declared)
            elif len(returned) > MOST_GIVEN or not all([self._keeps_result(each, d) for d in one.decorators]):
                return None
            else:
                options += [self.expressions.of(each, expr, steps - 1) for expr in returned]
        return self.common(options) if None not in options else None

    def _keeps_result(self, function_id: str, decorator: Expr) -> bool:
        """Whether a function gives what it returns behind a decorator."""
        source, function = self._symbols.functions[function_id]
        match self._symbols.decorator(source.name, function, decorator):
            case Builtin(name=name):
                known = self._knowledge.does(name, "keeps-result") or self._knowledge.sharing.memo(name)
                return known is not None
            case _:
                return False

    def common(self, options: list[TypeOf | None]) -> TypeOf | None:
        """The one type among options, or the nearest class that all of them inherit from."""
        found = only(options)
        known = [option for option in options if option is not None and option != NONE_TYPE]
        classes = [option for option in known if isinstance(option, ClassType) and not option.value]
        if found is not None or len(classes) != len(known) or not classes:
            return found
        lines = [[a.type for a in self._symbols.ancestors(c.type) if isinstance(a, TypeValue)] for c in classes]
        return next((ClassType(t) for t in lines[0] if all([t in line for line in lines[1:]])), None)


def _targets(function: Function) -> set[str]:
    """What a function stores: the names of variables, and those of attributes with a dot."""
    stores = [node for node in records(function.body) if isinstance(node, Assign)]
    parts = [part for node in stores for part in records(node.targets)]
    variables = {part.name for part in parts if isinstance(part, Name)}
    return variables | {f".{part.name}" for part in parts if isinstance(part, Attr)}
