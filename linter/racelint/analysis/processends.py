"""The end of the process: what its way out takes away from requests whose connections it has closed before.

`<-ctx.Done(); server.Stop(); s.conn = nil`, where `ctx` ends only when the program does: who answers a request by then
answers nobody, and fails at worst. A server that waits for its requests to end is another matter: their callers wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from racelint.analysis.aftermain import is_main
from racelint.analysis.arriving import Given, Source
from racelint.analysis.branching import blocks, is_looped, leaves, waits
from racelint.analysis.contexts import Contexts
from racelint.analysis.effects import Effects, where_called
from racelint.analysis.ending import ends_program
from racelint.analysis.endlesswaits import EndlessWaits
from racelint.analysis.objects import HANDLER
from racelint.analysis.places import Places
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import LibraryType
from racelint.analysis.values import Builtin
from racelint.model import Assign, Attr, Block, Branch, Call, Const, Defer, Eval, Expr, Item, Jump, Name, Op, Stmt
from racelint.record import records
from racelint.span import Span

AGAIN = frozenset({"SIGHUP", "SIGUSR1", "SIGUSR2"})  # signals on which programs mostly begin anew


class ProcessEnds(EndlessWaits):
    """Follows contexts to where they are made, and those that make them to where the program starts."""

    def __init__(
        self, symbols: Symbols, places: Places, effects: Mapping[str, Effects], contexts: Contexts
    ) -> None:  # fmt: skip
        super().__init__(symbols, places.types, places.knowledge)
        self._effects = effects
        self._contexts = contexts
        self._dropped: dict[str, tuple[Span, ...]] = {}
        self._lasting: dict[str, bool] = {}

    def takes_last(self, store: Spot, other: Spot) -> bool:
        """Whether a store takes something away, on the way out, from requests that nobody waits for any more.

        Who takes a lock for it expects that they go on.
        """
        if (store.access.kind, store.access.detail) != ("store", "none") or store.locks:
            return False
        if not self._symbols.is_ordered_by_steps(store.function):
            return False
        if self._contexts.roots[other.entry.context].kind != HANDLER:
            return False
        steps = self._contexts.steps(store.function, store.entry, store.access.span)
        return any(held.holds(span) for function, span in steps for held in self._behind_drop(function))

    def _behind_drop(self, function_id: str) -> tuple[Span, ...]:
        """The statements of a function before which it has closed the connections of a server, on the way out."""
        if function_id not in self._dropped:
            self._dropped[function_id] = tuple(self._find_behind_drop(function_id))
        return self._dropped[function_id]

    def _find_behind_drop(self, function_id: str) -> Iterator[Span]:
        body = self._symbols.functions[function_id][1].body
        if not waits(body):
            return
        last = [*self._behind_ends(function_id, body)]
        for block in blocks(body):
            dropped = False
            for stmt in block:
                if dropped:
                    yield stmt.span
                dropped = dropped or (self._drops(function_id, stmt) and any(s.holds(stmt.span) for s in last))

    def _drops(self, function_id: str, stmt: Stmt) -> bool:
        """Whether a statement closes the connections of a server, whatever requests there are."""
        match stmt:
            case (
                Eval(value=Call(func=Attr(base=server, name=name)))
                | Assign(value=Call(func=Attr(base=server, name=name)))
            ):
                found = self._types.expressions.of(function_id, server)
                if not isinstance(found, LibraryType):
                    return False
                return self._knowledge.does(f"{found.name}.{name}", "drops-requests") is not None
            case _:
                return False

    # --- waits --------------------------------------------------------------------------------------------------------

    def _behind_ends(self, function_id: str, body: Block) -> Iterator[Span]:
        """The statements of a function that stand behind a wait for the end of the process.

        Behind a wait for any signal, some go on: those of a block that leaves the function do not.
        """
        for block in blocks(body):
            ended = signalled = False
            for stmt in block:
                if ended or (signalled and leaves(block)):
                    yield stmt.span
                elif signalled:
                    yield from [inner.span for arm in blocks((stmt,)) if leaves(arm) for inner in arm]
                ended = ended or self._awaits_end(function_id, stmt)
                signalled = signalled or self._awaits_signal(function_id, body, stmt)

    def _awaits_end(self, function_id: str, stmt: Stmt) -> bool:
        match stmt:
            case Eval(value=Op(operator="receive", operands=(Call(func=Attr(base=context, name=method)),))):
                return method in self._knowledge.ends and self._is_of_process(function_id, context)
            case _:
                return False

    def _awaits_signal(self, function_id: str, body: Block, stmt: Stmt) -> bool:
        """Whether a statement receives from a channel of the function that is given to what passes on signals."""
        match stmt:
            case (
                Eval(value=Op(operator="receive", operands=(Name(name=name, scope="local"),)))
                | Assign(value=Op(operator="receive", operands=(Name(name=name, scope="local"),)))
            ):
                calls = [part for part in records(body) if isinstance(part, Call) and part.args]
                given = [call for call in calls if isinstance(call.args[0], Name) and call.args[0].name == name]
                given = [call for call in given if not all(map(_begins_anew, call.args[1:])) or not call.args[1:]]
                return any([self._does(function_id, call.func, "signals") for call in given])
            case _:
                return False

    def _is_of_process(self, function_id: str, context: Expr) -> bool:
        """Whether all that a context can be is known, and ends when the program does, if ever."""
        origins = self._origins(Given(function_id, context))
        return bool(origins) and not all([self._names_endless(origin) for origin in origins or ()])

    def _does(self, function_id: str, func: Expr, what: str) -> bool:
        made = self._symbols.meant(function_id, func)
        return isinstance(made, Builtin) and self._knowledge.does(made.name, what) is not None

    # --- contexts -----------------------------------------------------------------------------------------------------

    def _behind(self, function_id: str, expr: Expr, part: int | None) -> list[Source] | None:
        """A context that the program's end cancels comes from its parent, and from what makes it."""
        if isinstance(expr, Call) and expr.args and part == 0:
            made = self._symbols.meant(function_id, expr.func)
            signalled = self._does(function_id, expr.func, "until-signal")
            if signalled or (self._does(function_id, expr.func, "cancellable") and self._lasts(function_id, expr)):
                return [Given(function_id, expr.args[0]), made] if isinstance(made, Builtin) else None
        return super()._behind(function_id, expr, part)

    def _may_lead_to(self, caller: str, call: Call, function_id: str) -> bool:
        """Whether a call may be one of a function; what no context leads to, or only callers' own, calls nobody.

        Not if something else calls it: that is judged when its own parameters are.
        """
        return not self._is_left_out(caller) and super()._may_lead_to(caller, call, function_id)

    def _is_left_out(self, function_id: str) -> bool:
        """Whether a method that takes arguments is called by nothing that the program shows."""
        _, function = self._symbols.functions[function_id]
        reached = self._contexts.entries.get(function_id, ())
        if not all([self._contexts.roots[entry.context].is_external for entry in reached]):
            return False
        if not function.owner or len(function.parameters) < 2 or function.name in self._symbols.mentioned:
            return False
        calls = [each for each in self._symbols.called(function.name) if each[0] in self._symbols.functions]
        return not any([super(ProcessEnds, self)._may_lead_to(caller, call, function_id) for caller, call in calls])

    def _lasts(self, function_id: str, made: Call) -> bool:
        """Whether a context is cancelled where its function is left only, as the program ends."""
        _, function = self._symbols.functions[function_id]
        ends = [
            name for name, given in function.bindings.items() if Item(made, Const(1), made.span) in map(_plain, given)
        ]
        if len(ends) > 1 or not function.cells.isdisjoint(ends) or is_looped(function.body, made.span):
            return False
        if any(len(function.bindings[name]) > 1 or not self._is_left_with(function_id, name) for name in ends):
            return False
        return self._ends_program(function_id)

    def _is_left_with(self, function_id: str, name: str) -> bool:
        """Whether a function names a variable only in what it defers, and right before it returns."""
        body = self._symbols.functions[function_id][1].body
        for block in blocks(body):
            for index, stmt in enumerate(block):
                if isinstance(stmt, Defer) or _binds(stmt, name) or not _names(stmt, name):
                    continue
                if not leaves(block) or not self._is_brief(function_id, block[index + 1 :]):
                    return False
        return True

    def _ends_program(self, function_id: str) -> bool:
        """Whether the program ends when a function is left."""
        if function_id not in self._lasting:
            self._lasting[function_id] = False  # should it call itself
            self._lasting[function_id] = is_main(self._symbols, function_id) or self._is_called_last(function_id)
        return self._lasting[function_id]

    def _is_called_last(self, function_id: str) -> bool:
        """Whether whoever calls a function does nothing else behind the call, and the program ends then."""
        _, function = self._symbols.functions[function_id]
        if not self._has_known_callers(function_id, function) or function_id in self._started:
            return False
        if function.owner and len(function.parameters) == 1:
            return False  # an interface's method may be meant
        named = [each for each in self._symbols.called(function.name) if each[0] in self._symbols.functions]
        calls = {(f, call.span) for f, call in named if self._may_lead_to(f, call, function_id)}
        calls.update(self._calls.get(function_id, ()))
        return bool(calls) and all([self._is_last(f, span) and self._ends_program(f) for f, span in calls])

    @cached_property
    def _calls(self) -> dict[str, list[tuple[str, Span]]]:
        """Where functions are called."""
        return where_called(self._effects)

    @cached_property
    def _started(self) -> frozenset[str]:
        """The functions that run beside others."""
        return frozenset([context.function for context in self._contexts.roots if not context.is_external])

    def _is_last(self, function_id: str, call: Span) -> bool:
        body = self._symbols.functions[function_id][1].body
        if is_looped(body, call):
            return False
        around = [(block, stmt) for block in blocks(body) for stmt in block if stmt.span.holds(call)]
        return not any(isinstance(stmt, Defer) for _, stmt in around) and all(
            self._is_brief(function_id, block[block.index(stmt) + 1 :]) for block, stmt in around
        )

    def _is_brief(self, function_id: str, block: Block) -> bool:
        """Whether statements are left soon: what they do is to tell of a failure, and to leave."""
        return all(self._leaves_soon(function_id, stmt) for stmt in block)

    def _leaves_soon(self, function_id: str, stmt: Stmt) -> bool:
        match stmt:
            case Jump(value=value):
                calls = [part.func for part in records(value) if isinstance(part, Call)]
                return all(self._only_tells(function_id, func) for func in calls)
            case Branch(then=then, orelse=orelse):
                return all(self._ends(function_id, arm) or self._is_brief(function_id, arm) for arm in (then, orelse))
            case Eval(value=Call(func=func)):
                return any(self._does(function_id, func, what) for what in ("tells", "never-returns"))
            case Eval(value=Op(operator="print" | "println")):
                return True
            case _:
                return False

    def _ends(self, function_id: str, arm: Block) -> bool:
        """Whether an arm of a branch leaves the function, or ends the program."""
        module = self._symbols.functions[function_id][0].name
        return leaves(arm) or (bool(arm) and ends_program(self._symbols, self._knowledge, module)(arm[-1]))

    def _only_tells(self, function_id: str, func: Expr) -> bool:
        """Whether a call makes an error, or asks a context for its own."""
        cause = isinstance(func, Attr) and func.name in self._knowledge.causes
        return cause or self._does(function_id, func, "fails")


def _plain(given: Expr) -> Expr:
    """One of several results of a call, wherever it is bound."""
    call = given.base if isinstance(given, Item) else None
    return given._replace(span=call.span) if isinstance(given, Item) and isinstance(call, Call) else given


def _binds(stmt: Stmt, name: str) -> bool:
    """Whether a statement gives a variable its value, and does no more with it."""
    return isinstance(stmt, Assign) and not any(
        [isinstance(part, Name) and part.name == name for part in records(stmt.value)]
    )


def _names(stmt: Stmt, name: str) -> bool:
    """Whether a statement names a variable itself, not what stands in a block of it."""
    inner = {
        part.span for block in blocks((stmt,)) if block != (stmt,) for each in block for part in _named(each, name)
    }
    return any(part.span not in inner for part in _named(stmt, name))


def _named(stmt: Stmt, name: str) -> list[Name]:
    return [part for part in records(stmt) if isinstance(part, Name) and part.name == name]


def _begins_anew(signal: Expr) -> bool:
    return isinstance(signal, Attr) and signal.name in AGAIN
