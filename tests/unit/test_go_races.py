"""Races in Go: memory locations, the order of goroutines, whose objects are whose, sides of locks, guards."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.concurrent_programs import shown
from tests.unit.go_programs import go

from racelint import knowledge
from racelint.analysis.places import excluding, sides
from racelint.analysis.turns import is_about_its_own

FIXTURES = Path(__file__).parents[1] / "fixtures"
TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(knowledge.__file__).with_name("go.toml").read_text("utf-8"))
STORE = """\
type Store struct {
	mu   sync.RWMutex
	n    int
	rows map[string]int
	list []int
	part Part
	next *Part
	all  map[string]*Part
}

type Part struct{ n int }

func (s *Store) Start() {
	go s.one()
	go s.two()
}

"""


def raced(one: str, two: str) -> list[str]:
    """The races of two goroutines that a method starts."""
    return go(f"{STORE}func (s *Store) one() {{ {one} }}\n\nfunc (s *Store) two() {{ {two} }}\n").shapes()


# --- locations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two", "shapes"),
    [
        ("s.n = 1", "println(s.n)", ["(write-read n)"]),  # a number that nobody cares to guard
        ("s.n = 1", "if s.n > 0 { return }", ["(write-read n)"]),
        ("s.n += 1", "println(s.n)", ["write-read n"]),
        ("s.n = 1", "s.n = 2", ["(write-write n)"]),  # nobody looks at it
        ("s.n++", "s.n++", ["(write-read n)"]),  # nobody asks how many
        ("s.n++", "s.n = s.n + 1", ["(write-read n)"]),
        ("s.n++", "s.n = max(s.n, 1)", ["write-read n"]),
        ("s.n++", "s.list[s.n]++", ["write-read n"]),
        ("println(s.n)", "println(s.n)", []),
        ('s.rows["a"] = 1', 's.rows["b"] = 2', ["content-write rows"]),
        ('delete(s.rows, "a")', 'println(s.rows["b"])', ["content-read rows"]),
        ('s.rows["a"] = 1', "println(len(s.rows))", ["(content-read rows)"]),  # a number of its own
        ('s.rows["a"] = 1', "for k := range s.rows { println(k) }", ["content-iterate rows"]),
        ("s.rows = nil", 's.rows["a"] = 1', ["write-read rows"]),
        ("s.list = append(s.list, 1)", "for range s.list { return }", ["write-read list"]),
        ("s.list[0] = 1", "s.list[1] = 2", []),
        ("s.list[0] = 1", "println(len(s.list))", []),
        ("s.part.n++", "println(s.part.n)", ["write-read n"]),
        ("s.next.n++", "println(s.next.n)", ["write-read n"]),
        ('s.all["a"].n = 1', 's.all["b"].n = 2', ["(write-write n)"]),
        ("s.n = 1", "println(s.part.n)", []),
    ],
)
def test_what_is_one_location(one, two, shapes):
    assert raced(one, two) == shapes


# --- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two", "shapes"),
    [
        ("s.mu.Lock(); s.n = 1; s.mu.Unlock()", "s.mu.Lock(); println(s.n); s.mu.Unlock()", []),
        ("s.mu.Lock(); s.n = 1; s.mu.Unlock()", "s.mu.RLock(); println(s.n); s.mu.RUnlock()", []),
        ("s.mu.RLock(); s.n = 1; s.mu.RUnlock()", "s.mu.RLock(); println(s.n); s.mu.RUnlock()", ["write-read n"]),
        ("s.mu.RLock(); s.n = 1; s.mu.RUnlock()", "s.mu.Lock(); println(s.n); s.mu.Unlock()", []),
        ("s.mu.Lock(); s.n = 1; s.mu.Unlock()", "println(s.n)", ["write-read n"]),
        ("s.mu.Lock(); defer s.mu.Unlock(); s.n = 1", "defer s.mu.Unlock(); s.mu.Lock(); s.n = 2", []),
    ],
)
def test_sides_of_a_lock(one, two, shapes):
    assert raced(one, two) == shapes


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ({"m"}, {"m"}, True),
        ({"m"}, {"^m"}, True),
        ({"^m"}, {"m"}, True),
        ({"^m"}, {"^m"}, False),
        ({"m"}, {"k"}, False),
        (set(), {"m"}, False),
    ],
)
def test_which_locks_exclude_each_other(first, second, apart):
    assert excluding(frozenset(first), frozenset(second)) is apart


def test_sides_are_one_lock():
    assert sides(frozenset({"^m", "k", "~task"})) == {"m", "k"}


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("if c { s.mu.Lock() } else { s.mu.Lock() }", ["m:Store.mu"]),
        ("if c { s.mu.Lock() } else { s.mu.RLock() }", ["^m:Store.mu"]),
        ("if c { s.mu.RLock() } else { s.mu.RLock() }", ["^m:Store.mu"]),
        ("if c { s.mu.Lock() }", ["%m:Store.mu"]),
        ("s.mu.Lock(); for c { s.mu.Unlock(); s.mu.Lock() }", ["m:Store.mu"]),
    ],
)
def test_a_lock_is_held_where_both_ways_hold_it(text, held):
    others = "func (s *Store) one() {}\nfunc (s *Store) two() {}\n"
    program = go(f"{STORE}{others}func (s *Store) F(c bool) {{\n\t{text}\n\ts.n = 1\n}}\n")
    (access,) = program.accesses("Store.F", "s.n")
    assert sorted(program.places.locks(access.held)) == held


@pytest.mark.parametrize(
    ("declared", "shapes"),
    [
        ("var n int", ["(write-read n)"]),
        ("var n int\nvar held = &n", ["write-read n"]),
        ("var n int\nvar half = n / 2", ["write-read n"]),
        ("var n int\nvar half = func() int { return n / 2 }", ["write-read n"]),
    ],
)
def test_variables_of_a_package(declared, shapes):
    assert go(f"{declared}\n\nfunc F() {{ for range 3 {{ go func() {{ n++ }}() }} }}\n").shapes() == shapes


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("n = 1; go func() { println(n) }()", []),
        ("go func() { println(n) }(); n = 1", ["write-read n"]),
        ("go func() { n = 1 }(); println(n)", ["write-read n"]),
        ("go func() { n = 1; close(done) }(); <-done; println(n)", []),
        ("wg.Add(1); go func() { n = 1; wg.Done() }(); wg.Wait(); println(n)", []),
        ("go func() { n = 1 }(); go func() { n = 2 }()", ["(write-write n)"]),
        ("go func() { n = 1 }(); go func() { n = 2 }(); wg.Wait(); println(n)", ["write-write n"]),
        ("go func() { n = 1; wg.Done() }(); wg.Wait(); go func() { n = 2 }()", []),
        ("for range 3 { go func() { n++ }() }", ["(write-read n)"]),
        ("for range 3 { go func() { n++ }() }; wg.Wait(); println(n)", ["write-read n"]),
        ("for range 3 { go func() { n++ }() }; p := &n; wg.Wait(); println(*p)", ["write-read n"]),
        ("for range 3 { k := 0; go func() { k++ }() }", []),
        ("for range 3 { k := 0; go func() { k++ }(); k = 2 }", ["(write-write k)"]),
        ("for range 3 { k := 0; go func() { k++ }(); k = 2; println(k) }", ["write-write k"]),
        ("for range 3 { n = 1; go func() { println(n) }() }", ["write-read n"]),
        ("if n > 0 { go func() { n = 1; wg.Done() }(); wg.Wait() }; println(n)", []),
        ("for range 3 { go func() { rows[n] = 1 }() }", ["content-write rows"]),
        ("for i := range 3 { go func() { list[i] = 1 }() }", []),
        ("f := func() { n++ }; f(); f()", []),
    ],
)
def test_captured_variables(text, shapes):
    declared = "n, done, rows, list := 0, make(chan bool), map[int]int{}, make([]int, 3)\n\tvar wg sync.WaitGroup"
    program = go(f"func F() {{\n\t{declared}\n\t_, _, _, _ = n, done, rows, list\n\t{text}\n\twg.Wait()\n}}\n")
    assert [shape for shape in program.shapes() if not shape.endswith("wg")] == shapes


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("for range 3 { go func() { n++ }() }; wg.Wait(); return", ["write-read n"]),
        ("go func() { n = 1 }(); go func() { n = 2 }(); wg.Wait(); return", ["write-write n"]),
    ],
)
def test_named_results_are_read_by_who_calls(text, shapes):
    program = go(f"func F() (n int) {{\n\tvar wg sync.WaitGroup\n\t{text}\n}}\n")
    assert [shape for shape in program.shapes() if not shape.endswith("wg")] == shapes


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("c := &C{}; c.n = 1; go c.run(); return c", []),
        ("c := &C{}; go c.run(); c.n++; return c", ["write-read n"]),
        ("c := &C{}; go c.run(); d := &C{}; d.n = 1; return d", []),
        ("c := &C{}; go func() { c.run() }(); c.n++; return c", ["write-read n"]),
    ],
)
def test_constructors_that_start_something(text, shapes):
    assert (
        go(f"type C struct{{ n int }}\n\nfunc (c *C) run() {{ println(c.n) }}\n\nfunc New() *C {{ {text} }}\n").shapes()
        == shapes
    )


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("go idle(); s.set(); go s.run()", []),
        ("go idle(); go s.run(); s.set()", ["write-read n"]),
        ("go idle(); s.set(); go func() { s.begin() }()\n}\nfunc (s *S) begin() { go s.run()", []),
        ("go idle(); for range 3 { s.set(); go s.run() }", ["write-read n"]),
    ],
)
def test_calls_before_the_start(text, shapes):
    methods = "func (s *S) set() { s.n = 1 }\nfunc (s *S) run() { println(s.n) }\n"
    program = go(f"type S struct{{ n int }}\n\nfunc idle() {{}}\n{methods}func (s *S) Start() {{ {text} }}\n")
    assert [shape.strip("()") for shape in program.shapes()] == shapes


def test_a_channel_of_an_object_tells_when_it_is_ready():
    program = go("""
type Call struct {
	done chan struct{}
	n    int
}

func Do(c *Call) int {
	go c.run()
	<-c.done
	return c.n
}

func (c *Call) run() { c.n = 1; close(c.done) }

func (c *Call) Wait() int { <-c.done; return c.n }

func (c *Call) Early() int { return c.n }
""")
    functions = [function for function in ("Do", "Call.Wait", "Call.Early") if "read" in program.kinds(function, "c.n")]
    assert functions == ["Call.Early"]


# --- whose objects are whose ------------------------------------------------------------------------------------------

WORKER = "type W struct{ n int }\n\nfunc (w *W) run() { w.n++ }\n\nfunc (w *W) show() { println(w.n) }\n\n"


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("func F(s *S) { for range 3 { go s.w.run() } }", ["write-read n"]),
        ("func F() { for range 3 { w := &W{}; go w.run() } }", []),
        ("func F(all []*W) { for _, w := range all { go w.run() } }", []),
        ("func F(all []*W) { for _, w := range all { go func() { w.run() }() } }", ["(write-read n)"]),
        ("func F(ch chan *W) { for w := range ch { go w.run() } }", []),
        ("func (s *S) F() { for range 3 { go s.one() } }\n\nfunc (s *S) one() { s.w.run() }", ["write-read n"]),
        ("func (s *S) F() { for range 3 { go s.one() } }\n\nfunc (s *S) one() { w := &W{}; w.run() }", []),
        ("func F() { for range 3 { go one() } }\n\nfunc one() { use(&W{}) }\n\nfunc use(w *W) { w.run() }", []),
        ("func (s *S) F() { go s.v.run(); go s.w.run() }", ["(write-read n)"]),
    ],
)  # fmt: skip
def test_objects(text, shapes):
    found = go(f"{WORKER}type S struct{{ v, w *W }}\n\n{text}\n").pairs()
    assert [shown(pair).replace("write-write", "write-read") for pair in found] == shapes


def test_handlers_are_told_by_what_they_take():
    program = go("""
import "net/http"
type S struct{ n int }
func (s *S) find(w http.ResponseWriter, r *http.Request) { s.n++ }
func (s *S) other(w http.ResponseWriter) { s.n++ }
""")
    assert program.root_kinds("S.find") == ["handler"]
    assert program.root_kinds("S.other") == []


# --- guards -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("func (s *S) Get() int { return s.n }", ["write-read n"]),  # by callers from outside: 3 of 4 lock
        ("func (s *S) Get() int { s.mu.Lock(); defer s.mu.Unlock(); return s.n }", []),
        ("func (s *S) getLocked() int { return s.n }", []),
        ("func New() *S { s := &S{}; s.n = 1; return s }", []),
        ("func (s *S) Start() { s.n = 1; go s.Set(1) }", []),
        ("func get(s *S) int { return s.n }\n\nfunc Get(s *S) int { return get(s) }", ["write-read n"]),
        ("func (s *S) A() int { return s.n }\n\nfunc (s *S) B() int { return s.n }", ["(write-read n)"]),  # 3 of 5
    ],
)
def test_guards(text, shapes):
    setters = "".join(
        f"func (s *S) {name}(n int) {{ s.mu.Lock(); s.n = n; s.mu.Unlock() }}\n\n" for name in ("Set", "Put", "Add")
    )
    program = go(f"type S struct {{\n\tmu sync.Mutex\n\tn  int\n}}\n\n{setters}{text}\n")
    assert [shown(pair) for pair in program.breaches()] == shapes


# --- rows -------------------------------------------------------------------------------------------------------------


def names() -> Iterator[str]:
    """Every name of a library in the tables of Go, without patterns."""
    for table in ("lock", "start", "safe", "join", "function"):
        for row in TABLE[table]:
            yield from (name for name in (*row.get("names", ()), *row.get("types", ())) if "." in name)


def test_every_name_stands_in_a_fixture():
    paths = [*FIXTURES.glob("*/*go*/*.go"), *FIXTURES.glob("*/*.go")]
    words = {word for path in paths for word in re.findall(r"\w+", path.read_text("utf-8"))}
    assert [name for name in names() if name.rpartition(".")[2] not in words] == []


@pytest.mark.parametrize("table", sorted(TABLE))
def test_every_row_says_where_it_comes_from(table):
    assert [row for row in TABLE[table] if not re.match(r"https://\S+", row.get("source", ""))] == []


@pytest.mark.parametrize("table", ["lock", "start", "safe", "join"])
def test_no_name_stands_in_two_rows(table):
    found = [name for row in TABLE[table] for name in (*row.get("names", ()), *row.get("types", ()))]
    assert sorted({name for name in found if found.count(name) > 1}) == []


# --- turns of a loop ---

TURNS = """
type Table struct {{ rows map[string]int; next *Table }}

func (t *Table) Set(key string) {{ t.rows[key] = 1 }}

func (t *Table) Serve() {{ for {{ println(t.rows["a"]) }} }}

type Part struct {{ table *Table }}

func Run(all []Part, shared *Table, names []string) {{
	{turns}
}}
"""


@pytest.mark.parametrize(
    ("turns", "own"),
    [
        ("for i := range all { p := all[i]; p.table.Set(); go func(g Part) { g.table.Serve() }(p) }", True),
        ("for _, p := range all { p.table.Set(); go func() { p.table.Serve() }() }", True),
        ("for _, p := range all { t := p.table; t.next.Set(); go t.Serve() }", True),
        ("for i := range all { all[i].table.Set(); go all[i].table.Serve() }", True),
        ("for _, p := range all { go p.table.Serve(); p.table.Set() }", False),  # while it runs already
        ("for _, p := range all { all[0].table.Set(); go p.table.Serve() }", False),
        ("for _, p := range all { p.table.Set(); go all[0].table.Serve() }", False),
        ("for _, n := range names { shared.Set(n); go func() { println(n); shared.Serve() }() }", False),
        ("for _, p := range all { p = all[0]; p.table.Set(); go p.table.Serve() }", False),
        ("p := all[0]; p.table.Set(); go p.table.Serve()", False),  # no turns: the order of the two says it
    ],
)
def test_each_turn_has_a_thing_of_its_own(turns, own):
    found = go(TURNS.format(turns=turns))
    effects = found.effects("Run")
    (call,) = {site.span for site in effects.calls.values() if site.callee == "m:Table.Set"}
    (start,) = {start.span for start in effects.starts.values()}
    assert is_about_its_own(found.symbols, "m:Run", call, start) == own
