"""Settings: where they come from, what they may say, who may name code to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from racelint import config
from racelint.config import ConfigError, Settings, find, load
from racelint.finding import Confidence, Severity


def test_defaults(tmp_path):
    (tmp_path / ".git").mkdir()
    assert load([str(tmp_path)]) == Settings()


def test_every_key(tree, tmp_path):
    tree(
        {
            "racelint.toml": """\
                exclude = ["gen/"]
                select = ["a"]
                ignore = ["b"]
                min-severity = "note"
                min-confidence = "high"
                fail-on = "never"
                knowledge = ["more.toml"]
                tests = true
                """
        }
    )
    assert load([str(tmp_path)]) == Settings(
        exclude=(config.Exclude(tmp_path.as_posix(), ("gen/",)),),
        select=("a",),
        ignore=("b",),
        min_severity=Severity.NOTE,
        min_confidence=Confidence.HIGH,
        fail_on=None,
        knowledge=(tmp_path / "more.toml",),
        tests=True,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exlude = []", r"unknown key 'exlude'; did you mean exclude"),
        ("exclude = 'a'", "'exclude' must be a list of strings"),
        ("select = [1]", "'select' must be a list of strings"),
        ("min-severity = 'fatal'", "'min-severity' must be one of note, warning, error"),
        ("min-confidence = 3", "'min-confidence' must be one of low, medium, high"),
        ("tests = 'yes'", "'tests' must be true or false"),
        ("tests = ", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_file(tmp_path, text, message):
    (tmp_path / "racelint.toml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load([str(tmp_path)])
    assert str(tmp_path / "racelint.toml") in str(caught.value)


def test_the_nearest_file_above_all_paths_counts(tree, tmp_path):
    tree(
        {
            "racelint.toml": "",
            "a/pyproject.toml": "[tool.other]\n",
            "a/b/pyproject.toml": "[tool.racelint]\n",
            "a/b/c/x.py": "",
        }
    )
    assert find([str(tmp_path / "a" / "b" / "c" / "x.py")]) == tmp_path / "a" / "b" / "pyproject.toml"
    assert find([str(tmp_path / "a")]) == tmp_path / "racelint.toml"
    assert find([str(tmp_path / "a" / "b"), str(tmp_path / "a")]) == tmp_path / "racelint.toml"


def test_racelint_toml_wins_over_pyproject(tree, tmp_path):
    tree({"racelint.toml": "", "pyproject.toml": "[tool.racelint]\n"})
    assert find([str(tmp_path)]) == tmp_path / "racelint.toml"


def test_the_search_ends_at_the_repository(tree, tmp_path):
    tree({"racelint.toml": "tests = true", "repo/.git/HEAD": "", "repo/a.py": ""})
    assert find([str(tmp_path / "repo" / "a.py")]) is None


def test_the_users_own_settings_stand_below_the_projects(tree, tmp_path, monkeypatch):
    own = tmp_path / "own" / "racelint.toml"
    monkeypatch.setattr(config, "user_file", lambda: own)
    tree(
        {
            "own/racelint.toml": 'packs = ["mine.py"]\nmin-severity = "error"\ntests = true\nexclude = ["x/"]\n',
            "project/racelint.toml": 'min-severity = "note"\nexclude = ["y/"]\n',
        }
    )
    settings = load([str(tmp_path / "project")])
    assert settings.packs == (tmp_path / "own" / "mine.py",)
    assert (settings.min_severity, settings.tests) == (Severity.NOTE, True)
    assert [(base, patterns) for base, patterns in settings.exclude] == [
        (Path(tmp_path.anchor).as_posix(), ("x/",)),
        ((tmp_path / "project").as_posix(), ("y/",)),
    ]


def test_only_a_trusted_configuration_names_packs(tree, tmp_path):
    tree({"racelint.toml": 'packs = ["evil.py"]\n'})
    with pytest.raises(ConfigError, match="--trust-packs"):
        load([str(tmp_path)])
    assert load([str(tmp_path)], trust_packs=True).packs == (tmp_path / "evil.py",)
    assert load(["."], tmp_path / "racelint.toml").packs == (tmp_path / "evil.py",)


def test_an_explicit_pyproject_is_read_by_its_table(tree, tmp_path):
    tree({"pyproject.toml": "[project]\nname = 'x'\n[tool.racelint]\ntests = true\n"})
    assert load(["."], tmp_path / "pyproject.toml").tests
