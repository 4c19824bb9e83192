"""The rules that racelint ships; a pack like any other."""

from racelint.api import Rule
from racelint_rules.mutated_while_iterating import mutated_while_iterating

RULES: tuple[Rule, ...] = (mutated_while_iterating,)
