"""Files to modules: read, looked up in the cache, and lowered where they are new, in processes if that pays."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from racelint import languages, texts
from racelint.cache import Cache, pack, unpack
from racelint.discover import File
from racelint.errors import RacelintError
from racelint.finding import SourceError
from racelint.languages import FrontEnd, SourceProblem
from racelint.log import log
from racelint.model import Module

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

MAX_FILE = 8 * 1024 * 1024
PROCESSES_PAY = 600_000  # bytes to lower; below, starting processes costs more than it saves
CHUNK = 8

Outcome = Module | SourceError
Progress = Callable[[int, int], None]


class Job(NamedTuple):
    """A file that is not in the cache, and where its module will be kept."""

    file: File
    data: bytes
    key: str
    outline: bool


def extract(
    files: Sequence[File], front_ends: Mapping[str, FrontEnd], cache: Cache | None, jobs: int | None,
    progress: Progress, *, tests: bool = False,
) -> dict[str, Outcome]:  # fmt: skip
    """The module of each file, or why there is none; the same whatever the jobs and the cache.

    Of files that are not reported on only the outline is read, unless `tests` are to be or an importer needs more.
    """
    reading = _Reading(front_ends, cache, jobs, progress)
    waiting = {file.path: file for file in files if file.quiet and not tests}
    batch = [file for file in files if file.path not in waiting]
    while batch:
        reading.read(batch, outline=False)
        wanted = {
            name
            for file in batch
            if isinstance(module := reading.outcomes[file.path], Module)
            for name in front_ends[file.suffix].needed(file.path, module)
        }
        batch = [file for file in waiting.values() if front_ends[file.suffix].module_name(file.path) in wanted]
        for file in batch:
            del waiting[file.path]
    reading.read(list(waiting.values()), outline=True)
    if cache and reading.missed:
        cache.prune()
    return {file.path: reading.outcomes[file.path] for file in files}


class _Reading:
    """Reads batches of files: those that the cache knows, and those that are new."""

    def __init__(
        self, front_ends: Mapping[str, FrontEnd], cache: Cache | None, jobs: int | None, progress: Progress
    ) -> None:
        self._front_ends, self._cache, self._jobs, self._progress = front_ends, cache, jobs, progress
        self.outcomes: dict[str, Outcome] = {}
        self.missed = 0

    def read(self, files: Sequence[File], *, outline: bool) -> None:
        """Read these files, or their outlines."""
        missing: list[Job] = []
        for file in files:
            data = read(file.path)
            if isinstance(data, SourceError):
                self.outcomes[file.path] = data
                continue
            front_end = self._front_ends[file.suffix].name
            key = self._cache.key(data, front_end, outline=outline) if self._cache else ""
            module = self._cache.get(key) if self._cache else None
            if module is None:
                missing.append(Job(file, data, key, outline))
            else:
                self.outcomes[file.path] = module
        log.info(
            "%d files: %d known from the cache, %d to be read", len(files), len(files) - len(missing), len(missing)
        )
        lowered = _lower_all(missing, self._front_ends, self._jobs, keep=self._cache is not None)
        for done, (job, outcome, pickled) in enumerate(lowered, start=1):
            self.outcomes[job.file.path] = outcome
            if self._cache and pickled:
                self._cache.put(job.key, pickled)
            self._progress(done, len(missing))
        self.missed += len(missing)


def read(path: str) -> bytes | SourceError:
    """A file's bytes, unless it cannot be read or is no program text by its size alone."""
    try:
        data = texts.read(path, MAX_FILE + 1)
    except OSError as error:
        return SourceError("unreadable", path, error.strerror or str(error))
    if len(data) > MAX_FILE:
        return SourceError("too-large", path, f"is larger than {MAX_FILE // (1024 * 1024)} MiB")
    return data


def lower(path: str, data: bytes, front_end: FrontEnd, *, outline: bool = False) -> Outcome:
    """One file's module, or its outline. Whatever a front end trips over costs that file, not the run."""
    try:
        return front_end.outline(data) if outline else front_end.extract(data)
    except SourceProblem as problem:
        return SourceError(problem.kind, path, problem.message, problem.line, problem.column)
    except (RecursionError, MemoryError):
        return SourceError("too-deep", path, "is nested too deep to analyse")
    except Exception as error:
        return SourceError("internal-error", path, f"racelint failed on this file: {type(error).__name__}: {error}")


def _lower_all(
    missing: list[Job], front_ends: Mapping[str, FrontEnd], jobs: int | None, *, keep: bool
) -> Iterator[tuple[Job, Outcome, bytes | None]]:
    workers = min(_processors() if jobs is None else jobs, len(missing))
    pays = jobs is not None or sum(len(job.data) for job in missing) > PROCESSES_PAY
    if workers > 1 and pays:
        yield from _in_processes(missing, front_ends, workers)
        return
    for job in missing:
        outcome = lower(job.file.path, job.data, front_ends[job.file.suffix], outline=job.outline)
        yield job, outcome, pack(outcome) if keep and isinstance(outcome, Module) else None


def _in_processes(
    missing: list[Job], front_ends: Mapping[str, FrontEnd], workers: int
) -> Iterator[tuple[Job, Outcome, bytes | None]]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    inputs = [(job.file.path, job.file.suffix, job.data, job.outline) for job in missing]
    pool = ProcessPoolExecutor(workers, mp_context=_process_context(), initializer=_prepare_worker)
    try:
        for job, answer in zip(missing, pool.map(_work, inputs, chunksize=CHUNK), strict=True):
            if isinstance(answer, bytes):
                yield job, unpack(answer), answer
            else:  # an error, or a module too deep to travel, which is lowered again here
                again = front_ends[job.file.suffix]
                yield job, answer or lower(job.file.path, job.data, again, outline=job.outline), None
    except BrokenProcessPool as error:
        raise RacelintError("a worker process died (out of memory?); try --jobs 1") from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _work(item: tuple[str, str, bytes, bool]) -> bytes | SourceError | None:
    path, suffix, data, outline = item
    outcome = lower(path, data, languages.front_ends()[suffix], outline=outline)
    return pack(outcome) if isinstance(outcome, Module) else outcome


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _process_context() -> BaseContext:
    """Forking is far faster than spawning, but safe only on Linux and with no other thread about."""
    import multiprocessing
    import sys
    import threading

    method = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    return multiprocessing.get_context(method)


def _prepare_worker() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole process group; the parent answers it
    gc.disable()
