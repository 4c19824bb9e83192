"""The settings of a command: the options that say them, over what the configuration says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from racelint.config import Layer, Settings
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
    """The settings in force for `paths`: what is said by the options of `SETTINGS`, by files, by default."""
    from racelint.config import load

    return load(paths, options["config"], trust_packs=options["trust_packs"], above=[_said(options)])


def request_of(paths: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Request, tuple[Rule, ...]]:
    """A run with the options of `RUN`, and the rules to ask."""
    from racelint import cache, plugins, run
    from racelint.policy import rules_of

    settings = settings_of(paths, options)
    loaded = plugins.load(settings.packs)
    kept = None if options["no_cache"] else cache.Cache(cache.default_directory())
    return run.Request(paths, loaded, settings, options["jobs"], kept), rules_of(settings, loaded)


def _said(options: Mapping[str, Any]) -> Layer:
    """What the command line says; --ignore and --pack add to what is configured, the rest replaces it."""
    from racelint.config import (
        Layer,
        Origin,
        parse_confidence,
        parse_fail_on,
        parse_memory_model,
        parse_severity,
    )

    parse: dict[str, Callable[[Any], object]] = {
        "select": _names, "ignore": _names, "packs": tuple, "tests": bool, "min_severity": parse_severity,
        "min_confidence": parse_confidence, "fail_on": parse_fail_on, "python_memory_model": parse_memory_model,
        "baseline": lambda path: path,
    }  # fmt: skip
    values = {key: convert(options[key]) for key, convert in parse.items() if options.get(key)}
    return Layer(Origin("command line"), values)


def _names(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for value in values for part in value.split(",") if (name := part.strip()))
