"""What documentation says of locks that are left out."""

import pytest

from racelint.analysis.documented import is_deliberate


@pytest.mark.parametrize(
    "doc",
    [
        "Tells the rate. To avoid the cost of synchronisation by using locks, an old one may be told.",
        "This is intentionally not locked, reads may be stale.",
        "Reads are racy by design.",
        "No lock is taken here on purpose.",
        "The data race is benign.",
        "Deliberately without a mutex: a stale value does no harm.",
    ],
)
def test_locks_are_left_out_on_purpose(doc):
    assert is_deliberate(doc)


@pytest.mark.parametrize(
    "doc",
    [
        "",
        "It takes the lock on purpose.",
        "Intentionally holds the lock while it calls back.",
        "The lock is held by design.",
        "Avoids races by design.",
        "The worker must not race with close.",
        "Not locked: the caller does that.",
    ],
)
def test_locks_are_not_left_out_on_purpose(doc):
    assert not is_deliberate(doc)
