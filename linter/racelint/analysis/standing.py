"""Standing entries: keys that a mapping has from where it is made, and that nothing takes out of it.

`self.counts = {"read": 0, "written": 0}`: to store `self.counts["read"]` later resizes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racelint.analysis.effects import Access, Effects
from racelint.analysis.gathering import CONSTRUCTORS
from racelint.analysis.places import Place
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.values import Field, Global, TypeValue
from racelint.model import Assign, Assigned, Attr, Build, Call, Const, Expr, Function, Item, Name, Scalar
from racelint.record import records
from racelint.span import Span

TAKING = frozenset({"remove", "discard", "clear"})
NOTHING = Const(None)


class Standing:
    """Answers for insertions into the mappings that fields and variables of modules hold."""

    def __init__(self, symbols: Symbols, effects: Mapping[str, Effects]) -> None:
        self._symbols = symbols
        self._effects = effects
        self._keys: dict[Place, dict[Scalar, bool]] = {}
        self._emptied: frozenset[str] | None = None  # names of what loses entries somewhere
        self._replaced: frozenset[str] | None = None  # names of what classes get outside of their bodies

    def replaces(self, spot: Spot) -> bool:
        """Whether an insertion, maybe by a helper that is given the mapping, only gives a new value to an entry."""
        access, place = spot.access, spot.located.place
        if access.kind != "insert" or not isinstance(access, Access):
            return False
        function, span = access.calls[-1][:2] if access.calls else (spot.function, access.span)
        key = key_at(self._symbols.functions[function][1], span)
        return isinstance(key, Const) and self.has(place, key.value, spot.function)

    def has(self, place: Place, key: Scalar, function_id: str) -> bool:
        """Whether a mapping has a key whenever a function stores it."""
        if place.depth or place.name in self._all_emptied():
            return False
        if place not in self._keys:
            self._keys[place] = self._standing(place)
        made = self._keys[place].get(key)
        name = self._symbols.functions[function_id][1].name
        return made is not None and (made or name not in (*CONSTRUCTORS, MODULE))

    def _all_emptied(self) -> frozenset[str]:
        if self._emptied is None:
            taken = [a.path for e in self._effects.values() for a in e.all_accesses() if a.kind in TAKING]
            self._emptied = frozenset([path.name for path in taken if isinstance(path, Field | Global)])
        return self._emptied

    def _is_given(self, place: Place) -> bool:
        """Whether something may get another mapping than its class gives it: of a class as such, that is seen."""
        if place.kind == "field":
            return place.name in self._symbols.stored_from_outside
        if self._replaced is None:
            stored = [a.path for e in self._effects.values() for a in e.all_accesses() if a.kind == "store"]
            paths = [path for path in stored if isinstance(path, Field) and isinstance(path.base, TypeValue)]
            self._replaced = frozenset([path.name for path in paths])
        return place.name in self._replaced

    def _standing(self, place: Place) -> dict[Scalar, bool]:
        """The keys of all mappings that a place may hold, each with whether it has them as it is made."""
        stored = [each for each in self._stored(place) if each[1].value != NOTHING]
        found = [self._filled(place, module, assigned) for module, assigned in stored]
        common = set(found[0]).intersection(*found[1:]) if found else set()
        return {key: all(keys[key] for keys in found) for key in common}

    def _stored(self, place: Place) -> Iterator[tuple[str, Assigned]]:
        """All that a place is given, and in which module."""
        if place.kind == "global":
            record = self._symbols.content(place.owner).globals.get(place.name)
            yield from [(place.owner, each) for each in (record.values if record else ())]
        elif place.kind in ("field", "static") and not self._is_given(place):
            family = {place.owner, *self._symbols.subtypes(place.owner)}
            known = [found for each in sorted(family) for found in self._symbols.field_records(each, place.name)]
            for owner, record in dict(known).items():
                yield from [(owner.partition(":")[0], each) for each in record.values]

    def _filled(self, place: Place, module: str, assigned: Assigned) -> dict[Scalar, bool]:
        """The keys that a mapping has as it is made, and those that the same function surely puts there next."""
        made = _keys_of(assigned.value)
        if made is None:
            return {}
        keys = dict.fromkeys(made, True)
        known = self._symbols.functions.get(f"{module}:{assigned.function}")
        block = known[1].body if known is not None and known[1].name in (*CONSTRUCTORS, MODULE) else ()
        behind = False
        for stmt in block:
            behind = behind or (isinstance(stmt, Assign) and stmt.value == assigned.value)
            for target in stmt.targets if behind and isinstance(stmt, Assign) else ():
                match target:
                    case Item(base=Name(name=name) | Attr(base=Name(), name=name), key=Const(value=key)):
                        if name == place.name:
                            keys.setdefault(key, False)
        return keys


def _keys_of(made: Expr) -> list[Scalar] | None:
    """The constants among the keys of a mapping that is written down; None if it is none."""
    match made:
        case Build(kind="dict", keys=keys):
            return [key.value for key in keys if isinstance(key, Const)]
        case Call(func=Name(name="dict", scope="global"), args=(), keywords=keywords):
            return [name for name, _ in keywords]
        case _:
            return None


def key_at(function: Function, span: Span) -> Expr | None:
    """What something is stored under at a spot."""
    for node in records(function.body):
        match node:
            case Assign(targets=targets):
                items = [target for target in targets if isinstance(target, Item)]
                keys = [item.key for item in items if span in (node.span, item.span)]
                if len(keys) == 1:
                    return keys[0]
            case Call(func=Attr(name="setdefault"), args=(key, *_)) if node.span == span:
                return key
    return None
