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
from results import Measured, Results, Shown, Sight
from scoring import Score
from triage import Verdict

Judged = list[tuple[Shown, str]]
OPEN = "open"  # a finding that nobody has judged
MANY = 0.3  # findings per kLOC that a maintainer would not put up with unless they are right
HEAD = """\
# How racelint does on code that was not written for it

Made by `python tests/field/report.py` from `results.json`, `cases.json`, `triage.json` and `first_looks.json`.
`README.md` says what they are, and more on how to repeat the measurement:

    python tests/field/score.py --save build/recall
    python tests/field/precision.py collect --save build/reports > build/todo.jsonl
    python tests/field/precision.py collect --save build/fresh --repositories tests/field/fresh_repositories.json \\
        --triage tests/field/first_looks.json > build/todo.jsonl
    python tests/field/report.py --recall build/recall --precision build/reports --fresh build/fresh

Each share stands beside its 95 % Wilson interval. What racelint shows by default counts, nothing else."""


def text(results: Results, every: list[Case], verdicts: Iterable[Verdict]) -> str:
    """Return the page."""
    words = {verdict.key: verdict.verdict for verdict in verdicts}
    pinned, fresh = (
        [(found, words.get(found.key, OPEN)) for found in s.findings] for s in (results.pinned, results.fresh)
    )
    scores = [score for score in results.scores if not score.case.excepted]
    sections = (
        HEAD,
        bullets([*headline(scores, unmeasured(scores, every)), *right_by_severity(pinned, fresh)]),
        *recalled(results, scores, every),
        "## How many findings are right?",
        *precise(results.pinned, pinned, "`repositories.json`"),
        *looked_at_first(results.fresh, fresh, pinned),
        "## How much is there to read?",
        *crowded(results.pinned, pinned),
        *(("### In the repositories of the last first look", *crowded(results.fresh, fresh)) if fresh else ()),
        *standing(pinned),
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


def right_by_severity(pinned: Judged, fresh: Judged) -> Iterator[str]:
    """Yield precision of each severity in a line, as the README quotes it; with two runs that of each, too."""
    for severity, counts in by_severity([*pinned, *fresh]):
        parts = [(name, dict(by_severity(run)).get(severity)) for name, run in (("pinned", pinned), ("fresh", fresh))]
        apart = [f"{name} {quoted(right(each), judged(each))}" for name, each in parts if each and fresh]
        whole = f"{severity}s in mature code: right {quoted(right(counts), judged(counts))}"
        yield ": ".join([whole, *(["; ".join(apart)] if apart else [])])


def by_severity(found: Judged) -> list[tuple[str, Counter[str]]]:
    """Count the verdicts of each severity."""
    return triage.counted((each.severity, word) for each, word in found)


def right(counts: Counter[str]) -> int:
    """Return how many are right."""
    return counts["true"]


def judged(counts: Counter[str]) -> int:
    """Return how many somebody has read."""
    return counts.total() - counts[OPEN]


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


def precise(sight: Sight, found: Judged, listed: str) -> Iterator[str]:
    """Yield the part on findings in mature code."""
    ran = Counter(each.racelint or "of a commit that the reports do not name" for each in sight.repositories)
    yield paragraph(
        "; ".join(f"racelint {name} on {number} repositories" for name, number in sorted(ran.items())) or "No run yet",
        f"({listed}): it shows {density(len(found), sight.lines)}.",
        "*True*: worth mending. *Benign*: it can happen and does no harm. *Wrong*: it cannot happen as told. *Open*:",
        "nobody has judged it. Only what is true counts as right.",
    )
    languages = {repository.name: recall.LANGUAGES[repository.language] for repository in sight.repositories}
    groups: tuple[Callable[[Shown], str], ...] = (
        lambda each: f"{languages[each.repository]}, {each.rule}, {each.severity}",
        lambda each: f"{languages[each.repository]}, all, {each.severity}",
        lambda each: f"all, {each.severity}",
    )
    yield verdict_table(
        (name, counts)
        for group in groups
        for name, counts in triage.counted((group(each), word) for each, word in found)
    )


def looked_at_first(sight: Sight, fresh: Judged, pinned: Judged) -> Iterator[str]:
    """Yield the part on repositories that were chosen after the last change to the rules, if there was such a run."""
    if not sight.repositories:
        return
    number, known = len(sight.repositories), len({each.repository for each, _ in pinned})
    yield "### At first sight"
    yield paragraph(
        "The rules were mended on the pinned repositories. These were chosen after the last change to the rules, and",
        "nobody had run racelint on them before.",
    )
    yield from precise(sight, fresh, "`fresh_repositories.json`, with verdicts in `first_looks.json`")
    yield paragraph(f"The {number} together with the pinned ones ({known} of which have findings):")
    yield verdict_table((f"all, {severity}", counts) for severity, counts in by_severity([*pinned, *fresh]))


def verdict_table(rows: Iterable[tuple[str, Counter[str]]]) -> str:
    """Return a table of precision."""
    heading = ("", "true", "benign", "wrong", OPEN, "precision", "95 % interval")
    return "\n".join(tables.markdown([heading, *(verdict_row(name, counts) for name, counts in rows)]))


def verdict_row(name: str, counts: Counter[str]) -> tuple[str, ...]:
    """Return a row of the table of precision."""
    share = right(counts), judged(counts)
    words = [str(counts[word]) for word in ("true", "benign", "wrong", OPEN)]
    return (name, *words, shares.percent(*share), shares.interval(*share))


def crowded(sight: Sight, found: Judged) -> Iterator[str]:
    """Yield the part on how much there is to read in each repository."""
    counts = dict(triage.counted((each.repository, word) for each, word in found))
    every = sorted(sight.repositories, key=lambda r: (r.language, r.name.lower()))
    many = [r.name for r in every if r.lines and 1000 * counts.get(r.name, Counter()).total() / r.lines > MANY]
    yield paragraph(
        "Lines are those of product code, tests apart; *hidden* is what racelint shows only when it is asked for more.",
        f"More than {MANY} findings per kLOC: {', '.join(many) or 'none'}.",
    )
    heading = ("repository", "", "kLOC", "findings", "true", "per kLOC", "hidden", "files not analysed")
    rows = (crowd_row(repository, counts.get(repository.name, Counter())) for repository in every)
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


def standing(found: Judged) -> Iterator[str]:
    """Yield the part that lists the findings judged true."""
    real = [each for each, word in found if word == "true"]
    yield "## Real bugs in today's code"
    yield paragraph(
        f"The {len(real)} findings of the pinned commits that somebody has read in the code and judged true, each with",
        "its sides; `triage.json` has the reasons. Whether upstream knows of a bug is not recorded.",
    )
    for name in sorted({each.repository for each in real}, key=str.lower):
        group = [each for each in real if each.repository == name]
        yield f"### {name} {group[0].commit[:12]}"
        yield bullets(f"{each.rule}: `{each.symbol}`: {sides(each)}" for each in group)


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
