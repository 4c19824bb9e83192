"""Makes docs/rules/ from the rules' docstrings: `python docs/make.py` (a test keeps them equal)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from racelint.rule import Rule

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "rules"
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
    from racelint import plugins

    rules = plugins.builtin().rules
    return {"README.md": _list(rules), **{f"{rule.name}.md": _page(rule) for rule in rules}}


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
    source = Path(rule.check.__code__.co_filename).resolve().relative_to(ROOT).as_posix()
    fixtures = Path("tests", "fixtures", rule.name)
    programs = [f"[its test programs](../../{fixtures.as_posix()}) ·"] if (ROOT / fixtures).is_dir() else []
    return "\n".join(
        [
            f"<!-- Made from the docstring in {source} by docs/make.py: change it there. -->",
            "",
            f"# {rule.name}",
            "",
            f"{_languages(rule)} · since {rule.since} ·",
            f"[its source](../../{source}) ·",
            *programs,
            "[all rules](README.md)",
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
