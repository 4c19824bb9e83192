"""What the configuration says of rules, and the schema that says what a configuration may say."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files

import jsonschema
import pytest

from racelint import plugins
from racelint.config import KEYS, ConfigError, Layer, Origin, load
from racelint.finding import Confidence, Finding, Location, Severity, Span
from racelint.policy import Policy, rules_of

SCHEMA = json.loads(files("racelint").joinpath("config.schema.json").read_text("utf-8"))
EXAMPLE = """\
exclude = ["gen/"]
select = ["unlocked-shared-write", "inconsistent-lock"]
ignore = ["bad-annotation"]
min-severity = "note"
min-confidence = "high"
fail-on = "never"
packs = ["mine.py"]
knowledge = ["more.toml"]
tests = true
require-reason = true
baseline = "racelint-baseline.jsonl"
python-memory-model = "free-threaded"

[per-file-ignores]
"legacy/" = ["unlocked-shared-write"]

[severity]
unlocked-shared-write = "error"
inconsistent-lock = "off"
"""
PACKS = plugins.load()


def settings(tmp_path, text: str, *above: Layer):
    (tmp_path / "racelint.toml").write_text(text)
    return load([str(tmp_path)], trust_packs=True, above=above)


def finding(path: str, severity: Severity = Severity.WARNING, rule: str = "unlocked-shared-write") -> Finding:
    return Finding(rule, severity, Confidence.HIGH, Location(path, Span(1, 1, 1, 2)), "message", "x", "f")


def test_the_schema_has_the_keys_of_the_loader():
    assert set(SCHEMA["properties"]) == set(KEYS)
    assert set(tomllib.loads(EXAMPLE)) == set(KEYS)


def test_the_schema_is_a_schema_and_takes_the_example(tmp_path):
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(tomllib.loads(EXAMPLE), SCHEMA)
    assert settings(tmp_path, EXAMPLE)


@pytest.mark.parametrize(
    "text",
    [
        "exlude = []",
        "exclude = 'x'",
        "select = [1]",
        "min-severity = 'off'",
        "min-confidence = 'sure'",
        "fail-on = 'always'",
        "packs = 'x'",
        "tests = 1",
        "require-reason = 'yes'",
        "baseline = ['x']",
        "baseline = ''",
        "python-memory-model = 'jit'",
        "per-file-ignores = []",
        "per-file-ignores = {'a' = 'x'}",
        "severity = {a = 'fatal'}",
        "severity = 'error'",
        "severity = {a = ['error']}",
    ],
)
def test_schema_and_loader_refuse_the_same(tmp_path, text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), SCHEMA)
    with pytest.raises(ConfigError, match=r"racelint\.toml"):
        settings(tmp_path, text)


def test_the_defaults_of_the_schema_are_those_of_the_loader(tmp_path):
    known = {key: value["default"] for key, value in SCHEMA["properties"].items() if "default" in value}
    lines = [f"{key} = {json.dumps(value)}" for key, value in known.items() if value != {}]
    said = settings(tmp_path, "\n".join(lines))
    plain = settings(tmp_path, "")
    assert said.exclude[0].patterns == ()
    for key in known:
        if key != "exclude":
            assert getattr(said, key.replace("-", "_")) == getattr(plain, key.replace("-", "_"))
    assert set(KEYS) - set(known) == {"baseline"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "select = ['unlocked-shared-wite']",
            r"racelint\.toml: select: unknown rule .*; did you mean unl",
        ),
        ("ignore = ['x']", r"racelint\.toml: ignore: unknown rule 'x'"),
        (
            "severity = {inconsistent-locks = 'off'}",
            r"severity: unknown rule .*; did you mean inco",
        ),
        (
            "per-file-ignores = {'a/' = ['bad-anotation']}",
            r"-ignores\.'a/': unknown rule .*; did you mean bad",
        ),
    ],
)
def test_unknown_rules_are_told_with_their_place(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        rules_of(settings(tmp_path, text), PACKS)


def names(tmp_path, text: str, **said: tuple[str, ...]) -> set[str]:
    return {rule.name for rule in rules_of(settings(tmp_path, text, Layer(Origin("command line"), said)), PACKS)}


def test_rules_that_are_off_do_not_run(tmp_path):
    every = names(tmp_path, "")
    assert names(tmp_path, "severity = {bad-annotation = 'off'}") == every - {"bad-annotation"}
    assert names(tmp_path, "ignore = ['bad-annotation']") == every - {"bad-annotation"}
    assert names(tmp_path, "ignore = ['bad-annotation']", ignore=("inconsistent-lock",)) == every - {
        "bad-annotation",
        "inconsistent-lock",
    }


def test_the_command_line_gets_the_rule_it_asks_for(tmp_path):
    text = "ignore = ['bad-annotation']\nseverity = {bad-annotation = 'off'}"
    assert names(tmp_path, text, select=("bad-annotation",)) == {"bad-annotation"}
    assert names(tmp_path, text, select=("bad-annotation",), ignore=("bad-annotation",)) == set()


def test_severities(tmp_path):
    policy = Policy(settings(tmp_path, "severity = {unlocked-shared-write = 'error'}"))
    levels = [policy.judged(finding("/a.py", severity)).severity for severity in Severity]
    assert levels == [Severity.NOTE, Severity.ERROR, Severity.ERROR]
    assert policy.judged(finding("/a.py", rule="inconsistent-lock")).severity == Severity.WARNING


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("legacy/", "legacy/a.py", True),
        ("legacy/", "src/legacy/deep/a.py", True),
        ("/legacy/", "src/legacy/a.py", False),
        ("*_pb2.py", "src/a_pb2.py", True),
        ("src/**/old.py", "src/x/y/old.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("legacy", "legacy.py", False),
    ],
)
def test_patterns_are_those_of_a_gitignore(tmp_path, pattern, path, ignored):
    policy = Policy(settings(tmp_path, f"per-file-ignores = {{'{pattern}' = ['unlocked-shared-write']}}"))
    assert policy.ignores(finding(f"{tmp_path.as_posix()}/{path}")) == ignored
    assert not policy.ignores(finding(f"{tmp_path.as_posix()}/{path}", rule="inconsistent-lock"))
    assert not policy.ignores(finding(f"/elsewhere/{path}"))
