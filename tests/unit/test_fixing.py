"""What remedies become in a file: the text after the fix of a rule's findings, or that there is none."""

from __future__ import annotations

import functools
import textwrap

import pytest

from racelint import extract, fixes, fixing, plugins, run, writing
from racelint.analysis.program import link
from racelint.finding import Location, Remedy, Span
from racelint.languages import front_ends
from racelint.model import Module, Source


@functools.cache
def packs() -> tuple[plugins.Pack, ...]:
    return plugins.load()


def after(text: str, rule: str, suffix: str = ".py", *, safe: bool | None = None) -> str | None:
    """The text after all fixes of a rule's findings, there must be some; None if none of them has a fix."""
    data, path = textwrap.dedent(text).lstrip("\n").encode(), f"/p/a{suffix}"
    module = extract.lower(path, data, front_ends()[suffix])
    assert isinstance(module, Module), module
    sources = [Source(path, "a", module, True)]
    findings = run.ask(link(sources), plugins.choose(packs(), [rule]))
    assert findings, text
    found = [f.fix for f in fixing.with_fixes(findings, sources, front_ends(), lambda _: data) if f.fix]
    if safe is not None:
        assert {fix.safe for fix in found} <= {safe}
    result = fixes.rewrite(data, front_ends()[suffix].encoding(data), [edit for fix in found for edit in fix.edits])
    assert result is not None
    return result.decode() if found else None


# --- loops over a copy ------------------------------------------------------------------------------------------------


def loop(head: str, body: str, given: str = "d: dict") -> str:
    return f"def f({given}):\n    {head}\n        {body}\n"


@pytest.mark.parametrize(
    ("head", "mended"),
    [
        ("for k in d:", "for k in list(d):"),
        ("for k in (d):", "for k in list(d):"),
        ("for k in d.keys():", "for k in list(d.keys()):"),
        ("for n, k in enumerate(d, 1):", "for n, k in enumerate(list(d), 1):"),
        ("for k in (  # why\n            d\n    ):", "for k in list((  # why\n            d\n    )):"),
    ],
)
def test_a_loop_goes_over_a_copy(head, mended):
    assert after(loop(head, "del d[k]"), "mutated-while-iterating", safe=True) == loop(mended, "del d[k]")


@pytest.mark.parametrize(
    "text",
    [
        loop("for n, x in enumerate(xs):", "del xs[n]", "xs: list"),  # positions are not those of a copy
        loop("for x in xs:", "xs.pop(0)", "xs: list"),
        loop("for n, x in enumerate(xs):", "xs.remove(x) if x else print(xs[n])", "xs: list"),
        "import collections\n\n\n" + loop("for x in todo:", "todo.append(x)", "todo: collections.deque"),
        "def f(d: dict):\n    return min(d, key=lambda k: d.pop(k, None))\n",
    ],
)
def test_a_copy_does_not_mend_it(text):
    assert after(text, "mutated-while-iterating") is None


def test_growing_is_mended_unsafely():
    text = loop("for x in seen:", "seen.add(x + 1)", "seen: set")
    assert after(text, "mutated-while-iterating", safe=False) == text.replace("in seen", "in list(seen)")


# --- deep copies ------------------------------------------------------------------------------------------------------

LOAD = """\
@functools.cache
def load(name):
    return {"name": name, "tags": []}


"""


def cached(body: str, head: str = "import functools\n\n\n", load: str = LOAD) -> str:
    return head + load + textwrap.dedent(body)


MINE = """\
def mine(name):
    found = load(name)
    found["seen"] = True
    return found
"""
COPIED = MINE.replace("load(name)", "copy.deepcopy(load(name))")


@pytest.mark.parametrize(
    ("head", "mended"),
    [
        ("import functools\n\n\n", "import copy\nimport functools\n\n\n"),
        ("import ast\nimport functools\n\n\n", "import ast\nimport copy\nimport functools\n\n\n"),
        ("'''Doc.'''\n\nimport functools\n", "'''Doc.'''\n\nimport copy\nimport functools\n"),
        (
            "from __future__ import annotations\n\nimport functools\n",
            "from __future__ import annotations\n\nimport copy\nimport functools\n",
        ),
        (
            "from __future__ import annotations\nimport numpy\n\nimport functools\n",
            "from __future__ import annotations\nimport copy\n\nimport numpy\n\nimport functools\n",
        ),
        ("import copy\nimport functools\n", "import copy\nimport functools\n"),
        ("import copy, functools\n", "import copy, functools\n"),
        ("#!/bin/python\n# Licence.\nimport functools\n", "#!/bin/python\n# Licence.\nimport copy\nimport functools\n"),
    ],
)
def test_the_import_goes_where_imports_are(head, mended):
    assert after(cached(MINE, head), "mutated-cache-object", safe=True) == cached(COPIED, mended)


@pytest.mark.parametrize(
    ("head", "call", "mended"),
    [
        ("from copy import deepcopy\nimport functools\n", "deepcopy", None),
        ("import copy as cp\nimport functools\n", "cp.deepcopy", None),
        ("from copy import deepcopy as dc\nimport functools\n", "dc", None),
        (
            "from copy import copy\nimport functools\n", "deepcopy",
            "from copy import copy\nfrom copy import deepcopy\nimport functools\n",
        ),
    ],
)  # fmt: skip
def test_names_that_are_there_are_used(head, call, mended):
    expected = cached(MINE.replace("load(name)", f"{call}(load(name))"), mended or head)
    assert after(cached(MINE, head), "mutated-cache-object") == expected


def test_a_parameter_of_that_name_is_no_module():
    body = MINE.replace("(name):", "(name, copy):")
    mended = after(cached(body), "mutated-cache-object")
    assert mended is not None
    assert "found = deepcopy(load(name))" in mended
    assert "from copy import deepcopy\n" in mended


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("found = dict(load(name))['tags']", "found = copy.deepcopy(load(name))['tags']"),
        ("found = load(name)['tags']", "found = copy.deepcopy(load(name)['tags'])"),
        ("found = load(name).get('tags')", None),
    ],
)
def test_the_part_that_is_taken_is_copied(line, mended):
    text = cached(f"def mine(name):\n    {line}\n    found.append(1)\n    return found\n")
    result = after(text, "mutated-cache-object")
    if mended is not None:
        assert result is not None
        assert mended in result


@pytest.mark.parametrize(
    "body",
    [
        'def mine(name):\n    load(name)["seen"] = True\n',
        'def mine(name):\n    found = load(name)\n    found["seen"] = True\n',  # nobody sees the copy
        'def mine(name):\n    found = load(name)\n    found["seen"] = True\n    found["b"] = 1\n',
        "def mine(name):\n    mark(load(name))\n\n\ndef mark(found):\n    found['tags'] = 1\n",
    ],
)
def test_a_copy_that_nobody_uses_is_none(body):
    assert after(cached(body), "mutated-cache-object") is None


def test_the_default_of_a_parameter_is_no_source():
    text = "def f(x, seen=[]):\n    seen.append(x)\n    return seen\n"
    assert after(text, "mutated-cache-object") is None


# --- locks ------------------------------------------------------------------------------------------------------------


def pool(method: str, more: str = "") -> str:
    head = """\
import threading
import time


class Pool:
    def __init__(self):
        self._lock = threading.Lock()
        self.hosts = {}  # guarded_by: self._lock

    def add(self, name):
        with self._lock:
            self.hosts[name] = 1
"""
    return f"{head}\n{textwrap.indent(textwrap.dedent(method), '    ')}{more}"


@pytest.mark.parametrize(
    ("body", "mended"),
    [
        ("# why\nself.hosts = {}", "# why\nwith self._lock:\n    self.hosts = {}"),
        ("if x: self.hosts = {}", "with self._lock:\n    if x: self.hosts = {}"),
        ("if x:\n  self.hosts = {}", "if x:\n  with self._lock:\n      self.hosts = {}"),
        ("return len(self.hosts)", "with self._lock:\n    return len(self.hosts)"),
        (
            "with self._lock:\n    x = 1\nself.hosts = x",
            "with self._lock:\n    x = 1\n    self.hosts = x",
        ),
        (
            "hosts = 1\nfor h in self.hosts:\n    h.close()\nreturn hosts",
            "hosts = 1\nwith self._lock:\n    hosts_2 = list(self.hosts)\n"
            "for h in hosts_2:\n    h.close()\nreturn hosts",
        ),
    ],
)
def test_the_lock_is_held_around_the_statement(body, mended):
    method = "def f(self, x):\n" + textwrap.indent(body, "    ") + "\n"
    expected = "def f(self, x):\n" + textwrap.indent(mended, "    ") + "\n"
    assert after(pool(method), "inconsistent-lock", safe=False) == pool(expected)


@pytest.mark.parametrize(
    "method",
    [
        "def f(self):\n    self.hosts = self.fresh()\n\ndef fresh(self):\n    with self._lock:\n        return {}\n",
        "def f(self):\n    self.hosts = self.far()\n\ndef far(self):\n    return self.fresh()\n\n"
        "def fresh(self):\n    self._lock.acquire()\n    self._lock.release()\n    return {}\n",
        "async def f(self, g):\n    self.hosts = await g()\n",
        "def f(self):\n    while self.hosts:\n        print(1)\n",
        "def f(self, x):\n    if self.hosts:\n        with self._lock:\n            self.hosts = {}\n",
        "def f(self, x):\n    self.hosts = time.sleep(1)\n",
    ],
)
def test_where_a_lock_would_do_harm_there_is_no_fix(method):
    assert after(pool(method), "inconsistent-lock") is None


def test_the_lock_of_another_object_is_taken_there():
    more = "\n\ndef total(pool: Pool):\n    print(len(pool.hosts))\n"
    mended = after(pool("def f(self): pass\n", more), "inconsistent-lock")
    assert mended == pool("def f(self): pass\n", more.replace("    print", "    with pool._lock:\n        print"))


def go(body: str, result: str = "") -> str:
    return f"""\
package p

import "sync"

type Pool struct {{
	mu    sync.Mutex
	n     int // guarded_by: mu
	ready chan int
}}

func (p *Pool) Inc() {{
	p.mu.Lock()
	p.n++
	p.mu.Unlock()
}}

func (p *Pool) F(xs []int, f func()) {result}{{
{textwrap.indent(body, "	")}
}}
"""


@pytest.mark.parametrize(
    ("body", "mended", "result"),
    [
        ("p.n = 1 // yes", "p.mu.Lock()\np.n = 1 // yes\np.mu.Unlock()", ""),
        ("return p.n", "p.mu.Lock()\ndefer p.mu.Unlock()\nreturn p.n", "int "),
        (
            "for range xs {\n\tif p.n > 1 {\n\t\tbreak\n\t}\n}",
            "for range xs {\n\tp.mu.Lock()\n\tif p.n > 1 {\n\t\tbreak\n\t}\n\tp.mu.Unlock()\n}",
            "",
        ),
        (
            "if p.n > 0 {\n\treturn 1\n}\nreturn 2",
            "p.mu.Lock()\ndefer p.mu.Unlock()\nif p.n > 0 {\n\treturn 1\n}\nreturn 2",
            "int ",
        ),
    ],
)
def test_go_locks_and_unlocks(body, mended, result):
    expected = None if "break" in body else go(mended, result)  # the jump would leave the lock taken
    assert after(go(body, result), "inconsistent-lock", ".go", safe=False) == expected


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("p.n = <-p.ready", ""),
        ("p.ready <- p.n", ""),
        ("for p.n > 0 {\n\tf()\n}", ""),
        ("if p.n > 0 {\n\treturn 1\n}\nfor range xs {\n\tf()\n}\nreturn 2", "int "),
        ("if p.n > 0 { p.Inc() }", ""),
        ("if true { p.n++ }", ""),
        ("f(); p.n++", ""),
    ],
)
def test_go_has_no_fix_where_a_lock_would_do_harm(body, result):
    assert after(go(body, result), "inconsistent-lock", ".go") is None


PODS = """\
package p

import (
	v1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
)

type controller struct {
	pods corelisters.PodLister
}

func (c *controller) f(name string) error {
BODY
}

func use(x any) {}

var _ v1.Pod
"""


GET = "pod, err := c.pods.Pods(name).Get(name)\n"
CHECK = "if err != nil {\n\treturn err\n}\n"
COPY = "pod = pod.DeepCopy()\n"
LIST = "pods, err := c.pods.List(nil)\nfor i := range pods {\n\tpod := pods[i]\n\tpod.Name = name\n\tuse(pod)\n}\n"
EACH = "pods, err := c.pods.List(nil)\nfor _, pod := range pods {\n\t// named\n\tpod.Name = name\n\tuse(pod)\n}\n"


@pytest.mark.parametrize(
    ("body", "mended"),
    [
        (f"{GET}{CHECK}pod.Name = name\nuse(pod)\n", f"{GET}{CHECK}{COPY}pod.Name = name\nuse(pod)\n"),
        (f"{GET}pod.Name = name\nuse(pod.Spec)\n", None),  # only the name changes
        (f"{GET}pod.Labels[name] = name\nuse(pod.Labels)\n", f"{GET}{COPY}pod.Labels[name] = name\nuse(pod.Labels)\n"),
        (f"if {GET.strip()}; err == nil {{\n\tpod.Name = name\n\tuse(pod)\n}}\n", None),
        (LIST, LIST.replace("pods[i]", "pods[i].DeepCopy()")),
        (EACH, EACH.replace("\t// named", f"\t{COPY}\t// named")),
    ],
)
def test_go_copies_where_the_object_comes_from(body, mended):
    text = PODS.replace("BODY", textwrap.indent(body + "return nil", "\t"))
    expected = PODS.replace("BODY", textwrap.indent(mended + "return nil", "\t")) if mended else None
    assert after(text, "mutated-cache-object", ".go", safe=True) == expected


# --- what cannot be placed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".py", ".go"])
@pytest.mark.parametrize("kind", ["snapshot", "deep-copy", "hold"])
@pytest.mark.parametrize(
    "data", [b"", b"x = 1\n", b"\xff\xfe", b"def f(:\n", b"a = 1\rb = 2\n", b"package p\n\nfunc f() {}\n"]
)
def test_a_remedy_that_fits_nothing_is_none(suffix, kind, data):
    place = Location(f"/p/a{suffix}", Span(1, 1, 1, 2))
    assert front_ends()[suffix].fix(data, Remedy(kind, (place,), "lock", "x")) is None


def test_a_file_that_has_changed_is_not_overwritten(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("new")
    assert writing.replace(str(file), b"old", b"fixed") == "has changed on disk since it was read"
    assert (file.read_text(), list(tmp_path.iterdir())) == ("new", [file])
    assert writing.replace(str(tmp_path / "gone.py"), b"old", b"fixed").startswith("cannot be written: ")


def test_a_patch_in_the_files_own_bytes():
    lines = list(writing.patch("a.py", b"# \xe4\r\nx\r\nend", b"# \xe4\r\ny\r\nend"))
    assert lines[:2] == [b"--- a.py\n", b"+++ a.py\n"]
    assert lines[3:] == [b" # \xe4\r\n", b"-x\r\n", b"+y\r\n", b" end\n\\ No newline at end of file\n"]
