"""Simple statements: assignments, deletions and the entries and exits of blocks."""

from __future__ import annotations

from racelint.analysis.body import Frame
from racelint.analysis.calls import Calls
from racelint.analysis.paths import element, union, unite
from racelint.analysis.state import State
from racelint.analysis.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    Fresh,
    Literal,
    Result,
    Tuple,
    Value,
    Values,
)
from racelint.model import (
    Assign,
    Attr,
    Build,
    Collect,
    Defer,
    Delete,
    Eval,
    Expr,
    Hold,
    Item,
    Jump,
    Name,
    Op,
    Spawn,
    Star,
    Update,
)
from racelint.span import Span

IN_PLACE = {"|": "insert", "^": "insert", "-": "remove", "&": "remove", "+": "append"}


class Statements(Calls):
    """The statement hooks of the interpreter."""

    def simple(self, stmt: Assign | Update | Delete | Eval | Collect | Defer | Spawn, state: State) -> bool:
        """Run a statement without control flow; False if it never ends normally."""
        self.stopped = False
        self._simple(stmt, state)
        return not self.stopped

    def _simple(self, stmt: Assign | Update | Delete | Eval | Collect | Defer | Spawn, state: State) -> None:
        match stmt:
            case Assign(targets=targets, value=value):
                self._assign(targets, value, state)
            case Update():
                self._update(stmt, state)
            case Delete(target=target):
                self._delete(target, state)
            case Eval(value=value):
                self.evaluate(value, state)
            case Collect(key=key, value=value):
                if key is not None:
                    self.evaluate(key, state)
                found = self.evaluate(value, state)
                self.collected = union(self.collected, found) if self.collected else found
            case Defer(call=call) | Spawn(call=call):
                self.evaluate(call, state)

    def _assign(self, targets: tuple[Expr, ...], value: Expr, state: State) -> None:
        if len(targets) == 1 and isinstance(targets[0], Build) and isinstance(value, Build):
            parts = targets[0].parts
            if len(parts) == len(value.parts) and not any(isinstance(p, Star) for p in (*parts, *value.parts)):
                values = [self.evaluate(part, state) for part in value.parts]
                for target, found in zip(parts, values, strict=True):
                    self.assign(target, found, state)
                return
        found = self.evaluate(value, state)
        for target in targets:
            self.assign(target, found, state)

    def assign(self, target: Expr, values: Values, state: State) -> None:
        """Assign values to a target."""
        match target:
            case Name(name=name, scope=scope):
                if scope == "local":
                    state.assign(name, values)
                else:
                    state.heap[self.variable(name, scope)] = values
            case Attr(base=base, name=name):
                for owner in self.evaluate(base, state):
                    path = self.place(owner, name)
                    if path != UNKNOWN:
                        state.heap[path] = values
            case Item(base=base, key=key, span=span):
                self._store_item(self.evaluate(base, state), key, values, span, state)
            case Build(parts=parts):
                self._unpack(parts, values, state)
            case Star(value=inner):
                self.assign(inner, NOTHING_KNOWN, state)
            case _:
                self.evaluate(target, state)

    def _unpack(self, targets: tuple[Expr, ...], values: Values, state: State) -> None:
        starred = [index for index, target in enumerate(targets) if isinstance(target, Star)]
        for index, target in enumerate(targets):
            if starred and index >= starred[0]:
                self.assign(target, NOTHING_KNOWN, state)
            else:
                self.assign(target, unite([part_of(value, index) for value in values]), state)

    def _store_item(self, bases: Values, key: Expr, values: Values, span: Span, state: State) -> None:
        keys = self.evaluate(key, state)
        known = keys[0] if len(keys) == 1 else UNKNOWN
        sliced = isinstance(key, Op) and key.operator == "slice"
        for base in bases:
            if base == UNKNOWN or self._own_method(base, "__setitem__", (keys, values), span, state):
                continue
            container = self.types.container(base)
            found = container or (self.knowledge.guess if self.types.of(base) is None else None)
            if found is None:
                continue
            if sliced:
                emptied = all([self.displays.get(v) == () for v in values])
                operation = "slice deletion" if emptied else "slice assignment"
                self.change(base, "remove", operation, (), span, state, certain=container is not None)
            elif "__setitem__" in found.insert and not (container is None and _is_index(known)):
                self.change(base, "insert", "[...] =", keys, span, state, added=values, certain=container is not None)
            path = element(base, known)
            if path != UNKNOWN:
                state.heap[path] = values

    def _own_method(self, base: Value, name: str, args: tuple[Values, ...], span: Span, state: State) -> bool:
        """Whether the project's class of an object defines an operator itself; if so it has been called."""
        owner = self.types.class_of(base)
        if owner is None or self.symbols.method(owner, name) is None:
            return False
        for method in self.attribute(base, name, span, state):
            self.apply(method, args, (), span, state)
        return True

    def _update(self, stmt: Update, state: State) -> None:
        current = self.evaluate(stmt.target, state)
        added = self.evaluate(stmt.value, state)
        change = IN_PLACE.get(stmt.operator)
        mutable = [v for v in current if change and self._changes_in_place(v, stmt.operator)]
        for value in mutable:
            self.change(value, str(change), f"{stmt.operator}=", (), stmt.span, state, added=added)
        if mutable:
            return
        result: Values = (Result(self.site(stmt.span, state)),)
        if isinstance(stmt.target, Item):
            keys = self.evaluate(stmt.target.key, state)
            for base in self.evaluate(stmt.target.base, state):
                container = self.types.container(base)
                if container is not None and container.missing:  # else the key was read just now: it is there
                    self.change(base, "insert", f"[...] {stmt.operator}=", keys, stmt.span, state)
                path = element(base, keys[0]) if len(keys) == 1 else UNKNOWN
                if path != UNKNOWN:
                    state.heap[path] = result
        else:
            self.assign(stmt.target, result, state)

    def _changes_in_place(self, value: Value, operator: str) -> bool:
        container = self.types.container(value)
        if container is None:
            return False
        if operator == "+":
            return container.kind in ("list", "deque")
        return container.kind == "set" or (operator == "|" and "mapping" in container.kind)

    def _delete(self, target: Expr, state: State) -> None:
        match target:
            case Name(name=name, scope="local"):
                state.variables.pop(name, None)
            case Item(base=base, key=key, span=span):
                keys = self.evaluate(key, state)
                for owner in self.evaluate(base, state):
                    if not self._own_method(owner, "__delitem__", (keys,), span, state):
                        self.remove_item(owner, keys, span, state)
            case Attr(base=base, name=name):
                for owner in self.evaluate(base, state):
                    state.heap[self.place(owner, name)] = NOTHING_KNOWN
            case Build(parts=parts):
                for part in parts:
                    self._delete(part, state)
            case _:
                pass

    def remove_item(self, container: Value, keys: Values, span: Span, state: State) -> None:
        """`del container[key]`."""
        found = self.types.container(container)
        if found is None and self.types.of(container) is not None:
            return  # a library's class: what deleting an item does is not known
        if container != UNKNOWN and (found is None or "__delitem__" in found.remove):
            self.change(container, "remove", "del", keys, span, state, certain=found is not None)

    def hold(self, hold: Hold, state: State) -> Frame:
        """Enter context managers."""
        for manager, target in hold.items:
            values = self.evaluate(manager, state)
            if target is not None:
                entered = tuple([v for v in values if isinstance(v, Fresh)]) or NOTHING_KNOWN
                self.assign(target, entered, state)
        return Frame()

    def release(self, hold: Hold, frame: Frame, state: State) -> None:
        """Leave context managers."""

    def jump(self, jump: Jump, state: State) -> None:
        """Evaluate what is returned or raised."""
        if jump.value is not None:
            values = self.evaluate(jump.value, state)
            if jump.kind == "return":
                self.returns(values)
        elif jump.kind == "return":
            self.returns((Literal(None, "None"),))

    def caught(self, target: Expr | None, state: State) -> None:
        """Bind an exception handler's target."""
        if target is not None:
            self.assign(target, NOTHING_KNOWN, state)

    # --- expressions --------------------------------------------------------------------------------------------------


def part_of(value: Value, index: int) -> Values:
    """One part of an unpacked value."""
    if isinstance(value, Tuple):
        return value.parts[index] if -len(value.parts) <= index < len(value.parts) else NOTHING_KNOWN
    return (element(value, Literal(index, "int")),)


def _is_index(key: Value) -> bool:
    return isinstance(key, Literal) and isinstance(key.value, int)
