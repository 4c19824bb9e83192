"""Python mutants of single expressions: copies of what is changed or resized, joins of what wrote a result."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from mutation import Cut, Mutant, blank
from python_classes import (
    CONSTRUCTORS,
    GROWING,
    REMOVING,
    VIEWS,
    Class,
    Method,
    Parents,
    Use,
    kind_of,
    last_name,
    own_field,
    position,
)

SNAPSHOTS = frozenset({"list", "tuple"})
SORTING = frozenset({"sort", "reverse"})
RESIZING = ("append", "grow", "remove")
LEAVING = (ast.Break, ast.Return, ast.Raise)


class Text:
    """A file's bytes, with the places of `ast` as offsets."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data
        self._starts = [0, *itertools.accumulate(len(line) + 1 for line in data.split(b"\n"))]
        self._shift = 3 if data.startswith(b"\xef\xbb\xbf") else 0  # `ast` does not count a byte order mark

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column as `ast` counts them."""
        return self._starts[line - 1] + column + (self._shift if line == 1 else 0)

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node starts."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node ends."""
        return self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def line_of(self, offset: int) -> int:
        """Return the line of an offset."""
        return self.data.count(b"\n", 0, offset) + 1

    def indent(self, line: int) -> int:
        """Return the width of a line's indentation."""
        rest = self.data[self._starts[line - 1] :].split(b"\n", 1)[0]
        return len(rest) - len(rest.lstrip(b" \t"))

    def in_strings(self, node: ast.AST) -> set[int]:
        """Return the lines that start inside of a string."""
        strings = [each for each in ast.walk(node) if isinstance(each, ast.Constant | ast.JoinedStr)]
        return {line for each in strings for line in range(each.lineno + 1, (each.end_lineno or 0) + 1)}

    def unwrapped(self, call: ast.Call, inner: ast.expr) -> tuple[Cut, ...]:
        """The cuts that leave of a call one argument, or the receiver of the called method."""
        if self.start(call) == self.start(inner):
            return (blank(self.data, self.end(inner), self.end(call)),)
        head = blank(self.data, self.start(call), self.start(inner))
        brackets = (b"(", b")")  # line ends stay, and may not end the statement
        tail = blank(self.data, self.end(inner), self.end(call))
        return head._replace(text=brackets[0] + head.text), tail._replace(text=tail.text + brackets[1])


def mutants(text: Text, tree: ast.Module, parents: Parents, owners: dict[ast.AST, Class]) -> Iterator[Mutant]:
    """The mutants of every function and method of a module, whose classes are `owners`."""
    assigned = [target for each in tree.body if isinstance(each, ast.Assign) for target in each.targets]
    variables = {target.id for target in assigned if isinstance(target, ast.Name)}
    for node in parents:
        if isinstance(node, Method):
            owner = owners.get(parents[node])
            body = Body(node, f"{owner.name}.{node.name}" if owner else node.name, owner, list(own(node)), parents)
            yield from snapshots(text, body)
            yield from deep_copies(text, body, variables)
            yield from joins(text, body)


class Body(NamedTuple):
    """A function, and its nodes in order without those of nested functions and classes."""

    function: Method
    name: str
    owner: Class | None
    nodes: list[ast.AST]
    parents: Parents


def own(function: Method) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested functions and classes."""
    waiting: list[ast.AST] = [*function.body[::-1]]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Method | ast.ClassDef | ast.Lambda):
            waiting += reversed(list(ast.iter_child_nodes(node)))


# --- snapshots --------------------------------------------------------------------------------------------------------


def snapshots(text: Text, body: Body) -> Iterator[Mutant]:
    """Loops over a copy of what is resized meanwhile: in the body, in a method called there, or by others."""
    for loop in body.nodes:
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            continue
        inner = copied(loop.iter, SNAPSHOTS)
        if inner is None or not isinstance(holder := container(inner), ast.Name | ast.Attribute):
            continue
        case, spot = resized(loop, holder, body)
        if case:
            place, field = ast.unparse(holder), own_field(holder)
            places = (place, f"{body.owner.name}.{field}") if body.owner and field else (place,)
            yield Mutant(
                text.path, "snapshot", case, loop.lineno, ast.unparse(loop.iter), body.name, places, spot, loop.lineno,
                loop.end_lineno or 0, text.unwrapped(loop.iter, inner),
            )  # fmt: skip


def copied(call: ast.expr | None, names: frozenset[str]) -> ast.expr | None:
    """What a call of `list` or its like copies."""
    plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
    if plain and isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return None


def container(node: ast.expr) -> ast.expr:
    """The container behind `.items()`, `.values()` or `.keys()`."""
    view = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS
    return node.func.value if view and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node


def resized(loop: ast.For, holder: ast.expr, body: Body) -> tuple[str, int]:
    """Who resizes a container while a loop goes over it, and the line where that shows; "" if nobody seems to."""
    text, field, owner, parents = ast.unparse(holder), own_field(holder), body.owner, body.parents
    turn = [node for statement in loop.body for node in ast.walk(statement)]
    for node in turn:
        if not isinstance(node, ast.Name | ast.Attribute) or ast.unparse(node) != text:
            continue
        if kind_of(node, parents) == "remove" and not leaves(node, parents):
            return "in the body", node.lineno
    if owner is None or not field:
        return "", 0
    removing = {use.method for use in owner.uses if use.field == field and use.kind == "remove"}
    for node in turn:
        if isinstance(node, ast.Call) and own_field(node.func) in removing and not leaves(node, parents):
            return "in a called method", node.lineno
    elsewhere = [use for use in resizes(owner, field) if use.method != body.function.name]
    if not elsewhere:
        return "", 0
    if isinstance(body.function, ast.AsyncFunctionDef) and any(isinstance(node, ast.Await) for node in turn):
        return "while it waits", loop.lineno
    held = next((use.held for use in owner.uses if use.node is holder), frozenset())
    shared = owner.threads or any(owner.holds.values())
    unordered = shared and not held.intersection(*(use.held for use in elsewhere))
    return ("by another thread", loop.lineno) if unordered else ("", 0)


def resizes(owner: Class, field: str) -> list[Use]:
    """Where methods change the size of what a field holds, at work on an object that others may know."""
    return [use for use in owner.uses if use.field == field and use.resizes and use.method not in CONSTRUCTORS]


def leaves(node: ast.AST, parents: Parents) -> bool:
    """Whether the loop is left in the block in which a node stands, behind it."""
    while not isinstance(node, ast.stmt):
        node = parents[node]
    block = next((b for b in blocks(parents[node]) if node in b), [])
    return any(isinstance(each, LEAVING) for each in block[block.index(node) :]) if block else False


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


# --- copies -----------------------------------------------------------------------------------------------------------


def deep_copies(text: Text, body: Body, variables: set[str]) -> Iterator[Mutant]:
    """Deep copies of a field or a module's variable that the function changes afterwards."""
    for node in body.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(value := node.value, ast.Call):
            continue
        target = node.targets[0]
        if last_name(value.func) != "deepcopy" or len(value.args) != 1 or not isinstance(target, ast.Name):
            continue
        source, root = value.args[0], root_of(value.args[0])
        field = "of a field" if root in ("self", "cls") and not isinstance(source, ast.Name) else ""
        case = field or ("of a module's variable" if root in variables else "")
        changed = [position(each) for each in body.nodes if changes(each, target.id)]
        lines = [line for line, _ in changed if line > node.lineno]
        if case and lines:
            yield Mutant(
                text.path, "copy", case, value.lineno, ast.unparse(value), body.name, (ast.unparse(source), target.id),
                min(lines), value.lineno, body.function.end_lineno or 0, text.unwrapped(value, source),
            )  # fmt: skip


def root_of(node: ast.AST) -> str:
    """The variable that an expression starts from."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def changes(node: ast.AST, variable: str) -> bool:
    """Whether a node changes what a variable holds in place."""
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return root_of(node) == variable
    called = node.func if isinstance(node, ast.Call) else None
    if not isinstance(called, ast.Attribute) or called.attr not in REMOVING | GROWING | SORTING:
        return False
    return root_of(called) == variable


# --- joins ------------------------------------------------------------------------------------------------------------


def joins(text: Text, body: Body) -> Iterator[Mutant]:
    """Joins of threads started in the function (or kept in a field) whose results are looked at afterwards."""
    for node in body.nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(node, ast.Expr) or not isinstance(call, ast.Call) or last_name(call.func) != "join":
            continue
        if not isinstance(call.func, ast.Attribute) or isinstance(call.func.value, ast.Constant):
            continue
        written = results(body, own_field(call.func.value))
        start, end = text.start(node), text.end(node)
        for use in body.nodes:
            name = own_field(use) or (use.id if isinstance(use, ast.Name) else "")
            if name in written and position(use) > position(node):
                place = f"{body.owner.name}.{name}" if own_field(use) and body.owner else name
                yield Mutant(
                    text.path, "join", "the result is used", node.lineno, ast.unparse(node), body.name, (place,),
                    position(use)[0], node.lineno, body.function.end_lineno or 0,
                    (Cut(start, end, b"pass" + blank(text.data, start, end).text),),
                )  # fmt: skip
                break


def results(body: Body, field: str) -> set[str]:
    """The fields and captured variables that the threads write which a function may wait for."""
    scope: list[Method] = [*body.owner.methods.values()] if body.owner and field else [body.function]
    calls = [node for each in scope for node in ast.walk(each) if isinstance(node, ast.Call)]
    written: set[str] = set()
    threads = [call for call in calls if last_name(call.func) == "Thread"]
    for keyword in [keyword for call in threads for keyword in call.keywords if keyword.arg == "target"]:
        if body.owner and (method := own_field(keyword.value)):
            written |= {use.field for use in body.owner.uses if use.method == method and use.writes}
        for inner in body.nodes:
            if isinstance(inner, Method) and inner.name == last_name(keyword.value):
                written |= captured(inner, body.parents)
    return written


def captured(function: Method, parents: Parents) -> set[str]:
    """The variables of the enclosing function that a nested one assigns or resizes."""
    nodes = list(ast.walk(function))
    local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    outer = {name for node in nodes if isinstance(node, ast.Nonlocal) for name in node.names}
    resized = {node.id for node in nodes if isinstance(node, ast.Name) and kind_of(node, parents) in RESIZING}
    return outer | (resized - local)
