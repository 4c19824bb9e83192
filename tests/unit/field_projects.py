"""Tiny repositories and cases, and a racelint that reports each line with a mark, to try the field tools on."""

from __future__ import annotations

import pathlib
import subprocess
from typing import Any

import cases
import runs

FIELD = pathlib.Path(__file__).resolve().parents[1] / "field"

RULE = "unlocked-shared-write"

FAKE = """
import json, pathlib, sys
ACCESS = {"kind": "store", "function": "f", "locks": ["L"], "context": {"kind": "thread", "started_at": None},
          "trace": [{"path": "a.py", "line": 1, "function": "g"}]}
def main():
    arguments = sys.argv[1:]
    least = arguments[arguments.index("--min-severity") + 1] if "--min-severity" in arguments else "warning"
    findings, errors = [], []
    for path in sorted(pathlib.Path(".").rglob("*.py"), reverse=True):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "CRASH" in line:
                sys.exit("boom")
            if "SYNTAX" in line:
                errors.append({"path": path.as_posix()})
            severity = "note" if "NOTE" in line else SEVERITY
            if MARK in line and not (severity == "note" and least != "note"):
                name = line.split()[-1]
                place = {"path": path.as_posix(), "line": number, "column": 1}
                findings.append(place | {
                    "rule": RULE, "severity": severity, "confidence": "high", "message": name + " is shared",
                    "symbol": name, "function": "f", "accesses": [ACCESS | place, ACCESS | place | {"path": "gone.py"}],
                    "fingerprint": path.as_posix() + name})
    print(json.dumps({"version": 1, "findings": findings, "summary": {}, "errors": errors}))
    sys.exit(2 if any(row["symbol"] == "broken-rule" for row in findings) else 1 if findings else 0)
"""


def git(folder: pathlib.Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: pathlib.Path, files: dict[str, str]) -> str:
    """Write files, commit everything in the folder and return the commit."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def engine(mark: str, severity: str = "error", rule: str = "shared-thing") -> dict[str, str]:
    """Return the files of a racelint that reports lines with `mark`."""
    return {
        "linter/racelint/__init__.py": "",
        "linter/racelint/cli.py": f"MARK, SEVERITY, RULE = {mark!r}, {severity!r}, {rule!r}\n{FAKE}",
        "rules/racelint_rules/__init__.py": "",
    }


def row(**changes: Any) -> dict[str, Any]:
    """Return an entry of a manifest."""
    return {
        "id": "a-bug", "lang": "python", "repo": "owner/name", "buggy": "a" * 40, "fixed": "b" * 40, "files": ["a.py"],
        "pattern": "shared-write", "symbol": "Store._items", "lines_buggy": [10], "scope": "class",
        "concurrency": "thread", "spawn": "thread", "how_fixed": "lock", "evidence": "#1",
        "why": "the reader and the writer hold no common lock",
    } | changes  # fmt: skip


def case(**changes: Any) -> cases.Case:
    return cases.case_of(row(**changes))


def reported(path: str = "a.py", line: int = 1, /, *accesses: tuple[str, int], **changes: Any) -> runs.Found:
    """Return a finding, with its accesses as path and line."""
    values = {
        "rule": RULE, "symbol": "Store.other", "severity": "error", "confidence": "high", "message": "shared",
        "fingerprint": "1", "function": "Store.read",
        "accesses": [{"path": p, "line": n, "kind": "store", "function": "f"} for p, n in accesses],
    }  # fmt: skip
    return runs.Found.of({"path": path, "line": line} | values | changes)
