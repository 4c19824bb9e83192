"""Several formats at once, and where each goes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

from racelint.cli import cli, outputs
from racelint.cli.outputs import Target, pair
from racelint.errors import RacelintError
from racelint.reporters import FORMATS


def test_each_output_belongs_to_the_format_before_it(racelint, tree, bug):
    root = tree({"a.py": bug})
    formats = ["--format", "sarif", "--output", "a.sarif", "--format", "text", "--format=junit", "--output=j.xml"]
    done = racelint("check", *formats, "--format", "gitlab", "--no-cache", "--output", "gl.json", ".")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("a.py:3:13  error  mutated-while-iterating  [*]\n")
    (result,) = json.loads((root / "a.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "mutated-while-iterating"
    assert ElementTree.parse(root / "j.xml").getroot().get("failures") == "1"
    assert len(json.loads((root / "gl.json").read_text("utf-8"))) == 1
    assert sorted(path.name for path in root.iterdir()) == ["a.py", "a.sarif", "gl.json", "j.xml"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_to_standard_output_and_to_a_file(tree, bug, name, monkeypatch, capsys):
    monkeypatch.chdir(tree({"a.py": bug}))
    assert cli.main(["check", "--format", name], standalone_mode=False) == 1
    shown = capsys.readouterr().out
    arguments = ["check", "--output", "out", "--format", name]  # a single pair may stand in any order
    assert cli.main(arguments, standalone_mode=False) == 1
    assert capsys.readouterr() == ("", "")
    seconds = 1 if name == "text" else 0  # its last line tells how long it took
    lines = Path("out").read_text("utf-8").splitlines()
    assert lines[: -seconds or None] == shown.splitlines()[: -seconds or None]
    assert lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "sarif", "--format", "text"], "sarif and text would both go to standard output"),
        (["--format", "json", "--output", "-", "--format", "text"], "json and text would both go to standard output"),
        (["--output", "x", "--format", "sarif", "--format", "text"], "--output x stands before the --format"),
        (["--format", "sarif", "--output", "x", "--output", "y"], "--format sarif has two outputs, x and y"),
        (["--output", "x", "--output", "y"], "--output x stands before the --format"),
        (["--format", "sarif", "--output", "x", "--format", "json", "--output", "./x"], "have the same --output"),
        (["--format", "sarif", "--statistics"], "--statistics goes with --format text or json"),
        (["--unknowns", "--format", "sarif"], "--unknowns has one format, text or json"),
        (["--format", "json", "--output", "no/such/x", "--format", "text"], "cannot write no/such/x"),
    ],
)
def test_what_cannot_be_shown_is_told_and_nothing_written(tree, bug, arguments, message, monkeypatch, capsys):
    root = tree({"a.py": bug})
    monkeypatch.chdir(root)
    with pytest.raises((click.UsageError, RacelintError), match=re.escape(message)):  # both exit with 2
        cli.main(["check", *arguments], standalone_mode=False)
    assert capsys.readouterr().out == ""
    assert [path.name for path in root.iterdir()] == ["a.py"]


def test_a_single_pair_stands_in_any_order():
    assert pair((), (), ()) == (Target("text", None),)
    assert pair(("json",), (), ["formats"]) == (Target("json", None),)
    with pytest.raises(click.UsageError):
        pair(("json", "text"), (), ["formats", "formats"])


def test_options_do_not_depend_on_who_calls(tmp_path, monkeypatch, capsys):
    """The order of options is the command line's own, not the process's."""
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        arguments = ["check", "--format", "sarif", "--output", "a.sarif", "--format", "json"]
        assert cli.main(arguments, standalone_mode=False) == 0
        assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_server_sees_paths_from_the_root_of_its_checkout(racelint, tree, bug, monkeypatch):
    root = tree({"sub/a.py": bug})
    env = {"GITHUB_WORKSPACE": str(root), "CI_PROJECT_DIR": str(root)}
    assert ",title" in racelint("check", "--format", "github", cwd=root / "sub", env=env).stdout
    assert racelint("check", "--format", "github", cwd=root / "sub", env=env).stdout.startswith(
        "::error file=sub/a.py,"
    )
    (issue,) = json.loads(racelint("check", "--format", "gitlab", cwd=root / "sub", env=env).stdout)
    assert issue["location"]["path"] == "sub/a.py"
    assert racelint("check", cwd=root / "sub", env=env).stdout.startswith("a.py:3")
    monkeypatch.setenv("GITHUB_WORKSPACE", "/somewhere/else")
    monkeypatch.chdir(root)
    assert outputs.base_of("sarif") == root.as_posix()
