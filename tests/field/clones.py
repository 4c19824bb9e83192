"""Real repositories at pinned commits: where their history is, and their sources without their settings."""

from __future__ import annotations

import argparse
import functools
import io
import json
import os
import pathlib
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
SUFFIXES = {"python": (".py",), "go": (".go", "go.mod")}


class CloneError(Exception):
    """A repository or commit that cannot be had; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Repository:
    """One pinned repository; `paths` are the folders of product code, all of it if there are none."""

    name: str
    commit: str
    language: str
    paths: tuple[str, ...] = ()
    primer: bool = False


@dataclass(frozen=True, slots=True)
class Clones:
    """Where histories are looked for: in `folder` if given, else in `cache`, which is filled from `remote`."""

    folder: pathlib.Path | None
    cache: pathlib.Path
    remote: str

    def holding(self, repository: str, commit: str) -> pathlib.Path:
        """Return a git directory that has `commit`, fetching that one commit if no clone has it."""
        found = clone_of(self.folder, repository) if self.folder else None
        if found and has_commit(found, commit):
            return found
        cached = self.cache / f"{repository}.git"
        if not has_commit(cached, commit):
            fetch(cached, f"{self.remote.rstrip('/')}/{repository}", commit)
        return cached


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which repositories and where they are."""
    listed = HERE / "repositories.json"
    group = parser.add_argument_group("repositories")
    group.add_argument("--repositories", type=pathlib.Path, default=listed, metavar="FILE", help="the pinned ones")
    group.add_argument("--only", default="", metavar="REGEX", help="those whose name matches")
    add_places(parser)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where histories are."""
    kept = pathlib.Path.home() / ".cache" / "racelint-field"
    group = parser.add_argument_group("clones")
    group.add_argument("--clones", type=pathlib.Path, metavar="DIR", help="existing clones, as DIR/owner/name or alike")
    group.add_argument(
        "--remote", default="https://github.com", metavar="URL", help="where the others are fetched from"
    )
    group.add_argument("--cache", type=pathlib.Path, default=kept, metavar="DIR", help="where they are kept")


def from_options(options: argparse.Namespace) -> Clones:
    """Return the clones that the options of `add_places` speak of."""
    return Clones(options.clones, options.cache, options.remote)


def pinned(path: pathlib.Path, only: str = "") -> list[Repository]:
    """Read the pinned repositories whose name matches `only`, in the order of the file."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    every = [Repository(**(row | {"paths": tuple(row.get("paths", ()))})) for row in rows]
    return [repository for repository in every if re.search(only, repository.name)]


def clone_of(folder: pathlib.Path, repository: str) -> pathlib.Path | None:
    """Return the git directory of `repository` under `folder`, in any of the usual layouts."""
    owner, name = repository.split("/")
    for layout in (f"{owner}+{name}/repo", f"{owner}/{name}", f"{owner}/{name}.git", name, f"{name}.git"):
        path = folder / layout
        if path.is_dir():
            return path / ".git" if (path / ".git").exists() else path
    return None


def has_commit(git_dir: pathlib.Path, commit: str) -> bool:
    """Tell whether the git directory exists and holds `commit`."""
    return git_dir.exists() and git(git_dir, "cat-file", "-e", f"{commit}^{{commit}}").returncode == 0


def fetch(git_dir: pathlib.Path, url: str, commit: str) -> None:
    """Bring `commit` alone into a bare repository; servers that refuse that are asked for all branches."""
    git_dir.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "--bare", str(git_dir)], check=True, capture_output=True)
    if git(git_dir, "fetch", "--quiet", "--depth=1", url, commit).returncode == 0:
        return
    done = git(git_dir, "fetch", "--quiet", "--tags", url, "+refs/heads/*:refs/heads/*")
    if not has_commit(git_dir, commit):
        raise CloneError(f"{url} has no commit {commit}: {text(done.stderr)}")


def export(
    git_dir: pathlib.Path,
    commit: str,
    target: pathlib.Path,
    language: str,
    paths: Iterable[str] = (),
    base: str = "",
    missing: list[str] | None = None,
) -> int:
    """Write the sources of `commit` under `target`; return the lines of product code among them.

    Nothing but sources is written: the repository's own settings and ignore files are not what is measured.
    `base` is a folder, with its slash, that is taken for the whole repository: a vendored copy, for one.
    A source that the clone lacks is an error, or added to `missing`: some clones are made without large files.
    """
    files = list(sources(git_dir, commit, language, paths, base))
    lines = 0
    for name, data in contents(git_dir, commit, files, missing):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        lines += 0 if is_test(name) else data.count(b"\n")
    return lines


def sources(
    git_dir: pathlib.Path, commit: str, language: str, paths: Iterable[str] = (), base: str = ""
) -> Iterator[tuple[str, str]]:
    """The names below `base` and object names of source files below `paths`, every one of which must be there."""
    for root in paths or ("",):
        done = git(git_dir, "ls-tree", "-r", "-z", commit, *(["--", root] if root else []))
        if done.returncode or not done.stdout:
            raise CloneError(f"cannot export {root} of {commit} from {git_dir}: {text(done.stderr) or 'nothing there'}")
        for line in done.stdout.decode("utf-8", errors="replace").split("\0")[:-1]:
            about, _, name = line.partition("\t")
            mode, _, sha = about.split(" ")
            below = name.removeprefix(base)
            if name.startswith(base) and wanted(below, mode, language):
                yield below, sha


def contents(
    git_dir: pathlib.Path, commit: str, files: list[tuple[str, str]], missing: list[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """What stands in files; others are never read, for a clone may lack the large ones."""
    request = "".join(f"{sha}\n" for _, sha in files).encode()
    output = io.BytesIO(git(git_dir, "cat-file", "--batch", given=request).stdout)
    for name, _ in files:
        header = output.readline().split()  # name, kind, size
        if len(header) != 3:
            if missing is None:
                raise CloneError(f"cannot export {commit} from {git_dir}: {name} is missing")
            missing.append(name)
            continue
        yield name, output.read(int(header[2]))
        output.read(1)


def wanted(name: str, mode: str, language: str) -> bool:
    """Tell whether an entry is a plain source file whose name stays inside the target."""
    path = pathlib.PurePosixPath(name)
    inside = not path.is_absolute() and ".." not in path.parts
    vendored = language == "go" and "vendor" in path.parts
    return mode.startswith("100") and inside and not vendored and name.endswith(SUFFIXES[language])


def is_test(name: str) -> bool:
    """Tell whether a path is test code, which racelint reads but does not report on."""
    path = pathlib.PurePosixPath(name)
    return (
        bool({"test", "tests"} & set(path.parts[:-1]))
        or path.name == "conftest.py"
        or path.name.startswith("test_")
        or path.name.endswith("_test.go")
    )


@functools.lru_cache(maxsize=64)
def source(git_dir: pathlib.Path, commit: str, path: str) -> tuple[str, ...]:
    """Return the lines of one file at `commit`."""
    done = git(git_dir, "show", f"{commit}:{path}")
    if done.returncode:
        raise CloneError(f"cannot read {path} at {commit}: {text(done.stderr)}")
    return tuple(done.stdout.decode("utf-8", errors="replace").split("\n"))  # not splitlines: form feeds end no line


def git(git_dir: pathlib.Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run git on a git directory and return what it said; the caller looks at the status."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}  # a repository that is gone must not ask for a password
    command = ["git", "--git-dir", str(git_dir), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=False, env=quiet)


def text(data: bytes) -> str:
    """Decode a message of git."""
    return data.decode("utf-8", errors="replace").strip()
