"""Which types arrive where an interface is called."""

from __future__ import annotations

import pytest
from tests.unit.go_programs import go, packages

from racelint.analysis.values import Field, Param

SINKS = """\
type Sink interface {
	Put()
	End()
}

type Plain struct{}

func (p *Plain) Put() {}
func (p *Plain) End() {}

type Tally struct{ n int }

func (t *Tally) Put() {}
func (t *Tally) End() {}

type worker struct{ out Sink }

func (w *worker) run() { w.out.Put() }

"""


def arriving(text):
    """The types whose methods a call by the field `worker.out` can mean; None if that is not known."""
    types = go(SINKS + text).types
    found = types.arriving.methods(Field(Param("m:worker.run", 0), "out"), "Put")
    return None if found is None else {method.split(":")[1].split(".")[0] for method in found}


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("func f() *worker { return &worker{out: &Plain{}} }", {"Plain"}),
        ("func f() *worker { return &worker{&Plain{}} }", {"Plain"}),
        ("func f(w *worker) { w.out = &Plain{}; w.out = nil }", {"Plain"}),
        ("func f(w *worker) { w.out, _ = made() }\nfunc made() (Sink, error) { return &Tally{}, nil }", {"Tally"}),
        ("func f(w *worker) { w.out = pick(1) }\nfunc pick(n int) (s Sink) {\n\tif n > 1 {\n\t\ts = &Tally{}\n\t}\n"
         "\treturn s\n}", {"Tally"}),
        ("func f(w *worker) { w.out = sub.Make() }", None),
        ("func f(w *worker, all map[string]Sink) { w.out = all[\"a\"] }", None),
        ("func made(s Sink) *worker { return &worker{out: s} }\nfunc f() { made(&Tally{}); go made(&Plain{}) }",
         {"Plain", "Tally"}),
        ("func made(s Sink) *worker { return &worker{out: s} }\nfunc f() { made(&Tally{}); sub.Run(made) }", None),
        ("func Made(s Sink) *worker { return &worker{out: s} }\nfunc f() { Made(&Tally{}) }", None),
        ("func (w *worker) set(s Sink) { w.out = s }\nfunc f(w *worker) { w.set(&Plain{}) }", {"Plain"}),
        ("func f(w *worker) {\n\tvar s Sink = &Plain{}\n\tfunc() { s = &Tally{} }()\n\tw.out = s\n}", None),
        ("func f(w *worker) {\n\tmake := func() Sink { return &Plain{} }\n\tw.out = make()\n}", {"Plain"}),
        ("func f(w *worker, p *sub.Sink) { w.out = p; w.out = &Plain{} }", {"Plain"}),
        ("func f(w *worker, p sub.Sink) { w.out = p; w.out = &Plain{} }", None),
        ("func f(w *worker, p any) { w.out = p.(Sink) }", None),
        ("func f(w *worker, p any) { w.out = p.(*Tally) }", {"Tally"}),
        ("type both struct{ *Tally }\nfunc f(w *worker) { w.out = &both{} }", {"Tally"}),
        ("type any struct{ Sink }\nfunc f(w *worker) { w.out = &any{} }", None),
        ("type Setter interface{ set(s Sink) }\ntype more struct{ *worker }\n"
         "func (w *worker) set(s Sink) { w.out = s }\nfunc f(s Setter, w *worker) { s.set(&Tally{}); w.set(&Plain{}) }",
         {"Plain", "Tally"}),
        ("", None),
    ],
)  # fmt: skip
def test_what_arrives_in_a_field(text, types):
    assert arriving(text) == types


def test_who_calls_what_is_exported_in_a_program_is_all_there():
    files = {
        "cmd/one/main.go": 'package main\n\nimport "example.com/p/pkg/w"\n\nfunc main() { w.New(&w.Plain{}) }\n',
        "pkg/w/w.go": f"package w\n\n{SINKS}func New(s Sink) *worker {{ return &worker{{out: s}} }}\n",
    }
    receiver = Field(Param("example.com/p/pkg/w:worker.run", 0), "out")
    assert packages(files).types.arriving.methods(receiver, "Put") == {"example.com/p/pkg/w:Plain.Put"}
    del files["cmd/one/main.go"]
    files["all/all.go"] = 'package all\n\nimport "example.com/p/pkg/w"\n\nfunc All() { w.New(&w.Plain{}) }\n'
    assert packages(files).types.arriving.methods(receiver, "Put") is None
