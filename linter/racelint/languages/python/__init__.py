"""The Python front end: bytes to `Module`, by the standard library's own parser."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath

from racelint.finding import Fix, Remedy
from racelint.languages import SourceProblem, notes, prose
from racelint.languages.python import noted
from racelint.languages.python.declarations import Lowering
from racelint.languages.python.edition import OLD, are_for_python_2, is_for_python_2, misses_names, outdated
from racelint.languages.python.expressions import WORD
from racelint.languages.python.libraries import libraries
from racelint.languages.python.text import decode, encoding, import_root, module_name
from racelint.model import Comment, Function, Module, Traits, Type
from racelint.span import Span

# Deep enough for any program written by people; pure Python frames cost no C stack, so this cannot overflow it.
DEPTH = 4_000
TEST_WORDS = frozenset({"test", "tests", "testing"})  # of a folder's name
TEST_PACKAGES = frozenset({"unittest", "pytest", "_pytest", "nose", "hypothesis", "testtools"})
SPOKEN_OF = re.compile(rb"""\.\s*([A-Za-z_]\w*)|(["'])([^\s"']{2,100})\2""")  # attributes, and texts that may be names
LONG_WORD = re.compile(r"[A-Za-z_]\w{4,}")
GENERATED = re.compile(rb"^#.*(@generated|[Gg]enerated (by|from)|DO NOT EDIT)", re.MULTILINE)
# Made of another program: what races between threads does not race between the coroutines that people have written.
REWRITTEN = re.compile(rb"\bfrom (?:the )?(?:original|source) (?:file )?[\"'`]?[\w./-]+\.py\b(?!\.\w)")
COMMENTS = re.compile(rb"(?:#[^\n]*\n?)+")
HEAD = 2_000  # bytes in which a file says that it is generated


class Python:
    """`FrontEnd` for Python 3 source."""

    name = "python"
    suffixes = (".py", ".pyi")
    builds_by_folder = False

    def extract(self, data: bytes) -> Module:
        """Lower a file in any encoding of PEP 263. Raises SourceProblem for input that is not a program."""
        return self._lower(data, outline=False)

    def outline(self, data: bytes) -> Module:
        """For what nothing imports: what its functions return stands in their bodies only."""
        module = self._lower(data, outline=True)
        return module._replace(mentions=" ".join(sorted({*module.mentions.split(), *_spoken_of(data)})))

    def needed(self, path: str, module: Module) -> Iterable[str]:
        """The modules that a file imports, and the names out of them, which may be modules, too.

        They may be known by less than that: a folder above them need not be a package (PEP 420).
        """
        importer = module_name(path)
        for imported in module.loads:
            name = imported.absolute(path, importer)
            for whole in (name,) if imported.name is None else (name, f"{name}.{imported.name}"):
                parts = whole.split(".")
                yield from (".".join(parts[start:]) for start in range(len(parts)))

    def _lower(self, data: bytes, *, outline: bool) -> Module:
        tree = parse(data)
        text = data.decode("utf-8", "replace") if data.isascii() else decode(data)
        lines = [] if data.isascii() else text.split("\n")
        wide = {number: line.encode() for number, line in enumerate(lines, 1) if not line.isascii()}
        spoken = self.comments(data) if b"racelint:" in data or notes.speaks(data) or prose.speaks(data) else []
        comments = tuple([comment for comment in spoken if "racelint:" in comment.text])
        lowering = Lowering(wide, _lines_with(b":=", data), outline=outline)
        lowering.notes = notes.Notes(spoken, data)
        lowering.prose = prose.Prose(spoken, data)
        lowering.has_typed_notes = noted.speaks(data)
        limit = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(max(limit, DEPTH))
            count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
            module = lowering.module(tree, comments, _is_generated(data[:HEAD]), count)
            missed = outdated(data, module)
            traits = OLD if misses_names(missed) or is_for_python_2(data) else module.traits
            words = " ".join(sorted(_words(text, module)))
            return module._replace(traits=traits._replace(outdated=missed), words=words)
        except RecursionError:
            raise SourceProblem("too-deep", "expressions or blocks are nested too deeply to analyse") from None
        finally:
            sys.setrecursionlimit(limit)

    def comments(self, data: bytes) -> list[Comment]:
        """Every comment with its text after the "#"; what cannot be tokenised ends the list."""
        found: list[Comment] = []
        try:
            for token in tokenize.tokenize(io.BytesIO(data).readline):
                if token.type == tokenize.COMMENT:
                    (line, column), raw = token.start, token.string
                    alone = not token.line[:column].strip()
                    found.append(Comment(line, raw.lstrip("#").strip(), alone, raw, column + 1))
        except (tokenize.TokenError, SyntaxError, ValueError):
            pass
        return found

    def tokens(self, data: bytes) -> list[str]:
        """The tokens, the indents among them."""
        parse(data)
        try:
            found = list(tokenize.tokenize(io.BytesIO(data).readline))
        except (tokenize.TokenError, SyntaxError, ValueError) as error:
            raise SourceProblem("syntax-error", str(error)) from None
        silent = (tokenize.COMMENT, tokenize.NL)
        return [token.string.rstrip("\r\n") for token in found if token.type not in silent]

    def is_test(self, path: str) -> bool:
        """Pytest's and unittest's conventions: test folders, `test_*.py`, `*_test.py`, `conftest.py`."""
        parts = PurePath(path).parts
        name = parts[-1] if parts else ""
        stem = name.removesuffix(".pyi").removesuffix(".py")
        if stem.startswith("test_") or stem.endswith("_test") or stem in ("conftest", "tests", "test"):
            return True
        return any(not TEST_WORDS.isdisjoint(re.split("[_-]", part)) for part in parts[:-1])

    def libraries(self, paths: Sequence[str]) -> tuple[str, ...]:
        """By the names of many that others come with."""
        return libraries(paths)

    def serves_tests(self, module: Module) -> bool:
        """Packages that nothing but tests need."""
        return any(imported.module.partition(".")[0] in TEST_PACKAGES for imported in module.imports.values())

    def inference(self, paths: Sequence[str]) -> Callable[[str, Span], str | None]:
        """Types of single expressions, for the few that decide a verdict."""
        from racelint.languages.python.inference import Inference

        roots = {import_root(PurePath(path).parent) for path in paths}
        return Inference(sorted(str(root) for root in roots))

    def module_name(self, path: str) -> str:
        """The dotted name under which a file is imported."""
        return module_name(path)

    def edition(self, path: str) -> str:
        """No analysis of Python hangs on its version."""
        return ""

    def is_left_out(self, path: str, module: Module) -> bool:
        """Every file may be imported."""
        return False

    def traits_of_all(self, modules: Sequence[Module], refused: Sequence[str]) -> Traits | None:
        """A program of which part cannot run on Python 3 does not run there."""
        return OLD if are_for_python_2(modules, refused) else None

    def encoding(self, data: bytes) -> str:
        """By PEP 263."""
        return encoding(data)

    def fix(self, data: bytes, remedy: Remedy) -> Fix | None:
        """The edits that a remedy stands for, by libcst."""
        from racelint.languages.python.fixing import fix

        return fix(data, remedy)


def parse(data: bytes) -> ast.Module:
    """Parse source in any encoding of PEP 263. Raises SourceProblem."""
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise SourceProblem("syntax-error", "the file contains null bytes", line, 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the analysed source are not our business
            try:
                return ast.parse(data)
            except SyntaxError:
                other = _parse_as_36(data) or _parse_as_newer(data)
                if other is None:
                    raise
                return other
    except SyntaxError as error:
        kind = "encoding-error" if _is_encoding(error) else "syntax-error"
        raise SourceProblem(kind, error.msg or "invalid syntax", error.lineno or 0, error.offset or 0) from None
    except (ValueError, LookupError) as error:
        raise SourceProblem("encoding-error", str(error)) from None
    except (RecursionError, MemoryError):
        raise SourceProblem("too-deep", "expressions or blocks are nested too deeply to parse") from None


def _parse_as_36(data: bytes) -> ast.Module | None:
    """Source from before Python 3.7 may use `async` and `await` as names; newer interpreters cannot read that."""
    if not (b"async" in data or b"await" in data):
        return None
    try:
        return ast.parse(data, feature_version=(3, 6))
    except (SyntaxError, ValueError, LookupError):
        return None


def _parse_as_newer(data: bytes) -> ast.Module | None:
    """Source in the grammar of a Python that is newer than the running one, rewritten."""
    from racelint.languages.python.newer import downgraded  # libcst takes a while to load

    older = downgraded(data)
    if older is None or older == data:
        return None
    try:
        return ast.parse(older)
    except (SyntaxError, ValueError):
        return None


def _is_generated(head: bytes) -> bool:
    """Whether a file says that a program has made it, unless it was rewritten from another one in Python."""
    found = GENERATED.search(head)
    block = COMMENTS.match(head, found.start()) if found is not None else None
    return found is not None and not (block is not None and REWRITTEN.search(block[0]))


def _spoken_of(data: bytes) -> set[str]:
    """What a file that is not lowered may mention, read off its text, comments and all."""
    found = set[str]()
    for attribute, _, text in SPOKEN_OF.findall(data):
        found.update([attribute.decode()] if attribute else WORD.findall(text.decode("utf-8", "replace")))
    return found


def _words(text: str, module: Module) -> Iterator[str]:
    """The longer words of a file, but for names of functions and types that stand only where these are declared.

    What a type says of itself uses it no more than a function that calls itself. Shorter words are everywhere.
    """
    declared: dict[str, Function | Type] = {**module.functions, **module.types}  # methods stand below `Type.name`
    lines = text.split("\n")
    for word, times in Counter(LONG_WORD.findall(text)).items():
        if word not in declared or times > _times_inside(declared[word].span, word, times, lines):
            yield word


def _times_inside(declaration: Span, name: str, times: int, lines: list[str]) -> int:
    """How often a name that stands so many times in a file stands in its declaration."""
    whole = "\n".join(lines[declaration.line - 1 : declaration.end_line]) if times > 1 else name
    return LONG_WORD.findall(whole).count(name)


def _lines_with(text: bytes, data: bytes) -> list[int]:
    """The lines that contain a text, counted as the parser does."""
    if text not in data:
        return []
    return [number for number, line in enumerate(data.splitlines(), start=1) if text in line]


def _is_encoding(error: SyntaxError) -> bool:
    message = error.msg or ""
    return "encoding" in message or "codec" in message or "Non-UTF-8" in message or "unicode error" in message


FRONT_END = Python()
