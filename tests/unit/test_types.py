"""Types of receivers and containers, as far as declarations and assignments say them."""

from __future__ import annotations

import pytest
from tests.unit.programs import program, single

from racelint.analysis.values import Builtin, Element, Field, Fresh, Literal, Member, Param, Site, TypeValue
from racelint.span import Span

HEAD = """
import collections, copy, dataclasses, typing
from collections import defaultdict, deque
from typing import Annotated, Any, ClassVar, Optional, Union
class A: pass
class B(A): pass
def make() -> A: pass
def makes() -> "list[A]": pass
async def start() -> Optional[A]: pass
def untyped(): return A()
def below(p):
    if p: return A()
    return B()
def early(p):
    if p: return None
    a = B()
    return a if p else A()
def unlike(p): return A() if p else {}
@staticmethod
def kept(): return A()
@decorated
def changed(): return A()
def each(): yield A()
def own(p): return untyped()
def endless(p): return endless(p)
class Maker:
    def make(self): return A()
class OtherMaker(Maker):
    def make(self): return B()
"""


def of_variable(text):
    return single(f"{HEAD}\ndef f(p, *args, **kwargs):\n    {text}").variable("m:f", "x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = A()", "m:A"),
        ("x = {}", "dict"),
        ("x = {**p}", "dict"),
        ("x = [1]", "list"),
        ("x = {1}", "set"),
        ("x = [y for y in p]", "list"),
        ("x = {y: y for y in p}", "dict"),
        ("x = (y for y in p)", "iterator"),
        ("x = dict(a=1)", "dict"),
        ("x = deque()", "collections.deque"),
        ("x = collections.OrderedDict()", "collections.OrderedDict"),
        ("x = sorted(p)", "list"),
        ("x = make()", "m:A"),
        ("x = await start()", "m:A"),
        ("x = untyped()", "m:A"),
        ("x = below(p)", "m:A"),
        ("x = early(p)", "m:A"),
        ("x = unlike(p)", ""),
        ("x = kept()", "m:A"),
        ("x = changed()", ""),
        ("x = each()", "types.GeneratorType"),
        ("x = own(p)", "m:A"),
        ("x = endless(p)", ""),
        ("x = Maker().make()", "m:A"),
        ("x = OtherMaker().make()", "m:B"),
        ("x = p", ""),
        ("x = args", "tuple"),
        ("x = kwargs", "dict"),
        ("x = f'{p}'", "str"),
        ("x = copy.deepcopy({})", "dict"),
        ("x = [] + p", "list"),
        ("x = None", ""),
        ("x = None; x = A()", "m:A"),
        ("x = A(); x = A()", "m:A"),
        ("x = A(); x = B()", "m:A"),
        ("x = {}; x = []", ""),
        ("x = {} if p else None", "dict"),
        ("x = p or {}", "dict"),
        ("x = [] if p else {}", ""),
        ("x, y = A(), {}", "m:A"),
        ("y, x = A(), {}", "dict"),
        ("y = A(); x = y", "m:A"),
        ("x = x", ""),
        ("y = x; x = y", ""),
        ("with A() as x: pass", "m:A"),
        ("with make() as x: pass", "m:A"),
        ("if (x := A()): pass", "m:A"),
        ("x: A = p", "m:A"),
        ("x: 'A' = p", "m:A"),
        ("x: Any = {}", ""),
        ("x: A | None = p", "m:A"),
        ("x: Optional['A'] = p", "m:A"),
        ("x: Union[A, None] = p", "m:A"),
        ("x: Union[A, B] = p", ""),
        ("x: dict | list = p", ""),
        ("x: Annotated[A, 1] = p", "m:A"),
        ("x: dict[str, list[A]] = p", "dict[str, list[m:A]]"),
        ("x: typing.Dict[str, A] = p", "dict[str, m:A]"),
        ("x: typing.MutableMapping = p", "dict"),
        ("x: gone.Thing = p", "gone.Thing"),
        ("for x in makes(): pass", "m:A"),
        ("for x in list(makes()): pass", "m:A"),
        ("x = makes()[0]", "m:A"),
        ("x = [y for y in makes()][0]", ""),
    ],
)
def test_types_of_variables(text, expected):
    assert of_variable(text) == expected


@pytest.mark.parametrize(
    ("annotation", "loop", "expected"),
    [
        ("list[A]", "for x in p", "m:A"),
        ("list[A]", "for x in sorted(p)", "m:A"),
        ("tuple[A, ...]", "for x in p", "m:A"),
        ("set['A']", "for x in p", "m:A"),
        ("dict[str, A]", "for x in p", "str"),
        ("dict[str, A]", "for x in p.values()", "m:A"),
        ("dict[str, A]", "for x in list(p.values())", "m:A"),
        ("dict[str, A]", "for _, x in p.items()", "m:A"),
        ("dict[str, A]", "for x, _ in list(p.items())", "str"),
        ("dict[str, dict[int, A]]", "for y in p.values():\n        for x in y.values()", "m:A"),
        ("dict[str, list[A]]", "for y in p:\n        for x in p[y]", "m:A"),
        ("dict", "for x in p.values()", ""),
        ("tuple[str, A]", "_, x = p\n    for y in p", "m:A"),
        pytest.param(
            "list[A]",
            "for _, x in enumerate(p)",
            "m:A",
            marks=pytest.mark.xfail(reason="elements of lazy wrappers have no types", strict=True),
        ),
        pytest.param(
            "dict[str, A]",
            "for x in p.keys()",
            "str",
            marks=pytest.mark.xfail(reason="keys() is not followed by declared types", strict=True),
        ),
    ],
)
def test_types_of_elements(annotation, loop, expected):
    found = single(f"{HEAD}\ndef f(p: {annotation}):\n    {loop}: pass")
    assert found.variable("m:f", "x") == expected


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("p: A", "m:A"),
        ("p: 'A | None' = None", "m:A"),
        ("p: Optional[dict] = None", "dict"),
        ("p=[]", "list"),
        ("p=()", "tuple"),
        ("p=None", ""),
        ("p=A()", ""),
        ("*p: A", "tuple"),
        ("**p: A", "dict"),
        ("p", ""),
    ],
)
def test_types_of_parameters(parameter, expected):
    assert single(f"{HEAD}\ndef f({parameter}): pass").type(Param("m:f", 0)) == expected


def test_self_is_of_its_class_and_cls_and_static_parameters_are_not():
    found = single(f"{HEAD}\nclass C:\n def a(self): 0\n @classmethod\n def b(c): 0\n @staticmethod\n def s(self): 0")
    assert [found.type(Param(f"m:C.{name}", 0)) for name in "abs"] == ["m:C", "", ""]


# --- fields -----------------------------------------------------------------------------------------------------------


def of_field(body, name="x", owner="C"):
    return single(f"{HEAD}\n{body}").field(f"m:{owner}", name)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("class C:\n def __init__(self): self.x = {}", "dict"),
        ("class C:\n def __init__(self): self.x = None\n def start(self): self.x = A()", "m:A"),
        ("class C:\n def a(self): self.x = A()\n def b(self): self.x = B()", "m:A"),
        ("class C:\n def __init__(self, a: A): self.x = a", "m:A"),
        ("class C:\n def __init__(self, a: A = None): self.x = a or A()", "m:A"),
        ("class C:\n def __init__(self, a): self.x: dict[str, A] = a", "dict[str, m:A]"),
        ("class C:\n def __init__(self): self.x = make()", "m:A"),
        ("class C:\n x: 'A'", "m:A"),
        ("class C:\n x: ClassVar[dict] = {}", "dict"),
        ("class C:\n x = []", "list"),
        ("class P:\n def __init__(self): self.x = {}\nclass C(P): pass", "dict"),
        ("class P:\n def reset(self): self.x = {}\nclass C(P):\n def __init__(self): self.x = None", "dict"),
        ("class C:\n @property\n def x(self) -> dict: pass", "dict"),
        ("class C:\n @property\n def x(self): return {}", "dict"),
        ("class C:\n def x(self): pass", ""),
        ("class C:\n def __init__(self): self.x = self.x", ""),
        ("class C:\n def __init__(self): self.x, self.y = {}, []", "dict"),
        ("class C:\n def __init__(self): self.x = defaultdict(list)", "collections.defaultdict"),
        ("class C:\n def __init__(self):\n  def later(): self.x = {}", "dict"),
    ],
)
def test_types_of_fields(body, expected):
    assert of_field(body) == expected


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        ("dataclasses.field(default_factory=dict)", "dict"),
        ("dataclasses.field(default_factory=lambda: {})", ""),
        ("dataclasses.field(default_factory=A, repr=False)", "m:A"),
        ("dataclasses.field(repr=False, default_factory=deque)", "collections.deque"),
        ("dataclasses.field(default=None)", ""),
        ("attr.ib(factory=list)", "list"),
        ("attr.Factory(set)", "set"),
    ],
)
def test_defaults_of_dataclass_fields(default, expected):
    body = f"import attr\n@dataclasses.dataclass\nclass C:\n    x: Any = {default}"
    assert of_field(body) == expected


def test_fields_of_fields_across_files(tmp_path):
    found = program(
        tmp_path,
        {
            "store.py": "class Item: pass\nclass Store:\n def __init__(self): self.items: dict[str, 'Item'] = {}",
            "service.py": "from store import Store as S\nclass Service:\n    def __init__(self): self.store = S()",
            "app.py": "import service\ndef f(s: service.Service):\n    for x in s.store.items.values(): pass",
        },
    )
    assert found.field("service:Service", "store") == "store:Store"
    assert found.variable("app:f", "x") == "store:Item"
    store = Field(Param("app:f", 0), "store")
    items = Field(store, "items")
    assert [found.type(value) for value in (store, items)] == ["store:Store", "dict[str, store:Item]"]
    assert found.type(Element(items, Literal("a", "str"))) == "store:Item"
    assert found.type(Member(items, Site("app:f", Span(1, 1, 1, 2)))) == "str"


# --- containers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bases", "kind"),
    [
        ("dict", "mapping"),
        ("typing.Dict[str, int]", "mapping"),
        ("collections.UserDict", "mapping"),
        ("defaultdict", "default mapping"),
        ("set", "set"),
        ("deque", "deque"),
        ("A, list", "list"),
        ("typing.Generic[T]", None),
        ("A", None),
        ("gone.Dict", None),
    ],
)
def test_classes_behave_as_the_container_they_inherit_from(bases, kind):
    found = single(f"{HEAD}\nclass C({bases}): pass\nclass D(C): pass")
    container = found.types.container(Fresh("m:D", Site("m:<module>", Span(1, 1, 1, 2))))
    assert (container and container.kind) == kind


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Builtin("os.environ"), "os._Environ"),
        (Builtin("sys.modules"), "dict"),
        (Builtin("sys.path"), ""),
        (TypeValue("m:A"), "function"),
        (Literal(1, "int"), "int"),
        (Fresh("m:A", Site("m:f", Span(1, 1, 1, 2))), "m:A"),
        (Fresh("", Site("m:f", Span(1, 1, 1, 2))), ""),
        (Fresh("typing.Dict", Site("m:f", Span(1, 1, 1, 2))), "dict"),
    ],
)
def test_types_of_values(value, expected):
    assert single(HEAD).type(value) == expected


def test_globals_and_captured_variables():
    found = single(
        f"{HEAD}\ng = {{}}\nh: list[A] = None\ndef f():\n    c = A()\n    def inner(): x = c; y = g; z = h[0]"
    )
    assert [found.variable("m:f.inner", name) for name in "xyz"] == ["m:A", "dict", "m:A"]


def test_a_captured_variable_is_not_the_class_variable_of_its_name():
    found = single(f"{HEAD}\ndef f():\n    v = A()\n    class C:\n        v = {{}}\n        def m(self): x = v")
    assert found.variable("m:f.C.m", "x") == "m:A"


def test_long_chains_of_assignments_end():
    text = "\n    ".join(["x0 = {}", *[f"x{n} = x{n - 1}" for n in range(1, 60)], "x = x59"])
    assert of_variable(text) == ""


def test_what_a_long_chain_of_functions_gives_does_not_hang_on_who_asks_first():
    links = "\n".join(f"def g{i}(): return g{i - 1}()" for i in range(1, 16))
    asked = "def f():\n    x = g15()\n    y = g5()\n    z = g3()"
    program = single(f"class A: pass\ndef g0(): return A()\n{links}\n{asked}")
    assert [program.variable("m:f", name) for name in "xyz"] == ["", "", "m:A"]
