"""Go mutants of single functions: deep copies of objects that others hold, waits for what goroutines write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from go_types import kind_of, text, walk
from mutation import Cut, Mutant, blank
from tree_sitter import Node

HELD = re.compile(r"[Ll]ister|[Ii]ndexer|[Ii]nformer|GetByKey|ByIndex")
CHANGING = re.compile(r"^(Set|Add|Remove|Delete|Mark|Init)[A-Z]")
CHANGERS = re.compile(r"^(controllerutil|metav1|meta|util|kubeutil)\.(Set|Add|Remove|Delete)[A-Z]")
FUNCTIONS = ("function_declaration", "method_declaration")
DECLARING = ("short_var_declaration", "var_spec", "range_clause", "parameter_declaration")


class Body(NamedTuple):
    """A function or method: its name as reports have it, parameters, all nodes in order."""

    path: str
    data: bytes
    name: str
    receiver: str
    parameters: set[str]
    node: Node
    nodes: list[Node]

    @property
    def last(self) -> int:
        """Its last line."""
        return self.node.end_point[0] + 1


def mutants(path: str, data: bytes, root: Node, *, listing: bool) -> Iterator[Mutant]:
    """The mutants of every function of a file; `listing` says that the package works with listers."""
    for node in root.named_children:
        if node.type in FUNCTIONS and node.child_by_field_name("body") is not None:
            source = data[node.start_byte : node.end_byte]
            if b".DeepCopy()" in source or b".Wait()" in source:
                body = read(path, data, node)
                yield from copies(body, listing=listing)
                yield from waits(body)


def read(path: str, data: bytes, node: Node) -> Body:
    """A function with what is asked of it again and again."""
    receiver = node.child_by_field_name("receiver")
    own = receiver.named_children[0] if receiver is not None and receiver.named_children else None
    type_ = text(own.child_by_field_name("type")).lstrip("*").partition("[")[0] if own is not None else ""
    name = text(node.child_by_field_name("name"))
    parameters = node.child_by_field_name("parameters")
    given = parameters.named_children if parameters is not None else ()
    names = {text(each) for parameter in given for each in parameter.children_by_field_name("name")}
    own_name = text(own.child_by_field_name("name")) if own is not None else ""
    body = node.child_by_field_name("body")
    assert body is not None
    return Body(path, data, f"{type_}.{name}" if type_ else name, own_name, names, node, list(walk(body)))


# --- copies -----------------------------------------------------------------------------------------------------------


def copies(body: Body, *, listing: bool) -> Iterator[Mutant]:
    """`x := y.DeepCopy()` whose `x` is changed afterwards, if `y` came from a lister, a field or near listers."""
    for call in body.nodes:
        target, source = copied(call)
        if target is None or source is None:
            continue
        case = origin(body, source, call, listing=listing)
        changed = [each for each in body.nodes if each.start_byte > call.end_byte and changes(each, text(target))]
        if case and changed:
            yield Mutant(
                body.path, "copy", case, line(call), text(call), body.name, (text(source), text(target)),
                line(changed[0]), line(call), body.last, (blank(body.data, source.end_byte, call.end_byte),),
            )  # fmt: skip


def copied(call: Node) -> tuple[Node | None, Node | None]:
    """The variable that a deep copy is assigned to, and what is copied."""
    function = call.child_by_field_name("function") if call.type == "call_expression" else None
    if function is None or text(function.child_by_field_name("field")) != "DeepCopy" or call.parent is None:
        return None, None
    statement = call.parent.parent
    targets = statement.child_by_field_name("left") if statement is not None else None
    if targets is None or len(targets.named_children) != 1 or targets.named_children[0].type != "identifier":
        return None, None
    return targets.named_children[0], function.child_by_field_name("operand")


def origin(body: Body, source: Node, call: Node, *, listing: bool) -> str:
    """Who else holds what is copied; "" if nobody seems to."""
    if source.type == "index_expression" and root_of(source) == body.receiver:
        return "of an element of a field"
    if source.type != "identifier":
        return ""
    name = text(source)
    before = [node for node in body.nodes if node.start_byte < call.start_byte and assigns(node, name)]
    if not before:
        return "of a parameter beside listers" if listing and name in body.parameters else ""
    values = [text(node.child_by_field_name("right")) for node in before]
    named = {word for value in values for word in re.findall(r"^(\w+)(?:\.\(|\[|$)", value)}
    values += [text(n.child_by_field_name("right")) for n in body.nodes if any(assigns(n, word) for word in named)]
    if any(HELD.search(value) for value in values):
        return "of a lister's object"
    asserted = any(re.match(rf"({'|'.join(body.parameters)})\.\(", value) for value in values if body.parameters)
    return "of a handler's argument" if asserted else ""


def assigns(node: Node, name: str) -> bool:
    """Whether a statement gives a variable a value."""
    if node.type not in ("short_var_declaration", "assignment_statement", "range_clause"):
        return False
    left = node.child_by_field_name("left")
    return left is not None and any(text(each) == name for each in left.named_children)


def changes(node: Node, name: str) -> bool:
    """Whether a node changes the object that a variable holds: a field, an entry, or by a method that says so."""
    if node.type == "identifier":
        return text(node) == name and kind_of(node) == "change" and is_root(node)
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None:
        return False
    if CHANGERS.match(text(function)):
        arguments = node.child_by_field_name("arguments")
        return arguments is not None and any(root_of(each) == name for each in arguments.named_children[:1])
    return bool(CHANGING.match(text(function.child_by_field_name("field")))) and root_of(function) == name


def is_root(node: Node) -> bool:
    """Whether an identifier is where an access path starts."""
    return node.parent is None or node.parent.child_by_field_name("field") != node


def root_of(node: Node) -> str:
    """The variable that an expression starts from."""
    while node.type in ("selector_expression", "index_expression", "unary_expression", "parenthesized_expression"):
        node = node.named_children[0]
    return text(node) if node.type == "identifier" else ""


# --- waits ------------------------------------------------------------------------------------------------------------


def waits(body: Body) -> Iterator[Mutant]:
    """`wg.Wait()` behind which a variable is used that goroutines of the function write."""
    for call in body.nodes:
        function = call.child_by_field_name("function") if call.type == "call_expression" else None
        if function is None or text(function.child_by_field_name("field")) != "Wait" or call.parent is None:
            continue
        arguments = call.child_by_field_name("arguments")
        if arguments is None or arguments.named_children or "." in text(function.child_by_field_name("operand")):
            continue
        statement = call.parent.type == "expression_statement"
        if not statement and call.parent.type != "expression_list":
            continue
        written = {name for each in body.nodes if each.end_byte < call.start_byte for name in results(each)}
        uses = [each for each in body.nodes if each.start_byte > call.end_byte and each.type == "identifier"]
        use = next((each for each in uses if text(each) in written and is_root(each)), None)
        if use is not None:
            cut = Cut(call.start_byte, call.end_byte, b"" if statement else b"error(nil)")
            yield Mutant(
                body.path, "join", "the result is used", line(call), text(call), body.name,
                (f"{body.name}.{text(use)}", text(use)), line(use), line(call), body.last, (cut,),
            )  # fmt: skip


def results(node: Node) -> set[str]:
    """The captured variables that a started function literal writes."""
    call = node.named_children[0] if node.type == "go_statement" else node if node.type == "call_expression" else None
    function = call.child_by_field_name("function") if call is not None else None
    if call is None or function is None:
        return set()
    literal: Node | None = function
    if node.type == "call_expression":  # g.Go(func() error {...})
        arguments = call.child_by_field_name("arguments")
        started = text(function.child_by_field_name("field")) == "Go" and arguments is not None
        literal = (
            arguments.named_children[0] if started and arguments is not None and arguments.named_children else None
        )
    if literal is None or literal.type != "func_literal":
        return set()
    nodes = list(walk(literal))
    names = {text(n) for n in nodes if n.type == "identifier" and is_root(n) and kind_of(n) != "read"}
    return names - {text(n) for each in nodes if each.type in DECLARING for n in declared(each)}


def declared(node: Node) -> list[Node]:
    """The names that a statement or parameter declares."""
    left = node.child_by_field_name("left")
    return left.named_children if left is not None else node.children_by_field_name("name")


def line(node: Node) -> int:
    """The line where a node starts."""
    return node.start_point[0] + 1
