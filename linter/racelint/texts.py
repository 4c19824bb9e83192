"""The bytes of files: as they are on disk, or as an editor has them and has not saved them yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_UNSAVED: ContextVar[Mapping[str, bytes]] = ContextVar("unsaved")


@contextmanager
def unsaved(texts: Mapping[str, bytes]) -> Iterator[None]:
    """Within the block files at these absolute paths have these bytes, whether they exist or not; blocks add up."""
    token = _UNSAVED.set({**_UNSAVED.get({}), **texts})
    try:
        yield
    finally:
        _UNSAVED.reset(token)


def is_unsaved(path: str) -> bool:
    """Whether a file's text is not the one on disk."""
    return path in _UNSAVED.get({})


def read(path: str, limit: int = -1) -> bytes:
    """A file's bytes, at most `limit` of them. Raises OSError."""
    held = _UNSAVED.get({})
    if path in held:
        return held[path][:limit] if limit >= 0 else held[path]
    with open(path, "rb") as file:
        return file.read(limit)
