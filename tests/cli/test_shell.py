"""Manners in a shell: colour, quiet and verbose, completion, interrupts, closed pipes, text from an editor."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete

from racelint.cli import cli
from racelint.cli.streams import wants_colour

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")


@pytest.mark.parametrize(
    ("choice", "env", "coloured"),
    [
        ("auto", {}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": ""}, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_goes_by_option_and_environment(monkeypatch, choice, env, coloured):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(choice, io.StringIO()) == coloured


def test_colour_is_told_by_options_and_environment(racelint, tree, bug):
    tree({"a.py": bug})
    assert "\x1b[" in racelint("check", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in racelint("check", "--color", "never", env={"FORCE_COLOR": "1"}).stdout


@POSIX
def test_a_terminal_is_coloured_unless_no_color_is_set(tree, bug):
    root = tree({"a.py": bug})
    assert b"\x1b[1;31merror" in on_terminal(["check"], root, {"TERM": "xterm"})
    assert b"\x1b[" not in on_terminal(["check", "--no-progress"], root, {"TERM": "xterm", "NO_COLOR": "1"})
    assert b"\x1b[" not in on_terminal(["check", "--no-progress"], root, {"TERM": "dumb"})


def on_terminal(arguments: list[str], cwd: os.PathLike[str], env: dict[str, str]) -> bytes:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "racelint", *arguments]
    process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **env}, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65_536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(60) == 1
    return text


def test_a_file_is_coloured_only_if_it_is_asked_for(racelint, tree, bug):
    root = tree({"a.py": bug})
    racelint("check", "--output", "plain.txt", env={"FORCE_COLOR": "1"})
    racelint("check", "--output", "coloured.txt", "--color", "always")
    assert b"\x1b" not in (root / "plain.txt").read_bytes()
    assert b"\x1b" in (root / "coloured.txt").read_bytes()


def test_quiet_shows_findings_only_and_still_tells_what_could_not_be_read(racelint, tree, bug):
    tree({"a.py": f"{bug}    x = 1  # racelint: ignore[no-such-rule]\n", "bad.py": "def ("})
    loud, quiet = racelint("check"), racelint("check", "--quiet")
    assert "; 1 file not analysed;" in loud.stdout.splitlines()[-1]
    assert "no-such-rule" in loud.stderr
    assert quiet.returncode == 1
    assert quiet.stdout == "".join(loud.stdout.splitlines(keepends=True)[:-1])
    (line,) = quiet.stderr.splitlines()
    assert "bad.py:1" in line
    tree({"a.py": "", "bad.py": ""})
    clean = racelint("check", "-q")
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "")


def test_verbose_tells_on_standard_error_what_is_done(racelint, tree, bug):
    root = tree({"racelint.toml": 'fail-on = "error"\n', "a.py": bug, "b.py": "x = 1\n"})
    done = racelint("check", "--verbose", "--format", "json")
    json.loads(done.stdout)
    assert all(line.startswith("racelint: ") for line in done.stderr.splitlines())
    assert f"configuration: {root / 'racelint.toml'}" in done.stderr
    assert "2 files: 0 known from the cache, 2 to be read" in done.stderr
    assert "mutated-while-iterating " in done.stderr
    again = racelint("check", "-v").stderr
    assert "2 files: 2 known from the cache, 0 to be read" in again
    without = racelint("check", "-v", "--no-cache", "--config", root / "racelint.toml").stderr
    assert "cache: not used" in without
    assert re.search(r"reading them +\d+\.\d\d s\n", without)


def test_statistics_stand_in_for_findings(racelint, tree, bug):
    tree({"a.py": bug, "b.py": bug})
    done = racelint("check", "--statistics")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "     2  mutated-while-iterating  2 errors"
    assert done.stdout.splitlines()[-1].startswith("2 errors in 2 files")
    (row,) = json.loads(racelint("check", "--statistics", "--format", "json").stdout)["statistics"]
    assert (row["rule"], row["findings"], row["files"]) == ("mutated-while-iterating", 2, 2)


@pytest.mark.parametrize(
    ("shell", "marks"),
    [
        ("bash", ["_racelint_completion() {", "complete -o nosort -F _racelint_completion racelint"]),
        ("zsh", ["#compdef racelint", "_RACELINT_COMPLETE=zsh_complete"]),
        ("fish", ["complete --no-files --command racelint", "_RACELINT_COMPLETE=fish_complete"]),
    ],
)
def test_completion_prints_a_script(racelint, shell, marks):
    done = racelint("completion", shell)
    assert done.returncode == 0
    assert all(mark in done.stdout for mark in marks)


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "ch", ["check"]),
        (["check", "--select"], "mutated-w", ["mutated-while-iterating"]),
        (["check", "--select"], "bad-annotation,mutated-w", ["bad-annotation,mutated-while-iterating"]),
        (["explain"], "inconsistent", ["inconsistent-lock"]),
        (["check", "--format"], "git", ["github", "gitlab"]),
    ],
)
def test_completion_completes(words, incomplete, expected):
    completer = BashComplete(cli, {}, "racelint", "_RACELINT_COMPLETE")
    assert [item.value for item in completer.get_completions(words, incomplete)] == expected


def test_the_script_s_questions_are_answered(racelint):
    env = {"_RACELINT_COMPLETE": "bash_complete", "COMP_WORDS": "racelint ch", "COMP_CWORD": "1"}
    done = racelint(env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,check\n", "")


def test_bash_takes_the_script(racelint, tmp_path):
    (tmp_path / "script").write_text(racelint("completion", "bash").stdout, encoding="utf-8")
    try:
        done = subprocess.run(["bash", "-n", tmp_path / "script"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no bash here")
    assert (done.returncode, done.stderr) == (0, b"")


def with_stdin(text: str | bytes, arguments: list[str], cwd: os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    data = text if isinstance(text, bytes) else text.encode()
    command = [sys.executable, "-m", "racelint", "check", "--format", "json", *arguments]
    done = subprocess.run(command, cwd=cwd, input=data, capture_output=True, timeout=60, check=False)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def spots(done: subprocess.CompletedProcess[str]) -> list[tuple[str, int]]:
    return [(found["path"], found["line"]) for found in json.loads(done.stdout)["findings"]]


STORE = "class Store:\n    def __init__(self):\n        self.rows = {}\n"
WORKER = """\
import threading
from store import Store

class Worker:
    def __init__(self):
        self.store = Store()

    def start(self):
        threading.Thread(target=self._fill).start()
        threading.Thread(target=self._walk).start()

    def _fill(self):
        self.store.rows["a"] = 1

    def _walk(self):
        for row in self.store.rows:
            print(row)
"""


def test_the_text_of_a_file_comes_from_standard_input_the_rest_from_disk(tree, bug):
    root = tree({"pyproject.toml": "", "store.py": STORE, "worker.py": "x = 1\n", "other.py": bug})
    for arguments in (["--stdin-filename", "worker.py"], ["--stdin-filename", str(root / "worker.py"), "-"]):
        done = with_stdin(WORKER, arguments, root)
        assert (done.returncode, spots(done), done.stderr) == (1, [("worker.py", 16)], "")
    assert with_stdin("x = 2\n", ["--stdin-filename", "worker.py"], root).returncode == 0
    assert (root / "worker.py").read_text() == "x = 1\n"


def test_the_report_shows_the_line_that_the_editor_has_and_obeys_its_comments(racelint, tree, bug):
    root = tree({"a.py": "x = 1\n"})
    text = bug.replace("del sessions[name]", "del sessions[name]  # racelint: ignore[mutated-while-iterating] mine")
    assert with_stdin(text, ["--stdin-filename", "a.py"], root).returncode == 0
    command = [sys.executable, "-m", "racelint", "check", "--stdin-filename", "a.py"]
    done = subprocess.run(command, cwd=root, input=bug, capture_output=True, text=True, timeout=60, check=False)
    assert ">    3 |     del sessions[name]" in done.stdout


def test_a_file_that_is_not_there_yet(tree, bug):
    root = tree({"pyproject.toml": "", "b.py": bug})
    for name in ("new.py", "no/such/folder/new.py"):
        done = with_stdin(bug, ["--stdin-filename", name], root)
        assert (done.returncode, spots(done), done.stderr) == (1, [(name, 3)], "")
    (error,) = json.loads(with_stdin(b"def (", ["--stdin-filename", "new.py"], root).stdout)["errors"]
    assert (error["path"], error["kind"]) == ("new.py", "syntax-error")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "standard input needs --stdin-filename FILE"),
        (["--stdin-filename", "a.py", "b.py"], "no other path than it names, not b.py"),
        (["--stdin-filename", "."], "is a directory"),
    ],
)
def test_standard_input_needs_one_name(tree, arguments, message):
    done = with_stdin("", arguments, tree({"a.py": "", "b.py": ""}))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@POSIX
@pytest.mark.parametrize(
    "arguments",
    [["check", "--format", "json"], ["check"], ["rules"], ["explain", "inconsistent-lock"], ["check", "-h"]],
)
def test_a_closed_pipe_leaves_no_traceback(tree, bug, arguments):
    root = tree({f"a{number}.py": bug * 20 for number in range(10)})  # more than a pipe holds
    command = [sys.executable, "-m", "racelint", *arguments]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read().decode()
    assert process.wait(60) == (1 if arguments[0] == "check" else 0)
    assert errors == ""


@POSIX
def test_a_closed_standard_error_is_no_trouble(tree, bug):
    root = tree({"a.py": bug, "bad.py": "def ("})
    command = [sys.executable, "-m", "racelint", "check", "-v"]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stderr.close()
    assert b"mutated-while-iterating" in process.stdout.read()
    assert process.wait(60) == 1


@POSIX
def test_an_interrupt_of_code_made_from_text_is_told_by_the_status(tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "from racelint import cli\ncli.cli.main = lambda **_: exec('raise KeyboardInterrupt')\ncli.main()\n", "utf-8"
    )
    assert subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, check=False).returncode == 130


@POSIX
@pytest.mark.parametrize(
    ("said", "jobs"), [("analysing", "1"), ("to be read", "1"), ("to be read", "3"), ("reading them", "1")]
)
def test_an_interrupt_leaves_no_traceback_and_no_file(tree, bug, said, jobs):
    root = tree({f"a{number}.py": bug * 100 for number in range(24)})
    options = ["--verbose", "--no-cache", "--jobs", jobs, "--output", "report.txt"]
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "racelint", "check", *options],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # A suite that runs in the background ignores interrupts, and so would what it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert process.stderr is not None
        before = next(line for line in process.stderr if said.encode() in line)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the job
        out, errors = process.communicate(timeout=60)
        if b"Exception ignored in" not in errors:
            break
        (root / "report.txt").unlink()  # CPython drops an interrupt that comes in the callback of an import's lock
    assert (process.returncode, out) == (130, b""), (before, errors)
    assert b"Traceback" not in errors
    assert [path.name for path in root.iterdir() if path.suffix != ".py"] == []
    with pytest.raises(ProcessLookupError):  # no worker is left
        os.killpg(process.pid, 0)
