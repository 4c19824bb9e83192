"""Where rules come from: the built-in pack, installed packs (entry points) and packs named by path."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from racelint import comment_rules
from racelint.errors import RacelintError, suggestion
from racelint.rule import Rule

BUILTIN = "racelint_rules"
GROUP = "racelint.rules"


class PackError(RacelintError):
    """A rule pack that cannot be used. A missing rule is a missed bug, so the run does not go on without it."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Rules and library knowledge that come together; `distribution` is empty for a pack named by path."""

    name: str
    distribution: str
    rules: tuple[Rule, ...]
    knowledge: tuple[Path, ...] = ()

    @property
    def origin(self) -> str:
        """How messages name the pack."""
        return f"pack {self.name} ({self.distribution or 'by path'})"


def load(paths: Sequence[Path] = ()) -> tuple[Pack, ...]:
    """The built-in pack, the installed ones in the order of their names, then those at `paths`.

    Raises PackError for a pack that fails to import, holds no rules, or repeats the name of another's rule.
    """
    packs = (builtin(), *_installed(), *(_at(path) for path in dict.fromkeys(path.absolute() for path in paths)))
    _check_names(packs)
    return packs


def builtin() -> Pack:
    """The pack that racelint ships, loaded by name: it is there before anything is installed."""
    pack = _pack(BUILTIN, "racelint", importlib.import_module(BUILTIN))
    return replace(pack, rules=(*pack.rules, *comment_rules.RULES))


def choose(packs: Iterable[Pack], select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The selected rules (all if none is) without the ignored ones. Raises PackError for a name that no rule has."""
    rules = {rule.name: rule for pack in packs for rule in pack.rules}
    for name in (*select, *ignore):
        if name not in rules:
            raise PackError(f"unknown rule '{name}'{suggestion(name, list(rules))}")
    return tuple(rule for name, rule in rules.items() if (not select or name in select) and name not in ignore)


def _installed() -> Iterator[Pack]:
    from importlib.metadata import entry_points  # slow to import, and `--version` does not need it

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.value == BUILTIN:
            continue
        distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown distribution"
        try:
            module = entry.load()
        except (Exception, SystemExit) as error:
            raise PackError(f"pack {entry.name} ({distribution}) failed to import: {_describe(error)}") from error
        yield _pack(entry.name, distribution, module)


def _at(path: Path) -> Pack:
    file = path / "__init__.py" if path.is_dir() else path
    if not file.is_file():
        raise PackError(f"pack {path}: {'has no __init__.py' if path.is_dir() else 'no such file'}")
    name = path.stem if file is path else path.name
    if getattr(sys.modules.get(name), "__file__", str(file)) != str(file):
        raise PackError(f"pack {path}: another module named {name} is already loaded; rename the pack")
    try:
        return _pack(name, "", _import(name, file))
    except (Exception, SystemExit) as error:
        if isinstance(error, PackError):
            raise
        raise PackError(f"pack {path} failed to import: {_describe(error)}") from error


def _import(name: str, file: Path) -> ModuleType:
    """Import a file under a name, so that a pack's own modules can import each other by it."""
    search = [str(file.parent)] if file.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=search)
    if spec is None or spec.loader is None:
        raise PackError(f"pack {file}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _pack(name: str, distribution: str, module: object) -> Pack:
    rules = getattr(module, "RULES", None)
    origin = f"pack {name} ({distribution or 'by path'})"
    if not isinstance(rules, (tuple, list)):
        raise PackError(f"{origin} has no RULES: a pack is a module with RULES: tuple[Rule, ...]")
    for rule in rules:
        if not isinstance(rule, Rule):
            raise PackError(f"{origin}: RULES holds {rule!r}, which is no Rule; decorate the function with @rule()")
    return Pack(name, distribution, tuple(rules), tuple(Path(path) for path in getattr(module, "KNOWLEDGE", ())))


def _check_names(packs: Iterable[Pack]) -> None:
    owners: dict[str, Pack] = {}
    for pack in packs:
        for rule in pack.rules:
            if rule.name in owners:
                raise PackError(f"rule {rule.name} of {pack.origin} is already in {owners[rule.name].origin}")
            owners[rule.name] = pack


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
