"""One revision of racelint, taken out of this repository and run on a tree."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ROOTS = ("linter", "rules")
ENTRY = "from racelint.cli import main; main()"
SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")


# The first releases of Python 3.11 have no filters; what is unpacked is a commit of our own repository.
CAREFULLY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
DEFAULT_LEVEL = ("warning", "medium")  # what racelint shows when it is not asked for more


class Graded(Protocol):
    """Anything with a severity and a confidence."""

    @property
    def severity(self) -> str:
        """One of SEVERITIES."""

    @property
    def confidence(self) -> str:
        """One of CONFIDENCES."""


class RunError(Exception):
    """A revision of racelint that cannot be had or cannot do its work."""


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """One finding of racelint's JSON report: what the field tools need of it."""

    path: str
    line: int
    rule: str
    symbol: str
    severity: str
    confidence: str
    message: str
    fingerprint: str
    raw: dict[str, Any] = field(compare=False, repr=False)  # all of it, as racelint writes it

    @classmethod
    def of(cls, row: dict[str, Any]) -> Found:
        """Build one from an entry of `findings`."""
        return cls(raw=row, **{each.name: row[each.name] for each in fields(cls) if each.name != "raw"})

    @property
    def where(self) -> str:
        """The place as `path:line`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Report:
    """What one run found in one tree, and how long it took (seconds, one process)."""

    findings: tuple[Found, ...] = ()
    errors: int = 0
    seconds: float = 0.0
    lines: int = 0  # of product code; 0 if nobody counted
    racelint: str = ""  # what ran, as `identity` names it; empty if nobody wrote it down

    def dump(self) -> dict[str, Any]:
        """Return the report as plain JSON data; `load_report` is the way back."""
        rows = [found.raw for found in self.findings]
        return {name: getattr(self, name) for name in ("racelint", "lines", "errors", "seconds")} | {"findings": rows}


@dataclass(frozen=True, slots=True)
class Engine:
    """A revision of racelint whose source roots stand under `root`; no root means one that finds nothing."""

    root: pathlib.Path | None
    options: tuple[str, ...] = ()
    timeout: float = 600
    identity: str = ""

    def check(self, tree: pathlib.Path) -> Report:
        """Run `racelint check` on a tree, in one process so that times can be compared."""
        if self.root is None:
            return Report()
        command = [sys.executable, "-c", ENTRY, "check", "--format", "json", "--no-cache", "--jobs", "1", *self.options]
        start = time.monotonic()
        done = self.run([*command, "."], tree)
        seconds = time.monotonic() - start
        try:
            # A traceback, too, ends Python with status 1: only a report tells that the run went well.
            report = parsed(done.stdout if done.returncode in (0, 1) else b"", seconds)
            return replace(report, racelint=self.identity)
        except RunError as error:
            said = done.stderr.decode(errors="replace").strip()[-600:]
            raise RunError(f"exit {done.returncode}, {error}: {said}") from error

    def run(
        self,
        command: list[str],
        tree: pathlib.Path,
        given: bytes | None = None,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in a tree with this revision in front of any other. Raises RunError if it takes too long."""
        if self.root is None:
            raise RunError("the empty revision runs nothing")
        env = {**self.environment(), **(environment or {})}
        try:
            return subprocess.run(
                command, cwd=tree, env=env, input=given, capture_output=True, check=False, timeout=self.timeout
            )
        except subprocess.TimeoutExpired as error:
            raise RunError(f"not done after {self.timeout:.0f} s") from error

    def environment(self) -> dict[str, str]:
        """Return the environment of a run."""
        assert self.root is not None
        roots = os.pathsep.join(str(self.root / name) for name in ROOTS)
        # `python -c` would import from the analysed tree first: its modules must not shadow ours, nor be executed.
        return {**os.environ, "PYTHONPATH": roots, "PYTHONSAFEPATH": "1", "PYTHONUTF8": "1"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how racelint is run."""
    group = parser.add_argument_group("runs")
    group.add_argument("--project", type=pathlib.Path, default=PROJECT, help="repository of racelint's own revisions")
    group.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="repositories at a time")
    group.add_argument("--timeout", type=float, default=600, help="seconds for one run")
    group.add_argument("--min-severity", choices=SEVERITIES, help="least severity looked at")
    group.add_argument("--min-confidence", choices=CONFIDENCES, help="least confidence looked at")


def level_options(severity: str | None, confidence: str | None) -> tuple[str, ...]:
    """Return racelint's options for the least severity and confidence; None leaves its default."""
    wishes = (("--min-severity", severity), ("--min-confidence", confidence))
    return tuple(word for name, value in wishes if value for word in (name, value))


def visible(item: Graded, severity: str | None = None, confidence: str | None = None) -> bool:
    """Tell whether a finding is at or above a level, by default the one that racelint shows."""
    return SEVERITIES.index(item.severity) >= SEVERITIES.index(severity or DEFAULT_LEVEL[0]) and (
        CONFIDENCES.index(item.confidence) >= CONFIDENCES.index(confidence or DEFAULT_LEVEL[1])
    )


def checkout(revision: str, target: pathlib.Path, options: argparse.Namespace, passed: tuple[str, ...]) -> Engine:
    """Put one revision under `target` (`.` is the working tree as it is now, `empty` one that finds nothing).

    `passed` are options for each of its runs.
    """
    if revision == "empty":
        return Engine(None)
    target.mkdir(parents=True)
    if revision == ".":
        for name in ROOTS:
            shutil.copytree(options.project / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        unpack(options.project, revision, target)
    engine = Engine(target, passed, options.timeout, identity(options.project, revision))
    prove(engine, target / "proof", revision)
    return engine


def identity(project: pathlib.Path, revision: str) -> str:
    """Name the sources of a revision: the last commit that changed them, and a digest of what is not committed yet.

    So reports stay those of the present racelint while other parts of the project are changed.
    """
    at = "HEAD" if revision == "." else revision
    commit = said_by_git(project, "log", "-1", "--abbrev=12", "--format=%h", at, "--", *ROOTS)
    if commit and (revision != "." or not said_by_git(project, "status", "--porcelain", "--", *ROOTS)):
        return commit
    digest = hashlib.sha256()
    for path in sorted(path for name in ROOTS for path in (project / name).rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(path.relative_to(project).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{commit}+{digest.hexdigest()[:8]}"


def said_by_git(project: pathlib.Path, *arguments: str) -> str:
    """Return what git says of the project, nothing if it is no repository."""
    done = subprocess.run(["git", "-C", str(project), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def unpack(project: pathlib.Path, revision: str, target: pathlib.Path) -> None:
    """Write racelint's source roots at `revision` under `target`."""
    command = ["git", "-C", str(project), "archive", "--format=tar", revision, "--", *ROOTS]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise RunError(f"no revision {revision}: {done.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, **CAREFULLY)


def prove(engine: Engine, tree: pathlib.Path, revision: str) -> None:
    """Run an engine on one line of code: it fails here rather than on each repository, and is compiled once."""
    tree.mkdir()
    (tree / "one.py").write_text("x = 1\n", encoding="utf-8")
    try:
        engine.check(tree)
    except RunError as error:
        raise RunError(f"racelint at {revision} does not run: {error}") from error


def parsed(output: bytes, seconds: float) -> Report:
    """Return racelint's JSON report as a `Report`."""
    try:
        data = json.loads(output)
        return load_report({"findings": data["findings"], "errors": len(data.get("errors", ())), "seconds": seconds})
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"no report as racelint writes it ({error!r})" if output else "no report") from error


def load_report(data: dict[str, Any]) -> Report:
    """Build a report from JSON data, its findings in order of place."""
    found = sorted(Found.of(row) for row in data["findings"])
    counted = data.get("lines", 0), data.get("racelint", "")  # reports of earlier days have neither
    return Report(tuple(found), data["errors"], data["seconds"], *counted)
