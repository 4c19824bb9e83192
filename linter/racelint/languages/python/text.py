"""Source files: their text, and the names by which they are imported."""

from __future__ import annotations

import io
import tokenize
from os.path import isfile
from pathlib import PurePath


def module_name(path: str) -> str:
    """The dotted name under which a file is imported: its path below the folder that holds its top package."""
    file = PurePath(path)
    parts = [] if file.stem == "__init__" else [file.stem]
    root = import_root(file.parent)
    return ".".join([*file.parent.relative_to(root).parts, *parts]) or file.parent.name


def import_root(folder: PurePath) -> PurePath:
    """The folder from which what lies in `folder` is imported: the first one upwards that is no package itself."""
    while is_package(folder):
        folder = folder.parent
    return folder


def is_package(folder: PurePath) -> bool:
    """Whether a folder on disk is a regular package."""
    return folder.name.isidentifier() and isfile(folder / "__init__.py")


def decode(data: bytes) -> str:
    """The text of a file by PEP 263; what cannot be decoded is replaced."""
    return data.decode(encoding(data), "replace")


def encoding(data: bytes) -> str:
    """The encoding of a file by PEP 263; "utf-8-sig" if it begins with a byte order mark."""
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        return "utf-8"
