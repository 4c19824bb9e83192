"""Types of values and expressions, as far as the sources say them: the receivers of calls."""

from __future__ import annotations

from collections.abc import Iterable

from racelint.analysis.symbols import MODULE, Symbols, argument
from racelint.analysis.type_names import ClassType as ClassType
from racelint.analysis.type_names import LibraryType as LibraryType
from racelint.analysis.type_names import TypeOf as TypeOf
from racelint.analysis.type_names import read, written
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
from racelint.model import (
    Assigned,
    Attr,
    Await,
    Bind,
    Build,
    Call,
    Cast,
    Choice,
    Comp,
    Const,
    Expr,
    Item,
    Logic,
    Make,
    Name,
    Op,
    TypeRef,
)
from racelint.model import (
    Field as FieldRecord,
)

MOST_GIVEN = 8  # constructor calls looked at for the type of a parameter
STEPS = 12  # how far a type is traced through variables, fields and calls


NONE_TYPE = LibraryType("None")
WRAPPERS = {
    "typing.Optional", "typing.Final", "typing.ClassVar", "typing.Annotated", "typing.Required", "typing.Awaitable",
    "typing.NotRequired", "typing.ReadOnly", "dataclasses.InitVar",
}  # fmt: skip
RESULTS = "results"  # what a function of several results returns
UNIONS = {"typing.Union", "Union"}


class Types:
    """Answers what type something has; None means unknown. Memoised; cycles are unknown."""

    def __init__(self, symbols: Symbols, knowledge: Knowledge) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self._fields: dict[tuple[str, str], TypeOf | None] = {}
        self._variables: dict[tuple[str, str], TypeOf | None] = {}
        self._values: dict[Value, TypeOf | None] = {}
        self._returns: dict[str, TypeOf | None] = {}
        self._parameters: dict[tuple[str, int], TypeOf | None] = {}

    # --- containers ---------------------------------------------------------------------------------------------------

    def container(self, value: Value) -> Container | None:
        """How a value behaves as a container; None if its type is unknown or no container."""
        return self.behaviour(self.of(value))

    def behaviour(self, found: TypeOf | None) -> Container | None:
        """How a type behaves as a container; a project's class behaves as the library container it inherits from."""
        match found:
            case LibraryType(name=name):
                return self._knowledge.container(name)
            case ClassType(type=type_id):
                if self._symbols.types[type_id][1].underlying is not None:
                    inner = self.structure(found)
                    return None if inner == found or isinstance(inner, ClassType) else self.behaviour(inner)
                for ancestor in self._symbols.ancestors(type_id):
                    if isinstance(ancestor, Builtin):
                        container = self._knowledge.container(ancestor.name)
                        if container is not None:
                            return container
        return None

    # --- values -------------------------------------------------------------------------------------------------------

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
                return self._parameter(function, index)
            case Captured(function=function, name=name):
                return self.variable(function, name)
            case Global(module=module, name=name):
                return self.variable(f"{module}:{MODULE}", name)
            case Field(base=base, name=name):
                owner = base.type if isinstance(base, TypeValue) else self._class(self.of(base))
                return self.field(owner, name) if owner else None
            case Element(base=base, key=key):
                found = self.of(base)
                if isinstance(found, LibraryType) and found.name == RESULTS and isinstance(key, Literal):
                    return self._of_item(found, Const(key.value))
                return self.element(found, "value")
            case Member(base=base):
                return self.element(self.of(base), "key")
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

    def element(self, container: TypeOf | None, part: str) -> TypeOf | None:
        """The type of a container's keys or values; of a sequence's elements both."""
        container = self.structure(container)
        if not isinstance(container, LibraryType) or not container.args:
            return None
        if part == "value" and len(container.args) == 2 and container.name != "tuple":
            return container.args[1]
        return container.args[0]

    def structure(self, found: TypeOf | None) -> TypeOf | None:
        """What a defined type is made of; any other type is itself."""
        for _ in range(STEPS):
            record = self._symbols.types[found.type][1] if isinstance(found, ClassType) else None
            if record is None or record.underlying is None:
                break
            found = self._declared_in(found.type.partition(":")[0], record.underlying)  # type: ignore[union-attr]
        return found

    def is_value(self, type_id: str) -> bool:
        """Whether variables of a type hold the object itself."""
        record = self._symbols.types[type_id][1]
        if record.by_value or record.underlying is None:
            return record.by_value
        inner = self.structure(ClassType(type_id))
        return isinstance(inner, ClassType) and self._symbols.types[inner.type][1].by_value

    def _class(self, found: TypeOf | None) -> str | None:
        return found.type if isinstance(found, ClassType) else None

    def class_of(self, value: Value) -> str | None:
        """The project's class that a value is an instance of."""
        found = self.of(value)
        return found.type if type(found) is ClassType else None

    # --- declarations -------------------------------------------------------------------------------------------------

    def _parameter(self, function_id: str, index: int) -> TypeOf | None:
        source, function = self._symbols.functions[function_id]
        if index >= len(function.parameters):
            return None
        parameter = function.parameters[index]
        if index == 0 and function.owner and function.binding == "instance":
            return self._receiver(f"{source.name}:{function.owner}", parameter.annotation)
        if parameter.kind == "variadic" and parameter.annotation is not None and parameter.annotation.name == "[]":
            return self.declared(function_id, parameter.annotation)
        if parameter.kind == "variadic":
            return LibraryType("tuple")
        if parameter.kind == "keywords":
            return LibraryType("dict")
        if parameter.annotation is not None:
            return self.declared(function_id, parameter.annotation)
        if parameter.default is not None and parameter.default != Const(None):
            found = self.expression(function_id, parameter.default)
            return found if isinstance(found, LibraryType) and self._knowledge.container(found.name) else None
        if function.name == "__init__" and function.owner:
            return self._given(f"{source.name}:{function.owner}", index - 1, parameter.name)
        return self._from_calls(function_id, index) if source.module.traits.duck_typed else None

    def _from_calls(self, function_id: str, index: int) -> TypeOf | None:
        """What the project's calls of a function give for a parameter, if that is always of one class."""
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
                options.append(self.expression(caller, given))
                if len(options) >= MOST_GIVEN:
                    break
        found = _only(options) if None not in options else None
        return found if isinstance(found, ClassType) else None

    def _leads_to(self, caller: str, call: Call, function_id: str) -> bool:
        """Whether a call is one of a function, or of a method that overrides it or is overridden by it."""
        callee = self._symbols.meant(caller, call.func)
        if callee is not None or not isinstance(call.func, Attr):
            return callee == FunctionValue(function_id)
        owner = self._class(self.expression(caller, call.func.base))
        if owner is None:
            return self._symbols.owners(call.func.name) == [self._symbols.owner_of(function_id)]
        return self._symbols.method(owner, call.func.name) == function_id

    def _receiver(self, type_id: str, annotation: TypeRef | None) -> TypeOf | None:
        if type_id not in self._symbols.types:
            return None  # declared in a file that could not be read
        pointer = annotation is None or annotation.name == "*"
        return ClassType(type_id, not pointer and self.is_value(type_id))

    def _given(self, type_id: str, position: int, name: str) -> TypeOf | None:
        """What the constructors of a type, or of those that inherit its constructor, are given for a parameter."""
        heirs = [
            t for t in sorted(self._symbols.subtypes(type_id)) if "__init__" not in self._symbols.types[t][1].methods
        ]
        options: list[TypeOf | None] = []
        for owner in (type_id, *heirs):
            for function_id, given in self._symbols.handed(owner, position, name):
                options.append(self.expression(function_id, given))
                if len(options) >= MOST_GIVEN:
                    return _only(options)
        return _only(options)

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
        if name in WRAPPERS and annotation.args:
            return self.declared(function_id, annotation.args[0], steps - 1)
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
                found = self.declared(f"{module}:{MODULE}", record.annotation)
                if found is not None:
                    return found
            options += self._assigned(module, record)
        method = self._symbols.method(type_id, name)
        if not options and method is not None and self._symbols.functions[method][1].is_property:
            return self.returned(method)
        if not options:
            return self._counterpart(type_id, name)
        lines = [(a.type, a.type.partition(":")[0]) for a in self._symbols.ancestors(type_id) if type(a) is TypeValue]
        put = [
            (module, filling) for owner, module in lines for filling in self._symbols.fillings.get((owner, name), ())
        ]
        return self._filled(_only(options), [(f"{module}:{f.function}", f.value) for module, f in put[:MOST_GIVEN]])

    def _filled(self, found: TypeOf | None, put: Iterable[tuple[str, Expr]], steps: int = STEPS) -> TypeOf | None:
        """A container whose elements' type is not said, with the type of all that is put into it."""
        if not isinstance(found, LibraryType) or found.args:
            return found
        container = self._knowledge.container(found.name)
        element = _only([self.expression(function_id, value, steps - 1) for function_id, value in put])
        if element is None or container is None:
            return found
        return LibraryType(found.name, (None, element) if "keys" in container.views else (element,))

    def _counterpart(self, type_id: str, name: str) -> TypeOf | None:
        """What a library puts into a field of a class below its own: what is made with this class, or the one class of
        the module that is made for that.
        """
        for row in self._knowledge.concurrency.counterparts:
            if row.field == name and self._is_below(type_id, row.bases):
                fitting = [other for other in self._symbols.types if self._is_below(other, row.types)]
                near = [other for other in fitting if other.partition(":")[0] == type_id.partition(":")[0]]
                found = [other for other in fitting if self._is_made_with(other, type_id)] or near
                return ClassType(found[0]) if len(found) == 1 else None
        return None

    def _is_made_with(self, type_id: str, other: str) -> bool:
        given = [(f, arg) for f, made in self._symbols.constructions(type_id) for arg in made.call.args]
        return any(self._symbols.meant(function_id, arg) == TypeValue(other) for function_id, arg in given)

    def _is_below(self, type_id: str, libraries: tuple[str, ...]) -> bool:
        return any(isinstance(a, Builtin) and a.name in libraries for a in self._symbols.ancestors(type_id))

    def _assigned(self, module: str, record: FieldRecord) -> list[TypeOf | None]:
        return [self._of_assigned(module, assigned) for assigned in record.values[:8]]

    def _of_assigned(self, module: str, assigned: Assigned, steps: int = STEPS) -> TypeOf | None:
        return self.expression(f"{module}:{assigned.function}", assigned.value, steps - 1)

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
                return self.declared(function_id, record.annotation)
            fillings = self._symbols.fillings.get((source.name, name), [])[:MOST_GIVEN]
            given = [(f"{source.name}:{filling.function}", filling.value) for filling in fillings]
            return self._filled(_only(self._assigned(source.name, record)), given)
        if name in function.annotations:
            return self.declared(function_id, function.annotations[name])
        for index, parameter in enumerate(function.parameters):
            if parameter.name == name:
                return self._parameter(function_id, index)
        found = _only([self.expression(function_id, expr, steps - 1) for expr in function.bindings.get(name, ())[:6]])
        put = [(function_id, value) for value in function.bindings.get(f"{name}[]", ())[:6]]
        return self._filled(found, put, steps) if put else found

    def returned(self, function_id: str) -> TypeOf | None:
        """What a function is declared to return."""
        if function_id not in self._returns:
            self._returns[function_id] = None
            _, function = self._symbols.functions[function_id]
            if function.returns is not None and not function.is_generator:
                self._returns[function_id] = self.declared(function_id, function.returns)
        return self._returns[function_id]

    # --- expressions, without regard to order -------------------------------------------------------------------------

    def expression(self, function_id: str, expr: Expr, steps: int = STEPS) -> TypeOf | None:
        """The type of an expression in a function, whatever runs before it."""
        if steps <= 0:
            return None
        match expr:
            case Const(value=value):
                return LibraryType(type(value).__name__) if value is not None else NONE_TYPE
            case Build(kind="dict" | "list" as kind, parts=parts) if parts:
                element = self._of_parts(function_id, parts, steps - 1)
                return LibraryType(kind, () if element is None else (None, element) if kind == "dict" else (element,))
            case Build(kind=kind) | Comp(kind=kind):
                return LibraryType("iterator" if kind == "generator" else kind)
            case Name(name=name, scope=scope):
                return self._of_name(function_id, name, scope, steps)
            case Await(value=value) | Bind(value=value):
                return self.expression(function_id, value, steps - 1)
            case Attr(base=base, name=name):
                owner = self._class(self.expression(function_id, base, steps - 1))
                return self.member(owner, name) if owner else self._module_variable(function_id, expr)
            case Make(type=made) | Cast(type=made):
                found = self.declared(function_id, made)
                return (
                    found
                    if found is not None or isinstance(expr, Make)
                    else self.expression(function_id, expr.value, steps - 1)
                )
            case Op(operator="element key" | "element value" as operator, operands=(walked,)):
                return self._of_walked(self.structure(self.expression(function_id, walked, steps - 1)), operator)
            case Op(operator="receive", operands=(channel,)):
                return self.element(self.expression(function_id, channel, steps - 1), "value")
            case Op(operator="address" | "deref" as operator, operands=(first,)):
                return self._across(self.expression(function_id, first, steps - 1), pointer=operator == "address")
            case Op(operator="window" | "append", operands=(first, *_)):
                return self.expression(function_id, first, steps - 1)
            case Item(base=base, key=key):
                return self._of_item(self.expression(function_id, base, steps - 1), key)
            case Logic(operands=operands):
                return _only([self.expression(function_id, operand, steps - 1) for operand in operands])
            case Choice(then=then, orelse=orelse):
                return _only([self.expression(function_id, option, steps - 1) for option in (then, orelse)])
            case Op(operator="element", operands=(iterable,)):
                return self._of_element(function_id, iterable, steps - 1)
            case Op(operator="enter", operands=(manager,)):
                return self.expression(function_id, manager, steps - 1)
            case Op(operator="+" | "|" | "-" | "&", operands=(first, *_)):
                return self.expression(function_id, first, steps - 1)
            case Op(operator="format" | "%"):
                return LibraryType("str")
            case Call():
                return self._of_call(function_id, expr, steps - 1)
            case _:
                return None

    def _across(self, found: TypeOf | None, *, pointer: bool) -> TypeOf | None:
        """A type behind a pointer, or what a pointer leads to."""
        if isinstance(found, ClassType):
            return found._replace(value=not pointer and self.is_value(found.type))
        return found._replace(pointer=pointer) if found is not None else None

    def _of_walked(self, container: TypeOf | None, part: str) -> TypeOf | None:
        """What a loop over a container takes out of it: keys are numbers where it is a sequence."""
        if not isinstance(container, LibraryType) or not container.args:
            return container if part == "element key" and container == LibraryType("int") else None
        if part == "element key":
            row = self._knowledge.container(container.name)
            return container.args[0] if row is None or not row.sequence else LibraryType("int")
        return container.args[-1]

    def member(self, type_id: str, name: str) -> TypeOf | None:
        """The type of a field, the type's own or one that it embeds."""
        for part in self._symbols.embedding.chain(type_id, name):
            inner = self._class(self.field(type_id, part))
            if inner is None:
                return None
            type_id = inner
        return self.field(type_id, name)

    def _of_parts(self, function_id: str, parts: tuple[Expr, ...], steps: int) -> TypeOf | None:
        """What the parts of a display all are, if they are containers themselves."""
        if not all(isinstance(part, Build) for part in parts):
            return None
        return _only([self.expression(function_id, part, steps) for part in parts[:MOST_GIVEN]])

    def _of_item(self, container: TypeOf | None, key: Expr) -> TypeOf | None:
        if (
            isinstance(container, LibraryType)
            and container.name in ("pair", "tuple", RESULTS)
            and isinstance(key, Const)
        ):
            index = key.value
            known = isinstance(index, int) and 0 <= index < len(container.args)
            return container.args[index] if known else None  # type: ignore[index]
        return self.element(container, "value")

    def _of_name(self, function_id: str, name: str, scope: str, steps: int) -> TypeOf | None:
        source, _ = self._symbols.functions[function_id]
        if scope == "local":
            return self.variable(function_id, name, steps)
        if scope == "captured":
            owner = self.binder(function_id, name)
            return self.variable(owner, name, steps) if owner else None
        value = self._symbols.name(source.name, name)
        return self.of(value)

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

    def _module_variable(self, function_id: str, expr: Attr) -> TypeOf | None:
        value = self._symbols.static(self._symbols.functions[function_id][0].name, expr)
        return self.of(value) if value is not None else None

    def _of_element(self, function_id: str, iterable: Expr, steps: int) -> TypeOf | None:
        match iterable:
            case Call(func=Attr(base=base, name="values" | "itervalues")):
                return self.element(self.expression(function_id, base, steps), "value")
            case Call(func=Attr(base=base, name="items" | "iteritems")):
                found = self.expression(function_id, base, steps)
                pair = (self.element(found, "key"), self.element(found, "value"))
                return LibraryType("pair", pair)
            case Call(func=Name(name="list" | "sorted" | "tuple" | "set" | "reversed" | "iter"), args=(inner,)):
                return self._of_element(function_id, inner, steps - 1) if steps > 0 else None
            case _:
                return self.element(self.expression(function_id, iterable, steps), "key")

    def _of_call(self, function_id: str, call: Call, steps: int) -> TypeOf | None:
        source, _ = self._symbols.functions[function_id]
        callee = self._symbols.meant(function_id, call.func)
        if callee is None and isinstance(call.func, Attr):
            owner = self._class(self.expression(function_id, call.func.base, steps))
            for part in self._symbols.embedding.chain(owner, call.func.name) if owner else ():
                owner = self._class(self.field(owner, part)) if owner else None
            method = self._symbols.method(owner, call.func.name) if owner else None
            callee = FunctionValue(method) if method else None
        match callee:
            case TypeValue(type=type_id):
                return ClassType(type_id, self.is_value(type_id))
            case FunctionValue(function=function):
                return self.returned(function)
            case _ if not source.module.traits.capital_types:
                return None
            case Builtin(name="dataclasses.field" | "attr.ib" | "attrs.field" | "attr.Factory" | "attrs.Factory"):
                return self._of_default(function_id, call, steps)
            case Builtin(name=name) if name.endswith(".fromkeys"):
                return LibraryType(self._knowledge.canonical(name.removesuffix(".fromkeys")))
            case Builtin(name="sorted"):
                return LibraryType("list")
            case Builtin(name="copy.copy" | "copy.deepcopy") if call.args:
                return self.expression(function_id, call.args[0], steps)
            case Builtin(name=name):
                return LibraryType(self._knowledge.canonical(name)) if _names_type(name, self._knowledge) else None
            case _:
                return None

    def _of_default(self, function_id: str, call: Call, steps: int) -> TypeOf | None:
        """The type of a dataclass field's default or of what its factory makes."""
        for name, value in (*call.keywords, *[("", arg) for arg in call.args]):
            if name in ("default_factory", "factory", ""):
                return self.expression(function_id, Call(value, (), (), call.span), steps)
            if name == "default":
                return self.expression(function_id, value, steps)
        return None


def _names_type(name: str, knowledge: Knowledge) -> bool:
    """Whether calling a library name makes an instance of that name: a known type, or a capitalised one."""
    last = name.rpartition(".")[2]
    return knowledge.container(name) is not None or (last[:1].isupper() and not last.isupper())


def _only(options: list[TypeOf | None]) -> TypeOf | None:
    """The one type among options; None and unknown ones aside, if all others agree."""
    known = [option for option in options if option is not None and option != NONE_TYPE]
    if not known:
        return None
    names = {option.name if isinstance(option, LibraryType) else option.type for option in known}
    if len(names) > 1:
        return None
    return max(known, key=lambda option: len(option.args) if isinstance(option, LibraryType) else 0)
