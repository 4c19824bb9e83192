"""What racelint is doing, for whoever asks (`--verbose`): messages, and how long each phase took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("racelint")


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Log how long the block took, unless it failed."""
    started = time.perf_counter()
    yield
    log.info("%-32s %7.2f s", name, time.perf_counter() - started)
