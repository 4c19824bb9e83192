"""Fields that a constructor stores for the first time when it has started the thread that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from racelint.analysis.branching import loops_around
from racelint.analysis.catching import Catching
from racelint.analysis.concrete import Concrete
from racelint.analysis.contexts import Context, Contexts, Entry
from racelint.analysis.effects import IN_PLACE, Access, Effects
from racelint.analysis.iteration import iterated_expression
from racelint.analysis.lifecycle import is_closing
from racelint.analysis.objects import SHARED
from racelint.analysis.places import Located, Place, Places
from racelint.analysis.spots import Pair, Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin, Field, Param
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Block, Branch, Build, Call, Const, Expr, Name, Op, Stmt
from racelint.record import records
from racelint.span import Span

MOST_CALLS = 4  # from the thread's root to the read
MOST_OWN_CALLS = 2  # of methods of the object, from its constructor to what makes something run
LATER = re.compile("timer|later|delay|schedule", re.IGNORECASE)
PAUSES = frozenset({"wait", "sleep", "acquire"})


class LateFields:
    """Finds one such store for each field: until it is made, the thread meets an AttributeError."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts, knowledge: Knowledge
    ) -> None:
        self._symbols = symbols
        self._knowledge = knowledge
        self._catching = Catching(symbols, knowledge.sharing.names("catches-all"))
        self._effects = effects
        self._places = places
        self._contexts = contexts
        rows = knowledge.concurrency.starts.values()
        self._driving = frozenset({"start"}.union(*[row.driving for row in rows]))
        self._concrete = Concrete(symbols, effects, contexts)
        self._started = {i for i, context in enumerate(contexts.roots) if context.kind in ("thread", "pool")}
        self._entered: dict[int, list[tuple[str, Entry]]] = {}
        for function_id, entries in contexts.entries.items():
            ends = is_closing(symbols.functions[function_id][1].name)  # it comes when the object has been in use
            for entry in entries if not ends else ():
                if entry.context in self._started and entry.sure:
                    self._entered.setdefault(entry.context, []).append((function_id, entry))

    def all(self) -> Iterator[Pair]:
        """One for each field, in the order of the constructors."""
        for function_id in self._effects:
            source, function = self._symbols.functions[function_id]
            if function.name == "__init__" and function.owner and source.reported and function.parameters:
                yield from self._of_constructor(function_id, function.parameters[0].name)

    def _of_constructor(self, function_id: str, own: str) -> Iterator[Pair]:
        started = self._contexts.started_under.get(function_id, frozenset()) & self._started
        body = self._symbols.functions[function_id][1].body if started else ()
        told: set[str] = set()
        for context in sorted(started):
            index = self._start(function_id, body, context)
            if index is None:
                continue
            early = _stored(body[: index + 1], own)
            for stmt in body[index + 1 :]:
                for target in [t for t in _targets(stmt, own) if t.name not in early]:
                    early[target.name] = target.span
                    pair = self._read(function_id, target, stmt, context)
                    if pair is not None and target.name not in told:
                        told.add(target.name)
                        yield pair

    def _start(self, function_id: str, body: Block, context: int) -> int | None:
        """Which statement of a constructor starts a context, itself or by a call."""
        root, effects = self._contexts.roots[context], self._effects[function_id]
        calling = [
            site.span
            for site in effects.calls.values()
            if isinstance(site.callee, str) and self._starts_at_once(site.callee, root)
        ]
        made = root.span if root.starter == function_id else None
        here = [start for start in effects.starts.values() if start.span == made and start.kind != "binding"]
        if here and all(start.through for start in here):
            return None  # a helper of the program's own runs it, when there is something to do
        if root.starter is not None and root.span is not None and self._is_delayed(root.starter, root.span):
            return None
        for index, stmt in enumerate(body):
            if any(stmt.span.holds(span) for span in calling):
                return index
            if root.kind == "pool" and made is not None and stmt.span.holds(made):
                return index
            if (made is None or made[:2] <= (stmt.span.end_line, stmt.span.end_column)) and _calls_start(stmt):
                return index
        return None

    def _starts_at_once(self, callee: str, root: Context) -> bool:
        """Whether a constructor or a method of one object starts a thread itself: not by way of others."""
        if root.starter == callee:
            return True
        owner, runs = self._symbols.owner_of(callee), self._symbols.owner_of(root.function)
        effects = self._effects[callee]
        return (effects.begins_own or runs in effects.begun) and self._places.related(owner, runs)

    def _is_delayed(self, starter: str, span: Span) -> bool:
        """Whether what is started there begins its work some time later.

        A callback that is assigned (`client.on_message = self.receive`) is called when its object has been made to
        run, and so is what is given to what can be launched (`self.scheduler.add_job(self.poll)`): not before another
        method does that.
        """
        body = self._symbols.functions[starter][1].body
        here = [node.func for node in records(body) if isinstance(node, Call) and node.span == span]
        if any(isinstance(func, Attr | Name) and LATER.search(func.name) for func in here):
            return True
        stores = [node for node in records(body) if isinstance(node, Assign) and node.span.holds(span)]
        targets = [target for node in stores for target in node.targets if isinstance(target, Attr)]
        given = [func for func in here if isinstance(func, Attr) and span in self._effects[starter].prepares]
        receivers = {_written(attr.base) for attr in (*given, *(targets if not here else ()))} - {""}
        return bool(receivers) and not self._makes_run(starter, receivers)

    def _makes_run(self, constructor: str, receivers: set[str], steps: int = MOST_OWN_CALLS) -> bool:
        """Whether a constructor, or a method that it calls on its object, makes one of some fields' objects run."""
        body, effects = self._symbols.functions[constructor][1].body, self._effects[constructor]
        calls = [node.func for node in records(body) if isinstance(node, Call) and isinstance(node.func, Attr)]
        if any(func.name in self._driving and _written(func.base) in receivers for func in calls):
            return True
        called = [site.callee for site in effects.calls.values() if isinstance(site.callee, str)]
        near = [each for each in called if self._symbols.owner_of(each) == self._symbols.owner_of(constructor)]
        return steps > 0 and any(self._makes_run(each, receivers, steps - 1) for each in near if each != constructor)

    def _read(self, function_id: str, target: Attr, stmt: Stmt, context: int) -> Pair | None:
        """A store, with where the thread reads the field."""
        owner = self._symbols.owner_of(function_id)
        if not self._is_first(owner, target.name, function_id):
            return None
        for reader, entry in self._entered.get(context, ()):
            outer = self._symbols.outermost(reader)
            if not self._places.related(self._symbols.owner_of(outer), owner) or outer == function_id == reader:
                continue
            span = self._reads(reader, outer, target.name, entry)
            if span is not None and owner in self._concrete.classes(reader, entry):
                return self._pair(function_id, target, stmt.span, reader, entry, span)
        return None

    def _is_first(self, owner: str, name: str, constructor: str) -> bool:
        """Whether nothing gives the field a value before: no class body, and no method that a constructor calls."""
        called = {site.callee for site in self._effects[constructor].calls.values() if isinstance(site.callee, str)}
        for type_id, record in self._symbols.field_records(owner, name):
            module = type_id.partition(":")[0]
            setters = {f"{module}:{assigned.function}" for assigned in record.values} - {constructor}
            if record.annotation is not None and not record.values:
                return False
            if any(each.endswith(("<body>", ".__init__", ".__new__")) for each in setters) or setters & called:
                return False
        return self._symbols.method(owner, name) is None and self._symbols.method(owner, "__getattr__") is None

    def _reads(self, reader: str, outer: str, name: str, entry: Entry) -> Span | None:
        """Where a function reads a field of the object, if nothing on the way there waits for anything."""
        way = self._contexts.way(reader, entry)
        function, method = self._symbols.functions[reader][1], self._symbols.functions[outer][1]
        if len(way) > MOST_CALLS or not method.parameters or any(self._pauses(*step) for step in way):
            return None
        if any(self._symbols.functions[caller][1].name == "__init__" for caller, _ in way):
            return None  # of an object that the thread makes
        own = method.parameters[0].name
        stores = _stored(function.body, own)
        if name in stores or any(_asks_for(node, name) for node in records(function.body)):
            return None
        found = [
            node.span
            for node in records(function.body)
            if isinstance(node, Attr) and node.name == name and isinstance(node.base, Name) and node.base.name == own
        ]
        first = min(found, default=None)
        if first is None or self._pauses(reader, first):
            return None
        steps = (*way, (reader, first))
        return None if any(self._is_idle(*step, own) for step in steps) or self._catching.goes_on(steps) else first

    def _is_idle(self, function_id: str, spot: Span, own: str) -> bool:
        """Whether a spot stands in a loop over what is mostly empty at first: a local list, or one made empty."""
        function = self._symbols.functions[function_id][1]
        loops = loops_around(function.body, spot)
        walked = [self._walked(loop.iterable) for loop in loops if loop.iterable is not None]
        owner = self._symbols.owner_of(self._symbols.outermost(function_id))
        given = {parameter.name for parameter in function.parameters}
        gathered = [e for e in walked if isinstance(e, Name) and e.scope == "local" and e.name not in given]
        return bool(gathered) or any(self._is_made_empty(each, owner, own) for each in walked)

    def _walked(self, iterable: Expr) -> Expr:
        """What a loop goes through, be it a copy: `self.jobs` in `list(self.jobs.values())`."""
        inner = iterated_expression(iterable)
        match inner:
            case Call(func=Name(name=name, scope="global"), args=(first, *_)) if self._knowledge.does(name, "snapshot"):
                return self._walked(first)
            case _:
                return inner

    def _is_made_empty(self, walked: Expr, owner: str, own: str) -> bool:
        """Whether an expression is a field of the object that its constructor only ever makes empty."""
        if not (isinstance(walked, Attr) and isinstance(walked.base, Name) and walked.base.name == own):
            return False
        records_of = self._symbols.field_records(owner, walked.name)
        values = [a.value for _, record in records_of for a in record.values if a.function.endswith(".__init__")]
        constructor = self._symbols.method(owner, "__init__")
        filled = [
            access
            for access in (self._effects[constructor].all_accesses() if constructor is not None else ())
            if access.kind in IN_PLACE and isinstance(access.path, Field) and access.path.name == walked.name
        ]
        module = owner.partition(":")[0]
        return bool(values) and not filled and all(self._is_empty(module, value) for value in values)

    def _is_empty(self, module: str, value: Expr) -> bool:
        match value:
            case Build(parts=()):
                return True
            case Call(func=func, args=(), keywords=()):
                made = self._symbols.static(module, func)
                return isinstance(made, Builtin) and self._knowledge.container(made.name) is not None
            case _:
                return False

    def _pauses(self, function_id: str, before: Span) -> bool:
        """Whether a function waits for what others give, or for some time, before it comes to a spot."""
        body = self._symbols.functions[function_id][1].body
        apart = [node.span for node in records(body) if isinstance(node, Branch) and not node.span.holds(before)]
        pauses = [node.span for node in records(body) if isinstance(node, Call) and _is_pause(node)]
        sure = [span for span in pauses if not any(branch.holds(span) for branch in apart)]
        return any(span[:2] < before[:2] and not span.holds(before) for span in sure)

    def _pair(self, function_id: str, target: Attr, stored: Span, reader: str, entry: Entry, read: Span) -> Pair | None:
        entries = self._contexts.entries.get(function_id)
        if not entries:
            return None
        owner = self._symbols.owner_of(function_id)
        located = Located(Place("field", owner, target.name), owner, own=True, constructed=False, certain=True)
        path = Field(Param(function_id, 0), target.name)
        store = Access(path, "store", stored, "late", (), True, 0)
        access = Access(Field(Param(reader, 0), target.name), "read", read, "", (), False, 0)
        first = Spot(function_id, located, store, next(iter(entries)), frozenset(), SHARED, constructor=function_id)
        return Pair(
            located.place, first, Spot(reader, located, access, entry, entry.locks, SHARED), "late", "contexts", 2
        )


def _targets(stmt: Stmt, own: str) -> list[Attr]:
    """The own fields to which a statement gives values."""
    targets = stmt.targets if isinstance(stmt, Assign) else ()
    return [t for t in targets if isinstance(t, Attr) and isinstance(t.base, Name) and t.base.name == own]


def _stored(body: Block, own: str) -> dict[str, Span]:
    """The own fields to which statements, or statements in them, give values."""
    stores = [node for node in records(body) if isinstance(node, Assign)]
    return {target.name: target.span for node in stores for target in _targets(node, own)}


def _calls_start(stmt: Stmt) -> bool:
    """Whether a statement calls a method `start()` of something, or a function that starts a thread at once."""
    for node in records(stmt):
        match node:
            case Call(func=Attr(name="start"), args=()) | Call(func=Attr(name="start_new_thread")):
                return True
            case Call(func=Name(name="start_new_thread")):
                return True
            case _:
                pass
    return False


def _written(expr: Expr) -> str:
    """A field of an object that has a name, as it is written; "" for what is none."""
    match expr:
        case Attr(base=Name(name=base), name=name):
            return f"{base}.{name}"
        case _:
            return ""


def _asks_for(node: object, name: str) -> bool:
    """Whether something asks whether there is a field: by a text, or by `hasattr`, which stands for a comparison."""
    match node:
        case Const(value=value):
            return value == name
        case Op(operator="is not", operands=(Attr(name=asked, span=span), _)):
            return asked == name and span == node.span
        case _:
            return False


def _is_pause(call: Call) -> bool:
    match call.func:
        case Attr(name="get"):
            return not call.args or (isinstance(call.args[0], Const) and isinstance(call.args[0].value, bool))
        case Attr(name=name) | Name(name=name):
            return name in PAUSES
        case _:
            return False
