"""`racelint completion SHELL`: the script that teaches a shell to complete commands, options and rule names."""

from __future__ import annotations

import click

from racelint.cli.streams import print_

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that makes a shell complete racelint's options.

    \b
    bash   racelint completion bash > ~/.local/share/bash-completion/completions/racelint
    zsh    racelint completion zsh > "${fpath[1]}/_racelint"
    fish   racelint completion fish > ~/.config/fish/completions/racelint.fish
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    print_(maker(ctx.find_root().command, {}, "racelint", "_RACELINT_COMPLETE").source())
    return 0


def rule_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the names of rules, behind a comma too."""
    from racelint import plugins
    from racelint.errors import RacelintError

    before, comma, last = incomplete.rpartition(",")
    try:
        names = [rule.name for pack in plugins.load() for rule in pack.rules]
    except RacelintError:  # a broken pack is told by the command itself
        return []
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
