"""Writes changed sources back, all at once and only over what was read; or shows what would be written, as a patch."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from racelint.errors import RacelintError

WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write(path: Path, data: bytes) -> None:
    """Write a file all at once, whatever is there; a link stays one. Raises RacelintError."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        try:
            temporary.write_bytes(data)
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise RacelintError(f"cannot write {path}: {error.strerror}") from error


def obstacle(path: str) -> str:
    """Why a file must not be written; "" if it may be."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    # Who may write anywhere is told "yes" by access(): the author's mark counts all the same.
    return "" if mode & WRITABLE and os.access(path, os.W_OK) else "is read-only"


def replace(path: str, before: bytes, after: bytes) -> str:
    """Put `after` in place of `before`; "" if that is done, else why not. Links, modes and owners stay as they are."""
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.racelint")
    try:
        if problem := obstacle(str(target)):
            return problem
        temporary.write_bytes(after)
        shutil.copymode(target, temporary)
        with contextlib.suppress(OSError, AttributeError):  # who may not give files away keeps them
            os.chown(temporary, target.stat().st_uid, target.stat().st_gid)
        if target.read_bytes() != before:
            return "has changed on disk since it was read"
        os.replace(temporary, target)
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    else:
        return ""
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def patch(path: str, before: bytes, after: bytes) -> Iterator[bytes]:
    """The lines of a unified patch, as `patch -p0` and `git apply -p0` take it; in the file's own encoding."""
    name = os.fsencode(path)
    old, new = (data.splitlines(keepends=True) for data in (before, after))
    for line in difflib.diff_bytes(difflib.unified_diff, old, new, name, name):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
