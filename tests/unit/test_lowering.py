"""The Python front end: scopes, declarations, statements, spans, and files that are no programs."""

from __future__ import annotations

import ast
import codecs
import sys

import pytest
from tests.unit.programs import function, lower, write

from racelint.languages import SourceProblem
from racelint.languages.python import FRONT_END, import_root
from racelint.model import (
    Assign,
    Await,
    Bind,
    Branch,
    Build,
    Call,
    Closure,
    Comp,
    Const,
    Eval,
    Hold,
    Imported,
    Item,
    Jump,
    Loop,
    Name,
    Op,
    Try,
    TypeRef,
    Update,
    Yield,
)
from racelint.span import Span


def records(value, kind):
    """Every record of a kind in a record or tuple of records, outermost first."""
    if isinstance(value, kind):
        yield value
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for part in value:
            yield from records(part, kind)


def scopes(text, name="f"):
    """Where each name in a function lives."""
    return {found.name: found.scope for found in records(function(text, name).body, Name)}


# --- scopes -----------------------------------------------------------------------------------------------------------


def test_parameters_and_assigned_names_are_local_the_rest_global():
    found = scopes("def f(a, *b, c=1, **d):\n    e = a, b, c, d, g, len")
    assert found == dict.fromkeys("abcde", "local") | {"g": "global", "len": "global"}


@pytest.mark.parametrize(
    "binding",
    [
        "x += 1",
        "x: int = 1",
        "for x in y: pass",
        "with y as x: pass",
        "with y as (z, [x, *w]): pass",
        "*x, z = y",
        "import x",
        "import x.sub",
        "import other as x",
        "from y import x",
        "def x(): pass",
        "class x: pass",
        "try: pass\n    except E as x: pass",
        "while y:\n        if y:\n            x = 1",
        "try: pass\n    finally:\n        x = 1",
        "match y:\n        case [1, *x]: pass",
        "match y:\n        case {'a': 1, **x}: pass",
        "match y:\n        case E(a=x) | E(b=x): pass",
        "y[(x := 1)] = 2",
        "if (x := y): pass",
        "[y for z in y if (x := z)]",
    ],
)
def test_every_binding_form_makes_a_name_local(binding):
    assert scopes(f"def f(y):\n    {binding}\n    use(x)")["x"] == "local"


@pytest.mark.parametrize(
    "binding",
    ["with (x := y): pass", "match y:\n        case z if (x := z): pass", "try: pass\n    except (x := y): pass"],
)
def test_assignment_expressions_outside_plain_statements(binding):
    assert scopes(f"def f(y):\n    {binding}\n    use(x)")["x"] == "local"


CLOSURE = """
    def f(outer):
        shared = {}
        def inner(own):
            %s
            shared = own, outer, elsewhere
"""


@pytest.mark.parametrize(
    ("declaration", "scope"), [("pass", "local"), ("nonlocal shared", "captured"), ("global shared", "global")]
)
def test_nested_functions_capture(declaration, scope):
    expected = {"own": "local", "outer": "captured", "elsewhere": "global", "shared": scope}
    assert scopes(CLOSURE % declaration, "f.inner") == expected


def test_global_in_the_enclosing_function_is_global_in_the_nested_one():
    assert scopes("def f():\n    global x\n    def g():\n        return x", "f.g") == {"x": "global"}


def test_class_variables_are_not_seen_from_methods():
    assert scopes("class C:\n    x = {}\n    def f(self):\n        return x", "C.f") == {"x": "global"}


def test_a_global_assigned_in_a_function_is_a_value_of_the_module():
    record = lower("x = None\ndef f():\n    global x\n    x = {}").globals["x"]
    assert [assigned.function for assigned in record.values] == ["<module>", "f"]


def test_an_assignment_expression_at_module_level_is_a_global():
    assert "x" in lower("if (x := make()): pass").globals


def test_comprehension_variables_do_not_leak():
    body = function("def f(x):\n    a = [x for x in x]\n    b = {x: 1 for x in a}\n    return x").body
    names = [name.name for name in records(body, Name)]
    assert names == ["a", "x@1", "x", "x@1", "b", "x@2", "a", "x@2", "x"]


def test_comprehension_variables_are_captured_by_lambdas():
    assert scopes("def f(xs):\n    return [lambda: x for x in xs]", "f.<lambda>") == {"x@1": "captured"}


def test_nested_comprehensions_keep_their_variables_apart():
    comp = next(records(function("def f(t):\n    return [[x for x in x] for x in t]").body, Comp))
    (inner,) = list(records(comp.body.body, Comp))
    assert comp.body.target.name != inner.body.target.name
    assert inner.body.iterable.name == comp.body.target.name


# --- functions and classes --------------------------------------------------------------------------------------------


def test_decorators_of_functions_wrap_the_value_innermost_first():
    module = lower("@a\n@b(1)\ndef f(): pass")
    (assigned,) = module.globals["f"].values
    outer, inner = assigned.value, assigned.value.args[0]
    assert outer.func.name == "a"
    assert inner.func.func.name == "b"
    assert isinstance(inner.args[0], Closure)
    assert len(module.functions["f"].decorators) == 2


@pytest.mark.parametrize(
    ("decorator", "binding", "is_property"),
    [
        ("", "instance", False),
        ("@staticmethod", "none", False),
        ("@classmethod", "class", False),
        ("@property", "instance", True),
        ("@functools.cached_property", "instance", True),
        ("@abc.abstractmethod", "instance", False),
        ("@property\n    @abc.abstractmethod", "instance", True),
        ("@retry(times=3)", "instance", False),
    ],
)
def test_bindings_of_methods(decorator, binding, is_property):
    method = lower(f"class C:\n    {decorator}\n    def m(x): pass").functions["C.m"]
    assert (method.binding, method.is_property, method.owner) == (binding, is_property, "C")


@pytest.mark.parametrize("name", ["__new__", "__init_subclass__", "__class_getitem__"])
def test_implicit_class_methods(name):
    assert lower(f"class C:\n    def {name}(cls): pass").functions[f"C.{name}"].binding == "class"


def test_setters_and_deleters_do_not_replace_the_getter():
    module = lower("""
        class C:
            @property
            def x(self): return 1
            @x.setter
            def x(self, value): pass
            @x.deleter
            def x(self): pass
    """)
    assert module.types["C"].methods == {"x": "C.x", "x.setter": "C.x.setter", "x.deleter": "C.x.deleter"}
    assert [module.functions[name].is_property for name in ("C.x", "C.x.setter")] == [True, False]


def test_overloads_are_left_out():
    module = lower("""
        import typing
        from typing import overload
        @overload
        def f(x: int) -> int: ...
        @typing.overload
        def f(x: str) -> str: ...
        def f(x): return x
    """)
    assert list(module.functions) == ["f", "<module>"]


def test_conditional_definitions_are_all_kept():
    module = lower(
        "if fast:\n    def f(): return 1\nelse:\n    def f(): return 2\ntry:\n    class f: pass\nfinally: pass"
    )
    assert {"f", "f#2"} <= set(module.functions)
    assert list(module.types) == ["f#3"]
    assert [type(assigned.value).__name__ for assigned in module.globals["f"].values] == [
        "Closure",
        "Closure",
        "TypeValue",
    ]


def test_redefined_methods_count_as_the_last_one():
    assert lower("class C:\n    def m(self): pass\n    def m(self, x): pass").types["C"].methods == {"m": "C.m#2"}


def test_names_of_nested_declarations():
    module = lower("""
        def f():
            def g(): lambda: 1
            class C:
                class D:
                    def m(self):
                        def h(): pass
    """)
    assert set(module.functions) >= {"f", "f.g", "f.g.<lambda>", "f.C.D.m", "f.C.D.m.h", "<module>"}
    assert set(module.types) == {"f.C", "f.C.D"}
    assert module.functions["f.C.D.m"].owner == "f.C.D"
    assert (module.functions["f.C.D.m.h"].owner, module.functions["f.C.D.m.h"].parent) == (None, "f.C.D.m")


def test_lambda_defaults_belong_to_the_scope_outside():
    module = lower("def f(x):\n    return lambda y=x: y")
    (parameter,) = module.functions["f.<lambda>"].parameters
    assert parameter.default.scope == "local"
    assert module.functions["f.<lambda>"].body[0].value.scope == "local"


def test_kinds_of_parameters():
    parameters = function("def f(a, /, b: int = 1, *c, d, e=None, **g): pass").parameters
    kinds = ["positional", "positional", "variadic", "keyword", "keyword", "keywords"]
    assert [(p.name, p.kind) for p in parameters] == list(zip("abcdeg", kinds, strict=True))
    assert [p.default for p in parameters] == [None, Const(1), None, None, Const(None), None]
    assert parameters[1].annotation == TypeRef("int")


def test_generators_and_coroutines():
    module = lower("def g(): yield\nasync def a(): return 1\nasync def ag(): yield 1\ndef d(): yield from g()")
    forms = {name: (f.is_async, f.is_generator) for name, f in module.functions.items()}
    assert forms == {
        "g": (False, True),
        "a": (True, False),
        "ag": (True, True),
        "d": (False, True),
        "<module>": (False, False),
    }
    delegated = [found.delegated for name in ("g", "d") for found in records(module.functions[name].body, Yield)]
    assert delegated == [False, True]


def test_a_yield_in_a_lambda_or_nested_function_is_theirs():
    module = lower("def f():\n    x = lambda: (yield)\n    def g(): yield")
    assert {name for name, f in module.functions.items() if f.is_generator} == {"f.<lambda>", "f.g"}


# --- fields -----------------------------------------------------------------------------------------------------------


def test_dataclass_fields():
    fields = (
        lower("""
        @dataclass
        class C:
            a: dict[str, int]
            b: list = field(default_factory=list)
            c = 1
            def m(self): pass
    """)
        .types["C"]
        .fields
    )
    assert list(fields) == ["a", "b", "c"]
    assert fields["a"].annotation == TypeRef("dict", (TypeRef("str"), TypeRef("int")))
    assert [len(fields[name].values) for name in "abc"] == [0, 1, 1]
    assert fields["c"].values[0].function == "C.<body>"


def test_fields_are_gathered_from_all_methods_and_their_closures():
    field = (
        lower("""
        class C:
            def __init__(this): this.x = None
            def m(self, other):
                def later(): self.x = 2
                self.x, y = {}, 1
                other.x = 3
            @staticmethod
            def s(self): self.x = 4
    """)
        .types["C"]
        .fields["x"]
    )
    assert [assigned.function for assigned in field.values] == ["C.__init__", "C.m.later", "C.m"]
    assert isinstance(field.values[2].value, Build)


def test_stores_to_other_objects_are_kept_apart():
    module = lower("class C:\n    def m(self, other):\n        other.x = {}\n        self.y.z = 1")
    assert [store.name for store in module.attribute_stores] == ["x", "z"]
    assert not module.types["C"].fields


@pytest.mark.parametrize(
    ("owner", "name", "stored"),
    [("C", "__x", "_C__x"), ("_C", "__x", "_C__x"), ("C", "__x__", "__x__"), ("C", "_x", "_x")],
)
def test_private_attributes_are_mangled(owner, name, stored):
    assert list(lower(f"class {owner}:\n    def m(self): self.{name} = 1").types[owner].fields) == [stored]


def test_private_attributes_are_mangled_in_nested_functions_and_not_outside_classes():
    module = lower("class C:\n    def m(self):\n        def g(): return self.__x\ndef f(o): return o.__x")
    names = [module.functions[name].body[0].value.name for name in ("C.m.g", "f")]
    assert names == ["_C__x", "__x"]


@pytest.mark.parametrize("member", ["def __x(self): pass", "__x = {}"])
def test_private_members_go_by_the_name_of_their_uses(member):
    record = lower(f"class C:\n    {member}\n    def m(self): return self.__x").types["C"]
    assert "_C__x" in {*record.methods, *record.fields}


# --- imports ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "imported"),
    [
        ("import a", "a", Imported("a", None, 0)),
        ("import a.b.c", "a", Imported("a", None, 0)),
        ("import a.b as c", "c", Imported("a.b", None, 0)),
        ("from a import b", "b", Imported("a", "b", 0)),
        ("from a.b import c as d", "d", Imported("a.b", "c", 0)),
        ("from . import a", "a", Imported("", "a", 1)),
        ("from ..a import b", "b", Imported("a", "b", 2)),
        ("try:\n    import a\nexcept ImportError:\n    import b as a", "a", Imported("a", None, 0)),
    ],
)
def test_imports(text, name, imported):
    assert lower(text).imports == {name: imported}


def test_star_imports():
    module = lower("from a import *\nfrom .b import *")
    assert module.star_imports == (Imported("a", None, 0), Imported("b", None, 1))
    assert not module.imports


def test_an_import_in_a_function_is_a_local_variable():
    module = lower("def f():\n    import a.b\n    return a")
    assert not module.imports
    assert module.functions["f"].body[0] == Assign(
        (Name("a", "local", Span(2, 5, 2, 15)),), Imported("a", None, 0), Span(2, 5, 2, 15)
    )


# --- statements and expressions ---------------------------------------------------------------------------------------


def first(text):
    """The first statement of a function's body."""
    return function("async def f(x, y):\n    " + text.replace("\n", "\n    ")).body[0]


def test_loops():
    loop = first("for a in x: pass\nelse: y()")
    assert (loop.target.name, loop.iterable.name, loop.test, loop.is_async) == ("a", "x", None, False)
    assert len(loop.orelse) == 1
    loop = first("while x: break")
    assert (loop.target, loop.iterable, loop.test.name, loop.body[0].kind) == (None, None, "x", "break")


def test_async_forms():
    assert first("async for a in x: pass").is_async
    assert first("async with x as y: pass").is_async
    comp = next(records(first("return [a async for a in x if await a]"), Comp))
    assert comp.body.is_async
    assert isinstance(comp.body.body[0].test, Await)


def test_with_items_keep_their_order():
    hold = first("with x as a, y: pass")
    assert isinstance(hold, Hold)
    assert [(manager.name, target and target.name) for manager, target in hold.items] == [("x", "a"), ("y", None)]


def test_try():
    found = first("try: x()\nexcept (A, B) as e: pass\nexcept: y()\nelse: x\nfinally: y")
    assert isinstance(found, Try)
    assert [(h.target and h.target.name, h.caught is None, len(h.body)) for h in found.handlers] == [
        ("e", False, 0),
        (None, True, 1),
    ]
    assert (len(found.body), len(found.orelse), len(found.final)) == (1, 1, 1)
    assert isinstance(first("try: x()\nexcept* A: pass"), Try)


def test_assert_is_a_branch_that_raises():
    branch = first("assert x, y")
    assert (branch.test.name, branch.then, branch.orelse[0].kind) == ("x", (), "raise")


@pytest.mark.parametrize("text", ["pass", "'a string'", "1", "...", "global z", "x: int"])
def test_statements_without_effect_are_dropped(text):
    assert function(f"def f():\n    {text}").body == ()


def test_updates_are_not_assignments():
    stmt = first("x[y] -= 1")
    assert isinstance(stmt, Update)
    assert (type(stmt.target), stmt.operator, stmt.value) == (Item, "-", Const(1))


def test_assignment_expressions():
    branch = first("if (n := x()): pass")
    assert isinstance(branch.test, Bind)
    assert branch.test.target.name == "n"


def test_assignment_expressions_in_comprehensions_bind_outside():
    found = function("def f(xs):\n    return [y for x in xs if (y := x)]")
    assert "y" in found.bindings
    assert {name.scope for name in records(found.body, Name)} == {"local"}


def test_comprehensions_are_loops():
    comp = first("return {a: b for a in x if y if a for b in a}").value
    assert isinstance(comp, Comp)
    loop = comp.body
    branch = loop.body[0]
    assert isinstance(branch, Branch)
    assert branch.test.operator == "and"
    assert isinstance(branch.then[0], Loop)
    assert branch.then[0].body[0].key.name.startswith("a@")


def test_slices_and_keys_differ():
    assert isinstance(first("x[1:y]").value.key, Op)
    assert first("x[1]").value.key == Const(1)
    assert first("x[-1]").value.key == Const(-1)


def test_chained_comparisons_and_long_sums():
    assert first("x < y < 3").value.operator == "compare"
    total = first(" + ".join(["x"] * 500)).value
    assert len(total.operands) == 500


def test_format_strings_keep_their_parts():
    assert [name.name for name in records(first('f"{x} {y!r:>8}"'), Name)] == ["x", "y"]


def test_format_specifications_keep_their_parts():
    assert [name.name for name in records(first('f"{x:>{y}}"'), Name)] == ["x", "y"]


def test_spread_arguments():
    call = first("y(*x, **x, key=1)").value
    assert isinstance(call, Call)
    assert [type(arg).__name__ for arg in call.args] == ["Star"]
    assert [name for name, _ in call.keywords] == ["", "key"]


@pytest.mark.parametrize(
    ("pattern", "name", "path"),
    [
        ("a", "a", "x"),
        ("[a, 1]", "a", "x[0]"),
        ("{'k': a}", "a", "x['k']"),
        ("E(name=a)", "a", "x.name"),
        ("{'k': [1, a]} as b", "a", "x['k'][1]"),
        ("{'k': [1, a]} as b", "b", "x"),
    ],
)
def test_patterns_bind_paths_into_the_subject(pattern, name, path):
    body = function(f"def f(x):\n    match x:\n        case {pattern}: use({name})").body
    bound = {assign.targets[0].name: assign.value for assign in records(body, Assign)}
    assert written(bound[name]) == path


def written(expr):
    match expr:
        case Item(base=base, key=Const(value=key)):
            return f"{written(base)}[{key!r}]"
        case Name(name=name):
            return name
        case _:
            return f"{written(expr.base)}.{expr.name}"


def test_cases_are_tried_in_order_and_the_subject_is_evaluated_once():
    subject, branch = function("""
        def f(x):
            match x():
                case 1: a()
                case [y] if y: b()
                case _: c()
    """).body
    assert isinstance(subject.value, Call)
    assert isinstance(branch.then[0], Eval)
    (second,) = branch.orelse
    guard = second.then[-1]
    assert isinstance(guard, Branch)
    assert guard.orelse == second.orelse
    assert second.orelse[0].value.func.name == "c"


def test_unpacking_tells_which_part_each_name_is():
    bindings = function("def f(p):\n    a, (b, c) = p\n    d, e = 1, {}").bindings
    assert bindings["a"] == (Item(Name("p", "local", Span(2, 17, 2, 18)), Const(0), Span(2, 5, 2, 6)),)
    assert bindings["d"] == (Const(1),)
    assert isinstance(bindings["e"][0], Build)
    assert bindings["c"][0].key == Const(1)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("int", TypeRef("int")),
        ("a.B", TypeRef("a.B")),
        ("None", TypeRef("None")),
        ("'dict[str, X]'", TypeRef("dict", (TypeRef("str"), TypeRef("X")))),
        ("X | None", TypeRef("Union", (TypeRef("X"), TypeRef("None")))),
        ("Optional['X']", TypeRef("Optional", (TypeRef("X"),))),
        ("Callable[[int], str]", TypeRef("Callable", (TypeRef(""), TypeRef("str")))),
        ("'not ( a type'", None),
        ("call()", None),
    ],
)
def test_annotations(annotation, expected):
    assert function(f"def f(x: {annotation}): pass").parameters[0].annotation == expected


# --- spans and encodings ----------------------------------------------------------------------------------------------


def test_spans_count_from_one_and_end_after_the_last_character():
    module = lower("@a\ndef f(x):\n    return x.items()\n")
    returned = module.functions["f"].body[0]
    assert returned.span == Span(3, 5, 3, 21)
    assert returned.value.func.span == Span(3, 12, 3, 19)
    assert module.functions["f"].span == Span(1, 1, 3, 21)


SOURCES = {
    "utf-8": "x = 'äöü🎉'; y = z\n".encode(),
    "bom": codecs.BOM_UTF8 + "x = 'äöü🎉'; y = z\n".encode(),
    "latin-1": "# -*- coding: latin-1 -*-\nx = 'äöüß'; y = z\n".encode("latin-1"),
    "second line": "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = 'äö€ß'; y = z\n".encode("cp1252"),
    "crlf": "x = 'äöü🎉'; y = z\r\n".encode(),
}


@pytest.mark.parametrize("data", SOURCES.values(), ids=SOURCES)
def test_columns_count_characters_in_any_encoding(data):
    module = lower(data)
    (name,) = [found for found in records(module.functions["<module>"].body, Name) if found.name == "z"]
    assert (name.span.column, name.span.end_column) == (17, 18)


def test_text_is_decoded_as_its_cookie_says():
    (assigned,) = lower("# coding: latin-1\nx = 'ß'".encode("latin-1")).globals["x"].values
    assert assigned.value == Const("ß")


def test_a_bom_does_not_move_the_first_column():
    assert lower(codecs.BOM_UTF8 + b"x = 1").globals["x"].span == Span(1, 1, 1, 2)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="newer parsers read nothing older than Python 3.7")
def test_source_from_before_async_was_a_keyword_is_read():
    module = lower("def send(async=True):\n    return future.await(async)\n")
    assert [parameter.name for parameter in module.functions["send"].parameters] == ["async"]


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("x", 1), ("x\n", 1), ("x\n\n", 2), ("x\ny", 2)])
def test_lines_are_counted_as_editors_do(text, lines):
    assert lower(text).lines == lines


# --- what is no program -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "kind", "line"),
    [
        (b"x = 1\ndef (:\n", "syntax-error", 2),
        (b"x = 1\n  y = 2\n", "syntax-error", 2),
        (b"print 'python 2'\n", "syntax-error", 1),
        (b"a = 1\nb = '\0'\n", "syntax-error", 2),
        (b"x = '\xff'\n", "encoding-error", None),
        (b"# coding: no-such-thing\nx = 1\n", "encoding-error", None),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "encoding-error", None),
        (b"x = " + b"(" * 5_000 + b")" * 5_000, None, None),
        (b"x = " + b"-" * 100_000 + b"1", "too-deep", 0),
        (b"x = a" + b".b" * 60_000, "too-deep", 0),
    ],
)
def test_problems(data, kind, line):
    with pytest.raises(SourceProblem) as caught:
        lower(data)
    assert kind in (None, caught.value.kind)
    assert line in (None, caught.value.line)
    assert caught.value.message


def test_deep_programs_that_people_write_are_not_too_deep():
    text = "x = 1\nif x: pass\n" + "".join(f"elif x == {n}: pass\n" for n in range(800))
    assert lower(text).lines == 802
    assert lower("x = y" + ".f(1)" * 600)


def test_the_recursion_limit_is_put_back():
    import sys

    before = sys.getrecursionlimit()
    lower("x = a.b")
    with pytest.raises(SourceProblem):
        lower(b"x = a" + b".b" * 60_000)
    assert sys.getrecursionlimit() == before


def test_invalid_escapes_do_not_warn(recwarn):
    lower(r"x = '\d'")
    assert not recwarn.list


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "generated"),
    [
        ("# Generated by the protocol buffer compiler.  DO NOT EDIT!", True),
        ("# @generated", True),
        ("#!/usr/bin/python\n# This file was generated from api.yaml", True),
        ("# DO NOT EDIT", True),
        ("# Generated by tools/make.py from api.yaml", True),
        ("# This file was generated by 'versioneer.py' (0.18) from", True),
        ("# auto-generated by 'to_sync.py'\n# from the original file 'pool_async.py'\n# DO NOT CHANGE", False),
        ("# Generated from the source async/pool.py, do not edit", False),
        ("# Automatically generated from tools/gen.py - DO NOT EDIT", True),
        ("# @generated from the source schema.py.jinja", True),
        ("# @generated\n\n# taken from the original file utils/compat.py", True),
        ("'''Generated by hand'''", False),
        ("x = 1  # generated by", False),
        ("\n" * 2_000 + "# @generated", False),
    ],
)
def test_generated_files_say_so_near_their_top(head, generated):
    assert lower(head + "\nx = 1\n").generated is generated


def test_comments_that_speak_to_racelint_are_kept():
    module = lower("x = 1  # racelint: ignore\n# racelint: ignore[a]\ny = '# racelint: no'  # plain\n")
    assert [(c.line, c.text, c.alone) for c in module.comments] == [
        (1, "racelint: ignore", False),
        (2, "racelint: ignore[a]", True),
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("agent/core/store.py", "agent.core.store"),
        ("agent/core/__init__.py", "agent.core"),
        ("agent/__init__.py", "agent"),
        ("agent/scripts/run.py", "run"),
        ("tool.py", "tool"),
        ("agent/core/types.pyi", "agent.core.types"),
    ],
)
def test_module_names(tmp_path, path, name):
    write(tmp_path, {"agent/__init__.py": "", "agent/core/__init__.py": "", path: ""})
    assert FRONT_END.module_name((tmp_path / path).as_posix()) == name


def test_the_import_root_is_the_first_folder_that_is_no_package(tmp_path):
    write(tmp_path, {"src/a/__init__.py": "", "src/a/b/__init__.py": ""})
    assert import_root(tmp_path / "src" / "a" / "b") == tmp_path / "src"
    assert import_root(tmp_path) == tmp_path


def test_modules_hold_no_syntax_nodes():
    module = lower(
        "class C:\n    def m(self, x={1: [y for y in z]}):\n        with x as self.a:\n            return f'{x}'\n"
    )
    assert not list(records(module, ast.AST))
    assert [type(jump.value).__name__ for jump in records(module, Jump)] == ["Op"]
