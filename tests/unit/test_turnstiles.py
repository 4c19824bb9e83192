"""Channels that are used as locks, and others that only look like them."""

from __future__ import annotations

import pytest
from tests.unit.go_programs import go

BOX = """\
type Box struct {{
	place chan {element}
	n     map[string]int
}}

func newBox() *Box {{
	b := &Box{{place: make(chan {element}{room}), n: map[string]int{{}}}}
	{filled}
	return b
}}

func (b *Box) one() {{
	{before}
	b.n["a"]++
	{behind}
}}

func (b *Box) two() {{
	{before}
	defer func() {{ {behind} }}()
	b.n["b"]++
}}

func Start() {{
	b := newBox()
	go b.one()
	go b.two()
}}
"""
SENT, TAKEN = "b.place <- struct{}{}", "<-b.place"


def box(
    before: str = SENT, behind: str = TAKEN, *, element: str = "struct{}", room: str = ", 1", filled: str = ""
) -> str:
    """Two goroutines on one map, with something before and behind what they do."""
    return BOX.format(before=before, behind=behind, element=element, room=room, filled=filled)


def shapes(text: str) -> list[str]:
    """The races of a program."""
    return go(text).shapes()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(box(), id="what is sent takes the place"),
        pytest.param(box(TAKEN, SENT, filled=SENT), id="what is received takes it: something was put in"),
        pytest.param(box("b.place <- true", element="bool"), id="a constant tells nothing"),
        pytest.param(
            box("select {\n\tcase b.place <- struct{}{}:\n\tdefault:\n\t\treturn\n\t}"), id="in vain, and gone"
        ),
    ],
)
def test_channels_with_one_place_are_locks(text):
    assert shapes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(box(room=", 2"), id="two places"),
        pytest.param(box(room=""), id="no place"),
        pytest.param(box("b.place <- len(b.n)", element="int"), id="what is sent tells something"),
        pytest.param(box() + "\nfunc (b *Box) other() { <-b.place }\n", id="who takes has not always put"),
        pytest.param(box() + "\nfunc (b *Box) end() { close(b.place) }\n", id="it is closed"),
        pytest.param(box() + "\nfunc (b *Box) all() { for range b.place { } }\n", id="it is walked"),
    ],
)
def test_other_channels_are_none(text):
    assert len(shapes(text)) == 1
