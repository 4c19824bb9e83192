"""Which findings can be mended, and by which edits: asks the front ends what a rule's remedy means in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from racelint.finding import Finding, Fix, SourceError
from racelint.languages import FrontEnd
from racelint.model import Source


def with_fixes(
    findings: Iterable[Finding],
    sources: Sequence[Source],
    table: Mapping[str, FrontEnd],
    read: Callable[[str], bytes | SourceError],
) -> list[Finding]:
    """The findings, those with a remedy that can be carried out with its edits. Each file is read once."""
    by_language = {front_end.name: front_end for front_end in table.values()}
    languages: dict[str, str] | None = None
    texts: dict[str, bytes | SourceError] = {}
    found: list[Finding] = []
    for finding in findings:
        if finding.remedy is not None and finding.fix is None:
            languages = languages or {source.path: source.module.language for source in sources}
            path = finding.remedy.places[0].path
            if path not in texts:
                texts[path] = read(path)
            finding = replace(finding, fix=_fix(finding, texts[path], by_language.get(languages.get(path, ""))))
        found.append(finding)
    return found


def _fix(finding: Finding, data: bytes | SourceError, front_end: FrontEnd | None) -> Fix | None:
    remedy = finding.remedy
    if remedy is None or front_end is None or isinstance(data, SourceError):
        return None
    if len({place.path for place in remedy.places}) != 1:
        return None
    try:
        return front_end.fix(data, remedy)
    except RecursionError:
        return None
