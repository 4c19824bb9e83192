"""Fixes findings: applies edits, analyses what comes of it, and keeps what has mended its finding and broken nothing.

Fixes are judged by analysing the changed text, not by trust: a fix stays only if the file still parses, its finding is
gone and no other has come. That is repeated until nothing is left to fix, as one fix may make room for another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from racelint import extract, fixes, run, writing
from racelint.finding import Finding, Fix, SourceError
from racelint.languages import front_ends
from racelint.model import Module, Source
from racelint.report import Report
from racelint.rule import Rule
from racelint.texts import unsaved

MOST_ANALYSES = 40
MOST_AT_ONCE = 1_000
Identity: TypeAlias = tuple[str, str, str, str, str]


class Change(NamedTuple):
    """A file before and after all fixes that were kept."""

    path: str
    before: bytes
    after: bytes


class Mended(NamedTuple):
    """What was found, what remains once the changes have been written, and files that cannot be written."""

    found: Report
    report: Report
    changes: tuple[Change, ...]
    problems: tuple[SourceError, ...]


def mend(
    request: run.Request, rules: Sequence[Rule], progress: extract.Progress = lambda done, total: None, *,
    unsafe: bool = False, to_write: bool = True,
) -> Mended:  # fmt: skip
    """Analyse and fix; nothing is written. The report is of the changed program. Raises like `run.check`.

    What is `to_write` must be writable.
    """
    analysed = run.analyse(request, progress)
    return _Mender(request, rules, analysed, run.judge(request, analysed, rules), unsafe, to_write).run()


@dataclass
class _Mender:
    request: run.Request
    rules: Sequence[Rule]
    analysed: run.Analysed
    report: Report
    unsafe: bool
    to_write: bool
    originals: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)  # of the changed files
    refused: dict[Identity, str] = field(default_factory=dict)
    problems: dict[str, SourceError] = field(default_factory=dict)
    careful: set[str] = field(default_factory=set)  # files that get one fix at a time
    limit: int = MOST_AT_ONCE  # fewer when several together have brought up something new elsewhere
    fixed: int = 0

    def run(self) -> Mended:
        found = self.report
        for _ in range(MOST_ANALYSES):
            batch = self._batch()
            if not batch:
                break
            self._try(batch)
        summary = replace(self.report.summary, fixed=self.fixed, unsafe_fixes=self.unsafe)
        notes = (*self.report.notes, *self._notes())
        changes = [Change(path, self.originals[path], text) for path, text in sorted(self.texts.items())]
        kept = tuple([change for change in changes if change.before != change.after])
        report = replace(self.report, notes=notes, summary=summary)
        return Mended(replace(found, notes=notes), report, kept, tuple(self.problems.values()))

    def _notes(self) -> Iterator[str]:
        for finding in self.report.findings:
            if reason := self.refused.get(_identity(finding)):
                place = f"{finding.location.path}:{finding.location.line}"
                yield f"{place}: {finding.rule} was not fixed: {reason}"

    # --- one round ----------------------------------------------------------------------------------------------------

    def _batch(self) -> list[Finding]:
        """Findings to fix at once: in their order, the first of two whose edits overlap."""
        batch, chosen, locked = list[Finding](), fixes.Chosen(), set[tuple[str, str]]()
        within = {file.path for file in self.analysed.scope.files if file.within} | self.analysed.scope.named
        for finding in self.report.findings:
            fix = finding.fix
            if fix is None or not (fix.safe or self.unsafe) or _identity(finding) in self.refused:
                continue
            if not _paths(fix) <= within or not self._can_write(finding, fix):
                continue
            holds = finding.remedy is not None and finding.remedy.kind == "hold"
            place = (finding.location.path, finding.function)
            if holds and place in locked:
                continue  # what follows the statement may come under the same lock
            if chosen.paths.isdisjoint(_paths(fix) & self.careful) and chosen.add(fix):
                batch.append(finding)
                locked |= {place} if holds else set()
        return batch[: self.limit]

    def _can_write(self, finding: Finding, fix: Fix) -> bool:
        for path in sorted(_paths(fix)) if self.to_write else ():
            if problem := writing.obstacle(path):
                self._refuse([finding], f"the file {problem}")
                self.problems[path] = SourceError("unwritable", path, f"{problem}: nothing was fixed there")
                return False
        return True

    def _try(self, batch: list[Finding]) -> None:
        """Apply fixes and analyse; keep them if they all do what they should, else find out which do not."""
        texts = self._applied(batch)
        if texts is None:
            return
        sources = self._lowered(texts, batch)
        if sources is None:
            return
        changed = {**self.texts, **texts}
        with unsaved(changed):
            analysed = run.linked(self.request, self.analysed.scope, sources, self.analysed.errors)
            report = run.judge(self.request, analysed, self.rules)
        guilty = self._still_there(batch, report)
        if guilty:
            self._refuse(guilty, "the change does not mend it")
        elif (news := self._news(batch, report)) is not None:
            self._blame(batch, news)
        else:
            gone = len(self.report.findings) - len(report.findings)
            self.fixed += max(len(batch), gone)
            self.texts, self.analysed, self.report = changed, analysed, report
            self.limit = min(2 * self.limit, MOST_AT_ONCE)

    def _refuse(self, findings: list[Finding], reason: str) -> None:
        self.refused.update({_identity(finding): reason for finding in findings})

    def _applied(self, batch: list[Finding]) -> dict[str, bytes] | None:
        """The texts of the files that a batch changes; None if some fix cannot be applied (it is refused then)."""
        table = front_ends()
        by_language = {front_end.name: front_end for front_end in table.values()}
        languages = {source.path: source.module.language for source in self.analysed.sources}
        edits = [edit for finding in batch if finding.fix for edit in finding.fix.edits]
        texts = {}
        for path in sorted({edit.location.path for edit in edits}):
            data = self.texts[path] if path in self.texts else extract.read(path)
            here = [finding for finding in batch if finding.fix and path in _paths(finding.fix)]
            if isinstance(data, SourceError) or path not in languages:
                self._refuse(here, "its file cannot be read")
                return None
            encoding = by_language[languages[path]].encoding(data)
            try:
                text = fixes.rewrite(data, encoding, [edit for edit in edits if edit.location.path == path])
            except fixes.OverlapError as error:
                self._refuse(here[-1:], str(error))
                return None
            if text is None:
                self._refuse(here, f"the file's encoding ({encoding}) or its line ends cannot hold the change")
                return None
            self.originals.setdefault(path, data)
            texts[path] = text
        return texts

    def _lowered(self, texts: dict[str, bytes], batch: list[Finding]) -> list[Source] | None:
        """The sources, the changed ones lowered anew; None if one is no program any more, by a fix that is to blame."""
        table = {file.path: front_ends()[file.suffix] for file in self.analysed.scope.files}
        sources = []
        for source in self.analysed.sources:
            if source.path in texts:
                module = extract.lower(source.path, texts[source.path], table[source.path])
                if not isinstance(module, Module):
                    here = [finding for finding in batch if finding.fix and source.path in _paths(finding.fix)]
                    if len(here) == 1:
                        self._refuse(here, f"the result does not parse: {module.message}")
                    self.careful.add(source.path)
                    return None
                source = source._replace(module=module)
            sources.append(source)
        return sources

    # --- what has come of it ------------------------------------------------------------------------------------------

    def _still_there(self, batch: list[Finding], report: Report) -> list[Finding]:
        """The findings of a batch that are still reported."""
        before, after = _counts(self.report), _counts(report)
        due = Counter(_identity(finding) for finding in batch)
        return [f for f in batch if after[_identity(f)] > before[_identity(f)] - due[_identity(f)]]

    def _blame(self, batch: list[Finding], news: Finding) -> None:
        """Refuse the fix that has brought up a finding; of several that may have, try one after the other."""
        near = [finding for finding in batch if finding.fix and news.location.path in _paths(finding.fix)]
        if len(batch) == 1 or len(near) == 1:
            reason = f"the change brings up another finding: {news.rule} in {news.function}"
            self._refuse(near or batch, reason)
        elif near:
            self.careful.add(news.location.path)
        else:
            self.limit = max(1, len(batch) // 2)

    def _news(self, batch: list[Finding], report: Report) -> Finding | None:
        """The first finding that was not there before.

        Of the accesses of a place that race, only the worst two are told: when they are mended (or one of them is no
        longer what it was), the next ones may be told in their place.
        """
        before, after = _counts(self.report), _counts(report)
        gone = before - after
        moved = Counter((f.rule, f.symbol) for f in self.report.findings if gone[_identity(f)] > 0)
        followed = Counter(finding.symbol for finding in batch if finding.remedy and not finding.remedy.safe)
        for finding in report.findings:
            identity = _identity(finding)
            if after[identity] > before[identity]:
                if moved[finding.rule, finding.symbol] > 0:
                    moved[finding.rule, finding.symbol] -= 1
                    continue
                if followed[finding.symbol] <= 0:
                    return finding
                followed[finding.symbol] -= 1
                before[identity] += 1
        return None


def _identity(finding: Finding) -> Identity:
    """What stays the same when lines move."""
    message = re.sub(r"\d+", "#", finding.message)
    return finding.location.path, finding.rule, finding.function, finding.symbol, message


def _counts(report: Report) -> Counter[Identity]:
    return Counter(map(_identity, report.findings))


def _paths(fix: Fix) -> set[str]:
    return {edit.location.path for edit in fix.edits}
