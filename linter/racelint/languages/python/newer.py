"""Source in the grammar of Python 3.12 to 3.14, rewritten for the parser of an older interpreter.

What older grammar lacks is blanked or replaced in place: all else keeps its line and column. Loaded only for a file
that the running interpreter refuses.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from racelint.languages.python.text import encoding

Literal = cst.SimpleString | cst.FormattedString

TEMPLATE = re.compile(r"(?<![\w\"'])([rR]?)([tT])(?=[rR]?[\"'])")
NEWLINE = re.compile(r"\r\n?|\n")
BLANKS = (" ", "\t", "\f")
NESTING = re.compile(r"[()\[\]{}\n.~%&*+/<=>@^|-]|\b(?:and|await|else|for|if|in|is|lambda|not|or)\b")
DEEPEST = 500  # brackets in each other, those in texts among them: Python takes 200, and libcst crashes above 1,000
LONGEST = 4_000  # operators in one statement, as far as brackets tell where it ends: libcst crashes above 10,000
FRAMES = 4_000  # libcst needs several for each level of the tree
UNFIT = re.compile(r"[\"'\\\r\n]")  # not in a format string that stands in another one
VARIABLE = re.compile(r"_*(?:[a-z]|$)")  # as Python 2 has them for exceptions: classes begin in upper case


def downgraded(data: bytes) -> bytes | None:
    """The file in older grammar, or None for what libcst cannot read.

    Also None for Python 2: its `except A, e:` would be two types of exceptions to Python 3.14.
    """
    limit = sys.getrecursionlimit()
    try:
        codec = encoding(data)
        # For us a template string is a format string. Not left to the tree: libcst cannot join template strings.
        text = TEMPLATE.sub(lambda found: found[1] + ("f" if found[2] == "t" else "F"), data.decode(codec))
        if _is_too_deep(text):
            return None
        sys.setrecursionlimit(max(limit, FRAMES))
        rewritten = _rewritten(text)
        return None if rewritten is None else rewritten.encode(codec)
    except (cst.ParserSyntaxError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None
    finally:
        sys.setrecursionlimit(limit)


def _is_too_deep(text: str) -> bool:
    """Whether brackets, or operators of one statement, may stand too deep in each other for libcst."""
    depth = operators = 0
    for found in NESTING.finditer(text):
        match found[0]:
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}":
                depth = max(depth - 1, 0)
            case "\n":
                operators = operators if depth else 0
            case _:
                operators += 1
        if depth > DEEPEST or operators > LONGEST:
            return True
    return False


def _rewritten(text: str) -> str | None:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    draft = Draft(text, wrapper)
    pending: list[cst.CSTNode] = [wrapper.module]
    while pending:
        node = pending.pop()
        match node:
            case cst.TypeParameters():
                draft.blank_lines(*draft.span(node))
            case (
                cst.ExceptHandler(type=cst.Tuple(lpar=()) as caught)
                | cst.ExceptStarHandler(type=cst.Tuple(lpar=()) as caught)
            ):
                if len(caught.elements) == 2 and _is_target(caught.elements[-1].value):
                    return None
                _parenthesise(draft, caught)
                pending.extend(node.children)
            case cst.ConcatenatedString() | cst.FormattedString():
                pending.extend(_rewrite(draft, node))
            case _:
                if isinstance(node, cst.TypeAlias):
                    draft.put(draft.span(node)[0], "...;")  # `type X = int`: the assignment stays where it was
                pending.extend(node.children)
    return str(draft)


class Draft:
    """A text whose characters are replaced one by one. Offsets are those of the original."""

    def __init__(self, text: str, wrapper: MetadataWrapper) -> None:
        """`wrapper` has the tree of the text."""
        self.text = text
        self._now = list(text)
        self._lines = [0, *(newline.end() for newline in NEWLINE.finditer(text))]
        self._wrapper = wrapper

    def __str__(self) -> str:
        return "".join(self._now)

    @cached_property
    def _positions(self) -> Mapping[cst.CSTNode, object]:
        """Not for Python 2: it takes as long as parsing."""
        return self._wrapper.resolve(PositionProvider)

    @cached_property
    def _moved(self) -> dict[int, list[int]]:
        """The columns of the characters in lines from which libcst has dropped blanks, as it does before colons."""
        pairs = zip(NEWLINE.split(self._wrapper.module.code), NEWLINE.split(self.text), strict=True)
        return {number: _columns(*pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1]}

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node stands, without parentheses around it."""
        found = self._positions[node]
        assert isinstance(found, CodeRange)
        start, end = found.start, found.end
        return self._offset(start.line, start.column), self._offset(end.line, end.column - 1) + 1

    def _offset(self, line: int, column: int) -> int:
        columns = self._moved.get(line)
        return self._lines[line - 1] + (column if columns is None or column < 0 else columns[column])

    def wide_span(self, node: cst.BaseExpression) -> tuple[int, int]:
        """Where an expression stands with its parentheses."""
        start, end = self.span(node)
        return self.span(node.lpar[0])[0] if node.lpar else start, self.span(node.rpar[-1])[1] if node.rpar else end

    def now(self, start: int, end: int) -> str:
        """What has become of a part."""
        return "".join(self._now[start:end])

    def put(self, offset: int, text: str) -> None:
        """Replace as many characters."""
        self._now[offset : offset + len(text)] = text

    def insert(self, offset: int, text: str) -> None:
        """Put a text before a character: what follows on the line moves."""
        self._now[offset] = text + self._now[offset]

    def restore(self, start: int, end: int) -> None:
        """Take back what was done to a part."""
        self._now[start:end] = self.text[start:end]

    def blank(self, start: int, end: int) -> None:
        """Keep the newlines only. Wide characters become as many blanks as they have bytes: the parser counts bytes."""
        for offset in range(start, end):
            if self.text[offset] not in "\r\n":
                self._now[offset] = " " * len(self.text[offset].encode())

    def blank_lines(self, start: int, end: int) -> None:
        """The same outside of brackets, where lines must be joined."""
        self.blank(start, end)
        for newline in NEWLINE.finditer(self.text, start, end):
            last = newline.start() - 1
            if self.text[last] in "\r\n":
                self.insert(newline.start(), "\\")
            else:
                self._now[last] = self._now[last][:-1] + "\\"


def _columns(kept: str, original: str) -> list[int]:
    """Where the characters of a line stand in the original, of which only some were kept."""
    found: list[int] = []
    for character in kept:
        found.append(original.index(character, found[-1] + 1 if found else 0))
    return found


def _parenthesise(draft: Draft, caught: cst.Tuple) -> None:
    """`except A, B:` becomes `except(A, B):`; only what follows on the line may move."""
    start, end = draft.span(caught)
    if draft.text[start - 1] in BLANKS:
        draft.put(start - 1, "(")
    else:
        draft.insert(start, "(")
    if draft.text[end] in BLANKS:
        draft.put(end, ")")
    elif draft.text[end] == ":" and draft.text[end + 1] in BLANKS:
        draft.put(end, "):")
    else:
        draft.insert(end, ")")


def _is_target(node: cst.BaseExpression) -> bool:
    """Whether Python 2 would assign the exception to that: a variable or a pattern."""
    return (
        VARIABLE.match(node.value) is not None if isinstance(node, cst.Name) else isinstance(node, cst.Tuple | cst.List)
    )


def _rewrite(draft: Draft, node: cst.BaseString) -> Sequence[cst.CSTNode]:
    """A literal that is in no other one: with other quotes in it if that is enough, or else a tuple.

    Returns what is in it and is to be rewritten, too.
    """
    start, end = draft.span(node)
    if _reads(draft.now(start, end)):
        return ()
    for literal in _literals(node):
        if isinstance(literal, cst.FormattedString):
            for field in _fields(literal):
                _nest(draft, field.expression, "'" if '"' in literal.end else '"')
    if _reads(draft.now(start, end)):
        return ()
    draft.restore(start, end)
    _tuple(draft, node)
    return [field.expression for field in _fields(node)]


def _reads(expression: str) -> bool:
    """Whether the running interpreter does."""
    try:
        ast.parse(f"({expression})")
    except SyntaxError:
        return False
    return True


def _nest(draft: Draft, node: cst.CSTNode, quote: str) -> None:
    """Make literals such as may stand in a format string: with one kind of quotes, and no backslash."""
    if not isinstance(node, cst.BaseString):
        for child in node.children:
            _nest(draft, child, quote)
        return
    for field in _fields(node):
        _nest(draft, field.expression, quote)
    literals = list(_literals(node))
    if all(isinstance(literal, cst.SimpleString) or _fits(draft, literal) for literal in literals):
        for literal in literals:
            _requote(draft, literal, quote)
    else:
        _tuple(draft, node)


def _fits(draft: Draft, literal: cst.FormattedString) -> bool:
    start, end = draft.span(literal)
    return UNFIT.search(draft.now(start + len(literal.start), end - len(literal.end))) is None


def _requote(draft: Draft, literal: Literal, quote: str) -> None:
    """Other quotes, and something else for characters that cannot stand in them."""
    start, end = draft.span(literal)
    quotes = quote * len(literal.quote)
    inner = start + len(literal.prefix) + len(quotes)
    if isinstance(literal, cst.SimpleString):
        draft.put(inner, re.sub(rf"[\\{quote}]", "_", literal.raw_value))
    draft.put(inner - len(quotes), quotes)
    draft.put(end - len(quotes), quotes)


def _tuple(draft: Draft, node: cst.BaseString) -> None:
    """A tuple of what stands in braces. It is inverted: the value is not to be a container of these."""
    start, end = draft.span(node)
    kept = [draft.wide_span(field.expression) for field in _fields(node)]
    done = start
    for first, after in kept:
        draft.blank(done, first)
        done = after
    draft.blank(done, end)
    for _, after in kept:
        if draft.text[after] in "\r\n":
            draft.insert(after, ",")
        else:
            draft.put(after, ",")
    draft.put(start, "~(")
    draft.put(end - 1, ")")


def _literals(node: cst.BaseString) -> Iterator[Literal]:
    """The parts of an implicit concatenation."""
    if isinstance(node, cst.ConcatenatedString):
        yield from _literals(node.left)
        yield from _literals(node.right)
    elif isinstance(node, Literal):
        yield node


def _fields(node: cst.BaseString) -> Iterator[cst.FormattedStringExpression]:
    """What stands in braces, in order, that in format specs included."""
    pending: list[cst.CSTNode] = []
    for literal in _literals(node):
        pending = list(literal.parts[::-1]) if isinstance(literal, cst.FormattedString) else []
        while pending:
            part = pending.pop()
            if isinstance(part, cst.FormattedStringExpression):
                yield part
                pending.extend((part.format_spec or ())[::-1])
