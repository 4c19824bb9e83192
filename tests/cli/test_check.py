"""`racelint check`: what it reports where, and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def findings(done: subprocess.CompletedProcess[str]) -> list[tuple[str, int, str]]:
    return [(found["path"], found["line"], found["rule"]) for found in json.loads(done.stdout)["findings"]]


def test_clean_tree_exits_0(racelint, tree):
    tree({"a.py": "x = 1\n"})
    done = racelint("check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no findings in 1 file (1 line)")


def test_finding_exits_1_and_stands_in_the_first_line(racelint, tree, bug):
    tree({"src/a.py": bug})
    done = racelint("check", "src")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "src/a.py:3:13  error  mutated-while-iterating  [*]"
    assert done.stdout.splitlines()[-1].startswith("1 error in 1 file (3 lines)")


def test_paths_are_relative_to_the_working_directory_or_absolute(racelint, tree, bug):
    root = tree({"src/a.py": bug, "elsewhere/b.py": ""})
    assert findings(racelint("check", "--format", "json", "src", cwd=root)) == [
        ("src/a.py", 3, "mutated-while-iterating")
    ]
    path = (root / "src" / "a.py").as_posix()
    assert findings(racelint("check", "--format", "json", "../src", cwd=root / "elsewhere"))[0][0] == path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--fail-on", "never"], 0),
        (["--fail-on", "error"], 1),
        (["--min-severity", "error"], 1),
        (["--ignore", "mutated-while-iterating"], 0),
        (["--select", "mutated-while-iterating"], 1),
        (["--tests"], 1),
        (["-q", "--no-cache", "--jobs", "2"], 1),
    ],
)
def test_exit_status(racelint, tree, bug, arguments, status):
    tree({"a.py": bug})
    assert racelint("check", *arguments).returncode == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "yaml"], "yaml"),
        (["--select", "mutated-while-iteratin"], "did you mean mutated-while-iterating or mutated-cache-object?"),
        (["--ignore", "mutated-while-iterating,nonsense"], "unknown rule 'nonsense'"),
        (["missing"], "missing"),
        (["--config", "missing.toml"], "missing.toml"),
        (["--pack", "missing.py"], "missing.py"),
        (["--jobs", "0"], "0"),
        (["--output", "no/such/folder/report.json"], "no/such/folder"),
    ],
)
def test_what_cannot_be_done_exits_2_with_a_message(racelint, tree, bug, arguments, message):
    tree({"a.py": bug})
    done = racelint("check", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_hidden_findings_are_counted_in_every_format(racelint, tree):
    tree({"a.py": "def LOUD():\n    print()\n", "pack.py": _LEVELS})
    done = racelint("check", "a.py", "--pack", "pack.py")
    assert done.returncode == 1
    assert "1 warning in" in done.stdout
    assert "; 2 hidden;" in done.stdout
    report = json.loads(racelint("check", "a.py", "--pack", "pack.py", "--format", "json").stdout)
    assert (len(report["findings"]), report["summary"]["hidden"]) == (1, 2)
    everything = racelint(
        "check", "a.py", "--pack", "pack.py", "--min-severity", "note", "--min-confidence", "low", "--format", "json"
    )
    assert len(json.loads(everything.stdout)["findings"]) == 3


_LEVELS = '''
from racelint.api import Confidence, Finding, Location, Severity, Span, rule

LEVELS = [(Severity.NOTE, Confidence.HIGH), (Severity.ERROR, Confidence.LOW), (Severity.WARNING, Confidence.MEDIUM)]

@rule()
def levels(program):
    """One finding a level."""
    for severity, confidence in LEVELS:
        location = Location(program.sources[0].path, Span(1, 1, 1, 2))
        yield Finding("levels", severity, confidence, location, f"{severity.label} {confidence.label}", "", "")

RULES = (levels,)
'''


def test_a_file_is_analysed_with_its_project_and_the_report_is_about_the_file(racelint, tree, bug):
    tree(
        {
            "pyproject.toml": "",
            "app/__init__.py": "",
            "app/pool.py": """\
                class Pool:
                    def __init__(self):
                        self.items = {}

                    def drop(self, key):
                        del self.items[key]
                """,
            "app/main.py": """\
                from app.pool import Pool

                class Main:
                    def __init__(self):
                        self.pool = Pool()

                    def run(self):
                        for key in self.pool.items:
                            self.pool.drop(key)
                """,
            "app/other.py": bug,
        }
    )
    assert findings(racelint("check", "--format", "json", "app/main.py")) == [
        ("app/main.py", 9, "mutated-while-iterating")
    ]
    assert findings(racelint("check", "--format", "json", "app/__init__.py")) == []
    # The other end of the bug is in the file that is named.
    named = findings(racelint("check", "--format", "json", "app/pool.py"))
    assert named in ([], [("app/main.py", 9, "mutated-while-iterating")])


def test_tests_generated_and_vendored_files_are_silent_unless_named(racelint, tree, bug):
    tree(
        {
            "pyproject.toml": "",
            "tests/test_a.py": bug,
            "vendor/b.py": bug,
            "c_pb2.py": "# Generated by the protocol buffer compiler.  DO NOT EDIT!\n" + bug,
            "aids.py": "import pytest\n" + bug,
        }
    )
    paths = ["tests/test_a.py", "vendor/b.py", "c_pb2.py", "aids.py"]
    assert findings(racelint("check", "--format", "json")) == []
    assert sorted(path for path, *_ in findings(racelint("check", "--format", "json", "--tests"))) == sorted(paths)
    for path in paths:
        assert findings(racelint("check", "--format", "json", path)) == [
            (path, 3 + (path in ("c_pb2.py", "aids.py")), "mutated-while-iterating")
        ]
    for folder in ("tests", "vendor"):
        assert len(findings(racelint("check", "--format", "json", folder))) == 1


def test_suppressed_findings_are_counted_and_unknown_names_noted(racelint, tree, bug):
    tree({"a.py": bug.replace("[name]\n", "[name]  # racelint: ignore[mutated-while-iterating, no-such-rule] known\n")})
    done = racelint("check")
    assert done.returncode == 0
    assert "; 1 suppressed;" in done.stdout
    assert "a.py:3: racelint: ignore names the unknown rule 'no-such-rule'" in done.stderr


def test_the_report_goes_to_a_file_all_at_once(racelint, tree, bug):
    root = tree({"a.py": bug, "out/report.json": "old"})
    done = racelint("check", "--format", "json", "--output", "out/report.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads((root / "out" / "report.json").read_text())["version"] == 1
    assert os.listdir(root / "out") == ["report.json"]


def test_a_reader_that_leaves_early_is_no_error(tree, bug, tmp_path):
    tree({f"a{number}.py": bug * 20 for number in range(40)})
    command = f"{sys.executable} -m racelint check; echo status $? >&2"
    done = subprocess.run(["bash", "-c", f"({command}) | head -n 1"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.strip() == "status 1"


def test_interrupt_exits_130(racelint, tree):
    tree({"a.py": "", "pack.py": _INTERRUPTED})
    done = racelint("check", "a.py", "--pack", "pack.py")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


_INTERRUPTED = '''
from racelint.api import rule

@rule()
def interrupted(program):
    """A user who presses Ctrl-C."""
    raise KeyboardInterrupt
    yield

RULES = (interrupted,)
'''


def test_no_colour_codes_when_piped(racelint, tree, bug):
    tree({"a.py": bug})
    assert "\x1b" not in racelint("check").stdout


def test_version_is_fast_and_imports_no_engine():
    script = "import sys, racelint.cli; print([m for m in ('rich', 'astroid', 'libcst', 'ast') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = [name for name in ("rich", "astroid", "libcst") if name in done.stdout]
    assert heavy == []


def test_python_m_and_version(racelint):
    from racelint import __version__

    assert racelint("--version").stdout.strip().endswith(__version__)


def test_rules_and_explain(racelint):
    assert "\nmutated-while-iterating" in racelint("rules").stdout
    listed = json.loads(racelint("rules", "--format", "json").stdout)
    assert {"name", "summary", "languages", "since", "pack", "distribution"} == set(listed[0])
    page = racelint("explain", "mutated-while-iterating")
    assert page.returncode == 0
    assert "How it decides" in page.stdout
    unknown = racelint("explain", "mutated-while-iteration")
    assert unknown.returncode == 2
    assert "did you mean mutated-while-iterating" in unknown.stderr


def test_configuration_decides_and_the_command_line_overrides(racelint, tree, bug):
    tree({"pyproject.toml": '[tool.racelint]\nfail-on = "never"\nexclude = ["b.py"]\n', "a.py": bug, "b.py": bug})
    done = racelint("check", "--format", "json")
    assert (done.returncode, len(findings(done))) == (0, 1)
    assert racelint("check", "--fail-on", "error").returncode == 1


def test_configuration_with_an_unknown_key_exits_2(racelint, tree):
    tree({"racelint.toml": 'min-severty = "note"\n', "a.py": ""})
    done = racelint("check")
    assert done.returncode == 2
    assert "unknown key 'min-severty'; did you mean min-severity" in done.stderr


def test_same_report_with_any_jobs_cache_and_order(racelint, tree, bug):
    tree({f"p{number}/a.py": bug for number in range(20)})
    runs = [
        racelint("check", "--format", "json", *arguments).stdout
        for arguments in (["--no-cache", "-j", "1"], ["--no-cache", "-j", "4"], ["-j", "3"], ["-j", "1"])
    ]
    folders = [f"p{number}" for number in range(20)]
    runs.append(racelint("check", "--format", "json", *reversed(folders)).stdout)
    assert len(json.loads(runs[0])["findings"]) == 20
    assert set(runs) == {runs[0]}


def test_nothing_of_the_analysed_tree_is_run(racelint, tree, tmp_path: Path):
    trap = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"
    tree({"a.py": trap, "conftest.py": trap, "pkg/__init__.py": trap, "setup.py": trap})
    assert racelint("check").returncode == 0
    assert not list(tmp_path.rglob("ran"))


UNKNOWN = """\
import lib


def go():
    lib.every(step)


def step():
    pass
"""


def test_unknowns_are_listed_in_place_of_findings(racelint, tree, bug):
    tree({"src/a.py": bug, "src/b.py": UNKNOWN})
    done = racelint("check", "--unknowns", "src")
    assert (done.returncode, done.stderr) == (0, "")
    first, row, *_ = done.stdout.splitlines()
    assert first == "    1  callable  lib.every  src/b.py:5"
    assert row.strip() == "[[start]]"
    assert "mutated-while-iterating" not in done.stdout


def test_unknowns_as_json_and_none(racelint, tree):
    root = tree({"b.py": UNKNOWN})
    (found,) = json.loads(racelint("check", "--unknowns", "--format", "json", "--output", "-").stdout)["unknowns"]
    assert (found["kind"], found["name"], found["count"]) == ("callable", "lib.every", 1)
    assert (found["path"], found["line"], found["column"]) == ("b.py", 5, 5)
    (root / "mine.toml").write_text(found["row"], encoding="utf-8")
    (root / "racelint.toml").write_text('knowledge = ["mine.toml"]\n', encoding="utf-8")
    assert racelint("check", "--unknowns", "-q").stdout.startswith("nothing unknown")
