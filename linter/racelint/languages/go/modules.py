"""Where a file stands: the import path of its package and the language version, by the go.mod above it.

A tree from before modules has none. There the root is where its tool for dependencies left a mark, and the path is the
one that most imports of its own packages begin with.
"""

from __future__ import annotations

import collections
import functools
import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

MODULE = re.compile(r'^module\s+"?([^\s"/][^\s"]*)', re.MULTILINE)
VERSION = re.compile(r"^go\s+(\d+\.\d+)", re.MULTILINE)
MAJOR = re.compile(r"v\d+$")
IMPORT = re.compile(r'^(?:import\s+|\s+)(?:[\w.]+\s+)?"([\w.-]+\.[a-z]+/[\w./-]+)"', re.MULTILINE)
OF_OTHERS = ("vendor", "third_party", "Godeps", "_workspace", "testdata")  # folders without packages of the project
ROOTS = (
    "Gopkg.toml",
    "Gopkg.lock",
    "glide.yaml",
    "glide.lock",
    "Godeps",
    "vendor",
)  # at a project's root before go.mod
ENOUGH = 400  # files of a project that tell its path


class GoModule(NamedTuple):
    """What a go.mod says: the module's path, its language version, and the folder that it stands in."""

    path: str
    version: str
    folder: str


@functools.cache
def _declared(folder: str) -> GoModule | None:
    try:
        with open(f"{folder}/go.mod", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    name, version = MODULE.search(text), VERSION.search(text)
    return GoModule(name[1], version[1] if version else "", folder) if name else None


@functools.cache
def module_of(folder: str) -> GoModule | None:
    """The module that a folder belongs to."""
    found = _nearest(folder, declared=True)
    return found or _nearest(folder, declared=False)


@functools.cache
def _nearest(folder: str, *, declared: bool) -> GoModule | None:
    found = _declared(folder) if declared else _inferred(folder)
    parent = folder.rpartition("/")[0]
    return found or (_nearest(parent, declared=declared) if parent and parent != folder else None)


def _inferred(folder: str) -> GoModule | None:
    """The project without a go.mod that has its root here, by the path that its packages import each other with."""
    if not any(os.path.exists(f"{folder}/{mark}") for mark in ROOTS):
        return None
    votes: collections.Counter[str] = collections.Counter()
    for imported in _imports(folder):
        parts = imported.split("/")
        for cut in range(1, len(parts)):
            if parts[cut] not in OF_OTHERS and _has_go("/".join((folder, *parts[cut:]))):
                votes["/".join(parts[:cut])] += 1
                break
    return GoModule(votes.most_common(1)[0][0], "", folder) if votes else None


def _imports(folder: str) -> Iterator[str]:
    """What the files below a folder import by a path that begins with a host, file by file."""
    left = ENOUGH
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in OF_OTHERS and not each.startswith("."))
        for name in sorted(files):
            if not left:
                return
            if name.endswith(".go") and os.path.isfile(f"{here}/{name}"):
                left -= 1
                try:
                    with open(f"{here}/{name}", encoding="utf-8", errors="replace") as file:
                        yield from IMPORT.findall(file.read(16_000))
                except OSError:
                    continue


@functools.cache
def _has_go(folder: str) -> bool:
    try:
        return any(name.endswith(".go") for name in os.listdir(folder))
    except OSError:
        return False


def import_path(path: str) -> str:
    """The path by which other packages import the one of the file at `path` (absolute, forward slashes)."""
    folder = path.rpartition("/")[0]
    for marker in ("/vendor/", "/third_party/"):
        if marker in folder:
            return folder.rpartition(marker)[2]
    module = module_of(folder)
    if module is not None:
        below = folder[len(module.folder) :].strip("/")
        return f"{module.path}/{below}" if below else module.path
    if "/src/" in folder:  # as under GOPATH
        return folder.rpartition("/src/")[2]
    return PurePosixPath(folder).name or "main"


def package_names(path: str) -> tuple[str, ...]:
    """The names by which a package is probably known in its importers: its path does not tell for sure."""
    parts = path.split("/")
    if len(parts) > 1 and MAJOR.match(parts[-1]):
        parts.pop()
    last = parts[-1].partition(".v")[0]  # gopkg.in/yaml.v2
    plain = last.removeprefix("go-").removesuffix("-go").removesuffix(".go")
    names = (last, plain, last.rpartition("-")[2], last.replace("-", "_"), last.replace("-", ""), path.split("/")[-1])
    return tuple(name for name in dict.fromkeys(names) if name.isidentifier())
