"""The configuration as a user meets it: `racelint config`, rules per file, severities."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest


@pytest.fixture
def racelint(inside):
    """Many runs, in one process."""
    return inside


BUG = "def close_all(sessions: dict) -> None:\n    for name in sessions:\n        del sessions[name]\n"
RULE = "mutated-while-iterating"


def test_where_each_value_comes_from(racelint, tree):
    root = tree(
        {
            "home/racelint/racelint.toml": f'exclude = ["mine/"]\nfail-on = "error"\n[severity]\n{RULE} = "note"\n',
            "app/pyproject.toml": f"""\
                [tool.racelint]
                exclude = ["gen/"]
                ignore = ["bad-annotation"]
                baseline = "known.jsonl"

                [tool.racelint.per-file-ignores]
                "legacy/" = ["inconsistent-lock"]

                [tool.racelint.severity]
                {RULE} = "warning"
                """,
            "app/src/a.py": "",
        }
    )
    env = {"XDG_CONFIG_HOME": str(root / "home")}
    arguments = ("config", "src/a.py", "--ignore", "inconsistent-lock", "--min-severity", "error")
    done = racelint(*arguments, "--format", "json", env=env, cwd=root / "app")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)

    def origins(key: str) -> list[tuple[str, str | None, object]]:
        return [(part["origin"], part["key"], part["value"]) for part in told[key]["from"]]

    assert origins("exclude") == [("user", "exclude", ["mine/"]), ("project", "tool.racelint.exclude", ["gen/"])]
    assert told["exclude"]["from"][1]["file"] == "pyproject.toml"
    assert told["ignore"]["value"] == ["bad-annotation", "inconsistent-lock"]
    assert origins("ignore")[1] == ("command line", None, ["inconsistent-lock"])
    assert origins("min-severity") == [("command line", None, "error")]
    assert origins("fail-on") == [("user", "fail-on", "error")]
    assert origins("min-confidence") == [("default", None, "medium")]
    assert origins("baseline") == [("project", "tool.racelint.baseline", "known.jsonl")]
    assert told["severity"]["value"] == {RULE: "warning"}
    text = racelint(*arguments, env=env, cwd=root / "app").stdout
    assert tomllib.loads(text) == {key: setting["value"] for key, setting in told.items()}
    assert '    "gen/",  # project: pyproject.toml: tool.racelint.exclude\n' in text
    assert 'min-confidence = "medium"  # default\n' in text
    assert 'min-severity = "error"  # command line\n' in text


def test_the_defaults_are_a_configuration_too(racelint, tree):
    root = tree({".git/HEAD": ""})
    text = racelint("config").stdout
    assert "select = []  # default: all rules\n" in text
    assert "# baseline is not set\n" in text
    (root / "racelint.toml").write_text(text)
    assert racelint("check").returncode == 0


def test_the_schema_is_printed(racelint):
    done = racelint("config", "--schema")
    assert json.loads(done.stdout)["title"] == "racelint configuration"


@pytest.mark.parametrize("command", ["check", "config", "baseline"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("per-file-ignore = {}", "unknown key 'per-file-ignore'; did you mean per-file-ignores"),
        (f"severity = {{{RULE}s = 'off'}}", f"unknown rule '{RULE}s'; did you mean {RULE}"),
        ("severity = {x = 'fatal'}", "must be one of note, warning, error or off, not 'fatal'"),
    ],
)
def test_a_bad_configuration_ends_every_command(racelint, tree, command, text, message):
    tree({"racelint.toml": text, "a.py": ""})
    done = racelint(command)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("text", "status", "counts"),
    [
        (f"severity = {{{RULE} = 'off'}}", 0, (0, 0, 0)),
        (f"severity = {{{RULE} = 'note'}}", 0, (0, 1, 0)),
        (f"severity = {{{RULE} = 'warning'}}\nfail-on = 'error'", 0, (1, 0, 0)),
        (f"severity = {{{RULE} = 'warning'}}", 1, (1, 0, 0)),
        (f"per-file-ignores = {{'src/' = ['{RULE}']}}", 0, (0, 0, 1)),
        (f"per-file-ignores = {{'lib/' = ['{RULE}']}}", 1, (1, 0, 0)),
    ],
)
def test_hidden_counts_stay_right(racelint, tree, text, status, counts):
    tree({"racelint.toml": text, "src/a.py": BUG})
    done = racelint("check", "--format", "json")
    summary = json.loads(done.stdout)["summary"]
    assert done.returncode == status
    assert (summary["findings"], summary["hidden"], summary["suppressed"]) == counts
    last = racelint("check").stdout.splitlines()[-1]
    assert ("; 1 hidden;" in last, "; 1 suppressed;" in last) == (bool(counts[1]), bool(counts[2]))


def test_a_comment_for_a_rule_that_does_not_count_there_is_not_judged(racelint, tree):
    marked = BUG.replace("[name]\n", f"[name]  # racelint: ignore[{RULE}] why\n")
    tree({"racelint.toml": f"per-file-ignores = {{'src/' = ['{RULE}']}}", "src/a.py": marked})
    assert racelint("check").returncode == 0


def test_explain_knows_of_it(racelint, tree):
    tree({"racelint.toml": f"per-file-ignores = {{'src/' = ['{RULE}']}}", "src/a.py": BUG, "b.py": BUG})
    assert "silenced" in racelint("explain", "src/a.py:3").stdout
    assert "silenced" not in racelint("explain", "b.py:3").stdout


def test_no_path_of_the_machine_in_what_is_shown(racelint, tree):
    root = tree({"racelint.toml": 'knowledge = ["more.toml"]\n', "more.toml": ""})
    assert Path(root).as_posix() not in racelint("config").stdout
