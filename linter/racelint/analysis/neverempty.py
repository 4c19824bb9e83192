"""Never empty: fields that whoever makes an object gives something, and that nobody empties: a store where one is found
unset is never made.

`func load(b []byte) (*Index, error) { i := &Index{}; if err := decode(b, i); err != nil { return nil, err };
i.seen = map[string]bool{}; return i, nil }`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial

from racelint.analysis.branching import arms, blocks
from racelint.analysis.effects import Effects, where_made
from racelint.analysis.gates import found
from racelint.analysis.passing import passes
from racelint.analysis.places import Place
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import Fresh, Site
from racelint.model import Assign, Attr, Block, Build, Const, Expr, Jump, Loop, Make, Name, Op, Update
from racelint.record import records
from racelint.span import Span


class NeverEmpty:
    """Finds stores that are made only where a field is found unset that is always set."""

    def __init__(
        self, symbols: Symbols, effects: Mapping[str, Effects], is_made_within: Callable[[str], bool]
    ) -> None:  # fmt: skip
        """`is_made_within` tells whether structs of a type are parts of others, made with them."""
        self._symbols = symbols
        self._effects = effects
        self._is_made_within = is_made_within
        self._known: dict[Place, bool] = {}

    def excludes(self, store: Spot) -> bool:
        """Whether a store is made only where a field is found unset, which it never is."""
        place = store.located.place
        if place.kind != "field" or place.depth or not place.name[:1].islower() or store.access.kind != "store":
            return False  # other packages, and what decodes an object, may empty a field that they see
        return self._finds_unset(store) and self._is_never_empty(place)

    def _finds_unset(self, store: Spot) -> bool:
        body, access = self._symbols.functions[store.function][1].body, store.access
        asked = {
            span
            for branch, arm in arms(body, access.span, turns=True)
            for span, is_set in found(branch.test, outcome=arm == 0)
            if not is_set
        }
        known = self._effects[store.function].all_accesses() if asked else ()
        return any(each.span in asked and each.path == access.path for each in known)

    def _is_never_empty(self, place: Place) -> bool:
        if place not in self._known:
            made = self._made.get(place.owner, ())
            self._known[place] = (
                bool(made)
                and not self._is_made_within(place.owner)
                and all(self._is_given(place.name, *each) for each in made)
                and self._is_kept(place)
            )
        return self._known[place]

    @cached_property
    def _made(self) -> dict[str, list[tuple[str, Span]]]:
        return where_made(self._effects)

    def _is_kept(self, place: Place) -> bool:
        """Whether all that the package of a type stores in fields of a name is something."""
        module, functions = place.owner.partition(":")[0], self._symbols.functions.values()
        bodies = tuple([function.body for source, function in functions if source.name == module and source.reported])
        return not any(_may_empty(node, place.name) for node in records(bodies))

    def _is_given(self, name: str, function: str, made: Span) -> bool:
        """Whether a function gives the field of an object that it makes something, in the literal or at once."""
        body = self._symbols.functions[function][1].body
        literals = [part for part in records(body) if isinstance(part, Make) and part.span == made]
        given = [value for literal in literals for field, value in literal.fields if field == name]
        return any(map(is_something, given)) or self._is_completed(name, function, made)

    def _is_completed(self, name: str, function: str, made: Span) -> bool:
        """Whether a function surely stores something in a field of what it has made before it goes on with it.

        Until then it has started nothing, and has called no other function of the program with it.
        """
        stored = completing(self._symbols.functions[function][1].body, made, name)
        return stored is not None and is_something(stored.value) and self._is_own(function, made, stored.span)

    def _is_own(self, function: str, made: Span, before: Span) -> bool:
        """Whether nobody else can know what a function has made when it comes to a spot."""
        effects, site = self._effects[function], Site(function, made)
        if any(isinstance(each, Fresh) and each.site == site for each in effects.exposed):
            return False
        if any(start.span[:2] < before[:2] for start in effects.starts.values()):
            return False
        called = [each for each in effects.calls.values() if made[:2] <= each.span[:2] < before[:2]]
        return not any(
            isinstance(value, Fresh) and value.site == site
            for each in called
            if each.callee in self._effects
            for value in (each.receiver, *[value for _, value in each.given])
        )


def is_something(value: Expr) -> bool:
    """Whether a value is surely not nil, zero or false."""
    match value:
        case Const(value=known):
            return bool(known)
        case Op(operator="address") | Make():
            return True
        case _:
            return False


def _may_empty(node: object, name: str) -> bool:
    """Whether a statement or an expression may leave a field with nothing in it, or lets others do so."""
    match node:
        case Assign(targets=(Attr(name=field),), value=value) if field == name:
            return not is_something(value)
        case Assign(targets=targets):
            parts = [part for each in targets for part in (each.parts if isinstance(each, Build) else (each,))]
            return any(isinstance(part, Attr) and part.name == name for part in parts)
        case (
            Update(target=Attr(name=field))
            | Loop(target=Attr(name=field))
            | Op(operator="address", operands=(Attr(name=field), *_))
        ):
            return field == name
        case Loop(target=Build(parts=parts)):
            return any(isinstance(part, Attr) and part.name == name for part in parts)
        case _:
            return False


def completing(body: Block, made: Span, name: str) -> Assign | None:
    """The store to a field of what a function has made that it passes before it gives that to who has called it."""
    for block in blocks(body):
        for index, stmt in enumerate(block):
            if isinstance(stmt, Assign) and stmt.span.holds(made) and isinstance(stmt.targets[0], Name):
                variable, behind = stmt.targets[0].name, block[index + 1 :]
                stored = next((each for each in behind if _completes(each, variable, name)), None)
                gives = partial(_is_without, variable)
                if isinstance(stored, Assign) and passes(behind, stored.span, gives, lambda _: False):
                    return stored
                return None
    return None


def _completes(stmt: object, variable: str, name: str) -> bool:
    """Whether a statement stores something in a field of what a variable holds."""
    match stmt:
        case Assign(targets=(Attr(base=Name(name=base), name=field),)):
            return base == variable and field == name
        case _:
            return False


def _is_without(variable: str, jump: Jump) -> bool:
    """Whether a return does not give a variable, and cannot give it as a named result."""
    if jump.value is None:
        return False
    return all(not isinstance(part, Name) or part.name != variable for part in records((jump.value,)))
