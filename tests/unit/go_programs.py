"""Small Go programs for the tests of the front end and of the analysis layers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from tests.unit.concurrent_programs import Parallel, in_parallel

from racelint.languages.go import FRONT_END
from racelint.model import Block, Function, Module, Source

HEAD = 'package m\n\nimport (\n\t"sync"\n\t"time"\n\t"example.com/p/sub"\n)\n\n'


def lower(text: str) -> Module:
    """One file, lowered."""
    return FRONT_END.extract(textwrap.dedent(text).encode())


def function(text: str, name: str = "f") -> Function:
    """One function of a file that has a package clause and imports put before it."""
    return lower(HEAD + textwrap.dedent(text)).functions[name]


def body(text: str) -> Block:
    """Statements of a function with parameters a, b, m, s, c and p."""
    inside = textwrap.indent(textwrap.dedent(text), "\t")
    head = "func f(a, b int, m map[string]int, s []int, c chan int, p *T) (int, error) {\n"
    return function(f"type T struct{{ n int; next *T; kids []T }}\n\n{head}{inside}\n}}").body


def go(text: str, edition: str = "") -> Parallel:
    """A program of one package named `m` in one file, linked, with its contexts."""
    text = HEAD + textwrap.dedent(text)
    return in_parallel([Source("/p/m.go", "m", FRONT_END.extract(text.encode()), True, edition)], text)


def packages(files: Mapping[str, str]) -> Parallel:
    """Files by their paths below /p, each of the package that its folder names."""
    sources = []
    for path, text in sorted(files.items()):
        folder = path.rpartition("/")[0]
        name = f"example.com/p/{folder}" if folder else "m"
        sources.append(Source(f"/p/{path}", name, lower(text), not path.endswith("_test.go")))
    return in_parallel(sources, "")
