"""What git would not see: nested .gitignore files, the repository's own excludes, and the configured ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from racelint.config import Exclude

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Level(NamedTuple):
    """Patterns and the directory (with a closing slash) that they are relative to; `lines` are those of the `spec`."""

    base: str
    spec: GitIgnoreSpec
    lines: tuple[str, ...]

    def verdict(self, path: str) -> bool | None:
        """True for ignored, False for taken back in, None for no word on it; a directory ends in a slash."""
        if not path.startswith(self.base) or path == self.base:
            return None
        return self.spec.check_file(path[len(self.base) :]).include

    def pattern(self, path: str) -> str:
        """The line that decides on a path of which there is a word."""
        index = self.spec.check_file(path[len(self.base) :]).index
        return self.lines[index] if index is not None else ""


class Ignores(NamedTuple):
    """The patterns in force in one directory: the deepest .gitignore decides, an exclude always does."""

    levels: tuple[Level, ...] = ()
    excludes: tuple[Level, ...] = ()

    @classmethod
    def above(cls, root: str, excludes: Sequence[Exclude] = ()) -> Ignores:
        """What directories above `root` say of the tree below; those that ignore `root` itself were overruled."""
        levels: list[Level] = []
        for directory in _repository_down_to(Path(root)):
            if directory != Path(root):
                levels += _read(directory / ".gitignore", directory)
            levels[:0] = _read(directory / ".git" / "info" / "exclude", directory)
        configured = [_level(Path(base), patterns) for base, patterns in excludes]
        return cls(*(tuple(level for level in kind if not level.verdict(f"{root}/")) for kind in (levels, configured)))

    @staticmethod
    def excludes_file(path: str, excludes: Sequence[Exclude]) -> bool:
        """Whether a configured exclude leaves out a file, wherever it lies."""
        return any(_level(Path(base), patterns).verdict(path) for base, patterns in excludes)

    def inside(self, directory: str, names: Iterable[str]) -> Ignores:
        """What is in force in a directory that holds `names`."""
        if ".gitignore" not in names:
            return self
        return self._replace(levels=(*self.levels, *_read(Path(directory, ".gitignore"), Path(directory))))

    def ignored(self, path: str, *, directory: bool) -> bool:
        """Whether a path is left out."""
        if not self.levels and not self.excludes:
            return False
        path = f"{path}/" if directory else path
        if any(level.verdict(path) for level in self.excludes):
            return True
        verdicts = (level.verdict(path) for level in reversed(self.levels))
        return next((verdict for verdict in verdicts if verdict is not None), False)

    def meaning_program(self, directory: str) -> Ignores | None:
        """What is in force in a directory that is ignored by the plain name of a file, as what is built from it has.

        None if it is ignored by another pattern, or by an exclude.
        """
        path = f"{directory}/"
        level = next((level for level in reversed(self.levels) if level.verdict(path) is not None), None)
        if level is None or any(each.verdict(path) for each in self.excludes):
            return None
        pattern = level.pattern(path)
        if pattern.rstrip().rpartition("/")[2] != directory.rpartition("/")[2]:
            return None
        rest = _level(Path(level.base), [line for line in level.lines if line != pattern])
        return self._replace(levels=tuple([rest if each is level else each for each in self.levels]))


def _repository_down_to(root: Path) -> list[Path]:
    """Directories from the repository's root to `root`; outside a repository, `root` alone."""
    chain = [root]
    for directory in (root, *root.parents):
        if directory != root:
            chain.append(directory)
        if (directory / ".git").exists():
            return chain[::-1]
    return [root]


def _read(file: Path, base: Path) -> list[Level]:
    try:
        lines = file.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [_level(base, lines)]


def _level(base: Path, lines: Iterable[str]) -> Level:
    from pathspec import GitIgnoreSpec

    kept = tuple([line for line in lines if line])
    try:
        spec = GitIgnoreSpec.from_lines(kept)
    except ValueError:
        kept = tuple([line for line in kept if _is_pattern(line)])
        spec = GitIgnoreSpec.from_lines(kept)
    return Level(base.as_posix().rstrip("/") + "/", spec, kept)


def _is_pattern(line: str) -> bool:
    """Whether a line says something: git takes one that ends in the midst of an escape for a pattern of nothing."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines((line,))
    except ValueError:
        return False
    return True
