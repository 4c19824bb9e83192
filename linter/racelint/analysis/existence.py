"""Existence: results that say whether the object that is given beside them was found.

`obj, exists, err := store.GetByKey(key)`: where `exists` is false, no variable has an object from that call. So it is
with what a helper gives that returns `obj, true` or `newOne(), false`.
"""

from __future__ import annotations

from racelint.analysis.paths import root
from racelint.analysis.state import State
from racelint.analysis.values import NOTHING_KNOWN, Cached, Literal, Result, Site, Tuple, Value, Values

SAYS = "bool"  # the type of such a result
YES, NO = (Literal(True, "bool"),), (Literal(False, "bool"),)


def says_of(site: Site) -> Result:
    """The result that says whether the object was found which a call hands out."""
    return Result(site, SAYS)


def drop_missing(flags: Values, state: State) -> None:
    """What a test has found false may all be said of objects: these are missing, whatever held them."""
    if not all([type(flag) is Result and flag.type == SAYS for flag in flags]):
        return
    missing = {flag.site for flag in flags if isinstance(flag, Result)}
    for kept in (state.variables, state.heap):
        for name, values in kept.items():
            if any([_site(value) in missing for value in values]):
                kept[name] = tuple([v for v in values if _site(v) not in missing]) or NOTHING_KNOWN  # type: ignore[index]


def tied(one: Tuple, other: Tuple) -> tuple[Tuple, Tuple]:
    """Two results of one function: False beside none of the other's shared objects says that these are missing."""
    mine, theirs = _sites(one), _sites(other)
    first, second = list(one.parts), list(other.parts)
    for index, (a, b) in enumerate(zip(one.parts, other.parts, strict=True)):
        flags = _flags(a, b, [site for site in mine if site not in theirs])
        flags = flags or _flags(b, a, [site for site in theirs if site not in mine])
        if flags:
            first[index] = flags if a in (YES, NO) else a
            second[index] = flags if b in (YES, NO) else b
    return Tuple(tuple(first)), Tuple(tuple(second))


def _flags(said: Values, denied: Values, sites: list[Site]) -> Values:
    """What says of the objects of these sites that they were found, if the other result denies it."""
    if denied != NO:
        return ()
    flags = tuple([says_of(site) for site in sites])
    return flags if said == YES else tuple([flag for flag in flags if flag in said])


def _sites(several: Tuple) -> list[Site]:
    found = [_site(value) for part in several.parts for value in part]
    return [site for site in dict.fromkeys(found) if site is not None]


def _site(value: Value) -> Site | None:
    """Where the shared object was handed out that a path starts from."""
    start = root(value)
    return start.site if isinstance(start, Cached) else None
