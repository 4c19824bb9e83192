"""The drawing of a race: lanes side by side, locks as bands along them, and between the accesses what they share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from racelint.finding import Finding
from racelint.reporters.html_report.lanes import READ_SIDE, Drawing, Lane, Stop, bare, fold
from racelint.reporters.html_report.markup import Child, Markup, tag
from racelint.reporters.html_report.sources import Sources, is_near

COLOURS = 6  # bands of different colours, then they begin again
NO_LOCK = "no lock held"


def figure(drawing: Drawing, finding: Finding, sources: Sources) -> Markup | None:
    """The drawing with its caption; nothing if the finding has no accesses."""
    if not drawing.lanes:
        return None
    colours = {name: f"k{number % COLOURS + 1}" for number, name in enumerate(drawing.locks)}
    painter = _Painter(drawing, finding, sources, colours)
    lanes = [painter.lane(lane, "ABCDEFGH"[number % 8]) for number, lane in enumerate(drawing.lanes)]
    if len(lanes) == 2:
        lanes.insert(1, _clash(drawing, colours))
    caption = tag("figcaption", _caption(drawing, finding), class_="sr")
    return tag("figure", caption, lanes, class_=f"race n{len(drawing.lanes)} {drawing.verdict}".strip())


def glyph(drawing: Drawing) -> Markup | None:
    """The drawing in small: two lanes with their bands, joined only by a lock in common."""
    if len(drawing.lanes) != 2:
        return None
    colours = {name: f"k{number % COLOURS + 1}" for number, name in enumerate(drawing.locks)}
    parts: list[Markup] = []
    for x, lane in zip((2, 26), drawing.lanes, strict=True):
        parts.append(tag("rect", x=x, y=2, width=12, height=24, rx=3, class_="track"))
        held = [bare(lock) for lock in lane.held][:2]
        for number, name in enumerate(held):
            band = {"x": x + 2 + number * 4, "y": 8, "width": 3, "height": 16, "rx": 1}
            parts.append(tag("rect", class_=colours[name], **band))
        if not held:
            parts.append(tag("rect", x=x + 3, y=8, width=6, height=16, rx=2, class_="bare"))
    parts.append(tag("rect", x=16, y=17, width=8, height=3, class_="link"))
    return tag("svg", parts, viewBox="0 0 40 28", class_=f"glyph {drawing.verdict}", aria_hidden="true")


def _caption(drawing: Drawing, finding: Finding) -> str:
    """The drawing in words, for whoever cannot see it."""
    said = []
    for lane in drawing.lanes:
        held = f", holding {', '.join(lane.held)}" if lane.held else ", holding no lock" if drawing.verdict else ""
        said.append(f"{lane.title} {lane.stops[-1].verb} {finding.symbol} in {lane.stops[-1].function}{held}")
    return f"{'; '.join(said)}. {_verdict(drawing)[0]}".strip()


def _verdict(drawing: Drawing) -> tuple[str, str]:
    """What the locks of both sides come to: in short, and why."""
    match drawing.verdict:
        case "free":
            return "No lock", "neither side holds one"
        case "apart":
            return "No common lock", "what one side holds does not keep the other out"
        case "common":
            sides = [lock for lane in drawing.lanes for lock in lane.held if bare(lock) in drawing.common]
            if all(lock.endswith(READ_SIDE) for lock in sides):
                return "Read side only", "it lets both in at once"
            return "Same name, no protection", "of two objects, or not held for as long as it takes"
    return "", ""


def _clash(drawing: Drawing, colours: dict[str, str]) -> Markup:
    short, why = _verdict(drawing)
    icon = tag("span", "\N{HIGH VOLTAGE SIGN}\N{VARIATION SELECTOR-15}", class_="bolt", aria_hidden="true")
    names = [tag("span", name, class_=f"lock {colours[name]} same") for name in drawing.common]
    return tag("div", icon, tag("strong", short), tag("span", why), names, class_="clash")


class _Painter:
    """Draws the lanes of one finding; a lock has one colour in all of them."""

    def __init__(self, drawing: Drawing, finding: Finding, sources: Sources, colours: dict[str, str]) -> None:
        self._drawing = drawing
        self._finding = finding
        self._sources = sources
        self._colours = colours

    def lane(self, lane: Lane, letter: str) -> Markup:
        """A lane: who runs, the stops, and the access with its source at the end."""
        head = tag("h4", tag("span", letter, class_="letter", aria_hidden="true"), lane.title)
        before: Stop | None = None
        stops = []
        for stop in lane.stops:
            stops.append(self._stop(stop, lane, before))
            before = stop
        *way, access = stops
        label = f"{letter}: {lane.title}" if self._drawing.verdict else lane.title
        return tag(
            "div",
            head,
            tag("div", self._way(way, lane), class_="way"),
            access,
            class_="lane",
            role="group",
            aria_label=label,
        )

    def _way(self, items: list[Markup], lane: Lane) -> list[Markup]:
        """The stops before the last; of many, some are folded away."""
        first, last = fold(lane.stops[:-1])
        if first == last:
            return [tag("ol", items)] if items else []
        bands = self._bands(lane.stops[first], lane, lane.stops[first - 1])
        summary = tag("summary", bands, tag("span", f"{last - first} more calls", class_="what"))
        folded = tag("details", summary, tag("ol", items[first:last]), class_="fold")
        return [tag("ol", items[:first]), folded, tag("ol", items[last:])]

    def _stop(self, stop: Stop, lane: Lane, before: Stop | None) -> Markup:
        body = self._accessed(stop, lane, before) if stop.access else self._passed(stop, lane, before)
        marks = ("stop", "access" if stop.access else "", "write" if stop.is_write else "")
        bands = self._bands(stop, lane, before)
        name = "div" if stop is lane.stops[-1] else "li"
        return tag(name, bands, tag("div", body, class_="what"), class_=" ".join(filter(None, marks)))

    def _passed(self, stop: Stop, lane: Lane, before: Stop | None) -> list[Child]:
        """Where a context is started, or a call on its way."""
        name = tag("span", "started here", class_="start") if stop.starts else tag("b", stop.function, class_="fn")
        line = self._sources.line(stop.location)
        return [
            tag("div", name, self._place(stop), class_="who"),
            tag("code", line, class_="line") if line else None,
            self._taken(stop, before.locks if before else ()),
        ]

    def _accessed(self, stop: Stop, lane: Lane, before: Stop | None) -> list[Child]:
        """An access, with its source unless the next one stands near, and the locks held."""
        after = next((later for earlier, later in pairwise(lane.stops) if earlier is stop), None)
        if after and after.access and is_near(stop.location, after.location):
            source: Child = tag("code", self._sources.line(stop.location), class_="line")
        else:
            source = self._sources.excerpt(stop.location, before.location if before and before.access else None)
        what = stop.function if stop.is_source else self._finding.symbol
        function = None if stop.is_source else tag("b", stop.function, class_="fn")
        through = tag("div", tag("span", lane.through, class_="lock kt"), class_="held") if lane.through else None
        return [
            tag("div", tag("span", stop.verb, class_="verb"), tag("code", what), class_="does"),
            tag("div", function, self._place(stop), class_="who"),
            source,
            through if after else None,
            self._held(stop),
        ]

    def _place(self, stop: Stop) -> Markup:
        return tag("span", self._sources.place(stop.location, self._finding.location.path), class_="at")

    def _held(self, stop: Stop) -> Markup | None:
        if stop.locks:
            return tag("div", "holds ", [self._chip(lock) for lock in stop.locks], class_="held")
        return tag("div", tag("span", NO_LOCK, class_="lock none"), class_="held") if self._drawing.verdict else None

    def _taken(self, stop: Stop, before: Sequence[str]) -> Markup | None:
        new = [lock for lock in stop.locks if lock not in before]
        return tag("div", "takes ", [self._chip(lock) for lock in new], class_="held") if new else None

    def _bands(self, stop: Stop, lane: Lane, before: Stop | None) -> Markup:
        """A column for each lock of the lane, filled where it is held, and the lane's own line with a dot."""
        columns = [self._band(lock, stop, lane, before.locks if before else ()) for lock in lane.locks]
        if self._drawing.verdict and not lane.locks:
            columns = [tag("i", class_="bare" if stop.access else None)]
        if lane.through:
            columns.insert(0, tag("i", class_=_through(stop, lane)))
        return tag("span", columns, tag("i", class_="rail"), class_="bands", aria_hidden="true")

    def _band(self, lock: str, stop: Stop, lane: Lane, before: Sequence[str]) -> Markup:
        if lock not in stop.locks:
            bare_side = stop.access and self._drawing.verdict and not stop.locks and lock == lane.locks[0]
            return tag("i", class_="bare" if bare_side else None)
        marks = (
            "band",
            self._colours[bare(lock)],
            "top" if lock not in before else "",
            "end" if stop is lane.stops[-1] else "",
            "shared" if lock.endswith(READ_SIDE) else "",
            "same" if bare(lock) in self._drawing.common else "",
        )
        return tag("i", class_=" ".join(filter(None, marks)))

    def _chip(self, lock: str) -> Markup:
        name = bare(lock)
        same = " same" if name in self._drawing.common else ""
        side = tag("small", "read side") if lock.endswith(READ_SIDE) else None
        return tag("span", name, " " if side else None, side, class_=f"lock {self._colours[name]}{same}")


def _through(stop: Stop, lane: Lane) -> str | None:
    """The band from the first access of a lane to its last."""
    first = next(number for number, each in enumerate(lane.stops) if each.access)
    number = lane.stops.index(stop)
    if number < first:
        return None
    return f"band kt{' top' if number == first else ''}{' end' if stop is lane.stops[-1] else ''}"
