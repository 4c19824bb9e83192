"""The HTML report without a browser: what it says, that it loads nothing, and that nothing of the code gets through."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from racelint.finding import (
    Access,
    Confidence,
    Context,
    Edit,
    Finding,
    Fix,
    Location,
    Severity,
    SourceError,
    Span,
    Step,
)
from racelint.report import Report, Summary
from racelint.reporters import View, reporters
from racelint.reporters.html_report import filters, lanes, manual, markup

FILE = "/work/app/controllers/mirror.py"
SOURCE = [f"line {number}" for number in range(1, 200)]
SOURCE[87] = "        self.alive = alive"
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\'"&\x00\x1b[2J\u202egnp.exe\udcff'


def at(line: int, column: int = 1, path: str = FILE, end_column: int = 0, end_line: int = 0) -> Location:
    return Location(path, Span(line, column, end_line or line, end_column or column + 4))


STORE = Access("first", "store", at(88, 9, end_column=19), "Watcher._loop", Context("thread", at(41)))
READ = Access(
    "second", "read", at(12, path="/work/app/api.py"), "state", Context("external"), ("Api.lock",),
    (Step(at(3), "main", "calls serve"), Step(at(9), "serve", "calls state", ("Api.lock",))),
)  # fmt: skip


def race(**changes: object) -> Finding:
    values: dict[str, object] = {
        "rule": "unlocked-shared-write",
        "severity": Severity.WARNING,
        "confidence": Confidence.HIGH,
        "location": at(88, 9, end_column=19),
        "message": "Watcher.alive is stored by a thread and read by a caller's thread, with no common lock",
        "symbol": "Watcher.alive",
        "function": "Watcher._loop",
        "accesses": (STORE, READ),
        "because": "nothing orders the two",
        "harm": "a stale value decides",
        "mend": "hold one lock on both sides",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def render(report: Report, source: list[str] = SOURCE, pages: dict[str, str] | None = None) -> str:
    stream = io.StringIO()
    reporters()["html"](report, View("/work/app", lambda path: source, {}, 0.42, 80, pages or {}), stream)
    return stream.getvalue()


class Reader(HTMLParser):
    """The elements of a document with their attributes, and its text without what only eyes are meant for."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, bool]] = []
        self.text: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in markup.VOID:
            unread = ("aria-hidden", "true") in attrs or tag in ("style", "script", "datalist", "dialog")
            self.open.append((tag, unread or bool(self.open and self.open[-1][1])))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and not self.open[-1][1] and data.strip():
            self.text.append(" ".join(data.split()))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


TEXT = """\
warning | Watcher.alive | is stored by a thread and read by a caller's thread, with no common lock | line 88 |
unlocked-shared-write | high confidence |
Thread stores Watcher.alive in Watcher._loop, holding no lock; Caller from outside reads Watcher.alive in state,
holding Api.lock. No common lock |
Thread | started here | mirror.py:41 | line 41 |
stores | Watcher.alive | Watcher._loop | mirror.py:88 |
86 | line 86 | 87 | line 87 | 88 | self.alive | = alive | 89 | line 89 | 90 | line 90 | no lock held |
No common lock | what one side holds does not keep the other out |
Caller from outside | main | mirror.py:3 | line 3 | serve | mirror.py:9 | line 9 | takes | Api.lock |
reads | Watcher.alive | state | api.py:12 |
10 | line 10 | 11 | line 11 | 12 | line | 12 | 13 | line 13 | 14 | line 14 | holds | Api.lock |
Because | nothing orders the two | Harm | a stale value decides | Mend | hold one lock on both sides |
controllers/mirror.py:88 | Link to this finding"""


def test_a_race_reads_well_without_eyes_and_without_a_script():
    document = render(Report((race(),)))
    card = document[document.index("<details class=") : document.index("</details></section>")]
    assert " | ".join(Reader(card + "</details>").text) == " ".join(TEXT.split())


def test_the_bands_run_from_where_a_lock_is_held_to_the_access():
    document = render(Report((race(),)))
    rows = re.findall(r'<span class="bands"[^>]*>(.*?)</span>', document)
    bands = [re.findall(r'<i(?: class="([^"]*)")?>', row) for row in rows]
    assert bands == [
        ["", "rail"], ["bare", "rail"],  # the thread: started, stores without a lock
        ["", "rail"], ["band k1 top", "rail"], ["band k1 end", "rail"],  # the caller: main, serve, reads
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "verdict", "words"),
    [
        ((), (), "free", "neither side holds one"),
        (("A.lock",), (), "apart", "No common lock"),
        (("A.lock",), ("B.lock",), "apart", "No common lock"),
        (("A.lock (read side)",), ("A.lock (read side)",), "common", "Read side only"),
        (("A.lock",), ("A.lock", "B.lock"), "common", "Same name, no protection"),
    ],
)
def test_what_the_locks_of_both_sides_come_to(first, second, verdict, words):
    sides = tuple(Access("x", "store", at(88), "f", Context("thread"), locks) for locks in (first, second))
    finding = race(accesses=sides)
    assert lanes.draw(finding).verdict == verdict
    assert words in render(Report((finding,)))


def test_a_loop_that_changes_what_it_iterates_is_one_lane():
    loop = Access("iteration", "iterate", at(20), "f")
    change = Access("change", "mutate", at(22), "f", trace=(Step(at(22), "f"),))
    drawing = lanes.draw(race(accesses=(loop, change)))
    assert [[stop.verb for stop in lane.stops] for lane in drawing.lanes] == [["iterates over", "changes"]]
    assert (drawing.lanes[0].through, drawing.verdict) == ("iteration goes on", "")
    text = Reader(render(Report((race(accesses=(loop, change)),)))).text
    assert "no lock held" not in text
    assert text.count("line 21") == 1  # one excerpt shows both


@pytest.mark.parametrize(
    ("locksets", "folded"),
    [
        ("", (0, 0)),
        ("......", (0, 0)),  # two stay at each end, and two in between are not worth it
        (".......", (2, 5)),
        ("....AAAAAAAA", (5, 10)),  # where a lock is taken stays in sight
        ("AAAAAAAA....", (2, 8)),
        ("..A.A.A.A.A.", (0, 0)),
    ],
)
def test_of_many_calls_those_are_folded_that_change_no_lock(locksets, folded):
    way = [lanes.Stop(at(n + 1), "f", () if held == "." else (held,)) for n, held in enumerate(locksets)]
    assert lanes.fold(way) == folded


def test_long_ways_are_folded():
    trace = tuple(Step(at(n), f"f{n}", "calls") for n in range(1, 11))
    access = Access("first", "store", at(88), "f", Context("thread", at(41)), (), trace)
    text = Reader(render(Report((race(accesses=(access, READ)),)))).text
    assert "7 more calls" in text
    assert {f"f{n}" for n in range(1, 11)} <= set(text)


def test_an_object_of_a_cache_comes_from_its_source():
    source = Access("source", "read", at(20), "lister.get()")
    change = Access("change", "mutate", at(60), "g", trace=(Step(at(22), "f"), Step(at(60), "g")))
    text = " ".join(Reader(render(Report((race(accesses=(source, change)),)))).text)
    assert "takes an object from lister.get() mirror.py:20" in text
    assert "no copy on the way" in text


def test_what_is_declared_or_done_elsewhere_stands_beside():
    said = Access("declared", "says", at(7), "")
    again = Access("change", "also", at(30), "g")
    text = Reader(render(Report((race(accesses=(STORE, READ, said, again)),)))).text
    assert {"Declared", "controllers/mirror.py:7", "The same here", "controllers/mirror.py:30"} <= set(text)


def test_a_finding_without_accesses_and_one_whose_file_is_gone():
    assert "Reported here" in Reader(render(Report((race(accesses=()),)))).text
    gone = Reader(render(Report((race(),)), source=[])).text
    assert {"mirror.py:88", "api.py:12"} <= set(gone)


def test_it_loads_nothing_and_runs_only_its_own_script():
    document = render(Report((race(),)), pages={"unlocked-shared-write": "A page.\n\n![x](http://x.y/z.png) <b>"})
    reader = Reader(document)
    assert [name for name, _ in reader.elements if name in ("img", "iframe", "object", "embed", "base")] == []
    for name, attributes in reader.elements:
        assert "style" not in attributes
        assert not [key for key in attributes if key.startswith("on")]
        assert "src" not in attributes
        if href := attributes.get("href"):
            assert href.startswith("#") or (name == "link" and href.startswith("data:image/svg+xml,"))
    without = document.replace(escape(reader.of("link")[0]["href"] or ""), "")
    assert "http" not in without.replace("http://x.y/z.png", "").replace("http-equiv", "")
    assert not re.search(r"@import|url\(", without)

    policy = reader.of("meta")[1]["content"] or ""
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", document, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_nothing_of_the_analysed_code_becomes_markup():
    plain = Reader(render(Report((race(),), (SourceError("x", FILE, "bad"),))))
    access = Access(HOSTILE, HOSTILE, at(2, path=HOSTILE), HOSTILE, Context(HOSTILE, at(2)), (HOSTILE,),
                    (Step(at(3), HOSTILE, HOSTILE, (HOSTILE,)),))  # fmt: skip
    finding = race(
        rule=HOSTILE, message=f"{HOSTILE} is stored", symbol=HOSTILE, function=HOSTILE, location=at(2, path=HOSTILE),
        accesses=(access, access), because=HOSTILE, harm=HOSTILE, mend=HOSTILE,
        fix=Fix(HOSTILE, (Edit(at(2), HOSTILE),)),
    )  # fmt: skip
    report = Report((finding,), (SourceError(HOSTILE, HOSTILE, HOSTILE, 1),), (HOSTILE,))
    document = render(report, source=[HOSTILE] * 9, pages={HOSTILE: HOSTILE})
    reader = Reader(document)
    assert {name for name, _ in reader.elements} <= {name for name, _ in plain.elements} | {"article", "small"}
    assert len(reader.of("script")) == 1
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e\ud800-\udfff]", document)
    assert r"\x00\x1b[2J\u202egnp.exe\udcff" in document


def test_markup_escapes_by_itself():
    assert markup.tag("a", "<", markup.Markup("<b>"), None, 3, ["&"], title='"<', hidden=True, open=False) == (
        '<a title="&quot;&lt;" hidden>&lt;<b>3&amp;</a>'
    )
    assert markup.tag("input", class_="x", data_path="a'b") == '<input class="x" data-path="a&#x27;b">'


def test_a_manual_page_is_markdown_without_links_images_and_html():
    page = manual.page("Sum.\n\n## Why\n\n    code <b>\n\n- a `b`\n\n[x](javascript:y) ![z](http://z) <i>")
    assert "<h3>Why</h3>" in page
    assert "<pre><code>code &lt;b&gt;\n</code></pre>" in page
    assert "[x](javascript:y) ![z](http://z) &lt;i&gt;" in page


def test_the_same_report_gives_the_same_bytes():
    report = Report((race(), race(location=at(90))), (SourceError("syntax-error", FILE, "bad", 3),))
    assert render(report) == render(report)
    marks = re.findall(r'id="(f-[0-9a-f]{32})"', render(report))
    assert len(set(marks)) == 2


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (Report(summary=Summary(3, 1200)), ["No races found", "racelint read 3 files (1,200 lines)."]),
        (Report(summary=Summary(1, 1, hidden=1)),
         ["No findings", "1 finding below the chosen severity or confidence, not shown:"]),
        (Report(errors=(SourceError("syntax-error", FILE, "bad", 3),), summary=Summary(1, 1)),
         ["No findings", "Not analysed: 1 file", "controllers/mirror.py:3", "syntax-error", "bad"]),
        (Report(), ["Nothing to analyse"]),
        (Report((race(),), notes=("a note",), summary=Summary(1, 1, 2, 3)),
         ["a note",
          "Not shown: 2 below the chosen severity or confidence; 3 silenced by a comment or the configuration."]),
    ],
)  # fmt: skip
def test_what_is_said_of_the_whole(report, words):
    text = Reader(render(report)).text
    assert [word for word in words if word not in text] == []


def test_filters_offer_only_what_is_a_choice():
    view = View("/work/app", lambda path: [])
    alone = filters.filters([race(), race()], view)
    assert 'name="severity"' not in alone
    both = filters.filters([race(), race(severity=Severity.ERROR, location=at(1, path="/work/app/a.py"))], view)
    assert [unquote(value) for value in re.findall(r'type="checkbox" name="\w+" value="([^"]*)"', both)] == [
        "error", "warning", "./", "controllers/",
    ]  # fmt: skip


def test_folders_are_as_deep_as_gives_a_dozen():
    assert filters.folders(["a/b/c.py", "a/b/d.py", "a/e/f.py", "g.py"]) == {"./": 1, "a/b/": 2, "a/e/": 1}
    assert filters.folders([f"a/b{n}/c.py" for n in range(20)]) == {"a/": 20}


def test_a_fix_is_shown():
    fix = Fix("iterate over a copy", (Edit(at(88), "list(d)"), Edit(at(90), "")), safe=False)
    text = Reader(render(Report((race(fix=fix),)))).text
    assert {"iterate over a copy", "--fix --unsafe-fixes", "list(d)", "(removed)"} <= set(text)
