"""Third-party rule packs: installed, by path, broken, and named by a tree that nobody trusts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

LOUD = "def LOUD():\n    print()\n"


def test_an_installed_pack_runs_is_listed_and_explained(racelint, tree, pack, tmp_path):
    tree(
        {
            "plugin/pyproject.toml": """\
                [build-system]
                requires = ["hatchling"]
                build-backend = "hatchling.build"

                [project]
                name = "racelint-shouting"
                version = "1.2"

                [project.entry-points."racelint.rules"]
                shouting = "racelint_shouting"

                [tool.hatch.build.targets.wheel]
                packages = ["racelint_shouting"]
                """,
            "plugin/racelint_shouting/__init__.py": pack,
            "code/a.py": LOUD,
        }
    )
    build = "import sys, hatchling.build as build; print(build.build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)],
        cwd=tmp_path / "plugin",
        capture_output=True,
        text=True,
        check=True,
    )
    wheel, target = tmp_path / made.stdout.split()[-1], tmp_path / "site"
    install = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", *install, "--target", str(target), str(wheel)], check=True)
    env = {"PYTHONPATH": os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])])}

    done = racelint("check", "--format", "json", "code", env=env)
    assert [(found["rule"], found["line"]) for found in json.loads(done.stdout)["findings"]] == [
        ("shouting-function", 1)
    ]
    assert done.returncode == 1
    listed = racelint("rules", env=env).stdout
    assert "shouting-function" in listed
    assert "[pack shouting (racelint-shouting 1.2)]" in listed
    assert "Names in capitals are constants." in racelint("explain", "shouting-function", env=env).stdout


@pytest.mark.parametrize("place", ["shouting.py", "shouting/__init__.py"])
def test_a_pack_by_path(racelint, tree, pack, place):
    tree({place: pack, "code/a.py": LOUD})
    path = place.removesuffix("/__init__.py")
    assert racelint("check", "--pack", path, "code").returncode == 1
    assert "shouting-function" in racelint("rules", "--pack", path).stdout


def test_a_pack_of_several_modules_imports_its_own(racelint, tree, pack):
    tree({"shouting/__init__.py": "from shouting.rules import RULES\n", "shouting/rules.py": pack, "code/a.py": LOUD})
    assert racelint("check", "--pack", "shouting", "code").returncode == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name\n", "failed to import: ModuleNotFoundError"),
        ("raise SystemExit(0)\n", "failed to import: SystemExit"),
        ("x = (\n", "failed to import: SyntaxError"),
        ("RULE = ()\n", "has no RULES"),
        ("RULES = (print,)\n", "which is no Rule"),
        ("from racelint_rules import RULES\n", "is already in pack racelint_rules"),
    ],
)
def test_a_broken_pack_ends_the_run(racelint, tree, text, message):
    tree({"broken.py": text, "a.py": "", "code/a.py": ""})
    done = racelint("check", "--pack", "broken.py", "code")
    assert done.returncode == 2
    assert "broken" in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


CRASHES = '''
from racelint.api import rule

@rule()
def wild_guess(program):
    """Guesses."""
    %s

RULES = (wild_guess,)
'''


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / 0", "crashed: ZeroDivisionError"),
        ("yield 1 / 0", "crashed: ZeroDivisionError"),
        ("return None", "crashed: TypeError"),
        ("yield 'a finding'", "reported 'a finding', which is no finding"),
    ],
)
def test_a_rule_that_crashes_is_named_with_its_pack(racelint, tree, body, message):
    tree({"guessing.py": CRASHES % body, "code/a.py": ""})
    done = racelint("check", "--pack", "guessing.py", "code")
    assert done.returncode == 2
    assert f"rule wild-guess of pack guessing (by path) {message}" in done.stderr
    assert "Traceback" not in done.stderr
    said = racelint("check", "--verbose", "--pack", "guessing.py", "code").stderr
    assert ("Traceback" in said) is ("crashed" in message)


def test_a_rule_that_crashes_takes_nothing_from_the_others(racelint, tree, pack, tmp_path):
    unused = "x = 1  # racelint: ignore[wild-guess] -- as it is\n"
    tree({"guessing.py": CRASHES % "return 1 / 0", "shouting.py": pack, "code/a.py": LOUD, "code/b.py": unused})
    packs = ("--pack", "guessing.py", "--pack", "shouting.py")
    done = racelint("check", *packs, "--format", "json", "code")
    assert done.returncode == 2
    assert "wild-guess" in done.stderr
    assert [found["path"] for found in json.loads(done.stdout)["findings"]] == ["code/a.py"]
    for command in (("baseline", "--output", "known.json"), ("check", "--add-ignores", "known")):
        done = racelint(*command, *packs, "code")
        assert (done.returncode, "crashed" in done.stderr) == (2, True)
    assert not (tmp_path / "known.json").exists()


CONFIGURED = 'packs = ["shouting.py"]\n'


def test_a_discovered_configuration_loads_no_pack_unless_trusted(racelint, tree, pack, tmp_path):
    tree({"shouting.py": f"open('ran', 'w').close()\n{pack}", "racelint.toml": CONFIGURED, "code/a.py": LOUD})
    done = racelint("check", "code")
    assert done.returncode == 2
    assert "--trust-packs" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert racelint("check", "--trust-packs", "code").returncode == 1
    assert racelint("check", "--config", "racelint.toml", "code").returncode == 1


def test_the_users_own_settings_may_name_packs(racelint, tree, pack, tmp_path):
    import platformdirs

    if sys.platform != "linux":
        pytest.skip(f"settings lie in {platformdirs.user_config_dir()} here")
    tree(
        {
            "shouting.py": pack,
            "config/racelint/racelint.toml": f'packs = ["{tmp_path}/shouting.py"]\n',
            "code/a.py": LOUD,
        }
    )
    assert racelint("check", "code", env={"XDG_CONFIG_HOME": str(tmp_path / "config")}).returncode == 1


def test_knowledge_travels_with_a_pack(racelint, tree, pack):
    tree(
        {
            "shouting/__init__.py": pack
            + "\nfrom pathlib import Path\nKNOWLEDGE = (Path(__file__).parent / 'no.toml',)\n"
        }
    )
    done = racelint("check", "--pack", "shouting", "shouting")
    assert done.returncode == 2
    assert "no.toml" in done.stderr
