"""Calls: who is called, with what, and what that does: summaries for the project, knowledge tables for libraries."""

from __future__ import annotations

from racelint.analysis.body import (
    MOST_CALLBACKS,
    MOST_CALLS,
    MOST_GUESSED_CALLS,
    MOST_INVOKES,
    Body,
    Conditions,
    Place,
    Summary,
    visible,
)
from racelint.analysis.conditions import holds
from racelint.analysis.loops import iterated
from racelint.analysis.state import Call as CallStep
from racelint.analysis.state import Invoke, Predicate, Resize, State
from racelint.analysis.types import LibraryType
from racelint.analysis.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    Builtin,
    Captured,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Lazy,
    Literal,
    Member,
    ModuleValue,
    Param,
    Partial,
    Result,
    Site,
    Substitute,
    Tuple,
    TypeValue,
    Unknown,
    Value,
    Values,
    bounded,
    copy_of,
    element,
    field,
    lazy,
    union,
    unite,
    view,
)
from racelint.knowledge import Container, LibraryFunction
from racelint.model import Attr, Call, Const, Function, Jump, Name, Star
from racelint.span import Span

Keywords = tuple[tuple[str, Values], ...]
COROUTINE = "coroutine"  # marks a Partial that runs only when it is awaited
_NOWHERE = Span(0, 0, 0, 0)


class Calls(Body):
    """Evaluates attributes and calls."""

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attribute(self, base: Value, name: str, span: Span, state: State) -> Values:
        """The values of `base.name`: a method, what a property returns, or a path."""
        match base:
            case Unknown():
                return NOTHING_KNOWN
            case ModuleValue() | Builtin():
                return self._member(base, name, state)
            case TypeValue(type=type_id):
                method = self.symbols.method(type_id, name)
                if method is not None:
                    return (self._bound(method, base),)
                return self.read(self.place(base, name), state)
            case Partial(callee=Builtin(name="super"), args=((receiver,), *_)):
                return self._inherited(receiver, name)
            case _:
                return self._instance_attribute(base, name, span, state)

    def _member(self, base: Value, name: str, state: State) -> Values:
        found = self.symbols.member(base, name)
        return NOTHING_KNOWN if found is None else self.read(found, state)

    def _instance_attribute(self, base: Value, name: str, span: Span, state: State) -> Values:
        owner = self.types.class_of(base)
        method = self.symbols.method(owner, name) if owner else None
        if method is None:
            return self.read(self.place(base, name), state)
        _, function = self.symbols.functions[method]
        if function.is_property:
            return self.invoke(method, base, (), (), span, state)
        return (self._bound(method, base),)

    def _bound(self, method: str, receiver: Value) -> FunctionValue:
        _, function = self.symbols.functions[method]
        if function.binding == "class" and not isinstance(receiver, TypeValue):
            owner = self.types.class_of(receiver)
            return FunctionValue(method, TypeValue(owner) if owner else receiver)
        unbound = function.binding == "none" or (function.binding == "instance" and isinstance(receiver, TypeValue))
        return FunctionValue(method, None if unbound else receiver)

    def _inherited(self, receiver: Value, name: str) -> Values:
        if self.function.owner is None:
            return NOTHING_KNOWN
        owner = f"{self.source.name}:{self.function.owner}"
        current = self.types.class_of(receiver) or owner
        method = self.symbols.after(current, owner, name)
        return NOTHING_KNOWN if method is None else (self._bound(method, receiver),)

    def place(self, owner: Value, name: str) -> Value:
        """The path of a field: the class's own for what is only ever set on the class, else the object's."""
        type_id = owner.type if isinstance(owner, TypeValue) else self.types.class_of(owner)
        same = self._same_object(owner, name) if isinstance(owner, Field) else None
        if same is not None:
            return same
        declared = self.symbols.class_variable(type_id, name) if type_id is not None else None
        return field(owner, name) if declared is None else Field(TypeValue(declared), name)

    def _same_object(self, owner: Field, name: str) -> Value | None:
        """`self.service.store` as `self.store`, where the constructor gave both the same object for good."""
        holder = self.types.class_of(owner.base)
        constructor = self.symbols.method(holder, "__init__") if holder else None
        if holder is None or constructor is None or constructor == self.id:
            return None
        alias = self.summaries.of(constructor).aliases.get((owner.name, name))
        inner = self.types.class_of(owner)
        if alias is None or inner is None:
            return None
        fixed = self._set_once(holder, owner.name) and self._set_once(holder, alias) and self._set_once(inner, name)
        return field(owner.base, alias) if fixed else None

    def _set_once(self, type_id: str, name: str) -> bool:
        """Whether a field is only ever assigned by the constructor."""
        declared = self.symbols.field(type_id, name)
        return declared is not None and all([v.function.endswith(".__init__") for v in declared[1].values])

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, call: Call, state: State) -> Values:
        """Evaluate a call expression."""
        if isinstance(call.func, Attr):
            bases = self.evaluate(call.func.base, state)
            callees = unite([self._method(base, call.func.name, call.span, state) for base in bases])
        else:
            callees = self.evaluate(call.func, state)
        self.once = any([isinstance(c, Builtin) and self.knowledge.does(c.name, "takes-one") for c in callees])
        args, keywords = self._arguments(call, state)
        self.once = False
        special = self._special(call, callees, args, state)
        if special is not None:
            return special
        results = [self._apply_found(callee, args, keywords, call.span, state) for callee in callees]
        return unite(results)

    def _arguments(self, call: Call, state: State) -> tuple[tuple[Values, ...], Keywords]:
        args: list[Values] = []
        for arg in call.args:
            values = self.evaluate(arg.value if isinstance(arg, Star) else arg, state)
            if isinstance(arg, Star):
                break  # positions after a spread are not known
            args.append(values)
        keywords = [(name, self.evaluate(value, state)) for name, value in call.keywords]
        return tuple(args), tuple([(name, values) for name, values in keywords if name])

    def _method(self, base: Value, name: str, span: Span, state: State) -> Values:
        """What a method call calls; for an object of unknown type the one project method that it can be, if any."""
        if self.frames and isinstance(base, Member | Element):  # a listener may be an object
            self._unknown_callable(Field(base, name), (), (), span, state)
        found = self.attribute(base, name, span, state)
        if found == (Field(base, name),):  # nothing is known of it but its path
            callable_field = self._stored_callable(base, name)
            if callable_field:
                return callable_field
            guess = self._guess(base, name)
            if guess is not None:
                return (Partial(Builtin("guess"), ((FunctionValue(guess, base),),), ()),)
        return found

    def _stored_callable(self, base: Value, name: str) -> Values:
        """The functions that the class's methods put into a field: `self.handler = self.on_event`, a lambda, a partial."""
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
            substitute = Substitute(lambda v, instance=instance: (base,) if v == instance else None, Site(setter, _NOWHERE))
            for value in [v for v in stored if isinstance(v, FunctionValue | Partial)]:
                found = (*found, *[v for v in substitute(value) if v not in found])
        return found

    def _guess(self, base: Value, name: str) -> str | None:
        """The project's method of that name when only one class has it (or the variable is named after the class)."""
        if self.types.of(base) is not None or name in self.knowledge.common_methods or name.startswith("__"):
            return None
        owners = self.symbols.owners(name)
        if len(owners) > 1:
            hint = _hint(base)
            owners = [o for o in owners if hint and o.rpartition(":")[2].rpartition(".")[2].lower() == hint]
        if len(owners) != 1 or self.symbols.subtypes(owners[0]) & set(self.symbols.owners(name)):
            return None
        return self.symbols.method(owners[0], name)

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
            case "setattr" if len(args) == 3 and (name := _text(args[1])):
                for base in args[0]:
                    state.heap[self.place(base, name)] = args[2]
                return NOTHING_KNOWN
            case _:
                return None

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

    def apply(
        self, callee: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """The values that a call of a value returns; its effects are applied to the state."""
        match callee:
            case FunctionValue(function=function, receiver=receiver):
                return self._call_function(function, receiver, args, keywords, call, state)
            case TypeValue(type=type_id):
                return self._construct(type_id, args, keywords, call, state)
            case Partial(callee=Builtin(name="coroutine")):
                return NOTHING_KNOWN
            case Partial(callee=inner, args=given, keywords=named):
                return self.apply(inner, (*given, *args), (*named, *keywords), call, state)
            case Builtin(name=name):
                return self._library(name, args, keywords, call, state)
            case Field(base=base, name=name):
                called = self._call_object(callee, args, keywords, call, state)
                return called if called is not None else self._library_method(base, name, args, call, state)
            case Param() | Captured() | Member() | Element():
                called = self._call_object(callee, args, keywords, call, state)
                if called is not None:
                    return called
                self._unknown_callable(callee, args, keywords, call, state)
                return (Result(self.site(call, state)),)
            case Fresh():
                called = self._call_object(callee, args, keywords, call, state)
                return called if called is not None else (Result(self.site(call, state)),)
            case _:
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
        event = Invoke(callee, args, keywords, self.id, call)
        if visible(callee):
            self.record_invoke(event, [], state)

    # --- functions of the project -------------------------------------------------------------------------------------

    def _call_function(
        self, function_id: str, receiver: Value | None, args: tuple[Values, ...], keywords: Keywords, call: Span,
        state: State,
    ) -> Values:  # fmt: skip
        _, function = self.symbols.functions[function_id]
        given = args if receiver is None else ((receiver,), *args)
        if function.is_async and not function.is_generator:
            return (bounded(Partial(Builtin(COROUTINE), ((FunctionValue(function_id),), *given), keywords)),)
        return self._dispatch(function_id, given, keywords, call, state, receiver)

    def _dispatch(
        self, function_id: str, given: tuple[Values, ...], keywords: Keywords, call: Span, state: State,
        receiver: Value | None,
    ) -> Values:  # fmt: skip
        targets = self._targets(function_id, receiver)
        if targets == [function_id]:
            return self._invoke_one(function_id, given, keywords, call, state)
        return unite([self._invoke_override(target, given, keywords, call, state) for target in targets])

    def run_coroutine(self, value: Partial, call: Span, state: State) -> Values:
        """Run a coroutine object to its end."""
        if value.callee != Builtin(COROUTINE):
            return NOTHING_KNOWN
        (target,), *given = value.args
        assert isinstance(target, FunctionValue)
        receiver = given[0][0] if given and given[0] else None
        return self._dispatch(target.function, tuple(given), value.keywords, call, state, receiver)

    def invoke(
        self, function_id: str, receiver: Value, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        """Run a method now, whatever kind it is."""
        return self._dispatch(function_id, ((receiver,), *args), keywords, call, state, receiver)

    def _targets(self, function_id: str, receiver: Value | None) -> list[str]:
        """The function, and, if it is only there to be overridden, what overrides it."""
        source, function = self.symbols.functions[function_id]
        if receiver is None or not function.owner or not is_abstract(function):
            return [function_id]
        owner = self.types.class_of(receiver) or f"{source.name}:{function.owner}"
        overrides = self.symbols.overrides(owner, function.name)
        return overrides[:4] if 0 < len(overrides) <= 4 else [function_id]

    def _invoke_one(
        self, function_id: str, given: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        summary = self.summaries.of(function_id)
        _, function = self.symbols.functions[function_id]
        bound = self._bind(function, given, keywords)
        return self._replay(function_id, function, summary, bound, call, state)

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

    def _bind(self, function: Function, given: tuple[Values, ...], keywords: Keywords) -> list[Values]:
        """The values of each parameter; one that is not passed has its default."""
        named = dict(keywords)
        bound: list[Values] = []
        for index, parameter in enumerate(function.parameters):
            if parameter.kind == "positional" and index < len(given):
                bound.append(given[index])
            elif parameter.name in named and parameter.kind != "variadic":
                bound.append(named[parameter.name])
            elif isinstance(parameter.default, Const):
                value = parameter.default.value
                bound.append((Literal(value, type(value).__name__ if value is not None else "None"),))
            else:
                bound.append(NOTHING_KNOWN)
        return bound

    def _replay(
        self, function_id: str, function: Function, summary: Summary, bound: list[Values], call: Span, state: State
    ) -> Values:
        """Apply a callee's summary to the state of its caller."""
        site = self.site(call, state)

        def lookup(value: Value) -> Values | None:
            match value:
                case Param(function=owner, index=index) if owner == function_id:
                    return bound[index]
                case Captured(function=owner, name=name) if owner == self.id:
                    return state.variables.get(name, NOTHING_KNOWN)
                case Field(base=base, name=name) if type(base) is not Param or base.function != function_id:
                    path = self.place(base, name)
                    return state.heap.get(path) or ((path,) if path != value else None)
                case _:
                    return state.heap.get(value)

        substitute = Substitute(lookup, site)
        step = CallStep(self.id, call, function_id)
        for event, conditions in list(summary.resizes.items()):
            feasible = self._feasible(conditions, substitute, state)
            if feasible is not None:
                self._replay_resize(event, feasible, substitute, step, state)
        for invoke, during in list(summary.invokes.items()):
            self._replay_invoke(invoke, during, substitute, step, state)
        self._replay_stores(summary, substitute, state)
        if function.is_generator:
            streams = [v for value in summary.streams for v in substitute(value)]
            yields = substitute.values(summary.yields) if summary.yields else ()
            return (lazy("generator", tuple(dict.fromkeys(streams)), () if yields == NOTHING_KNOWN else yields),)
        if not summary.falls_through:
            self.stopped = True
        self._remember_environment(function_id, function, bound, state)
        declared = self.types.returned(function_id)
        results = substitute.values(summary.returns)
        if declared is not None and results == NOTHING_KNOWN:
            name = declared.name if isinstance(declared, LibraryType) else declared.type
            return (Result(site, name),)
        return results

    def _remember_environment(
        self, function_id: str, function: Function, bound: list[Values], state: State
    ) -> None:
        """What a closure that the callee returns will find in its captured parameters."""
        if not any([isinstance(v, FunctionValue) for v in self.summaries.of(function_id).returns]):
            return
        for parameter, values in zip(function.parameters, bound, strict=True):
            variable = Captured(function_id, parameter.name)
            other = state.heap.get(variable, values)
            state.heap[variable] = values if other == values else NOTHING_KNOWN

    def _feasible(self, conditions: Conditions, substitute: Substitute, state: State) -> Conditions | None:
        """A callee's conditions in the caller's terms; None if one of them cannot hold."""
        mine: set[tuple[Predicate, bool]] = set()
        for predicate, outcome in conditions:
            values = substitute(predicate.value)
            if predicate.test == "instance":
                values = tuple([v for v in values if self._may_be(v, str(predicate.scalar))])
                if not values:
                    return None
            elif all([holds(predicate._replace(value=v), state) is (not outcome) for v in values]):
                return None
            if len(values) == 1 and isinstance(values[0], Param):
                mine.add((predicate._replace(value=values[0]), outcome))
        return frozenset(mine)

    def _may_be(self, value: Value, type_id: str) -> bool:
        """Whether an object may be an instance of a class: its static type is one, or lies above it."""
        known = self.types.class_of(value)
        if known is None or known == type_id:
            return True
        return known in self.symbols.subtypes(type_id) or type_id in self.symbols.subtypes(known)

    def _replay_resize(
        self, event: Resize, conditions: Conditions, substitute: Substitute, step: CallStep, state: State
    ) -> None:
        if len(event.calls) >= (MOST_CALLS if event.certain and self.certain else MOST_GUESSED_CALLS):
            return
        keys = substitute.values(event.keys) if event.keys else ()
        added = tuple([v for value in event.added for v in substitute(value)])
        for container in substitute(event.container):
            if container != UNKNOWN and not isinstance(container, Literal):
                moved = event._replace(container=container, keys=keys, calls=(step, *event.calls), added=added)
                self.emit(moved, state, conditions)

    def _replay_invoke(
        self, invoke: Invoke, during: tuple[tuple[Value, Place], ...], substitute: Substitute, step: CallStep, state: State
    ) -> None:
        """A callee calls something that we know here: what that does happens here, in the callee's loops too."""
        if len(invoke.calls) >= MOST_CALLS:
            return
        callees = [v for v in substitute(invoke.callee) if isinstance(v, FunctionValue | Partial) or visible(v)]
        if not callees or isinstance(invoke.callee, Field):
            return
        live = [(v, loop) for value, loop in during for v in substitute(value) if v != UNKNOWN]
        args = tuple([substitute.values(values) for values in invoke.args])
        keywords = tuple([(name, substitute.values(values)) for name, values in invoke.keywords])
        for callee in callees:
            if isinstance(callee, FunctionValue | Partial):
                self._call_back(callee, args, keywords, live, Place(invoke.function, invoke.span), step.span, state)
            else:
                moved = Invoke(callee, args, keywords, invoke.function, invoke.span, (step, *invoke.calls))
                self.record_invoke(moved, [pair for pair in live if visible(pair[0])], state)

    def _call_back(
        self, callee: Value, args: tuple[Values, ...], keywords: Keywords, live: list[tuple[Value, Place]],
        stands: Place, call: Span, state: State,
    ) -> None:  # fmt: skip
        """A function that we know is called from inside a callee, while that iterates `live`."""
        if self._callbacks >= MOST_CALLBACKS:
            return
        self._callbacks += 1
        with self.collecting() as events:
            self.apply(callee, args, keywords, call, state)
        self._callbacks -= 1
        self._conflicts_during(live, stands, events)

    def record_invoke(self, event: Invoke, live: list[tuple[Value, Place]], state: State) -> None:
        """Record the call of a value that only a caller can name."""
        known = self.summary.invokes.get(event, ())
        if event in self.summary.invokes or len(self.summary.invokes) < MOST_INVOKES:
            self.summary.invokes[event] = tuple(dict.fromkeys((*known, *live)))[:MOST_INVOKES]
            if self.frames:
                state.record(event)

    def collecting(self) -> Collecting:
        """Gather the resizes that happen inside a `with`."""
        return Collecting(self)

    def _conflicts_during(self, live: list[tuple[Value, Place]], stands: Place, events: list[Resize]) -> None:
        for event in events:
            for container, loop in live:
                if container == event.container:
                    self.conflict(container, "call", loop, stands, event)

    def element_of(self, value: Value, site: Site) -> Values:
        """What one turn of an iteration over a value yields."""
        raise NotImplementedError

    def conflict(self, container: Value, style: str, loop: Place, at: Place | None, event: Resize) -> None:
        """Record a container that is resized while its iteration goes on."""
        raise NotImplementedError

    def _replay_stores(self, summary: Summary, substitute: Substitute, state: State) -> None:
        """Paths that the callee has given other values."""
        news: dict[Value, Values] = {}
        for path, values in summary.stores.items():
            assigned = substitute.values(values)
            match path:
                case Field(base=base, name=name):
                    targets = [self.place(owner, name) for owner in substitute(base)]
                case Element(base=base, key=key):
                    keys = substitute(key)
                    targets = [element(owner, keys[0]) for owner in substitute(base)] if len(keys) == 1 else []
                case _:
                    targets = [path]
            for target in targets:
                if target != UNKNOWN and not isinstance(target, Captured):
                    news[target] = assigned if len(targets) == 1 else union(assigned, self.read(target, state))
                elif isinstance(target, Captured) and target.function == self.id:
                    state.assign(target.name, assigned)
                elif isinstance(target, Captured):
                    news[target] = assigned
        state.heap.update(news)

    def _construct(
        self, type_id: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        made = Fresh(type_id, self.site(call, state))
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

    def _library(
        self, name: str, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> Values:
        site = self.site(call, state)
        container_type, _, method = name.rpartition(".")
        if container_type and args and self.knowledge.container(container_type) is not None:
            return unite([self._library_method(base, method, args[1:], call, state) for base in args[0]])  # dict.pop(d, k)
        row = self.knowledge.does(name, "calls-while-iterating")
        if row is not None:
            self._calls_while_iterating(row, args, keywords, call, state)
        for row in self.knowledge.rows(name):
            found = self._by_row(row, name, args, keywords, site, state)
            if found is not None:
                return found
        if self.knowledge.container(name) is not None or name in self.knowledge.aliases:
            return (Fresh(self.knowledge.canonical(name), site),)
        last = name.rpartition(".")[2]
        if last[:1].isupper() and not last.isupper():
            return (Fresh(name, site),)  # the class of a library
        base, _, last = name.rpartition(".")
        if base and self.types.of(Builtin(base)) is not None:
            return self._library_method(Builtin(base), last, args, call, state)
        return (Result(site),)

    def _by_row(
        self, row: LibraryFunction, name: str, args: tuple[Values, ...], keywords: Keywords, site: Site, state: State
    ) -> Values | None:
        first = args[0] if args else ()
        match row.does:
            case "snapshot":
                kind = "list" if name == "sorted" else name
                if not first or self.knowledge.container(name) is None and name not in ("sorted", "copy.copy"):
                    return (Fresh(kind, site),)
                return tuple([self.copied(v, site, "" if name == "copy.copy" else kind) for v in first])
            case "deep-copy":
                return tuple([Fresh(self._type_name(v), site) for v in first]) or NOTHING_KNOWN
            case "lazy":
                skipped = self.knowledge.does(name, "calls-while-iterating")
                sources = [v for i, values in enumerate(args) if not (skipped and i == 0) for v in values]
                kind = name.rpartition(".")[2]
                return (lazy(kind, tuple(sources)),)
            case "view" if first:
                return tuple([view(v, row.returns) for v in first])
            case "same" if len(args) > row.argument:
                return args[row.argument]
            case "awaits":
                return tuple([v for values in args for v in values if isinstance(v, Partial)]) or NOTHING_KNOWN
            case "picks" if first:
                picked = unite([self.element_of(v, site) for v in first])
                state.present |= {(key.base, key) for key in picked if isinstance(key, Member)}
                return picked
            case "never-returns":
                self.stopped = True
                return NOTHING_KNOWN
            case "partial" if args:
                return tuple([UNKNOWN if v == UNKNOWN else bounded(Partial(v, args[1:], keywords)) for v in first])
            case _:
                return None

    def _calls_while_iterating(
        self, row: LibraryFunction, args: tuple[Values, ...], keywords: Keywords, call: Span, state: State
    ) -> None:
        callables = dict(keywords).get(row.keyword, ()) if row.keyword else args[row.callable] if args else ()
        if len(args) <= row.iterable:
            return
        here = Place(self.id, call)
        live = [(container, here) for value in args[row.iterable] for container, _ in iterated(value)]
        elements = NOTHING_KNOWN
        for callee in callables:
            if isinstance(callee, FunctionValue | Partial):
                with self.collecting() as events:
                    self.apply(callee, (elements,), (), call, state)
                self._conflicts_during(live, here, events)

    def _library_method(
        self, base: Value, name: str, args: tuple[Values, ...], call: Span, state: State
    ) -> Values:
        """A method of a container, or of something that may be one; of any other type nothing is known."""
        container = self.types.container(base)
        known = container is not None
        if container is None:
            if self.types.of(base) is not None or base == UNKNOWN:
                return (Result(self.site(call, state)),)
            container = self.knowledge.guess
        if name in container.views and not args:
            return (view(base, container.views[name]),)
        if name in container.copies:
            return (self.copied(base, self.site(call, state)),)
        position = container.insert.get(name, 0)
        keys = args[position] if 0 <= position < len(args) else ()
        key = keys[0] if len(keys) == 1 else UNKNOWN
        result: Values = (Result(self.site(call, state)),)
        if name in container.reads and container.kind != "list":
            result = self.read(element(base, key), state) if key != UNKNOWN else NOTHING_KNOWN
        change = container.change(name)
        if change is not None and not (name == "update" and self._adds_nothing(args, base, state)):
            added = tuple([v for values in args for v in values])
            self.change(base, change, f".{name}()", keys, call, state, added=added, certain=known)
        return result

    def _adds_nothing(self, args: tuple[Values, ...], base: Value, state: State) -> bool:
        """`d.update(x)` where x is empty or made of keys that are there."""
        for value in args[0] if args else ():
            keys = self.displays.get(value)
            if keys is None or not all([(base, key) in state.present for key in keys]):
                return False
        return True

    # --- copies -------------------------------------------------------------------------------------------------------

    def copied(self, value: Value, site: Site, kind: str = "") -> Value:
        """A fresh container with the elements of another; of something unknown just a fresh one."""
        if isinstance(value, Unknown | Literal | Tuple) or (isinstance(value, Lazy) and value.kind in ("generator", "map")):
            return Fresh(kind or "list", site) if kind else UNKNOWN
        return copy_of(value, kind or self._type_name(value), site)

    def _type_name(self, value: Value) -> str:
        found = self.types.of(value)
        if found is None:
            return ""
        return found.name if isinstance(found, LibraryType) else found.type


class Collecting:
    """Gathers the resizes that are emitted while it is entered."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __enter__(self) -> list[Resize]:
        self._outer = self._body.emitted
        self._events: list[Resize] = []
        self._body.emitted = self._events
        return self._events

    def __exit__(self, *_: object) -> None:
        self._body.emitted = self._outer
        if self._outer is not None:
            self._outer.extend(self._events)


def _text(values: Values) -> str:
    value = values[0] if len(values) == 1 else None
    return value.value if isinstance(value, Literal) and isinstance(value.value, str) else ""


def _hint(value: Value) -> str:
    """The name by which an object goes, to compare with the names of classes."""
    name = value.name if isinstance(value, Field | Captured) else ""
    return name.replace("_", "").lower()


def is_abstract(function: Function) -> bool:
    """Whether a method only says that subclasses have one."""
    match function.body:
        case ():
            return True
        case (Jump(kind="raise", value=Name(name="NotImplementedError") | Call(func=Name(name="NotImplementedError"))),):
            return True
        case _:
            return False
