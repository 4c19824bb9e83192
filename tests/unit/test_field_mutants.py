"""The mutation benchmark: which protections it takes out of tiny programs, and whether racelint misses them."""

from __future__ import annotations

import ast
import json
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest

FIELD = pathlib.Path(__file__).resolve().parents[1] / "field"
sys.path.insert(0, str(FIELD))

import mutate_python  # noqa: E402  (the tools are scripts: they stand beside each other, in no package)
import mutation  # noqa: E402
from mutation import Cut, Mutant  # noqa: E402

GUARDED = """
    import threading

    class Table:
        def __init__(self):
            self._lock = threading.Lock()
            self._rows = {}

        def add(self, key):
            with self._lock:  # both in one step
                if key not in self._rows:
                    self._rows[key] = '''
        as it is'''

        def drop(self, key):
            with self._lock, open(key):
                del self._rows[key]

        def all(self):
            with self._lock: return list(self._rows.values())
"""


def python(text: str) -> list[Mutant]:
    """The mutants of a program, each of which must parse."""
    data = textwrap.dedent(text).encode()
    found = mutate_python.candidates({"case.py": data})
    for mutant in found:
        assert ast.parse(mutation.mutated(data, mutant))
    return found


def without(text: str, mutant: Mutant) -> list[str]:
    """The lines of a program that a mutant changes, as they are then."""
    data = textwrap.dedent(text).encode()
    lines = zip(data.splitlines(), mutation.mutated(data, mutant).splitlines(), strict=True)
    return [new.decode().rstrip() for old, new in lines if old != new]


def kinds(mutants: list[Mutant]) -> list[tuple[str, str, int]]:
    return [(mutant.kind, mutant.case, mutant.line) for mutant in mutants]


def test_a_lock_goes_with_its_indentation_and_strings_stay() -> None:
    add, drop, handed = python(GUARDED)
    assert kinds([add, drop, handed]) == [
        ("lock", "updated", 10),
        ("lock", "written", 16),
        ("snapshot", "handed out", 20),
    ]
    assert (add.places, add.spot, add.function) == (("Table._rows",), 12, "Table.add")
    assert without(GUARDED, add) == [
        "          # both in one step",
        "        if key not in self._rows:",
        "            self._rows[key] = '''",
    ]
    assert without(GUARDED, drop) == ["        with open(key):"]
    assert without(GUARDED, handed) == ["        with self._lock: return (self._rows.values())"]


def test_a_lock_that_nothing_needs_is_left_in_place() -> None:
    assert not python("""
        import threading

        class Flag:
            def __init__(self):
                self._lock = threading.RLock()
                self._set = False
                self._seen = 0

            def set(self):
                with self._lock:
                    self._set = True  # nobody's decision hangs on it

            def count(self):
                with self._lock:
                    self._count()

            def _count(self):
                with self._lock:  # held by the caller anyway
                    self._seen += 1

            def reset(self):
                with self._lock:
                    self._set = False
    """)


def test_appending_hurts_neither_an_iteration_nor_a_removal() -> None:
    text = """
        import threading
        import collections

        class Handlers:
            def __init__(self):
                self._lock = threading.Lock()
                self._old = MADE

            def add(self, handler):
                with self._lock:
                    self._old.append(handler)

            def close(self):
                with self._lock:
                    if self._old:
                        self._old.pop().close()

            def flush(self):
                with self._lock:
                    for handler in self._old:
                        handler.flush()
    """
    assert kinds(python(text.replace("MADE", "[]"))) == [("lock", "resized", 15), ("lock", "iterated", 20)]
    assert [mutant.function for mutant in python(text.replace("MADE", "collections.deque()"))] == [
        "Handlers.add",
        "Handlers.close",
        "Handlers.flush",
    ]


def test_an_asyncio_lock_matters_where_an_await_parts_a_write_from_what_it_follows() -> None:
    (mutant,) = python("""
        import asyncio

        class Pool:
            def __init__(self):
                self._lock = asyncio.Lock()
                self._free = []

            async def take(self):
                async with self._lock:
                    if not self._free:
                        connection = await connect()
                        self._free.append(connection)

            async def give(self, connection):
                async with self._lock:
                    await connection.reset()
                    self._free.append(connection)
    """)
    assert (mutant.case, mutant.function) == ("update across await", "Pool.take")


LOOPS = """
    import threading

    class Watchers:
        def __init__(self):
            self._all = {}
            self._thread = threading.Thread(target=self._run)

        def close(self):
            for key in list(self._all):
                del self._all[key]

        def stop(self):
            for watcher in list(self._all.values()):
                self.remove(watcher)

        def remove(self, watcher):
            self._all.pop(watcher)

        def _run(self):
            for watcher in tuple(
                self._all.values()
            ):
                watcher.poll()

        async def wait(self):
            for watcher in list(self._all):
                await watcher

        def first(self):
            for key in list(self._all):
                if key:
                    del self._all[key]
                    break

    def plain(rows):
        for row in list(rows):
            rows.remove(row)
        for row in list(rows):
            print(row)
"""


def test_a_snapshot_matters_where_somebody_resizes_the_container() -> None:
    found = python(LOOPS)
    assert [(mutant.case, mutant.function) for mutant in found] == [
        ("in the body", "Watchers.close"),
        ("in a called method", "Watchers.stop"),
        ("by another thread", "Watchers._run"),
        ("while it waits", "Watchers.wait"),
        ("by another thread", "Watchers.first"),
        ("in the body", "plain"),
    ]
    assert found[0].spot == found[0].line + 1
    assert without(LOOPS, found[2]) == ["        for watcher in (", "self._all.values()", "):"]


def test_a_deep_copy_matters_where_it_is_changed() -> None:
    text = """
        import copy
        DEFAULTS = {}

        class Config:
            def merged(self, more):
                result = copy.deepcopy(self._all)
                result["a"]["b"] = more
                other = copy.deepcopy(self._all)
                mine = copy.deepcopy(more)
                mine["a"] = 1
                return result, other

        def defaults():
            result = copy.deepcopy(DEFAULTS)
            result.update(a=1)
            return result
    """
    merged, defaults = python(text)
    assert (merged.case, merged.spot, defaults.case) == ("of a field", 8, "of a module's variable")
    assert without(text, merged) == ["        result = (self._all)"]


def test_a_join_matters_where_the_result_is_used() -> None:
    text = """
        import threading

        def gather(jobs):
            results = []
            count = 0
            def work():
                nonlocal count
                count += 1
                results.append(1)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(
                timeout=1)
            print(",".join(jobs))
            return results

        def leave(thread):
            thread.join()
    """
    (mutant,) = python(text)
    assert (mutant.function, mutant.places, mutant.spot) == ("gather", ("results",), 16)
    assert [line.strip() for line in without(text, mutant)] == ["pass", ""]


# --- Go ---------------------------------------------------------------------------------------------------------------

GO = """
    package a

    type Table struct {
        mu   sync.RWMutex
        rows map[string]int
        list []string
        hits atomic.Int64
        name string
    }

    func (t *Table) Add(key string) {
        t.mu.Lock()
        defer t.mu.Unlock()
        t.rows[key]++
        t.list[0] = key
    }

    func (t *Table) Get(key string) int {
        t.mu.RLock()
        n := t.rows[key]
        t.mu.RUnlock()
        return n
    }

    func (t *Table) List() []string {
        t.mu.RLock()
        defer t.mu.RUnlock()
        return append([]string(nil), t.list...)
    }

    func (t *Table) Name() string {
        t.mu.RLock()
        defer t.mu.RUnlock()
        t.hits.Add(1)
        return t.name
    }
"""


def go(text: str) -> list[Mutant]:
    """The mutants of a Go program, each of which must parse."""
    mutate_go = pytest.importorskip("mutate_go")
    data = textwrap.dedent(text).encode()
    found: list[Mutant] = mutate_go.candidates({"case.go": data})
    for mutant in found:
        assert mutate_go.parses(mutation.mutated(data, mutant))
    return found


def test_a_mutex_matters_where_fields_are_written_under_it() -> None:
    add, get, listed, handed = go(GO)
    assert [(m.kind, m.case, m.function) for m in (add, get, listed, handed)] == [
        ("lock", "written", "Table.Add"),
        ("lock", "read", "Table.Get"),
        ("lock", "read", "Table.List"),
        ("snapshot", "handed out", "Table.List"),
    ]
    assert (add.places, add.spot) == (("Table.rows",), 15)
    assert without(GO, add) == without(GO, get) == ["", ""]
    assert without(GO, handed) == ["    return t.list"]


def test_a_go_deep_copy_matters_where_others_hold_the_object() -> None:
    text = """
        package a

        func (c *Controller) sync(key string, given *Pod) error {
            pod, err := c.podLister.Pods("a").Get(key)
            clone := pod.DeepCopy()
            clone.Labels["a"] = "b"
            same := pod.DeepCopy()
            fresh := &Pod{}
            mine := fresh.DeepCopy()
            mine.Name = same.Name
            theirs := given.DeepCopy()
            controllerutil.AddFinalizer(theirs, "f")
            return err
        }

        func (c *Controller) onAdd(obj interface{}) {
            pod := obj.(*Pod)
            pod = pod.DeepCopy()
            pod.SetName("a")
        }
    """
    found = go(text)
    assert [(m.case, m.places) for m in found] == [
        ("of a lister's object", ("pod", "clone")),
        ("of a parameter beside listers", ("given", "theirs")),
        ("of a handler's argument", ("pod", "pod")),
    ]
    assert without(text, found[0]) == ["    clone := pod"]
    assert [m.case for m in go(text.replace("podLister", "pods"))] == ["of a handler's argument"]


def test_a_wait_matters_where_goroutines_write_what_is_used() -> None:
    text = """
        package a

        func all(jobs []func() error) (int, error) {
            n, other := 0, 0
            var wg sync.WaitGroup
            go func() {
                other := 1
                n += other
            }()
            wg.Wait()
            fmt.Println(other)
            g.Go(func() error { other = 2; return nil })
            if err := g.Wait(); err != nil {
                return other, err
            }
            return n, nil
        }
    """
    found = go(text)
    assert [(m.places[-1], m.spot) for m in found] == [("n", 17), ("other", 15)]
    assert [line.strip() for m in found for line in without(text, m)] == ["", "if err := error(nil); err != nil {"]


# --- drawing and measuring --------------------------------------------------------------------------------------------


def mutant(path: str, owner: str, kind: str = "lock") -> Mutant:
    return Mutant(path, kind, "", 1, "", f"{owner}.f", (), 1, 1, 1, (Cut(0, 1),))


def test_batches_hold_one_mutant_of_a_file_and_class() -> None:
    found = [mutant(path, owner) for path in ("a", "b", "c") for owner in ("A", path)]
    batches = mutation.drawn({"r": found}, 10, 1, 2)["r"]
    assert len(batches) == 2
    for batch in batches:
        assert len({each.path for each in batch}) == len(batch) == len({each.owner for each in batch})
    assert mutation.drawn({"r": found}, 10, 1, 2)["r"] == batches


def test_rare_kinds_are_drawn_whole() -> None:
    found = [mutant(f"{n}", f"{n}") for n in range(50)] + [mutant("j", "J", "join")]
    drawn = [each for batch in mutation.drawn({"r": found}, 10, 1, 3)["r"] for each in batch]
    assert len(drawn) == 10
    assert [each.kind for each in drawn].count("join") == 1


def test_cuts_that_would_move_lines_are_refused() -> None:
    broken = mutant("a", "A")
    with pytest.raises(mutation.BrokenError):
        mutation.mutated(b"\n", broken)


THREADS = """
import threading

class Worker:
    def __init__(self):
        self._lock = threading.Lock()
        self._jobs = {}
        threading.Thread(target=self._run).start()

    def _run(self):
        while True:
            with self._lock:
                for job in self._jobs.values():
                    job()

    def add(self, name, job):
        with self._lock:
            self._jobs[name] = job
"""
SWEEP = """
class Sweeper:
    def __init__(self):
        self._rows = {}

    def sweep(self):
        for key in list(self._rows):
            del self._rows[key]
"""
UNKNOWN = """
import copy

class Settings:
    def get(self):
        found = copy.deepcopy(self._all)
        found["a"] = 1
        return found
"""


@pytest.fixture
def measure(tmp_path: pathlib.Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        clone = tmp_path / "clones" / "owner" / "name"
        if not clone.exists():
            clone.mkdir(parents=True)
            for name, text in (("worker.py", THREADS), ("sweep.py", SWEEP), ("unknown.py", UNKNOWN)):
                (clone / name).write_text(text, encoding="utf-8")
            identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
            for command in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", "x")):
                subprocess.run(["git", *identity, *command], cwd=clone, check=True)
            head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True)
            row = {"name": "owner/name", "commit": head.stdout.strip(), "language": "python"}
            (tmp_path / "pins.json").write_text(json.dumps([row]), encoding="utf-8")
        places = {"repositories": "pins.json", "clones": "clones", "cache": "c"}
        options = [word for name, path in places.items() for word in (f"--{name}", str(tmp_path / path))]
        call = [sys.executable, str(FIELD / "mutants.py"), *options, *arguments]
        return subprocess.run(call, capture_output=True, text=True, check=False)

    return run


def test_mutants_of_a_repository_are_found_or_explained(
    measure: Callable[..., subprocess.CompletedProcess[str]], tmp_path: pathlib.Path
) -> None:
    done = measure("--format", "json", "--save", str(tmp_path / "kept"), "--jobs", "1")
    assert done.returncode == 0, done.stderr
    rows = {(row["path"], row["line"]): row for row in json.loads(done.stdout)}
    assert rows["sweep.py", 7]["status"] == "found"
    assert rows["sweep.py", 7]["finding"]["rule"] == "mutated-while-iterating"
    assert rows["worker.py", 12]["status"] == "found"
    assert rows["worker.py", 12]["finding"]["symbol"] == "Worker._jobs"
    assert rows["unknown.py", 6]["status"] == "missed"
    shown = measure("--run", str(tmp_path / "kept"))
    assert "python, snapshot                              1      1       0       0   100%" in shown.stdout
    assert "python copy, of a field" in shown.stdout
    assert measure("--run", str(tmp_path / "none")).returncode == 2


def test_a_repository_that_cannot_be_had_is_told(
    measure: Callable[..., subprocess.CompletedProcess[str]], tmp_path: pathlib.Path
) -> None:
    measure("--run", str(tmp_path / "none"))
    pins = tmp_path / "pins.json"
    pins.write_text(pins.read_text().replace("owner/name", "owner/gone"), encoding="utf-8")
    done = measure("--remote", (tmp_path / "nowhere").as_uri())
    assert done.returncode == 2
    assert "owner/gone" in done.stderr
