"""--fix, --unsafe-fixes and --diff-fixes: what is written, what is not, and the exit status."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess

import pytest

BUG = "def close_all(sessions: dict) -> None:\n    for name in sessions:  # all\n        del sessions[name]\n"
FIXED = BUG.replace("in sessions:", "in list(sessions):")
RACE = """\
import threading


class Pool:
    def __init__(self):
        self._lock = threading.Lock()
        self._hosts = {}

    def start(self):
        threading.Thread(target=self._run).start()

    def _run(self):
        while True:
            with self._lock:
                self._hosts = dict(self._hosts, a=1)

    def add(self, host):
        self._hosts[host] = 1
"""
HELD = RACE.replace("        self._hosts[host] = 1\n", "        with self._lock:\n            self._hosts[host] = 1\n")
FIXING_PACK = '''\
from racelint.api import Confidence, Edit, Finding, Fix, Location, Severity, Span, rule


@rule(languages=("python",), since="0.1")
def shouting(program):
    """Names in capitals.

    They shout.
    """
    for source in program.sources:
        for function in source.module.functions.values():
            if function.name.isupper():
                line = function.span.line
                at = Location(source.path, Span(line, 5, line, 5 + len(function.name)))
                edits = (Edit(at, NEW(function.name)),)
                yield Finding(
                    "shouting", Severity.WARNING, Confidence.HIGH, at, f"{function.name} shouts", function.name,
                    function.qualname, fix=Fix("whisper", edits),
                )


NEW = str.lower
RULES = (shouting,)
'''


def test_fix_mends_and_says_so(racelint, tree):
    root = tree({"a.py": BUG})
    done = racelint("check", "--fix", "--no-cache", cwd=root)
    assert (done.returncode, (root / "a.py").read_text()) == (0, FIXED)
    assert "1 fixed" in done.stdout
    again = racelint("check", "--fix", "--no-cache", cwd=root)
    assert (again.returncode, (root / "a.py").read_text()) == (0, FIXED)


def test_without_fix_nothing_is_written_and_what_is_fixable_is_marked(racelint, tree):
    root = tree({"a.py": BUG})
    done = racelint("check", "--no-cache", cwd=root)
    assert (done.returncode, (root / "a.py").read_text()) == (1, BUG)
    assert "mutated-while-iterating  [*]" in done.stdout
    assert "1 fixable with --fix [*]" in done.stdout


def test_json_has_the_fix(racelint, tree):
    root = tree({"a.py": BUG})
    report = json.loads(racelint("check", "--no-cache", "--format", "json", cwd=root).stdout)
    fix = report["findings"][0]["fix"]
    assert (fix["safe"], report["summary"]["fixed"]) == (True, 0)
    assert [(edit["line"], edit["column"], edit["text"]) for edit in fix["edits"]] == [(2, 17, "list(sessions)")]
    report = json.loads(racelint("check", "--no-cache", "--format", "json", "--fix", cwd=root).stdout)
    assert (report["findings"], report["summary"]["fixed"]) == ([], 1)


def test_unsafe_fixes_need_to_be_asked_for(racelint, tree):
    root = tree({"a.py": RACE})
    done = racelint("check", "--fix", "--no-cache", cwd=root)
    assert (done.returncode, (root / "a.py").read_text()) == (1, RACE)
    assert "0 fixed (1 more with --unsafe-fixes)" in done.stdout
    assert "[*]" not in done.stdout
    done = racelint("check", "--fix", "--unsafe-fixes", "--no-cache", cwd=root)
    assert (done.returncode, (root / "a.py").read_text()) == (0, HELD)


def test_diff_fixes_prints_a_patch_that_applies(racelint, tree):
    root = tree({"a.py": BUG, "pkg/b.py": BUG.rstrip("\n"), "c.py": RACE})
    done = racelint("check", "--diff-fixes", "--no-cache", cwd=root)
    assert done.returncode == 1
    assert done.stdout.startswith("--- a.py\n+++ a.py\n@@ ")
    assert ((root / "a.py").read_text(), (root / "c.py").read_text()) == (BUG, RACE)
    git = shutil.which("git")
    assert git
    subprocess.run([git, "apply", "-p0"], cwd=root, input=done.stdout, text=True, check=True)
    assert (root / "a.py").read_text() == FIXED
    assert (root / "pkg/b.py").read_text() == FIXED.rstrip("\n")
    assert (root / "c.py").read_text() == RACE


def test_a_clean_tree_gives_an_empty_patch(racelint, tree):
    done = racelint("check", "--diff-fixes", "--no-cache", cwd=tree({"a.py": FIXED}))
    assert (done.returncode, done.stdout) == (0, "")


def test_bytes_outside_the_change_stay(racelint, tmp_path):
    files = {
        "crlf.py": BUG.replace("\n", "\r\n").encode(),
        "mark.py": b"\xef\xbb\xbf" + BUG.encode(),
        "cookie.py": b"# -*- coding: latin-1 -*-\nNAME = '\xe4'\n" + BUG.replace("all", "\xfc").encode("latin-1"),
        "wide.py": f"NAME = '\N{GRINNING FACE}'\n{BUG}".replace("# all", "# \N{GRINNING FACE}").encode(),
        "tabs.py": BUG.replace("    ", "\t").encode(),
        "no_end.py": BUG.rstrip("\n").encode(),
        "form_feed.py": b"\x0c\n" + BUG.encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    done = racelint("check", "--fix", "--no-cache", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    for name, data in files.items():
        assert (tmp_path / name).read_bytes() == data.replace(b"in sessions:", b"in list(sessions):"), name


def test_imports_and_blocks_have_the_line_ends_of_the_file(racelint, tmp_path):
    text = "import functools\r\n\r\n\r\n@functools.cache\r\ndef load(name):\r\n    return {}\r\n\r\n\r\n"
    text += "def seen(name):\r\n    found = load(name)\r\n    found[name] = {'b': []}\r\n    return found\r\n"
    text = text.replace("return {}", "return {'a': name}")
    (tmp_path / "a.py").write_bytes(text.encode())
    (tmp_path / "b.py").write_bytes(RACE.replace("\n", "\r\n").encode())
    done = racelint("check", "--fix", "--unsafe-fixes", "--no-cache", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    after = text.replace("load(name)\r", "copy.deepcopy(load(name))\r")
    assert (tmp_path / "a.py").read_bytes() == f"import copy\r\n{after}".encode()
    assert (tmp_path / "b.py").read_bytes() == HELD.replace("\n", "\r\n").encode()


def test_a_lone_carriage_return_is_left_alone(racelint, tmp_path):
    before = BUG.replace("# all\n", "# all\r").encode()
    (tmp_path / "a.py").write_bytes(before)
    done = racelint("check", "--fix", "--no-cache", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "a.py").read_bytes()) == (1, before)


def test_modes_and_links_stay(racelint, tree):
    root = tree({"real.txt": BUG})
    os.chmod(root / "real.txt", 0o754)
    (root / "a.py").symlink_to("real.txt")
    done = racelint("check", "--fix", "--no-cache", "a.py", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (root / "a.py").is_symlink()
    assert (root / "real.txt").read_text() == FIXED
    assert stat.S_IMODE((root / "real.txt").stat().st_mode) == 0o754


def test_a_read_only_file_is_told_and_the_rest_is_done(racelint, tree):
    root = tree({"a.py": BUG, "b.py": BUG})
    os.chmod(root / "a.py", 0o444)
    done = racelint("check", "--fix", "--no-cache", cwd=root)
    assert done.returncode == 2
    assert "a.py: unwritable: is read-only: nothing was fixed there" in done.stderr
    assert ((root / "a.py").read_text(), (root / "b.py").read_text()) == (BUG, FIXED)
    assert "1 fixed" in done.stdout
    assert sorted(file.name for file in root.iterdir() if file.suffix != ".py" and file.is_file()) == []


def test_only_files_that_are_named_are_changed(racelint, tree):
    root = tree({"pyproject.toml": "", "a.py": BUG, "b.py": BUG})
    done = racelint("check", "--fix", "--no-cache", "b.py", cwd=root)
    assert (done.returncode, (root / "a.py").read_text(), (root / "b.py").read_text()) == (0, BUG, FIXED)


def test_a_silenced_finding_is_not_fixed(racelint, tree):
    silenced = BUG.replace("del sessions[name]", "del sessions[name]  # racelint: ignore")
    root = tree({"a.py": silenced})
    done = racelint("check", "--fix", "--no-cache", cwd=root)
    assert (done.returncode, (root / "a.py").read_text()) == (0, silenced)


def test_fail_on_counts_what_remains(racelint, tree):
    root = tree({"a.py": BUG, "b.py": RACE})
    done = racelint("check", "--fix", "--no-cache", "--fail-on", "error", cwd=root)
    assert done.returncode in (0, 1)
    assert (root / "a.py").read_text() == FIXED


# --- fixes of other packs ---------------------------------------------------------------------------------------------


def check_pack(racelint, root, *options):
    return racelint(
        "check", "src", "--no-cache", "--fix", "--select", "shouting", "--pack", "pack.py", *options, cwd=root
    )


def test_a_rule_with_edits_of_its_own(racelint, tree):
    root = tree({"pack.py": FIXING_PACK, "src/a.py": "def LOUD(): pass\n\n\ndef HARD(): pass\n"})
    done = check_pack(racelint, root)
    assert (done.returncode, (root / "src/a.py").read_text()) == (0, "def loud(): pass\n\n\ndef hard(): pass\n")
    assert "2 fixed" in done.stdout


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("lambda name: name + 'ER'", "brings up another finding"),
        ("lambda name: name", "does not mend it"),
        ("lambda name: 'class'", "does not parse"),
    ],
)
def test_a_fix_that_does_not_do_its_work_is_not_kept(racelint, tree, new, reason):
    pack = FIXING_PACK.replace("NEW = str.lower", f"NEW = {new}")
    root = tree({"pack.py": pack, "src/a.py": "def LOUD(): pass\n"})
    done = check_pack(racelint, root)
    assert (done.returncode, (root / "src/a.py").read_text()) == (1, "def LOUD(): pass\n")
    assert reason in done.stderr
    assert "0 fixed" in done.stdout


def test_one_bad_fix_does_not_keep_the_others_from_being_applied(racelint, tree):
    pack = FIXING_PACK.replace("NEW = str.lower", "NEW = lambda name: 'class' if name == 'BAD' else name.lower()")
    root = tree({"pack.py": pack, "src/a.py": "def ONE(): pass\ndef BAD(): pass\ndef TWO(): pass\n"})
    done = check_pack(racelint, root)
    assert (root / "src/a.py").read_text() == "def one(): pass\ndef BAD(): pass\ndef two(): pass\n"
    assert done.returncode == 1


def test_of_overlapping_edits_the_first_wins_and_the_next_round_may_apply_the_other(racelint, tree):
    pack = FIXING_PACK.replace(
        "edits = (Edit(at, NEW(function.name)),)",
        "wide = Location(at.path, Span(1, 1, 2, 99))\n"
        "                edits = (Edit(wide, 'def x(): pass\\ndef TWO(): pass') if line == 1 else Edit(at, 'y'),)",
    )
    root = tree({"pack.py": pack, "src/a.py": f"def ONE(): pass\ndef TWO(): pass{' ' * 83}\n"})
    done = check_pack(racelint, root)
    assert (done.returncode, (root / "src/a.py").read_text()) == (0, "def x(): pass\ndef y(): pass\n")


def test_a_race_that_is_told_at_its_next_access_is_no_new_finding(racelint, tree):
    root = tree(
        {
            "a.py": RACE.replace(
                "            with self._lock:\n                self._hosts = dict(self._hosts, a=1)",
                """\
            with self._lock:
                self._hosts["a"] = 1
                self._hosts.pop("b", None)""",
            )
            + """
    def drop(self, prefix):
        for host in self._hosts:
            if host.startswith(prefix):
                del self._hosts[host]

    def all(self):
        return [host for host in self._hosts if host]
"""
        }
    )
    done = racelint("check", "--fix", str(root))
    assert done.returncode == 1  # the race is still there
    assert "for host in list(self._hosts):" in (root / "a.py").read_text()
    assert "1 fixed" in done.stdout
