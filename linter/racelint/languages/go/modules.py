"""Where a file stands: the import path of its package and the language version, by the go.mod above it."""

from __future__ import annotations

import functools
import re
from pathlib import PurePosixPath
from typing import NamedTuple

MODULE = re.compile(r'^module\s+"?([^\s"/][^\s"]*)', re.MULTILINE)
VERSION = re.compile(r"^go\s+(\d+\.\d+)", re.MULTILINE)
MAJOR = re.compile(r"v\d+$")


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
    found = _declared(folder)
    parent = folder.rpartition("/")[0]
    return found or (module_of(parent) if parent and parent != folder else None)


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
