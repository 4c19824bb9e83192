"""Shows racelint a bug that was released and later mended: `python tests/field/historical_bug.py`.

Downloads pika 1.4.0 from the package index without installing it (`Channel.close()` loops over its consumers and calls
`basic_cancel()`, which takes them out of the dict; mended in 1.4.1, pika/pika#1596). Where there is no network it shows
the project's own fixtures instead. Exits 0 if racelint reports what it should.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "pika==1.4.0"
BUG = "pika/channel.py:609"
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "mutated-while-iterating" / "cross_object"
FIXTURE_BUG = "expiry.py:22"


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        source = download(Path(scratch))
        if source is None:
            print(f"{PACKAGE} could not be downloaded: showing a fixture instead\n", flush=True)
        expected = FIXTURE_BUG if source is None else BUG
        report = check(source or FIXTURES)
    print(report)
    return 0 if expected in report else 1


def download(folder: Path) -> Path | None:
    """The package's sources, unpacked; None where the package index cannot be reached."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), PACKAGE]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return None
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder / "source")
    return folder / "source"


def check(path: Path) -> str:
    """racelint's text report; paths in it are relative to the analysed folder."""
    racelint = Path(sysconfig.get_path("scripts"), "racelint")
    return subprocess.run([str(racelint), "check", "."], cwd=path, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    sys.exit(main())
