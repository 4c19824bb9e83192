"""Packs: which rules there are, and which of them run. (Loading is tested with the command line.)"""

from __future__ import annotations

import pytest

from racelint.plugins import Pack, PackError, _check_names, builtin, choose
from racelint.rule import Rule


def named(name: str) -> Rule:
    return Rule(name, ("python",), "0.1", f"The rule {name}.", lambda program: ())


PACKS = (Pack("one", "one 1.0", (named("a-rule"), named("b-rule"))), Pack("two", "", (named("c-rule"),)))


def names(*arguments: object) -> list[str]:
    return [rule.name for rule in choose(PACKS, *arguments)]


def test_choosing():
    assert names() == ["a-rule", "b-rule", "c-rule"]
    assert names(["c-rule", "a-rule"]) == ["a-rule", "c-rule"]
    assert names([], ["b-rule"]) == ["a-rule", "c-rule"]
    assert names(["a-rule"], ["a-rule"]) == []


def test_a_name_that_no_rule_has():
    with pytest.raises(PackError, match="unknown rule 'a-rul'; did you mean a-rule"):
        choose(PACKS, ["a-rul"])
    with pytest.raises(PackError, match=r"unknown rule 'zzz'$"):
        choose(PACKS, [], ["zzz"])


def test_two_packs_with_one_name():
    with pytest.raises(PackError, match=r"rule a-rule of pack three \(by path\) is already in pack one \(one 1.0\)"):
        _check_names((*PACKS, Pack("three", "", (named("a-rule"),))))


def test_the_builtin_pack_needs_no_installation():
    assert builtin().distribution == "racelint"
    assert builtin().rules
