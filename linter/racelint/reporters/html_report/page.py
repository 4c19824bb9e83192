"""The document: head with its policy, counts, filters, the findings file by file, what failed, and the rules' pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from itertools import groupby

from racelint import __version__
from racelint.finding import Finding, Severity, SourceError
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.fingerprint import fingerprints
from racelint.reporters.html_report.card import card
from racelint.reporters.html_report.filters import filters
from racelint.reporters.html_report.manual import manual
from racelint.reporters.html_report.markup import Markup, join, tag
from racelint.reporters.html_report.sources import Sources

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http%3A//www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Crect x='1' y='1' width='5' height='14' rx='2' fill='%23d9480f'/%3E"
    "%3Crect x='10' y='1' width='5' height='14' rx='2' fill='%231971c2'/%3E%3C/svg%3E"
)
KEYS = (
    ("/", "search"),
    ("j k", "next, previous finding"),
    ("Enter", "unfold or fold it"),
    ("e", "unfold or fold all"),
    ("t", "light or dark"),
    ("?", "these keys"),
    ("Esc", "leave the search, close"),
)


def page(report: Report, view: View) -> Markup:
    """The whole report as one document that loads nothing."""
    style, script = (files(__package__).joinpath(f"report.{kind}").read_text("utf-8") for kind in ("css", "js"))
    name = view.base.rstrip("/").rpartition("/")[2]
    title = f"racelint: {name}" if name else "racelint"
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{_total(report)} - {title}"),
        tag("link", rel="icon", href=ICON),
        tag("style", Markup(style)),
    )
    body = tag("body", _banner(report, name), _main(report, view), _dialogs(), tag("script", Markup(script)))
    return Markup(f"<!doctype html>\n{tag('html', head, body, lang='en')}\n")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _banner(report: Report, name: str) -> Markup:
    """Who speaks, of what, and the counts at a glance."""
    mark = tag("span", tag("i"), tag("i"), class_="logo", aria_hidden="true")
    heading = tag("h1", mark, "racelint", tag("span", name, class_="project") if name else None)
    keys = tag("button", "?", type="button", id="help", class_="icon", title="Keys (?)", aria_label="Keys", hidden=True)
    theme = tag("button", "\N{CIRCLE WITH LEFT HALF BLACK}\N{VARIATION SELECTOR-15}", type="button", id="theme",
                class_="icon", title="Light or dark (t)", aria_label="Dark theme", hidden=True)  # fmt: skip
    return tag("header", heading, _counts(report), tag("div", keys, theme, class_="tools"), class_="banner")


def _counts(report: Report) -> Markup:
    shown = [(severity, _number(report, severity)) for severity in sorted(Severity, reverse=True)]
    tiles = [
        tag("li", tag("b", f"{number:,}"), " ", _plural(severity.label, number), class_=severity.label)
        for severity, number in shown
        if number
    ]
    summary = report.summary
    scope = f"{_some(summary.files, 'file')}, {_some(summary.lines, 'line')}"
    return tag("ul", tiles, tag("li", scope, class_="scope"), class_="counts", aria_label="Counts")


def _main(report: Report, view: View) -> Markup:
    found = report.findings
    errors = _errors(report.errors, view)
    if not found:
        return tag("main", _nothing(report), errors, _colophon(report))
    status = tag("p", tag("span", _total(report), id="shown"), class_="status", role="status", aria_live="polite")
    buttons = tag("button", "Unfold all", type="button", id="unfold", hidden=True)
    none = tag("p", "No finding matches these filters.", class_="nothing small", id="none", hidden=True)
    listed = tag("section", tag("div", status, buttons, class_="bar"), none, _files(found, view), id="findings",
                 aria_label="Findings")  # fmt: skip
    pages = manual((finding.rule for finding in found), view.pages)
    folded = tag("details", tag("summary", "Filters"), filters(found, view), open=True, id="side")
    return tag(
        "main",
        tag("aside", folded, class_="side"),
        tag("div", listed, errors, pages, _colophon(report), class_="list"),
        class_="split",
    )


def _files(findings: Sequence[Finding], view: View) -> list[Markup]:
    """The findings in the report's order, file by file."""
    sources = Sources(view)
    marked = zip(findings, fingerprints(findings, view), strict=True)
    groups, first = [], True
    for path, group in groupby(marked, key=lambda pair: pair[0].location.path):
        cards = []
        for finding, mark in group:
            cards.append(card(finding, mark, view, sources, opened=first))
            first = False
        folder, _, name = view.path(path).rpartition("/")
        heading = tag("h2", f"{folder}/" if folder else None, tag("b", name), tag("span", len(cards), class_="count"))
        groups.append(tag("section", heading, cards, class_="file"))
    return groups


def _nothing(report: Report) -> Markup:
    """An empty report: good news, unless nothing could be read."""
    summary = report.summary
    if not summary.files:
        title, text = "Nothing to analyse", "racelint found no Python or Go file that it could read here."
    else:
        title = "No findings" if report.errors or summary.hidden else "No races found"
        text = f"racelint read {_some(summary.files, 'file')} ({_some(summary.lines, 'line')})."
    hint = (
        tag(
            "p",
            f"{_some(summary.hidden, 'finding')} below the chosen severity or confidence, not shown: ",
            tag("code", "--min-severity note --min-confidence low"),
            " shows all.",
        )
        if summary.hidden
        else None
    )
    sure = summary.files and not report.errors
    sign = "\N{CHECK MARK}\N{VARIATION SELECTOR-15}" if sure else "?"
    calm = tag("span", sign, class_="calm" if sure else "calm unsure", aria_hidden="true")
    return tag("section", calm, tag("h2", title), tag("p", text), hint, class_="nothing")


def _errors(errors: Sequence[SourceError], view: View) -> Markup | None:
    """The files that could not be analysed: nothing is known of them."""
    if not errors:
        return None
    rows = [
        tag("li", tag("code", view.path(error.path) + (f":{error.line}" if error.line else "")), " ",
            tag("b", error.kind), " ", error.message)
        for error in errors
    ]  # fmt: skip
    head = tag("h2", f"Not analysed: {_some(len(errors), 'file')}")
    return tag("section", head, tag("ul", rows), class_="errors", id="errors")


def _colophon(report: Report) -> Markup:
    summary = report.summary
    unseen = [
        f"{summary.hidden:,} below the chosen severity or confidence" if summary.hidden else "",
        f"{summary.suppressed:,} silenced by a comment or the configuration" if summary.suppressed else "",
        f"{summary.baselined:,} in the baseline" if summary.baselined else "",
        f"{summary.outside_diff:,} outside the diff" if summary.outside_diff else "",
    ]
    told = "; ".join(part for part in unseen if part)
    notes = [tag("li", note) for note in report.notes]
    return tag(
        "footer",
        tag("p", f"Not shown: {told}.") if told else None,
        tag("ul", notes) if notes else None,
        tag("p", f"racelint {__version__}"),
        class_="colophon",
    )


def _dialogs() -> Markup:
    """Filled and opened by the script: a rule's manual page, and the keys."""
    keys = tag("dl", [tag("div", tag("dt", [join(tag("kbd", key), " ") for key in names.split()]), tag("dd", what))
                      for names, what in KEYS])  # fmt: skip
    close = tag("button", "\N{MULTIPLICATION SIGN}", type="button", class_="icon close", aria_label="Close")
    return join(
        tag("dialog", close, tag("h2", "", id="manual-title"), tag("div", "", class_="manual"), id="manual",
            aria_labelledby="manual-title"),
        tag("dialog", close, tag("h2", "Keys", id="keys-title"), keys, id="keys", aria_labelledby="keys-title"),
    )  # fmt: skip


def _number(report: Report, severity: Severity) -> int:
    return sum(finding.severity == severity for finding in report.findings)


def _total(report: Report) -> str:
    return _some(len(report.findings), "finding") if report.findings else "No findings"


def _some(number: int, noun: str) -> str:
    return f"{number:,} {_plural(noun, number)}"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"
