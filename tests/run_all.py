"""Runs every check of this repository, each in turn, and fails if any of them does: `python tests/run_all.py`."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
    ("pytest",),
)


def main() -> int:
    failed = [" ".join(check) for check in CHECKS if not passes(check)]
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall checks passed", flush=True)
    return 1 if failed else 0


def passes(check: tuple[str, ...]) -> bool:
    print(f"\n$ {' '.join(check)}", flush=True)
    tool = Path(sysconfig.get_path("scripts"), check[0])  # of this interpreter's environment, whatever PATH says
    return subprocess.run([str(tool), *check[1:]], cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
