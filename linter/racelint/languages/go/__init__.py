"""The Go front end: bytes to `Module`, by tree-sitter; no Go toolchain is needed."""

from __future__ import annotations

import codecs
import functools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from racelint.finding import Fix, Remedy
from racelint.languages import SourceProblem, notes, prose
from racelint.languages.go.builds import constraint, is_built
from racelint.languages.go.modules import import_path, module_of
from racelint.model import Comment, Module, Traits
from racelint.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

DEPTH = 4_000  # as for Python
HEAD = 4_000  # bytes in which a file says that it is generated
GENERATED = re.compile(rb"^// Code generated .* DO NOT EDIT\.?\s*$", re.MULTILINE)  # https://go.dev/s/generatedcode
TOKENS = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
# Since Go 1.26 new() takes a value, for which the grammar has no place: it reads another name of the same length.
NEW = re.compile(rb"\bnew\((?!\s*(?:\[|\*(?![\w.]+\(|\w+\.\w+\.\w)|<-|map\[|chan\b|func\(|struct\b|interface\b))")
ASKED = re.compile(rb"\.\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")  # what an object or a package is asked for
BARE = re.compile(rb"(?<!func )(?<![\w.\x80-\xff])([A-Z][\w\x80-\xff]*)[\[({)]")  # of the package itself
TEST_FOLDERS = frozenset({"testdata", "test", "tests", "testing", "e2e", "testutil", "testutils"})
TEST_WORDS = frozenset({"test", "tests"})  # of a folder's name
# Names of files, without ".go".
TEST_FILES = re.compile(r"(?:.*_)?(?:test|fakes?|mocks?)|(?:fake|mock)_.*|test(?:ing|_?utils?|_?helpers?)")
TEST_PACKAGES = re.compile(
    r"testing(?:/.*)?|google\.golang\.org/grpc/test/.*|(?:go\.uber\.org|github\.com/golang)/mock/gomock"
    r"|github\.com/(?:stretchr/testify|onsi/g(?:omega|inkgo)(?:/v2)?)(?:/.*)?"
)


class Go:
    """`FrontEnd` for Go source."""

    name = "go"
    suffixes = (".go",)
    builds_by_folder = True

    def extract(self, data: bytes) -> Module:
        """Lower a file; of a generated one the outline. Raises SourceProblem for input that is not a program."""
        return self._lower(data, outline=bool(GENERATED.search(data[:HEAD])))

    def outline(self, data: bytes) -> Module:
        """Types are declared: no function needs its body for others to be understood."""
        return self._lower(data, outline=True)

    def needed(self, path: str, module: Module) -> Iterable[str]:
        """None: the outline tells all."""
        return ()

    def _lower(self, data: bytes, *, outline: bool) -> Module:
        from racelint.languages.go.declarations import Lowering

        tree = _parsed(data)
        if tree.root_node.has_error:
            raise _problem(tree.root_node, data)
        spoken = self.comments(data) if b"racelint:" in data or notes.speaks(data) or prose.speaks(data) else []
        comments = tuple([comment for comment in spoken if "racelint:" in comment.text])
        limit = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(max(limit, DEPTH))
            lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
            generated = bool(GENERATED.search(data[:HEAD]))
            lowering = Lowering(data, outline=outline)
            lowering.notes = notes.Notes(spoken, data)
            lowering.prose = prose.Prose(spoken, data)
            module = lowering.module(tree.root_node, comments, generated, lines)
            if outline:  # the bodies speak of methods, too
                module = module._replace(called=" ".join(sorted(_asked_for(data))))
            return module._replace(constraint=constraint(data))
        except RecursionError:
            raise SourceProblem("too-deep", "expressions or blocks are nested too deeply to analyse") from None
        finally:
            sys.setrecursionlimit(limit)

    def comments(self, data: bytes) -> list[Comment]:
        """Every comment with its text after the "//"; of one that runs over lines, the line where it starts."""
        found: list[Comment] = []
        line, counted = 1, 0
        for match in TOKENS.finditer(data):
            text = match[0]
            if not text.startswith((b"//", b"/*")):
                continue
            line, counted = line + data.count(b"\n", counted, match.start()), match.start()
            before = data[data.rfind(b"\n", 0, counted) + 1 : counted]
            raw, column = text.decode("utf-8", "replace").rstrip("\r"), len(before.decode("utf-8", "replace")) + 1
            inner = raw[2:].removesuffix("*/").lstrip("/").strip()
            found.append(Comment(line, inner, not before.strip(), raw, column))
        return found

    def tokens(self, data: bytes) -> list[str]:
        """The leaves of the syntax tree."""
        root = _parsed(data).root_node
        if root.has_error:
            raise _problem(root, data)
        found, pending = list[str](), [root]
        while pending:
            node = pending.pop()
            if node.type != "comment":
                pending.extend(reversed(node.children))
                if not node.children and (text := data[node.start_byte : node.end_byte].strip()):
                    found.append(text.decode("utf-8", "replace"))
        return found

    def is_test(self, path: str) -> bool:
        """The go command's convention, and folders that hold nothing but tests and what they need."""
        parts = PurePath(path).parts
        if not parts:
            return False
        if TEST_FILES.fullmatch(parts[-1].removesuffix(".go")) or not TEST_FOLDERS.isdisjoint(parts[:-1]):
            return True
        return any(not TEST_WORDS.isdisjoint(re.split("[_-]", part)) for part in parts[:-1])

    def libraries(self, paths: Sequence[str]) -> tuple[str, ...]:
        """They lie in folders named `vendor`."""
        return ()

    def serves_tests(self, module: Module) -> bool:
        """Packages that nothing but tests should link."""
        return any(TEST_PACKAGES.fullmatch(imported.module) for imported in module.imports.values())

    def module_name(self, path: str) -> str:
        """The import path of the file's package."""
        return import_path(path)

    def edition(self, path: str) -> str:
        """The `go` line of the file's go.mod."""
        module = module_of(path.rpartition("/")[0])
        return module.version if module is not None else ""

    def is_left_out(self, path: str, module: Module) -> bool:
        """By the name of the file, and what it says above its package clause."""
        return not is_built(path, module.constraint)

    def traits_of_all(self, modules: Sequence[Module], refused: Sequence[str]) -> Traits | None:
        """There is one language."""
        return None

    def encoding(self, data: bytes) -> str:
        """Go is UTF-8; a byte order mark may come first."""
        return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"

    def fix(self, data: bytes, remedy: Remedy) -> Fix | None:
        """The edits that a remedy stands for, as gofmt would have them."""
        from racelint.languages.go.fixing import fix

        return fix(_tree(data), data, remedy)

    def inference(self, paths: Sequence[str]) -> Callable[[str, Span], str | None]:
        """Nothing but the declared types: they are in the model."""
        return lambda path, span: None


def _asked_for(data: bytes) -> set[str]:
    """What a file asks objects or packages for, and what it calls or makes that is public, by the names alone."""
    return {name.decode("utf-8", "replace") for asked in (ASKED, BARE) for name in asked.findall(data)}


def _parsed(data: bytes) -> Tree:
    tree = _parser().parse(data)
    if tree.root_node.has_error and NEW.search(data):
        tree = _parser().parse(NEW.sub(b"nev(", data))  # names are read from the text as it is
    return tree


@functools.cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_go

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_go.language()))


@functools.lru_cache(maxsize=2)
def _tree(data: bytes) -> Tree:
    return _parser().parse(data)


def _problem(root: Node, data: bytes) -> SourceProblem:
    """The first thing in a file that is no Go."""
    node = root
    while True:
        broken = next((child for child in node.children if child.has_error or child.is_missing), None)
        if broken is None or node.is_error:
            break
        node = broken
    text = data[node.start_byte : node.end_byte].split(b"\n")[0][:40].decode("utf-8", "replace")
    message = (
        f"missing {node.type}" if node.is_missing else f"invalid syntax near {text!r}" if text else "invalid syntax"
    )
    return SourceProblem("syntax-error", message, node.start_point[0] + 1, node.start_point[1] + 1)


FRONT_END = Go()
