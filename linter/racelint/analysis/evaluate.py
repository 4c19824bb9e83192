"""The evaluator: what expressions stand for, one function at a time."""

from __future__ import annotations

import operator
from collections.abc import Callable

from racelint.analysis.calls import is_abstract
from racelint.analysis.conditions import Conditions, is_path
from racelint.analysis.deferring import Deferring
from racelint.analysis.effects import UNCOUNTED
from racelint.analysis.factories import gives_empty
from racelint.analysis.loops import Loops, become
from racelint.analysis.operations import OPERATIONS, Operations
from racelint.analysis.paths import bounded, containers, element, one_of, only, union, unite
from racelint.analysis.state import TASKS, State, join, surely_held
from racelint.analysis.statements import Statements, part_of
from racelint.analysis.types import ClassType, LibraryType
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Cached,
    Captured,
    Field,
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
)
from racelint.model import (
    Attr,
    Await,
    Bind,
    Build,
    Call,
    Cast,
    Choice,
    Closure,
    Comp,
    Const,
    Expr,
    Imported,
    Item,
    Logic,
    Make,
    Name,
    Op,
    Star,
    Yield,
)
from racelint.model import (
    TypeValue as TypeExpr,
)
from racelint.span import Span

MOST_KEYS = 24  # of one display of which it is remembered that they are there
AWAITED = "await"  # stands for a method's name in the rows of what two contexts must not use at once

COMPARED = {"==", "!=", "in", "not in", "is", "is not", "not", "format"}  # what works on anything
ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SCALARS = {"==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not", "not", "compare"}
ARITHMETIC = {"+", "-", "*", "/", "%", "&", "|", "^", "&^", "<<", ">>"}


class Evaluator(Operations, Deferring, Loops, Conditions, Statements):
    """Interprets one function over `State` and gathers its `Summary`."""

    def run(self) -> None:
        """Interpret the body from the function's entry."""
        state = State()
        for index, parameter in enumerate(self.function.parameters):
            state.variables[parameter.name] = (Param(self.id, index),)
        if self.function.binding == "class" and self.function.owner and self.function.parameters:
            own = TypeValue(f"{self.source.name}:{self.function.owner}")
            state.variables[self.function.parameters[0].name] = (own,)
        if not self.traits.duck_typed:
            self._own_parameters(state)
        exits = self.block(self.function.body, state)
        left = exits.take("return")
        if exits.normal is not None:
            unread = (
                not self.traits.duck_typed and self.function.returns is not None
            )  # an outline, an interface's method
            self.returns(NOTHING_KNOWN if unread else (Literal(None, "None"),))
            left.append(exits.normal)
        left = self.run_deferred(left)
        self.summary.falls_through = bool(left) or is_abstract(self.function) or self.function.is_generator
        self.close(left)

    def _own_parameters(self, state: State) -> None:
        """Parameters hold copies of what is passed by value; nested functions see some of them."""
        for name, values in list(state.variables.items()):
            own = tuple([self.own_copy(value, self.function.span, state) for value in values])
            state.variables[name] = own
            if name in self.function.cells:
                state.heap[Captured(self.id, name)] = own

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

    def evaluate(self, expr: Expr, state: State) -> Values:
        """The values of an expression; its effects are applied to the state."""
        match expr:
            case Name():
                return self._name(expr, state)
            case Attr(base=base, name=name, span=span):
                owners = self.use(base, state)
                if not self.traits.duck_typed:  # nothing has no fields: who goes on has found something
                    owners = tuple([owner for owner in owners if owner != NONE]) or owners
                found = unite([self.attribute(value, name, span, state) for value in owners])
                if not self.traits.atomic_steps and any([isinstance(value, FunctionValue) for value in found]):
                    self.effects.asked.add((name, UNCOUNTED))  # whoever has the method calls it
                return found
            case Call():
                return self.call(expr, state)
            case Const(value=value):
                return (Literal(value, type(value).__name__ if value is not None else "None"),)
            case Item():
                return self._item(expr, state)
            case Op(operator="decorated", operands=(made, function)):
                values = self.evaluate(made, state)
                return values if any(map(self._is_more, values)) else self.evaluate(function, state)
            case Op(operator=name, operands=operands, span=span):
                special = self.operate(expr, state) if name in OPERATIONS else None
                if special is not None:
                    return special
                outer, self.measuring = self.measuring, name in ORDERED
                testing, self.testing = self.testing, self.testing or _asks_if_there(name, operands)
                look = self.evaluate if name in COMPARED else self.use
                looked = [look(operand, state) for operand in operands]
                self.measuring, self.testing = outer, testing
                if name in ORDERED and all(isinstance(o, Call | Const) or _is_local(o) for o in operands):
                    return _ordered(ORDERED[name], *looked)
                if name in SCALARS:
                    return NOTHING_KNOWN
                result = Result(self.site(span, state))
                if name in ARITHMETIC and not self.traits.duck_typed:
                    self.foreign.add(result)  # a number: no type of ours says what that means
                return (result,)
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
                if isinstance(value, Call):
                    return self._await_call(value, span, state)
                awaited = self.use(value, state)
                if state.reads:  # `self.x = await self.x`: whoever waits for it puts the same there
                    state.reads[:] = [read for read in state.reads if read.span != getattr(value, "span", None)]
                return self.opaque(self._await(awaited, span, state), span, state)
            case Yield(span=span):
                return self.opaque(self._yield(expr, state), span, state)
            case Star(value=value):
                self.evaluate(value, state)
                return NOTHING_KNOWN
            case Make():
                return self.make(expr, state)
            case Cast():
                return self.cast(expr, state)

    def _name(self, expr: Name, state: State) -> Values:
        if expr.scope == "local" and expr.name in self.function.cells:
            cell = Captured(self.id, expr.name)
            if not self._is_inline(cell):
                self.note(cell, "read", expr.span, state)
            return self._unless_changed(expr.name, self.read(cell, state), cell)
        if expr.scope == "local":
            if state.reads is not None and not self.testing and expr.name in state.sources:
                state.reads.extend(state.sources[expr.name])
            return self._unless_changed(expr.name, state.variables.get(expr.name, NOTHING_KNOWN), UNKNOWN)
        path = self.variable(expr.name, expr.scope)
        if isinstance(path, (Global, Captured)) and not self._is_inline(path):
            self.note(path, "read", expr.span, state)
        return self.read(path, state)

    def _unless_changed(self, name: str, values: Values, otherwise: Value) -> Values:
        """The constants that a variable has, unless a pointer to it or a function in this one may have changed it."""
        if name not in self.pointed and f"{name}()" not in self.function.bindings:
            return values
        return (otherwise,) if all([isinstance(value, Literal) for value in values]) else values

    def _is_more(self, made: Value) -> bool:
        """Whether what a decorator has made of a function does more than to call it: that runs it elsewhere."""
        if isinstance(made, FunctionValue):
            return self.summaries.of(made.function).starts_any
        return isinstance(made, Partial)

    def _item(self, expr: Item, state: State) -> Values:
        if isinstance(expr.base, Item) and not self.guarded:
            self.entered_items.add(expr.base.span)
        bases, keys = self.use(expr.base, state), self.evaluate(expr.key, state)
        if isinstance(expr.key, Op) and expr.key.operator == "slice":
            return tuple([self.copied(base, self.site(expr.span, state)) for base in bases])
        key = only(keys)
        result: Values = ()
        for base in bases:
            result = union(result, self._read_item(base, key, keys, expr.span, state))
        return self.opaque(result, expr.span, state)

    def _read_item(self, base: Value, key: Value, keys: Values, span: Span, state: State) -> Values:
        if isinstance(base, Tuple) and isinstance(key, Literal) and isinstance(key.value, int):
            return part_of(base, key.value)
        owner = self.types.class_of(base)
        if owner is not None and self.symbols.method(owner, "__getitem__") is not None:
            methods = self.attribute(base, "__getitem__", span, state)
            return unite([self.apply(method, (keys,), (), span, state) for method in methods])
        container = self.types.container(base)
        if container is not None or self.types.of(base) is None:
            self.note(base, "lookup", span, state, container.kind if container else "?")
        if container is not None and container.missing == "inserts" and not self._is_presumed(base, span):
            self.change(base, "insert", "[...]", keys, span, state)
        elif container is not None and container.missing:
            pass  # reading a missing key gives a default: it says nothing about what is there
        elif base != UNKNOWN and (one := one_of(keys)) != UNKNOWN:
            state.present |= {(base, one)}
        if key == UNKNOWN and len(keys) > 1 and not self.traits.duck_typed:
            found = self.types.structures.element(self.types.of(base), "value")
            if found is None:
                return NOTHING_KNOWN
            looked_up = Result(self.site(span, state), self.types.text(found))
            self.effects.looked_up[looked_up] = base
            return (looked_up,)
        return self.from_table(base, key, state) or self.read(element(base, key), state)

    def _is_presumed(self, mapping: Value, item: Span) -> bool:
        """Whether an item of a mapping is taken for there: one without anything in it would be of no use.

        `D[key]["name"]` raises KeyError if `D = defaultdict(dict)` has just made the entry, which nobody catches here.
        """
        return item in self.presumed or (item in self.entered_items and gives_empty(mapping, self.symbols, self.types))

    def _build(self, expr: Build, state: State) -> Values:
        spread = next((p for p in expr.parts if isinstance(p, Star)), None)
        keys = [() if key is None else self.evaluate(key, state) for key in expr.keys]
        values = self._parts(expr, state)
        if expr.kind == "tuple" and spread is None:
            return (bounded(Tuple(tuple(values))),)
        site = self.site(expr.span, state)
        if spread is not None and len(expr.parts) == 1:  # [*xs]
            return tuple([self.copied(v, site, expr.kind) for v in self.evaluate(spread.value, state)])
        if expr.kind == "dict" and len(expr.keys) == 1 and expr.keys[0] is None:  # {**d}
            return tuple([self.copied(v, site, "dict") for v in values[0]])
        made = Fresh(expr.kind, site)
        self._fill_display(made, expr, keys, values)
        if expr.kind == "dict":
            named = [key[0] for key in keys if len(key) == 1 and isinstance(key[0], Literal)]
            state.present |= {(made, key) for key in named[:MOST_KEYS]}
        if not expr.parts or (expr.keys and all([len(key) == 1 for key in keys])):
            self.displays[made] = tuple([key[0] for key in keys])
            for key, value in zip(keys, values, strict=True):
                state.heap[element(made, key[0])] = value
        return (made,)

    def _parts(self, expr: Build, state: State) -> list[Values]:
        """What the parts of a display are.

        In Go variables are loaded when the calls beside them have been made: `return results, group.Wait()`. The
        language leaves that open (https://go.dev/ref/spec#Order_of_evaluation), its compiler does it so.
        """
        order = list(range(len(expr.parts)))
        if expr.kind == "tuple" and not self.traits.duck_typed:
            order.sort(key=lambda index: not isinstance(expr.parts[index], Call))
        found: dict[int, Values] = {}
        for index in order:
            found[index] = self.dereferenced(expr.parts[index], self.evaluate(expr.parts[index], state), state)
        return [found[index] for index in range(len(expr.parts))]

    def _fill_display(self, made: Fresh, expr: Build, keys: list[Values], values: list[Values]) -> None:
        """What a display holds."""
        for index, found in enumerate(values):
            merged = bool(expr.keys) and expr.keys[index] is None
            key = keys[index][0] if keys and len(keys[index]) == 1 else None
            for value in found if not isinstance(expr.parts[index], Star) else ():
                self.put(made, value, key, spread=merged, site=made.site if merged else None)

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
                if isinstance(operand, Call) and not self.traits.duck_typed:
                    yes, no = self.known_by(operand, found, current)
                else:
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

    def _await_call(self, call: Call, span: Span, state: State) -> Values:
        """What a call has started has ended when it has been awaited."""
        values = self.evaluate(call, state)
        if self._is_at_once(call, state):
            return values
        result = self.opaque(self._await(values, span, state), span, state)
        for path, check in list(state.checks.items()) if state.checks else ():
            if check.read.suspended and path in result and self._is_looked_at(path, values):
                state.checks[path] = check._replace(read=check.read._replace(suspended=False))
        for key, start in self.effects.starts.items():
            if call.span.holds(start.span):
                state.wait()
                if start.span == call.span:  # one after the other
                    self.effects.starts[key] = start._replace(looped=False, awaited=True)
        return result

    def _is_looked_at(self, path: Value, awaited: Values) -> bool:
        """Whether coroutines that were awaited look at a path under a lock, and give what is there.

        `self.client = await self._connected()`: until the next wait nobody else gets hold of that lock.
        """
        ids = [made.function for v in awaited if isinstance(v, Partial) for given in v.args[:1] for made in given
               if isinstance(made, FunctionValue)]  # fmt: skip
        known = [self.summaries.effects[each] for each in ids if each in self.summaries.effects]
        looks = [access for effects in known for access in effects.all_accesses() if access.kind in ("test", "read")]
        return isinstance(path, Field) and any(
            isinstance(access.path, Field) and access.path.name == path.name and bool(access.held) for access in looks
        )

    def _is_at_once(self, call: Call, state: State) -> bool:
        """Whether awaiting a call lets no other task run: a queue without a bound always has room."""
        if not isinstance(call.func, Attr) or not is_path(call.func.base):
            return False
        name = call.func.name
        return all([self._never_waits(owner, name) for owner in self.evaluate(call.func.base, state)])

    def _never_waits(self, owner: Value, method: str) -> bool:
        kinds = self._kinds(owner, method)
        rows = [(kind, self.knowledge.does(f"{kind}.{method}", "at-once")) for kind in kinds]
        return any(
            row is not None and (not row.keyword or self._is_unbounded(owner, row.keyword, kind)) for kind, row in rows
        )

    def _kinds(self, value: Value, method: str) -> list[str]:
        """The library's types that a value is of, itself or by its class if that has no coroutine of the same name."""
        match self.types.of(value):
            case LibraryType(name=name):
                return [name]
            case ClassType(type=type_id):
                own = self.symbols.method(type_id, method)
                if own is None or not self.symbols.functions[own][1].is_async:
                    return [a.name for a in self.symbols.ancestors(type_id) if isinstance(a, Builtin)]
        return []

    def _is_unbounded(self, queue: Value, keyword: str, kind: str) -> bool:
        """Whether nothing is said of the size of a queue where it is made: what a field keeps, or any of its kind."""
        owner = self.types.class_of(queue.base) if isinstance(queue, Field) else None
        declared = self.symbols.field(owner, queue.name) if owner and isinstance(queue, Field) else None
        if declared is None:
            return isinstance(self.types.of(queue), LibraryType) and not self._is_some_sized(kind)
        module = declared[0].partition(":")[0]
        made = [assigned.value for assigned in declared[1].values if isinstance(assigned.value, Call)]
        sized = [call for call in made if call.args or any(name == keyword for name, _ in call.keywords)]
        return not any(isinstance(self.symbols.static(module, call.func), Builtin) for call in sized)

    def _is_some_sized(self, kind: str) -> bool:
        """Whether some object of a library's class is made with arguments, anywhere in the program."""
        calls = self.symbols.called(kind.rpartition(".")[2])
        return any(self.symbols.meant(function_id, call.func) == Builtin(kind) for function_id, call in calls)

    def _await(self, values: Values, span: Span, state: State) -> Values:
        """Awaiting a coroutine runs it here; awaiting anything else gives something unknown, later."""
        results: list[Values] = []
        suspends = False
        for value in values:
            if isinstance(value, Partial):
                results.append(self.run_coroutine(value, span, state))
            else:  # `with (yield from lock)` is how locks were held before there was `async with`
                same = isinstance(value, Result | Cached) or self.lock_kind(value) == "async"
                results.append((value,) if same else NOTHING_KNOWN)
                known = self.types.of(value)
                if isinstance(known, LibraryType):
                    self.use_state(value, known.name, AWAITED, span, state)
                state.joined |= TASKS if self.is_own_task(value) else 0
            suspends = suspends or not isinstance(value, Partial) or self.coroutine_suspends(value)
        if suspends:
            self.effects.awaited.setdefault(span, set()).update([c for value in values for c in self.waits_for(value)])
            self.suspend(span, state)
        return unite(results)

    def _yield(self, expr: Yield, state: State) -> Values:
        values = self.evaluate(expr.value, state)
        if self.is_coroutine():
            return self._await(values, expr.span, state)
        held = tuple([h.lock for h in surely_held(state.held)])
        known = self.summary.yields_held
        self.summary.yields_held = held if known is None else tuple([lock for lock in known if lock in held])
        walked = [container for frame in self.frames for container, _ in frame.iterated]
        live = [container for container in walked if self.is_in_its_place(container, state)]
        self.summary.rounds |= any([container in frame.watched for container in live for frame in self.frames])
        if expr.delegated:
            live += [container for value in values for container in containers(value)]
        self.summary.streams = tuple(dict.fromkeys((*self.summary.streams, *live)))
        site = self.site(expr.span, state)
        elements = unite([self.element_of(value, site) for value in values]) if expr.delegated else values
        self.summary.yields = unite([self.summary.yields, elements]) if self.summary.yields else elements
        return NOTHING_KNOWN


def _is_local(expr: Expr) -> bool:
    return isinstance(expr, Name) and expr.scope == "local"


def _asks_if_there(operator: str, operands: tuple[Expr, ...]) -> bool:
    """Whether an expression asks only whether there is something: `return self._job is not None`."""
    return operator in ("is", "is not") and Const(None) in operands and all(is_path(operand) for operand in operands)


def _ordered(order: Callable[[int, int], bool], left: Values, right: Values) -> Values:
    """What a comparison gives, where nothing but numbers can stand on both sides: `ports_left() > 0` of a stub."""
    sides = [[v.value for v in side if isinstance(v, Literal) and isinstance(v.value, int)] for side in (left, right)]
    if len(sides[0]) < len(left) or len(sides[1]) < len(right):
        return NOTHING_KNOWN
    outcomes = {order(one, two) for one in sides[0] for two in sides[1]}
    return tuple([Literal(outcome, "bool") for outcome in sorted(outcomes)]) or NOTHING_KNOWN


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
