"""Which files are analysed, which of them are reported on, and which could not be reached."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from racelint import texts
from racelint.config import Exclude
from racelint.errors import RacelintError
from racelint.finding import Finding, SourceError
from racelint.ignores import Ignores
from racelint.languages import FrontEnd

ROOT_MARKERS = ("pyproject.toml", "go.mod", ".git")
VENDORED = frozenset({
    "vendor", "_vendor", "vendored", "_vendored", "third_party", "thirdparty", "3rdparty", "site-packages",
})  # fmt: skip
SKIPPED = frozenset({
    ".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".eggs", "node_modules", "__pycache__", "__pypackages__",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache", ".ipynb_checkpoints",
})  # fmt: skip


class File(NamedTuple):
    """A file to analyse. `quiet` ones (tests, vendored) inform types; `within` ones lie below a named directory."""

    path: str
    suffix: str
    quiet: bool
    within: bool


class Scope(NamedTuple):
    """Files sorted by path, what could not be reached, the files named on the command line that findings must touch.

    Of these the `insisted` ones are reported on even if they are tests, generated or vendored.
    """

    files: tuple[File, ...]
    errors: tuple[SourceError, ...]
    named: frozenset[str]
    insisted: frozenset[str]

    def shows(self, finding: Finding, reported: frozenset[str]) -> bool:
        """Whether a finding is this run's business: a race has two ends, either may lie in a named file."""
        if finding.location.path in reported:
            return True
        return finding.location.path in self.named or any(
            access.location.path in self.named for access in finding.accesses
        )


def discover(
    paths: Sequence[str], front_ends: Mapping[str, FrontEnd], excludes: Sequence[Exclude] = (),
    root: str | None = None, *, force_exclude: bool = False,
) -> Scope:  # fmt: skip
    """Find the files that `paths` stand for: a directory is the scope, a file widens it to its project or to `root`.

    With `force_exclude` a named file counts only if the analysis of its directory would report on it: a tool that
    names files, as pre-commit does, did not choose them. Raises RacelintError for a path that does not exist.
    """
    found, errors = _Files(front_ends), list[SourceError]()
    named = dict.fromkeys(absolute for path in paths if not os.path.isdir(absolute := _absolute(path)))
    for path in paths:
        if (absolute := _absolute(path)) not in named:
            found.add_tree(absolute, Ignores.above(absolute, excludes), errors, within=True)
    for path in named:
        if not force_exclude or found.is_script(path, excludes):
            found.add_named(path, errors)
    for scope in sorted({_Root(_absolute(root), deep=True) if root else _scope_of(path) for path in named}):
        found.add_tree(scope.path, Ignores.above(scope.path, excludes), errors, within=False, deep=scope.deep)
    files, told = found.sorted(), tuple(dict.fromkeys(errors))
    if force_exclude:
        counting = {file.path for file in files if not file.quiet}
        return Scope(files, told, frozenset(counting & named.keys()), frozenset())
    return Scope(files, told, frozenset(named), frozenset(named))


def project_root(directory: Path) -> Path | None:
    """The nearest directory at or above with a project file or a repository."""
    for candidate in (directory, *directory.parents):
        if any((candidate / marker).exists() for marker in ROOT_MARKERS):
            return candidate
    return None


class _Root(NamedTuple):
    path: str
    deep: bool


def _scope_of(file: str) -> _Root:
    """What a single file is analysed with: its project, or else its package, or else its directory alone."""
    directory = Path(file).parent
    while not directory.is_dir():  # an editor has the file, and nobody has saved it
        directory = directory.parent
    if root := project_root(directory):
        return _Root(root.as_posix(), deep=True)
    top = directory
    while (top / "__init__.py").exists() and top.parent != top:
        top = top.parent
    if top != directory:  # the outermost package below `top`, not all that lies beside it
        return _Root((top / directory.relative_to(top).parts[0]).as_posix(), deep=True)
    return _Root(directory.as_posix(), deep=False)


def _absolute(path: str) -> str:
    absolute = Path(os.path.abspath(path))
    if not os.path.lexists(absolute) and not texts.is_unsaved(absolute.as_posix()):
        raise RacelintError(f"{path}: no such file or directory")
    return absolute.as_posix()


class _Files:
    """The files found so far, by path; a symbolic link counts only if its target is not found itself."""

    def __init__(self, front_ends: Mapping[str, FrontEnd]) -> None:
        self._front_ends = front_ends
        self._files: dict[str, File] = {}
        self._links: dict[str, File] = {}

    def sorted(self) -> tuple[File, ...]:
        files = dict(self._files)
        real = {os.path.realpath(path) for path in files} if self._links else set()
        for path, file in sorted(self._links.items()):
            if path not in files and (target := os.path.realpath(path)) not in real:
                files[path] = file
                real.add(target)
        return tuple(files[path] for path in sorted(files))

    def add_named(self, path: str, errors: list[SourceError]) -> None:
        suffix = os.path.splitext(path)[1]
        try:
            if not texts.is_unsaved(path) and not stat.S_ISREG(os.stat(path).st_mode):
                errors.append(SourceError("unreadable", path, "is not a regular file"))
                return
            suffix = suffix if suffix in self._front_ends else _by_shebang(path)
        except OSError as error:
            errors.append(SourceError("unreadable", path, error.strerror or str(error)))
            return
        if suffix in self._front_ends:
            self._files[path] = File(path, suffix, quiet=False, within=False)
        else:
            what = os.path.splitext(path)[1] or "a file without suffix"
            errors.append(SourceError("unsupported", path, f"racelint does not read {what}"))

    def is_script(self, path: str, excludes: Sequence[Exclude]) -> bool:
        """Whether a file is read only where it is named: one without a suffix, which no exclude leaves out."""
        if os.path.splitext(path)[1] or not os.path.isfile(path):
            return False
        return bool(_by_shebang(path)) and not Ignores.excludes_file(path, excludes)

    def add_tree(
        self, root: str, ignores: Ignores, errors: list[SourceError], *, within: bool, deep: bool = True
    ) -> None:
        """Add what lies below a directory; one that is itself a test or vendored tree was named on purpose."""
        inside = _below_project(root)
        built = tuple([suffix for suffix, each in self._front_ends.items() if each.builds_by_folder])
        walked = list(walk(root, ignores, tuple(self._front_ends), errors, deep=deep, built=built))
        below = [path[len(root) :].lstrip("/") for path, _ in walked]
        brought = tuple([folder for each in set(self._front_ends.values()) for folder in each.libraries(below)])
        for path, is_link in walked:
            suffix = os.path.splitext(path)[1]
            front_end = self._front_ends[suffix]
            relative = path[len(root) :].lstrip("/")
            quiet = _is_quiet(relative, front_end) and not _is_quiet(f"{inside}any{suffix}", front_end)
            quiet = quiet or relative.startswith(brought)
            table = self._links if is_link else self._files
            before = table.get(path)
            if before is None:
                table[path] = File(path, suffix, quiet, within)
            elif within:
                table[path] = before._replace(quiet=before.quiet and quiet)


def _below_project(root: str) -> str:
    """The way from the project's root to a directory, ending in a slash unless it is empty."""
    project = project_root(Path(root))
    relative = Path(root).relative_to(project).as_posix() if project else "."
    return "" if relative == "." else f"{relative}/"


def _is_quiet(relative: str, front_end: FrontEnd) -> bool:
    return front_end.is_test(relative) or not VENDORED.isdisjoint(relative.split("/")[:-1])


def _by_shebang(path: str) -> str:
    """The suffix that a script without one would have."""
    first = texts.read(path, 200).partition(b"\n")[0]
    return ".py" if first.startswith(b"#!") and b"python" in first else ""


def walk(
    root: str, ignores: Ignores, suffixes: tuple[str, ...], errors: list[SourceError], *, deep: bool = True,
    built: tuple[str, ...] = (),
) -> Iterator[tuple[str, bool]]:  # fmt: skip
    """Files below a directory that git would see, each with whether it is a link; failures go to `errors`.

    Links to directories are not followed, so that no loop of them can hold us. A directory that is ignored by the name
    of the program that is built from it (it has a `main` that ends in `built`) is seen: git keeps what it was given.
    """
    pending = [(root, ignores)]
    while pending:
        directory, above = pending.pop()
        try:
            with os.scandir(directory) as listing:
                entries = list(listing)
        except OSError as error:
            errors.append(SourceError("unreadable", directory, error.strerror or str(error)))
            continue
        level = above.inside(directory, {entry.name for entry in entries})
        for entry in entries:
            path = f"{directory.rstrip('/')}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not deep or _skipped(entry):
                    continue
                if not level.ignored(path, directory=True):
                    pending.append((path, level))
                elif _has_main(path, built) and (below := level.meaning_program(path)) is not None:
                    pending.append((path, below))
            elif not entry.name.endswith(suffixes) or level.ignored(path, directory=False):
                continue
            elif _is_file(entry, path, errors):
                yield path, entry.is_symlink()


def _skipped(entry: os.DirEntry[str]) -> bool:
    return entry.name in SKIPPED or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def _has_main(directory: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a directory has the file in which a program mostly starts."""
    return any(os.path.isfile(f"{directory}/main{suffix}") for suffix in suffixes)


def _is_file(entry: os.DirEntry[str], path: str, errors: list[SourceError]) -> bool:
    try:
        return entry.is_file()
    except OSError as error:  # a link that leads back to itself
        errors.append(SourceError("unreadable", path, error.strerror or str(error)))
        return False
