"""Access paths: bounds, unions, and a callee's paths in its caller's terms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racelint.analysis import paths
from racelint.analysis.paths import Substitute, at, containers, depth, mentions, root, underlying, union, unite
from racelint.analysis.values import (
    DEPTH,
    NOTHING_KNOWN,
    UNKNOWN,
    WIDTH,
    Cached,
    Captured,
    Copy,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Lazy,
    Literal,
    Member,
    Param,
    Partial,
    Result,
    Site,
    Tuple,
    View,
)
from racelint.span import Span

QUICK = settings(max_examples=120, deadline=None, derandomize=True)


def site(line, function="m:f"):
    return Site(function, Span(line, 1, line, 2))


HERE, THERE, CALL = site(1), site(2), site(9, "m:caller")
MOVED = CALL._replace(origin=HERE.span)
P, Q = Param("m:f", 0), Param("m:f", 1)
SELF = Param("m:caller", 0)
ONE, KEY = Literal(1, "int"), Literal("k", "str")

roots = st.sampled_from(
    [P, Q, Captured("m:f", "c"), Global("m", "g"), Fresh("dict", HERE), Result(THERE), ONE, UNKNOWN]
)


def longer(base):
    """Values built of others, by the functions that keep them bounded."""
    return st.one_of(
        st.builds(paths.field, base, st.sampled_from(["a", "b"])),
        st.builds(paths.element, base, base),
        st.builds(paths.member, base, st.sampled_from([HERE, THERE])),
        st.builds(paths.view, base, st.sampled_from(["keys", "items"])),
        st.builds(paths.copy_of, base, st.just("list"), st.sampled_from([HERE, THERE])),
        st.builds(lambda bases: paths.lazy("iter", tuple(bases)), st.lists(base, max_size=2)),
        st.builds(lambda parts: paths.bounded(Tuple(tuple((part,) for part in parts))), st.lists(base, max_size=2)),
        st.builds(lambda receiver: paths.bounded(FunctionValue("m:g", receiver)), base),
        st.builds(lambda a, b: paths.bounded(Partial(FunctionValue("m:g"), ((a,),), (("k", (b,)),))), base, base),
    )


values = st.recursive(roots, longer, max_leaves=8)
alternatives = st.lists(values, max_size=WIDTH, unique=True).map(tuple)


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        (P, 0),
        (UNKNOWN, 0),
        (Field(P, "a"), 1),
        (Element(Field(P, "a"), ONE), 2),
        (Element(P, Field(Field(Q, "a"), "b")), 3),
        (Member(View(P, "keys"), HERE), 2),
        (Tuple(((P,), (Field(P, "a"),))), 2),
        (Lazy("iter", ()), 1),
        (FunctionValue("m:g"), 1),
        (Partial(FunctionValue("m:g", Field(P, "a")), ((P,),), ()), 3),
    ],
)
def test_depth_counts_the_longest_way_in(value, steps):
    assert depth(value) == steps


@QUICK
@given(values)
def test_no_value_is_deeper_than_the_bound(value):
    assert depth(value) <= DEPTH


def test_what_grows_too_deep_is_unknown():
    value = P
    for _ in range(DEPTH):
        value = paths.field(value, "next")
    assert depth(value) == DEPTH
    assert paths.field(value, "next") == UNKNOWN
    assert paths.element(value, ONE) == UNKNOWN
    assert paths.copy_of(value, "list", HERE) == Fresh("list", HERE)
    assert paths.element(P, value) == UNKNOWN


@pytest.mark.parametrize("base", [UNKNOWN, ONE])
def test_nothing_is_known_of_the_parts_of_unknown_things(base):
    assert paths.field(base, "a") == paths.element(base, ONE) == UNKNOWN
    assert paths.member(base, HERE) == paths.view(base, "keys") == UNKNOWN
    assert paths.copy_of(base, "list", HERE) == Fresh("list", HERE)
    assert paths.lazy("iter", (base, P)) == Lazy("iter", (P,))


def test_an_element_at_an_unknown_key_is_unknown():
    assert paths.element(P, UNKNOWN) == UNKNOWN


def test_a_copy_of_a_copy_made_at_the_same_site_is_only_fresh():
    assert paths.copy_of(Copy(P, "list", HERE), "list", HERE) == Fresh("list", HERE)
    assert paths.copy_of(Copy(P, "list", THERE), "list", HERE) == Copy(Copy(P, "list", THERE), "list", HERE)


@pytest.mark.parametrize(
    ("value", "start"),
    [
        (P, P),
        (View(Copy(Element(Field(P, "a"), Q), "list", HERE), "keys"), P),
        (Member(Global("m", "g"), HERE), Global("m", "g")),
        (Lazy("iter", (P,)), Lazy("iter", (P,))),
    ],
)
def test_root(value, start):
    assert root(value) == start


# --- unions -----------------------------------------------------------------------------------------------------------


@QUICK
@given(alternatives)
def test_union_with_itself_or_nothing_changes_nothing(some):
    assert union(some, some) == union(some, ()) == union((), some) == some


@QUICK
@given(alternatives, alternatives)
def test_union_is_the_same_both_ways_up_to_order(one, two):
    found = union(one, two)
    assert set(found) == set(union(two, one))
    assert len(found) <= WIDTH
    assert set(found) == {*one, *two} or is_narrowed(found, {*one, *two})


@QUICK
@given(alternatives, alternatives)
def test_union_keeps_the_first_in_their_order(one, two):
    found = union(one, two)
    assert is_narrowed(found, {*one, *two}) or found[: len(one)] == one


def is_narrowed(found, given):
    """Unknown, with nothing beside it but what may come out of a cache or of a list made here."""
    kept = found[1:]
    return found[:1] == NOTHING_KNOWN and set(kept) <= given and all(isinstance(root(v), Cached | Fresh) for v in kept)


def test_what_a_cache_hands_out_stays_in_sight_among_many_alternatives():
    many = tuple([Param("m:f", index) for index in range(WIDTH)])
    shared = Cached("lister.Get()", HERE)
    assert union(many, (shared,)) == (*NOTHING_KNOWN, shared)


def test_more_alternatives_than_the_width_are_unknown():
    many = tuple(Literal(n, "int") for n in range(WIDTH + 1))
    assert union(many[:-1], many[:-1]) == many[:-1]
    assert union(many[:-1], many[-1:]) == NOTHING_KNOWN
    assert unite((value,) for value in many) == NOTHING_KNOWN
    assert unite([]) == NOTHING_KNOWN


@pytest.mark.xfail(reason="alternatives added behind too many others are told as if they were all", strict=True)
def test_uniting_depends_on_no_order():
    many = [(Literal(n, "int"),) for n in range(WIDTH + 2)]
    assert set(unite(many)) == set(unite(reversed(many)))


# --- substitution -----------------------------------------------------------------------------------------------------


def substitute(value, **given_values):
    """Rewrite with P and Q as given (alternatives) and other paths looked up in `heap`."""
    heap = given_values.pop("heap", {})
    bound = {P: given_values.get("p", (SELF,)), Q: given_values.get("q", (ONE,))}
    return Substitute(lambda v: bound.get(v, heap.get(v)), CALL)(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (P, SELF),
        (Field(P, "a"), Field(SELF, "a")),
        (Element(Field(P, "a"), Q), Element(Field(SELF, "a"), ONE)),
        (View(P, "keys"), View(SELF, "keys")),
        (Member(P, HERE), Member(SELF, MOVED)),
        (Fresh("dict", HERE), Fresh("dict", MOVED)),
        (Result(HERE, "dict"), Result(MOVED, "dict")),
        (Copy(P, "list", HERE), Copy(SELF, "list", MOVED)),
        (Lazy("iter", (P,), (Field(P, "a"),)), Lazy("iter", (SELF,), (Field(SELF, "a"),))),
        (Tuple(((P,), (Q,))), Tuple(((SELF,), (ONE,)))),
        (FunctionValue("m:g", P), FunctionValue("m:g", SELF)),
        (FunctionValue("m:g"), FunctionValue("m:g")),
        (
            Partial(FunctionValue("m:g", P), ((Q,),), (("k", (P,)),)),
            Partial(FunctionValue("m:g", SELF), ((ONE,),), (("k", (SELF,)),)),
        ),
        (Global("m", "g"), Global("m", "g")),
        (KEY, KEY),
        (UNKNOWN, UNKNOWN),
    ],
)
def test_roots_are_replaced_and_sites_moved(value, expected):
    assert substitute(value) == (expected,)


def test_two_objects_made_in_a_callee_stay_two():
    assert substitute(Fresh("dict", HERE)) != substitute(Fresh("dict", THERE))
    (inner,) = substitute(Fresh("dict", HERE))
    assert Substitute(lambda v: None, THERE)(inner) == (Fresh("dict", THERE._replace(origin=HERE.span)),)


def test_each_alternative_of_an_argument_is_followed():
    other = Global("m", "g")
    assert substitute(Field(P, "a"), p=(SELF, other)) == (Field(SELF, "a"), Field(other, "a"))
    assert substitute(FunctionValue("m:g", P), p=(SELF, other)) == (
        FunctionValue("m:g", SELF),
        FunctionValue("m:g", other),
    )
    assert substitute(Element(P, Q), q=(ONE, KEY)) == NOTHING_KNOWN


def test_unknown_arguments_make_unknown_paths():
    assert substitute(Element(Field(P, "a"), ONE), p=NOTHING_KNOWN) == NOTHING_KNOWN
    assert substitute(Lazy("iter", (P, Global("m", "g"))), p=NOTHING_KNOWN) == (Lazy("iter", (Global("m", "g"),)),)
    assert substitute(Copy(P, "list", HERE), p=NOTHING_KNOWN) == (Fresh("list", MOVED),)


def test_a_path_that_the_caller_has_assigned_reads_as_what_was_assigned():
    new = Fresh("dict", THERE)
    heap = {Field(SELF, "a"): (new,)}
    assert substitute(Field(P, "a"), heap=heap) == (new,)
    assert substitute(Field(Field(P, "a"), "b"), heap=heap) == (Field(new, "b"),)
    assert substitute(Field(Field(P, "b"), "a"), heap=heap) == (Field(Field(SELF, "b"), "a"),)
    assert substitute(Field(P, "a"), p=(SELF, Q), heap=heap) == (new, Field(Q, "a"))


def test_paths_stay_bounded_when_long_ones_are_put_in():
    long = P
    for _ in range(DEPTH):
        long = paths.field(long, "a")
    deep = Global("m", "g")
    for _ in range(DEPTH):
        deep = paths.field(deep, "b")
    assert substitute(long, p=(deep,)) == NOTHING_KNOWN


@QUICK
@given(values, alternatives.filter(len))
def test_what_is_put_in_leaves_no_callee_behind(value, arguments):
    outer = tuple(v for v in arguments if not mentions(v, HERE)) or (SELF,)
    outer = tuple(SELF if root(v) in (P, Q) or not isinstance(v, Field | Element | Global) else v for v in outer)
    found = Substitute(lambda v: tuple(dict.fromkeys(outer)) if v in (P, Q) else None, CALL)(value)
    assert all(depth(v) <= DEPTH for v in found)
    assert all(not mentions(v, THERE) for v in found if not any(mentions(o, THERE) for o in outer))


# --- sites ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fresh("dict", HERE), True),
        (Fresh("dict", HERE._replace(origin=THERE.span)), True),
        (Fresh("dict", THERE), False),
        (Field(Result(HERE), "a"), True),
        (Element(P, Member(P, HERE)), True),
        (Member(Copy(P, "list", HERE), THERE), True),
        (View(Field(P, "a"), "keys"), False),
        (Lazy("iter", (P,), (Fresh("dict", HERE),)), True),
        (Tuple(((P,), (P, Fresh("dict", HERE)))), True),
        (FunctionValue("m:g", Fresh("m:C", HERE)), True),
        (Partial(P, (), (("k", (Fresh("dict", HERE),)),)), True),
        (Global("m", "g"), False),
        (UNKNOWN, False),
    ],
)
def test_mentions_looks_everywhere(value, expected):
    assert mentions(value, HERE) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Member(P, HERE), Member(P, CALL)),
        (Element(P, Member(P, HERE)), Element(P, Member(P, CALL))),
        (Element(P, ONE), Element(P, ONE)),
        (Tuple(((Member(P, HERE),), (Element(P, Member(P, HERE)), ONE))),
         Tuple(((Member(P, CALL),), (Element(P, Member(P, CALL)), ONE)))),
        (P, P),
    ],
)  # fmt: skip
def test_what_a_generator_yields_becomes_the_element_of_the_loop(value, expected):
    assert at(value, CALL) == expected


def test_containers_behind_copies_and_views():
    value = View(Copy(View(Field(P, "a"), "keys"), "list", HERE), "keys")
    assert underlying(value) == Field(P, "a")
    assert paths.uncopied(Copy(Copy(P, "list", HERE), "list", THERE)) == P
    assert paths.uncopied(value) == value


@QUICK
@given(values)
def test_underlying_is_reached_in_one_go(value):
    assert underlying(underlying(value)) == underlying(value)
    assert not isinstance(underlying(value), Copy | View)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (P, (P,)),
        (View(P, "items"), (P,)),
        (Lazy("zip", (View(P, "keys"), Lazy("iter", (Q,)))), (P, Q)),
        (Copy(P, "list", HERE), (Copy(P, "list", HERE),)),
        (UNKNOWN, ()),
        (ONE, ()),
        (Tuple(((P,),)), ()),
    ],
)
def test_containers_that_an_iteration_reads(value, expected):
    assert containers(value) == expected
