"""What annotations are made of in the analysis: locks by their names, severities, and what stays silent for them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.unit.programs import lower

from racelint import annotations, plugins, run
from racelint.analysis.places import holds
from racelint.analysis.program import Program, link
from racelint.finding import Finding
from racelint.languages.go import FRONT_END as GO
from racelint.model import Source

RUN = (
    "import sys, runpy; sys.path.insert(0, {0!r}); runpy.run_path({0!r} + '/program.py'); "
    "assert 'racelint' not in sys.modules"
)


def linked(text: str) -> Program:
    """A program of one Python module named `m`."""
    return link([Source("/p/m.py", "m", lower(text), True)])


def findings(program: Program) -> list[Finding]:
    """All findings."""
    packs = plugins.load()
    return run.ask(program, [rule for pack in packs for rule in pack.rules], packs)


def told(program: Program) -> list[str]:
    """Findings as "line rule severity confidence"."""
    return [f"{f.location.line} {f.rule} {f.severity.label} {f.confidence.label}" for f in findings(program)]


def table(*methods: str, guard: str = "guarded_by: self.lock") -> Program:
    """A class with a lock and a dict that it guards from line 5 on, and methods of these bodies, two lines each."""
    bodies = "".join(f"    def method_{n}(self, key):\n        {body}\n" for n, body in enumerate(methods))
    return linked(
        "import threading\nclass A:\n    def __init__(self):\n        self.lock = threading.Lock()\n"
        f"        self.rows = {{}}  # {guard}\n{bodies}"
    )


@pytest.mark.parametrize(
    ("locks", "lock", "shared", "expected"),
    [
        ({"m:A.lock"}, "m:A.lock", False, True),
        ({"m:A.other"}, "m:A.lock", False, False),
        ({"^m:A.lock"}, "m:A.lock", False, False),
        ({"^m:A.lock"}, "m:A.lock", True, True),
        ({"~m:A.lock"}, "m:A.lock", False, True),
        ({"m:A.lock"}, "~m:A.lock", False, True),
        ({"?"}, "m:A.lock", False, True),  # it may be that one
        ({"?.lock"}, "m:A.lock", False, True),
        ({"?.other"}, "m:A.lock", False, False),
        ({"m:B.lock"}, "?.lock", False, True),
        ({"m:B.lock"}, "?", False, True),
        (set(), "?", True, False),
        ({"@m:A.lock"}, "m:A.lock", True, False),  # a flag that is asked for
    ],
)
def test_a_lock_is_held(locks, lock, shared, expected):
    assert holds(frozenset(locks), lock, shared=shared) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.rows[key] = 1", ["7 inconsistent-lock error high"]),
        ("self.rows.clear()", ["7 inconsistent-lock error high"]),
        ("del self.rows", ["7 inconsistent-lock error high"]),
        ("return self.rows.get(key)", ["7 inconsistent-lock warning high"]),
        ("if self.rows: print(key)", ["7 inconsistent-lock warning high"]),
        ("self.rows = {key: self.rows[key]}", ["7 inconsistent-lock error high"]),  # one a line, the worst
        ("with self.lock: self.rows[key] = 1", []),
        ("with key.lock: self.rows[key] = 1", []),  # whose lock that is, nobody knows
    ],
)
def test_severities_of_accesses(body, expected):
    assert told(table(body)) == expected


def test_an_iteration_is_an_error_if_the_container_is_ever_changed_in_place():
    loop = "for key in self.rows: print(key)"
    assert told(table(loop)) == ["7 inconsistent-lock warning high"]
    assert told(table(loop, "with self.lock: self.rows[key] = 1")) == ["7 inconsistent-lock error high"]


def test_the_finding_names_the_guard_and_where_it_is_declared():
    (finding,) = findings(table("self.rows[key] = 1"))
    assert finding.message == "A.rows is given entries without self.lock"
    assert finding.because == "guarded_by: self.lock is said at line 5"
    assert [(access.role, access.location.line) for access in finding.accesses] == [("only", 7), ("declared", 5)]


def test_go_reads_are_errors():
    text = """
        package m

        import "sync"

        type S struct {
            mu sync.Mutex
            n  int // guarded_by: mu
        }

        func (s *S) N() int { return s.n }
    """
    module = GO.extract(textwrap.dedent(text).encode())
    assert told(link([Source("/p/m.go", "m", module, True)])) == ["11 inconsistent-lock error high"]


RACE = """
    import threading
    class A:
        def __init__(self):
            self.lock = threading.Lock()
            self.rows = {}  %s
        def start(self):
            threading.Thread(target=self.work).start()
        def work(self):
            self.rows["a"] = 1
        def walk(self):
            for row in self.rows: print(row)
"""


@pytest.mark.parametrize(
    ("annotation", "rules"),
    [
        ("", {"unlocked-shared-write"}),
        ("# guarded_by: self.lock", {"inconsistent-lock"}),
        ("# confined: event-loop", {"broken-confinement"}),
        ("# confined: whoever", set()),
        ("# guarded_by: self.look", {"bad-annotation", "unlocked-shared-write"}),
    ],
)
def test_a_race_of_an_annotated_place_is_told_as_what_breaks_the_annotation(annotation, rules):
    assert {finding.rule for finding in findings(linked(RACE % annotation))} == rules


def test_what_is_not_shown_is_not_checked():
    source = Source(
        "/p/m.py", "m", lower("import threading\nrows = {}  # guarded_by: lock\ndef f(): rows[1] = 2"), False
    )
    assert findings(link([source])) == []


@pytest.mark.parametrize(
    ("guard", "because"),
    [
        ("guarded_by: self.look", "A has no look"),
        ("guarded_by: look", "neither A nor its module has the name look"),
        ("guarded_by: self.rows", "rows is a dict, which is no lock"),
        ("guarded_by: self.method_0", "method_0 is a method, which is no lock"),
        ("guarded_by: the lock", "a lock is named by an attribute or a variable, such as self._lock"),
        ("guarded_by: A", "A is no lock"),
        ("requires_lock: self.lock", "it belongs above or behind the head of a function"),
    ],
)
def test_why_an_annotation_is_bad(guard, because):
    assert [f.because for f in findings(table("pass", guard=guard))] == [because]


def test_the_module_for_users_stands_alone(tmp_path):
    """It may be copied into any project: it needs nothing of racelint, and does nothing to what it marks."""
    copy = tmp_path / "annotations.py"
    copy.write_text(Path(annotations.__file__).read_text("utf-8"), "utf-8")
    program = (
        "from typing import Annotated, get_type_hints\n"
        "from annotations import Confined, GuardedBy, requires_lock\n"
        "class A:\n    rows: Annotated[dict[str, int], GuardedBy('_lock'), Confined('event-loop')]\n"
        "def f(): return 1\n"
        "assert requires_lock('_lock', 'other')(f) is f\n"
        "hint = get_type_hints(A, include_extras=True)['rows']\n"
        "assert hint.__metadata__ == (GuardedBy(lock='_lock'), Confined(context='event-loop'))\n"
    )
    (tmp_path / "program.py").write_text(program, "utf-8")
    subprocess.run([sys.executable, "-I", "-S", "-c", RUN.format(str(tmp_path))], check=True)
