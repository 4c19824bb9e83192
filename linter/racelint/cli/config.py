"""`racelint config`: what is in force and where each value comes from; the schema of the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from racelint.cli.check import check
from racelint.cli.settings import SETTINGS, settings_of, take_options
from racelint.cli.streams import print_

if TYPE_CHECKING:
    from racelint.config import Origin, Settings

DEFAULT = "default"
TABLES = ("per-file-ignores", "severity")
MEANING = {"select": "all rules", "severity": "as the rules have it"}  # what an empty value says


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True))
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--schema", is_flag=True, help="Print the JSON schema of racelint.toml instead.")
def config(paths: tuple[str, ...], format_: str, schema: bool, **options: Any) -> int:
    """Show the settings in force for what is analysed (default: this directory), and where each value comes from.

    The text is a racelint.toml that says the same. Exit status: 0, 2 the configuration cannot be used.
    """
    if schema:
        from importlib.resources import files

        print_(files("racelint").joinpath("config.schema.json").read_text("utf-8").rstrip("\n"))
        return 0
    from racelint import plugins
    from racelint.policy import rules_of

    settings = settings_of(paths or (".",), options)
    rules_of(settings, plugins.load(settings.packs))  # names that no rule has end it here
    if format_ == "json":
        print_(json.dumps({key: _as_json(key, parts) for key, parts in _in_force(settings)}, indent=2))
    else:
        print_("\n".join(_toml(list(_in_force(settings)))))
    return 0


class _Part(NamedTuple):
    """A value, or a part of one, in the words of a configuration, and where it comes from: None by default."""

    value: Any
    origin: Origin | None


def _in_force(settings: Settings) -> Iterator[tuple[str, list[_Part]]]:
    """Each key with the parts of its value."""
    from racelint.config import KEYS, Settings, adds_up

    for key in KEYS:
        name = key.replace("-", "_")
        parts: list[_Part] = []
        for layer in settings.layers:
            if name in layer.values:
                below = parts if adds_up(layer, name) else []
                value = _plain(key, layer.values[name])
                parts = [*(_without(part, value) for part in below), _Part(value, layer.origin)]
        yield key, parts or [_Part(_plain(key, getattr(Settings(), name)), None)]


def _without(part: _Part, value: object) -> _Part:
    """A part of a table without what a later one says otherwise."""
    if not isinstance(value, dict) or not isinstance(part.value, dict):
        return part
    return part._replace(value={name: each for name, each in part.value.items() if name not in value})


def _plain(key: str, value: Any) -> Any:
    """A setting as a configuration would say it, paths as seen from here."""
    match key:
        case "exclude":
            return [pattern for item in value for pattern in item.patterns]
        case "per-file-ignores":
            return {item.pattern: list(item.rules) for item in value}
        case "severity":
            return {rule: severity.label if severity else "off" for rule, severity in value.items()}
        case "min-severity" | "min-confidence":
            return value.label
        case "fail-on":
            return value.label if value else "never"
        case "python-memory-model":
            return value.value
        case "packs" | "knowledge":
            return [_near(path) for path in value]
        case "baseline":
            return _near(value) if value else None
        case _:
            return list(value) if isinstance(value, tuple) else value


def _near(path: Path) -> str:
    """A path as seen from the working directory, if it lies below."""
    absolute = path.absolute()
    return (absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else absolute).as_posix()


def _whole(parts: list[_Part]) -> Any:
    value = parts[0].value
    for part in parts[1:]:
        value = {**value, **part.value} if isinstance(value, dict) else [*value, *part.value]
    return value


def _as_json(key: str, parts: list[_Part]) -> dict[str, Any]:
    return {"value": _whole(parts), "from": [_source(key, part) for part in parts]}


def _source(key: str, part: _Part) -> dict[str, Any]:
    origin = part.origin
    return {
        "value": part.value,
        "origin": origin.kind if origin else DEFAULT,
        "file": _near(origin.file) if origin and origin.file else None,
        "key": f"{origin.table}{key}" if origin and origin.file else None,
    }


def _said(key: str, part: _Part) -> str:
    """Where a part comes from, in a comment."""
    if part.origin is None:
        meaning = MEANING.get(key)
        return f"# {DEFAULT}{f': {meaning}' if meaning else ''}"
    if part.origin.file is None:
        return f"# {part.origin.kind}"
    return f"# {part.origin.kind}: {_near(part.origin.file)}: {part.origin.table}{key}"


def _toml(settings: list[tuple[str, list[_Part]]]) -> Iterator[str]:
    for key, parts in settings:
        if key not in TABLES:
            yield from _line(key, parts)
    for key, parts in settings:
        if key in TABLES:
            yield from ("", f"[{key}]{f'  {_said(key, parts[0])}' if parts[0].origin is None else ''}")
            for part in parts:
                for name, value in part.value.items():
                    yield f"{json.dumps(name)} = {json.dumps(value)}  {_said(key, part)}"


def _line(key: str, parts: list[_Part]) -> Iterator[str]:
    if len(parts) > 1:
        yield f"{key} = ["
        for part in parts:
            yield from (f"    {json.dumps(item)},  {_said(key, part)}" for item in part.value)
        yield "]"
    elif parts[0].value is None:
        yield f"# {key} is not set"
    else:
        yield f"{key} = {json.dumps(parts[0].value)}  {_said(key, parts[0])}"


take_options(config, check, (*SETTINGS, "baseline"))
