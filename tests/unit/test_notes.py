"""Annotations: how comments are read, and what they, and those written as code, are about."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.programs import lower

from racelint.languages.go import FRONT_END as GO
from racelint.languages.notes import FUNCTIONS, PLACES, Notes, names_of, read
from racelint.model import Comment, Module


def said(text: str) -> list[tuple[str, str]]:
    """The kinds and names in a comment."""
    return [(kind, ", ".join(".".join(name) for name in names) or f"?{of}") for kind, of, names in read(text)]


def annotations(module: Module) -> list[str]:
    """Annotations as "kind name: target"."""
    found = []
    for a in module.annotations:
        names = ", ".join(".".join(name) for name in a.names) or "?"
        of = ".".join(part for part in (a.owner, a.name) if part)
        found.append(f"{a.kind} {names}: {a.target} {of}".rstrip())
    return found


def go(text: str) -> Module:
    """A Go file, lowered."""
    return GO.extract(f"package m\n\n{textwrap.dedent(text)}".encode())


# --- comments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("guarded_by: self._lock", [("guarded_by", "self._lock")]),
        ("guarded_by:mu", [("guarded_by", "mu")]),
        ("guarded_by: s.mu (all of it)", [("guarded_by", "s.mu")]),
        ("guarded_by: mu.", [("guarded_by", "mu")]),
        ("guarded_by: mu. It is slow.", [("guarded_by", "mu")]),
        ("guarded_by: mu - set once", [("guarded_by", "mu")]),
        ("guarded_by: mu  # more", [("guarded_by", "mu")]),
        ("type: ignore  # guarded_by: self._lock", [("guarded_by", "self._lock")]),
        ("the hosts; guarded_by: mu", [("guarded_by", "mu")]),
        ("requires_lock: a, self.b", [("requires_lock", "a, self.b")]),
        ("guarded_by: mu; confined: event-loop", [("guarded_by", "mu"), ("confined", "event-loop")]),
        ("guarded_by: the lock of it", [("guarded_by", "?the lock of it")]),
        ("guarded_by: self.lock()", [("guarded_by", "?self.lock()")]),
        ("guarded_by: locks[0]", [("guarded_by", "?locks[0]")]),
        ("guarded_by:", [("guarded_by", "?")]),
        ("confined: main-thread", [("confined", "main-thread")]),
        ("confined: nobody else sees it", []),
        ("confined: only (this)", [("confined", "only")]),
        ("guarded_by mu", []),
        ("GUARDED_BY: mu", []),
        ("unguarded_by: mu", []),
        ("it is guarded_by: mu", []),
        ("write `guarded_by: mu` behind it", []),
        ("", []),
    ],
)
def test_what_a_comment_says(text, expected):
    assert said(text) == expected


@pytest.mark.parametrize(("text", "names"), [("a.b, c", (("a", "b"), ("c",))), ("a b", ()), ("", ()), ("a.", ())])
def test_names(text, names):
    assert names_of(text) == names


def test_a_note_is_taken_once_and_by_what_it_may_be_about():
    comments = [Comment(1, "guarded_by: a", True), Comment(2, "more", True), Comment(3, "confined: b", False)]
    notes = Notes(comments, b"# guarded_by: a\n# more\nx = 1  # confined: b\n")
    assert notes.take(FUNCTIONS - {"confined"}, 3, 3) == []
    taken = notes.take(PLACES, 3, 3)
    assert [(note.text, note.span[:2]) for note in taken] == [("a", (1, 3)), ("b", (3, 10))]
    assert not notes
    assert notes.take(PLACES, 3, 3) == []


def test_a_comment_alone_speaks_of_the_line_below_it_only():
    notes = Notes([Comment(1, "guarded_by: a", True)], b"# guarded_by: a\n\nx = 1\n")
    assert notes.take(PLACES, 3, 3) == []
    assert [annotation.target for annotation in notes.left()] == ["nothing"]


# --- Python -----------------------------------------------------------------------------------------------------------


def test_fields_and_variables_of_python():
    module = lower(
        """
        rows = {}  # guarded_by: lock
        class A:
            shared = {}  # guarded_by: lock
            def __init__(self):
                # What is there.
                # guarded_by: self._lock
                self.rows = {
                    1: 2,
                }
                self.a, self.b = 1, 2  # guarded_by: self.__lock
                local = 1  # guarded_by: lock
                other.field = 1  # guarded_by: lock
        """
    )
    assert annotations(module) == [
        "guarded_by lock: global rows",
        "guarded_by lock: field A.shared",
        "guarded_by self._lock: field A.rows",
        "guarded_by self._A__lock: field A.a",
        "guarded_by self._A__lock: field A.b",
        "guarded_by lock: nothing",
        "guarded_by lock: nothing",
    ]


def test_variables_that_functions_share():
    module = lower(
        """
        def f():
            rows = {}  # guarded_by: lock
            # confined: worker
            cells, own = {}, 1
            own = 2  # guarded_by: lock
            def g():
                rows[1] = cells
                inner = 1  # guarded_by: lock
                return lambda: inner
        """
    )
    assert sorted(annotations(module)) == [
        "confined worker: nothing",
        "guarded_by lock: nothing",
        "guarded_by lock: variable f.g.inner",
        "guarded_by lock: variable f.rows",
    ]


def test_functions_and_classes_of_python():
    module = lower(
        """
        # confined: event-loop
        @decorator
        class A:
            # requires_lock: lock
            @property
            def a(self): ...
            def b(
                self,
            ):  # requires_lock: lock
                return 1
            def c(self):
                # requires_lock: lock
                # confined: main-thread
                return lambda: 1
            def d(self): return 1  # requires_lock: lock, other
            def e(self):
                return 1  # requires_lock: lock
        """
    )
    assert sorted(annotations(module)) == [
        "confined event-loop: type A",
        "confined main-thread: function A.c",
        "requires_lock lock, other: function A.d",
        "requires_lock lock: function A.a",
        "requires_lock lock: function A.b",
        "requires_lock lock: function A.c",
        "requires_lock lock: nothing",
    ]


def test_annotations_as_code():
    module = lower(
        """
        from typing import Annotated as Told, Annotated, ClassVar
        from racelint.annotations import Confined, GuardedBy as G, requires_lock
        import racelint.annotations as notes
        from celery import requires_lock as other
        rows: Told[dict, G("lock")] = {}
        class A:
            a: "ClassVar[Annotated[dict, notes.GuardedBy(lock='__lock')]]" = {}
            b: Annotated[set, "GuardedBy", Confined("event-loop"), 3]
            c: Annotated[set, notes.GuardedBy(lock), G()]
            def __init__(self, given: Annotated[int, G("lock")]):
                self.d: Annotated[int, G("self._lock")] = 1
            @requires_lock("lock", "self.b")
            def e(self): ...
            @notes.requires_lock("lock")
            async def f(self): ...
            @other("lock")
            def g(self): ...
        """
    )
    assert annotations(module) == [
        "guarded_by lock: global rows",
        "guarded_by _A__lock: field A.a",
        "confined event-loop: field A.b",
        "guarded_by ?: field A.c",
        "guarded_by ?: field A.c",
        "guarded_by self._lock: field A.d",
        "requires_lock lock, self.b: function A.e",
        "requires_lock lock: function A.f",
    ]


def test_files_without_annotations_have_none():
    assert lower("x = 1  # racelint: ignore\nself.y = GuardedBy(1)").annotations == ()


# --- Go ---------------------------------------------------------------------------------------------------------------


def test_fields_and_variables_of_go():
    module = go(
        """
        // guarded_by: mu
        var rows = map[string]int{}

        var (
            mu  sync.Mutex
            a, b int // guarded_by: mu
        )

        type S struct {
            sync.Mutex
            // the rows
            // guarded_by: Mutex
            rows map[string]int
            inner struct {
                c int // guarded_by: Mutex
            } // guarded_by: s.Mutex
            d int /* guarded_by: Mutex */
            // guarded_by: nothing

            e int
        }
        """
    )
    assert annotations(module) == [
        "guarded_by mu: global rows",
        "guarded_by mu: global a",
        "guarded_by mu: global b",
        "guarded_by Mutex: field S.rows",
        "guarded_by Mutex: field S.inner.c",
        "guarded_by s.Mutex: field S.inner",
        "guarded_by Mutex: field S.d",
        "guarded_by nothing: nothing",
    ]


def test_variables_that_closures_share():
    module = go(
        """
        func f() {
            rows := map[string]int{} // guarded_by: mu
            // guarded_by: mu
            var cells int
            own := 1 // guarded_by: mu
            go func() {
                rows["a"] = cells
            }()
            _ = own
        }
        """
    )
    assert annotations(module) == [
        "guarded_by mu: variable f.rows",
        "guarded_by mu: variable f.cells",
        "guarded_by mu: nothing",
    ]


def test_functions_and_types_of_go():
    module = go(
        """
        // S is confined.
        //
        // confined: worker
        type S struct{}

        // drop drops.
        // requires_lock: s.mu
        func (s *S) drop() {}

        func (s *S) keep(
            n int,
        ) { // requires_lock: s.mu
        }

        func (s *S) not() {
            n := 1 // guarded_by: mu
            // requires_lock: mu
            _ = n
        }
        """
    )
    assert annotations(module) == [
        "confined worker: type S",
        "requires_lock s.mu: function S.drop",
        "requires_lock s.mu: function S.keep",
        "guarded_by mu: nothing",
        "requires_lock mu: nothing",
    ]
