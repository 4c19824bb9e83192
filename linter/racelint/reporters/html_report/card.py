"""One finding: a line that says it all, and, folded away, its drawing, sources, reasons and remedy."""

from __future__ import annotations

from racelint.finding import Access, Finding, Fix, Location
from racelint.reporters import View
from racelint.reporters.html_report.figure import figure, glyph
from racelint.reporters.html_report.lanes import Drawing, beside, draw
from racelint.reporters.html_report.markup import Markup, tag
from racelint.reporters.html_report.sources import Sources

BESIDE = {"says": "Declared", "also": "The same here"}


def card(finding: Finding, mark: str, view: View, sources: Sources, *, opened: bool) -> Markup:
    """A finding that unfolds; `mark` is its fingerprint, by which a link finds it again."""
    drawing = draw(finding)
    body = [
        _reported(finding, drawing, sources),
        figure(drawing, finding, sources),
        _beside(finding, sources),
        _reasons(finding, view),
        _fix(finding.fix, sources) if finding.fix else None,
        _foot(finding, mark, view),
    ]
    return tag(
        "details",
        tag("summary", _headline(finding, drawing)),
        tag("div", body, class_="body"),
        class_=f"finding {finding.severity.label}",
        id=f"f-{mark}",
        open=opened,
        data_severity=finding.severity.label,
        data_confidence=finding.confidence.label,
        data_rule=finding.rule,
        data_path=view.path(finding.location.path),
    )


def _headline(finding: Finding, drawing: Drawing) -> list[Markup | None]:
    span = finding.location.span
    return [
        tag("span", finding.severity.label, class_="severity"),
        tag(
            "span",
            tag("span", _message(finding), class_="message", role="heading", aria_level=3),
            tag(
                "span",
                tag("span", f"line {span.line}", class_="at"),
                tag("span", finding.rule, class_="rule"),
                tag("span", f"{finding.confidence.label} confidence", class_="confidence"),
                class_="meta",
            ),
            class_="headline",
        ),
        glyph(drawing),
    ]


def _message(finding: Finding) -> list[Markup | str]:
    before, symbol, after = finding.message.partition(finding.symbol) if finding.symbol else (finding.message, "", "")
    return [before, tag("code", symbol), after] if symbol else [before]


def _reported(finding: Finding, drawing: Drawing, sources: Sources) -> Markup | None:
    """The source of where the finding stands, if the drawing does not show it."""
    drawn = [stop.location for lane in drawing.lanes for stop in lane.stops if stop.access]
    if any((there.path, there.line) == (finding.location.path, finding.location.line) for there in drawn):
        return None
    return tag("div", _where("Reported here", finding.location, finding.function, sources), class_="reported")


def _where(label: str, location: Location, function: str, sources: Sources) -> list[Markup | None]:
    names = [tag("b", label), tag("span", function, class_="fn"), tag("span", sources.place(location), class_="at")]
    return [tag("div", names, class_="who"), sources.excerpt(location)]


def _beside(finding: Finding, sources: Sources) -> Markup | None:
    told = beside(finding)
    return tag("div", [_aside(access, sources) for access in told], class_="beside") if told else None


def _aside(access: Access, sources: Sources) -> Markup:
    return tag("div", _where(BESIDE[access.kind], access.location, access.function, sources), class_="reported")


def _reasons(finding: Finding, view: View) -> Markup | None:
    mend = finding.mend or view.help.get(finding.rule, "")
    told = (("Because", finding.because, "because"), ("Harm", finding.harm, "harm"), ("Mend", mend, "mend"))
    items = [tag("div", tag("dt", label), tag("dd", said), class_=name) for label, said, name in told if said]
    return tag("dl", items, class_="reasons") if items else None


def _fix(fix: Fix, sources: Sources) -> Markup:
    """What `--fix` would do."""
    flag = "--fix" if fix.safe else "--fix --unsafe-fixes"
    edits = [
        tag("li", tag("span", sources.place(edit.location), class_="at"), " ", tag("code", edit.text or "(removed)"))
        for edit in fix.edits
    ]
    head = tag("div", tag("b", "Fix"), fix.description, tag("code", flag), class_="who")
    return tag("div", head, tag("ul", edits), class_="fix")


def _foot(finding: Finding, mark: str, view: View) -> Markup:
    page = tag("a", "Manual page", href=f"#rule-{finding.rule}", class_="page") if finding.rule in view.pages else None
    link = tag("a", "Link to this finding", href=f"#f-{mark}", class_="permalink")
    place = tag("code", f"{view.path(finding.location.path)}:{finding.location.line}", class_="at")
    return tag("footer", place, page, link)
