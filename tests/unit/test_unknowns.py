"""What could not be resolved, by frequency, and the rows that are proposed for it."""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path

import pytest

from racelint.analysis.program import link
from racelint.knowledge import load
from racelint.languages import FrontEnd
from racelint.languages.go import FRONT_END as GO
from racelint.languages.python import FRONT_END as PYTHON
from racelint.model import Source
from racelint.unknown import Unknown


def unknowns(text: str, front_end: FrontEnd = PYTHON) -> list[Unknown]:
    module = front_end.extract(textwrap.dedent(text).encode())
    return link([Source(f"/p/m{front_end.suffixes[0]}", "m", module, True)]).to_do()


def told(found: list[Unknown]) -> list[tuple[int, str, str, int]]:
    return [(each.count, each.kind, each.name, each.location.line) for each in found]


def test_a_callee_that_is_given_a_callable() -> None:
    found = unknowns("""
        import atexit
        import threading
        from crontab.background import BackgroundScheduler

        class Jobs:
            def __init__(self, broker):
                self.scheduler = BackgroundScheduler()
                self.scheduler.put_job(self.tick, "interval")
                self.scheduler.put_job(func=self.tick)
                broker.upon_message("a", lambda message: self.tick())
                threading.Thread(target=self.tick).start()
                sorted([], key=self.tick)
                [].sort(key=self.tick)
                self.run(self.tick)

            def run(self, what):
                what()

            def tick(self):
                pass
    """)
    scheduler = "crontab.background.BackgroundScheduler.put_job"
    assert told(found) == [(2, "callable", scheduler, 9), (1, "callable", "*.upon_message", 11)]
    row = tomllib.loads(found[0].row)["start"][0]
    assert (row["names"], row["callable"]) == ([scheduler], 0)
    assert tomllib.loads(found[1].row)["start"][0]["callable"] == 1


def test_a_keyword_is_named() -> None:
    (found,) = unknowns("""
        import lib

        def go():
            lib.every(seconds=1, call=step)

        def step():
            pass
    """)
    row = tomllib.loads(found.row)["start"][0]
    assert (row["names"], row["callable"], row["keyword"]) == (["lib.every"], -1, "call")


def test_a_context_manager() -> None:
    found = unknowns("""
        import contextlib
        import threading
        import redlock

        class Table:
            def __init__(self, pool):
                self.lock = threading.Lock()
                self.shared = redlock.RedLock("name")
                self.pool = pool

            def change(self, row):
                with self.lock, open(row), contextlib.suppress(OSError), self.mine():
                    pass
                with self.shared:
                    pass
                with redlock.RedLock("other"):
                    pass
                with self.pool.session() as session:
                    pass

            @contextlib.contextmanager
            def mine(self):
                yield
    """)
    assert told(found) == [(2, "with", "redlock.RedLock", 15), (1, "with", "*.session", 19)]
    assert tomllib.loads(found[0].row)["lock"][0]["types"] == ["redlock.RedLock"]
    assert tomllib.loads(found[1].row)["lock"][0]["types"] == ["MODULE.TYPE"]


def test_a_receiver_whose_methods_change_something() -> None:
    found = unknowns("""
        class Memory:
            def refresh(self):
                self.rows = []

            def flush(self):
                self.rows = None

        class Disk:
            def refresh(self):
                self.blocks = []

        class Reader:
            def refresh(self):
                return 1

            def __init__(self, store):
                self.store = store

            def run(self):
                self.store.refresh()

            def stop(self, store):
                store.refresh()
                store.flush()
                store.peek(1)

        def other(store):
            store.refresh()
    """)
    assert [(each.count, each.name, each.row.partition("  #")[0]) for each in found] == [
        (1, "Reader.store", "store: Memory | Disk"),
        (1, "store", "store: Memory | Disk"),
    ]


@pytest.mark.parametrize("row", ["start", "lock"])
def test_rows_can_be_pasted(row: str, tmp_path: Path) -> None:
    found = unknowns("""
        import lib

        def go():
            lib.every(step)
            with lib.Mutex():
                pass

        def step():
            pass
    """)
    text = next(each.row for each in found if f"[[{row}]]" in each.row)
    table = tmp_path / "mine.toml"
    table.write_text(text, encoding="utf-8")
    assert load([table]).speaks_of("lib.every" if row == "start" else "lib.Mutex")


def test_go() -> None:
    found = unknowns(
        """
        package m

        import "example.com/cron"

        type Job struct{ n int }

        func (j *Job) Start(c *cron.Cron) {
            c.AddFunc("@hourly", j.tick)
            cron.Every(func() { j.n++ })
            cron.Every(j.tick)
        }

        func (j *Job) tick() { j.n++ }
        """,
        GO,
    )
    assert told(found) == [
        (2, "callable", "example.com/cron.Every", 10),
        (1, "callable", "example.com/cron.Cron.AddFunc", 9),
    ]
    assert tomllib.loads(found[1].row)["start"][0]["callable"] == 1


def test_nothing_unknown() -> None:
    assert unknowns("x = 1\n") == []
