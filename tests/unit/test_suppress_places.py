"""Suppressions of fields, variables, types and statements, in both languages; and those that are not used."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from racelint.finding import Access, Confidence, Finding, Location, Severity, Span
from racelint.fixes import apply
from racelint.languages import front_ends
from racelint.model import Source
from racelint.suppress import Suppression, collect, sift
from racelint.suppress.directive import parse, write
from racelint.suppress.unused import report_unused, unused

TABLE = front_ends()


def finding(line: int, symbol: str = "x", path: str = "/p.py", rule: str = "a-rule", others: tuple[str, ...] = ()):
    accesses = tuple(Access("other", "read", Location(other, Span(1, 1, 1, 2)), "f") for other in others)
    location = Location(path, Span(line, 1, line, 5))
    return Finding(rule, Severity.ERROR, Confidence.HIGH, location, "message", symbol, "f", accesses)


def suppressions(**files: str) -> tuple[Suppression, ...]:
    """Those of files by name: `p` is /p.py, `p_go` /p.go (module "m")."""
    texts = {
        f"/{name.replace('_', '.')}{'' if '_' in name else '.py'}": textwrap.dedent(t) for name, t in files.items()
    }
    sources = []
    for path, text in texts.items():
        front_end = TABLE[path[path.rindex(".") :]]
        name = "m" if path.endswith(".go") else path[1:-3]
        sources.append(Source(path, name, front_end.extract(text.encode()), True))
    comments = lambda source: TABLE[source.path[source.path.rindex(".") :]].comments(texts[source.path].encode())  # noqa: E731
    return collect(sources, comments, lambda path: texts[path].split("\n"))


def silenced(found: tuple[Suppression, ...], *findings: Finding) -> list[bool]:
    return [bool(sift([each], found).silenced) for each in findings]


CLASS = """\
class Cache:
    hits: int = 0{hits}
    names: dict{names}

    def __init__(self):
        self.items = {{}}{items}
        self.__secret, self.other = 1, 2{pair}

    def start(self):
        self.thread = 1{thread}
"""


@pytest.mark.parametrize(
    ("at", "symbol", "expected"),
    [
        ("hits", "Cache.hits", True),
        ("names", "Cache.names", True),
        ("names", "Cache.hits", False),
        ("items", "Cache.items", True),
        ("items", "Cache.items[...]", True),
        ("items", "Cache.items[key].state", True),
        ("items", "Other.items", False),
        ("pair", "Cache.__secret", True),
        ("pair", "Cache.other", True),
        ("thread", "Cache.thread", False),
    ],
)
def test_at_the_declaration_of_a_field_all_its_races_are_silenced(at, symbol, expected):
    marks = dict.fromkeys(("hits", "names", "items", "pair", "thread"), "")
    text = CLASS.format(**{**marks, at: "  # racelint: ignore[a-rule] why"})
    found = suppressions(p=text)
    assert silenced(found, finding(90, symbol), finding(90, symbol, "/q.py")) == [expected, expected]
    assert silenced(found, finding(90, symbol, rule="b-rule")) == [False]


def test_above_the_declaration_of_a_field():
    found = suppressions(
        p="""\
        class Cache:
            def __init__(self):
                # racelint: ignore[a-rule] why
                self.items = {
                    1: 2,
                }
        """
    )
    assert silenced(found, finding(90, "Cache.items"), finding(5), finding(7)) == [True, True, False]


def test_a_module_variable():
    found = suppressions(p="LOOKUP = {}  # racelint: ignore[a-rule] why\ndef f():\n    LOOKUP[1] = 2\n")
    assert silenced(found, finding(9, "p:LOOKUP"), finding(9, "q:LOOKUP"), finding(3)) == [True, False, False]


def test_a_store_to_a_global_in_a_function_is_no_declaration():
    found = suppressions(p="def f():\n    global X\n    X = 1  # racelint: ignore[a-rule]\n")
    assert silenced(found, finding(3), finding(9, "p:X")) == [True, False]


def test_a_class_covers_races_on_its_fields_elsewhere():
    found = suppressions(p="class A:  # racelint: ignore[a-rule] one thread\n    def f(self):\n        self.x = 1\n")
    assert silenced(found, finding(3), finding(7, "A.x", "/q.py"), finding(7, "B.x", "/q.py")) == [True, True, False]


def test_of_classes_of_one_name_the_one_that_is_used_is_meant():
    other = "class A:\n    def __init__(self):\n        self.x = 1\n"
    found = suppressions(p=other.replace("= 1", "= 1  # racelint: ignore[a-rule]"), q=other)
    assert silenced(found, finding(9, "A.x", "/p.py")) == [True]
    assert silenced(found, finding(9, "A.x", "/q.py")) == [False]
    assert silenced(found, finding(9, "A.x", "/p.py", others=("/q.py",))) == [False]


GO = """\
package m

{struct}
type Store struct {{
	mu    sync.Mutex
	items map[string]int {field}
	a, b  int
}}

var total = 0 {variable}

{method}
func (s *Store) Run() {{
	go func() {{ {closure}
		s.a = 1
	}}()
	s.b = 2 {line}
}}
"""


def go(**marks: str) -> tuple[Suppression, ...]:
    blank = dict.fromkeys(("struct", "field", "variable", "method", "closure", "line"), "")
    text = GO.format(**{**blank, **dict.fromkeys(marks, "//racelint:ignore a-rule why")})
    return suppressions(p_go=text, q_go="package m\n\nfunc (s *Store) Stop() {\n\ts.a = 2\n}\n")


@pytest.mark.parametrize(
    ("mark", "lines", "symbols"),
    [
        ("line", [17], []),
        ("closure", [14], []),
        ("method", [13, 14, 15, 16, 17, 18], []),
        ("field", [6], ["Store.items"]),
        ("variable", [10], ["m:total"]),
        ("struct", [4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 18], ["Store.items", "Store.a", "Store.b"]),
    ],
)
def test_go(mark, lines, symbols):
    found = go(**{mark: ""})
    assert [line for line in range(1, 19) if silenced(found, finding(line, path="/p.go")) == [True]] == lines
    names = ["Store.items", "Store.a", "Store.b", "m:total"]
    assert [name for name in names if silenced(found, finding(99, name, "/r.go")) == [True]] == symbols
    assert silenced(found, finding(4, path="/q.go")) == [mark == "struct"]  # a method in another file of the package


@pytest.mark.parametrize(
    ("language", "comment", "rules", "reason"),
    [
        ("python", "# racelint: ignore", [], ""),
        ("python", "# racelint: ignore because", [], "because"),
        ("python", "# racelint:ignore[a-rule]: because", ["a-rule"], "because"),
        ("python", "# racelint: ignore[a-rule , b-rule] see #12", ["a-rule", "b-rule"], "see #12"),
        ("python", "# racelint: ignore[a-rule] why  # noqa: E501", ["a-rule"], "why"),
        ("python", "# noqa: E501  # racelint: ignore[a-rule] why", ["a-rule"], "why"),
        ("go", "//racelint:ignore a-rule why it is so", ["a-rule"], "why it is so"),
        ("go", "//racelint:ignore a-rule,b-rule", ["a-rule", "b-rule"], ""),
        ("go", "//racelint:ignore a-rule, b-rule why", ["a-rule", "b-rule"], "why"),
        ("go", "// racelint: ignore[a-rule] why", ["a-rule"], "why"),
        ("go", "/* racelint:ignore a-rule why */", ["a-rule"], "why"),
        ("go", "//racelint:ignore", [], ""),
    ],
)
def test_directives(language, comment, rules, reason):
    text = f"{comment}\n" if language == "python" else f"package m\n\n{comment}\n"
    front_end = TABLE[".py" if language == "python" else ".go"]
    found = parse(front_end.extract(text.encode()).comments[0], language)
    assert found is not None
    assert (list(found.rules), found.reason) == (rules, reason)


@pytest.mark.parametrize("text", ["# racelint: ignored\n", "# racelint: ignore-file\n", "# see racelint: ignoring\n"])
def test_no_directives(text):
    assert suppressions(p=text) == ()


@pytest.mark.parametrize("language", ["python", "go"])
def test_what_is_written_is_read(language):
    comment = write(language, ("a-rule", "b-rule"), "why")
    text = f"{comment}\n" if language == "python" else f"package m\n\n{comment}\n"
    (found,) = suppressions(**{"p" if language == "python" else "p_go": text})
    assert (found.rules, found.reason) == (("a-rule", "b-rule"), "why")


# --- unused ----------------------------------------------------------------------------------------------------------

KNOWN = frozenset({"a-rule", "b-rule", "unused-suppression"})


def fixed(text: str, *findings: Finding, ran: frozenset[str] = KNOWN) -> tuple[list[str], str]:
    """The messages about unused comments in a Python text, and the text after their fixes."""
    found = suppressions(p=text)
    idle = unused(found, sift(findings, found).used, KNOWN, lambda path: ran)
    reports = [report_unused(item, text.split("\n")) for item in idle]
    return [each.message for each in reports], apply(text, [edit for each in reports for edit in each.fix.edits])


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("x = 1  # racelint: ignore[a-rule] why\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1  # racelint: ignore[a-rule] why\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("# racelint: ignore[a-rule] why\nx = 1\n", "x = 1\n"),
        ("if x:\n    # racelint: ignore[a-rule] why\n    x = 1\n", "if x:\n    x = 1\n"),
        ("x = 1\n# racelint: ignore[a-rule] why", "x = 1\n"),
        ("x = 1  # noqa: E501  # racelint: ignore[a-rule] why\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # racelint: ignore[a-rule] why  # noqa: E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # one racelint: ignore[a-rule] why\n", "x = 1  # one\n"),
        ("é = 'é'  # racelint: ignore[a-rule] why\n", "é = 'é'\n"),
        ("x = 1  # racelint: ignore\n", "x = 1\n"),
    ],
)
def test_an_unused_comment_is_reported_and_deleted(text, after):
    messages, rest = fixed(text)
    assert len(messages) == 1
    assert rest == after


def test_of_several_rules_the_unused_ones_are_taken_out():
    messages, after = fixed("x = 1  # racelint: ignore[b-rule, a-rule] why\n", finding(1))
    assert messages == ["this comment silences nothing: b-rule reports nothing here"]
    assert after == "x = 1  # racelint: ignore[a-rule] why\n"


@pytest.mark.parametrize(
    ("text", "ran"),
    [
        ("x = 1  # racelint: ignore[a-rule]\n", frozenset({"b-rule"})),
        ("x = 1  # racelint: ignore[a-rule, b-rule]\n", frozenset({"b-rule"})),
        ("x = 1  # racelint: ignore\n", frozenset({"a-rule"})),
        ("x = 1  # racelint: ignore[no-such-rule]\n", KNOWN),
        ("x = 1  # racelint: ignore[a-rule, unused-suppression] on other systems\n", KNOWN),
    ],
)
def test_nothing_is_said_where_it_cannot_be_told(text, ran):
    assert fixed(text, ran=ran) == ([], text)


def test_a_comment_is_used_by_a_finding_elsewhere():
    text = CLASS.format(hits="", names="", items="  # racelint: ignore[a-rule]", pair="", thread="")
    assert fixed(text, finding(90, "Cache.items", "/q.py")) == ([], text)


def test_a_fix_in_go():
    text = "package m\n\nvar x = 1 //racelint:ignore a-rule,b-rule why\n"
    found = suppressions(p_go=text)
    used = sift([replace(finding(3, path="/p.go"))], found).used
    (report,) = [report_unused(i, text.split("\n")) for i in unused(found, used, KNOWN, lambda path: KNOWN)]
    assert apply(text, report.fix.edits) == "package m\n\nvar x = 1 //racelint:ignore a-rule why\n"
