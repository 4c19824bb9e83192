"""Locks that a fix takes in Go code: before the statements that need it, and given back behind them or deferred."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from racelint.finding import Fix, Remedy
from racelint.languages.go.block import FUNCTIONS, File, Run, root_name, run_around, walk
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_LINES = 12  # under a lock; more deserves a thought
WAITING = frozenset(
    {
        "send_statement",
        "receive_statement",
        "select_statement",
        "go_statement",
        "defer_statement",
        "labeled_statement",
        "goto_statement",
    }
)
BUILTINS = frozenset({"append", "len", "cap", "delete", "make", "copy", "new", "string", "min", "max", "clear"})
SLOW = frozenset(
    {
        "Sleep",
        "Wait",
        "Do",
        "Dial",
        "Read",
        "Write",
        "Close",
        "Run",
        "Start",
        "Stop",
        "Get",
        "List",
        "Create",
        "Update",
        "Patch",
        "Delete",
        "Fatal",
        "Fatalf",
        "Exit",
    }
)
LOOPS = frozenset({"for_statement"})
BREAKABLE = frozenset({"for_statement", "expression_switch_statement", "type_switch_statement"})


def hold(file: File, root: Node, remedy: Remedy) -> Fix | None:
    """Take the lock around the fewest statements that have all places; None if that would not do, or do harm."""
    spans = [place.span for place in remedy.places]
    run = run_around(file, root, spans)
    if run is None:
        return None
    lock = _lock(file, run, spans, remedy)
    if lock is None:
        return None
    take, give = ("RLock", "RUnlock") if remedy.shared else ("Lock", "Unlock")
    locked, given = f"{lock}.{take}()", f"{lock}.{give}()"
    description = f"hold {lock}"
    returns = [
        node
        for statement in run.statements
        for node in walk(statement, into_functions=False)
        if node.type == "return_statement"
    ]
    if not returns:
        if not _may_be_held(file, run.statements, remedy) or not _on_own_lines(file, run.statements):
            return None
        first, last = run.statements[0], run.statements[-1]
        indent = file.indent(first)
        return Fix(description, (file.before(first, [locked], indent), file.after(last, [given], indent)), remedy.safe)
    only = run.statements[0]
    deferred = [locked, f"defer {given}"]
    if only.type != "return_statement":
        if run.block != run.function.child_by_field_name("body"):
            return None
        if not _may_be_held(file, [*run.statements, *run.rest], remedy):
            return None
    elif not _may_be_held(file, run.statements, remedy):
        return None
    if file.starts_its_line(only):
        return Fix(description, (file.before(only, deferred),), remedy.safe)
    return _opened(file, run, description, deferred, remedy)


def _opened(file: File, run: Run, description: str, lines: list[str], remedy: Remedy) -> Fix | None:
    """A function whose body stands on one line gets lines of its own."""
    body = run.function.child_by_field_name("body")
    if body is None or run.block != body or body.start_point[0] != body.end_point[0]:
        return None
    if len(run.statements) + len(run.rest) != 1 or any(node.type == "comment" for node in walk(body)):
        return None
    indent = file.indent(run.function)
    inner = [f"{indent}\t{line}" for line in (*lines, file.of(run.statements[0]))]
    return Fix(description, (file.replace(body, file.newline.join(["{", *inner, f"{indent}}}"])),), remedy.safe)


def _on_own_lines(file: File, statements: list[Node]) -> bool:
    return file.starts_its_line(statements[0]) and file.ends_its_line(statements[-1])


def _may_be_held(file: File, statements: list[Node], remedy: Remedy) -> bool:
    """Whether nothing in the statements forbids a lock around them: a wait, a jump out of them, calls in a loop."""
    first, last = file.span(statements[0]), file.span(statements[-1])
    held = Span(*first[:2], *last[2:])
    if held.end_line - held.line >= MOST_LINES or any(held.holds(place.span) for place in remedy.avoid):
        return False
    for node in (inner for statement in statements for inner in walk(statement, into_functions=False)):
        if node.type in WAITING or (node.type == "unary_expression" and file.of(node).startswith("<-")):
            return False
        if node.type in ("break_statement", "continue_statement") and not _stays(node, statements):
            return False
        if node.type == "call_expression":
            name = _called(file, node)
            if name == "panic" or name in SLOW or (name not in BUILTINS and _in_loop(node, statements)):
                return False
    return True


def _stays(jump: Node, statements: list[Node]) -> bool:
    """Whether what a jump leaves, or goes on with, is in the statements."""
    wanted = BREAKABLE if jump.type == "break_statement" else LOOPS
    return not jump.named_children and any(node.type in wanted for node in _between(jump, statements))


def _in_loop(call: Node, statements: list[Node]) -> bool:
    return any(node.type in LOOPS for node in _between(call, statements))


def _between(node: Node, statements: list[Node]) -> Iterable[Node]:
    """The nodes around a node, up to the statements."""
    around = node.parent
    while around is not None:
        yield around
        if around in statements or around.type in FUNCTIONS:
            return
        around = around.parent


def _called(file: File, call: Node) -> str:
    function = call.child_by_field_name("function")
    if function is not None and function.type == "selector_expression":
        function = function.child_by_field_name("field")
    return file.of(function) if function is not None else ""


def _lock(file: File, run: Run, spans: list[Span], remedy: Remedy) -> str | None:
    """The lock as the function writes it: a field of the object that is accessed, or a variable of the package."""
    bound = {name for statement in run.statements for name in _assigned(file, statement)}
    if not remedy.field:
        everywhere = set(_assigned(file, run.function))
        return remedy.lock if remedy.lock not in everywhere else None
    bases = set[str]()
    for statement in run.statements:
        for node in walk(statement):
            field = node.child_by_field_name("field") if node.type == "selector_expression" else None
            operand = node.child_by_field_name("operand")
            if field is None or operand is None or file.of(field) != remedy.field:
                continue
            if any(span[:2] < file.span(node)[2:] and file.span(node)[:2] < span[2:] for span in spans):
                bases.add(file.of(operand) if _is_plain(operand) and root_name(file, operand) not in bound else "")
    return f"{bases.pop()}.{remedy.lock}" if len(bases) == 1 and "" not in bases else None


def _is_plain(node: Node | None) -> bool:
    while node is not None and node.type == "selector_expression":
        node = node.child_by_field_name("operand")
    return node is not None and node.type == "identifier"


def _assigned(file: File, node: Node) -> Iterable[str]:
    """The variables that are assigned in a node."""
    for inner in walk(node):
        if inner.type in ("short_var_declaration", "assignment_statement", "range_clause"):
            left = inner.child_by_field_name("left")
            yield from (
                file.of(target) for target in (left.named_children if left else ()) if target.type == "identifier"
            )
        elif inner.type in ("var_spec", "parameter_declaration"):
            yield from (file.of(name) for name in inner.children_by_field_name("name"))
