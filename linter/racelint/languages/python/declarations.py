"""Python modules, classes and functions to the program model."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from racelint.languages.python.annotations import dotted, type_ref
from racelint.languages.python.expressions import mangled
from racelint.languages.python.running import installs, main_code
from racelint.languages.python.scopes import FunctionNode, FunctionScope, bound_names, parameters_of
from racelint.languages.python.statements import Statements
from racelint.model import (
    Assign,
    Assigned,
    Block,
    Call,
    Closure,
    Comment,
    Expr,
    Field,
    Filling,
    Function,
    Imported,
    Jump,
    Module,
    Name,
    Op,
    Parameter,
    Stmt,
    Type,
    TypeRef,
    TypeValue,
)
from racelint.span import Span

PROPERTY = {"property", "cached_property", "functools.cached_property", "abc.abstractproperty", "abstractproperty"}
CLASS_PROPERTY = {"classproperty", "class_property", "cached_classproperty"}  # read from the class itself, whoever's
DEFINING = frozenset({"__init_subclass__", "__set_name__"})  # run as classes are defined, where these are imported
NOT_CALLED = frozenset({"__new__", "__del__", "__repr__", "__str__"}) | DEFINING
MODULE = "<module>"


class Lowering(Statements):
    """Lowers one module; a fresh instance for each. The bodies of functions are no part of its `outline`."""

    def __init__(self, wide: Mapping[int, bytes], walrus_lines: Sequence[int], *, outline: bool = False) -> None:
        super().__init__(wide)
        self._walrus_lines = walrus_lines
        self._outline = outline
        self._functions: dict[str, Function] = {}
        self._types: dict[str, _OpenType] = {}
        self._globals: dict[str, _OpenField] = {}
        self._star_imports: list[Imported] = []

    def module(self, tree: ast.Module, comments: tuple[Comment, ...], generated: bool, lines: int) -> Module:
        """Lower the whole file."""
        bound, _ = bound_names(tree.body, self._walrus_lines)
        self.scope = FunctionScope(MODULE, None, "module", bound)
        body = self.block(tree.body)
        span = Span(1, 1, lines + 1, 1)
        doc = ast.get_docstring(tree) or ""
        self._finish(self.scope, MODULE, None, (), None, body, span, doc=doc)
        return Module(
            "python",
            self._imports,
            tuple(self._star_imports),
            {name: opened.close() for name, opened in self._types.items()},
            self._functions,
            {name: opened.close() for name, opened in self._globals.items()},
            tuple(self.attribute_stores),
            tuple(self.constructions),
            comments,
            generated,
            lines,
            fillings=tuple(self.fillings),
            annotations=self.all_annotations(),
            mentions=" ".join(sorted(self.mentions)),
            loads=tuple(dict.fromkeys(self.loads)),
            main_code=main_code(body),
            installs=installs([function.body for function in self._functions.values()]),
        )

    # --- functions ----------------------------------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, out: list[Stmt]) -> None:
        """Lower a function, its decorators applied in order, and bind its name."""
        decorators = self.exprs(node.decorator_list)
        names = [dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list]
        if "overload" in names or "typing.overload" in names:
            return
        outer = self.scope
        member = outer.kind == "class"
        qualname = self._unique(outer, node.name + _accessor(names, node.name))
        parameters = self._parameters(node.args)
        self._enter(node, qualname, outer.owner if member else None, _binding(node, names) if member else "none")
        body = () if self._outline else self.block(node.body)
        scope, self.scope = self.scope, outer
        self._finish(
            scope, node.name, outer, parameters, type_ref(node.returns), body, self._whole(node),
            is_async=isinstance(node, ast.AsyncFunctionDef),
            binding=_binding(node, names) if member else "none",
            is_property=bool(PROPERTY & set(names)) or _is_class_property(names),
            decorators=decorators,
            doc=ast.get_docstring(node, clean=False) or "",
        )  # fmt: skip
        closure = Closure(qualname, self.span(node))
        value: Expr = closure
        for decorator in reversed(decorators):
            if not member:
                value = Call(decorator, (value,), (), self.span(node))
        if value is not closure and outer.kind == "function":
            value = Op("decorated", (value, closure), self.span(node))
        self._declare(node.name, value, node, out)
        if self.notes or self.has_typed_notes:
            self.note_function(node, qualname)
        if member and outer.owner:
            self._types[outer.owner].methods[self.attribute_name(node.name) + _accessor(names, node.name)] = qualname

    def lambda_value(self, node: ast.Lambda) -> Expr:
        """Lower a lambda to a function of its own and the closure that refers to it."""
        outer = self.scope
        parameters = self._parameters(node.args)
        qualname = self._unique(outer, "<lambda>")
        self._enter(node, qualname, None, "none")
        span = self.span(node)
        body: Block = (Jump("return", self.expr(node.body), self.span(node.body)),)
        scope, self.scope = self.scope, outer
        self._finish(scope, "<lambda>", outer, parameters, None, body, span)
        return Closure(qualname, span)

    def _enter(self, node: FunctionNode, qualname: str, owner: str | None, binding: str) -> None:
        names = list(parameters_of(node))
        bound, declared_global = set[str](), set[str]()
        if not isinstance(node, ast.Lambda) and not self._outline:
            bound, declared_global = bound_names(node.body, self._walrus_lines)
        scope = FunctionScope(qualname, self.scope, "function", bound.union(names))
        scope.globals = declared_global
        scope.owner = owner
        if binding == "instance" and names:
            scope.instance = names[0]
        self.scope = scope

    def _parameters(self, arguments: ast.arguments) -> tuple[Parameter, ...]:
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults.extend(arguments.defaults)
        found = [self._parameter(a, "positional", d) for a, d in zip(positional, defaults, strict=True)]
        if arguments.vararg:
            found.append(self._parameter(arguments.vararg, "variadic", None))
        found += [
            self._parameter(a, "keyword", d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ]
        if arguments.kwarg:
            found.append(self._parameter(arguments.kwarg, "keywords", None))
        return tuple(found)

    def _parameter(self, node: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
        value = None if default is None else self.expr(default)
        return Parameter(node.arg, kind, type_ref(node.annotation), value)  # type: ignore[arg-type]

    def _finish(
        self, scope: FunctionScope, name: str, outer: FunctionScope | None, parameters: tuple[Parameter, ...],
        returns: TypeRef | None, body: Block, span: Span, *, is_async: bool = False, binding: str = "none",
        is_property: bool = False, decorators: tuple[Expr, ...] = (), doc: str = "",
    ) -> None:  # fmt: skip
        bindings = {key: tuple(values) for key, values in scope.bindings.items()}
        if self.notes:
            self.note_variables(scope)
        parent = None if outer is None else outer.qualname
        self._functions[scope.qualname] = Function(
            name, scope.qualname, scope.owner, parent, parameters, returns, is_async, scope.is_generator,
            binding, is_property, decorators, body, bindings, scope.annotations, doc, span,  # type: ignore[arg-type]
            _is_public(name, parent, scope.owner), is_initial=name == MODULE,
        )  # fmt: skip

    def _unique(self, outer: FunctionScope, name: str) -> str:
        prefix = "" if outer.kind == "module" else f"{outer.qualname}."
        if outer.kind == "class":
            prefix = f"{outer.owner}."
        qualname, number = prefix + name, 1
        while qualname in self._functions or qualname in self._types:
            number += 1
            qualname = f"{prefix}{name}#{number}"
        return qualname

    def _whole(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Span:
        span = self.span(node)
        first = min([span.line, *(decorator.lineno for decorator in node.decorator_list)])
        return span._replace(line=first)

    # --- types --------------------------------------------------------------------------------------------------------

    def type(self, node: ast.ClassDef, out: list[Stmt]) -> None:
        """Lower a class: its body is a function of its own whose variables are the class's fields."""
        outer = self.scope
        decorators, bases = self.exprs(node.decorator_list), self.exprs(node.bases)
        qualname = self._unique(outer, node.name)
        doc = ast.get_docstring(node, clean=False) or ""
        self._types[qualname] = _OpenType(node.name, qualname, bases, decorators, doc, self._whole(node))
        bound, _ = bound_names(node.body, self._walrus_lines)
        self.scope = FunctionScope(f"{qualname}.<body>", outer, "class", bound)
        self.scope.owner = qualname
        body = self.block(node.body)
        scope, self.scope = self.scope, outer
        self._finish(scope, "<body>", outer, (), None, body, self._whole(node))
        opened = self._types[qualname]
        for name in scope.bindings.keys() | scope.annotations.keys():
            values = [v for v in scope.bindings.get(name, ()) if not isinstance(v, Closure)]
            if name.endswith("[]"):
                self.fillings.extend(Filling(qualname, name.removesuffix("[]"), scope.qualname, v) for v in values)
            elif values or name in scope.annotations:
                opened.field(mangled(name, qualname)).merge(
                    scope.qualname, values, scope.annotations.get(name), self._whole(node)
                )
        self._declare(node.name, TypeValue(qualname, self.span(node)), node, out)
        if self.notes:
            self.note_type(node, qualname)

    def field(self, owner: str, name: str, value: Expr | None, annotation: TypeRef | None, span: Span) -> None:
        """Record an assignment to a field of a type."""
        values = () if value is None else (value,)
        self._types[owner].field(name).merge(self.scope.qualname, values, annotation, span)

    # --- globals and imports ------------------------------------------------------------------------------------------

    def variable(self, name: str, value: Expr | None, annotation: TypeRef | None, span: Span) -> None:
        """Record an assignment to a module global."""
        values = () if value is None else (value,)
        self._globals.setdefault(name, _OpenField(name)).merge(self.scope.qualname, values, annotation, span)

    def imported(self, name: str, value: Imported, out: list[Stmt], node: ast.stmt) -> None:
        """Record what an import binds: a module's name for the linker, a local variable elsewhere."""
        if value.name == "*":
            self._star_imports.append(value._replace(name=None))
        elif self.scope.kind == "module":
            self._imports.setdefault(name, value)
        else:
            self._declare(name, value, node, out)

    def _declare(self, name: str, value: Expr, node: ast.stmt, out: list[Stmt]) -> None:
        known, scope = self.scope.resolve(name)
        target = Name(known, scope, self.span(node))
        if scope == "global":
            self.variable(known, value, None, target.span)
        self.bind_local(target, value)
        if self.scope.kind == "function":
            out.append(Assign((target,), value, target.span))

    def bind_local(self, target: Name, value: Expr) -> None:
        """Record a declaration's name among the local variables."""
        if target.scope == "local":
            self.scope.bindings.setdefault(target.name, []).append(value)


class _OpenField:
    """A field while its assignments are gathered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.annotation: TypeRef | None = None
        self.values: list[Assigned] = []
        self.span: Span | None = None

    def merge(self, function: str, values: Sequence[Expr], annotation: TypeRef | None, span: Span) -> None:
        self.values.extend(Assigned(function, value) for value in values)
        self.annotation = annotation or self.annotation
        self.span = self.span or span

    def close(self) -> Field:
        return Field(self.name, self.annotation, tuple(self.values), self.span or Span(1, 1, 1, 1))


class _OpenType:
    """A type while its fields and methods are gathered."""

    def __init__(
        self, name: str, qualname: str, bases: tuple[Expr, ...], decorators: tuple[Expr, ...], doc: str, span: Span
    ) -> None:
        self.name, self.qualname, self.bases, self.decorators, self.doc, self.span = (
            name, qualname, bases, decorators, doc, span,
        )  # fmt: skip
        self.fields: dict[str, _OpenField] = {}
        self.methods: dict[str, str] = {}

    def field(self, name: str) -> _OpenField:
        return self.fields.setdefault(name, _OpenField(name))

    def close(self) -> Type:
        fields = {name: self.fields[name].close() for name in sorted(self.fields)}
        return Type(self.name, self.qualname, self.bases, fields, self.methods, self.decorators, self.doc, self.span)


def _accessor(decorators: list[str], name: str) -> str:
    """`.setter` and `.deleter` functions share the property's name but must not replace its getter."""
    for decorator in decorators:
        base, _, last = decorator.rpartition(".")
        if base == name and last in ("setter", "deleter"):
            return f".{last}"
    return ""


def _is_public(name: str, parent: str | None, owner: str | None) -> bool:
    """Whether callers outside the project may call a function: no underscore, not nested, or a special method."""
    if parent not in (None, MODULE) and not (owner and "." not in owner.partition(".")[2]):
        return False
    if name.startswith("<"):
        return name == MODULE
    if name.startswith("__") and name.endswith("__"):
        return name not in NOT_CALLED
    return not name.startswith("_")


def _binding(node: ast.FunctionDef | ast.AsyncFunctionDef, decorators: list[str]) -> str:
    if "staticmethod" in decorators:
        return "none"
    if "classmethod" in decorators or _is_class_property(decorators):
        return "class"
    if node.name in ("__new__", "__init_subclass__", "__class_getitem__"):
        return "class"
    return "instance"


def _is_class_property(decorators: list[str]) -> bool:
    return any(name.rpartition(".")[2] in CLASS_PROPERTY for name in decorators)
