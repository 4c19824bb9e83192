"""Runs racelint on mutants, several independent ones at a time, and tells which of them it finds."""

from __future__ import annotations

import contextlib
import json
import pathlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import clones
import mutate_go
import mutate_python
import mutation
import runs
from clones import Clones, Repository
from mutation import Mutant
from runs import Engine, Found

from racelint import discover
from racelint.analysis import programs
from racelint.languages import go, python


class Language(Protocol):
    """What a language's module does."""

    def candidates(self, files: dict[str, bytes]) -> list[Mutant]:
        """All mutants of a repository's files that we expect to be bugs, in order of place."""

    def parses(self, data: bytes) -> bool:
        """Whether a file is a program."""


PROBE = pathlib.Path(__file__).with_name("probing.py")
LANGUAGES: dict[str, Language] = {"python": mutate_python, "go": mutate_go}
TOLD = ("rule", "symbol", "severity", "confidence")
GENERATED = {"python": python.GENERATED, "go": go.GENERATED}
HEAD = 2_000  # bytes in which a file says that it is generated
AIDS = programs.AIDS | discover.VENDORED | go.TEST_FOLDERS | {"benchmark", "benchmarks"}
STATUSES = ("found", "hidden", "missed", "set aside", "broken")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Probe:
    """What racelint says of a tree: findings of all levels, and what it believes at the lines asked for."""

    findings: tuple[Found, ...]
    explained: list[list[Row]]


def candidates(repository: Repository, where: Clones) -> list[Mutant]:
    """All mutants of one repository; what racelint does not report on anyway gives none: tests, generated files."""
    git_dir = where.holding(repository.name, repository.commit)
    names = list(clones.sources(git_dir, repository.commit, repository.language, repository.paths))
    product = [(name, sha) for name, sha in names if not is_aid(name)]
    files = dict(clones.contents(git_dir, repository.commit, product))
    written = {name: data for name, data in files.items() if not GENERATED[repository.language].search(data[:HEAD])}
    return LANGUAGES[repository.language].candidates(written)


def is_aid(name: str) -> bool:
    """Whether a path is a test, an example or a tool."""
    return clones.is_test(name) or not AIDS.isdisjoint(pathlib.PurePosixPath(name).parts[:-1])


def measure(repository: Repository, batches: list[list[Mutant]], where: Clones, engine: Engine) -> Iterator[Row]:
    """Run racelint on a repository as it is and once for each batch of mutants; yield a row for each mutant."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        tree, cache = pathlib.Path(scratch, "tree"), pathlib.Path(scratch, "cache")
        git_dir = where.holding(repository.name, repository.commit)
        clones.export(git_dir, repository.commit, tree, repository.language, repository.paths)
        before = probe(engine, tree, cache, [])
        for batch in batches:
            with applied(tree, batch, LANGUAGES[repository.language]) as made:
                after = probe(engine, tree, cache, [(mutant.path, mutant.spot) for mutant in made])
            for mutant in batch:
                known = after.explained[made.index(mutant)] if mutant in made else None
                yield row(repository, mutant, *judged(mutant, before.findings, after.findings, known))


@contextlib.contextmanager
def applied(tree: pathlib.Path, batch: list[Mutant], language: Language) -> Iterator[list[Mutant]]:
    """Cut mutants into the files of a tree, and put the files back; those that would not parse are left out."""
    originals: dict[pathlib.Path, bytes] = {}
    made = []
    for mutant in batch:
        path = tree / mutant.path
        data = path.read_bytes()
        with contextlib.suppress(mutation.BrokenError):
            changed = mutation.mutated(data, mutant)
            if language.parses(changed):
                originals[path] = data
                path.write_bytes(changed)
                made.append(mutant)
    try:
        yield made
    finally:
        for path, data in originals.items():
            path.write_bytes(data)


def probe(engine: Engine, tree: pathlib.Path, cache: pathlib.Path, spots: list[tuple[str, int]]) -> Probe:
    """Run one analysis of a tree; models of unchanged files come from `cache`."""
    kept = {"RACELINT_CACHE_DIR": str(cache)}
    done = engine.run([sys.executable, str(PROBE)], tree, json.dumps(spots).encode(), kept)
    try:
        data = json.loads(done.stdout)
    except ValueError:
        raise runs.RunError(f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-600:]}") from None
    return Probe(tuple(Found.of(found) for found in data["report"]["findings"]), data["explained"])


def judged(
    mutant: Mutant, before: Iterable[Found], after: Iterable[Found], known: list[Row] | None
) -> tuple[str, Found | None, Row]:
    """The status of a mutant, the finding that finds it, and for a missed one what is believed at its spot."""
    if known is None:
        return "broken", None, {}
    if any(touches(found, mutant) for found in before):
        return "set aside", None, {}  # the place was not silent in the first place
    old = {key(found) for found in before}
    new = [found for found in after if key(found) not in old and touches(found, mutant)]
    for found in new:
        if found.severity != "note" and found.confidence != "low":
            return "found", found, {}
    return ("hidden", new[0], {}) if new else ("missed", None, why(mutant, known))


def key(found: Found) -> tuple[object, ...]:
    """What makes a finding the same in two runs: mutants keep the lines."""
    return found.rule, found.symbol, tuple(sorted(spots(found)))


def touches(found: Found, mutant: Mutant) -> bool:
    """Whether a finding is about a mutant: its place, or an access in the lines that were protected."""
    inside = any(path == mutant.path and mutant.first <= line <= mutant.last for path, line in spots(found))
    return inside or found.symbol in mutant.places


def spots(found: Found) -> set[tuple[str, int]]:
    """The places in the text that a finding speaks of."""
    return {(found.path, found.line), *((access["path"], access["line"]) for access in found.raw.get("accesses", ()))}


def why(mutant: Mutant, known: list[Row]) -> Row:
    """What is believed at the spot of a missed mutant: of the place at stake if the analysis has it."""
    names = {place.rpartition(".")[2] for place in mutant.places}
    mine = [entry for entry in known if entry["symbol"].rpartition(".")[2] in names]
    if mine:
        return min(mine, key=lambda entry: entry["why"] == "harmless")
    return {"why": "no such access", "text": "; ".join(entry["symbol"] for entry in known) or "nothing is known there"}


def row(repository: Repository, mutant: Mutant, status: str, found: Found | None, reason: Row) -> Row:
    """A mutant and what became of it, as it is kept."""
    told = {"at": found.where, **{name: getattr(found, name) for name in TOLD}} if found else {}
    return {
        "repository": repository.name,
        "commit": repository.commit,
        "language": repository.language,
        **{
            name: getattr(mutant, name)
            for name in ("path", "line", "kind", "case", "removed", "function", "spot", "guards")
        },
        "places": list(mutant.places),
        "status": status,
        **({"finding": told} if told else {}),
        **({"why": reason["why"], "believed": reason["text"]} if reason else {}),
    }
