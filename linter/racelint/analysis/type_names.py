"""Types as far as the analysis knows them, and the names by which values carry them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias


class ClassType(NamedTuple):
    """A class of the project, by id; `value` if what has the type is the object itself, which assignments copy."""

    type: str
    value: bool = False


class LibraryType(NamedTuple):
    """A type from outside, by canonical dotted name, with the types of its elements; `pointer` if it is behind one."""

    name: str
    args: tuple[TypeOf | None, ...] = ()
    pointer: bool = False


TypeOf: TypeAlias = ClassType | LibraryType
NONE_TYPE = LibraryType("None")
RESULTS = "results"  # what a function of several results returns


def project_class(found: TypeOf | None) -> str | None:
    """The id of a type that is a class of the project."""
    return found.type if isinstance(found, ClassType) else None


def only(options: list[TypeOf | None]) -> TypeOf | None:
    """The one type among options; None and unknown ones aside, if all others agree."""
    known = [option for option in options if option is not None and option != NONE_TYPE]
    if not known:
        return None
    names = {option.name if isinstance(option, LibraryType) else option.type for option in known}
    if len(names) > 1:
        return None
    return max(known, key=lambda option: len(option.args) if isinstance(option, LibraryType) else 0)


def written(found: TypeOf | None, typed: Collection[str]) -> str:
    """The name of a type, "" for an unknown one; those that are `typed` have the types of their elements in it.

    `map<string,=m:T>` maps strings to objects of `m:T` that it holds itself.
    """
    match found:
        case ClassType(type=type_id):
            return type_id
        case LibraryType(name=name, args=args) if args and name in typed:
            return f"{name}<{','.join([_part(arg, typed) for arg in args])}>"
        case LibraryType(name=name):
            return name
        case _:
            return ""


def _part(found: TypeOf | None, typed: Collection[str]) -> str:
    match found:
        case ClassType(value=True):
            return f"={written(found, typed)}"
        case LibraryType(pointer=True):
            return f"*{written(found, typed)}"
        case _:
            return written(found, typed)


def read(text: str, named: Callable[[str], TypeOf | None]) -> TypeOf | None:
    """The type of a name that `written` gave; `named` knows those without arguments."""
    if text.startswith("="):
        found = read(text[1:], named)
        return found._replace(value=True) if isinstance(found, ClassType) else found
    if text.startswith("*"):
        found = read(text[1:], named)
        return found._replace(pointer=True) if isinstance(found, LibraryType) else found
    if not text.endswith(">"):
        return named(text)
    name, _, rest = text.removesuffix(">").partition("<")
    return LibraryType(name, tuple([read(part, named) for part in _split(rest)]))


def _split(text: str) -> list[str]:
    """Parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
