"""Types of expressions, without regard to the order in which things happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racelint.analysis.annotations import STEPS, Annotations
from racelint.analysis.given import MOST_GIVEN
from racelint.analysis.structures import Structures
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import NONE_TYPE, ClassType, LibraryType, TypeOf, only, project_class
from racelint.analysis.values import Builtin, FunctionValue, Global, TypeValue
from racelint.knowledge import Knowledge
from racelint.model import (
    Assigned,
    Attr,
    Await,
    Bind,
    Build,
    Call,
    Cast,
    Choice,
    Collect,
    Comp,
    Const,
    Expr,
    Item,
    Logic,
    Make,
    Name,
    Op,
)
from racelint.record import records

if TYPE_CHECKING:
    from racelint.analysis.types import Types


class Expressions:
    """Answers what type an expression has."""

    def __init__(
        self, symbols: Symbols, knowledge: Knowledge, annotations: Annotations, structures: Structures, types: Types
    ) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self._annotations = annotations
        self._structures = structures
        self._types = types

    def of(self, function_id: str, expr: Expr, steps: int = STEPS) -> TypeOf | None:
        """The type of an expression in a function, whatever runs before it."""
        if steps <= 0:
            return None
        match expr:
            case Const(value=value):
                return LibraryType(type(value).__name__) if value is not None else NONE_TYPE
            case Build(kind="dict" | "list" as kind, parts=parts) if parts:
                return self._of_display(function_id, kind, parts, steps - 1)
            case Comp(kind="dict" | "list" as kind, body=body):
                collected = tuple([part.value for part in records(body) if isinstance(part, Collect)])
                return self._of_display(function_id, kind, collected[:1], steps - 1)
            case Build(kind=kind) | Comp(kind=kind):
                return LibraryType("iterator" if kind == "generator" else kind)
            case Name(name=name, scope=scope):
                return self._of_name(function_id, name, scope, steps)
            case Await(value=value) | Bind(value=value):
                return self.of(function_id, value, steps - 1)
            case Attr(base=base, name=name):
                owner = project_class(self.of(function_id, base, steps - 1))
                return self._types.member(owner, name) if owner else self._module_variable(function_id, expr)
            case Make(type=made) | Cast(type=made):
                found = self._annotations.declared(function_id, made)
                return (
                    found
                    if found is not None or isinstance(expr, Make)
                    else self.of(function_id, expr.value, steps - 1)
                )
            case Op(operator="element key" | "element value" as operator, operands=(walked,)):
                container = self._annotations.structure(self.of(function_id, walked, steps - 1))
                return self._structures.walked(container, operator)
            case Op(operator="receive", operands=(channel,)):
                return self._structures.element(self.of(function_id, channel, steps - 1), "value")
            case Op(operator="address" | "deref" as operator, operands=(first,)):
                return self._structures.across(self.of(function_id, first, steps - 1), pointer=operator == "address")
            case Op(operator="window" | "append", operands=(first, *_)):
                return self.of(function_id, first, steps - 1)
            case Item(base=base, key=key):
                return self._structures.item(self.of(function_id, base, steps - 1), key)
            case Logic(operands=operands):
                return self._types.common([self.of(function_id, operand, steps - 1) for operand in operands])
            case Choice(then=then, orelse=orelse):
                return self._types.common([self.of(function_id, option, steps - 1) for option in (then, orelse)])
            case Op(operator="element", operands=(iterable,)):
                return self._of_element(function_id, iterable, steps - 1)
            case Op(operator="enter", operands=(manager,)):
                return self.of(function_id, manager, steps - 1)
            case Op(operator="+" | "|" | "-" | "&", operands=(first, *_)):
                return self.of(function_id, first, steps - 1)
            case Op(operator="format" | "%"):
                return LibraryType("str")
            case Call():
                return self._of_call(function_id, expr, steps - 1)
            case _:
                return None

    def _of_display(self, function_id: str, kind: str, parts: tuple[Expr, ...], steps: int) -> LibraryType:
        """A container, with what all its parts are, if they are containers or objects that are made there."""
        made = all(isinstance(part, Build | Call) for part in parts)
        element = only([self.of(function_id, part, steps) for part in parts[:MOST_GIVEN]]) if made else None
        return LibraryType(kind, () if element is None else (None, element) if kind == "dict" else (element,))

    def _of_name(self, function_id: str, name: str, scope: str, steps: int) -> TypeOf | None:
        source, _ = self._symbols.functions[function_id]
        if scope == "local":
            return self._types.variable(function_id, name, steps)
        if scope == "captured":
            owner = self._types.binder(function_id, name)
            return self._types.variable(owner, name, steps) if owner else None
        value = self._symbols.name(source.name, name)
        return self._types.of(value)

    def _module_variable(self, function_id: str, expr: Attr) -> TypeOf | None:
        value = self._symbols.static(self._symbols.functions[function_id][0].name, expr)
        return self._types.of(value) if value is not None else None

    def _of_element(self, function_id: str, iterable: Expr, steps: int) -> TypeOf | None:
        match iterable:
            case Call(func=Attr(base=base, name="values" | "itervalues")):
                return self._structures.element(self.of(function_id, base, steps), "value")
            case Call(func=Attr(base=base, name="items" | "iteritems")):
                found = self.of(function_id, base, steps)
                pair = (self._structures.element(found, "key"), self._structures.element(found, "value"))
                return LibraryType("pair", pair)
            case Call(func=Name(name="list" | "sorted" | "tuple" | "set" | "reversed" | "iter"), args=(inner,)):
                return self._of_element(function_id, inner, steps - 1) if steps > 0 else None
            case _:
                return self._structures.element(self.of(function_id, iterable, steps), "key")

    def _of_call(self, function_id: str, call: Call, steps: int) -> TypeOf | None:
        source, _ = self._symbols.functions[function_id]
        callee = self._symbols.meant(function_id, call.func)
        if callee is None and isinstance(call.func, Attr):
            found = self.of(function_id, call.func.base, steps)
            owner = project_class(found)
            for part in self._symbols.embedding.chain(owner, call.func.name) if owner else ():
                owner = project_class(self._types.field(owner, part)) if owner else None
            method = self._symbols.method(owner, call.func.name) if owner else None
            callee = (
                FunctionValue(method) if method else self._symbols.kept_class(owner, call.func.name) if owner else None
            )
            if isinstance(found, LibraryType):
                return self._made_by(f"{found.name}.{call.func.name}")
        match callee:
            case TypeValue(type=type_id):
                return ClassType(type_id, self._annotations.is_value(type_id))
            case FunctionValue(function=function):
                return self._types.result(function, steps)
            case Builtin(name=name) if (made := self._made_by(name)) is not None:
                return made
            case _ if not source.module.traits.capital_types:
                return None
            case Builtin(name="dataclasses.field" | "attr.ib" | "attrs.field" | "attr.Factory" | "attrs.Factory"):
                return self._of_default(function_id, call, steps)
            case Builtin(name=name) if name.endswith(".fromkeys"):
                return LibraryType(self._knowledge.canonical(name.removesuffix(".fromkeys")))
            case Builtin(name="sorted"):
                return LibraryType("list")
            case Builtin(name="copy.copy" | "copy.deepcopy") if call.args:
                return self.of(function_id, call.args[0], steps)
            case Builtin(name=name):
                return LibraryType(self._knowledge.canonical(name)) if _names_type(name, self._knowledge) else None
            case _:
                return self._types.common([ClassType(each) for each in self._listed(function_id, call.func)])

    def _listed(self, function_id: str, callee: Expr) -> list[str]:
        """The classes of a module's table of which a call makes one: `ENGINES[kind](...)`, `ENGINES.get(kind)(...)`."""
        source, function = self._symbols.functions[function_id]
        if isinstance(callee, Name) and callee.scope == "local":
            bound = function.bindings.get(callee.name, ())
            callee = bound[0] if len(bound) == 1 else callee
        match callee:
            case Item(base=table) | Call(func=Attr(base=table, name="get"), args=(_,)):
                found = self._symbols.static(source.name, table)
            case _:
                return []
        if not isinstance(found, Global):
            return []
        record = self._symbols.content(found.module).globals.get(found.name)
        match record.values if record is not None else ():
            case (Assigned(value=Build(kind="dict", parts=parts)),):
                kinds = [self._symbols.static(found.module, part) for part in parts]
                known = [kind.type for kind in kinds if isinstance(kind, TypeValue)]
                return known if len(known) == len(kinds) else []
            case _:
                return []

    def _made_by(self, name: str) -> LibraryType | None:
        """What a library's function makes, as far as a table says so."""
        row = self._knowledge.does(name, "new")
        return LibraryType(row.returns) if row is not None else None

    def _of_default(self, function_id: str, call: Call, steps: int) -> TypeOf | None:
        """The type of a dataclass field's default or of what its factory makes."""
        for name, value in (*call.keywords, *[("", arg) for arg in call.args]):
            if name in ("default_factory", "factory", ""):
                return self.of(function_id, Call(value, (), (), call.span), steps)
            if name == "default":
                return self.of(function_id, value, steps)
        return None


def _names_type(name: str, knowledge: Knowledge) -> bool:
    """Whether calling a library name makes an instance of that name: a known type, or a capitalised one."""
    last = name.rpartition(".")[2]
    known = knowledge.container(name) is not None or name in knowledge.unsafe
    return known or (last[:1].isupper() and not last.isupper())
