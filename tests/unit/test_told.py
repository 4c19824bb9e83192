"""What a race says of the way to its accesses."""

from __future__ import annotations

import textwrap

from tests.unit.programs import lower

from racelint.analysis.program import link
from racelint.model import Source

POOL = """\
    import threading

    class Pool:
        def __init__(self):
            self._lock = threading.Lock()
            self._own = threading.Lock()
            self.hosts = {}
            threading.Thread(target=self._poll).start()

        def _poll(self):
            self._turn()

        def _turn(self):
            with self._lock:
                self._refresh()

        def _refresh(self):
            with self._own:
                self.hosts[compute()] = 1

        def names(self):
            return [name.upper() for name in self.hosts]
"""


def test_each_step_knows_the_locks_that_are_held_there():
    (race,) = link([Source("/p/m.py", "m", lower(textwrap.dedent(POOL)), True)]).races()
    sides = {side.function: [(step.function, step.locks) for step in side.trace] for side in (race.first, race.second)}
    assert sides == {
        "Pool._refresh": [
            ("Pool._poll", ()),
            ("Pool._turn", ("Pool._lock",)),
            ("Pool._refresh", ("Pool._lock", "Pool._own")),
        ],
        "Pool.names": [("Pool.names", ())],
    }
