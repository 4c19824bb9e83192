"""What racelint is doing, for whoever asks (`--verbose`): messages, and how long each phase took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("racelint")
_inner = [0.0]  # seconds of the phases inside each phase that is under way


@contextmanager
def phase(name: str, least: float = 0.0) -> Iterator[None]:
    """Log how long the block took without the phases inside it; not if it failed or took less than `least` seconds."""
    started = time.perf_counter()
    _inner.append(0.0)
    try:
        yield
    finally:
        seconds = time.perf_counter() - started
        own = seconds - _inner.pop()
        _inner[-1] += seconds
    if own >= least:
        log.info("%-32s %7.2f s", name, own)
