"""What the methods of Python classes do with the fields of their object, and under which of its locks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

REMOVING = frozenset({"pop", "popitem", "popleft", "remove", "discard", "clear", "difference_update"})
APPENDING = frozenset({"append", "extend"})
GROWING = APPENDING | {"appendleft", "add", "insert", "setdefault", "update"}
VIEWS = frozenset({"items", "values", "keys"})
LOCKS = frozenset({"Lock", "RLock", "Condition"})
QUEUES = frozenset({"Queue", "SimpleQueue", "LifoQueue", "PriorityQueue"})
SAFE = LOCKS | QUEUES | {"Event", "Semaphore", "local", "ContextVar"}
CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__del__", "__setstate__", "__enter__", "setUp"})
Method = ast.FunctionDef | ast.AsyncFunctionDef
Parents = dict[ast.AST, ast.AST]


class Use(NamedTuple):
    """One use of a field ("read", "iterate", "store", "update", "append", "grow", "remove"), and what is held there."""

    field: str
    kind: str
    node: ast.Attribute
    method: str
    held: frozenset[str]

    @property
    def writes(self) -> bool:
        """Whether it changes the field or what it holds."""
        return self.kind not in ("read", "iterate")

    @property
    def resizes(self) -> bool:
        """Whether it changes the size of what the field holds so that an iteration goes wrong."""
        return self.kind in ("grow", "remove")


@dataclass(frozen=True, slots=True)
class Hold:
    """A `with` statement of a method that takes a lock of its object."""

    node: ast.With | ast.AsyncWith
    item: ast.withitem
    lock: str
    held: frozenset[str]  # around it


@dataclass(frozen=True, slots=True)
class Class:
    """A class with its methods, and each use that they make of a field."""

    name: str
    methods: dict[str, Method]
    parents: Parents
    uses: list[Use]
    holds: dict[str, list[Hold]]
    locks: frozenset[str]
    safe: frozenset[str]
    deques: frozenset[str]
    threads: bool

    def inside(self, node: ast.AST, body: list[ast.stmt]) -> bool:
        """Whether a node stands in a block."""
        at = position(node)
        return position(body[0]) <= at < (body[-1].end_lineno or 0, body[-1].end_col_offset or 0)


def position(node: ast.AST) -> tuple[int, int]:
    """Return the line and column where an expression or statement starts."""
    assert isinstance(node, ast.expr | ast.stmt)
    return node.lineno, node.col_offset


def classes(parents: Parents) -> Iterator[tuple[ast.AST, Class]]:
    """Yield the classes of a module with their definitions, nested ones too."""
    for node in parents:
        if isinstance(node, ast.ClassDef):
            yield node, read(node, parents)


def read(node: ast.ClassDef, parents: Parents) -> Class:
    """Collect what is to know of one class."""
    methods = {each.name: each for each in node.body if isinstance(each, Method)}
    made = dict(constructed(node))
    threads = "Thread" in made.values() or any(last_name(base) == "Thread" for base in node.bases)
    locks, safe = (frozenset(field for field, name in made.items() if name in names) for names in (LOCKS, SAFE))
    deques = frozenset(field for field, name in made.items() if name == "deque")
    found = Class(node.name, methods, parents, [], {}, locks, safe, deques, threads)
    for name, method in methods.items():
        found.holds[name] = []
        Reader(found, name).body(method.body, frozenset())
    return found


def constructed(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the fields that are assigned the result of a call, with the last name of what is called."""
    for each in ast.walk(node):
        if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.Call):
            for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                if field := own_field(target):
                    yield field, last_name(each.value.func)


def own_field(node: ast.AST) -> str:
    """Return the name of a field of `self`, "" for anything else."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own and isinstance(node, ast.Attribute) else ""


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Reader:
    """Walks one method and keeps account of the locks held."""

    def __init__(self, owner: Class, method: str) -> None:
        self._owner = owner
        self._method = method

    def body(self, nodes: list[ast.stmt], held: frozenset[str]) -> None:
        """Read statements that run under `held`."""
        for node in nodes:
            self._node(node, held)

    def _node(self, node: ast.AST, held: frozenset[str]) -> None:
        if isinstance(node, ast.With | ast.AsyncWith):
            self._with(node, held)
            return
        if isinstance(node, ast.Attribute) and (field := own_field(node)):
            kind = kind_of(node, self._owner.parents)
            kind = "grow" if kind == "append" and field in self._owner.deques else kind
            self._owner.uses.append(Use(field, kind, node, self._method, held))
        later = frozenset() if isinstance(node, Method) else held  # a nested function runs when it is called
        for child in ast.iter_child_nodes(node):
            self._node(child, later)

    def _with(self, node: ast.With | ast.AsyncWith, held: frozenset[str]) -> None:
        within = held
        for item in node.items:
            lock = own_field(item.context_expr)
            if lock and (lock in self._owner.locks or named_lock(lock)):
                self._owner.holds[self._method].append(Hold(node, item, lock, within))
                within |= {lock}
            else:
                self._node(item, within)
        self.body(node.body, within)


def named_lock(name: str) -> bool:
    """Whether a field goes by the name of a lock; a base class may have made it."""
    return name.strip("_").endswith(("lock", "mutex", "cond", "condition"))


def kind_of(node: ast.expr, parents: Parents) -> str:
    """How an expression's value is used."""
    parent = parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return {"store": "grow", "delete": "remove"}.get(stored(parent, parents), stored(parent, parents))
    if stored(node, parents) != "read":
        return "store" if stored(node, parents) == "delete" else stored(node, parents)
    call = parents.get(parent) if isinstance(parent, ast.Attribute) else None
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
        if parent.attr in REMOVING:
            return "remove"
        if parent.attr in GROWING:
            return "append" if parent.attr in APPENDING else "grow"  # who iterates a list meets what is appended
        return "iterate" if parent.attr in VIEWS and iterated(call, parents) else "read"
    return "iterate" if iterated(node, parents) else "read"


def stored(node: ast.expr, parents: Parents) -> str:
    """Say "store", "update" or "delete" of an assignment's target, "read" of any other expression."""
    context = getattr(node, "ctx", None)
    if isinstance(context, ast.Store):
        return "update" if isinstance(parents.get(node), ast.AugAssign) else "store"
    return "delete" if isinstance(context, ast.Del) else "read"


def iterated(node: ast.expr, parents: Parents) -> bool:
    """Whether a loop or comprehension goes over an expression."""
    parent = parents.get(node)
    return isinstance(parent, ast.For | ast.comprehension) and parent.iter is node
