"""Properties: no text crashes the engine, and results depend on nothing but the input."""

from __future__ import annotations

import functools
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from racelint import cache, extract, plugins, run
from racelint.analysis.program import link
from racelint.discover import discover
from racelint.finding import SourceError
from racelint.languages import front_ends
from racelint.model import Module, Source

FIXTURES = Path(__file__).parent / "fixtures"
QUICK = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@functools.cache
def texts() -> tuple[str, ...]:
    files = sorted(file for file in FIXTURES.rglob("*.py") if 200 < file.stat().st_size < 8_000)
    return tuple(file.read_text("utf-8") for file in files)


@functools.cache
def go_texts() -> tuple[str, ...]:
    files = sorted(file for file in FIXTURES.rglob("*.go") if 200 < file.stat().st_size < 8_000)
    return tuple(file.read_text("utf-8") for file in files)


@functools.cache
def packs() -> tuple[plugins.Pack, ...]:
    return plugins.load()


def lowered(data: bytes, suffix: str = ".py") -> Module | SourceError:
    """Lower a file with nothing between us and the front end but its own promise: SourceProblem, or a module."""
    outcome = extract.lower("/p/a.py", data, front_ends()[suffix])
    assert not (isinstance(outcome, SourceError) and outcome.kind == "internal-error"), outcome.message
    return outcome


def findings(*modules: Module) -> list[object]:
    sources = [Source(f"/p/m{number}.py", f"m{number}", module, True) for number, module in enumerate(modules)]
    return list(run.ask(link(sources), plugins.choose(packs())))


@QUICK
@given(st.binary(max_size=400))
def test_any_bytes_are_a_module_or_a_problem(data):
    lowered(data)
    lowered(data, ".go")
    lowered(b"package m\n\nfunc f() {\n" + data + b"\n}\n", ".go")


@QUICK
@given(st.integers(0, 10_000), st.integers(0), st.integers(1, 5))
def test_edited_programs_never_crash(number, seed, edits):
    """Statements dropped, moved and re-indented, names exchanged: most still parse, and say odd things."""
    lines, chance = texts()[number % len(texts())].split("\n"), random.Random(seed)
    for _ in range(edits):
        edit(lines, chance)
    module = lowered("\n".join(lines).encode())
    if isinstance(module, Module):
        findings(module)


ANNOTATIONS = ("guarded_by", "requires_lock", "confined", "guarded_by ", "Guarded_by")
NAMED = (
    "",
    "self._lock",
    "lock",
    "_lock",
    "mu",
    "s.mu",
    "self.lock, mu",
    "event-loop",
    "a b",
    "self.",
    "..",
    "`",
    "é",
    "0",
)


@QUICK
@given(st.integers(0, 10_000), st.integers(0), st.integers(1, 8), st.sampled_from(["py", "go"]))
def test_annotations_anywhere_never_crash(number, seed, count, language):
    """Comments of any kind behind and above any line: they are read, or told as bad ones, and nothing breaks."""
    chance = random.Random(seed)
    found = texts() if language == "py" else go_texts()
    lines = found[number % len(found)].split("\n")
    for _ in range(count):
        line, mark = chance.randrange(len(lines)), "#" if language == "py" else "//"
        note = (
            f"{mark} {chance.choice(ANNOTATIONS)}: {chance.choice(NAMED)} {chance.choice(['', '(why)', '; x', mark])}"
        )
        if chance.random() < 0.5 and not lines[line].endswith("\\"):
            lines[line] += f"  {note}"
        else:
            lines.insert(line, note)
    module = lowered("\n".join(lines).encode(), f".{language}")
    if isinstance(module, Module):
        findings(module)


def edit(lines: list[str], chance: random.Random) -> None:
    code = [number for number, line in enumerate(lines) if line.strip() and not line.rstrip().endswith((":", ",", "("))]
    here, there = chance.choice(code), chance.choice(code)
    margin = lines[here][: len(lines[here]) - len(lines[here].lstrip())]
    match chance.choice(["drop", "graft", "graft", "names", "names", "names", "cut", "indent"]):
        case "drop":
            lines[here] = f"{margin}pass"
        case "graft":
            lines.insert(here, margin + lines[there].strip())
        case "names":
            number = chance.randrange(len(lines))
            names = [found for line in (lines[number], lines[there]) for found in re.findall(r"[a-z_]+", line)]
            lines[number] = re.sub(r"[a-z_]+", lambda found: chance.choice([found[0]] * 3 + names), lines[number])
        case "cut":
            lines[here] = lines[here][: chance.randrange(len(lines[here]) + 1)]
        case "indent":
            lines[here] = f"    {lines[here]}"


@QUICK
@given(st.lists(st.sampled_from(range(10_000)), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_programs_put_together_are_judged_in_any_order(numbers, chance):
    modules = [lowered(texts()[number % len(texts())].encode()) for number in numbers]
    sources = [
        Source(f"/p/m{number}.py", f"m{number}", module, True)
        for number, module in enumerate(modules)
        if isinstance(module, Module)
    ]
    rules = plugins.choose(packs())
    expected = run.ask(link(sources), rules)
    chance.shuffle(sources)
    assert run.ask(link(sources), rules) == expected


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    for number, text in enumerate(texts()):
        (root / f"m{number}.py").write_text(text, "utf-8")
    return root


def report(corpus, jobs, kept=None):
    request = run.Request((str(corpus),), packs(), jobs=jobs, cache=kept)
    return run.check(request, plugins.choose(packs()))


def test_jobs_and_cache_change_nothing(corpus, tmp_path):
    kept = cache.Cache(tmp_path / "cache")
    expected = report(corpus, 1)
    assert expected.findings
    assert report(corpus, 2) == expected
    assert report(corpus, 3, kept) == expected
    assert report(corpus, 1, kept) == expected
    for entry in list((tmp_path / "cache").glob("??/*"))[::2]:
        entry.write_bytes(b"torn")
    assert report(corpus, 2, kept) == expected


def test_the_order_of_the_directory_changes_nothing(corpus, monkeypatch):
    import os

    expected = discover([str(corpus)], front_ends())
    listing = os.scandir

    class Shuffled:
        def __init__(self, path):
            with listing(path) as entries:
                self.entries = sorted(entries, key=lambda entry: hash(entry.name))

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *exception):
            return None

    monkeypatch.setattr(os, "scandir", Shuffled)
    assert discover([str(corpus)], front_ends()) == expected
