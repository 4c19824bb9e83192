"""The evaluator: what expressions stand for and what simple statements do, one function at a time."""

from __future__ import annotations

from racelint.analysis.body import Frame
from racelint.analysis.calls import Calls, is_abstract
from racelint.analysis.conditions import Conditions
from racelint.analysis.loops import Loops, become
from racelint.analysis.state import State, join
from racelint.analysis.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    Captured,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Param,
    Partial,
    Result,
    Tuple,
    TypeValue,
    Value,
    Values,
    bounded,
    containers,
    element,
    field,
    union,
    unite,
)
from racelint.model import (
    Assign,
    Attr,
    Await,
    Bind,
    Build,
    Call,
    Choice,
    Closure,
    Collect,
    Comp,
    Const,
    Defer,
    Delete,
    Eval,
    Expr,
    Hold,
    Imported,
    Item,
    Jump,
    Logic,
    Name,
    Op,
    Spawn,
    Star,
    Update,
    Yield,
)
from racelint.model import (
    TypeValue as TypeExpr,
)
from racelint.span import Span

IN_PLACE = {"|": "insert", "^": "insert", "-": "remove", "&": "remove", "+": "append"}
SCALARS = {"==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not", "not", "compare"}


class Evaluator(Loops, Conditions, Calls):
    """Interprets one function over `State` and gathers its `Summary`."""

    def run(self) -> None:
        """Interpret the body from the function's entry."""
        state = State()
        for index, parameter in enumerate(self.function.parameters):
            state.variables[parameter.name] = (Param(self.id, index),)
        if self.function.binding == "class" and self.function.owner and self.function.parameters:
            own = TypeValue(f"{self.source.name}:{self.function.owner}")
            state.variables[self.function.parameters[0].name] = (own,)
        exits = self.block(self.function.body, state)
        left = exits.take("return")
        if exits.normal is not None:
            self.returns((Literal(None, "None"),))
            left.append(exits.normal)
        self.summary.falls_through = bool(left) or is_abstract(self.function) or self.function.is_generator
        self.close(left)

    # --- states -------------------------------------------------------------------------------------------------------

    def copy(self, state: State) -> State:
        """An independent copy."""
        return state.copy()

    def join(self, first: State | None, second: State | None) -> State | None:
        """What may hold after either."""
        return join(first, second)

    def stable(self, old: State, new: State) -> bool:
        """Whether a turn from `new` would see nothing new; variables that only exist in the loop do not count."""
        for name in new.variables.keys() - old.variables.keys():
            del new.variables[name]
        return old.same_as(new)

    def widen(self, old: State, new: State) -> State:
        """What is still changing becomes unknown besides what it was."""
        for name, values in new.variables.items():
            if old.variables.get(name) != values:
                new.variables[name] = union(values, NOTHING_KNOWN)
        for path, values in new.heap.items():
            if old.heap.get(path) != values:
                new.heap[path] = union(values, NOTHING_KNOWN)
        return new

    # --- statements ---------------------------------------------------------------------------------------------------

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
                self.evaluate(value, state)
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
                    state.heap[self._variable(name, scope)] = values
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
                self.assign(target, unite([_part(value, index) for value in values]), state)

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
                self.change(base, "remove", "slice assignment", (), span, state, certain=container is not None)
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

    def evaluate(self, expr: Expr, state: State) -> Values:
        """The values of an expression; its effects are applied to the state."""
        match expr:
            case Name():
                return self._name(expr, state)
            case Attr(base=base, name=name, span=span):
                return unite([self.attribute(value, name, span, state) for value in self.evaluate(base, state)])
            case Call():
                return self.call(expr, state)
            case Const(value=value):
                return (Literal(value, type(value).__name__ if value is not None else "None"),)
            case Item():
                return self._item(expr, state)
            case Op(operator=operator, operands=operands, span=span):
                for operand in operands:
                    self.evaluate(operand, state)
                return NOTHING_KNOWN if operator in SCALARS else (Result(self.site(span, state)),)
            case Build():
                return self._build(expr, state)
            case Comp():
                return self.comprehension(expr, state)
            case Closure(function=function):
                return (FunctionValue(f"{self.source.name}:{function}"),)
            case TypeExpr(type=name):
                return (TypeValue(f"{self.source.name}:{name}"),)
            case Imported():
                return (self.symbols.resolve_import(self.source, expr),)
            case Logic() | Choice():
                return self._alternatives(expr, state)
            case Bind(target=target, value=value):
                values = self.evaluate(value, state)
                self.assign(target, values, state)
                return values
            case Await(value=value, span=span):
                return self._await(self.evaluate(value, state), span, state)
            case Yield():
                return self._yield(expr, state)
            case Star(value=value):
                self.evaluate(value, state)
                return NOTHING_KNOWN

    def _name(self, expr: Name, state: State) -> Values:
        if expr.scope == "local":
            return state.variables.get(expr.name, NOTHING_KNOWN)
        path = self._variable(expr.name, expr.scope)
        return self.read(path, state)

    def _variable(self, name: str, scope: str) -> Value:
        if scope == "captured":
            binder = self.types.binder(self.id, name)
            return Captured(binder, name) if binder else UNKNOWN
        if scope == "global":
            return self.symbols.name(self.source.name, name)
        return Global(self.source.name, name)

    def _item(self, expr: Item, state: State) -> Values:
        bases, keys = self.evaluate(expr.base, state), self.evaluate(expr.key, state)
        if isinstance(expr.key, Op) and expr.key.operator == "slice":
            return tuple([self.copied(base, self.site(expr.span, state)) for base in bases])
        key = keys[0] if len(keys) == 1 else UNKNOWN
        result: Values = ()
        for base in bases:
            result = union(result, self._read_item(base, key, keys, expr.span, state))
        return result

    def _read_item(self, base: Value, key: Value, keys: Values, span: Span, state: State) -> Values:
        if isinstance(base, Tuple) and isinstance(key, Literal) and isinstance(key.value, int):
            return _part(base, key.value)
        owner = self.types.class_of(base)
        if owner is not None and self.symbols.method(owner, "__getitem__") is not None:
            methods = self.attribute(base, "__getitem__", span, state)
            return unite([self.apply(method, (keys,), (), span, state) for method in methods])
        container = self.types.container(base)
        if container is not None and container.missing == "inserts":
            self.change(base, "insert", "[...]", keys, span, state)
        elif container is not None and container.missing:
            pass  # reading a missing key gives a default: it says nothing about what is there
        elif base != UNKNOWN and key != UNKNOWN:
            state.present |= {(base, key)}
        return self.read(element(base, key), state)

    def _build(self, expr: Build, state: State) -> Values:
        spread = next((p for p in expr.parts if isinstance(p, Star)), None)
        keys = [() if key is None else self.evaluate(key, state) for key in expr.keys]
        values = [self.evaluate(part, state) for part in expr.parts]
        if expr.kind == "tuple" and spread is None:
            return (bounded(Tuple(tuple(values))),)
        site = self.site(expr.span, state)
        if spread is not None and len(expr.parts) == 1:  # [*xs]
            return tuple([self.copied(v, site, expr.kind) for v in self.evaluate(spread.value, state)])
        if expr.kind == "dict" and len(expr.keys) == 1 and expr.keys[0] is None:  # {**d}
            return tuple([self.copied(v, site, "dict") for v in values[0]])
        made = Fresh(expr.kind, site)
        if expr.keys and all([len(key) == 1 for key in keys]):
            self.displays[made] = tuple([key[0] for key in keys])
            for key, value in zip(keys, values, strict=True):
                state.heap[element(made, key[0])] = value
        return (made,)

    def _alternatives(self, expr: Logic | Choice, state: State) -> Values:
        """Evaluate what may be skipped in a state of its own."""
        if isinstance(expr, Choice):
            yes, no = self.branch(expr.test, state)
            values: Values = ()
            if yes is not None:
                values = self.evaluate(expr.then, yes)
            if no is not None:
                values = union(values, self.evaluate(expr.orelse, no))
            joined = self.join(yes, no)
        else:
            values, current, joined = (), state, None
            for operand in expr.operands[:-1]:
                found = self.evaluate(operand, current)
                values = union(values, found) if expr.operator == "or" else values
                yes, no = self.branch(operand, current) if _is_cheap(operand) else (current.copy(), current.copy())
                goes_on, stops = (yes, no) if expr.operator == "and" else (no, yes)
                joined = self.join(joined, stops)
                if goes_on is None:
                    break
                current = goes_on
            else:
                values = union(values, self.evaluate(expr.operands[-1], current))
                joined = self.join(joined, current)
        if joined is not None and joined is not state:
            become(state, joined)
        return values or NOTHING_KNOWN

    def _await(self, values: Values, span: Span, state: State) -> Values:
        """Awaiting a coroutine runs it here; awaiting anything else gives something unknown."""
        results = [
            self.run_coroutine(value, span, state) if isinstance(value, Partial) else NOTHING_KNOWN for value in values
        ]
        return unite(results)

    def _yield(self, expr: Yield, state: State) -> Values:
        values = self.evaluate(expr.value, state)
        live = [container for frame in self.frames for container, _ in frame.iterated]
        if expr.delegated:
            live += [container for value in values for container in containers(value)]
        self.summary.streams = tuple(dict.fromkeys((*self.summary.streams, *live)))
        elements = NOTHING_KNOWN if expr.delegated else values
        self.summary.yields = unite([self.summary.yields, elements]) if self.summary.yields else elements
        return NOTHING_KNOWN


def _part(value: Value, index: int) -> Values:
    """One part of an unpacked value."""
    if isinstance(value, Tuple):
        return value.parts[index] if -len(value.parts) <= index < len(value.parts) else NOTHING_KNOWN
    return (element(value, Literal(index, "int")),)


def _is_index(key: Value) -> bool:
    return isinstance(key, Literal) and isinstance(key.value, int)


def _is_cheap(expr: Expr) -> bool:
    """Whether an expression can be evaluated once more, as a test, without repeating effects."""
    match expr:
        case Name() | Const():
            return True
        case Attr(base=base):
            return _is_cheap(base)
        case Op(operands=operands):
            return all(_is_cheap(operand) for operand in operands)
        case _:
            return False


__all__ = ["Evaluator", "field"]
