"""The documentation is true: its links lead somewhere, its programs and commands do what the pages say."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import click
import pytest
from tests.docs.documents import DOCS, PAGES, ROOT, Block, Command, anchors, blocks, commands, links

from racelint import config, knowledge
from racelint.cli import cli
from racelint.knowledge import sharing

README = ROOT / "README.md"
BY_NAME = {str(page.relative_to(ROOT)): page for page in (README, *PAGES)}
CONSOLES = [block for page in PAGES for block in blocks(page) if block.language == "console"]
RUN = [name for name in BY_NAME if any(block.language == "console" for block in blocks(BY_NAME[name]))]
# What a page need not show: times, and what could be fixed.
PASSING = re.compile(r"; \d+\.\d s\b| in \d+\.\d+s\b|; \d+ fixable[^;\n]*|  \[\*\]$", re.MULTILINE)


def make():
    spec = importlib.util.spec_from_file_location("docs_make", DOCS / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_the_rules_are_made_from_their_docstrings():
    made = make().pages()
    there = {page.name: page.read_text("utf-8") for page in (DOCS / "rules").glob("*.md")}
    assert there == made, "run python docs/make.py"


HEADINGS = ["What it finds", "Why it is a bug", "Example", "How it decides", "Known limits"]


@pytest.mark.parametrize("page", sorted((DOCS / "rules").glob("*-*.md")), ids=lambda page: page.stem)
def test_each_page_of_a_rule_has_the_same_parts(page):
    assert [line[3:] for line in page.read_text("utf-8").splitlines() if line.startswith("## ")] == HEADINGS


@pytest.mark.parametrize("name", BY_NAME)
def test_links_lead_somewhere(name):
    page = BY_NAME[name]
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name}: {link}"
        assert not anchor or anchor in anchors(target), f"{name}: {link}"


def test_every_page_is_reached_from_the_index():
    reached, pending = set(), [DOCS / "README.md"]
    while pending:
        page = pending.pop()
        reached.add(page)
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if ":" not in link]
        pending += [target for target in targets if target in PAGES and target not in reached]
    assert reached == set(PAGES)


def words_of(command: Command) -> list[list[str]]:
    """The command lines of racelint in a line of the shell."""
    split = shlex.split(command.text.replace("\\\n", ""), comments=True)
    found: list[list[str]] = []
    for word in split:
        if word == "racelint" and (not found or found[-1] is not None):
            found.append([])
        elif word in ("|", "&&", "||", ";", ">", ">>"):
            found.append(None)
        elif found and found[-1] is not None:
            found[-1].append(word)
    return [words for words in found if words]


def test_every_command_parses(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: value)  # the files need not be there
    for block in CONSOLES:
        for command in commands(block):
            for words in words_of(command):
                try:
                    cli.make_context("racelint", list(words), resilient_parsing=False)
                    parse(words)
                except click.exceptions.Exit:
                    pass  # --help, --version
                except click.UsageError as error:
                    pytest.fail(f"{block.page.name}:{command.line}: {command.text}: {error.message}")


def parse(words: list[str]) -> None:
    found = cli.get_command(click.Context(cli), words[0])
    if found is not None:
        found.make_context(words[0], list(words[1:]))


@pytest.mark.parametrize("name", RUN)
def test_programs_and_commands_do_what_the_page_says(name, tmp_path):
    environment = {**os.environ, "COLUMNS": "80", "PATH": path_with_racelint(tmp_path)}
    subprocess.run(["git", "init", "--quiet", tmp_path / "work"], check=True)
    for block in blocks(BY_NAME[name]):
        if file := block.options.get("file"):
            target = tmp_path / "work" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        if block.language == "console" and "skip" not in block.options:
            for command in commands(block):
                check(command, block, tmp_path / "work", environment)


def path_with_racelint(folder: Path) -> str:
    """A PATH on which `racelint` is this one, and `python` this interpreter."""
    scripts = folder / "bin"
    scripts.mkdir()
    for name, module in (("racelint", "-m racelint "), ("python", "")):
        runner = scripts / name
        runner.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module}"$@"\n', "utf-8")
        runner.chmod(0o755)
    return os.pathsep.join([str(scripts), sysconfig.get_path("scripts"), os.environ["PATH"]])


def check(command: Command, block: Block, folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command.text], cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=60
    )
    place = f"{block.place} $ {command.text}"
    printed = done.stdout + done.stderr
    same = not any(command.prints) or matches(tidy(printed), tidy("\n".join(command.prints)))
    if done.returncode not in (0, 1) or not same:
        pytest.fail(f"{place} prints\n{printed}", pytrace=False)


def tidy(text: str) -> list[str]:
    return [line.rstrip() for line in PASSING.sub("", text).strip().splitlines()]


def matches(printed: list[str], shown: list[str]) -> bool:
    """Whether the printed lines are those shown; a line of three dots stands for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_every_setting_is_explained():
    text = (DOCS / "configuration.md").read_text("utf-8")
    assert not [key for key in config.KEYS if f"| `{key}` |" not in text]


# --- files that other tools read --------------------------------------------------------------------------------------


def validate(schema: str, *files: Path) -> None:
    tool = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    if schema == "pre-commit-config":
        tool = [sys.executable, "-m", "pre_commit", "validate-config"]
    done = subprocess.run([*tool, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_github_action_and_the_hook_fit_their_schemas():
    validate("github-actions", ROOT / "action.yml")
    hook = [sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"]
    done = subprocess.run(hook, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", BY_NAME)
def test_blocks_for_other_tools_fit_their_schemas(name, tmp_path):
    for number, block in enumerate(blocks(BY_NAME[name])):
        if schema := block.options.get("schema"):
            file = tmp_path / f"{number}.yml"
            file.write_text(block.text, "utf-8")
            validate(schema, file)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)


# --- knowledge tables -------------------------------------------------------------------------------------------------

KNOWLEDGE = DOCS / "knowledge.md"
RECORDS = (
    knowledge.Container, knowledge.LibraryFunction, knowledge.LockType, knowledge.StartRow, knowledge.EntryRow,
    knowledge.UnsafeRow, knowledge.CounterpartRow, sharing.CacheRow, sharing.MemoRow, sharing.HandlerRow,
    sharing.EventRow,
    sharing.OptionRow, sharing.LiveRow, sharing.WordRow, sharing.InlineRow, sharing.FillRow,
)  # fmt: skip


def test_every_table_and_key_of_knowledge_is_explained():
    text = KNOWLEDGE.read_text("utf-8")
    for table in (*knowledge.TABLES, "aliases"):
        assert f"### `[[{table}]]`" in text or f"### `[{table}]`" in text, table
    for record in RECORDS:
        for field in dataclasses.fields(record):
            assert f"`{field.name}`" in text, f"{record.__name__}.{field.name}"
    for words in (knowledge.DOES, knowledge.LIVE, knowledge.LOCKS, knowledge.CONTEXTS, sharing.GIVES, sharing.WORDS):
        for word in words:
            assert f'`"{word}"`' in text, word


def test_every_row_that_is_shown_can_be_loaded(tmp_path):
    shown = [block for block in blocks(KNOWLEDGE) if block.language == "toml" and "[[" in block.text]
    assert shown
    for number, block in enumerate(shown):
        table = tmp_path / f"{number}.toml"
        table.write_text(block.text, "utf-8")
        knowledge.load([table])
        rows = [row for kind, rows in tomllib.loads(block.text).items() if kind != "aliases" for row in rows]
        assert all(row.get("source") for row in rows), f"{block.place}: a row says where it comes from"
