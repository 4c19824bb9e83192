"""`racelint rules` and `racelint explain`: what rules there are, and what the analysis believes at a line."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from racelint.cli.completion import rule_names
from racelint.cli.options import DIRECTORY, FILE, FOUND, PACKS
from racelint.cli.streams import print_, tell, write_out
from racelint.errors import RacelintError

if TYPE_CHECKING:
    from racelint.plugins import Pack
    from racelint.rule import Rule

FORMATS = ("text", "json")


@click.command()
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@PACKS
def rules(format_: str, packs: tuple[Path, ...]) -> int:
    """List the rules, the installed packs' included."""
    from racelint import plugins

    loaded = plugins.load(packs)
    listed = [(rule, pack) for pack in loaded for rule in pack.rules]
    if format_ == "json":
        import json

        print_(json.dumps([_as_json(rule, pack) for rule, pack in listed], indent=2))
        return 0
    width = max((len(rule.name) for rule, _ in listed), default=0)
    for rule, pack in listed:
        origin = "" if pack.name == plugins.BUILTIN else f"  [{pack.origin}]"
        print_(f"{rule.name:<{width}}  {rule.summary}{origin}")
    return 0


@click.command()
@click.argument("target", metavar="RULE|FILE:LINE", shell_complete=rule_names)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--root", type=DIRECTORY, help="Analyse FILE with this directory [its project].")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--config", type=FILE, help="Use this file instead of searching for one.")
@PACKS
@click.option("--trust-packs", is_flag=True, help="Load packs that the analysed tree's configuration names.")
def explain(
    target: str, format_: str, root: Path | None, no_cache: bool, config: Path | None, packs: tuple[Path, ...],
    trust_packs: bool,
) -> int:  # fmt: skip
    """Show a rule's manual page, or what the analysis believes at a line: contexts, locks, places, why (not) reported.

    Exit status: 0, 1 if nothing is known of the line, 2 racelint could not do its work.
    """
    if not _is_spot(target):
        return _explain_rule(target, format_, packs)
    from racelint import cache, explaining, plugins, run
    from racelint.config import load

    file, line = _spot(target)
    settings = load((file,), config, trust_packs=trust_packs)
    loaded = plugins.load((*settings.packs, *packs))
    kept = None if no_cache else cache.Cache(cache.default_directory())
    request = run.Request((file,), loaded, settings, cache=kept, root=root.as_posix() if root else None)
    rules = plugins.choose(loaded, settings.select, settings.ignore)
    explanation = explaining.explain(request, Path(os.path.abspath(file)).as_posix(), line, rules)
    if explanation is None:
        tell(f"{file}:{line}: nothing is known of this line: no statement starts there")
        return FOUND
    from racelint.reporters import View
    from racelint.reporters import explanation as reporter

    write = reporter.write_json if format_ == "json" else reporter.write_text
    text = io.StringIO()
    write(explanation, View(Path.cwd().as_posix(), run.text_lines), text)
    write_out(text.getvalue())
    return 0


def _is_spot(target: str) -> bool:
    """Whether a file and a line are meant, however badly written, and no rule."""
    return any(mark in target for mark in (":", "/", os.sep, ".")) or os.path.exists(target)


def _spot(target: str) -> tuple[str, int]:
    """The file and the line; a column behind them, as reports print it, does not matter."""
    match = re.fullmatch(r"(.+?):([0-9]{1,9})(:[0-9]+)?:?", target)
    if not match:
        raise RacelintError(f"{target} is no rule and no FILE:LINE; write a line number, as in src/watcher.py:42")
    if not os.path.isfile(match[1]):
        raise RacelintError(f"{match[1]}: no such file")
    return match[1], int(match[2])


def _explain_rule(rule: str, format_: str, packs: tuple[Path, ...]) -> int:
    from racelint import plugins

    (found,) = plugins.choose(plugins.load(packs), [rule])
    if format_ == "json":
        import json

        print_(json.dumps({"name": found.name, "languages": list(found.languages), "page": found.page}, indent=2))
        return 0
    since = f", since {found.since}" if found.since else ""
    print_(f"{found.name} ({', '.join(found.languages)}{since})\n\n{found.page}")
    return 0


def _as_json(rule: Rule, pack: Pack) -> dict[str, object]:
    return {
        "name": rule.name,
        "summary": rule.summary,
        "languages": list(rule.languages),
        "since": rule.since,
        "pack": pack.name,
        "distribution": pack.distribution,
    }
