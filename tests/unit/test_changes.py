"""What git's diff says, and which findings it concerns."""

from __future__ import annotations

import re

import pytest

from racelint.changes import Changes, Hunk
from racelint.changes.concerned import Concerned
from racelint.changes.git import parse
from racelint.finding import Access, Confidence, Context, Finding, Location, Severity, Span, Step
from racelint.languages import front_ends
from racelint.model import Source

DIFF = b"""\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3 +3 @@ def f():
-    x = 1
+    x = 2
@@ -9,2 +8,0 @@ def g():
---- old
-+++ b/old
@@ -20,0 +18,2 @@
+@@ -1 +1 @@
+last
\\ No newline at end of file
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old.py b/new name.py
similarity index 90%
rename from old.py
rename to new name.py
--- a/old.py
+++ b/new name.py\t
@@ -1 +1 @@
-\xff
+\xfe
diff --git "a/t\\tb.py" "b/t\\tb.py"
--- "a/t\\tb.py"
+++ "b/t\\tb.py"
@@ -0,0 +1 @@
+x
diff --git a/moved.py b/also.py
similarity index 100%
rename from moved.py
rename to also.py
"""


def test_hunks():
    files = dict(parse(DIFF))
    assert list(files) == ["a.py", "new name.py", "t\tb.py"]
    assert files["a.py"] == (
        Hunk(3, 3, ("    x = 1", "    x = 2")),
        Hunk(9, 8, ("--- old", "+++ b/old")),
        Hunk(18, 19, ("@@ -1 +1 @@", "last")),
    )


@pytest.mark.parametrize(
    ("hunk", "lines", "touched"),
    [
        (Hunk(3, 4, ()), (1, 2), False),
        (Hunk(3, 4, ()), (2, 3), True),
        (Hunk(3, 4, ()), (4, 9), True),
        (Hunk(3, 4, ()), (5, 9), False),
        (Hunk(9, 8, ()), (9, 9), True),
        (Hunk(9, 8, ()), (8, 8), True),
        (Hunk(9, 8, ()), (10, 10), False),
        (Hunk(1, 0, ()), (1, 1), True),
    ],
)
def test_what_a_hunk_touches(hunk, lines, touched):
    assert hunk.touches(*lines) == touched


def test_words_count_in_what_was_deleted_too():
    changes = Changes("main", {"/a.py": (Hunk(3, 2, ("    self._lock.acquire()",)),)}, frozenset())
    assert changes.say("/a.py", 1, 9, re.compile("_lock"))
    assert not changes.say("/a.py", 5, 9, re.compile("_lock"))


TEXT = """\
import threading


class Cache:
    def __init__(self):
        self._mutex = threading.Lock()
        self.items = {}

    def run(self):
        self._sweep()

    def _sweep(self):
        # walks
        for name in self.items:
            print(name)

    def add(self, name):
        with self._mutex:
            self.items[name] = 1

    def other(self):
        pass
"""
LINES = {text.strip(): number for number, text in enumerate(TEXT.split("\n"), start=1)}


def line(text: str) -> Location:
    number = LINES[text]
    return Location("/a.py", Span(number, 9, number, 20))


def concerned(*hunks: Hunk, path: str = "/a.py", new: tuple[str, ...] = ()) -> bool:
    sources = [Source("/a.py", "a", front_ends()[".py"].extract(TEXT.encode()), True)]
    steps = (Step(line("self._sweep()"), "Cache.run"), Step(line("for name in self.items:"), "Cache._sweep"))
    context = Context("thread", Location("/main.py", Span(5, 1, 5, 20)))
    accesses = (
        Access("first", "iterate", line("for name in self.items:"), "Cache._sweep", context, (), steps),
        Access("second", "insert", line("self.items[name] = 1"), "Cache.add", Context("external"), ("Cache._mutex",)),
    )
    found = Finding(
        "a-rule", Severity.ERROR, Confidence.HIGH, accesses[0].location, "m", "Cache.items", "Cache._sweep", accesses
    )
    return Concerned(Changes("main", {path: hunks}, frozenset(new)), sources)(found)


@pytest.mark.parametrize(
    "text",
    ["for name in self.items:", "self.items[name] = 1", "self._sweep()", "self._mutex = threading.Lock()"],
)
def test_a_changed_line_concerns_it(text):
    assert concerned(Hunk(LINES[text], LINES[text], ("x",)))


@pytest.mark.parametrize(
    ("at", "text", "expected"),
    [
        ("# walks", "        self._mutex.acquire()", True),
        ("# walks", "        self._thread.join()", True),
        ("print(name)", "            log(name)", True),  # deleted beside the access
        ("def _sweep(self):", "        pass", False),
        ("pass", "        self._mutex.acquire()", False),  # in another function
        ("with self._mutex:", "        with self._mutex:", True),
        ("def run(self):", "        with clock():", False),
    ],
)
def test_a_deleted_line_concerns_it_if_it_kept_things_apart(at, text, expected):
    assert concerned(Hunk(LINES[at], LINES[at] - 1, (text,))) == expected


def test_the_start_of_a_context_in_another_file():
    assert concerned(Hunk(5, 5, ("x",)), path="/main.py")
    assert not concerned(Hunk(6, 7, ("x",)), path="/main.py")
    assert concerned(new=("/main.py",))
    assert not concerned(new=("/other.py",))
