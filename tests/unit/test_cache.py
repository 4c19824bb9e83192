"""The cache: what it keeps, what it trusts, and that its failures cost nothing but time."""

from __future__ import annotations

import os
import pickle
import time

import pytest

from racelint import cache
from racelint.cache import Cache, pack, unpack
from racelint.languages.python import FRONT_END

SOURCE = b"class A:\n    def f(self):\n        self.x = {}\n"


@pytest.fixture
def module():
    return FRONT_END.extract(SOURCE)


@pytest.fixture
def kept(tmp_path):
    return Cache(tmp_path / "cache")


def test_what_is_put_is_got(kept, module):
    key = kept.key(SOURCE, "python")
    assert kept.get(key) is None
    kept.put(key, pack(module))
    assert kept.get(key) == module
    assert unpack(pack(module)) == module


def test_keys_tell_content_front_end_and_version_apart(kept, monkeypatch):
    keys = {kept.key(SOURCE, "python"), kept.key(SOURCE + b" ", "python"), kept.key(SOURCE, "go")}
    monkeypatch.setattr(cache, "__version__", "9.9.9")
    cache._maker.cache_clear()
    keys.add(kept.key(SOURCE, "python"))
    cache._maker.cache_clear()
    assert len(keys) == 4


@pytest.mark.parametrize("rubbish", [b"", b"\x80", b"garbage", pickle.dumps("a string"), pickle.dumps(("a", "tuple"))])
def test_a_corrupt_entry_is_no_entry(kept, module, rubbish):
    key = kept.key(SOURCE, "python")
    kept.put(key, rubbish)
    assert kept.get(key) is None
    kept.put(key, pack(module)[:-20])
    assert kept.get(key) is None


def test_a_directory_that_cannot_be_written_is_not_fatal(tmp_path, module):
    (tmp_path / "file").write_text("")
    kept = Cache(tmp_path / "file" / "below")
    key = kept.key(SOURCE, "python")
    kept.put(key, pack(module))
    kept.prune()
    assert kept.get(key) is None


def test_a_full_disk_is_not_fatal(kept, module, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    key = kept.key(SOURCE, "python")
    kept.put(key, pack(module))
    assert kept.get(key) is None
    assert not [file for file in kept._directory.rglob("*") if file.is_file()]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="ownership is told by user ids")
def test_entries_of_another_user_are_not_read(tmp_path, module, monkeypatch):
    kept = Cache(tmp_path)
    key = kept.key(SOURCE, "python")
    kept.put(key, pack(module))
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert Cache(tmp_path).get(key) is None


def test_old_entries_go_and_then_the_oldest_beyond_the_limit(kept, monkeypatch):
    now = time.time()
    for number, (age, size) in enumerate([(cache.MAX_AGE + 60, 10), (300, 40), (200, 40), (100, 40)]):
        key = f"{number:064x}"
        kept.put(key, b"x" * size)
        os.utime(kept._path(key), (now - age, now - age))
    monkeypatch.setattr(cache, "MAX_BYTES", 90)
    kept.prune()
    left = sorted(int(f"{file.parent.name}{file.name}", 16) for file in kept._directory.glob("??/*"))
    assert left == [2, 3]


def test_pruning_happens_once_a_day(kept, monkeypatch):
    kept.put("0" * 64, b"x")
    kept.prune()
    monkeypatch.setattr(cache, "MAX_BYTES", 0)
    kept.prune()
    assert list(kept._directory.glob("??/*"))
