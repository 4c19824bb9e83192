"""How bad each kind of finding is: what ends or spoils the program for sure is an error."""

import textwrap

import pytest

from racelint.config import Settings
from racelint.plugins import BUILTIN
from racelint.plugins import load as load_packs
from racelint.run import Request, check

THREADS = """
    import threading

    class Table:
        def __init__(self):
            self.lock = threading.Lock()
            self.rows = {{}}
            threading.Thread(target=self.fill).start()
            threading.Thread(target=self.show).start()

        def fill(self):
            while True:
                {write}

        def show(self):
            while True:
                {read}
"""
GOROUTINES = """
    package main

    import "sync"

    type Table struct {{
        mu    sync.Mutex
        rows  map[string]int
        ready bool
        names []string
    }}

    func Watch() *Table {{
        table := &Table{{rows: map[string]int{{}}}}
        go table.fill()
        {start}
        return table
    }}

    func (t *Table) fill() {{
        for {{
            {write}
        }}
    }}

    func (t *Table) {method}() {{
        for i := 0; i < 9; i++ {{
            {read}
        }}
    }}
"""


def severities(tmp_path, name, text):
    (tmp_path / name).write_text(textwrap.dedent(text).lstrip())
    packs = load_packs(())
    rules = [rule for pack in packs if pack.name == BUILTIN for rule in pack.rules]
    report = check(Request((str(tmp_path),), packs, Settings()), rules)
    return [(finding.rule, finding.severity.label) for finding in report.findings]


@pytest.mark.parametrize(
    ("write", "read", "severity"),
    [
        ("self.rows[object()] = 1", "[print(row) for row in self.rows]", "warning"),
        ("with self.lock: self.rows[object()] = 1", "[print(row) for row in self.rows]", "warning"),
    ],
)
def test_a_resized_iteration_is_a_warning_in_python(tmp_path, write, read, severity):
    assert severities(tmp_path, "table.py", THREADS.format(write=write, read=read)) == [
        ("unlocked-shared-write", severity)
    ]


LOOP = """
    class Table:
        def __init__(self):
            self.rows = {{}}
            self.names = []

        def forget(self, name):
            {change}

        def forget_all(self):
            for name in self.{walked}:
                {step}
"""


@pytest.mark.parametrize(
    ("walked", "step", "change", "severity"),
    [
        ("rows", "del self.rows[name]", "pass", "error"),
        ("names", "self.names.remove(name)", "pass", "warning"),
        ("rows", "self.forget(name)", "del self.rows[name]", "error"),
        ("rows", "self.forget(name)", "self.rows['last'] = name", "warning"),
        ("names", "self.forget(name)", "self.names.remove(name)", "warning"),
    ],
)
def test_of_what_breaks_a_loop_only_what_raises_is_an_error(tmp_path, walked, step, change, severity):
    text = LOOP.format(walked=walked, step=step, change=change)
    assert severities(tmp_path, "table.py", text) == [("mutated-while-iterating", severity)]


@pytest.mark.parametrize(
    ("write", "read"),
    [
        ('t.rows["a"] = 1', 'println(t.rows["a"])'),
        ("t.ready = !t.ready", 'if t.ready { println("ready") }'),
        ('t.names = append(t.names, "a")', "println(len(t.names))"),
    ],
)
def test_races_in_go_are_warnings_those_on_maps_too(tmp_path, write, read):
    text = GOROUTINES.format(start="go table.show()", method="show", write=write, read=read)
    assert severities(tmp_path, "table.go", text) == [("unlocked-shared-write", "warning")]


def test_a_map_beside_a_caller_from_outside_is_a_warning(tmp_path):
    parts = {"write": 't.rows["a"] = 1', "read": 'println(t.rows["a"])'}
    text = GOROUTINES.format(start="", method="Show", **parts).replace("package main", "package tables")
    text = text.replace("func Watch() *Table {", "func (table *Table) Start() {").replace("return table", "")
    text = text.replace("table := &Table{rows: map[string]int{}}", "")
    assert severities(tmp_path, "table.go", text) == [("unlocked-shared-write", "warning")]


LISTED = """
    package main

    import corelisters "k8s.io/client-go/listers/core/v1"

    func change(lister corelisters.PodLister) {{
        pod, err := lister.Pods("default").Get("one")
        if err != nil {{
            return
        }}
        {change}
    }}

    func main() {{
        change(nil)
    }}
"""


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ('pod.Spec.NodeName = "a"', "error"),
        ('if pod.Spec.NodeName == "" { pod.Spec.NodeName = "a" }', "warning"),
        ("if pod.Labels == nil { pod.Labels = map[string]string{} }", "warning"),
        ('if len(pod.Labels) == 0 { pod.Labels = map[string]string{"a": "b"} }', "warning"),
        ('if pod.Spec.Hostname == "" || pod.Name == "x" { pod.Spec.Hostname = "a" }', "warning"),
        ('if pod.Spec.NodeName == "" { pod.Spec.Hostname = "a" }', "error"),
        ('if pod.Labels == nil { pod.Labels = map[string]string{} }; pod.Labels["a"] = "b"', "error"),
        ("if !pod.Spec.HostPID { pod.Spec.HostPID = true }", "error"),
    ],
)
def test_what_is_only_filled_in_is_a_warning(tmp_path, change, found):
    text = LISTED.format(change=change.replace("; pod.Labels[", "\n    pod.Labels["))
    assert severities(tmp_path, "main.go", text) == [("mutated-cache-object", found)]
