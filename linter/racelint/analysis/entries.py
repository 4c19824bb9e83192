"""What containers hold that outlive a function: entries of fields and variables, and what goes through channels.

One function puts an object into a map of its own, another one takes it out and changes it: whose object that is, only
the first one knows. Likewise of what is sent over a channel, and of the fields of a struct that is sent.
"""

from __future__ import annotations

from racelint.analysis.body import Body
from racelint.analysis.paths import Substitute, element, member, uncopied
from racelint.analysis.sharing import FIELD
from racelint.analysis.state import LOCAL, State
from racelint.analysis.summary import Summary
from racelint.analysis.type_names import LibraryType
from racelint.analysis.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Captured,
    Field,
    Fresh,
    Global,
    Literal,
    Param,
    Result,
    Tuple,
    TypeValue,
    Value,
    Values,
)
from racelint.span import Span

MOST_PASSES = 6
Key = tuple[str, str]  # the type or module, and the name of its field or variable


class Entries(Body):
    """Notes what is put into containers that others know, and what comes out of channels; languages with types only."""

    def entry_key(self, container: Value) -> Key | None:
        """What stands for a field or variable in all functions."""
        match container:
            case Field(base=base, name=name):
                owner = base.type if isinstance(base, TypeValue) else self.types.class_of(base)
                declared = self.symbols.field(owner, name) if owner else None
                return (declared[0], name) if declared else None
            case Global(module=module, name=name):
                return (module, name)
            case _:
                return None

    def keep_entries(self, container: Value, values: Values, span: Span, state: State) -> None:
        """Values are put into a container, or sent over a channel."""
        key = self.entry_key(container) if not self.traits.duck_typed else None
        if key is None:
            return
        found = tuple([entry for value in values if value != NONE for entry in self._entries_of(value, state)])
        self.summaries.hints.entries.setdefault(key, {})[self.id, span] = found

    def _entries_of(self, value: Value, state: State) -> list[tuple[str, Value]]:
        """An entry, or the fields of a struct that is made for it, each by its name."""
        if not isinstance(value, Fresh) or self.types.class_of(value) is None:
            return [("", value)]
        fields = [
            (p.name, v) for p, held in state.heap.items() if isinstance(p, Field) and p.base == value for v in held
        ]
        return [("", value), *[(name, v) for name, v in fields if v != NONE]]

    def send_through(self, channels: Values, values: Values, span: Span, state: State) -> None:
        """Values are sent over channels; of one that is made here they are known, as is what lies in a container."""
        if not state.joined & LOCAL:
            self.effects.sent_early.update([entry for value in values for _, entry in self._entries_of(value, state)])
        for channel in channels:
            self.keep_entries(channel, values, span, state)
            if isinstance(channel, Captured | Param) and not self.traits.duck_typed:
                pairs = [(channel, v) for v in self.in_place(values) if len(self.summary.passes) < MOST_PASSES]
                self.summary.passes.update(dict.fromkeys(pairs))
            for value in values if isinstance(channel, Fresh) and not self.traits.duck_typed else ():
                self.put(channel, value)
                for name, held in self._entries_of(value, state):
                    if name and isinstance(value, Fresh):
                        self.put(value, held, Literal(name, FIELD))

    def append_to(self, sequences: Values, displays: Values, span: Span, state: State) -> None:
        """Sequences get what displays list at their end: so do the fields and variables that hold them."""
        if self.traits.duck_typed:
            return
        added = tuple([content.value for display in displays for content in self.filled.get(display, ())])
        for sequence in dict.fromkeys([uncopied(value) for value in sequences]):
            self.keep_entries(sequence, added or (UNKNOWN,), span, state)

    def made_with(self, type_id: str, name: str, values: Values, span: Span) -> None:
        """An object is made with values in a field."""
        if not self.traits.duck_typed:
            self.summaries.hints.made_with.setdefault((type_id, name), {})[self.id, span] = values

    def take_out(self, taken: Result, container: Value) -> None:
        """Something comes out of a channel, or of what is used like one: it was put there by somebody."""
        if isinstance(container, Field | Global | Captured | Param | Fresh):
            self.taken_out[taken] = element(container, member(container, taken.site))

    def passed_through(
        self, base: Value, name: str, args: tuple[Values, ...], call: Span, state: State
    ) -> Values | None:
        """An entry of an object that may be used by several, which is put there or comes out; None of other methods."""
        found = self.types.of(base)
        if self.traits.duck_typed or not isinstance(found, LibraryType):
            return None
        put = self.knowledge.does(f"{found.name}.{name}", "puts-in")
        if put is not None and put.argument < len(args):
            self.send_through((base,), args[put.argument], call, state)
        if self.knowledge.does(f"{found.name}.{name}", "gives-back") is not None:
            owners = [owner for values in args for value in values if (owner := self.types.class_of(value)) is not None]
            self.effects.given_back.update(owners)
        row = self.knowledge.does(f"{found.name}.{name}", "takes-out")
        if row is None:
            return None
        taken = Result(self.site(call, state))
        self.take_out(taken, base)
        return (Tuple(((taken,), *[NOTHING_KNOWN] * (row.results - 1))),) if row.results > 1 else (taken,)

    def replay_passes(self, summary: Summary, substitute: Substitute) -> None:
        """What a callee puts into channels that are made here."""
        for channel, value in list(summary.passes):
            for found in substitute(channel):
                for moved in substitute(value):
                    if isinstance(found, Fresh):
                        self.put(found, moved)
                    elif isinstance(found, Captured | Param) and len(self.summary.passes) < MOST_PASSES:
                        self.summary.passes[found, moved] = None

    def replay_taken(self, summary: Summary, substitute: Substitute) -> None:
        """What a callee returns that came out of a channel."""
        for taken, path in summary.taken_out.items():
            for moved, found in zip(substitute(taken), substitute(path), strict=False):
                self.taken_out[moved] = found

    def returns(self, values: Values, state: State | None = None) -> None:
        """Add what a return statement gives."""
        super().returns(values, state)
        if self.taken_out:
            given = [
                v
                for value in values
                for part in (value.parts if isinstance(value, Tuple) else ((value,),))
                for v in part
            ]
            self.summary.taken_out.update({v: self.taken_out[v] for v in given if v in self.taken_out})

    def retyped(self, value: Result, name: str) -> Result:
        """Something of unknown type that has turned out to be of a type."""
        made = value._replace(type=name)
        if value in self.taken_out:
            self.taken_out[made] = self.taken_out[value]
        return made

    def in_place(self, values: Values) -> Values:
        """What came out of channels, by the channel: so a caller knows it who has put it there."""
        return tuple([self.taken_out.get(value, value) for value in values]) if self.taken_out else values
