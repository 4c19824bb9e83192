"""The pipeline on one page: discover, extract, link, ask the rules, suppress, report."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from racelint import extract, suppress
from racelint.analysis.program import Infer, Program, link
from racelint.baseline import Baseline, Compared, Entry, compare, stale_entries
from racelint.cache import Cache
from racelint.changes import Changes
from racelint.changes.concerned import Concerned
from racelint.comment_rules import UNEXPLAINED, UNUSED
from racelint.config import Settings
from racelint.discover import Scope, discover
from racelint.errors import RacelintError
from racelint.finding import Finding, SourceError
from racelint.languages import FrontEnd, front_ends
from racelint.languages.python.text import decode
from racelint.log import phase
from racelint.model import Comment, Module, Source
from racelint.plugins import Pack
from racelint.report import Report, Summary
from racelint.rule import Rule
from racelint.span import Span
from racelint.suppress.unused import report_unexplained, report_unused, unused
from racelint.suppress.whole import seen_in_part

DEFAULTS = Settings()


class RuleError(RacelintError):
    """A rule that crashed or reported nonsense; the message names it and where it comes from."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to analyse and how; `jobs` None leaves the number of processes to us, `cache` None means no cache.

    `root` is the directory that files are analysed with, in place of their project's; `baseline` is what
    is known already; of `changes` only what they concern is reported.
    """

    paths: tuple[str, ...]
    packs: tuple[Pack, ...]
    settings: Settings = DEFAULTS
    jobs: int | None = None
    cache: Cache | None = None
    root: str | None = None
    baseline: Baseline | None = None
    changes: Changes | None = None


def check(request: Request, rules: Sequence[Rule], progress: extract.Progress = lambda done, total: None) -> Report:
    """Analyse, and report what `rules` find. The same input gives the same report, with any jobs and any cache.

    Raises RacelintError if the run as a whole cannot go on; a file that fails only adds to the report's errors.
    """
    return judge(request, analyse(request, progress), rules)


def judge(request: Request, analysed: Analysed, rules: Sequence[Rule]) -> Report:
    """Report what `rules` find in an analysed program. Raises RuleError if one of them crashes."""
    found = sort_out(request, analysed, rules)
    compared = found.compared(request.baseline) if request.baseline else Compared(found.shown, (), ())
    concerned = Concerned(request.changes, analysed.sources) if request.changes else lambda finding: True
    findings = tuple(filter(concerned, compared.new))
    return Report(
        findings=findings,
        errors=analysed.errors,
        notes=(*found.notes, *(stale_entries(request.baseline, compared) if request.baseline else ())),
        summary=Summary(
            files=len(analysed.sources),
            lines=sum(source.module.lines for source in analysed.sources),
            hidden=len(found.hidden),
            suppressed=found.suppressed,
            unused_suppressions=found.unused_suppressions,
            baselined=len(compared.known),
            outside_diff=len(compared.new) - len(findings),
        ),
    )


class SortedOut(NamedTuple):
    """The findings that are this run's business: shown, and hidden below the level; notes and counts of the rest.

    `judged` says whether the run would have found what an entry of a baseline stands for.
    """

    shown: tuple[Finding, ...]
    hidden: tuple[Finding, ...]
    notes: tuple[str, ...]
    suppressed: int
    unused_suppressions: int
    judged: Callable[[Baseline, Entry], bool]

    def compared(self, baseline: Baseline) -> Compared:
        """What is new, known and gone since a baseline was written."""
        return compare(baseline, self.shown, self.hidden, lambda entry: self.judged(baseline, entry))


def sort_out(request: Request, analysed: Analysed, rules: Sequence[Rule]) -> SortedOut:
    """Ask the rules; leave out what is silenced or about other files, and tell what is hidden from what is shown."""
    scope, sources = analysed.scope, analysed.sources
    with collector_off():
        found = ask(analysed.program, rules, request.packs)
    reported = frozenset(file.path for file in scope.files if file.within) & {
        source.path for source in sources if source.reported
    }
    asked = Asked(request, analysed, rules, reported | scope.named)
    with phase("suppressions"):
        sifted, suppressions = silence(found, sources, front_ends())
        mine = [item for item in suppressions if item.path in asked.files]
        about = comments_on(asked, mine, sifted.used)
    wanted = [finding for finding in (*sifted.kept, *about.findings) if scope.shows(finding, reported)]
    kept = sorted([finding for finding in wanted if shown(finding, request.settings)], key=_order)
    return SortedOut(
        shown=tuple(kept),
        hidden=tuple(finding for finding in wanted if not shown(finding, request.settings)),
        notes=unknown_names(mine, request.packs),
        suppressed=sum(scope.shows(finding, reported) for finding in sifted.silenced),
        unused_suppressions=about.unused,
        judged=asked.covers,
    )


@dataclass(frozen=True, slots=True)
class Analysed:
    """A linked program, its sources, and the files that are not in it."""

    scope: Scope
    sources: list[Source]
    program: Program
    errors: tuple[SourceError, ...]


def analyse(request: Request, progress: extract.Progress = lambda done, total: None) -> Analysed:
    """Discover, extract and link; rules have not been asked yet. Raises like `check`."""
    table, settings = front_ends(), request.settings
    with phase("finding the files"):
        scope = discover(request.paths, table, settings.exclude, request.root)
    with phase("reading them"), collector_off():
        outcomes = extract.extract(scope.files, table, request.cache, request.jobs, progress, tests=settings.tests)
    sources = to_sources(scope, outcomes, table, tests=settings.tests)
    knowledge = (*(file for pack in request.packs for file in pack.knowledge), *settings.knowledge)
    with phase("linking them"), collector_off():
        program = link(sources, knowledge, inference(sources, table), settings.python_memory_model)
    errors = {*scope.errors, *(outcome for outcome in outcomes.values() if isinstance(outcome, SourceError))}
    in_order = sorted(errors, key=lambda error: (error.path, error.line, error.kind, error.message))
    return Analysed(scope, sources, program, tuple(in_order))


@contextmanager
def collector_off() -> Iterator[None]:
    """Millions of small tuples and no cycles: the cyclic garbage collector would take half of the time for nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()  # what was made lives on: looking through it once more would find nothing
            gc.enable()


def inference(sources: Sequence[Source], table: Mapping[str, FrontEnd]) -> Infer:
    """The front ends' type inference, each made when it is first asked."""
    by_language = {front_end.name: front_end for front_end in table.values()}
    made: dict[str, Callable[[str, Span], str | None]] = {}

    def infer(language: str, path: str, span: Span) -> str | None:
        if language not in made:
            paths = [source.path for source in sources if source.module.language == language]
            made[language] = by_language[language].inference(paths)
        return made[language](path, span)

    return infer


def to_sources(
    scope: Scope, outcomes: Mapping[str, extract.Outcome], table: Mapping[str, FrontEnd], *, tests: bool = False
) -> list[Source]:
    """The modules with their names, sorted by path. Generated files, tests and vendored ones only inform the rest."""
    sources = []
    for file in scope.files:
        module = outcomes[file.path]
        if isinstance(module, Module):
            reported = tests or file.path in scope.named or not (file.quiet or module.generated)
            front_end = table[file.suffix]
            name, edition = front_end.module_name(file.path), front_end.edition(file.path)
            sources.append(Source(file.path, name, module, reported, edition))
    return sources


def ask(program: Program, rules: Iterable[Rule], packs: Iterable[Pack] = ()) -> list[Finding]:
    """What the rules find, in a fixed order and each finding once. Raises RuleError naming the rule that crashed."""
    origins = {rule.name: pack.origin for pack in packs for rule in pack.rules}
    present = {source.module.language for source in program.sources}
    findings: list[Finding] = []
    for rule in rules:
        if present.isdisjoint(rule.languages):
            continue
        name = f"rule {rule.name} of {origins.get(rule.name, 'no pack')}"
        try:
            with phase(rule.name):
                reported = list(rule.check(program))
        except Exception as error:
            raise RuleError(f"{name} crashed: {type(error).__name__}: {error}") from error
        for finding in reported:
            if not isinstance(finding, Finding) or finding.rule != rule.name:
                raise RuleError(f"{name} reported {finding!r}, which is no finding of its own")
        findings += reported
    return sorted(dict.fromkeys(findings), key=_order)


def silence(
    findings: Iterable[Finding], sources: Sequence[Source], table: Mapping[str, FrontEnd]
) -> tuple[suppress.Sifted, tuple[suppress.Suppression, ...]]:
    """Part the findings from those that a comment in the source silences."""
    by_language = {front_end.name: front_end for front_end in table.values()}

    def comments(source: Source) -> Sequence[Comment]:
        data = extract.read(source.path)
        return [] if isinstance(data, SourceError) else by_language[source.module.language].comments(data)

    suppressions = suppress.collect(sources, comments, text_lines)
    return suppress.sift(findings, suppressions), suppressions


class AboutComments(NamedTuple):
    """What there is to say about the comments that silence: findings, and how many silence nothing."""

    findings: list[Finding]
    unused: int


class Asked:
    """What a run can speak for: the `files` that it reports on, the rules that it asked, programs seen as a whole."""

    def __init__(self, request: Request, analysed: Analysed, rules: Iterable[Rule], files: frozenset[str]) -> None:
        self.files = files
        self.known = frozenset(rule.name for pack in request.packs for rule in pack.rules)
        self.requires_reason = request.settings.require_reason
        self._folders = tuple(f"{os.path.abspath(path).replace(os.sep, '/')}/" for path in request.paths)
        self._rules = frozenset(rule.name for rule in rules)
        self._in_part = seen_in_part(request.paths, analysed.errors)

    def rules(self, path: str) -> frozenset[str]:
        """The rules that were asked about a file."""
        return self._rules

    def as_a_whole(self, path: str) -> bool:
        """Whether the program that a file belongs to was analysed as a whole."""
        return ("go" if path.endswith(".go") else "python") not in self._in_part

    def covers(self, baseline: Baseline, entry: Entry) -> bool:
        """Whether the run would have found what an entry stands for: nothing is found in files that are gone."""
        path = baseline.absolute(entry)
        gone = path.startswith(self._folders) and not os.path.exists(path)
        if entry.rule not in self.known:
            return gone or path in self.files
        return (gone or path in self.files) and self.as_a_whole(path) and entry.rule in self.rules(path)


def comments_on(
    asked: Asked, suppressions: Sequence[suppress.Suppression], used: Mapping[suppress.Suppression, frozenset[str]]
) -> AboutComments:
    """Judge suppressions: those that silence nothing, as far as that can be told, and those without a reason."""
    idle = list(unused([item for item in suppressions if asked.as_a_whole(item.path)], used, asked.known, asked.rules))
    findings = [
        report_unused(item, text_lines(item.suppression.path))
        for item in idle
        if UNUSED in asked.rules(item.suppression.path)
    ]
    if asked.requires_reason:
        bare = [item for item in suppressions if not item.reason and UNEXPLAINED in asked.rules(item.path)]
        findings += [report_unexplained(item) for item in bare]
    return AboutComments(findings, len(idle))


def shown(finding: Finding, settings: Settings = DEFAULTS) -> bool:
    """Whether a finding is severe and sure enough for the level asked for."""
    return finding.severity >= settings.min_severity and finding.confidence >= settings.min_confidence


def unknown_names(suppressions: Iterable[suppress.Suppression], packs: Iterable[Pack]) -> tuple[str, ...]:
    """A note for each suppression that names a rule which no pack has."""
    known = {rule.name for pack in packs for rule in pack.rules}
    return tuple(
        f"{item.path}:{item.line}: racelint: ignore names the unknown rule '{name}'"
        for item in suppressions
        for name in item.rules
        if name not in known
    )


def text_lines(path: str) -> list[str]:
    """A file's lines for people to read; none if it cannot be read any more."""
    data = extract.read(path)
    if isinstance(data, SourceError):
        return []
    text = data.decode("utf-8", "replace") if data.isascii() or path.endswith(".go") else decode(data)
    # Not splitlines(): compilers count neither form feeds nor Unicode separators as line ends.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _order(finding: Finding) -> tuple[object, ...]:
    return (finding.location, finding.rule, finding.symbol, finding.message, finding.severity, finding.confidence)
