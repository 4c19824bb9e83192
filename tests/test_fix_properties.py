"""Properties of fixes: a fixed file differs only inside what a fix is about, parses, and has its finding no more."""

from __future__ import annotations

import ast
import difflib
import functools
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from racelint import extract, fixes, fixing, plugins, run
from racelint.analysis.program import link
from racelint.finding import Finding
from racelint.languages import front_ends
from racelint.model import Module, Source

QUICK = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

# Lines between « and » may change; everything else must stay as it is. "|" stands for one level of indentation.
PYTHON = {
    "mutated-while-iterating": """
class Registry:
|def __init__(self):
||self.routes = {}

|def expire(self, now):
||#1
«||for name, route in self.routes.items():#2»
|||if route < now:#3
||||del self.routes[name]#4
||#5
||return now
#6
""",
    "mutated-cache-object": """
«»import functools#1


@functools.cache
def load(name):
|return {"name": name}


def mine(name):
|#2
«|found = load(name)#3»
|#4
|found["seen"] = '''
 text
'''
|return found#5
#6
""",
    "inconsistent-lock": """
import threading


class Pool:
|def __init__(self):
||self._lock = threading.Lock()
||self._hosts = {}  # guarded_by: self._lock

|def add(self, name):
||#1
||if name:#2
«|||self._hosts[name] = '''
text
'''#3»
||else:
|||#4
|||print(name)#5
||return name#6
""",
}
GO = {
    "inconsistent-lock": """
package p

import "sync"

type Store struct {
|mu sync.Mutex
|n  int // guarded_by: mu
}

func (s *Store) Add(n int) {
|//1
«|s.n += n //2»
|//3
}

func (s *Store) N() int {
|s.mu.Lock()
|defer s.mu.Unlock()
|return s.n //4
}
//5
//6
""",
}


@functools.cache
def packs() -> tuple[plugins.Pack, ...]:
    return plugins.load()


def found(data: bytes, path: str, rule: str) -> list[Finding]:
    """The findings of one rule in a file, with their fixes."""
    front_end = front_ends()[path[path.rindex(".") :]]
    module = extract.lower(path, data, front_end)
    assert isinstance(module, Module), module
    sources = [Source(path, "a", module, True)]
    findings = run.ask(link(sources), plugins.choose(packs(), [rule]))
    return fixing.with_fixes(findings, sources, front_ends(), lambda _: data)


def fixed(data: bytes, path: str, rule: str) -> bytes:
    findings = found(data, path, rule)
    assert findings, data.decode()
    edits = [edit for finding in findings if finding.fix for edit in finding.fix.edits]
    assert edits, data.decode()
    after = fixes.rewrite(data, front_ends()[path[path.rindex(".") :]].encoding(data), edits)
    assert after is not None
    return after


COMMENTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12).map(
    lambda text: text.replace("racelint", "").replace("lock", "")
)
STYLES = st.tuples(
    st.lists(COMMENTS, min_size=6, max_size=6),
    st.sampled_from(["    ", "  ", "\t", "   "]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(0, 3),
)


def written(template: str, sign: str, style: tuple[Sequence[str], str, str, bool, int]) -> tuple[str, set[int]]:
    """A program in somebody's style, and the numbers of the lines that may change."""
    comments, indent, _, _, gap = style
    text = template.strip("\n").replace("|", indent)
    for number, comment in enumerate(comments, start=1):
        text = text.replace(f"{sign}{number}", f"{' ' * gap}{sign}{comment}" if comment else "")
    free, lines, inside = set[int](), [], False
    for line in text.split("\n"):
        inside = inside or "«" in line
        if inside:
            free.add(len(lines))
        inside = inside and "»" not in line
        lines.append(line.replace("«", "").replace("»", ""))
    return "\n".join(lines), free


def check(template: str, rule: str, suffix: str, sign: str, style: tuple[Sequence[str], str, str, bool, int]) -> bytes:
    text, free = written(template, sign, style)
    _, _, newline, ends, _ = style
    data = (text.replace("\n", newline) + (newline if ends else "")).encode()
    after = fixed(data, f"/p/a{suffix}", rule)
    before_lines, after_lines = data.splitlines(keepends=True), after.splitlines(keepends=True)
    for operation, start, end, _, _ in difflib.SequenceMatcher(None, before_lines, after_lines, False).get_opcodes():
        if operation == "insert":
            assert {start, start - 1} & free, after.decode()
        elif operation != "equal":
            assert set(range(start, end)) <= free, after.decode()
    assert found(after, f"/p/a{suffix}", rule) == [], after.decode()
    assert after.count(b"\r\n") == (after.count(b"\n") if newline == "\r\n" else 0)
    return after


@pytest.mark.parametrize("rule", PYTHON)
@QUICK
@given(style=STYLES)
def test_a_fixed_python_file_differs_only_where_it_is_fixed(rule, style):
    after = check(PYTHON[rule], rule, ".py", "#", style)
    ast.parse(after)


@pytest.mark.parametrize("rule", GO)
@QUICK
@given(style=STYLES)
def test_a_fixed_go_file_differs_only_where_it_is_fixed(rule, style):
    check(GO[rule], rule, ".go", "//", style)
