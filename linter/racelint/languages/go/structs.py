"""Go's type declarations to the program model: structs, interfaces and other defined types."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from racelint.languages.go.control import Control
from racelint.languages.go.scopes import TypeName
from racelint.languages.go.tree import field, parts
from racelint.languages.go.types import POINTER
from racelint.languages.notes import PLACES, TYPES, Kind, Notes, Target
from racelint.languages.prose import Prose
from racelint.model import Annotation, Expr, Field, Stmt, Type, TypeRef, TypeValue
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

LITERALS = {"struct_type", "interface_type"}


class TypeDeclarations(Control):
    """Lowers types that are declared, and those without a name."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._declared: dict[str, Type] = {}
        self.notes = Notes((), b"")
        self.prose = Prose((), b"")
        self.annotations: list[Annotation] = []
        self.mark = f"{zlib.crc32(data):08x}"  # tells apart what files of one package may both have

    def note(self, kinds: Collection[Kind], target: Target, owner: str, names: Iterable[str], span: Span) -> None:
        """Annotations behind the lines of a declaration, or above it."""
        if self.notes:
            notes = self.notes.take(kinds, span.line, span.end_line)
            self.annotations += [note.about(target, owner, name) for name in names for note in notes]
        if self.prose and target in ("field", "global"):
            self.prose.add(target, owner, names, span.line, span.end_line)

    @abstractmethod
    def declare_global(self, name: str, value: Expr | None, annotation: TypeRef | None, span: Span) -> None:
        """Record a name of the package."""

    @abstractmethod
    def type_parameters(self, node: Node) -> None:
        """Declare type parameters in the current block."""

    @abstractmethod
    def abstract(self, element: Node, name: str, owner: str) -> None:
        """Lower a method of an interface: a function without a body."""

    def types(self, node: Node, out: list[Stmt], doc: str = "") -> None:
        """Lower `type` declarations, of the package or of a function."""
        for spec in (child for child in parts(node) if child.type in ("type_spec", "type_alias")):
            name, kind = self.text.of(field(spec, "name")), field(spec, "type")
            local = self.scope.parent is not None
            qualname = f"{self.scope.qualname}.{name}" if local else name
            if spec.type == "type_alias" and not local and kind.type not in LITERALS:
                target = self._alias(kind)
                if target is not None:
                    self.declare_global(name, target, None, self.span(spec))
                    continue
            if local:
                self.scope.blocks[-1][name] = TypeName(qualname)
            with self.scoped():
                self.type_parameters(spec)
                self._type(name, qualname, kind, doc, self.span(spec))
            self.note(TYPES, "type", "", [qualname], _head(self.span(spec)))
            if not local:
                self.declare_global(name, TypeValue(qualname, self.span(spec)), None, self.span(spec))

    def _alias(self, kind: Node) -> Expr | None:
        """The named type that an alias stands for."""
        return self.expr(kind) if kind.type in ("type_identifier", "qualified_type", "generic_type") else None

    def _type(self, name: str, qualname: str, kind: Node, doc: str, span: Span) -> None:
        match kind.type:
            case "struct_type":
                self._struct(name, qualname, kind, doc, span)
            case "interface_type":
                self._interface(name, qualname, kind, doc, span)
            case _:
                underlying = self.type_ref(kind, qualname)
                value = underlying.name == "[n]"
                self._declared[qualname] = Type(
                    name, qualname, (), {}, {}, (), doc, span, underlying=underlying, by_value=value
                )

    def _struct(self, name: str, qualname: str, node: Node, doc: str, span: Span) -> None:
        fields: dict[str, Field] = {}
        embedded: list[str] = []
        for declaration in parts(parts(node)[0] if parts(node) else None):
            if declaration.type != "field_declaration":
                continue
            nodes = declaration.children_by_field_name("name")
            names = [self.text.of(each) for each in nodes]
            hint = f"{qualname}.{names[0]}" if names else qualname
            kind = self.type_ref(declaration.child_by_field_name("type"), hint)
            if not names:
                names = [self._embedded_name(declaration)]
                if any(child.type == "*" for child in declaration.children):
                    kind = TypeRef(POINTER, (kind,))
                embedded += names
            spots = nodes if len(nodes) > 1 else [declaration]  # each field of `first, second T` has its own
            for each, spot in zip(names, spots, strict=True):
                fields[each] = Field(each, kind, (), self.span(spot))
            self.note(PLACES, "field", qualname, names, self.span(declaration))
        self._declared[qualname] = Type(
            name, qualname, (), fields, {}, (), doc, span, embedded=tuple(embedded), by_value=True
        )

    def _embedded_name(self, declaration: Node) -> str:
        """The field name of an embedded type: its own without package, pointer and arguments."""
        node = field(declaration, "type")
        while node.type in ("generic_type", "qualified_type"):
            node = field(node, "type" if node.type == "generic_type" else "name")
        return self.text.of(node)

    def anonymous(self, node: Node, hint: str) -> TypeRef:
        """A struct type without a name: a type of its own, named after where it stands."""
        if not parts(parts(node)[0] if parts(node) else None):
            return TypeRef("struct")
        qualname = hint or f"struct@{self.mark}:{node.start_point[0] + 1}"
        while qualname in self._declared:
            qualname += "'"
        self._struct(qualname.rpartition(".")[2], qualname, node, "", self.span(node))
        return TypeRef(qualname)

    def _interface(self, name: str, qualname: str, node: Node, doc: str, span: Span) -> None:
        bases: list[Expr] = []
        methods: dict[str, str] = {}
        for element in parts(node):
            if element.type == "method_elem":
                method = self.text.of(field(element, "name"))
                methods[method] = f"{qualname}.{method}"
                self.abstract(element, method, qualname)
            elif element.type == "type_elem" and len(parts(element)) == 1:
                base = parts(element)[0]
                if base.type in ("type_identifier", "qualified_type", "generic_type"):
                    bases.append(self.expr(base))
        self._declared[qualname] = Type(name, qualname, tuple(bases), {}, methods, (), doc, span, is_interface=True)


def _head(span: Span) -> Span:
    """The first line of a declaration."""
    return span._replace(end_line=span.line)
