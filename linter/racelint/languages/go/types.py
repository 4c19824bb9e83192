"""Go types to `TypeRef`, and anonymous structs to types of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from racelint.languages.go.scopes import FunctionScope, TypeName
from racelint.languages.go.tree import Text, field, parts
from racelint.model import Direction, TypeRef

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN = TypeRef("")
POINTER, SLICE, ARRAY, MAP, CHANNEL, RESULTS = "*", "[]", "[n]", "map", "chan", "results"
PREDECLARED = frozenset({
    "bool", "byte", "complex64", "complex128", "error", "float32", "float64", "int", "int8", "int16", "int32", "int64",
    "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "any", "comparable",
})  # fmt: skip


class TypeRefs:
    """Lowers types as they are written."""

    scope: FunctionScope
    text: Text

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}  # names of packages in this file, and their paths
        self._types: dict[str, Callable[[Node, str], TypeRef]] = {
            "type_identifier": self._named, "qualified_type": self._qualified, "generic_type": self._generic,
            "pointer_type": lambda n, h: TypeRef(POINTER, (self._first(n, h),)),
            "slice_type": lambda n, h: TypeRef(SLICE, (self.type_ref(field(n, "element"), h),)),
            "array_type": lambda n, h: TypeRef(ARRAY, (self.type_ref(field(n, "element"), h),)),
            "implicit_length_array_type": lambda n, h: TypeRef(ARRAY, (self.type_ref(field(n, "element"), h),)),
            "map_type": self._map,
            "channel_type": self._channel,
            "function_type": lambda n, h: TypeRef("func"), "struct_type": self.anonymous,
            "interface_type": lambda n, h: UNKNOWN,
            "parenthesized_type": self._first, "type_elem": self._first, "type_constraint": self._first,
            "identifier": self._named, "selector_expression": self._selected, "unary_expression": self._starred,
            "parenthesized_expression": self._first, "index_expression": lambda n, h: self._first(n, h),
        }  # fmt: skip

    def type_ref(self, node: Node | None, hint: str = "") -> TypeRef:
        """The type that a node names; `hint` is a name for a struct that has none."""
        lowerer = self._types.get(node.type) if node is not None else None
        return lowerer(node, hint) if lowerer is not None and node is not None else UNKNOWN

    def anonymous(self, node: Node, hint: str) -> TypeRef:
        """A struct type without a name."""
        raise NotImplementedError

    def _first(self, node: Node, hint: str) -> TypeRef:
        inner = parts(node)
        return self.type_ref(inner[0], hint) if inner else UNKNOWN

    def _named(self, node: Node, hint: str) -> TypeRef:
        name = self.text.of(node)
        found = self.scope.resolve(name)
        if isinstance(found, TypeName):
            return TypeRef(found.qualname) if found.qualname else UNKNOWN
        return UNKNOWN if name in ("any", "comparable") else TypeRef(name)

    def _qualified(self, node: Node, hint: str) -> TypeRef:
        path = self.imports.get(self.text.of(field(node, "package")))
        return TypeRef(self.text.of(field(node, "name")), (), path) if path else UNKNOWN

    def _selected(self, node: Node, hint: str) -> TypeRef:
        path = self.imports.get(self.text.of(field(node, "operand")))
        return TypeRef(self.text.of(field(node, "field")), (), path) if path else UNKNOWN

    def _generic(self, node: Node, hint: str) -> TypeRef:
        base = self.type_ref(field(node, "type"), hint)
        arguments = tuple([self.type_ref(part) for part in parts(node.child_by_field_name("type_arguments"))])
        return base._replace(args=arguments)

    def _starred(self, node: Node, hint: str) -> TypeRef:
        """`*T` where an expression could stand."""
        return TypeRef(POINTER, (self._first(node, hint),))

    def _map(self, node: Node, hint: str) -> TypeRef:
        return TypeRef(MAP, (self.type_ref(field(node, "key"), hint), self.type_ref(field(node, "value"), hint)))

    def _channel(self, node: Node, hint: str) -> TypeRef:
        """`chan T`, `chan<- T` into which one only sends, or `<-chan T`."""
        element = self.type_ref(field(node, "value"), hint)
        arrow = next((index for index, child in enumerate(node.children) if child.type == "<-"), None)
        direction: Direction = "" if arrow is None else "send" if arrow else "receive"
        return TypeRef(CHANNEL, (element,), direction=direction)
