"""Calls: who is called and with what; what the callee does is up to its summary or the knowledge tables."""

from __future__ import annotations

from racelint.analysis.body import Keywords, visible
from racelint.analysis.effects import CALLABLE, UNCOUNTED
from racelint.analysis.library import Library
from racelint.analysis.paths import Substitute, bounded, element, root, union, unite
from racelint.analysis.replay import Replay
from racelint.analysis.starting import GOROUTINE, RUNS, WAITS
from racelint.analysis.state import Invoke, Predicate, State
from racelint.analysis.telling import Telling
from racelint.analysis.type_names import ClassType, LibraryType
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Captured,
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
    Site,
    TypeValue,
    Unknown,
    Value,
    Values,
)
from racelint.knowledge.sharing import split
from racelint.model import Attr, Call, Expr, Function, Imported, Item, Jump, Name, Source, Star
from racelint.span import Span

TAKING = frozenset(
    {"remove", "discard", "pop", "popleft", "popitem", "clear"}
)  # methods that presume that there is something
COROUTINE = "coroutine"  # marks a Partial that runs only when it is awaited
TOLD_BY_STEP = frozenset({Literal, Param, Field, Global})  # arguments that are kept with a call; where steps are atomic
TOLD = TOLD_BY_STEP | {Builtin, Captured, Fresh, Element}
MOST_REGISTERED = 8  # functions of one generic function that a call is followed into
_NOWHERE = Span(0, 0, 0, 0)


class Calls(Replay, Library, Telling):
    """Evaluates calls."""

    def call(self, call: Call, state: State) -> Values:
        """Evaluate a call expression."""
        if isinstance(call.func, Attr) and isinstance(call.func.base, Item) and call.func.name in TAKING:
            self.presumed.add(call.func.base.span)
        self.on_nothing = False
        callees = self._callees(call, state)
        nothing = self._given_by_nothing(callees, call.span, state) if self.on_nothing else ()
        self.once = any([isinstance(c, Builtin) and self.knowledge.does(c.name, "takes-one") for c in callees])
        self.spread, self.rest = (), ()
        outer = state.reads
        looks = all([isinstance(c, Builtin) and "." not in c.name for c in callees])  # `callable(f)` only looks
        if not looks:
            state.reads = None  # what a call makes of its arguments is something else
        outer_told = self.told, self.harmless, self.sizes_told
        self.told, self.harmless = self.told_by(call, callees, state), self.told_types(call)
        self.sizes_told = self.sizes_told_by(call, callees, self.told)
        args, keywords = self._arguments(call, state)
        self._note_watching(call, callees, args, keywords, state)
        self._note_saving(call, callees)
        state.reads, (self.told, self.harmless, self.sizes_told) = outer, outer_told
        self.note_single(call)
        self.once = False
        if all([isinstance(c, Builtin) for c in callees]):
            self.library_calls.add(call.span)
        self.opaque_calls[call.span] = call.func.name if isinstance(call.func, Attr | Name) else ""
        if not looks:
            self.summary.kept.update([v for values in args for v in values if isinstance(v, Param)])
        if isinstance(call.func, Attr):
            self.sink = call.func.base
            if call.func.name in self.knowledge.sharing.handlers:
                self.registered(call, args, keywords)
        self.tell_of_context("close", call.func, call.span, state)
        special = self._special(call, callees, args, state)
        if special is not None or not all([isinstance(c, FunctionValue) for c in callees]):
            self.effects.vague.add(call.span)
        if special is not None:
            return special
        results = self._apply_each(callees, args, keywords, call.span, state)
        self._tell_of_pipe(call, callees, state)
        self.is_open = False
        if _waits_for_start(call):
            state.wait()
        return union(nothing, unite(results)) if nothing else unite(results)

    def _tell_of_pipe(self, call: Call, callees: Values, state: State) -> None:
        """Remember that a pipe has been closed, or read until its end."""
        named = call.func.name if isinstance(call.func, Attr) else ""
        if self.traits.duck_typed or named not in self.knowledge.closes_pipes | self.knowledge.reads_all:
            return
        kinds = [(self.types.of(c.base), c.name) for c in callees if isinstance(c, Field)]
        names = [f"{kind.name}.{name}" for kind, name in kinds if isinstance(kind, LibraryType)]
        names += [c.name for c in callees if isinstance(c, Builtin)]
        found = self.pipes.used(self.id, call, names) if len(names) == len(callees) or not names else None
        if found is not None:
            self.tell(found[0], (found[1],), call.span, state)

    def _given_by_nothing(self, methods: Values, call: Span, state: State) -> Values:
        """What methods give that may be called on nothing, too: Go has a pointer's method run then."""
        bound = [method.function for method in methods if isinstance(method, FunctionValue)]
        known = bool(bound) and len(bound) == len(methods)
        if known and all([NONE in self.summaries.of(each).returns for each in bound]):
            return (NONE,)
        return (Result(self.site(call, state)),)

    def _note_watching(
        self, call: Call, callees: Values, args: tuple[Values, ...], keywords: Keywords, state: State
    ) -> None:  # fmt: skip
        """A call follows what changes elsewhere, by its name: it gives the changes, or is given what takes them.

        One from which nobody wants an answer only tells another object to watch something, unless it is an own method.
        What an own method of the project does it says by its own calls, unless it is there for that: `_watch_pods()`.
        """
        if not isinstance(call.func, Attr) or not self.knowledge.sharing.says(call.func.name, "watch"):
            return
        given = [v for values in (*args, *[values for _, values in keywords]) for v in values]
        answers = call.span != self.effects.discarded or any([isinstance(v, FunctionValue | Partial) for v in given])
        own = isinstance(call.func.base, Name) and self.evaluate(call.func.base, state) == (Param(self.id, 0),)
        if own and any([isinstance(callee, FunctionValue) for callee in callees]):
            first = next(iter(split(call.func.name)), "")
            follows = self.knowledge.sharing.says(first, "watch") and not answers
        else:
            follows = answers or own
        if follows:
            self.summaries.hints.watching.add(self.id)

    def _note_saving(self, call: Call, callees: Values) -> None:
        """An object is told to save what it holds, or is given: `settings.commit()`, `settings.set("fonts", fonts)`."""
        if not isinstance(call.func, Attr) or call.func.name not in self.knowledge.sharing.names("saves"):
            return
        for callee in callees:
            match callee:
                case FunctionValue(receiver=receiver) if receiver is not None:
                    self.summary.saved[root(receiver)] = call.span
                case Field(base=base):
                    self.summary.saved[root(base)] = call.span
                case _:
                    pass

    def _callees(self, call: Call, state: State) -> Values:
        """What a call calls."""
        if not isinstance(call.func, Attr):
            return self._instantiated(call.func, state) or self.use(call.func, state)
        bases = self.use(call.func.base, state)
        self.summaries.usage.method_call(self.id, call.func.name)
        if not self.traits.atomic_steps and any([self._may_be_own(base) for base in bases]):
            self.effects.asked.add((call.func.name, self._count(call)))
        if self.traits.atomic_steps or bases == (NONE,):
            return unite([self._method(base, call.func.name, call, state) for base in bases])
        self.on_nothing = NONE in bases
        return unite([self._method(base, call.func.name, call, state) for base in bases if base != NONE])

    def _count(self, call: Call) -> int:
        """How many arguments a call gives; a single one that is a call may be all the results of a function.

        Methods of libraries' objects hardly ever stand there with several.
        """
        if any([isinstance(arg, Star) for arg in call.args]):
            return UNCOUNTED
        if len(call.args) != 1 or not isinstance(call.args[0], Call):
            return len(call.args)
        match call.args[0].func:
            case Attr(base=base, name=name) if not isinstance(base, Imported) and not self.symbols.returns_several(
                name
            ):
                return 1
            case _:
                return UNCOUNTED

    def _instantiated(self, func: Expr, state: State) -> Values:
        """A generic function whose type arguments are written; it looks like an element of something."""
        if self.traits.duck_typed or not isinstance(func, Item):
            return ()
        found = self.use(func.base, state)
        return found if all([isinstance(value, FunctionValue | Builtin | TypeValue) for value in found]) else ()

    def _may_be_own(self, value: Value) -> bool:
        """Whether an object may be of a type of the project which was not found out."""
        found = self.types.of(value)
        if found is None:
            return not isinstance(value, Builtin) and root(value) not in self.foreign
        return isinstance(found, LibraryType) and found.name.rpartition(".")[0] in self.symbols.sources

    def _from_library(self, results: Values, args: tuple[Values, ...]) -> Values:
        """The results of a library's function, which are the library's own unless it was given something of ours."""
        given = [value for values in args for value in values if value != UNKNOWN]
        if not any([self._may_be_own(value) or isinstance(self.types.of(value), ClassType) for value in given]):
            self.foreign.update([value for value in results if isinstance(value, Result)])
        return results

    def spawn(self, call: Expr, state: State) -> None:
        """A call that runs beside what follows; what a library's function is given runs there."""
        if not isinstance(call, Call):
            self.evaluate(call, state)
            return
        callees = self._callees(call, state)
        args, _ = self._arguments(call, state)
        self.hand_stores(args)
        given = [value for values in args for value in values if isinstance(value, FunctionValue | Partial)]
        for callee in callees:
            match callee:
                case Partial(callee=Builtin(name="guess"), args=((target,),)):
                    self.start(target, GOROUTINE, call.span, state, args=args)
                case Builtin() | Field() if given:
                    for value in given:
                        self.start(value, GOROUTINE, call.span, state, again=True)
                case _:
                    self.start(callee, GOROUTINE, call.span, state, args=args)
        self.begun(state)

    def _arguments(self, call: Call, state: State) -> tuple[tuple[Values, ...], Keywords]:
        args: list[Values] = []
        for arg in call.args:
            values = self.evaluate(arg.value if isinstance(arg, Star) else arg, state)
            values = self.dereferenced(arg, values, state)
            if isinstance(arg, Star):
                held = [self.contents.get(v) or self.element_of(v, self.site(call.span, state)) for v in values]
                self.spread = unite(held)
                self.rest = tuple([v for v in values if self._is_rest(v)])
                break  # positions after a spread are not known
            args.append(values)
        keywords = [(name, self.evaluate(value, state)) for name, value in call.keywords]
        self.by_name = bool(keywords)  # those of a mapping, too: `**options`
        self.is_open = any([isinstance(arg, Star) for arg in call.args]) or any([not name for name, _ in keywords])
        return tuple(args), tuple([(name, values) for name, values in keywords if name])

    def _is_rest(self, value: Value) -> bool:
        """Whether a value is what the function is given after its other arguments: `*args`."""
        if not isinstance(value, Param) or value.function != self.id:
            return False
        return self.function.parameters[value.index].kind == "variadic"

    def _method(self, base: Value, name: str, call: Call, state: State) -> Values:
        """What a method call calls; for an object of unknown type the one project method that it can be, if any."""
        if isinstance(base, Unknown) and not self.traits.duck_typed:
            self.lock_method(base, name, (), call.span, state)  # some lock
        common = name in self.knowledge.common_methods
        if self.frames and isinstance(base, Member | Element) and not common:  # a listener may be an object
            self._unknown_callable(Field(base, name), (), (), call.span, state)
        found = self.attribute(base, name, call.span, state)
        if found == (Field(base, name),):  # nothing is known of it but its path
            callable_field = self._stored_callable(base, name)
            if callable_field:
                return callable_field
            hook = self._hook(base, name)
            if hook is not None:
                return (hook,)
            guess = self._guess(base, name)
            if guess is not None and (not self.traits.duck_typed or accepts(self.symbols.functions[guess][1], call)):
                return (Partial(Builtin("guess"), ((FunctionValue(guess, base),),), ()),)
        return found

    def _stored_callable(self, base: Value, name: str) -> Values:
        """The functions that methods put into a field: `self.handler = self.on_event`, a lambda, a partial."""
        owner = self.types.class_of(base)
        declared = self.symbols.field(owner, name) if owner else None
        if owner is None or declared is None:
            return ()
        module = declared[0].partition(":")[0]
        found: Values = ()
        for setter in dict.fromkeys([f"{module}:{assigned.function}" for assigned in declared[1].values[:4]]):
            if setter == self.id or not self.symbols.functions[setter][1].owner:
                continue
            instance = Param(setter, 0)
            stored = self.summaries.of(setter).stores.get(Field(instance, name), ())
            own: dict[Value, Values] = {instance: (base,)}
            substitute = Substitute(own.get, Site(setter, _NOWHERE))
            for value in [v for v in stored if isinstance(v, FunctionValue | Partial)]:
                found = (*found, *[v for v in substitute(value) if v not in found])
        return found

    def _hook(self, base: Value, name: str) -> FunctionValue | None:
        """The project's method that a library's one calls, on an object of the project's class."""
        owner = self.types.class_of(base)
        if owner is None:
            return None
        bases = [ancestor.name for ancestor in self.symbols.ancestors(owner) if isinstance(ancestor, Builtin)]
        hook = self.knowledge.hook(bases, name) if bases else None
        method = self.symbols.method(owner, hook) if hook is not None else None
        return FunctionValue(method, base) if method is not None else None

    def _guess(self, base: Value, name: str) -> str | None:
        """The project's method of that name when only one class has it (or the variable is named after the class)."""
        if self.types.of(base) is not None or name in self.knowledge.common_methods or name.startswith("__"):
            return None
        owners = [o for o in self.symbols.owners(name) if not self._only_declares(o, name)]
        if len(owners) > 1:
            hint = _hint(base)
            owners = [o for o in owners if hint and o.rpartition(":")[2].rpartition(".")[2].lower() == hint]
        if len(owners) != 1 or self.symbols.subtypes(owners[0]) & set(owners):
            return None
        if not self.traits.duck_typed and (name[:1].isupper() or not owners[0].startswith(f"{self.source.name}:")):
            return None  # libraries' methods have the same names
        return self.symbols.method(owners[0], name)

    def _only_declares(self, type_id: str, name: str) -> bool:
        """Whether a class has a method only for its subclasses to override."""
        method = self.symbols.method(type_id, name)
        if method is None or not self.symbols.subtypes(type_id):
            return False
        return is_abstract(self.symbols.functions[method][1])

    def _special(self, call: Call, callees: Values, args: tuple[Values, ...], state: State) -> Values | None:
        """Builtins that are part of the language."""
        if len(callees) != 1 or not isinstance(callees[0], Builtin):
            return None
        match callees[0].name:
            case "super":
                receiver = state.variables.get(self.function.parameters[0].name) if self.function.parameters else None
                return (Partial(Builtin("super"), (receiver[:1] if receiver else NOTHING_KNOWN,), ()),)
            case "getattr" if len(args) >= 2 and (name := _text(args[1])):
                return unite([self.attribute(base, name, call.span, state) for base in args[0]])
            case "type" if len(args) == 1 and all([self.types.class_of(v) for v in args[0]]):
                return tuple(dict.fromkeys([TypeValue(self.types.class_of(v) or "") for v in args[0]]))
            case "setattr" if len(args) == 3 and (name := _text(args[1])):
                self.sink = call.args[0]
                for base in args[0]:
                    self.mutate(base, f".{name} =", "field", call.span, state)
                    state.heap[self.place(base, name)] = args[2]
                return NOTHING_KNOWN
            case _:
                return None

    def _apply_each(
        self, callees: Values, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> list[Values]:
        """The results of all that a call may call; one that never returns ends nothing where another one does."""
        results: list[Values] = []
        stopped, ended = self.stopped, bool(callees)
        for callee in callees:
            self.stopped = False
            results.append(self._apply_found(callee, args, keywords, call, state))
            ended = ended and self.stopped
        self.stopped = stopped or ended
        return results

    def _apply_found(
        self, callee: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """Apply a callee; one found only by its name makes all it does uncertain."""
        match callee:
            case Partial(callee=Builtin(name="guess"), args=((target,),)):
                outer, self.certain = self.certain, False
                try:
                    return self.apply(target, args, keywords, call, state)
                finally:
                    self.certain = outer
            case _:
                return self.apply(callee, args, keywords, call, state)

    def apply(self, callee: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State) -> Values:
        """The values that a call of a value returns; its effects are applied to the state."""
        if not isinstance(callee, FunctionValue | TypeValue | Partial):
            self.hand_stores(args)
        match callee:
            case FunctionValue(function=function, receiver=receiver):
                if receiver is not None and not self.traits.duck_typed:
                    outright = self._outright(function, receiver, args, call, state)
                    if outright is not None:
                        self.effects.asked.add((self.symbols.functions[function][1].name, UNCOUNTED))
                        return outright
                results = self._call_function(function, receiver, args, keywords, call, state)
                if receiver is not None and self.traits.duck_typed:
                    self.own_lock_method(function, receiver, call, state)
                return results
            case TypeValue(type=type_id) if self.traits.duck_typed:
                return self._construct(type_id, args, keywords, call, state)
            case TypeValue():
                return args[0] if args else NOTHING_KNOWN  # a conversion
            case Partial(callee=Builtin(name="coroutine")):
                return NOTHING_KNOWN
            case Partial(callee=inner, args=given, keywords=named):
                return self.apply(inner, (*given, *args), (*named, *keywords), call, state)
            case Builtin(name=name):
                return self._from_library(self._library(name, args, keywords, call, state), args)
            case Field(base=base, name=name):
                called = self._call_object(callee, args, keywords, call, state)
                if called is not None:
                    return called
                if self.filled_by(name, args, call, state):
                    return (Result(Site(self.id, call)),)
                picked = self.picked_by(name, args, call, state)
                if picked is not None:
                    return picked
                if not self.traits.duck_typed:
                    self.call_kept(base, name, args, call)
                self.library_writes(base, name, args, call, state)
                self.add_to_store(base, name, args, call)
                taken = self.passed_through(base, name, args, call, state)
                if taken is not None:
                    return self._from_library(taken, args)
                handed = self.handed_out(base, name, keywords, call, state)
                if handed is not None:
                    return handed
                self.call_method(callee, base, name, args, keywords, call, state)
                given = args if args or name != "update" else tuple([values for _, values in keywords])
                if name == "update":
                    state.heap.update({element(base, Literal(key, "str")): values for key, values in keywords})
                    state.heap.pop(UNKNOWN, None)
                results = self._library_method(base, name, given, call, state, by_name=bool(keywords) or self.by_name)
                known = self._may_be_own(base) or isinstance(self.types.of(base), ClassType)
                return results if known else self._from_library(results, given)
            case Param() | Captured() | Member() | Element():
                called = self._call_object(callee, args, keywords, call, state)
                if called is not None:
                    return called
                self._unknown_callable(callee, args, keywords, call, state)
                self.effects.call(callee, call, None, state, certain=True)
                return (Result(self.site(call, state)),)
            case Fresh():
                called = self._call_object(callee, args, keywords, call, state)
                return called if called is not None else (Result(self.site(call, state)),)
            case _:
                self.summaries.unresolved.add((self.id, call))
                return (Result(self.site(call, state)),)

    def _call_object(
        self, callee: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values | None:
        """Call an object whose class defines `__call__`."""
        owner = self.types.class_of(callee)
        method = self.symbols.method(owner, "__call__") if owner else None
        return self._call_function(method, callee, args, keywords, call, state) if method else None

    def _unknown_callable(
        self, callee: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> None:
        guarded = bool(state.held) and not self.traits.atomic_steps
        args = tuple([self.in_place(values) for values in args])
        event = Invoke(callee, args, keywords, self.id, call, guarded=guarded)
        if visible(callee):
            self.record_invoke(event, [], state)

    # --- functions of the project -------------------------------------------------------------------------------------

    def _outright(
        self, function_id: str, receiver: Value, args: tuple[Values, ...], call: Span, state: State
    ) -> Values | None:
        """What a method gives that nobody in the project spells out."""
        if self._targets(function_id, receiver) != [function_id]:
            return None
        return self.given_outright(function_id, receiver, args, call, state)

    def _call_function(
        self, function_id: str, receiver: Value | None, args: tuple[Values, ...], keywords: Keywords, call: Span,
        state: State,
    ) -> Values:  # fmt: skip
        _, function = self.symbols.functions[function_id]
        given = args if receiver is None else ((receiver,), *args)
        if (function.is_async or function.is_generator) and self.symbols.is_coroutine(function_id, self.knowledge):
            made = bounded(Partial(Builtin(COROUTINE), ((FunctionValue(function_id),), *given), keywords))
            self.loose[made] = (function_id, call, receiver)
            return (made,)
        if receiver is not None and self._is_of_lock(function, receiver):
            self.lock_method(receiver, function.name, args, call, state)
            return (Result(self.site(call, state)),)
        return self._dispatch(function_id, given, keywords, call, state, receiver)

    def _is_of_lock(self, function: Function, receiver: Value) -> bool:
        """Whether a method takes or gives back a lock that the project has made itself, whatever it does for that."""
        concurrency = self.knowledge.concurrency
        named = function.name in concurrency.takes or function.name in concurrency.gives
        if self.traits.duck_typed or not named or function.returns is not None:
            return False
        return isinstance(self.types.of(receiver), ClassType) and bool(self.lock_kind(receiver))

    def _dispatch(
        self, function_id: str, given: tuple[Values, ...], keywords: Keywords, call: Span, state: State,
        receiver: Value | None,
    ) -> Values:  # fmt: skip
        targets = self._targets(function_id, receiver)
        if self._dispatches(*self.symbols.functions[function_id]):
            return self._invoke_registered(targets, given, keywords, call, state)
        if targets == [function_id]:
            return self._invoke_one(function_id, given, keywords, call, state)
        outer, self.certain = (
            self.certain,
            self.certain and not (len(targets) > 1 and self.symbols.fits_many(function_id)),
        )
        results, ends = [], self.stopped
        stops: list[bool] = []
        for target in targets:
            self.stopped = False
            results.append(self._invoke_override(target, given, keywords, call, state))
            stops.append(self.stopped)
        self.stopped = ends or all(stops)  # one that only panics ends nothing where another may be meant
        self.certain = outer
        return unite(results)

    def _dispatches(self, source: Source, function: Function) -> bool:
        """Whether the class of its first argument decides which of several functions a call runs."""
        return any([self._is_decorated(source, decorator, "dispatches") for decorator in function.decorators])

    def _invoke_registered(
        self, targets: list[str], given: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """Call one of those that are registered, here or elsewhere: what it gives is not known, nor that it ends."""
        outer, ends, self.certain = self.certain, self.stopped, False
        results = unite([self._invoke_one(target, given, keywords, call, state) for target in targets])
        self.certain, self.stopped = outer, ends
        return union(results, NOTHING_KNOWN)

    def run_coroutine(self, value: Partial, call: Span, state: State) -> Values:
        """Run a coroutine object to its end."""
        if value.callee != Builtin(COROUTINE):
            return NOTHING_KNOWN
        self.loose.pop(value, None)
        (target,), *given = value.args
        assert isinstance(target, FunctionValue)
        receiver = given[0][0] if given and given[0] else None
        return self._dispatch(target.function, tuple(given), value.keywords, call, state, receiver)

    def waits_for(self, value: Value) -> list[str]:
        """What an await of a value waits for: functions of the project by id, others by ".name", "" for the rest."""
        if isinstance(value, Partial) and value.callee == Builtin(COROUTINE):
            return self._coroutine_targets(value)
        if isinstance(value, Result) and value.site.function == self.id and value.site.span not in self.library_calls:
            return [f".{self.opaque_calls.get(value.site.span, '')}"]
        return [""]

    def _coroutine_targets(self, value: Partial) -> list[str]:
        (target,), *given = value.args
        assert isinstance(target, FunctionValue)
        return self._targets(target.function, given[0][0] if given and given[0] else None)

    def coroutine_suspends(self, value: Partial) -> bool:
        """Whether other tasks may run while a coroutine runs."""
        if value.callee != Builtin(COROUTINE):
            return True
        targets = self._coroutine_targets(value)
        functions = [self.symbols.functions[t][1] for t in targets]
        return any([is_abstract(f) or self.summaries.of(t).suspends for t, f in zip(targets, functions, strict=True)])

    def invoke(
        self, function_id: str, receiver: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """Run a method now, whatever kind it is."""
        return self._dispatch(function_id, ((receiver,), *args), keywords, call, state, receiver)

    def _targets(self, function_id: str, receiver: Value | None) -> list[str]:
        """The function, and what is registered for other classes of its argument; what overrides an abstract one."""
        source, function = self.symbols.functions[function_id]
        if self._dispatches(source, function):
            return [function_id, *self.symbols.registered(function_id)[:MOST_REGISTERED]]
        if receiver is None or not function.owner or not is_abstract(function):
            return [function_id]
        owner = self.types.class_of(receiver) or f"{source.name}:{function.owner}"
        overrides = self.symbols.overrides(owner, function.name)
        if not self.traits.duck_typed:
            overrides = [
                o for o in overrides if self.symbols.functions[o][0].reported and not self.symbols.stands_in(o)
            ]
            arriving = self.types.arriving.methods(receiver, function.name) if overrides else None
            overrides = [o for o in overrides if arriving is None or o in arriving]
        return overrides[:4] if 0 < len(overrides) <= 4 else [function_id]

    def _invoke_one(
        self, function_id: str, given: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        source, function = self.symbols.functions[function_id]
        if self._is_deferred(source, function):
            return (Result(self.site(call, state)),)
        spawned = self.summaries.spawning.kind(function_id) if function.decorators else ""
        if spawned:
            self._spawn(function_id, spawned, given, call, state)
            return (Result(self.site(call, state)),)
        bound = self._bind(function, given, keywords)
        method = bool(function.owner) and function.binding != "none"
        receiver = next((v for v in given[0] if v != NONE), given[0][0]) if method and given and given[0] else None
        receiver = None if receiver is not None and root(receiver) in self.published else receiver
        single = [(index, _only(values)) for index, values in enumerate(bound)]
        plain = [(index, value) for index, value in single if value is not None]
        told = tuple([pair for pair in plain if type(pair[1]) in (TOLD_BY_STEP if self.traits.duck_typed else TOLD)])
        self.effects.call(function_id, call, receiver, state, certain=self.certain, given=told)
        self._hand_on(function_id, function, bound, call)
        self.summaries.usage.call(self.id, call, function_id, bound)
        summary = self.summaries.of(function_id)
        stopped = self.stopped
        results = self._replay(function_id, function, summary, bound, call, state)
        doubtful = self.stopped or any([isinstance(value, Literal) for value in results])
        if doubtful and self._is_overridden(function_id, receiver):
            self.stopped = stopped  # another one may return, and give something else
            results = union(results, NOTHING_KNOWN)
        return self.remembered(function_id, function, results, call, state)

    def _spawn(self, function_id: str, kind: str, given: tuple[Values, ...], call: Span, state: State) -> None:
        """A function's decorator makes a call start it."""
        function = self.symbols.functions[function_id][1]
        method = bool(function.owner) and function.binding != "none"
        for receiver in given[0] if method and given else (None,):
            self.start(FunctionValue(function_id, receiver), kind, call, state, args=given[1:] if method else given)
        self.begun(state)

    def _is_overridden(self, function_id: str, receiver: Value | None) -> bool:
        """Whether an object may be of a type that puts another method in the place of this one."""
        source, function = self.symbols.functions[function_id]
        if receiver is None or isinstance(receiver, Fresh) or not self.traits.duck_typed:
            return False
        others = self.symbols.overrides(f"{source.name}:{function.owner}", function.name)
        return any([self.symbols.functions[other][0].reported for other in others])

    def _hand_on(self, function_id: str, function: Function, bound: list[Values], call: Span) -> None:
        """Callables that a nested function of the callee may call."""
        for parameter, values in zip(function.parameters, bound, strict=True):
            for value in values:
                if isinstance(value, CALLABLE):
                    self.effects.store(Captured(function_id, parameter.name), value, call)

    def _is_deferred(self, source: Source, function: Function) -> bool:
        """Whether a decorator makes calls run later, in another place."""
        return any([self._is_decorated(source, decorator, "defers") for decorator in function.decorators])

    def _is_decorated(self, source: Source, decorator: Expr, does: str) -> bool:
        named = decorator.func if isinstance(decorator, Call) else decorator
        value = self.symbols.static(source.name, named)
        return isinstance(value, Builtin) and self.knowledge.does(value.name, does) is not None

    def _invoke_override(
        self, function_id: str, given: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """Call one of several overrides: what it does holds only if the receiver is of its class."""
        source, function = self.symbols.functions[function_id]
        condition = Predicate(given[0][0], "instance", f"{source.name}:{function.owner}")
        state.assumptions[condition] = True
        try:
            return self._invoke_one(function_id, given, keywords, call, state)
        finally:
            state.assumptions.pop(condition, None)

    def _construct(
        self, type_id: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        made = Fresh(type_id, self.site(call, state))
        self.effects.made[call, type_id] = bool(self.frames)
        method = self.symbols.method(type_id, "__init__")
        if method is not None:
            self._invoke_one(method, ((made,), *args), keywords, call, state)
        else:
            _, record = self.symbols.types[type_id]
            if record.decorators:  # a dataclass takes its fields in order
                names = [name for name, f in record.fields.items() if f.annotation is not None]
                for name, values in (*zip(names, args, strict=False), *keywords):
                    if name in record.fields:
                        state.heap[Field(made, name)] = values
        return (made,)

    # --- libraries ----------------------------------------------------------------------------------------------------


def _only(values: Values) -> Value | None:
    """What is given for a parameter, if it is one thing: an object that is made here, or nothing, is that object."""
    found = [value for value in values if value != NONE] if len(values) == 2 else []
    if len(found) == 1 and isinstance(found[0], Fresh):
        return found[0]
    return values[0] if len(values) == 1 else None


def _text(values: Values) -> str:
    value = values[0] if len(values) == 1 else None
    return value.value if isinstance(value, Literal) and isinstance(value.value, str) else ""


def _hint(value: Value) -> str:
    """The name by which an object goes, to compare with the names of classes."""
    name = value.name if isinstance(value, Field | Captured) else ""
    return name.replace("_", "").lower()


def accepts(function: Function, call: Call) -> bool:
    """Whether a method takes what a call gives, as far as both say so: a property is not called."""
    if function.is_property or function.decorators:
        return not function.is_property
    names = [parameter.name for parameter in function.parameters]
    kinds = [parameter.kind for parameter in function.parameters]
    given = len(call.args) + (function.binding != "none")
    spread = any(isinstance(arg, Star) for arg in call.args) or not all(name for name, _ in call.keywords)
    named = [name for name, _ in call.keywords if name]
    if not ("keywords" in kinds or set(named) <= set(names)):
        return False
    if given > kinds.count("positional") and "variadic" not in kinds and not spread:
        return False
    wanted = [p.name for p in function.parameters[given:] if p.kind == "positional" and p.default is None]
    return spread or set(wanted) <= set(named)


def is_abstract(function: Function) -> bool:
    """Whether a method only says that subclasses have one."""
    match function.body:
        case ():
            return True
        case (
            Jump(kind="raise", value=Name(name="NotImplementedError") | Call(func=Name(name="NotImplementedError"))),
        ):
            return True
        case _:
            return False


def _waits_for_start(call: Call) -> bool:
    """Whether a call waits at once for what it starts: `loop.start(interval=1).wait()`."""
    match call.func:
        case Attr(base=Call(func=Attr(name=begins)), name=ends):
            return begins == RUNS and ends in (WAITS, "wait")
        case _:
            return False
