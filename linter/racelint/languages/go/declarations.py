"""Go files, types and functions to the program model."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from racelint.languages.go.modules import package_names
from racelint.languages.go.scopes import FunctionScope, TypeName
from racelint.languages.go.statements import Statements, zero
from racelint.languages.go.tree import field, parts, statements
from racelint.languages.go.types import POINTER, RESULTS, UNKNOWN
from racelint.model import (
    Assigned,
    Block,
    Closure,
    Comment,
    Expr,
    Field,
    Function,
    Imported,
    Module,
    Name,
    Op,
    Parameter,
    Stmt,
    Traits,
    Type,
    TypeRef,
    TypeValue,
)
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

MODULE = "<module>"
TRAITS = Traits(atomic_steps=False, capital_types=False, duck_typed=False)
LITERALS = {"struct_type", "interface_type"}


class Lowering(Statements):
    """Lowers one file; a fresh instance for each."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.scope = FunctionScope(MODULE, None)
        self._mark = f"{zlib.crc32(data):08x}"  # tells apart what files of one package may both have
        self._functions: dict[str, Function] = {}
        self._declared: dict[str, Type] = {}
        self._globals: dict[str, Field] = {}
        self._stars: list[Imported] = []

    def module(self, root: Node, comments: tuple[Comment, ...], generated: bool, lines: int) -> Module:
        """Lower the whole file."""
        out: list[Stmt] = []
        package = ""
        above: list[Node] = []
        for node in root.named_children:
            if node.type == "comment":
                above.append(node)
                continue
            doc, above = self._doc(above, node), []
            if node.type == "package_clause":
                package = self.text.of(parts(node)[0])
            else:
                self._top(node, package, doc, out)
        self._finish(self.scope, MODULE, None, (), None, tuple(out), Span(1, 1, lines + 1, 1), public=True, initial=True)
        return Module(
            "go", {}, tuple(self._stars), self._declared, self._functions, self._globals, (), (), comments, generated,
            lines, package, TRAITS,
        )  # fmt: skip

    def _doc(self, above: Sequence[Node], node: Node) -> str:
        """The comments that end right above a declaration."""
        found: list[str] = []
        line = node.start_point[0]
        for comment in reversed(above):
            if comment.end_point[0] != line - 1:
                break
            line = comment.start_point[0]
            found.append(self.text.of(comment).removeprefix("//").removeprefix("/*").removesuffix("*/").strip())
        return "\n".join(reversed(found))

    def _top(self, node: Node, package: str, doc: str, out: list[Stmt]) -> None:
        match node.type:
            case "import_declaration":
                self._imports(node)
            case "function_declaration":
                self._function(node, package, doc)
            case "method_declaration":
                self._method(node, doc)
            case "type_declaration":
                self.types(node, out, doc)
            case "var_declaration" | "const_declaration":
                self._package_variables(node, out)
            case _:
                pass

    def _imports(self, node: Node) -> None:
        for spec in _specs(node, "import_spec"):
            path = self.text.of(field(spec, "path"))[1:-1]
            name = spec.child_by_field_name("name")
            if name is None:
                for guess in package_names(path):
                    self.imports.setdefault(guess, path)
            elif name.type == "dot":
                self._stars.append(Imported(path, None, 0))
            elif name.type != "blank_identifier":
                self.imports[self.text.of(name)] = path

    # --- functions ----------------------------------------------------------------------------------------------------

    def _function(self, node: Node, package: str, doc: str) -> None:
        name = self.text.of(field(node, "name"))
        initial = name == "init"
        qualname = f"init@{self._mark}" if initial else name
        if name == "_" or qualname in self._functions:
            qualname = f"{name}@{self._mark}:{node.start_point[0] + 1}"
        public = name[:1].isupper() or (name == "main" and package == "main")
        self._lower(node, name, qualname, None, self.scope, doc, public=public, initial=initial)
        if not initial and name != "_":
            self._global(name, Closure(qualname, self.span(node)), None, self.span(node))

    def _method(self, node: Node, doc: str) -> None:
        name = self.text.of(field(node, "name"))
        receivers = parts(field(node, "receiver"))
        kind = receivers[0].child_by_field_name("type") if receivers else None
        owner = self._owner(kind)
        qualname = f"{owner}.{name}"
        while qualname in self._functions:
            qualname += "#2"
        self._lower(node, name, qualname, owner, self.scope, doc, public=name[:1].isupper())

    def _owner(self, node: Node | None) -> str:
        """The type that a receiver is of."""
        while node is not None and node.type in ("pointer_type", "parenthesized_type", "generic_type"):
            node = field(node, "type") if node.type == "generic_type" else parts(node)[0]
        return self.text.of(node) if node is not None else "_"

    def closure(self, node: Node) -> Expr:
        """Lower a function literal to a function of its own and the closure that refers to it."""
        outer = self.scope
        outer.closures += 1
        base = f"<{self._mark}>" if outer.parent is None else outer.qualname
        qualname = f"{base}.func{outer.closures}"
        self._lower(node, "<func>", qualname, None, outer, "")
        return Closure(qualname, self.span(node))

    def _lower(
        self, node: Node, name: str, qualname: str, owner: str | None, outer: FunctionScope, doc: str, *,
        public: bool = False, initial: bool = False,
    ) -> None:  # fmt: skip
        """Lower a function with its parameters, results and body."""
        scope = self.scope = FunctionScope(qualname, outer)
        breaks, self._breaks = self._breaks, []
        self._type_parameters(node)
        receivers = node.child_by_field_name("receiver")
        found = self._parameters(receivers) if receivers is not None else []
        if receivers is not None:
            self._receiver_types(receivers)
        found += self._parameters(field(node, "parameters"))
        out: list[Stmt] = []
        returns = self._results(node.child_by_field_name("result"), out)
        body = node.child_by_field_name("body")
        with self.scoped():
            out += self.block(statements(body)) if body is not None else ()
        self.scope, self._breaks = outer, breaks
        self._finish(
            scope, name, owner, tuple(found), returns, tuple(out), self.span(node), doc=doc, public=public,
            initial=initial,
        )  # fmt: skip

    def _finish(
        self, scope: FunctionScope, name: str, owner: str | None, parameters: tuple[Parameter, ...],
        returns: TypeRef | None, body: Block, span: Span, *, doc: str = "", public: bool = False, initial: bool = False,
    ) -> None:  # fmt: skip
        bindings = {key: tuple(values) for key, values in scope.bindings.items()}
        parent = None if scope.parent is None else scope.parent.qualname
        self._functions[scope.qualname] = Function(
            name, scope.qualname, owner, parent, parameters, returns, False, False,
            "instance" if owner else "none", False, (), body, bindings, scope.annotations, doc, span, public,
            frozenset(scope.cells), tuple(scope.turns), initial,
        )  # fmt: skip

    def _parameters(self, node: Node) -> list[Parameter]:
        found: list[Parameter] = []
        for declaration in parts(node):
            kind = declaration.child_by_field_name("type")
            type_ref = self.type_ref(kind)
            variadic = declaration.type == "variadic_parameter_declaration"
            annotation = TypeRef("[]", (type_ref,)) if variadic else type_ref
            names = declaration.children_by_field_name("name")
            for name in [self.text.of(each) for each in names] or ["_"]:
                unique = self.scope.declare(name)
                self.scope.annotations[unique] = annotation
                found.append(Parameter(unique, "variadic" if variadic else "positional", annotation, None))
        return found

    def _results(self, node: Node | None, out: list[Stmt]) -> TypeRef | None:
        """The type of what a function returns; named results are variables of its own."""
        if node is None:
            return None
        if node.type != "parameter_list":
            return self.type_ref(node)
        kinds: list[TypeRef] = []
        names: list[str] = []
        for declaration in parts(node):
            kind = self.type_ref(declaration.child_by_field_name("type"))
            named = [self.text.of(each) for each in declaration.children_by_field_name("name")]
            kinds += [kind] * max(1, len(named))
            for name in named:
                span = self.span(declaration)
                unique = self.scope.declare(name)
                names.append(unique)
                self.scope.annotations[unique] = kind
                if name != "_":
                    self.assign([Name(unique, "local", span)], [zero(kind, span)], span, out)
        self.scope.results = tuple(names)
        return kinds[0] if len(kinds) == 1 else TypeRef(RESULTS, tuple(kinds)) if kinds else None

    def _type_parameters(self, node: Node) -> None:
        for declaration in parts(node.child_by_field_name("type_parameters")):
            for name in declaration.children_by_field_name("name"):
                self.scope.blocks[-1][self.text.of(name)] = TypeName(None)

    def _receiver_types(self, receivers: Node) -> None:
        """The type parameters of a method's own type."""
        todo = list(receivers.named_children)
        while todo:
            node = todo.pop()
            if node.type == "type_arguments":
                for name in parts(node):
                    self.scope.blocks[-1][self.text.of(name)] = TypeName(None)
            elif node.type != "comment":
                todo.extend(node.named_children)

    # --- types --------------------------------------------------------------------------------------------------------

    def types(self, node: Node, out: list[Stmt], doc: str = "") -> None:
        """Lower `type` declarations, of the package or of a function."""
        for spec in (child for child in parts(node) if child.type in ("type_spec", "type_alias")):
            name, kind = self.text.of(field(spec, "name")), field(spec, "type")
            local = self.scope.parent is not None
            qualname = f"{self.scope.qualname}.{name}" if local else name
            if spec.type == "type_alias" and not local and kind.type not in LITERALS:
                target = self._alias(kind)
                if target is not None:
                    self._global(name, target, None, self.span(spec))
                    continue
            if local:
                self.scope.blocks[-1][name] = TypeName(qualname)
            with self.scoped():
                self._type_parameters(spec)
                self._type(name, qualname, kind, doc, self.span(spec))
            if not local:
                self._global(name, TypeValue(qualname, self.span(spec)), None, self.span(spec))

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
            names = [self.text.of(each) for each in declaration.children_by_field_name("name")]
            hint = f"{qualname}.{names[0]}" if names else qualname
            kind = self.type_ref(declaration.child_by_field_name("type"), hint)
            if not names:
                names = [self._embedded_name(declaration)]
                if any(child.type == "*" for child in declaration.children):
                    kind = TypeRef(POINTER, (kind,))
                embedded += names
            for each in names:
                fields[each] = Field(each, kind, (), self.span(declaration))
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
        qualname = hint or f"struct@{self._mark}:{node.start_point[0] + 1}"
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
                self._abstract(element, method, qualname)
            elif element.type == "type_elem" and len(parts(element)) == 1:
                base = parts(element)[0]
                if base.type in ("type_identifier", "qualified_type", "generic_type"):
                    bases.append(self.expr(base))
        self._declared[qualname] = Type(
            name, qualname, tuple(bases), {}, methods, (), doc, span, is_interface=True
        )

    def _abstract(self, element: Node, name: str, owner: str) -> None:
        """A method of an interface: a function without a body."""
        outer, self.scope = self.scope, FunctionScope(f"{owner}.{name}", self.scope)
        found = [Parameter("_", "positional", None, None), *self._parameters(field(element, "parameters"))]
        returns = self._results(element.child_by_field_name("result"), [])
        scope, self.scope = self.scope, outer
        self._finish(scope, name, owner, tuple(found), returns, (), self.span(element))

    # --- variables ----------------------------------------------------------------------------------------------------

    def _global(self, name: str, value: Expr | None, annotation: TypeRef | None, span: Span) -> None:
        values = () if value is None else (Assigned(MODULE, value),)
        self._globals.setdefault(name, Field(name, annotation, values, span))

    def _package_variables(self, node: Node, out: list[Stmt]) -> None:
        for spec in _specs(node, "var_spec", "const_spec"):
            names, values, annotation = self._spec(spec)
            for index, name in enumerate(names):
                value: Expr | None = None
                if len(values) == len(names):
                    value = values[index]
                elif values:
                    value = Op("unknown", (), self.span(spec))
                if name != "_":
                    self._global(name, value, annotation, self.span(spec))
            if values and node.type == "var_declaration":
                targets: list[Expr] = [Name(name, "local" if name == "_" else "global", self.span(spec)) for name in names]
                self.assign(targets, values, self.span(spec), out)

    def _spec(self, spec: Node) -> tuple[list[str], tuple[Expr, ...], TypeRef | None]:
        """Names, values and type of a `var` or `const`."""
        names = [self.text.of(each) for each in spec.children_by_field_name("name") if each.is_named]
        kind = spec.child_by_field_name("type")
        hint = names[0] if self.scope.parent is None else f"{self.scope.qualname}.{names[0]}"
        annotation = None if kind is None else self.type_ref(kind, hint)
        nodes = parts(spec.child_by_field_name("value"))
        return names, self._values(nodes, len(names)), annotation

    def variables(self, node: Node, out: list[Stmt]) -> None:
        """Lower `var` in a function."""
        for spec in _specs(node, "var_spec"):
            names, values, annotation = self._spec(spec)
            span = self.span(spec)
            targets: list[Expr] = [Name(self.scope.declare(name), "local", span) for name in names]
            for target in targets:
                if annotation is not None and isinstance(target, Name) and target.name != "_":
                    self.scope.annotations[target.name] = annotation
            given = values or [zero(annotation or UNKNOWN, span)] * len(targets)
            self._assign_values(targets, given, span, out)

    def constants(self, node: Node, out: list[Stmt]) -> None:
        """Lower `const` in a function."""
        for spec in _specs(node, "const_spec"):
            names, values, _ = self._spec(spec)
            span = self.span(spec)
            targets: list[Expr] = [Name(self.scope.declare(name), "local", span) for name in names]
            given = values if len(values) == len(targets) else [Op("unknown", (), span)] * len(targets)
            self.assign(targets, given, span, out)


def _specs(node: Node, *kinds: str) -> Iterable[Node]:
    """The entries of a declaration, in parentheses or alone."""
    for child in parts(node):
        if child.type in kinds:
            yield child
        elif child.type.endswith("_list"):
            yield from (inner for inner in parts(child) if inner.type in kinds)

