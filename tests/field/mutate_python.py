"""Python mutants: which locks, copies and joins would be missed, and how they are cut out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import python_values
from mutation import Cut, Mutant, blank, distinct
from python_classes import CONSTRUCTORS, Class, Hold, Use, classes, own_field, position

MARKS = (b"with ", b"list(", b"tuple(", b"dict(", b"deepcopy(", b".join(")
COPIES = python_values.SNAPSHOTS | {"dict", "set"}


def candidates(files: dict[str, bytes]) -> list[Mutant]:
    """All mutants of a repository's files that we expect to be bugs, in order of place."""
    wanted = [(path, data) for path, data in sorted(files.items()) if any(mark in data for mark in MARKS)]
    return [mutant for path, data in wanted for mutant in of(path, data)]


def of(path: str, data: bytes) -> list[Mutant]:
    """All mutants of one file; none if it does not parse."""
    if (tree := parsed(data)) is None:
        return []
    text = Text(path, data)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    owners = dict(classes(parents))
    found = [*python_values.mutants(text, tree, parents, owners)]
    for owner in owners.values():
        found += [*locks(text, owner), *handed_out(text, owner)]
    return distinct(found)


def parses(data: bytes) -> bool:
    """Whether a file is Python."""
    return parsed(data) is not None


def parsed(data: bytes) -> ast.Module | None:
    """Return a file's tree, None if it has none."""
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None


class Text(python_values.Text):
    """A file's bytes, and how a `with` is taken out of them."""

    def without(self, hold: Hold) -> tuple[Cut, ...]:
        """The cuts that take one lock out of a `with`, or the whole `with` if it holds nothing else."""
        items = hold.node.items
        if len(items) > 1:
            return (self._item(items, items.index(hold.item)),)
        start, colon = self.start(hold.node), self.data.index(b":", self.end(items[0].context_expr))
        first = hold.node.body[0]
        if first.lineno == self.line_of(colon):
            return (blank(self.data, start, self.start(first)),)
        return (blank(self.data, start, colon + 1), *self._dedented(hold.node, self.line_of(colon) + 1))

    def _item(self, items: list[ast.withitem], index: int) -> Cut:
        """Cut one of several items with the comma beside it."""
        if index + 1 < len(items):
            end = self.start(items[index + 1].context_expr)
            return blank(self.data, self.start(items[index].context_expr), end)
        before, last = items[index - 1], items[index]
        start = self.end(before.optional_vars or before.context_expr)
        return blank(self.data, start, self.end(last.optional_vars or last.context_expr))

    def _dedented(self, node: ast.With | ast.AsyncWith, first: int) -> Iterator[Cut]:
        """Cut the surplus indentation of a block's lines; what stands in a long string stays as it is."""
        surplus = self.indent(node.body[0].lineno) - self.indent(node.lineno)
        for line in sorted(set(range(first, (node.end_lineno or 0) + 1)) - self.in_strings(node)):
            width = min(surplus, self.indent(line))
            if width > 0:
                yield Cut(self.offset(line, 0), self.offset(line, width))


def locks(text: Text, owner: Class) -> Iterator[Mutant]:
    """Blocks under a lock of the object that need it, by what other methods do under the same lock."""
    for name, method in owner.methods.items():
        for hold in owner.holds[name] if name not in CONSTRUCTORS else ():
            called_under_it = any(use.field == name and hold.lock in use.held for use in owner.uses)
            if hold.lock in hold.held or called_under_it:
                continue  # it is held anyway
            for case, use in at_stake(owner, name, hold):
                yield Mutant(
                    text.path, "lock", case, hold.node.lineno, ast.unparse(hold.item), f"{owner.name}.{method.name}",
                    (f"{owner.name}.{use.field}",), use.node.lineno, hold.node.lineno, hold.node.end_lineno or 0,
                    text.without(hold), len({each.method for each in same(guarded(owner, name, hold.lock), use)}),
                )  # fmt: skip
                break


def at_stake(owner: Class, method: str, hold: Hold) -> Iterator[tuple[str, Use]]:
    """What a block would get wrong without its lock, by the access that then races; most harmful first."""
    uses = [use for use in plain(owner) if use.method == method]
    inner = [use for use in uses if owner.inside(use.node, hold.node.body)]
    others = guarded(owner, method, hold.lock)
    if isinstance(hold.node, ast.AsyncWith):
        waits = [position(node) for node in ast.walk(hold.node) if isinstance(node, ast.Await)]
        for use in [use for use in inner if use.writes and any(other.writes for other in same(others, use))]:
            read = min((position(each.node) for each in same(inner, use)), default=position(use.node))
            if any(read < at < position(use.node) for at in waits):
                yield "update across await", use
        return
    for use in inner:
        if use.kind == "iterate" and any(other.resizes for other in same(others, use)):
            yield "iterated", use
    for use in inner:
        if use.resizes and any(other.kind == "iterate" for other in same(others, use)):
            yield "resized", use
    for use in inner:
        if depends(use, inner) and any(upsets(other, use) for other in same(others, use)):
            yield "updated", use
    for use in inner:
        if use.writes and any(depends(other, others) and upsets(use, other) for other in same(others, use)):
            yield "written", use


def plain(owner: Class) -> list[Use]:
    """The uses of fields that do not synchronise themselves."""
    return [use for use in owner.uses if use.field not in owner.safe and use.field not in owner.methods]


def guarded(owner: Class, method: str, lock: str) -> list[Use]:
    """What methods other than one do under a lock."""
    return [use for use in plain(owner) if use.method not in (method, *CONSTRUCTORS) and lock in use.held]


def same(uses: list[Use], one: Use) -> Iterator[Use]:
    """The uses of one field."""
    return (use for use in uses if use.field == one.field)


def depends(use: Use, uses: list[Use]) -> bool:
    """Whether a write follows from what its method read of the field before."""
    before = [u for u in same(uses, use) if u.method == use.method and position(u.node) < position(use.node)]
    return use.kind == "update" or (use.writes and any(not earlier.writes for earlier in before))


def upsets(use: Use, other: Use) -> bool:
    """Whether a write can make what another one depends on untrue: more at the end of a list hurts no removal."""
    return use.writes and not (use.kind == "append" and other.kind == "remove")


def handed_out(text: Text, owner: Class) -> Iterator[Mutant]:
    """Copies of a guarded container that a method returns out of its lock, while others resize it."""
    for name, holds in owner.holds.items():
        for node in [node for hold in holds for node in hold.node.body]:
            value = node.value if isinstance(node, ast.Return) else None
            inner = python_values.copied(value, COPIES)
            if not isinstance(value, ast.Call) or inner is None:
                continue
            field = own_field(python_values.container(inner))
            if any(use.method != name for use in python_values.resizes(owner, field)):
                yield Mutant(
                    text.path, "snapshot", "handed out", node.lineno, ast.unparse(value), f"{owner.name}.{name}",
                    (f"{owner.name}.{field}",), node.lineno, owner.methods[name].lineno, node.end_lineno or 0,
                    text.unwrapped(value, inner),
                )  # fmt: skip
