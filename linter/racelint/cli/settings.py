"""The settings that commands share with `check`: its own options, and what they and the configuration come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from racelint.config import Settings
    from racelint.rule import Rule
    from racelint.run import Request

SETTINGS = (
    "select", "ignore", "min_severity", "min_confidence", "fail_on", "config", "packs", "trust_packs", "tests",
    "python_memory_model",
)  # fmt: skip
RUN = (*SETTINGS, "jobs", "no_cache", "quiet", "progress", "colour")


def take_options(command: click.Command, other: click.Command, names: tuple[str, ...]) -> None:
    """Give a command the options of another one that have these names."""
    command.params += [parameter for parameter in other.params if parameter.name in names]


def settings_of(paths: tuple[str, ...], options: Mapping[str, Any]) -> Settings:
    """The settings in force for `paths` with the options of `SETTINGS`."""
    from racelint.cli.check import _override, _with_memory_model
    from racelint.config import load

    settings = load(paths, options["config"], trust_packs=options["trust_packs"])
    names = ("select", "ignore", "min_severity", "min_confidence", "fail_on", "tests")
    return _with_memory_model(_override(settings, *[options[name] for name in names]), options["python_memory_model"])


def request_of(paths: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Request, tuple[Rule, ...]]:
    """A run with the options of `RUN`, and the rules to ask."""
    from racelint import cache, plugins, run

    settings = settings_of(paths, options)
    loaded = plugins.load((*settings.packs, *options["packs"]))
    rules = plugins.choose(loaded, settings.select, settings.ignore)
    kept = None if options["no_cache"] else cache.Cache(cache.default_directory())
    return run.Request(paths, loaded, settings, options["jobs"], kept), rules
