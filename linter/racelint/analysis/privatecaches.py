"""Private caches: what a function makes, tells one handler of, and lets nobody else look into.

`factory := NewFactory(client, 0); informer := factory.Pods().Informer(); informer.AddEventHandler(...)`: what the cache
holds reaches that handler once, and nobody after it, unless the handler is told of what has been there before as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from racelint.analysis.failing import NAMED
from racelint.analysis.identifying import Identifying
from racelint.analysis.sharing import Hints, Registration
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Builtin
from racelint.knowledge import Knowledge
from racelint.model import Assign, Attr, Build, Call, Const, Defer, Eval, Expr, Function, Item, Name, Spawn
from racelint.record import records
from racelint.span import Span

MAKES = "New"  # how Go's libraries call what makes an object, which nobody else has
MOST_STEPS = 4  # variables from a cache back to what has made it


class PrivateCaches:
    """Tells which handlers are the only readers of a cache."""

    def __init__(
        self, symbols: Symbols, knowledge: Knowledge, hints: Hints, callee: Callable[[str, Span], str]
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._identifying = Identifying(symbols, callee, knowledge.sharing.inline)
        self._names = knowledge.sharing
        self._handlers = hints.handlers
        self._private: dict[tuple[Registration, bool], bool] = {}

    def is_only_reader(self, handler: str, *, again: bool = False) -> bool:
        """Whether what a registered function is given comes from a cache into which nobody else looks.

        With `again` the cache may give it what it has given it before.
        """
        registration = self._handlers.get(handler)
        if registration is None:
            return False
        if (registration, again) not in self._private:
            private = self._is_private(registration, again=again) and not self._looks_back(registration)
            self._private[registration, again] = private
        return self._private[registration, again]

    def _is_private(self, registration: Registration, *, again: bool) -> bool:
        """Whether a function makes the cache, registers one handler there, and hands nothing of it on."""
        function = self._symbols.functions[registration.function][1]
        if self._drops_store(registration, function, again=again):
            return True
        bodies = [each.body for each in self._with_nested(registration.function)]
        calls = [call for body in bodies for call in records(body) if isinstance(call, Call) and self._registers(call)]
        told = [call for call in calls if getattr(call.args[0], "span", None) == registration.span]
        holders = self._holders(registration.function, function, told[0], again=again) if told else frozenset()
        if not holders or sum(_start(call, holders) for call in calls) != 1:
            return False
        return not any(self._hands_on(body, holders) for body in bodies)

    def _drops_store(self, registration: Registration, function: Function, *, again: bool) -> bool:
        """Whether what makes a cache with a handler gives its store to nobody: `_, controller := NewInformer(...)`."""
        module = registration.function.partition(":")[0]
        for node in records(function.body):
            match node:
                case Assign(targets=(Build(parts=(Name(name="_"), *_)),), value=Call(func=func, args=args)):
                    handed = any(getattr(arg, "span", None) == registration.span for arg in args)
                    made = self._symbols.static(module, func) if handed else None
                    if isinstance(made, Builtin) and made.name in self._names.names("makes-store"):
                        return again or Const(0) in args
        return False

    def _registers(self, call: Call) -> bool:
        return isinstance(call.func, Attr) and bool(call.args) and call.func.name in self._names.handlers

    def _holders(self, function_id: str, function: Function, call: Call, *, again: bool) -> frozenset[str]:
        """The variables from a cache back to what has made it, for this function alone; none if that is not known.

        It gives everything once, made without a time after which it does so again, unless that does not matter.
        """
        given, found, expr = [parameter.name for parameter in function.parameters], set[str](), call.func
        for _ in range(MOST_STEPS):
            steps = [*_steps(expr)]
            start = steps[-1][0]
            name = start.name if isinstance(start, Name) and start.name not in given else ""
            if len(bound := function.bindings.get(name, ())) != 1:
                made = len(steps) > 1 and self._makes(function_id, *steps[-2], again=again)
                return frozenset(found) if made else frozenset()
            found.add(name)
            expr = bound[0]
        return frozenset()

    def _makes(self, function_id: str, named: Expr, made: Expr | None, *, again: bool) -> bool:
        """Whether a library's function is called that makes a cache."""
        library = self._symbols.static(function_id.partition(":")[0], named)
        if not isinstance(library, Builtin) or not library.name.rpartition(".")[2].startswith(MAKES):
            return False
        return isinstance(made, Call) and (
            again or any(isinstance(arg, Const) and arg == Const(0) for arg in made.args)
        )

    def _with_nested(self, function_id: str) -> Iterator[Function]:
        for each, (_, function) in self._symbols.functions.items():
            if each == function_id or each.startswith(f"{function_id}."):
                yield function

    def _looks_back(self, registration: Registration) -> bool:
        """Whether a handler looks at what an object was before, or may be registered elsewhere, too."""
        for handler in [each for each, told in self._handlers.items() if told == registration]:
            _, function = self._symbols.functions[handler]
            if not handler.startswith(f"{registration.function}."):
                return True
            before = {parameter.name for parameter in function.parameters[:-1]}
            bodies = [each.body for each in self._with_nested(handler) if each is not function]
            if any(isinstance(node, Name) and node.name in before for body in bodies for node in records(body)):
                return True
            if self._identifying.asks_more(handler, before):
                return True
        return False

    def _hands_on(self, node: object, holders: Set[str]) -> bool:
        """Whether anything but methods of a cache's own are called of what holds it, or one that gives its content."""
        match node:
            case Assign(targets=targets, value=Call() as call) if _start(call, holders):
                kept = all(isinstance(target, Name) and target.name in holders for target in _without_error(targets))
                return not (kept or self._registers(call)) or self._asks(call, holders)
            case Assign(targets=targets, value=value) if all(isinstance(target, Name) for target in targets):
                return self._hands_on(value, holders)
            case Eval(value=Call() as call) | Spawn(call=Call() as call) | Defer(call=Call() as call):
                return self._asks(call, holders)
            case Call() if _start(node, holders):
                return True
            case Attr() if _start(node, holders):
                return self._asks(node, holders)
            case Name(name=name):
                return name in holders
            case _:
                return isinstance(node, tuple) and any(self._hands_on(part, holders) for part in node)

    def _asks(self, expr: Call | Attr, holders: Set[str]) -> bool:
        """Whether a chain of calls leads to a cache's content, or hands a cache on among its arguments."""
        for step, outer in _steps(expr):
            if isinstance(outer, Call) and self._hands_on((*outer.args, outer.keywords), holders):
                return True
            if isinstance(step, Attr) and step.name in self._names.methods and _start(step, holders):
                return True
        return False


def _steps(expr: Expr) -> Iterator[tuple[Expr, Expr | None]]:
    """A chain of calls and attributes from its end to where it starts, each with what is around it there."""
    outer: Expr | None = None
    while True:
        yield expr, outer
        match expr:
            case Call(func=inner) | Attr(base=inner) | Item(base=Call() as inner, key=Const(0)):
                expr, outer = inner, expr
            case _:
                return


def _without_error(targets: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """What gets the first result of a call, if the second one is an error: `informer, err := ...`."""
    match targets:
        case (Build(kind="tuple", parts=(first, Name(name=name))),) if name == "_" or name.startswith(NAMED):
            return (first,)
        case _:
            return targets


def _start(expr: Expr, holders: Set[str]) -> bool:
    """Whether a chain starts from one of some variables."""
    *_, (start, _) = _steps(expr)
    return isinstance(start, Name) and start.name in holders
