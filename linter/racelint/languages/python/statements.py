"""Python statements to the program model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from racelint.languages.python.annotations import type_ref
from racelint.languages.python.expressions import OPERATORS
from racelint.languages.python.noted import Noted
from racelint.model import (
    Assign,
    Attr,
    AttributeStore,
    Block,
    Branch,
    Build,
    Const,
    Delete,
    Eval,
    Expr,
    Handler,
    Hold,
    Imported,
    Item,
    Jump,
    Loop,
    Name,
    Op,
    Star,
    Stmt,
    Try,
    TypeRef,
    Update,
)
from racelint.span import Span


class Statements(Noted):
    """Lowers statements in the current scope; declarations are left to the subclass."""

    def __init__(self, wide: Mapping[int, bytes]) -> None:
        super().__init__(wide)
        self.attribute_stores: list[AttributeStore] = []
        self.loads: list[Imported] = []
        self._statements: dict[type[ast.AST], Callable[[Any, list[Stmt]], None]] = {
            ast.Expr: self._expression, ast.Assign: self._assign, ast.AugAssign: self._update,
            ast.AnnAssign: self._annotated, ast.Delete: self._delete, ast.If: self._branch, ast.For: self._loop,
            ast.AsyncFor: self._loop, ast.While: self._while, ast.With: self._hold, ast.AsyncWith: self._hold,
            ast.Try: self._try, ast.TryStar: self._try, ast.Return: self._return, ast.Raise: self._raise,
            ast.Break: self._break, ast.Continue: self._continue, ast.Assert: self._assert, ast.Match: self._match,
            ast.FunctionDef: self.function, ast.AsyncFunctionDef: self.function, ast.ClassDef: self.type,
            ast.Import: self._import, ast.ImportFrom: self._import_from,
        }  # fmt: skip

    def block(self, nodes: Sequence[ast.stmt]) -> Block:
        """Lower a suite."""
        out: list[Stmt] = []
        for node in nodes:
            lowerer = self._statements.get(type(node))
            if lowerer is not None:  # pass, global, nonlocal and type statements do nothing
                lowerer(node, out)
        return tuple(out)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, out: list[Stmt]) -> None:
        """Lower a nested or top-level function and bind its name."""
        raise NotImplementedError

    def type(self, node: ast.ClassDef, out: list[Stmt]) -> None:
        """Lower a class and bind its name."""
        raise NotImplementedError

    def field(self, owner: str, name: str, value: Expr | None, annotation: TypeRef | None, span: Span) -> None:
        """Record an assignment to a field of a type."""
        raise NotImplementedError

    def variable(self, name: str, value: Expr | None, annotation: TypeRef | None, span: Span) -> None:
        """Record an assignment to a module global."""
        raise NotImplementedError

    def imported(self, name: str, value: Imported, out: list[Stmt], node: ast.stmt) -> None:
        """Record what an import binds."""
        raise NotImplementedError

    # --- assignment ---------------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr, out: list[Stmt]) -> None:
        if not isinstance(node.value, ast.Constant):
            out.append(Eval(self.expr(node.value), self.span(node)))

    def _assign(self, node: ast.Assign, out: list[Stmt]) -> None:
        value = self.expr(node.value)
        targets = self.exprs(node.targets)
        for target in targets:
            self.bind(target, value)
        if self.notes or self.prose:
            self.note_targets(node, targets)
        out.append(Assign(targets, value, self.span(node)))

    def _update(self, node: ast.AugAssign, out: list[Stmt]) -> None:
        target, value = self.expr(node.target), self.expr(node.value)
        operator, span = OPERATORS[type(node.op)], self.span(node)
        self.bind(target, Op(operator, (target, value), span))
        out.append(Update(target, operator, value, span))

    def _annotated(self, node: ast.AnnAssign, out: list[Stmt]) -> None:
        target, annotation = self.expr(node.target), type_ref(node.annotation)
        value = None if node.value is None else self.expr(node.value)
        self.bind(target, value, annotation)
        if self.notes or self.prose or self.has_typed_notes:
            self.note_targets(node, (target,))
        if value is not None:
            out.append(Assign((target,), value, self.span(node)))

    def bind(self, target: Expr, value: Expr | None, annotation: TypeRef | None = None) -> None:
        """Record what a variable or field is assigned, through unpacking."""
        match target:
            case Name(name=name, scope="local"):
                if value is not None:
                    self.scope.bindings.setdefault(name, []).append(value)
                if annotation is not None:
                    self.scope.annotations[name] = annotation
            case Name(name=name, scope="global", span=span):
                self.variable(name, value, annotation, span)
            case Attr(base=Name(name=name, scope=scope), name=field, span=span) if scope != "global" and (
                owner := self.scope.instance_owner(name)
            ):
                self.field(owner, field, value, annotation, span)
            case Attr(base=base, name=field) if value is not None:
                self.attribute_stores.append(AttributeStore(self.scope.qualname, base, field, value))
            case Item(base=container, key=key) if value is not None and not _is_slice(key):
                self.filled(container, value)
            case Build(parts=parts) if value is not None:
                self._unpack(parts, value)
            case _:
                pass

    def _unpack(self, targets: tuple[Expr, ...], value: Expr) -> None:
        same_shape = isinstance(value, Build) and len(value.parts) == len(targets) and value.kind in ("tuple", "list")
        starred = any(isinstance(part, Star) for part in targets)
        for index, target in enumerate(targets):
            if isinstance(target, Star):
                self.bind(target.value, Build("list", (), (), getattr(value, "span", None)))  # type: ignore[arg-type]
            elif same_shape and not starred:
                self.bind(target, value.parts[index])  # type: ignore[union-attr]
            else:
                key: Expr = Op("unknown", (), target.span) if starred else Const(index)  # type: ignore[union-attr]
                self.bind(target, Item(value, key, target.span))  # type: ignore[union-attr]

    def _delete(self, node: ast.Delete, out: list[Stmt]) -> None:
        out.extend(Delete(self.expr(target), self.span(target)) for target in node.targets)

    # --- control ------------------------------------------------------------------------------------------------------

    def _branch(self, node: ast.If, out: list[Stmt]) -> None:
        out.append(Branch(self.expr(node.test), self.block(node.body), self.block(node.orelse), self.span(node)))

    def _loop(self, node: ast.For | ast.AsyncFor, out: list[Stmt]) -> None:
        iterable = self.expr(node.iter)
        target = self.expr(node.target)
        self.bind(target, Op("element", (iterable,), self.span(node.iter)))
        body, orelse = self.block(node.body), self.block(node.orelse)
        out.append(Loop(target, iterable, None, body, orelse, isinstance(node, ast.AsyncFor), self.span(node)))

    def _while(self, node: ast.While, out: list[Stmt]) -> None:
        test = self.expr(node.test)
        out.append(Loop(None, None, test, self.block(node.body), self.block(node.orelse), False, self.span(node)))

    def _hold(self, node: ast.With | ast.AsyncWith, out: list[Stmt]) -> None:
        items: list[tuple[Expr, Expr | None]] = []
        for item in node.items:
            manager = self.expr(item.context_expr)
            target = None if item.optional_vars is None else self.expr(item.optional_vars)
            if target is not None:
                self.bind(target, Op("enter", (manager,), self.span(item.context_expr)))
            items.append((manager, target))
        out.append(Hold(tuple(items), self.block(node.body), isinstance(node, ast.AsyncWith), self.span(node)))

    def _try(self, node: ast.Try | ast.TryStar, out: list[Stmt]) -> None:
        body = self.block(node.body)
        handlers = tuple([self._handler(handler) for handler in node.handlers])
        out.append(Try(body, handlers, self.block(node.orelse), self.block(node.finalbody), self.span(node)))

    def _handler(self, node: ast.ExceptHandler) -> Handler:
        caught = None if node.type is None else self.expr(node.type)
        target: Expr | None = None
        if node.name:
            name, scope = self.scope.resolve(node.name)
            target = Name(name, scope, self.span(node))
        return Handler(caught, target, self.block(node.body))

    def _return(self, node: ast.Return, out: list[Stmt]) -> None:
        value = None if node.value is None else self.expr(node.value)
        if value is not None:
            self.scope.bindings.setdefault("return", []).append(value)
        out.append(Jump("return", value, self.span(node)))

    def _raise(self, node: ast.Raise, out: list[Stmt]) -> None:
        value = None if node.exc is None else self.expr(node.exc)
        out.append(Jump("raise", value, self.span(node)))

    def _break(self, node: ast.Break, out: list[Stmt]) -> None:
        out.append(Jump("break", None, self.span(node)))

    def _continue(self, node: ast.Continue, out: list[Stmt]) -> None:
        out.append(Jump("continue", None, self.span(node)))

    def _assert(self, node: ast.Assert, out: list[Stmt]) -> None:
        span = self.span(node)
        out.append(Branch(self.expr(node.test), (), (Jump("raise", None, span),), span))

    # --- imports ------------------------------------------------------------------------------------------------------

    def _import(self, node: ast.Import, out: list[Stmt]) -> None:
        for alias in node.names:
            self.loads.append(Imported(alias.name, None, 0))
            if alias.asname:
                self.imported(alias.asname, Imported(alias.name, None, 0), out, node)
            else:
                top = alias.name.partition(".")[0]
                self.imported(top, Imported(top, None, 0), out, node)

    def _import_from(self, node: ast.ImportFrom, out: list[Stmt]) -> None:
        for alias in node.names:
            value = Imported(node.module or "", alias.name, node.level)
            self.loads.append(value)
            self.imported(alias.asname or alias.name, value, out, node)

    # --- match --------------------------------------------------------------------------------------------------------

    def _match(self, node: ast.Match, out: list[Stmt]) -> None:
        """Lower to a chain of branches; patterns bind paths into the subject."""
        subject = self.expr(node.subject)
        if not isinstance(subject, Name | Const):
            name = Name(f"@match{node.lineno}", "local", self.span(node.subject))
            self.bind(name, subject)
            out.append(Assign((name,), subject, self.span(node.subject)))
            subject = name
        chain: Block = ()
        for case in reversed(node.cases):
            chain = self._case(case, subject, chain, self.span(node))
        out.extend(chain)

    def _case(self, case: ast.match_case, subject: Expr, otherwise: Block, whole: Span) -> Block:
        binds: list[Stmt] = []
        self._pattern(case.pattern, subject, binds)
        span = self.span(case.pattern)
        rest = span._replace(end_line=whole.end_line, end_column=whole.end_column)  # the case, and what is tried else
        irrefutable = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
        body: Block = (*binds, *self.block(case.body))
        if case.guard is not None:
            guard = self.expr(case.guard)
            body = (*binds, Branch(guard, self.block(case.body), otherwise, rest))
        if irrefutable:
            return body
        return (Branch(Op("match", (subject,), span), body, otherwise, rest),)

    def _pattern(self, pattern: ast.pattern, subject: Expr, out: list[Stmt]) -> None:
        span = self.span(pattern)
        match pattern:
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self._pattern(inner, subject, out)
                if name is not None:
                    self._capture(name, subject, pattern, out)
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                for key, part in zip(keys, patterns, strict=True):
                    self._pattern(part, Item(subject, self.expr(key), span), out)
                if rest is not None:
                    self._capture(rest, Build("dict", (), (), span), pattern, out)
            case ast.MatchSequence(patterns=patterns):
                for index, part in enumerate(patterns):
                    self._pattern(part, Item(subject, Const(index), span), out)
            case ast.MatchStar(name=str(name)):
                self._capture(name, Build("list", (), (), span), pattern, out)
            case ast.MatchClass(patterns=patterns, kwd_attrs=names, kwd_patterns=parts):
                for name, part in zip(names, parts, strict=True):
                    self._pattern(part, Attr(subject, name, span), out)
                for index, part in enumerate(patterns):
                    self._pattern(part, Item(subject, Const(f"match{index}"), span), out)
            case ast.MatchOr(patterns=patterns):
                for part in patterns:
                    self._pattern(part, subject, out)
            case _:
                pass

    def _capture(self, name: str, value: Expr, node: ast.pattern, out: list[Stmt]) -> None:
        known, scope = self.scope.resolve(name)
        target = Name(known, scope, self.span(node))
        self.bind(target, value)
        out.append(Assign((target,), value, self.span(node)))


def _is_slice(key: Expr) -> bool:
    return isinstance(key, Op) and key.operator == "slice"
