"""What the methods of Go types do with the fields of their receiver, and which part of a method a mutex covers."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Language, Node, Parser

MUTEX = re.compile(r"^\*?sync\.(RW)?Mutex$")
SAFE = re.compile(r"sync\.|atomic\.|^chan |^<-chan |^\(?chan<-|^context\.")
LOCKING = frozenset({"Lock", "RLock"})
UNLOCKING = frozenset({"Unlock", "RUnlock"})
AROUND = frozenset({"index_expression", "slice_expression", "parenthesized_expression"})


class Use(NamedTuple):
    """One use of a field: "read", "store" (of the whole) or "change" (of what it holds)."""

    field: str
    kind: str
    node: Node

    @property
    def writes(self) -> bool:
        """Whether it changes the field or what it holds."""
        return self.kind != "read"


@dataclass(frozen=True, slots=True)
class Region:
    """What one mutex covers in one method, and the statements that lock and unlock it."""

    mutex: str
    calls: list[Node]  # the statements, in order; the first one locks
    start: int
    end: int
    deferred: bool


@dataclass(frozen=True, slots=True)
class MethodOf:
    """A method, with its uses of the receiver's fields outside of function literals."""

    path: str
    name: str
    receiver: str
    node: Node
    uses: list[Use]
    regions: list[Region]

    def inside(self, region: Region) -> list[Use]:
        """The uses that a mutex covers."""
        return [use for use in self.uses if region.start <= use.node.start_byte < region.end]


@dataclass(slots=True)
class Struct:
    """A struct type of a package."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)  # their types' texts; an embedded one by its last name
    methods: list[MethodOf] = field(default_factory=list)

    @property
    def mutexes(self) -> set[str]:
        """The fields that are mutexes."""
        return {name for name, type_ in self.fields.items() if MUTEX.match(type_)}

    @property
    def plain(self) -> set[str]:
        """The fields that do not synchronise themselves."""
        return {name for name, type_ in self.fields.items() if not SAFE.search(type_)}


@functools.cache
def parser() -> Parser:
    """Return the parser of Go."""
    import tree_sitter_go

    return Parser(Language(tree_sitter_go.language()))


def parsed(data: bytes) -> Node | None:
    """Return a file's tree, None if it has an error."""
    root = parser().parse(data).root_node
    return None if root.has_error else root


def text(node: Node | None) -> str:
    """Return a node's text, "" for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def walk(node: Node, *, literals: bool = True) -> Iterator[Node]:
    """A node and all below it in order, without the bodies of function literals if so wished."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        if literals or each.type != "func_literal" or each == node:
            waiting += reversed(each.named_children)


def structs(files: dict[str, Node]) -> list[Struct]:
    """The struct types of a package that have a mutex, with their methods."""
    found = {each.name: each for root in files.values() for each in declared(root)}
    for path, root in files.items():
        for node in root.named_children:
            if node.type == "method_declaration" and (method := method_of(path, node, found)) is not None:
                found[method[0]].methods.append(method[1])
    return [each for each in found.values() if each.mutexes]


def declared(root: Node) -> Iterator[Struct]:
    """The struct types that a file declares."""
    for spec in [s for d in root.named_children if d.type == "type_declaration" for s in d.named_children]:
        body = spec.child_by_field_name("type")
        if spec.type == "type_spec" and body is not None and body.type == "struct_type":
            struct = Struct(text(spec.child_by_field_name("name")))
            for line in [f for each in body.named_children for f in each.named_children]:
                type_ = text(line.child_by_field_name("type"))
                names = [text(name) for name in line.children_by_field_name("name")]
                embedded = type_.lstrip("*").rpartition(".")[2]
                struct.fields |= dict.fromkeys(names or [embedded], type_)
            yield struct


def method_of(path: str, node: Node, found: dict[str, Struct]) -> tuple[str, MethodOf] | None:
    """A method with the name of its type; None if that is no struct of the package, or the receiver has no name."""
    receiver = node.child_by_field_name("receiver")
    declaration = receiver.named_children[0] if receiver is not None and receiver.named_children else None
    body = node.child_by_field_name("body")
    if declaration is None or body is None or declaration.type != "parameter_declaration":
        return None
    type_ = text(declaration.child_by_field_name("type")).lstrip("*").partition("[")[0]
    name = text(declaration.child_by_field_name("name"))
    struct = found.get(type_)
    if struct is None or not struct.mutexes or name in ("", "_"):
        return None
    uses, calls = [], []
    for each in walk(body, literals=False):
        if each.type == "selector_expression" and (use := use_of(each, name, struct)) is not None:
            uses.append(use)
        elif each.type == "call_expression" and (call := locking(each, name, struct)) is not None:
            calls.append(call)
    return type_, MethodOf(path, text(node.child_by_field_name("name")), name, node, uses, list(regions(calls, body)))


def use_of(node: Node, receiver: str, struct: Struct) -> Use | None:
    """A selector as the use of a field of the receiver."""
    operand, name = node.child_by_field_name("operand"), text(node.child_by_field_name("field"))
    if operand is None or operand.type != "identifier" or text(operand) != receiver or name not in struct.plain:
        return None
    return Use(name, kind_of(node, pointer=struct.fields[name].startswith("*")), node)


def kind_of(node: Node, *, pointer: bool = False) -> str:
    """How a variable or field is used; what is behind a pointer is another object."""
    top = node
    while (
        (parent := top.parent) is not None
        and parent.named_children[0] == top
        and (parent.type in AROUND or (parent.type == "selector_expression" and not pointer))
    ):
        top = parent
    holder = top.parent
    if holder is not None and holder.type == "expression_list":
        target = holder.parent.child_by_field_name("left") if holder.parent is not None else None
        if holder.parent is not None and holder.parent.type == "assignment_statement" and target == holder:
            return "store" if top == node else "change"
    if holder is not None and holder.type in ("inc_statement", "dec_statement"):
        return "store" if top == node else "change"
    if holder is not None and holder.type == "argument_list" and holder.named_children[0] == top:
        called = text(holder.parent.child_by_field_name("function")) if holder.parent is not None else ""
        return "change" if called in ("delete", "clear") else "read"
    return "read"


def locking(call: Node, receiver: str, struct: Struct) -> tuple[str, str, Node] | None:
    """A call that locks or unlocks a mutex of the receiver: mutex, method, statement."""
    function = call.child_by_field_name("function")
    method = text(function.child_by_field_name("field")) if function is not None else ""
    if function is None or call.parent is None or method not in LOCKING | UNLOCKING:
        return None
    owner = text(function.child_by_field_name("operand"))
    embedded = next((name for name in struct.mutexes if owner == receiver and name in ("Mutex", "RWMutex")), "")
    mutex = embedded or (owner.removeprefix(f"{receiver}.") if owner.startswith(f"{receiver}.") else "")
    if mutex not in struct.mutexes or call.parent.type not in ("expression_statement", "defer_statement"):
        return None
    return mutex, method, call.parent


def regions(calls: list[tuple[str, str, Node]], body: Node) -> Iterator[Region]:
    """What each mutex covers that a method locks once: up to its end if unlocking is deferred."""
    for mutex in sorted({mutex for mutex, _, _ in calls}):
        mine = [(method, node) for name, method, node in calls if name == mutex]
        locks = [node for method, node in mine if method in LOCKING]
        unlocks = [node for method, node in mine if method in UNLOCKING]
        if len(locks) == 1 and unlocks and mine[0][1] == locks[0]:
            deferred = any(node.type == "defer_statement" for node in unlocks)
            end = body.end_byte if deferred else unlocks[-1].start_byte
            yield Region(mutex, [node for _, node in mine], locks[0].end_byte, end, deferred)
