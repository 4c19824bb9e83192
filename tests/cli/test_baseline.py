"""`racelint baseline` and `check --baseline`: only what is new is reported."""

from __future__ import annotations

import json
import subprocess

import pytest


@pytest.fixture
def racelint(inside):
    """Many runs, in one process."""
    return inside


FILE = "racelint-baseline.jsonl"
ONE = "def close_all(sessions: dict) -> None:\n    for name in sessions:\n        del sessions[name]\n"
TWO = ONE + ONE.replace("close_all", "drop_all")


def functions(done) -> list[str]:
    return [found["function"] for found in json.loads(done.stdout)["findings"]]


def test_what_is_in_the_baseline_is_counted_and_not_reported(racelint, tree):
    root = tree({"a.py": ONE})
    done = racelint("baseline")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[0] == f"{FILE}: 1 entry (1 new, 0 gone)"
    done = racelint("check", "--baseline", FILE)
    assert done.returncode == 0
    assert "; 1 in the baseline;" in done.stdout
    tree({"a.py": "\n\n# moved\n" + TWO})
    done = racelint("check", "--baseline", FILE, "--format", "json")
    assert (done.returncode, functions(done), done.stderr) == (1, ["drop_all"], "")
    assert json.loads(done.stdout)["summary"]["baselined"] == 1
    assert [path.name for path in root.iterdir() if path.name.startswith(".")] == []


def test_the_configured_baseline_means_the_same_from_everywhere(racelint, tree):
    root = tree({"racelint.toml": f'baseline = "{FILE}"\n', "src/a.py": ONE})
    assert racelint("check").returncode == 2
    assert "no such baseline; `racelint baseline` writes one" in racelint("check").stderr
    assert racelint("baseline", cwd=root / "src").returncode == 0
    assert (root / FILE).is_file()
    assert racelint("check").returncode == 0
    assert racelint("check", cwd=root / "src").returncode == 0
    assert racelint("check", "src/a.py").returncode == 0
    assert racelint("check", "--no-baseline").returncode == 1


def test_stale_entries_are_told_and_pruned(racelint, tree):
    root = tree({"a.py": TWO})
    racelint("baseline")
    tree({"a.py": ONE})
    done = racelint("check", "--baseline", FILE)
    assert done.returncode == 0
    assert f"{FILE}: 1 entry is stale" in done.stderr
    assert "  a.py: mutated-while-iterating: " in done.stderr
    assert racelint("check", "--baseline", FILE, "-q").stderr == ""
    tree({"b.py": ONE})
    assert racelint("baseline", "--prune").stderr.startswith(f"{FILE}: 1 entry (0 new, 1 gone)")
    assert "drop_all" not in (root / FILE).read_text()
    assert functions(racelint("check", "--baseline", FILE, "--format", "json")) == ["close_all"]  # nothing was added


def test_what_a_run_does_not_look_at_is_neither_stale_nor_lost(racelint, tree):
    root = tree({"pyproject.toml": "", "a.py": ONE, "sub/b.py": ONE, "gone/c.py": ONE})
    racelint("baseline")
    before = (root / FILE).read_text()
    for path in ("a.py", "sub/b.py"):
        tree({path: "x = 1\n"})
    for arguments in (["gone"], ["a.py", "--select", "unlocked-shared-write"]):
        done = racelint("check", "--baseline", FILE, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        racelint("baseline", *arguments)
        assert (root / FILE).read_text() == before
    tree({"broken.py": "def :\n"})
    assert "stale" not in racelint("check", "--baseline", FILE).stderr  # the other end may be in there
    (root / "broken.py").unlink()
    assert "1 entry is stale" in racelint("check", "--baseline", FILE, "sub").stderr
    (root / "gone" / "c.py").unlink()
    assert "3 entries are stale" in racelint("check", "--baseline", FILE).stderr


def test_an_existing_baseline_is_brought_up_to_date(racelint, tree):
    root = tree({"a.py": ONE})
    racelint("baseline")
    first = (root / FILE).read_text()
    racelint("baseline")
    assert (root / FILE).read_text() == first
    tree({"a.py": TWO.replace("close_all", "end_all")})
    assert "2 entries (2 new, 1 gone)" in racelint("baseline").stderr


@pytest.mark.parametrize("command", ["check", "baseline"])
def test_a_file_that_is_no_baseline_ends_the_run(racelint, tree, command):
    tree({"a.py": ONE})
    done = racelint(command, "--baseline" if command == "check" else "--output", "a.py")
    assert (done.returncode, "a.py:1: is no entry of a baseline" in done.stderr) == (2, True)


def test_pruning_needs_a_baseline(racelint, tree):
    tree({"a.py": ONE})
    assert racelint("baseline", "--prune").returncode == 2


@pytest.mark.parametrize("union", [True, False])
def test_two_branches_that_both_add_lines(racelint, tree, git, union):
    root = tree({"a.py": ONE, ".gitattributes": f"{FILE} merge=union\n" if union else ""})
    racelint("baseline")
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "first")
    for branch, name in (("left", "b.py"), ("right", "c.py")):
        git("checkout", "-qb", branch, "main")
        tree({name: ONE})
        racelint("baseline")
        git("add", "-A")
        git("commit", "-qm", branch)
    if union:
        git("merge", "-q", "left")
        done = racelint("check", "--baseline", FILE)
        assert (done.returncode, done.stderr) == (0, "")
        assert "; 3 in the baseline;" in done.stdout
        return
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "left")
    done = racelint("check", "--baseline", FILE)
    assert (done.returncode, "unresolved merge conflict" in done.stderr) == (2, True)
    marks = ("<<<<<<<", "=======", ">>>>>>>")
    lines = (root / FILE).read_text().splitlines(keepends=True)
    assert {line.split('"')[3] for line in lines[1:] if not line.startswith(marks)} == {"a.py", "b.py", "c.py"}
    (root / FILE).write_text("".join(line for line in lines if not line.startswith(marks)))
    assert racelint("check", "--baseline", FILE).returncode == 0
