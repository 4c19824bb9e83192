"""Go files, types and functions to the program model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from racelint.languages import SourceProblem
from racelint.languages.go.constants import folded
from racelint.languages.go.modules import package_names
from racelint.languages.go.scopes import FunctionScope, TypeName
from racelint.languages.go.statements import zero
from racelint.languages.go.structs import TypeDeclarations
from racelint.languages.go.tree import field, parts, statements
from racelint.languages.go.types import RESULTS, UNKNOWN
from racelint.languages.notes import FUNCTIONS, PLACES
from racelint.model import (
    Assigned,
    Block,
    Closure,
    Comment,
    Const,
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
    TypeRef,
)
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

MODULE = "<module>"
SIZED = {f"{kind}{bits}" for kind in ("int", "uint", "float", "complex") for bits in ("", 8, 16, 32, 64, 128)}
TEXTS = frozenset({"string", "str"})  # and what a literal is
TRAITS = Traits(
    atomic_steps=False, capital_types=False, duck_typed=False, deep_copy="DeepCopy()",
    scalars=TEXTS | {"bool", "byte", "rune", "uintptr", "time.Duration", *SIZED}, texts=TEXTS,
)  # fmt: skip


class Lowering(TypeDeclarations):
    """Lowers one file; a fresh instance for each. The bodies of functions are no part of its `outline`."""

    def __init__(self, data: bytes, *, outline: bool = False) -> None:
        super().__init__(data)
        self._outline = outline
        self.scope = FunctionScope(MODULE, None)
        self._functions: dict[str, Function] = {}
        self._globals: dict[str, Field] = {}
        self._stars: list[Imported] = []
        self._paths: dict[str, Imported] = {}  # all packages that the file imports

    def module(self, root: Node, comments: tuple[Comment, ...], generated: bool, lines: int) -> Module:
        """Lower the whole file."""
        out: list[Stmt] = []
        package = ""
        above: list[Node] = []
        declared = [node for node in root.named_children if node.type == "function_declaration"]
        self.own_functions = frozenset([self.text.of(field(node, "name")) for node in declared])
        for node in root.named_children:
            if node.type == "comment":
                above.append(node)
                continue
            doc, above = self._doc(above, node), []
            if node.type == "package_clause":
                package = self.text.of(parts(node)[0])
            elif not package:
                raise _misplaced("a Go file starts with its package", node)
            else:
                self._top(node, package, doc, out)
        self._finish(
            self.scope, MODULE, None, (), None, tuple(out), Span(1, 1, lines + 1, 1), public=True, initial=True
        )
        return Module(
            "go", self._paths, tuple(self._stars), self._declared, self._functions, self._globals,
            tuple(self.attribute_stores), tuple(self.constructions), comments, generated, lines, package, TRAITS,
            mentions=" ".join(sorted(self.mentions)), called=" ".join(sorted(self.called)),
            annotations=(*self.annotations, *self.notes.left(), *self.prose.annotations()),
            doc=self._head(root) if package == "main" else "",
        )  # fmt: skip

    def _head(self, root: Node) -> str:
        """The comments above the package clause, and those behind the imports that stand above no declaration."""
        above: list[Node] = []
        said: list[str] = []
        for node in root.named_children:
            if node.type == "comment":
                above.append(node)
                continue
            if node.type == "package_clause":
                said.append(self._doc(above, node))
            elif node.type != "import_declaration":
                own = _right_above(above, node)
                said += [self._said(comment) for comment in above if comment not in own]
                break
            above = []
        return "\n".join(said)

    def _doc(self, above: Sequence[Node], node: Node) -> str:
        """The comments that end right above a declaration."""
        return "\n".join([self._said(comment) for comment in _right_above(above, node)])

    def _said(self, comment: Node) -> str:
        return self.text.of(comment).removeprefix("//").removeprefix("/*").removesuffix("*/").strip()

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
                raise _misplaced("a statement outside of a function", node)

    def _imports(self, node: Node) -> None:
        for spec in _specs(node, "import_spec"):
            path = self.text.of(field(spec, "path"))[1:-1]
            self._paths[path] = Imported(path, None, 0)
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
        qualname = f"init@{self.mark}" if initial else name
        if name == "_" or qualname in self._functions:
            qualname = f"{name}@{self.mark}:{node.start_point[0] + 1}"
        public = name[:1].isupper() or (name == "main" and package == "main")
        self._lower(node, name, qualname, None, self.scope, doc, public=public, initial=initial)
        if not initial and name != "_":
            self.declare_global(name, Closure(qualname, self.span(node)), None, self.span(node))

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
        base = f"<{self.mark}>" if outer.parent is None else outer.qualname
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
        self.type_parameters(node)
        receivers = node.child_by_field_name("receiver")
        found = self._parameters(receivers) if receivers is not None else []
        if receivers is not None:
            self._receiver_types(receivers)
        found += self._parameters(field(node, "parameters"))
        out: list[Stmt] = []
        returns = self._results(node.child_by_field_name("result"), out)
        body = node.child_by_field_name("body")
        # No block of its own: `:=` in the body assigns the parameters and results that it names.
        out += self.block(statements(body)) if body is not None and not self._outline else ()
        self.scope, self._breaks = outer, breaks
        self.note(FUNCTIONS, "function", "", [qualname], self._header(node, body))
        self._finish(
            scope, name, owner, tuple(found), returns, tuple(out), self.span(node), doc=doc, public=public,
            initial=initial,
        )  # fmt: skip

    def _header(self, node: Node, body: Node | None) -> Span:
        """A function up to the line on which its body starts."""
        span = self.span(node)
        return span if body is None else span._replace(end_line=self.span(body).line)

    def _finish(
        self, scope: FunctionScope, name: str, owner: str | None, parameters: tuple[Parameter, ...],
        returns: TypeRef | None, body: Block, span: Span, *, doc: str = "", public: bool = False, initial: bool = False,
    ) -> None:  # fmt: skip
        bindings = {key: tuple(values) for key, values in scope.bindings.items()}
        parent = None if scope.parent is None else scope.parent.qualname
        births = tuple([birth for birth in scope.births if birth[0] in scope.cells])
        for variable, where in births if self.notes else ():
            self.note(PLACES, "variable", scope.qualname, [variable], where)
        self._functions[scope.qualname] = Function(
            name, scope.qualname, owner, parent, parameters, returns, False, False,
            "instance" if owner else "none", False, (), body, bindings, scope.annotations, doc, span, public,
            frozenset(scope.cells), tuple(scope.turns), births, initial,
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
                unique = self.scope.declare(name, self.span(declaration))
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
                unique = self.scope.declare(name, span)
                names.append(unique)
                self.scope.annotations[unique] = kind
                if name != "_":
                    self.assign([Name(unique, "local", span)], [zero(kind, span)], span, out)
        self.scope.results = tuple(names)
        return kinds[0] if len(kinds) == 1 else TypeRef(RESULTS, tuple(kinds)) if kinds else None

    def type_parameters(self, node: Node) -> None:
        """Declare type parameters in the current block."""
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

    def abstract(self, element: Node, name: str, owner: str) -> None:
        """A method of an interface: a function without a body."""
        outer, self.scope = self.scope, FunctionScope(f"{owner}.{name}", self.scope)
        found = [Parameter("_", "positional", None, None), *self._parameters(field(element, "parameters"))]
        returns = self._results(element.child_by_field_name("result"), [])
        scope, self.scope = self.scope, outer
        self._finish(scope, name, owner, tuple(found), returns, (), self.span(element))

    # --- variables ----------------------------------------------------------------------------------------------------

    def declare_global(
        self, name: str, value: Expr | None, annotation: TypeRef | None, span: Span, constant: Const | None = None
    ) -> None:
        """Record a name of the package; of several declarations the first one counts."""
        values = () if value is None else (Assigned(MODULE, value),)
        self._globals.setdefault(name, Field(name, annotation, values, span, constant))

    def _package_variables(self, node: Node, out: list[Stmt]) -> None:
        repeated: tuple[Expr, ...] = ()
        for turn, spec in enumerate(_specs(node, "var_spec", "const_spec")):
            names, values, annotation = self._spec(spec)
            repeated = values or repeated  # a line without a value has that of the one above it
            for index, name in enumerate(names):
                value: Expr | None = None
                if len(values) == len(names):
                    value = values[index]
                elif values:
                    value = Op("unknown", (), self.span(spec))
                given = repeated[index] if spec.type == "const_spec" and index < len(repeated) else None
                constant = None if given is None else folded(given, self._globals, turn)
                if name != "_":
                    self.declare_global(name, value, annotation, self.span(spec), constant)
            self.note(PLACES, "global", "", names, self.span(spec))
            if values and node.type == "var_declaration":
                targets: list[Expr] = [
                    Name(name, "local" if name == "_" else "global", self.span(spec)) for name in names
                ]
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
            targets: list[Expr] = [Name(self.scope.declare(name, span), "local", span) for name in names]
            for target in targets:
                if annotation is not None and isinstance(target, Name) and target.name != "_":
                    self.scope.annotations[target.name] = annotation
            spots = [self.span(each) for each in spec.children_by_field_name("name") if each.is_named]
            given = values or [zero(annotation or UNKNOWN, at if len(names) > 1 else span) for at in spots]
            self._assign_values(targets, given, span, out)

    def constants(self, node: Node, out: list[Stmt]) -> None:
        """Lower `const` in a function."""
        for spec in _specs(node, "const_spec"):
            names, values, _ = self._spec(spec)
            span = self.span(spec)
            targets: list[Expr] = [Name(self.scope.declare(name, span), "local", span) for name in names]
            given = values if len(values) == len(targets) else [Op("unknown", (), span)] * len(targets)
            self.assign(targets, given, span, out)


def _misplaced(message: str, node: Node) -> SourceProblem:
    return SourceProblem("syntax-error", message, node.start_point[0] + 1, node.start_point[1] + 1)


def _right_above(comments: Sequence[Node], node: Node) -> list[Node]:
    """Those of the comments before a declaration between which and that there is no empty line."""
    found: list[Node] = []
    line = node.start_point[0]
    for comment in reversed(comments):
        if comment.end_point[0] != line - 1:
            break
        line = comment.start_point[0]
        found.append(comment)
    return found[::-1]


def _specs(node: Node, *kinds: str) -> Iterable[Node]:
    """The entries of a declaration, in parentheses or alone."""
    for child in parts(node):
        if child.type in kinds:
            yield child
        elif child.type.endswith("_list"):
            yield from (inner for inner in parts(child) if inner.type in kinds)
