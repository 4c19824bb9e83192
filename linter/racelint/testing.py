"""Tests rules against programs whose comments say what is to be found: for racelint's own rules and for yours.

A fixture is one file or, if the bug needs several, one directory; it lies in a folder named after the rule it tests
(programs in folders named "seeds" and "mixed" run every rule). Comments, in the language's own syntax, say what the
rule must report at the default level (confidence medium and up, severity warning and up):

    # expect: my-rule          reported on this line; twice if named twice: `expect: my-rule, my-rule`
    # expect-above: my-rule    reported on the line above
    # missed: my-rule          a real bug that the rule does not see yet: fails once it does
    # false: my-rule           a wrong report that it still makes: fails once that is gone
    # held: self._lock         the analysis believes that exactly these locks are held here ("none" for none)

A line without a comment must stay clean. Text after the names, in parentheses or after a space, is for people.
`case.fixed.py` beside `case.py` is the text after all safe fixes, and must be clean of every rule; so must
`case.unsafe.py`, the text after unsafe ones, too.

    import pytest
    from racelint.testing import check_fixture, programs
    from my_pack import RULES

    @pytest.mark.parametrize("program", programs("tests/fixtures"), ids=lambda path: f"{path.parent.name}/{path.name}")
    def test_fixture(program):
        check_fixture(program, RULES)
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from racelint import extract, mending, plugins, run
from racelint.analysis.program import Program, link
from racelint.discover import VENDORED
from racelint.finding import Finding, SourceError
from racelint.languages import FrontEnd, front_ends
from racelint.model import Source
from racelint.rule import Rule

EVERY_RULE = ("seeds", "mixed")
FIXED = {".fixed": "safe fixes", ".unsafe": "fixes, safe or not"}
_MARKER = re.compile(r"(?:^|[\s#/])(expect-above|expect|missed|false|held):\s*(.*)")
_NAMES = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\s*,\s*[a-z][a-z0-9]*(?:-[a-z0-9]+)*)*(?=$|[\s(;:])")


class Marker(NamedTuple):
    """One expectation: `line` is the line it speaks of, `names` the rules or, for "held", the locks."""

    kind: str
    path: str
    line: int
    names: tuple[str, ...]


_Place = tuple[str, int, str]  # path, line and rule


def programs(root: str | Path) -> list[Path]:
    """The fixture programs below a folder of rule folders, sorted."""
    suffixes = tuple(front_ends())
    found = [path for path in Path(root).glob("*/*") if path.parent.is_dir() and not path.name.startswith((".", "__"))]
    return sorted(path for path in found if path.is_dir() or (path.suffix in suffixes and not _is_fixed(path)))


def check_fixture(path: str | Path, rules: Iterable[Rule] | None = None, knowledge: Iterable[str | Path] = ()) -> None:
    """Raise AssertionError, listing every difference, unless a program's findings are what its comments say.

    Of `rules` (by default those of all installed packs) the one named like the program's folder runs, or all of them
    for "seeds" and "mixed". `knowledge` lists tables of library knowledge that come with the rules.
    """
    root = Path(path).absolute()
    known = tuple(rules) if rules is not None else _installed()
    chosen = _rules_for(root, known)
    fixture = _read(root, tuple(Path(table) for table in knowledge))
    findings = _findings(fixture, chosen)
    problems = list(_compare(fixture, findings, {rule.name for rule in chosen}))
    problems += _check_fixed(fixture, chosen, known)
    if problems:
        raise AssertionError(f"{path}:\n" + "\n".join(f"  {problem}" for problem in problems))


class _Fixture(NamedTuple):
    root: Path
    files: tuple[Path, ...]
    program: Program
    markers: tuple[Marker, ...]
    knowledge: tuple[Path, ...]


def _installed() -> tuple[Rule, ...]:
    return tuple(rule for pack in plugins.load() for rule in pack.rules)


def _rules_for(root: Path, known: Sequence[Rule]) -> tuple[Rule, ...]:
    folder = root.parent.name
    if folder in EVERY_RULE:
        return tuple(known)
    chosen = tuple(rule for rule in known if rule.name == folder)
    if not chosen:
        names = ", ".join(rule.name for rule in known) or "none"
        raise AssertionError(f"{root}: its folder is named {folder}, and no rule is (known: {names})")
    return chosen


def _read(root: Path, knowledge: tuple[Path, ...]) -> _Fixture:
    """Lower and link a program; the folder it lies in makes it no test, but its own folders may."""
    table = front_ends()
    files = tuple(sorted(_files(root, table)))
    if not files:
        raise AssertionError(f"{root}: no program is there")
    sources, markers = list[Source](), list[Marker]()
    for file in files:
        data, front_end, path = file.read_bytes(), table[file.suffix], file.as_posix()
        module = extract.lower(path, data, front_end)
        if isinstance(module, SourceError):
            raise AssertionError(f"{path}:{module.line}: {module.kind}: {module.message}")
        relative = file.relative_to(root.parent if root.is_file() else root)
        quiet = root.is_dir() and (front_end.is_test(relative.as_posix()) or not VENDORED.isdisjoint(relative.parts))
        name, edition = front_end.module_name(path), front_end.edition(path)
        is_aid = quiet or module.generated or front_end.serves_tests(module)
        left_out = front_end.is_left_out(path, module)
        sources.append(Source(path, name, module, not is_aid, edition, left_out))
        markers += _markers(path, data, front_end)
    program = link(sources, knowledge, run.inference(sources, table))
    return _Fixture(root, files, program, tuple(markers), knowledge)


def _files(root: Path, table: dict[str, FrontEnd]) -> Iterator[Path]:
    for file in [root] if root.is_file() else root.rglob("*"):
        if file.is_file() and file.suffix in table and not _is_fixed(file) and "__pycache__" not in file.parts:
            yield file


def _is_fixed(path: Path) -> bool:
    return Path(path.stem).suffix in FIXED


def _fixed(path: Path, kind: str) -> Path:
    return path.with_suffix(f"{kind}{path.suffix}")


def _markers(path: str, data: bytes, front_end: FrontEnd) -> Iterator[Marker]:
    for comment in front_end.comments(data):
        for match in _MARKER.finditer(comment.text):
            kind, text = match.groups()
            line = comment.line - 1 if kind == "expect-above" else comment.line
            yield Marker(kind.removesuffix("-above"), path, line, _names(kind, text, f"{path}:{comment.line}"))


def _names(kind: str, text: str, place: str) -> tuple[str, ...]:
    if kind == "held":
        locks = tuple(sorted(name.strip() for name in text.split(",")))
        return () if locks == ("none",) else locks
    match = _NAMES.match(text)
    if not match:
        raise AssertionError(f"{place}: '{kind}:' must be followed by rule names, not by {text!r}")
    return tuple(name.strip() for name in match[0].split(","))


def _findings(fixture: _Fixture, rules: Iterable[Rule]) -> list[Finding]:
    """What is shown at the default level: in reported files, not silenced by a comment."""
    reported = {source.path for source in fixture.program.sources if source.reported}
    found = [finding for finding in run.ask(fixture.program, rules) if finding.location.path in reported]
    sifted, _ = run.silence(found, fixture.program.sources, front_ends())
    return [finding for finding in sifted.kept if run.shown(finding)]


def _compare(fixture: _Fixture, findings: Iterable[Finding], ran: set[str]) -> Iterator[str]:
    wanted: dict[str, Counter[_Place]] = {"expect": Counter(), "false": Counter(), "missed": Counter()}
    for marker in fixture.markers:
        if marker.kind == "held":
            yield from _check_held(fixture, marker)
            continue
        for name in marker.names:
            wanted[marker.kind][marker.path, marker.line, name] += 1
            if name not in ran:
                where = f"{_short(fixture, marker.path)}:{marker.line}"
                yield f"{where}: '{marker.kind}: {name}' names no rule that runs here"
    found: dict[_Place, list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.location.path, finding.location.line, finding.rule), []).append(finding)
    places = {place for place in (*found, *wanted["expect"], *wanted["false"]) if place[2] in ran}
    for place in sorted(places):
        yield from _judge(fixture, place, found.get(place, []), {kind: count[place] for kind, count in wanted.items()})


def _judge(fixture: _Fixture, place: _Place, found: Sequence[Finding], wanted: dict[str, int]) -> Iterator[str]:
    path, line, rule = place
    where, count = f"{_short(fixture, path)}:{line}", wanted["expect"] + wanted["false"]
    if len(found) > count and wanted["missed"]:
        yield f"{where}: now found: change 'missed: {rule}' to 'expect: {rule}'"
    elif len(found) > count:
        for finding in found[count:]:
            level = f"{finding.severity.label}, {finding.confidence.label}"
            yield f"{where}: not expected: {rule}: {finding.message} ({level})"
    elif len(found) < count and wanted["false"]:
        yield f"{where}: mended: remove the marker 'false: {rule}'"
    elif len(found) < count:
        yield f"{where}: not found: {rule} (expected {count}, found {len(found)})"


def _check_held(fixture: _Fixture, marker: Marker) -> Iterator[str]:
    """Programs answer `held_at(path, line)` with the locks certainly held there, as the source names them."""
    where = f"{_short(fixture, marker.path)}:{marker.line}"
    held_at: Callable[[str, int], Iterable[str]] | None = getattr(fixture.program, "held_at", None)
    if held_at is None:
        yield f"{where}: 'held:' cannot be checked: the program does not offer held_at(path, line)"
        return
    held = tuple(sorted(held_at(marker.path, marker.line)))
    if held != marker.names:
        yield f"{where}: held: expected {', '.join(marker.names) or 'none'}, found {', '.join(held) or 'none'}"


def _check_fixed(fixture: _Fixture, rules: Sequence[Rule], known: Sequence[Rule]) -> Iterator[str]:
    """The texts after fixes are what the files beside the program say, and no rule reports anything in them."""
    for kind in FIXED:
        wanted = {file: fixed for file in fixture.files if (fixed := _fixed(file, kind)).is_file()}
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            copies = {file: Path(scratch).resolve() / file.relative_to(fixture.root.parent) for file in fixture.files}
            for file, copy in copies.items():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
            settings = replace(run.DEFAULTS, knowledge=fixture.knowledge)
            request = run.Request((scratch,), (), settings, jobs=1)
            changes = mending.mend(request, rules, unsafe=kind == ".unsafe").changes
            texts = {change.path: change.after for change in changes}
            for file, fixed in wanted.items():
                text = texts.get(copies[file].as_posix(), file.read_bytes())
                if text != fixed.read_bytes():
                    yield f"{_short(fixture, fixed.as_posix())}: differs from the text after all {FIXED[kind]}:"
                    yield from _difference(fixed.read_text("utf-8"), text.decode("utf-8", "replace"))
            yield from _check_clean(fixture, kind, Path(scratch).resolve(), known)


def _difference(expected: str, actual: str) -> list[str]:
    import difflib

    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), "expected", "after fixes", lineterm="", n=1
    )
    return [f"  {line}" for line in lines]


def _check_clean(fixture: _Fixture, kind: str, scratch: Path, known: Sequence[Rule]) -> Iterator[str]:
    for file in fixture.files:
        if (fixed := _fixed(file, kind)).is_file():
            shutil.copyfile(fixed, scratch / file.relative_to(fixture.root.parent))
    for finding in _findings(_read(scratch / fixture.root.name, fixture.knowledge), known):
        where = f"{Path(finding.location.path).name}:{finding.location.line}"
        yield f"after fixes, {where}: {finding.rule}: {finding.message}"


def _short(fixture: _Fixture, path: str) -> str:
    base = fixture.root if fixture.root.is_dir() else fixture.root.parent
    return Path(path).relative_to(base).as_posix()
