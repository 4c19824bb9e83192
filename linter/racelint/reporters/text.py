"""The report for people: each finding with its source, both accesses, why, what goes wrong and how to mend it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from racelint.finding import Access, Finding, Severity
from racelint.report import Report
from racelint.reporters import View
from racelint.reporters.excerpt import Line, clean, excerpt
from racelint.reporters.statistics import by_rule
from racelint.span import Location

if TYPE_CHECKING:
    from rich.text import Text

COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
LABEL = 9  # least width of the words before accesses and advice


def write(report: Report, view: View, stream: TextIO) -> None:
    """Write every finding (or counts by rule), then, unless all but findings is to be left out, a line of counts."""
    from rich.console import Console

    console = Console(
        file=stream,
        highlight=False,
        soft_wrap=True,
        force_terminal=view.colour,
        color_system="standard" if view.colour else None,
        no_color=not view.colour,
    )
    for line in _statistics(report) if view.statistics else _findings(report, view):
        console.print(line)
    if not view.quiet:
        console.print(summary(report, view.seconds), style="bold" if report.findings else None, markup=False)


def _findings(report: Report, view: View) -> Iterator[Text]:
    told: dict[tuple[object, ...], Location] = {}
    for finding in report.findings:
        first = told.setdefault(_sides(finding), finding.location) if _is_of_two(finding) else finding.location
        like = None if first is finding.location else first
        yield from _finding(finding, view, like, unsafe=report.summary.unsafe_fixes)
        yield _text("")


def _sides(finding: Finding) -> tuple[object, ...]:
    """What is alike where one cause shows at several places: the two functions, who runs them, their locks."""
    sides = [(access.function, access.context, access.locks) for access in _told(finding)]
    return finding.rule, finding.severity, finding.location.path, finding.because, finding.harm, finding.mend, *sides


def _is_of_two(finding: Finding) -> bool:
    """Whether what two contexts do collides."""
    return len(_told(finding)) > 1 and any(access.context.kind != "same" for access in _told(finding))


def _told(finding: Finding) -> list[Access]:
    """The accesses that are told: calls stand on the way to the change."""
    return [access for access in finding.accesses if access.kind != "call"]


def _statistics(report: Report) -> Iterator[Text]:
    """A line for each rule that found something, the most findings first, and a blank one."""
    rows = by_rule(report.findings)
    width = max((len(row.rule) for row in rows), default=0)
    for row in rows:
        counts = ", ".join(_count(number, severity.label) for severity, number in row.severities.items() if number)
        yield _text(f"{row.total:>6,}  ").append(f"{row.rule:<{width}}", "bold").append(f"  {counts}")
    if rows:
        yield _text("")


def summary(report: Report, seconds: float) -> str:
    """The last line: what was found, where, what is not shown, and how long it took."""
    counts = [
        _count(sum(finding.severity == severity for finding in report.findings), severity.label)
        for severity in sorted(Severity, reverse=True)
    ]
    found = ", ".join(count for count in counts if not count.startswith("0 ")) or "no findings"
    totals = report.summary
    unseen = [
        _fixes(report),
        f"{totals.hidden} hidden" if totals.hidden else "",
        f"{totals.suppressed} suppressed" if totals.suppressed else "",
        f"{totals.baselined} in the baseline" if totals.baselined else "",
        f"{totals.outside_diff} outside the diff" if totals.outside_diff else "",
        f"{_count(len(report.errors), 'file')} not analysed" if report.errors else "",
    ]
    rest = "".join(f"; {part}" for part in unseen if part)
    return f"{found} in {_count(totals.files, 'file')} ({_count(totals.lines, 'line')}){rest}; {seconds:.1f} s"


def _fixes(report: Report) -> str:
    """What was fixed and what can be."""
    mends = [finding.fix for finding in report.findings if finding.fix]
    safe = sum(fix.safe for fix in mends)
    unsafe = len(mends) - safe
    if report.summary.fixed is not None:
        more = f" ({unsafe} more with --unsafe-fixes)" if unsafe and not report.summary.unsafe_fixes else ""
        return f"{report.summary.fixed} fixed{more}"
    if report.summary.unsafe_fixes:
        return f"{len(mends)} fixable with --fix --unsafe-fixes [*]" if mends else ""
    more = f"{unsafe} more with --unsafe-fixes" if unsafe else ""
    if not safe:
        return more.replace("more", "fixable")
    return f"{safe} fixable with --fix [*]{f' ({more})' if more else ''}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _finding(finding: Finding, view: View, like: Location | None, *, unsafe: bool) -> Iterator[Text]:
    """A finding in full, or what is its own if an earlier one has told the same of the same two sides."""
    yield _header(finding, view, marked=finding.fix is not None and (finding.fix.safe or unsafe))
    yield from _wrapped(finding.message, view.width, "  ")
    lines = excerpt(finding, view.lines(finding.location.path), view.width)
    if lines:
        yield _text("")
        yield from (_source(line, COLOURS[finding.severity]) for line in lines)
    if like is not None:
        spots = [f"{a.kind} {_near(a.location.path, finding, view)}:{a.location.line}" for a in _told(finding)]
        text = f"line {like.span.line}, by the same two functions: {', '.join(spots)}"
        yield _text("")
        yield from _labelled("like", _lines(text, view.width - 2 - LABEL))
        return
    if finding.accesses:
        yield _text("")
        yield from _accesses(finding, view)
    advice = (("because", finding.because), ("harm", finding.harm), ("mend", finding.mend))
    if any(text for _, text in advice):
        yield _text("")
    for label, text in advice:
        if text:
            yield from _labelled(label, _lines(text, view.width - 2 - LABEL))


def _header(finding: Finding, view: View, *, marked: bool) -> Text:
    span = finding.location.span
    header = _text(f"{view.path(finding.location.path)}:{span.line}:{span.column}", "bold")
    header.append("  ").append(finding.severity.label, COLOURS[finding.severity])
    header.append("  ").append(finding.rule, "bold")
    return header.append("  ").append("[*]", "cyan") if marked else header


def _source(line: Line, colour: str) -> Text:
    mark = ">" if line.reported else "-" if line.touched else " "
    text = _text(f" {mark} {line.number:>4} | ", "" if line.reported else "dim")
    start, end = line.emphasis
    text.append(line.text[:start]).append(line.text[start:end], colour).append(line.text[end:])
    return text


def _accesses(finding: Finding, view: View) -> Iterator[Text]:
    """An access: who and with which locks (in a column if all rows have room), then the way there."""
    told = _told(finding)
    rows = [(access, _who(access, finding, view), _locks(access)) for access in told]
    label = max(LABEL, *(len(access.kind) + 1 for access in told))
    column, room = max(len(who) for _, who, _ in rows) + 2, view.width - 2 - label
    aligned = column + max(len(locks) for *_, locks in rows) <= room
    for access, who, locks in rows:
        lines = [f"{who:<{column}}{locks}" if locks else who] if aligned else [who, *_lines(locks, room)]
        lines += _lines(_way(access, finding, view), room, between=" -> ")
        yield from _labelled(access.kind, [line.rstrip() for line in lines if line], label)


def _who(access: Access, finding: Finding, view: View) -> str:
    started = access.context.started_at
    if started:
        return f"{access.context.kind} started at {_near(started.path, finding, view)}:{started.line}"
    return "" if access.context.kind == "same" else access.context.kind


def _locks(access: Access) -> str:
    if access.context.kind == "same" and not access.locks:
        return ""
    return f"locks held: {', '.join(access.locks) or 'none'}"


def _way(access: Access, finding: Finding, view: View) -> str:
    """From where the context starts, call by call, to the access."""
    steps = [(step.function, step.location.path, step.location.line) for step in access.trace]
    steps.append((access.function, access.location.path, access.location.line))
    return " -> ".join(
        f"{name} {_near(path, finding, view)}:{line}".strip() for name, path, line in dict.fromkeys(steps)
    )


def _near(path: str, finding: Finding, view: View) -> str:
    """A path, shortened to its name if it is the file that the header names in full."""
    return path.rpartition("/")[2] if path == finding.location.path else view.path(path)


def _labelled(label: str, lines: Iterable[str], width: int = LABEL) -> Iterator[Text]:
    for number, line in enumerate(lines):
        yield _text(f"  {label if number == 0 else '':<{width}}", "bold").append(clean(line), "not bold")


def _wrapped(text: str, width: int, indent: str, between: str = " ") -> Iterator[Text]:
    yield from (_text(indent + line) for line in _lines(text, width - len(indent), between))


def _lines(text: str, width: int, between: str = " ") -> list[str]:
    """Lines of at most `width`, broken between words or between the parts of a way; a long word overflows."""
    width = max(width, 30)
    if between == " ":
        return textwrap.wrap(clean(text), width, break_long_words=False, break_on_hyphens=False)
    lines: list[str] = []
    for part in clean(text).split(between):
        joined = f"{lines[-1]}{between}{part}" if lines else part
        if lines and len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(f"{between.lstrip()}{part}" if lines else part)
    return lines


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(clean(text), style=style)
