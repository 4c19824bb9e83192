"""Baselines: what is new, known and stale, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from racelint.baseline import Baseline, BaselineError, Entry, compare, read, stale_entries, text
from racelint.finding import Confidence, Finding, Location, Severity, Span

FILE = Path("/repo/racelint-baseline.jsonl")


def finding(line: int = 1, symbol: str = "A.x", path: str = "/repo/src/a.py", message: str = "message") -> Finding:
    location = Location(path, Span(line, 1, line, 5))
    return Finding("a-rule", Severity.ERROR, Confidence.HIGH, location, message, symbol, "A.f")


def baseline(*findings: Finding) -> Baseline:
    return Baseline(FILE, Baseline(FILE).entries_of(findings))


def everything(entry: Entry) -> bool:
    return True


def test_moved_and_reworded_findings_are_known():
    compared = compare(baseline(finding()), [finding(9, message="other")], [], everything)
    assert (compared.new, len(compared.known), compared.stale) == ((), 1, ())


def test_of_equal_findings_the_number_counts():
    before = baseline(finding(1), finding(2))
    compared = compare(before, [finding(1), finding(2), finding(3)], [], everything)
    assert [found.location.line for found in compared.new] == [3]
    compared = compare(before, [finding(2)], [], everything)
    assert (compared.new, [entry.fingerprint for entry in compared.stale]) == ((), [before.entries[1].fingerprint])


def test_stale_is_what_the_run_would_have_found():
    before = baseline(finding(), finding(symbol="A.y"))
    assert [entry.symbol for entry in compare(before, [finding()], [], everything).stale] == ["A.y"]
    assert compare(before, [finding()], [], lambda entry: False).stale == ()
    assert compare(before, [finding()], [finding(symbol="A.y")], everything).stale == ()  # hidden below the level


def test_paths_are_relative_to_the_baseline():
    before = baseline(finding(path="/repo/src/a.py"), finding(path="/other/b.py"))
    assert [entry.path for entry in before.entries] == ["src/a.py", "../other/b.py"]
    assert [before.absolute(entry) for entry in before.entries] == ["/repo/src/a.py", "/other/b.py"]


def test_the_text_is_sorted_and_each_finding_once():
    before = baseline(finding(symbol="B.x"), finding(), finding(path="/repo/a.py"))
    lines = text((*before.entries, *before.entries)).splitlines()
    assert lines[0] == '{"racelint-baseline": 1}'
    assert lines[1].startswith(
        '{"path": "a.py", "rule": "a-rule", "symbol": "A.x", "function": "A.f", "fingerprint": "'
    )
    assert ["B.x" in line for line in lines] == [False, False, False, True]
    assert text(reversed(before.entries)) == text(before.entries)


@pytest.mark.parametrize("name", ["/repo/ü.py", "/repo/\udcff.py"])
def test_what_is_written_is_read(tmp_path, name):
    file = tmp_path / "b.jsonl"
    before = baseline(finding(), finding(path=name))
    file.write_bytes(text(before.entries).encode())
    assert sorted(read(file).entries) == sorted(before.entries)
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\r\n".join(["", *reversed(lines), *lines]), "utf-8-sig")  # merged, and from another system
    assert sorted(read(file).entries) == sorted(before.entries)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no baseline"),
        (b"\xff\xfe", "is no baseline"),
        (b"x = 1\n", r":1: is no entry"),
        (b'{"racelint-baseline": 1}\n[]\n', r":2: is no entry of a baseline: it must have path, rule"),
        (b'{"racelint-baseline": 1}\n{"path": 1}\n', r":2: is no entry"),
        (b'{"racelint-baseline": 2}\n', r"version 2 is not known; this racelint reads 1"),
        (b'{"racelint-baseline": 1}\n<<<<<<< HEAD\n', r":2: holds an unresolved merge conflict"),
    ],
)
def test_files_that_are_no_baseline(tmp_path, content, message):
    file = tmp_path / "b.jsonl"
    file.write_bytes(content)
    with pytest.raises(BaselineError, match=message):
        read(file)


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(BaselineError, match="no such baseline; `racelint baseline` writes one"):
        read(tmp_path / "none")
    with pytest.raises(BaselineError, match="cannot be read"):
        read(tmp_path)


def test_stale_entries_are_told_a_few_by_name():
    before = baseline(*(finding(symbol=f"A.{name}") for name in "abcdefg"))
    told = stale_entries(before, compare(before, [], [], everything))
    assert told[0] == (
        "/repo/racelint-baseline.jsonl: 7 entries are stale: what they stand for is not found any more; "
        "`racelint baseline --prune` deletes them"
    )
    assert told[1] == "  src/a.py: a-rule: A.a"
    assert (len(told), told[-1]) == (7, "  and 2 more")
