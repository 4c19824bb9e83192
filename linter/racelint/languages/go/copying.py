"""Deep copies that a fix puts into Go code: `.DeepCopy()` where a function gets hold of a shared object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from racelint.finding import Edit, Fix, Remedy
from racelint.languages.go.block import File, function_around, root_name, statements, walk
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

DESCRIPTION = "change a deep copy"
MOST_STEPS = 4  # variables from the one that is changed to the one that the object came in


def deep_copy(file: File, root: Node, remedy: Remedy) -> Fix | None:
    """Copy the object whose part is changed, if it is used afterwards."""
    change = remedy.places[-1].span
    function = function_around(file, root, [change])
    if function is None:
        return None
    variable = _changed(file, function, change)
    if not variable and len(remedy.places) > 1:
        variable = _bound_at(file, function, remedy.places[0].span)
    for _ in range(MOST_STEPS):
        if not variable or not _is_used_after(file, function, variable, change):
            return None
        bindings = list(_bindings(file, function, variable, change))
        if not bindings:
            edit = _at_start(file, function, variable)
            return Fix(DESCRIPTION, (edit,), remedy.safe) if edit else None
        if len(bindings) > 1:
            return None
        found = _copied(file, bindings[0], variable)
        if isinstance(found, str):
            variable = found
            continue
        return Fix(DESCRIPTION, (found,), remedy.safe) if found else None
    return None


def _changed(file: File, function: Node, change: Span) -> str:
    """The variable whose object is changed at a span, or given to what changes it."""
    for node in walk(function):
        if file.span(node) != change:
            continue
        match node.type:
            case "assignment_statement":
                left = node.child_by_field_name("left")
                return root_name(file, left.named_children[0]) if left and len(left.named_children) == 1 else ""
            case "inc_statement" | "dec_statement" | "expression_statement":
                inner = node.named_children[0]
                return _given(file, inner) if inner.type == "call_expression" else root_name(file, inner)
            case "call_expression":
                return _given(file, node)
            case "selector_expression" | "index_expression":
                return root_name(file, node)
    return ""


def _bound_at(file: File, function: Node, source: Span) -> str:
    """The variable that gets what a source gives: a call that changes it may be given others, too."""
    for node in walk(function):
        if node.type in ("short_var_declaration", "assignment_statement") and file.span(node).holds(source):
            left = node.child_by_field_name("left")
            first = left.named_children[0] if left is not None and left.named_children else None
            return file.of(first) if first is not None and first.type == "identifier" else ""
    return ""


def _given(file: File, call: Node) -> str:
    """What a call changes: the only variable among its arguments, or what its method is of."""
    arguments = call.child_by_field_name("arguments")
    roots = [root_name(file, node) for node in (arguments.named_children if arguments else ())]
    function = call.child_by_field_name("function")
    if function is not None and file.of(function) in ("delete", "clear", "copy", "sort.Strings", "sort.Slice"):
        return roots[0] if roots else ""
    named = {name for name in roots if name and name not in ("ctx", "nil", "true", "false")}
    if not named and function is not None and function.type == "selector_expression":
        return root_name(file, function)
    return named.pop() if len(named) == 1 else ""


def _is_used_after(file: File, function: Node, variable: str, change: Span) -> bool:
    """Whether what is changed is read afterwards, or all of its object: else a copy would be changed for nothing."""
    changed = _path_changed(file, function, change)
    if changed.partition(".")[0] != variable:
        changed = ""  # by another name
    for node in walk(function):
        if node.type != "identifier" or file.of(node) != variable or file.span(node)[:2] < change[2:]:
            continue
        top, whole = node, node
        while top.parent is not None and top.parent.type in ("selector_expression", "index_expression"):
            if top.parent.child_by_field_name("operand") != top:
                break
            top, whole = top.parent, top
        parent = top.parent
        if parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == top:
            top = whole  # a method uses all of its object
        elif parent is not None and parent.parent is not None and parent.parent.child_by_field_name("left") == parent:
            continue  # another change
        path = _until_index(file.of(top))
        if not changed or path.startswith(changed) or changed.startswith(path):
            return True
    return False


def _path_changed(file: File, function: Node, change: Span) -> str:
    """What is assigned at a span; "" if something is done with an object as a whole."""
    for node in walk(function):
        if file.span(node) != change:
            continue
        if node.type in ("assignment_statement", "inc_statement", "dec_statement"):
            left = node.child_by_field_name("left") or node
            return _until_index(file.of(left.named_children[0]))
        if node.type in ("selector_expression", "index_expression"):
            return _until_index(file.of(node))
    return ""


def _until_index(path: str) -> str:
    """The part of a path that is the same whatever the indexes are."""
    return path.partition("[")[0]


def _bindings(file: File, function: Node, variable: str, change: Span) -> Iterator[Node]:
    """What gives a variable its value before its change; `v = v.DeepCopy()` would be one, too."""
    for node in walk(function):
        if node.type in ("short_var_declaration", "assignment_statement", "range_clause"):
            left = node.child_by_field_name("left")
            names = [file.of(target) for target in (left.named_children if left else ()) if target.type == "identifier"]
            if variable in names and file.span(node)[:2] < change[:2]:
                yield node
        elif node.type == "var_spec" and variable in [file.of(name) for name in node.children_by_field_name("name")]:
            yield node


def _copied(file: File, binding: Node, variable: str) -> Edit | str | None:
    """The edit that makes a variable start with a copy, or the variable that it got its object from."""
    left, right = binding.child_by_field_name("left"), binding.child_by_field_name("right")
    if left is None or right is None:
        return None
    names = [file.of(target) for target in left.named_children]
    if binding.type == "range_clause":
        return _in_loop(file, binding, right, names, variable)
    if not file.starts_its_line(binding):
        return None  # of an `if` or a `switch`
    values = right.named_children
    if len(values) != 1:
        return None
    (value,) = values
    if len(names) > 1:
        if names[0] != variable or value.type not in ("call_expression", "type_assertion_expression"):
            return None
        return _behind_check(file, binding, names, variable)
    match value.type:
        case "call_expression" | "type_assertion_expression":
            return file.append(value, ".DeepCopy()")
        case "index_expression" if ".Items[" not in file.of(value):
            return file.append(value, ".DeepCopy()")
        case "unary_expression" if file.of(value).startswith("&") and file.of(value).endswith("]"):
            return file.replace(value, f"{file.of(value)[1:]}.DeepCopy()")
        case "selector_expression" | "unary_expression" | "identifier":
            return root_name(file, value)
        case _:
            return None


def _in_loop(file: File, clause: Node, walked: Node, names: list[str], variable: str) -> Edit | None:
    """A copy at the start of each turn."""
    loop = clause.parent
    body = loop.child_by_field_name("body") if loop is not None else None
    if body is None or names[-1] != variable or len(names) != 2:
        return None
    first = next(iter(statements(body)), None)
    if first is None or not file.starts_its_line(first):
        return None
    star = "*" if file.of(walked).endswith(".Items") else ""  # structs, not pointers
    return file.first(body, first, [f"{variable} = {star}{variable}.DeepCopy()"])


def _behind_check(file: File, binding: Node, names: list[str], variable: str) -> Edit | None:
    """A copy behind the statement that checks whether there is an object."""
    if not file.ends_its_line(binding):
        return None
    following = binding.next_named_sibling
    last = binding
    while following is not None and following.type == "if_statement":
        condition = following.child_by_field_name("condition")
        used = {file.of(node) for node in walk(condition) if node.type == "identifier"} if condition else set()
        if used.isdisjoint(names[1:]):
            break
        last, following = following, following.next_named_sibling
    if last is binding and following is not None and following.type == "comment":
        return None
    if not file.ends_its_line(last):
        return None
    return file.after(last, [f"{variable} = {variable}.DeepCopy()"], file.indent(binding))


def _at_start(file: File, function: Node, variable: str) -> Edit | None:
    """A copy at the start of a function that is given the object by a pointer."""
    parameters = function.child_by_field_name("parameters")
    body = function.child_by_field_name("body")
    for node in parameters.named_children if parameters else ():
        kind = node.child_by_field_name("type")
        if variable in [file.of(name) for name in node.children_by_field_name("name")]:
            first = next(iter(statements(body)), None) if body is not None else None
            if kind is None or kind.type != "pointer_type" or body is None or first is None:
                return None
            if not file.starts_its_line(first):
                return None
            return file.first(body, first, [f"{variable} = {variable}.DeepCopy()"])
    return None
