"""Objects of caches in Go: what values stand for, what copies share, which rows there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.unit.go_programs import go, packages

from racelint import knowledge
from racelint.analysis.paths import is_seen, prefixes, rebased, root, seen_as
from racelint.analysis.type_names import ClassType, LibraryType, read, written
from racelint.analysis.values import UNKNOWN, Cached, Copy, Field, Param, Seen, Site, Tuple
from racelint.span import Span

ROWS = tomllib.loads((Path(knowledge.__file__).parent / "client_go.toml").read_text("utf-8"))
FIXTURES = Path(__file__).parents[1] / "fixtures" / "mutated-cache-object"
HERE = Site("m:f", Span(1, 1, 1, 2))
TYPES = "type Spec struct { size int; names []string }\n\ntype Pod struct { spec Spec; labels map[string]string }\n\n"


def changes(text, name="f"):
    """What a function changes: the object and how."""
    program = go(TYPES + text)
    found = program.summaries.of(f"m:{name}").changes.values()
    return sorted({(program.text(change.target), change.kind) for change, _ in found})


# --- the rows ---------------------------------------------------------------------------------------------------------


def test_every_row_says_where_it_comes_from():
    for rows in ROWS.values():
        assert all(row["source"] for row in rows)


@pytest.mark.parametrize("kind", sorted(ROWS))
def test_every_name_stands_in_a_fixture(kind):
    text = "\n".join(path.read_text("utf-8") for path in FIXTURES.rglob("*.go"))
    words = set(re.findall(r"\w+", text))
    for row in ROWS[kind]:
        for key in ("names", "methods", "fields"):
            assert {name.rpartition(".")[2] for name in row.get(key, ())} <= words, row


# --- values -----------------------------------------------------------------------------------------------------------


def test_an_object_by_a_narrower_type_is_the_same_object():
    given = Param("m:f", 0)
    seen = seen_as(given, "m:Pod")
    assert seen == Seen(given, "m:Pod")
    assert (root(seen), prefixes(seen)) == (given, [given, seen])
    assert seen_as(seen, "m:Other") == Seen(given, "m:Other")
    assert seen_as(UNKNOWN, "m:Pod") == UNKNOWN
    assert is_seen(Field(seen, "labels"))
    assert not is_seen(Field(given, "labels"))


def test_what_says_itself_what_it_is_needs_no_narrower_type():
    given = Param("m:f", 0)
    copied = Copy(Cached("store.Get()", HERE), "", HERE)
    assert rebased(Field(Seen(given, "m:Pod"), "labels"), given, copied) == Field(copied, "labels")


@pytest.mark.parametrize("text", ["[]<*k8s.io/api/core/v1.Pod>", "map<string,*v1.Pod>", "results<*v1.Pod,error>"])
def test_pointers_in_the_names_of_types(text):
    found = read(text, LibraryType)
    assert written(found, ("[]", "map", "results")) == text
    assert any(isinstance(arg, LibraryType) and arg.pointer for arg in found.args)


def test_a_pointer_to_a_variable_is_no_struct():
    program = go(TYPES + "var one = &Pod{}\nvar other = Pod{}\n")
    assert program.types.variable("m:<module>", "one") == ClassType("m:Pod", value=False)
    assert program.types.variable("m:<module>", "other") == ClassType("m:Pod", value=True)


# --- changes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("p.labels = nil", [("p", "field")]),
        ("p.labels[`a`] = `b`", [("p.labels", "content")]),
        ("p.spec.size = 1", [("p.spec", "field")]),
        ("*p = Pod{}", [("p", "field")]),
        ("delete(p.labels, `a`)", [("p.labels", "content")]),
        ("p.spec.names = append(p.spec.names, `a`)", [("p.spec", "field")]),
        ("c := *p; c.labels = nil", []),
        ("c := *p; c.spec.size = 1", []),
        ("c := *p; c.labels[`a`] = `b`", [("p.labels", "content")]),
        ("s := p.spec; s.size = 1", []),
        ("s := &p.spec; s.size = 1", [("p.spec", "field")]),
        ("c := &Pod{spec: p.spec}; c.spec.size = 1", []),
        ("c := &Pod{labels: p.labels}; c.labels[`a`] = `b`", [("p.labels", "content")]),
        ("go func() { p.labels = nil }()", [("p", "field")]),
    ],
)
def test_what_a_function_changes(body, found):
    assert changes(f"func f(p *Pod) {{ {body} }}\n") == found


def test_elements_of_what_a_function_collects():
    text = """
        func collect(pods []*Pod) []*Pod {
            var found []*Pod
            for _, pod := range pods {
                found = append(found, pod)
            }
            return found
        }

        func f(pods []*Pod) {
            for _, pod := range collect(pods) {
                pod.labels = nil
            }
        }
    """
    assert changes(text) == [("pods[...]", "field")]


def test_fields_of_what_a_function_returns():
    text = """
        type state struct { pod *Pod; size int }

        func observe(p *Pod) *state { return &state{pod: p} }

        func f(p *Pod) { observe(p).pod.labels = nil }
    """
    assert changes(text) == [("p", "field")]


def test_several_results_keep_their_alternatives():
    text = """
        func f(p *Pod, n int) (*Pod, error) {
            if n == 1 { return nil, g(1) }
            if n == 2 { return nil, g(2) }
            if n == 3 { return nil, g(3) }
            if n == 4 { return nil, g(4) }
            if n == 5 { return nil, g(5) }
            return p, nil
        }

        func g(n int) error { return nil }
    """
    (result,) = go(TYPES + text).summaries.of("m:f").returns
    assert isinstance(result, Tuple)
    assert Param("m:f", 0) in result.parts[0]


# --- what is found ----------------------------------------------------------------------------------------------------


def test_methods_with_other_parameters_are_no_interface():
    program = packages({
        "m/m.go": (
            "package m\n\ntype Getter interface { Get(name string) int }\n\n"
            "type One struct{}\n\nfunc (One) Get(name string) int { return 1 }\n\n"
            "type Two struct{}\n\nfunc (Two) Get(name, other string) int { return 2 }\n"
            "type Three struct{}\n\nfunc (Three) Get(name string) string { return name }\n"
        ),
    })  # fmt: skip
    assert program.symbols.overrides("example.com/p/m:Getter", "Get") == ["example.com/p/m:One.Get"]


def test_packages_that_take_over_each_others_names():
    imports = 'import . "example.com/p/p{one}"\nimport . "example.com/p/p{other}"\n'
    text = "package p{number}\n\n" + imports + "\nfunc F{number}() {{ Unknown() }}\n"
    files = {
        f"p{number}/p{number}.go": text.format(number=number, one=(number + 1) % 14, other=(number + 3) % 14)
        for number in range(14)
    }
    assert packages(files).symbols.attribute("example.com/p/p0", "Unknown") is None
