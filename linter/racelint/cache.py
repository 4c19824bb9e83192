"""Models of files kept between runs, one entry per content; a cache that fails is a slow run, never an error."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from racelint import __version__
from racelint.model import Module

MAX_BYTES = 512 * 1024 * 1024
MAX_AGE = 30 * 24 * 3600.0
PRUNE_EVERY = 24 * 3600.0


def default_directory() -> Path:
    """RACELINT_CACHE_DIR, or else the system's place for caches."""
    if chosen := os.environ.get("RACELINT_CACHE_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("racelint"))


class Cache:
    """A directory of pickled modules. Entries are keyed by the file's bytes and by all that made the module of them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._usable = _is_ours(directory)

    def key(self, data: bytes, front_end: str, *, outline: bool = False) -> str:
        """The name of the entry for a file's bytes, lowered (or outlined) by the front end of that name."""
        digest = hashlib.sha256(_maker(front_end))
        digest.update(b"outline" if outline else b"")
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> Module | None:
        """The module kept under a key; None if there is none, or none that can be read."""
        if not self._usable:
            return None
        try:
            with open(self._path(key), "rb") as file:
                module = pickle.load(file)
        except Exception:  # a torn or foreign pickle may raise anything; the file is simply lowered again
            return None
        return module if isinstance(module, Module) else None

    def put(self, key: str, pickled: bytes) -> None:
        """Keep a pickled module, all or nothing: others may read and write the same entry."""
        if not self._usable:
            return
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(pickled)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
        except OSError:
            self._usable = self._usable and os.access(self._directory, os.W_OK)

    def prune(self) -> None:
        """Once a day, drop entries not written for a month, and the oldest ones beyond half a gigabyte."""
        stamp = self._directory / "pruned"
        try:
            if not self._usable or time.time() - _modified(stamp) < PRUNE_EVERY:
                return
            stamp.touch()
            _drop(self._directory.glob("??/*"))
        except OSError:
            return

    def _path(self, key: str) -> Path:
        return self._directory / key[:2] / key[2:]


def pack(module: Module) -> bytes | None:
    """A module as the bytes that `Cache.put` keeps; None for one nested too deep to pickle."""
    try:
        return pickle.dumps(module, pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        return None


def unpack(pickled: bytes) -> Module:
    """The module that `pack` packed."""
    module = pickle.loads(pickled)
    assert isinstance(module, Module)
    return module


@lru_cache
def _maker(front_end: str) -> bytes:
    """A digest of what turns bytes into a module: our version, Python's grammar, the code of front end and model."""
    package = Path(__file__).parent
    digest = hashlib.sha256(f"{front_end} {__version__} {sys.version_info[:2]}".encode())
    for file in (package / "model.py", package / "span.py", *sorted((package / "languages").rglob("*.py"))):
        digest.update(file.read_bytes())
    return digest.digest()


def _is_ours(directory: Path) -> bool:
    """Reading a pickle can run code, so only a directory that nobody else owns is trusted."""
    try:
        return not hasattr(os, "geteuid") or directory.stat().st_uid == os.geteuid()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _drop(entries: Iterable[Path]) -> None:
    found = sorted(((stat := entry.stat()).st_mtime, stat.st_size, entry) for entry in entries)
    total, horizon = sum(size for _, size, _ in found), time.time() - MAX_AGE
    for modified, size, entry in found:
        if modified >= horizon and total <= MAX_BYTES:
            break
        entry.unlink(missing_ok=True)
        total -= size
