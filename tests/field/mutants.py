#!/usr/bin/env python3
"""Measures recall without labels: takes one protection out of mature code, and looks whether racelint says so.

    mutants.py                             500 mutants of each language, all pinned repositories
    mutants.py --language go --only etcd   those of one
    mutants.py --run build/mutants         tables of what --save kept

A protection is a lock, a deep copy, a copy that is iterated in a container's place, or a join. Only those are taken out
whose loss should be a bug (README.md says which); some are none, so the share found is a lower bound.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import clones
import mutant_runs
import mutation
import runs
from clones import Clones, Repository
from mutant_runs import STATUSES, Row
from precision import wilson
from runs import Engine


def table(title: str, rows: Iterable[Row], group: Callable[[Row], str]) -> Iterator[str]:
    """Yield the share found of each group of mutants and of all."""
    groups: dict[str, Counter[str]] = {}
    total: Counter[str] = Counter()
    for row in rows:
        groups.setdefault(group(row), Counter())[row["status"]] += 1
        total[row["status"]] += 1
    yield f"{title:38}  mutants  found  hidden  missed  share  95 % interval"
    for name, counts in [*sorted(groups.items()), ("all", total)]:
        judged = sum(counts[status] for status in STATUSES[:3])
        low, high = wilson(counts["found"], judged)
        share = f"{counts['found'] / judged:5.0%}" if judged else f"{'-':>5}"
        counted = f"{judged:7}  {counts['found']:5}  {counts['hidden']:6}  {counts['missed']:6}"
        yield f"{name:38}  {counted}  {share}  {low:6.0%} to {high:.0%}"


def work_list(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the misses by what racelint believes of the place, the most frequent reason first."""
    missed = [row for row in rows if row["status"] == "missed"]
    reasons = Counter((row["language"], row["kind"], row["case"], row["why"]) for row in missed)
    for reason, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        language, kind, case, why = reason
        yield f"{count:4}  {language} {kind}, {case}: {why}"
        for row in missed:
            if (row["language"], row["kind"], row["case"], row["why"]) == reason:
                what = f"{row['removed']} ({row['places'][-1]} at {row['spot']})"
                yield f"        {row['repository']} {row['path']}:{row['line']} {what}"


def as_text(rows: list[Row]) -> str:
    """Return the tables and the work list."""
    aside = Counter(row["status"] for row in rows if row["status"] in STATUSES[3:])
    sections = (
        table("language, kind", rows, lambda row: f"{row['language']}, {row['kind']}"),
        table("language, kind, case", rows, lambda row: f"{row['language']}, {row['kind']}, {row['case']}"),
        table(
            "language, lock kept in other methods",
            [row for row in rows if row["kind"] == "lock"],
            lambda row: f"{row['language']}, {'3 or more' if row['guards'] > 2 else row['guards']}",
        ),
        table("repository", rows, lambda row: str(row["repository"])),
        work_list(rows),
        [f"set aside, for a finding stands there already: {aside['set aside']}; not cut: {aside['broken']}"],
    )
    return "\n\n".join("\n".join(section) for section in sections)


FORMATS: dict[str, Callable[[list[Row]], str]] = {"text": as_text, "json": lambda rows: json.dumps(rows, indent=1)}


def collect(chosen: list[Repository], where: Clones, options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Draw mutants and run racelint on them; return a row for each and the repositories that failed."""
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="racelint-") as scratch:
        engine = runs.checkout(options.revision, pathlib.Path(scratch, "engine"), options, ())
        found = {repository.name: candidates(repository, where, failed) for repository in chosen}
        drawn: dict[str, list[list[mutation.Mutant]]] = {}
        for language in mutant_runs.LANGUAGES:
            mine = {each.name: found[each.name] for each in chosen if each.language == language}
            drawn |= mutation.drawn(mine, options.mutants, options.seed, options.batches)
        if options.alone:
            drawn = {name: [[mutant] for batch in batches for mutant in batch] for name, batches in drawn.items()}
        batches = [batch for each in drawn.values() for batch in each]
        told = f"{sum(map(len, found.values()))} candidates, {sum(map(len, batches))} drawn"
        print(f"mutants: {told} in {len(batches)} batches", file=sys.stderr)

        def one(repository: Repository) -> list[Row]:
            return measured(repository, drawn[repository.name], where, engine, failed, options.save)

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            rows = pool.map(one, [repository for repository in chosen if repository.name in drawn])
            return [row for each in rows for row in each], failed


def candidates(repository: Repository, where: Clones, failed: list[str]) -> list[mutation.Mutant]:
    """Return the mutants of a repository; one that cannot be had has none."""
    try:
        return mutant_runs.candidates(repository, where)
    except (clones.CloneError, OSError) as error:
        print(f"mutants: {repository.name}: {error}", file=sys.stderr)
        failed.append(repository.name)
        return []


def measured(
    repository: Repository, batches: list[list[mutation.Mutant]], where: Clones, engine: Engine, failed: list[str],
    save: pathlib.Path | None,
) -> list[Row]:  # fmt: skip
    """Return the rows of one repository, and keep them; a failure is told and leaves it out."""
    try:
        rows = list(mutant_runs.measure(repository, batches, where, engine))
    except (clones.CloneError, runs.RunError, OSError) as error:
        print(f"mutants: {repository.name}: {error}", file=sys.stderr)
        failed.append(repository.name)
        return []
    if save:
        save.mkdir(parents=True, exist_ok=True)
        kept_at(save, repository).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return rows


def kept_at(folder: pathlib.Path, repository: Repository) -> pathlib.Path:
    """Return where the rows of one pinned repository are kept."""
    return folder / f"{repository.name.replace('/', '+')}@{repository.commit[:12]}.json"


def kept(folder: pathlib.Path, chosen: Iterable[Repository]) -> list[Row]:
    """Read what `--save` kept of the pinned commits."""
    paths = [path for path in (kept_at(folder, repository) for repository in chosen) if path.exists()]
    if not paths:
        raise runs.RunError(f"{folder} holds nothing on the pinned commits: write it with --save")
    return [row for path in paths for row in json.loads(path.read_text(encoding="utf-8"))]


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    clones.add_options(top)
    runs.add_options(top)
    group = top.add_argument_group("mutants")
    group.add_argument("--language", choices=mutant_runs.LANGUAGES, help="one language only")
    group.add_argument("--mutants", type=int, default=500, metavar="N", help="how many of each language [500]")
    group.add_argument("--seed", type=int, default=1, metavar="N", help="which ones are drawn [1]")
    group.add_argument("--batches", type=int, default=3, metavar="N", help="runs on each repository, at most [3]")
    group.add_argument("--alone", action="store_true", help="one mutant a run: slow, and none disturbs another")
    group.add_argument("--revision", default=".", help="revision of racelint; . is the working tree")
    group.add_argument("--save", type=pathlib.Path, metavar="DIR", help="keep what became of each mutant there")
    group.add_argument("--run", type=pathlib.Path, metavar="DIR", help="show what --save kept")
    group.add_argument("--format", choices=FORMATS, default="text")
    return top


def main() -> int:
    """Measure or show; return the exit status: 0, or 2 if something could not be done."""
    options = parser().parse_args()
    chosen = [
        repository for repository in clones.pinned(options.repositories, options.only)
        if options.language in (None, repository.language)
    ]  # fmt: skip
    try:
        if options.run:
            rows, failed = kept(options.run, chosen), list[str]()
        else:
            rows, failed = collect(chosen, clones.from_options(options), options)
            used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            print(f"mutants: {sum(each.ru_utime + each.ru_stime for each in used):.0f} s of CPU", file=sys.stderr)
    except (runs.RunError, clones.CloneError, OSError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    print(FORMATS[options.format](rows))
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
