"""What the configuration says of rules: which run, where they do not count, how severe their findings are."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from racelint.config import ConfigError, PerFile, Settings
from racelint.errors import suggestion
from racelint.finding import Finding, Severity
from racelint.plugins import Pack
from racelint.rule import Rule

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def rules_of(settings: Settings, packs: Iterable[Pack]) -> tuple[Rule, ...]:
    """The rules to run: the selected ones (all if none is) without those that are ignored or off.

    What the configuration leaves out runs all the same if the command line selects it. Raises ConfigError for a name
    that no rule has.
    """
    rules = {rule.name: rule for pack in packs for rule in pack.rules}
    for name, where in _named(settings):
        if name not in rules:
            raise ConfigError(f"{where}: unknown rule '{name}'{suggestion(name, list(rules))}")
    left_out = {*settings.ignore, *(name for name, severity in settings.severity.items() if severity is None)}
    said = next((layer.values for layer in settings.layers if layer.origin.kind == "command line"), {})
    if said.get("select"):  # whoever asks for a rule there gets it, whatever the files leave out
        left_out = set(said.get("ignore", ()))
    chosen = settings.select or rules
    return tuple(rule for name, rule in rules.items() if name in chosen and name not in left_out)


def _named(settings: Settings) -> Iterator[tuple[str, str]]:
    """All names of rules in the configuration, each with where it stands."""
    for layer in settings.layers:
        values = layer.values
        for key in ("select", "ignore", "severity"):
            yield from ((name, layer.origin.names(key)) for name in values.get(key, ()))
        for item in values.get("per_file_ignores", ()):
            yield from ((name, layer.origin.names(f"per-file-ignores.{item.pattern!r}")) for name in item.rules)


class Policy:
    """Applies what the configuration says to findings."""

    def __init__(self, settings: Settings) -> None:
        self._severity = settings.severity
        self._per_file = settings.per_file_ignores
        self._ignored: dict[str, frozenset[str]] = {}

    def ignored_in(self, path: str) -> frozenset[str]:
        """The rules that do not count in a file."""
        if path not in self._ignored:
            self._ignored[path] = frozenset(
                name for item in self._per_file if _matches(item, path) for name in item.rules
            )
        return self._ignored[path]

    def ignores(self, finding: Finding) -> bool:
        """Whether a finding stands where its rule does not count."""
        return finding.rule in self.ignored_in(finding.location.path)

    def judged(self, finding: Finding) -> Finding:
        """A finding as severe as its rule is set to be; what is a note stays one: it is harmless as far as known."""
        severity = self._severity.get(finding.rule)
        if severity is None or finding.severity is Severity.NOTE:
            return finding
        return replace(finding, severity=severity)


def _matches(item: PerFile, path: str) -> bool:
    base = item.base.rstrip("/") + "/"
    return path.startswith(base) and _spec(item.pattern).match_file(path[len(base) :])


@functools.cache
def _spec(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])
