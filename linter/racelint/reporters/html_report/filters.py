"""What narrows the report down: severity, rule, confidence and folder, each with its count, and two searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from racelint.finding import Confidence, Finding, Severity
from racelint.reporters import View
from racelint.reporters.html_report.markup import Markup, tag

MOST_FOLDERS = 12


def filters(findings: Sequence[Finding], view: View) -> Markup:
    """A form that stays hidden where no script runs: without one it would do nothing."""
    paths = [view.path(finding.location.path) for finding in findings]
    severities = Counter(finding.severity for finding in findings)
    confidences = Counter(finding.confidence for finding in findings)
    rules = Counter(finding.rule for finding in findings)
    groups = [
        _search(),
        _group("Severity", "severity", [(s.label, severities[s]) for s in sorted(Severity, reverse=True)]),
        _group("Rule", "rule", sorted(rules.items(), key=lambda item: (-item[1], item[0]))),
        _group("Confidence", "confidence", [(c.label, confidences[c]) for c in sorted(Confidence, reverse=True)]),
        _group("Folder", "folder", list(folders(paths).items())),
        _path(paths),
        tag("button", "Clear filters", type="reset", class_="clear", disabled=True),
    ]
    label = "Filter the findings"
    return tag("form", groups, id="filters", class_="filters", role="search", aria_label=label, hidden=True)


def _search() -> Markup:
    box = tag(
        "input", type="search", name="q", id="q", placeholder="Search", autocomplete="off", spellcheck="false",
        aria_keyshortcuts="/",
    )  # fmt: skip
    return tag("div", tag("label", "Search", for_="q"), tag("span", box, tag("kbd", "/"), class_="box"), class_="field")


def _path(paths: Iterable[str]) -> Markup:
    box = tag("input", type="search", name="path", id="path", placeholder="src/**/watch*.py", autocomplete="off",
              spellcheck="false", list="paths")  # fmt: skip
    known = tag("datalist", [tag("option", value=path) for path in sorted(set(paths))], id="paths")
    return tag("div", tag("label", "Path contains", for_="path"), tag("span", box, class_="box"), known, class_="field")


def _group(title: str, name: str, options: Sequence[tuple[str, int]]) -> Markup | None:
    """Check boxes with counts. None checked means all; one option alone is no choice."""
    told = [(value, count) for value, count in options if count]
    if len(told) < 2:
        return None
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name=name, value=value),
            tag("span", value, class_=f"value {value}" if name == "severity" else "value"),
            tag("output", count, class_="count"),
        )
        for value, count in told
    ]
    return tag("fieldset", tag("legend", title), boxes, class_=name)


def folders(paths: Sequence[str]) -> dict[str, int]:
    """The folders that the findings lie in, with counts: as deep as gives no more than a dozen."""
    best: Counter[str] = Counter()
    for depth in range(1, 12):
        cut = Counter(_cut(path, depth) for path in paths)
        if len(cut) > MOST_FOLDERS:
            break
        best = cut
    return dict(sorted(best.items()))


def _cut(path: str, depth: int) -> str:
    parts = path.split("/")[:-1]
    return "/".join(parts[:depth]) + "/" if parts else "./"
