"""Members that a type has through what it embeds, and the types that have all methods of an interface."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from racelint.analysis.values import Builtin, Global, TypeValue, Value
from racelint.model import Imported, TypeRef

if TYPE_CHECKING:
    from racelint.analysis.symbols import Symbols

Chain: TypeAlias = tuple[str, ...]  # names of embedded fields, outermost first
MOST_LEVELS = 5


class Embedding:
    """Looks through embedded fields, the nearest level first; memoised."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._chains: dict[tuple[str, str], Chain] = {}
        self._libraries: dict[str, tuple[tuple[Chain, str], ...]] = {}

    def chain(self, type_id: str, name: str) -> Chain:
        """The embedded fields through which a type has a member; () if it is its own, or if nobody has it."""
        record = self._symbols.types[type_id][1]
        if not record.embedded or name in record.fields or self._symbols.method(type_id, name):
            return ()
        key = (type_id, name)
        if key not in self._chains:
            self._chains[key] = self._find(type_id, name)
        return self._chains[key]

    def _find(self, type_id: str, name: str) -> Chain:
        level: list[tuple[Chain, str]] = [((), type_id)]
        for _ in range(MOST_LEVELS):
            inner = [(c, t) for chain, outer in level for c, t in self._embedded(chain, outer) if t]
            for chain, found in inner:
                if name in self._symbols.types[found][1].fields or self._symbols.method(found, name):
                    return chain
            level = inner
        return ()

    def promoted(self, type_id: str, name: str) -> str | None:
        """The method of the project that a type has through an embedded field, unless that is an interface."""
        inner = type_id
        for part in self.chain(type_id, name):
            inner = next((found for chain, found in self._embedded((), inner) if chain == (part,)), "")
            if not inner or self._symbols.types[inner][1].is_interface:
                return None
        return self._symbols.method(inner, name) if inner != type_id else None

    def _embedded(self, chain: Chain, type_id: str) -> list[tuple[Chain, str]]:
        """What a type embeds: the project's types, or "" for others."""
        module = type_id.partition(":")[0]
        record = self._symbols.types[type_id][1]
        found: list[tuple[Chain, str]] = []
        for name in record.embedded:
            field = record.fields.get(name)
            value = self.named(module, field.annotation) if field and field.annotation else None
            found.append(((*chain, name), value.type if isinstance(value, TypeValue) else ""))
        return found

    def parts(self, type_id: str) -> frozenset[str]:
        """The project's types that a type embeds, at any level."""
        found: set[str] = set()
        todo = [type_id]
        while todo:
            fresh = [t for _, t in self._embedded((), todo.pop()) if t and t not in found]
            found.update(fresh)
            todo += fresh
        return frozenset(found)

    def libraries(self, type_id: str) -> tuple[tuple[Chain, str], ...]:
        """The library types that a type embeds at any level, with the way to each, the nearest first."""
        if type_id not in self._libraries:
            found: list[tuple[Chain, str]] = []
            level: list[tuple[Chain, str]] = [((), type_id)]
            for _ in range(MOST_LEVELS):
                inner = [(c, t, outer) for chain, outer in level for c, t in self._embedded(chain, outer)]
                for chain, found_type, outer in inner:
                    if not found_type:
                        found.append((chain, self._library(outer, chain[-1])))
                level = [(chain, found_type) for chain, found_type, _ in inner if found_type]
            self._libraries[type_id] = tuple(found)
        return self._libraries[type_id]

    def _library(self, type_id: str, name: str) -> str:
        field = self._symbols.types[type_id][1].fields.get(name)
        value = self.named(type_id.partition(":")[0], field.annotation) if field and field.annotation else None
        return value.name if isinstance(value, Builtin) else ""

    def named(self, module: str, ref: TypeRef) -> Value | None:
        """What a written type names, seen from a module, behind a pointer or not."""
        while ref.name == "*" and ref.args:
            ref = ref.args[0]
        return self._meant(module, ref)

    def _meant(self, module: str, ref: TypeRef) -> Value | None:
        if ref.module:
            return self._symbols.resolve_import(self._symbols.sources[module], Imported(ref.module, ref.name, 0))
        if f"{module}:{ref.name}" in self._symbols.types:
            return TypeValue(f"{module}:{ref.name}")
        return self._symbols.name(module, ref.name) if ref.name else None

    # --- interfaces ---------------------------------------------------------------------------------------------------

    def implementers(self) -> dict[str, list[str]]:
        """The types that have all methods of each interface, by the interface; sorted."""
        interfaces = [t for t, (_, record) in self._symbols.types.items() if record.is_interface]
        if not interfaces:
            return {}
        names = {t: self._method_names(t) for t in self._symbols.types}
        having: dict[str, set[str]] = defaultdict(set)
        for type_id, (source, record) in self._symbols.types.items():
            if source.reported and not record.is_interface:
                for name in names[type_id]:
                    having[name].add(type_id)
        found: dict[str, list[str]] = {}
        for interface in interfaces:
            wanted = names[interface]
            if wanted:
                sets = sorted([having.get(name, set()) for name in wanted], key=len)
                having_all = sorted(sets[0].intersection(*sets[1:]))
                found[interface] = [type_id for type_id in having_all if self._fits(interface, type_id)]
        return found

    def _fits(self, interface: str, type_id: str) -> bool:
        """Whether the methods of a type take and give what an interface says, as far as both name their types."""
        for name in sorted({named.partition("/")[0] for named in self._method_names(interface)}):
            wanted = self._symbols.method(interface, name)
            method = self._symbols.method(type_id, name) or self.promoted(type_id, name)
            if wanted is None or method is None:
                continue
            (here, one), (there, other) = self._symbols.functions[wanted], self._symbols.functions[method]
            kinds = [
                *[(a.annotation, b.annotation) for a, b in zip(one.parameters[1:], other.parameters[1:], strict=False)],
                (one.returns, other.returns),
            ]
            if not all(self._may_be_same(here.name, mine, there.name, theirs) for mine, theirs in kinds):
                return False
        return True

    def _may_be_same(self, here: str, one: TypeRef | None, there: str, other: TypeRef | None) -> bool:
        """Whether what is written in two modules may be one type; an unknown one may be any.

        Of two types that are not both the project's own the names decide: a library may have one under several paths.
        """
        if one is None or other is None:
            return one is other
        if not one.name or not other.name:
            return True
        mine, theirs = self._meant(here, one), self._meant(there, other)
        if isinstance(mine, TypeValue) and isinstance(theirs, TypeValue):
            if mine != theirs:
                return False
        elif isinstance(mine, Global) or isinstance(theirs, Global):
            return True  # another name for a library's type
        elif one.name != other.name or one.direction != other.direction or len(one.args) != len(other.args):
            return False
        return all(self._may_be_same(here, a, there, b) for a, b in zip(one.args, other.args, strict=False))

    def _method_names(self, type_id: str) -> frozenset[str]:
        """All methods of a type with the number of their parameters, inherited and promoted ones too."""
        names: set[str] = set()
        todo, seen = [type_id], {type_id}
        while todo:
            current = todo.pop()
            source, record = self._symbols.types[current]
            for name, qualname in record.methods.items():
                known = self._symbols.functions.get(f"{source.name}:{qualname}")
                names.add(f"{name}/{len(known[1].parameters) if known else 0}")
            line = [a.type for a in self._symbols.ancestors(current)[1:] if isinstance(a, TypeValue)]
            embedded = [t for _, t in self._embedded((), current) if t]
            fresh = [t for t in (*line, *embedded) if t not in seen]
            seen.update(fresh)
            todo += fresh
        return frozenset(names)
