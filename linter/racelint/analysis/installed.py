"""Packages that are imported by another name than their folder has: what a `setup.py` says in its `package_dir`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, normpath

from racelint.model import Assign, Build, Call, Const, Expr, Name, Source
from racelint.record import records

SCRIPT = "setup.py"
KEY = "package_dir"


class Installed:
    """Finds modules by the names under which setuptools installs them."""

    def __init__(self, sources: Iterable[Source]) -> None:
        every = list(sources)
        self._folders = {
            name: f"{dirname(source.path)}/{folder}"
            for source in every
            if basename(source.path) == SCRIPT
            for name, folder in _declared(source)
        }
        self._modules = {source.path: source.name for source in every} if self._folders else {}

    def module(self, name: str) -> str | None:
        """The module that a dotted name means, by the longest package name that has a folder of its own."""
        package, rest = name, ""
        while package and self._folders:
            if package in self._folders:
                way = normpath(f"{self._folders[package]}/{rest}")
                return self._modules.get(f"{way}/__init__.py") or self._modules.get(f"{way}.py")
            package, _, last = package.rpartition(".")
            rest = f"{last}/{rest}" if rest else last
        return None


def _declared(source: Source) -> Iterator[tuple[str, str]]:
    """Pairs of a package and its folder, out of a dict that is written down."""
    for node in records(tuple([function.body for function in source.module.functions.values()])):
        match node:
            case Assign(targets=(Name(name="package_dir"),), value=value):
                yield from _pairs(value)
            case Call(keywords=keywords):
                yield from _pairs(dict(keywords).get(KEY))
            case _:
                pass


def _pairs(value: Expr | None) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Build) or value.kind != "dict":
        return
    for key, part in zip(value.keys, value.parts, strict=True):
        match key, part:
            case Const(value=str() as name), Const(value=str() as folder) if name:
                yield name, folder
            case _:
                pass
