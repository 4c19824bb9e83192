"""Reporters: the text for people, and the JSON against its published schema."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from importlib.resources import files
from xml.etree import ElementTree

import jsonschema
import pytest
from tests.unit.findings import at, race, render

from racelint.finding import (
    Access,
    Context,
    Edit,
    Finding,
    Fix,
    Location,
    Severity,
    SourceError,
    Span,
)
from racelint.report import Report, Summary
from racelint.reporters import FORMATS, View, reporters
from racelint.reporters.excerpt import excerpt
from racelint.reporters.fingerprint import fingerprints

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


COUNTED = """\
     2  unlocked-shared-write    1 error, 1 warning
     1  mutated-while-iterating  1 warning

"""


def test_statistics_count_by_rule():
    findings = (
        race(),
        race(rule="mutated-while-iterating"),
        race(severity=Severity.ERROR, location=at(1, path="/b.py")),
    )
    report = Report(findings, summary=Summary(files=3, lines=9))
    assert render("text", report, statistics=True) == COUNTED + "1 error, 2 warnings in 3 files (9 lines); 0.4 s\n"
    assert render("text", report, statistics=True, quiet=True) == COUNTED
    document = json.loads(render("json", report, statistics=True))
    assert document["statistics"][0] == {
        "rule": "unlocked-shared-write",
        "findings": 2,
        "counts": {"error": 1, "warning": 1, "note": 0},
        "files": 2,
    }
    assert len(document["findings"]) == 3
    schema = json.loads(files("racelint.reporters").joinpath("report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert "statistics" not in json.loads(render("json", report))


def test_text_tells_what_the_same_two_functions_do_once():
    second = race(symbol="MirrorWatcher.url", location=at(90))
    text = render("text", Report((race(), second, race(location=at(91), harm="another one"))), quiet=True)
    assert text.startswith(TEXT.rpartition("1 warning in")[0])
    assert text.count("because") == 2  # what goes wrong is another thing in the third one
    assert "like     line 88, by the same two functions: store mirror.py:88, read\n" in text
    alone = [replace(access, context=Context("same")) for access in race().accesses]
    one, two = (race(accesses=tuple(alone), location=at(line)) for line in (88, 90))
    assert render("text", Report((one, two)), quiet=True).count("because") == 2


def test_quiet_text_has_findings_only():
    report = Report((race(),), summary=Summary(files=3, lines=1200, hidden=2, suppressed=1))
    assert render("text", report, quiet=True) == TEXT.rpartition("1 warning in")[0]
    assert render("text", Report(), quiet=True) == ""


def test_colour_is_what_the_view_says(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = render("text", Report((race(),)), colour=True)
    assert "\x1b[1;33mwarning" in coloured
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render("text", Report((race(),)))


GITHUB = """\
::warning file=controllers/mirror.py,line=88,endLine=88,col=9,endColumn=27,title=racelint (unlocked-shared-write)::\
controllers/mirror.py:88:9: unlocked-shared-write: MirrorWatcher.gateway_alive is stored by one thread while another \
reads it, with no common lock\
%0Astore at controllers/mirror.py:88 in MirrorWatcher._repair_loop, thread started at controllers/mirror.py:41, \
locks held: none\
%0Aread at controllers/endpoints.py:12 in repair, thread started at controllers/mirror.py:40, locks held: self._lock\
%0Abecause: both threads live as long as the watcher, and nothing orders the two accesses\
%0Aharm: endpoints are repaired from a liveness value that is already stale\
%0Amend: hold one lock on both sides, or pass the value through the event queue that is there
"""


def test_github():
    assert render("github", Report((race(),))) == GITHUB
    assert render("github", Report()) == ""


def test_github_escapes_properties_and_data_as_the_runner_unescapes_them():
    place = Location("/work/app/50%,a:b\n.py", Span(2, 5, 4, 1))
    finding = race(location=place, message="100% ::error::, no\r\nline", severity=Severity.NOTE, accesses=())
    (line,) = render("github", Report((finding,))).splitlines()
    properties, data = line.removeprefix("::notice ").split("::", 1)
    assert properties == "file=50%25%2Ca%3Ab%0A.py,line=2,endLine=4,title=racelint (unlocked-shared-write)"
    assert data.startswith("50%25,a:b%0A.py:2:5: unlocked-shared-write: 100%25 ::error::, no%0D%0Aline%0A")


def test_github_tells_of_files_that_failed():
    errors = (
        SourceError("syntax-error", "/work/app/c.py", "bad", 3, 4),
        SourceError("unreadable", "/work/app/d.py", "no"),
    )
    assert render("github", Report(errors=errors)).splitlines() == [
        "::warning file=c.py,line=3,col=4,title=racelint (syntax-error)::c.py:3:4: syntax-error: bad",
        "::warning file=d.py,title=racelint (unreadable)::d.py: unreadable: no",
    ]


def test_gitlab():
    error = SourceError("syntax-error", "/work/app/c.py", "bad", 3, 4)
    issues = json.loads(render("gitlab", Report((race(), race(severity=Severity.ERROR)), (error,))))
    assert [(issue["check_name"], issue["severity"], issue["location"]) for issue in issues] == [
        ("unlocked-shared-write", "minor", {"path": "controllers/mirror.py", "lines": {"begin": 88, "end": 88}}),
        ("unlocked-shared-write", "major", {"path": "controllers/mirror.py", "lines": {"begin": 88, "end": 88}}),
        ("syntax-error", "info", {"path": "c.py", "lines": {"begin": 3}}),
    ]
    assert len({issue["fingerprint"] for issue in issues}) == 3
    assert issues[0]["description"].endswith("with no common lock (see also controllers/endpoints.py:12)")
    assert json.loads(render("gitlab", Report())) == []


JUNIT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="racelint" tests="2" failures="1" errors="1">
  <testsuite name="a&lt;b.py" tests="1" failures="0" errors="1">
    <testcase name="syntax-error at 3:4" classname="a&lt;b.py" file="a&lt;b.py" line="3">
      <error message="bad" type="syntax-error">bad</error>
    </testcase>
  </testsuite>
  <testsuite name="b.py" tests="1" failures="1" errors="0">
    <testcase name="unlocked-shared-write at 88:9" classname="b.py" file="b.py" line="88">
      <failure message="x &amp; �[31m" type="warning">x &amp; �[31m</failure>
    </testcase>
  </testsuite>
</testsuites>
"""


def test_junit_has_a_suite_for_each_file():
    finding = race(
        message="x & \x1b[31m", location=at(88, 9, "/work/app/b.py"), accesses=(), because="", harm="", mend=""
    )
    error = SourceError("syntax-error", "/work/app/a<b.py", "bad", 3, 4)
    assert render("junit", Report((finding,), (error,))) == JUNIT


def test_junit_is_xml_whatever_the_text_holds():
    nasty = "".join(map(chr, range(0x20))) + "\x7f\udce9\ufffe]]> <x y='\"'> & \U0001f512"
    finding = race(message=nasty, symbol=nasty, function=nasty, location=at(1, path=f"/work/app/{nasty}.py"))
    root = ElementTree.fromstring(render("junit", Report((finding,), (SourceError("unreadable", nasty, nasty),))))
    assert [len(suite) for suite in root] == [1, 1]
    assert "\U0001f512" in (root[0][0][0].text or "")


def test_junit_of_nothing_is_one_test_that_passes():
    root = ElementTree.fromstring(render("junit", Report()))
    assert (root.get("tests"), len(root), len(root[0]), len(root[0][0])) == ("1", 1, 1, 0)


def test_the_table_names_every_format():
    assert tuple(reporters()) == FORMATS
