"""Branches: what a test says about the values it looks at, and which ways it cannot go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from racelint.analysis import counting, meanwhile
from racelint.analysis.asking import Asking
from racelint.analysis.existence import drop_missing
from racelint.analysis.failing import NOTHING, Variable
from racelint.analysis.paths import root, uncopied, unite
from racelint.analysis.settling import note_wanting
from racelint.analysis.singling import picked_out
from racelint.analysis.starting import sounds_like_thread
from racelint.analysis.state import (
    ANSWERED,
    CLOSED,
    ENDED,
    FLAGS,
    IDENTIFYING,
    MAYBE_HELD,
    NOBODY,
    POOLS,
    TAKE,
    THREADS,
    UNOPEN,
    Assumptions,
    Check,
    Held,
    Invoke,
    Predicate,
    Read,
    Resize,
    State,
)
from racelint.analysis.type_names import ClassType, LibraryType, TypeOf
from racelint.analysis.vacancy import measured, note_vacant, note_vacant_unless
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Result,
    Tuple,
    TypeValue,
    Unknown,
    Value,
    Values,
    View,
)
from racelint.model import (
    Attr,
    Await,
    Bind,
    Block,
    Branch,
    Call,
    Cast,
    Const,
    Expr,
    Item,
    Jump,
    Logic,
    Name,
    Op,
    Scalar,
)
from racelint.record import records
from racelint.span import Span

NOWHERE = Span(1, 1, 1, 1)
# Builtin types of which none is another's, but for bool; in Python 2 bytes are str.
BUILTINS = frozenset({"None", "bool", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
ALIVE = frozenset({"is_alive", "isAlive"})  # methods that tell whether a thread is still running
NEGATED = {"is not": "is", "!=": "==", "not in": "in"}
TYPE_TEST = 2  # arguments of `isinstance(x, C)`


class Conditions(Asking):
    """The branch hook of the interpreter."""

    def meet(self, stmt: Branch, first: State | None, second: State | None) -> State | None:
        """After `if lock != nil { lock.Lock() }` the lock is held: without one nobody else has the object.

        The same goes for a lock in what was asked for: `if queue != nil { queue.Lock() }`.

        So it is after `if needsLock { mu.Lock() }` if all callers say outright what they need: who says no has it.
        After any other branch that takes a lock it is open whether that is held.
        After `if self.thread is not None: self.thread.join()` it has ended: without one there is none to wait for; nor
        is there after `if jobs != nil { close(jobs); <-done }`.
        `if not isinstance(x, C): raise TypeError` says what callers have to give, not that others give something else.
        """
        if second is not None and first is None and _refuses(stmt.then):
            self._forget_classes(stmt.test, second)
        elif first is not None and second is None and _refuses(stmt.orelse):
            self._forget_classes(stmt.test, first)
        both = first is not None and second is not None
        optional = self._optional_locks(stmt, first) if both and first is not None else ()
        taken = _taken_in(stmt.span, first, second) if both and first is not None and second is not None else ()
        told = first.told[0] if first is not None and second is not None and self._asks_if_there(stmt) else frozenset()
        ended = first.joined if both and first is not None and self._asks_for_thread(stmt, first) else 0
        joined = super().meet(stmt, first, second)
        if joined is not None:
            joined.joined |= ended
            joined.told = joined.told[0] | told, joined.told[1]
        if joined is not None and optional:
            joined.held = (*joined.held, *[held for held in optional if held not in joined.held])
        if joined is not None and taken:
            known = {held.lock for held in joined.held}
            joined.held = (*joined.held, *[held for held in taken if held.lock not in known])
        return joined

    def leave_by(self, stmt: Branch, left: list[State]) -> None:
        """Who returns since there is nothing has nobody to wait for: `if s == nil { return }; s.group.Wait()`.

        Another object may stand for none: `if s == closed { return }`.
        """
        if not left or stmt.orelse or self.traits.atomic_steps or len(stmt.then) != 1:
            return
        match stmt.test:
            case Op(operator="is", operands=(Name() | Attr() as tested, Const(value=None))):
                there = True
            case Op(operator="==", operands=(Name() | Attr() as tested, Name(scope=scope))) if scope != "local":
                there = False
            case _:
                return
        outer, self.testing = self.testing, True
        values = self.evaluate(tested, left[0].copy())
        self.testing = outer
        if any([self.types.class_of(v) is not None or (there and isinstance(v, Field)) for v in values]):
            for state in left:
                state.tell(NOBODY, (NONE,))

    def _asks_if_there(self, stmt: Branch) -> bool:
        """Whether a branch without another arm asks only whether there is something."""
        match stmt.test:
            case Op(operator="is not", operands=(_, Const(value=None))):
                return not stmt.orelse and not self.traits.atomic_steps
            case _:
                return False

    def _asks_for_thread(self, stmt: Branch, taken: State) -> bool:
        """Whether a test asks only whether there is a thread, or a pool, which is waited for if so."""
        match stmt.test:
            case Op(operator="is not", operands=(tested, Const(value=None))) | (Attr() | Name() as tested):
                if stmt.orelse or not taken.joined & (THREADS | POOLS) or not self.traits.atomic_steps:
                    return False
                outer, self.testing = self.testing, True
                of = tested.base if isinstance(tested, Attr) else tested
                found = self.evaluate(of, taken.copy())
                self.testing = outer
                if isinstance(tested, Attr):  # which may have been emptied since
                    found = tuple([Field(value, tested.name) for value in found])
                return bool(found) and all(
                    [self.is_thread(v) or sounds_like_thread(v) or self._is_pool(v) for v in found]
                )
            case _:
                return False

    def _is_pool(self, value: Value) -> bool:
        found = self.types.of(value)
        return isinstance(found, LibraryType) and self.knowledge.concurrency.start(f"{found.name}.submit") is not None

    def _optional_locks(self, stmt: Branch, taken: State) -> tuple[Held, ...]:
        """The locks that a branch has taken because they are there, or because the caller has said so."""
        if stmt.orelse or not taken.held:
            return ()
        match stmt.test:
            case Op(operator="is not", operands=(tested, Const(value=None))) if not self.traits.atomic_steps:
                found = self._tested(tested, taken)
                return tuple([held for held in taken.held if _is_of(held.lock, found)])
            case Name() | Op(operator="not", operands=(Name(),)):
                here = [held for held in taken.held if stmt.span.holds(held.taken) and held.kind not in FLAGS]
                name = stmt.test if isinstance(stmt.test, Name) else stmt.test.operands[0]
                return tuple(here) if here and all(map(self._is_said, self._tested(name, taken))) else ()
            case _:
                return ()

    def _tested(self, tested: Expr, taken: State) -> Values:
        """The values of an expression that a test has looked at."""
        outer, self.testing = self.testing, True
        found = self.evaluate(tested, taken.copy())
        self.testing = outer
        return found

    def _is_said(self, value: Value) -> bool:
        """Whether a value is what all callers say by a constant, of this function or of one around it."""
        if isinstance(value, Captured):
            names = [parameter.name for parameter in self.symbols.functions[value.function][1].parameters]
            value = Param(value.function, names.index(value.name)) if value.name in names else value
        return isinstance(value, Param) and not self.symbols.is_instance(value) and self.types.is_always_constant(value)

    def branch(self, test: Expr, state: State) -> tuple[State | None, State | None]:
        """Evaluate a test: the states in which it is true and in which it is false."""
        if self.testing:
            return self._ended_by(test, state)
        outer, reads = state.reads, list[Read]()
        self.effects.caught = self.guarded > 0
        state.reads, self.testing = reads, True
        yes, no = self._ended_by(test, state)
        self.testing = False
        reads += self._direct(test, state)
        if _asks_process(test):  # in a child process, after a fork, only this thread is there
            for after in (yes, no):
                if after is not None and (after is yes) == (isinstance(test, Op) and test.operator == "!="):
                    after.joined |= THREADS
                    after.wait()
        for outcome, after in ((True, yes), (False, no)):
            if after is not None:
                after.reads = outer
                for read in reads:
                    after.checks[read.path] = Check(read, outcome)
        return yes, no

    def _ended_by(self, test: Expr, state: State) -> tuple[State | None, State | None]:
        """Where a counter of what was started is at zero, all of it has ended; a flag may say so, too."""
        refuted = {outcome: self.ended_by(meanwhile.refuted(test, state, outcome=outcome)) for outcome in (True, False)}
        yes, no = self._branch_on(test, state)
        self._note_measured(test, yes, no)
        for outcome, after in ((True, yes), (False, no)):
            if after is not None and refuted[outcome]:
                after.end(refuted[outcome])
            if after is not None and after.running and (counter := counting.run_out(test, outcome=outcome)):
                self.run_out(counter, after)
            if after is not None:
                self.last_out(test, after, outcome=outcome)
                self.first_in(test, after, outcome=outcome)
        return yes, no

    def _note_measured(self, test: Expr, yes: State | None, no: State | None) -> None:
        """`if len(xs) == 0`, or what else says that there is nothing in a container."""
        asked = measured(test)
        after = None if asked is None else yes if asked[1] else no
        if asked is not None and after is not None and is_slot(asked[0]):
            note_vacant(self._tested(asked[0], after), after)

    def ended_by(self, refuted: Iterable[tuple[Span, Variable]]) -> list[Span]:
        """What has ended where a variable says so, if nobody but this function stores to that."""
        cells, others = self.function.cells, self.function.bindings
        names = [(span, v.name if isinstance(v, Captured) else v, isinstance(v, Captured)) for span, v in refuted]
        return [
            span for span, name, shared in names
            if name not in self.pointed and f"{name}()" not in others and shared == (name in cells)
        ]  # fmt: skip

    def find_something(self, base: Expr, owners: Values, state: State) -> None:
        """A field of what a variable holds is stored: nothing has no fields, so that it holds something."""
        made = len(owners) == 1 and not self.traits.duck_typed and type(owners[0]) is Result
        if made and isinstance(base, Name) and base.scope == "local":
            state.assumptions.setdefault(Predicate(owners[0], "none"), False)

    def _direct(self, test: Expr, state: State) -> list[Read]:
        """The reads behind a variable that is itself what is tested: `x`, `not x`, `x is None`, `key in x`.

        What is in a container is looked at here, wherever the variable got the container from.
        """
        match test:
            case Name(name=name, scope="local", span=span):
                reads = list(state.sources.get(name, ()))
                if reads and (reads[0].path,) == state.variables.get(name) and self.types.container(reads[0].path):
                    reads[0] = reads[0]._replace(span=span, held=state.held, suspended=False)
                return reads
            case Bind(target=target):
                return self._direct(target, state)
            case Op(operator="not" | "is" | "is not" | "==" | "!=", operands=(first, *_)):
                return self._direct(first, state)
            case Op(operator="in" | "not in", operands=(_, container)):
                return self._direct(container, state)
            case Logic(operands=operands):
                return [read for operand in operands for read in self._direct(operand, state)]
            case _:
                return []

    def _branch_on(self, test: Expr, state: State) -> tuple[State | None, State | None]:
        match test:
            case Op(operator="not", operands=(operand,)):
                yes, no = self.branch(operand, state)
                return no, yes
            case Logic(operator=operator, operands=operands):
                return self._logic(operator, operands, state)
            case Op(operator="in" | "not in", operands=(key, container)):
                yes, no = self._membership(key, container, state)
                return (no, yes) if test.operator == "not in" else (yes, no)
            case Op(operator="is" | "is not" | "==" | "!=" as operator, operands=(left, Const(value=scalar))):
                yes, no = self._compare(left, scalar, state)
                self.ask_flag(left, *((yes, no) if scalar else (no, yes)), Const(scalar))
                if yes is not None and no is not None and type(scalar) is int:
                    self.ask_level((left,), ((Literal(scalar, "int"),),), yes, no)
                if isinstance(scalar, int | str) and not isinstance(scalar, bool) and not self.traits.duck_typed:
                    self._exclude(self.evaluate(left, state.copy()), (Literal(scalar, type(scalar).__name__),), no)
                if scalar == "" and yes is not None:
                    self._note_new(left, yes)
                if yes is not None and scalar is not None:  # the loop is at the entry of that key
                    keys = [v for v in self.evaluate(left, state.copy()) if isinstance(v, Member)]
                    yes.present |= {(v.base, Literal(scalar, type(scalar).__name__)) for v in keys}
                named = is_path(left) and isinstance(left, Attr) and left.name.lower() in IDENTIFYING
                if yes is not None and scalar is not None and named:  # the one of that name
                    yes.singled |= {v.base for v in self.evaluate(left, state.copy()) if isinstance(v, Field)}
                return (no, yes) if operator in NEGATED else (yes, no)
            case Op(operator="==" | "!=" | "is" | "is not" as operator, operands=operands):
                sides = [self.evaluate(operand, state) for operand in operands]
                compared = [v for values in sides for v in values]
                if not self.traits.duck_typed:
                    other = state.copy()
                    self._pick_out(operands, sides, state)
                    self.ask_flag(operands[0], state, other, operands[-1])
                    self.ask_level(operands, sides, state, other)
                    yes, no = self._compare_variables(operands, compared, state, other)
                    self._exclude(sides[0], sides[-1], no)
                    self._note_equal(sides, yes, no)
                    self._ask_cause(test, yes, no)
                    return (no, yes) if operator in NEGATED else (yes, no)
                shown = [call.func.base for call in operands if isinstance(call, Call) and isinstance(call.func, Attr)]
                by_identity = operator in ("is", "is not")  # `x.owner is y`: many may have one owner
                if not by_identity:  # `x.lower() == y` picks out x
                    compared += [v for base in shown if is_path(base) for v in self.evaluate(base, state)]
                other = state.copy()
                self._note_equal(sides, state, other)
                if by_identity:
                    _tell_apart(operands, sides, other)
                kinds = Element | Member if by_identity else Field | Element | Member
                state.singled |= {v for v in compared if isinstance(v, kinds)}
                if any([_is_of_object(v) for v in compared]):
                    state.singled |= {v for v in compared if isinstance(v, Param)}
                return (other, state) if operator in NEGATED else (state, other)
            case Call(func=Name() as asked, args=(tested, types)) if is_slot(tested) and self._asks_type(asked, state):
                if isinstance(tested, Name) and tested.scope == "local":
                    yes, no = self._type_test(test, tested.name, self.evaluate(types, state), state)
                else:
                    yes, no = self._split(test, self.evaluate(test, state), "truth", None, state)
                if yes is not None and is_path(tested):
                    self._classify(tested, types, yes)
                if no is not None:
                    note_wanting(self.evaluate(tested, no), "type", no)
                return yes, no
            case Op(operator="match", operands=(subject, *kinds)):
                values = self.use(subject, state)
                other = state.copy()
                self._note_types(values, kinds, state)
                return state, other
            case Call(func=Attr(name=name)) if name in self.knowledge.concurrency.takes:
                yes, no = self._split(test, self.evaluate(test, state), "truth", None, state)
                if no is not None:  # `if not lock.acquire(blocking=False): return`
                    no.held = tuple([held for held in no.held if not test.span.holds(held.taken)])
                return yes, no
            case _:
                values = self.evaluate(test, state)
                yes, no = self.known_by(test, values, state)
                self._ask_cause(test, yes, no)
                if no is not None and self._asks_thread(test, no):  # `while thread.is_alive(): ...`
                    no.joined |= THREADS
                    no.wait()
                if yes is not None:
                    self._looked_up(test, yes)
                    self._compared_by_call(test, yes)
                    _drop_denied(test, "False", yes)
                if no is not None:
                    _drop_denied(test, "True", no)
                return yes, no

    def _ask_cause(self, test: Expr, yes: State | None, no: State | None) -> None:
        """Where a context has ended, and not by time, it has been ended by the function for that."""
        cause = self.cancelling.cause(self.id, test) if not self.traits.duck_typed else None
        if cause is None:
            return
        context, by_time = cause
        after = no if by_time else yes
        if after is not None and (not by_time or (ENDED, context) in after.told[0]):
            self.tell(TAKE, (context,), getattr(test, "span", NOWHERE), after)

    def _asks_thread(self, test: Expr, state: State) -> bool:
        """Whether a thread is asked whether it is still running."""
        match test:
            case Call(func=Attr(base=Name() | Attr() as thread, name=name), args=()) if name in ALIVE:
                return any([self.is_thread(value) for value in self.evaluate(thread, state)])
            case _:
                return False

    def _note_new(self, empty: Expr, state: State) -> None:
        """What has no version yet comes out of no cache: `if obj.ResourceVersion == "" { create(obj) }`."""
        while isinstance(empty, Cast):
            empty = empty.value
        asked = empty.func if isinstance(empty, Call) else empty
        if not isinstance(asked, Attr) or asked.name not in self.knowledge.sharing.given:
            return
        base = asked.base
        while isinstance(base, Attr) and base.name in self.knowledge.sharing.inline:
            base = base.base
        if isinstance(base, Name) and base.scope == "local":
            found = state.variables.get(base.name, ())
            made = tuple([value for value in found if not isinstance(root(value), Cached)])
            if made != found:
                state.variables[base.name] = made or NOTHING_KNOWN

    def _asks_type(self, asked: Name, state: State) -> bool:
        """Whether a name stands for a function that tests what type its argument is of."""
        found = self.evaluate(asked, state) if asked.scope == "global" else ()
        return any([isinstance(v, Builtin) and self.knowledge.does(v.name, "type-test") is not None for v in found])

    def _type_test(self, test: Expr, name: str, types: Values, state: State) -> tuple[State, State]:
        """`isinstance(x, ...)`: what is neither a mapping nor a list, or is a scalar, has no parts to share."""
        values = state.variables.get(name, NOTHING_KNOWN)
        self.evaluate(test, state)
        other = state.copy()
        flat = [v for t in types for v in (unite(t.parts) if isinstance(t, Tuple) else (t,))]
        names = [v.name for v in flat if isinstance(v, Builtin)]
        kinds = [self._kind_of_type(n) for n in names]
        if kinds and len(names) == len(flat) and set(kinds) == {"immutable"}:
            state.variables[name] = tuple(dict.fromkeys([v if _is_at_hand(v) else UNKNOWN for v in values]))
        if len(values) == 1 and type(values[0]) is not Unknown:
            if names and len(names) == len(flat):
                asked = Predicate(values[0], "builtin", frozenset(names))
                state.assumptions[asked], other.assumptions[asked] = True, False
            for kind in kinds:
                other.assumptions[Predicate(values[0], "kind", kind)] = False
            if all([other.assumptions.get(Predicate(values[0], "kind", k)) is False for k in ("mapping", "list")]):
                known = other.variables
                other.variables = {n: NOTHING_KNOWN if values[0] in found else found for n, found in known.items()}
        return state, other

    def _kind_of_type(self, name: str) -> str:
        container = self.knowledge.container(name)
        return container.kind if container is not None else ""

    def _logic(self, operator: str, operands: tuple[Expr, ...], state: State) -> tuple[State | None, State | None]:
        goes_on: State | None = state
        stopped: State | None = None
        singled, before, ways = state.singled, state.assumptions.copy(), list[Assumptions]()
        for operand in operands:
            if goes_on is None:
                break
            yes, no = self.branch(operand, goes_on)
            goes_on, leaves = (yes, no) if operator == "and" else (no, yes)
            ways += [leaves.assumptions] if leaves is not None else []
            stopped = self.join(stopped, leaves)
        if stopped is not None and len(ways) > 1:
            note_vacant_unless(ways, before, stopped)
        if operator == "or" and stopped is not None and not self.traits.duck_typed:
            stopped.singled &= singled  # one or the other: there may be two
            self._note_among(operands, stopped)
        return (goes_on, stopped) if operator == "and" else (stopped, goes_on)

    def _pick_out(self, operands: tuple[Expr, ...], sides: list[Values], state: State) -> None:
        """Two expressions have been found equal, which have some values: that may hold for one element of a loop's."""
        asked = [(*side, *self._of_getter(operand, state)) for side, operand in zip(sides, operands, strict=True)]
        state.singled |= picked_out(operands, asked, self.frames[-1] if self.frames else None)

    def _compared_by_call(self, test: Expr, state: State) -> None:
        """`strings.EqualFold(chart.Name, name)` is as good as `==`."""
        match test:
            case Call(func=Attr(name=name) as func, args=(left, right)) if name in self.knowledge.comparing:
                named = [v.name for v in self.evaluate(func, state.copy()) if isinstance(v, Builtin)]
                if not any([self.knowledge.does(each, "compares") is not None for each in named]):
                    return
                operands = (left, right)
                sides = [self.evaluate(each, state.copy()) if is_slot(each) else () for each in operands]
                constant = any(
                    [all([isinstance(v, Literal | Global | Builtin) for v in side]) for side in sides if side]
                )
                if not constant or any([isinstance(e, Attr) and e.name.lower() in IDENTIFYING for e in operands]):
                    self._pick_out(operands, sides, state)  # of a constant there may be many
            case _:
                pass

    def _of_getter(self, operand: Expr, state: State) -> Values:
        """What a method says that is given nothing, `chart.Name()`: it is as good as a field."""
        match operand:
            case Call(func=Attr(base=base, name=name), args=(), keywords=()) if is_slot(base):
                return tuple([Field(v, name) for v in self.evaluate(base, state.copy()) if v != UNKNOWN])
            case _:
                return ()

    def _membership(self, key: Expr, container: Expr, state: State) -> tuple[State | None, State | None]:
        keys, containers = self.evaluate(key, state), self.evaluate(container, state)
        absent = state.copy()
        for found in containers:
            self.note(found, "peek", getattr(container, "span", getattr(key, "span", NOWHERE)), state)
        if len(keys) == 1:
            pairs = {(where, keys[0]) for c in containers for where in (c, _keyed(c))}
            state.present, absent.absent = state.present | pairs, absent.absent | pairs
        state.singled |= {c for c in containers if isinstance(c, Element | Member)}  # `if x in element`
        return state, absent

    def _looked_up(self, test: Expr, state: State) -> None:
        """`if d.get(key)`: what was found is there."""
        match test:
            case Call(func=Attr(base=base, name="get"), args=(key,)) if is_path(base) and is_path(key):
                keys = self.evaluate(key, state)
                if len(keys) == 1:
                    state.present |= {(container, keys[0]) for container in self.evaluate(base, state)}
            case _:
                pass

    def _classify(self, subject: Expr, classes: Expr, state: State) -> None:
        """`isinstance(x, C)`: x is none of the things that it may be which are surely no C.

        Something of a caller's is remembered as an object of these classes, if they are the project's.
        """
        subjects, asked = self.evaluate(subject, state), _flat(self.evaluate(classes, state))
        possible = tuple([v for v in subjects if not all([self._is_no(v, kind) for kind in asked])])
        name = _variable(subject)
        if name and possible and possible != subjects:
            state.variables[name] = possible
        types = tuple([kind.type for kind in asked if isinstance(kind, TypeValue)])
        if len(possible) == 1 and len(types) == len(asked) and isinstance(root(possible[0]), Param):
            state.assumptions[Predicate(possible[0], "class", types)] = True

    def _forget_classes(self, test: Expr, state: State) -> None:
        """What a test has asked for its class counts as an object of any again."""
        asked = [node.args[0] for node in records(test) if isinstance(node, Call) and len(node.args) == TYPE_TEST]
        subjects = {value for subject in asked if is_path(subject) for value in self.evaluate(subject, state)}
        for predicate in [p for p in state.assumptions if p.test == "class" and p.value in subjects]:
            del state.assumptions[predicate]

    def _is_no(self, value: Value, asked: Value) -> bool:
        """Whether something made here is surely no object of a type: it is a container of another kind."""
        if not isinstance(value, Fresh | Copy) or not isinstance(asked, Builtin):
            return False
        mine, theirs = self.types.container(value), self.knowledge.container(asked.name)
        return mine is not None and theirs is not None and not _are_related(mine.kind, theirs.kind)

    def _compare(self, left: Expr, scalar: object, state: State) -> tuple[State | None, State | None]:
        values = self.evaluate(left, state)
        kind = "none" if scalar is None else "equal"
        return self._split(left, values, kind, None if scalar is None else scalar, state)

    def _compare_variables(
        self, operands: tuple[Expr, ...], values: list[Value], equal: State, different: State
    ) -> tuple[State | None, State | None]:
        """Two variables of a plain type are compared: as before, unless one of them has got another value since."""
        names = frozenset([_variable(operand) for operand in operands])
        plain = any([self.types.is_one_of(value, self.traits.scalars) for value in values])
        if (
            len(names) != 2
            or "" in names
            or not plain
            or any([n in self.function.cells or n in self.pointed for n in names])
        ):
            return equal, different
        known = equal.compared.get(names)
        equal.compared[names], different.compared[names] = True, False
        return (equal if known is not False else None), (different if known is not True else None)

    def _note_equal(self, sides: list[Values], equal: State | None, different: State | None) -> None:
        """Something that cannot change is compared with a constant that has a name: `if mode == ModeSync`."""
        for value, test, scalar in self._compared(sides):
            for outcome, after in ((True, equal), (False, different)):
                if after is not None:
                    after.assumptions[Predicate(value, test, scalar)] = outcome

    def _note_among(self, operands: tuple[Expr, ...], found: State) -> None:
        """Something that cannot change is one of some constants: `case Pod, Node:`."""
        compared = [
            pair
            for operand in operands
            if isinstance(operand, Op) and operand.operator == "==" and len(operand.operands) == 2
            for pair in self._compared([self._tested(side, found) for side in operand.operands])
        ]
        if len(compared) == len(operands) and len({(value, test) for value, test, _ in compared}) == 1:
            value, test, _ = compared[0]
            found.assumptions[Predicate(value, test, frozenset([scalar for *_, scalar in compared]))] = True

    def _compared(self, sides: list[Values]) -> Iterator[tuple[Value, str, Scalar]]:
        """What cannot change among two sides of a comparison, and the constant, or its name, on the other side."""
        for mine, theirs in zip(sides, reversed(sides), strict=True):
            if len(theirs) != 1 or len(mine) != 1 or not _is_fixed(mine[0]):
                continue
            if (constant := self.symbols.constant(theirs[0])) is not None:
                yield mine[0], "equal", constant.value
            elif (named := self.symbols.named(theirs[0])) is not None:
                yield mine[0], "named", named.value

    def _note_types(self, values: Values, kinds: list[Expr], state: State) -> None:
        """A parameter is of one of some types, of which none is an interface: `switch m := message.(type)`."""
        written = [kind.type for kind in kinds if isinstance(kind, Cast)]
        found = [self.types.annotations.declared(self.id, reference) for reference in written]
        types = [name for each in found if (name := self._concrete(each))]
        if len(values) == 1 and isinstance(values[0], Param) and found and len(types) == len(kinds):
            state.assumptions[Predicate(values[0], "type", frozenset(types))] = True

    def _concrete(self, found: TypeOf | None) -> str:
        """The name of a type that is surely no interface: of the program, or behind a pointer; "" for others."""
        match found:
            case ClassType(type=type_id) if not self.symbols.types[type_id][1].is_interface:
                return type_id
            case LibraryType(name=name, pointer=True):
                return name
            case _:
                return ""

    @staticmethod
    def _exclude(values: Values, constants: Values, unequal: State | None) -> None:
        """A field or variable is not a constant: who stores that there now, under a lock that he has, is the first."""
        if unequal is None or not len(values) == len(constants) == 1:
            return
        if isinstance(constants[0], Global | Literal) and isinstance(values[0], Field | Global | Captured):
            unequal.excluded |= {(values[0], constants[0])}

    def known_by(self, test: Expr, values: Values, state: State) -> tuple[State | None, State | None]:
        """The states in which an expression, which has these values, is true and in which it is false."""
        yes, no = self._split(test, values, "truth", None, state)
        self.ask_flag(test, yes, no)
        self.ask_bounds(test, yes, no)
        return yes, no

    def _split(
        self, expr: Expr, values: Values, kind: str, scalar: object, state: State
    ) -> tuple[State | None, State | None]:
        name = _variable(expr)
        other = state.copy()
        yes = self._assume(state, name, values, kind, scalar, outcome=True)
        no = self._assume(other, name, values, kind, scalar, outcome=False)
        return (state if yes else None), (other if no else None)

    def _assume(self, state: State, name: str, values: Values, kind: str, scalar: object, *, outcome: bool) -> bool:
        """Add what a test's outcome says to the state; False if it cannot have this outcome."""
        possible = tuple([v for v in values if holds(Predicate(v, kind, scalar), state) is not (not outcome)])
        if not possible:
            return False
        if kind == "none" and outcome:
            state.end(self.ends.ended(possible))
        if kind == "truth" or (kind == "none" and outcome):
            for operation, path in self.ends.done(possible, outcome if kind == "truth" else None):
                state.tell(operation, (path,))
        if name and name not in self.function.cells and outcome is (kind == "truth") and kind in ("truth", "none"):
            state.compared[frozenset([name, NOTHING])] = False
        if kind == "truth" and outcome:
            reads = state.sources.get(name, ()) if name else ()
            self.find_set(possible, reads[0].held if len(reads) == 1 else () if name else state.held, state)
        if kind == "truth" and not outcome and self.traits.duck_typed:
            note_vacant(possible, state)
        if kind == "truth" and not outcome:
            drop_missing(possible, state)
            for channels in [self.received.get(flag.site.span, ()) for flag in possible if type(flag) is Result]:
                self.tell_of(CLOSED, channels, self.function.span, state)  # `v, ok := <-c; if !ok { ... }`
        if name:
            if possible != values and state.variables.get(name) == values:
                state.variables[name] = possible
            _drop_contradicted(state, name, kind, scalar, outcome=outcome)
        found = {(v.base, v.key) for v in possible if isinstance(v, Element)}
        put = {held for v in possible if isinstance(v, Element) for held in state.heap.get(v, ())}  # there, since then
        others = [v for v in possible if not isinstance(v, Element | Fresh) and v not in put]
        if not others and kind in ("truth", "none") and outcome is (kind == "truth"):
            state.present |= found  # what `d.get(key)` has given is there
        if self.traits.duck_typed and found and kind in ("truth", "none") and outcome is (kind == "none"):
            note_wanting(possible, kind, state)
        if len(values) == 1 and _is_fixed(values[0]):
            state.assumptions[Predicate(values[0], kind, scalar)] = outcome
        return True


def _is_at_hand(value: Value) -> bool:
    """Whether a value is the element at which a loop stands: what is known of it holds for a scalar, too."""
    return isinstance(value, Member) or (isinstance(value, Element) and isinstance(value.key, Member))


def _flat(values: Values) -> list[Value]:
    """The alternatives, with those in tuples."""
    parts = [_flat(unite(value.parts)) if isinstance(value, Tuple) and value.parts else [value] for value in values]
    return [value for part in parts for value in part]


def _are_related(first: str, second: str) -> bool:
    """Whether an object can be a container of both kinds: mappings are of several."""
    return first == second or (first.endswith("mapping") and second.endswith("mapping"))


def _asks_process(test: Expr) -> bool:
    """Whether a test compares the process's number with one that was noted before."""
    if not isinstance(test, Op) or test.operator not in ("==", "!="):
        return False
    calls = [operand.func for operand in test.operands if isinstance(operand, Call)]
    return any(isinstance(func, Attr | Name) and func.name == "getpid" for func in calls)


def holds(predicate: Predicate, state: State) -> bool | None:
    """Whether a predicate holds in a state; None if that is unknown."""
    match predicate.value:
        case Builtin(name=name) if predicate.test == "named":
            return name in predicate.scalar if isinstance(predicate.scalar, frozenset) else name == predicate.scalar
        case value if predicate.test == "builtin" and (name := _builtin_of(value)):
            assert isinstance(predicate.scalar, frozenset)
            return _is_among(name, predicate.scalar)
        case _ if predicate.test in ("kind", "type", "named", "builtin"):
            return state.assumptions.get(predicate)
        case Literal() as literal:
            return satisfies(literal, predicate)
        case FunctionValue() | TypeValue():
            return predicate.test == "truth"
        case Fresh():
            return False if predicate.test == "none" else None
        case _ if not state.assumptions:
            return None
        case _:
            known = state.assumptions.get(predicate)
            if known is None and predicate.test == "none" and state.assumptions.get(predicate._replace(test="truth")):
                return False
            if known is None and predicate.test == "truth" and state.assumptions.get(predicate._replace(test="none")):
                return False
            return known


def _builtin_of(value: Value) -> str:
    """Of which builtin type a constant or what a display makes is; "" if it is neither, or of another type."""
    match value:
        case Tuple():
            return "tuple"
        case Literal(type=name) | Fresh(type=name) if name in BUILTINS:
            return name
        case _:
            return ""


def _is_among(name: str, types: Set[str]) -> bool | None:
    """Whether `isinstance()` says of an object of a builtin type that it is of one of some; None if that is unknown."""
    if name in types or (name == "bool" and "int" in types):
        return True
    return False if types <= BUILTINS else None


def satisfies(literal: Literal, predicate: Predicate) -> bool:
    """Whether a constant has a property."""
    if predicate.test == "truth":
        return bool(literal.value)
    if isinstance(predicate.scalar, frozenset):
        return literal.value in predicate.scalar
    return literal.value is None if predicate.test == "none" else literal.value == predicate.scalar


def _drop_contradicted(state: State, name: str, kind: str, scalar: object, *, outcome: bool) -> None:
    """Events whose flag variable had a constant that the test rules out did not happen on this way."""
    for event, flags in list(state.pending.items()):
        for flag, value in flags:
            if flag == name and holds(Predicate(value, kind, scalar), state) is (not outcome):
                del state.pending[event]
                break


def _answered(expr: Expr, state: State) -> list[Resize]:
    """The changes of which the call that an expression is says by its result whether it has made them."""
    call = expr.value if isinstance(expr, Await) else expr
    if not isinstance(call, Call) or not state.pending:
        return []
    changes = [e for e in state.pending if isinstance(e, Resize) and e.answer and e.calls]
    return [e for e in changes if e.calls[0].span == call.span]


def _drop_denied(test: Expr, answer: str, state: State) -> None:
    """The callee has not made a change after which it would have given this answer; here it gave the other one."""
    for event in _answered(test, state):
        if event.answer == answer:
            del state.pending[event]
    given = Literal(answer == "False", "bool")
    for invoke in [e for e in state.pending if isinstance(e, Invoke) and not e.calls and _is_call_at(test, e.span)]:
        state.pending[invoke] |= {(ANSWERED, given)}


def _is_call_at(test: Expr, span: Span) -> bool:
    """Whether a test is the call at a spot, or waits for it."""
    call = test.value if isinstance(test, Await) else test
    return isinstance(call, Call) and call.span == span


def note_answer(name: str, value: Expr, state: State) -> None:
    """`done = self.helper()`: the variable has a constant value if the callee has made a change."""
    for event in _answered(value, state):
        state.pending[event] |= {(name, Literal(event.answer == "True", "bool"))}


def is_path(expr: Expr) -> bool:
    """Whether evaluating an expression once more does nothing but read."""
    match expr:
        case Name() | Const():
            return True
        case Attr(base=base):
            return is_path(base)
        case _:
            return False


def is_slot(expr: Expr) -> bool:
    """Whether an expression names a variable, an attribute or an entry."""
    return is_path(expr.base) and is_path(expr.key) if isinstance(expr, Item) else is_path(expr)


def _variable(expr: Expr) -> str:
    match expr:
        case Name(name=name, scope="local"):
            return name
        case Bind(target=Name(name=name, scope="local")):
            return name
        case _:
            return ""


def _tell_apart(operands: tuple[Expr, ...], sides: list[Values], state: State) -> None:
    """A variable is not what it was compared with by `is`: `if found is MISSING: found = {}`."""
    for operand, mine, theirs in zip(operands, sides, reversed(sides), strict=True):
        name = _variable(operand)
        if name and len(theirs) == 1 and isinstance(theirs[0], Global) and theirs[0] in mine:
            state.variables[name] = tuple([value for value in mine if value != theirs[0]]) or NOTHING_KNOWN


def _is_fixed(value: Value) -> bool:
    """Whether a value cannot change under the function: what an attribute holds can."""
    return isinstance(value, Param | Captured | Result | Member)


def _refuses(body: Block) -> bool:
    """Whether a block ends with an exception."""
    return bool(body) and isinstance(body[-1], Jump) and body[-1].kind == "raise"


def _keyed(value: Value) -> Value:
    """The mapping whose keys a value has: `list(d.keys())`."""
    keys = uncopied(value)
    return uncopied(keys.base) if isinstance(keys, View) and keys.kind == "keys" else value


def _is_of_object(value: Value) -> bool:
    """Whether a value is an attribute of an object at hand: no constant, and nothing out of a container."""
    path = value
    while isinstance(path, Field):
        path = path.base
    return path is not value and isinstance(path, Param | Captured)


def _is_of(lock: Value, objects: Values) -> bool:
    """Whether a lock is one of some objects, or lies in one of them."""
    while lock not in objects:
        if not isinstance(lock, Field):
            return False
        lock = lock.base
    return True


def _taken_in(branch: Span, first: State, second: State) -> tuple[Held, ...]:
    """The locks that one arm of a branch takes and keeps; a flag is a fact, and what has no name may be anything."""
    found = [
        held for held in (*first.held, *second.held)
        if branch.holds(held.taken) and held.kind not in UNOPEN and type(held.lock) is not Unknown
    ]  # fmt: skip
    return tuple([held._replace(kind=MAYBE_HELD) for held in found])
