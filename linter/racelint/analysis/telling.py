"""Telling: what is read only to be put into a text for people, as a log does.

`slog.Info("done", slog.Int("lines", s.lines))`, `log.Print(fmt.Sprintf("%d lines", s.lines))`; so it is with
`text := fmt.Sprintf("%d lines", s.lines); s.mu.Unlock(); log.Print(text)`, if nothing else is done with the text. How
many things a container holds is one word, whatever they are: `log.Print(len(s.jobs))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from racelint.analysis.body import Body
from racelint.analysis.deadstores import RECKONS
from racelint.analysis.lifecycle import tells_figures
from racelint.analysis.state import State
from racelint.analysis.type_names import LibraryType
from racelint.analysis.values import Builtin, Field, FunctionValue, Value, Values
from racelint.model import Assign, Attr, Build, Call, Cast, Const, Eval, Expr, Name, Op
from racelint.record import records
from racelint.span import Span


class Telling(Body):
    """Finds what calls only make text of."""

    def told_by(self, call: Call, callees: Values, state: State) -> frozenset[Span]:
        """Where the arguments stand that a call only makes text of: one that is None by now does no harm there."""
        match call.func:
            case Attr(base=Const(value=value), name=name):
                tells = self.knowledge.does(f"{type(value).__name__}.{name}", "tells") is not None
            case _:
                tells = bool(callees) and all([self._tells(callee) for callee in callees])
        if not tells:
            return frozenset()
        if not self.traits.atomic_steps and not self._goes_no_further(call, state):
            return frozenset()
        return frozenset([part.span for part in self._put_in(call)])

    def sizes_told_by(self, call: Call, callees: Values, told: frozenset[Span]) -> frozenset[Span]:
        """Where the containers stand of which a call is only given the size, to tell it.

        So it is with all that a function gives to libraries which says by its name that it tells figures.
        """
        if self.traits.atomic_steps:
            return frozenset()
        sizes = frozenset(_sizes(call.args))
        given = self.tells_figures and bool(callees) and not any([isinstance(c, FunctionValue) for c in callees])
        return sizes if given else sizes & told

    @cached_property
    def tells_figures(self) -> bool:
        """Whether the function at hand is named after the figures that it tells."""
        return tells_figures(self.function.name)

    def _goes_no_further(self, call: Call, state: State) -> bool:
        """Whether nothing is done with a text, or only another text is made of it."""
        if call.span == self.effects.discarded or call.span in self.told:
            return True
        if call.span not in self.told_later:
            self.told_later[call.span] = self._is_told_later(call, state)
        return self.told_later[call.span]

    def told_types(self, call: Call) -> frozenset[str]:
        """The types of what a call may make text of at any time; on the way to a log, only what takes one word."""
        direct = call.span == self.effects.discarded
        return self.traits.scalars if direct else self.traits.scalars - self.traits.texts

    def _is_told_later(self, call: Call, state: State) -> bool:
        """Whether a variable holds a text that is only told."""
        names = [name for name, held in self.function.bindings.items() if len(held) == 1 and held[0] == call]
        if len(names) != 1 or names[0] in self.function.cells:
            return False
        parts = list(records(self.function.body))
        named = {each.span for each in parts if isinstance(each, Name) and each.name == names[0]}
        given = [each.targets for each in parts if isinstance(each, Assign)]
        used = named.difference([part.span for targets in given for part in targets if isinstance(part, Name)])
        calls = [each.value for each in parts if isinstance(each, Eval) and isinstance(each.value, Call)]
        tellers = [each for each in calls if not used.isdisjoint(self._texts(each)) and self._is_teller(each, state)]
        return bool(used) and used.issubset([span for each in tellers for span in self._texts(each)])

    def _is_teller(self, call: Call, state: State) -> bool:
        """Whether a call that is still to come is one of a library that only makes text of what it is given."""
        if self._is_text(call):
            return True
        match call.func:
            case Attr(base=Attr(base=Name(name=owner, scope="local") as base, name=field), name=name):
                known = owner not in self.function.cells
                loggers = [self.place(each, field) for each in self.evaluate(base, state.copy())] if known else []
            case Attr(base=Name(name=logger, scope="global"), name=name):
                loggers = [self.variable(logger, "global")]
            case _:
                return False
        kinds = [self.types.of(logger) for logger in loggers]
        return bool(kinds) and all(
            [isinstance(k, LibraryType) and self.knowledge.does(f"{k.name}.{name}", "tells") is not None for k in kinds]
        )

    def _texts(self, call: Call) -> list[Span]:
        """Where the variables and fields stand that go into the text that a call makes, be it by another one."""
        found: list[Span] = []
        for part in self._put_in(call):
            found += self._texts(part) if isinstance(part, Call) else [part.span]
        return found

    def _put_in(self, call: Call) -> list[Attr | Name | Call]:
        """The variables and fields that a call is given, and the texts, alone or as parts of something else."""
        found: list[Attr | Name | Call] = []
        todo: list[Expr] = list(call.args)
        while todo:
            match todo.pop():
                case Op(operands=parts) | Build(parts=parts):
                    todo.extend(parts)
                case Cast(value=value):
                    todo.append(value)
                case Attr() | Name() as part:
                    found.append(part)
                case Call() as text if not self.traits.atomic_steps and self._is_text(text):
                    found.append(text)
                case _:
                    pass
        return found

    def _is_text(self, call: Call) -> bool:
        """Whether a function of a library makes text of what it is given."""
        function = self.symbols.static(self.source.name, call.func)
        return isinstance(function, Builtin) and self.knowledge.does(function.name, "tells") is not None

    def _tells(self, callee: Value) -> bool:
        """Whether a function only makes text of what it is given; the project's own goes by a logger's names, too."""
        match callee:
            case FunctionValue(function=function):
                own = self.symbols.functions[function][1]
                takes_any = any(parameter.kind == "variadic" for parameter in own.parameters)
                return takes_any and self.knowledge.does(f"*.{own.name}", "tells") is not None
            case Builtin(name=name):
                return self.knowledge.does(name, "tells") is not None
            case Field(base=base, name=name):
                found = self.types.of(base)
                library = found.name if isinstance(found, LibraryType) else "*"
                return self.knowledge.does(f"{library}.{name}", "tells") is not None
            case _:
                return False


def _sizes(args: Iterable[Expr]) -> Iterator[Span]:
    """Where the containers stand of whose sizes arguments are made: by a conversion, by arithmetic, as they are."""
    for arg in args:
        match arg:
            case Op(operator="length", operands=(Attr(span=span) | Name(span=span),)):
                yield span
            case Op(operator=operator, operands=parts) if operator in RECKONS:
                yield from _sizes(parts)
            case Cast(value=value):
                yield from _sizes((value,))
