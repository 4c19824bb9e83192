"""What comments say of locks in plain words, and which declarations that is about."""

from __future__ import annotations

import pytest

from racelint.languages.prose import Prose, speaks
from racelint.languages.python import FRONT_END as PYTHON
from racelint.model import Comment


def said(comment: str, *, alone: bool = False) -> list[str]:
    """What a comment beside the lock `mu` of a type with three other fields says, as "field lock"."""
    lines = ["", "mu sync.Mutex", "routes map", "old_routes map", "", "name string"]
    line = 1 if alone else 2
    prose = Prose([Comment(line, comment, alone, f"// {comment}")], "\n".join(lines).encode())
    for number, text in enumerate(lines, 1):
        if text:
            prose.add("field", "T", [text.split()[0]], number, number)
    return [f"{a.name} {'.'.join(a.names[0])}" for a in prose.annotations()]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("protects routes", ["routes mu"]),
        ("mu guards access to routes and name.", ["routes mu", "name mu"]),
        ("lock for old_routes", ["old_routes mu"]),
        ("protects _routes_", ["routes mu"]),
        ("guards the fields below", ["routes mu", "old_routes mu"]),
        ("protects the following:", ["routes mu", "old_routes mu"]),
        ("protects all fields", ["routes mu", "old_routes mu", "name mu"]),
        ("protects us from all of them", []),
        ("protects routes, but not name", []),
        ("without it routes would be modified by two", []),
        ("routes", []),  # says nothing of locks
        ("protects nothing in particular", []),
    ],
)
def test_what_is_said_beside_a_lock(comment, expected):
    assert said(comment) == expected
    assert said(comment, alone=True) == expected


@pytest.mark.parametrize(
    ("comment", "lock"),
    [
        ("guarded by lock", "lock"),
        ("Guarded by the `self._lock`.", "self._lock"),
        ("by host; protected with s.mu", "s.mu"),
        ("protects the hosts", None),  # it is no lock
        ("protected from changes", None),
    ],
)
def test_what_is_said_beside_what_is_guarded(comment, lock):
    prose = Prose([Comment(1, comment, False, f"# {comment}")], b"hosts = {}")
    prose.add("field", "T", ["hosts"], 1, 1)
    assert [(a.name, ".".join(a.names[0])) for a in prose.annotations()] == ([("hosts", lock)] if lock else [])


def test_lines_of_a_comment_belong_together():
    source = """
import threading

class Router:
    def __init__(self):
        # Only used to guard
        # routes.
        self.__lock = threading.Lock()
        self._routes = {}
"""
    (annotation,) = PYTHON.extract(source.encode()).annotations
    assert (annotation.kind, annotation.owner, annotation.name) == ("described", "Router", "_routes")
    assert annotation.names == (("_Router__lock",),)
    assert annotation.span.line == 6


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"mu sync.Mutex // protects a", True),
        (b"l = Lock()  # guards a", True),
        (b"# guards a", False),  # there is no lock
        (b"l = Lock()  # for a", False),
    ],
)
def test_files_without_such_comments_need_no_look(data, expected):
    assert speaks(data) is expected
