"""SARIF against its published schema, and what GitHub makes of it."""

from __future__ import annotations

import io
import json
import pathlib
from typing import Any

import jsonschema
import pytest
from tests.unit.findings import MIRROR, at, race, render

from racelint.finding import Access, Context, Edit, Finding, Fix, Severity, SourceError, Step
from racelint.report import Report
from racelint.reporters import View, reporters, sarif
from racelint.reporters.sarif import results

PAGES = {
    "unlocked-shared-write": "Two contexts meet.\n\n## What it finds\n\nRaces.",
    "other-rule": "Another one.\n\nText.",
}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft4Validator:
    file = pathlib.Path(__file__).parents[1] / "schemas" / "sarif-schema-2.1.0.json"
    return jsonschema.Draft4Validator(json.loads(file.read_text("utf-8")))


def run_of(*findings: Finding, errors: tuple[SourceError, ...] = ()) -> dict[str, Any]:
    (run,) = json.loads(render("sarif", Report(findings, errors), pages=PAGES))["runs"]
    return run


def result_of(finding: Finding) -> dict[str, Any]:
    (result,) = run_of(finding)["results"]
    return result


def placed(location: dict[str, Any]) -> tuple[str, int]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def texts(locations: list[dict[str, Any]]) -> list[str]:
    return [location["message"]["text"] for location in locations]


def test_everything_follows_the_schema(schema):
    schema.check_schema(schema.schema)
    fix = Fix("iterate over a copy", (Edit(at(88), "list(d)"), Edit(at(1, path="/work/app/b.py"), "import copy\n")))
    findings = (race(), race(fix=fix), race(accesses=(), because="", harm="", mend="", rule="unheard-of", function=""))
    errors = (SourceError("syntax-error", "/work/app/c.py", "bad", 3, 0), SourceError("unreadable", "/d.py", "no"))
    for report in (Report(), Report(findings, errors)):
        document = json.loads(render("sarif", report, pages=PAGES))
        assert [error.message for error in schema.iter_errors(document)] == []
        assert (document["version"], len(document["runs"])) == ("2.1.0", 1)


def test_a_race_is_one_code_flow_with_a_thread_flow_for_each_context():
    (flow,) = result_of(race())["codeFlows"]
    first, second = flow["threadFlows"]
    assert [placed(stop["location"]) for stop in first["locations"]] == [
        ("controllers/mirror.py", 41),
        ("controllers/mirror.py", 88),
    ]
    assert [(placed(stop["location"]), stop["location"]["message"]["text"]) for stop in second["locations"]] == [
        (("controllers/mirror.py", 40), "thread started here"),
        (("controllers/mirror.py", 132), "MirrorWatcher.process_events"),
        (("controllers/mirror.py", 140), "MirrorWatcher.repair_endpoints"),
        (("controllers/endpoints.py", 12), "read in repair, locks held: self._lock"),
    ]
    assert [stop["nestingLevel"] for stop in second["locations"]] == [0, 1, 2, 3]
    assert first["locations"][-1]["state"] == {"locks": {"text": "none"}}
    assert second["locations"][-1]["state"] == {"locks": {"text": "self._lock"}}
    assert (first["id"], second["id"]) == ("1", "2")


def test_what_needs_no_second_context_is_one_thread_flow():
    loop = Access("iteration", "iterate", at(86), "f")
    call = Access("call", "call", at(90), "f")
    change = Access("change", "mutate", at(99), "g", trace=(Step(at(88), "f", "calls g"), Step(at(99), "g", "mutate")))
    result = result_of(race(accesses=(loop, call, change)))
    (flow,) = result["codeFlows"][0]["threadFlows"]
    assert [placed(stop["location"])[1] for stop in flow["locations"]] == [86, 88, 99]
    assert all("state" not in stop for stop in flow["locations"])
    assert [place["message"]["text"] for place in result["relatedLocations"]] == [
        "iterate in f",
        "call in f",
        "mutate in g",
    ]


def test_a_declaration_is_related_and_on_no_way():
    only = Access("only", "insert", at(88, 9, end_column=27), "f", Context("thread", at(41)))
    result = result_of(race(accesses=(only, Access("declared", "says", at(5), ""))))
    assert len(result["codeFlows"][0]["threadFlows"]) == 1
    assert [place["message"]["text"] for place in result["relatedLocations"]] == [
        "declared here",
        "thread started here",
    ]
    assert "([declaration](1), [start of the thread](2))." in result["message"]["text"]


def test_the_message_links_to_every_related_place():
    result = result_of(race(message="d[k](1) is stored", harm="", because="self.x tells it", mend="hold a lock"))
    assert result["message"]["text"] == (
        "d[k] (1) is stored ([other access](1), [other access](2), [start of the thread](3), "
        "[start of the thread](4)). self.x tells it. Hold a lock."
    )
    assert [place["id"] for place in result["relatedLocations"]] == [1, 2, 3, 4]
    alone = result_of(race(accesses=()))
    assert "relatedLocations" not in alone
    assert "](" not in alone["message"]["text"]


def test_fingerprints_and_levels_stand_with_results_and_pages_with_rules():
    run = run_of(race(), race(severity=Severity.NOTE, location=at(2), rule="plugin-rule"))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["unlocked-shared-write", "other-rule", "plugin-rule"]
    assert (rules[0]["name"], rules[0]["shortDescription"]["text"]) == ("UnlockedSharedWrite", "Two contexts meet.")
    assert rules[0]["help"]["markdown"] == f"# unlocked-shared-write\n\n{PAGES['unlocked-shared-write']}"
    assert [(result["level"], result["ruleId"], result["ruleIndex"]) for result in run["results"]] == [
        ("warning", "unlocked-shared-write", 0),
        ("note", "plugin-rule", 2),
    ]
    moved = run_of(race(location=at(888)))["results"][0]["partialFingerprints"]
    assert moved == run["results"][0]["partialFingerprints"]
    assert set(moved) == {"racelint/v1"}


@pytest.mark.parametrize(
    ("path", "uri", "base"),
    [
        (MIRROR, "controllers/mirror.py", "SRCROOT"),
        ("/work/app/a b/100%/ü#?.py", "a%20b/100%25/%C3%BC%23%3F.py", "SRCROOT"),
        ("/work/app/c:x.py", "c%3Ax.py", "SRCROOT"),
        ("/work/app/caf\udce9.py", "caf%E9.py", "SRCROOT"),
        ("/elsewhere/b c.py", "file:///elsewhere/b%20c.py", None),
    ],
)
def test_addresses_are_relative_and_encoded(path, uri, base):
    place = result_of(race(location=at(1, path=path)))["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (place["uri"], place.get("uriBaseId")) == (uri, base)


def test_files_that_failed_are_notifications():
    errors = (
        SourceError("syntax-error", "/work/app/c.py", "bad", 3, 4),
        SourceError("unreadable", "/work/app/d.py", "no"),
    )
    (invocation,) = run_of(errors=errors)["invocations"]
    assert invocation["executionSuccessful"]
    syntax, unreadable = invocation["toolExecutionNotifications"]
    assert (syntax["descriptor"]["id"], syntax["level"], syntax["message"]["text"]) == ("syntax-error", "error", "bad")
    assert placed(syntax["locations"][0]) == ("c.py", 3)
    assert "region" not in unreadable["locations"][0]["physicalLocation"]


def written(report: Report) -> tuple[dict[str, Any], list[str]]:
    stream = io.StringIO()
    notes = sarif.write(report, View("/work/app", lambda path: []), stream)
    return json.loads(stream.getvalue())["runs"][0], notes


def test_of_too_many_findings_the_most_severe_stay_in_their_order_and_it_is_told(monkeypatch, schema):
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    monkeypatch.setattr(sarif, "SHOWN_RESULTS", 2)
    severities = [Severity.NOTE, Severity.ERROR, Severity.WARNING, Severity.NOTE, Severity.ERROR]
    findings = tuple(race(location=at(n), severity=severity) for n, severity in enumerate(severities, start=1))
    run, (left_out, shown) = written(Report(findings))
    assert [placed(result["locations"][0])[1] for result in run["results"]] == [2, 3, 5]
    assert left_out.startswith("sarif: 2 of 5 findings, the least severe, are left out")
    assert shown == "sarif: GitHub shows the 2 most severe findings of 3"
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (notification["level"], f"sarif: {notification['message']['text']}") == ("warning", left_out)


def test_a_file_that_is_too_large_loses_findings(monkeypatch):
    monkeypatch.setattr(sarif, "MAX_COMPRESSED", 3_000)
    findings = tuple(race(location=at(n), symbol=f"s{n}") for n in range(1, 101))
    run, notes = written(Report(findings))
    assert 1 <= len(run["results"]) < 100
    assert f"sarif: {100 - len(run['results'])} of 100 findings" in notes[0]


def test_long_ways_and_many_places_are_cut_at_their_middle_and_it_is_told(monkeypatch):
    monkeypatch.setattr(results, "MAX_STEPS", 6)
    monkeypatch.setattr(results, "MAX_RELATED", 2)
    trace = tuple(Step(at(n), f"f{n}", f"calls f{n + 1}") for n in range(10, 20))
    context = Context("thread", at(4))
    accesses = tuple(Access("side", "store", at(line), "f", context, (), trace) for line in (88, 99))
    run, notes = written(Report((race(accesses=accesses),)))
    (result,) = run["results"]
    ways = [
        [placed(stop["location"])[1] for stop in flow["locations"]] for flow in result["codeFlows"][0]["threadFlows"]
    ]
    assert ways == [[4, 19, 88], [4, 19, 99]]
    assert len(result["relatedLocations"]) == 2
    assert notes == ["sarif: of 1 findings some places are left out: GitHub shows no more"]


def test_the_document_is_the_same_each_time():
    assert render("sarif", Report((race(), race()))) == render("sarif", Report((race(), race())))
    assert "sarif" in reporters()
