"""The GitHub Action's own scripts, run as the runner runs them, with a racelint that writes down how it was called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ACTION = Path(__file__).resolve().parents[2] / "action.yml"
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]

RECORDER = f"""\
#!{sys.executable}
import json, os, sys
json.dump(sys.argv[1:], open(os.environ["RECORD"], "w"))
sys.exit(int(os.environ["STATUS"]))
"""


def steps():
    yaml = pytest.importorskip("yaml", reason="pre-commit, a development dependency, brings it")
    return {step["name"]: step for step in yaml.safe_load(ACTION.read_text("utf-8"))["runs"]["steps"]}


def defaults():
    yaml = pytest.importorskip("yaml")
    return {name: each["default"] for name, each in yaml.safe_load(ACTION.read_text("utf-8"))["inputs"].items()}


@pytest.fixture
def runner(tmp_path):
    """Run the step that checks: inputs as GitHub has them, the status that racelint ends with; what came of it."""
    recorder = tmp_path / "racelint"
    recorder.write_text(RECORDER, "utf-8")
    recorder.chmod(0o755)
    step = steps()["Run racelint"]

    def run(status=0, **inputs):
        values = {**defaults(), **inputs}
        env = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values[m[1]], text)
               for name, text in step["env"].items()}  # fmt: skip
        env |= {"BIN": str(tmp_path), "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output")}
        env |= {"RECORD": str(tmp_path / "record"), "STATUS": str(status), "PATH": os.environ["PATH"]}
        script = tmp_path / "step.sh"
        script.write_text(step["run"], "utf-8")
        done = subprocess.run([*BASH, script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        arguments = json.loads((tmp_path / "record").read_text("utf-8"))
        output = tmp_path / "output"
        return done, arguments, output.read_text("utf-8") if output.exists() else ""

    return run


def test_no_script_contains_an_input():
    for step in steps().values():
        assert "${{" not in step.get("run", "")


def test_by_default_the_whole_repository_is_checked(runner, tmp_path):
    done, arguments, output = runner()
    sarif = f"{tmp_path}/racelint.sarif"
    assert arguments == ["check", "--format", "sarif", "--output", sarif, "--format", "github", "--", "."]
    assert done.returncode == 0
    assert output == f"status=0\nsarif={sarif}\n"


def test_options_and_paths(runner):
    _, arguments, _ = runner(paths="src dir\nother\n", args="--min-severity error\n--jobs 2", diff="abc123")
    assert arguments[6:] == ["github", "--diff=abc123", "--min-severity", "error", "--jobs", "2", "--",
                             "src dir", "other"]  # fmt: skip


def test_inputs_are_no_code(runner, tmp_path):
    evil = "$(touch pwned) `touch pwned` ; touch pwned * ~ \"'"
    _, arguments, _ = runner(paths=evil, args="$(touch${IFS}pwned) *", diff="$(touch pwned)")
    assert arguments[7:] == ["--diff=$(touch pwned)", "$(touch${IFS}pwned)", "*", "--", evil]
    assert not (tmp_path / "pwned").exists()


def test_findings_are_an_output_and_failures_end_the_step(runner):
    done, _, output = runner(status=1)
    assert done.returncode == 0
    assert output.startswith("status=1\n")
    done, _, output = runner(status=2)
    assert done.returncode == 2


def test_the_last_step_has_the_status_of_the_check():
    script = steps()["Fail if there are findings"]["run"]
    for status in (0, 1):
        done = subprocess.run([*BASH, "-c", script], env={"STATUS": str(status)}, check=False)
        assert done.returncode == status
