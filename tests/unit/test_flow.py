"""The interpreter, with a domain that only remembers: a state is the set of event sequences that may lead to it."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.programs import function

from racelint.analysis.flow import TURNS, Flow
from racelint.model import Call, Const, Eval, Name

MOST_TURNS = 4  # of all loops on one way: the rest would only repeat


class Trace:
    """The ways that lead to a point: strings of one letter an event."""

    def __init__(self, ways=("",)):
        self.ways = set(ways)

    def add(self, event):
        self.ways = {way + event for way in self.ways}


class Tracer(Flow):
    """Calls of a() to z() are events; stop() never returns; `True` and `False` are known tests."""

    def __init__(self):
        super().__init__()
        self.loops = []

    def copy(self, state):
        return Trace(state.ways)

    def join(self, first, second):
        if first is None or second is None:
            return first or second
        first.ways |= second.ways
        return first

    def stable(self, old, new):
        return old.ways == new.ways

    def widen(self, old, new):
        self.loops.append("widen")
        return new

    def reach(self, stmt, state):
        pass

    def simple(self, stmt, state):
        match stmt:
            case Eval(value=Call(func=Name(name="stop"))):
                return False
            case Eval(value=Call(func=Name(name=name))):
                state.add(name)
        return True

    def branch(self, test, state):
        match test:
            case Const(value=True):
                return state, None
            case Const(value=False):
                return None, state
        return state, self.copy(state)

    def enter_loop(self, loop, state):
        self.loops.append("enter")
        state.add("<")
        return "loop"

    def begin_turn(self, loop, frame, state):
        state.ways = {way for way in state.ways if way.count(".") < MOST_TURNS}
        state.add(".")

    def end_turn(self, loop, frame, state):
        self.loops.append("end")

    def exhaust(self, loop, frame, state):
        pass

    def leave_loop(self, loop, frame, state):
        state.add(">")

    def close_loop(self, loop, frame):
        self.loops.append("close")

    def hold(self, hold, state):
        state.add("(")
        return "hold"

    def release(self, hold, frame, state):
        state.add(")")

    def jump(self, jump, state):
        if isinstance(jump.value, Call):
            state.add(jump.value.func.name)

    def caught(self, handler, body, state):
        state.add("!")


def run(text):
    """How a body may be left: "normal" and jumps, each with the ways that lead there, repeated turns left out."""
    tracer = Tracer()
    exits = tracer.block(function(f"def f():\n{textwrap.indent(textwrap.dedent(text), '    ')}").body, Trace())
    left = {} if exits.normal is None else {"normal": exits.normal.ways}
    for kind, state in exits.jumps:
        left[kind] = left.get(kind, set()) | state.ways
    assert tracer._catching == []
    return left


def ends(text):
    return {kind: " ".join(sorted(ways)) for kind, ways in run(text).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass", {"normal": ""}),
        ("a(); b()", {"normal": "ab"}),
        ("a(); return; b()", {"return": "a"}),
        ("return a()", {"return": "a"}),
        ("a(); raise b()", {"raise": "ab"}),
        ("a(); stop(); b()", {"raise": "a"}),
        ("if x: a()\nelse: b()\nc()", {"normal": "ac bc"}),
        ("if x: a()\nc()", {"normal": "ac c"}),
        ("if x: return a()\nb()", {"normal": "b", "return": "a"}),
        ("if x: return\nelse: raise\nb()", {"return": "", "raise": ""}),
        ("if True: a()\nelse: b()", {"normal": "a"}),
        ("if False: a()", {"normal": ""}),
        ("with x: a()\nb()", {"normal": "(a)b"}),
        ("with x:\n    if y: return a()\n    b()", {"normal": "(b)", "return": "(a)"}),
        ("with x: raise", {"raise": "()"}),
        ("with x, y:\n    with z: a()", {"normal": "((a))"}),
        ("def g(): a()\nb()", {"normal": "b"}),
        ("assert x\na()", {"normal": "a", "raise": ""}),
    ],
)
def test_straight_and_branching(text, expected):
    assert ends(text) == expected


def turns(ways, most=1):
    """Ways with at most so many turns of a loop."""
    return {way for way in ways if way.count(".") <= most}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for i in x: a()\nb()", {"normal": {"<>b", "<.a>b"}}),
        ("while x: a()", {"normal": {"<>", "<.a>"}}),
        ("while True: a()", {}),
        ("while True: a(); break", {"normal": {"<.a>"}}),
        ("while False: a()", {"normal": {"<>"}}),
        ("while True:\n    if x: return a()", {"return": {"<.a>"}}),
        ("for i in x:\n    if y: break\n    a()\nelse: e()", {"normal": {"<>e", "<.a>e", "<.>"}}),
        ("for i in x: break\nelse: e()", {"normal": {"<>e", "<.>"}}),
        ("for i in x: a(); continue; b()", {"normal": {"<>", "<.a>"}}),
        ("for i in x:\n    if y: continue\n    a()\nb()", {"normal": {"<>b", "<.>b", "<.a>b"}}),
        ("for i in x: return a()\nb()", {"normal": {"<>b"}, "return": {"<.a>"}}),
        ("for i in x: raise", {"normal": {"<>"}, "raise": {"<.>"}}),
        ("for i in x: stop()", {"normal": {"<>"}, "raise": {"<.>"}}),
        ("for i in x: pass\nelse: return e()\nb()", {"return": {"<>e", "<.>e"}}),
        ("while True:\n    with x: break", {"normal": {"<.()>"}}),
        ("while True:\n    try: break\n    finally: f()", {"normal": {"<.f>"}}),
    ],
)
def test_loops(text, expected):
    assert {kind: turns(ways) for kind, ways in run(text).items()} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for i in x:\n    for j in y: a()", {"<>", "<.<>>", "<.<.a>>"}),
        ("for i in x:\n    for j in y: break\n    b()", {"<>", "<.<>b>", "<.<.>b>"}),
        ("for i in x:\n    for j in y: continue\n    else: break", {"<>", "<.<>>", "<.<.>>"}),
        ("for i in x:\n    while True:\n        if y: break", {"<>", "<.<.>>"}),
    ],
)
def test_nested_loops(text, expected):
    assert turns(run(text)["normal"], 2) & expected == expected
    assert {way for way in run(text)["normal"] if way.count(".") <= 1} <= expected


def test_what_a_turn_leaves_is_seen_by_the_next():
    assert "<.a.b>" in run("for i in x:\n    if y: a()\n    else: b()")["normal"]


def test_a_loop_that_cannot_go_on_is_not_told_to():
    tracer = Tracer()
    tracer.block(function("def f():\n    for i in x:\n        if y: break\n        return 1").body, Trace())
    assert tracer.loops == ["enter", "close"]


def test_loops_end_after_a_bounded_number_of_turns_and_are_widened_once():
    tracer = Tracer()
    tracer.block(function("def f():\n    while x: a()").body, Trace())
    assert tracer.loops == ["enter", "end", "end", "widen", "end", "close"]
    assert tracer.loops.count("end") == TURNS


def test_every_way_out_of_a_loop_is_told_once():
    text = "for i in x:\n    if a(): break\n    if b(): return\n    if c(): raise"
    assert all(way.count(">") == 1 for ways in run(text).values() for way in ways)


# --- exceptions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try: a(); b()\nexcept E: h()", {"normal": "!h a!h ab"}),
        ("try: a()\nexcept E as e: h()\nelse: e()\nc()", {"normal": "!hc aec"}),
        ("try: return a()\nexcept E: pass\nb()", {"normal": "!b", "return": "a"}),
        ("try: return\nexcept E: h()", {"return": ""}),
        ("try: raise a()\nexcept E: h()\nc()", {"normal": "!hc a!hc"}),
        ("try: a()\nexcept E: raise\nb()", {"normal": "ab", "raise": "!"}),
        ("try: a()\nexcept E: return h()\nb()", {"normal": "ab", "return": "!h"}),
        ("try: stop()\nexcept E: h()\nb()", {"normal": "!hb"}),
        ("try: a()\nexcept E: h()\nexcept F: k()", {"normal": "!h !k a"}),
        ("try: pass\nexcept E: h()\nb()", {"normal": "b"}),
        ("try:\n    if x: a()\nexcept E: h()", {"normal": " !h a"}),
        ("try:\n    for i in x: return a()\nexcept E: pass", {"normal": "! <.! <>", "return": "<.a>"}),
        ("try: a()\nfinally: f()\nb()", {"normal": "afb"}),
        ("try: return a()\nfinally: f()\nb()", {"return": "af"}),
        ("try: raise\nfinally: f()", {"raise": "f"}),
        ("try: a()\nfinally: return f()", {"return": "af"}),
        ("try: return a()\nfinally: return f()", {"return": "af"}),
        ("try: raise\nfinally: return f()", {"return": "f"}),
        ("try: return a()\nfinally:\n    if x: raise", {"return": "a", "raise": "a"}),
        ("try: a()\nexcept E: return h()\nelse: return e()\nfinally: f()", {"return": "!hf aef"}),
        ("try: a()\nexcept E: h()\nfinally: f()\nb()", {"normal": "!hfb afb"}),
        ("try:\n    try: a()\n    finally: f()\nfinally: g()", {"normal": "afg"}),
        ("try:\n    try: raise\n    finally: f()\nexcept E: h()", {"normal": "!h f!h"}),  # f() may raise too
        ("try:\n    with x: raise\nexcept E: h()", {"normal": "()!h"}),
        ("try:\n    with x: a()\nexcept E: h()", {"normal": "(!h (a)"}),
    ],
)
def test_exceptions(text, expected):
    assert ends(text) == expected


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("try:\n    try: a()\n    finally: f()\nexcept E: h()", "f!h"),
        ("try:\n    try: raise\n    except E: a()\n    finally: f()\nexcept E: h()", "!f!h"),
        ("try:\n    try: pass\n    except E: pass\n    else: a()\n    finally: f()\nexcept E: h()", "f!h"),
    ],
)
def test_finally_runs_before_an_outer_handler(text, way):
    assert way in run(text)["normal"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("while x:\n    try: break\n    finally: f()\nelse: e()", {"normal": {"<>e", "<.f>"}}),
        ("while x:\n    try: continue\n    finally: f()", {"normal": {"<>", "<.f>"}}),
        ("while True:\n    try: return a()\n    finally: break", {"normal": {"<.a>"}}),
        (
            "while True:\n    try: return a()\n    finally:\n        if x: break",
            {"normal": {"<.a>"}, "return": {"<.a>"}},
        ),
        ("while True:\n    try: a()\n    except E: break\n    else: return", {"normal": {"<.!>"}, "return": {"<.a>"}}),
        ("for i in x:\n    try: raise\n    except E: continue\n    b()", {"normal": {"<>", "<.!>"}}),
    ],
)
def test_jumps_through_finally(text, expected):
    assert {kind: turns(ways) for kind, ways in run(text).items()} == expected
