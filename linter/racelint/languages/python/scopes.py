"""Which names a Python function binds, and what a name in it refers to."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from racelint.model import Expr, Scope, TypeRef

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class FunctionScope:
    """The names of one function, class body or module body while it is lowered."""

    def __init__(self, qualname: str, parent: FunctionScope | None, kind: str, bound: Iterable[str]) -> None:
        self.qualname = qualname
        self.parent = parent
        self.kind = kind  # "module", "class" or "function"
        self.bound = set(bound)
        self.globals: set[str] = set()
        self.renamed: list[dict[str, str]] = []  # comprehension variables have a scope of their own
        self.captured: set[str] = set()  # its variables that functions in it use, too
        self.bindings: dict[str, list[Expr]] = {}
        self.annotations: dict[str, TypeRef] = {}
        self.instance: str | None = None  # the name of `self`, in a method
        self.owner: str | None = None
        self.is_generator = False
        self.comprehensions = 0

    def resolve(self, name: str) -> tuple[str, Scope]:
        """The name under which a variable is known, and where it lives."""
        for mapping in reversed(self.renamed):
            if name in mapping:
                return mapping[name], "local"
        if self.kind == "module" or name in self.globals:
            return name, "global"
        if name in self.bound:
            return name, "local"
        scope = self.parent
        while scope is not None and scope.kind != "module":
            if scope.kind == "function":
                for mapping in reversed(scope.renamed):
                    if name in mapping:
                        return mapping[name], "captured"
                if name in scope.globals:
                    return name, "global"
                if name in scope.bound:
                    scope.captured.add(name)
                    return name, "captured"
            scope = scope.parent
        return name, "global"

    def instance_owner(self, name: str) -> str | None:
        """The class whose instance `name` is: the method's own first parameter, also seen from a nested function."""
        scope: FunctionScope | None = self
        while scope is not None and scope.kind == "function":
            if scope.instance == name:
                return scope.owner
            if name in scope.bound:
                return None
            scope = scope.parent
        return None


def parameters_of(node: FunctionNode) -> Iterator[str]:
    """Every parameter name."""
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield argument.arg
    if arguments.vararg:
        yield arguments.vararg.arg
    if arguments.kwarg:
        yield arguments.kwarg.arg


def bound_names(body: Iterable[ast.stmt], walrus_lines: Sequence[int]) -> tuple[set[str], set[str]]:
    """The names that statements bind in their own scope, and those they declare global; nonlocal ones are neither.

    `walrus_lines` are the lines, in order, on which an assignment expression may stand.
    """
    collector = _Collector(walrus_lines)
    collector.block(body)
    return collector.bound - collector.declared_global - collector.declared_nonlocal, collector.declared_global


class _Collector:
    """Walks statements, and expressions only where an assignment expression can hide in them."""

    def __init__(self, walrus_lines: Sequence[int]) -> None:
        self.bound: set[str] = set()
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()
        self.walrus_lines = walrus_lines

    def block(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.bound.add(name)
                return
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                for target in targets:
                    self.target(target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                self.target(target)
            case ast.For() | ast.AsyncFor():
                self.target(node.target)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars:
                        self.target(item.optional_vars)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self.bound.update(alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.Global(names=declared):
                self.declared_global.update(declared)
            case ast.Nonlocal(names=declared):
                self.declared_nonlocal.update(declared)
            case ast.Match(cases=cases):
                for case in cases:
                    self.pattern(case.pattern)
            case _:
                pass
        if self.may_hold_walrus(node):
            self.expressions(node)
        self.nested(node)

    def may_hold_walrus(self, node: ast.stmt) -> bool:
        """Whether one of the lines of a statement has an assignment expression."""
        following = bisect_left(self.walrus_lines, node.lineno)
        return following < len(self.walrus_lines) and self.walrus_lines[following] <= (node.end_lineno or node.lineno)

    def nested(self, node: ast.stmt) -> None:
        for name in ("body", "orelse", "finalbody"):
            self.block(getattr(node, name, ()))
        for handler in getattr(node, "handlers", ()):
            if handler.name:
                self.bound.add(handler.name)
            self.block(handler.body)
        if isinstance(node, ast.Match):
            for case in node.cases:
                self.block(case.body)

    def target(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name):
                self.bound.add(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self.target(element)
            case ast.Starred(value=value):
                self.target(value)
            case _:
                pass

    def pattern(self, pattern: ast.pattern) -> None:
        for node in ast.walk(pattern):
            match node:
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                    self.bound.add(name)
                case _:
                    pass

    def expressions(self, node: ast.stmt) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ExceptHandler | ast.match_case):
                child = (child.type if isinstance(child, ast.ExceptHandler) else child.guard) or ast.Constant(None)
            if isinstance(child, ast.expr | ast.withitem):
                self.bound.update(inner.target.id for inner in ast.walk(child) if isinstance(inner, ast.NamedExpr))
