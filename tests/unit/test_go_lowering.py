"""The Go front end: scopes, statements, declarations, files that are no programs, and where files belong."""

from __future__ import annotations

import pytest
from tests.unit.go_programs import body, function, lower

from racelint.analysis.branching import blocks
from racelint.languages import SourceProblem
from racelint.languages.go import FRONT_END
from racelint.languages.go.modules import package_names
from racelint.model import (
    Assign,
    Attr,
    Branch,
    Build,
    Call,
    Cast,
    Closure,
    Const,
    Defer,
    Delete,
    Eval,
    Imported,
    Item,
    Jump,
    Labelled,
    Logic,
    Make,
    Name,
    Spawn,
    Star,
    TypeRef,
    Update,
)


def names(stmt):
    """The names that an assignment gives values."""
    (target,) = stmt.targets
    return [part.name for part in target.parts] if isinstance(target, Build) else [target.name]


# --- scopes -----------------------------------------------------------------------------------------------------------


def test_a_variable_that_shadows_another_one_has_a_name_of_its_own():
    first, branch = body("x := a\nif x := b; x > 0 {\n\tx = 3\n}\nreturn x, nil")[:3:2]
    assert names(first) == ["x"]
    assert names(branch.then[0]) == ["x@2"]


def test_a_definition_assigns_the_variables_that_its_block_has():
    first, second = body("x, err := g()\ny, err := g()\n_ = y")[:2]
    assert names(first) == ["x", "err"]
    assert names(second) == ["y", "err"]


def test_a_definition_at_the_top_of_a_body_assigns_its_parameters_and_results():
    found = function("func f(a int) (err error) {\n\ta, err := g()\n\tb, a := h()\n\treturn\n}")
    assert [names(stmt) for stmt in found.body[1:3]] == [["a", "err"], ["b", "a"]]


def test_a_definition_in_an_inner_block_is_a_new_variable():
    _, branch = body("err := g()\nif a > 0 {\n\terr := g()\n\t_ = err\n}\nreturn 0, err")[:2]
    assert names(branch.then[0]) == ["err@2"]


@pytest.mark.parametrize(
    ("inner", "cells"),
    [
        ("x = 1", {"x"}),
        ("x := 1; _ = x", set()),
        ("_ = func() int { return x }", {"x"}),
        ("for x := range s { _ = x }", {"s"}),
    ],
)
def test_variables_that_nested_functions_use_are_cells(inner, cells):
    found = function(f"func f(s []int) {{\n\tx := 0\n\tgo func() {{ {inner} }}()\n\t_ = x\n}}")
    assert found.cells == cells


def test_variables_of_a_nested_function_do_not_share_names_with_those_around_it():
    outer = lower("package m\n\nfunc f() {\n\terr := g()\n\t_ = func() { err := g(); _ = err }\n\t_ = err\n}\n")
    assert [names(stmt) for stmt in outer.functions["f.func1"].body if isinstance(stmt, Assign)] == [["err@2"]]


def test_variables_that_each_turn_has_for_itself():
    found = function("func f(s []int) {\n\tfor i, v := range s {\n\t\tx := v\n\t\t_ = x + i\n\t}\n\ty := 0\n\t_ = y\n}")
    assert [(turn.variable, turn.edition) for turn in found.turns] == [("i", "1.22"), ("v", "1.22"), ("x", "")]


def test_a_package_is_known_by_its_import():
    (stmt,) = body("time.Sleep(1)")
    assert stmt.value.func == Attr(Imported("time", None, 0), "Sleep", stmt.value.func.span)


def test_a_variable_may_have_the_name_of_a_package():
    (_, stmt) = body("time := p\ntime.next = nil")
    assert isinstance(stmt.targets[0].base, Name)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("k8s.io/api/core/v1", "v1"),
        ("k8s.io/api/core/v1", "core"),
        ("gopkg.in/yaml.v2", "yaml"),
        ("github.com/hashicorp/golang-lru/v2", "lru"),
        ("github.com/mattn/go-sqlite3", "sqlite3"),
        ("sync", "sync"),
    ],
)
def test_names_of_packages_by_their_paths(path, name):
    assert name in package_names(path)


# --- statements -------------------------------------------------------------------------------------------------------


def test_what_goes_to_the_blank_name_is_only_evaluated():
    assert isinstance(body("_ = p.n")[0], Eval)


def test_a_value_and_whether_it_was_there():
    value, there = body('v, ok := m["k"]\n_, _ = v, ok')[:2]
    assert isinstance(value.value, Item)
    assert there.value.operator == "ok"


def test_assignments_at_once():
    (stmt,) = body("a, b = b, a")
    assert [part.name for part in stmt.value.parts] == ["b", "a"]


@pytest.mark.parametrize("text", ["a++", "a += 1", "p.n++"])
def test_updates(text):
    (stmt,) = body(text)
    assert isinstance(stmt, Update)
    assert (stmt.operator, stmt.value) == ("+", Const(1))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("s = append(s, 1)", Update),
        ("p.kids = append(p.kids, x...)", Update),
        ("s = append(s[:a], s[a+1:]...)", Delete),
        ("p.kids = append(p.kids[:a], p.kids[b:]...)", Delete),
        ("t := append(s[:a], s[a+1:]...)", Assign),
        ("s = append(s[:a], other...)", Assign),
        ("s = append(other, s...)", Assign),
        ("s = s[1:]", Assign),
        ("delete(m, k)", Delete),
    ],
)
def test_slices_that_are_cut_and_grown(text, kind):
    assert isinstance(body(text)[0], kind)


def test_a_slice_is_cut_by_the_library_too():
    module = lower('package m\n\nimport "slices"\n\nfunc f(s []int) { s = slices.Delete(s, 0, 1) }\n')
    assert isinstance(module.functions["f"].body[0], Delete)


def test_an_if_with_a_statement_before_its_test():
    assign, branch = body("if err := g(); err != nil {\n\tpanic(err)\n} else if a > 0 {\n\ta = 1\n}")
    assert names(assign) == ["err"]
    assert branch.test.operator == "is not"
    assert branch.then[0].kind == "raise"
    assert isinstance(branch.orelse[0], Branch)


def test_a_switch_may_have_a_thousand_cases():
    cases = "".join(f"case {number}:\n\tf()\n" for number in range(1000))
    assert sum(1 for _ in blocks(body(f"switch a {{\n{cases}}}"))) > 1000


def test_a_loop_of_three_clauses():
    assign, loop = body("for i := 0; i < a; i++ {\n\tif i == b {\n\t\tcontinue\n\t}\n}")
    assert isinstance(assign, Assign)
    assert loop.test.operator == "<"
    assert isinstance(loop.step[0], Update)


def test_a_loop_without_end():
    assert body("for {\n}")[0].test == Const(True)


@pytest.mark.parametrize(
    ("text", "walk", "target"),
    [
        ("for k, v := range m { _, _ = k, v }", "entries", Build),
        ("for k := range m { _ = k }", "keys", Name),
        ("for _, v := range m { _ = v }", "values", Name),
        ("for range m { }", "keys", type(None)),
        ("for _, p.n = range s { }", "values", Attr),
    ],
)
def test_what_a_loop_walks(text, walk, target):
    (loop,) = body(text)
    assert loop.iterable.operator == walk
    assert isinstance(loop.target, target)


def test_labels():
    (loop,) = body("outer:\n\tfor {\n\t\tfor {\n\t\t\tcontinue outer\n\t\t}\n\t}")
    assert loop.label == "outer"
    assert loop.body[0].body[0].label == "outer"


def test_break_in_a_switch_leaves_the_switch():
    (loop,) = body("for {\n\tswitch a {\n\tcase 1:\n\t\tbreak\n\tdefault:\n\t\tcontinue\n\t}\n}")
    (block,) = loop.body
    assert isinstance(block, Labelled)
    (branch,) = block.body
    assert branch.then[0].label == block.label
    assert branch.orelse == (Jump("continue", None, branch.orelse[0].span),)


def test_a_switch_without_a_value():
    (branch,) = body("switch {\ncase a > 1, b > 1:\n\ta = 1\n}")
    assert isinstance(branch.test, Logic)


def test_default_comes_last_wherever_it_stands():
    (branch,) = body("switch a {\ndefault:\n\tb = 0\ncase 1:\n\tb = 1\n}")
    assert branch.then[0].value == Const(1)
    assert branch.orelse[0].value == Const(0)


def test_a_case_reaches_to_the_end_of_its_statement():
    (first,) = body("switch a {\ncase 1:\n\tb = 1\ncase 2:\n\tb = 2\ndefault:\n\tb = 3\n}")
    (second,) = first.orelse
    assert first.span.holds(second.span)
    assert all(first.span.holds(stmt.span) for stmt in (*first.then, *second.then, *second.orelse))
    assert not second.span.holds(first.then[0].span)


@pytest.mark.parametrize(
    "text",
    [
        "switch a {\ndefault:\n\tb = 0\ncase 1:\n\tb = 1\n}",
        "select {\ndefault:\n\tb = 0\ncase <-c:\n\tb = 1\n}",
        "select {\ncase <-c:\n\tb = 0\ncase <-d:\n\tb = 1\n}",
        "switch x.(type) {\ndefault:\n\tb = 0\ncase int:\n\tb = 1\n}",
    ],
)
def test_a_branch_holds_all_of_its_arms(text):
    (branch,) = [stmt for stmt in body(text) if isinstance(stmt, Branch)]
    assert all(branch.span.holds(stmt.span) for stmt in (*branch.then, *branch.orelse))


def test_what_is_deferred_is_got_at_once():
    first, second = body("defer lock()()")
    assert isinstance(first, Assign)
    assert isinstance(second, Defer)
    assert second.call.func == first.targets[0]._replace(span=second.call.func.span)


def test_fallthrough_goes_on_with_the_next_case():
    (branch,) = body("switch a {\ncase 1:\n\tb = 1\n\tfallthrough\ncase 2:\n\tb = 2\n}")
    assert [stmt.value for stmt in branch.then] == [Const(1), Const(2)]


def test_a_type_switch_binds_its_variable_in_each_case():
    found = body("switch t := x.(type) {\ncase *T:\n\tt.n = 1\ncase nil, int:\n\t_ = t\n}")
    (branch,) = found
    assert branch.then[0].value == Cast(
        Name("x", "global", branch.then[0].value.value.span), TypeRef("*", (TypeRef("T"),)), branch.then[0].value.span
    )
    assert isinstance(branch.orelse[0].then[0].value, Name)


def test_a_select_takes_any_case():
    (branch,) = body("select {\ncase v := <-c:\n\ta = v\ncase c <- 1:\n\ta = 2\ndefault:\n\ta = 3\n}")
    assert branch.then[0].value.operator == "receive"
    assert branch.orelse[0].then[0].value.operator == "send"
    assert branch.orelse[0].orelse[0].value == Const(3)


def test_go_and_defer():
    spawn, defer = body("go p.run(a, s...)\ndefer func() { a = 1 }()")
    assert isinstance(spawn, Spawn)
    assert isinstance(spawn.call.args[1], Star)
    assert isinstance(defer, Defer)
    assert isinstance(defer.call.func, Closure)


def test_named_results_are_assigned_by_a_return():
    found = function("func f() (n int, err error) {\n\treturn 1, nil\n}")
    assign, jump = found.body[-2:]
    assert names(assign) == ["n", "err"]
    assert [part.name for part in jump.value.parts] == ["n", "err"]


def test_select_without_cases_never_ends():
    assert body("select {}")[0].kind == "raise"


# --- expressions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("&p.n", "address"),
        ("*p", "deref"),
        ("<-c", "receive"),
        ("s[1:2]", "window"),
        ("len(s)", "length"),
        ("!x", "not"),
    ],
)
def test_operators_with_a_meaning_of_their_own(text, operator):
    assert body(f"x := {text}")[0].value.operator == operator


def test_literals():
    (stmt,) = body("x := &T{n: 1, kids: []T{{n: 2}, {}}}")
    (made,) = stmt.value.operands
    assert made.type == TypeRef("T")
    (_, number), (_, kids) = made.fields
    assert number == Const(1)
    assert [part.type for part in kids.parts] == [TypeRef("T"), TypeRef("T")]


def test_a_literal_of_a_mapping():
    (stmt,) = body('x := map[string]*T{"a": {n: 1}}')
    made = stmt.value
    assert made.type == TypeRef("map", (TypeRef("string"), TypeRef("*", (TypeRef("T"),))))
    assert made.keys == (Const("a"),)
    assert made.parts[0].operator == "address"


@pytest.mark.parametrize("text", ["make(map[string]int)", "T{}", "[]int{1}", "[...]int{1}"])
def test_what_is_made(text):
    assert isinstance(body(f"x := {text}")[0].value, Make)


@pytest.mark.parametrize("text", ["x.(*T)", "[]byte(x)", "string(x)", "(*T)(x)", "int64(x)"])
def test_casts(text):
    assert isinstance(body(f"y := {text}")[0].value, Cast)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("new(T)", "address"),
        ("new(sub.T)", "address"),
        ("new([]int)", "address"),
        ("new(a)", "new"),
        ("new(1)", "new"),
        ("new(int32(a))", "new"),
        ("new(p.n)", "new"),
        ("new(*sub.T)", "address"),
        ("new(*p.n.m)", "new"),
        ("new(*p.n.m())", "new"),
        ('new("x" + g())', "new"),
    ],
)
def test_new_takes_a_type_or_a_value(text, kind):
    assert body(f"x := {text}; y := new(int64(1))")[0].value.operator == kind
    assert body(f"x := {text}")[0].value.operator == kind


def test_calls_of_generic_functions():
    assert isinstance(body("y := g[int](x)")[0].value, Call)
    assert isinstance(body("y := g[int, string](x, 1)")[0].value, Call)


def test_sums_of_thousands_of_parts():
    text = " + ".join(['"a"'] * 5_000)
    assert len(body(f"x := {text}")[0].value.operands) == 5_000


# --- declarations -----------------------------------------------------------------------------------------------------

TYPES = """\
package m

import "sync"

// Store keeps things.
type Store struct {
	sync.Mutex
	*Base
	a, b  int
	inner struct{ m map[string]int }
}

type Base struct{}

type Worker interface {
	sync.Locker
	Work(key string) (int, error)
}

type Set[T comparable] map[T]struct{}
type Alias = Base

func (s *Store) Work(key string) (n int, err error) { return 0, nil }
func (s Set[T]) Has(t T) bool { return false }
func (b Base) private() {}

var state struct{ sync.RWMutex; n int }
"""


def test_a_struct():
    store = lower(TYPES).types["Store"]
    assert list(store.fields) == ["Mutex", "Base", "a", "b", "inner"]
    assert store.embedded == ("Mutex", "Base")
    assert store.fields["Mutex"].annotation == TypeRef("Mutex", (), "sync")
    assert store.fields["Base"].annotation == TypeRef("*", (TypeRef("Base"),))
    assert store.fields["inner"].annotation == TypeRef("Store.inner")
    assert store.by_value
    assert store.doc == "Store keeps things."


def test_an_interface():
    module = lower(TYPES)
    worker = module.types["Worker"]
    assert worker.is_interface
    assert worker.methods == {"Work": "Worker.Work"}
    assert module.functions["Worker.Work"].body == ()
    assert len(worker.bases) == 1


def test_other_types():
    module = lower(TYPES)
    assert module.types["Set"].underlying.name == "map"
    assert "Alias" not in module.types
    assert isinstance(module.globals["Alias"].values[0].value, Name)
    assert module.globals["state"].annotation == TypeRef("state")
    assert "n" in module.types["state"].fields


def test_methods():
    module = lower(TYPES)
    work, has = module.functions["Store.Work"], module.functions["Set.Has"]
    assert (work.owner, work.binding, work.is_public) == ("Store", "instance", True)
    assert work.parameters[0].annotation == TypeRef("*", (TypeRef("Store"),))
    assert work.returns == TypeRef("results", (TypeRef("int"), TypeRef("error")))
    assert has.parameters[1].annotation == TypeRef("")
    assert not module.functions["Base.private"].is_public


def test_init_functions_of_two_files_have_two_names():
    first, second = (lower(f"package m\n\nfunc init() {{ x = {n} }}\n") for n in (1, 2))
    assert not first.functions.keys() & second.functions.keys() - {"<module>"}
    assert all(f.is_initial for f in first.functions.values())


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"), [("package m\n\nfunc f( {\n", 3), ("package m\n\nfunc f() {\n\tx := \n}\n", 4), ("hello\n", 1)]
)
def test_what_is_no_program(text, line):
    with pytest.raises(SourceProblem) as caught:
        lower(text)
    assert caught.value.kind == "syntax-error"
    assert caught.value.line == line


@pytest.mark.parametrize("text", ["x := " + "(" * 9_000 + "1" + ")" * 9_000, "{" * 9_000 + "}" * 9_000])
def test_what_is_nested_too_deeply(text):
    with pytest.raises(SourceProblem) as caught:
        body(text)
    assert caught.value.kind in ("too-deep", "syntax-error")


def test_an_empty_file_is_a_module():
    assert lower("").functions.keys() == {"<module>"}


def test_columns_count_characters():
    module = lower('package m\n\nfunc f() { g("ä", x) }\n')
    call = module.functions["f"].body[0].value
    assert (call.args[1].span.column, call.args[1].span.end_column) == (19, 20)


def test_comments():
    data = b'package m // one\n\nvar s = "// no" + `// no` // two\n/* three\nmore */\nvar r = \'"\' // four\n'
    found = FRONT_END.comments(data)
    assert [(c.line, c.text.split("\n")[0], c.alone) for c in found] == [
        (1, "one", False),
        (3, "two", False),
        (4, "three", True),
        (6, "four", False),
    ]


@pytest.mark.parametrize(
    ("text", "generated"),
    [
        ("// Code generated by mockgen. DO NOT EDIT.\n\npackage m\n", True),
        ("// This code was generated by hand.\npackage m\n", False),
    ],
)
def test_generated_files(text, generated):
    assert lower(text).generated is generated


def test_an_outline_has_no_bodies():
    whole, outline = FRONT_END.extract(TYPES.encode()), FRONT_END.outline(TYPES.encode())
    assert outline.types == whole.types
    assert outline.globals == whole.globals
    assert outline.functions.keys() == whole.functions.keys()
    assert outline.functions["Store.Work"].returns == whole.functions["Store.Work"].returns
    assert Jump not in {type(stmt) for stmt in outline.functions["Store.Work"].body}


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("a/b_test.go", True),
        ("a/testdata/b.go", True),
        ("test/e2e/x.go", True),
        ("pkg/b.go", False),
        ("latest.go", False),
        ("pkg/fake_client.go", True),
        ("pkg/client_mocks.go", True),
        ("pkg/test_util.go", True),
        ("pkg/testing.go", True),
        ("pkg/faker.go", False),
        ("pkg/test_runner.go", False),
    ],
)
def test_test_files(path, test):
    assert FRONT_END.is_test(path) is test


@pytest.mark.parametrize(
    ("imported", "aid"),
    [
        ('"testing"', True),
        ('. "github.com/onsi/gomega"', True),
        ('"github.com/onsi/ginkgo/v2"', True),
        ('"github.com/stretchr/testify/require"', True),
        ('"net/http/httptest"', False),  # proxies record what a handler answers
        ('"example.com/testing"', False),
    ],
)
def test_files_for_tests(imported, aid):
    assert FRONT_END.serves_tests(FRONT_END.extract(f"package a\n\nimport {imported}\n".encode())) is aid


def test_where_files_belong(tmp_path):
    (tmp_path / "go.mod").write_text("// a comment\nmodule example.com/thing/v2\n\ngo 1.21.3\n")
    (tmp_path / "pkg" / "store").mkdir(parents=True)
    (tmp_path / "vendor" / "k8s.io" / "api").mkdir(parents=True)
    root = tmp_path.as_posix()
    assert FRONT_END.module_name(f"{root}/pkg/store/a.go") == "example.com/thing/v2/pkg/store"
    assert FRONT_END.module_name(f"{root}/a.go") == "example.com/thing/v2"
    assert FRONT_END.module_name(f"{root}/vendor/k8s.io/api/a.go") == "k8s.io/api"
    assert FRONT_END.edition(f"{root}/pkg/store/a.go") == "1.21"
