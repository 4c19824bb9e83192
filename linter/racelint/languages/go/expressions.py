"""Go expressions to the program model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from racelint.languages.go.scopes import TypeName
from racelint.languages.go.tree import Text, field, parts
from racelint.languages.go.types import ARRAY, CHANNEL, MAP, POINTER, PREDECLARED, SLICE, UNKNOWN, TypeRefs
from racelint.model import (
    Attr,
    AttributeStore,
    Build,
    Call,
    Cast,
    Const,
    Construction,
    Expr,
    Imported,
    Item,
    Logic,
    Make,
    Name,
    Op,
    Star,
    TypeRef,
    TypeValue,
)
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

COMPARISONS = {"==": "is", "!=": "is not"}  # with nil
OPERATIONS = {
    "len": "length",
    "cap": "length",
    "close": "close",
    "clear": "clear",
    "copy": "copy into",
    "append": "append",
}
FUNCTIONS = frozenset({
    "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min", "new", "panic",
    "print", "println", "real", "recover",
})  # fmt: skip


class Expressions(TypeRefs):
    """Lowers expressions in the current scope."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.text = Text(data)
        self.constructions: list[Construction] = []
        self.attribute_stores: list[AttributeStore] = []
        self.mentions: dict[str, None] = {}
        self.called: set[str] = set()
        self.own_functions: frozenset[str] = frozenset()  # that this file declares
        self._imported: dict[str, Imported] = {}
        self._expressions: dict[str, Callable[[Node], Expr]] = {
            "identifier": self._identifier, "selector_expression": self._selector, "call_expression": self._call,
            "index_expression": self._index, "slice_expression": self._slice, "unary_expression": self._unary,
            "binary_expression": self._binary, "parenthesized_expression": lambda n: self.expr(parts(n)[0]),
            "composite_literal": self._composite, "func_literal": self.closure,
            "type_assertion_expression": self._assertion, "type_conversion_expression": self._conversion,
            "type_instantiation_expression": self._instantiation, "variadic_argument": self._spread,
            "int_literal": self._number, "float_literal": self._literal, "imaginary_literal": self._literal,
            "rune_literal": self._literal, "interpreted_string_literal": self._string,
            "raw_string_literal": self._string,
            "true": lambda n: Const(True), "false": lambda n: Const(False), "nil": lambda n: Const(None),
            "iota": lambda n: Op("iota", (), self.span(n)), "type_identifier": self._identifier,
            "generic_type": self._generic_name, "qualified_type": self._qualified_name,
            "literal_element": lambda n: self.expr(parts(n)[0]),
        }  # fmt: skip

    def span(self, node: Node) -> Span:
        """The node's span with columns in characters."""
        return self.text.span(node)

    def expr(self, node: Node) -> Expr:
        """Lower one expression; a type that stands where a value could is nothing known."""
        lowerer = self._expressions.get(node.type)
        return lowerer(node) if lowerer else Op("type", (), self.span(node))

    def exprs(self, nodes: Sequence[Node]) -> tuple[Expr, ...]:
        """Lower several."""
        return tuple([self.expr(node) for node in nodes])

    def closure(self, node: Node) -> Expr:
        """Lower a function literal to a function of its own and the closure that refers to it."""
        raise NotImplementedError

    # --- names --------------------------------------------------------------------------------------------------------

    def _identifier(self, node: Node) -> Expr:
        name = self.text.of(node)
        if name == "_":
            return Name(name, "local", self.span(node))
        found = self.scope.resolve(name)
        if isinstance(found, TypeName):
            return TypeValue(found.qualname, self.span(node)) if found.qualname else Op("type", (), self.span(node))
        if found[1] == "global":
            self.mentions[name] = None
        return Name(found[0], found[1], self.span(node))

    def package(self, node: Node) -> Imported | None:
        """The package that an identifier means, unless a variable has its name."""
        if node.type not in ("identifier", "package_identifier"):
            return None
        name = self.text.of(node)
        path = self.imports.get(name)
        if path is None or self.scope.resolve(name) != (name, "global"):
            return None
        return self._imported.setdefault(path, Imported(path, None, 0))

    def _selector(self, node: Node) -> Expr:
        operand, name = field(node, "operand"), self.text.of(field(node, "field"))
        base = self.package(operand) or self.expr(operand)
        self.mentions[name] = None
        return Attr(base, name, self.span(node))

    def _qualified_name(self, node: Node) -> Expr:
        """`p.x` where a type could stand: of a package, or of a variable."""
        base, name = field(node, "package"), self.text.of(field(node, "name"))
        return Attr(self.package(base) or self._identifier(base), name, self.span(node))

    # --- literals -----------------------------------------------------------------------------------------------------

    def _number(self, node: Node) -> Expr:
        text = self.text.of(node)
        try:
            return Const(int(text.replace("_", ""), 0))
        except ValueError:  # 0755
            return Const(text)

    def _literal(self, node: Node) -> Expr:
        return Const(self.text.of(node))

    def _string(self, node: Node) -> Expr:
        return Const(self.text.of(node)[1:-1])

    def _composite(self, node: Node) -> Expr:
        return self._value(self.type_ref(field(node, "type")), field(node, "body"), self.span(node))

    def _value(self, type_ref: TypeRef, body: Node, span: Span) -> Make:
        """A literal of a type: named fields, or elements with or without keys."""
        inner = type_ref.args[-1] if type_ref.name in (SLICE, ARRAY, MAP) and type_ref.args else UNKNOWN
        key_type = type_ref.args[0] if type_ref.name == MAP and type_ref.args else UNKNOWN
        is_struct = type_ref.name not in (SLICE, ARRAY, MAP)
        fields: list[tuple[str, Expr]] = []
        values: list[Expr] = []
        keys: list[Expr | None] = []
        for element in parts(body):
            if element.type != "keyed_element":
                values.append(self._part(element, inner))
                keys.append(None)
                continue
            key, value = field(element, "key"), field(element, "value")
            name = parts(key)[0] if parts(key) else key
            if is_struct and name.type == "identifier":
                fields.append((self.text.of(name), self._part(value, inner)))
            else:
                keys.append(self._part(key, key_type))
                values.append(self._part(value, inner))
        made = Make(type_ref, tuple(values), tuple(keys), tuple(fields), span)
        if is_struct:
            self._note_parts(made)
        return made

    def _note_parts(self, made: Make) -> None:
        """What a literal gives to the fields of a struct."""
        for name, value in made.fields:
            self.note_store(made, name, value)
        if made.parts:
            self.attribute_stores.append(AttributeStore(self.scope.qualname, made, "", made.parts[0]))

    def note_store(self, base: Expr, name: str, value: Expr) -> None:
        """Record what a field is given, unless it is a constant."""
        if not isinstance(value, Const):
            self.attribute_stores.append(AttributeStore(self.scope.qualname, base, name, value))

    def _part(self, node: Node, type_ref: TypeRef) -> Expr:
        """An element of a literal; one in braces has the type that the literal's type gives it."""
        value = parts(node)[0] if node.type == "literal_element" else node
        if value.type != "literal_value":
            return self.expr(value)
        if type_ref.name == POINTER and type_ref.args:
            return Op("address", (self._value(type_ref.args[0], value, self.span(value)),), self.span(value))
        return self._value(type_ref, value, self.span(value))

    # --- operators ----------------------------------------------------------------------------------------------------

    def _index(self, node: Node) -> Expr:
        return Item(self.expr(field(node, "operand")), self.expr(field(node, "index")), self.span(node))

    def _instantiation(self, node: Node) -> Expr:
        """`Map[string]`, or `table[labels[consts.Key]]`, which reads like it: only the name tells them apart."""
        named, *given = parts(node)
        return self._of_name(self.expr(named), given, node)

    def _generic_name(self, node: Node) -> Expr:
        given = [parts(each)[0] if each.type == "type_elem" else each for each in parts(field(node, "type_arguments"))]
        return self._of_name(self.expr(field(node, "type")), given, node)

    def _of_name(self, named: Expr, given: list[Node], node: Node) -> Expr:
        """An element of a variable, or a function or type that is made of a generic one."""
        base = named
        while isinstance(base, Attr | Item):
            base = base.base
        is_variable = isinstance(base, Name) and base.scope != "global"
        return Item(named, self.expr(given[0]), self.span(node)) if is_variable and len(given) == 1 else named

    def _slice(self, node: Node) -> Expr:
        bounds = [node.child_by_field_name(name) for name in ("start", "end", "capacity")]
        while bounds and bounds[-1] is None:
            bounds.pop()
        given = [Const(0) if bound is None else self.expr(bound) for bound in bounds]
        operands = (self.expr(field(node, "operand")), *given)
        return Op("window", operands, self.span(node))

    def _unary(self, node: Node) -> Expr:
        operator, operand = self.text.of(field(node, "operator")), self.expr(field(node, "operand"))
        if operator == "-" and isinstance(operand, Const) and isinstance(operand.value, int):
            return Const(-operand.value)
        words = {"&": "address", "*": "deref", "!": "not", "<-": "receive"}
        return Op(words.get(operator, operator), (operand,), self.span(node))

    def _binary(self, node: Node) -> Expr:
        operator = self.text.of(field(node, "operator"))
        nodes = [field(node, "right")]
        left = field(node, "left")
        if operator in ("+", "&&", "||"):  # sums of strings can be thousands long
            while left.type == "binary_expression" and self.text.of(field(left, "operator")) == operator:
                nodes.append(field(left, "right"))
                left = field(left, "left")
        operands = self.exprs([left, *reversed(nodes)])
        if operator in ("&&", "||"):
            return Logic("and" if operator == "&&" else "or", operands)
        if operator in COMPARISONS and Const(None) in operands:
            if operands[0] == Const(None):
                operands = operands[::-1]
            return Op(COMPARISONS[operator], operands, self.span(node))
        return Op(operator, operands, self.span(node))

    def _assertion(self, node: Node) -> Expr:
        return Cast(self.expr(field(node, "operand")), self.type_ref(field(node, "type")), self.span(node))

    def _conversion(self, node: Node) -> Expr:
        operand, kind = self.expr(field(node, "operand")), field(node, "type")
        if kind.type == "generic_type":  # a call of a generic function looks the same
            return Call(self.expr(kind), (operand,), (), self.span(node))
        return Cast(operand, self.type_ref(kind), self.span(node))

    def _spread(self, node: Node) -> Expr:
        return Star(self.expr(parts(node)[0]))

    # --- calls --------------------------------------------------------------------------------------------------------

    def builtin(self, node: Node) -> str:
        """The name of the predeclared function or type that a call calls, "" if it calls another one."""
        func = node.child_by_field_name("function")
        if func is None or func.type != "identifier":
            return ""
        name = self.text.of(func)
        known = (name in FUNCTIONS or name in PREDECLARED) and name not in self.own_functions
        return name if known and self.scope.resolve(name) == (name, "global") else ""

    def _call(self, node: Node) -> Expr:
        func, arguments = field(node, "function"), parts(field(node, "arguments"))
        name = self.builtin(node)
        if name:
            return self._builtin_call(name, arguments, self.span(node))
        if (
            func.type == "parenthesized_expression"
            and parts(func)[0].type == "unary_expression"
            and len(arguments) == 1
        ):
            return Cast(self.expr(arguments[0]), self.type_ref(func), self.span(node))  # (*T)(x)
        call = Call(self._called(func), self.exprs(arguments), (), self.span(node))
        if arguments:
            self.constructions.append(Construction(self.scope.qualname, call))
        return call

    def _called(self, func: Node) -> Expr:
        """What is called; to be called is not to be mentioned."""
        known = len(self.mentions)
        called = self.expr(func)
        if len(self.mentions) > known and isinstance(called, Name | Attr):
            last = next(reversed(self.mentions))
            if last == called.name:
                del self.mentions[last]
        if isinstance(called, Attr) or (
            isinstance(called, Name) and called.scope == "global" and called.name[:1].isupper()
        ):
            self.called.add(called.name)
        return called

    def _builtin_call(self, name: str, arguments: list[Node], span: Span) -> Expr:
        if name in PREDECLARED and arguments:
            return Cast(self.expr(arguments[0]), TypeRef(name), span)
        if name == "new" and arguments and self._is_value(arguments[0]):
            return Op("new", (self.expr(arguments[0]),), span)
        if name in ("make", "new") and arguments:
            made = self.type_ref(arguments[0])
            room = self.exprs(arguments[1:]) if made.name == CHANNEL else ()
            new = Make(made, (), (), tuple([("size", size) for size in room]), span)
            return Op("address", (new,), span) if name == "new" else new
        return Op(OPERATIONS.get(name, name), self.exprs(arguments), span)

    def _is_value(self, node: Node) -> bool:
        """Whether `new` is given a value; a name of the package or of another one is taken for a type."""
        if node.type in ("selector_expression", "qualified_type"):
            return self.package(field(node, "operand" if node.type == "selector_expression" else "package")) is None
        if node.type in ("identifier", "type_identifier"):
            name = self.text.of(node)
            found = self.scope.resolve(name)
            return not isinstance(found, TypeName) and found[1] != "global"
        return not node.type.endswith("_type")


def tuple_of(values: Sequence[Expr], span: Span) -> Expr:
    """One value, or several as a tuple."""
    return values[0] if len(values) == 1 else Build("tuple", tuple(values), (), span)
