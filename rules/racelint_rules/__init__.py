"""The rules that racelint ships; a pack like any other."""

from racelint.api import Rule

RULES: tuple[Rule, ...] = ()
