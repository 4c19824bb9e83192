"""Asks git what has changed, without letting the repository's own configuration run anything."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from racelint.changes import Changes, Hunk
from racelint.errors import RacelintError

# What an untrusted repository may have git run: a file system monitor, and filters for files of the working tree.
_SAFE = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_DIFF = (
    "diff", "--unified=0", "--inter-hunk-context=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames",
    "--text", "--no-relative", "--ignore-submodules", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_FORGOTTEN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",  # relative to another directory, in hooks
    "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF",
)  # fmt: skip
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class DiffError(RacelintError):
    """The changes cannot be found out."""


def changes_since(base: str, paths: Sequence[str], suffixes: Sequence[str]) -> Changes:
    """What the branch and the working tree have changed since they left `base`, as `git diff BASE...` means it.

    `paths` are those that are analysed, `suffixes` the files that count. Raises DiffError.
    """
    repository = _Repository(os.path.commonpath([_directory(path) for path in paths]))
    start = repository.fork_point(base)
    wanted = [f":(top,glob)**/*{suffix}" for suffix in suffixes]
    wanted += [f":(top,literal){repository.relative(path)}" for path in paths if os.path.isfile(path)]
    told = repository.ask(*_DIFF, start, "--", *wanted)
    untracked = repository.ask("ls-files", "--others", "--exclude-standard", "-z", "--full-name", "--", ":(top)")
    new = [os.fsdecode(name) for name in untracked.split(b"\0") if name]
    hunks = {repository.absolute(path): found for path, found in parse(told)}
    return Changes(base, hunks, frozenset(map(repository.absolute, new)))


class _Repository:
    """The repository that a directory lies in."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._filters: tuple[str, ...] = ()
        up = self._run("rev-parse", "--show-cdup")
        if up.returncode or not self._run("rev-parse", "--is-inside-work-tree").stdout.startswith(b"true"):
            raise DiffError(f"--diff: {directory} lies in no git repository{_reason(up)}")
        self._top = os.path.normpath(os.path.join(directory, os.fsdecode(up.stdout.rstrip(b"\n"))))
        self._filters = tuple(self._without_filters())

    def absolute(self, path: str) -> str:
        """A path of the repository as sources have it."""
        return f"{self._top.rstrip('/')}/{path}".replace(os.sep, "/")

    def relative(self, path: str) -> str:
        """A path as the repository has it."""
        return os.path.relpath(os.path.abspath(path), self._top).replace(os.sep, "/")

    def fork_point(self, base: str) -> str:
        """The commit at which HEAD left `base`."""
        if not base or base.startswith("-"):
            raise DiffError(f"--diff: {base!r} is no commit")
        commit = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
        if commit.returncode:
            raise DiffError(f"--diff: {base} is no commit of this repository (not fetched?)")
        start = self._run("merge-base", commit.stdout.decode().strip(), "HEAD")
        if start.returncode:
            raise DiffError(
                f"--diff: {base} and HEAD have no common ancestor here (a shallow clone? fetch more history)"
            )
        return start.stdout.decode().split()[0]

    def ask(self, *arguments: str) -> bytes:
        """What git answers. Raises DiffError."""
        done = self._run(*arguments)
        if done.returncode:
            raise DiffError(f"--diff: git {arguments[0]} failed{_reason(done)}")
        return done.stdout

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        environment = {name: value for name, value in os.environ.items() if name not in _FORGOTTEN}
        environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        command = ["git", *_SAFE, *self._filters, *arguments]
        try:
            return subprocess.run(
                command,
                cwd=self._directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise DiffError(f"--diff needs git: {error.strerror}") from error

    def _without_filters(self) -> Iterator[str]:
        """Options that switch the configured filters off: `filter.NAME.clean` and `.process` are commands."""
        told = self._run("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$")
        for name in dict.fromkeys(told.stdout.split(b"\0")):
            if name:
                yield from ("-c", f"{os.fsdecode(name)}=")
                yield from ("-c", f"{os.fsdecode(name).rpartition('.')[0]}.required=false")


def parse(diff: bytes) -> Iterator[tuple[str, tuple[Hunk, ...]]]:
    """The files of a unified diff without context, with their hunks; deleted files have no lines to speak of."""
    lines = iter(diff.split(b"\n"))
    path, hunks = "", list[Hunk]()
    for line in lines:
        if line.startswith(b"diff --git "):
            if path:
                yield path, tuple(hunks)
            path, hunks = "", []
        elif line.startswith((b"+++ b/", b'+++ "b/')):
            path = _name(line[4:])
        elif match := _HUNK.match(line):
            removed, added = (1 if match[group] is None else int(match[group]) for group in (1, 3))
            text = [line[1:].decode("utf-8", "replace") for line in _body(lines, removed + added)]
            first = int(match[2]) + (added == 0)  # of a pure deletion git names the line before it
            hunks.append(Hunk(first, first + added - 1, tuple(text)))
    if path:
        yield path, tuple(hunks)


def _body(lines: Iterator[bytes], count: int) -> Iterator[bytes]:
    """The lines of a hunk: any of them may look like the head of the next one."""
    while count > 0:
        line = next(lines)
        if not line.startswith(b"\\"):  # "\ No newline at end of file"
            count -= 1
            yield line


def _name(raw: bytes) -> str:
    """A path as git writes it: in quotes if it has special characters, with a tab behind if it has spaces."""
    if raw.startswith(b'"'):
        raw = _ESCAPE.sub(_unescaped, raw.rstrip()[1:-1])
    return os.fsdecode(raw.removesuffix(b"\t"))[2:]


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)]) if len(match[1]) == 3 else _ESCAPES.get(match[1], match[1])


def _directory(path: str) -> str:
    absolute = os.path.abspath(path)
    return absolute if os.path.isdir(absolute) else str(Path(absolute).parent)


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[0].removeprefix('fatal: ')}" if lines else ""
