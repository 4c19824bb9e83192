"""Build constraints: which of a package's files are compiled."""

from __future__ import annotations

import pytest

from racelint.languages.go.builds import constraint, is_built


@pytest.mark.parametrize(
    ("path", "expression", "built"),
    [
        ("a.go", "", True),
        ("dir_windows/a.go", "", True),
        ("a_linux.go", "", True),
        ("a_linux_amd64.go", "", True),
        ("a_windows.go", "", False),
        ("a_linux_arm64.go", "", False),
        ("a_darwin_arm64.go", "", False),
        ("windows.go", "", True),
        ("a_unix.go", "", True),
        ("a_test.go", "", False),
        ("test.go", "", True),
        ("a.go", "debug", False),
        ("a.go", "!debug", True),
        ("a.go", "ignore", False),
        ("a.go", "linux && (amd64 || arm64)", True),
        ("a.go", "(linux || darwin) && !cgo", False),
        ("a.go", "!(windows || plan9)", True),
        ("a.go", "!linux || debug || unix", True),
        ("a.go", "go1.21 && !go1.99", False),
        ("a_windows.go", "linux", False),
        ("a.go", "linux &&", True),
        ("a.go", "(linux", True),
        ("a.go", ")", True),
        ("a.go", "(" * 100_000, True),
    ],
)
def test_is_built(path: str, expression: str, built: bool) -> None:
    assert is_built(path, expression) is built


def test_constraint_stands_above_the_package_clause() -> None:
    assert (
        constraint(b"// A comment.\n\n//go:build linux && !debug\n\npackage p\n\n//go:build windows\n")
        == "linux && !debug"
    )
    assert constraint(b"package p\n\n//go:build windows\n") == ""
    assert constraint(b"//go:build \xff\n") == "\ufffd"
