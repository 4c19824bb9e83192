"""Go statements to the program model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from racelint.languages.go.expressions import Expressions, tuple_of
from racelint.languages.go.tree import field, parts, statements
from racelint.model import (
    Assign,
    Attr,
    Block,
    Build,
    Call,
    Const,
    Defer,
    Delete,
    Eval,
    Expr,
    Item,
    Jump,
    Labelled,
    Make,
    Name,
    Op,
    Spawn,
    Stmt,
    TypeRef,
    Update,
)
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

CUTS = {"Delete", "DeleteFunc", "Compact", "CompactFunc"}  # of package slices: they move the elements behind up
TWO_VALUED = {"index_expression", "type_assertion_expression", "unary_expression"}


class Statements(Expressions):
    """Lowers statements in the current scope; declarations are left to the subclass."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._labels = 0
        self._pending_label = ""  # of the statement that comes next
        self._breaks: list[str] = []  # what an unlabelled `break` leaves: "" for a loop
        self._statements: dict[str, Callable[[Node, list[Stmt]], None]] = {
            "expression_statement": self._expression, "short_var_declaration": self._define,
            "assignment_statement": self._assignment, "var_declaration": self.variables,
            "const_declaration": self.constants,
            "type_declaration": self.types, "inc_statement": self._increment, "dec_statement": self._increment,
            "send_statement": self._send,

            "return_statement": self._return, "break_statement": self._leave,
            "continue_statement": self._leave, "labeled_statement": self._labelled, "go_statement": self._go,
            "defer_statement": self._defer, "block": self._nested, "goto_statement": self._goto,
            "receive_statement": self._receive,
        }  # fmt: skip

    def block(self, nodes: Iterator[Node] | Sequence[Node]) -> Block:
        """Lower statements in the current block scope."""
        out: list[Stmt] = []
        for node in nodes:
            self.statement(node, out)
        return tuple(out)

    def statement(self, node: Node, out: list[Stmt]) -> None:
        """Lower one statement."""
        lowerer = self._statements.get(node.type)
        if lowerer is not None:
            lowerer(node, out)

    @contextmanager
    def scoped(self) -> Iterator[None]:
        """A block scope."""
        self.scope.blocks.append({})
        try:
            yield
        finally:
            self.scope.blocks.pop()

    def variables(self, node: Node, out: list[Stmt]) -> None:
        """Lower `var`."""
        raise NotImplementedError

    def constants(self, node: Node, out: list[Stmt]) -> None:
        """Lower `const`."""
        raise NotImplementedError

    def types(self, node: Node, out: list[Stmt]) -> None:
        """Lower `type`."""
        raise NotImplementedError

    # --- assignment ---------------------------------------------------------------------------------------------------

    def bind(self, target: Expr, value: Expr, annotation: TypeRef | None = None) -> None:
        """Record what a variable of this function is assigned, for types."""
        match target:
            case Name(name=name, scope="local") if name != "_":
                self.scope.bindings.setdefault(name, []).append(value)
                if annotation is not None:
                    self.scope.annotations[name] = annotation
            case Name(name=name, scope="captured"):
                self.scope.holder(name).bindings.setdefault(f"{name}()", []).append(value)
            case Attr(base=base, name=name):
                self.note_store(base, name, value)
            case Build(parts=targets, span=span):
                for index, part in enumerate(targets):
                    self.bind(part, Item(value, Const(index), span))
            case _:
                pass

    def assign(self, targets: Sequence[Expr], values: Sequence[Expr], span: Span, out: list[Stmt]) -> None:
        """Assign values to targets, all at once; what goes to `_` is only evaluated."""
        if len(targets) == len(values):
            for target, value in zip(targets, values, strict=True):
                self.bind(target, value)
        if len(targets) == 1 and len(values) == 1:
            blank = isinstance(targets[0], Name) and targets[0].name == "_"
            out.append(Eval(values[0], span) if blank else Assign((targets[0],), values[0], span))
            return
        target = Build("tuple", tuple(targets), (), span)
        if len(values) == 1:
            self.bind(target, values[0])
        out.append(Assign((target,), tuple_of(values, span), span))

    def _define(self, node: Node, out: list[Stmt]) -> None:
        """`a, b := ...`: names that this block has are assigned, others are new, once the values are evaluated."""
        names, nodes = parts(field(node, "left")), parts(field(node, "right"))
        values = self._values(nodes, len(names))
        targets: list[Expr] = [self.declared(name) for name in names]
        self._assign_values(targets, values, self.span(node), out)

    def declared(self, node: Node, header: Span | None = None) -> Name:
        """The variable that `:=` assigns: this block's own if it has one of that name, else a new one."""
        name, span = self.text.of(node), self.span(node)
        return Name(self.scope.here(name) or self.scope.declare(name, span, header=header), "local", span)

    def _values(self, nodes: Sequence[Node], wanted: int) -> tuple[Expr, ...]:
        """The values of an assignment; `v, ok := m[k]` has two of one expression."""
        if len(nodes) == 1 and wanted == 2 and nodes[0].type in TWO_VALUED:
            return self.expr(nodes[0]), Op("ok", (), self.span(nodes[0]))
        return self.exprs(nodes)

    def _assign_values(self, targets: Sequence[Expr], values: Sequence[Expr], span: Span, out: list[Stmt]) -> None:
        if len(values) == 2 and isinstance(values[1], Op) and values[1].operator == "ok":
            for target, value in zip(targets, values, strict=True):
                self.assign([target], [value], span, out)
        else:
            self.assign(targets, values, span, out)

    def _assignment(self, node: Node, out: list[Stmt]) -> None:
        left, right = parts(field(node, "left")), parts(field(node, "right"))
        operator, span = self.text.of(field(node, "operator")), self.span(node)
        if operator != "=":
            target, value = self.expr(left[0]), self.expr(right[0])
            self.bind(target, Op(operator[:-1], (target, value), span))
            out.append(Update(target, operator[:-1], value, span))
        elif len(left) == 1 and self._is_swapped_out(node, left[0], right[0]):
            self._cut(self.expr(left[0]), right[0], span, out)
        elif len(left) == 1 and self._is_append(left[0], right[0]):
            self._append(left[0], right[0], span, out)
        else:
            values = self._values(right, len(left))
            self._assign_values(self.exprs(left), values, span, out)

    def _is_append(self, target: Node, value: Node) -> bool:
        """Whether a sequence is assigned what is made of itself: `x = append(x, ...)`, `x = slices.Delete(x, ...)`."""
        if value.type != "call_expression":
            return False
        arguments = parts(field(value, "arguments"))
        if not arguments or not (self.builtin(value) == "append" or self._is_cut(value)):
            return False
        first = field(arguments[0], "operand") if arguments[0].type == "slice_expression" else arguments[0]
        return self.text.of(first) == self.text.of(target)

    def _is_swapped_out(self, node: Node, target: Node, value: Node) -> bool:
        """Whether the last element goes because another one has got its place: `x[i] = x[len(x)-1]; x = x[:len(x)-1]`.

        Or because those behind a gap have moved up: `copy(x[i:], x[i+1:])`.
        """
        if value.type != "slice_expression" or value.child_by_field_name("start") is not None:
            return False
        name, end = self.text.of(target), value.child_by_field_name("end")
        last = f"len({name})-1"
        if end is None or self.text.of(field(value, "operand")) != name or self._closely(end) != last:
            return False
        before = _statement_before(node)
        if before is not None and self._is_emptied(before, f"{name}[{last}]"):
            before = _statement_before(before)
        return before is not None and (self._swaps(before, name, f"{name}[{last}]") or self._closes_gap(before, name))

    def _closely(self, node: Node) -> str:
        return self.text.of(node).replace(" ", "")

    def _is_emptied(self, node: Node, cell: str) -> bool:
        """Whether a statement only gives one element another value, so that it holds nothing any more."""
        if node.type != "assignment_statement":
            return False
        left = parts(field(node, "left"))
        return len(left) == 1 and self._closely(left[0]) == cell

    def _swaps(self, node: Node, name: str, last: str) -> bool:
        if node.type != "assignment_statement":
            return False
        places = [each for each in parts(field(node, "left")) if each.type == "index_expression"]
        cells = [each for each in places if self.text.of(field(each, "operand")) == name]
        return bool(cells) and last in [self._closely(each) for each in parts(field(node, "right"))]

    def _closes_gap(self, node: Node, name: str) -> bool:
        inner = parts(node)
        if node.type != "expression_statement" or inner[0].type != "call_expression":
            return False
        arguments = parts(field(inner[0], "arguments"))
        slices = [each for each in arguments if each.type == "slice_expression"]
        own = all(self.text.of(field(each, "operand")) == name for each in slices)
        return self.builtin(inner[0]) == "copy" and len(slices) == 2 and own

    def _shortened(self, node: Node, value: Node) -> Node | None:
        """The slice whose elements have moved up, or which `node` cuts, where it gives back what is left of it."""
        if value.type == "slice_expression":
            operand = field(value, "operand")
            return operand if self._is_swapped_out(node, operand, value) else None
        arguments = parts(field(value, "arguments")) if value.type == "call_expression" else ()
        if not arguments:
            return None
        if self._is_cut(value):
            return arguments[0]
        first = arguments[0]
        if self.builtin(value) != "append" or first.type != "slice_expression":
            return None
        if first.child_by_field_name("capacity") is not None:
            return None  # append() has no room there, and makes another one
        return field(first, "operand") if self._moves_up(arguments, field(first, "operand")) else None

    def _is_cut(self, call: Node) -> bool:
        func = field(call, "function")
        if func.type != "selector_expression" or self.text.of(field(func, "field")) not in CUTS:
            return False
        package = self.package(field(func, "operand"))
        return package is not None and package.module in ("slices", "golang.org/x/exp/slices")

    def _append(self, left: Node, call: Node, span: Span, out: list[Stmt]) -> None:
        target, arguments = self.expr(left), parts(field(call, "arguments"))
        if self._is_cut(call) or self._moves_up(arguments, left):
            self._cut(target, call, span, out)
            return
        value = self.expr(call)
        if arguments[0].type == "slice_expression":  # x = append(x[:i], other...)
            self.assign([target], [value], span, out)
        else:
            assert isinstance(value, Op)
            self.bind(target, value)
            out.append(Update(target, "append", Build("list", value.operands[1:], (), span), span))

    def _cut(self, target: Expr, value: Node, span: Span, out: list[Stmt]) -> None:
        """A slice loses elements, by what a function of a library is told, or by what the program does itself."""
        arguments = parts(field(value, "arguments")) if value.type == "call_expression" and self._is_cut(value) else ()
        out.extend(Eval(expr, span) for expr in self.exprs(arguments[1:]) if not isinstance(expr, Const | Name))
        out.append(Delete(Item(target, Op("slice", (), span), span), span))

    def _moves_up(self, arguments: Sequence[Node], target: Node) -> bool:
        """Whether `append(x[:i], x[j:]...)` closes a gap in x."""
        if len(arguments) != 2 or arguments[0].type != "slice_expression" or arguments[1].type != "variadic_argument":
            return False
        tail = parts(arguments[1])[0]
        start, end = tail.child_by_field_name("start"), arguments[0].child_by_field_name("end")
        if tail.type != "slice_expression" or start is None:
            return False
        if end is not None and self.text.of(start) == self.text.of(end):
            return False  # there is no gap: everything stays where it is
        return self.text.of(field(tail, "operand")) == self.text.of(target)

    def _increment(self, node: Node, out: list[Stmt]) -> None:
        target = self.expr(parts(node)[0])
        operator = "+" if node.type == "inc_statement" else "-"
        out.append(Update(target, operator, Const(1), self.span(node)))

    # --- simple statements --------------------------------------------------------------------------------------------

    def _expression(self, node: Node, out: list[Stmt]) -> None:
        inner = parts(node)[0]
        name = self.builtin(inner) if inner.type == "call_expression" else ""
        arguments = parts(field(inner, "arguments")) if name else []
        if name == "delete" and len(arguments) == 2:  # else another file of the package declares one of that name
            container, key = arguments
            out.append(Delete(Item(self.expr(container), self.expr(key), self.span(inner)), self.span(node)))
        elif name == "panic":
            value = self.exprs(arguments)
            out.append(Jump("raise", value[0] if value else None, self.span(node)))
        else:
            out.append(Eval(self.expr(inner), self.span(node)))

    def _send(self, node: Node, out: list[Stmt]) -> None:
        operands = (self.expr(field(node, "channel")), self.expr(field(node, "value")))
        out.append(Eval(Op("send", operands, self.span(node)), self.span(node)))

    def _receive(self, node: Node, out: list[Stmt]) -> None:
        """The receiving end of a `select` case."""
        left, right, span = node.child_by_field_name("left"), field(node, "right"), self.span(node)
        value = self.expr(right)
        if left is None:
            out.append(Eval(value, span))
            return
        define = any(child.type == ":=" for child in node.children)
        targets = [self.declared(part) if define else self.expr(part) for part in parts(left)]
        for target, given in zip(targets, (value, Op("ok", (), self.span(right))), strict=False):
            self.assign([target], [given], span, out)

    def _call_of(self, node: Node, out: list[Stmt]) -> Expr:
        """The call of a `go` or `defer` statement; a call that gives what is called comes first: `defer lock()()`."""
        inner = parts(node)[0]
        while inner.type == "parenthesized_expression":
            inner = parts(inner)[0]
        call = self.expr(inner)
        if not isinstance(call, Call) or not isinstance(call.func, Call):
            return call
        return call._replace(func=self._beforehand(call.func, out))

    def _beforehand(self, call: Call, out: list[Stmt]) -> Expr:
        """What is called before what it is needed for."""
        name = Name(self.scope.declare("@called", call.span), "local", call.span)
        self.bind(name, call)
        out.append(Assign((name,), call, call.span))
        return name

    def _go(self, node: Node, out: list[Stmt]) -> None:
        out.append(Spawn(self._call_of(node, out), self.span(node)))

    def _defer(self, node: Node, out: list[Stmt]) -> None:
        """What is called for its arguments or its receiver comes first, only the call itself is put off."""
        call = self._call_of(node, out)
        if isinstance(call, Call):
            func = call.func
            if isinstance(func, Attr) and isinstance(func.base, Call):
                call = call._replace(func=func._replace(base=self._beforehand(func.base, out)))
            args = [self._beforehand(arg, out) if isinstance(arg, Call) else arg for arg in call.args]
            call = call._replace(args=tuple(args))
        out.append(Defer(call, self.span(node)))

    def _return(self, node: Node, out: list[Stmt]) -> None:
        inner, span = parts(node), self.span(node)
        nodes = parts(inner[0]) if inner and inner[0].type == "expression_list" else inner
        values = [self._given_back(node, value, out) for value in nodes]
        results: list[Expr] = [Name(name, "local", span) for name in self.scope.results]
        targets, given = _changed(results, values)
        if targets and given:
            self.assign(targets, given, span, out)
        given = results or list(values)
        if given:
            self.scope.bindings.setdefault("return", []).append(tuple_of(given, span))
        out.append(Jump("return", tuple_of(given, span) if given else None, span))

    def _given_back(self, node: Node, value: Node, out: list[Stmt]) -> Expr:
        """A result; what is left of a slice is that slice: `return append(x[:i], x[i+1:]...)`."""
        shortened = self._shortened(node, value)
        if shortened is None or shortened.type not in ("identifier", "selector_expression"):
            return self.expr(value)
        target = self.expr(shortened)
        self._cut(target, value, self.span(node), out)
        return target

    def _leave(self, node: Node, out: list[Stmt]) -> None:
        named = parts(node)
        label = self.text.of(named[0]) if named else ""
        kind = "break" if node.type == "break_statement" else "continue"
        if kind == "break" and not label and self._breaks:
            label = self._breaks[-1]
        out.append(Jump("break" if kind == "break" else "continue", None, self.span(node), label))

    def _goto(self, node: Node, out: list[Stmt]) -> None:
        """Where it leads runs on from other ways there."""
        out.append(Jump("raise", None, self.span(node)))

    def _labelled(self, node: Node, out: list[Stmt]) -> None:
        label, inner = self.text.of(field(node, "label")), [p for p in parts(node) if p.type != "label_name"]
        for statement in inner:
            if statement.type == "block":
                body: list[Stmt] = []
                self.statement(statement, body)
                out.append(Labelled(label, tuple(body), self.span(node)))
            else:
                self._pending_label = label
                self.statement(statement, out)
                self._pending_label = ""

    def _nested(self, node: Node, out: list[Stmt]) -> None:
        with self.scoped():
            out.extend(self.block(statements(node)))


def zero(type_ref: TypeRef, span: Span) -> Expr:
    """What a variable holds that nobody has assigned yet."""
    if type_ref.name in ("", "*", "[]", "map", "chan", "func", "error"):
        return Const(None)
    return Make(type_ref, (), (), (), span)


def _statement_before(node: Node) -> Node | None:
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    return before


def _changed(targets: Sequence[Expr], values: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The variables that get what they do not have, and that: of `return n, nil` by results `n, err` the second one."""
    if len(targets) != len(values):
        return list(targets), list(values)
    pairs = [(target, value) for target, value in zip(targets, values, strict=True) if not _is_same_name(target, value)]
    return [target for target, _ in pairs], [value for _, value in pairs]


def _is_same_name(target: Expr, value: Expr) -> bool:
    return isinstance(target, Name) and isinstance(value, Name) and target.name == value.name
