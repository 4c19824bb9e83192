"""Settings: the analysed project's, an explicit file's and the user's own; a key nobody knows is an error."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from racelint.errors import RacelintError, suggestion
from racelint.finding import Confidence, Severity
from racelint.knowledge import MemoryModel

ADDED = ("packs", "knowledge", "exclude", "per_file_ignores", "severity")  # one file's come beside another one's
PROJECT_FILES = ("racelint.toml", "pyproject.toml")  # the first one in a directory wins


class ConfigError(RacelintError):
    """A configuration that cannot be used."""


class Exclude(NamedTuple):
    """Paths left out: patterns as in a .gitignore that stands in the directory `base`."""

    base: str
    patterns: tuple[str, ...]


class PerFile(NamedTuple):
    """Rules that do not count in the files of a pattern, as in a .gitignore that stands in the directory `base`."""

    base: str
    pattern: str
    rules: tuple[str, ...]


class Origin(NamedTuple):
    """Where values come from: "user", "project", "--config" or "command line"; `table` is where in the file."""

    kind: str
    file: Path | None = None
    table: str = ""

    def names(self, key: str) -> str:
        """How messages name a key of these values."""
        return f"{self.file}: {self.table}{key}" if self.file else f"--{key}"


class Layer(NamedTuple):
    """The values of one origin, checked and converted, by attribute name of `Settings`."""

    origin: Origin
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a configuration may say; an empty `select` means every rule, `fail_on` None means never.

    A rule whose `severity` is None is off. `layers` are what the settings were made of, the first one overridden by
    those after it.
    """

    exclude: tuple[Exclude, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_severity: Severity = Severity.WARNING
    min_confidence: Confidence = Confidence.MEDIUM
    fail_on: Severity | None = Severity.WARNING
    packs: tuple[Path, ...] = ()
    knowledge: tuple[Path, ...] = ()
    tests: bool = False
    require_reason: bool = False
    baseline: Path | None = None
    per_file_ignores: tuple[PerFile, ...] = ()
    severity: Mapping[str, Severity | None] = field(default_factory=dict)
    layers: tuple[Layer, ...] = field(default=(), compare=False, repr=False)
    python_memory_model: MemoryModel = MemoryModel.GIL


def load(
    paths: Sequence[str], explicit: Path | None = None, *, trust_packs: bool = False, above: Sequence[Layer] = ()
) -> Settings:
    """Settings for analysing `paths`: the user's own, overridden by `explicit` or else by the project's file.

    `above` lies over them all. Raises ConfigError, also when a configuration that was only found in the analysed tree
    asks for rule packs: loading them would run the tree's code.
    """
    layers = [_read(own, "user")] if (own := user_file()).is_file() else []
    found = explicit or find(paths)
    if found:
        project = _read(found, "--config" if explicit else "project")
        if project.values.get("packs") and not explicit and not trust_packs:
            raise ConfigError(
                f"{found}: 'packs' would run code of the analysed tree; "
                "pass --trust-packs if you trust it, or name the packs with --pack or --config"
            )
        layers.append(project)
    return _merge([*layers, *above])


def find(paths: Sequence[str]) -> Path | None:
    """The configuration that governs `paths`: the nearest one above all of them, not beyond the repository's root."""
    top = Path(os.path.commonpath([os.path.abspath(path) for path in paths or ["."]]))
    for directory in (top, *top.parents):
        for name in PROJECT_FILES:
            file = directory / name
            if file.is_file() and (name == "racelint.toml" or "racelint" in _tools(file)):
                return file
        if (directory / ".git").exists():
            break
    return None


def user_file() -> Path:
    """Where the user's own settings stand (the file need not exist)."""
    import platformdirs

    return Path(platformdirs.user_config_dir("racelint")) / "racelint.toml"


def _tools(file: Path) -> dict[str, Any]:
    tools = _parse(file).get("tool", {})
    return tools if isinstance(tools, dict) else {}


def _parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: is not valid TOML: {error}") from error


def _read(file: Path, kind: str) -> Layer:
    """The settings in a file."""
    in_pyproject = file.name == "pyproject.toml"
    raw = _tools(file).get("racelint", {}) if in_pyproject else _parse(file)
    if not isinstance(raw, dict):
        raise ConfigError(f"{file}: 'racelint' must be a table")
    values: dict[str, Any] = {}
    for key, value in raw.items():
        convert = KEYS.get(key)
        if convert is None:
            raise ConfigError(f"{file}: unknown key '{key}'{suggestion(key, list(KEYS))}")
        try:
            values[key.replace("-", "_")] = convert(value, file)
        except ValueError as error:
            raise ConfigError(f"{file}: '{key}' {error}") from None
    return Layer(Origin(kind, file, "tool.racelint." if in_pyproject else ""), values)


def adds_up(layer: Layer, key: str) -> bool:
    """Whether a layer's value comes beside those of the layers below it, instead of in their place."""
    return key in ADDED or (key == "ignore" and layer.origin.kind == "command line")


def _merge(layers: Sequence[Layer]) -> Settings:
    """Later layers override earlier ones, except for what adds up."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.values.items():
            below = merged.get(key) if adds_up(layer, key) else None
            merged[key] = value if not below else {**below, **value} if isinstance(value, dict) else (*below, *value)
    return Settings(**merged, layers=tuple(layers))


def _strings(value: object, file: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of strings")
    return tuple(value)


def _paths(value: object, file: Path) -> tuple[Path, ...]:
    return tuple(file.parent / item for item in _strings(value, file))


def _path(value: object, file: Path) -> Path:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a path")
    return file.parent / value


def _exclude(value: object, file: Path) -> tuple[Exclude, ...]:
    return (Exclude(_base(file), _strings(value, file)),)


def _per_file(value: object, file: Path) -> tuple[PerFile, ...]:
    base = _base(file)
    if not isinstance(value, dict):
        raise ValueError('must be a table of patterns, as in "legacy/" = ["unlocked-shared-write"]')
    return tuple(PerFile(base, pattern, _strings(rules, file)) for pattern, rules in value.items())


def _severities(value: object, file: Path) -> dict[str, Severity | None]:
    if not isinstance(value, dict):
        raise ValueError('must be a table of rules, as in unlocked-shared-write = "error"')
    return {rule: parse_rule_severity(level) for rule, level in value.items()}


def _base(file: Path) -> str:
    # The user's own patterns belong to no project: they apply from the root of the file system.
    base = Path(file.anchor) if file == user_file() else file.parent
    return base.absolute().as_posix()


def _flag(value: object, file: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def parse_severity(value: object) -> Severity:
    """A severity by its label. Raises ValueError."""
    for severity in Severity:
        if severity.label == value:
            return severity
    raise ValueError(f"must be one of {', '.join(severity.label for severity in Severity)}")


def parse_rule_severity(value: object) -> Severity | None:
    """A severity by its label, or None for "off". Raises ValueError."""
    try:
        return None if value == "off" else parse_severity(value)
    except ValueError as error:
        raise ValueError(f"{error} or off, not {value!r}") from None


def parse_confidence(value: object) -> Confidence:
    """A confidence by its label. Raises ValueError."""
    for confidence in Confidence:
        if confidence.label == value:
            return confidence
    raise ValueError(f"must be one of {', '.join(confidence.label for confidence in Confidence)}")


def parse_fail_on(value: object) -> Severity | None:
    """A severity by its label, or None for "never". Raises ValueError."""
    return None if value == "never" else parse_severity(value)


def parse_memory_model(value: object) -> MemoryModel:
    """A memory model by its name. Raises ValueError."""
    for model in MemoryModel:
        if model.value == value:
            return model
    raise ValueError(f"must be one of {', '.join(model.value for model in MemoryModel)}")


KEYS: dict[str, Callable[[Any, Path], object]] = {
    "exclude": _exclude,
    "select": _strings,
    "ignore": _strings,
    "min-severity": lambda value, file: parse_severity(value),
    "min-confidence": lambda value, file: parse_confidence(value),
    "fail-on": lambda value, file: parse_fail_on(value),
    "packs": _paths,
    "knowledge": _paths,
    "tests": _flag,
    "require-reason": _flag,
    "baseline": _path,
    "per-file-ignores": _per_file,
    "severity": _severities,
    "python-memory-model": lambda value, file: parse_memory_model(value),
}
