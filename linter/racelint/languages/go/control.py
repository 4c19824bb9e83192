"""Go's control flow to the program model: branches, loops, switches and selects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from racelint.languages.go.statements import Statements
from racelint.languages.go.tree import field, parts, statements
from racelint.model import (
    Assign,
    Attr,
    Block,
    Branch,
    Build,
    Cast,
    Const,
    Expr,
    Jump,
    Labelled,
    Logic,
    Loop,
    Name,
    Op,
    Stmt,
)
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node


class Control(Statements):
    """Lowers statements with blocks of their own."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._statements |= {
            "if_statement": self._if, "for_statement": self._for, "expression_switch_statement": self._switch,
            "type_switch_statement": self._type_switch, "select_statement": self._select,
        }  # fmt: skip

    def _initialise(self, node: Node, out: list[Stmt]) -> None:
        initial = node.child_by_field_name("initializer")
        if initial is not None:
            self.statement(initial, out)

    def _if(self, node: Node, out: list[Stmt]) -> None:
        with self.scoped():
            self._initialise(node, out)
            test = self.expr(field(node, "condition"))
            with self.scoped():
                then = self.block(statements(field(node, "consequence")))
            orelse: list[Stmt] = []
            alternative = node.child_by_field_name("alternative")
            if alternative is not None:
                self.statement(alternative, orelse)
            out.append(Branch(test, then, tuple(orelse), self.span(node)))

    def _for(self, node: Node, out: list[Stmt]) -> None:
        label, self._pending_label = self._pending_label, ""
        span, body = self.span(node), field(node, "body")
        head = [part for part in parts(node) if part.type != "block"]
        with self.scoped():
            if not head:
                out.append(Loop(None, None, Const(True), self._body(body, span), (), False, span, (), label))
            elif head[0].type == "range_clause":
                self._range(head[0], body, span, label, out)
            elif head[0].type == "for_clause":
                self._clause(head[0], body, span, label, out)
            else:
                test = self.expr(head[0])
                out.append(Loop(None, None, test, self._body(body, span), (), False, span, (), label))

    def _body(self, node: Node, loop: Span) -> Block:
        self._breaks.append("")
        self.scope.loops.append(loop)
        with self.scoped():
            body = self.block(statements(node))
        self.scope.loops.pop()
        self._breaks.pop()
        return body

    def _clause(self, clause: Node, body: Node, span: Span, label: str, out: list[Stmt]) -> None:
        initial = clause.child_by_field_name("initializer")
        if initial is not None and initial.type == "short_var_declaration":
            names, nodes = parts(field(initial, "left")), parts(field(initial, "right"))
            values = self._values(nodes, len(names))
            self._assign_values([self.declared(n, span) for n in names], values, self.span(initial), out)
        elif initial is not None:
            self.statement(initial, out)
        condition, update = clause.child_by_field_name("condition"), clause.child_by_field_name("update")
        test = Const(True) if condition is None else self.expr(condition)
        inner = self._body(body, span)
        step: list[Stmt] = []
        if update is not None:
            self.statement(update, step)
        out.append(Loop(None, None, test, inner, (), False, span, tuple(step), label))

    def _range(self, clause: Node, body: Node, span: Span, label: str, out: list[Stmt]) -> None:
        left = parts(clause.child_by_field_name("left"))
        iterable = self.expr(field(clause, "right"))
        at = self.span(field(clause, "right"))
        define = any(child.type == ":=" for child in clause.children)
        targets = [self.declared(n, span) if define else self.expr(n) for n in left]
        blank = [isinstance(t, Name) and t.name == "_" for t in targets]
        for each, operator in zip(targets, ("element key", "element value"), strict=False):
            self.bind(each, Op(operator, (iterable,), at))
        target: Expr | None = None
        walk = "keys"
        if len(targets) == 2 and not blank[1]:
            walk = "values" if blank[0] else "entries"
            target = targets[1] if blank[0] else Build("tuple", tuple(targets), (), at)
        elif targets and not blank[0]:
            target = targets[0]
        out.append(Loop(target, Op(walk, (iterable,), at), None, self._body(body, span), (), False, span, (), label))

    # --- switches -----------------------------------------------------------------------------------------------------

    def _open_switch(self) -> str:
        label, self._pending_label = self._pending_label, ""
        self._labels += 1
        label = label or f"@{self._labels}"
        self._breaks.append(label)
        return label

    def _close_switch(self, label: str, body: Block, span: Span, out: list[Stmt]) -> None:
        """A block of its own if something in it leaves it."""
        self._breaks.pop()
        out.extend([Labelled(label, body, span)] if any(_breaks(stmt, label) for stmt in body) else body)

    def _switch(self, node: Node, out: list[Stmt]) -> None:
        label, span = self._open_switch(), self.span(node)
        body: list[Stmt] = []
        with self.scoped():
            self._initialise(node, body)
            subject = node.child_by_field_name("value")
            tag = None if subject is None else self._tag(subject, body)
            cases = [part for part in parts(node) if part.type in ("expression_case", "default_case")]
            body += self._cases(cases, tag, span)
        self._close_switch(label, tuple(body), span, out)

    def _tag(self, subject: Node, out: list[Stmt]) -> Expr:
        """What the cases are compared with; what has effects is evaluated once."""
        value, span = self.expr(subject), self.span(subject)
        if isinstance(value, Name | Const | Attr):
            return value
        name = Name(self.scope.declare("@tag", span), "local", span)
        self.bind(name, value)
        out.append(Assign((name,), value, span))
        return name

    def _cases(self, cases: Sequence[Node], tag: Expr | None, whole: Span) -> Block:
        """A chain of branches, tested in the order of the cases; `default` comes last wherever it stands."""
        chain: Block = ()
        for index in reversed(range(len(cases))):
            if cases[index].type == "default_case":
                chain = self._case_body(cases, index)
        for index in reversed(range(len(cases))):
            case = cases[index]
            if case.type == "default_case":
                continue
            tests = [self._case_test(value, tag) for value in parts(field(case, "value"))]
            test = tests[0] if len(tests) == 1 else Logic("or", tuple(tests))
            chain = (Branch(test, self._case_body(cases, index), chain, self._rest(case, chain, whole)),)
        return chain

    def _rest(self, case: Node, chain: Block, whole: Span) -> Span:
        """The span of a case with all that is tried if it is not taken: to the end of its statement, or all of it."""
        here = self.span(case)
        if any(stmt.span < here for stmt in chain):  # `default` stands before it
            return whole
        return here._replace(end_line=whole.end_line, end_column=whole.end_column)

    def _case_test(self, value: Node, tag: Expr | None) -> Expr:
        found = self.expr(value)
        if tag is None:
            return found
        return Op("is" if found == Const(None) else "==", (tag, found), self.span(value))

    def _case_body(self, cases: Sequence[Node], index: int) -> Block:
        inner = [part for part in statements(cases[index]) if part.type != "expression_list"]
        falls = bool(inner) and inner[-1].type == "fallthrough_statement" and index + 1 < len(cases)
        with self.scoped():
            body = self.block(inner)
        return body + self._case_body(cases, index + 1) if falls else body

    def _type_switch(self, node: Node, out: list[Stmt]) -> None:
        label, span = self._open_switch(), self.span(node)
        body: list[Stmt] = []
        with self.scoped():
            self._initialise(node, body)
            alias = parts(node.child_by_field_name("alias"))
            subject = self._tag(field(node, "value"), body)
            chain: Block = ()
            defaults = [part for part in parts(node) if part.type == "default_case"]
            others = [part for part in parts(node) if part.type == "type_case"]
            for case in [*defaults, *reversed(others)]:
                inner = self._type_case(case, alias[0] if alias else None, subject)
                test = Op("match", (subject, *self._kinds(case, subject)), self.span(case))
                rest = self._rest(case, chain, span)
                chain = inner if case.type == "default_case" else (Branch(test, inner, chain, rest),)
            body += chain
        self._close_switch(label, tuple(body), span, out)

    def _kinds(self, case: Node, subject: Expr) -> list[Expr]:
        """The subject of a switch as each of the types that a case is for."""
        kinds = [child for child in case.children_by_field_name("type") if child.is_named]
        return [Cast(subject, self.type_ref(kind), self.span(kind)) for kind in kinds if self.text.of(kind) != "nil"]

    def _type_case(self, case: Node, alias: Node | None, subject: Expr) -> Block:
        kinds = [child for child in case.children_by_field_name("type") if child.is_named]
        marks = {kind.id for kind in kinds}
        out: list[Stmt] = []
        with self.scoped():
            if alias is not None:
                span = self.span(alias)
                single = len(kinds) == 1 and self.text.of(kinds[0]) != "nil"
                value = Cast(subject, self.type_ref(kinds[0]), span) if single else subject
                self.assign([self.declared(alias)], [value], span, out)
            out += self.block([part for part in statements(case) if part.id not in marks])
        return tuple(out)

    def _select(self, node: Node, out: list[Stmt]) -> None:
        """One of the cases that are ready: any of them."""
        label, span = self._open_switch(), self.span(node)
        chain: Block = ()
        cases = [part for part in parts(node) if part.type in ("communication_case", "default_case")]
        for number, case in enumerate(reversed(cases)):
            communication = case.child_by_field_name("communication")
            inner: list[Stmt] = []
            with self.scoped():
                if communication is not None:
                    self.statement(communication, inner)
                inner += self.block([p for p in statements(case) if communication is None or p.id != communication.id])
            ready = Op("ready", (), self.span(case))
            rest = self._rest(case, chain, span)
            chain = tuple(inner) if number == 0 else (Branch(ready, tuple(inner), chain, rest),)
        if not cases:
            chain = (Jump("raise", None, span),)  # select {} waits for ever
        self._close_switch(label, chain, span, out)


def _breaks(stmt: Stmt, label: str) -> bool:
    """Whether a statement, or one in it, leaves the block of that label."""
    match stmt:
        case Jump(kind="break", label=other):
            return other == label
        case Branch(then=then, orelse=orelse):
            return any(_breaks(inner, label) for inner in (*then, *orelse))
        case Loop(body=body) | Labelled(body=body):
            return any(_breaks(inner, label) for inner in body)
        case _:
            return False
