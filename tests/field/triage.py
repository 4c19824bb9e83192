"""Verdicts on findings in real code: the file that keeps them, and which finding each one is about."""

from __future__ import annotations

import json
import pathlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from clones import HERE, Repository
from runs import Found

FILE = HERE / "triage.json"
SCHEMA = HERE / "triage.schema.json"
TYPES = {"string": str, "integer": int}


class TriageError(Exception):
    """Verdicts that are not what the schema asks for, or that contradict each other."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What a verdict is about: a verdict holds for one finding in one state of the code."""

    repository: str
    commit: str
    path: str
    line: int
    rule: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One finding, read by someone: right and worth mending, right and harmless, or wrong."""

    repository: str
    commit: str
    path: str
    line: int
    rule: str
    symbol: str
    severity: str
    confidence: str
    verdict: str
    reason: str
    judge: str = ""

    @property
    def key(self) -> Key:
        """Which finding it is about."""
        return Key(self.repository, self.commit, self.path, self.line, self.rule, self.symbol)

    def row(self) -> dict[str, Any]:
        """Return it as it stands in the file."""
        return {name: value for name, value in asdict(self).items() if name != "judge" or value}


def key_of(repository: Repository, found: Found) -> Key:
    """Return what a verdict on this finding would be about."""
    return Key(repository.name, repository.commit, found.path, found.line, found.rule, found.symbol)


def load(path: pathlib.Path) -> list[Verdict]:
    """Read and check a file of verdicts."""
    return [checked(row, f"{path.name}, entry {number}") for number, row in enumerate(read(path), start=1)]


def read(path: pathlib.Path) -> list[Any]:
    """Return the entries of a file of verdicts, unchecked."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, list):
        raise TriageError(f"{path.name} must hold a list")
    return data


def save(path: pathlib.Path, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts in order of place, one a line, so that a change reads well."""
    rows = [json.dumps(verdict.row(), ensure_ascii=False) for verdict in sorted(verdicts, key=lambda v: v.key)]
    body = "[\n  " + ",\n  ".join(rows) + "\n]\n" if rows else "[]\n"
    beside = path.with_suffix(".new")
    beside.write_text(body, encoding="utf-8")
    beside.replace(path)


def checked(row: Any, where: str) -> Verdict:
    """Return an entry as a verdict, or say all that is wrong with it."""
    problems = list(misfits(row, json.loads(SCHEMA.read_text(encoding="utf-8"))["items"]))
    if problems:
        raise TriageError(f"{where}: {'; '.join(problems)}")
    return Verdict(**row)


def misfits(row: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Yield where an entry departs from the schema; knows the few words that our schema uses."""
    if not isinstance(row, dict):
        yield "not an object"
        return
    yield from (f"no {name}" for name in schema["required"] if name not in row)
    for name, value in row.items():
        wish = schema["properties"].get(name)
        if wish is None:
            yield f"unknown field {name}"
        elif type(value) is not TYPES[wish["type"]]:
            yield f"{name} is not of type {wish['type']}"
        elif not fits(value, wish):
            yield f"{name} cannot be {value!r}"


def fits(value: Any, wish: dict[str, Any]) -> bool:
    """Tell whether a value of the right type is allowed."""
    return (
        value in wish.get("enum", [value])
        and (not isinstance(value, int) or value >= wish.get("minimum", value))
        and (not isinstance(value, str) or len(value) >= wish.get("minLength", 0))
        and ("pattern" not in wish or re.search(wish["pattern"], value) is not None)
    )


def parse_lines(text: str) -> list[Verdict]:
    """Read JSON lines as `collect` prints them, with `verdict` and `reason` filled in; others are passed over."""
    names = {field.name for field in fields(Verdict)}
    verdicts = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            row = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise TriageError(f"line {number}: {error}") from error
        if row.get("verdict"):
            verdicts.append(checked({k: v for k, v in row.items() if k in names}, f"line {number}"))
    return verdicts


def merge(old: Iterable[Verdict], new: Iterable[Verdict], replace: bool = False) -> list[Verdict]:
    """Add new verdicts to old ones; a second opinion on one finding needs `replace`."""
    merged = {verdict.key: verdict for verdict in old}
    for verdict in new:
        before = merged.get(verdict.key)
        if before and before.verdict != verdict.verdict and not replace:
            place = f"{verdict.repository} {verdict.path}:{verdict.line} {verdict.rule}"
            raise TriageError(
                f"{place} was judged {before.verdict}, now {verdict.verdict}: say --replace if that is meant"
            )
        merged[verdict.key] = verdict
    return list(merged.values())


def counted(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, Counter[str]]]:
    """Count the verdicts of each group, in order of their names."""
    groups: dict[str, Counter[str]] = {}
    for group, word in pairs:
        groups.setdefault(group, Counter())[word] += 1
    return sorted(groups.items())
