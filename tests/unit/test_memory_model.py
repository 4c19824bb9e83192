"""What runs in one step under the GIL, and in many without it."""

import textwrap

import pytest
from click.testing import CliRunner

from racelint.cli import cli
from racelint.config import ConfigError, Settings, load
from racelint.knowledge import MemoryModel
from racelint.plugins import BUILTIN
from racelint.plugins import load as load_packs
from racelint.run import Request, check

PROGRAM = """
    import threading

    class Table:
        def __init__(self):
            self.rows = {{}}
            self.count = 0
            threading.Thread(target=self.fill).start()
            threading.Thread(target=self.fill_more).start()

        def fill(self):
            while True:
                {write}

        def fill_more(self):
            while True:
                {other}

        def read(self):
            {read}
"""


def found(tmp_path, model, read="pass", write="self.rows[object()] = 1", other="pass"):
    (tmp_path / "table.py").write_text(textwrap.dedent(PROGRAM.format(read=read, write=write, other=other)))
    packs = load_packs(())
    rules = [rule for pack in packs if pack.name == BUILTIN for rule in pack.rules]
    settings = Settings(python_memory_model=model)
    report = check(Request((str(tmp_path),), packs, settings), rules)
    return [(finding.rule, finding.severity.label, finding.symbol) for finding in report.findings]


@pytest.mark.parametrize("read", ["return sum(self.rows)", "return tuple(self.rows)", "return max(self.rows.values())"])
def test_what_is_written_in_c_walks_a_container_in_one_step_only_under_the_gil(tmp_path, read):
    assert found(tmp_path, MemoryModel.GIL, read) == []
    error = [("unlocked-shared-write", "error", "Table.rows")]
    assert found(tmp_path, MemoryModel.FREE_THREADED, read) == error


@pytest.mark.parametrize(
    "read", ["return list(self.rows)", "return dict(self.rows)", "return sorted(self.rows)", "return self.rows.copy()"]
)
@pytest.mark.parametrize("model", MemoryModel)
def test_what_locks_the_container_is_one_step_always(tmp_path, model, read):
    assert found(tmp_path, model, read) == []


@pytest.mark.parametrize(("model", "severity"), [(MemoryModel.GIL, "warning"), (MemoryModel.FREE_THREADED, "error")])
def test_a_loop_is_told_always(tmp_path, model, severity):
    read = "return [print(row) for row in self.rows]"
    assert found(tmp_path, model, read) == [("unlocked-shared-write", severity, "Table.rows")]


def test_updates_overlap_more_often_without_the_gil(tmp_path):
    changes = {"write": "self.count += size()", "other": "self.count += size()"}
    shown = [severity for _, severity, _ in found(tmp_path, MemoryModel.GIL, "return self.count", **changes)]
    raised = [severity for _, severity, _ in found(tmp_path, MemoryModel.FREE_THREADED, "return self.count", **changes)]
    assert (shown, raised) == (["warning"], ["error"])


def test_the_configuration_names_the_model(tmp_path):
    (tmp_path / "racelint.toml").write_text('python-memory-model = "free-threaded"\n')
    assert load((str(tmp_path),)).python_memory_model is MemoryModel.FREE_THREADED


def test_an_unknown_model_is_an_error(tmp_path):
    (tmp_path / "racelint.toml").write_text('python-memory-model = "nogil"\n')
    with pytest.raises(ConfigError, match="must be one of gil, free-threaded"):
        load((str(tmp_path),))


@pytest.mark.parametrize(("model", "status"), [("gil", 0), ("free-threaded", 1)])
def test_the_command_line_overrides_the_configuration(tmp_path, model, status):
    text = PROGRAM.format(read="return sum(self.rows)", write="self.rows[object()] = 1", other="pass")
    (tmp_path / "table.py").write_text(textwrap.dedent(text))
    (tmp_path / "racelint.toml").write_text('python-memory-model = "free-threaded"\n')
    arguments = ["check", "-q", "--no-cache", "--python-memory-model", model, str(tmp_path)]
    assert CliRunner().invoke(cli, arguments, standalone_mode=False).return_value == status
