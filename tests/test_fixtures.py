"""Every program under tests/fixtures, against what its comments say."""

from pathlib import Path

import pytest

from racelint.testing import check_fixture, programs

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize("program", programs(FIXTURES), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_fixture(program: Path) -> None:
    check_fixture(program)


def test_there_are_fixtures() -> None:
    assert programs(FIXTURES)
