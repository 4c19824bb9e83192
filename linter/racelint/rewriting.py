"""Source files changed in place: their encoding, line ends and permissions stay, and nobody ever reads half of one."""

from __future__ import annotations

import io
import os
import shutil
import tokenize
from pathlib import Path

from racelint.errors import RacelintError


def encoding(path: str, data: bytes) -> str:
    """The codec of a source file, which also takes a byte order mark off and puts it on again."""
    if path.endswith(".go"):
        return "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def replace(path: Path, data: bytes) -> None:
    """Write a file all at once; a link stays one. Raises RacelintError."""
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
