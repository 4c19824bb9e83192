"""Python expressions to the program model."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from racelint.languages.python.scopes import FunctionScope
from racelint.model import (
    Attr,
    Await,
    Bind,
    Branch,
    Build,
    Call,
    Choice,
    Collect,
    Comp,
    Const,
    Construction,
    Expr,
    Filling,
    Item,
    Logic,
    Loop,
    Name,
    Op,
    Star,
    Stmt,
    Yield,
)
from racelint.span import Span

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.MatMult: "@",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "not",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
LONGEST_NAME = 100  # characters of a text that may be a name
SPACE = re.compile(r"\s")
WORD = re.compile(r"[A-Za-z_]\w+")
DISPLAYS: dict[type[ast.AST], Literal["tuple", "list", "set"]] = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}
COMPREHENSIONS: dict[type[ast.AST], Literal["list", "set", "dict", "generator"]] = {
    ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator",
}  # fmt: skip


def mangled(name: str, owner: str) -> str:
    """A name in a class as Python stores it: private ones carry the name of the class."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{owner.rpartition('.')[2].lstrip('_')}{name}" if private else name


FILLING = {"append": 0, "appendleft": 0, "add": 0, "insert": 1, "setdefault": 1, "put": 0, "put_nowait": 0}


class Expressions:
    """Lowers expressions in the current scope."""

    scope: FunctionScope

    def __init__(self, wide: Mapping[int, bytes]) -> None:
        """`wide` holds, as UTF-8, the lines in which a character is wider than a byte: columns count characters."""
        self._wide = wide
        self.constructions: list[Construction] = []
        self.fillings: list[Filling] = []
        self.mentions: set[str] = set()
        self._lowerers: dict[type[ast.AST], Callable[[Any], Expr]] = {
            ast.Constant: self._constant, ast.Name: self._name, ast.Attribute: self._attribute,
            ast.Subscript: self._subscript, ast.Call: self._call, ast.BinOp: self._binary, ast.UnaryOp: self._unary,
            ast.BoolOp: self._logic, ast.Compare: self._compare, ast.IfExp: self._choice, ast.Lambda: self.lambda_value,
            ast.Tuple: self._display, ast.List: self._display, ast.Set: self._display, ast.Dict: self._mapping,
            ast.ListComp: self._comprehension, ast.SetComp: self._comprehension, ast.DictComp: self._comprehension,
            ast.GeneratorExp: self._comprehension, ast.Await: self._await, ast.Yield: self._yield,
            ast.YieldFrom: self._yield, ast.NamedExpr: self._bind, ast.Starred: self._star,
            ast.FormattedValue: self._formatted,
        }  # fmt: skip

    def span(self, node: Any) -> Span:
        """The node's span with columns in characters."""
        line, end_line = node.lineno, node.end_lineno
        if line not in self._wide and end_line not in self._wide:
            return Span(line, node.col_offset + 1, end_line, node.end_col_offset + 1)
        return Span(line, self._column(line, node.col_offset), end_line, self._column(end_line, node.end_col_offset))

    def _column(self, line: int, offset: int) -> int:
        text = self._wide.get(line)
        return offset + 1 if text is None else len(text[:offset].decode("utf-8", "replace")) + 1

    def expr(self, node: ast.expr) -> Expr:
        """Lower one expression."""
        lowerer = self._lowerers.get(type(node))
        return lowerer(node) if lowerer else self._other(node)

    def exprs(self, nodes: Sequence[ast.expr]) -> tuple[Expr, ...]:
        """Lower several."""
        return tuple([self.expr(node) for node in nodes])

    def lambda_value(self, node: ast.Lambda) -> Expr:
        """Lower a lambda to a function of its own and the closure that refers to it."""
        raise NotImplementedError

    def _constant(self, node: ast.Constant) -> Expr:
        self._mention(node)
        return Const("..." if node.value is ... else node.value)

    def _mention(self, node: ast.Constant) -> None:
        """The words of a text that may be a name: `"stop"`, `"app.jobs:run"`, `"do_%s"`."""
        if isinstance(node.value, str) and len(node.value) <= LONGEST_NAME and SPACE.search(node.value) is None:
            self.mentions.update(WORD.findall(node.value))

    def _name(self, node: ast.Name) -> Expr:
        name, scope = self.scope.resolve(node.id)
        if self.scope.kind == "class":
            self.mentions.add(node.id)
        return Name(name, scope, self.span(node))

    def _attribute(self, node: ast.Attribute) -> Expr:
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):  # the same as type(x)
            span = self.span(node)
            return Call(Name("type", "global", span), (self.expr(node.value),), (), span)
        if isinstance(node.ctx, ast.Load):
            self.mentions.add(node.attr)
        return Attr(self.expr(node.value), self.attribute_name(node.attr), self.span(node))

    def attribute_name(self, name: str) -> str:
        """A name as it is stored on the object: private ones are mangled with the class around them."""
        scope: FunctionScope | None = self.scope
        while scope is not None:
            if scope.owner is not None:
                return mangled(name, scope.owner)
            scope = scope.parent
        return name

    def _subscript(self, node: ast.Subscript) -> Expr:
        return Item(self.expr(node.value), self._index(node.slice), self.span(node))

    def _index(self, node: ast.expr) -> Expr:
        if isinstance(node, ast.Slice):
            parts = [part for part in (node.lower, node.upper, node.step) if part is not None]
            return Op("slice", self.exprs(parts), self.span(node))
        return self.expr(node)

    def _call(self, node: ast.Call) -> Expr:
        match node:
            case ast.Call(ast.Name("hasattr"), [ast.Name() as owner, ast.Constant(str(name))], []):
                return Op("is not", (Attr(self.expr(owner), name, self.span(node)), Const(None)), self.span(node))
            case ast.Call(ast.Name("getattr"), [ast.Name() as owner, ast.Constant(str(name)), ast.Constant(None)], []):
                return Attr(self.expr(owner), name, self.span(node))
        keywords = tuple([(keyword.arg or "", self.expr(keyword.value)) for keyword in node.keywords])
        call = Call(self.expr(node.func), self.exprs(node.args), keywords, self.span(node))
        if call.args and isinstance(node.func, ast.Attribute) and len(call.args) == FILLING.get(node.func.attr, -1) + 1:
            self.filled(call.func.base, call.args[-1])  # type: ignore[union-attr]
        if (call.args or keywords) and isinstance(node.func, ast.Name | ast.Attribute):
            self.constructions.append(Construction(self.scope.qualname, call))
        return call

    def filled(self, container: Expr, value: Expr) -> None:
        """Record what is put into a container."""
        match container:
            case Attr(base=Name(name=name, scope=scope), name=field) if scope != "global":
                owner = self.scope.instance_owner(name)
                if owner is not None:
                    self.fillings.append(Filling(owner, field, self.scope.qualname, value))
            case Name(name=name, scope="global"):
                self.fillings.append(Filling("", name, self.scope.qualname, value))
            case Name(name=name, scope="local"):
                self.scope.bindings.setdefault(f"{name}[]", []).append(value)
            case _:
                pass

    def _binary(self, node: ast.BinOp) -> Expr:
        operator, span = OPERATORS[type(node.op)], self.span(node)
        operands = [node.right]
        left = node.left
        while isinstance(left, ast.BinOp) and type(left.op) is type(node.op):  # "a" + "b" + ... can be thousands long
            operands.append(left.right)
            left = left.left
        operands.append(left)
        return Op(operator, self.exprs(operands[::-1]), span)

    def _unary(self, node: ast.UnaryOp) -> Expr:
        operand = self.expr(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(operand, Const) and isinstance(operand.value, int | float):
            return Const(-operand.value)
        return Op(OPERATORS[type(node.op)], (operand,), self.span(node))

    def _logic(self, node: ast.BoolOp) -> Expr:
        return Logic("and" if isinstance(node.op, ast.And) else "or", self.exprs(node.values))

    def _compare(self, node: ast.Compare) -> Expr:
        operator = OPERATORS[type(node.ops[0])] if len(node.ops) == 1 else "compare"
        return Op(operator, self.exprs([node.left, *node.comparators]), self.span(node))

    def _choice(self, node: ast.IfExp) -> Expr:
        return Choice(self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Expr:
        kind = DISPLAYS[type(node)]
        return Build(kind, self.exprs(node.elts), (), self.span(node))

    def _mapping(self, node: ast.Dict) -> Expr:
        keys = tuple([None if key is None else self.expr(key) for key in node.keys])
        return Build("dict", self.exprs(node.values), keys, self.span(node))

    def _await(self, node: ast.Await) -> Expr:
        return Await(self.expr(node.value), self.span(node))

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Expr:
        self.scope.is_generator = True
        value = Const(None) if node.value is None else self.expr(node.value)
        return Yield(value, isinstance(node, ast.YieldFrom), self.span(node))

    def _bind(self, node: ast.NamedExpr) -> Expr:
        value = self.expr(node.value)
        target = self.expr(node.target)
        self.bind(target, value)
        return Bind(target, value)

    def _star(self, node: ast.Starred) -> Expr:
        return Star(self.expr(node.value))

    def _formatted(self, node: ast.FormattedValue) -> Expr:
        value = self.expr(node.value)
        return (
            value if node.format_spec is None else Op("format", (value, self.expr(node.format_spec)), self.span(node))
        )

    def _other(self, node: ast.expr) -> Expr:
        """Format strings, template strings and what later versions add: something made of its parts."""
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        parts = [child for child in children if not isinstance(child, ast.Constant)]
        for child in children:
            if isinstance(child, ast.Constant):
                self._mention(child)
        return Op("format", self.exprs(parts), self.span(node))

    def _comprehension(self, node: Comprehension) -> Expr:
        """Lower to nested loops around a `Collect`; the first iterable belongs to the scope outside."""
        first = self.expr(node.generators[0].iter)
        self.scope.comprehensions += 1
        mapping: dict[str, str] = {}
        self.scope.renamed.append(mapping)
        try:
            body = self._clauses(node, 0, first, mapping)
        finally:
            self.scope.renamed.pop()
        return Comp(COMPREHENSIONS[type(node)], body, self.span(node))

    def _clauses(self, node: Comprehension, index: int, iterable: Expr, mapping: dict[str, str]) -> Stmt:
        clause = node.generators[index]
        for name in ast.walk(clause.target):
            if isinstance(name, ast.Name):
                mapping[name.id] = f"{name.id}@{self.scope.comprehensions}"
        target = self.expr(clause.target)
        self.bind(target, Op("element", (iterable,), self.span(clause.iter)))
        tests = self.exprs(clause.ifs)
        inner: Stmt
        if index + 1 < len(node.generators):
            inner = self._clauses(node, index + 1, self.expr(node.generators[index + 1].iter), mapping)
        elif isinstance(node, ast.DictComp):
            inner = Collect(self.expr(node.key), self.expr(node.value), self.span(node.value))
        else:
            inner = Collect(None, self.expr(node.elt), self.span(node.elt))
        if tests:
            test = tests[0] if len(tests) == 1 else Logic("and", tests)
            inner = Branch(test, (inner,), (), self.span(clause.iter))
        return Loop(target, iterable, None, (inner,), (), bool(clause.is_async), self.span(node))

    def bind(self, target: Expr, value: Expr) -> None:
        """Record what a local variable or a field is assigned, for types."""
        raise NotImplementedError
