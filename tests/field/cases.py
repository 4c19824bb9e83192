"""Real bugs with their fixes: the manifest, and which findings are about a bug of it."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from clones import HERE
from runs import Found

FILE = HERE / "cases.json"
SCHEMA = HERE / "cases.schema.json"
NEAR = 3  # lines between a finding and a line of the bug that are still the same place
VENDOR = "vendor/"
SHARED = frozenset({"unlocked-shared-write", "inconsistent-lock", "write-under-read-lock", "stale-write-across-await"})
TABLES = frozenset({"unversioned-delete", "split-check-then-act", "divergent-keep-predicate", "mismatched-key"})
ACCEPTED = {  # the rules that may report a bug of each pattern, those to come among them
    "shared-write": SHARED,
    "cache-mutation": frozenset({"mutated-cache-object"}),
    "delete-while-iterating": SHARED | {"mutated-while-iterating"},
    "check-then-act": SHARED | TABLES,
}


class CaseError(Exception):
    """A manifest that cannot be read as one."""


@dataclass(frozen=True, slots=True)
class Case:
    """One bug: a commit that has it, the one that mends it (None if none does yet), and where it stands."""

    id: str
    lang: str
    repo: str
    buggy: str
    fixed: str | None
    files: tuple[str, ...]
    pattern: str
    symbol: str
    lines_buggy: tuple[int, ...]
    scope: str = ""
    concurrency: str = ""
    excepted: str = ""
    seed: bool = False

    @property
    def base(self) -> str:
        """The folder that is taken for the whole repository, where the bug stands in a vendored copy."""
        before, found, _ = self.files[0].partition(VENDOR)
        return before + found if found else ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The folders to export: of a vendored copy those of the bug alone, else the whole repository."""
        return tuple(sorted({str(pathlib.PurePosixPath(name).parent) for name in self.files})) if self.base else ()

    @property
    def places(self) -> tuple[str, ...]:
        """Where the files stand in the exported tree."""
        return tuple(name.removeprefix(self.base) for name in self.files)

    @property
    def words(self) -> str:
        """What `--only` looks at."""
        return " ".join((self.id, self.repo, self.lang, self.pattern))

    @property
    def facts(self) -> dict[str, Any]:
        """What a result depends on: when it changes, the case is to be measured anew."""
        return {
            "buggy": self.buggy, "fixed": self.fixed, "files": list(self.files), "pattern": self.pattern,
            "symbol": self.symbol, "lines_buggy": list(self.lines_buggy),
        }  # fmt: skip


def load(path: pathlib.Path, only: str = "") -> list[Case]:
    """Read the cases that `only` matches, in the order of the file."""
    try:
        every = [case_of(row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, AttributeError) as error:
        raise CaseError(f"{path.name} is no manifest of cases: {error}") from error
    if unknown := sorted({case.pattern for case in every} - set(ACCEPTED)):
        raise CaseError(f"{path.name} has patterns that no rule is accepted for: {', '.join(unknown)}")
    return [case for case in every if re.search(only, case.words)]


def case_of(row: dict[str, Any]) -> Case:
    """Build a case from an entry; what is said for readers only is left out."""
    names = {field.name for field in fields(Case)}
    facts = {name: value for name, value in row.items() if name in names}
    return Case(**facts | {name: tuple(facts[name]) for name in ("files", "lines_buggy") if name in facts})


def concerning(findings: Iterable[Found], case: Case, lines: bool) -> tuple[Found, ...]:
    """Return the findings that are about the case."""
    return tuple(found for found in findings if concerns(found, case, lines))


def concerns(found: Found, case: Case, lines: bool) -> bool:
    """Tell whether a finding is about the case: an accepted rule, one of its files, and its symbol or place.

    `lines` lets a line near one of the bug's stand for the symbol; after the fix lines have moved.
    """
    spots = [(spot["path"], spot["line"]) for spot in (found.raw, *found.raw.get("accesses", ()))]
    if found.rule not in ACCEPTED[case.pattern] or not {path for path, _ in spots} & set(case.places):
        return False
    if last(case.symbol) in {last(found.symbol), last(found.raw.get("function") or "")} - {""}:
        return True
    return lines and any(
        path == case.places[0] and abs(line - wrong) <= NEAR for path, line in spots for wrong in case.lines_buggy
    )


def last(name: str) -> str:
    """Return the last part of a symbol, however it is written: `c.nodeLister.Get().Annotations`, `Store.__cache[...]`.

    A symbol that ends in brackets with nothing named in them has none: it is told by its place.
    """
    parts = re.split(r"[.:/()\[\]]+", name.strip().rstrip(")]"))
    return parts[-1].lstrip("_").lower()
