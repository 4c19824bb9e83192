"""HTML as values: whatever is not already markup is escaped, so nothing of the analysed code gets through as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import TypeAlias


class Markup(str):
    """Text that is HTML already. Only this package's own templates are made so."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Value: TypeAlias = str | int | bool | None

VOID = frozenset({"input", "link", "meta"})
# Control characters, and those that turn the direction of what follows (Trojan Source, Boucher and Anderson 2021).
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def tag(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """An element. `class_` and `data_path` are written class and data-path; True stands alone, None and False fall."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    end = "" if name in VOID else f"</{name}>"
    return Markup(f"<{name}{written}>{join(*children)}{end}")


def join(*children: Child) -> Markup:
    """Children one after the other: markup as it is, everything else escaped."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(text(child))
        elif isinstance(child, int):
            parts.append(str(child))
        elif child is not None:
            parts.append(join(*child))
    return Markup("".join(parts))


def text(plain: str) -> Markup:
    """Text with every character that HTML gives a meaning escaped, and those that steer the display made visible."""
    return Markup(escape(visible(plain)))


def visible(plain: str) -> str:
    """Text with what would steer its display written out."""
    return STEERING.sub(_written, plain)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
