"""Access paths: built, bounded, joined, and rewritten from a callee's terms into its caller's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from racelint.analysis.values import (
    DEPTH,
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    WIDTH,
    Builtin,
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Lazy,
    Literal,
    Member,
    ModuleValue,
    Param,
    Partial,
    Result,
    Seen,
    Site,
    Tuple,
    TypeValue,
    Unknown,
    Value,
    Values,
    View,
)
from racelint.span import Span

_STEPS = frozenset({Field, Member, Copy, View, Seen})
_BASED = frozenset({Field, Element, Member, Copy, View, Seen})
_COMPOUND = frozenset({Field, Member, Copy, View, Seen, Element, Lazy, Tuple, FunctionValue, Partial})


def depth(value: Value) -> int:
    """How deeply a value is built of others."""
    steps = 0
    while type(value) in _STEPS:
        steps += 1
        value = value.base  # type: ignore[union-attr]
    return (
        steps if type(value) not in _COMPOUND else steps + 1 + max([depth(part) for part in parts_of(value)], default=0)
    )


def parts_of(value: Value) -> Values:
    """The values that a value is built of."""
    match value:
        case Field(base=base) | Member(base=base) | Copy(base=base) | View(base=base) | Seen(base=base):
            return (base,)
        case Element(base=base, key=key):
            return (base, key)
        case Lazy(bases=bases, elements=elements):
            return (*bases, *elements)
        case Tuple(parts=parts):
            return tuple([v for values in parts for v in values])
        case FunctionValue(receiver=receiver) if receiver is not None:
            return (receiver,)
        case Partial(callee=callee, args=args, keywords=keywords):
            return (callee, *[v for values in args for v in values], *[v for _, values in keywords for v in values])
        case _:
            return ()


def bounded(value: Value) -> Value:
    """The value, or unknown if it is built too deeply: chains end, and so does every fixpoint."""
    return UNKNOWN if depth(value) > DEPTH else value


def _is_opaque(base: Value) -> bool:
    """Whether a value has no parts that could be told apart."""
    return type(base) is Unknown or type(base) is Literal


def _longer(base: Value, path: Value) -> Value:
    """A path that is one step longer than its base, bounded; most bases have no steps yet."""
    return bounded(path) if type(base) in _COMPOUND else path


def field(base: Value, name: str) -> Value:
    """The path one field further; unknown if the base is, or if the path grows too long."""
    return UNKNOWN if _is_opaque(base) else _longer(base, Field(base, name))


def element(base: Value, key: Value) -> Value:
    """The path one element further; nothing lies under None: where that may be the key, the code takes another way."""
    if _is_opaque(base) or key in (UNKNOWN, NONE):
        return UNKNOWN
    path = Element(base, key)
    if type(key) not in _COMPOUND:
        return _longer(base, path)
    return bounded(_shortened(path) if depth(path) > DEPTH else path)


def _shortened(path: Value) -> Value:
    """A path by less long keys: at which entry a loop stands is known without the container that it walks."""
    if not isinstance(path, Element):
        return path
    key = path.key
    return Element(_shortened(path.base), Member(UNKNOWN, key.site) if isinstance(key, Member) else key)


def member(base: Value, site: Site) -> Value:
    """The key at which an iteration stands."""
    return UNKNOWN if _is_opaque(base) else _longer(base, Member(base, site))


def view(base: Value, kind: str) -> Value:
    """A live view."""
    return UNKNOWN if _is_opaque(base) else _longer(base, View(base, kind))


def seen_as(base: Value, type_name: str) -> Value:
    """The same object, by a narrower type."""
    if isinstance(base, Seen):
        base = base.base
    return UNKNOWN if _is_opaque(base) else _longer(base, Seen(base, type_name))


def lazy(kind: str, bases: Values, elements: Values = ()) -> Value:
    """An iterator over what is known among `bases`."""
    return bounded(Lazy(kind, tuple([base for base in bases if not isinstance(base, Unknown | Literal)]), elements))


def copy_of(base: Value, type_name: str, site: Site) -> Value:
    """A fresh container of a type with the elements of another; merely fresh if too little is known.

    A copy of what an earlier turn made at the same site is no longer about that earlier object. Copies that a callee
    makes of copies have one site, the call: those of what a cache hands out are told apart by where they are made.
    """
    shared = type(root(base)) is Cached
    untold = _is_opaque(base) or depth(base) >= DEPTH or mentions(base, site, exactly=shared)
    return Fresh(type_name, site) if untold else Copy(base, type_name, site)


def mapped(value: Value) -> Value:
    """What a mapping made of a value is a copy of: of pairs of keys and values, the mapping whose items they are."""
    inner = uncopied(value)
    return inner.base if isinstance(inner, View) and inner.kind == "items" else value


def root(value: Value) -> Value:
    """What an access path starts from."""
    while type(value) in _BASED:
        value = value.base  # type: ignore[union-attr]
    return value


def is_seen(path: Value) -> bool:
    """Whether a path runs over an object that is known by a narrower type than it was declared with."""
    while type(path) in _BASED:
        if type(path) is Seen:
            return True
        path = path.base  # type: ignore[union-attr]
    return False


def union(first: Values, second: Values) -> Values:
    """The alternatives of both, in a stable order."""
    if not first and len(second) <= WIDTH:
        return second
    if first == second:
        return first
    merged = first + tuple([value for value in second if value not in first])
    return merged if len(merged) <= WIDTH else _narrowed(merged)


def _narrowed(values: Values) -> Values:
    """Too many alternatives: unknown, but what a cache may have handed out stays in sight, also out of a list."""
    shared = tuple([v for v in values if type(r := root(v)) is Cached or (type(r) is Fresh and type(v) is Element)])
    return (UNKNOWN, *shared) if 0 < len(shared) < WIDTH else NOTHING_KNOWN


def unite(many: Iterable[Values]) -> Values:
    """The alternatives of all."""
    result: Values = ()
    for values in many:
        result = union(result, values)
    return result or NOTHING_KNOWN


_SITED = frozenset({Fresh, Result, Member, Copy})
_OWN_TYPE = frozenset({Fresh, Result, Copy, FunctionValue, Literal, Partial, Tuple})  # what says itself what it is


def mentions(value: Value, site: Site, *, exactly: bool = False) -> bool:
    """Whether a value was made, wholly or in part, at a site; of a call, exactly or at any place in the callee."""
    kind = type(value)
    while kind in _STEPS or kind in _SITED:
        if (
            kind in _SITED
            and value.site.span == site.span  # type: ignore[union-attr]
            and value.site.function == site.function  # type: ignore[union-attr]
            and (not exactly or value.site.origin == site.origin)  # type: ignore[union-attr]
        ):
            return True
        if kind not in _STEPS:
            return False
        value = value.base  # type: ignore[union-attr]
        kind = type(value)
    return kind in _COMPOUND and any([mentions(part, site, exactly=exactly) for part in parts_of(value)])


@lru_cache(maxsize=1 << 16)
def made_at(values: Values) -> frozenset[tuple[str, Span]]:
    """Where these values, or parts of them, were made: the function and the span of each site."""
    found: set[tuple[str, Span]] = set()
    todo = list(values)
    while todo:
        value = todo.pop()
        if type(value) in _SITED:
            found.add((value.site.function, value.site.span))  # type: ignore[union-attr]
        todo += parts_of(value)
    return frozenset(found)


FIXED = frozenset({Unknown, Literal, Param, Captured, Global, Builtin, TypeValue, ModuleValue})


class Substitute:
    """Rewrites a callee's values into its caller's terms.

    `lookup` maps a root, or a path that the caller has assigned since, to the caller's values; None leaves it. Objects
    that the callee made are, for the caller, made at the call: each call site has its own. In a recursive call both
    sides write their paths alike: `assigned` looks at those that are the caller's already. What was rewritten is kept
    until `renew` says that the caller has assigned something.
    """

    def __init__(
        self,
        lookup: Callable[[Value], Values | None],
        site: Site,
        assigned: Callable[[Value], Values | None] | None = None,
    ) -> None:
        self._lookup = lookup
        self._assigned = assigned or lookup
        self._site = site
        self._rewritten: dict[Value, Values] = {}

    def renew(self) -> None:
        """Look everything up again: the caller has assigned something since."""
        self._rewritten.clear()

    def values(self, values: Values) -> Values:
        """Rewrite alternatives."""
        return unite([self(value) for value in values])

    def __call__(self, value: Value) -> Values:
        """Rewrite one value; the result has several alternatives where the caller's arguments have."""
        if type(value) is Literal:
            return (value,)
        known = self._rewritten.get(value)
        if known is None:
            known = self._rewritten[value] = self._rewrite(value)
        return known

    def _rewrite(self, value: Value) -> Values:
        found = self._lookup(value)
        if found is not None:
            return found
        if type(value) in FIXED:
            return (value,)
        match value:
            case Field(base=base, name=name):
                return self._each(base, lambda v: field(v, name))
            case Element(base=base, key=Member(base=walked, site=made)) if walked == base:
                site = self._moved(made)
                return self._each(base, lambda v: element(v, member(v, site)))  # of several lists each has its own keys
            case Element(base=base, key=key):
                keys = self(key)
                single = keys[0] if len(keys) == 1 else UNKNOWN
                if single == UNKNOWN and type(key) is Member:  # at which entry a loop stands is known all the same
                    single = Member(UNKNOWN, self._moved(key.site))
                found = self(base)
                if len(found) == 1 and isinstance(found[0], Tuple):  # the rest of the arguments
                    return _of_rest(found[0], single)
                return self._each(base, lambda v: element(v, single))
            case Member(base=base, site=made):
                site = self._moved(made)
                return self._each(base, lambda v: member(v, site))
            case View(base=base, kind=kind):
                return self._each(base, lambda v: view(v, kind))
            case Seen(base=base, type=kind):
                return self._each(base, lambda v: v if type(v) in _OWN_TYPE else seen_as(v, kind))
            case Copy(base=base, type=kind, site=made):
                return tuple([copy_of(v, kind, self._moved(made)) for v in self(base)])
            case Fresh(type=kind, site=made):
                return (Fresh(kind, self._moved(made)),)
            case Result(type=kind, site=made):
                return (Result(self._moved(made), kind),)
            case Cached(site=made):
                return (value._replace(site=self._moved(made)),)
            case Lazy(kind=kind, bases=bases, elements=elements):
                flat = tuple([v for base in bases for v in self(base)])
                return (lazy(kind, flat, self.values(elements) if elements else ()),)
            case Tuple(parts=parts):
                return (bounded(Tuple(tuple([self.values(part) for part in parts]))),)
            case FunctionValue(function=function, receiver=receiver) if receiver is not None:
                return tuple([bounded(FunctionValue(function, v)) for v in self(receiver)])
            case Partial(callee=callee, args=args, keywords=keywords):
                new_args = tuple([self.values(values) for values in args])
                new_keywords = tuple([(name, self.values(values)) for name, values in keywords])
                return tuple([bounded(Partial(v, new_args, new_keywords)) for v in self(callee)])
            case _:
                return (value,)

    def _moved(self, made: Site) -> Site:
        """The call as the site of what was made in the callee; two objects made there stay two."""
        return Site(self._site.function, self._site.span, made.origin or made.span)

    def _each(self, base: Value, step: Callable[[Value], Value]) -> Values:
        """Take one step from each base; a path that the caller has assigned since reads as what was assigned."""
        result: Values = ()
        for start in self(base):
            path = UNKNOWN if start == UNKNOWN else step(start)
            assigned = self._assigned(path)
            result = union(result, (path,) if assigned is None else assigned)
        return result


def _of_rest(rest: Tuple, key: Value) -> Values:
    """The objects that may lie in the rest of the arguments: the one of that number, or all of them."""
    index = key.value if isinstance(key, Literal) else None
    return unite(rest.parts[index : index + 1] if isinstance(index, int) else rest.parts)


def at(value: Value, site: Site) -> Value:
    """An element that a generator yields, as the element of the loop that consumes it."""
    match value:
        case Member(base=base):
            return Member(base, site)
        case Element(base=base, key=Member(base=other)):
            return Element(base, Member(other, site))
        case Tuple(parts=parts):
            return Tuple(tuple([tuple([at(v, site) for v in part]) for part in parts]))
        case _:
            return value


def holder(path: Value | None) -> Value | None:
    """What has the element that a path leads to."""
    while isinstance(path, Element | Member):
        path = path.base
    return path


def object_of(path: Value) -> Value | None:
    """The object of which a path leads to a field, or to what is in it."""
    field = holder(path)
    return field.base if isinstance(field, Field) else None


def uncopied(value: Value) -> Value:
    """The container whose elements a shallow copy shares."""
    while isinstance(value, Copy):
        value = value.base
    return value


def underlying(value: Value) -> Value:
    """The container behind copies and views."""
    while isinstance(value, Copy | View):
        value = value.base
    return value


def repacked(key: Value) -> Value:
    """A tuple of all parts of a value, in order, as that value: `(k[0], k[1])` as `k`."""
    if not isinstance(key, Tuple) or len(key.parts) < 2:
        return key
    wholes: set[Value] = set()
    for index, values in enumerate(key.parts):
        match values:
            case (Element(base=base, key=Literal(value=position)),) if position == index:
                wholes.add(base)
            case _:
                return key
    return wholes.pop() if len(wholes) == 1 else key


def containers(value: Value) -> tuple[Value, ...]:
    """The containers that an iteration over `value` reads while it goes on."""
    match value:
        case View(base=base):
            return containers(base)
        case Lazy(bases=bases):
            return tuple([c for base in bases for c in containers(base)])
        case Unknown() | Literal() | Tuple():
            return ()
        case _:
            return (value,)


def only(keys: Values) -> Value:
    """The key that alternatives stand for: the only one, or the one at which a loop stands, whatever it walks."""
    if len(keys) == 1:
        return keys[0]
    sites = {key.site if isinstance(key, Member) else None for key in keys}
    site = sites.pop() if len(sites) == 1 else None
    return Member(UNKNOWN, site) if site is not None else UNKNOWN


def one_of(alternatives: Values) -> Value:
    """What stands for a variable that holds one of several values, as long as it holds the same."""
    if len(alternatives) == 1:
        return alternatives[0]
    return UNKNOWN if UNKNOWN in alternatives else Tuple(tuple([(value,) for value in alternatives]))


def mentions_value(value: Value, part: Value) -> bool:
    """Whether a value is another one, or built of it."""
    return value == part or any([mentions_value(inner, part) for inner in parts_of(value)])


def rebased(path: Value, old: Value, new: Value) -> Value:
    """A path that starts from another value instead; unknown if it grows too long."""
    if path == old:
        return new
    match path:
        case Field(base=base, name=name):
            return field(rebased(base, old, new), name)
        case Element(base=base, key=key):
            inner = rebased(base, old, new)
            member_of_it = isinstance(key, Member) and key.base == base
            return element(inner, Member(inner, key.site) if member_of_it else key)  # type: ignore[union-attr]
        case Member(base=base, site=site):
            return member(rebased(base, old, new), site)
        case View(base=base, kind=kind):
            return view(rebased(base, old, new), kind)
        case Copy(base=base, type=kind, site=site):
            return copy_of(rebased(base, old, new), kind, site)
        case Seen(base=base, type=kind):
            inner = rebased(base, old, new)
            return inner if type(inner) in _OWN_TYPE else seen_as(inner, kind)
        case _:
            return path


def prefixes(path: Value) -> list[Value]:
    """The values on the way to a path, its root first, itself last."""
    found = [path]
    while isinstance(path, Field | Element | Member | Copy | View | Seen):
        path = path.base
        found.append(path)
    return found[::-1]
