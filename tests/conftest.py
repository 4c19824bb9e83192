"""Fixtures for tests that run the command line: isolated from the user's own cache and settings."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

BUG = """\
def close_all(sessions: dict) -> None:
    for name in sessions:
        del sessions[name]
"""

PACK = '''\
from racelint.api import Confidence, Finding, Location, Severity, rule


@rule(languages=("python",), since="0.1")
def shouting_function(program):
    """A function whose name is in capitals.

    Names in capitals are constants.
    """
    for source in program.sources:
        for function in source.module.functions.values():
            if function.name.isupper():
                location = Location(source.path, function.span)
                message = f"{function.name} shouts"
                yield Finding(
                    "shouting-function", Severity.WARNING, Confidence.HIGH, location, message, function.name,
                    function.qualname,
                )


RULES = (shouting_function,)
'''

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "RACELINT_CACHE_DIR", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home / name.lower()))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def racelint(tmp_path: Path) -> Run:
    """Run the command line in `tmp_path` (or `cwd`); `env` adds to the environment."""

    def run(
        *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "racelint", *map(str, arguments)],
            cwd=cwd or tmp_path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return run


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Like `racelint`, but in the process of the tests: much faster where many runs are compared."""
    from racelint import cli

    def run(
        *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(cwd or tmp_path)
            patch.setattr(sys, "argv", ["racelint", *map(str, arguments)])
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            status = cli._status()
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(sys.argv, status, out, err)

    return run


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write files below `tmp_path`, by their paths."""

    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text), "utf-8")
        return tmp_path

    return write


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run git in `tmp_path`, away from the configuration of this machine."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{role}_NAME": "x", f"GIT_{role}_EMAIL": "x@example.org"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True, encoding="utf-8")
        return done.stdout

    return run


@pytest.fixture
def bug() -> str:
    """A program with one finding, on its third line."""
    return BUG


@pytest.fixture
def pack() -> str:
    """A rule pack with one rule, `shouting-function`."""
    return PACK
