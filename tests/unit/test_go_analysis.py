"""What the analysis makes of Go: packages, types, embedding, objects held by value, locks, defer, go and loops."""

from __future__ import annotations

import pytest
from tests.unit.go_programs import go, packages
from tests.unit.programs import type_text

from racelint.analysis.contexts import targets

STORE = """\
type Entry struct {
	n    int
	tags map[string]string
	next *Entry
}

type Store struct {
	mu      sync.RWMutex
	entry   Entry
	last    *Entry
	entries map[string]*Entry
	list    []Entry
	ch      chan *Entry
}

"""


def held(program, name, path):
    """The locks held at each access of a path."""
    return [program.held(access.held) for access in program.accesses(name, path)]


# --- packages ---------------------------------------------------------------------------------------------------------


def test_files_of_a_package_share_their_names():
    program = packages({
        "m/a.go": "package m\n\ntype Store struct{ n int }\n\nvar count int\n",
        "m/b.go": "package m\n\nfunc (s *Store) Add() { s.n++; count++ }\n",
    })  # fmt: skip
    source, _ = program.symbols.functions["example.com/p/m:Store.Add"]
    assert source.path == "/p/m/b.go"
    assert program.symbols.method("example.com/p/m:Store", "Add") == "example.com/p/m:Store.Add"


def test_packages_see_what_others_export():
    program = packages({
        "a/a.go": 'package a\n\nimport o "example.com/p/b"\n\nfunc F(s *o.Store) { s.Add(); o.Count = 1 }\n',
        "b/b.go": "package b\n\ntype Store struct{ n int }\n\nvar Count int\n\nfunc (s *Store) Add() { s.n++ }\n",
    })  # fmt: skip
    calls = program.summaries.effects["example.com/p/a:F"].calls
    assert [callee for _, callee in calls] == ["example.com/p/b:Store.Add"]
    (store,) = program.summaries.effects["example.com/p/a:F"].all_accesses()
    assert (store.kind, program.text(store.path)) == ("store", "Count")


def test_a_package_of_tests_from_outside_is_another_one():
    program = packages({
        "m/a.go": "package m\n\nfunc f() {}\n",
        "m/a_test.go": "package m_test\n\nfunc f() {}\n",
    })  # fmt: skip
    assert {"example.com/p/m:f", "example.com/p/m@m_test:f"} <= program.symbols.functions.keys()


def test_init_functions_and_variables_of_all_files():
    program = packages({
        "m/a.go": "package m\n\nvar a = f()\n\nfunc init() { x() }\n",
        "m/b.go": "package m\n\nvar b = f()\n\nfunc init() { y() }\n",
    })  # fmt: skip
    _, module = program.symbols.functions["example.com/p/m:<module>"]
    assert len(module.body) == 2
    assert sum("init@" in name for name in program.symbols.functions) == 2


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x := s.last", "m:Entry"),
        ("x := s.last.next.next", "m:Entry"),
        ("x := s.entries", "map[string, m:Entry]"),
        ('x := s.entries["k"]', "m:Entry"),
        ('x, ok := s.entries["k"]; _ = ok', "m:Entry"),
        ("x := s.list[0]", "m:Entry"),
        ("x := <-s.ch", "m:Entry"),
        ("x := &s.list[0]", "m:Entry"),
        ("x := s.list[1:]", "[][m:Entry]"),
        ("x := append(s.list, Entry{})", "[][m:Entry]"),
        ("x := &Entry{}", "m:Entry"),
        ("x := new(Entry)", "m:Entry"),
        ("x := make(map[string]int)", "map[string, int]"),
        ("x := make(chan Entry)", "chan[m:Entry]"),
        ("x := v.(*Entry)", "m:Entry"),
        ("x := []byte(v)", "[][byte]"),
        ("x, err := s.get(); _ = err", "m:Entry"),
        ("x := s.first()", "m:Entry"),
        ("var x sync.Mutex", "sync.Mutex"),
        ("x := Names{}", "m:Names"),
        ("x := v", ""),
    ],
)
def test_types_of_variables(text, found):
    methods = (
        "func (s *Store) get() (*Entry, error) { return nil, nil }\nfunc (s *Store) first() *Entry { return nil }\n"
    )
    program = go(f"{STORE}type Names map[string]bool\n\n{methods}\nfunc f(s *Store, v any) {{ {text}; _ = x }}\n")
    assert type_text(program.types.variable("m:f", "x")) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for k, x := range s.entries { _, _ = k, x }", "m:Entry"),
        ("for x := range s.entries { _ = x }", "string"),
        ("for x, v := range s.list { _, _ = x, v }", "int"),
        ("for _, x := range s.list { _ = x }", "m:Entry"),
        ("for x := range s.ch { _ = x }", "m:Entry"),
        ("for x := range 10 { _ = x }", "int"),
    ],
)
def test_types_of_loop_variables(text, found):
    program = go(f"{STORE}func f(s *Store) {{ {text} }}\n")
    assert type_text(program.types.variable("m:f", "x")) == found


def test_calls_are_resolved_by_types():
    program = go(f"""{STORE}
func (e *Entry) Touch() {{ e.n++ }}

func f(s *Store) {{
	s.entries["k"].Touch()
	for _, e := range s.entries {{
		e.next.Touch()
	}}
	if e, ok := s.find(); ok {{
		e.Touch()
	}}
}}

func (s *Store) find() (*Entry, bool) {{ return external() }}
""")
    called = [site.callee for site in program.effects("f").calls.values()]
    assert called.count("m:Entry.Touch") == 3


def test_methods_of_interfaces_are_those_of_types_that_have_them_all():
    program = go("""
type Worker interface {
	Work(k string)
	Stop()
}
type A struct{ n int }
func (a *A) Work(k string) { a.n++ }
func (a *A) Stop() {}
type B struct{}
func (b *B) Work(k string) {}
type C struct{ *A }
func f(w Worker) { w.Work("x") }
""")
    assert program.symbols.subtypes("m:Worker") == {"m:A", "m:C"}
    assert "m:A.Work" in {site.callee for site in program.effects("f").calls.values()}


# --- embedding --------------------------------------------------------------------------------------------------------

EMBEDDING = """\
type Base struct {
	sync.Mutex
	count int
}

func (b *Base) Inc() { b.count++ }

type Outer struct {
	*Base
	name string
}

"""


def test_promoted_fields_are_those_of_the_embedded_object():
    program = go(EMBEDDING + 'func (o *Outer) F() { o.count = 1; o.Base.count = 2; o.name = "x" }\n')
    assert program.kinds("Outer.F") == ["store o.Base.count", "read o.Base", "store o.Base.count", "store o.name"]


def test_promoted_methods_have_the_embedded_object_for_a_receiver():
    program = go(EMBEDDING + "func (o *Outer) F() { o.Inc() }\n")
    (site,) = program.effects("Outer.F").calls.values()
    assert (site.callee, program.text(site.receiver)) == ("m:Base.Inc", "o.Base")


def test_an_embedded_mutex_locks_its_owner():
    program = go(EMBEDDING + "func (o *Outer) F() {\n\to.Lock()\n\to.count = 1\n\to.Unlock()\n\to.count = 2\n}\n")
    assert held(program, "Outer.F", "o.Base.count") == [["o.Base.Mutex"], []]


def test_a_lock_method_of_ones_own_wins():
    program = go(
        EMBEDDING
        + """
func (o *Outer) Lock() { o.Base.Lock() }
func (o *Outer) F() {
	o.Lock()
	o.name = "x"
}
"""
    )
    assert program.calls("Outer.F").keys() == {"Outer.Lock"}
    assert held(program, "Outer.F", "o.name") == [["o.Base.Mutex"]]


# --- locks and defer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "locks"),
    [
        ("s.mu.Lock(); s.last = nil; s.mu.Unlock()", ["s.mu"]),
        ("s.mu.RLock(); s.last = nil; s.mu.RUnlock()", ["s.mu"]),
        ("s.mu.Lock(); defer s.mu.Unlock(); s.last = nil", ["s.mu"]),
        ("s.mu.Lock(); s.mu.Unlock(); s.last = nil", []),
        ("s.mu.Lock(); func() { defer s.mu.Unlock() }(); s.last = nil", []),
        ("if c { s.mu.Lock() }; s.last = nil", ["s.mu?"]),
        ("if c { s.mu.Lock(); defer s.mu.Unlock() }; s.last = nil", ["s.mu?"]),
        ("s.lock(); s.last = nil; s.unlock()", ["s.mu"]),
        ("s.mu.Lock(); defer func() { s.last = nil; s.mu.Unlock() }()", None),
    ],
)
def test_locks(text, locks):
    helpers = "func (s *Store) lock() { s.mu.Lock() }\nfunc (s *Store) unlock() { s.mu.Unlock() }\n"
    program = go(f"{STORE}{helpers}func (s *Store) F(c bool) {{ {text} }}\n")
    if locks is not None:
        assert held(program, "Store.F", "s.last") == [locks]
    assert program.summaries.of("m:Store.F").acquires == () or "Unlock" not in text.split(";")[1]


def test_deferred_calls_run_last_in_first_out():
    program = go(
        STORE
        + """
func (s *Store) F() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.reset()
}

func (s *Store) G() {
	s.mu.Lock()
	defer s.reset()
	defer s.mu.Unlock()
}

func (s *Store) reset() { s.last = nil }
"""
    )
    assert program.held(program.calls("Store.F")["Store.reset"].held) == ["s.mu"]
    assert program.held(program.calls("Store.G")["Store.reset"].held) == []
    assert program.summaries.of("m:Store.F").acquires == ()


def test_what_a_conditional_defer_gives_back_was_taken_there():
    program = go(STORE + "func (s *Store) F(c bool) { if c { s.mu.Lock(); defer s.mu.Unlock() } }\n")
    assert not program.summaries.of("m:Store.F").releases


# --- objects held by value --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("e := s.entry; e.n = 1", []),
        ("e := &s.entry; e.n = 1", ["store s.entry.n"]),
        ("e := *s.last; e.n = 1", []),
        ("e := s.last; e.n = 1", ["store s.last.n"]),
        ('e := s.entry; e.tags["k"] = "v"', ["insert s.entry.tags"]),
        ("for _, e := range s.list { e.n = 1 }", []),
        ("for i := range s.list { s.list[i].n = 1 }", ["store s.list[i].n"]),
        ("for _, e := range s.entries { e.n = 1 }", ["store s.entries[...].n"]),
        ("s.entry.n = 1", ["store s.entry.n"]),
        ("s.entry.set()", []),
        ("s.entry.setHere()", []),
    ],
)
def test_what_is_held_by_value_is_copied(text, written):
    methods = "func (e Entry) set() { e.n = 1 }\nfunc (e *Entry) setHere() { e.n = 1 }\n"
    program = go(f"{STORE}{methods}func (s *Store) F() {{ {text} }}\n")
    found = [kind for kind in program.kinds("Store.F") if kind.split()[0] in ("store", "insert", "update")]
    assert [kind.replace("s.list[...]", "s.list[i]") for kind in found] == written
    assert program.kinds("Entry.set") == []
    assert program.kinds("Entry.setHere") == ["store e.n"]


def test_naming_an_object_inside_another_reads_nothing():
    program = go(STORE + "func (s *Store) F() int { return s.entry.n }\n")
    assert program.kinds("Store.F") == ["read s.entry.n"]


# --- goroutines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "started"),
    [
        ("go s.run()", ["m:Store.run"]),
        ("go run(s)", ["m:run"]),
        ("go func() { s.last = nil }()", ["m:Store.F.func1"]),
        ("work := func() {}; go work()", ["m:Store.F.func1"]),
        ("go time.Until(s.run)", ["m:Store.run"]),
        ("var wg sync.WaitGroup; wg.Go(s.run)", ["m:Store.run"]),
        ("time.AfterFunc(1, s.run)", ["m:Store.run"]),
    ],
)
def test_what_is_started(text, started):
    program = go(f"{STORE}func (s *Store) run() {{}}\nfunc run(s *Store) {{}}\nfunc (s *Store) F() {{ {text} }}\n")
    starts = program.starts("Store.F")
    assert [target.function for start in starts for target in targets(start.callee)] == started
    assert {start.kind for start in starts} == {"goroutine"}


def test_a_goroutine_in_a_loop_is_many():
    program = go(STORE + "func (s *Store) F() { for range s.list { go s.run() } }\nfunc (s *Store) run() {}\n")
    (context,) = program.roots("Store.run")
    assert context.many


def test_variables_of_goroutines_and_their_starter():
    program = go("""
func F() {
	n, err := 0, error(nil)
	var wg sync.WaitGroup
	go func() {
		n++
		err = nil
	}()
	n = 1
	wg.Wait()
	n = 2
	if err := g(); err != nil {
		return
	}
}
""")
    assert program.kinds("F.func1") == ["read n", "update n", "store err"]
    stores = program.accesses("F", "n")
    assert [(access.kind, access.started, bool(access.joined)) for access in stores] == [
        ("store", True, False),
        ("store", True, True),
    ]
    assert program.accesses("F", "err") == []


@pytest.mark.parametrize(("edition", "writes"), [("1.21", ["store", "update"]), ("1.22", []), ("", [])])
def test_loop_variables_by_the_version_of_the_language(edition, writes):
    text = "func F() { for i := 0; i < 3; i++ { go func() { use(i) }() } }\n\nfunc use(i int) {}\n"
    assert [kind for kind in go(text, edition).kinds("F", "i") if kind not in ("read", "test")] == writes


def test_callables_that_an_object_keeps_are_called():
    program = go("""
type Controller struct {
	sync func(string)
	n    int
}

func New() *Controller {
	c := &Controller{}
	c.sync = c.handle
	return c
}

func (c *Controller) handle(k string) { c.n++ }

func (c *Controller) Run() { go c.worker() }

func (c *Controller) worker() { c.sync("k") }
""")
    assert program.entered("Controller.handle") == ["goroutine"]


def test_what_is_received_belongs_to_the_receiver():
    program = go(STORE + "func (s *Store) F() { for e := range s.ch { e.n = 1 }; x := <-s.ch; x.n = 2 }\n")
    assert "store" not in " ".join(program.kinds("Store.F"))


# --- control flow -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "locks"),
    [
        ("for { s.mu.Lock(); if c { break }; s.mu.Unlock() }", [["s.mu"]]),
        ("for i := 0; i < 3; i++ { if c { continue }; s.mu.Lock(); s.mu.Unlock() }", [[]]),
        ("switch { case c: s.mu.Lock(); break; default: s.mu.Lock() }; s.mu.Unlock()", [[]]),
        ("outer: for { for { s.mu.Lock(); break outer } }", [["s.mu"]]),
        ("outer: for { for { if c { continue outer }; s.mu.Lock(); break outer } }", [["s.mu"]]),
        ("if c { s.mu.Lock(); goto end }; s.mu.Lock(); end: s.list = nil", [["s.mu"]]),
        ("if !c { panic(1) }; s.mu.Lock()", [["s.mu"]]),
        ("select { case <-s.ch: s.mu.Lock(); default: return }", [["s.mu"]]),
    ],
)
def test_ways_through_a_function(text, locks):
    program = go(f"{STORE}func (s *Store) F(c bool) {{ {text}; s.last = nil }}\n")
    assert held(program, "Store.F", "s.last") == locks


def test_slices_that_are_cut_while_they_are_walked():
    program = go(
        STORE
        + """
func (s *Store) Cut(n int) {
	for i := range s.list {
		s.list = append(s.list[:i], s.list[i+1:]...)
	}
}

func (s *Store) CutAndLeave(n int) {
	for i := range s.list {
		s.list = append(s.list[:i], s.list[i+1:]...)
		break
	}
}

func (s *Store) Delete() {
	for k := range s.entries {
		delete(s.entries, k)
	}
}
"""
    )
    assert [c.kind for c in program.summaries.of("m:Store.Cut").conflicts] == ["slice"]
    assert not program.summaries.of("m:Store.CutAndLeave").conflicts
    assert [c.kind for c in program.summaries.of("m:Store.Delete").conflicts] == ["map"]
