"""Origins: which objects are shared, what containers made here hold, and which objects a function changes in place."""

from __future__ import annotations

from racelint.analysis.body import MOST_CALLS, MOST_GUESSED_CALLS, Body, Keywords, Summary, visible
from racelint.analysis.paths import Substitute, copy_of, prefixes, rebased, root
from racelint.analysis.sharing import MOST_CHANGES, MOST_CONTENTS, Change, Content, Registration
from racelint.analysis.state import Call as CallStep
from racelint.analysis.state import Conditions, State
from racelint.analysis.values import (
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
    Partial,
    Result,
    Site,
    TypeValue,
    Unknown,
    Value,
    Values,
    View,
)
from racelint.knowledge.sharing import HandlerRow
from racelint.model import Attr, Build, Call, Expr, Function, Item, Jump, Name
from racelint.span import Span

SPREADS = frozenset({".update()", ".extend()", ".extendleft()", "|=", "+="})  # operations that take over elements
READS = frozenset({"[...]"})  # an entry that reading adds is no change of the object's content
NESTED = 3  # containers made here that lie in each other

_ROOTS = frozenset({Param, Captured, Global, TypeValue, Cached})
_MADE = frozenset({Fresh, Result, Unknown})


class Origins(Body):
    """Follows shared objects through one function."""

    sink: Expr | None = None  # the expression of what is changed, as the source has it

    # --- changes ------------------------------------------------------------------------------------------------------

    def mutate(self, target: Value, operation: str, kind: str, span: Span, state: State, keys: Values = ()) -> None:
        """An object is changed in place."""
        start = type(root(target))
        if type(target) is Copy and kind == "content" and start in _ROOTS:
            self.summary.reworked.add(target)
        if type(target) is Copy or operation in READS or (start not in _ROOTS and start is not Fresh):
            return
        names = named_in(self.sink) if self.sink is not None else ()
        change = Change(target, kind, operation, names, self.id, span, (), self.certain, keys)
        for path in self._shared_paths(target):
            self._record(change._replace(target=path), state.conditions())

    def _shared_paths(self, target: Value, nested: int = NESTED) -> Values:
        """A path in terms of what does not only exist here: what lies in a container made here keeps its origin."""
        start = root(target)
        if type(start) is not Fresh:
            return (target,) if type(start) in _ROOTS and type(target) is not Copy else ()
        contents = self.filled.get(start)
        if not contents or target == start or nested <= 0:
            return ()
        way = prefixes(target)
        step = next((p for p in way[1:] if not isinstance(p, Copy | View)), None)
        found: list[Value] = []
        for content in _at(step, contents):
            old, new = (start, content.value) if content.spread else (step, content.value)
            assert old is not None
            found += self._shared_paths(rebased(target, old, new), nested - 1)
        return tuple(dict.fromkeys(found))[:MOST_CONTENTS]

    def _record(self, change: Change, conditions: Conditions) -> None:
        key = (change.target, change.kind)
        known = self.summary.changes.get(key)
        if known is not None:
            self.summary.changes[key] = (known[0], known[1] & conditions)
        elif len(self.summary.changes) < MOST_CHANGES:
            self.summary.changes[key] = (change, conditions)

    def replay_changes(self, summary: Summary, substitute: Substitute, step: CallStep, state: State) -> None:
        """What a callee changes of the objects that it gets hold of, in this function's terms."""
        for change, conditions in list(summary.changes.values()):
            if len(change.calls) >= (MOST_CALLS if change.certain and self.certain else MOST_GUESSED_CALLS):
                continue
            targets = substitute(change.target) if visible(change.target) else ()
            targets = tuple([path for target in targets for path in self._shared_paths(target)])
            feasible = self.feasible(conditions, substitute, state) if targets and conditions else conditions
            if feasible is None:
                continue
            moved = change._replace(calls=(step, *change.calls), certain=change.certain and self.certain)
            for target in targets:
                self._record(moved._replace(target=target), feasible | state.conditions())

    def replay_contents(self, summary: Summary, substitute: Substitute) -> None:
        """What lies in containers that the callee has made and returns."""
        for made, contents in summary.contents.items():
            for moved in substitute(made):
                for content in contents:
                    for value in substitute(content.value):
                        key = content.key if isinstance(content.key, Literal) else None
                        self.put(moved, value, key, spread=content.spread)

    # --- containers made here -----------------------------------------------------------------------------------------

    def fill(
        self, container: Value, operation: str, values: Values, span: Span, state: State, key: Value | None = None
    ) -> None:
        """Values become entries of a container; of a mapping that takes over another one, that one's entries."""
        spread = operation in SPREADS
        for value in values:
            self.put(container, value, key, spread=spread, site=Site(self.id, span) if spread else None)
        if isinstance(container, Field) and values:
            self._keep(container, values)

    def put(
        self, container: Value, value: Value, key: Value | None = None, *, spread: bool = False,
        site: Site | None = None,
    ) -> None:  # fmt: skip
        """Remember a value that lies in a container made here."""
        if type(container) is not Fresh or isinstance(value, Literal | Unknown) or value == container:
            return
        known = self.filled.setdefault(container, ())
        content = Content(copy_of(value, "", site) if site is not None else value, spread, key)
        if content not in known and len(known) < MOST_CONTENTS:
            self.filled[container] = (*known, content)

    def _keep(self, path: Field, values: Values) -> None:
        """A field gets entries: whether they come from outside its class."""
        owner = self.types.class_of(path.base)
        if owner is None:
            return
        declared = self.symbols.field(owner, path.name)
        key = (declared[0] if declared else owner, path.name)
        hints = self.summaries.hints
        hints.filled[key] = hints.filled.get(key, False) or any([self._is_outside(v) for v in values])

    def _is_outside(self, value: Value, nested: int = NESTED) -> bool:
        """Whether an object was given to this function, or came out of a call of which nothing is known."""
        start = root(value)
        if isinstance(start, Fresh):
            contents = self.filled.get(start, ())
            return nested > 0 and any([self._is_outside(c.value, nested - 1) for c in contents])
        own = bool(self.function.owner) and self.function.binding != "none"
        return isinstance(start, Result | Cached) or (isinstance(start, Param) and start.index >= own)

    # --- sources ------------------------------------------------------------------------------------------------------

    def remembered(self, function_id: str, function: Function, results: Values, call: Span, state: State) -> Values:
        """What a function that remembers its results has made is shared by all who call it."""
        gives = self._remembers(function_id, function) if function.decorators else ""
        if not gives:
            return results
        site = self.site(call, state)
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
            known = "" if self._begins_empty(source.name, function) else max(found)
            self.summaries.remembering[function_id] = known
        return known

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
        self, base: Value, name: str, keywords: Keywords, call: Call | Span, state: State
    ) -> Values | None:  # fmt: skip
        """What a method of a library's cache hands out; what a copying method gives that was asked for a deep copy."""
        span = call.span if isinstance(call, Call) else call
        deep = self.knowledge.does(f"*.{name}", "deep-copy")
        if deep is not None and any([n == deep.keyword and v == (Literal(True, "bool"),) for n, v in keywords]):
            return (Result(self.site(span, state)),)
        if name not in self.knowledge.sharing.methods:
            return None
        found = self.types.of(base)
        type_name = self.type_name(base) if found is not None else ""
        row = self.knowledge.sharing.cache(type_name, dotted(self.sink), name)
        if row is None:
            return None
        site = self.site(span, state)
        shared = Cached(f"{dotted(self.sink) or type_name}.{name}()", site)
        return (copy_of(shared, "list", site),) if row.gives == "collection" else (shared,)

    def registered(self, call: Call, args: tuple[Values, ...], keywords: Keywords) -> None:
        """A method that registers functions to be called with shared objects."""
        assert isinstance(call.func, Attr)
        given = (*args, *[values for _, values in keywords])
        texts = any([isinstance(v, Literal) and isinstance(v.value, str) for values in given for v in values])
        row = self.knowledge.sharing.handler(call.func.name, dotted(call.func.base), texts=texts)
        for value in [v for values in given for v in values] if row is not None else ():
            assert row is not None
            for handler in self._handlers(value, row):
                registration = Registration(self.id, call.span, call.func.name)
                self.summaries.hints.handlers.setdefault(handler, registration)

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


def _at(step: Value | None, contents: tuple[Content, ...]) -> list[Content]:
    """What may lie where a step into a container leads: under a known key what was put there, else all of it."""
    if not isinstance(step, Element | Member):
        return []
    key = step.key if isinstance(step, Element) else None
    if not isinstance(key, Literal):  # under a key of this turn of a loop lies nothing that an earlier turn put there
        return [c for c in contents if c.key is None or c.key != key or not isinstance(key, Member)]
    named = [content for content in contents if content.key == key]
    return named or [content for content in contents if not isinstance(content.key, Literal)]


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


def dotted(expr: Expr | None) -> str:
    """A path of names as text; what is no name is left out."""
    match expr:
        case Name(name=name):
            return name
        case Attr(base=base, name=name):
            inner = dotted(base)
            return f"{inner}.{name}" if inner else name
        case Call(func=func):
            return dotted(func)
        case Item(base=base):
            return dotted(base)
        case _:
            return ""
