"""Reporters: the text for people, and the JSON against its published schema."""

from __future__ import annotations

import io
import json
from importlib.resources import files

import jsonschema
import pytest

from racelint.finding import (
    Access,
    Confidence,
    Context,
    Edit,
    Finding,
    Fix,
    Location,
    Severity,
    SourceError,
    Span,
    Step,
)
from racelint.report import Report, Summary
from racelint.reporters import FORMATS, View, reporters
from racelint.reporters.excerpt import excerpt
from racelint.reporters.fingerprint import fingerprints

MIRROR = "/work/app/controllers/mirror.py"
SOURCE = ["pass"] * 84 + [
    "class MirrorWatcher:",
    "        alive = self._liveness.get()",
    "",
    "        self.gateway_alive = alive",
]


def at(line: int, column: int = 1, path: str = MIRROR, end_column: int = 0) -> Location:
    return Location(path, Span(line, column, line, end_column or column + 4))


def race(**changes: object) -> Finding:
    values: dict[str, object] = {
        "rule": "unlocked-shared-write",
        "severity": Severity.WARNING,
        "confidence": Confidence.HIGH,
        "location": at(88, 9, end_column=27),
        "message": "MirrorWatcher.gateway_alive is stored by one thread while another reads it, with no common lock",
        "symbol": "MirrorWatcher.gateway_alive",
        "function": "MirrorWatcher._repair_loop",
        "accesses": (
            Access("write", "store", at(88), "MirrorWatcher._repair_loop", Context("thread", at(41))),
            Access(
                "other",
                "read",
                at(12, path="/work/app/controllers/endpoints.py"),
                "repair",
                Context("thread", at(40)),
                ("self._lock",),
                (Step(at(132), "MirrorWatcher.process_events"), Step(at(140), "MirrorWatcher.repair_endpoints")),
            ),
        ),
        "because": "both threads live as long as the watcher, and nothing orders the two accesses",
        "harm": "endpoints are repaired from a liveness value that is already stale",
        "mend": "hold one lock on both sides, or pass the value through the event queue that is there",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def render(name: str, report: Report, width: int = 80) -> str:
    stream = io.StringIO()
    view = View("/work/app", lambda path: SOURCE, {"unlocked-shared-write": "Use a lock."}, 0.42, width)
    reporters()[name](report, view, stream)
    return stream.getvalue()


TEXT = """\
controllers/mirror.py:88:9  warning  unlocked-shared-write
  MirrorWatcher.gateway_alive is stored by one thread while another reads it,
  with no common lock

     86 | alive = self._liveness.get()
 >   88 | self.gateway_alive = alive

  store    thread started at mirror.py:41  locks held: none
           MirrorWatcher._repair_loop mirror.py:88
  read     thread started at mirror.py:40  locks held: self._lock
           MirrorWatcher.process_events mirror.py:132
           -> MirrorWatcher.repair_endpoints mirror.py:140
           -> repair controllers/endpoints.py:12

  because  both threads live as long as the watcher, and nothing orders the two
           accesses
  harm     endpoints are repaired from a liveness value that is already stale
  mend     hold one lock on both sides, or pass the value through the event
           queue that is there

1 warning in 3 files (1,200 lines); 2 hidden; 1 suppressed; 0.4 s
"""


def test_text():
    report = Report((race(),), summary=Summary(files=3, lines=1200, hidden=2, suppressed=1))
    assert render("text", report) == TEXT


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_keeps_to_the_width(width):
    body = render("text", Report((race(),)), width).splitlines()[1:]
    assert max(len(line) for line in body) <= width


def test_text_puts_locks_below_when_there_is_no_room():
    context = Context("callback of a very long name for its kind", at(41))
    accesses = tuple(
        Access("x", "store", at(88), "f", context, ("self._first_lock", "self._second_lock")) for _ in "12"
    )
    text = render("text", Report((race(accesses=accesses),)))
    assert "started at mirror.py:41\n           locks held: self._first_lock, self._second_lock\n" in text


def test_text_for_one_context_says_nothing_of_contexts_and_locks():
    text = render("text", Report((race(accesses=(Access("loop", "iterate", at(86), "f"),)),)))
    assert "  iterate  f mirror.py:86\n" in text
    assert "locks" not in text


def test_text_without_findings():
    report = Report(errors=(SourceError("syntax-error", "/a.py", "bad"),), summary=Summary(1, 1))
    assert render("text", report) == "no findings in 1 file (1 line); 1 file not analysed; 0.4 s\n"


def test_text_lets_nothing_steer_the_terminal():
    finding = race(message="a \x1b[31mred\x07 word [bold]kept[/bold]", location=at(1, path="/work/app/\x1b[2J.py"))
    text = render("text", Report((finding,)))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]kept[/bold]" in text


def test_excerpt_marks_lines_shifts_left_and_cuts():
    source = ["def f():", "    for x in d:", "", "        d.pop(x)" + " " * 9 + "# " + "long " * 30]
    finding = race(location=at(4, 9), accesses=(Access("loop", "iterate", at(2), "f"),))
    lines = excerpt(finding, source, 60)
    assert [(line.number, line.reported, line.touched) for line in lines] == [(2, False, True), (4, True, False)]
    assert lines[0].text == "for x in d:"
    assert lines[1].text.startswith("    d.pop(x)")
    assert len(lines[1].text) == 50
    assert excerpt(race(location=at(99)), source, 60) == []


FIX = Fix("iterate over a copy", (Edit(at(88), "list(d)"),), safe=True)


def test_json_follows_its_schema():
    findings = (race(), race(fix=FIX, mend=""), race(accesses=(), location=at(1, path="/elsewhere/b.py")))
    report = Report(
        findings, (SourceError("syntax-error", "/work/app/c.py", "bad", 3, 4),), summary=Summary(3, 9, 1, 1)
    )
    document = json.loads(render("json", report))
    schema = json.loads(files("racelint.reporters").joinpath("report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)

    first, second, third = document["findings"]
    assert first["path"] == "controllers/mirror.py"
    assert third["path"] == "/elsewhere/b.py"
    assert (first["line"], first["column"], first["end_line"], first["end_column"]) == (88, 9, 88, 27)
    assert first["accesses"][1]["context"] == {
        "kind": "thread",
        "started_at": {"path": "controllers/mirror.py", "line": 40, "column": 1},
    }
    assert first["accesses"][1]["trace"][0]["function"] == "MirrorWatcher.process_events"
    assert first["help"].startswith("hold one lock")
    assert second["help"] == "Use a lock."
    assert (first["fix"], second["fix"]["safe"], second["fix"]["edits"][0]["text"]) == (None, True, "list(d)")
    assert document["summary"]["counts"] == {"error": 0, "warning": 3, "note": 0}
    assert document["errors"] == [
        {"kind": "syntax-error", "path": "c.py", "line": 3, "column": 4, "message": "bad"},
    ]


def test_json_does_not_depend_on_time():
    first, second = io.StringIO(), io.StringIO()
    for stream, seconds in ((first, 1.0), (second, 2.0)):
        reporters()["json"](Report((race(),)), View("/work/app", lambda path: [], {}, seconds), stream)
    assert first.getvalue() == second.getvalue()


def marks(*findings: Finding, base: str = "/work/app") -> list[str]:
    return list(fingerprints(findings, View(base, lambda path: [])))


def test_fingerprints_outlive_moved_lines_and_tell_equals_apart():
    moved = race(location=at(188), message="held in 9 of 10")
    assert marks(race(message="held in 8 of 11")) == marks(moved)
    assert len(set(marks(race(), race(location=at(90)), race(symbol="x"), race(function="g")))) == 4
    assert marks(race(), race(location=at(90)))[0] == marks(race())[0]


def test_the_table_names_every_format():
    assert tuple(reporters()) == FORMATS
