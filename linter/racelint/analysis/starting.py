"""What a call makes run elsewhere or later, and what it waits for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set

from racelint.analysis.body import MOST_EVENTS, Keywords, visible
from racelint.analysis.branching import awaited_in_turn, awaits_at, ends_in_turn, loops_around, waits
from racelint.analysis.effects import OF_OBJECT, Start
from racelint.analysis.paths import root, union
from racelint.analysis.state import DONE, GIVEN, LOCAL, POOLS, SET, STOPPED, TAKE, THREADS, WAIT, Held, State
from racelint.analysis.tallies import Tallies
from racelint.analysis.types import ClassType, LibraryType
from racelint.analysis.values import (
    UNKNOWN,
    Builtin,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Literal,
    Member,
    Param,
    Partial,
    Result,
    Tuple,
    TypeValue,
    Value,
    Values,
)
from racelint.analysis.workers import has_one_worker
from racelint.knowledge import StartRow
from racelint.model import Attr, Await, Call, Const, Expr, Make, Name, Yield
from racelint.span import Span

OPENS = {
    "connect", "open", "open_connection", "create_connection", "get_connection", "make_connection", "new_connection",
    "socket", "Popen", "create_subprocess_exec", "create_server", "start_server", "spawn", "create_pool",
    "create_session", "acquire", "listen", "fork",
}  # fmt: skip
RESOURCES = (
    "Connection",
    "Session",
    "Pool",
    "Server",
    "Socket",
    "Executor",
    "Process",
    "Thread",
    "Channel",
    "Transport",
)
PRINTS = re.compile("(?i)print|info|warn|err|debug|fatal|log|panic|trace|marshal|equal")  # what only looks at objects
GOROUTINE = "goroutine"
HANDED_ON = frozenset({GOROUTINE, "thread"})  # what a helper starts with a function that it was given
LEADING = "leading"  # a goroutine that is started when this process becomes the leader
COMMAND = "command"  # the kind of what a command line runs: the program itself, on its first thread
PREPARING = "preparing"  # ... and of what it runs there before any command
RUNS = "start"  # the method that makes a thread object run
GIVEN_LOCK = re.compile(r"^(un)?lock$|(Unl|L)ock$")
WAITS = "join"
NO = Literal(False, "bool")


class Starting(Tallies):
    """Applies the knowledge of what starts callables."""

    opening = False  # the value at hand comes from a call that opens something
    updating = ""  # of the assignment at hand, if it is `x += ...`: "step" by what is at hand, else "computed"

    def _share_captured(self, callee: Value, state: State) -> None:
        """A closure that is started knows the project's objects that variables of this function hold by then."""
        if not isinstance(callee, FunctionValue) or not callee.function.startswith(f"{self.id}."):
            return
        if not self.traits.duck_typed:
            return  # there, captured variables are places of their own
        for name in sorted(self.symbols.captured_by(callee.function)):
            held = tuple([v for v in state.variables.get(name, ()) if isinstance(v, Fresh) and self.types.class_of(v)])
            if held:
                self.effects.new_in[name] = union(self.effects.new_in.get(name, ()), held)
                self.effects.escaped.update(held)

    def start(
        self, callee: Value, kind: str, span: Span, state: State, *, many: bool = False, args: tuple[Values, ...] = (),
        alone: bool = False, queue: str = "", near: bool = False, again: bool = False,
        group: Value | None = None, through: tuple[str, Span] | None = None, covering: tuple[Held, ...] = (),
        ended: bool = False, during: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """A callable is made to run elsewhere or later; `alone` if never beside another one of its kind.

        `queue` names what runs this callable and others one after the other, `near` says that the thread that starts it
        is the one that runs it; `again` says that a library runs it there,
        once or again and again, `group` is what can be asked to wait until it has ended. `through` is the helper, and
        the spot there, that starts a function which calls this one; `covering` are locks that it holds until that has
        ended. `ended` says that it has when the call at hand returns. `during` are names of methods, while one of which
        it runs.
        """
        args = tuple([tuple([self.shared_locals.get(v, v) for v in values]) for values in args])
        self.loose.pop(callee, None)
        repeated = not all([frame.single for frame in self.frames])
        looped = repeated and not alone and (self.traits.atomic_steps or not self.leaving)
        looped = looped and not (kind == "thread" and ends_in_turn(self.function.body, span, WAITS))
        looped = looped and not (kind == "pool" and awaited_in_turn(self.function.body, span))
        loop = next((frame.site.span for frame in reversed(self.frames) if frame.site is not None), None)
        endless = bool(self.frames) and self.frames[-1].endless
        if kind == "pool" and state.held and awaits_at(self.function.body, span):
            covering = (*covering, *state.held)
        start = Start(
            callee, kind, span, many and not alone, looped, args, loop=loop, joined=state.joined, endless=endless,
            held=state.held, queue=queue, near=near, again=again, group=group, running=state.running,
            needs=state.conditions(), through=through, covering=covering, ended=ended, during=during,
        )  # fmt: skip
        known = (getattr(callee, "receiver", None), *[v for values in args for v in values])
        if kind != "process":
            self.effects.escaped.update([value for value in known if isinstance(value, Fresh)])
            self._share_captured(callee, state)
        if kind == GOROUTINE:
            self.summary.disclosed.update(self._known_parameters(callee, args))
        if isinstance(callee, FunctionValue | Partial | Field) or visible(callee):
            self.effects.start(start._replace(told=state.told))
        if kind == GOROUTINE:
            state.run(span)
            self.note_launch(callee, span)
        given = [v for values in (*args, *_partly(callee)) for v in values]
        named = (visible(callee) and not isinstance(callee, Field)) or any([isinstance(v, Param) for v in given])
        if named and len(self.summary.starts) < MOST_EVENTS:
            self.summary.starts[start] = None
        if kind in HANDED_ON:
            over = waits(self.function.body)  # mostly for it, or until nobody wants its result
            around = loops_around(self.function.body, span)
            in_turn = bool(around) and waits(around[-1].body)  # mostly for each before it starts the next
            tells = self.group_of(callee) or group
            for called, given_it in self.called_by_started(callee, args, span, state):
                one = start._replace(
                    callee=called, args=given_it, looped=start.looped and not in_turn, through=(self.id, span),
                    awaited=over, group=tells,
                )  # fmt: skip
                if len(self.summary.starts) < MOST_EVENTS:
                    self.summary.starts[one] = None
        handed = any(args) or getattr(callee, "receiver", None) is None or not self.traits.atomic_steps
        if handed and kind != "process":  # that has a memory of its own
            self.replay_started(callee, args, span, state)

    def close(self, left: list[State]) -> None:
        """Gather what holds when the function is left, also which of the caller's callables have ended by then."""
        super().close(left)
        still, told = self.effects.running_at_end, self.effects.told_at_end
        goroutines = [start for start in self.summary.starts if left and start.kind == GOROUTINE]
        ended = {each for each in goroutines if each.span not in still or (WAIT, each.group) in told}
        if ended:
            starts = [each._replace(ended=True) if each in ended else each for each in self.summary.starts]
            self.summary.starts = dict.fromkeys(starts)

    def _known_parameters(self, callee: Value, args: tuple[Values, ...] = (), nested: int = 2) -> Iterator[Param]:
        """The parameters that what is started knows: it is given them, or it is a closure that uses them.

        Or one that uses such a closure.
        """
        given = (getattr(callee, "receiver", None), *[value for values in args for value in values])
        yield from [value for value in given if isinstance(value, Param) and value.function == self.id]
        if not isinstance(callee, FunctionValue) or not callee.function.startswith(f"{self.id}."):
            return
        used = self.symbols.captured_by(callee.function)
        for index, parameter in enumerate(self.function.parameters):
            if parameter.name in used:
                yield Param(self.id, index)
        closures = [value for name in used for value in self.effects.new_in.get(name, ())]
        for closure in closures if nested > 0 else ():
            yield from self._known_parameters(closure, nested=nested - 1)

    def disclose(self, values: Values, call: Span) -> None:
        """What runs beside this function from a call on knows what the callee was given."""
        for value in values:
            if isinstance(value, Fresh):
                self.effects.disclosed.setdefault(value, set()).add(call)
            elif isinstance(value, Param) and value.function == self.id:
                self.summary.disclosed.add(value)

    def note_launch(self, method: Value, span: Span) -> None:
        """Remember that an object is made to call what was registered with it, or that a method may register that."""
        if not isinstance(method, Field) or not self.knowledge.launched:
            return
        found = self._launchable(method.base)
        if found is None:
            return
        if self.knowledge.does(f"{found.name}.{method.name}", "launches"):
            self.launch(method.base, span)
        else:
            self.effects.prepares[span] = method.base

    def _launchable(self, value: Value) -> LibraryType | None:
        """The type by which an object can be launched: its own, or else that of a field into which it was put."""
        found = self.types.of(value)
        if found is None:
            held = [key for key, values in self.effects.launchers.items() if value in values]
            found = self.types.field(*held[0]) if held else None
        return found if isinstance(found, LibraryType) and found.name in self.knowledge.launched else None

    def launch(self, launched: Value, span: Span) -> None:
        """An object is launched: one in a field, one that was made here, or one that only the caller can name."""
        if isinstance(launched, Field | Result):
            self.effects.launches.add((span, launched))
        elif isinstance(launched, Param):
            self.summary.launches.add(launched)

    def note_launcher(self, path: Value, values: Values) -> None:
        """Remember what is put into a field that can be made to call what is registered with it."""
        found = self.types.of(path) if isinstance(path, Field) and self.knowledge.launched else None
        if isinstance(path, Field) and isinstance(found, LibraryType) and found.name in self.knowledge.launched:
            key = (self.types.class_of(path.base) or "", path.name)
            self.effects.launchers[key] = union(self.effects.launchers.get(key, ()), values)

    def note_single(self, call: Call) -> None:
        """Remember executors of one worker."""
        if self._has_one_worker(call):
            self.singles.add(call.span)

    def _has_one_worker(self, call: Call) -> bool:
        return has_one_worker(call, self.symbols, self.knowledge.sharing.names("setting"), self.source.name)

    def begins(self, thread: Value, type_id: str) -> None:
        """A thread object starts to run: it is no longer only this function that knows it."""
        self.effects.begun.add(type_id)
        if isinstance(thread, Fresh):
            self.effects.escaped.add(thread)

    def begun(self, state: State) -> None:
        """From here on something runs beside this function."""
        state.started, state.joined = True, 0
        self.effects.starts_any = True

    def started_by(self, name: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State) -> None:
        """A function or constructor of a library: what it starts, and whether it then waits for that."""
        if args or keywords or self.spread:
            self._start(name, args, keywords, call, state)
        owner, _, method = name.rpartition(".")
        if owner in self.knowledge.concurrency.threads and method == WAITS and args:  # `Thread.join(self)`
            state.joined |= THREADS
            state.wait()
        if name in self.knowledge.concurrency.joins:
            state.wait()
            self.effects.wait(call, state.held)
        if name in self.knowledge.concurrency.waits:
            state.joined |= GIVEN

    def _start(self, name: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State) -> None:
        owner, _, method = name.rpartition(".")
        if owner in self.knowledge.concurrency.threads and method == RUNS:
            for value in args[0] if args else ():
                self.begins(value, self.types.class_of(value) or "")
            self.begun(state)
            return
        row = self.knowledge.concurrency.start(name) or self.knowledge.concurrency.start(f"*.{name.rpartition('.')[2]}")
        if row is not None:
            if self.knowledge.does(name, "delays") is not None:
                self.delayed.add(call)
            self._by_start_row(row, args, keywords, call, state)
            if row.kind == "here" and row.methods:  # of one object; what else the library is given may be run, too
                others = [values for index, values in enumerate(args) if index != row.callable]
                self.hand_over(tuple(others), keywords, call, state, name)
        else:
            self.hand_over(args, keywords, call, state, name)

    def _is_given_lock(self, base: Value, name: str) -> bool:
        """Whether a field holds a function that takes or gives back a lock of somebody else's, by its name."""
        if self.traits.duck_typed or not GIVEN_LOCK.search(name):
            return False
        owner = self.types.class_of(base)
        declared = self.symbols.field(owner, name) if owner else None
        return declared is not None and declared[1].annotation is not None and declared[1].annotation.name == "func"

    def is_bound_to_one(self, value: Value) -> bool:
        """Whether a semaphore lets one holder in."""
        if isinstance(value, Field) and not self.traits.duck_typed and (owner := self._owner(value)):
            made = self._made_for(owner, value.name)
            return bool(made) and all([_bound(call) == Const(1) for call in made])
        made = self._makers(value)
        return bool(made) and all([_bound(call) in (None, Const(1)) for call in made])

    def _owner(self, path: Field) -> str | None:
        return path.base.type if isinstance(path.base, TypeValue) else self.types.class_of(path.base)

    def _makers(self, value: Value) -> list[Call]:
        """The calls whose results are given to a module's variable, or to a field of a class."""
        record = None
        if isinstance(value, Global):
            record = self.symbols.content(value.module).globals.get(value.name)
        elif isinstance(value, Field) and (owner := self._owner(value)):
            declared = self.symbols.field(owner, value.name)
            record = declared[1] if declared else None
        return [a.value for a in record.values if isinstance(a.value, Call)] if record is not None else []

    def _made_for(self, owner: str, name: str) -> list[Call]:
        """The calls whose results are given to a field, where types declare their fields."""
        short = owner.rpartition(":")[2]
        given = [
            store.value
            for _, store in self.symbols.stores(name)
            if not isinstance(store.base, Make) or store.base.type.name.rpartition(".")[2] == short
        ]
        return [value for value in given if isinstance(value, Call)]

    def _queue(self, executors: list[Value]) -> str:
        """What runs a callable and others one after the other, if that is an executor of one worker.

        That of an object is marked: another object of the class has another one.
        """
        if not all(map(self._is_single, executors)):
            return ""
        match [self.kept_at(executor) for executor in executors]:
            case [Field(base=TypeValue(type=holder), name=name)]:
                return f"{OF_OBJECT}{holder}.{name}"
            case [Global(module=module, name=name)]:
                return f"{module}:{name}"
            case _:
                return ""

    def _is_single(self, owner: Value) -> bool:
        """Whether an executor has one worker: a queue."""
        if isinstance(owner, Fresh):
            return owner.site.span in self.singles
        made = self._makers(owner)
        return bool(made) and all(map(self._has_one_worker, made))

    def _by_start_row(
        self,
        row: StartRow,
        args: tuple[Values, ...],
        keywords: Keywords,
        call: Span,
        state: State,
        owner: Value | None = None,
    ) -> None:
        named = dict(keywords).get(row.keyword) if row.keyword else None
        if named is not None:
            values = named
        elif row.callable < 0:
            values = tuple([v for given in args for v in given if isinstance(v, FunctionValue | Partial)])
        else:
            values = args[row.callable] if len(args) > row.callable else ()
        if row.methods:
            values = tuple([method for value in values for method in self._methods_of(value, row.methods)])
        if row.kind == "task":
            values = tuple([v for given in args for v in given])  # gather() takes several
        runs = Counter([_work_of(value) for value in values] if row.kind == "task" else ())
        kind = self._kind_by_executor(row, args)
        self._call_methods(row, args, row.first, call, state)
        alone = not state.started or bool(state.joined & LOCAL)
        executors = [value for values in args[: max(row.callable, 0)] for value in values]
        executors = executors or ([owner] if owner is not None else [])
        queue = self._queue(executors)
        for value in values:
            twice = runs[_work_of(value)] > 1
            for each in _flat(value):
                given = _given(row, args, keywords)
                if row.kind == "here":
                    outer, self.effects.looped = self.effects.looped, self.effects.looped or row.many
                    self.apply(each, (), (), call, state)
                    self.effects.looped = outer
                    continue
                group = self.kept_at(owner) if owner is not None else None
                self.start(
                    each,
                    kind,
                    call,
                    state,
                    many=row.many or twice,
                    args=given,
                    alone=bool(executors) and all(map(self._is_single, executors)),
                    queue=row.queue or queue,
                    near=row.near,
                    group=group,
                    ended=row.ended,
                    during=row.during,
                )
        if row.kind == "task":
            for value in (*self.spread, *[v for given in values for v in self.contents.get(given, ())]):
                self.start(value, row.kind, call, state, many=True)
        later = owner is not None and self.traits.atomic_steps and self._launchable(owner) is not None
        if row.when == "now" and row.kind not in ("unknown", "loop", "here") and not later:
            self.begun(state)
        if row.ended:
            self.end_started(call, state, alone=alone)
        self._call_methods(row, args, row.last, call, state)

    def end_started(self, call: Span, state: State, *, alone: bool) -> None:
        """All that a call has started has ended when it returns; `alone` says that nothing else had been started."""
        state.running -= {call}
        self.await_started(call)
        if alone:
            state.wait()

    def await_started(self, call: Span) -> None:
        """What a call has started has ended when it returns."""
        for key, start in self.effects.starts.items():
            if call.holds(start.span):
                self.effects.starts[key] = start._replace(awaited=True)

    def _call_methods(
        self, row: StartRow, args: tuple[Values, ...], names: tuple[str, ...], call: Span, state: State
    ) -> None:
        """Methods of an object that a library is given and calls itself, before what it starts or behind it."""
        for value in args[row.callable] if names and len(args) > row.callable else ():
            for method in self._methods_of(value, names):
                self.apply(method, (), (), call, state)

    def _kind_by_executor(self, row: StartRow, args: tuple[Values, ...]) -> str:
        """What runs a callable: given with the executor that is to run it, what that starts: a process may be one."""
        given = [self.types.of(value) for values in args[: max(row.callable, 0)] for value in values]
        rows = [self.knowledge.concurrency.start(f"{g.name}.submit") for g in given if isinstance(g, LibraryType)]
        return next((found.kind for found in rows if found is not None), row.kind)

    def _has_methods(self, row: StartRow, args: tuple[Values, ...]) -> bool:
        """Whether the methods of a given object run, if a row is about such: it may hold functions that run instead."""
        given = args[row.callable] if row.methods and len(args) > row.callable else ()
        return not row.methods or any([self._methods_of(value, row.methods) for value in given])

    def _methods_of(self, value: Value, names: tuple[str, ...]) -> Values:
        """The methods of an object that a library is given to run."""
        owner = self.types.class_of(value)
        found = self.symbols.methods_like(owner, names) if owner else []
        return tuple([FunctionValue(method, value) for method in found])

    def hand_over(
        self, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State, name: str = ""
    ) -> None:  # fmt: skip
        """A function that a library is given runs some time, somewhere; so may the methods of an object."""
        for values in (*args, *[values for _, values in keywords]):
            for value in values:
                self.give_away(value, name)
                if isinstance(value, Fresh):
                    self.effects.given_away.setdefault(value, call)
                if isinstance(value, FunctionValue | Partial) and not _is_coroutine(value):
                    self.effects.start(Start(value, "unknown", call, False, False))

    def give_away(self, value: Value, name: str = "") -> None:
        """A library is given an object; printing it calls none of its methods but those that are made for that."""
        if not self.traits.atomic_steps and not PRINTS.search(name.rpartition(".")[2]):
            type_id = self.types.class_of(value)
            if type_id is not None:
                self.effects.handed.add((type_id, name.rpartition(".")[2]))

    def tell_flag(self, name: str, flags: Values, args: tuple[Values, ...], call: Span, state: State) -> None:
        """Remember that a flag is set which others ask for, or wait for, before they look at what has been stored."""
        row = self.knowledge.does(name, "sets") if name in self.knowledge.sets else None
        if row is None:
            found = self.knowledge.does(name, "finds-set")
            if found is not None and len(args) <= found.argument:
                self.tell(TAKE, self.flags_at(flags, state), call, state)
            return
        stored = args[row.argument] if row.argument < len(args) else ()
        self.tell_level(flags, stored, call, state)
        if not (stored and all(map(self.is_unset, stored))):
            self.tell(SET, self.flags_at(flags, state), call, state)
            return
        for flag in flags:
            path = self.shared_locals.get(flag, flag)
            state.drop_flag(path)
            if visible(path) and len(self.summary.lowers) < MOST_EVENTS:
                self.summary.lowers[path] = None

    def _tell_group(self, group: Value, name: str, span: Span, state: State) -> None:
        """Remember what a method says of a group: one of its goroutines is done, or all are, or there is a new one."""
        path = self.kept_at(group)
        if name in self.knowledge.concurrency.joins:
            self.tell(WAIT, (path,), span, state)
            state.tell(WAIT, (group,))  # whose it is, is more than its type to a caller
        elif self.knowledge.does(name, "is-done") is not None:
            self.tell(DONE, (path,), span, state)
        else:
            self.renew(path, span, state)
            if name.rpartition(".")[0] in self.knowledge.concurrency.groups:
                self.summary.renewed.add(path)

    def call_method(
        self,
        path: Field,
        base: Value,
        name: str,
        args: tuple[Values, ...],
        keywords: Keywords,
        call: Span,
        state: State,
    ) -> None:
        """A method that is not the project's: one of a thread, an executor or a loop, or a callable kept in a field."""
        found = self.types.of(base)
        if name == RUNS and not args and (self.is_thread(base) or (found is None and sounds_like_thread(base))):
            if isinstance(found, ClassType):
                self.begins(base, found.type)
            if isinstance(base, Field) and self.symbols.is_instance(base.base):
                self.effects.begins_own = True
            if not self._is_of_types(base, self.knowledge.concurrency.processes):  # which have a memory of their own
                self.begun(state)
            return
        if not args and self._is_given_lock(base, name):
            self.lock_method(UNKNOWN, "Unlock" if name.lower().endswith("unlock") else "Lock", args, call, state)
            return
        waits = isinstance(found, LibraryType) and f"{found.name}.{name}" in self.knowledge.concurrency.waits
        if waits and not args and isinstance(root(base), Fresh):  # for what a thread made here has to say
            state.joined |= THREADS
            state.wait()
        if name == WAITS and len(args) <= 1 and (self.is_thread(base) or (found is None and not args)):
            state.joined |= THREADS
            state.wait()
            return
        library = found.name if isinstance(found, LibraryType) else ""
        self.note_launch(path, call)
        if library and self.traits.atomic_steps and self.knowledge.does(f"{library}.{name}", "launches") is not None:
            self.begun(state)
        if f"{library}.{name}" in self.knowledge.concurrency.stops:
            state.joined |= STOPPED
        elif f"{library}.{name}" in self.knowledge.concurrency.drives:
            state.joined &= ~STOPPED
        if library:
            self._tell_group(base, f"{library}.{name}", call, state)
            self.tell_flag(f"{library}.{name}", (base,), (*args, *[given for _, given in keywords]), call, state)
            self.count_in_one_step(f"{library}.{name}", (base,), args[0] if args else (), call, state)
        row = self.knowledge.concurrency.start(f"{library}.{name}") if library else None
        row = row or self._by_name(name)
        starts = row is not None and bool(args or keywords or self.spread) and self._has_methods(row, args)
        if row is not None and starts:
            self._by_start_row(row, args, keywords, call, state, base)
        pool = self.knowledge.concurrency.start(f"{library}.submit") if library else None
        goes_on = pool is not None and (("wait", (NO,)) in keywords or args[:1] == ((NO,),))  # `shutdown(wait=False)`
        if not goes_on and not {f"{library}.{name}", f"*.{name}"}.isdisjoint(self.knowledge.concurrency.joins):
            if pool is not None and isinstance(base, Field):  # a pool of the object, whoever gave it its jobs
                state.joined |= POOLS
            state.wait()
            self.effects.wait(call, state.held)
        if starts:
            return
        if found is None or library:
            if f"{library}.{name}" in self.knowledge.concurrency.waits:
                state.joined |= GIVEN
            if library and self.knowledge.does(f"{library}.{name}", "runs-once") is not None:
                self.effects.once[call] = self.shared_locals.get(base, base)
            self.hand_over(args, keywords, call, state, name)
            if found is None:
                self.effects.call(path, call, None, state, certain=False)
        else:
            self.effects.call(path, call, None, state, certain=True)
            self._tell_itself(args)

    def _tell_itself(self, args: tuple[Values, ...]) -> None:
        """What somebody has left with the object is called, perhaps with the object itself."""
        if any([self.symbols.is_instance(value) for values in args for value in values]):
            self.effects.tells_itself = True

    def _by_name(self, name: str) -> StartRow | None:
        """The row of a method of an unknown object; a project's own loop has rules of its own."""
        row = self.knowledge.concurrency.start(f"*.{name}")
        return None if row is not None and row.kind == "loop" and self.symbols.owners(name) else row

    def identity(self, values: Values) -> str:
        """Whether values are more than what they say: "opened", "holder" (of such), "object" or ""."""
        if self.opening or any([self.is_opened(v) for v in values]):
            return "opened"
        if any([isinstance(v, Fresh) and self._has_opened(v) for v in values]):
            return "holder"
        return "object" if any([isinstance(v, Fresh) and self.has_identity(v) for v in values]) else ""

    @staticmethod
    def opens(expr: Expr) -> bool:
        """Whether an expression calls something that goes by the name of what opens."""
        while isinstance(expr, Await | Yield):
            expr = expr.value
        return isinstance(expr, Call) and isinstance(expr.func, Attr | Name) and expr.func.name in OPENS

    def is_opened(self, value: Value) -> bool:
        """Whether a value is something that was opened, connected or started: two of them are one too many."""
        match value:
            case Result(site=site):
                return self.opaque_calls.get(site.span, "") in OPENS
            case Fresh(type=name):
                concurrency = self.knowledge.concurrency
                known = name in concurrency.locks or name in concurrency.safe or name in concurrency.threads
                return known or self.is_thread(value)
            case _:
                return False

    def has_identity(self, value: Value) -> bool:
        """Whether an object is more than its value: the project changes its state after it was made, or it connects."""
        owner = self.types.class_of(value)
        if owner is None:
            return isinstance(value, Fresh) and value.type.rpartition(".")[2].endswith(RESOURCES)
        values = [v for field in self.symbols.types[owner][1].fields.values() for v in field.values]
        return any(not v.function.endswith((".__init__", "<body>")) for v in values) or self._has_opened(value)

    def _has_opened(self, value: Value) -> bool:
        """Whether an object of the project's own class keeps something that it opens or starts."""
        owner = self.types.class_of(value)
        if owner is None:
            return False
        values = [v for field in self.symbols.types[owner][1].fields.values() for v in field.values]
        return any(isinstance(v.value, Call) and self._opens(owner, v.value) for v in values)

    def _opens(self, owner: str, call: Call) -> bool:
        """Whether a call opens or makes something of which two are one too many."""
        if isinstance(call.func, Attr | Name) and call.func.name in OPENS:
            return True
        value = self.symbols.static(owner.partition(":")[0], call.func)
        return isinstance(value, Builtin) and value.name in self.knowledge.concurrency.threads

    def is_own_task(self, value: Value) -> bool:
        """Whether a field of the own instance holds a task that the class has started."""
        if not isinstance(value, Field) or not self.symbols.is_instance(value.base):
            return False
        owner = self.types.class_of(value.base)
        declared = self.symbols.field(owner, value.name) if owner else None
        made = [a.value for a in declared[1].values if isinstance(a.value, Call)] if declared else []
        rows = [
            self.knowledge.concurrency.start(f"*.{call.func.name}")
            for call in made
            if isinstance(call.func, Attr | Name)
        ]
        return any([row is not None and row.kind == "task" for row in rows])

    def is_thread(self, value: Value) -> bool:
        """Whether a value is a thread (or a process): something that runs once it is started."""
        return self._is_of_types(value, self.knowledge.concurrency.threads)

    def _is_of_types(self, value: Value, types: Set[str]) -> bool:
        """Whether the type of a value is one of a library's, or comes from one."""
        match self.types.of(value):
            case LibraryType(name=name):
                return name in types
            case ClassType(type=type_id):
                return any(isinstance(a, Builtin) and a.name in types for a in self.symbols.ancestors(type_id))
            case _:
                return False

    def joins_on_exit(self, manager: Expr, state: State) -> bool:
        """Whether leaving a `with` waits for what was started in it: an executor, a task group."""
        if not isinstance(manager, Call):
            return False
        value = self.symbols.static(self.source.name, manager.func)
        name = value.name.rpartition(".")[2] if isinstance(value, Builtin) else ""
        return name.endswith(("PoolExecutor", "TaskGroup", "ThreadPool", "create_task_group", "open_nursery"))

    def is_coroutine(self) -> bool:
        """Whether this generator is a coroutine by its decorator: each yield suspends."""
        return bool(self.function.decorators) and self.symbols.is_coroutine(self.id, self.knowledge)


def _given(row: StartRow, args: tuple[Values, ...], keywords: Keywords) -> tuple[Values, ...]:
    """What the started callable is called with: the arguments behind it, or a tuple called `args`."""
    for values in dict(keywords).get("args", ()):
        if isinstance(values, Tuple):
            return values.parts
    return args[row.callable + 1 :] if row.when == "now" else ()


def _work_of(value: Value) -> object:
    """What a coroutine runs, and on which object: `gather(s.set(1), s.set(2))` runs one method twice on one object."""
    return value.args[:2] if isinstance(value, Partial) else value


def sounds_like_thread(value: Value) -> bool:
    """Whether something of unknown type goes by the name of what runs beside its starter."""
    if isinstance(value, Element | Member | Param):
        return True  # one of several, or a caller's: mostly threads
    name = value.name.lower() if isinstance(value, Field) else ""
    return any(
        word in name for word in ("thread", "timer", "worker", "process", "proc", "daemon", "observer", "server")
    )


def _bound(call: Call) -> Expr | None:
    """What a semaphore is made with: the number of its holders, None for one."""
    return call.args[0] if call.args else dict(call.keywords).get("value")


def _flat(value: Value) -> Values:
    return tuple([v for part in value.parts for v in part]) if isinstance(value, Tuple) else (value,)


def _is_coroutine(value: Value) -> bool:
    return isinstance(value, Partial) and value.callee == Builtin("coroutine")


def _partly(callee: Value) -> tuple[Values, ...]:
    """What a callable has been given before it is started: `partial(self.save, rows)`."""
    return (*_partly(callee.callee), *callee.args) if isinstance(callee, Partial) and not _is_coroutine(callee) else ()
