"""Builds: which of a package's files are compiled for the systems that controllers run on, Linux on amd64.

Where two files declare the same, a build takes one of them: `mutex_debug.go` behind `//go:build debug`, `mutex.go`
behind `//go:build !debug`. None takes in tests. The rules are those of https://pkg.go.dev/cmd/go#hdr-Build_constraints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PACKAGE = re.compile(rb"^package\b", re.MULTILINE)
LINE = re.compile(rb"^//go:build[ \t]+([^\n]*)", re.MULTILINE)
WORDS = re.compile(r"&&|\|\||[!()]|[^\s!()&|]+")
HOLDING = frozenset({"linux", "unix", "amd64", "cgo", "gc"})
SYSTEMS = frozenset(
    {
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "illumos",
        "ios",
        "js",
        "linux",
        "netbsd",
        "openbsd",
        "plan9",
        "solaris",
        "wasip1",
        "windows",
        "zos",
    }
)
MACHINES = frozenset(
    {
        "386",
        "amd64",
        "arm",
        "arm64",
        "loong64",
        "mips",
        "mips64",
        "mips64le",
        "mipsle",
        "ppc64",
        "ppc64le",
        "riscv64",
        "s390x",
        "sparc64",
        "wasm",
    }
)


def constraint(data: bytes) -> str:
    """The expression of the `//go:build` line above a file's package clause, "" if there is none."""
    clause = PACKAGE.search(data)
    found = LINE.search(data, 0, clause.start() if clause else len(data))
    return found[1].decode("utf-8", "replace").strip() if found else ""


def is_built(path: str, expression: str) -> bool:
    """Whether a build takes in a file of this name with this constraint; one that cannot be read holds."""
    parts = path.rpartition("/")[2].removesuffix(".go").split("_")[1:]
    if parts[-1:] == ["test"]:
        return False
    named = parts[-2:] if len(parts) > 1 and parts[-2] in SYSTEMS and parts[-1] in MACHINES else parts[-1:]
    if any(part in SYSTEMS | MACHINES and part not in HOLDING for part in named):
        return False
    words = iter([*WORDS.findall(expression), ""])
    try:
        return not expression or _either(words, next(words))[0]
    except (StopIteration, ValueError, RecursionError):
        return True


def _either(words: Iterator[str], word: str) -> tuple[bool, str]:
    """The value of an expression that begins with a word, and the word behind it."""
    holds, word = _both(words, word)
    while word == "||":
        other, word = _both(words, next(words))
        holds = holds or other
    return holds, word


def _both(words: Iterator[str], word: str) -> tuple[bool, str]:
    holds, word = _one(words, word)
    while word == "&&":
        other, word = _one(words, next(words))
        holds = holds and other
    return holds, word


def _one(words: Iterator[str], word: str) -> tuple[bool, str]:
    if word == "!":
        holds, word = _one(words, next(words))
        return not holds, word
    if word == "(":
        holds, word = _either(words, next(words))
        if word != ")":
            raise ValueError(word)
        return holds, next(words)
    if word in ("", ")", "&&", "||"):
        raise ValueError(word)
    return word in HOLDING or word.startswith("go1."), next(words)
