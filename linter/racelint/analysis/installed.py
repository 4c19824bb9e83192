"""Packages that are imported by another name than their folder has, because they are installed so."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import dirname, normpath

from racelint.model import Source


class Installed:
    """Finds modules by the names under which they are installed."""

    def __init__(self, sources: Iterable[Source]) -> None:
        every = list(sources)
        self._folders = {
            name: f"{dirname(source.path)}/{folder}" for source in every for name, folder in source.module.installs
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
