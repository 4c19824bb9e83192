"""The rules' manual pages, from the Markdown of their docstrings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from racelint.reporters.html_report.markup import Markup, tag, visible

DEEPER = 1  # levels: a page's "##" stands below the report's own headings
KNOWN = ("heading", "list", "code", "fence", "backticks", "emphasis", "blockquote", "table")


def manual(rules: Iterable[str], pages: Mapping[str, str]) -> Markup | None:
    """A page for each of the rules that has one, folded away."""
    told = sorted({rule for rule in rules if rule in pages})
    if not told:
        return None
    folded = [
        tag(
            "details",
            tag("summary", tag("code", rule)),
            tag("article", page(pages[rule]), id=f"rule-{rule}", class_="manual", aria_label=rule),
        )
        for rule in told
    ]
    return tag("section", tag("h2", "Rules"), folded, class_="rules", id="rules")


def page(text: str) -> Markup:
    """Markdown as HTML. No HTML, links or images in it: a page of somebody's rule pack loads and leads nowhere."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero").enable(KNOWN)
    tokens = parser.parse(visible(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + DEEPER, 6)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))
