"""Input that is no program: told, and the rest is analysed all the same."""

from __future__ import annotations

import json
import os

import pytest

from racelint import extract, texts
from racelint.cli import cli


def check(racelint, *arguments):
    done = racelint("check", "--format", "json", *arguments)
    assert "Traceback" not in done.stderr
    return done, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"def broken(:\n", "syntax-error"),
        (b"print 'Python 2'\n", "syntax-error"),
        (b"x = '\xff\xfe'\n", "encoding-error"),
        (b"# coding: no-such-codec\n", "encoding-error"),
        (b"x = 1\0\n", "syntax-error"),
        (b"x = " + b"(" * 5_000 + b")" * 5_000 + b"\n", None),
        (b"x = " + b"[" * 150 + b"]" * 150 + b"\n", None),
        (b"x = " + b"-" * 5_000 + b"1\n", None),
        (b"x = " + b"a." * 5_000 + b"b\n", None),
        (b"x = " + b"1 + " * 5_000 + b"1\n", None),
        (b"x = " + b"f(" * 90 + b")" * 90 + b"\n", None),
        (b"".join(b" " * depth + b"if x:\n" for depth in range(99)) + b" " * 99 + b"pass\n", None),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_file_that_is_no_program_is_told_and_the_rest_analysed(racelint, tmp_path, bug, data, kind):
    (tmp_path / "bad.py").write_bytes(data)
    (tmp_path / "good.py").write_text(bug)
    done, report = check(racelint)
    assert done.returncode == 1
    assert [found["path"] for found in report["findings"]] == ["good.py"]
    kinds = [(error["path"], error["kind"]) for error in report["errors"]]
    if kind is None:  # whether this depth can be read depends on Python's version
        assert kinds in ([], [("bad.py", "too-deep")], [("bad.py", "syntax-error")])
    else:
        assert kinds == [("bad.py", kind)]
        assert f"bad.py:{report['errors'][0]['line']}" in done.stderr or "bad.py: " in done.stderr


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"func f( {", "syntax-error"),
        (b"x := 1", "syntax-error"),
        (b"func f() { x := \xff }", "syntax-error"),
        (b"func f() { x = " + b"(" * 9_000 + b"1" + b")" * 9_000 + b" }", "too-deep"),
        (b"func f() { " + b"if x { " * 4_000 + b"}" * 4_000 + b" }", "too-deep"),
        (b"func f() { x = " + b"1 + " * 9_000 + b"1 }", None),
        (b"func f() { x = y" + b".a" * 500 + b" }", None),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_go_file_that_is_no_program_is_told_and_the_rest_analysed(racelint, tmp_path, bug, body, kind):
    (tmp_path / "bad.go").write_bytes(b"package m\n\n" + body + b"\n")
    (tmp_path / "good.go").write_text("package m\n\nfunc g() {}\n")
    (tmp_path / "good.py").write_text(bug)
    done, report = check(racelint)
    assert done.returncode == 1
    assert [found["path"] for found in report["findings"]] == ["good.py"]
    assert [(e["path"], e["kind"]) for e in report["errors"]] == ([("bad.go", kind)] if kind else [])
    assert report["summary"]["files"] == (2 if kind else 3)


def test_a_bad_file_alone_is_no_finding(racelint, tmp_path):
    (tmp_path / "bad.py").write_bytes(b"(")
    done, report = check(racelint, "bad.py")
    assert done.returncode == 0
    assert [error["kind"] for error in report["errors"]] == ["syntax-error"]


def test_an_empty_file_and_an_empty_tree(racelint, tmp_path):
    assert check(racelint)[1]["summary"]["files"] == 0
    (tmp_path / "empty.py").write_bytes(b"")
    done, report = check(racelint)
    assert (done.returncode, report["summary"]["files"], report["summary"]["lines"], report["errors"]) == (0, 1, 0, [])


def test_twenty_thousand_lines(racelint, tmp_path):
    body = "".join(f"def f{n}(d):\n    for k in d:\n        d.pop(k)\n    return {n}\n" for n in range(5_000))
    (tmp_path / "long.py").write_text(body)
    done, report = check(racelint, "--no-cache")
    assert (done.returncode in (0, 1), report["summary"]["lines"], report["errors"]) == (True, 20_000, [])


def test_a_file_beyond_the_limit_is_told(racelint, tmp_path):
    (tmp_path / "huge.py").write_bytes(b"x = 1\n" * (extract.MAX_FILE // 6 + 1))
    done, report = check(racelint)
    assert done.returncode == 0
    assert [error["kind"] for error in report["errors"]] == ["too-large"]


def test_loops_of_links(racelint, tmp_path, bug):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text(bug)
    (tmp_path / "pkg" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    done, report = check(racelint)
    assert done.returncode == 1
    assert [found["path"] for found in report["findings"]] == ["pkg/a.py"]
    assert [(error["path"], error["kind"]) for error in report["errors"]] == [("self.py", "unreadable")]


def test_a_directory_named_like_a_file(racelint, tmp_path, bug):
    (tmp_path / "x.py").mkdir()
    (tmp_path / "x.py" / "inside.py").write_text(bug)
    for arguments in ([], ["x.py"]):
        _, report = check(racelint, *arguments)
        assert [found["path"] for found in report["findings"]] == ["x.py/inside.py"]
        assert report["errors"] == []


def test_a_pipe_named_like_a_file_does_not_block(racelint, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    assert check(racelint)[0].returncode == 0
    done, report = check(racelint, "pipe.py")
    assert (done.returncode, [error["kind"] for error in report["errors"]]) == (0, ["unreadable"])


def test_a_file_name_that_is_no_text(racelint, tmp_path, bug):
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text(bug)
    done, report = check(racelint)
    assert done.returncode == 1
    assert len(report["findings"]) == 1
    assert racelint("check").returncode == 1


def test_a_suffix_that_nobody_reads(racelint, tmp_path, bug):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "script").write_text("#!/usr/bin/env python3\n" + bug)
    done, report = check(racelint, "notes.txt", "script")
    assert done.returncode == 1
    assert [found["path"] for found in report["findings"]] == ["script"]
    assert [(error["path"], error["kind"]) for error in report["errors"]] == [("notes.txt", "unsupported")]


def test_an_unreadable_file_is_told(tmp_path, bug, monkeypatch, capsys):
    (tmp_path / "locked.py").write_text("x = 1\n")
    (tmp_path / "good.py").write_text(bug)
    reading = open

    def refuse(path, *arguments, **keywords):
        if str(path).endswith("locked.py"):
            raise PermissionError(13, "Permission denied")
        return reading(path, *arguments, **keywords)

    monkeypatch.setattr(texts, "open", refuse, raising=False)  # a superuser may read any file
    monkeypatch.chdir(tmp_path)
    status = cli.main(["check", "--format", "json"], standalone_mode=False)
    report = json.loads(capsys.readouterr().out)
    assert status == 1
    assert [(error["path"], error["kind"]) for error in report["errors"]] == [("locked.py", "unreadable")]
    assert [found["path"] for found in report["findings"]] == ["good.py"]


def test_a_front_end_that_fails_costs_one_file(tmp_path, bug, monkeypatch, capsys):
    from racelint.languages.python import Python

    (tmp_path / "cursed.py").write_text("x = 1\n")
    (tmp_path / "good.py").write_text(bug)
    lower = Python.extract

    def fail(self, data):
        if data == b"x = 1\n":
            raise ZeroDivisionError("oops")
        return lower(self, data)

    monkeypatch.setattr(Python, "extract", fail)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "--format", "json", "--no-cache"], standalone_mode=False) == 1
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert (error["path"], error["kind"]) == ("cursed.py", "internal-error")
    assert "ZeroDivisionError: oops" in error["message"]


@pytest.mark.skipif(os.name == "nt", reason="file names have no colons there")
def test_a_colon_in_a_file_name_is_no_matter(racelint, tmp_path, bug):
    (tmp_path / "a:b.py").write_text(bug)
    done, report = check(racelint, str(tmp_path))
    assert done.returncode == 1
    assert [finding["path"].rpartition("/")[2] for finding in report["findings"]] == ["a:b.py"]


def test_methods_of_a_type_whose_declaration_is_not_there(racelint, tree):
    tree(
        {
            "go.mod": "module example.com/p\n\ngo 1.22\n",
            "p.go": """\
package p

import "sync"

type known struct {
	missing
	mu sync.Mutex
}

func (t *missing) put(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries[key] = make(map[string]int)
}

func (t *missing) walk() {
	for key := range t.entries {
		delete(t.entries, key)
	}
}

func Start(t *missing, k *known) {
	go t.put("a")
	go t.walk()
	go k.put("b")
}
""",
            "broken.go": "package p\n\ntype missing struct {\n",
        }
    )
    done, report = check(racelint, ".")
    assert done.returncode in (0, 1)
    assert [(error["path"], error["kind"]) for error in report["errors"]] == [("broken.go", "syntax-error")]
