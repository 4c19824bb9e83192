"""The examples on the rules' pages: what is shown as a bug is reported, what is to be used instead is clean."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.docs.documents import DOCS, blocks

from racelint import plugins, run
from racelint_rules import RULES

PRELUDES = {
    "python": "import asyncio\nimport copy\nimport threading\n\n\n",
    "go": 'package example\n\nimport (\n"slices"\n"sync"\n"sync/atomic"\n)\n\n',
}
FILES = {"python": "example.py", "go": "example.go"}


PART = {  # a function or type of an example: its first line, and all until the next one
    "python": re.compile(r"^( *)(?:async )?def (\w+)\(.*\n(?:(?:\1 +.*)?\n)*", re.MULTILINE),
    "go": re.compile(r"^()((?:func|type) [^{]*)\{.*\n(?:[^}].*\n|\n)*\}\n", re.MULTILINE),
}


class Example(NamedTuple):
    """A block of the section "Example"; `good` if "Use instead" stands before it."""

    rule: str
    language: str
    good: bool
    text: str

    @property
    def name(self) -> str:
        return f"{self.rule}-{self.language}-{'good' if self.good else 'bad'}"


def examples() -> Iterator[Example]:
    for rule in RULES:
        page = DOCS / "rules" / f"{rule.name}.md"
        lines = page.read_text("utf-8").splitlines()
        shown = ""
        begin, end = lines.index("## Example"), lines.index("## How it decides")
        for block in blocks(page):
            if begin < block.line < end:
                before = next(line for line in reversed(lines[: block.line - 1]) if line)
                good = before.startswith("Use instead")
                shown = merged(shown, block.text, block.language) if good else block.text
                yield Example(rule.name, block.language, good, shown)


def merged(bad: str, good: str, language: str) -> str:
    """The bad example with those of its functions and types that the good one shows anew."""
    parts = {part[2]: part for part in PART[language].finditer(good) if not (language == "python" and part[1])}
    if not parts or good.startswith("class "):
        return good

    def anew(part: re.Match[str]) -> str:
        return textwrap.indent(parts[part[2]][0], part[1]) if part[2] in parts else part[0]

    indent = max((part[1] for part in PART[language].finditer(bad)), key=len, default="")
    known = {part[2] for part in PART[language].finditer(bad)}
    added = [f"\n{textwrap.indent(part[0], indent)}" for name, part in parts.items() if name not in known]
    return PART[language].sub(anew, bad) + "".join(added)


EXAMPLES = list(examples())


def test_every_rule_has_an_example_in_each_of_its_languages():
    shown = {(each.rule, each.language) for each in EXAMPLES if not each.good}
    assert shown == {(rule.name, language) for rule in RULES for language in rule.languages}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_examples_are_reported_and_their_cures_are_clean(example, tree):
    root = tree({"go.mod": "module example.com/example\n\ngo 1.22\n", "pyproject.toml": ""})
    (root / FILES[example.language]).write_text(PRELUDES[example.language] + example.text, "utf-8")
    report = run.check(run.Request((str(root),), (plugins.builtin(),)), RULES)
    found = {finding.rule for finding in report.findings}
    assert found == (set() if example.good else {example.rule}), report.findings
    assert not report.errors
