"""The pipeline on one page: discover, extract, link, ask the rules, suppress, report."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from racelint import extract, fixing, suppress
from racelint.analysis.program import Infer, Program, link
from racelint.asked import Asked, comments_on
from racelint.baseline import Baseline, Compared, Entry, compare, stale_entries
from racelint.cache import Cache
from racelint.changes import Changes
from racelint.changes.concerned import Concerned
from racelint.config import Settings
from racelint.discover import Scope, discover
from racelint.errors import RacelintError
from racelint.finding import Finding, SourceError
from racelint.languages import FrontEnd, front_ends
from racelint.languages.python.text import decode
from racelint.log import log, phase
from racelint.model import Comment, Module, Source, Traits
from racelint.plugins import Pack
from racelint.policy import Policy
from racelint.report import Report, Summary
from racelint.rule import Rule
from racelint.span import Span

DEFAULTS = Settings()


class RuleError(RacelintError):
    """A rule that crashed or reported nonsense; the message names it and where it comes from."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to analyse and how; `jobs` None leaves the number of processes to us, `cache` None means no cache.

    `root` is the directory that files are analysed with, in place of their project's; with `force_exclude` named
    files are reported on only if their directory's analysis would do so. `baseline` is what is known
    already; of `changes` only what they concern is reported.
    """

    paths: tuple[str, ...]
    packs: tuple[Pack, ...]
    settings: Settings = DEFAULTS
    jobs: int | None = None
    cache: Cache | None = None
    root: str | None = None
    baseline: Baseline | None = None
    changes: Changes | None = None
    force_exclude: bool = False


def check(request: Request, rules: Sequence[Rule], progress: extract.Progress = lambda done, total: None) -> Report:
    """Analyse, and report what `rules` find. The same input gives the same report, with any jobs and any cache.

    Raises RacelintError if the run as a whole cannot go on; a file or rule that fails is only told in the report.
    """
    return judge(request, analyse(request, progress), rules)


def judge(request: Request, analysed: Analysed, rules: Sequence[Rule]) -> Report:
    """Report what `rules` find in an analysed program; those that crash are told, the others still count."""
    found = sort_out(request, analysed, rules)
    compared = found.compared(request.baseline) if request.baseline else Compared(found.shown, (), ())
    concerned = Concerned(request.changes, analysed.sources) if request.changes else lambda finding: True
    findings = tuple(filter(concerned, compared.new))
    with phase("fixes"), collector_off():
        findings = tuple(fixing.with_fixes(findings, analysed.sources, front_ends(), extract.read))
    return Report(
        findings=findings,
        errors=analysed.errors,
        failed=found.failed,
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

    `judged` says whether the run would have found what an entry of a baseline stands for; `failed` names the rules that
    crashed, and why: what they would have found is not known.
    """

    shown: tuple[Finding, ...]
    hidden: tuple[Finding, ...]
    notes: tuple[str, ...]
    suppressed: int
    unused_suppressions: int
    judged: Callable[[Baseline, Entry], bool]
    failed: tuple[str, ...] = ()

    def compared(self, baseline: Baseline) -> Compared:
        """What is new, known and gone since a baseline was written."""
        return compare(baseline, self.shown, self.hidden, lambda entry: self.judged(baseline, entry))


def sort_out(request: Request, analysed: Analysed, rules: Sequence[Rule]) -> SortedOut:
    """Ask the rules; leave out what is silenced or about other files, and tell what is hidden from what is shown."""
    scope, sources = analysed.scope, analysed.sources
    policy = Policy(request.settings)
    with collector_off():
        answers = ask_each(analysed.program, rules, request.packs)
    rules = [rule for rule in rules if rule.name not in answers.failed]
    asked_for = [policy.judged(finding) for finding in answers.findings]
    found = [finding for finding in asked_for if not policy.ignores(finding)]
    reported = frozenset(file.path for file in scope.files if file.within) & {
        source.path for source in sources if source.reported
    }
    known = frozenset(rule.name for pack in request.packs for rule in pack.rules)
    asked = Asked(reported | scope.named, known, rules, request.paths, analysed.errors, policy)
    with phase("suppressions"):
        sifted, suppressions = silence(found, sources, front_ends())
        mine = [item for item in suppressions if item.path in asked.files]
        about = comments_on(asked, mine, sifted.used, text_lines, reasons=request.settings.require_reason)
    told = (*sifted.kept, *map(policy.judged, about.findings))
    wanted = [finding for finding in told if scope.shows(finding, reported)]
    silenced = [*sifted.silenced, *filter(policy.ignores, asked_for)]
    kept = sorted([finding for finding in wanted if shown(finding, request.settings)], key=_order)
    return SortedOut(
        shown=tuple(kept),
        hidden=tuple(finding for finding in wanted if not shown(finding, request.settings)),
        notes=unknown_names(mine, request.packs),
        suppressed=sum(scope.shows(finding, reported) for finding in silenced),
        unused_suppressions=about.unused,
        judged=asked.covers,
        failed=tuple(answers.failed.values()),
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
        scope = discover(request.paths, table, settings.exclude, request.root, force_exclude=request.force_exclude)
    with phase("reading them"), collector_off():
        outcomes = extract.extract(scope.files, table, request.cache, request.jobs, progress, tests=settings.tests)
    sources = to_sources(scope, outcomes, table, tests=settings.tests)
    errors = {*scope.errors, *(outcome for outcome in outcomes.values() if isinstance(outcome, SourceError))}
    in_order = sorted(errors, key=lambda error: (error.path, error.line, error.kind, error.message))
    return linked(request, scope, sources, tuple(in_order))


def linked(request: Request, scope: Scope, sources: list[Source], errors: tuple[SourceError, ...]) -> Analysed:
    """A program of sources."""
    settings = request.settings
    knowledge = (*(file for pack in request.packs for file in pack.knowledge), *settings.knowledge)
    with phase("linking them"), collector_off():
        program = link(sources, knowledge, inference(sources, front_ends()), settings.python_memory_model)
    return Analysed(scope, sources, program, errors)


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
    together = _traits_of_all(scope, outcomes, table)
    for file in scope.files:
        module = outcomes[file.path]
        if isinstance(module, Module):
            front_end = table[file.suffix]
            if (traits := together[front_end.name]) is not None:
                module = module._replace(traits=traits)
            is_aid = file.quiet or module.generated or front_end.serves_tests(module)
            reported = tests or file.path in scope.insisted or not is_aid
            name = front_end.module_name(file.path).replace(":", "_")  # a colon parts a module from what is in it
            edition = front_end.edition(file.path)
            left_out = front_end.is_left_out(file.path, module)
            sources.append(Source(file.path, name, module, reported, edition, left_out))
    return sources


def _traits_of_all(
    scope: Scope, outcomes: Mapping[str, extract.Outcome], table: Mapping[str, FrontEnd]
) -> dict[str, Traits | None]:
    """What the files of each language say together of it; tests and vendored ones are not asked."""
    found: dict[str, Traits | None] = {}
    for front_end in table.values():
        mine = [outcomes[file.path] for file in scope.files if file.suffix in front_end.suffixes and not file.quiet]
        modules = [outcome for outcome in mine if isinstance(outcome, Module)]
        refused = [outcome.message for outcome in mine if isinstance(outcome, SourceError)]
        found[front_end.name] = front_end.traits_of_all(modules, refused)
    return found


class Answers(NamedTuple):
    """What rules find, in a fixed order and each finding once, and the rules that crashed: by name, with a message."""

    findings: list[Finding]
    failed: dict[str, str]


def ask(program: Program, rules: Iterable[Rule], packs: Iterable[Pack] = ()) -> list[Finding]:
    """What the rules find. Raises RuleError naming the rule that crashed."""
    answers = ask_each(program, rules, packs)
    for message in answers.failed.values():
        raise RuleError(message)
    return answers.findings


def ask_each(program: Program, rules: Iterable[Rule], packs: Iterable[Pack] = ()) -> Answers:
    """What each rule finds; one that crashes or reports nonsense takes nothing from the others."""
    origins = {rule.name: pack.origin for pack in packs for rule in pack.rules}
    present = {source.module.language for source in program.sources}
    findings: list[Finding] = []
    failed: dict[str, str] = {}
    for rule in rules:
        if present.isdisjoint(rule.languages):
            continue
        name = f"rule {rule.name} of {origins.get(rule.name, 'no pack')}"
        try:
            with phase(rule.name):
                reported = list(rule.check(program))
        except Exception as error:
            log.info("%s crashed", name, exc_info=True)
            failed[rule.name] = f"{name} crashed: {type(error).__name__}: {error}"
            continue
        foreign = [each for each in reported if not isinstance(each, Finding) or each.rule != rule.name]
        if foreign:
            failed[rule.name] = f"{name} reported {foreign[0]!r}, which is no finding of its own"
            continue
        findings += reported
    return Answers(sorted(dict.fromkeys(findings), key=_order), failed)


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
