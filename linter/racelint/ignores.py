"""What git would not see: nested .gitignore files, the repository's own excludes, and the configured ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from racelint.config import Exclude

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Level(NamedTuple):
    """Patterns and the directory (with a closing slash) that they are relative to."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str) -> bool | None:
        """True for ignored, False for taken back in, None for no word on it; a directory ends in a slash."""
        if not path.startswith(self.base) or path == self.base:
            return None
        return self.spec.check_file(path[len(self.base) :]).include


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

    return Level(base.as_posix().rstrip("/") + "/", GitIgnoreSpec.from_lines(lines))
