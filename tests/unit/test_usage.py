"""How the program uses its functions."""

import pytest

from racelint.analysis.usage import Usage
from racelint.analysis.values import Global, Literal
from racelint.span import Span

HERE, THERE = Span(1, 0, 1, 9), Span(2, 0, 2, 9)
ONE, TWO = (Literal(1, "int"),), (Literal(2, "int"),)


def test_the_last_evaluation_of_a_call_says_what_it_passes():
    usage = Usage()
    usage.call("m:g", HERE, "m:f", [ONE])
    usage.call("m:g", HERE, "m:f", [TWO])
    usage.call("m:g", THERE, "m:f", [ONE, (Global("m", "x"),)])
    assert usage.passed("m:f", 0) == [TWO, ONE]
    assert usage.passed("m:f", 1) == [(Global("m", "x"),)]
    assert usage.passed("m:other", 0) == []


@pytest.mark.parametrize(
    ("calls", "periodic"),
    [
        ([], False),
        ([("m:timed", "m:f")], True),
        ([("m:timed", "m:f"), ("m:close", "m:f")], False),
        ([("m:timed", "m:g"), ("m:g", "m:f")], True),
        ([("m:f", "m:f")], False),
    ],
)
def test_a_function_runs_again_and_again_if_all_its_callers_do(calls, periodic):
    usage = Usage()
    usage.timed("m:timed")
    for caller, callee in calls:
        usage.call(caller, HERE, callee, [])
    assert usage.is_periodic("m:timed")
    assert usage.is_periodic("m:f") is periodic


def test_a_name_is_final_if_only_finalisers_call_it():
    usage = Usage()
    usage.method_call("m:A.__del__", "close")
    usage.method_call("m:A.__del__", "stop")
    usage.method_call("m:main", "stop")
    assert usage.is_final("close")
    assert not usage.is_final("stop")
    assert not usage.is_final("unheard")
