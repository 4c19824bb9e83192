"""Entry points: the functions that libraries call, by the rows of the library knowledge that describe them."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from racelint.analysis.contexts import Context
from racelint.analysis.conversions import Conversions
from racelint.analysis.edges import Edges
from racelint.analysis.effects import Effects
from racelint.analysis.objects import FRESH, OWN, SHARED
from racelint.analysis.product import Product
from racelint.analysis.serving import Serving
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import RESULTS, LibraryType
from racelint.analysis.types import Types
from racelint.analysis.values import Builtin, Global, Literal, TypeValue, Value
from racelint.analysis.workers import has_one_worker
from racelint.analysis.written import dotted
from racelint.knowledge import EntryRow
from racelint.model import Assign, Attr, Call, Const, Expr, Function, Hold, Jump, Name, Source
from racelint.record import records

CONTEXT = "context.Context"  # who has one is not yet who handles a request
SERVING = frozenset({"ServeHTTP"})  # what libraries ask handlers for


class EntryPoints:
    """Finds the contexts that libraries make of functions of the program."""

    def __init__(
        self,
        symbols: Symbols,
        types: Types,
        effects: dict[str, Effects],
        edges: Edges,
        product: Product,
        settings: frozenset[str],
        serving: Serving,
    ) -> None:
        self._symbols = symbols
        self._product = product
        self._settings = settings
        self._serving = serving
        self._callers: dict[str, set[str]] = defaultdict(set)
        self._makers: dict[str, set[str]] = defaultdict(set)  # by the type that they make
        self._conversions = Conversions(symbols, types, product)
        self._types = types
        self._effects = effects
        self._edges = edges

    def of_libraries(self, rows: Iterable[EntryRow]) -> Iterator[Context]:
        """What libraries call."""
        for row in rows:
            if row.bases:
                yield from self._by_base(row)
            if row.decorators:
                yield from self._by_decorator(row)
            if row.field:
                yield from self._by_mark(row)
            if row.signature and not row.embeds:
                yield from self._by_signature(row)
            if row.embeds:
                yield from self._by_embedding(row)
            if row.registers:
                yield from self._by_registration(row)

    def _by_base(self, row: EntryRow) -> Iterator[Context]:
        for type_id, (source, record) in self._symbols.types.items():
            line = self._symbols.ancestors(type_id)
            if not source.reported or not any(_is_one_of(ancestor, row.bases) for ancestor in line):
                continue
            queue, turn = row.queue or self._queue(row, source), self._serving.of(row)
            for name, qualname in record.methods.items():
                function = self._symbols.functions[f"{source.name}:{qualname}"][1]
                if _is_meant(function, row) and any(fnmatch.fnmatchcase(name, pattern) for pattern in row.methods):
                    receiver = {"call": FRESH, "own": OWN}.get(row.instance, SHARED)
                    where = (row.kind, f"{source.name}:{qualname}", None, None)
                    yield Context(*where, row.kind == "handler" and not queue, receiver, queue=queue, turn=turn)

    def _queue(self, row: EntryRow, source: Source) -> str:
        """What calls the methods of a file's classes one at a time: the server that it makes, with one worker."""
        if not row.served or row.overlaps or not self._asks_for(source, row.served):
            return ""
        calls = [
            node
            for function in source.module.functions.values()
            for node in records(function.body)
            if isinstance(node, Call) and self._is_server(node, row, source)
        ]
        pools = [
            [part for part in (*call.args, *dict(call.keywords).values()) if isinstance(part, Call)] for call in calls
        ]
        alone = [
            any([has_one_worker(pool, self._symbols, self._settings, source.name) for pool in made]) for made in pools
        ]
        return f"{source.name}:{row.served[0]}" if alone and all(alone) else ""

    def _asks_for(self, source: Source, names: Iterable[str]) -> bool:
        """Whether a file may call one of these functions."""
        return any(name.partition(".")[0] in source.module.imports for name in names)

    def _is_server(self, call: Call, row: EntryRow, source: Source) -> bool:
        found = self._symbols.static(source.name, call.func)
        return isinstance(found, Builtin) and found.name in row.served

    def _by_mark(self, row: EntryRow) -> Iterator[Context]:
        for source, record in self._symbols.types.values():
            declared = record.fields.get(row.field) if source.reported else None
            made = [a.value.func for a in declared.values if isinstance(a.value, Call)] if declared else []
            marks = [self._symbols.static(source.name, func) for func in made]
            if any(isinstance(mark, Builtin) and mark.name in row.marks for mark in marks):
                for qualname in record.methods.values():
                    function_id = f"{source.name}:{qualname}"
                    function = self._symbols.functions[function_id][1]
                    if function.is_public and any(p.name in row.given for p in function.parameters[1:2]):
                        yield Context(row.kind, function_id, None, None, row.kind == "handler", SHARED)

    def _by_signature(self, row: EntryRow) -> Iterator[Context]:
        """Functions that take just what a library gives to those that it calls."""
        asked = {name for each in self._product.effects.values() for name, _ in each.asked}
        for function_id, (_, function) in self._symbols.functions.items():
            if row.methods and not any(fnmatch.fnmatchcase(function.name, pattern) for pattern in row.methods):
                continue
            if function_id in self._product.effects and self._takes(function_id, row.signature):
                if self._is_part(function_id, asked) or self._is_dispatched_to(function_id, asked, row):
                    continue
                if self._is_delegated_to(function_id, row):
                    continue
                owner = self._symbols.owner_of(function_id)
                if owner and self._symbols.making.is_only_tested(owner):
                    continue  # only tests have such objects
                each = row.instance == "call" or self._is_made_for_each(owner, row)
                receiver = FRESH if each else SHARED
                many = row.many and row.kind == "handler"
                many = many or self._has_workers(function_id, row)
                yield Context(row.kind, function_id, None, None, many, receiver, queue=row.queue)

    def _is_made_for_each(self, type_id: str, row: EntryRow) -> bool:
        """Whether all who make objects of a type take themselves what the library gives for each request.

        `func dispatch(r *http.Request) http.Handler { h := &handler{}; return http.HandlerFunc(h.get) }`
        """
        if type_id and not self._makers:
            for maker, effects in self._product.effects.items():
                for _, made in effects.made:
                    self._makers[made].add(maker)
        makers = self._makers.get(type_id, set()) if type_id else set()
        of_request = [pattern for pattern in row.signature if "*" not in pattern and pattern != CONTEXT]
        return bool(makers) and all(self._takes_any(maker, of_request) for maker in makers)

    def _takes_any(self, function_id: str, patterns: list[str]) -> bool:
        given = [p.annotation for p in self._symbols.functions[function_id][1].parameters if p.annotation is not None]
        found = [self._types.annotations.declared(function_id, annotation) for annotation in given]
        return any(isinstance(kind, LibraryType) and kind.name in patterns for kind in found)

    def _is_part(self, function_id: str, asked: Set[str]) -> bool:
        """Whether a method of a package's own is only called by others: nobody hands it to a library."""
        function = self._symbols.functions[function_id][1]
        own = bool(function.owner) and not function.is_public and function.name not in asked
        return own and function_id in self._edges.called

    def _is_dispatched_to(self, function_id: str, asked: Set[str], row: EntryRow) -> bool:
        """Whether only handlers call a handler, with what they were given, and nobody hands it to a library."""
        function = self._symbols.functions[function_id][1]
        if row.methods or not function.owner or function.name in asked or function.name in SERVING:
            return False
        callers = self._callers_of(function_id)
        return bool(callers) and all(self._takes(caller, row.signature) for caller in callers)

    def _callers_of(self, function_id: str) -> Set[str]:
        if not self._callers:
            for caller, calls in self._edges.calls.items():
                for callee, _ in calls:
                    self._callers[callee].add(caller)
        return self._callers.get(function_id, set())

    def _is_delegated_to(self, function_id: str, row: EntryRow) -> bool:
        """Whether only what a library calls calls a method of the same kind, of an object that no library is given."""
        owner = self._symbols.owner_of(function_id)
        callers = self._callers_of(function_id) if row.takers and owner else set()
        if not callers or not all([self._delegates(caller, owner, row) for caller in callers]):
            return False
        handed = {type_id for effects in self._product.effects.values() for type_id, _ in effects.handed}
        if any([owner == each or owner in self._symbols.subtypes(each) for each in handed]):
            return False
        return not self._conversions.hide(owner)

    def _delegates(self, caller: str, owner: str, row: EntryRow) -> bool:
        """Whether a library calls a function on objects of another type that the program makes, too."""
        other = self._symbols.owner_of(caller)
        named = any(fnmatch.fnmatchcase(self._symbols.functions[caller][1].name, pattern) for pattern in row.methods)
        if not named or other in ("", owner) or self._symbols.making.is_only_tested(other):
            return False
        return caller in self._product.effects and self._takes(caller, row.signature)

    def _has_workers(self, function_id: str, row: EntryRow) -> bool:
        """Whether the type that has a method says that several calls of it may run at once."""
        owner = self._symbols.owner_of(function_id)
        for other, effects in self._effects.items() if row.workers and owner else ():
            if row.workers in effects.counts and self._symbols.owner_of(other) == owner:
                return any(self._number(value) > 1 for value in effects.counts[row.workers])
        return False

    def _number(self, value: Value) -> int:
        """A number that is written down, 1 for one that is not."""
        if isinstance(value, Global):
            record = self._symbols.content(value.module).globals.get(value.name)
            constants = [assigned.value for assigned in record.values] if record is not None else []
            found = constants[0].value if len(constants) == 1 and isinstance(constants[0], Const) else 1
        else:
            found = value.value if isinstance(value, Literal) else 1
        return found if isinstance(found, int) else 1

    def _takes(self, function_id: str, signature: tuple[str, ...]) -> bool:
        """Whether a function's parameters are of these types, which are patterns."""
        function = self._symbols.functions[function_id][1]
        given = function.parameters[1 if function.owner else 0 :]
        if len(given) != len(signature):
            return False
        found = [self._types.annotations.declared(function_id, p.annotation) if p.annotation else None for p in given]
        return all(
            fnmatch.fnmatchcase(self._types.text(f).replace(":", "."), wanted)
            for f, wanted in zip(found, signature, strict=True)
        )

    def _by_embedding(self, row: EntryRow) -> Iterator[Context]:
        """Methods of types that embed what a library has generated for them, and that answer, but not for tests."""
        for source, record in self._symbols.types.values():
            if source.reported and any(fnmatch.fnmatchcase(e, p) for e in record.embedded for p in row.embeds):
                for name, qualname in record.methods.items():
                    if any(fnmatch.fnmatchcase(name, pattern) for pattern in row.methods):
                        function_id = f"{source.name}:{qualname}"
                        if (
                            self._answers(function_id, row.results)
                            and (not row.signature or self._takes(function_id, row.signature))
                            and not self._symbols.stands_in(function_id)
                        ):
                            yield Context(row.kind, function_id, None, None, row.many, SHARED)

    def _by_registration(self, row: EntryRow) -> Iterator[Context]:
        """Methods of types that can be given to `RegisterFeedServer(registrar, FeedServer)`, which is generated."""
        for function_id, (_, function) in self._symbols.functions.items():
            named = any(fnmatch.fnmatchcase(function.name, pattern) for pattern in row.registers)
            if not named or function.owner or len(function.parameters) != 2:
                continue
            annotation = function.parameters[1].annotation
            asked = self._types.annotations.declared(function_id, annotation) if annotation else None
            interface = self._types.text(asked)
            if interface not in self._symbols.types or not self._symbols.types[interface][1].is_interface:
                continue
            for name in self._symbols.types[interface][1].methods:
                for method in self._symbols.overrides(interface, name):
                    if self._product.has(method):
                        yield Context(row.kind, method, None, None, row.many, SHARED)

    def _answers(self, function_id: str, results: int) -> bool:
        """Whether a function has results: just so many, unless that does not matter."""
        returns = self._symbols.functions[function_id][1].returns
        if returns is None:
            return False
        return results in (0, len(returns.args) if returns.name == RESULTS else 1)

    def _by_decorator(self, row: EntryRow) -> Iterator[Context]:
        for function_id, (source, function) in self._symbols.functions.items():
            if not source.reported or not _is_meant(function, row):
                continue
            for decorator in function.decorators:
                named = decorator.func if isinstance(decorator, Call) else decorator
                if self._library_name(source.name, named) in row.decorators:
                    turn = self._serving.of(row)
                    yield Context(row.kind, function_id, None, None, row.many, SHARED, queue=row.queue, turn=turn)

    def _library_name(self, module: str, expr: Expr) -> str:
        """What an expression of a module means in a library, also by the type of its object: `app.route`."""
        value = self._symbols.static(module, expr)
        if isinstance(value, Builtin):
            return value.name
        if not isinstance(expr, Attr):
            return ""
        owner = self._types.expressions.of(f"{module}:{MODULE}", expr.base)
        return f"{owner.name}.{expr.name}" if isinstance(owner, LibraryType) else ""

    def decorated(self) -> Iterator[Context]:
        """What an object makes of a function it decorates: all calls of that function share the object.

        Where the program decorates its own functions with a class, their callers are known: nothing is made up for it.
        """
        at_home = self._used_as_decorators()
        for function_id in self._effects:
            source, function = self._symbols.functions[function_id]
            maker = f"{source.name}:{function.parent}"
            if not source.reported or maker not in self._effects or function_id in self._edges.called:
                continue
            made_by = self._symbols.functions[maker][1]
            if not made_by.owner or made_by.binding != "instance" or made_by.name != "__call__" or function.is_async:
                continue
            owner = f"{source.name}:{made_by.owner}"
            if owner in at_home or self._puts_back(owner) or _decorates(function, made_by):
                continue  # as the program is set up: `@registry("name")`
            if self._is_only_entered(owner):
                continue
            yield Context("decorated", function_id, None, None, True, SHARED)

    def _is_only_entered(self, type_id: str) -> bool:
        """Whether a program makes objects of a class for `with` statements only: it might decorate, but does not."""
        made = list(self._symbols.constructions(type_id))
        return bool(made) and all(
            any(isinstance(node, Hold) and made.call in [item for item, _ in node.items] for node in records(body))
            for maker, made in made
            for body in (self._symbols.functions[maker][1].body,)
        )

    def _puts_back(self, type_id: str) -> bool:
        """Whether an object keeps what is elsewhere in a field of its own, to put it back: a patch for all at once."""
        if type_id not in self._symbols.types:
            return False
        source, record = self._symbols.types[type_id]
        methods = [self._symbols.functions[f"{source.name}:{name}"][1] for name in record.methods.values()]
        moves = {
            (dotted(target), dotted(node.value))
            for method in methods
            for node in records(method.body)
            if isinstance(node, Assign)
            for target in node.targets
        }
        own = tuple(f"{method.parameters[0].name}." for method in methods if method.parameters)
        return any(
            kept.startswith(own) and "." in there and not there.startswith(own) and (there, kept) in moves
            for kept, there in moves
        )

    def _used_as_decorators(self) -> set[str]:
        """The project's classes by which, or by objects of which, the program decorates functions."""
        found: set[str] = set()
        for function_id in self._product.effects:
            source, function = self._symbols.functions[function_id]
            for decorator in function.decorators:
                named = decorator.func if isinstance(decorator, Call) else decorator
                value = self._symbols.static(source.name, named)
                if isinstance(value, TypeValue):
                    found.add(value.type)
                elif value is not None and (owner := self._types.class_of(value)) is not None:
                    found.add(owner)
        return found


def _decorates(function: Function, made_by: Function) -> bool:
    """Whether a function returns what it was given, and does not stand for one that its maker was given."""
    own, outer = ({parameter.name for parameter in each.parameters} for each in (function, made_by))
    nodes = list(records(function.body))
    returned = [node.value for node in nodes if isinstance(node, Jump) and node.kind == "return"]
    called = {node.func.name for node in nodes if isinstance(node, Call) and isinstance(node.func, Name)}
    return outer.isdisjoint(called) and any(isinstance(value, Name) and value.name in own for value in returned)


def _is_meant(function: Function, row: EntryRow) -> bool:
    """Whether a row holds for a function, be it a coroutine or not."""
    return not row.only or row.only == ("async" if function.is_async else "sync")


def _is_one_of(ancestor: Value, bases: tuple[str, ...]) -> bool:
    """Whether a class is of a library's by name; what the project has generated is the library's, too (patterns)."""
    match ancestor:
        case Builtin(name=name):
            return name in bases or any("*" in base and fnmatch.fnmatchcase(name, base) for base in bases)
        case TypeValue(type=type_id):
            name = type_id.replace(":", ".")
            return any("*" in base and fnmatch.fnmatchcase(name, base) for base in bases)
        case _:
            return False
