"""The rules that racelint ships; a pack like any other."""

from racelint.api import Rule
from racelint_rules.bad_annotation import bad_annotation
from racelint_rules.broken_confinement import broken_confinement
from racelint_rules.inconsistent_lock import inconsistent_lock
from racelint_rules.mutated_cache_object import mutated_cache_object
from racelint_rules.mutated_while_iterating import mutated_while_iterating
from racelint_rules.stale_write_across_await import stale_write_across_await
from racelint_rules.unlocked_shared_write import unlocked_shared_write

RULES: tuple[Rule, ...] = (
    bad_annotation,
    broken_confinement,
    inconsistent_lock,
    mutated_cache_object,
    mutated_while_iterating,
    stale_write_across_await,
    unlocked_shared_write,
)
