"""`racelint explain FILE:LINE`: what it tells, in text and JSON, and its exit status."""

from __future__ import annotations

import json
import textwrap

import pytest

WATCHER = """\
import threading


class Watcher:
    def __init__(self):
        self._lock = threading.Lock()
        self.count = 0
        self.rows = {}

    def start(self):
        threading.Thread(target=self._run).start()
        threading.Thread(target=self._sweep).start()

    def _run(self):
        self.count += size()
        with self._lock:
            self._put("a", 1)

    def _put(self, name, value):
        self.rows[name] = value

    def _sweep(self):
        self.count += size()
        with self._lock:
            for row in self.rows:
                print(row)
"""


def line_of(mark: str, text: str = WATCHER) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if mark in line)


def explained(racelint, target, *options, cwd=None):
    done = racelint("explain", target, "--format", "json", *options, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_text_tells_contexts_locks_places_and_reasons(racelint, tree):
    tree({"pyproject.toml": "", "w.py": WATCHER})
    done = racelint("explain", f"w.py:{line_of('self.rows[name] = value')}")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == """\
w.py:20
    self.rows[name] = value

function Watcher._put (w.py:19)
  reached by
    thread started at w.py:11
      Watcher._run calls Watcher._put at w.py:17
      holding self._lock on entry
  locks held:
    self._lock  on entry: Watcher._run calls with it at w.py:17, taken at w.py:16
  insert Watcher.rows
    store at w.py:8 in Watcher.__init__
      owned: nobody else knows the object yet, or each context has its own (the other access)
    iterate at w.py:25 in Watcher._sweep, thread started at w.py:12
      same lock: both hold Watcher._lock
"""
    )


def test_a_reported_pair_names_the_rule(racelint, tree):
    tree({"pyproject.toml": "", "w.py": WATCHER})
    done = racelint("explain", "w.py:15")
    assert "reported by unlocked-shared-write (" in done.stdout
    document = explained(racelint, "w.py:15")
    (place,) = document["functions"][0]["places"]
    verdict = place["counterparts"][0]["verdict"]
    assert (place["symbol"], place["kind"]) == ("Watcher.count", "update")
    assert (verdict["kind"], verdict["rule"], verdict["confidence"]) == ("reported", "unlocked-shared-write", "high")
    assert [(f["rule"], f["line"], f["status"]) for f in document["findings"]] == [
        ("unlocked-shared-write", 15, "shown")
    ]


def test_a_finding_below_the_shown_level_or_under_a_comment_says_so(racelint, tree):
    silenced = WATCHER.replace(
        "self.count += size()", "self.count += size()  # racelint: ignore[unlocked-shared-write]"
    )
    settings = '[tool.racelint]\nmin-severity = "error"\n'
    text = """\
        import threading

        class Watcher:
            def start(self):
                threading.Thread(target=self._run).start()

            def _run(self):
                self.state = self.ask()

            def decide(self):
                if self.state:
                    print(1)
    """
    tree({"pyproject.toml": settings, "w.py": silenced, "v.py": text})
    assert explained(racelint, "w.py:15")["findings"][0]["status"] == "silenced"
    verdicts = [
        counterpart["verdict"]["kind"]
        for place in explained(racelint, "v.py:8")["functions"][0]["places"]
        for counterpart in place["counterparts"]
    ]
    assert verdicts == ["hidden"]


def test_json_tells_where_locks_and_contexts_come_from(racelint, tree):
    tree({"pyproject.toml": "", "w.py": WATCHER})
    (function,) = explained(racelint, "w.py:20")["functions"]
    (context,) = function["contexts"]
    assert (context["kind"], context["started_at"]["line"], context["many"]) == ("thread", 11, False)
    assert [(step["function"], step["line"]) for step in context["trace"]] == [("Watcher._run", 17)]
    (lock,) = function["locks"]
    assert (lock["name"], lock["caller"], lock["taken"]["line"], lock["call"]["line"]) == (
        "self._lock", "Watcher._run", 16, 17,
    )  # fmt: skip


def test_a_coroutine_tells_its_suspensions(racelint, tree):
    text = """\
        import asyncio

        class Pool:
            async def get(self):
                if self.connection is None:
                    self.connection = await asyncio.open_connection("x", 1)
                return self.connection
    """
    tree({"pyproject.toml": "", "p.py": text})
    (function,) = explained(racelint, "p.py:6")["functions"]
    (place,) = function["places"]
    assert (function["coroutine"], function["suspends"]) == (True, True)
    assert (place["check"]["line"], [s["line"] for s in place["suspensions"]]) == (5, [6])
    assert "other tasks may run in between" in racelint("explain", "p.py:6").stdout


def test_the_scope_is_the_project_or_the_given_root(racelint, tree):
    starter = "import threading\nfrom w import Watcher\nw = Watcher()\nthreading.Thread(target=w.run).start()\n"
    root = tree(
        {
            "outer/app.py": starter,
            "outer/w.py": "class Watcher:\n    def run(self):\n        self.n = 1\n",
            "outer/inner/pyproject.toml": "",
            "outer/inner/app.py": starter,
            "outer/inner/w.py": "class Watcher:\n    def run(self):\n        self.n = 1\n",
        }
    )

    def kinds(target, *options):
        (function,) = explained(racelint, target, *options, cwd=root / "outer")["functions"]
        return [context["kind"] for context in function["contexts"]]

    assert kinds("inner/w.py:3") == ["thread"]
    assert kinds("w.py:3", "--root", ".") == ["thread"]
    (root / "empty").mkdir()
    assert kinds("w.py:3", "--root", "../empty") == ["external"]


@pytest.mark.parametrize("target", ["w.py:2", "w.py:9"])
def test_a_line_of_which_nothing_is_known_exits_1(racelint, tree, target):
    tree({"pyproject.toml": "", "w.py": WATCHER})
    done = racelint("explain", target)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{target}: nothing is known of this line" in done.stderr


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("w.py", "no FILE:LINE"),
        ("w.py:x", "no FILE:LINE"),
        ("w.py:-1", "no FILE:LINE"),
        ("w.py:0", "no line 0"),
        ("w.py:9999", "no line 9999"),
        ("missing.py:3", "no such file"),
        ("broken.py:1", "syntax-error"),
        ("notes.txt:1", "unsupported"),
        ("unlocked-shared-wright", "did you mean unlocked-shared-write?"),
    ],
)
def test_what_cannot_be_explained_exits_2(racelint, tree, target, message):
    tree({"pyproject.toml": "", "w.py": WATCHER, "broken.py": "def (:\n", "notes.txt": "x\n"})
    done = racelint("explain", target)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_column_behind_the_line_does_not_matter(racelint, tree):
    tree({"pyproject.toml": "", "w.py": WATCHER})
    assert racelint("explain", "w.py:15:9").stdout == racelint("explain", "w.py:15").stdout


def test_a_rule_has_its_page_in_both_formats(racelint, tree):
    page = racelint("explain", "unlocked-shared-write")
    assert page.returncode == 0
    document = json.loads(racelint("explain", "unlocked-shared-write", "--format", "json").stdout)
    assert document["name"] == "unlocked-shared-write"
    assert document["page"] in page.stdout


def test_a_declared_guard_is_told_with_its_place(racelint, tree):
    text = """\
        import threading

        class Router:
            def __init__(self):
                self._lock = threading.Lock()
                self.routes = {}  # guarded_by: self._lock
                self.seen = set()  # confined: event-loop

            def add(self, host):
                self._add(host)

            def _add(self, host):  # requires_lock: self._lock
                self.routes[host] = self.seen
    """
    tree({"pyproject.toml": "", "r.py": textwrap.dedent(text)})
    done = racelint("explain", "r.py:13")
    assert "    self._lock  on entry: its callers must hold it, as r.py:12 says\n" in done.stdout
    assert "  insert Router.routes\n    guarded by self._lock, as r.py:6 says\n" in done.stdout
    assert "  read Router.seen\n    confined to event-loop, as r.py:7 says\n" in done.stdout
    (part,) = explained(racelint, "r.py:13")["functions"]
    assert part["locks"][0]["declared"]["line"] == 12
    assert {(d["kind"], d["name"], d["line"]) for place in part["places"] for d in place["declared"]} == {
        ("guarded_by", "self._lock", 6),
        ("confined", "event-loop", 7),
    }


RUNS = """\
import threading


class Runs:
    def __init__(self):
        self._lock = threading.Lock()
        self._running = False
        self.rows = {}

    def start(self):
        threading.Thread(target=self._run).start()
        threading.Thread(target=self._show).start()

    def _run(self):
        with self._lock:
            if self._running:
                return
            self._running = True
        self.rows[len(self.rows)] = 1
        self._running = False

    def _show(self):
        for row in self.rows:
            print(row)
"""


def test_a_flag_that_keeps_others_out_is_told_among_the_locks_as_what_it_is(racelint, tree):
    root = tree({"runs.py": RUNS})
    done = racelint("check", "--format", "json", "runs.py", cwd=root)
    (finding,) = json.loads(done.stdout)["findings"]
    assert [access["locks"] for access in finding["accesses"]] == [[], ["Runs._running (flag)"]]
