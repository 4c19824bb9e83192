"""What a race says of the way to its accesses."""

from __future__ import annotations

import textwrap

import pytest
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


HANDED_OUT = """\
    class Metadata:
        def __init__(self):
            self.hosts = {}

        def all_hosts(self):
            return self.hosts.values()

        @property
        def live(self):
            return self.hosts

        def own(self):
            if not self.hosts:
                return {}
            return self.hosts

        def each(self):
            yield from self.hosts

        def refresh(self):
            for host in HOSTS:
                self.hosts.pop(host)
"""


@pytest.mark.parametrize(
    ("hosts", "line"),
    [
        ("self.all_hosts()", 6),
        ("enumerate(self.all_hosts())", 6),
        ("self.live.items()", 10),
        ("self.hosts", None),
        ("self.own()", None),  # it returns what it has at one of several places
        ("self.each()", None),  # a generator walks it itself
    ],
)
def test_a_conflict_tells_where_the_container_is_handed_out(hosts, line):
    source = textwrap.dedent(HANDED_OUT).replace("HOSTS", hosts)
    (conflict,) = link([Source("/p/m.py", "m", lower(source), True)]).iteration_conflicts()
    assert (conflict.handed and conflict.handed.location.line) == line
