"""Levels of flags: atomic numbers in fields that say more than that they are set, as those of states do.

`s.rows = rows; s.state.Store(running)`, and `if s.state.Load() != running { return }; use(s.rows)`: who finds a number
there comes after what was done before it was stored, wherever other numbers are stored in the same flag. States come
and go, other than flags that stay set: who does all that again meanwhile is not before those who look.
"""

from __future__ import annotations

from racelint.analysis.values import Field, Literal, Value, Values

AT = " at "  # between the names of a flag and of a number that is stored in it
ANYTHING = "anything"  # what stands there for a number that is not known
SOMETHING = "something"  # and what for any other than zero


def level(flag: Value, number: Value) -> Values:
    """What stands for a flag at a constant number, or set; it is at zero from the beginning."""
    is_level = isinstance(flag, Field) and isinstance(number, Literal) and isinstance(number.value, int)
    return _at(flag, f"{number.value!s}") if is_level and isinstance(number, Literal) and number.value else ()


def anywhere(flag: Value) -> Values:
    """What stands for a flag at any number but zero."""
    return _at(flag, SOMETHING)


def stored(flag: Value, number: Value | None) -> Values:
    """What stands for the levels at which a flag is when a number is stored there; None if it is not known."""
    if number is None:
        return *_at(flag, ANYTHING), *anywhere(flag)
    found = level(flag, number)
    return (*found, *anywhere(flag)) if found else ()


def unknown(path: Value) -> Values:
    """What stands for numbers that are not known, of a flag at one that is."""
    flag = flag_of(path)
    return _at(flag, ANYTHING) if flag is not None and path not in anywhere(flag) else ()


def flag_of(path: Value) -> Field | None:
    """The flag for which something stands at a number, if it does that."""
    name, at, _ = path.name.partition(AT) if isinstance(path, Field) else ("", "", "")
    return Field(path.base, name) if at and isinstance(path, Field) else None


def _at(flag: Value, where: str) -> Values:
    return (Field(flag.base, f"{flag.name}{AT}{where}"),) if isinstance(flag, Field) else ()
