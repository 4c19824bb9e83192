"""`--add-ignores`: comments are written where they fit, and nothing but comments changes."""

from __future__ import annotations

import pytest

from racelint.errors import RacelintError
from racelint.finding import Confidence, Finding, Location, Severity, Span
from racelint.languages import front_ends
from racelint.model import Source
from racelint.suppress.adding import add_ignores

TABLE = front_ends()


def added(tmp_path, text: str | bytes, *lines: int | tuple[int, str], name: str = "a.py", reason: str = "why"):
    """The file after comments for findings on these lines (of a-rule, or of the one that is named)."""
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(data)
    source = Source(path.as_posix(), "a", TABLE[path.suffix].extract(data), True)
    findings = []
    for line in lines:
        number, rule = line if isinstance(line, tuple) else (line, "a-rule")
        location = Location(path.as_posix(), Span(number, 1, number, 3))
        findings.append(Finding(rule, Severity.ERROR, Confidence.HIGH, location, "message", "x", "f"))
    result = add_ignores(findings, reason, [source], TABLE)
    return path.read_bytes().decode("utf-8", "replace"), len(result.left)


LONG = "x = " + " + ".join(["number"] * 8)


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("x = 1\n", 1, "x = 1  # racelint: ignore[a-rule] why\n"),
        ("x = 1", 1, "x = 1  # racelint: ignore[a-rule] why"),
        ("y = 1\nx = 1  # note\n", 2, "y = 1\n# racelint: ignore[a-rule] why\nx = 1  # note\n"),
        (f"if y:\n    {LONG}\n", 2, f"if y:\n    # racelint: ignore[a-rule] why\n    {LONG}\n"),
        ("x = 1\r\ny = 2\r\n", 1, "x = 1  # racelint: ignore[a-rule] why\r\ny = 2\r\n"),
        (f"{LONG}\r\n", 1, f"# racelint: ignore[a-rule] why\r\n{LONG}\r\n"),
        ("f(\n    1,\n    2,\n)\n", 2, "f(\n    1,  # racelint: ignore[a-rule] why\n    2,\n)\n"),
        ("x = 1 + \\\n    2\n", 1, "# racelint: ignore[a-rule] why\nx = 1 + \\\n    2\n"),
        ("x = 1 + \\\n    2\n", 2, "x = 1 + \\\n    2  # racelint: ignore[a-rule] why\n"),
        ("x = 1 + \\\n    2 + \\\n    3\n", 2, "# racelint: ignore[a-rule] why\nx = 1 + \\\n    2 + \\\n    3\n"),
        ("x = '''\n  a\n'''\n", 2, "# racelint: ignore[a-rule] why\nx = '''\n  a\n'''\n"),
        ("x = f(y, '''a\nb''')\n", 1, "# racelint: ignore[a-rule] why\nx = f(y, '''a\nb''')\n"),
        ("# above\nx = 1\n", 2, "# above\nx = 1  # racelint: ignore[a-rule] why\n"),
    ],
)
def test_python(tmp_path, before, line, after):
    assert added(tmp_path, before, line) == (after, 0)


def test_several_lines_and_rules(tmp_path):
    text, _ = added(tmp_path, "x = 1\ny = 2\nz = 3\n", 1, (1, "b-rule"), 1, 3)
    assert text == "x = 1  # racelint: ignore[a-rule, b-rule] why\ny = 2\nz = 3  # racelint: ignore[a-rule] why\n"


def test_a_comment_that_is_there_gets_the_rule_too(tmp_path):
    text, _ = added(tmp_path, "x = 1  # racelint: ignore[b-rule] because\n", 1)
    assert text == "x = 1  # racelint: ignore[b-rule, a-rule] because\n"
    text, _ = added(tmp_path, "# racelint: ignore[b-rule] because\nx = 1\n", 2)
    assert text == "# racelint: ignore[b-rule, a-rule] because\nx = 1\n"


@pytest.mark.parametrize("codec", ["latin-1", "utf-8-sig", "utf-8"])
def test_the_encoding_stays(tmp_path, codec):
    head = f"# -*- coding: {codec} -*-\n" if codec == "latin-1" else "# no cookie\n"
    before = f"{head}é = 'é'\n".encode(codec)
    added(tmp_path, before, 2, reason="é")
    after = (tmp_path / "a.py").read_bytes()
    assert after == before.replace(
        b"'\n", "'  # racelint: ignore[a-rule] é\n".encode(codec).removeprefix(b"\xef\xbb\xbf")
    )


def test_a_reason_that_the_file_cannot_hold_leaves_it_alone(tmp_path):
    before = b"# -*- coding: latin-1 -*-\nx = 1\n"
    assert added(tmp_path, before, 2, reason="漢") == (before.decode(), 1)


def test_a_reason_is_one_line(tmp_path):
    with pytest.raises(RacelintError, match="one line"):
        added(tmp_path, "x = 1\n", 1, reason="a\nb")


def test_permissions_and_links_stay(tmp_path):
    real = tmp_path / "real.py"
    real.write_text("")
    real.chmod(0o750)
    (tmp_path / "a.py").symlink_to(real)
    added(tmp_path, "x = 1\n", 1)
    assert (tmp_path / "a.py").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o750
    assert "racelint" in real.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "real.py"]


GO = """\
package m

var raw = `a
b`

func f(m map[string]int) {
	m["a"] = 1
	m["b"] = 2 // two
	m["c"] = g(
		1,
	)
}
"""


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (3, "var raw", "//racelint:ignore a-rule why\nvar raw"),
        (4, "b`\n", "b` //racelint:ignore a-rule why\n"),
        (7, '\tm["a"]', '\t//racelint:ignore a-rule why\n\tm["a"]'),  # gofmt would align it with the next comment
        (8, '\tm["b"]', '\t//racelint:ignore a-rule why\n\tm["b"]'),
        (10, "\t\t1,\n", "\t\t1, //racelint:ignore a-rule why\n"),
    ],
)
def test_go(tmp_path, line, old, new):
    assert added(tmp_path, GO, line, name="a.go") == (GO.replace(old, new), 0)
    again = GO.replace("\n", "\r\n")
    after, _ = added(tmp_path, again, line, name="a.go")
    assert after.replace("\r\n", "\n") == GO.replace(old, new)
    assert after.count("\n") == after.count("\r\n")


def test_go_rules_are_added_to_a_comment(tmp_path):
    text = GO.replace("// two", "//racelint:ignore b-rule two")
    assert added(tmp_path, text, 8, name="a.go")[0] == text.replace("b-rule", "b-rule,a-rule")
