"""What libraries and remembering functions hand out: shared objects, stores of them, copies and parts of objects."""

from __future__ import annotations

import re
from abc import abstractmethod

from racelint.analysis.body import Body, Keywords
from racelint.analysis.existence import says_of
from racelint.analysis.homemade import BY_HAND, ByHand
from racelint.analysis.paths import copy_of, root
from racelint.analysis.sharing import Registration
from racelint.analysis.state import State
from racelint.analysis.type_names import RESULTS
from racelint.analysis.types import ClassType, LibraryType, TypeOf
from racelint.analysis.values import (
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
    Param,
    Partial,
    Result,
    Site,
    Tuple,
    TypeValue,
    Unknown,
    Value,
    Values,
)
from racelint.analysis.wrapping import is_view
from racelint.analysis.written import dotted
from racelint.knowledge.sharing import CacheRow, HandlerRow, matches
from racelint.model import Attr, Build, Call, Expr, Function, Item, Jump, Name, Source
from racelint.record import records
from racelint.span import Span

CACHES = re.compile("cache", re.IGNORECASE)
_MADE = frozenset({Fresh, Result, Unknown})


class Handing(Body):
    """Tells what calls give that others hold, too."""

    sink: Expr | None = None  # the expression of what is changed or called, as the source has it
    several = False  # it may be one of several objects

    def remembered(self, function_id: str, function: Function, results: Values, call: Span, state: State) -> Values:
        """What a function that remembers its results has made is shared by all who call it."""
        gives = self._remembers(function_id, function)
        if not gives:
            return results
        site = self.site(call, state)
        if gives == BY_HAND:
            data = [v for v in results if type(v) is Element or self._is_kept_data(v)]
            return tuple(
                dict.fromkeys([Cached(function_id, site, self.type_name(v)) if v in data else v for v in results])
            )
        results = (Result(site),) if function.is_generator else results  # a coroutine by the decorator's doing
        kept = [v for v in results if self._is_kept_data(v)]
        found = {v: self._given_again(function_id, gives, site, self.type_name(v)) for v in kept}
        return tuple(dict.fromkeys([found.get(v, v) for v in results]))

    @staticmethod
    def _given_again(function_id: str, gives: str, site: Site, type_name: str) -> Value:
        if gives == "collection":
            return Copy(Cached(function_id, site), type_name, site)
        return Cached(function_id, site, type_name)

    def _is_kept_data(self, value: Value) -> bool:
        """Whether a value is new, and data rather than an object with a life of its own."""
        if type(value) not in _MADE:
            return False
        container = self.types.container(value)
        return container.kind != "immutable" if container is not None else self.types.of(value) is None

    def _remembers(self, function_id: str, function: Function) -> str:
        """What a function that remembers gives again: "object", "collection", "" if it does not."""
        known = self.summaries.remembering.get(function_id)
        if known is None:
            source, _ = self.symbols.functions[function_id]
            found = [self._memo(source.name, decorator) for decorator in function.decorators]
            if not found:
                return self._remembers_by_hand(function_id, source, function)
            own = self._begins_empty(source.name, function) or is_view(function_id, function, self.summaries)
            known = "" if own else max(found)
            self.summaries.remembering[function_id] = known
        return known

    def _remembers_by_hand(self, function_id: str, source: Source, function: Function) -> str:
        """Whether a function keeps what it has fetched in a cache of its own making."""
        known = ""
        if self.traits.duck_typed and self._speaks_of_caches(source):
            is_one = ByHand(self.knowledge.sharing, lambda cache: self._keeps(cache, function_id, source)).remembers(
                function
            )
            known = BY_HAND if is_one else ""
        self.summaries.remembering[function_id] = known
        return known

    def _speaks_of_caches(self, source: Source) -> bool:
        known = self.summaries.caching.get(source.path)
        if known is None:
            known = self.summaries.caching[source.path] = CACHES.search(source.module.words) is not None
        return known

    def _keeps(self, cache: Expr, function_id: str, source: Source) -> bool:
        """Whether an expression is called a cache, and is none that writes down what it is given, and reads it again.

        Those of libraries mostly do, or live in another process; a class of the project is asked by its methods.
        """
        if not any(self.knowledge.sharing.says(part, "cache") for part in dotted(cache).split(".")):
            return False
        path = self._named_path(cache, function_id, source.name)
        if isinstance(path, Builtin):
            return False
        match self.types.of(path) if path is not None else None:
            case LibraryType() as kind:
                return self.types.structures.behaviour(kind) is not None
            case ClassType(type=type_id):
                source, record = self.symbols.types[type_id]
                bodies = [source.module.functions[name].body for name in record.methods.values()]
                writers = self.knowledge.sharing.names("serialises")
                return writers.isdisjoint(node.name for node in records(tuple(bodies)) if isinstance(node, Attr | Name))
            case _:
                return True

    def _named_path(self, cache: Expr, function_id: str, module: str) -> Value | None:
        """What a dotted name in a function says, where nothing else is known of it."""
        function = self.symbols.functions[function_id][1]
        match cache:
            case Name(scope="global"):
                return self.symbols.static(module, cache)
            case Name(name=name):
                names = [parameter.name for parameter in function.parameters]
                return Param(function_id, names.index(name)) if name in names else None
            case Attr(base=base, name=name):
                inner = self._named_path(base, function_id, module)
                return Field(inner, name) if inner is not None else None
            case _:
                return None

    def _begins_empty(self, module: str, function: Function) -> bool:
        """Whether all that a function does is to make an empty container: a place to keep things, not a result."""
        match function.body:
            case (Jump(kind="return", value=Build(parts=())),):
                return True
            case (Jump(kind="return", value=Call(func=func, args=args)),):
                made = self.symbols.static(module, func)
                filled = any(isinstance(arg, Build | Call | Item) for arg in args)
                return isinstance(made, Builtin) and self.knowledge.container(made.name) is not None and not filled
            case _:
                return False

    def _memo(self, module: str, decorator: Expr) -> str:
        named = decorator.func if isinstance(decorator, Call) else decorator
        match self.symbols.static(module, named):
            case Builtin(name=name):
                row = self.knowledge.sharing.memos.get(name) if "." in name else None
            case FunctionValue(function=identifier) | TypeValue(type=identifier):
                row = self.knowledge.sharing.memo(identifier.rpartition(":")[2].rpartition(".")[2])
            case _:
                row = None
        return row.gives if row is not None else ""

    def handed_out(
        self, base: Value, name: str, keywords: Keywords, call: Span, state: State, declared: TypeOf | None = None
    ) -> Values | None:
        """What a method of a library gives of its object: a shared one, a store of such, a copy, a part.

        None if nothing is known of it; `declared` is the type of the result where that is.
        """
        deep = self.knowledge.does(f"*.{name}", "deep-copy")
        if deep is not None and (
            not deep.keyword or any([n == deep.keyword and v == (Literal(True, "bool"),) for n, v in keywords])
        ):
            made = Result(self.site(call, state), self.types.text(declared) or self._own_name(base))
            self.deep_copies[made] = base
            return (made,)
        found = self.types.of(base)
        type_name = self.type_name(base) if found is not None else ""
        part = self.knowledge.does(f"*.{name}", "part")
        if part is not None and not matches(type_name, part.types):
            return self.read(self.place(base, part.returns), state)
        row = self.knowledge.sharing.cache(type_name, dotted(self.sink), name)
        if row is not None:
            source = f"{dotted(self.sink) or type_name}.{name}()"
            if not self.traits.duck_typed:
                self.summaries.stores.draw(source, call, base)
            return self._given_by(row, source, call, state, declared)
        if type_name and self.knowledge.sharing.is_store(type_name) and declared is None:
            return (Result(self.site(call, state), type_name),)
        return None

    def _own_name(self, base: Value) -> str:
        """The type of an object of the project's, for what is made from it."""
        owner = self.types.class_of(base)
        return owner or ""

    def _given_by(self, row: CacheRow, source: str, call: Span, state: State, declared: TypeOf | None) -> Values:
        site = self.site(call, state)
        if row.gives == "store":
            return (Result(site, self.types.text(declared) or row.returns),)
        results = declared.args if isinstance(declared, LibraryType) and declared.name == RESULTS else (declared,)
        type_name = self.types.text(results[0] if results else None)
        if row.gives == "collection" and not self.traits.duck_typed:
            type_name = type_name or "[]"
        shared: Value = Cached(source, site, type_name)
        if row.gives == "collection":
            shared = copy_of(shared, type_name or "list", site)
        rest = [(says_of(site),) if i == row.found else NOTHING_KNOWN for i in range(1, row.results)]
        return (Tuple(((shared,), *rest)),) if rest else (shared,)

    def given_outright(
        self, function_id: str, receiver: Value, args: tuple[Values, ...], call: Span, state: State
    ) -> Values | None:
        """What a method gives of which only the declaration is known, and what it changes; a deep copy, anyway."""
        _, function = self.symbols.functions[function_id]
        name, declared = function.name, self.types.returned(function_id)
        if function.body and self.knowledge.does(f"*.{name}", "deep-copy") is None:
            return None
        given = self.handed_out(receiver, name, (), call, state, declared)
        if function.body:
            return given
        if given is None and name.startswith("Get") and not args:
            given = self._getter(receiver, name.removeprefix("Get"), declared, state)
        self.library_writes(receiver, name, args, call, state)
        return given

    def _getter(self, receiver: Value, field_name: str, declared: TypeOf | None, state: State) -> Values | None:
        """What a generated getter gives: the field of its name."""
        owner = self.types.class_of(receiver)
        if owner is None or declared is None or field_name not in self.symbols.types[owner][1].fields:
            return None
        kept = self.types.field(owner, field_name)
        return self.read(self.place(receiver, field_name), state) if kept == declared else None

    def filled_by(self, name: str, args: tuple[Values, ...], call: Span, state: State) -> bool:
        """Whether a method puts shared objects into what it is given; if so, it has."""
        if name not in self.knowledge.sharing.filling:
            return False
        given = [v for values in (*args, self.spread) for v in values]
        named = [v for v in given if isinstance(v, Builtin | Global)]
        made = {v: v.type for v in given if isinstance(v, Fresh)}
        chosen = [f"{made[p.base]}.{p.name}" for p in state.heap if isinstance(p, Field) and p.base in made]
        row = self.knowledge.sharing.fill(name, [*[_named(value) for value in named], *chosen])
        if row is None or row.argument >= len(args):
            return False
        site = self.site(call, state)
        self.summaries.hints.exact.add(call)
        source = f"{dotted(self.sink)}.{name}()"
        for value in args[row.argument]:
            path = self.place(value, row.field) if row.field else value
            if path == UNKNOWN:
                continue
            found = self.types.of(path)
            item = self.types.structures.element(found, "value") if row.field else found
            shared = copy_of(Cached(source, site, self.types.text(item)), self.types.text(item), site)
            if row.field:
                filled = Fresh(self.types.text(found) or "[]", site)
                self.put(filled, shared)
                state.heap[path] = (filled,)
            elif isinstance(value, Fresh):
                self.copies[value] = shared
        return True

    def picked_by(self, name: str, args: tuple[Values, ...], call: Span, state: State) -> Values | None:
        """What a method gives that looks some elements out of a sequence."""
        row = self.knowledge.does(f"*.{name}", "subset")
        if row is None:
            return None
        given = [v for values in args for v in values]
        sequences = [v for v in given if (found := self.types.container(v)) is not None and found.sequence]
        site = self.site(call, state)
        picked = tuple([copy_of(value, self.type_name(value), site) for value in sequences]) or NOTHING_KNOWN
        return (Tuple((picked, *[NOTHING_KNOWN] * (row.results - 1))),) if row.results > 1 else picked

    def library_writes(
        self, base: Value, name: str, args: tuple[Values, ...], call: Span, state: State
    ) -> None:  # fmt: skip
        """What a method of a library changes: its object, or what it is given."""
        found = self.types.of(base)
        library = found.name if isinstance(found, LibraryType) else "*"
        row = self.knowledge.does(f"{library}.{name}", "writes")
        if row is None:
            return
        if row.argument < 0:
            if not self.is_held_here(self.sink, base, state, by_type=False):
                self.mutate(base, f".{name}()", "field", call, state)
        elif row.argument < len(args):
            for value in args[row.argument]:
                self.mutate(value, f".{name}()", "content", call, state)

    @abstractmethod
    def is_held_here(self, expr: Expr | None, owner: Value, state: State, *, by_type: bool = True) -> bool:
        """Whether an object is a copy that this function holds by value."""

    # --- stores -------------------------------------------------------------------------------------------------------

    def _keep_signals(self, path: Value, values: Values) -> None:
        """A channel or a group that is made here and put into a field is known by that to others."""
        if not isinstance(path, Field):
            return
        for value in values:
            if isinstance(value, Fresh) and (value.type.startswith("chan") or self._is_group(value)):
                self.kept_in.setdefault(value, path)
            if isinstance(value, Fresh) and value.type.startswith("chan") and value not in self.shared_locals:
                self.effects.own_channels.setdefault(value, path)

    def _is_group(self, value: Fresh) -> bool:
        return value.type in self.knowledge.concurrency.groups

    def keep_store(self, path: Value, values: Values) -> None:
        """A field or variable is given values: stores among them are known by its name, too."""
        self._keep_signals(path, values)
        if not self.traits.duck_typed and isinstance(path, Field | Global | Captured):
            self.summaries.stores.keep(path, values)

    def hand_stores(self, args: tuple[Values, ...]) -> None:
        """Something unknown is given values: it may fill the stores among them."""
        if not self.traits.duck_typed:
            self.summaries.stores.give_away(args)

    def add_to_store(self, store: Value, name: str, args: tuple[Values, ...], call: Span) -> None:
        """A method of a store that may put what it is given into it."""
        found = self.types.of(store)
        if isinstance(found, LibraryType) and self.knowledge.does(f"{found.name}.{name}", "keeps"):
            given = [value for values in args for value in values]
            held = [content.value for value in given for content in self.filled.get(value, ())]
            self.summaries.stores.add(store, (*given, *held))
            self.summaries.stores.filling.add((self.id, call))

    # --- functions that objects keep ---

    def keep_function(self, type_id: str, name: str, values: Values) -> None:
        """A field is given values: functions among them are called by whoever has the object."""
        kept = [value for value in values if isinstance(value, FunctionValue | Param)]
        if kept and self._is_function(type_id, name):
            self.summaries.hints.kept.setdefault((type_id, name), {}).update(dict.fromkeys(kept))

    def call_kept(self, base: Value, name: str, args: tuple[Values, ...], call: Span) -> None:
        """A function that an object keeps is called: with shared objects, if these come out of a cache."""
        owner = self.types.class_of(base)
        shared = any([isinstance(root(value), Cached) for values in args for value in values])
        if owner is not None and shared and self._is_function(owner, name):
            self.summaries.hints.told.setdefault((owner, name), Registration(self.id, call, name))

    def _is_function(self, type_id: str, name: str) -> bool:
        return self.types.annotations.structure(self.types.field(type_id, name)) == LibraryType("func")

    # --- registrations ------------------------------------------------------------------------------------------------

    def registered_fields(
        self, type_name: str, fields: list[tuple[str, Values]], parts: list[Values], span: Span
    ) -> None:  # fmt: skip
        """A library's object is made that has functions which it is told of shared objects."""
        row = self.knowledge.sharing.carriers.get(type_name)
        if row is None:
            return
        told = [values for name, values in fields if name in row.fields] if row.fields else parts
        for value in [v for values in told for v in values]:
            self._register(value, row, span, type_name.rpartition(".")[2])

    def _register(self, value: Value, row: HandlerRow, span: Span, name: str) -> None:
        for handler in self._handlers(value, row):
            self.summaries.hints.handlers.setdefault(handler, Registration(self.id, span, name))

    def registered(self, call: Call, args: tuple[Values, ...], keywords: Keywords) -> None:
        """A method that registers functions to be called with shared objects."""
        assert isinstance(call.func, Attr)
        given = (*args, *[values for _, values in keywords])
        receiver = dotted(call.func.base) if self.traits.duck_typed else None
        row = self.knowledge.sharing.handler(call.func.name, receiver)
        for value in [v for values in given for v in values] if row is not None else ():
            assert row is not None
            self._register(value, row, call.span, call.func.name)

    def _handlers(self, value: Value, row: HandlerRow) -> list[str]:
        if isinstance(value, Partial):
            value = value.callee
        if isinstance(value, FunctionValue):
            return [value.function]
        owner = self.types.class_of(value)
        if owner is None:
            return []
        return self.symbols.methods_like(owner, row.methods)

    def type_name(self, value: Value) -> str:
        """The type of a value, by the name that values carry."""
        found = self.types.of(value)
        return "" if found is None else str(getattr(found, "type", "") or found.name)  # type: ignore[union-attr]


def _named(value: Builtin | Global) -> str:
    return value.name if isinstance(value, Builtin) else f"{value.module}.{value.name}"


def named_in(expr: Expr) -> tuple[str, ...]:
    """The fields and global variables that an access path names."""
    names: list[str] = []
    while isinstance(expr, Attr | Item | Call):
        if isinstance(expr, Attr):
            names.append(expr.name)
        expr = expr.func if isinstance(expr, Call) else expr.base
    if isinstance(expr, Name) and expr.scope == "global":
        names.append(expr.name)
    return tuple(names)
