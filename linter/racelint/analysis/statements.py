"""Simple statements: assignments, deletions and the entries and exits of blocks."""

from __future__ import annotations

from abc import abstractmethod

from racelint.analysis.asking import Asking
from racelint.analysis.body import MOST_EVENTS, visible
from racelint.analysis.calls import Calls
from racelint.analysis.conditions import is_slot, note_answer
from racelint.analysis.effects import A_CONSTANT, NOTHING, OWN_KEY, SETTING, STEP, WHOLE, common, is_shared_path
from racelint.analysis.loops import iterated
from racelint.analysis.making import MODULE, is_only_checked
from racelint.analysis.paths import copy_of, element, only, root, union, unite
from racelint.analysis.settling import is_settled
from racelint.analysis.state import FLAG, FLAGS, TASK_FLAG, Check, Held, Read, State, without
from racelint.analysis.summary import Frame
from racelint.analysis.type_names import RESULTS, ClassType, LibraryType, project_class
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Param,
    Result,
    Tuple,
    TypeValue,
    Value,
    Values,
    View,
)
from racelint.model import (
    Assign,
    Attr,
    Await,
    Block,
    Build,
    Call,
    Collect,
    Const,
    Defer,
    Delete,
    Eval,
    Expr,
    Handler,
    Hold,
    Item,
    Jump,
    Name,
    Op,
    Spawn,
    Star,
    Stmt,
    TypeRef,
    Update,
)
from racelint.span import Span

MOST_STEPS = 2  # variables through which a value still counts as what was read
MISSING = frozenset({"AttributeError", "NameError"})  # what a look at an attribute raises if nothing is there
IN_PLACE = {"|": "insert", "^": "insert", "-": "remove", "&": "remove", "+": "append"}


class Statements(Calls, Asking):
    """The statement hooks of the interpreter."""

    @abstractmethod
    def defer(self, stmt: Defer, state: State) -> None:
        """A call is put off until the function is left."""

    @abstractmethod
    def taken(self, expr: Expr, values: Values, state: State) -> Values:
        """What an expression gives to whoever stores it: an object that is held by value is copied."""

    @abstractmethod
    def grown(self, values: Values, span: Span, state: State, expr: Expr | None = None) -> Values:
        """A sequence with more at its end."""

    def reach(self, stmt: Stmt, state: State) -> None:
        """Note what is held when a statement starts."""
        self.effects.hold(stmt.span, state.held)

    def simple(self, stmt: Assign | Update | Delete | Eval | Collect | Defer | Spawn, state: State) -> bool:
        """Run a statement without control flow; False if it never ends normally."""
        self.stopped = False
        self.effects.caught, self.effects.looped = self.guarded > 0, bool(self.frames)
        self.effects.discarded = _discarded(stmt)
        self._simple(stmt, state)
        return not self.stopped

    def _simple(self, stmt: Assign | Update | Delete | Eval | Collect | Defer | Spawn, state: State) -> None:
        match stmt:
            case Assign() | Eval() if self._is_for_compiler(stmt):
                pass  # nobody has what that makes
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
            case Defer():
                self.defer(stmt, state)
            case Spawn(call=call):
                self.spawn(call, state)

    def _is_for_compiler(self, stmt: Stmt) -> bool:
        """Whether a package only says that a type has an interface's methods: `var _ Interface = &T{}`."""
        return self.function.name == MODULE and not self.traits.duck_typed and is_only_checked(stmt)

    def _assign(self, targets: tuple[Expr, ...], value: Expr, state: State) -> None:
        if len(targets) == 1 and isinstance(targets[0], Build) and isinstance(value, Build):
            parts = targets[0].parts
            if len(parts) == len(value.parts) and not any(isinstance(p, Star) for p in (*parts, *value.parts)):
                for target, found in zip(parts, self._side_by_side(value.parts, state), strict=True):
                    self.assign(target, found, state)
                return
        state.reads = reads = list[Read]()
        found = self.taken(value, self.evaluate(value, state), state)
        state.reads = None
        self.opening, self.stored = self.opens(value), value
        if isinstance(value, Name):  # puts back what was there: done on purpose
            reads = [read for read in reads if not isinstance(targets[0], Attr)]
        delayed = {value.span} & self.delayed if isinstance(value, Call) else frozenset[Span]()
        state.running -= delayed  # `t.timer = time.AfterFunc(wait, t.end)`: it is known before the time is over
        for target in targets:
            self._trace(target, reads, state)
            self.assign(target, found, state)
            if isinstance(target, Name) and state.pending:
                note_answer(target.name, value, state)
        state.running |= delayed
        self.opening, self.stored = False, None

    def _side_by_side(self, parts: tuple[Expr, ...], state: State) -> list[Values]:
        """What the parts of a multiple assignment give.

        `reached, found = found, set()`: what a part makes is another object than what an earlier turn has made there,
        and the parts before it give.
        """
        given: list[Values] = []
        for part in parts:
            found = self.taken(part, self.evaluate(part, state), state)
            if self.frames and isinstance(part, Build | Call):
                for made in found:
                    if isinstance(made, Fresh) and made.site.span == part.span:
                        given = [without(each, made.site) for each in given]
            given.append(found)
        return given

    def _trace(self, target: Expr, reads: list[Read], state: State) -> None:
        """What is stored depends on these reads."""
        if not reads and not isinstance(target, (Name, Build)):
            return
        match target:
            case Name(name=name, scope="local"):
                reads = [read._replace(steps=read.steps + 1) for read in reads if read.steps < MOST_STEPS]
                if reads:
                    state.sources[name] = tuple(dict.fromkeys(reads))
                else:
                    state.sources.pop(name, None)
            case Attr(base=base, name=name, span=span):
                for owner in self.evaluate(base, state):
                    self._derive(self.place(owner, name), reads, "store", span, state)
            case Name(name=name, scope=scope, span=span):
                self._derive(self.variable(name, scope), reads, "store", span, state)
            case Item(base=base, span=span):
                for owner in self.evaluate(base, state):
                    self._derive(owner, reads, "setitem", span, state)
            case Build(parts=parts):
                for part in parts:
                    self._trace(part, reads, state)
            case _:
                pass

    def _derive_update(self, stmt: Update, reads: list[Read], state: State) -> None:
        """`x += ...` depends on x as it was before what is added was computed."""
        if isinstance(stmt.target, Attr | Name | Item):
            kind = "update-item" if isinstance(stmt.target, Item) else "update"
            for read in reads:
                if read.suspended and read.span == stmt.target.span:
                    self._derive(read.path, [read], kind, stmt.span, state)

    def _derive(self, path: Value, reads: list[Read], kind: str, span: Span, state: State) -> None:
        for read in reads:
            if read.path == path:
                self.effects.act(read, path, kind, span, "data", state, "computed")

    def assign(self, target: Expr, values: Values, state: State) -> None:
        """Assign values to a target."""
        match target:
            case Name(name=name, scope=scope):
                if scope == "local" and name in self.function.cells:
                    self._store_cell(name, values, target.span, state)
                elif scope == "local":
                    state.assign(name, values)
                    self._share_local(name, values, target.span, state)
                else:
                    self._store(self.variable(name, scope), values, target.span, state)
            case Attr(base=base, name=name, span=span):
                owners = self.evaluate(base, state)
                self.find_something(base, owners, state)
                self.sink, self.several = base, len(owners) > 1
                for owner in owners:
                    paths = [self.place(holder, name) for holder in self.promoting(owner, name, state)]
                    if UNKNOWN not in paths:
                        self._change_field(base, owner, name, span, state)
                    for path in paths if UNKNOWN not in paths else ():
                        self._store(path, values, span, state)
                        self._overwrite_struct(path, span, state)
                self.several = False
            case Item(base=base, key=key, span=span):
                owners = self.evaluate(base, state)
                self.sink = base
                self._store_item(owners, key, values, span, state)
            case Build(parts=parts):
                self._unpack(parts, values, state)
            case Star(value=inner):
                self.assign(inner, NOTHING_KNOWN, state)
            case Op(operator="deref", operands=(pointer,), span=span):
                owners = self.evaluate(pointer, state)
                self.sink = pointer
                for owner in owners if not self._leads_to_pointer(pointer) else ():
                    self.mutate(owner, "* =", "content" if isinstance(pointer, Attr) else "field", span, state)
                    self._overwrite(owner, self.types.class_of(owner), span, state)
            case _:
                self.evaluate(target, state)

    def _leads_to_pointer(self, expr: Expr) -> bool:
        """Whether a pointer leads to another one: what that led to stays as it is (`func get(out **Pod)`)."""
        declared: object = None
        match expr:
            case Name(name=name):
                given = {parameter.name: parameter.annotation for parameter in self.function.parameters}
                declared = given.get(name, self.function.annotations.get(name))
                bound = self.function.bindings.get(name, ()) if declared is None else ()
                if bound and all([self._is_address_of_pointer(each) for each in bound]):
                    return True
            case Attr(base=base, name=name):
                owner = project_class(self.types.expressions.of(self.id, base))
                record = self.symbols.field(owner, name) if owner is not None else None
                declared = record[1].annotation if record is not None else None
            case _:
                return False
        match declared:
            case TypeRef(name="*", args=(TypeRef(name="*"),)):
                return True
            case _:
                return False

    def _is_address_of_pointer(self, expr: object) -> bool:
        """Whether an expression is the address of a variable or a field that holds a pointer: `prev := &list.first`."""
        if not isinstance(expr, Op) or expr.operator != "address" or isinstance(expr.operands[0], Build):
            return False
        found = self.types.expressions.of(self.id, expr.operands[0])
        return isinstance(found, ClassType) and not found.value

    def _overwrite(self, whole: Value, type_id: str | None, span: Span, state: State, levels: int = 2) -> None:
        """Another struct is put in the place of one, so that all of its fields are stored."""
        record = self.symbols.types.get(type_id or "")
        for name in record[1].fields if record is not None and levels > 0 else ():
            path = self.place(whole, name)
            if is_shared_path(path) or self._is_known_elsewhere(root(path)):
                self.note(path, "store", span, state, WHOLE)
            state.heap.pop(path, None)
            self._overwrite_struct(path, span, state, levels - 1)

    def _overwrite_struct(self, path: Value, span: Span, state: State, levels: int = 2) -> None:
        found = self.types.of(path) if not self.traits.duck_typed else None
        if isinstance(found, ClassType) and found.value:
            self._overwrite(path, found.type, span, state, levels)

    def _store_cell(self, name: str, values: Values, span: Span, state: State) -> None:
        """Give a variable that nested functions use another value; a new variable is nobody else's yet."""
        cell = Captured(self.id, name)
        self.effects.new_in[name] = union(self.effects.new_in.get(name, ()), values)
        if span in self.births or (self.stepping and name in self.per_turn):
            state.heap[cell] = values
            self.keep_store(cell, values)
            for value in values:
                self.effects.store(cell, value)
        else:
            self._store(cell, values, span, state)
        self._share_local(name, values, span, state)

    def _change_field(self, base: Expr, owner: Value, name: str, span: Span, state: State) -> None:
        """An object's field gets another value; a constructor's own do not count."""
        if not isinstance(owner, TypeValue) and not (self.constructs and owner == Param(self.id, 0)):
            if not self.traits.duck_typed and self.is_held_here(base, owner, state):
                return
            self.mutate(owner, f".{name} =", "field", span, state)

    def _share_local(self, name: str, values: Values, span: Span, state: State) -> None:
        """A local variable that a nested function or a started one may see."""
        for value in values:
            seen = name in self.function.cells or self.types.container(value) is not None
            if isinstance(value, Fresh) and (seen or self.lock_kind(value)):
                self.shared_locals.setdefault(value, Captured(self.id, name))
                if value.type.startswith("chan") and value.site.origin is None:
                    self.effects.own_channels.setdefault(value, Captured(self.id, name))
                if value.type.startswith("chan") and self.place(value, "size") not in state.heap:
                    self.effects.without_room.add(Captured(self.id, name))

    def _store(self, path: Value, values: Values, span: Span, state: State) -> None:
        """Give a path other values."""
        self.note_launcher(path, values)
        self.keep_store(path, values)
        owner = self.types.class_of(path.base) if isinstance(path, Field) and not self.traits.duck_typed else None
        if isinstance(path, Field) and owner is not None:
            self.keep_function(owner, path.name, values)
        if is_shared_path(path) or self._is_known_elsewhere(root(path)):
            kind = "update" if self.updating else "store"
            self.note(path, kind, span, state, self.updating or self._stored(values))
            if kind == "store" and self.traits.duck_typed and all([self._is_of_call(value) for value in values]):
                self.effects.of_call.add(span)
            for value in values:
                self._store_callables(path, value)
            self.publish(path, values, state)
            for made in [value for value in values if value in self.holders]:
                self.put_under[made] = (state.held, state.started)
            self._set_flag(path, values, span, state)
            self.set_under(path, values, span, state)
        elif not self.traits.duck_typed:
            for value in values:
                self.effects.store(path, value)  # an object made here may be another type's method's later
        if type(path) is Field and path.name in self.knowledge.concurrency.assigned:
            self._start_assigned(path, values, span, state)
        if all([isinstance(value, Fresh) and self.types.container(value) is not None for value in values]):
            self._leave_to_holders(path, span, state)
        state.heap[path] = values
        state.checks.pop(path, None)

    def _leave_to_holders(self, path: Value, span: Span, state: State) -> None:
        """What was in a place that gets another container belongs to the variables of this function that have it."""
        if state.heap.get(path, (path,)) != (path,):
            return
        if any([path in values and cell != path and type(cell) is not Captured for cell, values in state.heap.items()]):
            return  # another field has it, too: who takes it out of there means the same one
        left = copy_of(path, self.type_name(path), self.site(span, state))
        for name, values in state.variables.items():
            if path in values:
                state.variables[name] = tuple([left if value == path else value for value in values])
        for cell, values in state.heap.items():
            if isinstance(cell, Captured) and path in values:
                state.heap[cell] = tuple([left if value == path else value for value in values])

    def _is_of_call(self, value: Value) -> bool:
        """Whether a value is an argument of this call, or lies in one."""
        start = root(value)
        return isinstance(start, Param) and start.function == self.id and not self.symbols.is_instance(start)

    def _start_assigned(self, path: Field, values: Values, span: Span, state: State) -> None:
        """A library runs what is stored in an attribute of its object: `client.on_message = self.receive`."""
        owner = self.types.of(path.base)
        row = self.knowledge.concurrency.start(f"{owner.name}.{path.name}") if isinstance(owner, LibraryType) else None
        if row is not None and row.assigned:
            for value in values:
                self.start(value, row.kind, span, state, many=row.many, queue=row.queue)

    def _store_callables(self, path: Value, value: Value) -> None:
        """Remember callables that a path holds, and those in a container that it holds."""
        self.effects.store(path, value)
        for content in self.filled.get(value, ()):
            self.effects.store(path, content.value)

    def _is_known_elsewhere(self, made: Value) -> bool:
        """Whether an object of this function is known to what it starts, in a language in which that is compared."""
        if self.traits.atomic_steps:
            return False
        return self.effects.is_disclosed(made) or made in self.shared_locals

    def _set_flag(self, path: Value, values: Values, span: Span, state: State) -> None:
        """`with lock: if self.busy: return; self.busy = True` keeps others out until it is set back."""
        state.drop_flag(path)
        check = state.checks.get(path)
        is_first = len(values) == 1 and (path, values[0]) in state.excluded  # `if s.state == busy { return }`
        state.excluded = frozenset([pair for pair in state.excluded if pair[0] != path])
        if check is not None and (is_first or values == (Literal(True, "bool"),)):
            if common(check.read.held, state.held):
                state.held = (*state.held, Held(path, span, FLAG))
            elif self.traits.duck_typed and not check.read.suspended:
                state.held = (*state.held, Held(path, span, TASK_FLAG))
        elif Literal(False, "bool") in values and visible(path) and len(self.summary.lowers) < MOST_EVENTS:
            self.summary.lowers[path] = None

    def _stored(self, values: Values) -> str:
        """What kind of thing is stored, in a word of `Access.detail`."""
        if all([isinstance(v, Literal) for v in values]):
            if all([v == NONE for v in values]):
                return NOTHING
            one = values[0] if len(values) == 1 and not self.traits.atomic_steps else None
            return f"{A_CONSTANT} {one.value!r}" if isinstance(one, Literal) else A_CONSTANT
        made = [v for v in values if self.types.container(v) is not None and isinstance(v, Fresh | Copy)]
        if made:
            return "empty" if all([self.displays.get(v) == () for v in made]) else "fresh"
        identity = self.identity(values)
        if identity:
            return identity
        if len(values) == 1 and isinstance(values[0], Global) and not self.traits.atomic_steps:
            return f"{SETTING}{values[0].module}:{values[0].name}"
        if all([isinstance(v, FunctionValue | TypeValue | Builtin | Param) for v in values]):
            return "given"
        return "computed"

    def _unpack(self, targets: tuple[Expr, ...], values: Values, state: State) -> None:
        starred = [index for index, target in enumerate(targets) if isinstance(target, Star)]
        for index, target in enumerate(targets):
            if starred and index >= starred[0]:
                self.assign(target, NOTHING_KNOWN, state)
            else:
                self.assign(target, unite([part_of(value, index) for value in values]), state)

    def _store_item(self, bases: Values, key: Expr, values: Values, span: Span, state: State) -> None:
        keys = self.evaluate(key, state)
        for base in bases:
            self.note_entry(base, values)
            if base == UNKNOWN or self._own_method(base, "__setitem__", (keys, values), span, state):
                continue
            self.settling = self._settles(base, keys, values, state)
            self._put_item(base, keys, values, span, state, sliced=_is_slice(key))
            self.settling = False

    def _put_item(
        self, base: Value, keys: Values, values: Values, span: Span, state: State, *, sliced: bool
    ) -> None:  # fmt: skip
        known = only(keys)
        self.mutate(base, "slice assignment" if sliced else "[...] =", "content", span, state, keys)
        self.fill(base, "[...] =", values, span, state, known)
        container = self.types.container(base)
        if container is None and not self.traits.duck_typed:
            self.note(base, "setitem", span, state, self.container_kind(base))
            return
        found = container or (self.knowledge.guess if self.types.of(base) is None else None)
        if found is None:
            return
        if sliced:
            emptied = all([self.displays.get(v) == () for v in values])
            operation = "slice deletion" if emptied else "slice assignment"
            self.change(base, "remove", operation, (), span, state, certain=container is not None)
        elif "__setitem__" in found.insert and not (container is None and _is_index(known)):
            self.change(base, "insert", "[...] =", keys, span, state, added=values, certain=container is not None)
        path = element(base, known)
        self.expose(base, values, state)
        if path != UNKNOWN:
            state.heap[path] = values

    def _settles(self, base: Value, keys: Values, values: Values, state: State) -> bool:
        """Whether a store only puts right what a test has found wanting in the same entry."""
        slot = element(base, keys[0]) if len(keys) == 1 and self.traits.duck_typed else UNKNOWN
        if not isinstance(slot, Element):
            return False

        def is_it(expr: Expr) -> bool:
            return is_slot(expr) and self.evaluate(expr, state) == (slot,)

        def makes(func: Expr) -> bool:
            found = self.evaluate(func, state) if isinstance(func, Name) else ()
            return bool(found) and all(
                [isinstance(v, Builtin) and self.knowledge.container(v.name) is not None for v in found]
            )

        return is_settled(slot, values, self.stored, state, is_it, makes)

    def _own_method(self, base: Value, name: str, args: tuple[Values, ...], span: Span, state: State) -> bool:
        """Whether the project's class of an object defines an operator itself; if so it has been called."""
        owner = self.types.class_of(base)
        if owner is None or self.symbols.method(owner, name) is None:
            return False
        for method in self.attribute(base, name, span, state):
            self.apply(method, args, (), span, state)
        return True

    def _update(self, stmt: Update, state: State) -> None:
        state.reads = reads = list[Read]()
        current = self.evaluate(stmt.target, state)
        added = self.evaluate(stmt.value, state)
        state.reads = None
        self.count_by_one(stmt, state)
        self._derive_update(stmt, reads, state)
        change = IN_PLACE.get(stmt.operator)
        self.sink = stmt.target
        mutable = [v for v in current if change and self._changes_in_place(v, stmt.operator)]
        for value in mutable:
            self.expose(value, added, state)
            self.fill(value, f"{stmt.operator}=", added, stmt.span, state)
            self.change(value, str(change), f"{stmt.operator}=", (), stmt.span, state, added=added)
        if mutable:
            return
        result: Values = (Result(self.site(stmt.span, state)),)
        if stmt.operator == "append":
            result = self.grown(current, stmt.span, state, stmt.target)
            self.take_in(result, added)
            self.append_to(current, added, stmt.span, state)
            self.overwrite_behind(stmt.target, current, stmt.span, state)
        if isinstance(stmt.target, Item):
            keys = self.evaluate(stmt.target.key, state)
            for base in self.evaluate(stmt.target.base, state):
                self.sink = stmt.target.base
                self.mutate(base, f"[...] {stmt.operator}=", "content", stmt.span, state)
                entry = _entry(keys) if self.traits.atomic_steps else self.container_kind(base)
                self.note(base, "update-item", stmt.span, state, entry)
                container = self.types.container(base)
                if container is not None and container.missing:  # else the key was read just now: it is there
                    self.change(base, "insert", f"[...] {stmt.operator}=", keys, stmt.span, state)
                key = only(keys)
                if stmt.operator == "append":
                    self.fill(base, "[...] =", result, stmt.span, state, key)
                if (path := element(base, key)) != UNKNOWN:
                    state.heap[path] = result
        else:
            is_step = self._is_at_hand(stmt.value, state) and not self._runs_code(stmt.target, state)
            self.updating = STEP if is_step else "computed"
            self.assign(stmt.target, result, state)
            self.updating = ""

    def _is_at_hand(self, value: Expr, state: State) -> bool:
        """Whether nothing is called to compute a value: constants, variables and their attributes."""
        match value:
            case Const() | Name():
                return True
            case Op(operands=operands):
                return all([self._is_at_hand(operand, state) for operand in operands])
            case Attr(base=Name()):
                return not self._runs_code(value, state)
            case _:
                return False

    def _runs_code(self, target: Expr, state: State) -> bool:
        """Whether a class of the project has a say in what is read from an attribute, or stored there."""
        if not isinstance(target, Attr):
            return False
        owners = [self.types.class_of(base) for base in self.evaluate(target.base, state)]
        asked = (target.name, "__setattr__", "__getattribute__")
        return any(owner and self.symbols.method(owner, name) for owner in owners for name in asked)

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
                kind = "" if self.traits.duck_typed else "slice" if _is_slice(key) else "map"
                owners = self.evaluate(base, state)
                self.sink = base
                for owner in owners:
                    if not self._own_method(owner, "__delitem__", (keys,), span, state):
                        self.remove_item(owner, keys, span, state, kind)
            case Attr(base=base, name=name):
                owners = self.evaluate(base, state)
                self.sink = base
                for owner in owners:
                    path = self.place(owner, name)
                    self.mutate(owner, f"del .{name}", "field", target.span, state)
                    self.note(path, "delete", target.span, state, "none")
                    state.heap[path] = NOTHING_KNOWN
            case Build(parts=parts):
                for part in parts:
                    self._delete(part, state)
            case _:
                pass

    def remove_item(self, container: Value, keys: Values, span: Span, state: State, kind: str = "") -> None:
        """`del container[key]`; `kind` is the container's where the language says it."""
        found = self.types.container(container)
        if found is None and self.types.of(container) is not None:
            return  # a library's class: what deleting an item does is not known
        if container != UNKNOWN and (found is None or "__delitem__" in found.remove):
            self.change(container, "remove", "del", keys, span, state, certain=found is not None, kind=kind)

    def hold(self, hold: Hold, state: State) -> Frame:
        """Enter context managers."""
        frame = Frame(held=state.held)
        for manager, target in hold.items:
            self.entered, self.entered_suspends = (), True
            values = self.use(manager, state)
            span: Span = getattr(manager, "span", hold.span)
            frame.suspended = frame.suspended or (hold.is_async and self.entered_suspends)
            if hold.is_async and self.entered_suspends:
                self.suspend(span, state)
            entered = self.enter(values, span, state)
            self.entered = ()
            frame.managers = (*frame.managers, *self._leaving(values, span))
            if target is not None:
                self.assign(target, entered or NOTHING_KNOWN, state)
        return frame

    def _leaving(self, values: Values, span: Span) -> list[tuple[str, Value, Span]]:
        """The methods of the project that leaving context managers calls; a lock's own hold nothing new."""
        found: list[tuple[str, Value, Span]] = []
        for value in values:
            owner = self.types.class_of(value)
            names = ("__exit__", "__aexit__") if owner and not self.lock_kind(value) else ()
            methods = [m for name in names if owner and (m := self.symbols.method(owner, name))]
            found += [(method, value, span) for method in methods[:1]]
        return found

    def release(self, hold: Hold, frame: Frame, state: State) -> None:
        """Leave context managers."""
        for method, manager, span in reversed(frame.managers):
            stopped = self.stopped
            self.invoke(method, manager, (), (), span, state)
            self.stopped = stopped
        if frame.suspended:
            self.suspend(hold.span, state)
        state.held = tuple([held for held in state.held if held in frame.held or held.kind in FLAGS])
        if any([self.joins_on_exit(manager, state) for manager, _ in hold.items]):
            state.wait()
            for key, start in self.effects.starts.items():
                if hold.span.holds(start.span):
                    self.effects.starts[key] = start._replace(awaited=True)

    def jump(self, jump: Jump, state: State) -> None:
        """Evaluate what is returned or raised."""
        if jump.value is not None:
            expected = jump.kind != "return" or not _may_be_none(self.function.returns)
            values = self.use(jump.value, state) if expected else self.evaluate(jump.value, state)
            if jump.kind == "return":
                self.note_asks(jump, state)
                values = self.dereferenced(jump.value, values, state)
                self._hand_out(values, jump.span, state)
                self._give_back(values)
                self.returns(values, state)
                self.ends.leave(jump.value, values, jump.span, state, self.answers_of(jump.value, state))
        elif jump.kind == "return":
            self.returns((Literal(None, "None"),))

    def _give_back(self, values: Values) -> None:
        """Note objects that are returned as what a library knows: it calls their methods."""
        declared = self.function.returns
        if self.traits.atomic_steps or declared is None:
            return
        kinds = declared.args if declared.name == RESULTS else (declared,)
        for value in values:
            parts = value.parts if isinstance(value, Tuple) else (values,)
            for kind, part in zip(kinds, parts, strict=False):
                if kind.name != "error" and not isinstance(self.types.annotations.declared(self.id, kind), ClassType):
                    for each in part:
                        self.give_away(each)

    def _hand_out(self, values: Values, span: Span, state: State) -> None:
        """A container that is returned from under a lock is used without it."""
        if not state.held:
            return
        for value in values:
            for container, _ in iterated(value):
                inner = isinstance(container, Element) and not self.traits.atomic_steps
                shared = isinstance(container, Field | Global) or inner
                if shared and self.types.container(container) is not None:
                    self.note(container, "hand-out", span, state, "view" if isinstance(value, View) else "live")

    def caught(self, handler: Handler, body: Block, state: State) -> None:
        """Bind a handler's target; an attribute that the body only looked for is known to be missing."""
        if handler.target is not None:
            self.assign(handler.target, NOTHING_KNOWN, state)
        wanted = _looked_for(body) if handler.caught is not None and _named(handler.caught) in MISSING else None
        if wanted is not None:
            for access in self.effects.accesses.get((wanted, "read"), ()):
                state.checks[access.path] = Check(Read(access.path, access.span, access.held, False), False)

    # --- expressions --------------------------------------------------------------------------------------------------


def _looked_for(body: Block) -> Span | None:
    """Where a block that is nothing but one look at a variable or an attribute has that."""
    match body:
        case (Eval(value=value) | Assign(value=value) | Jump(value=value),) if isinstance(value, Attr | Name):
            return value.span
        case _:
            return None


def _named(caught: Expr) -> str:
    return caught.name if isinstance(caught, Name) else ""


def part_of(value: Value, index: int) -> Values:
    """One part of an unpacked value."""
    if isinstance(value, Tuple):
        return value.parts[index] if -len(value.parts) <= index < len(value.parts) else NOTHING_KNOWN
    return (element(value, Literal(index, "int")),)


def _is_slice(key: Expr) -> bool:
    return isinstance(key, Op) and key.operator == "slice"


def _is_index(key: Value) -> bool:
    return isinstance(key, Literal) and isinstance(key.value, int)


def _discarded(stmt: Stmt) -> Span | None:
    """The call of which a statement uses no result."""
    value = stmt.value if isinstance(stmt, Eval) else None
    while isinstance(value, Await):
        value = value.value
    return value.span if isinstance(value, Call) else None


def _may_be_none(returns: TypeRef | None) -> bool:
    """Whether a function says that it may return nothing: then its callers expect that."""
    if returns is None:
        return False
    name = returns.name.rpartition(".")[2]
    return name in ("Optional", "None") or (name == "Union" and any(_may_be_none(arg) for arg in returns.args))


def _entry(keys: Values) -> str:
    """Which entry a key means: "=" and what it is, if that is told; `OWN_KEY`, if it comes from the caller."""
    if len(keys) == 1 and isinstance(keys[0], Literal):
        return f"={keys[0].value!r}"
    return OWN_KEY if keys and all(isinstance(root(key), Param) for key in keys) else ""
