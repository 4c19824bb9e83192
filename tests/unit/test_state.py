"""States: joined, and made to forget what earlier turns made; flags that came with an event."""

from __future__ import annotations

import pytest

from racelint.analysis.state import Predicate, Resize, State, join
from racelint.analysis.values import NOTHING_KNOWN, UNKNOWN, Element, Field, Fresh, Literal, Member, Param, Site
from racelint.span import Span

P, Q = Param("m:f", 0), Param("m:f", 1)
SPAN = Span(1, 1, 1, 2)
LOOP, OTHER = Site("m:f", SPAN), Site("m:f", Span(2, 1, 2, 2))
YES, NO = Literal(True, "bool"), Literal(False, "bool")
POP = Resize(P, "remove", ".pop()", (), "m:f", SPAN)


def state(variables=None, heap=None, present=(), assumptions=None, absent=(), singled=()):
    made = State()
    made.variables.update(variables or {})
    made.heap.update(heap or {})
    made.present = frozenset(present)
    made.assumptions.update(assumptions or {})
    made.absent, made.singled = frozenset(absent), frozenset(singled)
    return made


# --- join -------------------------------------------------------------------------------------------------------------


def test_joining_with_no_state_gives_the_other():
    one = state()
    assert join(one, None) is join(None, one) is join(one, one) is one
    assert join(None, None) is None


def test_variables_have_the_values_of_both_sides():
    joined = join(state({"x": (P,), "y": (P,), "z": (P,)}), state({"x": (Q,), "y": (P,), "w": (Q,)}))
    assert joined.variables == {"x": (P, Q), "y": (P,), "z": (P,), "w": (Q,)}


def test_a_path_assigned_on_one_side_may_still_hold_what_it_held():
    path, new = Field(P, "a"), Fresh("dict", LOOP)
    joined = join(state(heap={path: (new,)}), state())
    assert set(joined.heap[path]) == {new, path}
    joined = join(state(), state(heap={path: (new,)}))
    assert set(joined.heap[path]) == {new, path}
    assert join(state(heap={path: (new,)}), state(heap={path: (new,)})).heap == {path: (new,)}


def test_what_is_known_of_keys_after_a_join_is_known_on_both_sides():
    one, two = (P, Literal(1, "int")), (P, Literal(2, "int"))
    first = state(present={one, two}, absent={one}, singled={P, Q})
    joined = join(first, state(present={one}, absent={one, two}, singled={Q}))
    assert (joined.present, joined.absent, joined.singled) == ({one}, {one}, {Q})


def test_assumptions_hold_after_a_join_if_both_sides_made_them():
    first, second, third = (Predicate(value, "truth") for value in (P, Q, Field(P, "a")))
    joined = join(
        state(assumptions={first: True, second: True, third: False}),
        state(assumptions={first: True, second: False}),
    )
    assert joined.assumptions == {first: True}


def test_events_of_either_side_are_kept_with_the_flags_of_both():
    one, two = state({"done": (YES,)}), state({"done": (YES,), "more": (NO,)})
    one.record(POP)
    two.record(POP)
    other = POP._replace(change="clear")
    two.record(other)
    joined = join(one, two)
    assert joined.pending == {POP: {("done", YES)}, other: {("done", YES), ("more", NO)}}


# --- flags ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "is_flag"),
    [
        ((YES,), True),
        ((Literal(None, "None"),), True),
        ((Literal(0, "int"),), True),
        ((Literal("a", "str"),), False),
        ((YES, NO), False),
        ((P,), False),
    ],
)
def test_flags_are_variables_with_one_constant(values, is_flag):
    made = state({"x": values})
    made.record(POP)
    assert bool(made.pending[POP]) is is_flag


def test_flags_follow_assignments_after_the_event():
    made = state({"found": (NO,)})
    made.record(POP)
    made.assign("found", (YES,))
    assert made.pending == {POP: {("found", YES)}}
    made.assign("found", (P,))
    assert made.pending == {POP: frozenset()}


def test_an_event_recorded_again_keeps_its_first_flags():
    made = state({"found": (NO,)})
    made.record(POP)
    made.variables["found"] = (YES,)
    made.record(POP)
    assert made.pending == {POP: {("found", NO)}}


# --- copies -----------------------------------------------------------------------------------------------------------


def test_copies_are_independent():
    one = state({"x": (P,)}, {Field(P, "a"): (Q,)}, assumptions={Predicate(P, "truth"): True})
    one.record(POP)
    two = one.copy()
    assert one.same_as(two)
    two.variables["x"] = (Q,)
    two.heap.clear()
    two.assumptions.clear()
    two.pending.clear()
    assert one.variables == {"x": (P,)}
    assert one.heap
    assert one.assumptions
    assert one.pending


@pytest.mark.parametrize(
    "other",
    [
        state({"x": (P,)}),
        state(heap={Field(P, "a"): (Q,)}),
        state(present={(P, Q)}),
        state(absent={(P, Q)}),
        state(assumptions={Predicate(P, "truth"): True}),
    ],
)
def test_states_differ_in_any_part_but_pending_events(other):
    assert not state().same_as(other)
    made = state()
    made.record(POP)
    assert state().same_as(made)


# --- recency ----------------------------------------------------------------------------------------------------------


def test_forgetting_a_site_leaves_nothing_that_was_made_there():
    old, fresh = Member(P, LOOP), Fresh("dict", OTHER)
    made = state(
        {"key": (old,), "both": (old, fresh), "kept": (fresh,), "part": (Element(P, old),)},
        {
            Field(P, "last"): (old,),
            Element(P, old): (fresh,),
            Field(P, "kept"): (fresh,),
            Field(P, "both"): (fresh, old),
        },
        {(P, old), (old, fresh), (P, fresh)},
        {Predicate(old, "truth"): True, Predicate(P, "truth"): True},
        {(P, old), (P, fresh)},
        {old, fresh},
    )
    made.forget(LOOP)
    assert made.variables == {
        "key": NOTHING_KNOWN,
        "both": (fresh, UNKNOWN),
        "kept": (fresh,),
        "part": NOTHING_KNOWN,
    }
    assert made.heap == {
        Field(P, "last"): NOTHING_KNOWN,
        Field(P, "kept"): (fresh,),
        Field(P, "both"): (fresh, UNKNOWN),
    }
    assert made.present == made.absent == {(P, fresh)}
    assert made.singled == {fresh}
    assert made.assumptions == {Predicate(P, "truth"): True}


def test_forgetting_twice_changes_nothing_more():
    made = state({"key": (Member(P, LOOP), P)})
    made.forget(LOOP)
    once = made.copy()
    made.forget(LOOP)
    assert made.same_as(once)
