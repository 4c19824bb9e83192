"""Front ends: each turns one file's bytes into a `Module`; a table maps suffixes to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from racelint.finding import Fix, Remedy
from racelint.model import Comment, Module, Traits
from racelint.span import Span


class SourceProblem(Exception):  # noqa: N818  (it is a fact about the input, told in errors[], not a failure of ours)
    """A file that cannot be lowered: `kind` is syntax-error, encoding-error or too-deep; positions count from 1."""

    def __init__(self, kind: str, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.kind, self.message, self.line, self.column = kind, message, line, column


class FrontEnd(Protocol):
    """What a language module offers."""

    @property
    def name(self) -> str:
        """The language, as rules and models name it."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of files in the language, with the dot."""

    @property
    def builds_by_folder(self) -> bool:
        """Whether a program is built from a folder, and gets its name: what ignores the one means not the other."""

    def extract(self, data: bytes) -> Module:
        """Lower a file. Raises SourceProblem for input that is not a program; never anything else."""

    def outline(self, data: bytes) -> Module:
        """Lower what other files may need of one that is not reported on: its types, signatures and variables."""

    def needed(self, path: str, module: Module) -> Iterable[str]:
        """The dotted names that the imports of the file at `path` may mean, of which no outline would do."""

    def comments(self, data: bytes) -> list[Comment]:
        """Every comment of the file with its marker stripped ("#", "//"), for fixtures and suppressions."""

    def tokens(self, data: bytes) -> list[str]:
        """The words of a file without its comments: two texts with the same ones are the same program.

        Raises SourceProblem for input that is not a program.
        """

    def is_test(self, path: str) -> bool:
        """Whether a path (forward slashes, relative to the analysed root) is a test by the language's conventions."""

    def libraries(self, paths: Sequence[str]) -> tuple[str, ...]:
        """The folders, each with a slash at its end, that hold libraries of others, by what lies there."""

    def serves_tests(self, module: Module) -> bool:
        """Whether a file that is no test itself is there for tests: it uses what only tests use."""

    def module_name(self, path: str) -> str:
        """The dotted name by which other files import the one at `path` (absolute, forward slashes)."""

    def edition(self, path: str) -> str:
        """The language version that the project of the file at `path` declares, "" if none matters."""

    def is_left_out(self, path: str, module: Module) -> bool:
        """Whether the usual build of its package does without the file at a path."""

    def traits_of_all(self, modules: Sequence[Module], refused: Sequence[str]) -> Traits | None:
        """What a program's files say together of its language: `refused` is why some of them cannot be parsed.

        None if each file speaks for itself.
        """

    def inference(self, paths: Sequence[str]) -> Callable[[str, Span], str | None]:
        """A costly type inference over the files at `paths`, asked for the type of the expression at a path and span.


        Answers with a dotted name, "builtins.dict", or None. Nothing is done before the first question.
        """

    def encoding(self, data: bytes) -> str:
        """The codec of a file's text, which also takes a byte order mark off and puts it on again."""

    def fix(self, data: bytes, remedy: Remedy) -> Fix | None:
        """The edits of a file that do what a remedy says; None if there is no way to do it that is sure to be right."""


def front_ends() -> dict[str, FrontEnd]:
    """The front end for each file suffix; a language is imported only when the table is asked for."""
    from racelint.languages.go import FRONT_END as GO
    from racelint.languages.python import FRONT_END as PYTHON

    return {suffix: front_end for front_end in (PYTHON, GO) for suffix in front_end.suffixes}
