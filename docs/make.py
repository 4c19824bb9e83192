"""Makes docs/rules/ from the rules' docstrings: `python docs/make.py` (a test keeps them equal)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from racelint.rule import Rule

FOLDER = Path(__file__).resolve().parent / "rules"
LANGUAGES = {"python": "Python", "go": "Go"}
_GO = re.compile(r":=|\bfunc\b|^\s*//|\s// |\brange\b|\{$", re.MULTILINE)


def main() -> int:
    """Write the pages, and remove those of rules that are gone."""
    made = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


def pages() -> dict[str, str]:
    """The text of each page by its file's name: one a rule, and their list."""
    from racelint_rules import RULES

    return {"README.md": _list(RULES), **{f"{rule.name}.md": _page(rule) for rule in RULES}}


def _list(rules: Iterable[Rule]) -> str:
    rows = [f"| [`{rule.name}`]({rule.name}.md) | {_languages(rule)} | {rule.summary} |" for rule in rules]
    return "\n".join(
        [
            "# Rules",
            "",
            "Each page is also what `racelint explain RULE` prints. How sure each rule is on real code is measured in",
            "[FIELD.md](../../tests/field/FIELD.md).",
            "",
            "| rule | languages | what it reports |",
            "|---|---|---|",
            *rows,
            "",
            "All of them run by default. `select` and `ignore` in the [configuration](../configuration.md) choose. A",
            "[rule pack](../rule-packs.md) adds more.",
            "",
        ]
    )


def _page(rule: Rule) -> str:
    source = f"rules/racelint_rules/{rule.name.replace('-', '_')}.py"
    return "\n".join(
        [
            f"<!-- Made from the docstring in {source} by docs/make.py: change it there. -->",
            "",
            f"# {rule.name}",
            "",
            f"{_languages(rule)} · since {rule.since} · [its source](../../{source}) ·",
            f"[its test programs](../../tests/fixtures/{rule.name}) · [all rules](README.md)",
            "",
            *_fenced(rule.page.splitlines()),
            "",
        ]
    )


def _languages(rule: Rule) -> str:
    return ", ".join(LANGUAGES[language] for language in rule.languages)


def _fenced(lines: list[str]) -> Iterator[str]:
    """The lines of a page, with its indented examples as fenced blocks of their language."""
    block: list[str] = []
    for line in [*lines, "\0"]:
        if line.startswith("    ") or (block and not line):
            block.append(line.removeprefix("    "))
            continue
        if block:
            yield from _block(block)
            block = []
        if line != "\0":
            yield line


def _block(lines: list[str]) -> Iterator[str]:
    after = 0
    while not lines[-1]:
        lines.pop()
        after += 1
    text = "\n".join(lines)
    yield f"```{'go' if _GO.search(text) else 'python'}"
    yield from lines
    yield "```"
    yield from [""] * after


if __name__ == "__main__":
    sys.exit(main())
