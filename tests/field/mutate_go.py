"""Go mutants: which mutexes, copies and waits would be missed, and how they are cut out."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

import go_functions
import go_types
from go_types import MethodOf, Struct, Use, text
from mutation import Cut, Mutant, blank, distinct
from tree_sitter import Node

CLONES = re.compile(r"^(slices|maps)\.Clone$")


def candidates(files: dict[str, bytes]) -> list[Mutant]:
    """All mutants of a repository's files that we expect to be bugs, in order of place."""
    packages: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path, data in sorted(files.items()):
        if path.endswith(".go"):
            packages[posixpath.dirname(path)][path] = data
    return [mutant for package in packages.values() for mutant in of(package)]


def of(package: dict[str, bytes]) -> list[Mutant]:
    """All mutants of one package; files that do not parse inform nothing."""
    found: list[Mutant] = []
    locked = any(b"Lock()" in data for data in package.values())
    listing = any(b"Lister" in data or b"Informer" in data for data in package.values())
    marks = (b".DeepCopy()", b".Wait()")
    wanted = {path: data for path, data in package.items() if locked or any(mark in data for mark in marks)}
    roots = {path: root for path, data in wanted.items() if (root := go_types.parsed(data)) is not None}
    for struct in go_types.structs(roots) if locked else ():
        for method in struct.methods:
            found += [*locks(package[method.path], struct, method), *clones(package[method.path], struct, method)]
    for path, root in roots.items():
        if any(mark in package[path] for mark in marks):
            found += go_functions.mutants(path, package[path], root, listing=listing)
    return distinct(found)


def parses(data: bytes) -> bool:
    """Whether a file is Go."""
    return go_types.parsed(data) is not None


def locks(data: bytes, struct: Struct, method: MethodOf) -> Iterator[Mutant]:
    """A mutex that a method locks once, whose fields other methods write (or read, if it writes) under it too."""
    for region in method.regions:
        inner = sorted(method.inside(region), key=lambda use: not use.writes)
        for use in inner:
            others = elsewhere(struct, method, region.mutex, use.field)
            if any(use.writes or other.writes for _, other in others):
                yield Mutant(
                    method.path, "lock", "written" if use.writes else "read", line(region.calls[0]),
                    text(region.calls[0]), f"{struct.name}.{method.name}", (f"{struct.name}.{use.field}",),
                    line(use.node), line(region.calls[0]), data.count(b"\n", 0, region.end) + 1,
                    tuple(blank(data, node.start_byte, node.end_byte) for node in region.calls),
                    len({name for name, _ in others}),
                )  # fmt: skip
                break


def elsewhere(struct: Struct, method: MethodOf, mutex: str, field: str) -> list[tuple[str, Use]]:
    """The uses of a field under the same mutex in other methods, with these methods' names."""
    others = [(other, region) for other in struct.methods if other is not method for region in other.regions]
    covered = [(other.name, use) for other, region in others if region.mutex == mutex for use in other.inside(region)]
    return [(name, use) for name, use in covered if use.field == field]


def clones(data: bytes, struct: Struct, method: MethodOf) -> Iterator[Mutant]:
    """Copies of a guarded slice or map that a method returns, while others change it in place."""
    for use in method.uses:
        for region in method.regions:
            call = clone_of(use.node)
            if call is None or not returned(call) or use not in method.inside(region):
                continue
            if any(other.kind == "change" for _, other in elsewhere(struct, method, region.mutex, use.field)):
                cuts = (Cut(call.start_byte, call.end_byte, kept_lines(data, call, use.node)),)
                yield Mutant(
                    method.path, "snapshot", "handed out", line(call), text(call), f"{struct.name}.{method.name}",
                    (f"{struct.name}.{use.field}",), line(use.node), line(method.node), line(call), cuts,
                )  # fmt: skip


def clone_of(node: Node) -> Node | None:
    """The call that copies a slice or map: `slices.Clone`, `maps.Clone`, `append([]T{}, x...)`."""
    holder = node.parent
    if holder is not None and holder.type == "variadic_argument":
        holder = holder.parent
    call = holder.parent if holder is not None and holder.type == "argument_list" else None
    if holder is None or call is None or call.type != "call_expression":
        return None
    name, arguments = text(call.child_by_field_name("function")), holder.named_children
    if CLONES.match(name) and len(arguments) == 1:
        return call
    empty = arguments[0].type in ("composite_literal", "type_conversion_expression", "nil") and len(arguments) == 2
    return call if name == "append" and empty and arguments[1].type == "variadic_argument" else None


def returned(call: Node) -> bool:
    """Whether a function returns what a call returned."""
    holder = call.parent
    return holder is not None and holder.parent is not None and holder.parent.type == "return_statement"


def kept_lines(data: bytes, call: Node, inner: Node) -> bytes:
    """What a call's argument reads in its place, with as many line ends."""
    lines = data.count(b"\n", call.start_byte, call.end_byte) - data.count(b"\n", inner.start_byte, inner.end_byte)
    return data[inner.start_byte : inner.end_byte] + b"\n" * lines


def line(node: Node) -> int:
    """The line where a node starts."""
    return node.start_point[0] + 1
