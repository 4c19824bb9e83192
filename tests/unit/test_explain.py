"""Why pairs of accesses are races or none, as `Program.explain` tells it, and the locks of `Program.held_at`."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.programs import lower

from racelint.analysis.program import Program, link
from racelint.model import Source

PATH = "/p/m.py"


def program(text: str) -> Program:
    return link([Source(PATH, "m", lower(text), True)])


def at(text: str, mark: str) -> int:
    """The line that holds a mark."""
    return next(n for n, line in enumerate(textwrap.dedent(text).split("\n"), 1) if mark in line)


def verdicts(text: str) -> set[str]:
    """What is said of the pair of accesses on the lines marked "# one" and "# two"."""
    explanation = program(text).explain(PATH, at(text, "# one"))
    assert explanation is not None
    places = [place for part in explanation.parts for place in part.places]
    found = [c for place in places for c in place.counterparts if c.access.location.line == at(text, "# two")]
    return {counterpart.verdict.kind for counterpart in found}


CLASS = """\
    import asyncio
    import threading

    class Worker:
        def __init__(self):
            self._lock = threading.Lock()
            self.n = 0
            self.rows = {{}}
    {constructor}
        def start(self):
    {start}

        def _run(self):
    {run}

        def _other(self):
    {other}

        def public(self):
    {public}
"""
THREAD = "threading.Thread(target=self._run).start()"
OTHER = "threading.Thread(target=self._other).start()"


def worker(start: str, run: str, other: str = "pass", public: str = "pass", constructor: str = "pass") -> str:
    """A class with these bodies."""
    bodies = {"start": start, "run": run, "other": other, "public": public, "constructor": constructor}
    return textwrap.dedent(CLASS).format(**{k: textwrap.indent(v, " " * 8) for k, v in bodies.items()})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (worker(f"{THREAD}\n{OTHER}", "self.n += 1  # one", "self.n += 1  # two"), "race"),
        (worker(THREAD, "self.n += 1  # one", public="self.n += 1  # two"), "race"),
        (worker(f"{THREAD}\n{OTHER}", "self.n += 1  # one", "return self.n  # two"), "harmless"),
        (worker(f"{THREAD}\n{OTHER}", "return self.n  # one", "return self.n  # two"), "harmless"),
        (
            worker(
                f"{THREAD}\n{OTHER}",
                "with self._lock:\n    self.n += 1  # one",
                "with self._lock:\n    self.n += 1  # two",
            ),
            "same lock",
        ),
        (worker(THREAD, "self.n += 1  # one\nself._other()", "self.n += 1  # two"), "one context"),
        (worker("self.n += 1  # one", "pass", public="self.n += 1  # two"), "callers"),
        (worker(f"self.n += 1  # two\n{THREAD}", "self.n += 1  # one"), "ordered"),
        (
            worker(
                "thread = threading.Thread(target=self._run)\nthread.start()\nthread.join()\nself.n += 1  # two",
                "self.n += 1  # one",
            ),
            "ordered",
        ),
        (worker(THREAD, "self.n += 1  # one", constructor="self.n = 5  # two"), "owned"),
    ],
)
def test_why_a_pair_is_a_race_or_none(text, kind):
    assert verdicts(text) == {kind}


def test_tasks_of_one_loop():
    text = """\
        import asyncio

        class Worker:
            async def start(self):
                asyncio.create_task(self._run())
                asyncio.create_task(self._other())

            async def _run(self):
                self.n += 1  # one

            async def _other(self):
                self.n += 1  # two
    """
    assert verdicts(text) == {"one event loop"}


def test_a_callback_that_nobody_knows():
    text = """\
        import threading
        import library

        class Worker:
            def start(self):
                threading.Thread(target=self._run).start()
                library.register(self._changed)

            def _run(self):
                self.n += 1  # one

            def _changed(self):
                self.n += 1  # two
    """
    assert verdicts(text) == {"unknown"}


def test_what_synchronises_itself_and_what_cannot_be_located():
    text = """\
        import queue

        class Worker:
            def __init__(self):
                self.jobs = queue.Queue()

            def run(self, other):
                self.jobs.put(1)  # one
                other.thing.n += 1  # two
    """
    explained = program(text)

    def alone(mark: str) -> set[str]:
        explanation = explained.explain(PATH, at(text, mark))
        assert explanation is not None
        return {place.alone.text for part in explanation.parts for place in part.places if place.alone}

    assert "it synchronises itself" in alone("# one")
    assert alone("# two") == {"unknown whose it is"}


def test_locks_held_by_callers_and_where_they_were_taken():
    text = """\
        import threading

        class Worker:
            def __init__(self):
                self._lock = threading.Lock()

            def public(self):
                with self._lock:  # taken
                    self._put()  # call

            def _put(self):
                self.n = 1  # one
    """
    explanation = program(text).explain(PATH, at(text, "# one"))
    assert explanation is not None
    ((lock,),) = [part.locks for part in explanation.parts]
    assert (lock.name, lock.caller) == ("self._lock", "Worker.public")
    assert lock.taken is not None
    assert lock.call is not None
    assert (lock.taken.line, lock.call.line) == (at(text, "# taken"), at(text, "# call"))
    (reach,) = explanation.parts[0].contexts
    assert [(step.function, step.location.line) for step in reach.trace] == [("Worker.public", at(text, "# call"))]


def test_suspensions_between_a_check_and_the_act():
    text = """\
        import asyncio

        class Pool:
            async def get(self):
                if self.c is None:  # check
                    await asyncio.sleep(1)  # wait
                    self.c = await connect()  # one
    """
    explanation = program(text).explain(PATH, at(text, "# one"))
    assert explanation is not None
    (place,) = explanation.parts[0].places
    assert place.check is not None
    assert place.check.line == at(text, "# check")
    assert {s.line for s in place.suspensions} == {at(text, "# wait"), at(text, "# one")}
    tested = program(text).explain(PATH, at(text, "# check"))
    assert tested is not None
    assert {act.line for act in tested.parts[0].places[0].acts} == {at(text, "# one")}


def test_nothing_is_known_of_lines_without_statements():
    text = "def f(x):\n    # a comment\n\n    return x.n\n"
    explained = program(text)
    assert [explained.explain(PATH, line) is None for line in (1, 2, 3, 4)] == [False, True, True, False]
    assert explained.explain("/p/other.py", 1) is None


def test_a_decorated_function_is_known_by_its_head():
    text = "import functools\n\n@functools.cache\n@functools.wraps(print)\ndef f(x):\n    # a comment\n    return x.n\n"
    explained = program(text)
    assert [explained.explain(PATH, line) is None for line in range(2, 8)] == [True, False, False, False, True, False]


def test_held_at_takes_what_every_way_holds():
    text = """\
        import threading
        lock = threading.Lock()

        def f(x):
            if x:
                lock.acquire()
            print(x)
            with lock:
                for y in x:
                    return y
    """
    explained = program(text)
    lines = ("print(x)", "with lock", "for y", "return y")
    assert [explained.held_at(PATH, at(text, mark)) for mark in lines] == [[], [], ["lock"], ["lock"]]
    assert explained.held_at(PATH, 3) == []
