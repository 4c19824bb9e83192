"""Files in the grammar of Python 3.12 to 3.14 are read by any interpreter, and what is in them keeps its place."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racelint.config import Settings
from racelint.finding import Finding
from racelint.languages import SourceProblem
from racelint.languages.python import parse
from racelint.languages.python.edition import REFUSED
from racelint.languages.python.newer import downgraded
from racelint.plugins import BUILTIN
from racelint.plugins import load as load_packs
from racelint.run import Request, check

OLD_FORMAT_STRINGS = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="this Python reads the format string itself"
)
OLD_TEMPLATE_STRINGS = pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python has template strings")
OLD_HANDLERS = pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python needs no parentheses there")


def rewritten(text: str) -> str:
    data = downgraded(text.encode())
    assert data is not None
    return data.decode()


def names(tree: ast.AST) -> list[tuple[str, int, int, int]]:
    """The variables and attributes, with line and byte columns."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append((node.id, node.lineno, node.col_offset, node.end_col_offset or 0))
        elif isinstance(node, ast.Attribute):
            end = node.end_col_offset or 0
            found.append((node.attr, node.end_lineno or 0, end - len(node.attr.encode()), end))
    return found


def check_places(text: str, data: bytes | None = None) -> None:
    """The rewritten text parses, and each name in it stands where the original has it."""
    older = downgraded(data or text.encode())
    assert older is not None
    rows = [row.encode() for row in re.split("\r\n?|\n", text)]
    for name, line, start, end in names(ast.parse(older)):
        assert rows[line - 1][start:end].decode() == name


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("type X = int\n", "...; X = int\n"),
        ("a = 1; type X = int; b = 2\n", "a = 1; ...; X = int; b = 2\n"),
        ("type X[T: int, *A, **P] = a[T]\n", "...; X                  = a[T]\n"),
        ("if a: type X=int\n", "if a: ...; X=int\n"),
        ("type \\\n  X \\\n = (\n    int\n)\n", "...; \\\n  X \\\n = (\n    int\n)\n"),
        ("def f[T: int = a](x: T): pass\n", "def f            (x: T): pass\n"),
        ("async def f [*A, **P] (): pass\n", "async def f           (): pass\n"),
        ("class A[T]: pass\n", "class A   : pass\n"),
        ("class A[T = int](B): pass\n", "class A         (B): pass\n"),
        ("class A[\n    T,  # c\n\n    U,\n](B): pass\n", "class A\\\n          \\\n\\\n     \\\n (B): pass\n"),
        ("class A[ \r\nT\r\n]: pass\r\n", "class A \\\r\n\\\r\n : pass\r\n"),
        ('class A[é: "ü"]: pass\n', "class A          : pass\n"),
    ],
)
def test_type_parameters_are_blanked_and_aliases_assigned(text, older):
    assert rewritten(text) == older
    ast.parse(older)
    check_places(text)


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("except A, B:\n pass\n", "except(A, B):\n pass\n"),
        ("except A, B: f(x)\n", "except(A, B):f(x)\n"),
        ("except A, b.error: f(x)\n", "except(A, b.error):f(x)\n"),
        ("except A, B :f(x)\n", "except(A, B):f(x)\n"),
        ("except A, B, c:\n pass\n", "except(A, B, c):\n pass\n"),
        ("except (A), B,:\n pass\n", "except((A), B,):\n pass\n"),
        ("except(A), B:\n pass\n", "except((A), B):\n pass\n"),
        ("except \\\n A, \\\n B:\n pass\n", "except \\\n(A, \\\n B):\n pass\n"),
        ("except* A, B: # c\n pass\n", "except*(A, B):# c\n pass\n"),
        ("except *A, B:\n pass\n", "except *(A, B):\n pass\n"),
        ("except A, B:\n try: f()\n except C, D: g()\n", "except(A, B):\n try: f()\n except(C, D):g()\n"),
    ],
)
def test_types_of_exceptions_get_parentheses(text, older):
    text, older = f"try: f()\n{text}", f"try: f()\n{older}"
    assert rewritten(text) == older
    ast.parse(older)
    if "(A)" not in text and "*A" not in text:  # there is no blank that a parenthesis could replace
        check_places(text)


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ('f"{d["a"]}"', "f\"{d['a']}\""),
        ("f'{d['a']}'", "f'{d[\"a\"]}'"),
        ('rf"{d["a"]}\\d"', "rf\"{d['a']}\\d\""),
        ('Fr"{d[R"a"]}"', "Fr\"{d[R'a']}\""),
        ('f"{d["it\'s"]}"', "f\"{d['it_s']}\""),
        ('f"{"\\n".join(a)}"', "f\"{'_n'.join(a)}\""),
        ("f\"{'\\n'.join(a)}\"", "f\"{'_n'.join(a)}\""),
        ("f'''{'\\n'.join(a)}'''", "f'''{\"_n\".join(a)}'''"),
        ('f"""{d["a"]} {"\\n"}"""', 'f"""{d[\'a\']} {\'_n\'}"""'),
        ('f"""{"""a"""}"""', "f\"\"\"{'''a'''}\"\"\""),
        ('f"{f"{x}"}"', "f\"{f'{x}'}\""),
        ('f"{", ".join(f"{x!r:>{w}}" for x in a)}"', "f\"{', '.join(f'{x!r:>{w}}' for x in a)}\""),
        ('f"{f"{d["a"]}"}"', "f\"{~( d['a'],)}\""),
        ('f"{f"{f"{x}"}"}"', "f\"{~( f'{x}',)}\""),
        ('f"{f"a {x=} {y!r} {z:>{w}.{p}}"}"', "f\"{f'a {x=} {y!r} {z:>{w}.{p}}'}\""),
        ('f"{f"a {x=} {y!r} {z:>{w}.{p}}\\n"}"', 'f"{~(   x,   y,    z,  w,  p,   )}"'),
        ('f"{f"\\n"}"', 'f"{~(  )}"'),
        ('f"{x:{"a"}>{d["w"]}}"', "f\"{x:{'a'}>{d['w']}}\""),
        ('f"{ {1: "a"}[1]}{(lambda a: "b")(x)}{{"a"}}"', None),
        ('f"{ {1: "a"}[1]}{(lambda a: "b")(x)}{ {"a"} }"', "f\"{ {1: 'a'}[1]}{(lambda a: 'b')(x)}{ {'a'} }\""),
        ('"a" f"{d["b"]}" "c"', '"a" f"{d[\'b\']}" "c"'),
        ('f"{f"a" "b" f"{x}"}"', "f\"{f'a' 'b' f'{x}'}\""),
        ('f"{"a" f"{d["b"]}"}"', "f\"{~(     d['b'],)}\""),
        ('f"{x} {y}" f"{d["a"]}"', 'f"{x} {y}" f"{d[\'a\']}"'),
        ('f"{b"\\0"}{u"a"}"', "f\"{b'_0'}{u'a'}\""),
    ],
)
@OLD_FORMAT_STRINGS
def test_quotes_in_format_strings_become_others(text, older):
    if older is None:
        assert downgraded(f"x = {text}\n".encode()) is None
        return
    assert rewritten(f"x = {text}\n") == f"x = {older}\n"
    check_places(f"x = {text}\n")


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ('f"{\nx}"', "~( \nx,)"),
        ('f"{x # c\n}"', "~( x,   \n )"),
        ('f"{x# c\n}"', "~( x,  \n )"),
        ('f"{x\n} {y\n}"', "~( x,\n   y,\n )"),
        ('f"{d["a"] + (\n"\\n")}"', '~( d["a"] + (\n"\\n"),)'),
        ('f"{x:{\nw}}" "a"', "~( x, \nw,     )"),
        ('"a" f"b" \\\n  f"{\nx}"', "~(        \n     \nx,)"),
        ('f"{x + \\\n y}"', "~( x + \\\n y,)"),
        ('f"""{x # c\n}\n{d["a"]}"""', '~(   x,   \n \n d["a"],  )'),
        ('f"{f"{d["a"]}"\n}"', "~( f\"{d['a']}\",\n )"),
        ('f"ü{\nx}"', "~(   \nx,)"),
        ('(f"{\nx}")', "(~( \nx,))"),
        ('f"{\n(x)}".y', "~( \n(x),).y"),
        ('f"{x!r:{\nw}}{(y)=}"', "~( x,   \nw,  (y), )"),
    ],
)
@OLD_FORMAT_STRINGS
def test_format_strings_over_several_lines_become_tuples(text, older):
    text, older = f"z = {text}\n", f"z = {older}\n"
    assert rewritten(text) == older
    check_places(text)


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ('t"{x} a"', 'f"{x} a"'),
        ("T'{x!r:>{w}}'", "F'{x!r:>{w}}'"),
        ('rt"{x}\\d" tR"{y}"', 'rf"{x}\\d" fR"{y}"'),
        ("f\"{t'{x}'}\"", "f\"{f'{x}'}\""),
    ],
)
@OLD_TEMPLATE_STRINGS
def test_template_strings_become_format_strings(text, older):
    assert rewritten(f"z = {text}\n") == f"z = {older}\n"
    check_places(f"z = {text}\n")


def test_what_any_python_reads_stays_as_it_is():
    kept = "x = f\"{d['a']!r:>{w}} {{}} \\n {x=}\" f'''\n{x}\n''' '\\n'\n"
    assert rewritten(kept + "type X = int\n") == kept + "...; X = int\n"


@pytest.mark.parametrize(
    ("encoding", "newline"),
    [(e, n) for e in ("utf-8", "utf-8-sig", "latin-1") for n in ("\n", "\r\n")] + [("utf-8", "\r")],
)
def test_encodings_and_newlines_are_kept(encoding, newline):
    lines = [
        f"# coding: {encoding.removesuffix('-sig')}",
        'é, ü = "é", f"ü {é}"; type X[ü] = é; é.ü()',
        "class A[",
        "    é,  # ü",
        "]:",
        '    b = "ä"; c = f"ö{d["ä"]}" + e.f',
    ]
    data = newline.join(lines).encode(encoding)
    check_places(newline.join(lines), data)
    older = downgraded(data)
    assert older is not None
    assert older.count(newline.encode()) == len(lines) - 1
    assert newline == "\n" or b"\n" not in older.replace(newline.encode(), b"")
    assert older.decode(encoding).startswith("# coding")


HANDLER = "try:\n    f()\nexcept {}:\n    pass\n"


@pytest.mark.parametrize(
    "caught", ["A, e", "A, _", "(A, B), err", "A, _error", "socket.error, e", "A, (number, text)", "A, [a, b]"]
)
def test_handlers_of_python_2_are_refused(caught):
    data = HANDLER.format(caught).encode()
    assert downgraded(data) is None
    assert downgraded(b"type X = int\n" + data) is None


@OLD_HANDLERS
def test_handlers_of_python_2_tell_what_they_are():
    with pytest.raises(SourceProblem) as refused:
        parse(HANDLER.format("A, e").encode())
    assert REFUSED.match(refused.value.message)


@pytest.mark.parametrize("caught", ["A, B", "A, EOF", "A, b.c", "A, B, c", "A, _Private", "A, f()"])
def test_handlers_of_python_3_are_read(caught):
    parse(HANDLER.format(caught).encode())


@pytest.mark.parametrize(
    "text",
    [
        "print 'a'\n",
        "def f(:\n",
        "type X = \n",
        "type X[T = int\n",
        "def f[T](: pass\n",
        "type X = int\nprint 'a'\n",
        "try: f()\nexcept A, B as e: pass\n",
        'x = f"{"\n',
        'x = f"{a b}"\n',
        'type X = f"{"a" "b\n',
        "x = 0777; type X = int\n",
        "type X = int\nx = " + "(" * 5_000 + ")" * 5_000 + "\n",
        "type X = int\n  y = 1\n",
    ],
)
def test_broken_files_are_refused_as_they_were(text):
    data = text.encode()
    with pytest.raises(SyntaxError) as expected:
        ast.parse(data)
    with pytest.raises(SourceProblem) as refused:
        parse(data)
    found = refused.value
    assert (found.message, found.line) == (expected.value.msg, expected.value.lineno)


@pytest.mark.parametrize("data", [b"type X = '\xff'\n", b""])
def test_what_is_no_text_is_not_rewritten(data):
    assert not downgraded(data)


def test_deep_expressions_are_read():
    parse(("type X = int\nx = " + " + ".join(["a"] * 300) + "\n").encode())
    parse(("type X = int\nif a: pass\n" + "elif a: pass\n" * 250).encode())


def test_libcst_is_loaded_for_files_that_need_it_only():
    program = (
        "import sys; from racelint.languages.python import parse; parse({!r}.encode()); print('libcst' in sys.modules)"
    )
    for text, loaded in (("x = 1\n", "False"), ("try: f()\nexcept A, B: pass\n", str(sys.version_info < (3, 14)))):
        done = subprocess.run([sys.executable, "-c", program.format(text)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == loaded


def test_blanks_that_libcst_drops_move_nothing():
    text = """\
        try: f()
        except A : g(f"{d["a"]}"); type X = a.b
        except  A, B  : g(f"{x!r :>{d["w"]}} {f"{y}"}", z)
        """
    check_places(textwrap.dedent(text))


RACE = """\
import threading

type Rows[T] = dict[str, T]


class Table[
    T,
]:
    def __init__(self, source: Rows[T]):
        self.rows = {}
        self._source = source
        threading.Thread(target=self._fill).start()

    def _fill(self):
        for name in self._source:
            try:
                self.rows[name] = f"{name}: {self._source["ü"]}"
            except KeyError, ValueError: print(name)

    def names(self):
        return f"ü {", ".join(f"{name!r}" for name in self.rows)}"%COMMENT%

    def called(self):
        if size := f"{len("a")}":
            return [row for row in self.rows]  # racelint: ignore[unlocked-shared-write] only before the start
"""


def findings(folder: Path, text: str) -> list[Finding]:
    path = folder / "table.py"
    path.write_text(text, "utf-8")
    packs = load_packs(())
    rules = [rule for pack in packs if pack.name == BUILTIN for rule in pack.rules]
    report = check(Request((str(path),), packs, Settings()), rules)
    assert not report.errors
    return [finding for finding in report.findings if finding.rule == "unlocked-shared-write"]


def test_a_race_is_found_where_it_stands(tmp_path):
    text = RACE.replace("%COMMENT%", "")
    (found,) = findings(tmp_path, text)
    span = found.location.span
    row = text.split("\n")[span.line - 1]
    assert "def names" in text.split("\n")[span.line - 2]
    assert row[span.column - 1 :].startswith('(f"{name!r}" for name in self.rows)')
    places = {(access.kind, access.location.span.line) for access in found.accesses}
    assert ("insert", 1 + text[: text.index("self.rows[name]")].count("\n")) in places


def test_comments_silence_what_is_found_there(tmp_path):
    assert not findings(tmp_path, RACE.replace("%COMMENT%", "  # racelint: ignore[unlocked-shared-write] one thread"))


def strings(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Format and template strings."""
    field = st.builds(
        "{{{}{}{}{}}}".format,
        inner,
        st.sampled_from(["", " ", "\n", " # c\n"]),
        st.sampled_from(["", "=", "!r", "="]),
        st.sampled_from(["", ":>3", ":{w}", ":>{w}.{d['p']}"]),
    )
    parts = st.lists(st.one_of(field, st.sampled_from(["a", "ü ", "{{", "}}", "\\n"])), max_size=3).map("".join)
    prefix = st.sampled_from(["f", "F", "rf", "t"])
    return st.builds("{0}{2}{1}{2}".format, prefix, parts, st.sampled_from(['"', "'", '"""', "'''"]))


EXPRESSIONS = st.recursive(
    st.sampled_from(
        ["x", "é", "y.z", "d['a']", 'd["b"]', "'\\n'", '"it\'s"', "'''c'''", '"""\nd"""', "(x)", "[*x, y]"]
    ),
    lambda inner: st.one_of(
        st.builds("g({}, k={})".format, inner, inner),
        st.builds(" {{1: {}}}[ {}]".format, inner, inner),
        st.builds("(lambda v: {})".format, inner),
        st.builds("({}\n# c\n)".format, inner),
        st.builds("[{} for v in {}]".format, inner, inner),
        st.builds("({} {})".format, strings(inner), strings(inner)),
        strings(inner),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(strings(EXPRESSIONS))
def test_any_format_string_is_read_and_its_names_keep_their_places(string):
    check_places(f"type X = int\nz = {string} + y\n")
