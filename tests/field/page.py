"""The text of FIELD.md."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import recall
import shares
import tables
import triage
from cases import Case
from results import Measured, Results, Shown
from scoring import Score
from triage import Verdict

Judged = list[tuple[Shown, str]]
OPEN = "open"  # a finding that nobody has judged
MANY = 0.3  # findings per kLOC that a maintainer would not put up with unless they are right
HEAD = """\
# How racelint does on code that was not written for it

Made by `python tests/field/report.py` from `results.json`, `cases.json` and `triage.json`. `README.md` says what they
are, and more on how to repeat the measurement:

    python tests/field/score.py --save build/recall
    python tests/field/precision.py collect --save build/reports > build/todo.jsonl
    python tests/field/report.py --recall build/recall --precision build/reports

Each share stands beside its 95 % Wilson interval. What racelint shows by default counts, nothing else."""


def text(results: Results, every: list[Case], verdicts: Iterable[Verdict]) -> str:
    """Return the page."""
    words = {verdict.key: verdict.verdict for verdict in verdicts}
    judged = [(found, words.get(found.key, OPEN)) for found in results.findings]
    scores = [score for score in results.scores if not score.case.excepted]
    sections = (
        HEAD,
        bullets([*headline(scores, unmeasured(scores, every)), *right_by_severity(judged)]),
        *recalled(results, scores, every),
        *precise(results, judged),
        *crowded(results, judged),
        *standing(judged),
    )
    return "\n\n".join(sections) + "\n"


def unmeasured(scores: list[Score], every: list[Case]) -> int:
    """Return how many cases of the manifest have no score yet."""
    return sum(not case.excepted for case in every) - len(scores)


def headline(scores: list[Score], missing: int) -> Iterator[str]:
    """Yield recall of each language in a line, as the README quotes it."""
    if missing:
        yield f"{missing} cases are not measured yet; the rest is no fair sample of them"
    for language, name in recall.LANGUAGES.items():
        group = [s for s in scores if (s.case.lang, s.case.pattern != recall.APART) == (language, True)]
        if group:
            whole = recall.tally("", group)
            hit, both = (quoted(number, whole.cases) for number in (whole.hit, whole.both))
            yield f"{name}, real bugs (all but {recall.APART}): hit {hit}, hit and quiet after the fix {both}"


def right_by_severity(judged: Judged) -> Iterator[str]:
    """Yield precision of each severity in a line, as the README quotes it."""
    for severity, counts in triage.counted((found.severity, word) for found, word in judged):
        yield f"{severity}s in mature code: right {quoted(counts['true'], counts.total() - counts[OPEN])}"


def quoted(number: int, total: int) -> str:
    """Return a share in full."""
    return f"{number} of {total} ({shares.percent(number, total)}, {shares.interval(number, total)})"


def recalled(results: Results, scores: list[Score], every: list[Case]) -> Iterator[str]:
    """Yield the part on real bugs."""
    excepted = [case for case in every if case.excepted]
    yield "## Which real bugs are found?"
    yield paragraph(
        f"racelint {results.racelint or '(no run yet)'} on {len(scores)} of the {len(every)} cases in `cases.json`",
        f"({unmeasured(scores, every)} not measured yet, {len(excepted)} excepted).",
        "*Hit*: reported before the fix. *Quiet*: not reported after it, as is a bug that nobody has mended yet.",
        "What could not be measured counts as neither.",
        f"Before the fixes racelint shows {density(results.found, results.lines)}.",
    )
    yield tallies(recall.by_pattern(scores))
    yield "### By what runs side by side"
    yield tallies(recall.by(scores, lambda s: f"{recall.LANGUAGES[s.case.lang]}, {s.case.concurrency}"))
    yield "### By how far one has to see"
    yield tallies(recall.by(scores, lambda s: f"{recall.LANGUAGES[s.case.lang]}, {s.case.scope}"))
    yield "### Excepted"
    yield bullets(f"`{case.id}` ({case.repo}): {case.excepted}" for case in excepted)
    yield "### What falls short"
    yield paragraph(
        "*Not seen*: nothing about it at any level. *Hidden*: seen, but as a note or with low confidence, which is not",
        "shown by default.",
    )
    yield bullets(line for score in scores for line in short(score))


def short(score: Score) -> Iterator[str]:
    """Yield the line on a case that falls short."""
    case, words = score.case, recall.shortcoming(score)
    if words:
        yield f"`{case.id}` ({case.repo}, {case.pattern}, {case.scope}, `{case.symbol}`): {words}"


def tallies(rows: Iterable[recall.Tally]) -> str:
    """Return a table of recall."""
    return "\n".join(tables.markdown([recall.HEADING, *(row.cells for row in rows)]))


def precise(results: Results, judged: Judged) -> Iterator[str]:
    """Yield the part on findings in mature code."""
    ran = Counter(each.racelint or "of a commit that the reports do not name" for each in results.repositories)
    lines = sum(repository.lines for repository in results.repositories)
    yield "## How many findings are right?"
    yield paragraph(
        "; ".join(f"racelint {name} on {number} repositories" for name, number in sorted(ran.items())) or "No run yet",
        f"(`repositories.json`): it shows {density(len(judged), lines)}.",
        "*True*: worth mending. *Benign*: it can happen and does no harm. *Wrong*: it cannot happen as told. *Open*:",
        "nobody has judged it. Only what is true counts as right.",
    )
    languages = {repository.name: recall.LANGUAGES[repository.language] for repository in results.repositories}
    groups: tuple[Callable[[Shown], str], ...] = (
        lambda found: f"{languages[found.repository]}, {found.rule}, {found.severity}",
        lambda found: f"{languages[found.repository]}, all, {found.severity}",
        lambda found: f"all, {found.severity}",
    )
    rows = [
        verdict_row(name, counts)
        for group in groups
        for name, counts in triage.counted((group(found), word) for found, word in judged)
    ]
    heading = ("", "true", "benign", "wrong", OPEN, "precision", "95 % interval")
    yield "\n".join(tables.markdown([heading, *rows]))


def verdict_row(name: str, counts: Counter[str]) -> tuple[str, ...]:
    """Return a row of the table of precision."""
    right, of = counts["true"], counts.total() - counts[OPEN]
    words = [str(counts[word]) for word in ("true", "benign", "wrong", OPEN)]
    return (name, *words, shares.percent(right, of), shares.interval(right, of))


def crowded(results: Results, judged: Judged) -> Iterator[str]:
    """Yield the part on how much there is to read in each repository."""
    found = dict(triage.counted((each.repository, word) for each, word in judged))
    every = sorted(results.repositories, key=lambda r: (r.language, r.name.lower()))
    many = [r.name for r in every if r.lines and 1000 * found.get(r.name, Counter()).total() / r.lines > MANY]
    yield "## How much is there to read?"
    yield paragraph(
        "Lines are those of product code, tests apart; *hidden* is what racelint shows only when it is asked for more.",
        f"More than {MANY} findings per kLOC: {', '.join(many) or 'none'}.",
    )
    heading = ("repository", "", "kLOC", "findings", "true", "per kLOC", "hidden", "files not analysed")
    rows = (crowd_row(repository, found.get(repository.name, Counter())) for repository in every)
    yield "\n".join(tables.markdown([heading, *rows]))


def crowd_row(repository: Measured, counts: Counter[str]) -> tuple[str, ...]:
    """Return a row of the table of repositories."""
    number, lines = counts.total(), repository.lines
    return (
        f"{repository.name} {repository.commit[:12]}",
        recall.LANGUAGES[repository.language],
        f"{lines / 1000:.1f}" if lines else "?",
        str(number),
        str(counts["true"]),
        f"{1000 * number / lines:.2f}" if lines else "?",
        str(repository.hidden),
        str(repository.errors),
    )


def standing(judged: Judged) -> Iterator[str]:
    """Yield the part that lists the findings judged true."""
    real = [found for found, word in judged if word == "true"]
    yield "## Real bugs in today's code"
    yield paragraph(
        f"The {len(real)} findings of the pinned commits that somebody has read in the code and judged true, each with",
        "its sides; `triage.json` has the reasons. Whether upstream knows of a bug is not recorded.",
    )
    for name in sorted({found.repository for found in real}, key=str.lower):
        group = [found for found in real if found.repository == name]
        yield f"### {name} {group[0].commit[:12]}"
        yield bullets(f"{found.rule}: `{found.symbol}`: {sides(found)}" for found in group)


def sides(found: Shown) -> str:
    """Return where a finding stands: its accesses, or its own place if it names none."""
    told = [f"{place} ({kind} in `{function}`)" for place, kind, function in dict.fromkeys(found.sides)]
    return ", ".join(told) or f"{found.path}:{found.line}"


def density(number: int, lines: int) -> str:
    """Return findings per thousand lines in words."""
    return f"{number} findings in {lines / 1000:,.0f} kLOC" + (
        f", {1000 * number / lines:.2f} per kLOC" if lines else ""
    )


def paragraph(*sentences: str) -> str:
    """Return sentences as lines of the width of this project's pages."""
    return textwrap.fill(" ".join(sentences), 120, break_long_words=False, break_on_hyphens=False)


def bullets(lines: Iterable[str]) -> str:
    """Return a list, or that there is nothing in it."""
    return "\n".join(f"- {line}" for line in lines) or "None."
